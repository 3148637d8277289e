//! Several nodes' audits side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::catalogue::Catalogue;
use super::judge::finding;
use super::rule::{Op, Rule};
use super::{Finding, Outcome};

/// Findings that the evidence of a rule names.
const NAMED_MAX: usize = 8;

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
const OWN: [&str; 28] = [
    "audit.",
    "blkid[",
    "gpfs-ces[",
    "gpfs-events.",
    "gpfs-health[",
    "gpfs-state[",
    "gpfs-waiters.",
    "iscsi[",
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
    let by_name: Vec<BTreeMap<String, Outcome>> = nodes.iter().map(results).collect();
    let names: BTreeSet<&String> = by_name.iter().flat_map(BTreeMap::keys).collect();
    let all = names.into_iter().map(|name| {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (node, results) in nodes.iter().zip(&by_name) {
            let result = results.get(name).map_or("-", |result| word(*result));
            values
                .entry(result.to_owned())
                .or_default()
                .push(node.name.clone());
        }
        (name.clone(), values)
    });
    differences(all)
}

/// Results of a node by rule and subject, the worst of those that have the same name.
fn results(node: &Node) -> BTreeMap<String, Outcome> {
    let mut results: BTreeMap<String, Outcome> = BTreeMap::new();
    for finding in &node.findings {
        let known = results.entry(name(finding)).or_insert(finding.result);
        *known = (*known).min(finding.result);
    }
    results
}

fn name(finding: &Finding) -> String {
    // Numbers of processes are a node's own.
    let is_process = |fact: &String| fact.starts_with("process[");
    match &finding.subject {
        Some(subject) if !finding.fact.as_ref().is_some_and(is_process) => {
            format!("{} {subject}", finding.id)
        }
        _ => finding.id.clone(),
    }
}

/// Rules about nodes that should be alike.
pub fn judge(catalogue: &Catalogue, nodes: &[Node]) -> Vec<Finding> {
    let rules = catalogue.rules.values();
    rules
        .filter(|rule| rule.check.op == Op::Fleet)
        .map(|rule| one(rule, nodes))
        .collect()
}

fn one(rule: &Rule, nodes: &[Node]) -> Finding {
    let keys = rule.check.value.as_ref().and_then(toml::Value::as_array);
    let (differ, unknown) = match keys {
        Some(keys) => of_facts(keys.iter().filter_map(toml::Value::as_str), nodes),
        None => of_findings(nodes),
    };
    let (result, evidence) = match (differ.is_empty(), unknown.is_empty()) {
        (false, _) => (Outcome::Fail, &differ),
        (true, false) => (Outcome::Unknown, &unknown),
        (true, true) => (Outcome::Pass, &differ),
    };
    let mut said = evidence.clone();
    if said.len() > NAMED_MAX {
        let more = said.len() - NAMED_MAX;
        said.truncate(NAMED_MAX);
        said.push(format!("and {more} more"));
    }
    let mut finding = finding(rule, None, result, said);
    finding.running = Some(match result {
        Outcome::Fail => format!("{} differ", differ.len()),
        Outcome::Unknown => format!("{} not known on all nodes", unknown.len()),
        _ => format!("{} nodes agree", nodes.len()),
    });
    finding
}

/// Facts that differ, and facts that some nodes do not tell.
fn of_facts<'a>(keys: impl Iterator<Item = &'a str>, nodes: &[Node]) -> (Vec<String>, Vec<String>) {
    let (mut differ, mut unknown) = (Vec::new(), Vec::new());
    for key in keys {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for node in nodes {
            let value = node.facts.get(key).map_or("-", String::as_str);
            values
                .entry(value.to_owned())
                .or_default()
                .push(node.name.clone());
        }
        sort_in(key, &values, "-", &mut differ, &mut unknown);
    }
    (differ, unknown)
}

/// Findings that differ, and those that some nodes cannot tell: one was asked by root, another not.
fn of_findings(nodes: &[Node]) -> (Vec<String>, Vec<String>) {
    let (mut differ, mut unknown) = (Vec::new(), Vec::new());
    for one in findings(nodes) {
        sort_in(
            &one.name,
            &one.values,
            word(Outcome::Unknown),
            &mut differ,
            &mut unknown,
        );
    }
    (differ, unknown)
}

/// Puts what nodes say of something where it belongs; what they agree in is nowhere.
fn sort_in(
    name: &str,
    values: &BTreeMap<String, Vec<String>>,
    not_known: &str,
    differ: &mut Vec<String>,
    unknown: &mut Vec<String>,
) {
    let each = values
        .iter()
        .map(|(value, nodes)| format!("{value}: {}", nodes.join(" ")));
    let line = format!("{name}: {}", each.collect::<Vec<_>>().join("; "));
    let known = values.keys().filter(|value| *value != not_known).count();
    match (known, values.contains_key(not_known)) {
        (2.., _) => differ.push(line),
        (_, true) => unknown.push(line),
        _ => {}
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

    fn judged(nodes: &[Node]) -> Vec<String> {
        let catalogue = Catalogue::built_in().unwrap();
        let found = judge(&catalogue, nodes).into_iter();
        found
            .map(|one| {
                format!(
                    "{} {} {}",
                    one.id,
                    word(one.result),
                    one.running.unwrap_or_default()
                )
            })
            .collect()
    }

    fn node(name: &str, kernel: &str, swappiness: Outcome) -> Node {
        let fact = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let catalogue = Catalogue::built_in().unwrap();
        let of = |id: &str, subject: Option<&str>, result| {
            let subject = subject.map(str::to_owned);
            finding(&catalogue.rules[id], subject, result, Vec::new())
        };
        let mut session = of("LIM-001", Some(name), Outcome::Pass);
        session.fact = Some(format!("process[{name}].nofile_soft"));
        Node {
            name: name.to_owned(),
            facts: [
                ("os.id", "rhel"),
                ("os.version", "9.4"),
                ("os.kernel", kernel),
            ]
            .map(fact)
            .into(),
            findings: vec![of("VM-105", None, swappiness), session],
        }
    }

    #[test]
    fn rules_about_nodes_are_judged() {
        use Outcome::{Fail, Pass, Unknown};
        let alike = [node("1", "5.14", Pass), node("2", "5.14", Pass)];
        let agree = ["OPS-004 pass 2 nodes agree", "OPS-005 pass 2 nodes agree"];
        assert_eq!(judged(&alike), agree);
        let apart = [node("1", "5.14", Pass), node("2", "5.15", Fail)];
        assert_eq!(
            judged(&apart),
            ["OPS-004 fail 1 differ", "OPS-005 fail 1 differ"]
        );
        // What nobody could tell is no difference, and no agreement either.
        let mut untold = [node("1", "5.14", Pass), node("2", "5.14", Unknown)];
        untold[1].facts.remove("os.kernel");
        let wanted = [
            "OPS-004 unknown 1 not known on all nodes",
            "OPS-005 unknown 1 not known on all nodes",
        ];
        assert_eq!(judged(&untold), wanted);
    }
}
