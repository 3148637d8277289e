//! Jobs of the suite `demand-calibration` beside a bare loop that makes the very same file calls.

mod disk;
mod page;
pub(super) mod replay;
mod trace;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{Options, Sample, beside, busy_s, field, finished, gristmill, sampled};
use crate::places::root;
use disk::{Disk, said};
pub(super) use page::INTRODUCTION;
use trace::Trace;

/// What ours must reach, by the clock.
const WANTED: f64 = 0.7;
const FILE_SYSTEMS: [&str; 2] = ["ext4", "xfs"];
/// Jobs at a time, as on one physical core of two threads.
const MODELS: [u64; 2] = [1, 2];
/// A sparse file: what two jobs need at scale 1, with room.
const DISK_BYTES: u64 = 24 << 30;
/// Touched before every run: what two jobs write, about.
const TOUCHED_BYTES: u64 = 6 << 30;
/// Rows of sales at the paper's size, to which scale 1 belongs.
const SALES_ROWS: u64 = 10_000_000;

/// What the suite's description says.
#[derive(Deserialize)]
struct Suite {
    options: BTreeMap<String, String>,
    parameters: BTreeMap<String, Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    value: Option<u64>,
}

/// Where a file system's measurement takes place.
struct Places {
    suite: Suite,
    disk: Disk,
    /// Logs, records of steps and recorded calls, elsewhere.
    notes: PathBuf,
    gristmill: String,
}

/// Both contestants on one file system.
struct Beside {
    file_system: &'static str,
    /// The calls of the first job.
    trace: Trace,
    ours: Vec<Sample>,
    replay: Vec<Sample>,
}

/// Measures and writes the page.
pub(super) fn run(options: &Options, folder: &Path, commit: &str) -> Result<()> {
    for file_system in FILE_SYSTEMS {
        if !file_system.contains(&options.only) {
            continue;
        }
        let beside =
            on(file_system, options, folder).with_context(|| format!("on {file_system}"))?;
        let text = page::file_system(&beside);
        println!("{text}");
        page::keep(&notes(folder), file_system, commit, &text)?;
    }
    page::write(options, &notes(folder), commit)
}

fn on(file_system: &'static str, options: &Options, folder: &Path) -> Result<Beside> {
    let described = root().join("suites/demand-calibration/suite.toml");
    let notes = notes(folder);
    fs::create_dir_all(&notes)?;
    let places = Places {
        suite: toml::from_str(&fs::read_to_string(described)?)?,
        disk: Disk::make(file_system, DISK_BYTES, folder)?,
        notes,
        gristmill: gristmill(),
    };
    eprintln!("{file_system}: making the inputs");
    places.stage(options.rows)?;
    let mut traces = Vec::new();
    for model in MODELS {
        eprintln!("{file_system}: recording model {model}");
        traces.push(places.record(model)?);
    }
    let mut beside = Beside {
        file_system,
        trace: traces.swap_remove(0),
        ours: Vec::new(),
        replay: Vec::new(),
    };
    let mut marts = Vec::new();
    for rotation in 0..options.rotations {
        for turn in 0..2 {
            places.prepare()?;
            // Each rotation begins with the other one.
            let (name, sample) = if (rotation + turn) % 2 == 0 {
                let sample = places.ours()?;
                beside.ours.push(sample);
                ("ours", sample)
            } else {
                let sample = places.replay()?;
                beside.replay.push(sample);
                ("replay", sample)
            };
            eprintln!(
                "  {name}: {:.2} s CPU, {:.2} s, others {:.2} cores",
                sample.cpu_s, sample.wall_s, sample.foreign_cores
            );
            marts.push(places.mart()?);
        }
    }
    if marts.windows(2).any(|two| two[0] != two[1]) {
        bail!("the contestants left different files in the mart");
    }
    Ok(beside)
}

impl Places {
    fn below(&self, name: &str) -> PathBuf {
        self.disk.mounted.join(name)
    }

    fn stage(&self, rows: u64) -> Result<()> {
        let scale = format!("{}", rows as f64 / SALES_ROWS as f64);
        let data = self.disk.mounted.display().to_string();
        let stage = [&self.gristmill, "stage", "demand-calibration", "--data"];
        said(&[&stage[..], &[&data, "--scale", &scale]].concat())?;
        let staged = found(&self.disk.mounted, "sales.sas7bdat")?;
        fs::rename(staged, self.below("in"))?;
        Ok(())
    }

