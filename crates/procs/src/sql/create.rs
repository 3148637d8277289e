//! CREATE TABLE, INSERT INTO, DROP TABLE.

use std::collections::BTreeSet;

use engine::dataset::copy::RowCopy;
use engine::dataset::input::{Field, Input};
use engine::dataset::output::{Output, OutputPlan};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::library::Member;
use engine::session::World;
use lang::ast::{DatasetRef, Expr, VariableKind};
use sas7bdat::{Encoding, Layout, Variable};

use super::frame::Frame;
use super::index;
use super::plan::{checked_format, checked_length, plain_format};
use super::rows::{Relation, fill_missing, packed};
use super::scope::Scope;
use super::syntax::{Body, ColumnDefinition, From, Query};
use super::{Run, set_rows};
use crate::datasets::remove;
use crate::table::Table;

/// Where the variables of a data set lie in its rows.
pub(super) fn places(variables: &[Variable], layout: &Layout) -> Vec<Slot> {
    let place = |(variable, offset): (&Variable, &u32)| Slot {
        kind: variable.kind,
        offset: *offset,
        length: variable.length,
        big_endian: false,
    };
    variables.iter().zip(&layout.offsets).map(place).collect()
}

impl Run {
    /// `CREATE TABLE … AS SELECT …`
    pub(super) fn create_as(
        &self,
        table: &DatasetRef,
        query: &Query,
        world: &mut World,
    ) -> Outcome<()> {
        let mut relation = self.relation(query, world)?;
        let member = world.libraries.resolve(table)?;
        if reads(&query.body, &member, world) {
            world.log.warning(
                "This CREATE TABLE statement recursively references the target table. A consequence of \
                 this is a possible data integrity problem.",
            );
        }
        let (variables, slots) = self.columns(&relation, &member, world);
        let encoding = self.context.encoding();
        let mut output = Table::create(world, table, variables, "SQL", encoding)?;
        let fields: Vec<Field> = slots
            .into_iter()
            .map(|(variable, slot)| Field { variable, slot })
            .collect();
        let copier = output.copier(&fields);
        let filled = self.fill(&mut relation, &mut output, &copier, world);
        let rows = match filled {
            Ok(rows) => rows,
            Err(failure) => {
                output.discard(world);
                return Err(failure);
            }
        };
        output.finish_noting(world, |name, rows, columns| {
            Some(format!(
                "Table {name} created, with {rows} rows and {columns} columns."
            ))
        })?;
        set_rows(world, rows);
        Ok(())
    }

    fn fill(
        &self,
        relation: &mut Relation,
        output: &mut Table,
        copier: &RowCopy,
        world: &mut World,
    ) -> Outcome<u64> {
        let mut rows = 0;
        while let Some(row) = relation.rows.next(world)? {
            if self.options.rows_out.is_some() && self.is_enough(rows, world) {
                break;
            }
            output.copy(copier, row);
            output.write()?;
            rows += 1;
        }
        relation.rows.close(world)?;
        Ok(rows)
    }

    /// The columns of a new table: names are made for those without one, later ones of the same name
    /// are left out.
    fn columns(
        &self,
        relation: &Relation,
        member: &Member,
        world: &mut World,
    ) -> (Vec<Variable>, Vec<(Variable, Slot)>) {
        let mut names = BTreeSet::new();
        let mut kept = Vec::new();
        for field in &relation.fields {
            let mut variable = field.variable.clone();
            if variable.name.is_empty() {
                let number = self.context.unnamed.get() + 1;
                self.context.unnamed.set(number);
                variable.name = format!("_TEMA{number:03}");
            }
            if names.insert(variable.name.to_ascii_uppercase()) {
                kept.push((variable, field.slot));
            } else {
                world.log.warning(&format!(
                    "Variable {} already exists on file {}.",
                    variable.name,
                    member.full_name()
                ));
            }
        }
        (kept.iter().map(|one| one.0.clone()).collect(), kept)
    }

    /// `CREATE TABLE … LIKE …`
    pub(super) fn create_like(
        table: &DatasetRef,
        like: &DatasetRef,
        world: &mut World,
    ) -> Outcome<()> {
        let input = Input::open(world, like)?;
        let variables: Vec<Variable> = input
            .fields()
            .iter()
            .map(|field| field.variable.clone())
            .collect();
        let encoding = input.metadata().encoding;
        drop(input);
        empty(table, variables, encoding, world)
    }

