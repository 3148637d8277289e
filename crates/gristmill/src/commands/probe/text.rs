//! What `gristmill probe` prints.

use std::fmt::Write as _;

use anyhow::Result;
use probe::probe::{Absent, Experiment, Outcome, Report, Said};
use report::table::wrapped;
use serde_json::json;

/// Characters of a line.
const WIDTH: usize = 110;

/// So many experiments are read from the beginning to the end.
const FEW: usize = 2;

/// The experiments.
pub(super) fn list(experiments: &[&Experiment], as_json: bool) -> Result<String> {
    if as_json {
        let all = experiments.iter().map(|one| {
            json!({
                "id": one.id, "title": one.title, "shows": one.shows, "why": one.why, "papers": one.papers,
                "needs": one.needs,
            })
        });
        return Ok(serde_json::to_string(&all.collect::<Vec<_>>())?);
    }
    let mut out = String::new();
    for one in experiments {
        let _ = writeln!(out, "{}: {}", one.id, one.title);
        texts(one.shows, one.why, one.papers, &mut out);
        if !one.needs.is_empty() {
            paragraph("needs", one.needs, &mut out);
        }
        out.push('\n');
    }
    Ok(out.trim_end().to_owned())
}

/// For programs.
pub(super) fn json(outcome: &Outcome) -> Result<String> {
    let all: Vec<_> = outcome
        .experiments
        .iter()
        .flat_map(|one| &one.measurements)
        .collect();
    Ok(serde_json::to_string(&json!({
        "measurements": all,
        "physical_reads": outcome.physical_reads,
        "experiments": outcome.experiments,
    }))?)
}

/// For people.
pub(super) fn table(outcome: &Outcome) -> String {
    let mut out = format!("Physical reads: {}\n", outcome.physical_reads);
    for one in &outcome.experiments {
        experiment(one, &mut out);
    }
    if outcome.experiments.len() > FEW {
        in_short(outcome, &mut out);
    }
    let wrong = outcome
        .experiments
        .iter()
        .filter(|one| !one.wrong.is_empty());
    let wrong: Vec<&str> = wrong.map(|one| one.id).collect();
    if !wrong.is_empty() {
        let _ = writeln!(out, "\nSOMETHING IS WRONG: see {}", wrong.join(", "));
    }
    out.trim_end().to_owned()
}

/// What the figures of all experiments say, once more: nobody in a hurry reads all that is above.
fn in_short(outcome: &Outcome, out: &mut String) {
    out.push_str("\nIn short\n");
    for one in &outcome.experiments {
        let texts = one.wrong.iter().chain(&one.interpretation);
        let mut texts: Vec<String> = texts.cloned().collect();
        if let (true, Some(absent)) = (one.measurements.is_empty(), one.absent.first()) {
            texts.push(format!("not measured: {}", absent.why));
        }
        if texts.is_empty() {
            texts.push("nothing that its figures do not say above".to_owned());
        }
        let mut word = one.id;
        for line in texts.iter().flat_map(|text| wrapped(text, WIDTH - 13)) {
            let _ = writeln!(out, "  {word:<10} {line}");
            word = "";
        }
    }
}

fn experiment(report: &Report, out: &mut String) {
    let _ = writeln!(
        out,
        "\n{}: {} ({:.1} s)",
        report.id, report.title, report.elapsed_s
    );
    texts(report.shows, report.why, report.papers, out);
    if !report.measurements.is_empty() {
        out.push('\n');
    }
    // The heading says whose they are.
    let named = |name: &'_ str| -> String {
        let id = format!("{}_", report.id);
        name.strip_prefix(&id).unwrap_or(name).to_owned()
    };
    let names = report.measurements.iter().map(|one| named(&one.name).len());
    let width = names.max().unwrap_or(0);
    for one in &report.measurements {
        let unit = if one.unit == "yes=1" { "" } else { &one.unit };
        let value = match (one.unit.as_str(), one.value) {
            ("yes=1", value) => if value > 0.5 { "yes" } else { "no" }.to_owned(),
            (_, value) => number(value),
        };
        let lead = format!("  {:<width$} {value:>9} {unit:<7} ", named(&one.name));
        let room = WIDTH.saturating_sub(lead.chars().count()).max(40);
        for (line, text) in wrapped(&one.detail, room).iter().enumerate() {
            let blank = " ".repeat(lead.chars().count());
            let lead = if line == 0 { &lead } else { &blank };
            let _ = writeln!(out, "{lead}{text}");
        }
    }
    for (at, one) in report.absent.iter().enumerate() {
        let is_told = |other: &&Absent| other.why == one.why;
        if report.absent[..at].iter().any(|other| is_told(&other)) {
            continue;
        }
        let all = report.absent.iter().filter(is_told);
        let names: Vec<String> = all.map(|one| named(&one.name)).collect();
        let text = format!("not measured: {}: {}", names.join(", "), one.why);
        paragraph("", &text, out);
    }
    if !report.interpretation.is_empty() || !report.wrong.is_empty() {
        out.push('\n');
    }
    for text in &report.wrong {
        paragraph("WRONG", text, out);
    }
    for text in &report.interpretation {
        paragraph("=>", text, out);
    }
}

fn texts(shows: &str, why: &str, papers: &[Said], out: &mut String) {
    paragraph("shows", shows, out);
    paragraph("why", why, out);
    for said in papers {
        paragraph("papers", &format!("{} [{}]", said.says, said.paper), out);
    }
}

/// A text behind a word, indented.
fn paragraph(word: &str, text: &str, out: &mut String) {
    for (line, text) in wrapped(text, WIDTH - 9).iter().enumerate() {
        let word = if line == 0 { word } else { "" };
        let _ = writeln!(out, "  {word:<6} {text}");
    }
}

/// As many digits as a median of a few figures deserves.
fn number(value: f64) -> String {
    match value.abs() {
        v if v < f64::EPSILON => "0".to_owned(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
