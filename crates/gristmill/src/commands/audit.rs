//! `gristmill audit`: settings of a host against the catalogue of published rules.

mod capture;
mod explain;
mod fleet;
mod show;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use host::audit::catalogue::Catalogue;
use host::audit::overrides::Overrides;
use host::audit::{Finding, Outcome, Severity, Site, fix, judge};
use host::facts::collect::{Given, collect};
use host::facts::{Facts, Root};
use serde::Serialize;

use crate::cli::{AuditArgs, AuditVerb};
use crate::exit::{Exit, usage};
use crate::ui;

/// Version of the JSON of an audit; readers go by it.
pub const SCHEMA: &str = "gristmill-audit/1";

/// Roles of hosts; bundles have names of their own.
const HOSTS: [&str; 6] = [
    "compute", "kvm-host", "gpfs-nsd", "metadata", "midtier", "viya",
];

/// Roles of paths.
const PATHS: [&str; 5] = [
    "sasdata",
    "sasdata-shared-write",
    "saswork",
    "utilloc",
    "gridwork",
];

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    host: String,
    counts: BTreeMap<&'static str, usize>,
    facts: &'a Facts,
    findings: &'a [Finding],
}

/// Runs the verb.
pub fn run(args: &AuditArgs) -> Result<Exit> {
    let catalogue = Catalogue::built_in()?;
    if let Some(AuditVerb::Explain { id, json }) = &args.verb {
        return explain::run(&catalogue, id, *json);
    }
    if !args.compare.is_empty() {
        return fleet::run(&catalogue, args);
    }
    if args.on.slurm {
        return fleet::on_nodes(&catalogue, args);
    }
    let root = match &args.root {
        Some(path) => open(path)?,
        None => Root::live(),
    };
    let (given, site) = told(args, &catalogue)?;
    let facts = collect(&root, &given)?;
    if let Some(file) = &args.collect {
        return capture::run(file, &root, &facts);
    }
    if facts.is_empty() {
        bail!(
            "nothing was found in {}",
            args.root.as_deref().unwrap_or(Path::new("/")).display()
        );
    }
    let findings = judge(&catalogue, &facts, &site);
    if args.json {
        let report = Report {
            schema: SCHEMA,
            host: host(&root),
            counts: counts(&findings),
            facts: &facts,
            findings: &findings,
        };
        ui::data(&serde_json::to_string_pretty(&report)?);
    } else {
        show::findings(&catalogue, &facts, &findings, args);
    }
    if let Some(directory) = &args.fix {
        mend(directory, &root, &facts, &findings)?;
    }
    Ok(exit(args, &findings))
}

fn open(path: &Path) -> Result<Root> {
    if !path.is_dir() {
        bail!(
            "{} is no folder; unpack an archive first: tar xf ARCHIVE -C DIR",
            path.display()
        );
    }
    Ok(Root::tree(path))
}

/// Roles, vendors, files and overrides.
fn told(args: &AuditArgs, catalogue: &Catalogue) -> Result<(Given, Site)> {
    let mut given = Given {
        also: args
            .also
            .iter()
            .map(|(name, path)| (name.clone(), path.into()))
            .collect(),
        vendors: args.vendor.clone(),
        ..Given::default()
    };
    let vendors = catalogue
        .rules
        .values()
        .flat_map(|rule| &rule.applies.vendor);
    let vendors: BTreeSet<&str> = vendors.map(String::as_str).collect();
    let is_known = |name: &String| vendors.iter().any(|known| known.eq_ignore_ascii_case(name));
    if let Some(unknown) = args.vendor.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = vendors.into_iter().collect();
        usage!(
            "--vendor {unknown}: there are rules for {}",
            known.join(", ")
        );
    }
    let mut site = Site {
        today: today(),
        ..Site::default()
    };
    for role in &args.role {
        match role.split_once('=') {
            Some((role, path)) if PATHS.contains(&role) => {
                if !Path::new(path).is_absolute() {
                    usage!("--role {role}={path}: an absolute path is needed");
                }
                if args.root.is_none() && !Path::new(path).exists() {
                    usage!("--role {role}={path}: there is no {path} on this host");
                }
                given.paths.push((role.to_owned(), path.to_owned()));
            }
            None if HOSTS.contains(&role.as_str()) => site.host_roles.push(role.clone()),
            None if catalogue.bundles.contains_key(role) => {
                site.bundles.push(role.clone());
                site.host_roles.extend(catalogue.bundles[role].host.clone());
            }
            _ => {
                let bundles: Vec<&str> = catalogue.bundles.keys().map(String::as_str).collect();
                usage!(
                    "--role {role}: of hosts {}; bundles {}; of paths, as ROLE=PATH, {}",
                    HOSTS.join(", "),
                    bundles.join(", "),
                    PATHS.join(", ")
                );
            }
        }
    }
    if site.host_roles.is_empty() {
        site.host_roles.push("compute".to_owned());
    }
    if let Some(path) = &args.overrides {
        let text = fs::read_to_string(path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        site.overrides =
            Overrides::parse(&text, |id| catalogue.rules.contains_key(&id.to_uppercase()))
                .with_context(|| format!("failed to use {}", path.display()))?;
    }
    Ok((given, site))
}

/// The day in UTC, as overrides write it.
fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// The host's name, as it says it.
fn host(root: &Root) -> String {
    let name = ["/proc/sys/kernel/hostname", "/etc/hostname", "/hostname"]
        .iter()
        .find_map(|path| root.text(path));
    name.unwrap_or_default().trim().to_owned()
}

/// How many findings there are of each result.
fn counts(findings: &[Finding]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings {
        *counts
            .entry(host::audit::fleet::word(finding.result))
            .or_default() += 1;
    }
    counts
}

/// 0, 1 or 4, as `docs/design/audit.md` says.
fn exit(args: &AuditArgs, findings: &[Finding]) -> Exit {
    let bound: Severity = args.fail_on.into();
    let at_least = |finding: &&Finding| finding.severity <= bound;
    let found = findings
        .iter()
        .filter(at_least)
        .any(|finding| matches!(finding.result, Outcome::Fail | Outcome::Conflict));
    let unknown = findings
        .iter()
        .filter(at_least)
        .any(|finding| finding.result == Outcome::Unknown && finding.fact.is_some());
    let judged = findings.iter().any(|finding| {
        matches!(
            finding.result,
            Outcome::Pass | Outcome::Fail | Outcome::Warn
        )
    });
    match () {
        () if found => Exit::No,
        () if !judged || (args.strict && unknown) => Exit::NoAnswer,
        () => Exit::Good,
    }
}

/// Writes files that mend what failed.
fn mend(directory: &Path, root: &Root, facts: &Facts, findings: &[Finding]) -> Result<()> {
    let mut there = fs::read_dir(directory).into_iter().flatten();
    if there.next().is_some() {
        bail!(
            "--fix {}: there are files in it, which may be somebody's; name a new folder",
            directory.display()
        );
    }
    let files = fix::files(facts, findings, root);
    for (name, text) in &files {
        let path = directory.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("failed to make {}", folder.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    }
    ui::say(&format!(
        "{} files below {}; read {}/README before you install any of them",
        files.len(),
        directory.display(),
        directory.display()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_day() {
        let today = today();
        assert_eq!(today.len(), 10);
        assert!(
            today.as_str() > "2026-01-01" && today.as_str() < "2100-01-01",
            "{today}"
        );
    }
}
