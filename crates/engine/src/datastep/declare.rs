//! Statements that act while the step is compiled: KEEP, LENGTH, RETAIN, ARRAY and the like.

use base::diag::{Diagnostic, Span};
use lang::ast::{
    ArrayDeclaration, Attributes, Expr, ExprKind, FormatRef, IMPLICIT_INDEX, Statement,
    StatementKind, VariableKind, VariableList,
};
use sas7bdat::{Format, Kind, Variable, missing};

use super::compile::Builder;
use super::pdv::Initial;
use crate::dataset::options::numbers;
use crate::expr::Slot;
use crate::expr::array::ArrayLayout;
use crate::failure::{Failure, Outcome};
use crate::format;

/// What an element of a temporary array takes beside its values.
const ELEMENT_BYTES: u64 = 24;

impl<'a> Builder<'a> {
    /// A statement that is not executed.
    pub(super) fn declaration(&mut self, statement: &'a Statement) -> Outcome<()> {
        match &statement.kind {
            StatementKind::Where(restriction) => {
                if let Some(note) = restriction.clone().join(&mut self.condition)? {
                    self.world.note(note);
                }
            }
            StatementKind::Keep(lists) => {
                self.declared
                    .keep
                    .get_or_insert_default()
                    .extend_from_slice(lists);
            }
            StatementKind::Drop(lists) => self.declared.drop.extend_from_slice(lists),
            StatementKind::Rename(pairs) => self.declared.rename.extend_from_slice(pairs),
            StatementKind::Length(items) => {
                for (list, kind, length) in items {
                    self.length(list, *kind, *length)?;
                }
            }
            StatementKind::Format(items) => {
                for (list, format) in items {
                    self.format(list, format.as_ref())?;
                }
            }
            StatementKind::Informat(items) => {
                for (list, informat) in items {
                    self.informat(list, informat.as_ref())?;
                }
            }
            StatementKind::Label(items) => {
                for (name, text) in items {
                    let index = self.pdv.placeholder(name);
                    self.pdv.variables[index].variable.label.clone_from(text);
                }
            }
            StatementKind::Attrib(items) => {
                for attributes in items {
                    self.attributes(attributes)?;
                }
            }
            StatementKind::Retain(items) => self.retain(items)?,
            StatementKind::Array(array) => self.array(array, &statement.span)?,
            StatementKind::By(list) => self.by(list, &statement.span)?,
            _ => {
                let message = "This statement is not implemented yet in the DATA step.";
                return Err(Failure::at(&statement.span, message));
            }
        }
        Ok(())
    }

    fn retain(&mut self, items: &[(VariableList, Option<Expr>)]) -> Outcome<()> {
        if items.is_empty() {
            self.retain_all = true;
            return Ok(());
        }
        for (list, initial) in items {
            let indexes = match initial.as_ref().map(|value| &value.kind) {
                None => self.places_of(list)?,
                Some(ExprKind::Text(text)) => {
                    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                    self.variables_of(list, VariableKind::Character, length)?
                }
                Some(_) => self.variables_of(list, VariableKind::Numeric, 8)?,
            };
            for index in indexes {
                self.pdv.variables[index].kept_over = true;
                if let Some(value) = initial {
                    self.pdv.variables[index].assigned = true;
                    let slot = self.pdv.variables[index].slot;
                    let name = self.pdv.variables[index].variable.name.clone();
                    let initial = initial_value(value, slot, &name)?;
                    self.pdv.initial.push((slot, initial));
                }
            }
        }
        Ok(())
    }

