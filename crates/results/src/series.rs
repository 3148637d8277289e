//! Runs that one command made: the same again, at rising load, or with values of an option.

use serde::Serialize;

use crate::run::{JobResult, RunResult};
use crate::statistics::{Summary, summarize};

/// At the knee, throughput has reached this share of its highest.
const KNEE_SHARE: f64 = 0.9;

/// A run of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rung {
    /// Load as it was asked for.
    pub load: u64,
    /// Name of the run.
    pub run: String,
    /// Jobs that did not end well: then nothing was measured, since half a job is done in half the time.
    pub jobs_failed: usize,
    /// Elapsed time, seconds.
    pub elapsed_s: Option<f64>,
    /// Throughput with the flush included, MB/s (10^6).
    pub mb_per_s: Option<f64>,
    /// The same per core.
    pub mb_per_s_per_core: Option<f64>,
    /// Sum of CPU times over sum of elapsed times of all jobs.
    pub cpu_real_ratio_of_sums: Option<f64>,
    /// `pass`, `fail`, `not_shown` or `inconclusive`.
    pub result: String,
}

/// What a ladder shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ladder {
    /// Its runs, by load.
    pub rungs: Vec<Rung>,
    /// The largest load whose run passed, all smaller ones having passed as well.
    pub largest_that_passes: Option<u64>,
    /// The smallest load that reaches nine tenths of the highest throughput: beyond it more load brings
    /// little. Absent if the highest load is the first to reach it: the knee may lie beyond.
    pub knee: Option<u64>,
}

/// What runs at rising load show.
pub fn ladder(runs: &[(u64, RunResult)]) -> Ladder {
    let mut rungs: Vec<Rung> = runs.iter().map(|(load, run)| rung(*load, run)).collect();
    rungs.sort_by_key(|rung| rung.load);
    let passing = rungs.iter().take_while(|rung| rung.result == "pass");
    let largest_that_passes = passing.last().map(|rung| rung.load);
    let rates = || {
        rungs
            .iter()
            .filter_map(|rung| Some((rung.load, rung.mb_per_s?)))
    };
    let highest = rates().map(|(_, rate)| rate).fold(0.0, f64::max);
    let reaches = rates().find(|(_, rate)| *rate >= KNEE_SHARE * highest);
    // What a higher rung without a figure reached is not known: the knee may lie there.
    let last = rates().next_back().map(|(load, _)| load);
    let knee = reaches
        .map(|(load, _)| load)
        .filter(|load| Some(*load) != last);
    Ladder {
        rungs,
        largest_that_passes,
        knee,
    }
}

fn rung(load: u64, run: &RunResult) -> Rung {
    let jobs_failed = jobs_failed(run);
    let all = &run.aggregate;
    let of_whole = |figure: Option<f64>| figure.filter(|_| jobs_failed == 0);
    Rung {
        load,
        run: run.run.clone(),
        jobs_failed,
        elapsed_s: of_whole(all.elapsed_s),
        mb_per_s: of_whole(all.mb_per_s_flushed),
        mb_per_s_per_core: of_whole(all.mb_per_s_per_core),
        cpu_real_ratio_of_sums: of_whole(all.cpu_real_ratio_of_sums),
        result: run.verdict.result.clone(),
    }
}

/// Jobs that did not end, ended with errors (exit code 1 is that of warnings), or have wrong outputs.
fn jobs_failed(run: &RunResult) -> usize {
    let failed =
        |job: &&JobResult| job.has_failed() || job.exit.is_none() || job.verified == Some(false);
    run.jobs.iter().filter(failed).count()
}

/// How far equal runs differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// Runs that do not count, since jobs of theirs failed.
    pub runs_failed: usize,
    /// Elapsed times, seconds, of the others; `None` if there are fewer than two, or one has no such figure.
    pub elapsed_s: Option<Summary>,
    /// The same of throughput with the flush included, MB/s.
    pub mb_per_s: Option<Summary>,
}

/// How far equal runs differ.
pub fn spread(runs: &[RunResult]) -> Spread {
    let whole: Vec<&RunResult> = runs.iter().filter(|run| jobs_failed(run) == 0).collect();
    let of = |figure: fn(&RunResult) -> Option<f64>| {
        let figures: Option<Vec<f64>> = whole.iter().map(|run| figure(run)).collect();
        summarize(&figures?).filter(|all| all.count > 1)
    };
    Spread {
        runs_failed: runs.len() - whole.len(),
        elapsed_s: of(|run| run.aggregate.elapsed_s),
        mb_per_s: of(|run| run.aggregate.mb_per_s_flushed),
    }
}

