//! The same jobs on tmpfs, before the run: how fast they are where no storage holds them back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::ceiling::{ceiling, factor, few, too_large};
use bench::plan::{Plan, Scale, Verify};
use bench::run::{Config, Directories};
use results::run::Ceiling;

use super::{Request, host_facts};
use crate::cli::RunArgs;
use crate::commands::view::View;
use crate::ui;

/// A tmpfs on every Linux.
const TMPFS: &str = "/dev/shm";

/// What `statfs` calls a tmpfs.
const TMPFS_KIND: i64 = 0x0102_1994;

/// Measures it for a run that may have a verdict; `None` where there is no tmpfs with room, where the jobs did not end
/// well on it, or when it was interrupted.
pub fn measure(
    args: &RunArgs,
    suite: &bench::suite::Suite,
    request: &Request,
    config: &Config,
    stop: &AtomicBool,
) -> Result<Option<Ceiling>> {
    if config.plan.demonstration || args.no_ceiling {
        return Ok(None);
    }
    let Some(free) = free_on_tmpfs() else {
        ui::say(&format!(
            "{TMPFS} is no tmpfs: what the engine can do there is not measured"
        ));
        return Ok(None);
    };
    // Removed when this is over, however it ends.
    let room = tempfile::Builder::new()
        .prefix("gristmill-ceiling-")
        .tempdir_in(TMPFS)
        .with_context(|| format!("failed to make a directory in {TMPFS}"))?;
    let directories = everything_in(room.path());
    let plan = match small(args, suite, (request, &config.plan), &directories, free)? {
        Ok(plan) => plan,
        Err(why) => {
            ui::say(&format!(
                "what the engine can do on tmpfs is not measured: {why}"
            ));
            return Ok(None);
        }
    };
    ui::say(&format!(
        "{} of {} jobs on tmpfs first, to know what the engine can do",
        plan.jobs.len(),
        config.plan.jobs.len()
    ));
    let small = Config {
        plan,
        directories,
        warm: true,
        keep: false,
        audit: false,
        duration: None,
        labels: BTreeMap::new(),
        series: None,
        observe: Vec::new(),
        ..config.clone()
    };
    let mut view = View::new();
    let outcome = bench::run::run(&small, stop, &mut view);
    view.finish();
    let outcome = outcome?;
    if outcome.interrupted {
        return Ok(None);
    }
    let well = |plan: &Plan| {
        let ended = outcome
            .result
            .jobs
            .iter()
            .filter(|job| job.exit == Some(0))
            .count();
        ended == plan.jobs.len()
    };
    if !well(&small.plan) {
        ui::say("not all jobs ended well on tmpfs: what the engine can do there is not known");
        return Ok(None);
    }
    Ok(Some(ceiling(&config.plan, &small.plan, &outcome.result)))
}

/// The small run, or why it does not fit.
fn small(
    args: &RunArgs,
    suite: &bench::suite::Suite,
    (request, whole): (&Request, &Plan),
    directories: &Directories,
    free: Bytes,
) -> Result<Result<Plan, String>> {
    let mut host = host_facts(args.cores, suite.text.name.get_ref(), directories)?;
    // A tmpfs may promise more than there is: the jobs need memory themselves.
    let free = free.min(Bytes(host.memory.0 / 2));
    let factor = factor(whole, free);
    let small = Request {
        scale: Scale::Factor(whole.scale * factor),
        time_scale: Some(whole.time_scale * factor),
        verify: Verify::Off,
        spread_over: 1,
        ..request.clone()
    };
    // Whether it fits is asked once it is known how few jobs it needs.
    host.free.clear();
    let mut plan =
        bench::plan::plan(suite, &small, &host).context("failed to plan the run on tmpfs")?;
    few(suite, &mut plan);
    Ok(match too_large(&plan, free) {
        Some(why) => Err(why),
        None => Ok(plan),
    })
}

/// Bytes free on the tmpfs; `None` where there is none, as in some containers and small systems.
fn free_on_tmpfs() -> Option<Bytes> {
    let kind = rustix::fs::statfs(TMPFS).ok()?.f_type;
    let space = rustix::fs::statvfs(TMPFS).ok()?;
    (kind == TMPFS_KIND).then_some(Bytes(space.f_bavail * space.f_frsize))
}

fn everything_in(room: &Path) -> Directories {
    let within = |name: &str| room.join(name);
    Directories {
        data: within("data"),
        output: within("output"),
        work: within("work"),
        util: within("util"),
        runs: within("runs"),
    }
}
