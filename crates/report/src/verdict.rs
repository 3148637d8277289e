//! The verdict as text.

use results::run::{Limit, Requirement, Verdict};
use results::verdict::{beside, figure};

use crate::audit;
use crate::table::wrapped;

/// The verdict, its two parts, and each requirement of the part that was judged with figure, limit, source
/// and date; of the other part the figures alone.
pub fn text(verdict: &Verdict) -> String {
    // One line, which scripts look for and terminals break themselves.
    let mut lines = vec![format!(
        "Verdict: {}: {}",
        word(&verdict.result),
        verdict.reason
    )];
    let parts = [
        ("Capability", &verdict.capability),
        ("Feeding", &verdict.feeding),
    ];
    for (name, part) in parts {
        let Some(part) = part.as_ref().filter(|_| !verdict.demonstration) else {
            continue;
        };
        lines.push(String::new());
        let is_judged = part.result == verdict.result && part.reason == verdict.reason;
        let id = name.to_ascii_lowercase();
        let of_part = |one: &&Requirement| one.part == id;
        if is_judged {
            // It gave the verdict its reason.
            lines.push(format!("{name}: {}", word(&part.result)));
            for one in verdict
                .requirements
                .iter()
                .filter(|one| of_part(one) || one.concerns_every_run())
            {
                lines.extend(requirement(one, verdict));
            }
        } else {
            lines.push(format!("{name}: {}: {}", word(&part.result), part.reason));
            let known = verdict
                .requirements
                .iter()
                .filter(|one| of_part(one) && !one.concerns_every_run());
            lines.extend(known.filter_map(|one| unjudged(one, verdict)));
        }
    }
    // Runs of earlier versions have requirements without parts.
    for one in verdict
        .requirements
        .iter()
        .filter(|one| one.part.is_empty())
    {
        lines.extend(requirement(one, verdict));
    }
    if let Some(limit) = &verdict.limited_by {
        lines.push(String::new());
        lines.extend(wrapped(&format!("Limited by: {}", limited_by(limit)), 100));
        lines.extend(relieving(limit));
    }
    if !verdict.thresholds.is_empty() && !verdict.demonstration {
        lines.push(format!("By: {}", verdict.thresholds));
    }
    lines.join("\n") + "\n"
}

/// `not_shown` as people write it.
pub fn word(result: &str) -> String {
    result.replace('_', " ")
}

fn title(one: &Requirement) -> &str {
    if one.title.is_empty() {
        &one.id
    } else {
        &one.title
    }
}

/// A figure that was measured and not judged; wanted and required ones on the same figure say it once.
fn unjudged(one: &Requirement, verdict: &Verdict) -> Option<String> {
    let said = one.is_wanted_too(&verdict.requirements);
    let value = one.value.filter(|_| !said)?;
    let unit = one.unit.split(',').next().unwrap_or_default();
    Some(format!(
        "  {:<12} {}: {} {unit}",
        "not judged",
        title(one),
        figure(value)
    ))
}

fn requirement(one: &Requirement, verdict: &Verdict) -> Vec<String> {
    let shown = |value: f64| beside(figure(value), value, one.threshold);
    let value = one.value.map_or_else(|| "not measured".to_owned(), shown);
    let relation = if one.relation == "at_most" {
        "at most"
    } else {
        "at least"
    };
    let limit = one.threshold.map_or("no limit set".to_owned(), |limit| {
        let level = if one.level.is_empty() {
            "required"
        } else {
            &one.level
        };
        format!("{level}: {relation} {limit}")
    });
    // A figure without a limit cannot be shown to meet one.
    let result = match (&*one.level, one.value) {
        ("reported", Some(_)) => "reported".to_owned(),
        _ => word(&one.result),
    };
    let mut lines = vec![format!(
        "  {:<12} {}: {value} ({limit})",
        result,
        title(one)
    )];
    let mut more = |text: String| {
        lines.extend(
            wrapped(&text, 84)
                .into_iter()
                .map(|line| format!("{:15}{line}", "")),
        );
    };
    let basis = one
        .basis
        .as_ref()
        .map_or(String::new(), |basis| format!("; {basis}"));
    if one.value.is_some() {
        more(format!("{}{basis}", one.unit));
    }
    // The reason of the whole verdict is not said again, nor what limited the whole run.
    if let Some(reason) = one
        .reason
        .as_ref()
        .filter(|reason| !verdict.reason.contains(&***reason))
    {
        more(reason.clone());
    }
    if let Some(limit) = one
        .limited_by
        .as_ref()
        .filter(|one| verdict.limited_by.as_ref() != Some(one))
    {
        more(format!("limited by: {}", limited_by(limit)));
    }
    let date = if one.date.is_empty() {
        String::new()
    } else {
        format!(" ({})", one.date)
    };
    more(format!("{}{date}", one.source));
    lines
}

/// Failing rules of the audit that relieve a limit.
fn relieving(limit: &Limit) -> Vec<String> {
    if limit.rules.is_empty() {
        return Vec::new();
    }
    let head = format!(
        "  failing rules of the audit that bear on {}:",
        limit.scarce.join(", ")
    );
    let rules = audit::relieving(&limit.rules).into_iter();
    let rules = rules.flat_map(|text| {
        let lines = wrapped(&text, 92).into_iter().enumerate();
        lines.map(|(at, line)| format!("    {}{line}", if at == 0 { "" } else { "  " }))
    });
    std::iter::once(head).chain(rules).collect()
}

pub(crate) fn limited_by(limit: &Limit) -> String {
    let kind = match &*limit.kind {
        "cpu" => "processors of",
        "job_class" => "jobs of class",
        kind => kind,
    };
    format!(
        "{kind} {}, {}; relief: {}",
        limit.name, limit.evidence, limit.relief
    )
}