/// Runs with one value of an option.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfValue {
    /// The value.
    pub value: String,
    /// Names of its runs, in order.
    pub runs: Vec<String>,
    /// Elapsed time of each, seconds; absent if jobs of it failed.
    pub elapsed_s: Vec<Option<f64>>,
    /// Jobs ended in an hour, in each; absent if some failed.
    pub jobs_per_hour: Vec<Option<f64>>,
    /// Jobs that did not end well, all runs together.
    pub jobs_failed: usize,
}

/// Elapsed times with one value over those with another, of the same round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    /// The value above the line.
    pub value: String,
    /// The value below it.
    pub against: String,
    /// Ratio of each round; rounds in which a run has no elapsed time, or jobs that failed, are left out.
    pub rounds: Vec<f64>,
    /// How many are left out.
    pub rounds_left_out: usize,
    /// Their geometric mean.
    pub mean: Option<f64>,
    /// Smallest and largest.
    pub range: Option<[f64; 2]>,
}

/// What runs with values of an option show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Options {
    /// The option.
    pub option: String,
    /// By value, as they were named.
    pub values: Vec<OfValue>,
    /// The first value against each other one.
    pub ratios: Vec<Ratio>,
}

/// What runs with values of an option show; `runs` are in the order in which they were made.
pub fn options(option: &str, values: &[String], runs: &[(String, RunResult)]) -> Options {
    let values: Vec<OfValue> = values.iter().map(|value| of_value(value, runs)).collect();
    let ratios = values
        .split_first()
        .map_or_else(Vec::new, |(first, others)| {
            others.iter().map(|other| ratio(first, other)).collect()
        });
    Options {
        option: option.to_owned(),
        values,
        ratios,
    }
}

fn of_value(value: &str, runs: &[(String, RunResult)]) -> OfValue {
    let own = || {
        runs.iter()
            .filter(|(of, _)| of == value)
            .map(|(_, run)| run)
    };
    let elapsed_s = |run: &RunResult| run.aggregate.elapsed_s.filter(|_| jobs_failed(run) == 0);
    let rate = |run: &RunResult| {
        let elapsed = elapsed_s(run).filter(|seconds| *seconds > 0.0)?;
        let ended = run.jobs.iter().filter(|job| job.real_s.is_some()).count();
        Some(ended as f64 * 3600.0 / elapsed)
    };
    OfValue {
        value: value.to_owned(),
        runs: own().map(|run| run.run.clone()).collect(),
        elapsed_s: own().map(elapsed_s).collect(),
        jobs_per_hour: own().map(rate).collect(),
        jobs_failed: own().map(jobs_failed).sum(),
    }
}

