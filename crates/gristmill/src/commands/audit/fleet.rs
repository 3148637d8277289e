//! `gristmill audit --compare A.json B.json …`: where nodes differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use host::audit::catalogue::Catalogue;
use host::audit::fleet::{self, Difference, Node};
use host::audit::{Finding, Outcome};
use serde_json::Value;

use super::SCHEMA;
use crate::cli::AuditArgs;
use crate::exit::Exit;
use crate::ui;

/// Compares audits of nodes: 1 if facts or findings differ.
pub(super) fn run(catalogue: &Catalogue, args: &AuditArgs) -> Result<Exit> {
    if args.compare.len() < 2 {
        bail!("--compare needs the JSON of two nodes or more");
    }
    let nodes: Vec<Node> = args
        .compare
        .iter()
        .map(|path| read(path))
        .collect::<Result<_>>()?;
    let (facts, findings) = (fleet::facts(&nodes), fleet::findings(&nodes));
    let rules = fleet::judge(catalogue, &nodes);
    if args.json {
        let all = serde_json::json!({
            "schema": SCHEMA, "rules": rules, "facts": facts, "findings": findings
        });
        ui::data(&serde_json::to_string_pretty(&all)?);
    } else {
        for rule in &rules {
            judged(rule);
        }
        show("findings", &findings);
        show("facts", &facts);
    }
    let same = facts.is_empty() && findings.is_empty();
    Ok(if same { Exit::Good } else { Exit::No })
}

/// `FAIL  medium  OPS-005  All nodes have the same release and kernel: 1 differ`.
fn judged(rule: &Finding) {
    let result = fleet::word(rule.result);
    let result = match rule.result {
        Outcome::Fail => result.to_uppercase(),
        _ => result.to_owned(),
    };
    let running = rule.running.as_deref().unwrap_or_default();
    let severity = rule.severity.name();
    ui::data(&format!(
        "{result:<7}  {severity:<8}  {}  {}: {running}",
        rule.id, rule.title
    ));
    for line in &rule.evidence {
        ui::data(&format!("           {line}"));
    }
}

fn show(what: &str, differences: &[Difference]) {
    if differences.is_empty() {
        ui::data(&format!("All nodes have the same {what}."));
        return;
    }
    ui::data(&format!("{} {what} differ:", differences.len()));
    for difference in differences {
        ui::data(&format!("  {}", difference.name));
        for (value, nodes) in &difference.values {
            ui::data(&format!("      {value}: {}", nodes.join(" ")));
        }
    }
}

fn read(path: &Path) -> Result<Node> {
    let text =
        fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let json: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
    if json["schema"] != SCHEMA {
        bail!("{} is no audit of schema {SCHEMA}", path.display());
    }
    let name = json["host"].as_str().filter(|name| !name.is_empty());
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let facts: BTreeMap<String, String> = json["facts"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, fact)| Some((key.clone(), shown(fact.pointer("/running/value")?))))
        .collect();
    let findings: Vec<Finding> = serde_json::from_value(json["findings"].clone())
        .with_context(|| format!("{} has findings that cannot be read", path.display()))?;
    Ok(Node {
        name: name.map_or_else(|| stem.unwrap_or_default(), str::to_owned),
        facts,
        findings,
    })
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
