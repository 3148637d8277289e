//! One run: stage, cold start, launch, verify, figures.

pub(crate) mod directories;
pub(crate) mod journal;
mod licensed;
pub mod part;
mod verification;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::io::cache;
use ::io::live::LiveMemory;
use ::io::process::{self, Finished};
use base::rowhash::RowHash;
use base::store::Channel;
use base::units::Bytes;
use results::assemble::assemble_with;
use results::node::NodeRecord;
use results::run::{Ceiling, Event, EventKind, RunDirectory, RunResult, Time, name_in_batch};
use results::sample::Sample;
use results::step::StepRecord;
use results::thresholds::Thresholds;
use serde::{Deserialize, Serialize};

use crate::audit;
use crate::clean;
use crate::launch::{self, Happening, Start};
use crate::marker::{self, Holds};
use crate::orphans;
use crate::plan::{Plan, PlannedJob};
use crate::sampler::board::Board;
use crate::sampler::observe::{Observers, Series};
use crate::sampler::readings::Reader;
use crate::sampler::servers::Servers;
use crate::sampler::{self, Sampler};
use crate::stage::Stage;
use crate::suite::expand::DIRECTORIES;
use crate::verify::checks::Executed;
use directories::{create_directory, free_name, open_stage, output_path, remove_outputs, run_name};
use journal::Journal;

/// Where a run's bytes go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directories {
    /// Input data are staged below this one.
    pub data: PathBuf,
    /// Permanent outputs are made below this one.
    pub output: PathBuf,
    /// WORK.
    pub work: PathBuf,
    /// Utility files.
    pub util: PathBuf,
    /// Run directories.
    pub runs: PathBuf,
}

/// The pace of the steps of all jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// As `--pace` gave it.
    pub asked: String,
    /// What that means.
    pub record: results::run::PacingRecord,
}

/// Everything a run needs beyond its plan.
#[derive(Debug, Clone)]
pub struct Config {
    /// What to do.
    pub plan: Plan,
    /// Where.
    pub directories: Directories,
    /// Start with whatever is cached.
    pub warm: bool,
    /// What empties the caches of each node before the start, for `/bin/sh`; otherwise the page cache is dropped.
    pub empty_caches: Option<String>,
    /// Keep the outputs after they were verified.
    pub keep: bool,
    /// Stage the data and stop.
    pub only_stage: bool,
    /// Audit the node first.
    pub audit: bool,
    /// Jobs are ended after so long.
    pub wall_limit: Option<Duration>,
    /// Batches are started anew until so long is over.
    pub duration: Option<Duration>,
    /// What the same jobs do on tmpfs.
    pub ceiling: Option<Ceiling>,
    /// The pace of the jobs' steps.
    pub pace: Option<Pace>,
    /// What the run is of: levels of factors, by name.
    pub labels: BTreeMap<String, String>,
    /// The runs that this one belongs to.
    pub series: Option<results::run::Series>,
    /// The program that executes jobs, and programs of checks: this one.
    pub program: PathBuf,
    /// A licensed SAS that executes jobs in its place.
    pub sas: Option<PathBuf>,
    /// Its version, for the record.
    pub version: String,
    /// Name of the node: that of the host, or what a grid calls it.
    pub node: String,
    /// Name of the host.
    pub host: String,
    /// Series that others measure.
    pub observe: Vec<Series>,
    /// What the verdict asks for.
    pub thresholds: Thresholds,
}

/// What is shown while a run is on its way.
pub trait Watcher {
    /// A new phase begins.
    fn phase(&mut self, text: &str);
    /// Bytes staged so far, of how many.
    fn staging(&mut self, done: Bytes, total: Bytes);
    /// Jobs running and ended, what they did so far and in the last second: once a second.
    fn running(&mut self, progress: &Progress);
    /// Jobs verified so far, of how many.
    fn verifying(&mut self, done: usize, total: usize);
}

