//! The same jobs on tmpfs, before the run: how fast they are where no storage holds them back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::ceiling::{How, is_pool, times, too_large};
use bench::clean;
use bench::marker::{self, Holds};
use bench::plan::{Plan, Scale, Verify};
use bench::run::{Config, Directories};
use bench::suite::Suite;
use results::run::{Ceiling, JobResult, RunResult};

use super::{Request, host_facts};
use crate::cli::RunArgs;
use crate::commands::exec::host_name;
use crate::commands::view::View;
use crate::ui;

/// A tmpfs on every Linux.
const TMPFS: &str = "/dev/shm";

/// What folders there are called.
const ROOM: &str = "gristmill-ceiling-";

/// What `statfs` calls a tmpfs.
const TMPFS_KIND: i64 = 0x0102_1994;

/// Measures it for a run that may have a verdict; `None` where there is no tmpfs with room, where the jobs did not
/// end well on it, or when it was interrupted.
pub fn measure(
    args: &RunArgs,
    suite: &Suite,
    request: &Request,
    config: &Config,
    stop: &AtomicBool,
) -> Result<Option<Ceiling>> {
    // A licensed SAS does not tell what it moves: nothing could be compared.
    if config.plan.demonstration || args.no_ceiling || config.sas.is_some() {
        return Ok(None);
    }
    remove_left_over();
    let Some(free) = free_on_tmpfs() else {
        ui::say(&format!(
            "{TMPFS} is no tmpfs: what the engine can do there is not measured"
        ));
        return Ok(None);
    };
    let tmpfs = Tmpfs {
        args,
        suite,
        request,
        config,
        free,
    };
    let Some((at_once, result)) = tmpfs.run(How::AtOnce, stop)? else {
        return Ok(None);
    };
    if !result.jobs.iter().all(JobResult::ended_well) {
        ui::say("not all jobs ended well on tmpfs: what the engine can do there is not known");
        return Ok(None);
    }
    let mb_per_s = result.aggregate.mb_per_s;
    let alone = if is_pool(suite) {
        Some((at_once, result))
    } else {
        tmpfs.run(How::Alone, stop)?
    };
    let jobs = alone.map(|(plan, result)| times(&config.plan, &plan, &result));
    Ok(Some(Ceiling {
        mb_per_s,
        jobs: jobs.unwrap_or_default(),
    }))
}

/// Removes what killed runs left: it takes memory from those that follow. That of other users stays.
fn remove_left_over() {
    let Ok(found) = clean::find(Path::new(TMPFS), &host_name()) else {
        return;
    };
    let is_room = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(ROOM)
    };
    for one in found.iter().filter(|one| !one.in_use && is_room(&one.path)) {
        if clean::remove(one).is_ok() {
            let (path, bytes) = (one.path.display(), Bytes(one.bytes));
            ui::say(&format!(
                "removed {path} ({bytes}), left by a run that was killed"
            ));
        }
    }
}

/// Where small runs of a run take place.
struct Tmpfs<'a> {
    args: &'a RunArgs,
    suite: &'a Suite,
    request: &'a Request,
    config: &'a Config,
    free: Bytes,
}

impl Tmpfs<'_> {
    /// A small run; `None` if it does not fit or was interrupted.
    fn run(&self, how: How, stop: &AtomicBool) -> Result<Option<(Plan, RunResult)>> {
        // Removed when this is over; by the next run if this one is killed.
        let room = tempfile::Builder::new()
            .prefix(ROOM)
            .tempdir_in(TMPFS)
            .with_context(|| format!("failed to make a directory in {TMPFS}"))?;
        let _in_use = marker::make(room.path(), Holds::Test)?;
        let directories = everything_in(room.path());
        let plan = match self.plan(how, &directories)? {
            Ok(plan) => plan,
            Err(why) => {
                ui::say(&format!(
                    "what the engine can do on tmpfs is not measured: {why}"
                ));
                return Ok(None);
            }
        };
        let together = match how {
            How::AtOnce => "",
            How::Alone => ", one after the other,",
        };
        ui::say(&format!(
            "{} of {} jobs{together} on tmpfs first, to know what the engine can do",
            plan.jobs.len(),
            self.config.plan.jobs.len()
        ));
        let small = Config {
            plan,
            directories,
            warm: true,
            empty_caches: None,
            keep: false,
            audit: false,
            duration: None,
            labels: BTreeMap::new(),
            series: None,
            observe: Vec::new(),
            ..self.config.clone()
        };
        let mut view = View::new();
        let outcome = bench::run::run(&small, stop, &mut view);
        view.finish();
        let outcome = outcome?;
        Ok((!outcome.interrupted).then_some((small.plan, outcome.result)))
    }

    /// The plan of a small run, or why it does not fit.
    fn plan(&self, how: How, directories: &Directories) -> Result<Result<Plan, String>> {
        let name = self.suite.text.name.get_ref();
        let mut host = host_facts(self.args.cores, name, directories)?;
        // A tmpfs may promise more than there is: the jobs need memory themselves.
        let free = self.free.min(Bytes(host.memory.0 / 2));
        let whole = &self.config.plan;
        let factor = how.factor(self.suite, whole, free);
        let small = Request {
            scale: Scale::Factor(whole.scale * factor),
            time_scale: Some(whole.time_scale * factor),
            verify: Verify::Off,
            spread_over: 1,
            settled: None,
            ..self.request.clone()
        };
        // Whether it fits is asked once it is known how few jobs it needs.
        host.free.clear();
        let plan = bench::plan::plan(self.suite, &small, &host);
        let mut plan = plan.context("failed to plan the run on tmpfs")?;
        how.choose(self.suite, &mut plan);
        Ok(match too_large(&plan, free) {
            Some(why) => Err(why),
            None => Ok(plan),
        })
    }
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
