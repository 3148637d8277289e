//! Small files: how many are made, opened, looked at, renamed and removed in a second.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::agent::{Agent, Answer, Request};
use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::stream::ns;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "metadata",
    title: "Small files",
    shows: "how many files are made, looked at, opened, listed, renamed, removed and written (4 KiB) in a \
            second, by one process and by several at the same time, each in a folder of its own",
    why: "jobs make thousands of temporary files, and every data set is made under another name and renamed; file \
          systems that are shared coordinate each of these between hosts",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "each process of a calibration makes about 100 permanent data sets and 7,000 temporary files; \
                   some shared file systems failed under that load, and WORK belongs on one that is not shared",
        },
        Said {
            paper: papers::SURVEY,
            says: "metadata on volumes of their own, on flash, made GPFS and NFS servers respond much better",
        },
    ],
    needs: "",
    run,
};

/// Files of each process.
const FILES: u32 = 200;
const FILES_GENTLE: u32 = 50;

/// Temporary files of a process of a calibration.
const TEMPORARY_FILES: f64 = 7000.0;

/// Pause between operations of who is gentle.
const PAUSE_GENTLE: Duration = Duration::from_millis(4);

/// Operations that change nothing are repeated until they have taken so long: processes are to be at work at the
/// same time.
const TOGETHER: Duration = Duration::from_millis(30);

/// How long before they begin processes are told, each: time to be told in.
const AHEAD: Duration = Duration::from_micros(500);

/// Rounds at the most.
const ROUNDS: u32 = 7;

/// In the order in which they are done, with their names and what they are.
const OPERATIONS: [(Operation, &str, &str); 8] = [
    (Operation::Create, "create", "empty files made"),
    (Operation::Stat, "stat", "attributes read"),
    (Operation::Open, "open", "files opened and closed"),
    (Operation::List, "list", "names listed"),
    (Operation::Rename, "rename", "files renamed"),
    (Operation::Unlink, "unlink", "files removed"),
    (
        Operation::Write,
        "write_4k",
        "files of 4 KiB made, not flushed",
    ),
    (Operation::Clear, "unlink_4k", "files of 4 KiB removed"),
];

/// Rates of so many processes, by operation.
struct Rates {
    processes: u32,
    by_operation: [Sample; 8],
}

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    // With pauses between operations nobody works at the same time as others.
    let most = if ground.options.gentle {
        1
    } else {
        ground.options.processes
    };
    let mut agents = Vec::new();
    for number in 0..most {
        let folder = ground.path(&format!("p{number}"));
        fs::create_dir(&folder).map_err(|source| failed("make", &folder, source))?;
        agents.push(ground.agent()?);
    }
    let mut steps: Vec<Rates> = (0..u32::BITS)
        .map(|power| 1 << power)
        .take_while(|processes| *processes < most)
        .chain([most])
        .map(|processes| Rates {
            processes,
            by_operation: [const { Sample::new() }; 8],
        })
        .collect();
    ground.rounds(ground.options.time, ROUNDS, |_| {
        for step in &mut steps {
            let working = &mut agents[..step.processes as usize];
            for ((operation, ..), rates) in OPERATIONS.iter().zip(&mut step.by_operation) {
                ground.check()?;
                rates.extend(together(ground, working, *operation)?);
            }
        }
        Ok(())
    })?;
    for step in &steps {
        for ((_, name, what), rates) in OPERATIONS.iter().zip(&step.by_operation) {
            let name = format!("{name}_per_s_{}p", step.processes);
            let detail = format!("{what}, processes at the same time: {}", step.processes);
            report.sample(&name, rates, "1/s", &detail);
        }
    }
    interpret(report, &steps);
    Ok(())
}

