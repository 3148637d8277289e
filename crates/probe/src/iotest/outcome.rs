//! What was found.

use std::time::Duration;

use results::measurement::Measurement;
use serde::{Deserialize, Serialize};

use super::stream::Moved;
use super::{CACHED_MAX, Options, Phase, Prepared};

/// The whole test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Hosts that did the same at the same time; empty for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// How far off times of a host may be against the first one's, once their clocks were compared, seconds; absent
    /// where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks_within_s: Option<f64>,
    /// Streams in each directory, of each host.
    pub streams: usize,
    /// Bytes of an operation.
    pub block_bytes: usize,
    /// `random`, `sas` or `zeros`.
    pub content: String,
    /// Whether it can be seen here that a file has left the page cache.
    pub eviction_checked: bool,
    /// Whether files were meant to be read from the page cache.
    pub warm: bool,
    /// Whether files may be smaller than it takes where eviction cannot be checked.
    pub is_limited: bool,
    /// Phases in their order.
    pub phases: Vec<PhaseOutcome>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseOutcome {
    /// `write`, `read`, `mixed` or `copy`.
    pub phase: String,
    /// When the first stream began, seconds since the Unix epoch by the host's own clock; of several hosts by that of
    /// the first, if they were compared.
    pub began_unix_s: f64,
    /// From the start of the first stream to the end of the last, seconds; of several hosts never less than the
    /// longest of one.
    pub elapsed_s: f64,
    /// Until the first stream ended: all were at work, seconds.
    pub together_s: f64,
    /// Largest share of a file that was in the page cache when the phase began; absent where nothing was
    /// read, nothing was to be evicted, or it cannot be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// By directory, in the order in which they were given.
    pub places: Vec<PlaceOutcome>,
    /// What all streams moved in each second, MB/s (10^6).
    pub mb_per_s: Vec<f64>,
    /// What devices, or servers of mounts, moved meanwhile; absent where nothing tells.
    pub devices: Vec<DeviceShare>,
}

/// A directory in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlaceOutcome {
    /// Which; of several hosts `HOST:DIRECTORY`.
    pub directory: String,
    /// Its streams.
    pub streams: Vec<StreamOutcome>,
}

/// A stream in a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamOutcome {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// From its start to its end, flush included, seconds.
    pub elapsed_s: f64,
    /// Blocks that were not what had been written there.
    pub wrong_blocks: u64,
}

/// A device, or all of a file system, beside the streams on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceShare {
    /// The device (of several hosts `HOST:DEVICE`; those of a btrfs with commas between), or the mount point (of CIFS
    /// the share) of a mount that counts for itself.
    pub name: String,
    /// Whether it is several devices that one file system is on: it may keep each byte on more than one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
    /// Bytes that it read.
    pub read_bytes: u64,
    /// Bytes that it wrote.
    pub written_bytes: u64,
    /// Bytes that streams read from it.
    pub streams_read_bytes: u64,
    /// Bytes that streams wrote to it.
    pub streams_written_bytes: u64,
}

impl StreamOutcome {
    /// MB/s (10^6), reads and writes together.
    pub fn mb_per_s(&self) -> f64 {
        (self.read_bytes + self.written_bytes) as f64 / 1e6 / self.elapsed_s.max(f64::MIN_POSITIVE)
    }
}

impl PlaceOutcome {
    /// Rates of the streams, the slowest first, MB/s.
    pub fn rates(&self) -> Vec<f64> {
        let mut rates: Vec<f64> = self.streams.iter().map(StreamOutcome::mb_per_s).collect();
        rates.sort_by(f64::total_cmp);
        rates
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        let each = self.streams.iter();
        each.map(|stream| stream.read_bytes + stream.written_bytes)
            .sum()
    }
}

impl PhaseOutcome {
    pub(super) fn new(
        options: &Options,
        phase: Phase,
        all: &[(usize, usize)],
        (streams, seconds): (&[(Moved, Duration)], &[u64]),
        began_unix_s: f64,
    ) -> Self {
        let mut places: Vec<PlaceOutcome> = options
            .places
            .iter()
            .map(|place| PlaceOutcome {
                directory: place.directory.display().to_string(),
                streams: Vec::new(),
            })
            .collect();
        let times = || streams.iter().map(|(_, elapsed)| elapsed.as_secs_f64());
        let (elapsed_s, together_s) = (
            times().fold(0.0, f64::max),
            times().fold(f64::MAX, f64::min),
        );
        for ((place, _), (moved, elapsed)) in all.iter().zip(streams) {
            places[*place].streams.push(StreamOutcome {
                read_bytes: moved.read_bytes,
                written_bytes: moved.written_bytes,
                elapsed_s: elapsed.as_secs_f64(),
                wrong_blocks: moved.wrong_blocks,
            });
        }
        Self {
            phase: phase.name().to_owned(),
            began_unix_s,
            elapsed_s,
            together_s,
            cached_share: None,
            places,
            mb_per_s: seconds.iter().map(|bytes| *bytes as f64 / 1e6).collect(),
            devices: Vec::new(),
        }
    }

    /// MB/s (10^6) of all streams until the last one ended, flush included.
    pub fn total_mb_per_s(&self) -> f64 {
        let bytes: u64 = self.places.iter().map(PlaceOutcome::bytes).sum();
        bytes as f64 / 1e6 / self.elapsed_s.max(f64::MIN_POSITIVE)
    }

    /// Whether what was read may have come from the page cache.
    pub fn may_be_cached(&self, outcome: &Outcome) -> bool {
        self.phase != Phase::Write.name()
            && !outcome.warm
            && match self.cached_share {
                Some(share) => share > CACHED_MAX,
                None => outcome.eviction_checked || outcome.is_limited,
            }
    }
}

impl Outcome {
    /// A test without phases so far.
    pub(super) fn new(options: &Options, prepared: &Prepared) -> Self {
        Self {
            hosts: Vec::new(),
            clocks_within_s: None,
            streams: options.streams,
            block_bytes: options.block_bytes,
            content: options.content.name().to_owned(),
            eviction_checked: prepared.eviction_checked,
            warm: options.warm,
            is_limited: options.file_bytes_max.is_some(),
            phases: Vec::new(),
        }
    }

    /// Blocks of all phases that were not what had been written.
    pub fn wrong_blocks(&self) -> u64 {
        let places = self.phases.iter().flat_map(|phase| &phase.places);
        let streams = places.flat_map(|place| &place.streams);
        streams.map(|stream| stream.wrong_blocks).sum()
    }

    /// For `--json`.
    pub fn measurements(&self) -> Vec<Measurement> {
        let mut all = Vec::new();
        for phase in &self.phases {
            let name = &phase.phase;
            all.push(Measurement::new(
                &format!("{name}_mb_per_s"),
                phase.total_mb_per_s(),
                "MB/s",
                format!("all streams of all directories until the last one ended, phase {name}"),
            ));
            for place in &phase.places {
                let rates = place.rates();
                let (slowest, fastest) = (rates[0], rates[rates.len() - 1]);
                all.push(Measurement::new(
                    &format!("{name}_fairness"),
                    slowest / fastest,
                    "ratio",
                    format!(
                        "slowest over fastest stream of {}, phase {name}",
                        place.directory
                    ),
                ));
            }
        }
        all.push(Measurement::new(
            "wrong_blocks",
            self.wrong_blocks() as f64,
            "blocks",
            "blocks that were not what had been written there",
        ));
        all
    }
}
