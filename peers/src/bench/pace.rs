//! Paced jobs beside their table, and how few cores stand in for many.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::data::{self, Input};
use super::groups::other;
use super::{Options, Sample, busy_s, finished, gristmill, page, sampled};
use crate::places::{own, root};

/// Bytes of a row of `programs/engine/table.toml`.
const ROW_BYTES: f64 = 360.0;
/// How far a job's rate may be from its table's.
const NEAR: f64 = 0.03;
/// Steps of one pass over the table: kind of the pace, program.
const KINDS: [(&str, &str); 3] = [("DATA", "scan1"), ("MEANS", "means1"), ("REG", "reg")];
const JOBS: usize = 64;
/// What they may take of the processors.
const SHARE: f64 = 0.2;
/// Of the table's CPU time.
const FACTORS: [f64; 3] = [1.0, 4.0, 10.0];

/// What stands above the figures.
pub(super) const INTRODUCTION: &str = "\
Rows of 360 bytes in the page cache, pages of 128 KiB, the built-in table. First single jobs that compute
(`--pace sas`, CPUCOUNT=1): elapsed time of the step that reads all rows beside what the table says of so many bytes and
rows. Then 64 jobs at once that wait instead of computing (`--pace-by sleep`): CPU seconds, user and system, of all of
them over those that the processors have meanwhile. Beside them dd reads the same bytes as often in pieces of the
same size and does nothing with them: no program that reads them takes less. Jobs and dd take turns. Others' load is
what all else kept busy meanwhile, in cores.";

/// The part of the engine's table that is needed.
#[derive(Deserialize)]
struct Table {
    kind: BTreeMap<String, Kind>,
}

#[derive(Deserialize)]
struct Kind {
    like: Option<String>,
    s_per_step: Option<f64>,
    s_per_mb: Option<f64>,
    s_per_million_rows: Option<f64>,
}

/// What a job's record says of a step.
#[derive(Deserialize)]
struct Step {
    real_s: f64,
}

struct Places {
    folder: PathBuf,
    rows: u64,
    gristmill: String,
    table: Table,
}

/// Measures and writes the page.
pub(super) fn run(options: &Options, folder: &Path, commit: &str) -> Result<()> {
    let table = root().join("crates/engine/src/pace/table.toml");
    let places = Places {
        folder: folder.to_owned(),
        rows: options.rows,
        gristmill: gristmill(),
        table: toml::from_str(&fs::read_to_string(table)?)?,
    };
    data::ensure(&places.input())?;
    data::warm(&places.input())?;
    let texts = [
        places.rates(options.rotations)?,
        places.many(options.rotations)?,
    ];
    for text in &texts {
        println!("{text}");
    }
    page::write(options, commit, &texts)
}

impl Places {
    fn name(&self) -> String {
        format!("table{}", self.rows)
    }

    fn input(&self) -> Input {
        let recipe = own("programs/engine/table.toml").display().to_string();
        let rows = self.rows.to_string();
        let mut command = vec![self.gristmill.as_str(), "data", "gen", "--recipe", &recipe];
        command.extend(["--rows", &rows, "--seed", "1", "--bufsize", "128k", "{}"]);
        Input::Made {
            path: self.folder.join(format!("{}.sas7bdat", self.name())),
            command: other(&command),
        }
    }

    fn megabytes(&self) -> f64 {
        self.rows as f64 * ROW_BYTES / 1e6
    }

    /// Seconds that the table says of a step that reads all rows once.
    fn owed(&self, kind: &str) -> Result<f64> {
        let of = |value: fn(&Kind) -> Option<f64>| {
            let mut kind = kind;
            loop {
                let found = self.table.kind.get(kind);
                let found = found.with_context(|| format!("the table has no kind {kind}"))?;
                match (value(found), &found.like) {
                    (Some(value), _) => return anyhow::Ok(value),
                    (None, Some(like)) => kind = like,
                    (None, None) => return Ok(0.0),
                }
            }
        };
        let rows = self.rows as f64 / 1e6;
        Ok(of(|kind| kind.s_per_step)?
            + of(|kind| kind.s_per_mb)? * self.megabytes()
            + of(|kind| kind.s_per_million_rows)? * rows)
    }

    /// Where a job keeps its records.
    fn steps(&self, job: usize) -> PathBuf {
        self.folder.join(format!("pace{job}.jsonl"))
    }

