//! Rows being taken in. On one thread all the memory is one buffer; with more it is several parts, and
//! while full ones are sorted and spilled by a thread of its own the next one fills.

use std::mem::replace;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use base::store::StoreError;

use super::buffer::RowBuffer;
use super::key::SortKey;
use super::spill::{Run, RunWriter, UtilityFile};
use super::{Expected, SortPlan, spill_failure};
use crate::failure::Outcome;

/// Fewer rows than this are sorted before a second thread has started.
pub(super) const PARALLEL_ROWS: u64 = 50_000;

/// Parts of the memory when threads share the work: the more, the less time passes before the first
/// is written and after the last one was read; the fewer, the longer the runs.
const PARTS: u64 = 4;

/// The memory of a sort, and what has been spilled from it.
pub(super) struct Parts {
    plan: Arc<SortPlan>,
    filling: RowBuffer,
    empty: Vec<RowBuffer>,
    /// Older than `filling`, the oldest first; of no use once something was spilled.
    full: Vec<RowBuffer>,
    spilled: Spill,
    /// True if it is known from the start that the rows do not fit.
    must_spill: bool,
}

/// Who has the utility file.
enum Spill {
    /// There is none: all rows fit so far.
    Nothing,
    /// One thread does everything.
    Here(Spilled),
    Behind(Spiller),
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

/// Buffers of sorted rows, the oldest first.
pub(super) struct Sorted {
    /// Each with the place of its next row.
    parts: Vec<(RowBuffer, usize)>,
    /// The part of the row it stands on.
    current: usize,
}

impl Parts {
    /// Memory for the rows expected, if that is less than the plan allows.
    pub(super) fn new(plan: Arc<SortPlan>, expected: Expected) -> Self {
        let fitting = RowBuffer::rows_in(plan.row_bytes, plan.memory_bytes);
        let (Expected::Exactly(most) | Expected::AtMost(most)) = expected;
        let rows = fitting.min(most).max(1);
        let shared = plan.threads > 1 && rows >= PARALLEL_ROWS;
        let parts = if shared { PARTS } else { 1 };
        let buffer = || RowBuffer::new(plan.row_bytes, rows.div_ceil(parts));
        Self {
            filling: buffer(),
            empty: (1..parts).map(|_| buffer()).collect(),
            full: Vec::new(),
            spilled: Spill::Nothing,
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

    /// Goes on to the next part, spilling what is full if it must; `create` makes the utility file.
    pub(super) fn make_room(
        &mut self,
        create: impl FnOnce() -> Outcome<UtilityFile>,
    ) -> Outcome<()> {
        if matches!(self.spilled, Spill::Nothing) {
            if !self.must_spill
                && let Some(empty) = self.empty.pop()
            {
                self.full.push(replace(&mut self.filling, empty));
                return Ok(());
            }
            self.start_spilling(create()?);
        }
        match &mut self.spilled {
            Spill::Nothing => Ok(()),
            Spill::Here(spilled) => spilled
                .take(&mut self.filling, &self.plan, 1)
                .map_err(spill_failure),
            Spill::Behind(spiller) => {
                let next = self.empty.pop().map_or_else(|| spiller.next_empty(), Ok);
                let empty = next.map_err(spill_failure)?;
                spiller.give(replace(&mut self.filling, empty));
                Ok(())
            }
        }
    }

    fn start_spilling(&mut self, file: UtilityFile) {
        let spilled = Spilled {
            file,
            runs: Vec::new(),
        };
        let alone = self.empty.is_empty() && self.full.is_empty();
        self.spilled = if alone {
            Spill::Here(spilled)
        } else {
            let spiller = Spiller::start(spilled, self.plan.clone());
            self.full.drain(..).for_each(|full| spiller.give(full));
            Spill::Behind(spiller)
        };
    }

    /// Sorts what is in memory, and spills it if something was spilled before.
    pub(super) fn finish(mut self) -> Outcome<Taken> {
        let rest = (!self.filling.is_empty()).then_some(self.filling);
        let spilled = match self.spilled {
            Spill::Nothing => {
                self.full.extend(rest);
                return Ok(Taken::Memory(Sorted::new(self.full, &self.plan)));
            }
            Spill::Here(mut spilled) => rest
                .map_or(Ok(()), |mut rest| spilled.take(&mut rest, &self.plan, 1))
                .map(|()| spilled),
            Spill::Behind(spiller) => {
                if let Some(rest) = rest {
                    spiller.give(rest);
                }
                spiller.finish()
            }
        };
        spilled.map(Taken::Runs).map_err(spill_failure)
    }
}

impl Sorted {
    fn new(mut parts: Vec<RowBuffer>, plan: &SortPlan) -> Self {
        let sort =
            |parts: &mut [RowBuffer]| parts.iter_mut().for_each(|part| part.sort(&plan.key, 1));
        let each = parts.len().div_ceil(plan.threads).max(1);
        if each >= parts.len() {
            sort(&mut parts);
        } else {
            thread::scope(|scope| {
                for share in parts.chunks_mut(each) {
                    scope.spawn(move || sort(share));
                }
            });
        }
        Self {
            parts: parts.into_iter().map(|part| (part, 0)).collect(),
            current: 0,
        }
    }

    /// Goes on to the next row in order, false if there is none; of rows with equal keys those of an
    /// earlier part come first.
    #[inline]
    pub(super) fn advance(&mut self, key: &SortKey) -> bool {
        if self.parts.len() > 1 {
            match self.least(key) {
                Some(least) => self.current = least,
                None => return false,
            }
        }
        let Some((buffer, place)) = self.parts.get_mut(self.current) else {
            return false;
        };
        *place += 1;
        buffer.at(*place - 1).is_some()
    }

    /// The row it stands on.
    #[inline]
    pub(super) fn row(&self) -> Option<&[u8]> {
        let (buffer, place) = self.parts.get(self.current)?;
        buffer.at(place.checked_sub(1)?).map(|(_, row)| row)
    }

    /// The part with the least next row.
    fn least(&self, key: &SortKey) -> Option<usize> {
        let mut least: Option<(usize, (u64, &[u8]))> = None;
        for (number, (buffer, place)) in self.parts.iter().enumerate() {
            let Some(first) = buffer.at(*place) else {
                continue;
            };
            let precedes = |other: (u64, &[u8])| {
                let by_prefix = first.0.cmp(&other.0);
                if key.prefix_decides() {
                    return by_prefix.is_lt();
                }
                by_prefix
                    .then_with(|| key.compare(first.1, other.1))
                    .is_lt()
            };
            if least.is_none_or(|(_, other)| precedes(other)) {
                least = Some((number, first));
            }
        }
        least.map(|(number, _)| number)
    }
}

impl Spilled {
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

/// A thread that sorts and spills full parts, in the order in which they are given. Dropping it waits:
/// nothing is written to a utility file that its session has already removed.
struct Spiller {
    /// `None` once there is nothing more to come.
    full: Option<Sender<RowBuffer>>,
    empty: Receiver<RowBuffer>,
    thread: Option<JoinHandle<Result<Spilled, StoreError>>>,
}

impl Spiller {
    fn start(mut spilled: Spilled, plan: Arc<SortPlan>) -> Self {
        let (full, parts) = channel::<RowBuffer>();
        let (emptied, empty) = channel();
        let thread = thread::spawn(move || {
            for mut part in parts {
                // The step itself keeps one processor busy.
                spilled.take(&mut part, &plan, plan.threads - 1)?;
                // At the end nobody waits for empty parts any more.
                let _ = emptied.send(part);
            }
            Ok(spilled)
        });
        Self {
            full: Some(full),
            empty,
            thread: Some(thread),
        }
    }

    /// If the thread has failed the part is lost, and [`Self::next_empty`] or [`Self::finish`] tells.
    fn give(&self, full: RowBuffer) {
        let _ = self.full.as_ref().map(|thread| thread.send(full));
    }

    /// Waits for a part that was spilled.
    fn next_empty(&mut self) -> Result<RowBuffer, StoreError> {
        match self.empty.recv() {
            Ok(empty) => Ok(empty),
            Err(_) => Err(self
                .join()
                .err()
                .expect("the thread ends before it is told to only if it fails")),
        }
    }

    /// Waits until everything is spilled.
    fn finish(mut self) -> Result<Spilled, StoreError> {
        self.join()
    }

    fn join(&mut self) -> Result<Spilled, StoreError> {
        self.full = None;
        let thread = self.thread.take().expect("it is joined once");
        thread.join().expect("the thread does not panic")
    }
}

impl Drop for Spiller {
    fn drop(&mut self) {
        self.full = None;
        if let Some(thread) = self.thread.take() {
            // Whoever drops it has failed already and reports that.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use base::store::faulty::{Fault, FaultyStore, Plan};
    use base::store::memory::MemoryStore;
    use base::store::{Channel, Creation, Operation, Store};
    use sas7bdat::Kind;

    use super::*;
    use crate::expr::Slot;
    use crate::sort::KeyField;
    use crate::sort::merge::Merge;

    const ROW_BYTES: u32 = 16;

    /// The key is the first number of a row; few different ones, so that ties are many.
    fn plan(threads: usize, memory_rows: u64) -> Arc<SortPlan> {
        let slot = Slot {
            kind: Kind::Numeric,
            offset: 0,
            length: 8,
            big_endian: false,
        };
        let descending = false;
        let entry = 24;
        Arc::new(SortPlan {
            key: SortKey::new(vec![KeyField { slot, descending }]),
            row_bytes: ROW_BYTES,
            memory_bytes: memory_rows * (u64::from(ROW_BYTES) + entry),
            block_bytes: 4096,
            threads,
            unique: false,
        })
    }

    fn rows(count: u64) -> Vec<[u8; 16]> {
        let row = |number: u64| {
            let mut row = [0; 16];
            let key = (number * 7919 % 101) as f64;
            row[..8].copy_from_slice(&key.to_le_bytes());
            row[8..].copy_from_slice(&number.to_le_bytes());
            row
        };
        (0..count).map(row).collect()
    }

    fn utility_file(store: &dyn Store) -> UtilityFile {
        let path = Path::new("/ut000001.utl");
        UtilityFile {
            file: store
                .create(Channel::Util, path, Creation::New)
                .expect("a new file"),
            path: path.to_owned(),
            end: 0,
        }
    }

    /// The rows in the order in which a sort hands them out, and how many runs it spilled.
    fn sorted(
        rows: &[[u8; 16]],
        plan: &Arc<SortPlan>,
        expected: Expected,
    ) -> (Vec<[u8; 16]>, usize) {
        let store = MemoryStore::new();
        let mut parts = Parts::new(plan.clone(), expected);
        for row in rows {
            if parts.is_full() {
                parts.make_room(|| Ok(utility_file(&store))).expect("room");
            }
            parts.next_slot().copy_from_slice(row);
            parts.added();
        }
        let mut out = Vec::new();
        let mut take = |row: &[u8]| out.push(row.try_into().expect("16 bytes"));
        let runs = match parts.finish().expect("sorted") {
            Taken::Memory(mut sorted) => {
                while sorted.advance(&plan.key) {
                    take(sorted.row().expect("a row"));
                }
                0
            }
            Taken::Runs(Spilled { file, runs }) => {
                let mut merge = Merge::new(&file, &runs, plan).expect("a merge");
                while merge.advance(&file).expect("a row") {
                    take(merge.row().expect("a row"));
                }
                runs.len()
            }
        };
        (out, runs)
    }

    #[test]
    fn any_number_of_threads_gives_the_same_stable_order() {
        let rows = rows(200_003);
        let mut wanted = rows.clone();
        // Keys are whole numbers below 101: their bytes, the highest first, order as they do.
        wanted.sort_by_key(|row| u64::from_le_bytes(row[..8].try_into().unwrap()));
        for threads in [1, 2, 3, 5] {
            for memory_rows in [60_000, 120_000, 400_000] {
                for expected in [Expected::Exactly(200_003), Expected::AtMost(200_003)] {
                    let (out, runs) = sorted(&rows, &plan(threads, memory_rows), expected);
                    assert!(out == wanted, "{threads} threads, {memory_rows} rows");
                    assert_eq!(runs == 0, memory_rows == 400_000);
                }
            }
        }
    }

    #[test]
    fn nothing_is_spilled_if_conditions_leave_few_enough_rows() {
        let rows = rows(100_000);
        let plan = plan(2, 110_000);
        let (out, runs) = sorted(&rows, &plan, Expected::AtMost(1_000_000));
        assert_eq!((out.len(), runs), (100_000, 0));
    }

    #[test]
    fn no_rows_are_no_rows() {
        let (out, runs) = sorted(&[], &plan(2, 1000), Expected::Exactly(0));
        assert_eq!((out.len(), runs), (0, 0));
    }

    #[test]
    fn a_spill_that_fails_behind_is_reported() {
        let plan = plan(2, 60_000);
        let store = FaultyStore::new(
            MemoryStore::new(),
            Plan {
                operation: Some(Operation::Write),
                channel: None,
                nth: 100,
                fault: Fault::Fail(ErrorKind::StorageFull),
            },
        );
        let mut parts = Parts::new(plan, Expected::AtMost(1_000_000));
        let failed = rows(1_000_000).iter().any(|row| {
            if parts.is_full() && parts.make_room(|| Ok(utility_file(&store))).is_err() {
                return true;
            }
            parts.next_slot().copy_from_slice(row);
            parts.added();
            false
        });
        assert!(
            failed,
            "the failure comes out before all memory is used up again"
        );
    }
}
