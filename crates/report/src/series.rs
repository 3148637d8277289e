//! Tables of runs that one command made.

use std::fmt::Write;

use results::run::RunResult;
use results::series::{Ladder, Options, spread};
use results::statistics::{Summary, summarize};

use crate::terminal::figure;

/// Rising load.
pub fn ladder(ladder: &Ladder) -> String {
    let mut out = format!(
        "{:>8} {:>10} {:>10} {:>12} {:>9} {:>12}  {}\n",
        "Load", "elapsed s", "MB/s", "MB/s / core", "CPU/real", "jobs failed", "verdict"
    );
    for rung in &ladder.rungs {
        let _ = writeln!(
            out,
            "{:>8} {:>10} {:>10} {:>12} {:>9} {:>12}  {}",
            rung.load,
            figure(rung.elapsed_s, 2),
            figure(rung.mb_per_s, 1),
            figure(rung.mb_per_s_per_core, 1),
            figure(rung.cpu_real_ratio_of_sums, 3),
            rung.jobs_failed,
            rung.result.replace('_', " "),
        );
    }
    let or = |load: Option<u64>, none: &str| load.map_or(none.to_owned(), |load| load.to_string());
    let _ = writeln!(
        out,
        "Largest load that meets the requirements: {}",
        or(ladder.largest_that_passes, "none was shown to")
    );
    let none = match ladder.rungs.last() {
        Some(rung) if rung.jobs_failed > 0 => "not known, jobs failed at the highest load",
        Some(rung) if rung.mb_per_s.is_none() => "not known, the highest load has no throughput",
        _ => "not reached, throughput still rises",
    };
    let _ = writeln!(
        out,
        "Knee, the smallest load with nine tenths of the highest throughput: {}",
        or(ladder.knee, none)
    );
    out
}

/// The same several times.
pub fn repeated(runs: &[RunResult]) -> String {
    let spread = spread(runs);
    let counted = runs.len() - spread.runs_failed;
    let mut out = match spread.runs_failed {
        0 => format!("{} equal runs\n", runs.len()),
        failed => format!(
            "{} equal runs; {failed} in which jobs failed, which do not count\n",
            runs.len()
        ),
    };
    let figures = [
        ("Elapsed, s", spread.elapsed_s),
        ("Throughput, flush included, MB/s", spread.mb_per_s),
    ];
    for (name, summary) in figures {
        let text = match summary {
            None if counted < 2 => {
                "not known: fewer than two runs in which all jobs ended well".to_owned()
            }
            None => "not known: a run has no such figure".to_owned(),
            Some(all) => spread_of(&all),
        };
        let _ = writeln!(out, "  {name:<33} {text}");
    }
    out.push_str("  `gristmill compare` with their directories compares them job by job\n");
    out
}

fn spread_of(all: &Summary) -> String {
    let deviation = all.sample_deviation().map_or(String::new(), |deviation| {
        let percent = 100.0 * deviation / all.mean;
        format!(", sample standard deviation {deviation:.2} ({percent:.1} %)")
    });
    format!(
        "mean {:.2}{deviation}, from {:.2} to {:.2}",
        all.mean, all.min, all.max
    )
}

/// Values of an option.
pub fn options(compared: &Options) -> String {
    let width = compared.values.iter().map(|one| one.value.len());
    let width = width.max().unwrap_or(0).max(compared.option.len());
    let mut out = format!(
        "{:width$} {:>11} {:>14} {:>12}  each round, s\n",
        compared.option, "median s", "jobs / hour", "jobs failed"
    );
    for of in &compared.values {
        let median = |figures: &[Option<f64>]| {
            let known: Vec<f64> = figures.iter().flatten().copied().collect();
            summarize(&known).map(|all| all.median)
        };
        let rounds: Vec<String> = of.elapsed_s.iter().map(|s| figure(*s, 2)).collect();
        let _ = writeln!(
            out,
            "{:width$} {:>11} {:>14} {:>12}  {}",
            of.value,
            figure(median(&of.elapsed_s), 2),
            figure(median(&of.jobs_per_hour), 1),
            of.jobs_failed,
            rounds.join(" "),
        );
    }
    for ratio in &compared.ratios {
        let why = "jobs failed, or a run has no elapsed time";
        let left_out = match ratio.rounds_left_out {
            0 => String::new(),
            rounds => format!("; {rounds} left out: {why}"),
        };
        let (Some(mean), Some([least, most])) = (ratio.mean, ratio.range) else {
            let _ = writeln!(
                out,
                "Elapsed time {} / {}: not known, in each round {why}",
                ratio.value, ratio.against
            );
            continue;
        };
        let rounds = ratio.rounds.len();
        let says = if least > 1.0 {
            all_rounds(&ratio.value, "longer", rounds)
        } else if most < 1.0 {
            all_rounds(&ratio.value, "less", rounds)
        } else {
            "no difference beyond the spread".to_owned()
        };
        let _ = writeln!(
            out,
            "Elapsed time {} / {}: {mean:.3} ({rounds} rounds, {least:.3} to {most:.3}{left_out}): {says}",
            ratio.value, ratio.against,
        );
    }
    out
}

