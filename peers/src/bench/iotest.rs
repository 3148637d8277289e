//! `gristmill iotest` beside fio, which writes and reads the same files in the same pieces.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Options, gristmill, page};

/// Streams of each, one for each processor of two.
const STREAMS: &str = "2";
const FILE: &str = "512m";
/// What is cached is read again for so long.
const WARM_SECONDS: &str = "4";
/// What is compared, and what ours must reach.
const KINDS: [(&str, f64); 3] = [
    ("write, flushed", 0.95),
    ("read, cold", 0.95),
    ("read, cached", 1.0),
];

/// What stands above the figures.
pub(super) const INTRODUCTION: &str = "\
Two streams, files of 512 MiB, pieces of 128 KiB, random data, through the page cache: one call a piece (fio:
psync), flushed at the end of a write (fio: end_fsync), evicted before a cold read (fio: invalidate); cached,
what the write left in the page cache is read again for four seconds (fio: time_based). The rates are those
that each prints, of all streams together, MB/s (10^6). They take turns, each round begins with the other one.
All of a write goes to the page cache first: the time until the flush begins is the processors', and lasts
longer where they are busy.";

/// The rates of a round, by kind.
type Rates = [f64; KINDS.len()];

/// Measures and writes the page.
pub(super) fn run(options: &Options, folder: &Path, commit: &str) -> Result<()> {
    let version = said(Command::new("fio").arg("--version"))?;
    let folder = folder.join("iotest");
    fs::create_dir_all(&folder)?;
    let (mut ours, mut fios) = (Vec::new(), Vec::new());
    for rotation in 0..options.rotations {
        for turn in 0..2 {
            let is_ours = (rotation + turn) % 2 == 0;
            let rates = if is_ours {
                of_ours(&folder)?
            } else {
                of_fio(&folder)?
            };
            eprintln!("  {}: {rates:.0?}", if is_ours { "ours" } else { "fio" });
            if is_ours {
                ours.push(rates);
            } else {
                fios.push(rates);
            }
        }
    }
    fs::remove_dir_all(&folder)?;
    let text = table(&ours, &fios, version.trim());
    println!("{text}");
    page::write(options, commit, &[text])
}

fn table(ours: &[Rates], fios: &[Rates], version: &str) -> String {
    let mut text = format!(
        "## Beside {version}\n\n| | ours, MB/s: min, median, max | fio, MB/s | ours : fio, by medians | wanted | |\n\
         |---|---|---|---:|---:|---|\n"
    );
    for (at, (kind, wanted)) in KINDS.into_iter().enumerate() {
        let sorted = |rates: &[Rates]| {
            let mut values: Vec<f64> = rates.iter().map(|rates| rates[at]).collect();
            values.sort_by(f64::total_cmp);
            [
                values[0],
                values[values.len() / 2],
                values[values.len() - 1],
            ]
        };
        let (ours, fios) = (sorted(ours), sorted(fios));
        let three = |[least, median, most]: [f64; 3]| format!("{least:.0}, {median:.0}, {most:.0}");
        let ratio = ours[1] / fios[1];
        let _ = writeln!(
            text,
            "| {kind} | {} | {} | {ratio:.2} | {wanted:.2} | {} |",
            three(ours),
            three(fios),
            page::verdict(ratio >= wanted),
        );
    }
    text
}

fn of_ours(folder: &Path) -> Result<Rates> {
    let rates = |more: &[&str]| -> Result<[f64; 2]> {
        let mut command = Command::new(gristmill());
        command.arg("iotest").arg(folder);
        command.args([
            "--streams",
            STREAMS,
            "--size",
            FILE,
            "--phases",
            "write,read",
            "--json",
        ]);
        let found: Value = serde_json::from_str(&said(command.args(more))?)?;
        let value = |name: &str| {
            let all = found["measurements"].as_array();
            let one = all.and_then(|all| all.iter().find(|one| one["name"] == name));
            let value = one.and_then(|one| one["value"].as_f64());
            value.with_context(|| format!("iotest tells no {name}"))
        };
        Ok([value("write_mb_per_s")?, value("read_mb_per_s")?])
    };
    let [write, cold] = rates(&[])?;
    Ok([
        write,
        cold,
        rates(&["--warm", "--seconds", WARM_SECONDS])?[1],
    ])
}

fn of_fio(folder: &Path) -> Result<Rates> {
    let rate = |kind: &str, more: &[&str]| -> Result<f64> {
        let mut command = Command::new("fio");
        command.args([
            "--name=fio",
            "--ioengine=psync",
            "--bs=128k",
            "--group_reporting",
        ]);
        command.arg(format!("--directory={}", folder.display()));
        command.args([&format!("--numjobs={STREAMS}"), &format!("--size={FILE}")]);
        command
            .args([&format!("--rw={kind}"), "--output-format=json"])
            .args(more);
        let found: Value = serde_json::from_str(&said(&mut command)?)?;
        let rate = found["jobs"][0][kind]["bw_bytes"].as_f64();
        Ok(rate.context("fio tells no rate")? / 1e6)
    };
    let write = rate("write", &["--end_fsync=1", "--fallocate=none"])?;
    // As with ours, the page cache holds what the write left there: a read leaves other sizes of folios.
    let time = format!("--runtime={WARM_SECONDS}");
    let warm = rate("read", &["--invalidate=0", "--time_based", &time])?;
    let cold = rate("read", &["--invalidate=1"])?;
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    Ok([write, cold, warm])
}

fn said(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.with_context(|| format!("{program} cannot be started"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
