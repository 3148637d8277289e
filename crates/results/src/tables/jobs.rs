//! Tables with a row for each job.

use std::collections::BTreeMap;

use crate::run::{JobResult, RunResult, name_in_batch};
use crate::subject::{Subject, cpu_real};
use crate::table::{Cell, Column, Table, Unit};

/// From this on times are printed as h:mm:ss, below with hundredths.
const LONG_S: f64 = 600.0;

/// How elapsed times of some runs are printed: as the papers do unless all are short.
pub(crate) fn time_unit(longest: impl IntoIterator<Item = Option<f64>>) -> Unit {
    let long = longest.into_iter().flatten().any(|real_s| real_s >= LONG_S);
    if long {
        Unit::HoursMinutesSeconds
    } else {
        Unit::Seconds
    }
}

/// Elapsed time of each job, runs side by side, with sum and mean (Isilon, Table 1).
pub fn job_runtimes(subjects: &[Subject]) -> Option<Table> {
    let shown: Vec<&Subject> = subjects.iter().filter(|one| !one.jobs.is_empty()).collect();
    let first = shown.first()?;
    let mut table = Table::new(
        "job-runtimes",
        "Elapsed time by job",
        &[("Job", Unit::Text)],
    )
    .in_form("Isilon, Table 1");
    for subject in &shown {
        let unit = time_unit([subject.figures.real_max_s]);
        table.columns.push(Column::new(&*subject.name, unit));
    }
    let maps: Vec<BTreeMap<String, &JobResult>> = shown.iter().map(|one| by_key(one)).collect();
    let mut keys: Vec<String> = first.jobs.iter().map(|job| key(first, job)).collect();
    for (subject, map) in shown.iter().zip(&maps).skip(1) {
        let more = subject.jobs.iter().map(|job| key(subject, job));
        keys.extend(
            more.filter(|key| !maps[0].contains_key(key))
                .collect::<Vec<_>>(),
        );
        if map.len() != maps[0].len() {
            table.note("the runs have different jobs: sums and means are each over its own");
        }
    }
    keys.dedup();
    let mut seen = std::collections::BTreeSet::new();
    for key in keys.into_iter().filter(|key| seen.insert(key.clone())) {
        let times = maps
            .iter()
            .map(|map| Cell::from(map.get(&key).and_then(|job| job.real_s)));
        let cells = std::iter::once(Cell::text(&key)).chain(times);
        table.row(cells.collect());
    }
    for (label, figure) in [
        (
            "Sum",
            (|one| one.figures.real_sum_s) as fn(&Subject) -> Option<f64>,
        ),
        ("Mean", |one| one.figures.real_mean_s),
    ] {
        let figures = shown.iter().map(|one| Cell::from(figure(one)));
        let cells = std::iter::once(Cell::text(label)).chain(figures);
        table.summary(cells.collect());
    }
    let unfinished = |one: &&Subject| one.jobs.iter().any(|job| job.real_s.is_none());
    if shown.iter().any(unfinished) {
        table.note("jobs without a time did not finish; they are in no sum and no mean");
    }
    Some(table)
}

/// The job's name, with batch and node where there are several.
fn key(subject: &Subject, job: &JobResult) -> String {
    let batches = subject.jobs.iter().any(|other| other.batch != job.batch);
    let nodes = subject.jobs.iter().any(|other| other.node != job.node);
    let mut key = job.name.clone();
    if nodes {
        key = format!("{key} on {}", job.node);
    }
    if batches {
        key = format!("{key}, batch {}", job.batch);
    }
    key
}

fn by_key(subject: &Subject) -> BTreeMap<String, &JobResult> {
    let jobs = subject.jobs.iter();
    jobs.map(|job| (key(subject, job), job)).collect()
}