    fn array(&mut self, declared: &ArrayDeclaration, span: &Span) -> Outcome<()> {
        let name = &declared.name;
        let wanted: Option<usize> = (!declared.dimensions.is_empty()).then(|| {
            let extents = declared.dimensions.iter().map(|(low, high)| high - low + 1);
            usize::try_from(extents.product::<i64>()).unwrap_or(usize::MAX)
        });
        if self.pdv.find(name).is_some() {
            let message = format!("The array {name} has the name of a variable.");
            return Err(Failure::at(span, message));
        }
        let text = declared.kind == Some(VariableKind::Character);
        let kind = if text { Kind::Character } else { Kind::Numeric };
        let slots = if declared.temporary {
            let Some(count) = wanted else {
                let message = format!("The temporary array {name} needs its dimensions.");
                return Err(Failure::at(span, message));
            };
            self.temporaries(name, count, (kind, declared.length.unwrap_or(8)), span)?
        } else {
            self.array_elements(declared, wanted, span)?
        };
        let kind = slots.first().map_or(kind, |slot| slot.kind);
        if slots.iter().any(|slot| slot.kind != kind) {
            let message = format!(
                "All variables in array list must be the same type, i.e., all numeric or character \
                 (array {name})."
            );
            return Err(Failure::at(span, message));
        }
        if wanted.is_some_and(|wanted| wanted != slots.len()) || slots.is_empty() {
            let message = format!(
                "Too {} variables defined for the dimension(s) specified for the array {name}.",
                if wanted.is_some_and(|wanted| wanted < slots.len()) {
                    "many"
                } else {
                    "few"
                }
            );
            return Err(Failure::at(span, message));
        }
        if declared.implicit {
            self.pdv.automatic(IMPLICIT_INDEX, span)?;
        }
        self.initialize(declared, &slots, span)?;
        let bounds = if declared.dimensions.is_empty() {
            vec![(1, i64::try_from(slots.len()).unwrap_or(i64::MAX))]
        } else {
            declared.dimensions.clone()
        };
        self.pdv.add_array(ArrayLayout {
            name: name.clone(),
            kind,
            bounds,
            slots,
            named: !declared.temporary,
            implicit: declared.implicit,
        });
        Ok(())
    }

    /// The elements of a temporary array.
    fn temporaries(
        &mut self,
        name: &str,
        count: usize,
        (kind, length): (Kind, u32),
        span: &Span,
    ) -> Outcome<Vec<Slot>> {
        let bytes = count as u64 * u64::from(length);
        if bytes > base::limits::PROGRAM_VECTOR_BYTES_MAX {
            let message = format!("The array {name} is too large: {bytes} bytes.");
            return Err(Failure::at(span, message));
        }
        // An element is known by its place; its value is there once more, as it is at the start.
        let needed = count as u64 * (2 * u64::from(length) + ELEMENT_BYTES);
        if needed > self.world.options.step_memory() {
            return Err(Failure::world(format!(
                "The SAS System stopped processing this step because of insufficient memory: the array \
                 {name} takes {} KiB. Raise MEMSIZE=.",
                needed >> 10
            )));
        }
        Ok((0..count).map(|_| self.pdv.hidden(kind, length)).collect())
    }

    fn array_elements(
        &mut self,
        declared: &ArrayDeclaration,
        wanted: Option<usize>,
        span: &Span,
    ) -> Outcome<Vec<Slot>> {
        let name = &declared.name;
        let kind = declared.kind.unwrap_or(VariableKind::Numeric);
        let length = declared.length.unwrap_or(8);
        let mut indexes = Vec::new();
        if declared.elements.is_empty() {
            let Some(count) = wanted else {
                let message = format!("The array {name} has neither dimensions nor variables.");
                return Err(Failure::at(span, message));
            };
            let last = u32::try_from(count).unwrap_or(u32::MAX);
            for number in numbers(1, last, span)? {
                indexes.push(self.element_of(&format!("{name}{number}"), kind, length));
            }
        }
        for list in &declared.elements {
            indexes.extend(self.variables_of(list, kind, length)?);
        }
        if declared.kind.is_none() && declared.length.is_none() {
            // Types and lengths are those of the variables.
        } else if let (Some(length), VariableKind::Numeric) = (declared.length, kind) {
            for index in &indexes {
                self.pdv.variables[*index].variable.length = length;
            }
        }
        Ok(indexes
            .into_iter()
            .map(|index| self.pdv.variables[index].slot)
            .collect())
    }

