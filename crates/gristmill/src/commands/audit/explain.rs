//! `gristmill audit explain ID`.

use anyhow::Result;
use host::audit::catalogue::Catalogue;
use host::audit::rule::{Bottleneck, Fix, Origin, Rule, Severity, Status};
use serde::Serialize;

use crate::exit::{Exit, usage};
use crate::ui;

/// Prints a rule: what, why, who says so, what it is today, how it is mended, what that risks.
pub(super) fn run(catalogue: &Catalogue, id: &str, json: bool) -> Result<Exit> {
    let id = id.to_uppercase();
    let Some(rule) = catalogue.rules.get(&id) else {
        let start = id.split('-').next().unwrap_or_default();
        let near: Vec<&str> = catalogue
            .rules
            .keys()
            .filter(|known| known.starts_with(start))
            .map(String::as_str)
            .collect();
        if near.is_empty() {
            usage!("there is no rule {id}: docs/reference/rules.md lists them, such as NFS-112");
        }
        usage!(
            "there is no rule {id}; of {start} there are: {}",
            near.join(" ")
        );
    };
    if json {
        ui::data(&serde_json::to_string(&Explained::of(catalogue, rule))?);
        return Ok(Exit::Good);
    }
    for line in lines(catalogue, rule) {
        ui::data(&line);
    }
    Ok(Exit::Good)
}

/// A rule as `--json` has it.
#[derive(Serialize)]
struct Explained<'a> {
    id: &'a str,
    title: &'a str,
    severity: Severity,
    status: Status,
    origin: Origin,
    why: &'a str,
    /// What the advice is today.
    modern: Option<&'a str>,
    /// The fact that it judges.
    fact: &'a str,
    /// What a run can be short of that it relieves.
    relieves: &'a [Bottleneck],
    risk: Option<&'a str>,
    fix: Option<&'a Fix>,
    sources: Vec<Said<'a>>,
}

/// Where it is said.
#[derive(Serialize)]
struct Said<'a> {
    title: &'a str,
    section: &'a str,
    quote: Option<&'a str>,
    url: Option<&'a str>,
}

impl<'a> Explained<'a> {
    fn of(catalogue: &'a Catalogue, rule: &'a Rule) -> Self {
        let sources = rule.source.iter().map(|source| {
            let document = catalogue.documents.get(&source.document);
            Said {
                title: document.map_or(&source.document, |document| &document.title),
                section: &source.section,
                quote: source.quote.as_deref(),
                url: document.and_then(|document| document.url.as_deref()),
            }
        });
        Self {
            id: &rule.id,
            title: &rule.title,
            severity: rule.severity,
            status: rule.status,
            origin: rule.origin,
            why: &rule.why,
            modern: rule.modern.as_deref(),
            fact: &rule.check.fact,
            relieves: rule.bottleneck.as_deref().unwrap_or_default(),
            risk: rule.risk.as_deref(),
            fix: rule.fix.as_ref(),
            sources: sources.collect(),
        }
    }
}

fn lines(catalogue: &Catalogue, rule: &Rule) -> Vec<String> {
    let mut lines = vec![
        format!("{}  {}", rule.id, rule.title),
        String::new(),
        format!(
            "  severity   {}, {}",
            word(&rule.severity),
            match rule.status {
                Status::Current => "holds as it is written",
                Status::Adapt => "the intent holds; names or values have changed",
                Status::Context => "depends on what the host does",
                Status::Obsolete => "obsolete: reported, never a failure",
                Status::Dangerous => "dangerous: the audit asks for the opposite of the quote",
            }
        ),
        format!("  why        {}", rule.why),
    ];
    if let Some(modern) = &rule.modern {
        lines.push(format!("  today      {modern}"));
    }
    if !rule.check.fact.is_empty() {
        lines.push(format!("  looks at   {}", rule.check.fact));
    }
    let relieves = rule.bottleneck.iter().flatten();
    let relieves: Vec<&str> = relieves.map(|one| one.name()).collect();
    if !relieves.is_empty() {
        lines.push(format!("  relieves   {}", relieves.join(", ")));
    }
    if let Some(risk) = &rule.risk {
        lines.push(format!("  risk       {risk}"));
    }
    if let Some(fix) = &rule.fix {
        lines.push(
            format!("  fix        {} {}", fix.kind, fix.file)
                .trim_end()
                .to_owned(),
        );
        lines.extend(
            fix.text
                .trim_end()
                .lines()
                .map(|line| format!("               {line}")),
        );
    }
    lines.push(String::new());
    for source in &rule.source {
        let document = catalogue.documents.get(&source.document);
        let title = document.map_or(source.document.as_str(), |document| document.title.as_str());
        let by = if rule.origin == Origin::Derived {
            "after"
        } else {
            "from"
        };
        lines.push(format!("  {by} {title}"));
        if !source.section.is_empty() {
            lines.push(format!("       {}", source.section));
        }
        if let Some(quote) = &source.quote {
            lines.push(format!("       \u{201c}{quote}\u{201d}"));
        }
        if let Some(url) = document.and_then(|document| document.url.as_ref()) {
            lines.push(format!("       {url}"));
        }
    }
    lines
}

fn word(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.trim_matches('"').to_owned()
}
