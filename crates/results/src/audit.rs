//! What the audit of a node found before a run: `audits/<node>.json`. The shapes only; the `host`
//! room audits, and `docs/design/audit.md` explains the words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The schema of `audits/<node>.json`; readers go by it.
pub const SCHEMA: &str = "gristmill-run-audit/1";

/// Results in the order in which people should see them.
pub const RESULTS: [&str; 7] = [
    "fail",
    "conflict",
    "warn",
    "unknown",
    "waived",
    "pass",
    "not_applicable",
];

/// Severities, the worst first.
const SEVERITIES: [&str; 5] = ["critical", "high", "medium", "low", "info"];

/// The audit of one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeAudit {
    /// [`SCHEMA`].
    pub schema: String,
    /// Host name.
    pub node: String,
    /// How long it took, seconds.
    pub took_s: f64,
    /// Sources that were not read because the time was over; what they tell is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_read: Vec<String>,
    /// Findings by their results.
    pub counts: BTreeMap<String, u64>,
    /// What was found, sorted by rule and subject. Rules that are for other hosts are only counted; a result of
    /// a run has only what is to be looked at.
    pub findings: Vec<AuditFinding>,
}

/// What a rule says of the node, or of one mount, device or path of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFinding {
    /// The rule.
    pub id: String,
    /// Which mount, device or path; absent if the rule is for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Which of the run's directories (`data`, `output`, `work`, `util`) the subject holds: none if it is
    /// another mount or device. Absent if the rule is for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directories: Option<Vec<String>>,
    /// `fail`, `conflict`, `warn`, `unknown`, `waived` or `pass`.
    pub result: String,
    /// `critical`, `high`, `medium`, `low` or `info`.
    pub severity: String,
    /// What should be so.
    pub title: String,
    /// What keeping it relieves: `reads`, `writes`, `metadata`, `locks`, `network`, `cpu`, `memory`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bottleneck: Vec<String>,
    /// Types of file systems that the rule is for; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_systems: Vec<String>,
    /// What is expected.
    pub expected: String,
    /// What held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<String>,
    /// What files ask for: who wins at the next boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted: Option<String>,
    /// Where it was found, and what else decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Why it matters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl NodeAudit {
    /// Those that are to be looked at: failures, conflicts, warnings.
    #[must_use]
    pub fn to_look_at(&self) -> Self {
        let mut findings: Vec<AuditFinding> = self
            .findings
            .iter()
            .filter(|one| matches!(&*one.result, "fail" | "conflict" | "warn"))
            .cloned()
            .collect();
        findings.sort_by(|left, right| left.place().cmp(&right.place()));
        Self {
            findings,
            ..self.clone()
        }
    }

    /// How many there are of each result, those to be looked at first.
    pub fn counted(&self) -> Vec<(&str, u64)> {
        RESULTS
            .iter()
            .filter_map(|result| Some((*result, *self.counts.get(*result)?)))
            .collect()
    }
}

impl AuditFinding {
    /// Place in a list for people: result, severity, rule, subject.
    pub fn place(&self) -> (usize, usize, &str, Option<&str>) {
        let at = |all: &[&str], one: &str| all.iter().position(|known| *known == one);
        (
            at(&RESULTS, &self.result).unwrap_or(RESULTS.len()),
            at(&SEVERITIES, &self.severity).unwrap_or(SEVERITIES.len()),
            &self.id,
            self.subject.as_deref(),
        )
    }

    /// True unless it is of a mount, device or path that the run has nothing to do with.
    pub fn concerns_run(&self) -> bool {
        self.directories.as_ref().is_none_or(|all| !all.is_empty())
    }

    /// `128; expected at least 4096`, or why that cannot be said.
    pub fn found(&self) -> String {
        let known = [
            self.running.as_ref(),
            self.persisted.as_ref(),
            self.evidence.first(),
        ];
        let running = known.into_iter().flatten().next();
        let running = running.cloned().unwrap_or_default();
        match (running.is_empty(), self.expected.is_empty()) {
            (false, false) => format!("{running}; expected {}", self.expected),
            (false, true) => running,
            _ => format!("expected {}", self.expected),
        }
    }
}