    fn element_of(&mut self, name: &str, kind: VariableKind, length: u32) -> usize {
        match kind {
            VariableKind::Numeric => self.pdv.numeric(name),
            VariableKind::Character => self.pdv.character(name, length),
        }
    }

    /// Initial values of array elements; all elements are then retained.
    fn initialize(
        &mut self,
        declared: &ArrayDeclaration,
        slots: &[Slot],
        span: &Span,
    ) -> Outcome<()> {
        if declared.initial.is_empty() {
            return Ok(());
        }
        if declared.initial.len() > slots.len() {
            let text = "Too many values for initialization of the array";
            self.world.log.warning(&format!(
                "{text} {} given. Excess values are ignored.",
                declared.name
            ));
        } else if declared.initial.len() < slots.len() {
            let text = "Partial value initialization of the array";
            self.world
                .log
                .warning(&format!("{text} {}.", declared.name));
        }
        for (slot, value) in slots.iter().zip(&declared.initial) {
            let initial = initial_value(value, *slot, &declared.name)
                .map_err(|_| mismatch(span, &declared.name))?;
            self.pdv.initial.push((*slot, initial));
        }
        self.pdv.keep_slots(slots);
        Ok(())
    }

    /// Variables of a list in a declaration that says nothing of their type.
    fn places_of(&mut self, list: &VariableList) -> Outcome<Vec<usize>> {
        match names_of(list)? {
            Some(names) => Ok(names
                .iter()
                .map(|name| self.pdv.placeholder(name))
                .collect()),
            None => self.pdv.select(list),
        }
    }

    /// Variables of a list in a declaration, which may be the first mention of a name.
    pub(super) fn variables_of(
        &mut self,
        list: &VariableList,
        kind: VariableKind,
        length: u32,
    ) -> Outcome<Vec<usize>> {
        match names_of(list)? {
            Some(names) => Ok(names
                .iter()
                .map(|name| self.element_of(name, kind, length))
                .collect()),
            None => self.pdv.select(list),
        }
    }

    fn length(&mut self, list: &VariableList, kind: VariableKind, length: u32) -> Outcome<()> {
        for index in self.variables_of(list, kind, length)? {
            let variable = &mut self.pdv.variables[index].variable;
            match (kind, variable.kind) {
                (VariableKind::Numeric, Kind::Numeric) => variable.length = length,
                (VariableKind::Character, Kind::Character) if variable.length == length => {}
                (VariableKind::Character, Kind::Character) => {
                    let name = variable.name.clone();
                    self.world.log.warning(&format!(
                        "Length of character variable {name} has already been set.\nUse the LENGTH \
                         statement as the very first statement in the DATA STEP to declare the \
                         length of a character variable."
                    ));
                }
                _ => {
                    let name = &variable.name;
                    return Err(Failure::world(format!(
                        "Variable {name} has been defined as both character and numeric."
                    )));
                }
            }
        }
        Ok(())
    }

    /// Variables that get a format: one with `$` makes a new variable character.
    fn formatted(
        &mut self,
        list: &VariableList,
        format: Option<&FormatRef>,
    ) -> Outcome<(Vec<usize>, Format)> {
        let Some(format) = format else {
            return Ok((self.places_of(list)?, Format::default()));
        };
        let indexes = if format.name.starts_with('$') {
            let length = u32::from(format.width).max(1);
            self.variables_of(list, VariableKind::Character, length)?
        } else {
            self.places_of(list)?
        };
        let format = format_of(format);
        Ok((indexes, format))
    }

    fn format(&mut self, list: &VariableList, format: Option<&FormatRef>) -> Outcome<()> {
        let (indexes, given) = self.formatted(list, format)?;
        for index in indexes {
            self.pdv.variables[index].variable.format = given.clone();
            if let Some(format) = format {
                self.formatted.push((index, format.span.clone()));
            }
        }
        Ok(())
    }

