//! Class levels: which group a row belongs to.
//!
//! A group's key is the concatenation of its class values in a form whose byte order is SAS's order,
//! so that groups sort by comparing bytes. Values that their format shows alike are one level; the
//! lowest of them stands for it.

mod recent;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use base::rowhash::hash_bytes;
use engine::dataset::input::Field;
use engine::expr::evaluate::{order_key, trimmed};
use engine::format;
use engine::format::user::Formats;
use sas7bdat::{Encoding, Format, Kind, Variable};

pub(crate) use self::recent::Recent;
use crate::shown;

/// A class variable and its place in keys.
pub(crate) struct ClassVariable {
    pub(crate) field: Field,
    pub(crate) descending: bool,
    /// Missing values are a level, and not left out.
    pub(crate) missing: bool,
    /// Values are grouped as the variable's format shows them.
    by_format: bool,
    formats: Arc<Formats>,
    /// Bytes in a key.
    bytes: usize,
}

/// So many bytes of what a format shows tell levels apart.
const FORMATTED: usize = 200;

/// Whether the variable has a format that may show different values alike.
pub(crate) fn is_by_format(variable: &Variable, formats: &Formats) -> bool {
    let format = &variable.format;
    let name = format.name.to_ascii_uppercase();
    match variable.kind {
        // BEST and no format at all show different numbers differently, as far as they can.
        Kind::Numeric => {
            name != "BEST"
                && *format != Format::default()
                && format::number_with(0.0, format, formats).is_some()
        }
        Kind::Character => {
            !name.is_empty()
                && (format.width > 0 || formats.contains_key(&name))
                && format::is_text_format(&name, formats)
        }
    }
}

enum Value<'a> {
    Number(f64),
    Text(&'a [u8]),
}

impl ClassVariable {
    pub(crate) fn new(
        field: Field,
        descending: bool,
        missing: bool,
        formats: &Arc<Formats>,
    ) -> Self {
        let by_format = is_by_format(&field.variable, formats);
        let bytes = match field.variable.kind {
            Kind::Numeric => 8,
            Kind::Character => field.variable.length as usize,
        };
        Self {
            field,
            descending,
            missing,
            by_format,
            formats: formats.clone(),
            bytes,
        }
    }

    /// The value of a part of a key, as its format shows it.
    pub(crate) fn shown(&self, part: &[u8], encoding: Encoding) -> String {
        let format = &self.field.variable.format;
        match self.field.variable.kind {
            Kind::Numeric => shown::number(self.number(part), format, &self.formats),
            Kind::Character => shown::text(&self.text(part), format, &self.formats, encoding),
        }
    }

    /// The bytes that order levels as their format shows them.
    pub(crate) fn order(&self, part: &[u8]) -> Vec<u8> {
        if self.by_format {
            self.level(part)
        } else {
            part.to_owned()
        }
    }

    /// What tells the level of a part of a key, for a variable that is grouped by its format.
    fn level(&self, part: &[u8]) -> Vec<u8> {
        let mut told = Vec::new();
        match self.field.variable.kind {
            Kind::Numeric => self.append_formatted(&Value::Number(self.number(part)), &mut told),
            Kind::Character => self.append_formatted(&Value::Text(&self.text(part)), &mut told),
        }
        told
    }

    /// Appends what the value's format shows, which tells its level.
    fn append_formatted(&self, value: &Value<'_>, told: &mut Vec<u8>) {
        let start = told.len();
        let format = &self.field.variable.format;
        let shown = match value {
            Value::Number(number) => format::number_with(*number, format, &self.formats)
                .unwrap_or_default()
                .into_bytes(),
            Value::Text(text) => format::text_with(text, format, &self.formats),
        };
        told.extend_from_slice(trimmed(&shown));
        told.resize(start + FORMATTED, b' ');
    }

    /// Appends the value's order bytes; false if the row is left out.
    #[inline]
    fn append(&self, row: &[u8], key: &mut Vec<u8>) -> bool {
        let start = key.len();
        let slot = &self.field.slot;
        match self.field.variable.kind {
            Kind::Numeric => {
                let value = slot.number(row);
                if value.is_nan() && !self.missing {
                    return false;
                }
                key.extend_from_slice(&order_key(value).to_be_bytes());
            }
            Kind::Character => {
                let bytes = slot.bytes(row);
                if !self.missing && bytes.iter().all(|byte| *byte == b' ') {
                    return false;
                }
                key.extend_from_slice(bytes);
            }
        }
        if self.descending {
            for byte in &mut key[start..] {
                *byte = !*byte;
            }
        }
        true
    }

    /// Whether a part of a key is a missing value and no level.
    fn leaves_out(&self, part: &[u8]) -> bool {
        let is_missing = || match self.field.variable.kind {
            Kind::Numeric => self.number(part).is_nan(),
            Kind::Character => self.text(part).iter().all(|byte| *byte == b' '),
        };
        !self.missing && is_missing()
    }

    /// The number of a part of a key.
    pub(crate) fn number(&self, part: &[u8]) -> f64 {
        let mut bytes: [u8; 8] = part.try_into().expect("numbers have eight bytes");
        if self.descending {
            bytes = bytes.map(|byte| !byte);
        }
        let order = u64::from_be_bytes(bytes);
        f64::from_bits(if order >> 63 == 1 {
            order ^ (1 << 63)
        } else {
            !order
        })
    }

    /// The text of a part of a key.
    pub(crate) fn text(&self, part: &[u8]) -> Vec<u8> {
        let turn = if self.descending { 0xff } else { 0 };
        part.iter().map(|byte| byte ^ turn).collect()
    }
}

