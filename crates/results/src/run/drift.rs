//! How the last part of a run of many batches compares with its first: flash that must collect garbage slows
//! down after hours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// First and last part of a run. Of pairs, the first figure is that of the first part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// `hour`, or `tenth` of a run of less than two hours.
    pub part: String,
    /// Length of a part, seconds.
    pub part_s: f64,
    /// What jobs were served in each part by channel, MB/s (10^6); `all` is their sum. Empty if nothing was
    /// sampled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mb_per_s: BTreeMap<String, [f64; 2]>,
    /// Batches that began in the first part, and that ended in the last one.
    pub batches: [u32; 2],
    /// Mean elapsed time of each job in these batches, seconds.
    pub jobs: Vec<JobDrift>,
    /// Elapsed times in the last part over those in the first: geometric mean over jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_ratio: Option<f64>,
}

/// A job in the first and in the last part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobDrift {
    /// Its name.
    pub name: String,
    /// Mean elapsed times, seconds.
    pub real_s: [f64; 2],
}

impl Drift {
    /// Throughput of all channels in the last part over that in the first.
    pub fn throughput_ratio(&self) -> Option<f64> {
        let [first, last] = *self.mb_per_s.get("all")?;
        (first > 0.0).then(|| last / first)
    }
}
