//! `gristmill agent`: one node's part of a run on several, as launchers start it.

use std::io;

use anyhow::{Context, Result, anyhow, bail};
use base::units::Bytes;
use bench::grid::{Order, Phase, clocks, slurm};
use bench::run::part::{self, Part};
use bench::run::{Progress, Watcher};

use super::exec::host_name;
use super::iotest;
use super::run::stop_on_signals;
use crate::cli::AgentArgs;
use crate::exit::Exit;

/// Runs the verb.
pub fn run(args: &AgentArgs) -> Result<Exit> {
    if args.iotest {
        if args.clock {
            let rank = own_rank(args, &iotest::nodes_of(&args.run)?)?;
            return tell_clock(rank);
        }
        let stop = stop_on_signals()?;
        let phase = args.phase.as_deref().unwrap_or_default();
        return iotest::agent(&args.run, phase, |nodes| own_rank(args, nodes), &stop);
    }
    let order = Order::read(&args.run)
        .with_context(|| format!("failed to read the order in {}", args.run.display()))?;
    let rank = own_rank(args, &order.nodes)?;
    if args.clock {
        return tell_clock(rank);
    }
    let word = args.phase.as_deref().unwrap_or_default();
    let phase = Phase::named(word).ok_or_else(|| {
        anyhow!("--phase {word}: prepare, stage, cold, launch or verify is needed")
    })?;
    let of_this = |(verifier, verified): &(String, u64)| {
        let own = verifier.parse() == Ok(rank);
        own.then(|| usize::try_from(*verified).ok()).flatten()
    };
    let part = Part {
        rank,
        start_unix_s: args.start,
        verifies: args.verifies.iter().find_map(of_this),
        clock_offset_s: order.clock_offset_s(rank),
        offsets_s: order
            .ranks()
            .into_iter()
            .map(|(job, rank)| (job.to_owned(), order.clock_offset_s(rank)))
            .collect(),
    };
    if part.verifies.is_some_and(|rank| rank >= order.nodes.len()) {
        bail!("--verifies: the run has {} nodes", order.nodes.len());
    }
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let stop = stop_on_signals()?;
    let stopped = part::carry_out(
        (&order, &args.run),
        (phase, part),
        (program, host_name()),
        &stop,
        &mut Silent,
    )?;
    Ok(if stopped {
        Exit::Interrupted
    } else {
        Exit::Good
    })
}

fn tell_clock(rank: usize) -> Result<Exit> {
    clocks::answer(rank, io::stdin().lock(), io::stdout().lock())
        .context("failed to tell the clock")?;
    Ok(Exit::Good)
}

/// This node's place: Slurm names the node, others are told.
fn own_rank(args: &AgentArgs, nodes: &[String]) -> Result<usize> {
    let rank = match (args.rank, slurm::this_node()) {
        (Some(rank), _) => rank,
        (None, Some(node)) => {
            let found = nodes.iter().position(|name| *name == node);
            found.with_context(|| format!("{node} is none of the nodes of this run"))?
        }
        (None, None) => bail!("--rank is needed outside of Slurm"),
    };
    if rank >= nodes.len() {
        bail!("--rank {rank}: there are {} nodes", nodes.len());
    }
    Ok(rank)
}

/// What a node does is told by its events.
struct Silent;

impl Watcher for Silent {
    fn phase(&mut self, _: &str) {}

    fn staging(&mut self, _: Bytes, _: Bytes) {}

    fn running(&mut self, _: &Progress) {}

    fn verifying(&mut self, _: usize, _: usize) {}
}
