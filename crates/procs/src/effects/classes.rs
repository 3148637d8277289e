//! CLASS variables of a model: their levels as rows come in, and their order.

use std::sync::Arc;

use engine::dataset::input::Field;
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::format::user::Formats;
use lang::ast::VariableList;
use lang::cursor::Cursor;
use sas7bdat::Encoding;

use crate::levels::{ClassVariable, Classes, Levels};

/// How the levels of a class make columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// A column for every level.
    Glm,
    /// A column for every level but the reference, which is -1 in all.
    Effect,
    /// A column for every level but the reference, which is 0 in all.
    Reference,
}

/// REF=: the level that has no column of its own, or comes last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen {
    First,
    Last,
    Value(String),
}

/// What is said of a class variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassOptions {
    pub(crate) descending: bool,
    /// The order of values and not of what their formats show.
    pub(crate) internal: bool,
    pub(crate) reference: Option<Chosen>,
    pub(crate) coding: Option<Coding>,
}

/// A CLASS statement: variables with options of their own.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassStatement {
    pub(crate) items: Vec<(VariableList, ClassOptions)>,
}

impl ClassStatement {
    /// Reads the statement behind its first word.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'_>) -> Outcome<()> {
        let first = self.items.len();
        while !cursor.is_at_end() && !cursor.at_symbol("/") {
            let item = cursor.variable_item()?;
            let mut options = ClassOptions::default();
            if cursor.eat_symbol("(") {
                while !cursor.eat_symbol(")") {
                    options.read(cursor)?;
                }
            }
            self.items.push((item, options));
        }
        if cursor.eat_symbol("/") {
            let mut all = ClassOptions::default();
            while !cursor.is_at_end() {
                all.read(cursor)?;
            }
            for (_, options) in &mut self.items[first..] {
                options.descending |= all.descending;
                options.internal |= all.internal;
                options.coding = options.coding.or(all.coding);
                options.reference = options.reference.take().or_else(|| all.reference.clone());
            }
        }
        Ok(())
    }
}

impl ClassOptions {
    /// Reads one option.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'_>) -> Outcome<()> {
        let (name, span) = cursor.expect_name("an option of CLASS")?;
        match name.to_ascii_uppercase().as_str() {
            "DESC" | "DESCENDING" => self.descending = true,
            "ORDER" => {
                cursor.expect_symbol("=")?;
                if cursor.eat_word("INTERNAL") {
                    self.internal = true;
                } else if !cursor.eat_word("FORMATTED") {
                    return Err(cursor.not_yet("ORDER= but FORMATTED and INTERNAL").into());
                }
            }
            "REF" => {
                cursor.expect_symbol("=")?;
                self.reference = Some(reference(cursor)?);
            }
            "PARAM" => {
                cursor.expect_symbol("=")?;
                let (coding, span) = cursor.expect_name("a parametrization")?;
                self.coding = Some(match coding.to_ascii_uppercase().as_str() {
                    "EFFECT" => Coding::Effect,
                    "REF" | "REFERENCE" => Coding::Reference,
                    "GLM" => Coding::Glm,
                    _ => {
                        let message = format!("PARAM={coding} is not valid or not implemented yet");
                        return Err(Failure::at(&span, message));
                    }
                });
            }
            _ => {
                let message =
                    format!("The option {name} of CLASS is not valid or not implemented yet");
                return Err(Failure::at(&span, message));
            }
        }
        Ok(())
    }
}

/// `FIRST`, `LAST` or a quoted value.
pub(crate) fn reference(cursor: &mut Cursor<'_>) -> Outcome<Chosen> {
    Ok(if cursor.eat_word("FIRST") {
        Chosen::First
    } else if cursor.eat_word("LAST") {
        Chosen::Last
    } else {
        Chosen::Value(cursor.expect_text()?)
    })
}

/// One class variable and the levels met so far, numbered as they come.
struct Column {
    slot: Slot,
    classes: Classes,
    levels: Levels,
    keys: Vec<Vec<u8>>,
    options: ClassOptions,
    /// Numbers of levels of short values met lately, by their bytes.
    lately: Vec<(u64, u32)>,
}

