//! Starting jobs as processes at their offsets and waiting for them, with their CPU time from
//! `wait4`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::io::process::{self, Finished};

/// How often it is looked whether to stop, while no child ends and none is to start.
const PAUSE: Duration = Duration::from_millis(100);

/// How often children are looked at that cannot be waited for: the resolution of their elapsed times.
const POLL: Duration = Duration::from_millis(5);

/// How long children may take to clean up after SIGTERM before they get SIGKILL.
const PATIENCE: Duration = Duration::from_secs(10);

/// Files that are left to whatever else the launcher does.
const OWN_FILES: u64 = 128;

/// A process to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Job name.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Not before so many seconds.
    pub offset_s: f64,
    /// Not before this one has ended.
    pub follows: Option<usize>,
    /// Where its standard error goes.
    pub stderr: PathBuf,
    /// It is ended after so long.
    pub wall_limit: Option<Duration>,
}

/// What happens to jobs, told as it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening<'a> {
    /// A process was started.
    Launched {
        /// Job.
        name: &'a str,
        /// Its process.
        process_id: u32,
        /// Just before it was started.
        started: Instant,
        /// So long after it was due: after its offset, the end of the job that it follows and, if as
        /// many ran as may, the end of one of them.
        late: Duration,
    },
    /// A process ended.
    Ended {
        /// Job.
        name: &'a str,
        /// What it used.
        finished: Finished,
        /// Just before it was started.
        started: Instant,
        /// Elapsed time.
        real: Duration,
        /// It was told to end, since it had run longer than it may.
        over_limit: bool,
    },
    /// Time passed; jobs that run now.
    Tick {
        /// How many run.
        running: usize,
        /// How many have ended.
        ended: usize,
    },
}

struct Running {
    index: usize,
    process_id: u32,
    started: Instant,
    /// Tells when it has ended.
    handle: Option<OwnedFd>,
    /// When it was told to end, having run longer than it may.
    told_to_end: Option<Instant>,
    was_killed: bool,
}

/// Starts all jobs, no more than `at_once` at a time, and waits for them. `stop` ends the children
/// (SIGTERM, later SIGKILL); then true is returned.
///
/// `tell` may fail (a full disk); the children are ended then too.
pub fn run(
    starts: &[Start],
    at_once: usize,
    stop: &AtomicBool,
    mut tell: impl FnMut(Happening<'_>) -> io::Result<()>,
) -> io::Result<bool> {
    // A handle for each child that runs, and what the launcher itself has open.
    let files = process::allow_open_files(starts.len() as u64 + OWN_FILES);
    let handles = usize::try_from(files.saturating_sub(OWN_FILES)).unwrap_or(usize::MAX);
    let mut running: Vec<Running> = Vec::new();
    let outcome = supervise(starts, (at_once, handles), stop, &mut tell, &mut running);
    if !running.is_empty() {
        end_all(starts, &mut running, &mut tell)?;
    }
    outcome
}

/// Jobs that did not start yet, and what tells when they are due.
struct Schedule<'a> {
    starts: &'a [Start],
    at_once: usize,
    waiting: Vec<usize>,
    /// When each ended, seconds after the beginning.
    ended_at: Vec<Option<f64>>,
    /// When the last place became free after as many ran as may.
    free_at: f64,
}

impl<'a> Schedule<'a> {
    fn new(starts: &'a [Start], at_once: usize) -> Self {
        Self {
            starts,
            at_once: at_once.max(1),
            waiting: (0..starts.len()).collect(),
            ended_at: vec![None; starts.len()],
            free_at: 0.0,
        }
    }

