//! One merge of many runs through a tree of losers: log2(runs) comparisons a row, almost all of them
//! of key prefixes alone.

use base::store::Result;

use super::SortPlan;
use super::key::SortKey;
use super::spill::{Run, RunReader, UtilityFile};

/// Merges runs; rows with equal keys come in the order of their runs. Whoever holds it holds the file of
/// the runs too.
pub(super) struct Merge {
    key: SortKey,
    readers: Vec<RunReader>,
    /// Key prefix of each reader's row.
    prefixes: Vec<u64>,
    /// `losers[0]` is the winner; `losers[n]` the loser of the match at inner node `n`.
    losers: Vec<usize>,
    /// True once the winner's row has been handed out and must be passed.
    handed_out: bool,
}

impl Merge {
    /// Memory of one run in a merge.
    pub(super) fn reader_bytes(plan: &SortPlan) -> u64 {
        let tree = size_of::<RunReader>() + size_of::<u64>() + size_of::<usize>();
        RunReader::buffer_bytes(plan.row_bytes, plan.block_bytes) + tree as u64
    }

    pub(super) fn new(file: &UtilityFile, runs: &[Run], plan: &SortPlan) -> Result<Self> {
        let reader =
            |run: &Run| RunReader::new(file.file.as_ref(), *run, plan.row_bytes, plan.block_bytes);
        let readers = runs.iter().map(reader).collect::<Result<Vec<_>>>()?;
        let prefixes = readers
            .iter()
            .map(|reader| reader.row().map_or(0, |row| plan.key.prefix(row)))
            .collect();
        let mut merge = Self {
            key: plan.key.clone(),
            readers,
            prefixes,
            losers: Vec::new(),
            handed_out: false,
        };
        merge.build();
        Ok(merge)
    }

    /// True if run `left`'s row comes before run `right`'s.
    #[inline]
    fn precedes(&self, left: usize, right: usize) -> bool {
        match (self.readers[left].row(), self.readers[right].row()) {
            (Some(left_row), Some(right_row)) => {
                let by_prefix = self.prefixes[left].cmp(&self.prefixes[right]);
                let order = if by_prefix.is_eq() && !self.key.prefix_decides() {
                    self.key.compare(left_row, right_row)
                } else {
                    by_prefix
                };
                order.then(left.cmp(&right)).is_lt()
            }
            (left_row, right_row) => (left_row.is_none(), left) < (right_row.is_none(), right),
        }
    }

    /// Plays all matches: leaf `r` is node `runs + r`, node `n` has children `2n` and `2n + 1`.
    fn build(&mut self) {
        let runs = self.readers.len();
        self.losers = vec![0; runs.max(1)];
        let mut winners: Vec<usize> = (0..2 * runs)
            .map(|node| node.saturating_sub(runs))
            .collect();
        for node in (1..runs).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if self.precedes(left, right) {
                (left, right)
            } else {
                (right, left)
            };
            winners[node] = winner;
            self.losers[node] = loser;
        }
        self.losers[0] = if runs > 1 { winners[1] } else { 0 };
    }

    /// Goes on to the next row in order, false if there is none; `file` is the one it was made with.
    #[inline]
    pub(super) fn advance(&mut self, file: &UtilityFile) -> Result<bool> {
        if self.handed_out {
            self.pass_winner(file)?;
        }
        self.handed_out = true;
        Ok(self.row().is_some())
    }

    /// The row it stands on.
    #[inline]
    pub(super) fn row(&self) -> Option<&[u8]> {
        self.readers.get(self.losers[0]).and_then(RunReader::row)
    }

    fn pass_winner(&mut self, file: &UtilityFile) -> Result<()> {
        let mut winner = self.losers[0];
        let reader = &mut self.readers[winner];
        reader.advance(file.file.as_ref())?;
        if let Some(row) = reader.row() {
            self.prefixes[winner] = self.key.prefix(row);
        }
        let mut node = usize::midpoint(winner, self.readers.len());
        while node > 0 {
            if self.precedes(self.losers[node], winner) {
                std::mem::swap(&mut self.losers[node], &mut winner);
            }
            node /= 2;
        }
        self.losers[0] = winner;
        Ok(())
    }
}
