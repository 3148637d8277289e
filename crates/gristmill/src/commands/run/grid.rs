//! `gristmill run` on several nodes: those of an allocation of Slurm, or those of another launcher.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::grid::lead::{self, Grid, Launcher};
use bench::grid::series::Series;
use bench::plan::{self, Plan};
use bench::run::{Config, Directories, Outcome, Watcher};
use bench::suite::Suite;
use bench::suite::text::Distribution;

use super::{Rung, host_facts, request};
use crate::cli::RunArgs;
use crate::commands::nodes::{self, Met};
use crate::exit::Exit;

/// The nodes on which this process is to run a suite.
pub struct Allocated {
    nodes: Vec<String>,
    spread: bool,
    launcher: Box<dyn Launcher>,
    /// The folder of the series that the run is part of.
    series: Option<PathBuf>,
}

/// What this process does of a run on several nodes.
pub enum Place {
    /// There are no others.
    Alone,
    /// It leads.
    Leads(Allocated),
    /// It did what it was told.
    Followed(Exit),
}

/// This process's place among others, if it has any.
pub fn place(
    args: &RunArgs,
    suite: &Suite,
    directories: &Directories,
    stop: &AtomicBool,
) -> Result<Place> {
    let spread = suite.text.distribution == Distribution::Spread;
    if let Some(name) = &args.grid.launched {
        return launched((args, name), spread, directories, stop);
    }
    if !args.grid.slurm {
        return Ok(Place::Alone);
    }
    let (names, allocation) = nodes::allocation()?;
    Ok(Place::Leads(Allocated {
        nodes: names,
        spread,
        launcher: Box::new(allocation),
        series: args.grid.in_series.clone(),
    }))
}

/// The place of a process that another launcher started.
fn launched(
    (args, name): (&RunArgs, &str),
    spread: bool,
    directories: &Directories,
    stop: &AtomicBool,
) -> Result<Place> {
    nodes::refuse_bound(args.cores)?;
    let met = nodes::meet((name, args.grid.processes), &directories.runs, stop)?;
    Ok(match met {
        Met::Followed(exit) => Place::Followed(exit),
        Met::Leads(processes) => Place::Leads(Allocated {
            nodes: processes.nodes.clone(),
            spread,
            launcher: Box::new(processes),
            series: None,
        }),
    })
}

impl Allocated {
    /// What all nodes do together. Each is taken to be like this one.
    pub fn planned(
        &self,
        args: &RunArgs,
        suite: &Suite,
        directories: &Directories,
    ) -> Result<Plan> {
        let mut host = host_facts(args.cores, suite.text.name.get_ref(), directories)?;
        for space in host.free.iter_mut().filter(|space| space.shared.is_none()) {
            // Each node has as much of its own, and what all put there together is counted.
            let staged: u64 = space.staged.iter().map(|(_, bytes)| bytes).sum();
            let free = space.free.0.saturating_sub(staged);
            space.free = Bytes(free.saturating_mul(self.nodes.len() as u64) + staged);
        }
        let nodes = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let mut request = request(args, &Rung::Same);
        if self.spread {
            request.spread_over = nodes;
        } else {
            request.lanes = nodes;
        }
        let mut plan = plan::plan(suite, &request, &host).context("failed to plan the run")?;
        plan.on_nodes(nodes, self.spread);
        Ok(plan)
    }

    /// Carries it out.
    pub fn run(
        &self,
        config: &mut Config,
        stop: &AtomicBool,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, bench::run::Error> {
        if let Some(folder) = &self.series {
            let nodes = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let place = Series::read(folder).and_then(|series| series.place(nodes));
            config.series = Some(place.map_err(|source| bench::run::Error::Io {
                action: format!("read the series {}", folder.display()),
                source,
            })?);
        }
        // Each node reaches what this one reaches on tmpfs.
        if let Some(rate) = config
            .ceiling
            .as_mut()
            .and_then(|one| one.mb_per_s.as_mut())
        {
            *rate *= self.nodes.len() as f64;
        }
        let grid = Grid {
            nodes: self.nodes.clone(),
            spread: self.spread,
            launcher: &*self.launcher,
        };
        lead::run(config, &grid, stop, watcher)
    }
}
