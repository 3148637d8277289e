//! Rows being taken in. On one thread all the memory is one buffer; with more it is two halves, and
//! while one is sorted and spilled by a thread of its own the other one fills.

use std::mem::replace;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use base::store::StoreError;

use super::buffer::RowBuffer;
use super::key::SortKey;
use super::spill::{Run, RunWriter, UtilityFile};
use super::{Expected, SortPlan, spill_failure};
use crate::failure::Outcome;

/// Fewer rows than this are sorted before a second thread has started.
pub(super) const PARALLEL_ROWS: u64 = 50_000;

/// The memory of a sort, and what has been spilled from it.
pub(super) struct Halves {
    plan: Arc<SortPlan>,
    filling: RowBuffer,
    /// The other half while no thread has it: empty, or full and older than `filling`.
    other: Option<RowBuffer>,
    /// What was spilled, while no thread has it; `None` before the first spill.
    spilled: Option<Spilled>,
    spilling: Option<Spilling>,
    /// True if it is known from the start that the rows do not fit.
    must_spill: bool,
}

/// Sorted runs.
pub(super) struct Spilled {
    pub(super) file: UtilityFile,
    pub(super) runs: Vec<Run>,
}

/// Where the rows are once all have been taken in.
pub(super) enum Taken {
    /// They fitted.
    Memory(Sorted),
    /// They did not.
    Runs(Spilled),
}

/// Rows sorted in memory: two buffers, the first one older.
pub(super) struct Sorted(Option<RowBuffer>, RowBuffer);

impl Halves {
    /// Memory for the rows expected, if that is less than the plan allows.
    pub(super) fn new(plan: Arc<SortPlan>, expected: Expected) -> Self {
        let fitting = RowBuffer::rows_in(plan.row_bytes, plan.memory_bytes);
        let (Expected::Exactly(most) | Expected::AtMost(most)) = expected;
        let rows = fitting.min(most).max(1);
        let parts = if plan.threads > 1 && rows >= PARALLEL_ROWS {
            2
        } else {
            1
        };
        let buffer = || RowBuffer::new(plan.row_bytes, rows.div_ceil(parts));
        Self {
            filling: buffer(),
            other: (parts == 2).then(buffer),
            spilled: None,
            spilling: None,
            must_spill: expected == Expected::Exactly(most) && most > fitting,
            plan,
        }
    }

    /// True if a row needs [`Self::make_room`] first.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.filling.is_full()
    }

    /// Where the next row goes.
    #[inline]
    pub(super) fn next_slot(&mut self) -> &mut [u8] {
        self.filling.next_slot()
    }

    /// Takes the row in the slot in.
    #[inline]
    pub(super) fn added(&mut self) {
        self.filling.added(&self.plan.key);
    }

    /// Goes on to the other half, once that is empty; `create` makes the utility file.
    pub(super) fn make_room(
        &mut self,
        create: impl FnOnce() -> Outcome<UtilityFile>,
    ) -> Outcome<()> {
        if let Some(spilling) = self.spilling.take() {
            let (empty, spilled) = spilling.wait().map_err(spill_failure)?;
            self.spill_behind(empty, spilled);
            return Ok(());
        }
        match self.other.take() {
            Some(empty) if empty.is_empty() && self.must_spill => {
                self.spill_behind(empty, Spilled::new(create()?));
            }
            Some(empty) if empty.is_empty() => {
                self.other = Some(replace(&mut self.filling, empty));
            }
            Some(mut older) => {
                let mut spilled = Spilled::new(create()?);
                let threads = self.plan.threads;
                spilled
                    .take(&mut older, &self.plan, threads)
                    .map_err(spill_failure)?;
                self.spill_behind(older, spilled);
            }
            None => {
                let mut spilled = match self.spilled.take() {
                    Some(spilled) => spilled,
                    None => Spilled::new(create()?),
                };
                spilled
                    .take(&mut self.filling, &self.plan, 1)
                    .map_err(spill_failure)?;
                self.spilled = Some(spilled);
            }
        }
        Ok(())
    }

    /// Spills the full half by a thread and goes on with the empty one.
    fn spill_behind(&mut self, empty: RowBuffer, spilled: Spilled) {
        let full = replace(&mut self.filling, empty);
        self.spilling = Some(Spilling::start(full, spilled, self.plan.clone()));
    }

    /// Sorts what is in memory, and spills it if something was spilled before.
    pub(super) fn finish(mut self) -> Outcome<Taken> {
        let threads = self.plan.threads;
        let spilled = match self.spilling.take() {
            Some(spilling) => Some(spilling.wait().map_err(spill_failure)?.1),
            None => self.spilled,
        };
        let Some(mut spilled) = spilled else {
            let older = self.other.filter(|other| !other.is_empty());
            return Ok(Taken::Memory(Sorted::new(older, self.filling, &self.plan)));
        };
        if !self.filling.is_empty() {
            spilled
                .take(&mut self.filling, &self.plan, threads)
                .map_err(spill_failure)?;
        }
        Ok(Taken::Runs(spilled))
    }
}

impl Sorted {
    fn new(mut older: Option<RowBuffer>, mut newer: RowBuffer, plan: &SortPlan) -> Self {
        match &mut older {
            None => newer.sort(&plan.key, plan.threads),
            Some(older) => {
                let each = plan.threads.div_ceil(2);
                thread::scope(|scope| {
                    scope.spawn(|| older.sort(&plan.key, each));
                    newer.sort(&plan.key, each);
                });
            }
        }
        Self(older, newer)
    }

    /// Hands out all rows in order.
    pub(super) fn drain<E>(
        &self,
        key: &SortKey,
        take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.0 {
            None => self.1.drain(take),
            Some(older) => RowBuffer::drain_both(older, &self.1, key, take),
        }
    }
}

impl Spilled {
    fn new(file: UtilityFile) -> Self {
        Self {
            file,
            runs: Vec::new(),
        }
    }

    /// Sorts the rows of `buffer`, writes them as one run and empties the buffer.
    fn take(
        &mut self,
        buffer: &mut RowBuffer,
        plan: &SortPlan,
        threads: usize,
    ) -> Result<(), StoreError> {
        buffer.sort(&plan.key, threads);
        let mut writer = RunWriter::new(&mut self.file, plan.block_bytes);
        buffer.drain(|row| writer.write_row(row))?;
        self.runs.push(writer.finish()?);
        buffer.clear();
        Ok(())
    }
}

/// A half that a thread sorts and spills. Dropping it waits for the thread: nothing is written to a
/// utility file that its session has already removed.
struct Spilling(Option<JoinHandle<Result<(RowBuffer, Spilled), StoreError>>>);

impl Spilling {
    fn start(mut full: RowBuffer, mut spilled: Spilled, plan: Arc<SortPlan>) -> Self {
        Self(Some(thread::spawn(move || {
            // The step itself keeps one processor busy.
            spilled.take(&mut full, &plan, plan.threads - 1)?;
            Ok((full, spilled))
        })))
    }

    /// The buffer, empty, and the runs with the one made of its rows.
    fn wait(mut self) -> Result<(RowBuffer, Spilled), StoreError> {
        let thread = self.0.take().expect("it is waited for once");
        thread.join().expect("the thread does not panic")
    }
}

impl Drop for Spilling {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Whoever drops it has failed already and reports that.
            let _ = thread.join();
        }
    }
}
