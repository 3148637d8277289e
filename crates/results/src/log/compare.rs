//! Two sets of logs side by side, job by job and step by step: before and after a migration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{LogStep, SasLog};
use crate::compare::{Comparison, METHOD, Side, compare};
use crate::run::JobResult;
use crate::statistics::ratio::{Finding, Ratio, ratio};
use crate::subject::{Figures, Subject};
use crate::table::{Cell, Table, Unit};

/// Digits in a row from which on they are taken for a date or a time.
const DATE_DIGITS_MIN: usize = 6;

/// One set of logs.
#[derive(Debug, Clone)]
pub struct Set {
    /// What it is called: `before`.
    pub label: String,
    /// Where it is.
    pub place: String,
    /// Logs with what they are called within the set: the path below its folder.
    pub logs: Vec<(String, SasLog)>,
}

/// Two sets compared.
#[derive(Debug, Clone)]
pub struct Compared {
    /// By job, each of which is a log or several of the same program.
    pub comparison: Comparison,
    /// By procedure and by step.
    pub tables: Vec<Table>,
}

/// Logs of the same job: those of a set with the same name, dates and times left out.
type Jobs<'a> = BTreeMap<String, Vec<&'a SasLog>>;

/// Compares the second set with the first. Jobs are those logs that have the same name, dates and times left out;
/// where a set has several of one job, they are repeats, whether or not the other set has logs of the same dates.
pub fn of_sets(before: &Set, after: &Set) -> Compared {
    let (before_jobs, after_jobs) = jobs(before, after);
    let sides = [
        side(before, &before_jobs, &after_jobs),
        side(after, &after_jobs, &before_jobs),
    ];
    let steps = steps(&before_jobs, &after_jobs);
    let tables = [
        by_procedure(&before.label, &after.label, &steps),
        by_step(&before.label, &after.label, &steps),
        unmatched(&before.label, &after.label, &steps),
    ];
    Compared {
        comparison: compare(&sides),
        tables: tables.into_iter().flatten().collect(),
    }
}

/// The jobs of both sets. Two single logs are the same job, whatever they are called.
fn jobs<'a>(before: &'a Set, after: &'a Set) -> (Jobs<'a>, Jobs<'a>) {
    if let ([(name, one)], [(_, other)]) = (&before.logs[..], &after.logs[..]) {
        let only = |log| Jobs::from([(name.clone(), vec![log])]);
        return (only(one), only(other));
    }
    let grouped = |set: &'a Set| {
        let mut jobs = Jobs::new();
        for (name, log) in &set.logs {
            jobs.entry(undated(name)).or_default().push(log);
        }
        jobs
    };
    (grouped(before), grouped(after))
}

/// A name with its dates and times replaced: `load_20261120.log` and `load_2026-11-20_0815.log` are `load_#.log`.
fn undated(name: &str) -> String {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let mut out = String::new();
    let mut run = String::new();
    let flush = |run: &mut String, out: &mut String| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        let end = run.trim_end_matches(['-', '_', '.', 'T', ':']).len();
        if digits >= DATE_DIGITS_MIN {
            out.push('#');
            out.push_str(&run[end..]);
        } else {
            out.push_str(run);
        }
        run.clear();
    };
    for letter in name.chars() {
        let joins = matches!(letter, '-' | '_' | '.' | 'T' | ':') && !run.is_empty();
        if letter.is_ascii_digit() || joins {
            run.push(letter);
        } else {
            flush(&mut run, &mut out);
            out.push(letter);
        }
    }
    flush(&mut run, &mut out);
    out
}