    /// `CREATE TABLE … (columns)`
    pub(super) fn create_with(
        table: &DatasetRef,
        columns: &[ColumnDefinition],
        world: &mut World,
    ) -> Outcome<()> {
        let mut variables: Vec<Variable> = Vec::new();
        for column in columns {
            let mut variable = match column.kind {
                VariableKind::Numeric => Variable::numeric(column.name.clone()),
                VariableKind::Character => Variable::character(column.name.clone(), column.length),
            };
            checked_length(column.length, variable.kind, &column.span)?;
            if let Some(format) = &column.format {
                variable.format = checked_format(format, variable.kind, world)?;
            }
            if let Some(informat) = &column.informat {
                variable.informat = plain_format(informat);
            }
            variable.label = column.label.clone().unwrap_or_default();
            let same = |one: &Variable| one.name.eq_ignore_ascii_case(&column.name);
            if variables.iter().any(same) {
                let message = format!("Duplicate column {}.", column.name);
                return Err(Failure::at(&column.span, message));
            }
            variables.push(variable);
        }
        empty(table, variables, Encoding::UTF_8, world)
    }

    /// `INSERT INTO … VALUES (…)`
    pub(super) fn insert_values(
        &self,
        into: &DatasetRef,
        columns: &[String],
        rows: &[Vec<Expr>],
        world: &mut World,
    ) -> Outcome<()> {
        let opened = Input::open(world, into)?;
        self.context
            .meet(opened.metadata().encoding, &opened.member().full_name())?;
        let targets = targets(&opened, columns, into)?;
        drop(opened);
        let scope = std::rc::Rc::new(Scope {
            columns: Vec::new(),
            named: std::collections::HashMap::new(),
            outer: self.outer.clone(),
        });
        let lengths = targets.iter().map(|one| (one.1.kind, one.1.length));
        let (slots, bytes) = packed(lengths.collect::<Vec<_>>());
        let mut new = Vec::new();
        for values in rows {
            if values.len() != targets.len() {
                let span = values.first().map_or(&into.span, |value| &value.span);
                let message = "Attempt to insert fewer or more columns than specified after the INSERT \
                               table name.";
                return Err(Failure::at(span, message));
            }
            let mut frame = Frame::new(&self.context, &scope, Vec::new(), 0);
            let mut row = vec![0; bytes as usize];
            for (value, slot) in values.iter().zip(&slots) {
                let mut program = frame.compile(value, world)?;
                let mut machine = frame.machine(world);
                if program.kind() != slot.kind {
                    // A missing value stands for a blank text, too.
                    let blank = matches!(value.kind, lang::ast::ExprKind::Missing(_));
                    if !blank {
                        let message = "Value is not of the type of its column.";
                        return Err(Failure::at(&value.span, message));
                    }
                    fill_missing(&[*slot], &mut row);
                    continue;
                }
                machine.store(&mut program, &[], world, slot, &mut row)?;
            }
            new.push(row);
        }
        let relation = Relation {
            rows: Box::new(Held { rows: new, at: 0 }),
            fields: targets
                .iter()
                .zip(&slots)
                .map(|((_, variable), slot)| Field {
                    variable: variable.clone(),
                    slot: *slot,
                })
                .collect(),
            row_bytes: bytes,
            most: rows.len() as u64,
            guess: rows.len() as u64,
        };
        Self::insert(into, &targets, relation, world)
    }

    /// `INSERT INTO … SELECT …`
    pub(super) fn insert_query(
        &self,
        into: &DatasetRef,
        columns: &[String],
        query: &Query,
        world: &mut World,
    ) -> Outcome<()> {
        let opened = Input::open(world, into)?;
        self.context
            .meet(opened.metadata().encoding, &opened.member().full_name())?;
        let targets = targets(&opened, columns, into)?;
        drop(opened);
        let relation = self.relation(query, world)?;
        if relation.fields.len() != targets.len() {
            let message = "Attempt to insert fewer or more columns than specified after the INSERT table \
                           name.";
            return Err(Failure::at(&query.span, message));
        }
        for ((_, target), field) in targets.iter().zip(&relation.fields) {
            if target.kind != field.variable.kind {
                let message = format!("Value is not of the type of column {}.", target.name);
                return Err(Failure::at(&query.span, message));
            }
        }
        Self::insert(into, &targets, relation, world)
    }

    /// Writes the table anew, with further rows at its end.
    fn insert(
        into: &DatasetRef,
        targets: &[(usize, Variable)],
        mut relation: Relation,
        world: &mut World,
    ) -> Outcome<()> {
        let mut input = Input::open_member(world, world.libraries.resolve(into)?)?;
        let member = input.member().clone();
        let indexes = input.metadata().indexes.clone();
        index::refuse_unique(&indexes, &member)?;
        let mut rewritten = Rewritten::create(&input, world)?;
        let slots = rewritten.slots.clone();
        let mut count = 0;
        let mut copied = || -> Outcome<()> {
            while let Some(row) = input.next_row()? {
                rewritten.copy.apply(row, &mut rewritten.row);
                rewritten.output.write_row(&rewritten.row)?;
            }
            let pairs: Vec<(Slot, Slot)> = relation
                .fields
                .iter()
                .zip(targets)
                .map(|(field, (column, _))| (field.slot, slots[*column]))
                .collect();
            let copy = RowCopy::new(&pairs);
            fill_missing(&slots, &mut rewritten.row);
            while let Some(row) = relation.rows.next(world)? {
                copy.apply(row, &mut rewritten.row);
                rewritten.output.write_row(&rewritten.row)?;
                count += 1;
            }
            relation.rows.close(world)
        };
        if let Err(failure) = copied() {
            rewritten.output.discard(world);
            return Err(failure);
        }
        rewritten.output.finish_noting(world, |_, _, _| None)?;
        input.finish_unnoted(world)?;
        index::restore(&indexes, &member, world)?;
        let name = member.full_name();
        world.note(&match count {
            1 => format!("1 row was inserted into {name}."),
            _ => format!("{count} rows were inserted into {name}."),
        });
        set_rows(world, count);
        Ok(())
    }
}

