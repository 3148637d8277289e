//! The leading side of a run on several nodes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ::io::cache;
use results::assemble::assemble_with;
use results::node::NodeRecord;
use results::run::{Event, EventKind, JobPlan, RunDirectory, RunPlan, Time};

use super::clocks::Clock;
use super::{Order, Phase};
use crate::marker::{self, Holds};
use crate::run::directories::{
    create_directory, free_name, open_stage, output_path, remove_outputs, run_name,
};
use crate::run::journal::Journal;
use crate::run::{Config, Error, Outcome, Watcher, failed, now};
use crate::stage::Stage;

/// How long before the common start the nodes are told of it, seconds.
const NOTICE_S: f64 = 3.0;

/// What starts processes on nodes, and waits for them.
pub trait Launcher {
    /// Starts `gristmill agent` with these arguments on each node and waits until all have ended but those that
    /// have failed. How they ended is read in their events: `unfinished` names those that have not ended. An error
    /// says that none could be started.
    fn start(
        &self,
        nodes: &[&str],
        arguments: &[String],
        unfinished: &dyn Fn() -> Vec<String>,
        stop: &AtomicBool,
    ) -> io::Result<()>;

    /// Whether a process can be started on a node.
    fn answers(&self, node: &str) -> bool;

    /// Compares the nodes' clocks with that of this process.
    fn clocks(&self, nodes: &[String], arguments: &[String]) -> io::Result<Vec<Option<Clock>>>;
}

/// The nodes of a run.
pub struct Grid<'a> {
    /// Their names, by rank.
    pub nodes: Vec<String>,
    /// One set of jobs is spread over the nodes; otherwise each has a batch of its own.
    pub spread: bool,
    /// What starts processes on them.
    pub launcher: &'a dyn Launcher,
}

/// Carries a plan out on several nodes.
pub fn run(
    config: &Config,
    grid: &Grid<'_>,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, Error> {
    let name = free_name(&config.directories.runs, &run_name(&config.plan.suite));
    let stage = open_stage(config)?;
    let (directory, _in_use) = create_directory(config, &name)?;
    let action = format!("write to {}", directory.path().display());
    let journal = Journal::open(&directory, None).map_err(failed(action))?;
    let output = output_path(config, &name);
    let action = format!("make {}", output.display());
    let output_in_use = marker::make(&output, Holds::Output).map_err(failed(action))?;
    let began = Instant::now();
    let order = Order {
        plan: config.plan.clone(),
        directories: config.directories.clone(),
        stage: stage.directory().to_owned(),
        output: output.clone(),
        warm: config.warm,
        empty_caches: config.empty_caches.clone(),
        audit: config.audit,
        wall_limit: config.wall_limit,
        pace: config.pace.clone(),
        observe: config.observe.clone(),
        sas: config.sas.clone(),
        version: config.version.clone(),
        nodes: grid.nodes.clone(),
        spread: grid.spread,
        began_unix_s: now(),
        clocks: Vec::new(),
    };
    let mut led = Led {
        began,
        grid,
        order,
        directory,
        journal,
        alive: (0..grid.nodes.len()).collect(),
        stop,
    };
    let interrupted = led.carry_out(watcher)?;
    if interrupted {
        led.event(&Event::new(led.time(), EventKind::Interrupted))?;
    }
    drop(output_in_use);
    if !config.keep {
        remove_outputs(&output)?;
        // Of outputs that nodes have for themselves; what stays is found by `gristmill clean`.
        led.start(Phase::Clean, &led.alive, &BTreeMap::new())?;
    }
    led.journal.release();
    if !led.journal.flush()? {
        return Err(failed("write events")(io::ErrorKind::StorageFull.into()));
    }
    watcher.phase("adding up");
    let result = assemble_with(&led.directory, &config.thresholds)?;
    if !interrupted {
        led.directory.write_result(&result)?;
        led.event(&Event::new(led.time(), EventKind::RunFinished))?;
    }
    Ok(Outcome {
        directory: led.directory,
        result,
        interrupted,
    })
}

struct Led<'a> {
    began: Instant,
    grid: &'a Grid<'a>,
    order: Order,
    directory: RunDirectory,
    journal: Journal,
    /// Ranks of the nodes that ended every phase so far.
    alive: Vec<usize>,
    stop: &'a AtomicBool,
}

