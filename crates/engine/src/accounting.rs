//! What a step used, as FULLSTIMER reports it, and the record of a finished step.

use std::time::Duration;

use base::meter::{Meter, Usage, WallClock};
use base::rowhash::RowHash;

use crate::library::Library;
use crate::pace::PaceUse;

/// Of which data sets row hashes are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowHashes {
    /// Of none.
    None,
    /// Of permanent ones that are read.
    Inputs,
    /// Of all that are read or written.
    All,
}

impl RowHashes {
    pub(crate) const fn of_input(self, library: &Library) -> bool {
        match self {
            Self::None => false,
            Self::Inputs => !library.work,
            Self::All => true,
        }
    }

    pub(crate) const fn of_outputs(self) -> bool {
        matches!(self, Self::All)
    }
}

/// Resource usage of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepUsage {
    /// Elapsed time.
    pub real: Duration,
    /// User CPU time of all threads.
    pub user: Duration,
    /// System CPU time of all threads.
    pub system: Duration,
    /// Peak resident memory during the step, bytes.
    pub memory_bytes: u64,
    /// Peak resident memory of the session so far, bytes.
    pub os_memory_bytes: u64,
    /// When the step ended.
    pub ended: WallClock,
    /// Steps run so far, this one included.
    pub step: u64,
    /// Voluntary and involuntary context switches together.
    pub switches: u64,
    /// Major faults.
    pub page_faults: u64,
    /// Minor faults.
    pub page_reclaims: u64,
    /// Swaps.
    pub page_swaps: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// 512-byte blocks read from devices.
    pub block_input: u64,
    /// 512-byte blocks written towards devices.
    pub block_output: u64,
    /// Time waited because the program asked to.
    pub slept: Duration,
}

/// A running account: take one at the start of a step, settle it at its end.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    start: Usage,
}

impl Account {
    /// Starts at what the process has used now.
    pub fn open(meter: &dyn Meter) -> Self {
        meter.reset_memory_peak();
        Self {
            start: meter.usage(),
        }
    }

    /// Counts from the start of the process.
    pub fn from_process_start() -> Self {
        Self {
            start: Usage::default(),
        }
    }

    /// What was used since the start.
    pub fn settle(&self, meter: &dyn Meter, step: u64, session_peak_bytes: u64) -> StepUsage {
        let (start, end) = (self.start, meter.usage());
        let memory_bytes = meter.memory_peak_bytes();
        let voluntary_switches = end.voluntary_switches - start.voluntary_switches;
        let involuntary_switches = end.involuntary_switches - start.involuntary_switches;
        StepUsage {
            real: end.real.saturating_sub(start.real),
            user: end.user.saturating_sub(start.user),
            system: end.system.saturating_sub(start.system),
            memory_bytes,
            os_memory_bytes: session_peak_bytes.max(memory_bytes),
            ended: meter.wall(),
            step,
            switches: voluntary_switches + involuntary_switches,
            page_faults: end.page_faults - start.page_faults,
            page_reclaims: end.page_reclaims - start.page_reclaims,
            page_swaps: end.page_swaps - start.page_swaps,
            voluntary_switches,
            involuntary_switches,
            block_input: end.block_input - start.block_input,
            block_output: end.block_output - start.block_output,
            slept: end.slept.saturating_sub(start.slept),
        }
    }
}

/// A data set that a step read or wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetUse {
    /// `LIB.MEMBER`.
    pub name: String,
    /// Observations read or written.
    pub observations: u64,
    /// Variables.
    pub variables: u64,
    /// Hash of the multiset of rows, when the session was told to compute it.
    pub rows: Option<RowHash>,
}

/// What a step was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// A DATA step.
    Data,
    /// A procedure.
    Procedure,
    /// The end of the session, after the last step: WORK and the utility files are removed.
    End,
}

/// Everything the engine knows of a finished step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepSummary {
    /// Number of the step in the session, from 1.
    pub step: u64,
    /// What it was.
    pub kind: StepKind,
    /// Procedure name in upper case; `DATA` for a DATA step.
    pub name: String,
    /// Resources.
    pub usage: StepUsage,
    /// What pacing did, where steps have a pace.
    pub pace: Option<PaceUse>,
    /// Data sets read.
    pub inputs: Vec<DatasetUse>,
    /// Data sets written.
    pub outputs: Vec<DatasetUse>,
    /// Bytes of rows sorted through utility files and in memory; `None` if the step did not sort.
    pub sort: Option<SortSummary>,
    /// NOTE lines of the step.
    pub notes: u64,
    /// WARNING lines.
    pub warnings: u64,
    /// ERROR lines.
    pub errors: u64,
}

/// What an external sort did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SortSummary {
    /// Rows sorted.
    pub rows: u64,
    /// Bytes of one row as sorted.
    pub row_bytes: u64,
    /// Runs spilled; 0 when everything fitted in memory.
    pub runs: u64,
    /// Merge passes over utility files.
    pub merges: u64,
}
