//! Rows picked by a condition, a block at a time.

use sas7bdat::{Error, Reader, Rows, Source};

use crate::expr::Number;
use crate::expr::block::{Active, Compiler, Condition, InRows, ROWS_MAX, Registers};
use crate::expr::evaluate::{Events, is_true};
use crate::failure::Outcome;

/// The rows of a block that meet a condition, and how far they were gone through.
pub(super) struct Selection {
    filter: Filter,
    events: Events,
    /// The picked rows of the block, by their place in it.
    picked: Vec<u8>,
    /// How many of them were taken.
    taken: usize,
    /// Rows of the block, and how many of them the reader has passed.
    rows: usize,
    passed: usize,
}

enum Filter {
    /// All rows.
    All,
    /// Evaluated over a block.
    Blocks(Condition, Registers),
    /// Evaluated row by row.
    Rows(Number),
}

impl Selection {
    /// Of all rows.
    pub(super) fn all() -> Self {
        Self::new(Filter::All, Events::default())
    }

    /// Of the rows that meet `condition`, which finds its variables in them.
    pub(super) fn of(condition: Number, events: Events) -> Self {
        let mut compiler = Compiler::new(InRows);
        let filter = match compiler.condition(&condition) {
            Some(blocks) => Filter::Blocks(blocks, compiler.supply.registers()),
            None => Filter::Rows(condition),
        };
        Self::new(filter, events)
    }

    fn new(filter: Filter, events: Events) -> Self {
        Self {
            filter,
            events,
            picked: Vec::with_capacity(ROWS_MAX),
            taken: 0,
            rows: 0,
            passed: 0,
        }
    }

    /// Why the condition cannot be evaluated, if it cannot.
    #[inline]
    pub(super) fn check(&mut self) -> Outcome<()> {
        self.events.failure.take().map_or(Ok(()), Err)
    }

    /// How many rows of the block the reader has before it, and which of them are picked.
    pub(super) fn left(&self) -> (usize, Active) {
        let mut active = Active::of(&self.picked[self.taken..]);
        active.shift(self.passed);
        (self.rows - self.passed, active)
    }

    /// Makes sure that a picked row is there to be taken; false after the last one.
    #[inline]
    pub(super) fn fill<S: Source>(&mut self, reader: &mut Reader<S>) -> Result<bool, Error> {
        while self.taken == self.picked.len() {
            reader.advance(self.rows - self.passed);
            (self.taken, self.rows, self.passed) = (0, 0, 0);
            self.picked.clear();
            let Some(ready) = reader.ready()? else {
                return Ok(false);
            };
            self.rows = ready.count.min(ROWS_MAX);
            self.pick(&first(&ready, self.rows));
        }
        Ok(true)
    }

    /// Goes past the next `count` picked rows; the reader's last row is the last of them.
    #[inline]
    pub(super) fn take<S: Source>(&mut self, reader: &mut Reader<S>, count: usize) {
        self.taken += count;
        let end = usize::from(self.picked[self.taken - 1]) + 1;
        reader.advance(end - self.passed);
        self.passed = end;
    }

    fn pick(&mut self, rows: &Rows<'_>) {
        let Self {
            filter,
            events,
            picked,
            ..
        } = self;
        let all = (0..=u8::MAX).take(rows.count);
        match filter {
            Filter::All => picked.extend(all),
            Filter::Blocks(condition, registers) => {
                let mut active = Active::all(rows.count);
                condition.select(rows, &mut active, registers, events);
                picked.extend_from_slice(active.rows());
            }
            Filter::Rows(condition) => {
                let holds = |(_, row): &(u8, &[u8])| is_true(condition.value(row, events));
                picked.extend(all.zip(rows.iter()).filter(holds).map(|(row, _)| row));
            }
        }
    }
}

/// The first `count` rows.
pub(super) fn first<'a>(rows: &Rows<'a>, count: usize) -> Rows<'a> {
    let bytes = rows.bytes.get(..count * rows.row_bytes);
    Rows {
        bytes: bytes.unwrap_or(&[]),
        row_bytes: rows.row_bytes,
        count,
    }
}
