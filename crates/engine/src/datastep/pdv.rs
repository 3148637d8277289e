//! The program data vector: every variable of the step in one row of bytes. Numerics take 8 bytes,
//! little-endian; texts their length.

use base::diag::Span;
use lang::ast::VariableList;
use sas7bdat::{Format, Kind, Variable, missing};

use crate::dataset::copy::store_number;
use crate::dataset::input::Field;
use crate::dataset::options::{Named, select};
use crate::expr::Slot;
use crate::expr::compile::Scope;
use crate::failure::{Failure, Outcome};

/// A variable of the step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PdvVariable {
    /// Attributes as they will be written; `length` is that in the file, which for numerics may
    /// be shorter than the 8 bytes here.
    pub(super) variable: Variable,
    /// Place in the PDV.
    pub(super) slot: Slot,
    /// Read by SET, retained or accumulated: not reset at the top of the step.
    pub(super) kept_over: bool,
    /// Automatic or named by END=, NOBS=, IN=: never written.
    pub(super) automatic: bool,
    /// Some statement gives it a value.
    pub(super) assigned: bool,
    /// Where it was first mentioned in an expression, if it was.
    pub(super) mentioned: Option<Span>,
}

impl Named for PdvVariable {
    fn name(&self) -> &str {
        &self.variable.name
    }

    fn kind(&self) -> Kind {
        self.variable.kind
    }
}

/// Variables in order of their first appearance, which is the order of output.
#[derive(Debug, Clone, Default)]
pub(super) struct Pdv {
    pub(super) variables: Vec<PdvVariable>,
    bytes: u32,
}

impl Pdv {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.variables
            .iter()
            .position(|v| v.variable.name.eq_ignore_ascii_case(name))
    }

    /// Adds a variable that is not there yet.
    pub(super) fn add(&mut self, variable: Variable) -> usize {
        let length = if variable.kind == Kind::Numeric {
            8
        } else {
            variable.length
        };
        let slot = Slot {
            kind: variable.kind,
            offset: self.bytes,
            length,
            big_endian: false,
        };
        self.bytes += length;
        self.variables.push(PdvVariable {
            variable,
            slot,
            kept_over: false,
            automatic: false,
            assigned: false,
            mentioned: None,
        });
        self.variables.len() - 1
    }

    /// The variable `name`, made numeric if it is new.
    pub(super) fn numeric(&mut self, name: &str) -> usize {
        match self.find(name) {
            Some(index) => index,
            None => self.add(Variable::numeric(name)),
        }
    }

    /// The variable `name`, made character of `length` if it is new.
    pub(super) fn character(&mut self, name: &str, length: u32) -> usize {
        match self.find(name) {
            Some(index) => index,
            None => self.add(Variable::character(name, length)),
        }
    }

    /// Adds what a data set brings. New variables get places in the order they lie in the file's
    /// rows, so that a row is loaded with one copy; they are listed in the data set's order.
    pub(super) fn add_fields(&mut self, fields: &[Field], dataset: &str) -> Outcome<()> {
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|index| fields[*index].slot.offset);
        let first_new = self.variables.len();
        for index in order {
            let field = &fields[index];
            match self.find(&field.variable.name) {
                None => {
                    self.add(field.variable.clone());
                }
                Some(known) => {
                    let known = &self.variables[known].variable;
                    if known.kind != field.variable.kind {
                        return Err(Failure::world(format!(
                            "Variable {} has been defined as both character and numeric (data set \
                             {dataset}).",
                            known.name
                        )));
                    }
                }
            }
        }
        let listed = |variable: &PdvVariable| {
            fields.iter().position(|f| {
                f.variable
                    .name
                    .eq_ignore_ascii_case(&variable.variable.name)
            })
        };
        self.variables[first_new..].sort_by_key(listed);
        for field in fields {
            let index = self.find(&field.variable.name).expect("it was just added");
            let known = &mut self.variables[index];
            known.kept_over = true;
            known.assigned = true;
            inherit(&mut known.variable, &field.variable);
        }
        Ok(())
    }

    /// A PDV with every variable missing.
    pub(super) fn row(&self) -> Vec<u8> {
        let mut row = vec![b' '; self.bytes as usize];
        for variable in &self.variables {
            if variable.slot.kind == Kind::Numeric {
                store_number(&variable.slot, &mut row, missing::encode(0));
            }
        }
        row
    }

    /// Positions that `list` names; unknown single names are errors.
    pub(super) fn select(&self, list: &VariableList) -> Outcome<Vec<usize>> {
        select(&self.variables, list, |name, span| {
            Some(Failure::at(
                span,
                format!("The variable {name} is not known in this DATA step."),
            ))
        })
    }
}

/// Attributes that a later data set gives where the first left them empty.
fn inherit(known: &mut Variable, from: &Variable) {
    let none = |format: &Format| format.name.is_empty() && format.width == 0;
    if known.label.is_empty() {
        known.label.clone_from(&from.label);
    }
    if none(&known.format) {
        known.format = from.format.clone();
    }
    if none(&known.informat) {
        known.informat = from.informat.clone();
    }
}

impl Scope for Pdv {
    /// A name that is new in an expression becomes a numeric variable, as in SAS.
    fn variable(&mut self, name: &str, span: &Span) -> Outcome<Slot> {
        let upper = name.to_ascii_uppercase();
        if upper.starts_with("FIRST.") || upper.starts_with("LAST.") {
            let message = format!("{name} needs a BY statement, which is not implemented yet.");
            return Err(Failure::at(span, message));
        }
        let index = self.numeric(name);
        let variable = &mut self.variables[index];
        variable.mentioned.get_or_insert_with(|| span.clone());
        Ok(variable.slot)
    }

    fn list(&mut self, list: &VariableList) -> Outcome<Vec<Slot>> {
        let found = self.select(list)?;
        Ok(found
            .into_iter()
            .map(|index| self.variables[index].slot)
            .collect())
    }
}
