//! BY groups of a procedure: rows come in BY order, and a group ends where a value changes as its
//! variable's format shows it.

use std::cmp::Ordering;
use std::sync::Arc;

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::dataset::options::select;
use engine::failure::{Failure, Outcome};
use engine::format::user::Formats;
use engine::session::World;
use engine::sort::{KeyField, SortKey};
use lang::ast::{ByList, DatasetRef, Expr, VariableList};
use sas7bdat::{Encoding, Kind};

use crate::levels::is_by_format;
use crate::shown;
use crate::table::Table;
use crate::target::{Attributes, named_fields};

/// The BY variables of a step, and the group it is in.
pub(crate) struct ByGroups {
    fields: Vec<Field>,
    key: SortKey,
    not_sorted: bool,
    dataset: String,
    encoding: Encoding,
    formats: Arc<Formats>,
    /// The last row of other values than the one before it; empty before the first one.
    current: Vec<u8>,
    /// Which fields are grouped as their formats show them.
    by_format: Vec<usize>,
    others: SortKey,
    /// What the formats show of the group, once it was asked for.
    shown: Option<Vec<String>>,
    /// And of the row that begins the next one.
    next: Option<Vec<String>>,
    /// With formats, the first row of the group.
    first: Vec<u8>,
}

/// Opens the input of a procedure with WHERE and BY; read again, it gives the same rows in the same
/// order.
pub(crate) fn open_by(
    world: &mut World,
    data: &DatasetRef,
    condition: Option<&Expr>,
    by: Option<&ByList>,
) -> Outcome<Input> {
    let mut input = Input::open(world, data)?;
    if let Some(condition) = condition {
        input.filter(condition)?;
    }
    by_index(&mut input, by)?;
    Ok(input)
}

/// Rows come in the order of an index from now on, if there is one for the BY list.
fn by_index(input: &mut Input, list: Option<&ByList>) -> Outcome<()> {
    let Some(list) = list.filter(|list| !list.not_sorted) else {
        return Ok(());
    };
    if list.keys.iter().any(|by| by.descending) {
        return Ok(());
    }
    let lists: Vec<VariableList> = list.keys.iter().map(|by| by.variable.clone()).collect();
    let fields = named_fields(input, &lists)?;
    let names: Vec<&str> = fields
        .iter()
        .map(|field| field.variable.name.as_str())
        .collect();
    input.order_by(&names)
}

/// A failure of a BY group is told, and the step goes on with the next group; without BY it ends the
/// step.
pub(crate) fn of_group_only(
    failure: Failure,
    by: Option<&ByGroups>,
    world: &mut World,
) -> Outcome<()> {
    let Some(by) = by else {
        return Err(failure);
    };
    world.log.tell(&failure);
    let group = by.heading();
    world.note(&format!(
        "The above message was for the following BY group:\n{group}"
    ));
    Ok(())
}

impl ByGroups {
    /// The groups of `input` by `list`, with what the step's FORMAT and LABEL statements say.
    pub(crate) fn new(
        input: &Input,
        list: &ByList,
        attributes: &Attributes,
        world: &World,
    ) -> Outcome<Self> {
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
        attributes.apply(input, &mut fields, world)?;
        let formatted = |field: &usize| is_by_format(&fields[*field].variable, &world.formats);
        let (by_format, plain): (Vec<usize>, Vec<usize>) = (0..fields.len()).partition(formatted);
        let others = plain.iter().map(|field| KeyField {
            slot: fields[*field].slot,
            descending: false,
        });
        Ok(Self {
            others: SortKey::new(others.collect()),
            by_format,
            shown: None,
            next: None,
            first: Vec::new(),
            fields,
            key: SortKey::new(keys),
            not_sorted: list.not_sorted,
            dataset,
            encoding: input.metadata().encoding,
            formats: world.formats.clone(),
            current: Vec::new(),
        })
    }

    /// The BY variables.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The first row of the group.
    pub(crate) fn row(&self) -> &[u8] {
        if self.by_format.is_empty() {
            &self.current
        } else {
            &self.first
        }
    }

    /// True if `row` begins a group; what was collected so far belongs to the one before, if there
    /// was one. [`Self::enter`] goes on to it.
    #[inline]
    pub(crate) fn begins(&mut self, row: &[u8]) -> Outcome<bool> {
        if self.current.is_empty() {
            return Ok(true);
        }
        match self.key.compare(&self.current, row) {
            Ordering::Equal => Ok(false),
            order => self.differs(row, order),
        }
    }

    /// Whether a row of other values begins a group.
    fn differs(&mut self, row: &[u8], order: Ordering) -> Outcome<bool> {
        if order == Ordering::Greater && !self.not_sorted {
            return Err(Failure::world(format!(
                "Data set {} is not sorted in ascending sequence. The current BY group has {} and \
                 the next BY group has {}.",
                self.dataset,
                self.text(&self.current),
                self.text(row)
            )));
        }
        Ok(self.by_format.is_empty() || !self.is_shown_alike(row))
    }

    /// True if a row of other values is of the group, as formats show it.
    fn is_shown_alike(&mut self, row: &[u8]) -> bool {
        if self.others.compare(&self.first, row) != Ordering::Equal {
            return false;
        }
        let shown = |row: &[u8]| -> Vec<String> {
            let fields = self.by_format.iter().map(|field| &self.fields[*field]);
            fields.map(|field| self.value(field, row)).collect()
        };
        let these = shown(row);
        if self.shown.is_none() {
            self.shown = Some(shown(&self.first));
        }
        let alike = self.shown.as_ref() == Some(&these);
        if alike {
            row.clone_into(&mut self.current);
        } else {
            self.next = Some(these);
        }
        alike
    }

    /// Puts the group's values into the first variables of `table`.
    pub(crate) fn copy(&self, table: &mut Table) {
        for (index, field) in self.fields.iter().enumerate() {
            match field.variable.kind {
                Kind::Numeric => table.number(index, field.slot.number(self.row())),
                Kind::Character => table.text(index, field.slot.bytes(self.row())),
            }
        }
    }

    /// Goes on to the group of `row`.
    pub(crate) fn enter(&mut self, row: &[u8]) {
        row.clone_into(&mut self.current);
        if !self.by_format.is_empty() {
            row.clone_into(&mut self.first);
            self.shown = self.next.take();
        }
    }

    /// The first BY variable whose value is another one in `row`, which begins a group.
    pub(crate) fn first_change(&self, row: &[u8]) -> usize {
        let differs = |field: &Field| self.value(field, self.row()) != self.value(field, row);
        let changed = self.fields.iter().position(differs);
        changed.unwrap_or(self.fields.len() - 1)
    }

    /// `sex=F age=12`, of the group.
    pub(crate) fn heading(&self) -> String {
        self.text(self.row())
    }

    fn text(&self, row: &[u8]) -> String {
        let one = |field: &Field| format!("{}={}", field.variable.name, self.value(field, row));
        self.fields.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn value(&self, field: &Field, row: &[u8]) -> String {
        let format = &field.variable.format;
        match field.variable.kind {
            Kind::Numeric => shown::number(field.slot.number(row), format, &self.formats),
            Kind::Character => {
                shown::text(field.slot.bytes(row), format, &self.formats, self.encoding)
            }
        }
    }
}