    fn job(&self, program: &str, job: usize, pace: &[&str]) -> Command {
        let program = own(&format!("programs/engine/{program}.sas"));
        let mut command = Command::new(&self.gristmill);
        command.arg("exec").arg(program).arg("--libname");
        command.arg(format!("d={}", self.folder.display()));
        command.arg("--set").arg(format!("in={}", self.name()));
        command.arg("--work").arg(&self.folder);
        command.arg("--steps").arg(self.steps(job));
        command.args(["--log", "/dev/null", "--print", "/dev/null"]);
        command.args(["--option", "CPUCOUNT=1"]).args(pace);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Elapsed time of the first step of a single job, and what it cost.
    fn single(&self, program: &str) -> Result<(f64, Sample)> {
        let sample = together(vec![self.job(program, 0, &["--pace", "sas"])])?;
        let steps = fs::read_to_string(self.steps(0))?;
        fs::remove_file(self.steps(0))?;
        let first: Step = serde_json::from_str(steps.lines().next().context("a step")?)?;
        Ok((first.real_s, sample))
    }

    fn rates(&self, rotations: usize) -> Result<String> {
        let mut found: Vec<Vec<(f64, Sample)>> = vec![Vec::new(); KINDS.len()];
        for rotation in 0..rotations {
            for turn in 0..KINDS.len() {
                let index = (turn + rotation) % KINDS.len();
                found[index].push(self.single(KINDS[index].1)?);
            }
        }
        let mut text = "## A job's rate beside its table's\n\n\
            | kind | by the table, s | elapsed s: min, median, max | MB/s | off | others' load, cores | |\n\
            |---|---:|---|---:|---:|---:|---|\n"
            .to_owned();
        for ((kind, _), mut runs) in KINDS.into_iter().zip(found) {
            let owed = self.owed(kind)?;
            runs.sort_by(|one, other| one.0.total_cmp(&other.0));
            let (median_s, sample) = runs[runs.len() / 2];
            let off = median_s / owed - 1.0;
            let _ = writeln!(
                text,
                "| {kind} | {owed:.3} | {:.3}, {median_s:.3}, {:.3} | {:.0} | {:+.1} % | {:.2} | {} |",
                runs[0].0,
                runs[runs.len() - 1].0,
                self.megabytes() / median_s,
                100.0 * off,
                sample.foreign_cores,
                page::verdict(off.abs() <= NEAR),
            );
        }
        Ok(text)
    }

    fn sleepers(&self, factor: f64) -> Result<Sample> {
        let factor = factor.to_string();
        let pace = ["--pace", &factor, "--pace-by", "sleep"];
        let jobs = (0..JOBS).map(|job| self.job("means1", job, &pace));
        let sample = together(jobs.collect());
        for job in 0..JOBS {
            let _ = fs::remove_file(self.steps(job));
        }
        sample
    }

    fn readers(&self) -> Result<Sample> {
        let file = format!("if={}", self.input().path().display());
        let dd = || {
            let mut command = Command::new("dd");
            command.args([&file, "of=/dev/null", "bs=128k", "status=none"]);
            command
        };
        together((0..JOBS).map(|_| dd()).collect())
    }

    fn many(&self, rotations: usize) -> Result<String> {
        let mut jobs: Vec<Vec<Sample>> = vec![Vec::new(); FACTORS.len()];
        let mut readers = Vec::new();
        for rotation in 0..rotations {
            for turn in 0..=FACTORS.len() {
                match (turn + rotation) % (FACTORS.len() + 1) {
                    index if index < FACTORS.len() => {
                        jobs[index].push(self.sleepers(FACTORS[index])?);
                    }
                    _ => readers.push(self.readers()?),
                }
            }
        }
        let cores = std::thread::available_parallelism()?.get() as f64;
        let reading = median(&readers, |sample| sample.cpu_s);
        let moved = self.megabytes() * JOBS as f64;
        let mut text = format!(
            "## {JOBS} jobs at once that wait\n\n\
            MEANS over {:.0} MB each. dd takes {reading:.2} CPU seconds for the same bytes.\n\n\
            | pace | wall s | MB/s of a job | CPU s: min, median, max | of {cores} processors | dd alone would take \
            | others' load, cores | below {:.0} % |\n|---|---:|---:|---|---:|---:|---:|---|\n",
            self.megabytes(),
            100.0 * SHARE,
        );
        for (factor, runs) in FACTORS.into_iter().zip(&jobs) {
            let wall_s = median(runs, |sample| sample.wall_s);
            let cpu_s = median(runs, |sample| sample.cpu_s);
            let least = runs.iter().map(|run| run.cpu_s).fold(f64::MAX, f64::min);
            let most = runs.iter().map(|run| run.cpu_s).fold(0.0, f64::max);
            let share = |cpu_s: f64| cpu_s / wall_s / cores;
            let _ = writeln!(
                text,
                "| {factor} | {wall_s:.1} | {:.1} | {least:.2}, {cpu_s:.2}, {most:.2} | {:.1} % | {:.1} % \
                | {:.2} | {} |",
                moved / JOBS as f64 / wall_s,
                100.0 * share(cpu_s),
                100.0 * share(reading),
                median(runs, |sample| sample.foreign_cores),
                page::verdict(share(cpu_s) < SHARE),
            );
        }
        Ok(text)
    }
}

fn median(samples: &[Sample], value: fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs programs side by side.
fn together(commands: Vec<Command>) -> Result<Sample> {
    let (busy, start) = (busy_s()?, Instant::now());
    let children: Vec<Child> = commands
        .into_iter()
        .map(|mut command| command.spawn())
        .collect::<Result<_, _>>()?;
    let mut cpu_s = 0.0;
    for child in &children {
        let finished = finished(child.id())?;
        if finished.exit != Some(0) {
            bail!("a job ended with {:?}", finished.exit);
        }
        cpu_s += (finished.user + finished.system).as_secs_f64();
    }
    sampled(cpu_s, start.elapsed().as_secs_f64(), busy)
}
