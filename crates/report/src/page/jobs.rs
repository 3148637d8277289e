//! Jobs: their bars on the time axis and their rows in the table.

use results::run::{EventKind, JobPlan, JobResult, name_in_batch};
use serde::Serialize;

use super::number::{rounded, rounded_to_ms};
use super::timeline::Timeline;
use super::{Run, StepLine};

/// A job on the time axis, with what a look at it shows.
#[derive(Debug, Serialize)]
pub(super) struct Bar {
    name: String,
    batch: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<String>,
    /// Seconds since the first launch; absent if it was never launched.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_s: Option<f64>,
    /// Absent if it did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_s: Option<f64>,
    state: State,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_s: Option<f64>,
    /// Launched so long after it was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    late_s: Option<f64>,
    /// How many steps it has.
    steps_in_all: usize,
    steps: Vec<Step>,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Good,
    Unchecked,
    Wrong,
    Errors,
    Signal,
    Unfinished,
}

impl State {
    pub(super) fn of(job: &JobResult) -> Self {
        match (job.exit, job.verified) {
            (None, _) if job.real_s.is_some() => Self::Signal,
            (None, _) => Self::Unfinished,
            (Some(2..), _) => Self::Errors,
            (_, Some(true)) => Self::Good,
            (_, Some(false)) => Self::Wrong,
            (_, None) => Self::Unchecked,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Good => "verified",
            Self::Unchecked => "not checked",
            Self::Wrong => "output wrong",
            Self::Errors => "ended with errors",
            Self::Signal => "ended by a signal",
            Self::Unfinished => "did not finish",
        }
    }

    /// Whether somebody has to look at it.
    pub(super) const fn bad(self) -> bool {
        !matches!(self, Self::Good | Self::Unchecked)
    }
}

/// A step of a job on the time axis, or neighbouring ones together.
#[derive(Debug, Serialize)]
struct Step {
    name: String,
    number: String,
    /// Seconds since the first launch; absent if the launch is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_s: Option<f64>,
    real_s: f64,
    cpu_s: f64,
    /// Slept because the program said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    sleep_s: Option<f64>,
    /// Bytes read and written by channel.
    bytes: Vec<(String, u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written_rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    warnings: u64,
    #[serde(skip_serializing_if = "is_zero")]
    errors: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// All jobs in the order of the plan.
pub(super) fn bars(run: &Run, timeline: &Timeline) -> Vec<Bar> {
    run.result
        .jobs
        .iter()
        .map(|job| bar(run, timeline, job))
        .collect()
}

/// The plan of a job, which every batch has.
fn plan<'a>(run: &'a Run, job: &JobResult) -> Option<&'a JobPlan> {
    run.plan.jobs.iter().find(|plan| plan.name == job.name)
}

/// What went wrong with a job, a sentence each.
fn findings(job: &JobResult) -> Vec<String> {
    job.error.iter().chain(&job.findings).cloned().collect()
}

fn bar(run: &Run, timeline: &Timeline, job: &JobResult) -> Bar {
    let name = name_in_batch(&job.name, job.batch);
    let launch = run
        .events
        .iter()
        .find(|event| event.event == EventKind::JobLaunched && event.job.as_ref() == Some(&name));
    let start_s = job
        .launched_s
        .or_else(|| launch.map(|event| event.at_s - timeline.origin_s));
    let end_s = start_s.zip(job.real_s).map(|(start, real)| start + real);
    let steps = run.steps.get(&name).map_or(&[][..], Vec::as_slice);
    // Steps know the wall clock only: they are placed by the launch, within the job.
    let place = |line: &StepLine| {
        let step = &line.record;
        let (start, launch) = start_s.zip(launch)?;
        let last = end_s.unwrap_or(timeline.end_s);
        let end = (start + step.ended_unix_s? - launch.unix_s).clamp(start, last.max(start));
        Some(rounded_to_ms((end - step.real_s).max(start)))
    };
    let plan = plan(run, job);
    Bar {
        name: job.name.clone(),
        batch: job.batch,
        class: plan.and_then(|plan| plan.class.clone()),
        persona: plan.and_then(|plan| plan.persona.clone()),
        start_s: start_s.map(rounded_to_ms),
        end_s: end_s.map(rounded_to_ms),
        state: State::of(job),
        findings: findings(job),
        cpu_s: job.user_s.zip(job.system_s).map(|(u, s)| rounded(u + s)),
        late_s: job.late_s.map(rounded),
        steps_in_all: steps.iter().map(|line| line.count).sum(),
        steps: steps.iter().map(|line| step(line, place(line))).collect(),
    }
}

