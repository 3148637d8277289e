//! One line of `--steps`: everything measured about a step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Kind of the last record of a session that ended by itself: what became of WORK and the utility files after the last
/// step, and how many steps there were. Runs before 1.1 have none.
pub const END: &str = "end";

/// A finished step of a program. What the engine does not tell is absent: a licensed SAS does not count by channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Number in the session, from 1.
    pub step: u64,
    /// `data`, `proc`, or [`END`].
    pub kind: String,
    /// `DATA`, the procedure's name, or `END OF SESSION`.
    pub name: String,
    /// When the step ended, seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_unix_s: Option<f64>,
    /// Elapsed time, seconds.
    pub real_s: f64,
    /// User CPU time of all threads, seconds.
    pub user_s: f64,
    /// System CPU time of all threads, seconds.
    pub system_s: f64,
    /// Peak resident memory during the step, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Major page faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// Minor page faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_reclaims: Option<u64>,
    /// Voluntary context switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// 512-byte blocks read from devices on behalf of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_input: Option<u64>,
    /// 512-byte blocks written towards devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_output: Option<u64>,
    /// Time waited because the program asked to (CALL SLEEP and the function), seconds; part of `real_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep_s: Option<f64>,
    /// Elapsed time spent so that the step keeps its pace, seconds; part of `real_s`. Absent without a pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_s: Option<f64>,
    /// Elapsed time that the pace says of such a step if it moves nothing, seconds; part of `real_s`. Absent
    /// without a pace, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_fixed_s: Option<f64>,
    /// CPU time that the step would have spent had it kept its pace by computing, seconds: with
    /// `--pace-by sleep` more than `user_s` and `system_s`, else the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_cpu_s: Option<f64>,
    /// What went over each channel; channels that were not used are absent.
    pub channels: BTreeMap<String, ChannelRecord>,
    /// Observations read, all data sets together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations_read: Option<u64>,
    /// Observations written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations_written: Option<u64>,
    /// Data sets read.
    pub inputs: Vec<DatasetRecord>,
    /// Data sets written.
    pub outputs: Vec<DatasetRecord>,
    /// What was sorted, if the step sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<SortRecord>,
    /// NOTE lines.
    pub notes: u64,
    /// WARNING lines.
    pub warnings: u64,
    /// ERROR lines.
    pub errors: u64,
}

/// A channel's traffic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written, header rewrites included.
    pub write_bytes: u64,
    /// Time spent in reads, seconds.
    pub read_s: f64,
    /// Time spent in writes, seconds.
    pub write_s: f64,
    /// Time spent in all operations, seconds, added up over threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_s: Option<f64>,
    /// Reads and writes by latency: each pair is the upper end of a class in microseconds (a power of
    /// two; the last class is open) and how many operations were in it; empty classes are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_us: Vec<(u64, u64)>,
    /// Locks asked for, if any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locks: Option<LockRecord>,
    /// What became of files, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesRecord>,
    /// By operation name.
    pub operations: BTreeMap<String, OperationRecord>,
}

/// Locks of a channel's files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LockRecord {
    /// Locks asked for.
    pub count: u64,
    /// Those refused, since another process held one.
    pub refused: u64,
    /// Time waited for answers, seconds.
    pub wait_s: f64,
}

/// What became of a channel's files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesRecord {
    /// Files made.
    pub created: u64,
    /// Files that were there before and grew.
    pub extended: u64,
    /// Files renamed.
    pub renamed: u64,
    /// Files removed.
    pub removed: u64,
}

/// One kind of file operation on one channel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Calls.
    pub count: u64,
    /// Calls that failed.
    pub errors: u64,
    /// The same by the operating system's name of the error, such as `ENOSPC`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_by_name: BTreeMap<String, u64>,
    /// Bytes moved.
    pub bytes: u64,
    /// Time inside the calls, seconds.
    pub total_s: f64,
    /// Median latency, microseconds.
    pub latency_p50_us: f64,
    /// 99th percentile, microseconds.
    pub latency_p99_us: f64,
    /// Largest, microseconds.
    pub latency_max_us: f64,
}

/// A data set that a step read or wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetRecord {
    /// `LIB.MEMBER`.
    pub name: String,
    /// Observations.
    pub observations: u64,
    /// Variables; logs of SAS tell them of data sets that were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<u64>,
    /// Order-independent hash of the rows (sum of XXH3-64), hexadecimal, if it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_hash: Option<String>,
}

/// What an external sort did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortRecord {
    /// Rows sorted.
    pub rows: u64,
    /// Bytes of a row as sorted.
    pub row_bytes: u64,
    /// Runs spilled to utility files; 0 if all rows fitted in memory.
    pub runs: u64,
    /// Merge passes.
    pub merges: u64,
}

/// More bytes than anything moves in a step: 2^60.
const BYTES_MAX: u64 = 1 << 60;

impl StepRecord {
    /// False for figures that nothing can have measured: of a file that was damaged.
    pub fn is_possible(&self) -> bool {
        let is_time = |seconds: &f64| (0.0..1e12).contains(seconds);
        let times = [self.real_s, self.user_s, self.system_s];
        let more = [
            self.sleep_s,
            self.pace_s,
            self.pace_fixed_s,
            self.pace_cpu_s,
        ];
        let times = times.iter().chain(more.iter().flatten());
        let sizes = [self.memory_bytes, self.block_input, self.block_output];
        let is_possible = |channel: &ChannelRecord| {
            let times = [channel.read_s, channel.write_s];
            let bytes = [channel.read_bytes, channel.write_bytes];
            times.iter().chain(&channel.blocked_s).all(is_time)
                && bytes.iter().all(|bytes| *bytes < BYTES_MAX)
        };
        times.into_iter().all(is_time)
            && sizes.into_iter().flatten().all(|size| size < BYTES_MAX)
            && self.channels.values().all(is_possible)
    }

    /// Bytes read and written over all channels.
    pub fn bytes_moved(&self) -> u64 {
        self.channels
            .values()
            .map(|channel| channel.read_bytes + channel.write_bytes)
            .sum()
    }

    /// CPU time, seconds.
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}
