//! What the audits of the sides' nodes say differently.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Side;
use crate::audit::AuditFinding;

/// A finding that is not the same on all sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FindingDiffers {
    /// The rule.
    pub rule: String,
    /// `critical`, `high`, `medium`, `low` or `info`.
    pub severity: String,
    /// What should be so.
    pub title: String,
    /// Directories of the run, or what of the host; empty if it is the host as a whole.
    pub places: Vec<String>,
    /// What each side's audit says: `fail (128)`. Absent where it was not audited.
    pub answers: Vec<Option<String>>,
}

/// Rule and place.
type Key = (String, String);

/// Answers of a side: results with what held; `None` if it was not audited.
type Answers = Option<BTreeMap<Key, BTreeSet<(String, String)>>>;

/// Findings that differ in their results and call for a look on one side at least, the worst first.
pub(super) fn differing(sides: &[Side]) -> Vec<FindingDiffers> {
    let mut known: BTreeMap<Key, &AuditFinding> = BTreeMap::new();
    let all: Vec<Answers> = sides.iter().map(|side| answers(side, &mut known)).collect();
    if all.iter().flatten().count() < 2 {
        return Vec::new();
    }
    let mut found: Vec<(&AuditFinding, FindingDiffers)> = Vec::new();
    for (key, finding) in known {
        let of_key: Vec<Option<BTreeSet<(String, String)>>> = all
            .iter()
            .map(|one| Some(one.as_ref()?.get(&key).cloned().unwrap_or_default()))
            .collect();
        let results = of_key.iter().flatten().map(|answers| {
            let results = answers.iter().map(|(result, _)| result.as_str());
            results.collect::<BTreeSet<&str>>()
        });
        let results: BTreeSet<BTreeSet<&str>> = results.collect();
        let bad = |result: &&str| matches!(*result, "fail" | "conflict" | "warn");
        if results.len() < 2 || !results.iter().flatten().any(bad) {
            continue;
        }
        let answers: Vec<Option<String>> = of_key
            .iter()
            .map(|one| Some(shown(one.as_ref()?)))
            .collect();
        let place = Some(key.1).filter(|place| !place.is_empty());
        let same = |(_, one): &&mut (&AuditFinding, FindingDiffers)| {
            one.rule == key.0 && one.answers == answers
        };
        match found.iter_mut().find(same) {
            Some((_, one)) => one.places.extend(place),
            None => found.push((
                finding,
                FindingDiffers {
                    rule: finding.id.clone(),
                    severity: finding.severity.clone(),
                    title: finding.title.clone(),
                    places: place.into_iter().collect(),
                    answers,
                },
            )),
        }
    }
    found.sort_by_key(|(finding, one)| (finding.place().1, one.rule.clone()));
    found.into_iter().map(|(_, one)| one).collect()
}

fn answers<'a>(side: &'a Side, known: &mut BTreeMap<Key, &'a AuditFinding>) -> Answers {
    let audits: Vec<_> = side.runs.iter().flat_map(|run| &run.audits).collect();
    if audits.is_empty() {
        return None;
    }
    let mut answers: BTreeMap<Key, BTreeSet<(String, String)>> = BTreeMap::new();
    for finding in audits.iter().flat_map(|audit| &audit.findings) {
        for place in places(finding) {
            let key = (finding.id.clone(), place);
            known.entry(key.clone()).or_insert(finding);
            let running = finding.running.clone().unwrap_or_default();
            let answer = (finding.result.clone(), running);
            answers.entry(key).or_default().insert(answer);
        }
    }
    Some(answers)
}

/// Directories of the run stand for what they are on, which sides may call by other names; what the
/// run does not use is no difference between runs.
fn places(finding: &AuditFinding) -> Vec<String> {
    match &finding.directories {
        Some(directories) => directories.clone(),
        None => vec![finding.subject.clone().unwrap_or_default()],
    }
}

fn shown(answers: &BTreeSet<(String, String)>) -> String {
    let one = |(result, running): &(String, String)| {
        if running.is_empty() {
            result.clone()
        } else {
            format!("{result} ({running})")
        }
    };
    if answers.is_empty() {
        return "not applicable".to_owned();
    }
    answers.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::NodeAudit;
    use crate::subject::Subject;

    fn finding(
        id: &str,
        result: &str,
        running: &str,
        directories: Option<&[&str]>,
    ) -> AuditFinding {
        AuditFinding {
            id: id.to_owned(),
            severity: if id == "LOW" { "low" } else { "high" }.to_owned(),
            result: result.to_owned(),
            running: Some(running.to_owned()),
            directories: directories.map(|all| all.iter().map(|one| (*one).to_owned()).collect()),
            ..AuditFinding::default()
        }
    }

    fn side(findings: &[AuditFinding]) -> Side {
        let audit = NodeAudit {
            findings: findings.to_vec(),
            ..NodeAudit::default()
        };
        Side {
            label: String::new(),
            runs: vec![Subject {
                audits: vec![audit],
                ..Subject::default()
            }],
        }
    }

    #[test]
    fn what_differs_is_told_by_directory() {
        let both = Some(&["data", "work"][..]);
        let before = side(&[
            finding("AHEAD", "fail", "128", both),
            finding("LOW", "fail", "1", None),
            finding("OTHER", "fail", "1", Some(&[])),
            finding("SAME", "warn", "1", None),
            finding("ASKED", "unknown", "", None),
        ]);
        let after = side(&[
            finding("AHEAD", "pass", "8192", Some(&["work"])),
            finding("AHEAD", "fail", "128", Some(&["data"])),
            finding("SAME", "warn", "2", None),
        ]);
        let found = differing(&[before.clone(), after]);
        let lines: Vec<String> = found
            .iter()
            .map(|one| {
                let answers = one.answers.iter().flatten().cloned().collect::<Vec<_>>();
                format!(
                    "{} {}: {}",
                    one.rule,
                    one.places.join(" "),
                    answers.join(" | ")
                )
            })
            .collect();
        let wanted = [
            "AHEAD work: fail (128) | pass (8192)",
            "LOW : fail (1) | not applicable",
        ];
        assert_eq!(lines, wanted);
        // A paper, or a run of an earlier version.
        let paper = Side {
            label: String::new(),
            runs: vec![Subject::default()],
        };
        assert_eq!(differing(&[before, paper]), []);
    }
}
