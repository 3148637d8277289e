//! Reports for a terminal: readable without colour, the verdict first.

use base::units::Bytes;
use results::compare::Comparison;
use results::reference::{Document, discrepancies};
use results::run::{RunPlan, RunResult};
use results::sample::Sample;
use results::table::Table;
use results::tables;

use crate::table::{add, wrapped};
use crate::{audit, measured, table, verdict};

/// Rows of a series over time that a terminal has room for.
const SERIES_ROWS: usize = 24;

/// Files whose sizes are listed in a terminal; of more, CSV, JSON and the page have them.
const SIZES_ROWS: usize = 30;

/// A run: verdict, what was run, tables.
pub fn run(plan: &RunPlan, result: &RunResult, samples: &[(String, Vec<Sample>)]) -> String {
    let mut out = verdict::text(&result.verdict);
    out.push('\n');
    out.push_str(&heading(plan));
    let mut all = tables::of_run(plan, result, &[]);
    // Jobs are listed in full already, and sums of one run stand among its totals.
    let several = result
        .jobs
        .iter()
        .any(|job| job.node != plan.node || job.batch > 1);
    all.retain(|table| match &*table.id {
        // The audit has a form of its own here.
        "job-runtimes" | "wall-and-system" | "audit" => false,
        "scalability" | "slowest-per-node" => several,
        "sizes" => table.rows.len() <= SIZES_ROWS,
        _ => true,
    });
    all.extend(tables::throughput_rows(samples, SERIES_ROWS));
    for table in &all {
        out.push('\n');
        out.push_str(&table::text(table));
    }
    let audits = audit::text(&result.audits);
    if !audits.is_empty() {
        out.push('\n');
        out.push_str(&audits);
    }
    let measured = measured::lines(result);
    if !measured.is_empty() {
        out.push('\n');
        out.push_str(&measured);
    }
    out
}

/// Runs side by side.
pub fn comparison(comparison: &Comparison, tables: &[Table]) -> String {
    let mut out = String::new();
    for (at, side) in comparison.sides.iter().enumerate() {
        let base = if at == 0 { "base  " } else { "      " };
        let repeats = match side.repeats {
            1 => "measured once".to_owned(),
            repeats => format!("measured {repeats} times"),
        };
        add(
            &mut out,
            &format!("{base}{}: {}, {repeats}", side.label, side.title),
        );
        if let Some(source) = &side.source {
            add(&mut out, &format!("        {source}"));
        }
    }
    let mut list = |title: &str, texts: &[String]| {
        if texts.is_empty() {
            return;
        }
        add(&mut out, &format!("\n{title}"));
        for text in texts {
            for (at, line) in wrapped(text, 94).into_iter().enumerate() {
                let mark = if at == 0 { "- " } else { "  " };
                add(&mut out, &format!("  {mark}{line}"));
            }
        }
    };
    list("Findings", &comparison.statements);
    list("To be taken with care", &comparison.differences);
    for table in tables {
        out.push('\n');
        out.push_str(&table::text(table));
    }
    out
}

/// A paper's own tables.
pub fn paper(document: &Document) -> String {
    let mut out = format!("{}\n", document.name());
    for table in tables::of_paper(document) {
        if table.id != "contradictions" {
            out.push('\n');
            out.push_str(&table::text(&table));
        }
    }
    let found = discrepancies();
    let found = found.iter().filter(|one| one.document == document.id);
    for (at, one) in found.enumerate() {
        if at == 0 {
            add(&mut out, "\nWhere the paper contradicts itself");
        }
        let text = format!(
            "{}, {}: printed {}, but {} ({})",
            one.place, one.what, one.printed, one.found, one.why
        );
        for (at, line) in wrapped(&text, 94).iter().enumerate() {
            let mark = if at == 0 { "- " } else { "  " };
            add(&mut out, &format!("  {mark}{line}"));
        }
    }
    if !document.statements.is_empty() {
        out.push_str("\nWhat the text says of its figures\n");
    }
    for one in &document.statements {
        add(
            &mut out,
            &format!(
                "  {}: {}, factor {}: \"{}\"",
                one.place, one.what, one.factor, one.says
            ),
        );
    }
    out
}

fn heading(plan: &RunPlan) -> String {
    let staged = plan
        .staged_bytes
        .unwrap_or_else(|| plan.jobs.iter().map(|job| job.input_bytes).sum());
    let mut out = format!("Suite {} on {} ({})\n", plan.suite, plan.place(), plan.run);
    let mut line = |text: &str| {
        for line in wrapped(text, 98) {
            add(&mut out, &format!("  {line}"));
        }
    };
    line(&format!(
        "{}, {} of input, {} ({}), memory {}; {}",
        counted(plan.jobs.len() as u64, "job"),
        Bytes(staged),
        counted(u64::from(plan.cores), "core"),
        plan.cores_basis,
        Bytes(plan.memory_bytes),
        plan.scale_reason,
    ));
    line(if plan.qualifying {
        "qualifying run: all files together are at least three times the memory"
    } else {
        "not a qualifying run: all files together are less than three times the memory"
    });
    match plan.pace.as_deref() {
        _ if plan.sas.is_some() => line("the programs run under a licensed SAS, at its own pace"),
        None | Some("none") => {
            line("not paced, a stress test: programs compute as fast as this engine can");
        }
        Some(pace) => line(&format!("paced: {pace}{}", pacing(plan))),
    }
    if !plan.labels.is_empty() {
        let labels = plan.labels.iter();
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        line(&format!("labels: {}", labels.join(", ")));
    }
    for note in &plan.notes {
        line(note);
    }
    out
}

/// How a run's steps keep their pace.
fn pacing(plan: &RunPlan) -> String {
    let Some(pacing) = &plan.pacing else {
        return String::new();
    };
    let how = match pacing.by.as_str() {
        "sleep" => "by waiting, which counts as user CPU time of the jobs",
        _ => "by computing",
    };
    let file = pacing.file.as_ref();
    let from = file.map_or(String::new(), |file| format!(", {}", file.display()));
    format!(
        ", {how}; table of {}: {}{from}",
        pacing.table_date, pacing.table
    )
}

/// `1 job`, `2 jobs`.
fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A figure, or a dash where nothing was measured.
pub(crate) fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}
