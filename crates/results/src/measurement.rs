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
    /// Lower end of its 95 % confidence interval, if it comes from a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
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
            low: None,
            high: None,
            detail: detail.into(),
        }
    }

    /// With its confidence interval.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        Self {
            low: Some(low),
            high: Some(high),
            ..self
        }
    }
}