/// A set as a side of a comparison; the first logs of all jobs that both sides have are its first repeat, and so on, as
/// long as there is one of each: sums of some of the jobs would be compared with sums of all.
fn side(set: &Set, jobs: &Jobs<'_>, others: &Jobs<'_>) -> Side {
    let common = jobs.iter().filter(|(name, _)| others.contains_key(*name));
    let most = jobs.values().map(Vec::len).max().unwrap_or(0);
    let repeats = common.map(|(_, logs)| logs.len()).min().unwrap_or(most);
    let beyond = |logs: &Vec<&SasLog>| logs.len().saturating_sub(repeats);
    let left_out: usize = jobs.values().map(beyond).sum();
    let caution = (left_out > 0).then(|| {
        format!(
            "{left_out} logs are left out of the comparison by job, which has as many of each job; the tables of steps \
             have all"
        )
    });
    let runs = (0..repeats).map(|repeat| {
        let logs = jobs
            .iter()
            .filter_map(|(name, logs)| Some(job(name, logs.get(repeat)?)));
        let jobs: Vec<JobResult> = logs.collect();
        Subject {
            name: set.label.clone(),
            title: match set.logs.len() {
                1 => set.place.clone(),
                count => format!("{count} logs in {}", set.place),
            },
            suite: "logs".to_owned(),
            figures: Figures::of_jobs(&jobs),
            jobs,
            cautions: caution.iter().filter(|_| repeat == 0).cloned().collect(),
            ..Subject::default()
        }
    });
    Side {
        label: set.label.clone(),
        runs: runs.collect(),
    }
}

/// A log as a job: its session's figures, or those of its steps together.
fn job(name: &str, log: &SasLog) -> JobResult {
    let session = log.about.session.as_ref().map(|block| &block.used);
    let sum = |figure: fn(&LogStep) -> Option<f64>| -> Option<f64> {
        let all: Vec<f64> = log.steps.iter().filter_map(figure).collect();
        (!all.is_empty()).then(|| all.iter().sum())
    };
    let real_s = session.and_then(|used| used.real_s);
    let user_s = session.and_then(|used| used.user_s);
    let system_s = session.and_then(|used| used.system_s);
    let memory = log.steps.iter().filter_map(|step| step.used.memory_bytes);
    JobResult {
        real_s: real_s.or_else(|| sum(|step| step.used.real_s)),
        user_s: user_s.or_else(|| sum(|step| step.used.user_s)),
        system_s: system_s.or_else(|| sum(|step| step.used.system_s)),
        memory_bytes: memory.max(),
        batch: 1,
        ..JobResult::unknown(name)
    }
}

/// A step of a job in all its repeats on a side.
#[derive(Debug, Default)]
struct Measured {
    /// Elapsed times, seconds.
    real: Vec<f64>,
    /// CPU times, seconds.
    cpu: Vec<f64>,
    /// Physical throughput, MB/s.
    rate: Vec<f64>,
}

/// A step on both sides.
struct Step<'a> {
    job: &'a str,
    number: u64,
    name: &'a str,
    to: String,
    before: Measured,
    after: Measured,
}

/// What makes a step the same on both sides: its name and the data sets it wrote, and the how manieth it is.
type Key<'a> = (&'a str, String, usize);

fn keyed(log: &SasLog) -> Vec<(Key<'_>, &LogStep)> {
    let mut seen: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let key = |step: &'_ LogStep| {
        let names: Vec<&str> = step.outputs.iter().map(|one| &*one.name).collect();
        names.join(" ")
    };
    log.steps
        .iter()
        .map(|step| {
            let to = key(step);
            let count = seen.entry((&step.name, to.clone())).or_default();
            *count += 1;
            ((&*step.name, to, *count), step)
        })
        .collect()
}

fn steps<'a>(before: &Jobs<'a>, after: &Jobs<'a>) -> Vec<Step<'a>> {
    let mut all: Vec<Step<'a>> = Vec::new();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (Some(first), Some(second)) = (before.get(name), after.get(name)) else {
            continue;
        };
        let mut at: BTreeMap<Key<'a>, usize> = BTreeMap::new();
        let mut found: Vec<Step<'a>> = Vec::new();
        for (logs, is_after) in [(first, false), (second, true)] {
            for log in logs {
                for (key, step) in keyed(log) {
                    let place = *at.entry(key.clone()).or_insert_with(|| {
                        found.push(Step {
                            job: &log.file,
                            number: step.step,
                            name: key.0,
                            to: key.1,
                            before: Measured::default(),
                            after: Measured::default(),
                        });
                        found.len() - 1
                    });
                    let step_found = &mut found[place];
                    let side = if is_after {
                        &mut step_found.after
                    } else {
                        &mut step_found.before
                    };
                    side.add(step, log.about.block_bytes);
                }
            }
        }
        all.extend(found);
    }
    all
}