/// How far the jobs are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Jobs running.
    pub running: usize,
    /// Jobs that have ended.
    pub ended: usize,
    /// Jobs in all.
    pub jobs: usize,
    /// Bytes read and written so far per channel name.
    pub channels: BTreeMap<String, (u64, u64)>,
    /// What the node did in the last second or so.
    pub sample: Sample,
    /// Bytes that all jobs together are expected to move.
    pub expected: Bytes,
    /// When the last job is due, seconds after the first.
    pub last_due_s: f64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its directory.
    pub directory: RunDirectory,
    /// Its figures; complete or not.
    pub result: RunResult,
    /// It was cut short.
    pub interrupted: bool,
}

/// A run that could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("failed to {action}")]
    Io {
        /// What was being done.
        action: String,
        /// Why not.
        source: io::Error,
    },
    /// The run directory could not be written or read.
    #[error(transparent)]
    Results(#[from] results::run::Error),
}

pub(crate) fn failed(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let action = action.into();
    |source| Error::Io { action, source }
}

/// Seconds since the Unix epoch, for people and names.
pub(crate) fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// Carries a plan out.
pub fn run(
    config: &Config,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, Error> {
    let name = free_name(&config.directories.runs, &run_name(&config.plan.suite));
    let stage = open_stage(config)?;
    let (directory, _in_use) = create_directory(config, &name)?;
    let action = format!("write to {}", directory.path().display());
    let journal = Journal::open(&directory, None).map_err(failed(action))?;
    let began = Instant::now();
    let live = LiveMemory::create(config.plan.jobs.len())
        .map_err(failed("make memory for the counters of jobs"))?;
    let board = Arc::new(Board::new(live));
    let node = sampler::describe(&config.node, &named(config), observed(config));
    directory.write_node(&node)?;
    let sampler = start_sampler(config, &node, &directory, began, board.clone())?;
    let run = Run {
        node,
        began,
        config,
        stop,
        output: output_path(config, &name),
        batch: AtomicU32::new(1),
        directory,
        journal,
        stage,
        board,
        sampler: Some(sampler),
        part: None,
        compared: Mutex::default(),
    };
    let interrupted = run.carry_out(watcher)?;
    if interrupted {
        run.event(&Event::new(run.time(), EventKind::Interrupted))?;
    }
    if !config.keep {
        remove_outputs(&run.output)?;
    }
    run.journal.release();
    if !run.journal.flush()? {
        return Err(failed("write events")(io::ErrorKind::StorageFull.into()));
    }
    watcher.phase("adding up");
    let result = assemble_with(&run.directory, &config.thresholds)?;
    if !interrupted && config.only_stage {
        // Nothing ran: there is nothing to report.
        let path = run.directory.path();
        let action = format!("remove {}", path.display());
        clean::remove_tree(path).map_err(failed(action))?;
    } else if !interrupted {
        run.directory.write_result(&result)?;
        run.event(&Event::new(run.time(), EventKind::RunFinished))?;
    }
    Ok(Outcome {
        directory: run.directory,
        result,
        interrupted,
    })
}

/// The run's directories by the names that records give them.
fn named(config: &Config) -> [(&'static str, &Path); 4] {
    let directories = &config.directories;
    [
        ("data", &directories.data),
        ("output", &directories.output),
        ("work", &directories.work),
        ("util", &directories.util),
    ]
}

fn observed(config: &Config) -> Vec<String> {
    let series = config.observe.iter();
    series.map(|series| series.name.clone()).collect()
}

fn start_sampler(
    config: &Config,
    node: &NodeRecord,
    directory: &RunDirectory,
    began: Instant,
    board: Arc<Board>,
) -> Result<Sampler, Error> {
    let observers = Observers::start(&config.observe).map_err(failed("start what is observed"))?;
    // What another node that is the same machine counts is not counted again.
    let machine = node.same_host_as.is_none();
    let own: Vec<&str> = node.served_mounts().into_iter().collect();
    let servers = if machine && !own.is_empty() {
        Servers::open(&own)
    } else {
        Servers::default()
    };
    let reader = Reader::open((servers, machine), observers);
    let path = directory.samples_path(&config.node);
    let action = format!("write samples to {}", path.display());
    Sampler::start(&path, began, board, reader).map_err(failed(action))
}

struct Run<'a> {
    /// What durations count from.
    began: Instant,
    config: &'a Config,
    node: NodeRecord,
    stop: &'a AtomicBool,
    output: PathBuf,
    directory: RunDirectory,
    journal: Journal,
    stage: Stage,
    /// Batch that runs, from 1.
    batch: AtomicU32,
    /// What jobs do while they run, a slot for each job of the plan.
    board: Arc<Board>,
    /// While the node is sampled.
    sampler: Option<Sampler>,
    /// What this node does of a run on several.
    part: Option<part::Part>,
    /// Staged files that were compared with what was staged, and what was wrong with them.
    compared: Mutex<BTreeMap<(u32, String), Vec<String>>>,
}

impl Run<'_> {
    fn event(&self, event: &Event) -> Result<(), Error> {
        Ok(self.journal.add(&self.placed(event.clone()))?)
    }

    /// The event with its node, of a run on several.
    fn placed(&self, event: Event) -> Event {
        let node = self.part.as_ref().map(|_| self.config.node.clone());
        Event { node, ..event }
    }

    /// What comes before belongs to another phase than what comes after.
    fn mark(&self) {
        if let Some(sampler) = &self.sampler {
            sampler.mark();
        }
    }

    fn time(&self) -> Time {
        self.time_of(Instant::now())
    }

    /// The time of a moment that may be past already.
    fn time_of(&self, moment: Instant) -> Time {
        let at_s = moment.saturating_duration_since(self.began).as_secs_f64();
        Time {
            unix_s: now() - moment.elapsed().as_secs_f64(),
            at_s,
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// All phases; true if it was cut short.
    fn carry_out(&self, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        self.remove_orphans()?;
        self.audit(watcher)?;
        if !self.fill_stage(watcher)? || self.stopped() {
            return Ok(true);
        }
        if self.config.only_stage {
            return Ok(false);
        }
        self.note_sizes()?;
        self.make_cold(watcher)?;
        let action = format!("make {}", self.output.display());
        let _in_use = marker::make(&self.output, Holds::Output).map_err(failed(action))?;
        if self.measured(watcher)? {
            return Ok(true);
        }
        self.verify(&self.config.plan, watcher)?;
        Ok(self.stopped())
    }

    /// What is measured: the jobs, and the flush of what they left in memory. True if it was cut short.
    fn measured(&self, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        watcher.phase("running");
        self.mark();
        let stopped = self.launch(watcher)?;
        self.mark();
        if stopped {
            // A job that did not end when asked was killed, and could not clean up.
            self.remove_orphans()?;
            return Ok(true);
        }
        watcher.phase("flushing");
        self.flush()?;
        let finished = self.sampler.as_ref().map_or(Ok(()), Sampler::finish);
        if let Err(error) = finished {
            let detail = format!("samples of the node could not be written: {error}");
            self.event(&Event::new(self.time(), EventKind::NotMeasured).with_detail(detail))?;
        }
        if self.config.sas.is_some() {
            self.read_logs()?;
        }
        Ok(false)
    }

    /// Waits until everything written is on the devices: what is still in memory when the last job
    /// ends was not moved by storage yet. Storage that cannot take it is what the run found out: jobs whose outputs
    /// may be lost are not verified.
    fn flush(&self) -> Result<(), Error> {
        let began = Instant::now();
        let flushed = cache::flush(&self.output);
        let mut event = Event::new(self.time(), EventKind::Flushed);
        match flushed {
            Ok(()) => event.real_s = Some(began.elapsed().as_secs_f64()),
            Err(error) => {
                let place = self.output.display();
                let lost = format!("flushing the file system of {place} failed: {error}");
                event.detail = Some(lost);
            }
        }
        self.event(&event)
    }

    fn remove_orphans(&self) -> Result<(), Error> {
        let directories = &self.config.directories;
        for parent in [&directories.work, &directories.util] {
            fs::create_dir_all(parent).map_err(failed(format!("make {}", parent.display())))?;
            let found = orphans::find(parent, &self.config.host)
                .map_err(failed(format!("look for orphans in {}", parent.display())))?;
            for orphan in found {
                let left = format!(
                    "{} ({}, left by process {})",
                    orphan.path.display(),
                    Bytes(orphan.bytes),
                    orphan.process_id
                );
                // Another user's stays: it is in nobody's way.
                let (kind, detail) = match clean::remove_tree(&orphan.path) {
                    Ok(()) => (EventKind::OrphanRemoved, left),
                    Err(error) => (EventKind::OrphanKept, format!("{left}: {error}")),
                };
                self.event(&Event::new(self.time(), kind).with_detail(detail))?;
            }
        }
        Ok(())
    }

    /// Audits the node before anything else asks something of it; a run does without if that fails.
    fn audit(&self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        if !self.config.audit || self.config.only_stage {
            return Ok(());
        }
        watcher.phase("auditing");
        let audited = audit::live(&self.node, &named(self.config));
        let written = audited.and_then(|audit| {
            let written = self.directory.write_audit(&audit);
            written.map_err(|error| error.to_string())
        });
        let Err(why) = written else {
            return Ok(());
        };
        let detail = format!("settings of the node were not audited: {why}");
        self.event(&Event::new(self.time(), EventKind::NotMeasured).with_detail(detail))
    }

    /// False if staging was stopped.
    fn fill_stage(&self, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        watcher.phase("staging");
        self.event(&Event::new(self.time(), EventKind::StageStarted))?;
        let plan = &self.config.plan;
        // IN is there for jobs that read nothing, too.
        for lane in 1..=plan.lanes.max(1) {
            let folder = self.stage.of_lane(lane);
            let action = format!("make {}", folder.display());
            fs::create_dir_all(folder).map_err(failed(action))?;
        }
        let progress = AtomicU64::new(0);
        let total = plan.input_bytes();
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let done = thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let make_indexes = |folder: &Path, name: &str, indexes: &[String]| {
                    self.make_indexes(folder, name, indexes)
                };
                let (stage, stop) = (&self.stage, self.stop);
                stage.fill(plan, threads, &make_indexes, &progress, stop)
            });
            while !worker.is_finished() {
                watcher.staging(Bytes(progress.load(Ordering::Relaxed)), total);
                thread::sleep(Duration::from_millis(50));
            }
            worker.join().expect("staging does not panic")
        });
        let done = match done {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            Err(_) if self.stopped() => return Ok(false),
            other => other.map_err(failed("stage the input data"))?,
        };
        let detail = format!(
            "{} files made ({}), {} kept",
            done.made, done.bytes, done.kept
        );
        self.event(&Event::new(self.time(), EventKind::StageFinished).with_detail(detail))?;
        Ok(true)
    }

    /// Keeps the sizes of the staged files, which compression and the file system decide.
    fn note_sizes(&self) -> Result<(), Error> {
        let record = self.directory.plan()?;
        let record = self.stage.in_record(&self.config.plan, record);
        let record = record.map_err(failed("look at the staged files"))?;
        Ok(self.directory.write_plan(&record)?)
    }

    fn input_paths(&self) -> Vec<PathBuf> {
        self.config
            .plan
            .datasets
            .iter()
            .map(|set| self.stage.path(set))
            .flat_map(|path| [path.with_extension("sas7bndx"), path])
            .filter(|path| path.exists())
            .collect()
    }

    /// Empties the caches as far as that is possible; says how, and whether nothing of the input can be left in them.
    fn empty_caches(
        &self,
        paths: &[PathBuf],
        watcher: &mut dyn Watcher,
    ) -> Result<(String, bool), Error> {
        if self.config.warm {
            return Ok(("warm start: nothing was evicted".to_owned(), false));
        }
        watcher.phase("evicting");
        // What was not written yet cannot be dropped.
        let stage = self.stage.directory();
        let action = format!("flush the file system of {}", stage.display());
        cache::flush(stage).map_err(failed(action))?;
        let by_command = self.config.empty_caches.as_ref();
        if let Some(command) = by_command {
            empty_by(command).map_err(failed(format!("empty the caches by `{command}`")))?;
        }
        let all = cache::drop_all().is_ok();
        if !all {
            for path in paths {
                let action = format!("evict {}", path.display());
                cache::evict(path).map_err(failed(action))?;
            }
        }
        if let Some(command) = by_command {
            return Ok((format!("the caches were emptied by `{command}`"), true));
        }
        if all {
            let dropped = are_dropped_with_pages(paths);
            let said = "the page cache of the host was dropped";
            let left = ", but the file system of the input may keep it in memory elsewhere \
                        (--empty-caches takes a command that empties it)";
            return Ok(([said, if dropped { "" } else { left }].concat(), dropped));
        }
        let how = "staged files were evicted (dropping all caches needs root)";
        Ok((how.to_owned(), false))
    }

    /// Empties the caches and measures what is still cached.
    fn make_cold(&self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let paths = self.input_paths();
        let (how, dropped) = self.empty_caches(&paths, watcher)?;
        let mut event = Event::new(self.time(), EventKind::Evicted);
        event.caches_dropped = Some(dropped);
        event.cached_share = cached_share(&paths).map_err(failed("measure what is cached"))?;
        let share = event
            .cached_share
            .map_or("an unknown share".to_owned(), |share| {
                format!("{:.1} %", share * 100.0)
            });
        self.event(&event.with_detail(format!("{how}; {share} of the input is cached")))
    }

    /// Starts the jobs, batch after batch until the time is over; true if they were stopped.
    fn launch(&self, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        let began = Instant::now();
        loop {
            if self.launch_batch(watcher)? {
                return Ok(true);
            }
            let duration = self.config.duration.unwrap_or_default();
            if began.elapsed() >= duration {
                return Ok(false);
            }
            // What is removed unwritten would count as moved.
            self.mark();
            self.flush()?;
            // Its place is for the outputs of the next one.
            let output = self.output();
            let action = format!("remove {}", output.display());
            clean::remove_tree(&output).map_err(failed(action))?;
            self.set_batch(self.batch() + 1);
            self.mark();
        }
    }

    fn batch(&self) -> u32 {
        self.batch.load(Ordering::Relaxed)
    }

    fn set_batch(&self, batch: u32) {
        self.batch.store(batch, Ordering::Relaxed);
    }

    /// Where one of the batches side by side makes its outputs.
    fn output_of(&self, lane: u32) -> PathBuf {
        match lane {
            0 | 1 => self.output(),
            later => self.output().join(format!("lane{later}")),
        }
    }

    /// Where the batch that runs makes its outputs.
    fn output(&self) -> PathBuf {
        match self.config.duration {
            None => self.output.clone(),
            Some(_) => self.output.join(format!("batch{}", self.batch())),
        }
    }

    /// Name of a job of the batch that runs.
    fn name(&self, job: &PlannedJob) -> String {
        name_in_batch(&job.name, self.batch())
    }

    fn launch_batch(&self, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        let plan = &self.config.plan;
        for lane in 1..=plan.lanes.max(1) {
            let output = self.output_of(lane);
            let action = format!("make {}", output.display());
            fs::create_dir_all(&output).map_err(failed(action))?;
        }
        let starts = plan
            .jobs
            .iter()
            .enumerate()
            .map(|job| self.start(job))
            .collect::<Result<Vec<_>, _>>()?;
        self.wait_for_start()?;
        let mut event = Event::new(self.time(), EventKind::BatchStarted);
        event.batch = Some(self.batch());
        event.late_s = self.part.as_ref().and_then(part::Part::late_s);
        self.event(&event)?;
        let expected = plan.expected().unwrap_or_default();
        let at_once = plan.concurrency.unwrap_or(usize::MAX);
        let last_due_s = starts.iter().map(|start| start.offset_s);
        let todo = match self.config.duration {
            // Batches follow each other until the time is over.
            Some(duration) => Progress {
                jobs: starts.len(),
                last_due_s: duration.as_secs_f64(),
                ..Progress::default()
            },
            None => Progress {
                jobs: starts.len(),
                expected,
                last_due_s: last_due_s.fold(0.0, f64::max),
                ..Progress::default()
            },
        };
        let mut shown = 0;
        launch::run(&starts, at_once, self.stop, |happening| {
            let Some(event) = self.event_of(&happening) else {
                self.show(&happening, &todo, &mut shown, watcher);
                return self.journal.check().map_err(io::Error::other);
            };
            self.journal
                .add(&self.placed(event))
                .map_err(io::Error::other)
        })
        .map_err(failed("run the jobs"))
    }

    /// Notes what happens to a job, and makes an event of it; nothing happens to a job at a tick.
    fn event_of(&self, happening: &Happening<'_>) -> Option<Event> {
        match happening {
            Happening::Launched {
                name,
                process_id,
                started,
                late,
            } => {
                self.board.launched(name, *process_id);
                Some(Event {
                    process_id: Some(*process_id),
                    late_s: Some(late.as_secs_f64()),
                    ..Event::of_job(self.time_of(*started), EventKind::JobLaunched, name)
                })
            }
            Happening::Ended {
                name,
                finished,
                started,
                real,
                over_limit,
            } => {
                self.board.ended(name, finished.user + finished.system);
                // A licensed SAS may be started by a script that waits for it and does nothing else.
                let first_thread = finished.first_thread.filter(|_| self.config.sas.is_none());
                Some(Event {
                    exit: finished.exit,
                    real_s: Some(real.as_secs_f64()),
                    user_s: Some(finished.user.as_secs_f64()),
                    system_s: Some(finished.system.as_secs_f64()),
                    thread_cpu_s: first_thread.map(|thread| thread.cpu.as_secs_f64()),
                    cpu_wait_s: first_thread.map(|thread| thread.cpu_wait.as_secs_f64()),
                    block_input: Some(finished.block_input),
                    block_output: Some(finished.block_output),
                    cancelled_write_bytes: self.cancelled_write_bytes(name),
                    detail: self.wrong(name, finished, *over_limit),
                    ..Event::of_job(self.time_of(*started + *real), EventKind::JobFinished, name)
                })
            }
            Happening::Tick { .. } => None,
        }
    }

    fn cancelled_write_bytes(&self, name: &str) -> Option<u64> {
        let mut jobs = self.config.plan.jobs.iter();
        let slot = jobs.position(|job| self.name(job) == name)?;
        self.board.live().cancelled_write_bytes(slot)
    }

    /// What went wrong with a job that has ended, if anything did.
    fn wrong(&self, name: &str, finished: &Finished, over_limit: bool) -> Option<String> {
        if let Some(limit) = self.config.wall_limit.filter(|_| over_limit) {
            let limit = limit.as_secs_f64();
            return Some(format!("ended after its wall limit of {limit} s"));
        }
        if let Some(signal) = finished.signal {
            return Some(format!("ended by signal {signal}"));
        }
        finished.exit.filter(|exit| *exit > 1)?;
        let own = self.directory.job(name);
        let said = || {
            let text = fs::read_to_string(own.join("job.err")).ok()?;
            text.lines().next().map(str::to_owned)
        };
        first_error(&own.join("job.log")).or_else(said)
    }

    /// Shows the last sample, if it was not shown yet.
    fn show(
        &self,
        happening: &Happening<'_>,
        todo: &Progress,
        shown: &mut u64,
        watcher: &mut dyn Watcher,
    ) {
        let Happening::Tick { running, ended } = happening else {
            return;
        };
        let Some(last) = self.board.shown(*shown) else {
            return;
        };
        *shown = last.number;
        let totals = Channel::ALL.iter().zip(last.totals.iter().flatten());
        watcher.running(&Progress {
            running: *running,
            ended: *ended,
            channels: totals
                .map(|(channel, counts)| {
                    let moved = (counts.read_bytes, counts.write_bytes);
                    (channel.name().to_owned(), moved)
                })
                .collect(),
            sample: last.sample,
            ..todo.clone()
        });
    }

    fn start(&self, (slot, job): (usize, &PlannedJob)) -> Result<Start, Error> {
        let name = self.name(job);
        let own = self.directory.job(&name);
        let action = format!("make {}", own.display());
        fs::create_dir_all(&own).map_err(failed(action))?;
        let program = own.join("program.sas");
        fs::write(&program, &job.program)
            .map_err(failed(format!("write {}", program.display())))?;
        let at = [self.stage.of_lane(job.lane), self.output_of(job.lane)];
        if let Some(sas) = &self.config.sas {
            return self.start_sas(sas, (name, job), &own, &at);
        }
        let mut command = self.exec(&own, "job", &program, &at);
        let mut flag = |name: &str, value: String| command.extend([name.to_owned(), value]);
        flag("--print", text(&own.join("job.lst")));
        flag("--live", text(&self.board.live().path()));
        flag("--live-slot", slot.to_string());
        if let Some(pace) = &self.config.pace {
            flag("--pace", pace.asked.clone());
            flag("--pace-by", pace.record.by.clone());
            if let Some(file) = &pace.record.file {
                flag("--pace-table", text(file));
            }
        }
        for (name, value) in symbols(job, &at) {
            flag("--set", format!("{name}={value}"));
        }
        for (name, value) in self.config.plan.options_of(job) {
            let option = if value.is_empty() {
                name
            } else {
                format!("{name}={value}")
            };
            flag("--option", option);
        }
        // What is read is compared with what was staged, and what is left with what was written.
        command.push("--row-hashes=inputs".to_owned());
        command.extend(["--written".to_owned(), text(&own.join("written.jsonl"))]);
        Ok(Start {
            name,
            command,
            offset_s: job.offset_s,
            follows: job.follows,
            stderr: own.join("job.err"),
            wall_limit: self.config.wall_limit,
        })
    }

    /// The command that runs a program on this run's directories, with these of IN and OUT; `name` is that
    /// of its log.
    fn exec(
        &self,
        own: &Path,
        name: &str,
        program: &Path,
        [input, output]: &[PathBuf; 2],
    ) -> Vec<String> {
        let directories = &self.config.directories;
        let mut command = vec![text(&self.config.program), "exec".to_owned(), text(program)];
        let mut flag = |name: &str, value: String| command.extend([name.to_owned(), value]);
        flag("--libname", format!("in={}", text(input)));
        // Indexes of the inputs are made before there are outputs.
        if output.is_dir() {
            flag("--libname", format!("out={}", text(output)));
        }
        flag("--work", text(&directories.work));
        flag("--util", text(&directories.util));
        flag("--log", text(&own.join(format!("{name}.log"))));
        flag(
            "--steps",
            text(&own.join(format!("{}.jsonl", steps_name(name)))),
        );
        command
    }

    /// Runs a small program of the checker in the engine, with these directories of IN and OUT.
    fn execute(
        &self,
        folder: &Path,
        name: &str,
        program: &str,
        at: &[PathBuf; 2],
    ) -> Result<Executed, String> {
        let path = folder.join(format!("{name}.sas"));
        let explain = |error: io::Error| format!("failed to run {}: {error}", path.display());
        fs::write(&path, program).map_err(explain)?;
        let mut command = self.exec(folder, name, &path, at);
        command.push("--row-hashes".to_owned());
        let mut child = Command::new(&command[0]);
        child.args(&command[1..]).stdin(Stdio::null());
        process::die_with_parent(&mut child);
        let output = child.output().map_err(explain)?;
        let log_path = folder.join(format!("{name}.log"));
        if !output.status.success() {
            if self.is_stopping(output.status) {
                return Err(format!("{}: interrupted", path.display()));
            }
            let said = || {
                String::from_utf8_lossy(&output.stderr)
                    .trim_end()
                    .to_owned()
            };
            let error = first_error(&log_path).unwrap_or_else(said);
            return Err(format!("{}: {error}", path.display()));
        }
        let log = fs::read_to_string(&log_path).map_err(explain)?;
        let steps = folder.join(format!("{}.jsonl", steps_name(name)));
        let steps = fs::read_to_string(steps).map_err(explain)?;
        let records = steps
            .lines()
            .filter_map(|line| serde_json::from_str::<StepRecord>(line).ok());
        let written = records
            .flat_map(|record| record.outputs)
            .filter_map(|output| {
                let sum = u64::from_str_radix(output.row_hash.as_deref()?, 16).ok()?;
                let rows = output.observations;
                Some(RowHash { sum, rows })
            })
            .next_back();
        Ok(Executed { log, written })
    }

    /// Whether a process ended since the run is to end: a terminal's signal reaches all of them, and this one perhaps
    /// a moment later.
    fn is_stopping(&self, ended: ExitStatus) -> bool {
        let by_signal = ended.signal().is_some() || ended.code().is_some_and(|code| code > 128);
        for _ in 0..20 {
            if self.stopped() || !by_signal {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        self.stopped()
    }

    /// Makes simple indexes of a staged data set, as PROC DATASETS does.
    fn make_indexes(&self, folder: &Path, name: &str, indexes: &[String]) -> io::Result<()> {
        let creates = indexes
            .iter()
            .map(|index| format!("  index create {index};\n"));
        let creates: Vec<String> = creates.collect();
        let program = format!(
            "proc datasets lib=in nolist;\n  modify {name};\n{}quit;\n",
            creates.concat()
        );
        // Data of batches side by side are indexed at the same time.
        let lane = folder
            .strip_prefix(self.stage.directory())
            .unwrap_or(folder);
        let own = format!("index_{name}{}", lane.display());
        let at = [folder.to_owned(), self.output()];
        self.execute(self.directory.path(), &own, &program, &at)
            .map(|_| ())
            .map_err(io::Error::other)
    }
}

/// Macro variables of a job, with these directories of IN and OUT.
fn symbols(job: &PlannedJob, at: &[PathBuf; 2]) -> BTreeMap<String, String> {
    let put_in = |value: String, (word, path): (&&str, &PathBuf)| {
        value.replace(&format!("{{{word}}}"), &text(path))
    };
    let directories = DIRECTORIES.iter().zip(at);
    let of = |(name, value): (&String, &String)| {
        let value = directories.clone().fold(value.clone(), put_in);
        (name.clone(), value)
    };
    job.symbols.iter().map(of).collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The record of steps beside a log: a job's is `steps.jsonl`.
fn steps_name(name: &str) -> String {
    if name == "job" {
        "steps".to_owned()
    } else {
        format!("{name}_steps")
    }
}

/// The first ERROR of a log.
fn first_error(log: &Path) -> Option<String> {
    let bytes = fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .find(|line| line.starts_with("ERROR"))
        .map(str::to_owned)
}

/// By a command of the user's, whose output is no part of the report.
fn empty_by(command: &str) -> io::Result<()> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let status = shell.status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("it ended with {status}")))
}

/// Whether nothing of the files is in memory once the page cache is dropped.
fn are_dropped_with_pages(paths: &[PathBuf]) -> bool {
    let mut paths = paths.iter();
    paths.all(|path| cache::is_dropped_with_pages(path).unwrap_or(false))
}

/// Cached share of files, by their lengths.
fn cached_share(paths: &[PathBuf]) -> io::Result<Option<f64>> {
    let (mut cached, mut all) = (0.0, 0.0);
    for path in paths {
        let length = fs::metadata(path)?.len() as f64;
        if let Some(share) = cache::cached_share(path)? {
            cached += share * length;
            all += length;
        }
    }
    Ok((all > 0.0).then(|| cached / all))
}