    /// Takes the next job that is due now, with the time when it was; `running` others run.
    fn take_due(&mut self, running: usize, now: f64) -> Option<(usize, f64)> {
        if running >= self.at_once {
            return None;
        }
        let due_at = |index: usize| {
            let start = &self.starts[index];
            let followed = match start.follows {
                Some(before) => self.ended_at[before]?,
                None => 0.0,
            };
            Some(start.offset_s.max(followed).max(self.free_at))
        };
        let mut places = self.waiting.iter().enumerate();
        let (place, due) = places.find_map(|(place, index)| {
            let due = due_at(*index).filter(|due| *due <= now)?;
            Some((place, due))
        })?;
        Some((self.waiting.remove(place), due))
    }

    /// Jobs have ended, and so many run still.
    fn ended(&mut self, which: &[usize], running: usize, now: f64) {
        for index in which {
            self.ended_at[*index] = Some(now);
        }
        if running + which.len() >= self.at_once {
            self.free_at = now;
        }
    }

    /// Seconds until an offset that lies ahead.
    fn pause(&self, now: f64) -> Option<Duration> {
        let offsets = self
            .waiting
            .iter()
            .map(|index| self.starts[*index].offset_s);
        let next = offsets.filter(|at| *at > now).reduce(f64::min)?;
        Duration::try_from_secs_f64(next - now).ok()
    }
}

