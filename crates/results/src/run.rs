//! A run directory: one execution of a suite, readable at any moment, also after its launcher was
//! killed.
//!
//! ```text
//! run.json            what was planned: suite, scale, seed, options, jobs        (written first)
//! events.jsonl        what happened, a line each, flushed as it happens
//! jobs/<name>/        program.sas, job.log, job.lst, steps.jsonl, written.jsonl ([`crate::written`])
//! nodes/<node>.json   what a node is: its file systems and their devices       ([`crate::node`])
//! audits/<node>.json  what its audit found before the run                      ([`crate::audit`])
//! nodes/<node>.jsonl  what the node did, a sample a second                     ([`crate::sample`])
//! result.json         the figures, once the run is complete                       (written last)
//! reserve             makes room for events when the disk is full                 (while it runs)
//! ```

mod directory;
mod drift;
mod failed;
mod lines;
mod staged;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::audit::{AuditFinding, NodeAudit};
use crate::thresholds::Measure;

pub use directory::{Error, RunDirectory};
pub use drift::{Drift, JobDrift};
pub use failed::FailedOperation;
pub use lines::Records;
pub use staged::{CopiesRecord, FileSize};

/// What was planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// Version and commit of the program that made the run.
    pub program: String,
    /// Name of the run: the run directory's.
    pub run: String,
    /// The licensed SAS that ran the programs, a command; absent for the built-in engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sas: Option<std::path::PathBuf>,
    /// Suite.
    pub suite: String,
    /// Factor on the paper's rows.
    pub scale: f64,
    /// Factor on launch times and thinking times.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Parameters of the suite.
    #[serde(default)]
    pub parameters: BTreeMap<String, u64>,
    /// Variant of the suite.
    #[serde(default)]
    pub variant: Option<String>,
    /// Only large files, to push storage to its limit: throughput can be judged.
    #[serde(default = "yes")]
    pub saturating: bool,
    /// Bytes of all staged inputs; runs of earlier versions have one input for each job.
    #[serde(default)]
    pub staged_bytes: Option<u64>,
    /// Seed of the data.
    pub seed: u64,
    /// When it started, seconds since the Unix epoch.
    pub started_unix_s: f64,
    /// Host name; of a run on several nodes that of the first.
    pub node: String,
    /// All nodes of a run on several, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Physical cores that rates are divided by.
    pub cores: u32,
    /// How they were counted, or that they were given.
    pub cores_basis: String,
    /// Memory of the node, bytes.
    pub memory_bytes: u64,
    /// How the scale came about, a sentence.
    pub scale_reason: String,
    /// Demonstration scale: no verdict.
    pub demonstration: bool,
    /// True if all files together are at least three times the memory.
    pub qualifying: bool,
    /// What was changed against the suite, and why.
    pub notes: Vec<String>,
    /// Cold start wanted.
    pub cold: bool,
    /// SAS options in force for every job.
    pub options: BTreeMap<String, String>,
    /// Directories by channel.
    pub directories: BTreeMap<String, PathBuf>,
    /// How outputs are verified: `full`, `sample` (the jobs of one launch of each program) or `off`.
    #[serde(default = "full")]
    pub verify: String,
    /// A job is ended after so many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_limit_s: Option<f64>,
    /// Batches are started anew until so many seconds are over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// What the run is of, as `--label` gave it: levels of factors, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The runs that this one is compared with, if it was made as one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// CPU cost that steps are made to spend, as `--pace` gave it: `sas`, or a factor on it. Absent:
    /// none, the run is a stress test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<String>,
    /// What that means; runs without a pace have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<PacingRecord>,
    /// What the same jobs do on tmpfs; absent if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Batches that ran side by side, each with inputs, WORK and outputs of its own.
    #[serde(default = "one_lane", skip_serializing_if = "is_one")]
    pub lanes: u32,
    /// Staged files that stand for the same data; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<CopiesRecord>,
    /// The paper's share of WORK and utility files in all bytes, from and to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_util_share: Option<[f64; 2]>,
    /// Sizes of the staged files; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<FileSize>,
    /// Jobs in launch order.
    pub jobs: Vec<JobPlan>,
}

