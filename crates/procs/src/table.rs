//! A data set that a procedure makes from values of its own: KEEP=, DROP=, RENAME= and the other
//! options of its name applied.

use std::collections::BTreeSet;

use engine::dataset::copy::{RowCopy, store_number, store_text};
use engine::dataset::input::Field;
use engine::dataset::options::{DatasetOptions, Named, rename_all, select_known};
use engine::dataset::output::{Output, OutputPlan};
use engine::dataset::restriction::Restriction;
use engine::expr::Slot;
use engine::failure::Outcome;
use engine::session::World;
use lang::ast::DatasetRef;
use sas7bdat::{Encoding, Kind, Variable, missing};

/// A data set in the making; rows are filled in variable by variable.
pub(crate) struct Table {
    output: Output,
    /// WHERE=.
    restriction: Option<Restriction>,
    /// Where each variable goes; `None` if it is dropped.
    slots: Vec<Option<Slot>>,
    row: Vec<u8>,
}

struct Column(Variable);

impl Named for Column {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn kind(&self) -> Kind {
        self.0.kind
    }
}

impl Table {
    /// Creates `dataset` with `variables`, in this order.
    pub(crate) fn create(
        world: &mut World,
        dataset: &DatasetRef,
        variables: Vec<Variable>,
        creator: &'static str,
        encoding: Encoding,
    ) -> Outcome<Self> {
        let member = world.libraries.resolve(dataset)?;
        let options = DatasetOptions::read(dataset)?;
        let columns: Vec<Column> = variables.into_iter().map(Column).collect();
        let mut unknown = BTreeSet::new();
        let mut kept = vec![options.keep.is_none(); columns.len()];
        for index in select_known(&columns, options.keep.unwrap_or_default(), &mut unknown)? {
            kept[index] = true;
        }
        for index in select_known(&columns, options.drop.unwrap_or_default(), &mut unknown)? {
            kept[index] = false;
        }
        let mut written: Vec<Variable> = columns
            .into_iter()
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(column, _)| column.0)
            .collect();
        unknown.extend(rename_all(&mut written, options.rename, |variable| {
            &mut variable.name
        })?);
        for name in unknown {
            world.log.warning(&format!(
                "The variable {name} in the DROP, KEEP, or RENAME list has never been referenced."
            ));
        }
        let restriction = Restriction::of(world, dataset, &options, &written, encoding)?;
        let plan = OutputPlan {
            compress: options.compress,
            bufsize: options.bufsize,
            label: options.label.unwrap_or_default().to_owned(),
            creator,
            encoding,
            indexes: options.indexes,
        };
        let output = Output::create(world, member, &written, plan)?;
        let layout = output.layout();
        let mut places = written.iter().zip(&layout.offsets);
        let slots = kept
            .iter()
            .map(|kept| {
                let (variable, offset) = kept.then(|| places.next()).flatten()?;
                Some(Slot {
                    kind: variable.kind,
                    offset: *offset,
                    length: variable.length,
                    big_endian: false,
                })
            })
            .collect();
        let row = vec![0; layout.row_bytes as usize];
        Ok(Self {
            output,
            restriction,
            slots,
            row,
        })
    }

    /// Sets a numeric variable of the row in progress; what is infinite is missing, `.I` or `.M`.
    pub(crate) fn number(&mut self, variable: usize, value: f64) {
        let value = if value.is_infinite() {
            missing::encode(if value > 0.0 { b'I' } else { b'M' })
        } else {
            value
        };
        if let Some(slot) = &self.slots[variable] {
            store_number(slot, &mut self.row, value);
        }
    }

    /// Sets a character variable of the row in progress.
    pub(crate) fn text(&mut self, variable: usize, value: &[u8]) {
        if let Some(slot) = &self.slots[variable] {
            store_text(slot, &mut self.row, value);
        }
    }

    /// What copies the values of `fields`, which are the first variables of the table, from a row.
    pub(crate) fn copier(&self, fields: &[Field]) -> RowCopy {
        let pairs: Vec<(Slot, Slot)> = fields
            .iter()
            .zip(&self.slots)
            .filter_map(|(field, slot)| Some((field.slot, (*slot)?)))
            .collect();
        RowCopy::new(&pairs)
    }

    /// Copies values of another row into the row in progress.
    pub(crate) fn copy(&mut self, copier: &RowCopy, from: &[u8]) {
        copier.apply(from, &mut self.row);
    }

    /// Writes the row; what is not set again stays for the next one.
    pub(crate) fn write(&mut self) -> Outcome<()> {
        if let Some(restriction) = &mut self.restriction
            && !restriction.meets(&self.row)?
        {
            return Ok(());
        }
        self.output.write_row(&self.row)
    }

    /// Completes the data set.
    pub(crate) fn finish(self, world: &mut World) -> Outcome<u64> {
        self.output.finish(world)
    }

    /// Completes the data set with a note of the caller's in the place of the usual one.
    pub(crate) fn finish_noting(
        self,
        world: &mut World,
        note: impl FnOnce(&str, u64, u64) -> Option<String>,
    ) -> Outcome<u64> {
        self.output.finish_noting(world, note)
    }

    /// Gives it up without a word.
    pub(crate) fn withhold(self, world: &mut World) {
        self.output.withhold(world);
    }

    /// Gives it up; an older one of the name stays.
    pub(crate) fn discard(self, world: &mut World) {
        self.output.discard(world);
    }
}
