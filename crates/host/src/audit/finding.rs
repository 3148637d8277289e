//! Findings.

use serde::{Deserialize, Serialize};

use super::rule::{Fix, Severity, Source, Status};

/// What became of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It does not hold.
    Fail,
    /// It holds now, but not after the next boot; or two rules of the same rank contradict.
    Conflict,
    /// It does not hold, and whether that matters depends.
    Warn,
    /// Nobody can tell from what was found.
    Unknown,
    /// It would fail, and the site knows why that is right.
    Waived,
    /// It holds.
    Pass,
    /// It is for another host, or another rule decides.
    NotApplicable,
}

/// What a rule says of a host, or of one mount, device or path of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub id: String,
    /// Which mount, device or path; absent if the rule is for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The result.
    pub result: Outcome,
    /// How much it matters.
    pub severity: Severity,
    /// What should be so.
    pub title: String,
    /// What has become of the advice.
    pub status: Status,
    /// The fact that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// What is expected.
    pub expected: String,
    /// What holds now.
    #[serde(default)]
    pub running: Option<String>,
    /// What files ask for: who wins at the next boot.
    #[serde(default)]
    pub persisted: Option<String>,
    /// Where it was found, and what else decided.
    pub evidence: Vec<String>,
    /// Why it matters.
    pub why: String,
    /// How it is mended.
    #[serde(default)]
    pub fix: Option<Fix>,
    /// Documents.
    pub source: Vec<Source>,
}