/// The place of a run in a series that one command made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name of the series: that of its first run, or of the folder of what was submitted.
    pub name: String,
    /// `repeat`: the same again. `ladder`: rising load. `option`: values of an option in turn. `nodes`: growing
    /// numbers of nodes.
    pub kind: String,
    /// Place in the series, from 1.
    pub index: u32,
    /// Runs in the series.
    pub of: u32,
    /// Load of a rung, as it was asked for; nodes of a series of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<u64>,
    /// The option whose values are compared, with the one of this run: `FILELOCKS=FAIL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// What was measured on the fewest nodes before, in a series of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<SeriesBase>,
}

/// What a run on more nodes is held against.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesBase {
    /// Nodes.
    pub nodes: u32,
    /// Mean elapsed time of the jobs, seconds; absent if none ended.
    pub real_mean_s: Option<f64>,
}

/// The pace of a run's steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PacingRecord {
    /// Factor on the table's CPU time.
    pub factor: f64,
    /// `busy`: by computing. `sleep`: by waiting, which stands in for computing.
    pub by: String,
    /// The table's title.
    pub table: String,
    /// When the table was made, as it says.
    pub table_date: String,
    /// The table's file, if it is not the one that is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// What the jobs of a run do where storage does not hold them back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Bytes moved over the elapsed time of all jobs on tmpfs, MB/s (10^6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// What jobs took on tmpfs; runs of earlier versions tell nothing of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, Alone>,
}

/// What a job took on tmpfs, thinking apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// Elapsed time that it takes however little it moves, since its pace says so, seconds.
    pub fixed_s: f64,
    /// Elapsed time beyond that, seconds.
    pub moving_s: f64,
    /// Bytes that it read and wrote over all channels meanwhile.
    pub bytes: u64,
}

impl Alone {
    /// What it would take for so many bytes, seconds.
    pub fn at(&self, bytes: u64) -> f64 {
        self.fixed_s + self.moving_s * bytes as f64 / self.bytes as f64
    }
}

/// A job as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobPlan {
    /// Name, unique in a batch.
    pub name: String,
    /// Launch offset, seconds.
    pub offset_s: f64,
    /// Bytes of its input data.
    pub input_bytes: u64,
    /// Jobs of one kind do the same to data of the same size; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Macro variables.
    pub symbols: BTreeMap<String, String>,
    /// Kind of job.
    #[serde(default)]
    pub class: Option<String>,
    /// Kind of user.
    #[serde(default)]
    pub persona: Option<String>,
    /// SAS options that replace the run's.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The node that runs it, of a run on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

const fn one() -> f64 {
    1.0
}

const fn one_lane() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the shape that serde wants"
)]
const fn is_one(lanes: &u32) -> bool {
    *lanes == 1
}

const fn yes() -> bool {
    true
}

fn full() -> String {
    "full".to_owned()
}

/// Name of a job in events and of its folder: that of the plan in the first batch, with the number of
/// the batch in later ones.
pub fn name_in_batch(job: &str, batch: u32) -> String {
    match batch {
        0 | 1 => job.to_owned(),
        later => format!("{job}@{later}"),
    }
}

/// When something happened.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Time {
    /// Seconds since the Unix epoch.
    pub unix_s: f64,
    /// Seconds since the run began, monotonic.
    pub at_s: f64,
}

impl RunPlan {
    /// Where it ran: the node, or how many and which.
    pub fn place(&self) -> String {
        match self.nodes.as_slice() {
            [] | [_] => self.node.clone(),
            nodes => format!("{} nodes ({})", nodes.len(), nodes.join(", ")),
        }
    }
}

