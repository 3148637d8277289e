//! WHERE= of a data set that a procedure makes: which rows it writes.

use lang::ast::DatasetRef;
use sas7bdat::{Compression, Encoding, Layout, Variable};

use super::input::{Field, Fields};
use super::options::DatasetOptions;
use crate::expr::compile::{Compiler, Sites};
use crate::expr::evaluate::{Events, is_true};
use crate::expr::{Number, Slot};
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// FIRSTOBS= and OBS= choose rows that are read; an output data set has none.
pub fn refuse_ranges(dataset: &DatasetRef, options: &DatasetOptions<'_>) -> Outcome<()> {
    if options.firstobs.is_none() && options.obs.is_none() {
        return Ok(());
    }
    let message = "FIRSTOBS= and OBS= are not valid for output data sets.";
    Err(Failure::at(&dataset.span, message))
}

/// What the rows of an output data set must meet.
pub struct Restriction {
    holds: Number,
    events: Events,
}

impl Restriction {
    /// WHERE= of `dataset`, which gets `variables` under the names that they have there.
    pub fn of(
        world: &mut World,
        dataset: &DatasetRef,
        options: &DatasetOptions<'_>,
        variables: &[Variable],
        encoding: Encoding,
    ) -> Outcome<Option<Self>> {
        refuse_ranges(dataset, options)?;
        let Some(condition) = options.condition else {
            return Ok(None);
        };
        let name = world.libraries.resolve(dataset)?.full_name();
        let layout = Layout::new(variables, Compression::None);
        let places = variables.iter().zip(&layout.offsets);
        let fields: Vec<Field> = places
            .map(|(variable, offset)| Field {
                variable: variable.clone(),
                slot: Slot {
                    kind: variable.kind,
                    offset: *offset,
                    length: variable.length,
                    big_endian: false,
                },
            })
            .collect();
        let events = Events {
            surroundings: world.surroundings(false),
            ..Events::default()
        };
        let mut scope = Fields {
            fields: &fields,
            dataset: &name,
        };
        let mut sites = Sites::default();
        let mut compiler = Compiler {
            scope: &mut scope,
            sites: &mut sites,
            encoding: Some(encoding),
            formats: &events.surroundings.formats,
        };
        let holds = compiler.number(condition)?.lowered();
        Ok(Some(Self { holds, events }))
    }

    /// Whether a row in the layout of the data set is to be written.
    pub fn meets(&mut self, row: &[u8]) -> Outcome<bool> {
        let meets = is_true(self.holds.value(row, &mut self.events));
        self.events.failure.take().map_or(Ok(meets), Err)
    }
}
