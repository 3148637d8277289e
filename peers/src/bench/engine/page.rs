//! The figures of a kind of programs as Markdown.

use std::fmt::Write as _;

use super::{Bar, Kind, Measured};
use crate::bench::page::verdict;

/// The steady rate of one core that a storage benchmark plans with, bytes a second.
const CORE_RATE: f64 = 150e6;

/// What stands above the figures.
pub(in crate::bench) const INTRODUCTION: &str = "\
Rows of 360 bytes (40 numbers, texts of 2, 8, 12 and 18 bytes), read from the page cache, which holds
them all; pages of 128 KiB; one thread unless said. Every contestant is a process of its own; they take
turns, each rotation begins with another one. The programs are peers/programs/engine/*.sas. A row loop
does the work of its program alone, by hand, over the same pages (peers/src/bench/rowloop.rs); DuckDB
reads and writes its own uncompressed database on one thread; Python's models read the same data set
with polars_readstat, which is counted, while their start-up is not; the encoder has its rows in memory
and is timed without reading them. Whoever prints a result must have found what the others found.
CPU seconds are user and system time of the process. MB are 10^6 bytes of rows read; x 150 is the rate
by the clock as a multiple of 150 MB/s. Before a run that writes, twice what it reads is touched
in memory: the host of a virtual machine takes free pages back, and the first to fill them pays. Cold
means that the file was taken out of the page cache, which others filled then, as on a host that has run for
days; dd reads the same file with blocks of 128 KiB and, beside a program that writes, copies as much of it
as that program writes. Others' load is what all other processes kept busy meanwhile, in cores: with much of
it, wall-clock figures say little. A ratio above 1 means that ours is faster, by medians; of several programs
the worst one counts.";

type All = [(String, Vec<Measured>)];

/// The table of a kind, and whether ours reaches what it must.
pub(super) fn kind(kind: &Kind, all: &All, skipped: &[&str]) -> String {
    let mut text = format!("## {}\n\n", kind.title);
    text.push_str(
        "| program | | CPU s: min, median, max | wall s: min, median, max | MB/s | x 150 \
        | others' load, cores | ours : it, by CPU | by wall |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for (title, measured) in all {
        for one in measured {
            row(&mut text, title, one, measured.first());
        }
    }
    text.push('\n');
    for bar in &kind.bars {
        verdict_of(&mut text, bar, all);
    }
    for name in skipped {
        let _ = writeln!(
            text,
            "{name}: SKIPPED, it is not installed (`cargo xtask peers install`)."
        );
    }
    text
}

fn row(text: &mut String, title: &str, one: &Measured, ours: Option<&Measured>) {
    let three = |values: &[f64], median: f64| {
        let end = |value: Option<&f64>| value.copied().unwrap_or(f64::NAN);
        let (least, most) = (end(values.first()), end(values.last()));
        format!("{least:.2}, {median:.2}, {most:.2}")
    };
    let cpu_s = one.median(|sample| sample.cpu_s);
    let wall_s = one.median(|sample| sample.wall_s);
    let rate = one.bytes as f64 / wall_s;
    let ratio = |by_wall| ours.map_or(f64::NAN, |ours| ratio(ours, one, by_wall));
    let _ = writeln!(
        text,
        "| {title} | {} | {} | {} | {:.0} | {:.1} | {:.1} | {:.2} | {:.2} |",
        one.name,
        three(&one.sorted(|sample| sample.cpu_s), cpu_s),
        three(&one.sorted(|sample| sample.wall_s), wall_s),
        rate / 1e6,
        rate / CORE_RATE,
        one.median(|sample| sample.foreign_cores),
        ratio(false),
        ratio(true),
    );
}

/// How many times as fast ours is.
fn ratio(ours: &Measured, other: &Measured, by_wall: bool) -> f64 {
    if by_wall {
        other.median(|sample| sample.wall_s) / ours.median(|sample| sample.wall_s)
    } else {
        other.median(|sample| sample.cpu_s) / ours.median(|sample| sample.cpu_s)
    }
}

/// The worst of the programs against the bar.
fn verdict_of(text: &mut String, bar: &Bar, all: &All) {
    let ratios = all.iter().filter_map(|(title, measured)| {
        let other = measured.iter().find(|one| one.name == bar.contestant)?;
        Some((ratio(measured.first()?, other, bar.by_wall), title))
    });
    let Some((worst, title)) = ratios.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return;
    };
    let _ = writeln!(
        text,
        "Against {} by {}: {worst:.2} at worst ({title}), wanted {}: {}.",
        bar.contestant,
        if bar.by_wall { "the clock" } else { "CPU" },
        bar.least,
        verdict(worst >= bar.least)
    );
}