impl Led<'_> {
    fn time(&self) -> Time {
        Time {
            unix_s: now(),
            at_s: self.began.elapsed().as_secs_f64(),
        }
    }

    fn event(&self, event: &Event) -> Result<(), Error> {
        Ok(self.journal.add(event)?)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write_order(&self) -> Result<(), Error> {
        let action = format!("write the order of the nodes to {}", self.path().display());
        self.order.write(self.path()).map_err(failed(action))
    }

    /// All phases; true if it was cut short.
    fn carry_out(&mut self, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        self.note_nodes()?;
        self.write_order()?;
        self.compare_clocks(watcher)?;
        for phase in Phase::MEASURED {
            if self.alive.is_empty() || self.stopped() {
                return Ok(self.stopped());
            }
            let count = self.alive.len();
            let word = if count == 1 { "node" } else { "nodes" };
            watcher.phase(&format!("{} on {count} {word}", saying(phase)));
            self.phase(phase)?;
            match phase {
                Phase::Prepare => self.note_hosts()?,
                Phase::Stage => self.note_sizes()?,
                _ => {}
            }
        }
        Ok(self.stopped())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Keeps in the plan which nodes there are, and which of them runs what.
    fn note_nodes(&self) -> Result<(), Error> {
        let folder = RunDirectory::events_folder(self.path());
        let action = format!("make {}", folder.display());
        fs::create_dir_all(&folder).map_err(failed(action))?;
        let plan = self.directory.plan()?;
        let ranks = self.order.ranks();
        let node = |job: &JobPlan| Some(self.order.nodes[*ranks.get(job.name.as_str())?].clone());
        let jobs = plan.jobs.into_iter().map(|job| JobPlan {
            node: node(&job),
            ..job
        });
        Ok(self.directory.write_plan(&RunPlan {
            jobs: jobs.collect(),
            node: self.order.nodes[0].clone(),
            nodes: self.order.nodes.clone(),
            ..plan
        })?)
    }

    /// Nodes that are one machine do not have more processors and memory than it.
    fn note_hosts(&self) -> Result<(), Error> {
        let mut boots = Vec::new();
        let mut processors = Vec::new();
        for at in &self.alive {
            let record = self
                .directory
                .node(&self.order.nodes[*at])?
                .unwrap_or_default();
            boots.push(record.boot_id.unwrap_or_else(|| record.node.clone()));
            processors.extend(record.processors);
        }
        let nodes = boots.len();
        boots.sort_unstable();
        boots.dedup();
        processors.sort_unstable();
        processors.dedup();
        let mut plan = self.directory.plan()?;
        if processors.len() > 1 {
            let detail = format!(
                "cores and memory of all nodes are taken to be those of {}, but they have {processors:?} processors",
                self.order.nodes[0]
            );
            self.event(&Event::new(self.time(), EventKind::NotMeasured).with_detail(detail))?;
        }
        if boots.len() == nodes {
            return Ok(());
        }
        let share = boots.len() as f64 / nodes as f64;
        let of_hosts = |number: u64| number * boots.len() as u64 / nodes as u64;
        plan.cores = u32::try_from(of_hosts(u64::from(plan.cores)))
            .unwrap_or(u32::MAX)
            .max(1);
        if !self.order.spread {
            plan.memory_bytes = of_hosts(plan.memory_bytes);
        }
        plan.cores_basis = format!(
            "{} machines, which stand for {nodes} nodes; {}",
            boots.len(),
            plan.cores_basis
        );
        if let Some(rate) = plan.ceiling.as_mut().and_then(|one| one.mb_per_s.as_mut()) {
            *rate *= share;
        }
        Ok(self.directory.write_plan(&plan)?)
    }

    fn note_sizes(&self) -> Result<(), Error> {
        let look = "look at the staged files";
        let stage = Stage::join(&self.order.stage).map_err(failed(look))?;
        let record = self.directory.plan()?;
        let record = stage
            .in_record(&self.order.plan, record)
            .map_err(failed(look))?;
        Ok(self.directory.write_plan(&record)?)
    }

    fn compare_clocks(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        watcher.phase("comparing clocks");
        let run = self.path().display().to_string();
        let arguments = ["--run".to_owned(), run, "--clock".to_owned()];
        match self.grid.launcher.clocks(&self.order.nodes, &arguments) {
            Ok(clocks) => {
                let unknown = self.order.nodes.iter().zip(&clocks);
                let unknown: Vec<&str> = unknown
                    .filter(|(_, clock)| clock.is_none())
                    .map(|(node, _)| node.as_str())
                    .collect();
                if !unknown.is_empty() {
                    let detail = format!(
                        "the clocks of {} gave no answer: their times may be off by what their clocks are",
                        unknown.join(", ")
                    );
                    self.event(
                        &Event::new(self.time(), EventKind::NotMeasured).with_detail(detail),
                    )?;
                }
                self.order.clocks = clocks;
            }
            Err(error) => {
                let detail = format!(
                    "the clocks of the nodes were not compared: times of different nodes may be off by what their \
                     clocks are ({error})"
                );
                self.event(&Event::new(self.time(), EventKind::NotMeasured).with_detail(detail))?;
            }
        }
        self.write_order()
    }

    /// Has every node that is left carry the phase out; those that did not end it are left out from here on.
    fn phase(&mut self, phase: Phase) -> Result<(), Error> {
        if phase == Phase::Verify {
            // What the nodes wrote is to come from storage, not from what this one may know of it.
            let action = format!("flush {}", self.order.output.display());
            cache::flush(&self.order.output).map_err(failed(action))?;
        }
        let verifiers = self.verifiers(&self.alive)?;
        self.start(phase, &self.alive, &verifiers)?;
        // A node that cannot be reached may keep the launcher from starting the phase on any. Where some did it,
        // the others cannot do it later: it would not be the same time.
        if self.nodes_of(EventKind::PhaseStarted, phase)?.is_empty() && !self.stopped() {
            let mut reached = self.alive.clone();
            let launcher = self.grid.launcher;
            reached.retain(|at| launcher.answers(&self.order.nodes[*at]));
            let verifiers = self.verifiers(&reached)?;
            self.start(phase, &reached, &verifiers)?;
        }
        if self.stopped() {
            return Ok(());
        }
        let ended = self.nodes_of(EventKind::PhaseEnded, phase)?;
        let (alive, lost): (Vec<usize>, Vec<usize>) =
            self.alive.iter().partition(|at| ended.contains(at));
        self.alive = alive;
        for at in lost {
            let node = &self.order.nodes[at];
            let detail = format!(
                "{node} did not end the phase {}: it is left out from here on",
                phase.name()
            );
            self.event(&Event::new(self.time(), EventKind::NodeLost).with_detail(detail))?;
        }
        Ok(())
    }

    /// Starts a phase on the nodes of these ranks, and waits.
    fn start(
        &self,
        phase: Phase,
        ranks: &[usize],
        verifiers: &BTreeMap<usize, usize>,
    ) -> Result<(), Error> {
        if ranks.is_empty() {
            return Ok(());
        }
        let mut arguments = vec!["--run".to_owned(), self.path().display().to_string()];
        let mut flag = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        flag("--phase", phase.name().to_owned());
        match phase {
            Phase::Launch => flag("--start", format!("{:.6}", now() + NOTICE_S)),
            Phase::Verify => {
                for (verifier, verified) in verifiers {
                    flag("--verifies", format!("{verifier}={verified}"));
                }
            }
            _ => {}
        }
        let nodes: Vec<&str> = ranks.iter().map(|at| &*self.order.nodes[*at]).collect();
        let unfinished = || {
            // What cannot be read now is read again.
            let ended = self.nodes_of(EventKind::PhaseEnded, phase);
            let ended = ended.unwrap_or_default();
            let open = ranks.iter().filter(|at| !ended.contains(at));
            open.map(|at| self.order.nodes[*at].clone()).collect()
        };
        let launcher = self.grid.launcher;
        let started = launcher.start(&nodes, &arguments, &unfinished, self.stop);
        started.map_err(failed(format!("start the phase {}", phase.name())))
    }

    /// Ranks of the nodes that say this of a phase.
    fn nodes_of(&self, kind: EventKind, phase: Phase) -> Result<Vec<usize>, Error> {
        let events = self.directory.events()?;
        let says =
            |event: &&Event| event.event == kind && event.detail.as_deref() == Some(phase.name());
        let of_phase = events.iter().filter(says);
        let nodes: Vec<&str> = of_phase.filter_map(|event| event.node.as_deref()).collect();
        let among = |at: &usize| nodes.contains(&&*self.order.nodes[*at]);
        Ok((0..self.order.nodes.len()).filter(among).collect())
    }

    /// Who verifies whose jobs: the next node, where all see data and outputs on file systems that nodes share
    /// or are one machine; else each its own.
    fn verifiers(&self, ranks: &[usize]) -> Result<BTreeMap<usize, usize>, Error> {
        let records = ranks.iter().map(|at| {
            let record = self.directory.node(&self.order.nodes[*at])?;
            Ok(record.unwrap_or_default())
        });
        let records = records.collect::<Result<Vec<NodeRecord>, Error>>()?;
        let first = records.first().and_then(|one| one.boot_id.as_ref());
        let one_host = first.is_some() && records.iter().all(|one| one.boot_id.as_ref() == first);
        let shares = |record: &NodeRecord| {
            ["data", "output"].iter().all(|name| {
                let found = record.file_systems.get(*name);
                found.is_some_and(|found| host::file_systems::is_shared(&found.kind))
            })
        };
        let shift = usize::from(one_host || records.iter().all(shares));
        let verifiers = ranks.iter().cycle().skip(shift);
        Ok(verifiers.copied().zip(ranks.iter().copied()).collect())
    }
}

const fn saying(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "preparing",
        Phase::Stage => "staging",
        Phase::Cold => "evicting",
        Phase::Launch => "running",
        Phase::Verify => "verifying",
        Phase::Clean => "cleaning",
    }
}