/// A line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Seconds since the Unix epoch, by the wall clock: for people, never for durations.
    pub unix_s: f64,
    /// Seconds since the run began, by the monotonic clock.
    pub at_s: f64,
    /// What happened.
    pub event: EventKind,
    /// The job it happened to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The node it happened on, of a run on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Anything more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Exit code of a finished job; absent if a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Process id of a launched job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<u32>,
    /// How long after it was due a job was launched, seconds: what the launcher took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_s: Option<f64>,
    /// Batch that was started, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Elapsed time of a finished job, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_s: Option<f64>,
    /// User CPU time of a finished job (`wait4`), seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// System CPU time of a finished job, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// CPU time of a finished job's first thread, which runs the program, seconds; absent as the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_cpu_s: Option<f64>,
    /// Time in which a finished job's first thread could have run and had no processor, seconds
    /// (`/proc/PID/schedstat`); absent where the kernel does not tell, and of a licensed SAS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_s: Option<f64>,
    /// 512-byte blocks read from devices on behalf of a finished job (`wait4`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_input: Option<u64>,
    /// 512-byte blocks that a finished job made dirty or wrote towards devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_output: Option<u64>,
    /// Bytes of these that never had to be written, since the job removed their files first; absent
    /// if it did not come to say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_write_bytes: Option<u64>,
    /// What verification found wrong, a sentence each; present only after verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<String>>,
    /// Bytes of permanent files that the job changed last, read back and found to be as they were written,
    /// block by block; absent if what jobs wrote was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back_bytes: Option<u64>,
    /// Bytes of these that surely came from storage: another machine had written them, or they were seen to be
    /// out of the cache before. Absent in runs of earlier versions, which did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_storage_bytes: Option<u64>,
    /// Share of the staged input in the page cache, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// Whether the page cache of the whole host was dropped before the start, and none of the input is on a file
    /// system that may keep it in memory elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caches_dropped: Option<bool>,
}

impl Event {
    /// An event with nothing but its time and kind.
    pub fn new(time: Time, event: EventKind) -> Self {
        Self {
            unix_s: time.unix_s,
            at_s: time.at_s,
            event,
            job: None,
            node: None,
            detail: None,
            exit: None,
            process_id: None,
            late_s: None,
            batch: None,
            real_s: None,
            user_s: None,
            system_s: None,
            thread_cpu_s: None,
            cpu_wait_s: None,
            block_input: None,
            block_output: None,
            cancelled_write_bytes: None,
            findings: None,
            read_back_bytes: None,
            from_storage_bytes: None,
            cached_share: None,
            caches_dropped: None,
        }
    }

    /// The same, of a job.
    pub fn of_job(time: Time, event: EventKind, job: &str) -> Self {
        Self {
            job: Some(job.to_owned()),
            ..Self::new(time, event)
        }
    }

    /// The same, with something to say.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            ..self
        }
    }
}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Staging began.
    StageStarted,
    /// Data are in place.
    StageFinished,
    /// The caches were dropped or the staged files evicted; `detail` says which and how well.
    Evicted,
    /// Something left by a killed job was removed.
    OrphanRemoved,
    /// One that could not be removed, such as another user's.
    OrphanKept,
    /// A batch began.
    BatchStarted,
    /// A job's process was started.
    JobLaunched,
    /// A job's process ended; `detail` says what went wrong, if anything did.
    JobFinished,
    /// Something that a person or a script put on the timeline: a failover, a rebuild.
    Mark,
    /// What the jobs left unwritten in memory was written to the devices, after each batch; `real_s` tells how
    /// long it took.
    Flushed,
    /// The logs of a licensed SAS were read; `detail` says which SAS they are of.
    LogsRead,
    /// Something could not be measured; `detail` says what and why.
    NotMeasured,
    /// Verification of a job's outputs ended; `detail` says what was found.
    JobVerified,
    /// A node began a phase of a run on several; `detail` says which.
    PhaseStarted,
    /// A node ended a phase of a run on several; `detail` says which.
    PhaseEnded,
    /// A node did not end a phase; `detail` says which.
    NodeLost,
    /// The run was interrupted.
    Interrupted,
    /// The run is complete.
    RunFinished,
}

/// The figures of a complete run; also what `run --json` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// Name of the run.
    pub run: String,
    /// Suite.
    pub suite: String,
    /// Scale.
    pub scale: f64,
    /// What the run shows.
    pub verdict: Verdict,
    /// Per job.
    pub jobs: Vec<JobResult>,
    /// Per channel, all jobs together.
    pub channels: BTreeMap<String, ChannelResult>,
    /// All jobs together.
    pub aggregate: Aggregate,
    /// Each node of a run on several, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeResult>,
    /// What else happened on the node; empty if nothing was sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbance: Vec<Disturbance>,
    /// Highest sustained throughput; absent if the run was too short or nothing was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained_peak: Option<SustainedPeak>,
    /// First and last part of a run of several batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// What ran the programs, if it was not the built-in engine: the version and platform in its logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// What could not be measured, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
    /// The audit of each node, with those findings only that are to be looked at, the worst first; `audits/`
    /// has all. Empty if no node was audited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audits: Vec<NodeAudit>,
}