    /// Formats that statements of this step give must be there; those of the data sets it reads may be
    /// others' that are not here.
    pub(super) fn check_formats(&mut self) -> Outcome<()> {
        for (index, span) in std::mem::take(&mut self.formatted) {
            let variable = &mut self.pdv.variables[index].variable;
            let (format, name) = (&mut variable.format, &variable.name);
            let formats = &self.world.formats;
            let known = match variable.kind {
                Kind::Numeric if format.name.starts_with('$') => {
                    let message = format!(
                        "You are trying to use the character format {} with the numeric variable {name}.",
                        format.name
                    );
                    return Err(Failure::at(&span, message));
                }
                Kind::Numeric => format::number_with(0.0, format, formats).is_some(),
                Kind::Character => {
                    let clears = format.name.is_empty() && format.width == 0;
                    if !clears && !format.name.starts_with('$') {
                        format.name.insert(0, '$');
                    }
                    clears || format::is_text_format(&format.name, formats)
                }
            };
            if known {
                continue;
            }
            let message = format!(
                "The format {} of variable {name} was not found or could not be loaded, or is not \
                 implemented yet.",
                format.name
            );
            if self.world.options.fmterr {
                return Err(Failure::at(&span, message));
            }
            let message = format!("{message} Its values are shown as if they had none.");
            self.sites
                .diagnostics
                .push(Diagnostic::note(&span, message));
        }
        Ok(())
    }

    fn informat(&mut self, list: &VariableList, informat: Option<&FormatRef>) -> Outcome<()> {
        let (indexes, informat) = self.formatted(list, informat)?;
        for index in indexes {
            self.pdv.variables[index].variable.informat = informat.clone();
        }
        Ok(())
    }

    fn attributes(&mut self, attributes: &Attributes) -> Outcome<()> {
        for list in &attributes.variables {
            if let Some((kind, length)) = attributes.length {
                self.length(list, kind, length)?;
            }
            if attributes.format.is_some() {
                self.format(list, attributes.format.as_ref())?;
            }
            if attributes.informat.is_some() {
                self.informat(list, attributes.informat.as_ref())?;
            }
            if let Some(label) = &attributes.label {
                for index in self.places_of(list)? {
                    let variable: &mut Variable = &mut self.pdv.variables[index].variable;
                    variable.label.clone_from(label);
                }
            }
        }
        Ok(())
    }
}

/// A format as data sets record it.
pub(super) fn format_of(format: &FormatRef) -> Format {
    Format {
        name: format.name.to_ascii_uppercase(),
        width: format.width,
        decimals: format.decimals,
    }
}

/// The names that a list spells out; `None` if it chooses among variables that are there.
fn names_of(list: &VariableList) -> Outcome<Option<Vec<String>>> {
    Ok(match list {
        VariableList::Name(name, _) => Some(vec![name.clone()]),
        VariableList::Numbered {
            prefix,
            first,
            last,
            digits,
            span,
        } => Some(
            numbers(*first, *last, span)?
                .map(|n| format!("{prefix}{n:0digits$}"))
                .collect(),
        ),
        _ => None,
    })
}

fn initial_value(value: &Expr, slot: Slot, name: &str) -> Outcome<Initial> {
    let initial = match (&value.kind, slot.kind) {
        (ExprKind::Number(number), Kind::Numeric) => Initial::Number(*number),
        (ExprKind::Missing(code), Kind::Numeric) => Initial::Number(missing::encode(*code)),
        (ExprKind::Text(text), Kind::Character) => Initial::Text(text.as_bytes().to_vec()),
        (ExprKind::Missing(0), Kind::Character) => Initial::Text(Vec::new()),
        _ => return Err(mismatch(&value.span, name)),
    };
    Ok(initial)
}

fn mismatch(span: &Span, name: &str) -> Failure {
    let message = format!("The initial value of {name} is not of its type.");
    Failure::at(span, message)
}