fn supervise(
    starts: &[Start],
    (at_once, handles): (usize, usize),
    stop: &AtomicBool,
    tell: &mut impl FnMut(Happening<'_>) -> io::Result<()>,
    running: &mut Vec<Running>,
) -> io::Result<bool> {
    let began = Instant::now();
    let now = || began.elapsed().as_secs_f64();
    let mut schedule = Schedule::new(starts, at_once);
    while !schedule.waiting.is_empty() || !running.is_empty() {
        if stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        while let Some((index, due)) = schedule.take_due(running.len(), now()) {
            let held = running.iter().filter(|job| job.handle.is_some()).count();
            let job = launch(starts, index, held < handles)?;
            let late = job.started.saturating_duration_since(began).as_secs_f64() - due;
            let (process_id, started) = (job.process_id, job.started);
            running.push(job);
            tell(Happening::Launched {
                name: &starts[index].name,
                process_id,
                started,
                late: Duration::try_from_secs_f64(late).unwrap_or_default(),
            })?;
        }
        let ended = collect(starts, running, tell)?;
        schedule.ended(&ended, running.len(), now());
        end_overdue(starts, running);
        tell(Happening::Tick {
            running: running.len(),
            ended: starts.len() - schedule.waiting.len() - running.len(),
        })?;
        // An end may be what the next start waits for.
        if ended.is_empty() {
            let pause = schedule.pause(now()).unwrap_or(PAUSE);
            wait(running, pause.min(PAUSE))?;
        }
    }
    Ok(false)
}

/// Starts a job, with a handle unless too many files are open already.
fn launch(starts: &[Start], index: usize, with_handle: bool) -> io::Result<Running> {
    // Made before: a file system that is slow to make it is not the job's.
    let stderr = File::create(&starts[index].stderr)?;
    let started = Instant::now();
    let process_id = spawn(&starts[index], stderr)?;
    Ok(Running {
        index,
        process_id,
        started,
        handle: with_handle.then(|| process::handle(process_id)).flatten(),
        told_to_end: None,
        was_killed: false,
    })
}

/// Tells jobs to end that have run longer than they may, and kills those that do not listen.
fn end_overdue(starts: &[Start], running: &mut [Running]) {
    for job in running {
        match (starts[job.index].wall_limit, job.told_to_end) {
            (Some(limit), None) if job.started.elapsed() > limit => {
                job.told_to_end = Some(Instant::now());
                process::terminate(job.process_id, false);
            }
            (_, Some(told)) if told.elapsed() > PATIENCE && !job.was_killed => {
                job.was_killed = true;
                process::terminate(job.process_id, true);
            }
            _ => {}
        }
    }
}

/// Waits until a child ends, but not longer than `timeout`.
fn wait(running: &[Running], timeout: Duration) -> io::Result<()> {
    let handles: Vec<_> = running
        .iter()
        .filter_map(|job| Some(job.handle.as_ref()?.as_fd()))
        .collect();
    let all = handles.len() == running.len();
    process::wait_for_any(&handles, if all { timeout } else { timeout.min(POLL) })
}

fn spawn(start: &Start, stderr: File) -> io::Result<u32> {
    let (program, arguments) = start
        .command
        .split_first()
        .expect("a command has a program");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .envs(BTreeMap::from([("LC_ALL", "C")]));
    process::die_with_parent(&mut command);
    let child = command.spawn().map_err(|error| {
        let message = format!("failed to start job {}: {error}", start.name);
        io::Error::new(error.kind(), message)
    })?;
    // Waited for with wait4, which gives its CPU time; `Child` would not.
    Ok(child.id())
}

/// A child that has ended.
type Ended = (Running, Finished, Duration);

/// Takes in the children that have ended; returns which.
fn collect(
    starts: &[Start],
    running: &mut Vec<Running>,
    tell: &mut impl FnMut(Happening<'_>) -> io::Result<()>,
) -> io::Result<Vec<usize>> {
    let ended = take_ended(running)?;
    tell_ended(starts, &ended, tell)?;
    Ok(ended.into_iter().map(|(job, ..)| job.index).collect())
}

fn take_ended(running: &mut Vec<Running>) -> io::Result<Vec<Ended>> {
    let mut ended = Vec::new();
    let mut at = 0;
    while at < running.len() {
        match process::try_wait(running[at].process_id)? {
            None => at += 1,
            Some(finished) => {
                let job = running.remove(at);
                let real = job.started.elapsed();
                ended.push((job, finished, real));
            }
        }
    }
    Ok(ended)
}

/// All are timed before any is told, which takes a while.
fn tell_ended(
    starts: &[Start],
    ended: &[Ended],
    tell: &mut impl FnMut(Happening<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for (job, finished, real) in ended {
        tell(Happening::Ended {
            name: &starts[job.index].name,
            finished: *finished,
            started: job.started,
            real: *real,
            over_limit: job.told_to_end.is_some(),
        })?;
    }
    Ok(())
}

/// Ends every child: politely first, so that each removes its WORK, then at once.
fn end_all(
    starts: &[Start],
    running: &mut Vec<Running>,
    tell: &mut impl FnMut(Happening<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for job in running.iter() {
        process::terminate(job.process_id, false);
    }
    let deadline = Instant::now() + PATIENCE;
    let mut at_once = false;
    // Whatever cannot be told, no child is left.
    let mut told = Ok(());
    while !running.is_empty() {
        let ended = take_ended(running)?;
        told = told.and(tell_ended(starts, &ended, tell));
        if Instant::now() >= deadline && !at_once {
            at_once = true;
            for job in running.iter() {
                process::terminate(job.process_id, true);
            }
        }
        wait(running, PAUSE)?;
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str, directory: &std::path::Path) -> Start {
        Start {
            name: name.to_owned(),
            command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
            offset_s: 0.0,
            follows: None,
            stderr: directory.join(name),
            wall_limit: None,
        }
    }

    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let starts = [
            shell("fine", "exit 0", directory.path()),
            shell("warns", "exit 1", directory.path()),
            shell("killed", "kill -9 $$", directory.path()),
        ];
        let mut seen = BTreeMap::new();
        let stopped = run(&starts, 100, &AtomicBool::new(false), |happening| {
            if let Happening::Ended { name, finished, .. } = happening {
                seen.insert(name.to_owned(), (finished.exit, finished.signal));
            }
            Ok(())
        });
        assert!(!stopped.unwrap());
        assert_eq!(seen["fine"], (Some(0), None));
        assert_eq!(seen["warns"], (Some(1), None));
        assert_eq!(seen["killed"], (None, Some(9)));
    }

    #[test]
    fn followers_wait_and_no_more_than_allowed_run_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut starts: Vec<Start> = ["a", "b", "c", "d"]
            .map(|name| shell(name, "sleep 0.05", directory.path()))
            .into();
        starts[1].follows = Some(3);
        let mut order = Vec::new();
        let mut most = 0;
        run(&starts, 2, &AtomicBool::new(false), |happening| {
            match happening {
                Happening::Launched { name, .. } => order.push(format!("+{name}")),
                Happening::Ended { name, .. } => order.push(format!("-{name}")),
                Happening::Tick { running, .. } => most = most.max(running),
            }
            Ok(())
        })
        .unwrap();
        let place = |what: &str| order.iter().position(|one| one == what).unwrap();
        assert!(place("+b") > place("-d"), "{order:?}");
        assert_eq!((most, order.len()), (2, 8));
    }

    #[test]
    fn a_job_is_late_only_by_what_the_launcher_took() {
        let directory = tempfile::tempdir().unwrap();
        let mut starts: Vec<Start> = ["a", "b", "c"]
            .map(|name| shell(name, "sleep 0.2", directory.path()))
            .into();
        starts[1].follows = Some(0);
        starts[2].offset_s = 0.1;
        let mut late = Vec::new();
        run(&starts, 1, &AtomicBool::new(false), |happening| {
            if let Happening::Launched { late: by, .. } = happening {
                late.push(by);
            }
            Ok(())
        })
        .unwrap();
        // One after the other: without that, b and c would be 0.2 and 0.3 s late.
        assert_eq!(late.len(), 3);
        assert!(late.iter().all(|by| by.as_secs_f64() < 0.15), "{late:?}");
    }

    #[test]
    fn a_job_that_runs_too_long_is_ended_even_if_it_does_not_listen() {
        let directory = tempfile::tempdir().unwrap();
        let mut polite = shell("polite", "exec sleep 60", directory.path());
        polite.wall_limit = Some(Duration::from_millis(200));
        let script = "trap '' TERM; while :; do sleep 1; done";
        let mut deaf = shell("deaf", script, directory.path());
        deaf.wall_limit = polite.wall_limit;
        let fine = shell("fine", "exit 0", directory.path());
        let mut seen = BTreeMap::new();
        run(
            &[polite, deaf, fine],
            9,
            &AtomicBool::new(false),
            |happening| {
                if let Happening::Ended {
                    name,
                    finished,
                    over_limit,
                    ..
                } = happening
                {
                    seen.insert(name.to_owned(), (finished.signal, over_limit));
                }
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen["polite"], (Some(15), true));
        assert_eq!(seen["deaf"], (Some(9), true));
        assert_eq!(seen["fine"], (None, false));
    }

    #[test]
    fn nothing_is_left_running_though_nothing_can_be_told() {
        let directory = tempfile::tempdir().unwrap();
        let starts = [
            shell("long", "exec sleep 60", directory.path()),
            shell("short", "exit 0", directory.path()),
        ];
        let mut processes = Vec::new();
        let ran = run(&starts, 100, &AtomicBool::new(false), |happening| {
            match happening {
                Happening::Launched { process_id, .. } => processes.push(process_id),
                Happening::Ended { .. } => return Err(io::ErrorKind::PermissionDenied.into()),
                Happening::Tick { .. } => {}
            }
            Ok(())
        });
        assert_eq!(ran.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(processes.len(), 2);
        assert!(!processes.into_iter().any(process::is_alive));
    }

    #[test]
    fn stopping_leaves_nothing_running() {
        let directory = tempfile::tempdir().unwrap();
        let starts = [shell("long", "exec sleep 60", directory.path())];
        let stop = AtomicBool::new(false);
        let mut process = 0;
        let stopped = run(&starts, 100, &stop, |happening| {
            if let Happening::Launched { process_id, .. } = happening {
                process = process_id;
                stop.store(true, Ordering::Relaxed);
            }
            Ok(())
        });
        assert!(stopped.unwrap());
        assert!(!process::is_alive(process));
    }
}