/// A node of a run on several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeResult {
    /// Its name.
    pub node: String,
    /// Jobs that it was to run.
    pub jobs: u32,
    /// Of these, those that ended well.
    pub done: u32,
    /// Mean elapsed time of those that ended, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_mean_s: Option<f64>,
    /// Longest of them, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_max_s: Option<f64>,
    /// Bytes that its jobs read and wrote over the time from its first launch to its last end, MB/s (10^6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// How long after the common start it launched its jobs, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_late_s: Option<f64>,
    /// How far its wall clock was ahead of the first node's, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<f64>,
    /// How far off that may be, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_uncertainty_s: Option<f64>,
    /// The node that is the same machine, if an earlier one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_host_as: Option<String>,
    /// The nodes that read its outputs back; another than itself proves that others see what it wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified_by: Vec<String>,
}

/// Something that happened on a node beside the run, with its limit if there is one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// `foreign_cpu`, `steal`, `foreign_device_traffic`, `foreign_page_cache`, `other_device_traffic`,
    /// `clock_drift`, `held_up`, `records`.
    pub kind: String,
    /// Which device, if it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// On which node, of a run on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// How much.
    pub value: f64,
    /// Of what: `s`, `MB/s`.
    pub unit: String,
    /// As a share of all processor time or of the devices' traffic, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Above this share the run shows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_max: Option<f64>,
    /// It is beyond its limit.
    pub exceeded: bool,
    /// The same as a sentence.
    pub statement: String,
}

/// The highest means over a contiguous window of 60 s, or 2 % of the run if that is longer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SustainedPeak {
    /// Length of the window, seconds.
    pub window_s: f64,
    /// All channels together, MB/s (10^6), as jobs were served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// The same as far as storage read and wrote it in that time, without what the page cache served and took.
    /// Absent if memory was not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_mb_per_s: Option<f64>,
    /// Permanent data (input and output), MB/s, as jobs were served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_mb_per_s: Option<f64>,
    /// WORK and utility files, MB/s, as jobs were served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_mb_per_s: Option<f64>,
    /// Each channel, MB/s.
    pub channels: BTreeMap<String, f64>,
    /// Each block device, MB/s, the flush included.
    pub devices: BTreeMap<String, f64>,
    /// Reads of each block device, MB/s: its own highest mean, perhaps of another minute than that of its writes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device_reads: BTreeMap<String, f64>,
    /// Writes of each block device, MB/s.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device_writes: BTreeMap<String, f64>,
}

/// What a run shows. The two parts are never mixed: one run judges one of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// `pass`, `fail`, `not_shown` or `inconclusive`.
    pub result: String,
    /// Why, a sentence.
    pub reason: String,
    /// Demonstration scale: nothing was judged but failures.
    #[serde(default, skip_serializing_if = "is_false")]
    pub demonstration: bool,
    /// What storage can sustain; judged from saturating load only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<Part>,
    /// Whether storage held jobs of a mixed load back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding: Option<Part>,
    /// Title of the set of requirements; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thresholds: String,
    /// Requirements tested, with their sources, those of capability first.
    pub requirements: Vec<Requirement>,
    /// What limited the run as a whole, if it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<Limit>,
}

/// One part of a verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `pass`, `fail`, `not_shown` or `inconclusive`.
    pub result: String,
    /// Why, a sentence.
    pub reason: String,
}

/// A published requirement against what was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Stable id.
    pub id: String,
    /// Which figure it is about; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub measure: String,
    /// `capability` or `feeding`; empty in runs of earlier versions.
    #[serde(default)]
    pub part: String,
    /// What is required, for people.
    #[serde(default)]
    pub title: String,
    /// `required`: without it the part fails; `wanted`: it is said; `reported`: there is no limit.
    #[serde(default)]
    pub level: String,
    /// Measured; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How the figure came about, where there is more than one way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<String>,
    /// Needed; absent if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// `at_least` or `at_most`.
    #[serde(default)]
    pub relation: String,
    /// Unit of both.
    pub unit: String,
    /// `pass`, `fail`, `not_shown` or `inconclusive`.
    pub result: String,
    /// Why it is not shown, or inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Document and section.
    pub source: String,
    /// When the source was published.
    #[serde(default)]
    pub date: String,
    /// What limited the figure, if it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<Limit>,
}