    /// What a run of the suite starts for a model.
    fn job(&self, model: u64) -> Result<Vec<String>> {
        let program = root().join("suites/demand-calibration/programs/calibrate.sas");
        let note = |ending: &str| self.notes.join(format!("model_{model}.{ending}"));
        let mut command = vec![self.gristmill.clone(), "exec".to_owned()];
        let mut add = |flag: &str, value: String| command.extend([flag.to_owned(), value]);
        for libref in ["in", "out"] {
            let folder = self.below(libref);
            add("--libname", format!("{libref}={}", folder.display()));
        }
        for (flag, path) in [
            ("--work", self.below("work")),
            ("--util", self.below("work")),
            ("--log", note("log")),
            ("--print", note("lst")),
            ("--steps", note("jsonl")),
        ] {
            add(flag, path.display().to_string());
        }
        let parameter = |name: &str| {
            let found = self.suite.parameters.get(name).and_then(|one| one.value);
            found.with_context(|| format!("the suite has no parameter {name}"))
        };
        add("--set", format!("model={model}"));
        add("--set", format!("seed={model}001"));
        for name in ["temp_files", "perm_sets"] {
            add("--set", format!("{name}={}", parameter(name)?));
        }
        for (name, value) in &self.suite.options {
            let set = if value.is_empty() {
                name.clone()
            } else {
                format!("{name}={value}")
            };
            add("--option", set);
        }
        // As in a run.
        let written = self.notes.join("written.jsonl");
        let more = ["--row-hashes=inputs".to_owned(), "--written".to_owned()];
        command.extend(more);
        command.extend([written, program].map(|path| path.display().to_string()));
        Ok(command)
    }

    fn recorded(&self, model: u64) -> PathBuf {
        self.notes.join(format!("model_{model}.strace"))
    }

    /// The root of all that is recorded, with a slash behind it.
    fn top(&self) -> String {
        format!("{}/", self.disk.mounted.display())
    }

    fn record(&self, model: u64) -> Result<Trace> {
        self.clear()?;
        let path = self.recorded(model);
        let to = path.display().to_string();
        let job = self.job(model)?;
        let mut command = vec!["strace", "-f", "-q", "-s", "0", "-e", "trace=%file,%desc"];
        command.extend(["-o", &to]);
        command.extend(job.iter().map(String::as_str));
        said(&command)?;
        trace::read(&fs::read_to_string(path)?, &self.top())
    }

    /// An empty mart and an empty directory for WORK.
    fn clear(&self) -> Result<()> {
        for name in ["out", "work"] {
            let folder = self.below(name);
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir(&folder)?;
        }
        Ok(())
    }

    fn prepare(&self) -> Result<()> {
        self.clear()?;
        self.disk.settle()?;
        for input in fs::read_dir(self.below("in"))? {
            std::io::copy(&mut fs::File::open(input?.path())?, &mut std::io::sink())?;
        }
        super::memory::touch(TOUCHED_BYTES)
    }

    /// All jobs, side by side.
    fn ours(&self) -> Result<Sample> {
        let mut children = Vec::new();
        let jobs: Vec<Vec<String>> = MODELS
            .iter()
            .map(|model| self.job(*model))
            .collect::<Result<_>>()?;
        let (busy, start) = (busy_s()?, Instant::now());
        for job in &jobs {
            children.push(piped(job).spawn()?);
        }
        let mut cpu_s = 0.0;
        for child in &children {
            let finished = finished(child.id())?;
            // 1: with warnings.
            if !matches!(finished.exit, Some(0 | 1)) {
                bail!("a job ended with {:?}", finished.exit);
            }
            cpu_s += (finished.user + finished.system).as_secs_f64();
        }
        sampled(cpu_s, start.elapsed().as_secs_f64(), busy)
    }

    /// The calls of all jobs again, side by side.
    fn replay(&self) -> Result<Sample> {
        let mut children: Vec<(Child, BufReader<_>)> = Vec::new();
        let mut said = String::new();
        for model in MODELS {
            let recorded = self.recorded(model).display().to_string();
            let command = [beside("peers"), "work".into(), "replay".into(), recorded];
            let mut child = piped(&[&command[..], &[self.top()]].concat()).spawn()?;
            let mut output = BufReader::new(child.stdout.take().context("piped")?);
            output.read_line(&mut said)?;
            children.push((child, output));
        }
        let (busy, start) = (busy_s()?, Instant::now());
        for (child, _) in &mut children {
            child.stdin.take().context("piped")?.write_all(b"go\n")?;
        }
        let mut cpu_s = 0.0;
        for (_, output) in &mut children {
            said.clear();
            output.read_line(&mut said)?;
            cpu_s += field(&said, "cpu_s").context("a replay failed; it says why above")?;
        }
        let sample = sampled(cpu_s, start.elapsed().as_secs_f64(), busy)?;
        for (mut child, _) in children {
            child.wait()?;
        }
        Ok(sample)
    }

    /// Names and lengths of all files of the mart.
    fn mart(&self) -> Result<BTreeMap<String, u64>> {
        fs::read_dir(self.below("out"))?
            .map(|entry| {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                Ok((name, entry.metadata()?.len()))
            })
            .collect()
    }
}

fn piped(command: &[String]) -> Command {
    let mut piped = Command::new(&command[0]);
    piped
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    piped
}

/// Where logs, recorded calls and figures lie.
fn notes(folder: &Path) -> PathBuf {
    folder.join("calibration")
}

/// The folder below `top` in which a file lies.
fn found(top: &Path, name: &str) -> Result<PathBuf> {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.join(name).is_file() {
            return Ok(folder);
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bail!("{name} was not staged below {}", top.display())
}
