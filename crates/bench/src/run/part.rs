//! What one node does of a run on several: phase by phase, each of which all nodes have ended before any begins
//! the next.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ::io::live::LiveMemory;
use results::node::NodeRecord;
use results::run::{Event, EventKind, RunDirectory, Time};

use super::directories::remove_outputs;
use super::journal::Journal;
use super::{Error, Run, Watcher, failed, named, now, observed, start_sampler};
use crate::grid::{Order, Phase};
use crate::marker::{self, Holds};
use crate::sampler;
use crate::sampler::board::Board;
use crate::stage::Stage;

/// Where Linux says which boot of which machine this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// No start is further ahead than this.
const WAIT_MAX_S: f64 = 120.0;

/// What a node is told of its part in a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its place among the nodes, from 0.
    pub rank: usize,
    /// When jobs are to be launched, seconds since the Unix epoch by the clock of the node that leads.
    pub start_unix_s: Option<f64>,
    /// Of which node the jobs are verified.
    pub verifies: Option<usize>,
    /// How far this node's wall clock is ahead of that of the node that leads, seconds.
    pub clock_offset_s: f64,
    /// The same of the node of each job, by the job's name.
    pub offsets_s: BTreeMap<String, f64>,
}

impl Part {
    /// The time by the clock of the node that leads, seconds since the Unix epoch.
    fn led_now(&self) -> f64 {
        now() - self.clock_offset_s
    }

    /// How far the clock of a job's node is ahead.
    pub(super) fn offset_s(&self, job: &str) -> f64 {
        self.offsets_s.get(job).copied().unwrap_or_default()
    }

    /// How much later than it was to it launches jobs, seconds.
    pub(super) fn late_s(&self) -> Option<f64> {
        Some((self.led_now() - self.start_unix_s?).max(0.0))
    }
}