impl Requirement {
    /// Failures and proof concern every run. Earlier versions called requirements as their figures.
    pub fn concerns_every_run(&self) -> bool {
        let measure = if self.measure.is_empty() {
            &self.id
        } else {
            &self.measure
        };
        let every_run = [Measure::JobsFailed, Measure::JobsNotVerified];
        every_run.iter().any(|one| one.name() == measure)
    }

    /// Whether it is wanted of a figure of which something is required as well.
    pub fn is_wanted_too(&self, all: &[Self]) -> bool {
        let is_required = |one: &Self| one.level == "required" && one.measure == self.measure;
        self.level == "wanted" && !self.measure.is_empty() && all.iter().any(is_required)
    }
}

/// What limited a figure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// `cpu`, `device`, `link`, `server`, `channel`, `node` or `job_class`.
    pub kind: String,
    /// Which one.
    pub name: String,
    /// What it is told by, with the figure.
    pub evidence: String,
    /// What would relieve it.
    pub relief: String,
    /// The node, if it is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The run's directories behind it: `data`, `output`, `work`, `util`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// What was scarce: `reads`, `writes`, `metadata`, `locks`, `network`, `cpu`, `memory`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scarce: Vec<String>,
    /// Rules that the node failed when the run began and that relieve what was scarce, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<AuditFinding>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the shape that serde wants"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A job's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// Name.
    pub name: String,
    /// Batch it belongs to, from 1.
    pub batch: u32,
    /// Node it ran on.
    pub node: String,
    /// Elapsed time of the process, seconds; absent if it did not finish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_s: Option<f64>,
    /// User CPU time, seconds, with [`Self::stood_in_s`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// System CPU time, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// CPU time of its first thread, which runs the program, seconds; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_cpu_s: Option<f64>,
    /// Time in which its first thread could have run and had no processor, seconds; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_s: Option<f64>,
    /// Elapsed time that steps spent to keep their pace, seconds; absent without a pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_s: Option<f64>,
    /// The part of their pace that steps keep however little they move, seconds; absent if they do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_fixed_s: Option<f64>,
    /// CPU time that waiting stood in for, seconds; absent unless steps keep their pace by waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood_in_s: Option<f64>,
    /// Exit code; absent if it did not finish or a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Whether its outputs were checked and right; absent if they were not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// What verification found wrong, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Kind of job, as the suite says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Largest resident memory of a step, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Time inside file operations, added up over channels and threads, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_s: Option<f64>,
    /// Time waited because the program asked to, seconds; absent if steps do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep_s: Option<f64>,
    /// Bytes read over all channels; absent if the job left no record of its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes written over all channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
    /// Bytes read from devices on behalf of the process, as the kernel counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_read_bytes: Option<u64>,
    /// Rows' bytes that were sorted.
    pub sorted_bytes: u64,
    /// Bytes that the steps that sorted moved over all channels; absent where channels are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_moved_bytes: Option<u64>,
    /// Utility-file runs of its sorts.
    pub sort_runs: u64,
    /// Elapsed time of the steps that sorted, seconds; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_s: Option<f64>,
    /// Launched, seconds after the first job's launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launched_s: Option<f64>,
    /// Launched so long after it was due, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_s: Option<f64>,
    /// What ended it, if it did not end well: the first ERROR of its log, a signal, its wall limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// File operations that failed and should not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_operations: Vec<FailedOperation>,
}

impl JobResult {
    /// Whether it ended with warnings at most.
    pub fn ended_well(&self) -> bool {
        matches!(self.exit, Some(0 | 1))
    }

