//! SAS logs, real ones of any platform and version, as records of steps.
//!
//! [`reader::read`] takes a log in one pass and gives each step as soon as its accounting is read; what it
//! keeps does not grow with the log. [`files`] finds the logs in files and folders.
//!
//! Invariant: whatever the bytes are, reading them ends without a panic; what a log does not say is absent.

pub mod action;
pub mod block;
pub mod compare;
pub mod figures;
pub mod files;
mod line;
mod lines;
mod notes;
pub mod reader;
pub mod record;

use serde::{Deserialize, Serialize};

/// What SAS on Linux counts as a block: the kernel's counters of bytes read and written, in units of 512.
pub const LINUX_BLOCK_BYTES: u64 = 512;

/// A log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SasLog {
    /// Its path.
    pub file: String,
    /// What it is about as a whole.
    #[serde(flatten)]
    pub about: Summary,
    /// Its steps, in their order.
    pub steps: Vec<LogStep>,
}

/// What a log says beside its steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The platform as the session's header names it: `Linux … (LIN X64)`, `X64_10PRO`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The version as the session's header names it: `9.4 (TS1M7)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What one block of the block counts is, bytes; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Bytes read.
    pub bytes: u64,
    /// Lines read.
    pub lines: u64,
    /// Lines that begin with NOTE, those of the accounting left out.
    pub notes: u64,
    /// Lines that begin with WARNING.
    pub warnings: u64,
    /// Lines that begin with ERROR, but for the one that says on which pages errors were printed.
    pub errors: u64,
    /// Whether the session's end is in the log, of several that of each. Absent for a log that has neither the
    /// begin nor the end of a session, as those of Enterprise Guide and Studio have not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Line, from 1, of the first accounting in words that are not read, in a log of which no other is read: it is of
    /// another language, and neither its steps nor its end are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_line: Option<u64>,
    /// What SAS used before the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Block>,
    /// What the whole session used; absent where the file has several one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Block>,
    /// Sessions that ended in the file, if they are several: logs were appended to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// Actions of Cloud Analytic Services, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<action::CasAction>,
    /// The first errors and the first warnings, in the log's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Line of the log, from 1.
    pub line: u64,
    /// Which.
    pub kind: Severity,
    /// Its text, with the number if it has one.
    pub text: String,
}

/// How bad a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// ERROR.
    Error,
    /// WARNING.
    Warning,
}

/// Accounting of something that is no step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Line of the log on which it begins, from 1.
    pub line: u64,
    /// What was used.
    #[serde(flatten)]
    pub used: Resources,
}

/// A step. Its keys are those of a [`crate::step::StepRecord`] where both have the figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogStep {
    /// Number in the log, from 1.
    pub step: u64,
    /// Line of the log on which its accounting begins, from 1.
    pub line: u64,
    /// `data` or `proc`.
    pub kind: String,
    /// `DATA`, or the procedure's name.
    pub name: String,
    /// Whether its accounting is whole: logs are cut, by people and by the death of a job.
    pub complete: bool,
    /// What it used.
    #[serde(flatten)]
    pub used: Resources,
    /// Observations read, all data sets together; absent if the log names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations_read: Option<u64>,
    /// Observations written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations_written: Option<u64>,
    /// Data sets and files read, as far as NOTEs name them: queries do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<LogDataset>,
    /// Data sets and files written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<LogDataset>,
    /// Lines that begin with NOTE since the accounting before.
    pub notes: u64,
    /// Lines that begin with WARNING.
    pub warnings: u64,
    /// Lines that begin with ERROR.
    pub errors: u64,
}

/// A data set or file that a step read or wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogDataset {
    /// `LIB.MEMBER`, or how the log names a file.
    pub name: String,
    /// Observations, or records of a file, read or written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations: Option<u64>,
    /// Variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<u64>,
    /// It is a file of records, not a data set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
}

/// What a step, an initialization or a session used. Each figure is there if the log has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// Elapsed time, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_s: Option<f64>,
    /// User CPU time, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// System CPU time, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// CPU time, seconds: as printed, or user and system time together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Memory as SAS accounts for it, bytes; the task's on z/OS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Memory that the operating system gave, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os_memory_bytes: Option<u64>,
    /// Total memory on z/OS, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_memory_bytes: Option<u64>,
    /// When it ended, `2016-08-25T08:37:42`, on the clock of the host, whose zone the log does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Steps of the session so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_count: Option<u64>,
    /// Task switches within the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_count: Option<u64>,
    /// Major page faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// Minor page faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_reclaims: Option<u64>,
    /// Swaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_swaps: Option<u64>,
    /// Voluntary context switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Blocks read from devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_input: Option<u64>,
    /// Blocks written towards devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_output: Option<u64>,
    /// Channel programs executed, on z/OS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excp_count: Option<u64>,
}

impl Resources {
    /// Adds what another part of the same step used.
    pub(crate) fn add(&mut self, other: &Self) {
        fn plus<T: std::ops::Add<Output = T> + Copy>(sum: &mut Option<T>, value: Option<T>) {
            if let Some(value) = value {
                *sum = Some(sum.map_or(value, |sum| sum + value));
            }
        }
        for (sum, value) in [
            (&mut self.real_s, other.real_s),
            (&mut self.user_s, other.user_s),
            (&mut self.system_s, other.system_s),
            (&mut self.cpu_s, other.cpu_s),
        ] {
            plus(sum, value);
        }
        for (sum, value) in [
            (&mut self.switch_count, other.switch_count),
            (&mut self.page_faults, other.page_faults),
            (&mut self.page_reclaims, other.page_reclaims),
            (&mut self.page_swaps, other.page_swaps),
            (&mut self.voluntary_switches, other.voluntary_switches),
            (&mut self.involuntary_switches, other.involuntary_switches),
            (&mut self.block_input, other.block_input),
            (&mut self.block_output, other.block_output),
            (&mut self.excp_count, other.excp_count),
        ] {
            plus(sum, value);
        }
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.os_memory_bytes = self.os_memory_bytes.max(other.os_memory_bytes);
        self.total_memory_bytes = self.total_memory_bytes.max(other.total_memory_bytes);
    }

    /// CPU time over elapsed time.
    pub fn cpu_real(&self) -> Option<f64> {
        Some(self.cpu_s? / self.real_s.filter(|real| *real > 0.0)?)
    }

    /// Bytes read and written physically, where it is known what a block is.
    pub fn physical_bytes(&self, block_bytes: Option<u64>) -> Option<(u64, u64)> {
        let bytes = |blocks: u64| blocks.saturating_mul(block_bytes.unwrap_or_default());
        block_bytes?;
        Some((bytes(self.block_input?), bytes(self.block_output?)))
    }
}

/// What one block of the block counts is on a platform; `None` where no source says.
///
/// On Linux the counts come from the kernel's accounting of bytes by task, shifted by nine bits. Other UNIX
/// systems count operations or blocks of file systems, of a size that the log does not tell.
pub fn block_bytes(platform: &str) -> Option<u64> {
    let linux = platform.contains("LIN X64") || platform.starts_with("Linux");
    linux.then_some(LINUX_BLOCK_BYTES)
}
