//! A run on several nodes. One process leads: it makes the run directory, which all nodes share, and lets a
//! launcher (Slurm) carry out one phase after the other on every node ([`crate::run::part`]). Nodes talk to each
//! other by files of the run directory alone.

pub mod clocks;
pub mod files;
pub mod lead;
pub mod rank;
pub mod series;
pub mod slurm;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use results::thresholds::Thresholds;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, PlannedJob};
use crate::run::{Config, Directories, Pace};
use crate::sampler::observe::Series;
use clocks::Clock;

/// What every node reads: `grid.json` of the run directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// What all nodes do together.
    pub plan: Plan,
    /// Where.
    pub directories: Directories,
    /// Staged data.
    pub stage: PathBuf,
    /// Permanent outputs.
    pub output: PathBuf,
    /// Start with whatever is cached.
    pub warm: bool,
    /// What empties the caches of each node before the start, for `/bin/sh`; otherwise the page cache is dropped.
    pub empty_caches: Option<String>,
    /// Audit the nodes.
    pub audit: bool,
    /// Jobs are ended after so long.
    pub wall_limit: Option<Duration>,
    /// The pace of the jobs' steps.
    pub pace: Option<Pace>,
    /// Series that others measure, on the first node.
    pub observe: Vec<Series>,
    /// A licensed SAS that executes jobs.
    pub sas: Option<PathBuf>,
    /// Version of the program.
    pub version: String,
    /// The nodes by rank.
    pub nodes: Vec<String>,
    /// One set of jobs is spread over the nodes; otherwise each has a batch of its own.
    pub spread: bool,
    /// When the run began, seconds since the Unix epoch by the clock of the node that leads.
    pub began_unix_s: f64,
    /// The nodes' clocks by rank, where they were compared.
    pub clocks: Vec<Option<Clock>>,
}

/// What all nodes do before any does the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Remove what killed jobs left, say what the node is, audit it.
    Prepare,
    /// Put input data in place.
    Stage,
    /// Evict them.
    Cold,
    /// Run the jobs and flush what they wrote.
    Launch,
    /// Read back what jobs left, those of another node if it can be seen.
    Verify,
    /// Remove outputs that lie on a file system of the node's own.
    Clean,
}

impl Phase {
    /// Those of a run, in order; cleaning comes behind them.
    pub const MEASURED: [Self; 5] = [
        Self::Prepare,
        Self::Stage,
        Self::Cold,
        Self::Launch,
        Self::Verify,
    ];

    /// The word on the command line and in events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Stage => "stage",
            Self::Cold => "cold",
            Self::Launch => "launch",
            Self::Verify => "verify",
            Self::Clean => "clean",
        }
    }

    /// The phase of a word.
    pub fn named(word: &str) -> Option<Self> {
        let mut all = Self::MEASURED.into_iter().chain([Self::Clean]);
        all.find(|phase| phase.name() == word)
    }
}

/// Where an order is.
fn path(run: &Path) -> PathBuf {
    run.join("grid.json")
}

impl Order {
    /// Reads that of a run directory.
    pub fn read(run: &Path) -> io::Result<Self> {
        let bytes = fs::read(path(run))?;
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }

    fn write(&self, run: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        let beside = run.join("grid.json.new");
        fs::write(&beside, bytes)?;
        fs::rename(beside, path(run))
    }

    /// How far a node's clock is ahead of that of the node that leads, seconds; 0 if they were not compared.
    pub fn clock_offset_s(&self, rank: usize) -> f64 {
        let clock = self.clocks.get(rank).and_then(Option::as_ref);
        clock.map_or(0.0, |clock| clock.offset_s)
    }

    /// The node of each job, by the job's name.
    pub fn ranks(&self) -> BTreeMap<&str, usize> {
        let jobs = &self.plan.jobs;
        let mut ranks: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, job) in jobs.iter().enumerate() {
            ranks.insert(&job.name, self.rank(place, job));
        }
        ranks
    }

    fn rank(&self, place: usize, job: &PlannedJob) -> usize {
        if !self.spread {
            return job.lane as usize - 1;
        }
        // What follows another job stays with it.
        match job.follows {
            Some(before) => self.rank(before, &self.plan.jobs[before]),
            None => place % self.nodes.len(),
        }
    }

    /// What one node does.
    pub fn plan_of(&self, rank: usize) -> Plan {
        let ranks = self.ranks();
        let mut plan = self.plan.clone();
        plan.retain_jobs(|job| ranks.get(job.name.as_str()) == Some(&rank));
        plan
    }

    /// The configuration of a node's part.
    pub(crate) fn config(
        &self,
        plan: Plan,
        node: String,
        (program, host): (PathBuf, String),
    ) -> Config {
        let first = self.nodes.first() == Some(&node);
        Config {
            plan,
            directories: self.directories.clone(),
            warm: self.warm,
            empty_caches: self.empty_caches.clone(),
            keep: true,
            only_stage: false,
            audit: self.audit,
            wall_limit: self.wall_limit,
            duration: None,
            ceiling: None,
            pace: self.pace.clone(),
            labels: BTreeMap::new(),
            series: None,
            program,
            sas: self.sas.clone(),
            version: self.version.clone(),
            node,
            host,
            observe: if first {
                self.observe.clone()
            } else {
                Vec::new()
            },
            thresholds: Thresholds::published(),
        }
    }
}
