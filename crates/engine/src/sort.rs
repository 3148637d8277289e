//! External sort: rows come in once, runs of SORTSIZE are spilled to one utility file in UBUFSIZE
//! blocks, one merge reads all runs interleaved and hands the rows out in order. A second utility
//! file and a further merge pass come in only when the runs are too many for the memory.
//!
//! Traffic: 4 × the rows' bytes when they do not fit in memory, 2 × when they do.

mod buffer;
mod key;
mod memory;
mod merge;
mod parts;
mod spill;

use std::sync::Arc;

use base::store::{Channel, Creation, StoreFile};

pub use key::{KeyField, SortKey};

use self::merge::Merge;
use self::parts::{Parts, Spilled, Taken};
use self::spill::{Run, RunWriter, UtilityFile};
use crate::accounting::SortSummary;
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// How a sort is done.
#[derive(Debug, Clone)]
pub struct SortPlan {
    /// What rows are ordered by.
    pub key: SortKey,
    /// Bytes of a row.
    pub row_bytes: u32,
    /// Memory for rows and their sort entries, bytes.
    pub memory_bytes: u64,
    /// Block of utility files, bytes.
    pub block_bytes: u64,
    /// Threads.
    pub threads: usize,
    /// Of rows with the same key only the first is handed out.
    pub unique: bool,
}

/// How many rows a sort is told to expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// All of the input.
    Exactly(u64),
    /// Conditions may leave some out.
    AtMost(u64),
}

/// A sort taking rows in.
pub struct Sorter {
    plan: Arc<SortPlan>,
    memory: Parts,
    rows: u64,
}

impl Sorter {
    /// An empty sort; `expected` bounds the memory taken for small inputs.
    pub fn new(plan: SortPlan, expected: Expected) -> Self {
        let plan = Arc::new(plan);
        Self {
            memory: Parts::new(plan.clone(), expected),
            plan,
            rows: 0,
        }
    }

    /// Room for the next row; fill it, then call [`Self::added`].
    #[inline]
    pub fn next_slot(&mut self, world: &mut World) -> Outcome<&mut [u8]> {
        if self.memory.is_full() {
            self.memory.make_room(|| create_utility_file(world))?;
        }
        Ok(self.memory.next_slot())
    }

    /// Takes the row in that was written to [`Self::next_slot`].
    #[inline]
    pub fn added(&mut self) {
        self.memory.added();
        self.rows += 1;
    }

    /// Sorts what was taken in and hands every row to `emit`, in order. Returns what was done.
    pub fn finish(
        self,
        world: &mut World,
        mut emit: impl FnMut(&[u8], &mut World) -> Outcome<()>,
    ) -> Outcome<SortSummary> {
        let mut sorted = self.sorted(world)?;
        while let Some(row) = sorted.next_row(world)? {
            emit(row, world)?;
        }
        Ok(sorted.summary)
    }

    /// Sorts what was taken in; the rows are pulled one by one.
    pub fn sorted(self, world: &mut World) -> Outcome<Sorted> {
        let Self { plan, memory, rows } = self;
        let mut summary = SortSummary {
            rows,
            row_bytes: u64::from(plan.row_bytes),
            runs: 0,
            merges: 0,
        };
        let rows = match memory.finish()? {
            Taken::Memory(sorted) => SortedRows::Memory(sorted),
            Taken::Runs(Spilled { mut file, mut runs }) => {
                summary.runs = runs.len() as u64;
                while runs.len() > plan.fan_in() {
                    summary.merges += 1;
                    (file, runs) = merge_pass(&plan, world, file, &runs)?;
                }
                summary.merges += 1;
                let merge = Merge::new(&file, &runs, &plan).map_err(spill_failure)?;
                SortedRows::Runs(Box::new((file, merge)))
            }
        };
        Ok(Sorted {
            unique: Unique::default(),
            plan,
            rows,
            summary,
        })
    }
}

/// Rows in order, in memory or in a utility file that goes when the last row was handed out.
pub struct Sorted {
    plan: Arc<SortPlan>,
    rows: SortedRows,
    unique: Unique,
    summary: SortSummary,
}

enum SortedRows {
    Memory(parts::Sorted),
    Runs(Box<(UtilityFile, Merge)>),
    Done,
}

impl Sorted {
    /// What was done to sort them.
    pub const fn summary(&self) -> SortSummary {
        self.summary
    }