/// A data set being written anew with the same variables.
pub(super) struct Rewritten {
    pub(super) output: Output,
    pub(super) copy: RowCopy,
    pub(super) slots: Vec<Slot>,
    pub(super) row: Vec<u8>,
}

impl Rewritten {
    /// In the place of `input`, which must have been opened without options.
    pub(super) fn create(input: &Input, world: &mut World) -> Outcome<Self> {
        let metadata = input.metadata();
        let variables = metadata.variables.clone();
        let plan = OutputPlan {
            compress: Some(metadata.compression),
            bufsize: None,
            label: metadata.label.clone(),
            creator: "SQL",
            encoding: metadata.encoding,
            // They are made when the rows are there, by `index::restore`.
            indexes: Vec::new(),
        };
        let output = Output::create(world, input.member().clone(), &variables, plan)?;
        let slots = places(&variables, output.layout());
        let pairs: Vec<(Slot, Slot)> = input
            .fields()
            .iter()
            .zip(&slots)
            .map(|(field, slot)| (field.slot, *slot))
            .collect();
        let row = vec![0; output.layout().row_bytes as usize];
        Ok(Self {
            output,
            copy: RowCopy::new(&pairs),
            slots,
            row,
        })
    }
}

/// Rows in memory: those of VALUES.
struct Held {
    rows: Vec<Vec<u8>>,
    at: usize,
}

impl super::rows::Rows for Held {
    fn next(&mut self, _: &mut World) -> Outcome<Option<&[u8]>> {
        self.at += 1;
        Ok(self.rows.get(self.at - 1).map(Vec::as_slice))
    }

    fn close(&mut self, _: &mut World) -> Outcome<()> {
        Ok(())
    }
}

/// The columns that INSERT fills, by their numbers.
fn targets(
    input: &Input,
    columns: &[String],
    into: &DatasetRef,
) -> Outcome<Vec<(usize, Variable)>> {
    if !into.options.is_empty() {
        let message = "Data set options of the table that is changed are not implemented yet.";
        return Err(Failure::at(&into.span, message));
    }
    let fields = input.fields();
    if columns.is_empty() {
        let all = fields.iter().map(|field| field.variable.clone());
        return Ok(all.enumerate().collect());
    }
    let found = columns.iter().map(|name| {
        let same = |field: &Field| field.variable.name.eq_ignore_ascii_case(name);
        let Some(at) = fields.iter().position(same) else {
            let message = format!("Column {name} is not in the table that is inserted into.");
            return Err(Failure::at(&into.span, message));
        };
        Ok((at, fields[at].variable.clone()))
    });
    found.collect()
}

/// A table without rows.
fn empty(
    table: &DatasetRef,
    variables: Vec<Variable>,
    encoding: Encoding,
    world: &mut World,
) -> Outcome<()> {
    let output = Table::create(world, table, variables, "SQL", encoding)?;
    output.finish_noting(world, |name, rows, columns| {
        Some(format!(
            "Table {name} created, with {rows} rows and {columns} columns."
        ))
    })?;
    Ok(())
}

/// `DROP TABLE`
pub(super) fn drop_tables(tables: &[DatasetRef], world: &mut World) -> Outcome<()> {
    for table in tables {
        let member = world.libraries.resolve(table)?;
        let name = member.full_name();
        if remove(world, &member, &table.span)? {
            world.note(&format!("Table {name} has been dropped."));
        } else {
            world
                .log
                .warning(&format!("File {name}.DATA does not exist."));
            world
                .log
                .warning(&format!("Table {name} has not been dropped."));
        }
    }
    Ok(())
}

/// Whether a query reads the table that it makes.
fn reads(body: &Body, member: &Member, world: &World) -> bool {
    fn from_reads(from: &From, member: &Member, world: &World) -> bool {
        match from {
            From::Table { dataset, .. } => world
                .libraries
                .resolve(dataset)
                .is_ok_and(|one| one == *member),
            From::View { query, .. } => reads(&query.body, member, world),
            From::Join { left, right, .. } => {
                from_reads(left, member, world) || from_reads(right, member, world)
            }
        }
    }
    match body {
        Body::Select(select) => select
            .from
            .as_ref()
            .is_some_and(|from| from_reads(from, member, world)),
        Body::Set { left, right, .. } => reads(left, member, world) || reads(right, member, world),
    }
}
