//! `gristmill audit explain ID`.

use anyhow::Result;
use host::audit::catalogue::Catalogue;
use host::audit::rule::{Origin, Rule, Status};

use crate::exit::{Exit, usage};
use crate::ui;

/// Prints a rule: what, why, who says so, what it is today, how it is mended, what that risks.
pub(super) fn run(catalogue: &Catalogue, id: &str) -> Result<Exit> {
    let id = id.to_uppercase();
    let Some(rule) = catalogue.rules.get(&id) else {
        let start = id.split('-').next().unwrap_or_default();
        let near: Vec<&str> = catalogue
            .rules
            .keys()
            .filter(|known| known.starts_with(start))
            .map(String::as_str)
            .collect();
        usage!(
            "there is no rule {id}; of {start} there are: {}",
            near.join(" ")
        );
    };
    for line in lines(catalogue, rule) {
        ui::data(&line);
    }
    Ok(Exit::Good)
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
