//! Settings of the nodes before the run, against published rules.

use results::audit::{AuditFinding, NodeAudit};
use results::run::Verdict;
use serde::Serialize;

use crate::audit::{Grouped, counted, grouped, not_read};

use super::Run;
use super::cards::capital;
use super::number::duration;

/// The audit of a node.
#[derive(Debug, Serialize)]
pub(super) struct Audit {
    /// The node, where there are several.
    node: Option<String>,
    /// How many there are of each result, and how long it took.
    summary: String,
    /// What is to be looked at and concerns the run.
    findings: Vec<Row>,
    /// The same of mounts and devices that the run does not use.
    others: Vec<Row>,
    /// What is unknown, waived or as it should be.
    rest: Vec<Row>,
    not_read: Option<String>,
}

/// A finding.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Class of its colour.
    kind: &'static str,
    word: String,
    severity: String,
    id: String,
    title: String,
    places: String,
    found: String,
    why: String,
}

pub(super) fn all(run: &Run) -> Vec<Audit> {
    let several = run.audits.len() > 1;
    let shown = |audit: &NodeAudit| {
        let to_look_at = audit.to_look_at();
        let (ours, others): (Vec<&AuditFinding>, Vec<&AuditFinding>) = to_look_at
            .findings
            .iter()
            .partition(|finding| finding.concerns_run());
        let rest = audit.findings.iter();
        let rest = rest.filter(|one| matches!(&*one.result, "unknown" | "waived" | "pass"));
        let mut rest: Vec<&AuditFinding> = rest.collect();
        rest.sort_by(|left, right| left.place().cmp(&right.place()));
        Audit {
            node: Some(audit.node.clone()).filter(|_| several),
            summary: format!("{}; it took {}.", counted(audit), duration(audit.took_s)),
            findings: rows(ours),
            others: rows(others),
            rest: rows(rest),
            not_read: not_read(audit).map(|text| capital(&text)),
        }
    };
    run.audits.iter().map(shown).collect()
}

/// Failing rules that relieve what limited the run.
pub(super) fn relieving(verdict: &Verdict) -> Vec<Row> {
    let limit = verdict
        .limited_by
        .as_ref()
        .filter(|_| !verdict.demonstration);
    limit.map_or_else(Vec::new, |limit| rows(&limit.rules))
}

fn rows<'a>(findings: impl IntoIterator<Item = &'a AuditFinding>) -> Vec<Row> {
    grouped(findings).iter().map(row).collect()
}

fn row(group: &Grouped<'_>) -> Row {
    let one = group.finding;
    Row {
        kind: match &*one.result {
            "fail" => "fail",
            "conflict" | "warn" => "inconclusive",
            "pass" => "pass",
            _ => "not_shown",
        },
        word: capital(&one.result),
        severity: one.severity.clone(),
        id: one.id.clone(),
        title: one.title.clone(),
        places: group.places.join(", "),
        found: group.found.clone(),
        why: one.why.clone(),
    }
}
