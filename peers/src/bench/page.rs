//! The figures as Markdown, in `docs/benchmarks`.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::Result;

use super::groups::Group;
use super::{Measured, Options, Subject};
use crate::places::root;

/// The table of a group, and whether ours reaches what it must.
pub(super) fn group(group: &Group, measured: &[Measured]) -> String {
    let mut text = format!("## {}\n\n", group.title);
    text.push_str(
        "| | CPU s: min, median, max | MB per CPU s | wall s, median | others' load, cores \
        | ours : it, by CPU | by wall |\n|---|---|---|---|---|---|---|\n",
    );
    let Some(ours) = measured.first() else {
        return text;
    };
    let speed =
        |other: &Measured| other.median(|sample| sample.cpu_s) / ours.median(|sample| sample.cpu_s);
    let wall = |other: &Measured| {
        other.median(|sample| sample.wall_s) / ours.median(|sample| sample.wall_s)
    };
    for one in measured {
        let cpu = one.sorted(|sample| sample.cpu_s);
        let ends = (cpu.first(), cpu.last());
        let _ = writeln!(
            text,
            "| {} | {:.2}, {:.2}, {:.2} | {:.0} | {:.2} | {:.1} | {:.2} | {:.2} |",
            one.name,
            ends.0.copied().unwrap_or(f64::NAN),
            one.median(|sample| sample.cpu_s),
            ends.1.copied().unwrap_or(f64::NAN),
            one.rate(),
            one.median(|sample| sample.wall_s),
            one.median(|sample| sample.foreign_cores),
            speed(one),
            wall(one),
        );
    }
    let others = measured.get(1..).unwrap_or(&[]);
    let least = |ratio: &dyn Fn(&Measured) -> f64| {
        others
            .iter()
            .filter(|other| other.counts)
            .map(ratio)
            .fold(f64::MAX, f64::min)
    };
    let by_cpu = least(&speed);
    let _ = write!(
        text,
        "\nBy CPU, against the fastest: {by_cpu:.2}, wanted {:.2}: {}.",
        group.least,
        verdict(by_cpu >= group.least)
    );
    if let Some(wanted) = group.least_wall {
        let by_wall = least(&wall);
        let _ = write!(
            text,
            " By wall clock: {by_wall:.2}, wanted {wanted:.2}: {}.",
            verdict(by_wall >= wanted)
        );
    }
    text.push('\n');
    text
}

pub(super) fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "**missed**" }
}

/// Writes the page.
pub(super) fn write(options: &Options, commit: &str, groups: &[String]) -> Result<()> {
    let (title, name, introduction) = match options.subject {
        Subject::Format => (
            "Speed of reading and writing SAS7BDAT",
            "format",
            INTRODUCTION,
        ),
        Subject::Sort => (
            "Speed of the external sort",
            "sort",
            super::sort::INTRODUCTION,
        ),
        Subject::Engine => ("Speed of the engine", "engine", super::engine::INTRODUCTION),
        Subject::Calibration => (
            "Demand calibration beside its own file calls",
            "calibration",
            super::calibration::INTRODUCTION,
        ),
        Subject::Iotest => (
            "Raw throughput beside fio",
            "iotest",
            super::iotest::INTRODUCTION,
        ),
        Subject::Pace => (
            "Paced jobs beside their table",
            "pace",
            super::pace::INTRODUCTION,
        ),
        Subject::Squeeze => (
            "Speed of finding duplicate blocks",
            "squeeze",
            super::squeeze::INTRODUCTION,
        ),
        Subject::Logs => (
            "Speed of reading SAS logs",
            "logs",
            super::logs::INTRODUCTION,
        ),
    };
    let mut page = format!(
        "# {title}\n\n\
        `cargo xtask bench {name} --rows {}{} --rotations {}`, {}, commit {commit}.\n\n\
        {introduction}\n",
        options.rows,
        options
            .join_rows
            .map_or_else(String::new, |rows| format!(" --join-rows {rows}")),
        options.rotations,
        machine(),
    );
    for group in groups {
        let _ = write!(page, "\n{group}");
    }
    let path = root().join(format!("docs/benchmarks/{name}.md"));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, page)?;
    Ok(())
}

const INTRODUCTION: &str = "\
36 columns (30 numbers of 8 bytes, 6 texts of 2 to 40 bytes), rows of 336 bytes, pages of 64 KiB; the
files are in the page cache. Every contestant is a process of its own on one thread; they take turns,
each rotation begins with another one. CPU seconds are user and system time of the process (wait4);
Python's readers and the encoders tell the time after start-up and input. MB are 10^6 bytes of
decoded rows. miniz_oxide is shown for information: the bar is zlib itself. Others' load is what all
other processes kept busy meanwhile, in cores: with much of it, wall-clock figures say little. A ratio
above 1 means that ours is faster, by medians.";

fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpus.lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map_or("unknown processor", |(_, value)| value.trim())
            .to_owned()
    };
    let cores = cpus
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let kernel = said(&["uname", "-sr"]);
    format!("{} ({cores} virtual cores), {kernel}", field("model name"))
}

/// What is being measured.
pub(super) fn commit() -> String {
    let tree = root().display().to_string();
    said(&["git", "-C", &tree, "rev-parse", "--short", "HEAD"])
}

fn said(command: &[&str]) -> String {
    let output = command
        .split_first()
        .and_then(|(program, arguments)| Command::new(program).args(arguments).output().ok());
    output.map_or_else(String::new, |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}
