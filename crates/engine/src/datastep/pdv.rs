//! The program data vector: every variable of the step in one row of bytes. Numerics take 8 bytes,
//! little-endian; texts their length.

use std::collections::HashMap;

use base::diag::Span;
use base::limits;
use lang::ast::VariableList;
use sas7bdat::{Encoding, Format, Kind, Variable, missing};

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
    /// Positions by upper-case name.
    places: HashMap<String, usize>,
    bytes: u64,
    /// Encoding of the texts that are read, and the data set it comes from.
    encoding: Option<(Encoding, String)>,
}

impl Pdv {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.places.get(&name.to_ascii_uppercase()).copied()
    }

    /// Refuses a vector that has become larger than memory should hold. Between two checks one
    /// statement adds at most a numbered list.
    pub(super) fn check(&self, span: &Span) -> Outcome<()> {
        let limit = limits::PROGRAM_VECTOR_BYTES_MAX;
        if self.bytes <= limit {
            return Ok(());
        }
        let message = format!(
            "The variables of this step take {} bytes; at most {limit} are allowed. Use fewer or \
             shorter variables, or KEEP= on the data sets that are read.",
            self.bytes
        );
        Err(Failure::at(span, message))
    }

    /// Encoding of the texts that are read, as far as any were.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        self.encoding.as_ref().map(|(encoding, _)| *encoding)
    }

    /// Texts of `encoding` are read from `dataset`: they must go together with those read before.
    pub(super) fn meet(&mut self, encoding: Encoding, dataset: &str) -> Outcome<()> {
        let ascii = |one: Encoding| one.name == "us-ascii";
        match &self.encoding {
            Some((known, first)) if *known != encoding && !ascii(*known) && !ascii(encoding) => {
                Err(Failure::world(format!(
                    "Data set {first} has the encoding {} and {dataset} has {}: their texts cannot \
                     be read in one step, since nothing is transcoded yet.",
                    known.name, encoding.name
                )))
            }
            Some((known, _)) if !ascii(*known) || ascii(encoding) => Ok(()),
            _ => {
                self.encoding = Some((encoding, dataset.to_owned()));
                Ok(())
            }
        }
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
            // Past the end of 32 bits the check after this statement has refused the step.
            offset: u32::try_from(self.bytes).unwrap_or(u32::MAX),
            length,
            big_endian: false,
        };
        self.bytes = self.bytes.saturating_add(u64::from(length));
        let place = self.variables.len();
        self.places
            .insert(variable.name.to_ascii_uppercase(), place);
        self.variables.push(PdvVariable {
            variable,
            slot,
            kept_over: false,
            automatic: false,
            assigned: false,
            mentioned: None,
        });
        place
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
            None => {
                let length = length.min(limits::CHARACTER_BYTES_MAX);
                self.add(Variable::character(name, length))
            }
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
        let upper = |variable: &Variable| variable.name.to_ascii_uppercase();
        let listed: HashMap<String, usize> = fields
            .iter()
            .enumerate()
            .map(|(index, field)| (upper(&field.variable), index))
            .collect();
        self.variables[first_new..]
            .sort_by_cached_key(|new| listed.get(&upper(&new.variable)).copied());
        for (place, new) in self.variables.iter().enumerate().skip(first_new) {
            self.places.insert(upper(&new.variable), place);
        }
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
        let bytes = usize::try_from(self.bytes).expect("the size was checked");
        let mut row = vec![b' '; bytes];
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
            let message = format!("The variable {name} is not known in this DATA step.");
            Failure::at(span, message)
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
