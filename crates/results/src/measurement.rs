//! What small experiments print with `--json`: named measurements, beside the table that they came from.

use serde::{Deserialize, Serialize};

/// A figure with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Which.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its unit; `ratio` and `share` have none.
    pub unit: String,
    /// What it is, and how it was found, a sentence.
    pub detail: String,
}

impl Measurement {
    /// A figure.
    pub fn new(name: &str, value: f64, unit: &str, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            detail: detail.into(),
        }
    }
}