/// All do the same at the same time; how often in a second, all together.
fn together(
    ground: &Ground<'_>,
    agents: &mut [Agent<'_>],
    operation: Operation,
) -> Result<Option<f64>, Error> {
    let gentle = ground.options.gentle;
    let time = ground.share_of_time(4);
    let begin_ns = now_ns() + ns(AHEAD) * (1 + agents.len() as u64);
    for (number, agent) in agents.iter_mut().enumerate() {
        agent.tell(&Request::Metadata {
            operation,
            folder: ground.name(&format!("p{number}")),
            files: if gentle { FILES_GENTLE } else { FILES },
            begin_ns,
            ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            pause_us: if gentle {
                u64::try_from(PAUSE_GENTLE.as_micros()).unwrap_or(0)
            } else {
                0
            },
        })?;
    }
    let mut all = Vec::new();
    for agent in agents {
        if let Answer::Worked(worked) = agent.hear(time)?.1 {
            all.push(worked);
        }
    }
    Ok(rate(&all))
}

/// Operations in a second: those of one process in the time it spent on them, without its pauses; those of several
/// from when the first began to when the last was done. Rates of their own would count, of processes that are not
/// at work at the same time, each as if it were.
fn rate(all: &[Worked]) -> Option<f64> {
    let count: u32 = all.iter().map(|one| one.count).sum();
    let spent_ns = match all {
        [one] => one.busy_ns,
        _ => {
            let begin = all.iter().map(|one| one.begin_ns).min()?;
            let end = all.iter().map(|one| one.end_ns).max()?;
            end.saturating_sub(begin)
        }
    };
    (count > 0).then(|| f64::from(count) * 1e9 / spent_ns.max(1) as f64)
}

fn interpret(report: &mut Report, steps: &[Rates]) {
    let (Some(one), Some(all)) = (steps.first(), steps.last()) else {
        return;
    };
    let rate = |wanted: Operation| {
        let place = OPERATIONS.iter().position(|(found, ..)| *found == wanted)?;
        one.by_operation.get(place)?.median()
    };
    // Made with its contents, looked at, renamed, removed.
    let needed = [
        Operation::Write,
        Operation::Stat,
        Operation::Rename,
        Operation::Unlink,
    ];
    let times: Option<Vec<f64>> = needed
        .into_iter()
        .map(|one| Some(1.0 / rate(one)?))
        .collect();
    if let Some(times) = times {
        let seconds = TEMPORARY_FILES * times.iter().sum::<f64>();
        report.says(format!(
            "the {TEMPORARY_FILES} temporary files of a process of a calibration, each made with 4 KiB, looked \
             at, renamed and removed, would cost one process {} s here",
            short(seconds)
        ));
    }
    if one.processes == all.processes {
        return;
    }
    let mut scaled = Vec::new();
    for ((_, name, _), (of_one, of_all)) in OPERATIONS
        .iter()
        .zip(one.by_operation.iter().zip(&all.by_operation))
    {
        if let Some(ratio) = of_all.apart(of_one) {
            scaled.push(format!("{name} {}", short(ratio)));
        }
    }
    let processes = all.processes;
    if scaled.is_empty() {
        report.not_apart(
            &format!("rates of {processes} processes and of one"),
            &all.by_operation[0],
        );
    } else {
        report.says(format!(
            "{processes} processes together have so many times the rate of one: {}",
            scaled.join(", ")
        ));
    }
}

/// What is done to each of many files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    /// An empty file is made.
    Create,
    /// Its attributes are read.
    Stat,
    /// It is opened and closed.
    Open,
    /// It gets another name in its folder.
    Rename,
    /// All names are listed; each counts.
    List,
    /// It is removed.
    Unlink,
    /// A file is made, and 4 KiB are written to it.
    Write,
    /// The files of `Write` are removed.
    Clear,
}

/// What one process did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Worked {
    /// Operations.
    count: u32,
    /// Time that they took.
    busy_ns: u64,
    /// When the first one began and the last one was done, by the host's monotonic clock.
    begin_ns: u64,
    end_ns: u64,
}

/// Bytes of a small file.
const SMALL: [u8; 4096] = [7; 4096];

/// The host's monotonic clock, the same for all processes.
fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Sleeps until then.
pub(super) fn wait_until(at_ns: u64) {
    thread::sleep(Duration::from_nanos(at_ns.saturating_sub(now_ns())));
}

