//! Speed, ours beside others: every contestant is a process; they take turns, and medians count.

mod calibration;
mod data;
mod engine;
mod groups;
mod iotest;
mod logs;
mod memory;
pub(crate) mod ours;
mod pace;
mod page;
mod rowgroups;
mod rowloop;
mod sort;
mod squeeze;

use std::fs;
use std::io::Read;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use io::process::Finished;

use crate::places::installed;
use groups::{Contestant, Group};
use memory::{Filler, Touched};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Subject {
    /// Reading, decoding, writing and compressing data sets
    Format,
    /// External sort, start-up and row hashes
    Sort,
    /// DATA steps, procedures and queries
    Engine,
    /// Jobs of demand-calibration beside a loop that makes the same file calls
    Calibration,
    /// Paced jobs beside their table, and many of them on few cores
    Pace,
    /// Raw throughput beside fio
    Iotest,
    /// Reading SAS logs
    Logs,
    /// Finding duplicate blocks
    Squeeze,
}

/// Arguments of `cargo xtask bench format`, `sort`, `engine`, `calibration`, `pace`, `iotest`, `logs` and `squeeze`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// What is measured
    subject: Subject,
    /// Rows: 6,400,000 of format's 336 bytes make 2 GiB; the bars of sort and engine are for
    /// 10,000,000 of 360, that of calibration for 10,000,000 sales
    #[arg(long, default_value_t = 400_000)]
    rows: u64,
    /// Rows of the long tables that engine joins, 24 bytes each [default: as many as rows]
    #[arg(long)]
    join_rows: Option<u64>,
    /// How often every contestant runs
    #[arg(long, default_value_t = 5)]
    rotations: usize,
    /// Only groups whose name contains this; the page is not written then
    #[arg(long, default_value = "")]
    only: String,
    /// Where the measured files lie
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// One run of a contestant.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// User and system CPU seconds.
    cpu_s: f64,
    wall_s: f64,
    /// Cores that others kept busy meanwhile.
    foreign_cores: f64,
    /// What it found, where it tells.
    result: Option<f64>,
}

/// All runs of a contestant.
#[derive(Debug)]
struct Measured {
    name: &'static str,
    /// Whether ours must be faster than it.
    counts: bool,
    /// The bytes it moved in each run.
    bytes: u64,
    samples: Vec<Sample>,
}