/// Values that are looked up without their keys.
const LATELY: usize = 256;

/// No level yet.
const NONE: u32 = u32::MAX;

/// The bytes of a short value as a number, and its place among those met lately.
#[inline]
fn short(bytes: &[u8]) -> Option<(u64, usize)> {
    if bytes.len() > 8 {
        return None;
    }
    let packed = packed(bytes);
    // The upper bits of the product depend on all bits of the value.
    let place = packed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    usize::try_from(place).ok().map(|place| (packed, place))
}

/// Up to eight bytes as a number; no call, as copies of a length known only then would be.
#[inline]
fn packed(bytes: &[u8]) -> u64 {
    if let Some(all) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*all);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
        // Bytes that lie in both are the same in both.
        return first | last << (8 * (bytes.len() - 4));
    }
    let all = bytes.iter().rev();
    all.fold(0, |packed, byte| packed << 8 | u64::from(*byte))
}

/// All class variables of a step.
pub(crate) struct ClassData {
    columns: Vec<Column>,
    formats: Arc<Formats>,
    used: u64,
    limit: u64,
}

/// The levels of a class in order.
#[derive(Debug, Clone)]
pub(crate) struct Ordered {
    pub(crate) name: String,
    /// What the levels are called.
    pub(crate) labels: Vec<String>,
    /// Keys of the levels, for values of theirs.
    pub(crate) keys: Vec<Vec<u8>>,
    /// The number of each level, as rows have it.
    pub(crate) codes: Vec<usize>,
    /// Place of the level without a column of its own.
    pub(crate) reference: usize,
    pub(crate) coding: Coding,
}

impl ClassData {
    /// Up to `limit` bytes of levels of `fields`.
    pub(crate) fn new(
        fields: Vec<(Field, ClassOptions)>,
        formats: &Arc<Formats>,
        limit: u64,
    ) -> Self {
        let mut data = Self {
            columns: Vec::new(),
            formats: formats.clone(),
            used: 0,
            limit,
        };
        for (field, options) in fields {
            data.columns.push(data.column(field, options));
        }
        data
    }

    fn column(&self, field: Field, options: ClassOptions) -> Column {
        Column {
            slot: field.slot,
            classes: Classes::new(vec![ClassVariable::new(field, false, false, &self.formats)]),
            levels: Levels::new(),
            keys: Vec::new(),
            options,
            lately: vec![(0, NONE); LATELY],
        }
    }

    /// The same class variables without levels.
    pub(crate) fn emptied(&self) -> Self {
        let of = |column: &Column| {
            (
                column.classes.variables[0].field.clone(),
                column.options.clone(),
            )
        };
        let fields = self.columns.iter().map(of).collect();
        Self::new(fields, &self.formats, self.limit)
    }

    /// Takes in the levels of `other`, which come behind those met so far: for each class variable the
    /// numbers of its levels here.
    pub(crate) fn adopt(&mut self, other: &Self) -> Outcome<Vec<Vec<u32>>> {
        let mut numbers = Vec::with_capacity(self.columns.len());
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            let mut own = Vec::with_capacity(other.keys.len());
            for (number, key) in other.keys.iter().enumerate() {
                let told = other.levels.told(number);
                own.push(level(
                    &mut column.levels,
                    &mut column.keys,
                    (told, key),
                    &mut self.used,
                    self.limit,
                )?);
            }
            numbers.push(own);
        }
        Ok(numbers)
    }

    /// Forgets all levels: another BY group begins.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        for column in &mut self.columns {
            column.levels = Levels::new();
            column.keys.clear();
            column.lately.fill((0, NONE));
        }
    }

    /// A class variable by number.
    pub(crate) fn variable(&self, number: usize) -> &ClassVariable {
        &self.columns[number].classes.variables[0]
    }

    /// The class variables.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let field = |column: &Column| column.classes.variables[0].field.clone();
        self.columns.iter().map(field).collect()
    }

    /// Numbers of the row's levels; false if one is missing.
    #[inline]
    pub(crate) fn codes(&mut self, row: &[u8], codes: &mut Vec<u32>) -> Outcome<bool> {
        codes.clear();
        for column in &mut self.columns {
            let short = short(column.slot.bytes(row));
            if let Some((value, place)) = short
                && column.lately[place].0 == value
                && column.lately[place].1 != NONE
            {
                codes.push(column.lately[place].1);
                continue;
            }
            let Some((key, told)) = column.classes.key(row) else {
                return Ok(false);
            };
            let (levels, keys) = (&mut column.levels, &mut column.keys);
            let number = level(levels, keys, (told, key), &mut self.used, self.limit)?;
            if let Some((value, place)) = short {
                column.lately[place] = (value, number);
            }
            codes.push(number);
        }
        Ok(true)
    }

    /// The levels in order; `coding` is what holds where nothing else is said. A sentence if a
    /// reference is no level.
    pub(crate) fn ordered(
        &self,
        coding: Coding,
        encoding: Encoding,
    ) -> Result<Vec<Ordered>, String> {
        self.columns
            .iter()
            .map(|column| column.ordered(coding, encoding))
            .collect()
    }
}

