//! What one node did over time: a line a second in `nodes/<node>.jsonl` of a run directory.
//!
//! A figure is of the interval that ends at the sample's time unless it is called a level. What a
//! kernel, file system or device does not tell is absent, never 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A node over one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// End of the interval, seconds since the Unix epoch by the wall clock.
    pub unix_s: f64,
    /// The same, seconds since the run began, by the monotonic clock.
    pub at_s: f64,
    /// Length of the interval, seconds by the monotonic clock.
    pub interval_s: f64,
    /// Jobs running, a level.
    pub running: u64,
    /// Processor time of the node and of its jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuSample>,
    /// Memory, levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySample>,
    /// What jobs were served, by channel: `input`, `output`, `work`, `util`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, ChannelSample>,
    /// Block devices by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, DeviceSample>,
    /// Mounted file systems that count for themselves (NFS, CIFS), by mount point; those that are one for the kernel
    /// at one of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mounts: BTreeMap<String, MountSample>,
    /// Network interfaces by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network: BTreeMap<String, NetworkSample>,
    /// Pressure stall information: seconds stalled, by `cpu_some`, `io_some`, `io_full`,
    /// `memory_some`, `memory_full`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pressure_s: BTreeMap<String, f64>,
    /// Series that others measured (`--observe`), levels, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observed: BTreeMap<String, f64>,
}

/// Processor time, seconds over all processors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuSample {
    /// In programs.
    pub user_s: f64,
    /// In the kernel, interrupts included.
    pub system_s: f64,
    /// Idle while I/O was outstanding.
    pub iowait_s: f64,
    /// Taken by other guests of the same host.
    pub steal_s: f64,
    /// Idle.
    pub idle_s: f64,
    /// Of user and system: the run's jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs_s: Option<f64>,
    /// Of user and system: launcher, sampler and the commands of `--observe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher_s: Option<f64>,
    /// Of system: interrupts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts_s: Option<f64>,
    /// Of system: threads of the kernel, such as those that write the page cache back. They are
    /// looked at less often, since there may be thousands: this is their time since the last sample
    /// that has this key; the first has it with 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_s: Option<f64>,
    /// What a quota of a control group lets the run have, if that is less than all time there was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_s: Option<f64>,
}

impl CpuSample {
    /// Everything but idle and stolen time.
    pub fn busy_s(&self) -> f64 {
        self.user_s + self.system_s
    }

    /// How busy the processors that the run may use were, and how busy its jobs kept them, shares of 1. Beside a quota
    /// others do not count.
    pub fn busy_shares(&self) -> Option<(f64, Option<f64>)> {
        let (busy_s, all_s) = match self.quota_s {
            Some(quota_s) => (self.jobs_s? + self.launcher_s.unwrap_or_default(), quota_s),
            None => (self.busy_s() + self.steal_s, self.all_s()),
        };
        (all_s > 0.0).then(|| (busy_s / all_s, self.jobs_s.map(|jobs_s| jobs_s / all_s)))
    }

    /// All time there was.
    pub fn all_s(&self) -> f64 {
        self.busy_s() + self.iowait_s + self.steal_s + self.idle_s
    }
}

impl ChannelSample {
    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }
}

impl DeviceSample {
    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }
}

/// Memory, levels in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemorySample {
    /// All.
    pub total_bytes: u64,
    /// Available without swapping.
    pub available_bytes: u64,
    /// Page cache.
    pub cached_bytes: u64,
    /// Waiting to be written.
    pub dirty_bytes: u64,
    /// Being written.
    pub writeback_bytes: u64,
}

/// What jobs were served on a channel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelSample {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Operations that move no bytes: create, open, rename, remove, lock.
    pub metadata_operations: u64,
    /// Of these, those that change a directory or a file's length: create, rename, remove, truncate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// Time that jobs spent inside all operations, seconds, added up over jobs and threads.
    pub blocked_s: f64,
    /// Reads and writes by latency: each pair is the upper end of a class in microseconds (a power
    /// of two) and how many operations were in it; empty classes are left out.
    pub latency_us: Vec<(u64, u64)>,
}

/// A block device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSample {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads completed.
    pub reads: u64,
    /// Writes completed.
    pub writes: u64,
    /// Time of all reads from queueing to completion, seconds.
    pub read_s: f64,
    /// The same of writes.
    pub write_s: f64,
    /// Time with at least one request outstanding, seconds.
    pub busy_s: f64,
    /// Requests outstanding on average.
    pub queue: f64,
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MountSample {
    /// `nfs4`, …
    pub kind: String,
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to the server.
    pub write_bytes: u64,
    /// Calls of the server.
    pub operations: u64,
    /// Time of the calls from queueing to answer, seconds, added up; absent where the mount does not tell (CIFS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_s: Option<f64>,
    /// Calls by kind (`READ`, `LOCK`, `GETATTR`, …), those that were made.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, u64>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkSample {
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Speed of the link, MB/s (10^6) in each direction, a level; absent if the interface does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_mb_per_s: Option<f64>,
}