impl Measured {
    fn sorted(&self, value: fn(&Sample) -> f64) -> Vec<f64> {
        let mut values: Vec<f64> = self.samples.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn median(&self, value: fn(&Sample) -> f64) -> f64 {
        let values = self.sorted(value);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// MB of row bytes per second of CPU time, by the median.
    fn rate(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.median(|sample| sample.cpu_s)
    }
}

/// Measures all groups and writes the page.
pub(crate) fn run(options: &Options) -> Result<()> {
    if !matches!(
        options.subject,
        Subject::Calibration | Subject::Pace | Subject::Iotest | Subject::Logs | Subject::Squeeze
    ) {
        crate::install::check_python()?;
    }
    let folder = options.folder.clone();
    let folder = folder.unwrap_or_else(|| installed("bench"));
    fs::create_dir_all(&folder)?;
    // The tree may move on meanwhile.
    let commit = page::commit();
    let mut results = Vec::new();
    let groups = match options.subject {
        Subject::Format => groups::all(options.rows, &folder),
        Subject::Sort => sort::all(options.rows, &folder)?,
        Subject::Logs => logs::all(options.rows, &folder),
        Subject::Squeeze => squeeze::all(options.rows, &folder),
        Subject::Engine => return engine::run(options, &folder, &commit),
        Subject::Calibration => return calibration::run(options, &folder, &commit),
        Subject::Pace => return pace::run(options, &folder, &commit),
        Subject::Iotest => return iotest::run(options, &folder, &commit),
    };
    for group in groups {
        if !group.title.contains(&options.only) {
            continue;
        }
        eprintln!("{}", group.title);
        let measured = measure(&group, options.rotations, Touched::Most)?;
        let text = page::group(&group, &measured);
        println!("{text}");
        results.push(text);
    }
    if options.only.is_empty() {
        page::write(options, &commit, &results)?;
    }
    Ok(())
}

fn measure(group: &Group, rotations: usize, touched: Touched) -> Result<Vec<Measured>> {
    group.files.iter().try_for_each(data::ensure)?;
    let blank = |contestant: &Contestant| Measured {
        name: contestant.name,
        counts: contestant.counts,
        bytes: contestant.bytes,
        samples: Vec::new(),
    };
    let mut measured: Vec<Measured> = group.contestants.iter().map(blank).collect();
    let mut filler = Filler::new(group.files[0].path().with_file_name("filler"));
    for rotation in 0..rotations {
        if !group.cold {
            group.files.iter().try_for_each(data::warm)?;
        }
        // Each rotation begins with another one, so that nobody always follows the same.
        for turn in 0..measured.len() {
            let index = (turn + rotation) % measured.len();
            let contestant = &group.contestants[index];
            if let Some(file) = &contestant.removes {
                remove(file);
            }
            // What the run before left to be written must not be written during this one.
            Command::new("sync").status()?;
            if group.cold {
                group.files.iter().try_for_each(data::evict)?;
                // The program itself is not what is measured.
                let _ = fs::read(&contestant.command[0]);
                filler.fill()?;
            } else if contestant.removes.is_some() {
                memory::touch(touched.of(contestant.bytes))?;
            }
            let sample = sample(contestant)
                .with_context(|| format!("{}: {}", group.title, group.contestants[index].name))?;
            eprintln!(
                "  {}: {:.2} s CPU, {:.2} s",
                measured[index].name, sample.cpu_s, sample.wall_s
            );
            measured[index].samples.push(sample);
        }
    }
    Ok(measured)
}

fn sample(contestant: &Contestant) -> Result<Sample> {
    let (program, arguments) = contestant.command.split_first().context("a command")?;
    let (busy, start) = (busy_s()?, Instant::now());
    let mut child = Command::new(program)
        .args(arguments)
        .env("POLARS_MAX_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{program} cannot be started"))?;
    let finished = loop {
        match io::process::try_wait(child.id())? {
            Some(finished) => break finished,
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let wall_s = start.elapsed().as_secs_f64();
    let busy_s = busy_s()? - busy;
    let cpu_s = (finished.user + finished.system).as_secs_f64();
    let (mut said, mut complained) = (String::new(), String::new());
    child
        .stdout
        .take()
        .context("piped")?
        .read_to_string(&mut said)?;
    child
        .stderr
        .take()
        .context("piped")?
        .read_to_string(&mut complained)?;
    if finished.exit != Some(0) {
        bail!("it ended with {:?}: {complained}{said}", finished.exit);
    }
    if let Some(file) = &contestant.removes {
        remove(file);
    }
    if let Some(rows) = contestant.rows
        && field(&said, "rows") != Some(rows as f64)
    {
        bail!("it did not read {rows} rows: {said}");
    }
    Ok(Sample {
        // Interpreters tell the time after their start-up, which is not theirs to lose.
        cpu_s: field(&said, "cpu_s").unwrap_or(cpu_s),
        wall_s: field(&said, "wall_s").unwrap_or(wall_s),
        foreign_cores: ((busy_s - cpu_s) / wall_s).max(0.0),
        result: field(&said, "result"),
    })
}

/// Most contestants leave a file, DuckDB also a folder; the first time neither is there.
fn remove(file: &Path) {
    let _ = fs::remove_file(file);
    let _ = fs::remove_dir_all(file.with_extension("tmp"));
}

/// Waits for a program of which only the end counts.
fn finished(process_id: u32) -> Result<Finished> {
    let handle = io::process::handle(process_id).context("no handle on a job")?;
    loop {
        io::process::wait_for_any(&[handle.as_fd()], Duration::from_mins(1))?;
        if let Some(finished) = io::process::try_wait(process_id)? {
            return Ok(finished);
        }
    }
}

fn sampled(cpu_s: f64, wall_s: f64, busy_before: f64) -> Result<Sample> {
    let busy = busy_s()? - busy_before;
    Ok(Sample {
        cpu_s,
        wall_s,
        foreign_cores: ((busy - cpu_s) / wall_s).max(0.0),
        result: None,
    })
}

/// A program that was built together with this one.
fn beside(name: &str) -> String {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("peers"));
    own.with_file_name(name).display().to_string()
}

/// The engine's binary.
fn gristmill() -> String {
    beside("gristmill")
}

/// The number of `name=…` in what a program printed.
fn field(text: &str, name: &str) -> Option<f64> {
    text.split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// Seconds that all cores together have been busy since the machine started.
fn busy_s() -> Result<f64> {
    /// The unit of `/proc/stat` on every Linux there is.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = fs::read_to_string("/proc/stat")?;
    let line = text.lines().next().unwrap_or("");
    let ticks: Vec<f64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    // user, nice, system, idle, iowait, irq, softirq, steal.
    let busy = [0, 1, 2, 5, 6, 7].map(|at| ticks.get(at).copied().unwrap_or(0.0));
    Ok(busy.iter().sum::<f64>() / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "rows=12 cpu_s=0.5\n";
        assert_eq!(field(text, "rows"), Some(12.0));
        assert_eq!(field(text, "cpu_s"), Some(0.5));
        assert_eq!(field(text, "wall_s"), None);
    }

    #[test]
    fn the_median_is_the_middle_one() {
        let sample = |cpu_s| Sample {
            cpu_s,
            wall_s: 1.0,
            foreign_cores: 0.0,
            result: None,
        };
        let measured = Measured {
            name: "x",
            counts: true,
            bytes: 6_000_000,
            samples: [3.0, 1.0, 2.0].map(sample).to_vec(),
        };
        assert!((measured.rate() - 3.0).abs() < 1e-9);
    }
}