fn step(line: &StepLine, start_s: Option<f64>) -> Step {
    let record = &line.record;
    Step {
        name: line.name(),
        number: line.number(),
        start_s,
        real_s: rounded(record.real_s),
        cpu_s: rounded(record.cpu_s()),
        sleep_s: record.sleep_s.filter(|slept| *slept > 0.0).map(rounded),
        bytes: record
            .channels
            .iter()
            .map(|(name, channel)| (name.clone(), channel.read_bytes, channel.write_bytes))
            .collect(),
        read_rows: record.observations_read,
        written_rows: record.observations_written,
        memory_bytes: record.memory_bytes,
        warnings: record.warnings,
        errors: record.errors,
    }
}

/// The table of jobs.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    rows: Vec<Row>,
    classes: Vec<String>,
    personas: Vec<String>,
    /// Jobs that somebody has to look at.
    bad: usize,
    /// Several batches.
    batches: bool,
    /// Some job sorted.
    sorts: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    index: usize,
    batch: u32,
    class: String,
    persona: String,
    state: State,
    words: &'static str,
    bad: bool,
    findings: Vec<String>,
    /// Launched, real, user, system, CPU/real, read, written, rate, from devices, as in the heading.
    numbers: [Option<f64>; 9],
    sort_runs: u64,
}

pub(super) fn table(run: &Run) -> Table {
    let rows: Vec<Row> = run
        .result
        .jobs
        .iter()
        .enumerate()
        .map(|(index, job)| row(index, job, plan(run, job)))
        .collect();
    let distinct = |of: fn(&Row) -> &String| {
        let mut all: Vec<String> = rows
            .iter()
            .map(of)
            .filter(|v| !v.is_empty())
            .cloned()
            .collect();
        all.sort();
        all.dedup();
        all
    };
    Table {
        classes: distinct(|row| &row.class),
        personas: distinct(|row| &row.persona),
        bad: rows.iter().filter(|row| row.bad).count(),
        batches: rows.iter().any(|row| row.batch > 1),
        sorts: rows.iter().any(|row| row.sort_runs > 0),
        rows,
    }
}

fn row(index: usize, job: &JobResult, plan: Option<&JobPlan>) -> Row {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let real = job.real_s.filter(|real| *real > 0.0);
    let cpu = job
        .user_s
        .zip(job.system_s)
        .map(|(user, system)| user + system);
    let moved = job
        .read_bytes
        .zip(job.write_bytes)
        .map(|(read, write)| read + write);
    let state = State::of(job);
    Row {
        name: job.name.clone(),
        index,
        batch: job.batch,
        class: plan.and_then(|plan| plan.class.clone()).unwrap_or_default(),
        persona: plan
            .and_then(|plan| plan.persona.clone())
            .unwrap_or_default(),
        state,
        words: state.words(),
        bad: state.bad(),
        findings: findings(job),
        numbers: [
            job.launched_s,
            job.real_s,
            job.user_s,
            job.system_s,
            cpu.zip(real).map(|(cpu, real)| cpu / real),
            job.read_bytes.map(megabytes),
            job.write_bytes.map(megabytes),
            moved.zip(real).map(|(bytes, real)| megabytes(bytes) / real),
            job.device_read_bytes.map(megabytes),
        ],
        sort_runs: job.sort_runs,
    }
}