/// The number of a level by what tells it and a key of it; the lowest key stands for it.
fn level(
    levels: &mut Levels,
    keys: &mut Vec<Vec<u8>>,
    (told, key): (&[u8], &[u8]),
    used: &mut u64,
    limit: u64,
) -> Outcome<u32> {
    let number = levels.number(told);
    if number == keys.len() {
        *used += 2 * (Levels::bytes_each(told.len()) + key.len() + 24) as u64;
        if *used > limit {
            return Err(out_of_memory(keys.len(), "class levels", limit));
        }
        keys.push(key.to_vec());
    } else if key.len() != told.len() && key < keys[number].as_slice() {
        keys[number] = key.to_vec();
    }
    Ok(u32::try_from(number).unwrap_or(NONE))
}

impl Column {
    fn ordered(&self, coding: Coding, encoding: Encoding) -> Result<Ordered, String> {
        let variable = &self.classes.variables[0];
        let mut codes: Vec<usize> = (0..self.keys.len()).collect();
        let sort_key = |code: &usize| {
            let key = &self.keys[*code];
            if self.options.internal {
                key.clone()
            } else {
                variable.order(key)
            }
        };
        codes.sort_by_cached_key(sort_key);
        if self.options.descending {
            codes.reverse();
        }
        let label = |code: &usize| variable.shown(&self.keys[*code], encoding);
        let mut labels: Vec<String> = codes.iter().map(label).collect();
        let name = variable.field.variable.name.clone();
        let last = labels.len().saturating_sub(1);
        let reference = match &self.options.reference {
            None | Some(Chosen::Last) => last,
            Some(Chosen::First) => 0,
            Some(Chosen::Value(value)) => labels
                .iter()
                .position(|label| label == value.trim())
                .ok_or_else(|| {
                    format!(
                        "Invalid reference value for {name}: {} is not a level of it.",
                        value.trim()
                    )
                })?,
        };
        let coding = self.options.coding.unwrap_or(coding);
        let mut place = reference;
        if coding == Coding::Glm && !labels.is_empty() {
            // The last level is the one that depends on the others.
            let moved = codes.remove(reference);
            codes.push(moved);
            let moved = labels.remove(reference);
            labels.push(moved);
            place = last;
        }
        Ok(Ordered {
            name,
            labels,
            keys: codes.iter().map(|code| self.keys[*code].clone()).collect(),
            codes,
            reference: place,
            coding,
        })
    }
}

/// SAS's words for a step that would need more than MEMSIZE.
pub(crate) fn out_of_memory(count: usize, what: &str, limit: u64) -> Failure {
    Failure::world(format!(
        "The SAS System stopped processing this step because of insufficient memory: {count} {what} \
         do not fit into {} MiB. Raise MEMSIZE=.",
        limit >> 20
    ))
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn short_values_are_packed_byte_by_byte() {
        for length in 0..=8 {
            let bytes: Vec<u8> = (0..length).map(|at| 17 + 29 * at).collect();
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(&bytes);
            assert_eq!(packed(&bytes), u64::from_le_bytes(all));
        }
    }
}