/// The class variables of a step.
pub(crate) struct Classes {
    pub(crate) variables: Vec<ClassVariable>,
    by_format: bool,
    key: Vec<u8>,
    formatted: Vec<u8>,
}

impl Classes {
    pub(crate) fn new(variables: Vec<ClassVariable>) -> Self {
        Self {
            by_format: variables.iter().any(|variable| variable.by_format),
            variables,
            key: Vec::new(),
            formatted: Vec::new(),
        }
    }

    /// Whether a format groups values.
    pub(crate) fn is_by_format(&self) -> bool {
        self.by_format
    }

    /// Bytes of a key.
    pub(crate) fn key_bytes(&self) -> usize {
        self.variables.iter().map(|variable| variable.bytes).sum()
    }

    /// Where each variable's part of a key lies.
    pub(crate) fn parts(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let part = |variable: &ClassVariable| {
            end += variable.bytes;
            end - variable.bytes..end
        };
        self.variables.iter().map(part).collect()
    }

    /// The key of a row, and what tells its level if that is not the key itself; `None` if the row
    /// is left out.
    #[inline]
    pub(crate) fn key(&mut self, row: &[u8]) -> Option<(&[u8], &[u8])> {
        self.key.clear();
        for variable in &self.variables {
            if !variable.append(row, &mut self.key) {
                return None;
            }
        }
        if !self.by_format {
            return Some((&self.key, &self.key));
        }
        self.formatted.clear();
        for variable in &self.variables {
            if variable.by_format {
                let slot = &variable.field.slot;
                let value = match variable.field.variable.kind {
                    Kind::Numeric => Value::Number(slot.number(row)),
                    Kind::Character => Value::Text(slot.bytes(row)),
                };
                variable.append_formatted(&value, &mut self.formatted);
            } else {
                variable.append(row, &mut self.formatted);
            }
        }
        // Longer than a key, as that is how a group knows to keep the lowest of its keys.
        let longer = self.formatted.len().max(self.key.len() + 1);
        self.formatted.resize(longer, b' ');
        Some((&self.key, &self.formatted))
    }

    /// Gives every value in `keys` the lowest one that its format shows alike, so that equal levels
    /// are equal parts of keys. Missing values stay what they are where they are no level.
    pub(crate) fn unify(&self, keys: &mut [u8]) {
        let bytes = self.key_bytes();
        for (variable, part) in self.variables.iter().zip(self.parts()) {
            if !variable.by_format {
                continue;
            }
            let mut lowest: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
            for key in keys.chunks_exact(bytes) {
                let value = &key[part.clone()];
                if variable.leaves_out(value) {
                    continue;
                }
                let known = lowest
                    .entry(variable.level(value))
                    .or_insert_with(|| value.to_vec());
                if value < known.as_slice() {
                    *known = value.to_vec();
                }
            }
            for key in keys.chunks_exact_mut(bytes) {
                let value = &mut key[part.clone()];
                if !variable.leaves_out(value) {
                    value.copy_from_slice(&lowest[&variable.level(value)]);
                }
            }
        }
    }

    /// What tells the level of a key of which only some parts are left.
    pub(crate) fn told(&self, key: &[u8], kept: &[(usize, Range<usize>)]) -> Vec<u8> {
        if !self.by_format {
            return key.to_owned();
        }
        let mut told = Vec::new();
        for (index, part) in kept {
            let variable = &self.variables[*index];
            if variable.by_format {
                told.extend(variable.level(&key[part.clone()]));
            } else {
                told.extend_from_slice(&key[part.clone()]);
            }
        }
        // Longer than a key, as that is how a group knows to keep the lowest of its keys.
        told.resize(told.len().max(key.len() + 1), b' ');
        told
    }
}

/// Groups by number, found by what tells them apart.
pub(crate) struct Levels {
    /// Bytes that tell a level.
    bytes: usize,
    told: Vec<u8>,
    places: Vec<u32>,
    count: usize,
}

const EMPTY: u32 = u32::MAX;

impl Levels {
    pub(crate) fn new() -> Self {
        Self {
            bytes: 0,
            told: Vec::new(),
            places: vec![EMPTY; 64],
            count: 0,
        }
    }

    /// Number of the group that `told` tells; the next free number for a new one.
    #[inline]
    pub(crate) fn number(&mut self, told: &[u8]) -> usize {
        if self.count * 2 >= self.places.len() {
            self.grow();
        }
        let mask = self.places.len() - 1;
        let mut place = home(told) & mask;
        loop {
            let number = self.places[place];
            if number == EMPTY {
                self.bytes = told.len();
                self.told.extend_from_slice(told);
                self.places[place] = u32::try_from(self.count).expect("memory ends before");
                self.count += 1;
                return self.count - 1;
            }
            let number = number as usize;
            if self.told(number) == told {
                return number;
            }
            place = (place + 1) & mask;
        }
    }

    /// What tells a group.
    pub(crate) fn told(&self, number: usize) -> &[u8] {
        &self.told[number * self.bytes..(number + 1) * self.bytes]
    }

    #[cold]
    fn grow(&mut self) {
        let mask = self.places.len() * 2 - 1;
        self.places = vec![EMPTY; mask + 1];
        for number in 0..self.count {
            let mut place = home(self.told(number)) & mask;
            while self.places[place] != EMPTY {
                place = (place + 1) & mask;
            }
            self.places[place] = u32::try_from(number).expect("memory ends before");
        }
    }

    /// Memory of a level beside its cells.
    pub(crate) fn bytes_each(told: usize) -> usize {
        told + 4 * size_of::<u32>()
    }
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a place in a table that fits memory"
)]
fn home(told: &[u8]) -> usize {
    hash_bytes(told) as usize
}
