//! DELETE and UPDATE: the table is written anew with the rows that stay, as they become.

use std::collections::HashMap;
use std::rc::Rc;

use base::diag::Span;
use engine::dataset::input::Input;
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{DatasetRef, Expr};

use super::create::Rewritten;
use super::frame::Frame;
use super::index;
use super::machine::{Machine, Program};
use super::scope::{Scope, ScopeColumn};
use super::{Run, set_rows};

/// A DELETE or, with columns to be set, an UPDATE.
pub(super) struct Change<'a> {
    pub(super) table: &'a DatasetRef,
    pub(super) alias: Option<&'a str>,
    pub(super) condition: Option<&'a Expr>,
    pub(super) sets: Option<&'a [(String, Span, Expr)]>,
}

/// What is done with each row.
struct Compiled {
    machine: Machine,
    condition: Option<Program>,
    sets: Option<Vec<(usize, Program)>>,
}

impl Run {
    pub(super) fn change(&self, change: &Change<'_>, world: &mut World) -> Outcome<()> {
        if !change.table.options.is_empty() {
            let message = "Data set options of the table that is changed are not implemented yet.";
            return Err(Failure::at(&change.table.span, message));
        }
        let member = world.found(change.table)?;
        let mut input = Input::open_member(world, member.clone())?;
        self.context
            .meet(input.metadata().encoding, &member.full_name())?;
        let mut compiled = self.compiled(change, &input, world)?;
        let indexes = input.metadata().indexes.clone();
        if change.sets.is_some() {
            index::refuse_unique(&indexes, &member)?;
        }
        let mut rewritten = Rewritten::create(&input, world)?;
        let changed = match compiled.apply(&mut input, &mut rewritten, world) {
            Ok(changed) => changed,
            Err(failure) => {
                rewritten.output.discard(world);
                return Err(failure);
            }
        };
        let (what, preposition) = match change.sets {
            None => ("deleted", "from"),
            Some(_) => ("updated", "in"),
        };
        if changed == 0 {
            // The old file is as good as the new one.
            rewritten.output.discard(world);
            world.aftermath.pop();
        } else {
            rewritten.output.finish_noting(world, |_, _, _| None)?;
        }
        input.finish_unnoted(world)?;
        if changed > 0 {
            index::restore(&indexes, &member, world)?;
        }
        let name = member.full_name();
        world.note(&match changed {
            0 => format!("No rows were {what} {preposition} {name}."),
            1 => format!("1 row was {what} {preposition} {name}."),
            _ => format!("{changed} rows were {what} {preposition} {name}."),
        });
        set_rows(world, changed);
        Ok(())
    }

    fn compiled(&self, change: &Change<'_>, input: &Input, world: &mut World) -> Outcome<Compiled> {
        let table = change.alias.unwrap_or(&change.table.member);
        let columns = input.fields().iter().map(|field| ScopeColumn {
            table: Some(table.to_owned()),
            variable: field.variable.clone(),
        });
        let scope = Rc::new(Scope {
            columns: columns.collect(),
            named: HashMap::new(),
            outer: self.outer.clone(),
        });
        let slots: Vec<Option<Slot>> = input.fields().iter().map(|one| Some(one.slot)).collect();
        let row_bytes = input.metadata().layout.row_bytes;
        let mut frame = Frame::new(&self.context, &scope, slots, row_bytes);
        let condition = match change.condition {
            Some(condition) => Some(frame.number(condition, world)?),
            None => None,
        };
        let sets = match change.sets {
            None => None,
            Some(sets) => {
                let sets = sets
                    .iter()
                    .map(|set| compiled_set(set, input, &mut frame, world));
                Some(sets.collect::<Outcome<Vec<_>>>()?)
            }
        };
        Ok(Compiled {
            machine: frame.machine(world),
            condition,
            sets,
        })
    }
}

fn compiled_set(
    (name, span, expr): &(String, Span, Expr),
    input: &Input,
    frame: &mut Frame,
    world: &mut World,
) -> Outcome<(usize, Program)> {
    let mut fields = input.fields().iter();
    let Some(column) = fields.position(|one| one.variable.name.eq_ignore_ascii_case(name)) else {
        let message =
            format!("The following columns were not found in the contributing tables: {name}.");
        return Err(Failure::at(span, message));
    };
    let program = frame.compile(expr, world)?;
    if program.kind() != input.fields()[column].variable.kind {
        let message = format!("The value is not of the type of column {name}.");
        return Err(Failure::at(&expr.span, message));
    }
    Ok((column, program))
}

impl Compiled {
    /// Writes the rows that stay; returns how many were deleted or updated.
    fn apply(
        &mut self,
        input: &mut Input,
        rewritten: &mut Rewritten,
        world: &mut World,
    ) -> Outcome<u64> {
        let mut changed = 0;
        while let Some(row) = input.next_row()? {
            self.machine.begin(row);
            let chosen = match &mut self.condition {
                Some(condition) => self.machine.holds(condition, row, world)?,
                None => true,
            };
            changed += u64::from(chosen);
            if chosen && self.sets.is_none() {
                continue;
            }
            rewritten.copy.apply(row, &mut rewritten.row);
            if let (true, Some(sets)) = (chosen, &mut self.sets) {
                for (column, program) in sets {
                    let slot = rewritten.slots[*column];
                    self.machine
                        .store(program, row, world, &slot, &mut rewritten.row)?;
                }
            }
            rewritten.output.write_row(&rewritten.row)?;
        }
        Ok(changed)
    }
}