/// Carries a phase out on this node; true if it was cut short.
pub fn carry_out(
    (order, directory): (&Order, &Path),
    (phase, part): (Phase, Part),
    (program, host): (PathBuf, String),
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<bool, Error> {
    let node = order.nodes[part.rank].clone();
    let plan = match phase {
        // Shared data are staged once.
        Phase::Stage | Phase::Cold if order.spread => order.plan.clone(),
        Phase::Verify => order.plan_of(part.verifies.unwrap_or(part.rank)),
        _ => order.plan_of(part.rank),
    };
    let config = order.config(plan, node.clone(), (program, host));
    let directory = RunDirectory::open(directory);
    if phase == Phase::Clean {
        return clean(order, &directory, &node);
    }
    make_own(order)?;
    let stage = Stage::join(&order.stage).map_err(failed(format!(
        "open the staged data at {}",
        order.stage.display()
    )))?;
    let action = format!("write to {}", directory.path().display());
    let journal = Journal::open(&directory, Some(&node)).map_err(failed(action))?;
    let live = LiveMemory::create(config.plan.jobs.len())
        .map_err(failed("make memory for the counters of jobs"))?;
    let mut run = Run {
        node: directory.node(&node)?.unwrap_or_default(),
        began: began(&part, order.began_unix_s),
        config: &config,
        stop,
        output: order.output.clone(),
        batch: AtomicU32::new(1),
        directory,
        journal,
        stage,
        board: Arc::new(Board::new(live)),
        sampler: None,
        part: Some(part),
        compared: Mutex::default(),
    };
    let started = Event::new(run.time(), EventKind::PhaseStarted).with_detail(phase.name());
    run.event(&started)?;
    let stopped = run.phase(order, phase, watcher)?;
    if stopped {
        run.event(&Event::new(run.time(), EventKind::Interrupted))?;
    } else {
        let ended = Event::new(run.time(), EventKind::PhaseEnded).with_detail(phase.name());
        run.event(&ended)?;
    }
    if !run.journal.flush()? {
        return Err(failed("write events")(io::ErrorKind::StorageFull.into()));
    }
    Ok(stopped)
}

/// Removes the outputs if they are still there: the node which leads has removed those that it sees.
fn clean(order: &Order, directory: &RunDirectory, node: &str) -> Result<bool, Error> {
    remove_outputs(&order.output)?;
    let time = Time {
        unix_s: now(),
        at_s: now() - order.began_unix_s,
    };
    let ended = Event::new(time, EventKind::PhaseEnded).with_detail(Phase::Clean.name());
    directory.add_event(&Event {
        node: Some(node.to_owned()),
        ..ended
    })?;
    Ok(false)
}

/// Makes the folders that the node which leads has made, where this node does not see them: they are on file systems
/// of its own.
fn make_own(order: &Order) -> Result<(), Error> {
    for (folder, holds) in [(&order.stage, Holds::Data), (&order.output, Holds::Output)] {
        if !folder.exists() {
            let action = format!("make {}", folder.display());
            marker::make(folder, holds).map_err(failed(action))?;
        }
    }
    Ok(())
}

/// The moment from which the run's times count, on this node's monotonic clock.
fn began(part: &Part, began_unix_s: f64) -> Instant {
    let since = (part.led_now() - began_unix_s).max(0.0);
    let since = Duration::try_from_secs_f64(since).unwrap_or_default();
    let now = Instant::now();
    // A machine that was started after the run began counts from its own start.
    now.checked_sub(since).unwrap_or(now)
}

impl Run<'_> {
    fn phase(
        &mut self,
        order: &Order,
        phase: Phase,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, Error> {
        let rank = self.part.as_ref().map_or(0, |part| part.rank);
        match phase {
            Phase::Prepare => self.prepare(order, rank, watcher).map(|()| false),
            Phase::Stage if order.spread && rank > 0 => Ok(false),
            Phase::Stage => Ok(!self.fill_stage(watcher)? || self.stopped()),
            Phase::Cold => self.make_cold(watcher).map(|()| false),
            Phase::Launch => {
                self.sample(order, rank)?;
                self.measured(watcher)
            }
            Phase::Verify => {
                self.verify(&order.plan, watcher)?;
                Ok(self.stopped())
            }
            Phase::Clean => Ok(self.stopped()),
        }
    }

    /// Says what the node is, and audits it.
    fn prepare(
        &mut self,
        order: &Order,
        rank: usize,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        self.remove_orphans()?;
        let described = sampler::describe(
            &self.config.node,
            &named(self.config),
            observed(self.config),
        );
        let boot_id = fs::read_to_string(BOOT_ID).ok();
        let clock = order.clocks.get(rank).and_then(Option::as_ref);
        self.node = NodeRecord {
            boot_id: boot_id.map(|text| text.trim().to_owned()),
            clock_offset_s: clock.map(|clock| clock.offset_s),
            clock_uncertainty_s: clock.map(|clock| clock.uncertainty_s),
            ..described
        };
        self.directory.write_node(&self.node)?;
        self.audit(watcher)
    }

    /// Starts to sample the node. What a machine does as a whole is sampled by the first of the nodes that it is.
    fn sample(&mut self, order: &Order, rank: usize) -> Result<(), Error> {
        for before in &order.nodes[..rank] {
            let other = self.directory.node(before)?;
            let same = other.and_then(|other| other.boot_id) == self.node.boot_id;
            if same && self.node.boot_id.is_some() {
                self.node.same_host_as = Some(before.clone());
                self.directory.write_node(&self.node)?;
                break;
            }
        }
        let sampler = start_sampler(
            self.config,
            &self.node,
            &self.directory,
            self.began,
            self.board.clone(),
        )?;
        self.sampler = Some(sampler);
        Ok(())
    }

    /// Waits for the time at which all nodes are to launch their jobs.
    pub(super) fn wait_for_start(&self) -> Result<(), Error> {
        let Some(part) = &self.part else {
            return Ok(());
        };
        let Some(start) = part.start_unix_s else {
            return Ok(());
        };
        let left = start - part.led_now();
        if left > WAIT_MAX_S {
            let text = format!(
                "the common start is {left:.0} s ahead by this node's clock: the nodes' clocks are not set"
            );
            return Err(failed("wait for the common start")(io::Error::other(text)));
        }
        while !self.stop.load(Ordering::Relaxed) {
            let left = start - part.led_now();
            if left <= 0.0 {
                break;
            }
            // Short enough that stopping is noticed.
            thread::sleep(Duration::from_secs_f64(left.min(0.1)));
        }
        Ok(())
    }
}
