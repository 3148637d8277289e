//! Rows as queries pass them on: pulled one by one, packed in a layout that their fields tell.

use engine::dataset::copy::{RowCopy, store_number, store_text};
use engine::dataset::input::{Field, Input};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use sas7bdat::{Kind, missing};

use super::machine::{Machine, Program};

/// A source of rows.
pub(super) trait Rows {
    /// The next row.
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>>;

    /// Ends the reading of all files, of which no further row is wanted.
    fn close(&mut self, world: &mut World) -> Outcome<()>;
}

/// Rows with their fields.
pub(super) struct Relation {
    pub(super) rows: Box<dyn Rows>,
    pub(super) fields: Vec<Field>,
    pub(super) row_bytes: u32,
    /// There are not more rows than this.
    pub(super) most: u64,
    /// There are perhaps so many.
    pub(super) guess: u64,
}

/// SAS's error when memory is not enough for `what`.
pub(super) fn out_of_memory(what: &str, limit: u64) -> Failure {
    Failure::world(format!(
        "The SAS System stopped processing this step because of insufficient memory: {what} does not \
         fit into {} KiB. Raise MEMSIZE=.",
        limit >> 10
    ))
}

/// Places one after the other for columns of these kinds and lengths.
pub(super) fn packed(columns: impl IntoIterator<Item = (Kind, u32)>) -> (Vec<Slot>, u32) {
    let mut end = 0;
    let slots = columns.into_iter().map(|(kind, length)| {
        let slot = Slot {
            kind,
            offset: end,
            length,
            big_endian: false,
        };
        end += length;
        slot
    });
    (slots.collect(), end)
}

/// Makes a row of missing values.
pub(super) fn fill_missing(slots: &[Slot], row: &mut [u8]) {
    for slot in slots {
        match slot.kind {
            Kind::Numeric => store_number(slot, row, missing::encode(0)),
            Kind::Character => store_text(slot, row, b""),
        }
    }
}

/// The rows of a data set as they lie in the file.
pub(super) struct Scan {
    input: Option<Input>,
    left: u64,
    limit: Option<u64>,
}

impl Scan {
    pub(super) fn new(input: Input, limit: Option<u64>) -> Self {
        Self {
            input: Some(input),
            left: limit.unwrap_or(u64::MAX),
            limit,
        }
    }
}

impl Rows for Scan {
    #[inline]
    fn next(&mut self, _: &mut World) -> Outcome<Option<&[u8]>> {
        let Some(input) = self.input.as_mut().filter(|_| self.left > 0) else {
            return Ok(None);
        };
        self.left -= 1;
        input.next_row()
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        let Some(input) = self.input.take() else {
            return Ok(());
        };
        if let (Some(limit), 0) = (self.limit, self.left) {
            world.log.warning(&format!(
                "Only {limit} records were read from {} due to INOBS= option.",
                input.member().full_name()
            ));
        }
        input.finish_unnoted(world).map(|_| ())
    }
}

/// No rows.
pub(super) struct Nothing;

impl Rows for Nothing {
    fn next(&mut self, _: &mut World) -> Outcome<Option<&[u8]>> {
        Ok(None)
    }

    fn close(&mut self, _: &mut World) -> Outcome<()> {
        Ok(())
    }
}

/// Rows that meet conditions.
pub(super) struct Filter {
    pub(super) rows: Box<dyn Rows>,
    pub(super) machine: Machine,
    pub(super) conditions: Vec<Program>,
    pub(super) held: Vec<u8>,
}

impl Rows for Filter {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        loop {
            let Some(row) = self.rows.next(world)? else {
                return Ok(None);
            };
            self.machine.begin(row);
            let mut holds = true;
            for condition in &mut self.conditions {
                if !self.machine.holds(condition, row, world)? {
                    holds = false;
                    break;
                }
            }
            if holds {
                self.held.clear();
                self.held.extend_from_slice(row);
                break;
            }
        }
        Ok(Some(&self.held))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        self.rows.close(world)
    }
}

/// Computes the rows that are handed on.
pub(super) struct Project {
    pub(super) rows: Box<dyn Rows>,
    pub(super) projection: Projection,
    pub(super) row: Vec<u8>,
}

/// How a row is made from another one: what is copied, what is calculated.
pub(super) struct Projection {
    machine: Machine,
    copy: RowCopy,
    calculated: Vec<(Program, Slot)>,
}

impl Projection {
    pub(super) fn new(machine: Machine, programs: Vec<Program>, slots: &[Slot]) -> Self {
        let mut copied = Vec::new();
        let mut calculated = Vec::new();
        for (program, slot) in programs.into_iter().zip(slots) {
            match program.slot() {
                Some(from) => copied.push((from, *slot)),
                None => calculated.push((program, *slot)),
            }
        }
        Self {
            machine,
            copy: RowCopy::new(&copied),
            calculated,
        }
    }

    #[inline]
    pub(super) fn apply(
        &mut self,
        row: &[u8],
        target: &mut [u8],
        world: &mut World,
    ) -> Outcome<()> {
        self.copy.apply(row, target);
        if self.calculated.is_empty() {
            return Ok(());
        }
        self.machine.begin(row);
        for (program, slot) in &mut self.calculated {
            self.machine.store(program, row, world, slot, target)?;
        }
        Ok(())
    }
}

impl Rows for Project {
    #[inline]
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        let Some(row) = self.rows.next(world)? else {
            return Ok(None);
        };
        self.projection.apply(row, &mut self.row, world)?;
        Ok(Some(&self.row))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        self.rows.close(world)
    }
}

/// One source after the other, brought into one layout.
pub(super) struct Concat {
    pub(super) sources: std::collections::VecDeque<(Box<dyn Rows>, RowCopy)>,
    /// Values that a source does not have.
    pub(super) blank: Vec<u8>,
    pub(super) row: Vec<u8>,
}

impl Rows for Concat {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        while let Some((rows, copy)) = self.sources.front_mut() {
            if let Some(row) = rows.next(world)? {
                self.row.copy_from_slice(&self.blank);
                copy.apply(row, &mut self.row);
                return Ok(Some(&self.row));
            }
            rows.close(world)?;
            self.sources.pop_front();
        }
        Ok(None)
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        for (rows, _) in &mut self.sources {
            rows.close(world)?;
        }
        Ok(())
    }
}
