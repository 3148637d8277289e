//! Findings as a hurried administrator reads them: the worst first, each with what to do.

use std::collections::BTreeMap;

use host::audit::catalogue::Catalogue;
use host::audit::judge::PRESUMED;
use host::audit::{Finding, Outcome, Severity};
use host::facts::Facts;

use crate::cli::AuditArgs;
use crate::ui;

/// Longest list of subjects on a line.
const SUBJECTS_MAX: usize = 4;

/// Longest list of rules that miss the same fact.
const RULES_MAX: usize = 12;

/// Prints what is wrong, what contradicts, what should be looked at, and counts of the rest.
pub(super) fn findings(
    catalogue: &Catalogue,
    facts: &Facts,
    findings: &[Finding],
    args: &AuditArgs,
) {
    header(facts);
    let mut shown: Vec<(Outcome, &str)> = vec![
        (Outcome::Fail, "FAIL"),
        (Outcome::Conflict, "CONFLICT"),
        (Outcome::Warn, "WARN"),
    ];
    if args.all {
        shown.extend([
            (Outcome::Waived, "WAIVED"),
            (Outcome::Unknown, "UNKNOWN"),
            (Outcome::Pass, "PASS"),
            (Outcome::NotApplicable, "NOT APPLICABLE"),
        ]);
    } else {
        shown.push((Outcome::Waived, "WAIVED"));
    }
    for (outcome, word) in shown {
        for group in groups(findings, outcome) {
            print(catalogue, word, &group, args.all && outcome > Outcome::Warn);
        }
    }
    unknown(findings, args.all);
    totals(findings);
}

/// What host this is.
fn header(facts: &Facts) {
    let text = |class: &str, name: &str| {
        facts
            .plain(class, name)
            .map_or_else(|| "?".to_owned(), ToString::to_string)
    };
    let memory = facts.number("memory", "total_bytes").map_or_else(
        || "? GB".to_owned(),
        |bytes| format!("{:.0} GB", bytes / 1e9),
    );
    let release = match facts.plain("os", "name") {
        Some(name) => name.to_string(),
        None => format!(
            "{} ({})",
            text("os", "release"),
            text("os", "release_version")
        ),
    };
    ui::data(&format!(
        "{release}, kernel {}, cores {}, {memory}, virtualisation {}",
        text("os", "kernel"),
        text("host", "cores"),
        text("host", "virtualisation"),
    ));
    let roles: Vec<String> = facts
        .subjects("path")
        .into_iter()
        .map(|path| {
            let text = |name: &str| facts.text("path", path, name).unwrap_or_default();
            let presumed = if text("presumed").is_empty() {
                ""
            } else {
                " (presumed)"
            };
            {
                let on = Some(text("fstype")).filter(|kind| !kind.is_empty());
                let on = on.unwrap_or_else(|| "?".to_owned());
                format!("{} {} on {on}{presumed}", text("role"), text("path"))
            }
        })
        .collect();
    if roles.is_empty() {
        ui::data(
            "No path of SAS is known: say --role sasdata=PATH --role saswork=PATH, and what depends on it is judged.",
        );
    } else {
        ui::data(&format!("Paths: {}", roles.join("; ")));
    }
}

/// Findings of a result, those of one rule together, the worst first.
fn groups(findings: &[Finding], outcome: Outcome) -> Vec<Vec<&Finding>> {
    let mut by_rule: BTreeMap<(Severity, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.result == outcome) {
        by_rule
            .entry((finding.severity, finding.id.as_str()))
            .or_default()
            .push(finding);
    }
    by_rule.into_values().collect()
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "info",
    }
}

fn print(catalogue: &Catalogue, word: &str, group: &[&Finding], short: bool) {
    let Some(first) = group.first() else {
        return;
    };
    if short {
        let subjects: Vec<&str> = group
            .iter()
            .filter_map(|one| one.subject.as_deref())
            .collect();
        let because = first.evidence.last().map_or("", String::as_str);
        let subjects = subjects.join(", ");
        ui::data(&format!(
            "{word}  {}  {}  {subjects} {because}",
            first.id, first.title
        ));
        return;
    }
    ui::data("");
    let severity = severity(first.severity);
    ui::data(&format!(
        "{word}  {severity}  {}  {}",
        first.id, first.title
    ));
    for finding in group.iter().take(SUBJECTS_MAX) {
        subject(finding);
    }
    if let Some(more) = group
        .len()
        .checked_sub(SUBJECTS_MAX)
        .filter(|more| *more > 0)
    {
        ui::data(&format!("      and {more} more: gristmill audit --json"));
    }
    if group
        .iter()
        .any(|one| one.evidence.iter().any(|line| line == PRESUMED))
    {
        ui::data(&format!("      {PRESUMED}"));
    }
    ui::data(&format!("      Why: {}", first.why));
    let rule = catalogue.rules.get(&first.id);
    if let Some(modern) = rule.and_then(|rule| rule.modern.as_ref()) {
        ui::data(&format!("      Today: {modern}"));
    }
    if let Some(fix) = &first.fix {
        let place = Some(&fix.file).filter(|file| !file.is_empty());
        let place = place.map(|file| format!("{file}: ")).unwrap_or_default();
        let text = fix.text.trim().replace('\n', "\n           ");
        ui::data(&format!("      Do: {place}{text}"));
    }
}