/// Everything measured of each job of one run.
pub fn job_details(result: &RunResult) -> Option<Table> {
    let mut table = Table::new(
        "jobs",
        "Jobs",
        &[
            ("Job", Unit::Text),
            ("real s", Unit::Seconds),
            ("user s", Unit::Seconds),
            ("system s", Unit::Seconds),
            ("CPU/real", Unit::Ratio),
            ("in I/O s", Unit::Seconds),
            ("read", Unit::Bytes),
            ("written", Unit::Bytes),
            ("MB/s", Unit::MegabytesPerSecond),
            ("memory", Unit::Bytes),
            ("verified", Unit::Text),
        ],
    );
    for job in &result.jobs {
        let moved = job.read_bytes.zip(job.write_bytes);
        let rate = moved
            .zip(job.real_s.filter(|real| *real > 0.0))
            .map(|((read, written), real)| (read + written) as f64 / 1e6 / real);
        table.row(vec![
            Cell::text(&job.name),
            job.real_s.into(),
            job.user_s.into(),
            job.system_s.into(),
            cpu_real(job).into(),
            job.blocked_s.into(),
            job.read_bytes.into(),
            job.write_bytes.into(),
            rate.into(),
            job.memory_bytes.into(),
            Cell::text(state(job)),
        ]);
        if let Some(error) = &job.error {
            table.note(format!("{}: {error}", job.name));
        }
    }
    if result.jobs.iter().any(|job| job.batch > 1) {
        table.columns.insert(1, Column::new("Batch", Unit::Count));
        for (row, job) in table.rows.iter_mut().zip(&result.jobs) {
            row.cells.insert(1, Cell::count(u64::from(job.batch)));
        }
    }
    Some(table)
}

/// First and last part of a run of several batches.
pub fn drift(result: &RunResult) -> Option<Table> {
    let drift = result.drift.as_ref()?;
    let part = &drift.part;
    let (first, last) = (format!("First {part}"), format!("Last {part}"));
    let mut table = Table::new(
        "first-and-last",
        format!("First and last {part}, {:.0} s each", drift.part_s),
        &[
            ("What", Unit::Text),
            (&first, Unit::Plain),
            (&last, Unit::Plain),
            ("Unit", Unit::Text),
            ("Last/first", Unit::Ratio),
        ],
    );
    let row = |what: String, [first, last]: [f64; 2], unit: &str| {
        let ratio = (first > 0.0).then(|| last / first);
        let (what, unit) = (Cell::text(what), Cell::text(unit));
        vec![
            what,
            Some(first).into(),
            Some(last).into(),
            unit,
            ratio.into(),
        ]
    };
    for (channel, rates) in &drift.mb_per_s {
        table.row(row(format!("served, {channel}"), *rates, "MB/s"));
    }
    for job in &drift.jobs {
        table.row(row(job.name.clone(), job.real_s, "s"));
    }
    if let Some(ratio) = drift.real_ratio {
        let mean = Cell::text("jobs, geometric mean");
        let unit = Cell::text("");
        table.summary(vec![
            mean,
            Cell::Absent,
            Cell::Absent,
            unit,
            Some(ratio).into(),
        ]);
    }
    table.note(format!(
        "elapsed times are means over {} batches that began in the first {part} and {} that ended in the last; the \
         first batch starts as cold as the run, later ones find what the cache kept",
        drift.batches[0], drift.batches[1]
    ));
    Some(table)
}

/// File operations that failed, by job and channel.
pub fn failed_operations(result: &RunResult) -> Option<Table> {
    let mut table = Table::new(
        "failed-operations",
        "Failed file operations",
        &[
            ("Job", Unit::Text),
            ("Channel", Unit::Text),
            ("Operation", Unit::Text),
            ("Error", Unit::Text),
            ("Count", Unit::Count),
        ],
    );
    for job in &result.jobs {
        for one in &job.failed_operations {
            table.row(vec![
                Cell::text(name_in_batch(&job.name, job.batch)),
                Cell::text(&one.channel),
                Cell::text(&one.operation),
                Cell::text(&one.error),
                Cell::count(one.count),
            ]);
        }
    }
    table
        .note("files that were looked for and not there, and locks that others held, are left out");
    (!table.rows.is_empty()).then_some(table)
}

/// How a job ended and what its outputs were found to be.
fn state(job: &JobResult) -> &'static str {
    match (job.exit, job.verified) {
        (None, _) if job.real_s.is_some() => "ended by a signal",
        (None, _) => "did not finish",
        (Some(2..), _) => "ended with errors",
        (_, Some(true)) => "yes",
        (_, Some(false)) => "NO",
        (_, None) => "not checked",
    }
}
