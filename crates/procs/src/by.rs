//! BY groups of a procedure: rows come in BY order, and a group ends where a value changes.

use std::cmp::Ordering;
use std::sync::Arc;

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::dataset::options::select;
use engine::expr::evaluate::trimmed;
use engine::failure::{Failure, Outcome};
use engine::format;
use engine::format::user::Formats;
use engine::sort::{KeyField, SortKey};
use lang::ast::ByList;
use sas7bdat::{Encoding, Kind};

/// The BY variables of a step, and the group it is in.
pub(crate) struct ByGroups {
    fields: Vec<Field>,
    key: SortKey,
    not_sorted: bool,
    dataset: String,
    encoding: Encoding,
    formats: Arc<Formats>,
    /// First row of the group; empty before the first one.
    current: Vec<u8>,
}

impl ByGroups {
    /// The groups of `input` by `list`.
    pub(crate) fn new(input: &Input, list: &ByList, formats: &Arc<Formats>) -> Outcome<Self> {
        let dataset = input.member().full_name();
        let mut fields: Vec<Field> = Vec::new();
        let mut keys = Vec::new();
        for by in &list.keys {
            let found = select(input.fields(), &by.variable, |name, span: &Span| {
                Failure::at(
                    span,
                    format!("Variable {name} not found on file {dataset}."),
                )
            })?;
            for index in found {
                let field = &input.fields()[index];
                keys.push(KeyField {
                    slot: field.slot,
                    descending: by.descending,
                });
                fields.push(field.clone());
            }
        }
        Ok(Self {
            fields,
            key: SortKey::new(keys),
            not_sorted: list.not_sorted,
            dataset,
            encoding: input.metadata().encoding,
            formats: Arc::clone(formats),
            current: Vec::new(),
        })
    }

    /// The BY variables.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// A row of the group.
    pub(crate) fn row(&self) -> &[u8] {
        &self.current
    }

    /// True if `row` begins a group; what was collected so far belongs to the one before, if there
    /// was one. [`Self::enter`] goes on to it.
    #[inline]
    pub(crate) fn begins(&self, row: &[u8]) -> Outcome<bool> {
        if self.current.is_empty() {
            return Ok(true);
        }
        match self.key.compare(&self.current, row) {
            Ordering::Equal => Ok(false),
            Ordering::Greater if !self.not_sorted => Err(Failure::world(format!(
                "Data set {} is not sorted in ascending sequence. The current BY group has {} and \
                 the next BY group has {}.",
                self.dataset,
                self.text(&self.current),
                self.text(row)
            ))),
            _ => Ok(true),
        }
    }

    /// Goes on to the group of `row`.
    pub(crate) fn enter(&mut self, row: &[u8]) {
        self.current.clear();
        self.current.extend_from_slice(row);
    }

    /// `sex=F age=12`, of the group.
    pub(crate) fn heading(&self) -> String {
        self.text(&self.current)
    }

    fn text(&self, row: &[u8]) -> String {
        let one = |field: &Field| {
            format!(
                "{}={}",
                field.variable.name,
                shown(field, row, self.encoding, &self.formats)
            )
        };
        self.fields.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

/// A value as its format shows it, without blanks around it.
pub(crate) fn shown(field: &Field, row: &[u8], encoding: Encoding, formats: &Formats) -> String {
    match field.variable.kind {
        Kind::Numeric => {
            let value = field.slot.number(row);
            let text = format::number_with(value, &field.variable.format, formats);
            text.unwrap_or_else(|| format::best(value, 12))
                .trim()
                .to_owned()
        }
        Kind::Character => {
            let text = field.slot.bytes(row);
            let format = &field.variable.format;
            if formats.contains_key(&format.name.to_ascii_uppercase()) {
                let label = format::text_with(text, format, formats);
                return String::from_utf8_lossy(trimmed(&label)).into_owned();
            }
            encoding.decode(trimmed(text)).into_owned()
        }
    }
}
