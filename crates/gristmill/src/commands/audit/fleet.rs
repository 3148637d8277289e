//! `gristmill audit --compare A.json B.json …` and `gristmill audit --slurm`: where nodes differ.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use host::audit::catalogue::Catalogue;
use host::audit::fleet::{self, Difference, Node};
use host::audit::{Finding, Outcome};
use serde_json::Value;

use super::SCHEMA;
use crate::cli::AuditArgs;
use crate::commands::nodes;
use crate::commands::run::stop_on_signals;
use crate::exit::{Exit, usage};
use crate::paths::each_once;
use crate::ui;

/// Compares audits of nodes: 1 if facts or findings differ.
pub(super) fn run(catalogue: &Catalogue, args: &AuditArgs) -> Result<Exit> {
    if args.compare.len() < 2 {
        usage!("--compare needs the JSON of two nodes or more");
    }
    each_once(args.compare.iter().map(PathBuf::as_path))?;
    let nodes = args.compare.iter().map(|path| read(path));
    compare(catalogue, args, &nodes.collect::<Result<Vec<Node>>>()?)
}

/// Audits the nodes of an allocation, or as many as are asked for, and compares them.
pub(super) fn on_nodes(catalogue: &Catalogue, args: &AuditArgs) -> Result<Exit> {
    if args.root.is_some() || args.collect.is_some() || args.fix.is_some() {
        usage!(
            "--slurm: audits of several nodes are compared; --root, --collect and --fix are for one"
        );
    }
    let stop = stop_on_signals()?;
    if let Some(count) = args.on.nodes {
        let here = std::env::current_dir().context("failed to find the current directory")?;
        return nodes::submit(&args.on, count, &here, &stop);
    }
    let (names, allocation) = nodes::allocation()?;
    let given = nodes::without_submission(std::env::args_os().skip(1));
    let own = ["--slurm", "--json"];
    let mut words: Vec<OsString> = given
        .into_iter()
        .filter(|word| !own.iter().any(|own| word == own))
        .collect();
    words.push("--json".into());
    let folder = tempfile::tempdir().context("failed to make a folder for what the nodes say")?;
    let files = allocation
        .outputs(&names, &words, folder.path(), &stop)
        .context("failed to audit the nodes")?;
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    let mut audited = Vec::new();
    for (name, file) in names.iter().zip(&files) {
        let one = read(file).with_context(|| format!("{name} gave no audit"))?;
        audited.push(Node {
            name: name.clone(),
            ..one
        });
    }
    ui::say(&format!("Audited: {}", names.join(", ")));
    compare(catalogue, args, &audited)
}

fn compare(catalogue: &Catalogue, args: &AuditArgs, nodes: &[Node]) -> Result<Exit> {
    let (facts, findings) = (fleet::facts(nodes), fleet::findings(nodes));
    let rules = fleet::judge(catalogue, nodes);
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