    /// The next row in order.
    #[inline]
    pub fn next_row(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        loop {
            if !self.advance()? {
                self.close(world)?;
                return Ok(None);
            }
            if !self.plan.unique || self.is_new() {
                return Ok(self.row());
            }
        }
    }

    /// Goes on to the next row; false at the end.
    #[inline]
    fn advance(&mut self) -> Outcome<bool> {
        match &mut self.rows {
            SortedRows::Memory(sorted) => Ok(sorted.advance(&self.plan.key)),
            SortedRows::Runs(merged) => {
                let (file, merge) = merged.as_mut();
                merge.advance(file).map_err(spill_failure)
            }
            SortedRows::Done => Ok(false),
        }
    }

    #[inline]
    fn row(&self) -> Option<&[u8]> {
        match &self.rows {
            SortedRows::Memory(sorted) => sorted.row(),
            SortedRows::Runs(merged) => merged.1.row(),
            SortedRows::Done => None,
        }
    }

    /// Whether the row is the first of its key.
    fn is_new(&mut self) -> bool {
        let row = match &self.rows {
            SortedRows::Memory(sorted) => sorted.row(),
            SortedRows::Runs(merged) => merged.1.row(),
            SortedRows::Done => None,
        };
        row.is_some_and(|row| self.unique.passes(&self.plan, row))
    }

    /// Gives up the rows that are left.
    pub fn close(&mut self, world: &World) -> Outcome<()> {
        match std::mem::replace(&mut self.rows, SortedRows::Done) {
            SortedRows::Runs(merged) => remove_utility_file(world, merged.0),
            SortedRows::Memory(_) | SortedRows::Done => Ok(()),
        }
    }
}

impl SortPlan {
    /// Runs merged at once: as many as have their readers in memory.
    fn fan_in(&self) -> usize {
        let readers = self.memory_bytes / Merge::reader_bytes(self);
        usize::try_from(readers).unwrap_or(usize::MAX).max(2)
    }
}

/// Merges groups of `fan_in` runs into longer ones in a second utility file.
fn merge_pass(
    plan: &SortPlan,
    world: &mut World,
    file: UtilityFile,
    runs: &[Run],
) -> Outcome<(UtilityFile, Vec<Run>)> {
    let mut next = create_utility_file(world)?;
    next.file = world.writing_behind(next.file);
    let mut longer = Vec::new();
    for group in runs.chunks(plan.fan_in()) {
        let mut merge = Merge::new(&file, group, plan).map_err(spill_failure)?;
        let mut writer = RunWriter::new(&mut next, plan.block_bytes);
        while merge.advance(&file).map_err(spill_failure)? {
            let row = merge.row().unwrap_or_default();
            writer.write_row(row).map_err(spill_failure)?;
        }
        longer.push(writer.finish().map_err(spill_failure)?);
    }
    remove_utility_file(world, file)?;
    Ok((next, longer))
}

/// Lets the first row of every key pass.
#[derive(Default)]
struct Unique {
    last: Option<Vec<u8>>,
}

impl Unique {
    #[inline]
    fn passes(&mut self, plan: &SortPlan, row: &[u8]) -> bool {
        match &mut self.last {
            Some(last) if plan.key.compare(last, row).is_eq() => false,
            Some(last) => {
                last.copy_from_slice(row);
                true
            }
            None => {
                self.last = Some(row.to_vec());
                true
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn spill_failure(error: base::store::StoreError) -> Failure {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let full = matches!(error.source.kind(), StorageFull | QuotaExceeded);
    let what = if full {
        "No disk space is available for the utility file of this sort"
    } else {
        "Utility file processing did not complete"
    };
    Failure::world(format!("{what}: {error}."))
}

/// `ut<serial>.utl` in the session's utility directory.
fn create_utility_file(world: &mut World) -> Outcome<UtilityFile> {
    world.util_files += 1;
    let path = world
        .util_directory
        .join(format!("ut{:06}.utl", world.util_files));
    let file: Box<dyn StoreFile> = world
        .store
        .create(Channel::Util, &path, Creation::New)
        .map_err(spill_failure)?;
    Ok(UtilityFile { file, path, end: 0 })
}

fn remove_utility_file(world: &World, file: UtilityFile) -> Outcome<()> {
    file.file.close().map_err(spill_failure)?;
    world
        .store
        .remove(Channel::Util, &file.path)
        .map_err(spill_failure)
}