/// What is so of one subject, and where that was found.
fn subject(finding: &Finding) {
    let subject = finding.subject.as_ref();
    let subject = subject
        .map(|subject| format!("{subject}: "))
        .unwrap_or_default();
    let expected = &finding.expected;
    ui::data(&match &finding.running {
        Some(running) if expected.is_empty() => format!("      {subject}{}", shortened(running)),
        Some(running) => {
            let running = amount(finding.fact.as_deref(), &shortened(running));
            format!("      {subject}is {running}; expected {expected}")
        }
        None => format!("      {subject}expected {expected}"),
    });
    for line in finding.evidence.iter().filter(|line| *line != PRESUMED) {
        ui::data(&format!("        {line}"));
    }
    if let Some(persisted) = &finding.persisted {
        ui::data(&format!("        at boot: {}", shortened(persisted)));
    }
}

/// Bytes of memory as people read them.
fn amount(fact: Option<&str>, running: &str) -> String {
    let bytes = fact.filter(|fact| fact.ends_with("_bytes"));
    match bytes.and_then(|_| running.parse::<f64>().ok()) {
        Some(bytes) if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        _ => running.to_owned(),
    }
}

/// Long lists of options say too much.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 100 {
        return text.to_owned();
    }
    let start: String = text.chars().take(97).collect();
    format!("{start}\u{2026}")
}

/// What could not be judged, and what would tell.
fn unknown(findings: &[Finding], all: bool) {
    if all {
        return;
    }
    let unknown = findings
        .iter()
        .filter(|finding| finding.result == Outcome::Unknown);
    let mut people = 0;
    let mut by_reason: BTreeMap<String, (Vec<String>, Vec<&str>)> = BTreeMap::new();
    for finding in unknown {
        let Some(fact) = &finding.fact else {
            people += 1;
            continue;
        };
        let because = finding.evidence.last().cloned().unwrap_or_default();
        let (class, name) = named(fact);
        let (reason, name) = if because.ends_with("was not found") {
            (class.clone(), name)
        } else {
            (because, String::new())
        };
        let (names, ids) = by_reason.entry(reason).or_default();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
        if !ids.contains(&finding.id.as_str()) {
            ids.push(&finding.id);
        }
    }
    ui::data("");
    if !by_reason.is_empty() {
        ui::data("Not known, and so not judged:");
    }
    for (reason, (names, ids)) in by_reason {
        let names = if names.is_empty() {
            String::new()
        } else {
            format!(" {}", names.join(", "))
        };
        let more = ids.len().saturating_sub(RULES_MAX);
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        let ids = ids[..ids.len().min(RULES_MAX)].join(" ");
        ui::data(&format!("      {reason}{names}  ({ids}{more})"));
        if let Some(hint) = hint(&reason) {
            ui::data(&format!("        {hint}"));
        }
    }
    if people > 0 {
        ui::data(&format!(
            "{people} questions that only people can answer: --all lists them."
        ));
    }
}

/// Class and name of a fact; subjects are many.
fn named(fact: &str) -> (String, String) {
    let class = fact.split(['[', '.']).next().unwrap_or_default();
    let name = match fact.rsplit_once("].") {
        Some((_, name)) => name,
        None => fact
            .strip_prefix(class)
            .unwrap_or(fact)
            .trim_start_matches('.'),
    };
    (class.to_owned(), name.to_owned())
}

/// Where a class of facts could come from.
fn hint(class: &str) -> Option<&'static str> {
    Some(match class {
        "sas" => {
            "--also sas-config=/path/to/sasv9_usermods.cfg, or --also sas-options=LOG of PROC OPTIONS"
        }
        "tuned" => "no profile of TuneD was found",
        "mount" => "sosreports lack read-ahead of NFS; --collect on the node has it",
        "gpfs-node" => {
            "run as root on the node, or --also mmdiag-config=FILE of mmdiag --config -Y"
        }
        "lustre" => "run as root on the node, or --also lctl=FILE of lctl get_param",
        "map" | "multipath" | "lv" => "run as root",
        _ => return None,
    })
}

fn totals(findings: &[Finding]) {
    let counts = super::counts(findings);
    let counts: Vec<String> = results::audit::RESULTS
        .iter()
        .map(|word| {
            format!(
                "{} {}",
                counts.get(word).copied().unwrap_or(0),
                word.replace('_', " ")
            )
        })
        .collect();
    ui::data("");
    ui::data(&format!(
        "{}. gristmill audit explain ID says more.",
        counts.join(", ")
    ));
}
