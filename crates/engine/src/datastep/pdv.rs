//! The program data vector: every variable of the step in one row of bytes. Numerics take 8 bytes,
//! little-endian; texts their length.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::diag::Span;
use base::limits;
use lang::ast::VariableList;
use sas7bdat::{Encoding, Format, Kind, Variable, missing};

use crate::dataset::copy::{store_number, store_text};
use crate::dataset::input::Field;
use crate::dataset::options::{Named, select};
use crate::expr::Slot;
use crate::expr::array::ArrayLayout;
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
    /// Only named in RETAIN, LABEL or FORMAT: what comes next decides its type and length.
    pub(super) undecided: bool,
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
    /// Values without a name.
    hidden: Vec<Slot>,
    /// Encoding of the texts that are read, and the data set it comes from.
    encoding: Option<(Encoding, String)>,
    /// Arrays by upper-case name.
    arrays: HashMap<String, Arc<ArrayLayout>>,
    /// Values before the first iteration, where they are not missing.
    pub(super) initial: Vec<(Slot, Initial)>,
    /// An INFILE or INPUT statement has come: there is a record for `_INFILE_`.
    pub(super) reads_text: bool,
    /// Where `FIRST.x` and `LAST.x` were mentioned that no BY statement has made yet.
    pub(super) groups_wanted: Vec<(String, Span)>,
}

