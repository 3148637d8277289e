//! File operations that the operating system refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::step::StepRecord;

/// What the operating system answers in the ordinary course: a file that is looked for is not there yet, or is
/// locked.
const ORDINARY: [&str; 3] = ["ENOENT", "EEXIST", "EAGAIN"];

/// File operations of one kind that failed for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedOperation {
    /// `input`, `output`, `work` or `util`.
    pub channel: String,
    /// `write`, `create` and so on.
    pub operation: String,
    /// The operating system's name of the error, such as `ENOSPC`.
    pub error: String,
    /// How many.
    pub count: u64,
}

impl FailedOperation {
    /// Those of a job's steps that are not ordinary.
    pub(crate) fn of(steps: &[StepRecord]) -> Vec<Self> {
        let mut counts: BTreeMap<[&str; 3], u64> = BTreeMap::new();
        let channels = steps.iter().flat_map(|step| &step.channels);
        for (channel, record) in channels {
            for (operation, tally) in &record.operations {
                for (error, count) in &tally.errors_by_name {
                    *counts.entry([channel, operation, error]).or_default() += count;
                }
            }
        }
        let is_ordinary = |operation: &str, error: &str| {
            ORDINARY.contains(&error) || (operation, error) == ("lock", "EACCES")
        };
        let telling = counts
            .into_iter()
            .filter(|([_, operation, error], _)| !is_ordinary(operation, error));
        telling
            .map(|([channel, operation, error], count)| Self {
                channel: channel.to_owned(),
                operation: operation.to_owned(),
                error: error.to_owned(),
                count,
            })
            .collect()
    }
}
