//! What a run would do, as text and as JSON.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use base::units::Bytes;
use bench::plan::{Plan, PlannedJob};
use bench::run::{Directories, Pace};
use results::run::PacingRecord;
use serde::Serialize;

use crate::cli::RunArgs;
use crate::ui;

/// So many jobs that start alike and read the same have one line.
const MANY: usize = 10;

/// What else is told of a run beside its plan.
struct Asked<'a> {
    directories: &'a Directories,
    pace: Option<&'a Pace>,
    /// A licensed SAS.
    sas: Option<&'a Path>,
    /// Jobs are ended after so long.
    wall_limit: Option<Duration>,
    /// Batches follow each other until so long is over.
    duration: Option<Duration>,
}

/// Prints the plan.
pub fn tell(
    args: &RunArgs,
    plan: &Plan,
    directories: &Directories,
    pace: Option<&Pace>,
) -> Result<()> {
    let asked = Asked {
        directories,
        pace,
        sas: args.engine.0.as_deref(),
        wall_limit: args.wall_limit,
        duration: args.duration,
    };
    ui::data(&if args.json {
        json(plan, &asked)?
    } else {
        describe(plan, &asked)
    });
    Ok(())
}

/// The plan as text.
fn describe(plan: &Plan, asked: &Asked<'_>) -> String {
    let at_once = plan.concurrency.map_or(String::new(), |count| {
        format!(", no more than {count} at once")
    });
    let qualifying = if plan.qualifying {
        "yes"
    } else {
        "no, all files together are less than 3 x memory"
    };
    let mut lines = vec![
        format!(
            "Suite {} at scale {:.6} ({})",
            plan.suite, plan.scale, plan.scale_reason
        ),
        format!(
            "  {} jobs on {} cores{at_once}, memory {}",
            plan.jobs.len(),
            plan.cores,
            plan.memory
        ),
        format!("  qualifying: {qualifying}"),
    ];
    lines.extend(filled(plan, asked.directories).iter().filter_map(|place| {
        let when = match place.name {
            "data" => "",
            "runs" if place.bytes == 0 => return None,
            "runs" => " of logs and records, each batch",
            _ => " at the peak",
        };
        let (path, bytes) = (place.path.display(), Bytes(place.bytes));
        Some(format!("  {:<7} {path}  {bytes}{when}", place.name))
    }));
    let limits = [
        ("each job is ended after", asked.wall_limit),
        ("batches follow each other for", asked.duration),
    ];
    lines.extend(limits.into_iter().filter_map(|(what, time)| {
        let seconds = time?.as_secs_f64();
        Some(format!("  {what} {seconds:.0} s"))
    }));
    lines.push(match (asked.sas, asked.pace) {
        (Some(sas), _) => format!("  programs run under a licensed SAS, {}", sas.display()),
        (None, Some(pace)) => format!("  {}", pace_line(pace)),
        (None, None) => "  not paced: programs compute as fast as this engine can".to_owned(),
    });
    lines.extend(duration_estimate(plan).map(|line| format!("  {line}")));
    lines.extend(plan.notes.iter().map(|note| format!("  {note}")));
    lines.push(format!("  options {}", options_text(&plan.options)));
    lines.extend(job_lines(plan));
    lines.join("\n")
}

/// A directory, and what the run puts there.
#[derive(Serialize)]
struct Filled<'a> {
    name: &'static str,
    path: &'a Path,
    /// At the peak.
    bytes: u64,
}

fn filled<'a>(plan: &Plan, directories: &'a Directories) -> [Filled<'a>; 5] {
    let input = plan.input_bytes();
    let at = |name, path, bytes: Bytes| Filled {
        name,
        path,
        bytes: bytes.0,
    };
    [
        at("data", &directories.data, input),
        at("util", &directories.util, plan.space.util.at(input)),
        at("output", &directories.output, plan.space.output.at(input)),
        at("work", &directories.work, plan.space.work.at(input)),
        at("runs", &directories.runs, plan.space.runs.at(input)),
    ]
}

/// The plan as `--json` has it.
#[derive(Serialize)]
struct Planned<'a> {
    suite: &'a str,
    scale: f64,
    scale_reason: &'a str,
    time_scale: f64,
    demonstration: bool,
    qualifying: bool,
    cores: u32,
    memory_bytes: u64,
    concurrency: Option<usize>,
    verify: &'static str,
    directories: [Filled<'a>; 5],
    wall_limit_s: Option<f64>,
    duration_s: Option<f64>,
    /// What all jobs move, if the suite says so.
    expected_bytes: Option<u64>,
    sas: Option<&'a Path>,
    pace: Option<&'a PacingRecord>,
    options: &'a BTreeMap<String, String>,
    notes: &'a [String],
    datasets: Vec<Dataset<'a>>,
    jobs: Vec<Job<'a>>,
}

