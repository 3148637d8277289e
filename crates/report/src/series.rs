//! Tables of runs that one command made.

use std::fmt::Write;

use results::run::RunResult;
use results::series::{Ladder, Options, spread};
use results::statistics::summarize;

use crate::terminal::figure;

/// Rising load.
pub fn ladder(ladder: &Ladder) -> String {
    let mut out = format!(
        "{:>8} {:>10} {:>10} {:>12} {:>9}  {}\n",
        "Load", "elapsed s", "MB/s", "MB/s / core", "CPU/real", "verdict"
    );
    for rung in &ladder.rungs {
        let _ = writeln!(
            out,
            "{:>8} {:>10} {:>10} {:>12} {:>9}  {}",
            rung.load,
            figure(rung.elapsed_s, 2),
            figure(rung.mb_per_s, 1),
            figure(rung.mb_per_s_per_core, 1),
            figure(rung.cpu_real_ratio_of_sums, 3),
            rung.result.replace('_', " "),
        );
    }
    let or = |load: Option<u64>, none: &str| load.map_or(none.to_owned(), |load| load.to_string());
    let _ = writeln!(
        out,
        "Largest load that meets the requirements: {}",
        or(ladder.largest_that_passes, "none was shown to")
    );
    let known = ladder
        .rungs
        .last()
        .is_none_or(|rung| rung.mb_per_s.is_some());
    let none = if known {
        "not reached, throughput still rises"
    } else {
        "not known, the highest load has no throughput"
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
    let mut out = format!("{} equal runs\n", runs.len());
    let names = ["Elapsed, s", "Throughput, flush included, MB/s"];
    for (name, summary) in names.iter().zip(spread(runs)) {
        let text = match summary {
            None => "not known: a run has no such figure".to_owned(),
            Some(all) => format!(
                "mean {:.2}, standard deviation {:.2} ({:.1} %), from {:.2} to {:.2}",
                all.mean,
                all.deviation,
                100.0 * all.deviation / all.mean,
                all.min,
                all.max
            ),
        };
        let _ = writeln!(out, "  {name:<33} {text}");
    }
    out.push_str("  `gristmill compare` with their directories compares them job by job\n");
    out
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
        let (Some(mean), Some([least, most])) = (ratio.mean, ratio.range) else {
            let _ = writeln!(
                out,
                "Elapsed time {} / {}: not known, a run has none",
                ratio.value, ratio.against
            );
            continue;
        };
        let says = if least > 1.0 {
            all_rounds(&ratio.value, "longer", ratio.rounds.len())
        } else if most < 1.0 {
            all_rounds(&ratio.value, "less", ratio.rounds.len())
        } else {
            "no difference beyond the spread".to_owned()
        };
        let _ = writeln!(
            out,
            "Elapsed time {} / {}: {mean:.3} ({} rounds, {least:.3} to {most:.3}): {says}",
            ratio.value,
            ratio.against,
            ratio.rounds.len(),
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
}