impl Measured {
    fn add(&mut self, step: &LogStep, block_bytes: Option<u64>) {
        self.real.extend(step.used.real_s);
        self.cpu.extend(step.used.cpu_s);
        let mut sums = crate::tables::logs::Sums::default();
        sums.add(step, block_bytes);
        self.rate.extend(sums.mb_per_s());
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

impl Step<'_> {
    fn is_on_both(&self) -> bool {
        !self.before.real.is_empty() && !self.after.real.is_empty()
    }

    fn difference(&self) -> f64 {
        mean(&self.after.real).unwrap_or_default() - mean(&self.before.real).unwrap_or_default()
    }
}

/// What a ratio says, and nothing without repeats.
fn word(ratio: Option<Ratio>) -> &'static str {
    match ratio.map(|ratio| ratio.finding()) {
        Some(Finding::Less) => "faster",
        Some(Finding::More) => "slower",
        Some(Finding::Noise) => "noise",
        Some(Finding::Unknown) | None => "",
    }
}

/// Steps that both sides have, the largest differences first.
fn by_step(before: &str, after: &str, steps: &[Step<'_>]) -> Option<Table> {
    let mut both: Vec<&Step<'_>> = steps.iter().filter(|step| step.is_on_both()).collect();
    both.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    let mut table = Table::new(
        "compare-steps",
        "By step, the largest differences first",
        &[
            ("Log", Unit::Text),
            ("Step", Unit::Count),
            ("Name", Unit::Text),
            ("To", Unit::Text),
            (&format!("real, {before}"), Unit::Stimer),
            (&format!("real, {after}"), Unit::Stimer),
            ("difference", Unit::Stimer),
            ("Ratio", Unit::Ratio),
            ("95 %", Unit::Ratio),
            ("Finding", Unit::Text),
            (&format!("CPU, {before}"), Unit::Stimer),
            (&format!("CPU, {after}"), Unit::Stimer),
            (&format!("{before} MB/s"), Unit::MegabytesPerSecond),
            (&format!("{after} MB/s"), Unit::MegabytesPerSecond),
        ],
    );
    for step in &both {
        let found = ratio(&step.before.real, &step.after.real);
        table.row(vec![
            Cell::text(file_name(step.job)),
            Cell::count(step.number),
            Cell::text(step.name),
            Cell::text(&step.to),
            mean(&step.before.real).into(),
            mean(&step.after.real).into(),
            Cell::Difference(step.difference()),
            found.map(|ratio| ratio.ratio).into(),
            found.and_then(|ratio| ratio.interval).into(),
            Cell::text(word(found)),
            mean(&step.before.cpu).into(),
            mean(&step.after.cpu).into(),
            mean(&step.before.rate).into(),
            mean(&step.after.rate).into(),
        ]);
    }
    table.note(format!(
        "steps are the same that have the same name, wrote the same data sets and are the first, second, … such step \
         of their job; ratios are {after} over {before}: {METHOD}"
    ));
    (!table.rows.is_empty()).then_some(table)
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Sums over the steps that both sides have, by procedure.
fn by_procedure(before: &str, after: &str, steps: &[Step<'_>]) -> Option<Table> {
    let mut all: BTreeMap<&str, (u64, f64, f64)> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.is_on_both()) {
        let sums = all.entry(step.name).or_default();
        sums.0 += 1;
        sums.1 += mean(&step.before.real).unwrap_or_default();
        sums.2 += mean(&step.after.real).unwrap_or_default();
    }
    let mut rows: Vec<_> = all.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| (b.2 - b.1).abs().total_cmp(&(a.2 - a.1).abs()));
    let mut table = Table::new(
        "compare-procedures",
        "By procedure, steps that both have, the largest differences first",
        &[
            ("Name", Unit::Text),
            ("Steps", Unit::Count),
            (before, Unit::Stimer),
            (after, Unit::Stimer),
            ("difference", Unit::Stimer),
            ("Ratio", Unit::Ratio),
        ],
    );
    let cells = |name: &str, (count, first, second): (u64, f64, f64)| {
        vec![
            Cell::text(name),
            Cell::count(count),
            Cell::Number(first),
            Cell::Number(second),
            Cell::Difference(second - first),
            (first > 0.0).then(|| second / first).into(),
        ]
    };
    let mut total = (0, 0.0, 0.0);
    for (name, sums) in &rows {
        table.row(cells(name, *sums));
        total = (total.0 + sums.0, total.1 + sums.1, total.2 + sums.2);
    }
    table.summary(cells("all", total));
    (!rows.is_empty()).then_some(table)
}

/// Steps of compared jobs that one side alone has.
fn unmatched(before: &str, after: &str, steps: &[Step<'_>]) -> Option<Table> {
    let mut table = Table::new(
        "compare-unmatched",
        "Steps on one side only",
        &[
            ("Log", Unit::Text),
            ("Step", Unit::Count),
            ("Name", Unit::Text),
            ("To", Unit::Text),
            ("real", Unit::Stimer),
            ("On", Unit::Text),
        ],
    );
    for step in steps.iter().filter(|step| !step.is_on_both()) {
        let (real_s, on) = match mean(&step.before.real) {
            Some(real_s) => (Some(real_s), before),
            None => (mean(&step.after.real), after),
        };
        if real_s.is_some() {
            table.row(vec![
                Cell::text(file_name(step.job)),
                Cell::count(step.number),
                Cell::text(step.name),
                Cell::text(&step.to),
                real_s.into(),
                Cell::text(on),
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::super::reader::read;
    use super::*;

    /// A log of steps: name, output, elapsed time.
    fn log(file: &str, steps: &[(&str, &str, f64)]) -> (String, SasLog) {
        let mut text = String::new();
        for (name, to, real_s) in steps {
            let line = format!("NOTE: The data set {to} has 1 observations and 1 variables.\n");
            text += if to.is_empty() { "" } else { &line };
            let block = format!(
                "NOTE: PROCEDURE {name} used (Total process time):\n      real time           {real_s} seconds\n      \
                 cpu time            0.01 seconds\n\n\n"
            );
            text += &block;
        }
        let mut steps = Vec::new();
        let about = read(text.as_bytes(), &mut |step| steps.push(step))
            .unwrap()
            .unwrap();
        let log = SasLog {
            file: format!("x/{file}"),
            about,
            steps,
        };
        (file.to_owned(), log)
    }

    fn set(label: &str, logs: Vec<(String, SasLog)>) -> Set {
        Set {
            label: label.to_owned(),
            place: String::new(),
            logs,
        }
    }

    #[test]
    fn dates_are_left_out_of_names_and_other_numbers_are_not() {
        for (name, expected) in [
            ("load_20261120.log", "load_#.log"),
            ("load_2026-11-20_08.15.log.gz", "load_#.log"),
            ("job12.log", "job12.log"),
            ("2026/11/job1.log", "2026/11/job1.log"),
            ("a_20261120T0815_b.log", "a_#_b.log"),
        ] {
            assert_eq!(undated(name), expected, "{name}");
        }
    }

    #[test]
    fn steps_are_matched_by_name_output_and_order() {
        let before = set(
            "old",
            vec![log(
                "a.log",
                &[
                    ("SORT", "WORK.A", 10.0),
                    ("PRINT", "", 1.0),
                    ("PRINT", "", 2.0),
                    ("SQL", "WORK.X", 3.0),
                ],
            )],
        );
        let after = set(
            "new",
            vec![log(
                "a.log",
                &[
                    ("PRINT", "", 1.5),
                    ("SORT", "WORK.A", 5.0),
                    ("PRINT", "", 2.0),
                    ("MEANS", "WORK.M", 4.0),
                ],
            )],
        );
        let found = of_sets(&before, &after);
        let table = |id: &str| found.tables.iter().find(|table| table.id == id).unwrap();
        let rows: Vec<(Cell, Cell, Cell)> = table("compare-steps")
            .rows
            .iter()
            .map(|row| {
                (
                    row.cells[2].clone(),
                    row.cells[6].clone(),
                    row.cells[7].clone(),
                )
            })
            .collect();
        let row = |name: &str, difference, ratio| {
            (
                Cell::text(name),
                Cell::Difference(difference),
                Cell::Number(ratio),
            )
        };
        assert_eq!(
            rows,
            [
                row("SORT", -5.0, 0.5),
                row("PRINT", 0.5, 1.5),
                row("PRINT", 0.0, 1.0)
            ]
        );
        assert_eq!(table("compare-unmatched").rows.len(), 2);
        let sum = table("compare-procedures").rows.last().unwrap();
        assert_eq!(
            sum.cells[2..5],
            [
                Cell::Number(13.0),
                Cell::Number(8.5),
                Cell::Difference(-4.5)
            ]
        );
    }

    #[test]
    fn logs_that_differ_in_a_date_are_repeats() {
        let nights = |label: &str, times: [f64; 3]| {
            let logs = times.iter().enumerate().map(|(night, real_s)| {
                log(
                    &format!("load_2026112{night}.log"),
                    &[("SORT", "WORK.A", *real_s)],
                )
            });
            set(label, logs.collect())
        };
        let (mut before, after) = (
            nights("old", [10.0, 10.1, 9.9]),
            nights("new", [5.0, 5.1, 4.9]),
        );
        for (name, _) in &mut before.logs {
            *name = name.replace("2026", "2025");
        }
        let found = of_sets(&before, &after);
        let steps = found
            .tables
            .iter()
            .find(|table| table.id == "compare-steps")
            .unwrap();
        assert_eq!(steps.rows.len(), 1);
        assert_eq!(steps.rows[0].cells[9], Cell::text("faster"));
        assert_eq!(found.comparison.jobs.len(), 1);
        assert_eq!(found.comparison.sides[0].repeats, 3);
    }

    /// Nights of the same dates on both sides; jobs whose numbers are no dates are others.
    #[test]
    fn repeats_are_taken_together_where_both_sides_have_their_dates() {
        let nights = |label: &str, factor: f64| {
            let load = (21..25).map(|night| {
                let real_s = factor * (10.0 + f64::from(night % 2) / 10.0);
                log(
                    &format!("job_202611{night}.log"),
                    &[("SORT", "WORK.A", real_s)],
                )
            });
            let others = (1..3).map(|job| {
                log(
                    &format!("job_{job}.log"),
                    &[("SORT", "WORK.B", factor * f64::from(job))],
                )
            });
            set(label, load.chain(others).collect())
        };
        let found = of_sets(&nights("old", 1.0), &nights("new", 0.5));
        let steps = found
            .tables
            .iter()
            .find(|table| table.id == "compare-steps");
        let rows = &steps.unwrap().rows;
        let told: Vec<(&Cell, &Cell)> = rows
            .iter()
            .map(|row| (&row.cells[0], &row.cells[9]))
            .collect();
        let (first, faster, unknown) = (
            Cell::text("job_20261121.log"),
            Cell::text("faster"),
            Cell::text(""),
        );
        let others = ["job_2.log", "job_1.log"].map(Cell::text);
        assert_eq!(
            told,
            [
                (&first, &faster),
                (&others[0], &unknown),
                (&others[1], &unknown)
            ]
        );
        let jobs: Vec<&str> = found.comparison.jobs.iter().map(|job| &*job.name).collect();
        assert_eq!(jobs, ["job_#.log", "job_1.log", "job_2.log"]);
    }

    #[test]
    fn sums_are_of_repeats_that_have_all_jobs() {
        let nights = |label: &str, months: u32| {
            let load = (0..3).map(|night| {
                log(
                    &format!("load_2026112{night}.log"),
                    &[("SORT", "WORK.A", 10.0)],
                )
            });
            let month = (0..months).map(|night| {
                log(
                    &format!("month_2026112{night}.log"),
                    &[("SORT", "WORK.B", 50.0)],
                )
            });
            set(label, load.chain(month).collect())
        };
        let mut before = nights("old", 1);
        for (name, _) in &mut before.logs {
            *name = name.replace("2026", "2025");
        }
        let found = of_sets(&before, &nights("new", 3)).comparison;
        assert_eq!(found.jobs.len(), 2);
        let repeats: Vec<_> = found.sides.iter().map(|side| side.repeats).collect();
        assert_eq!(repeats, [1, 3]);
    }
}