/// A value that a variable starts with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Initial {
    Number(f64),
    Text(Vec<u8>),
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

    /// Room for a value of `kind`.
    fn room(&mut self, kind: Kind, length: u32) -> Slot {
        let length = if kind == Kind::Numeric { 8 } else { length };
        let slot = Slot {
            kind,
            // Past the end of 32 bits the check after this statement has refused the step.
            offset: u32::try_from(self.bytes).unwrap_or(u32::MAX),
            length,
            big_endian: false,
        };
        self.bytes = self.bytes.saturating_add(u64::from(length));
        slot
    }

    /// Room for a value without a name: an element of a temporary array.
    pub(super) fn hidden(&mut self, kind: Kind, length: u32) -> Slot {
        let slot = self.room(kind, length);
        self.hidden.push(slot);
        slot
    }

    /// Adds a variable that is not there yet.
    pub(super) fn add(&mut self, variable: Variable) -> usize {
        let slot = self.room(variable.kind, variable.length);
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
            undecided: false,
        });
        place
    }

    /// The variable `name`; a new one gets its place among the others now and its type later.
    pub(super) fn placeholder(&mut self, name: &str) -> usize {
        if let Some(index) = self.find(name) {
            return index;
        }
        let index = self.add(Variable::numeric(name));
        self.variables[index].undecided = true;
        index
    }

    /// Gives a variable that has only a place its type, and new room, so that what is read
    /// together lies together.
    fn decide(&mut self, index: usize, kind: Kind, length: u32) {
        if !std::mem::take(&mut self.variables[index].undecided) {
            return;
        }
        let slot = self.room(kind, length);
        let variable = &mut self.variables[index];
        variable.slot = slot;
        variable.variable.kind = kind;
        variable.variable.length = length;
    }

    /// The variable `name`, made numeric if it is new.
    pub(super) fn numeric(&mut self, name: &str) -> usize {
        match self.find(name) {
            Some(index) => {
                self.decide(index, Kind::Numeric, 8);
                index
            }
            None => self.add(Variable::numeric(name)),
        }
    }

    /// The variable `name`, made character of `length` if it is new.
    pub(super) fn character(&mut self, name: &str, length: u32) -> usize {
        let length = length.clamp(1, limits::CHARACTER_BYTES_MAX);
        match self.find(name) {
            Some(index) => {
                self.decide(index, Kind::Character, length);
                index
            }
            None => self.add(Variable::character(name, length)),
        }
    }

    /// A numeric variable that is never written and that a statement sets: END=, IN=, FIRST.x.
    pub(super) fn automatic(&mut self, name: &str, span: &Span) -> Outcome<Slot> {
        let index = self.numeric(name);
        let variable = &mut self.variables[index];
        (variable.automatic, variable.assigned, variable.kept_over) = (true, true, true);
        if variable.slot.kind == Kind::Numeric {
            Ok(variable.slot)
        } else {
            let message = format!("The variable {name} must be numeric here.");
            Err(Failure::at(span, message))
        }
    }

    /// A character variable that is never written and that a statement sets: INDSNAME=.
    pub(super) fn automatic_text(&mut self, name: &str, length: u32, span: &Span) -> Outcome<Slot> {
        let index = self.character(name, length);
        let variable = &mut self.variables[index];
        (variable.automatic, variable.assigned, variable.kept_over) = (true, true, true);
        if variable.slot.kind == Kind::Character {
            Ok(variable.slot)
        } else {
            let message = format!("The variable {name} must be character here.");
            Err(Failure::at(span, message))
        }
    }

    /// `_INFILE_`: the present record.
    pub(super) fn infile(&mut self, span: &Span) -> Outcome<Slot> {
        if !self.reads_text {
            let message = "_INFILE_ needs an INFILE or INPUT statement before it.";
            return Err(Failure::at(span, message));
        }
        self.automatic_text("_INFILE_", limits::CHARACTER_BYTES_MAX, span)
    }

    /// The place of `_INFILE_`, if the step mentions it.
    pub(super) fn infile_slot(&self) -> Option<Slot> {
        let index = self.find("_INFILE_")?;
        Some(self.variables[index].slot)
    }

    /// Buffers of text files are no variables that a step could make.
    pub(super) fn check_buffers(&self) -> Outcome<()> {
        for name in ["_INFILE_", "_FILE_"] {
            let Some(index) = self
                .find(name)
                .filter(|one| !self.variables[*one].automatic)
            else {
                continue;
            };
            let message = match name {
                "_FILE_" => "_FILE_ is not implemented yet.",
                _ => {
                    "_INFILE_ is an automatic variable: it can be read and assigned, nothing else."
                }
            };
            return Err(match &self.variables[index].mentioned {
                Some(span) => Failure::at(span, message),
                None => Failure::world(message),
            });
        }
        Ok(())
    }

    /// A variable that statements set otherwise than by its name.
    pub(super) fn assigned_slot(&mut self, slot: Slot) {
        for variable in self.variables.iter_mut().filter(|one| one.slot == slot) {
            variable.assigned = true;
        }
    }

    /// Variables that are not reset at the top of the step.
    pub(super) fn keep_slots(&mut self, slots: &[Slot]) {
        let slots: HashSet<u32> = slots.iter().map(|slot| slot.offset).collect();
        for variable in &mut self.variables {
            if slots.contains(&variable.slot.offset) {
                (variable.assigned, variable.kept_over) = (true, true);
            }
        }
    }

    /// Elements of an array get values.
    pub(super) fn assigned_array(&mut self, name: &str) {
        let Some(array) = self.array(name).filter(|array| array.named) else {
            return;
        };
        let slots: HashSet<u32> = array.slots.iter().map(|slot| slot.offset).collect();
        for variable in &mut self.variables {
            variable.assigned |= slots.contains(&variable.slot.offset);
        }
    }

    /// Elements of an array are accumulators: kept over, and zero at the start.
    pub(super) fn accumulate(&mut self, slots: &[Slot]) {
        self.keep_slots(slots);
        let known: HashSet<u32> = self.initial.iter().map(|(slot, _)| slot.offset).collect();
        let new = slots.iter().filter(|slot| !known.contains(&slot.offset));
        self.initial
            .extend(new.map(|slot| (*slot, Initial::Number(0.0))));
    }

    /// Declares an array.
    pub(super) fn add_array(&mut self, array: ArrayLayout) {
        self.arrays
            .insert(array.name.to_ascii_uppercase(), Arc::new(array));
    }

    /// Statements that do not know arrays make variables of their names, which means nothing.
    pub(super) fn check_arrays(&self) -> Outcome<()> {
        for (upper, array) in &self.arrays {
            let Some(index) = self.find(upper) else {
                continue;
            };
            let message = format!("Illegal reference to the array {}.", array.name);
            return Err(match &self.variables[index].mentioned {
                Some(span) => Failure::at(span, message),
                None => Failure::world(message),
            });
        }
        Ok(())
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
                Some(known) if self.variables[known].undecided => {
                    self.decide(known, field.variable.kind, field.variable.length);
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
    pub(super) fn blank(&self) -> Vec<u8> {
        let bytes = usize::try_from(self.bytes).expect("the size was checked");
        let mut row = vec![b' '; bytes];
        let named = self.variables.iter().map(|variable| &variable.slot);
        for slot in named.chain(&self.hidden) {
            if slot.kind == Kind::Numeric {
                store_number(slot, &mut row, missing::encode(0));
            }
        }
        row
    }

    /// The PDV before the first iteration.
    pub(super) fn row(&self) -> Vec<u8> {
        let mut row = self.blank();
        let zero = |one: &&PdvVariable| one.automatic && one.slot.kind == Kind::Numeric;
        for variable in self.variables.iter().filter(zero) {
            store_number(&variable.slot, &mut row, 0.0);
        }
        for (slot, initial) in &self.initial {
            match initial {
                Initial::Number(value) => store_number(slot, &mut row, *value),
                Initial::Text(text) => store_text(slot, &mut row, text),
            }
        }
        row
    }

    /// Positions that `list` names; unknown single names are errors. Lists do not take automatic
    /// variables.
    pub(super) fn select(&self, list: &VariableList) -> Outcome<Vec<usize>> {
        let mut found = select(&self.variables, list, |name, span| {
            let message = format!("The variable {name} is not known in this DATA step.");
            Failure::at(span, message)
        })?;
        if matches!(
            list,
            VariableList::All(..) | VariableList::Prefix(..) | VariableList::Range { .. }
        ) {
            found.retain(|index| !self.variables[*index].automatic);
        }
        Ok(found)
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
        if self.find(name).is_none() && (upper.starts_with("FIRST.") || upper.starts_with("LAST."))
        {
            self.groups_wanted.push((upper, span.clone()));
            return self.automatic(name, span);
        }
        if upper == "_IORC_" && self.find(name).is_none() {
            return self.automatic(name, span);
        }
        if upper == "_INFILE_" {
            return self.infile(span);
        }
        if let (None, Some(array)) = (self.find(name), self.arrays.get(&upper)) {
            let message = format!("The array {} needs subscripts here.", array.name);
            return Err(Failure::at(span, message));
        }
        let index = self.numeric(name);
        let variable = &mut self.variables[index];
        variable.mentioned.get_or_insert_with(|| span.clone());
        Ok(variable.slot)
    }

    fn list(&mut self, list: &VariableList) -> Outcome<Vec<Slot>> {
        if let VariableList::Array(name, span) = list {
            return match self.arrays.get(&name.to_ascii_uppercase()) {
                Some(array) => Ok(array.slots.clone()),
                None => Err(Failure::at(
                    span,
                    format!("Undeclared array referenced: {name}."),
                )),
            };
        }
        if let VariableList::Name(name, span) = list {
            return Ok(vec![self.variable(name, span)?]);
        }
        let found = self.select(list)?;
        Ok(found
            .into_iter()
            .map(|index| self.variables[index].slot)
            .collect())
    }

    fn described(&self, slot: Slot) -> Option<Variable> {
        let found = self.variables.iter().find(|one| one.slot == slot);
        let found = found.map(|one| one.variable.clone());
        found.filter(|variable| !variable.name.starts_with(' '))
    }

    fn array(&self, name: &str) -> Option<Arc<ArrayLayout>> {
        self.arrays.get(&name.to_ascii_uppercase()).cloned()
    }
}
