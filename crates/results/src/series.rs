//! Runs that one command made: the same again, or at rising load.

use serde::Serialize;

use crate::run::RunResult;
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
    let last = rungs.last().map(|rung| rung.load);
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
    let all = &run.aggregate;
    Rung {
        load,
        run: run.run.clone(),
        elapsed_s: all.elapsed_s,
        mb_per_s: all.mb_per_s_flushed,
        mb_per_s_per_core: all.mb_per_s_per_core,
        cpu_real_ratio_of_sums: all.cpu_real_ratio_of_sums,
        result: run.verdict.result.clone(),
    }
}

/// How far equal runs differ: elapsed times, seconds, and throughput with the flush included, MB/s;
/// `None` where a run has no such figure.
pub fn spread(runs: &[RunResult]) -> [Option<Summary>; 2] {
    let of = |figure: fn(&RunResult) -> Option<f64>| {
        let figures: Option<Vec<f64>> = runs.iter().map(figure).collect();
        summarize(&figures?)
    };
    [
        of(|run| run.aggregate.elapsed_s),
        of(|run| run.aggregate.mb_per_s_flushed),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::run::{Aggregate, Verdict};

    fn run(mb_per_s: f64, result: &str) -> RunResult {
        RunResult {
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
            disturbance: Vec::new(),
            sustained_peak: None,
            not_measured: Vec::new(),
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
    }

    #[test]
    fn equal_runs_differ_by_their_deviation() {
        let [elapsed, rate] = spread(&[run(90.0, "pass"), run(110.0, "pass")]);
        assert_eq!(elapsed, None);
        let rate = rate.unwrap();
        assert_eq!((rate.mean, rate.deviation), (100.0, 10.0));
    }
}
