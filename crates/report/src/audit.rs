//! The audit of a node for people: what is to be looked at, the worst first, and what a limit has to do
//! with it.

use results::audit::{AuditFinding, NodeAudit};

use crate::table::{add, wrapped};

/// Findings that a terminal lists; CSV, JSON and the page have all.
const ROWS_MAX: usize = 12;

/// A rule with the same answer in one place or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grouped<'a> {
    /// The first of its findings.
    pub(crate) finding: &'a AuditFinding,
    /// The run's directories, mounts or devices; none if it is of the host.
    pub(crate) places: Vec<String>,
    /// What holds and what is expected.
    pub(crate) found: String,
}

/// Findings of the same rule, result and answer together, in their order.
pub(crate) fn grouped<'a>(
    findings: impl IntoIterator<Item = &'a AuditFinding>,
) -> Vec<Grouped<'a>> {
    let mut groups: Vec<Grouped<'a>> = Vec::new();
    for finding in findings {
        let found = finding.found();
        let place = place(finding);
        let same = |group: &&mut Grouped<'_>| {
            group.finding.id == finding.id
                && group.finding.result == finding.result
                && group.found == found
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.places.extend(place),
            None => groups.push(Grouped {
                finding,
                places: place.into_iter().collect(),
                found,
            }),
        }
    }
    groups
}

/// `work, util (/saswork)`, `eth0`.
fn place(finding: &AuditFinding) -> Option<String> {
    let subject = finding.subject.as_ref()?;
    let directories = finding.directories.as_ref().filter(|all| !all.is_empty());
    let Some(directories) = directories else {
        return Some(subject.clone());
    };
    // The role of a path says no more than the names of its directories.
    let path = subject.split_once(" /").map(|(_, path)| format!("/{path}"));
    let subject = path.unwrap_or_else(|| subject.clone());
    Some(format!("{} ({subject})", directories.join(", ")))
}

/// `fail` and `not_applicable` as people count them.
pub(crate) fn counted(audit: &NodeAudit) -> String {
    let word = |(result, count): (&str, u64)| match result {
        "fail" => format!("{count} fail"),
        "conflict" => format!("{count} hold now and not after the next boot, or contradict"),
        "warn" => format!("{count} warn"),
        "pass" => format!("{count} pass"),
        "not_applicable" => format!("{count} are not for this host"),
        other => format!("{count} {other}"),
    };
    let all = audit.counted();
    all.into_iter().map(word).collect::<Vec<_>>().join(", ")
}

/// What was not read in time.
pub(crate) fn not_read(audit: &NodeAudit) -> Option<String> {
    (!audit.not_read.is_empty()).then(|| {
        format!(
            "not read, because the time was over: {}",
            audit.not_read.join(", ")
        )
    })
}

/// Audits as text for a terminal; empty if there are none.
pub fn text(audits: &[NodeAudit]) -> String {
    let mut out = String::new();
    for audit in audits {
        if !out.is_empty() {
            out.push('\n');
        }
        of_node(audit, &mut out);
    }
    out
}

fn of_node(audit: &NodeAudit, out: &mut String) {
    let head = format!(
        "Audit of {} before the run ({:.1} s): {}",
        audit.node,
        audit.took_s,
        counted(audit)
    );
    for line in wrapped(&head, 98) {
        add(out, &line);
    }
    let (ours, others): (Vec<&AuditFinding>, Vec<&AuditFinding>) = audit
        .findings
        .iter()
        .partition(|finding| finding.concerns_run());
    let groups = grouped(ours);
    for group in groups.iter().take(ROWS_MAX) {
        let one = group.finding;
        add(
            out,
            &format!(
                "  {:<8} {:<8} {:<8} {}",
                one.result, one.severity, one.id, one.title
            ),
        );
        more(out, &answer(group));
    }
    if groups.len() > ROWS_MAX {
        let ids = groups.iter().skip(ROWS_MAX).map(|group| &*group.finding.id);
        more(out, &format!("and {}", ids.collect::<Vec<_>>().join(" ")));
    }
    let others = grouped(others);
    if !others.is_empty() {
        let names = others.iter().map(|group| {
            let places = group.places.join(", ");
            format!("{} {} ({places})", group.finding.result, group.finding.id)
        });
        let names = names.collect::<Vec<_>>().join("; ");
        more(
            out,
            &format!("on mounts and devices that the run does not use: {names}"),
        );
    }
    if let Some(text) = not_read(audit) {
        more(out, &text);
    }
    if !audit.findings.is_empty() {
        add(
            out,
            "  gristmill audit explain RULE says why and what to do; gristmill audit --fix DIR writes files",
        );
    }
}

/// `work (/saswork): is 128; expected at least 4096`.
fn answer(group: &Grouped<'_>) -> String {
    if group.places.is_empty() {
        group.found.clone()
    } else {
        format!("{}: {}", group.places.join(", "), group.found)
    }
}

fn more(out: &mut String, text: &str) {
    for line in wrapped(text, 70) {
        add(out, &format!("{:29}{line}", ""));
    }
}

/// Failing rules that relieve what limited a run, a line each.
pub(crate) fn relieving(rules: &[AuditFinding]) -> Vec<String> {
    let line = |group: &Grouped<'_>| {
        let one = group.finding;
        format!(
            "{} ({}) {}: {}",
            one.id,
            one.severity,
            one.title,
            answer(group)
        )
    };
    grouped(rules).iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, subject: &str, directories: &[&str]) -> AuditFinding {
        AuditFinding {
            id: id.to_owned(),
            subject: Some(subject.to_owned()),
            directories: Some(directories.iter().map(|one| (*one).to_owned()).collect()),
            result: "fail".to_owned(),
            running: Some("/".to_owned()),
            ..AuditFinding::default()
        }
    }

    #[test]
    fn the_same_answer_is_given_once() {
        let findings = [
            finding("A", "sasdata /d", &["data", "output"]),
            finding("A", "saswork /w x", &["work"]),
            finding("A", "/other", &[]),
            finding("B", "sda", &["work"]),
        ];
        let groups = grouped(&findings);
        let places: Vec<String> = groups.iter().map(|one| one.places.join("; ")).collect();
        let wanted = ["data, output (/d); work (/w x); /other", "work (sda)"];
        assert_eq!(places, wanted);
    }
}