fn ratio(value: &OfValue, against: &OfValue) -> Ratio {
    let pairs = value.elapsed_s.iter().zip(&against.elapsed_s);
    let rounds: Vec<f64> = pairs
        .filter_map(|(above, below)| Some(((*above)?, (*below)?)))
        .filter(|(above, below)| *above > 0.0 && *below > 0.0)
        .map(|(above, below)| above / below)
        .collect();
    let summary = summarize(&rounds);
    let logarithms: f64 = rounds.iter().map(|ratio| ratio.ln()).sum();
    Ratio {
        value: value.value.clone(),
        against: against.value.clone(),
        mean: summary.map(|all| (logarithms / all.count as f64).exp()),
        range: summary.map(|all| [all.min, all.max]),
        rounds_left_out: value.elapsed_s.len().max(against.elapsed_s.len()) - rounds.len(),
        rounds,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::run::{Aggregate, Verdict};

    fn run(mb_per_s: f64, result: &str) -> RunResult {
        RunResult {
            engine: None,
            schema: crate::SCHEMA.to_owned(),
            run: String::new(),
            suite: String::new(),
            scale: 1.0,
            verdict: Verdict {
                result: result.to_owned(),
                reason: String::new(),
                requirements: Vec::new(),
                ..Verdict::default()
            },
            jobs: Vec::new(),
            channels: BTreeMap::new(),
            aggregate: Aggregate {
                mb_per_s_flushed: Some(mb_per_s),
                ..Aggregate::default()
            },
            nodes: Vec::new(),
            disturbance: Vec::new(),
            sustained_peak: None,
            drift: None,
            not_measured: Vec::new(),
            audits: Vec::new(),
        }
    }

    #[test]
    fn the_knee_is_where_more_load_brings_little() {
        let runs = [
            (8, run(1010.0, "fail")),
            (1, run(300.0, "pass")),
            (2, run(590.0, "pass")),
            (4, run(950.0, "fail")),
            (16, run(1000.0, "pass")),
        ];
        let ladder = ladder(&runs);
        assert_eq!(ladder.knee, Some(4));
        assert_eq!(ladder.largest_that_passes, Some(2), "a gap is no pass");
    }

    #[test]
    fn a_rate_that_still_rises_has_no_knee() {
        let rising = ladder(&[(1, run(100.0, "not_shown")), (2, run(200.0, "not_shown"))]);
        assert_eq!((rising.knee, rising.largest_that_passes), (None, None));
        assert_eq!(ladder(&[]).knee, None);
        // A job of the highest load left no record.
        let mut unknown = run(0.0, "not_shown");
        unknown.aggregate.mb_per_s_flushed = None;
        let runs = [
            (1, run(300.0, "pass")),
            (2, run(590.0, "pass")),
            (4, unknown),
        ];
        assert_eq!(ladder(&runs).knee, None);
    }

    #[test]
    fn equal_runs_differ_by_their_deviation() {
        let found = spread(&[run(90.0, "pass"), run(110.0, "pass")]);
        assert_eq!(found.elapsed_s, None);
        let rate = found.mb_per_s.unwrap();
        assert_eq!((rate.mean, rate.deviation), (100.0, 10.0));
    }

    fn lasting(elapsed_s: Option<f64>) -> RunResult {
        let mut run = run(1.0, "not_shown");
        run.aggregate.elapsed_s = elapsed_s;
        run
    }

    #[test]
    fn values_of_an_option_are_compared_round_by_round() {
        let value = |value: &str, elapsed| (value.to_owned(), lasting(Some(elapsed)));
        // The second round begins with the other value, and everything takes twice as long.
        let runs = [
            value("FAIL", 12.0),
            value("NONE", 10.0),
            value("NONE", 20.0),
            value("FAIL", 30.0),
        ];
        let names = ["FAIL".to_owned(), "NONE".to_owned()];
        let found = options("FILELOCKS", &names, &runs);
        let ratio = &found.ratios[0];
        assert_eq!(
            (ratio.value.as_str(), ratio.against.as_str()),
            ("FAIL", "NONE")
        );
        assert_eq!(ratio.rounds, [1.2, 1.5]);
        assert!((ratio.mean.unwrap() - 1.8f64.sqrt()).abs() < 1e-12);
        assert_eq!(ratio.range, Some([1.2, 1.5]));
        assert_eq!(found.values[1].elapsed_s, [Some(10.0), Some(20.0)]);
    }

    #[test]
    fn a_round_without_an_elapsed_time_has_no_ratio() {
        let runs = [
            ("A".to_owned(), lasting(None)),
            ("B".to_owned(), lasting(Some(1.0))),
        ];
        let found = options("X", &["A".to_owned(), "B".to_owned()], &runs);
        assert_eq!((found.ratios[0].mean, found.ratios[0].range), (None, None));
    }

    /// The same run with a job that ended at once.
    fn broken(mut run: RunResult) -> RunResult {
        run.jobs.push(JobResult {
            exit: Some(2),
            ..JobResult::unknown("a")
        });
        run
    }

    #[test]
    fn what_failed_is_in_no_ratio() {
        let value = |value: &str, run| (value.to_owned(), run);
        let runs = [
            value("A", lasting(Some(10.0))),
            value("B", lasting(Some(20.0))),
            value("A", broken(lasting(Some(1.0)))),
            value("B", lasting(Some(20.0))),
        ];
        let found = options("X", &["A".to_owned(), "B".to_owned()], &runs);
        assert_eq!(found.values[0].elapsed_s, [Some(10.0), None]);
        assert_eq!(found.values[0].jobs_per_hour[1], None);
        assert_eq!(found.values[0].jobs_failed, 1);
        let ratio = &found.ratios[0];
        assert_eq!((&ratio.rounds[..], ratio.rounds_left_out), (&[0.5][..], 1));
        // Wrong outputs are no work either.
        let mut wrong = lasting(Some(1.0));
        wrong.jobs.push(JobResult {
            exit: Some(0),
            verified: Some(false),
            ..JobResult::unknown("a")
        });
        let runs = [value("A", wrong), value("B", lasting(Some(2.0)))];
        let found = options("X", &["A".to_owned(), "B".to_owned()], &runs);
        assert_eq!(found.ratios[0].mean, None);
    }

    #[test]
    fn what_failed_is_in_no_spread_and_no_knee() {
        let failed = broken(run(900.0, "fail"));
        let found = spread(&[run(90.0, "pass"), failed.clone(), run(110.0, "pass")]);
        assert_eq!(found.runs_failed, 1);
        assert_eq!(
            found.mb_per_s.map(|all| (all.count, all.mean)),
            Some((2, 100.0))
        );
        let one = spread(&[run(90.0, "pass"), failed.clone()]);
        assert_eq!((one.runs_failed, one.mb_per_s), (1, None));
        // The load at which jobs failed is not the one that storage likes best.
        let runs = [
            (1, run(300.0, "pass")),
            (2, failed),
            (4, run(590.0, "pass")),
            (8, run(600.0, "pass")),
        ];
        let found = ladder(&runs);
        assert_eq!(found.knee, Some(4));
        assert_eq!(
            (found.rungs[1].mb_per_s, found.rungs[1].jobs_failed),
            (None, 1)
        );
    }
}