#[derive(Serialize)]
struct Dataset<'a> {
    name: &'a str,
    /// Batches side by side have data of their own.
    batch: u32,
    rows: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Job<'a> {
    name: &'a str,
    batch: u32,
    class: Option<&'a str>,
    persona: Option<&'a str>,
    offset_s: f64,
    follows: Option<&'a str>,
    inputs: Vec<&'a str>,
    input_bytes: u64,
    options: &'a BTreeMap<String, String>,
}

/// The plan as JSON.
fn json(plan: &Plan, asked: &Asked<'_>) -> serde_json::Result<String> {
    let datasets = plan.datasets.iter().map(|set| Dataset {
        name: &set.name,
        batch: set.lane,
        rows: set.rows,
        bytes: set.bytes().0,
    });
    let jobs = plan.jobs.iter().map(|job| Job {
        name: &job.name,
        batch: job.lane,
        class: job.class.as_deref(),
        persona: job.persona.as_deref(),
        offset_s: job.offset_s,
        follows: job.follows.map(|before| plan.jobs[before].name.as_str()),
        inputs: inputs(plan, job),
        input_bytes: plan.inputs_of(job).0,
        options: &job.options,
    });
    serde_json::to_string(&Planned {
        suite: &plan.suite,
        scale: plan.scale,
        scale_reason: &plan.scale_reason,
        time_scale: plan.time_scale,
        demonstration: plan.demonstration,
        qualifying: plan.qualifying,
        cores: plan.cores,
        memory_bytes: plan.memory.0,
        concurrency: plan.concurrency,
        verify: plan.verify.name(),
        directories: filled(plan, asked.directories),
        wall_limit_s: asked.wall_limit.map(|time| time.as_secs_f64()),
        duration_s: asked.duration.map(|time| time.as_secs_f64()),
        expected_bytes: plan.expected().map(|bytes| bytes.0),
        sas: asked.sas,
        pace: asked
            .pace
            .filter(|_| asked.sas.is_none())
            .map(|pace| &pace.record),
        options: &plan.options,
        notes: &plan.notes,
        datasets: datasets.collect(),
        jobs: jobs.collect(),
    })
}

/// The names of the data that a job reads.
fn inputs<'a>(plan: &'a Plan, job: &PlannedJob) -> Vec<&'a str> {
    let places = job.inputs.iter();
    places.map(|at| plan.datasets[*at].name.as_str()).collect()
}

/// A line for each job; many alike that follow each other have one together.
fn job_lines(plan: &Plan) -> Vec<String> {
    let jobs: Vec<(&str, String)> = plan
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), start_and_inputs(plan, job)))
        .collect();
    let mut lines: Vec<(String, &str)> = Vec::new();
    for alike in jobs.chunk_by(|one, other| one.1 == other.1) {
        match alike {
            [(first, what), .., (last, _)] if alike.len() >= MANY => {
                let name = format!("{first} to {last}, {} jobs", alike.len());
                lines.push((name, what));
            }
            _ => lines.extend(
                alike
                    .iter()
                    .map(|(name, what)| ((*name).to_owned(), what.as_str())),
            ),
        }
    }
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines
        .into_iter()
        .map(|(name, what)| format!("  job {name:<width$}  {what}"))
        .collect()
}

fn start_and_inputs(plan: &Plan, job: &PlannedJob) -> String {
    let inputs = inputs(plan, job);
    let start = match job.follows {
        Some(before) => format!("after {}", plan.jobs[before].name),
        None => format!("at {:.2} s", job.offset_s),
    };
    let read = match inputs.len() {
        0 => "no staged input".to_owned(),
        1..=4 => format!("{} ({})", inputs.join(", "), plan.inputs_of(job)),
        count => format!("{count} inputs ({})", plan.inputs_of(job)),
    };
    let own = options_text(&job.options);
    format!("{start:<12}  {read}  {own}").trim_end().to_owned()
}

fn pace_line(pace: &Pace) -> String {
    let record = &pace.record;
    let how = match record.by.as_str() {
        "sleep" => "waiting",
        _ => "computing",
    };
    format!(
        "paced: {} times the CPU time that the table of {} gives for each step, by {how} ({})",
        record.factor, record.table_date, record.table
    )
}

fn options_text(options: &BTreeMap<String, String>) -> String {
    let options = options.iter().map(|(name, value)| {
        if value.is_empty() {
            name.clone()
        } else {
            format!("{name}={value}")
        }
    });
    options.collect::<Vec<_>>().join(" ")
}

/// A range, from the throughput that SAS asks of storage to five times as much; nothing if the suite
/// does not say what its jobs move.
fn duration_estimate(plan: &Plan) -> Option<String> {
    let moved = plan.expected()?;
    let at =
        |mb_per_s_per_core: f64| moved.0 as f64 / (mb_per_s_per_core * 1e6 * f64::from(plan.cores));
    Some(format!(
        "bytes to move: {moved}, {:.0} s at 100 MB/s per core, {:.0} s at 500 MB/s per core; staging and \
         verification come on top",
        at(100.0),
        at(500.0)
    ))
}
