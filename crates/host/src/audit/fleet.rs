//! Several nodes' audits side by side.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Finding, Outcome};

/// A fact that is not the same on all nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Key of the fact, or rule and subject.
    pub name: String,
    /// Nodes by what they say; `-` is nothing.
    pub values: BTreeMap<String, Vec<String>>,
}

/// What a node's audit says: facts by key (what runs), and findings.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What runs.
    pub facts: BTreeMap<String, String>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// Facts that are a node's own.
const OWN: [&str; 20] = [
    "memory.available",
    "memory.dirty_bytes",
    "memory.swap_free",
    "memory.anonymous",
    "memory.swap_used",
    "process[",
    "cmdline.",
    ".clientaddr",
    ".addr",
    ".mountaddr",
    ".mountport",
    ".used_percent",
    ".data_invalidations",
    "].device",
    "].number",
    "].wwid",
    "].mapper_uuid",
    "bdi[",
    "memory.total_bytes",
    "memory.dirty_limit_bytes",
];

/// Facts that differ between nodes and should not.
pub fn facts(nodes: &[Node]) -> Vec<Difference> {
    let is_own = |key: &str| {
        OWN.iter()
            .any(|own| key.starts_with(own) || (own.starts_with(['.', ']']) && key.ends_with(own)))
    };
    let mut all: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for key in nodes
        .iter()
        .flat_map(|node| node.facts.keys())
        .filter(|key| !is_own(key))
    {
        let values = all.entry(key).or_default();
        if values.is_empty() {
            for node in nodes {
                let value = node
                    .facts
                    .get(key)
                    .cloned()
                    .unwrap_or_else(|| "-".to_owned());
                values.entry(value).or_default().push(node.name.clone());
            }
        }
    }
    differences(
        all.into_iter()
            .map(|(key, values)| (key.to_owned(), values)),
    )
}

/// Findings that differ between nodes: rule, subject and result.
pub fn findings(nodes: &[Node]) -> Vec<Difference> {
    let mut all: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    for node in nodes {
        names.extend(node.findings.iter().map(name));
    }
    for key in names {
        if all.contains_key(&key) {
            continue;
        }
        let values = all.entry(key.clone()).or_default();
        for node in nodes {
            let found = node.findings.iter().find(|finding| name(finding) == key);
            let value = found.map_or("-", |finding| word(finding.result)).to_owned();
            values.entry(value).or_default().push(node.name.clone());
        }
    }
    differences(all.into_iter())
}

fn name(finding: &Finding) -> String {
    match &finding.subject {
        Some(subject) => format!("{} {subject}", finding.id),
        None => finding.id.clone(),
    }
}

fn differences(
    all: impl Iterator<Item = (String, BTreeMap<String, Vec<String>>)>,
) -> Vec<Difference> {
    all.filter(|(_, values)| values.len() > 1)
        .map(|(name, values)| Difference { name, values })
        .collect()
}

/// A result as JSON writes it.
pub fn word(result: Outcome) -> &'static str {
    match result {
        Outcome::Fail => "fail",
        Outcome::Conflict => "conflict",
        Outcome::Warn => "warn",
        Outcome::Unknown => "unknown",
        Outcome::Waived => "waived",
        Outcome::Pass => "pass",
        Outcome::NotApplicable => "not_applicable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_nodes_own_is_no_difference() {
        let node = |name: &str, kernel: &str, addr: &str| Node {
            name: name.to_owned(),
            facts: BTreeMap::from([
                ("os.kernel".to_owned(), kernel.to_owned()),
                ("mount[/a].clientaddr".to_owned(), addr.to_owned()),
            ]),
            findings: Vec::new(),
        };
        let nodes = [
            node("a", "5", "x"),
            node("b", "5", "y"),
            node("c", "6", "z"),
        ];
        let found = facts(&nodes);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].values["5"], ["a", "b"]);
    }
}