    /// Whether it ended before it had done its work: with errors, by a signal, at its wall limit. Of what papers tell
    /// neither is known.
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.exit.is_some_and(|exit| exit > 1)
    }

    /// Elapsed time without what its program waited of its own accord, seconds. Where that is not known nothing is
    /// taken off.
    pub fn busy_s(&self) -> Option<f64> {
        Some(self.real_s? - self.sleep_s.unwrap_or_default())
    }

    /// User and system CPU time, seconds.
    pub fn cpu_s(&self) -> Option<f64> {
        Some(self.user_s? + self.system_s?)
    }

    /// What it was inside file operations for while its program did not go on, seconds: others of its threads may
    /// write behind a program that computes, or that waits instead to keep its pace.
    pub fn held_s(&self) -> Option<f64> {
        let waited_to_pace_s = self.stood_in_s.and(self.pace_s).unwrap_or_default();
        let went_on_s = match self.thread_cpu_s {
            Some(thread_cpu_s) => thread_cpu_s + waited_to_pace_s,
            None => self.cpu_s().unwrap_or_default(),
        };
        Some(self.blocked_s?.min((self.busy_s()? - went_on_s).max(0.0)))
    }

    /// Bytes read and written over all channels.
    pub fn moved_bytes(&self) -> Option<u64> {
        Some(self.read_bytes? + self.write_bytes?)
    }

    /// A job of which nothing is known but its name.
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            batch: 1,
            node: String::new(),
            real_s: None,
            user_s: None,
            system_s: None,
            thread_cpu_s: None,
            cpu_wait_s: None,
            pace_s: None,
            pace_fixed_s: None,
            stood_in_s: None,
            exit: None,
            verified: None,
            findings: Vec::new(),
            class: None,
            memory_bytes: None,
            blocked_s: None,
            sleep_s: None,
            read_bytes: None,
            write_bytes: None,
            device_read_bytes: None,
            sorted_bytes: 0,
            sort_moved_bytes: None,
            sort_runs: 0,
            sort_s: None,
            launched_s: None,
            late_s: None,
            error: None,
            failed_operations: Vec::new(),
        }
    }
}

/// A channel's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelResult {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes of both over the elapsed time of the run, MB/s (10^6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// Time that jobs spent inside operations, added up over jobs and threads, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_s: Option<f64>,
    /// How many operations of each kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<String, u64>,
    /// Time inside operations of each kind, added up over jobs and threads, seconds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operation_s: BTreeMap<String, f64>,
}

/// All jobs together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// From the first launch to the last end, seconds; of batches that follow each other that of each, added up,
    /// without what lies between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
    /// First job done, seconds after the first launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_done_s: Option<f64>,
    /// Sum of jobs' elapsed times, seconds.
    pub real_s: f64,
    /// Sum of user CPU times, seconds.
    pub user_s: f64,
    /// Sum of system CPU times, seconds.
    pub system_s: f64,
    /// Sum over jobs of the largest resident memory of a step, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Mean over jobs of CPU time / elapsed time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_real_mean_of_ratios: Option<f64>,
    /// Sum of CPU times / sum of elapsed times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_real_ratio_of_sums: Option<f64>,
    /// Bytes moved over all channels; absent if a job that ran left no record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_moved: Option<u64>,
    /// Bytes read over all channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes of them that came from devices, as the kernel counts them (network file systems may
    /// not be counted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_read_bytes: Option<u64>,
    /// Bytes moved over the elapsed time, MB/s (10^6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// From the last end until everything written was on the devices, seconds; of batches that follow each other
    /// that of each, added up, and absent if one was not flushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_s: Option<f64>,
    /// Bytes moved over the elapsed time and the flush, MB/s (10^6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_per_s_flushed: Option<f64>,
    /// The same per core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_per_s_per_core: Option<f64>,
    /// Bytes that steps which sorted moved over bytes sorted: 4 when nothing fits in memory, 2 when everything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_per_sorted: Option<f64>,
    /// Share of the staged input still in the page cache when the jobs started, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// Staged data over the memory of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_to_memory_ratio: Option<f64>,
    /// Share of the bytes read that came from devices or servers, 0 to 1; absent where a file system
    /// hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_read_share: Option<f64>,
    /// Where that is known from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_read_basis: Option<String>,
    /// Greatest lateness of a launch, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_max_s: Option<f64>,
    /// CPU time of launcher and sampler while jobs ran, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher_cpu_s: Option<f64>,
    /// The same as a share of one core, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher_cpu_share: Option<f64>,
}