/// Does one operation to `files` files of a folder, or to as many as the time allows.
pub(super) fn work(
    folder: &Path,
    operation: Operation,
    files: u32,
    until: Instant,
    pause: Duration,
) -> io::Result<Worked> {
    let begin_ns = now_ns();
    let (count, busy) = repeat(folder, operation, files, until, pause)?;
    Ok(Worked {
        count,
        busy_ns: ns(busy),
        begin_ns,
        end_ns: now_ns(),
    })
}

/// How many operations there were, and in what time.
fn repeat(
    folder: &Path,
    operation: Operation,
    files: u32,
    until: Instant,
    pause: Duration,
) -> io::Result<(u32, Duration)> {
    let makes = matches!(operation, Operation::Create | Operation::Write);
    let changes_nothing = matches!(
        operation,
        Operation::Stat | Operation::Open | Operation::List
    );
    // One call lists all names.
    let calls = if operation == Operation::List {
        1
    } else {
        files
    };
    let (mut count, mut busy) = (0, Duration::ZERO);
    loop {
        for number in 0..calls {
            if makes && Instant::now() >= until {
                return Ok((count, busy));
            }
            let begin = Instant::now();
            let done = one(folder, operation, number);
            busy += begin.elapsed();
            match done {
                // There are no more: the time was over when they were made.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !makes => break,
                other => count += other?,
            }
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        if count == 0 || !changes_nothing || busy >= TOGETHER || !pause.is_zero() {
            return Ok((count, busy));
        }
    }
}

/// Does it to one file, or to all names; to how many.
fn one(folder: &Path, operation: Operation, number: u32) -> io::Result<u32> {
    let named = |prefix: &str| -> PathBuf { folder.join(format!("{prefix}{number}")) };
    let new = |path: PathBuf| OpenOptions::new().write(true).create_new(true).open(path);
    match operation {
        Operation::Create => new(named("f")).map(drop),
        Operation::Stat => fs::symlink_metadata(named("f")).map(drop),
        Operation::Open => File::open(named("f")).map(drop),
        Operation::Rename => fs::rename(named("f"), named("r")),
        Operation::Unlink => fs::remove_file(named("r")),
        Operation::Write => new(named("w"))?.write_all(&SMALL),
        Operation::Clear => fs::remove_file(named("w")),
        Operation::List => {
            let names = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
            return Ok(u32::try_from(names.len()).unwrap_or(u32::MAX));
        }
    }?;
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worked(count: u32, busy_ns: u64, begin_ns: u64, end_ns: u64) -> Worked {
        Worked {
            count,
            busy_ns,
            begin_ns,
            end_ns,
        }
    }

    #[test]
    fn processes_one_after_the_other_are_no_faster_than_one() {
        let one = worked(200, 1_000_000, 0, 1_000_000);
        let other = worked(200, 1_000_000, 1_000_000, 2_000_000);
        assert_eq!(rate(&[one]), Some(200_000.0));
        assert_eq!(rate(&[one, other]), Some(200_000.0));
        // At the same time, but for a part.
        let beside = worked(200, 1_500_000, 500_000, 2_000_000);
        assert_eq!(rate(&[one, beside]), Some(200_000.0));
        assert_eq!(rate(&[one, one]), Some(400_000.0));
    }

    #[test]
    fn pauses_of_one_process_do_not_count() {
        let gentle = worked(50, 1_000_000, 0, 200_000_000);
        assert_eq!(rate(&[gentle]), Some(50_000.0));
        assert_eq!(rate(&[worked(0, 0, 0, 5)]), None);
        assert_eq!(rate(&[]), None);
    }

    #[test]
    fn all_names_are_listed_as_long_as_the_other_operations_take() {
        let folder = tempfile::tempdir().unwrap();
        let late = Instant::now() + Duration::from_mins(1);
        let work = |operation| work(folder.path(), operation, 20, late, Duration::ZERO).unwrap();
        assert_eq!(work(Operation::Create).count, 20);
        let listed = work(Operation::List);
        assert!(listed.count.is_multiple_of(20) && listed.busy_ns >= ns(TOGETHER));
        assert!(listed.end_ns - listed.begin_ns >= listed.busy_ns);
        assert_eq!(work(Operation::Rename).count, 20);
        assert_eq!(work(Operation::Unlink).count, 20);
        assert_eq!(work(Operation::Unlink).count, 0);
    }
}