/// That all rounds agree, and how often equal ones would: one half for two rounds, half of it for each one more.
fn all_rounds(value: &str, how: &str, rounds: usize) -> String {
    /// From here on, equal values agree in less than 1 of 20 cases.
    const ENOUGH: usize = 6;
    if rounds >= ENOUGH {
        return format!("{value} took {how} in every round");
    }
    let cases = 1u64 << rounds.saturating_sub(1);
    format!(
        "{value} took {how} in every round, as equal ones do in 1 of {cases} cases; --repeat {ENOUGH} shows more"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use results::run::{Aggregate, JobResult, Verdict};

    use super::*;

    #[test]
    fn few_rounds_that_agree_are_no_proof() {
        let text = all_rounds("FAIL", "less", 3);
        assert!(text.contains("1 of 4 cases; --repeat 6"), "{text}");
        assert_eq!(
            all_rounds("FAIL", "longer", 6),
            "FAIL took longer in every round"
        );
    }

    /// Runs of so many seconds and MB/s, the third of which has a job that failed.
    fn runs(figures: &[(f64, f64)]) -> Vec<RunResult> {
        let run = |(at, (elapsed_s, rate)): (usize, &(f64, f64))| {
            let exit = if at == 2 { 2 } else { 0 };
            RunResult {
                engine: None,
                schema: results::SCHEMA.to_owned(),
                run: format!("run {at}"),
                suite: "s".to_owned(),
                scale: 1.0,
                verdict: Verdict {
                    result: "fail".to_owned(),
                    ..Verdict::default()
                },
                jobs: vec![JobResult {
                    real_s: Some(*elapsed_s),
                    exit: Some(exit),
                    verified: Some(true),
                    ..JobResult::unknown("a")
                }],
                channels: BTreeMap::new(),
                aggregate: Aggregate {
                    elapsed_s: Some(*elapsed_s),
                    mb_per_s_flushed: Some(*rate),
                    mb_per_s_per_core: Some(rate / 2.0),
                    ..Aggregate::default()
                },
                nodes: Vec::new(),
                disturbance: Vec::new(),
                sustained_peak: None,
                drift: None,
                not_measured: Vec::new(),
                audits: Vec::new(),
            }
        };
        figures.iter().enumerate().map(run).collect()
    }

    #[test]
    fn runs_with_failed_jobs_are_shown_and_do_not_count() {
        let figures = [(90.0, 110.0), (110.0, 90.0), (9.0, 1000.0)];
        let all = runs(&figures);
        let ladder_of: Vec<(u64, RunResult)> = [1, 2, 4].into_iter().zip(all.clone()).collect();
        let names = ["A".to_owned(), "B".to_owned()];
        let values = ["B", "A", "A", "B"].map(str::to_owned);
        let rounds = [figures, figures].concat();
        let rounds: Vec<(String, RunResult)> = values.into_iter().zip(runs(&rounds)).collect();
        insta::assert_snapshot!(
            [
                repeated(&all),
                repeated(&all[1..]),
                ladder(&results::series::ladder(&ladder_of)),
                options(&results::series::options("X", &names, &rounds)),
                options(&results::series::options("X", &names, &rounds[1..3])),
            ]
            .join("\n")
        );
    }
}
