//! `gristmill run`: stage a suite, run its jobs, verify their outputs, report.

mod ceiling;
mod dry_run;
mod grid;
mod space;
mod submit;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};
use base::units::Bytes;
use bench::plan::{HostFacts, Plan, Request, Scale};
use bench::run::{Config, Directories, Outcome};
use bench::suite::Suite;
use bench::suite::text::Distribution;
use bench::{marker, plan, suite};
use results::run::{RunResult, Series, Verdict};
use rustix::fs::Access;
use signal_hook::iterator::Signals;

use self::space::{existing, free_spaces};
use super::exec::host_name;
use super::memory;
use super::view::View;
use crate::cli::{RunArgs, VERSION};
use crate::exit::{Exit, usage};
use crate::sizes::Compared;
use crate::{signals, ui};

/// Runs the verb.
pub fn run(args: &RunArgs) -> Result<Exit> {
    let suite = suite::find(&args.suite)?;
    check_arguments(args)?;
    let directories = directories(args)?;
    if !args.grid.nodes.is_empty() {
        return submit::submit(args, &suite, &directories);
    }
    let stop = stop_on_signals()?;
    let allocated = match grid::place(args, &suite, &directories, &stop)? {
        grid::Place::Alone => None,
        grid::Place::Leads(allocated) => Some(allocated),
        grid::Place::Followed(exit) => return Ok(exit),
    };
    let mut rungs = rungs(args, &suite)?;
    settle_scale(args, &suite, &directories, &mut rungs)?;
    let rungs = rungs;
    // A file with mistakes is refused before anything is done.
    super::report::thresholds(args.thresholds.as_deref())?;
    let pace = super::pace::of_run(&args.pace)?;
    // A load that does not fit is refused before the smaller ones are run.
    for rung in &rungs {
        let plan = planned(args, &suite, &directories, rung)?;
        if args.dry_run {
            dry_run::tell(args, &plan, &directories, pace.as_ref())?;
        }
    }
    if args.dry_run {
        return Ok(Exit::Good);
    }
    let mut exit = Exit::Good;
    let mut results: Vec<RunResult> = Vec::new();
    let mut ceiling = None;
    for (index, rung) in (1..).zip(&rungs) {
        let of = u32::try_from(rungs.len()).unwrap_or(u32::MAX);
        let series = (of > 1).then(|| rung.series((index, of), results.first()));
        let mut config = config(
            args,
            planned(args, &suite, &directories, rung)?,
            &directories,
        )?;
        config.series = series;
        let mut of_ceiling = request(args, rung);
        if let Some(allocated) = &allocated {
            config.plan = allocated.planned(args, &suite, &directories)?;
            of_ceiling.scale = Scale::Factor(config.plan.scale);
        }
        if index == 1 || !matches!(rung, Rung::Same) {
            ceiling = ceiling::measure(args, &suite, &of_ceiling, &config, &stop)?;
            if stop.load(Ordering::Relaxed) {
                return Ok(Exit::Interrupted);
            }
        }
        config.ceiling.clone_from(&ceiling);
        let mut view = View::new();
        let outcome = match &allocated {
            None => bench::run::run(&config, &stop, &mut view),
            Some(allocated) => allocated.run(&mut config, &stop, &mut view),
        };
        view.finish();
        let outcome = outcome?;
        exit = exit.and(tell(args, &outcome)?);
        if outcome.interrupted {
            return Ok(Exit::Interrupted);
        }
        results.push(outcome.result);
    }
    tell_all(args, &rungs, results)?;
    Ok(exit)
}

/// What contradicts itself, and what a licensed SAS cannot do, is refused before anything is done.
fn check_arguments(args: &RunArgs) -> Result<()> {
    each_name_once("--label", args.label.iter().map(|(name, _)| name))?;
    each_name_once("--mix", args.mix.iter().map(|(name, _)| name))?;
    each_name_once("--parameter", args.parameter.iter().map(|(name, _)| name))?;
    let compared = args.compare_option.iter().map(|compared| &compared.name);
    let options = args.option.iter().map(|(name, _)| name);
    each_name_once("--option", options.chain(compared))?;
    let Some(sas) = &args.engine.0 else {
        return Ok(());
    };
    if args.pace.pace.factor.is_some() {
        usage!("--pace: a licensed SAS has its own pace; leave it out with --engine sas:");
    }
    if let Err(why) = bench::sas::check(sas) {
        bail!("--engine: {why}");
    }
    Ok(())
}

/// A flag that gives a name two values does not say which is meant.
fn each_name_once<'a>(flag: &str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.to_ascii_uppercase()) {
            usage!("{flag}: {name} is given twice; give it once");
        }
    }
    Ok(())
}

fn config(args: &RunArgs, plan: Plan, directories: &Directories) -> Result<Config> {
    Ok(Config {
        plan,
        directories: directories.clone(),
        warm: args.warm,
        empty_caches: args.empty_caches.clone(),
        keep: args.keep,
        only_stage: false,
        audit: true,
        wall_limit: args.wall_limit,
        duration: args.duration,
        pace: super::pace::of_run(&args.pace)?,
        labels: args.label.iter().cloned().collect(),
        series: None,
        program: std::env::current_exe().context("failed to find this program's own file")?,
        sas: args.engine.0.clone(),
        version: VERSION.to_owned(),
        node: host_name(),
        host: host_name(),
        observe: args.observe.clone(),
        ceiling: None,
        thresholds: super::report::thresholds(args.thresholds.as_deref())?,
    })
}

/// One of the runs that a command makes.
enum Rung {
    /// As asked for.
    Same,
    /// At some load.
    Load {
        /// The parameter that is the load; `None`: batches side by side.
        parameter: Option<&'static str>,
        load: u64,
        /// Of all of them, unless one was asked for.
        scale: Option<(f64, String)>,
    },
    /// With a value of a SAS option.
    Option { name: String, value: String },
}

impl Rung {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Same => "repeat",
            Self::Load { .. } => "ladder",
            Self::Option { .. } => "option",
        }
    }

    /// Its place among the runs of a command, the first of which gives them their name.
    fn series(&self, (index, of): (u32, u32), first: Option<&RunResult>) -> Series {
        Series {
            name: first.map_or(String::new(), |first| first.run.clone()),
            kind: self.kind().to_owned(),
            index,
            of,
            load: self.load(),
            option: self.option(),
            base: None,
        }
    }

    const fn load(&self) -> Option<u64> {
        match self {
            Self::Load { load, .. } => Some(*load),
            _ => None,
        }
    }

    fn option(&self) -> Option<String> {
        match self {
            Self::Option { name, value } => Some(format!("{name}={value}")),
            _ => None,
        }
    }
}

/// The runs to be made: one, the same several times, at rising load, or with values of an option.
fn rungs(args: &RunArgs, suite: &Suite) -> Result<Vec<Rung>> {
    if let Some(compared) = &args.compare_option {
        return Ok(of_option(compared, args.repeat.unwrap_or(3)));
    }
    if args.ladder.is_empty() {
        return Ok((0..args.repeat.unwrap_or(1)).map(|_| Rung::Same).collect());
    }
    let mut loads = args.ladder.iter().enumerate();
    if let Some((_, twice)) = loads.find(|(at, load)| args.ladder[..*at].contains(load)) {
        usage!(
            "--ladder names the load {twice} twice: what grows with the load is not told by runs of one load; name \
             each once (--repeat makes a run several times)"
        );
    }
    let has = |name: &&str| suite.text.parameters.contains_key(*name);
    let parameter = ["jobs", "concurrency"].into_iter().find(|name| has(name));
    if parameter.is_none() && suite.text.distribution == Distribution::Spread {
        usage!(
            "--ladder: the jobs of the suite {} share one set of outputs, so that batches cannot run side by \
             side; give it a parameter jobs or concurrency",
            suite.text.name.get_ref()
        );
    }
    let rung = |load: &u64| {
        let load = *load;
        let scale = None;
        Rung::Load {
            parameter,
            load,
            scale,
        }
    };
    Ok(args.ladder.iter().map(rung).collect())
}

/// Files are as large in all runs of a ladder, as those of its highest load are: a rung with fewer jobs and larger
/// files would be another test.
fn settle_scale(
    args: &RunArgs,
    suite: &Suite,
    directories: &Directories,
    rungs: &mut [Rung],
) -> Result<()> {
    let is_given = matches!(args.scale, Some(Scale::Factor(_)));
    let loads = rungs.iter().filter(|rung| rung.load().is_some());
    let Some(most) = loads.max_by_key(|rung| rung.load()).filter(|_| !is_given) else {
        return Ok(());
    };
    let largest = planned(args, suite, directories, most)?;
    for rung in rungs {
        if let Rung::Load { scale, .. } = rung {
            *scale = Some((largest.scale, largest.scale_reason.clone()));
        }
    }
    Ok(())
}

/// Round after round each value once, each round beginning with the next one: what comes first has no advantage.
fn of_option(compared: &Compared, rounds: u32) -> Vec<Rung> {
    let values = &compared.values;
    let mut rungs = Vec::new();
    for round in 0..rounds as usize {
        rungs.extend((0..values.len()).map(|place| Rung::Option {
            name: compared.name.clone(),
            value: values[(round + place) % values.len()].clone(),
        }));
    }
    rungs
}

fn planned(args: &RunArgs, suite: &Suite, directories: &Directories, rung: &Rung) -> Result<Plan> {
    let host = host_facts(args.cores, suite.text.name.get_ref(), directories)?;
    let request = request(args, rung);
    plan::plan(suite, &request, &host).context("failed to plan the run")
}

/// SAS options as flags give them.
pub(super) fn sas_options(given: &[(String, Option<String>)]) -> BTreeMap<String, String> {
    let of = |(name, value): &(String, Option<String>)| {
        (name.to_ascii_uppercase(), value.clone().unwrap_or_default())
    };
    given.iter().map(of).collect()
}

fn request(args: &RunArgs, rung: &Rung) -> Request {
    let mut parameters = parameters(args);
    let mut options = sas_options(&args.option);
    let mut lanes = 1;
    let mut settled = None;
    match rung {
        Rung::Same => {}
        Rung::Load {
            parameter,
            load,
            scale,
        } => {
            match parameter {
                Some(name) => _ = parameters.insert((*name).to_owned(), *load),
                None => lanes = u32::try_from(*load).unwrap_or(u32::MAX),
            }
            settled.clone_from(scale);
        }
        Rung::Option { name, value } => {
            options.insert(name.clone(), value.clone());
        }
    }
    Request {
        scale: args.scale.unwrap_or(Scale::Demonstration),
        time_scale: args.time_scale,
        parameters,
        variant: args.variant.clone(),
        seed: args.seed,
        options,
        mix: args.mix.iter().cloned().collect(),
        verify: args.verify,
        copies: args.copies,
        lanes,
        spread_over: 1,
        settled,
    }
}

/// What several runs show together.
fn tell_all(args: &RunArgs, rungs: &[Rung], results: Vec<RunResult>) -> Result<()> {
    if let Some(compared) = &args.compare_option {
        let values = rungs.iter().filter_map(|rung| match rung {
            Rung::Option { value, .. } => Some(value.clone()),
            _ => None,
        });
        let runs: Vec<(String, RunResult)> = values.zip(results).collect();
        let compared = results::series::options(&compared.name, &compared.values, &runs);
        if args.json {
            ui::data(&serde_json::to_string(&compared)?);
        } else {
            ui::data(report::series::options(&compared).trim_end());
        }
        return Ok(());
    }
    let loads: Option<Vec<u64>> = rungs.iter().map(Rung::load).collect();
    match loads {
        Some(loads) => {
            let runs: Vec<(u64, RunResult)> = loads.into_iter().zip(results).collect();
            let ladder = results::series::ladder(&runs);
            if args.json {
                ui::data(&serde_json::to_string(&ladder)?);
            } else {
                ui::data(report::series::ladder(&ladder).trim_end());
            }
        }
        None if results.len() > 1 && !args.json => {
            ui::data(report::series::repeated(&results).trim_end());
        }
        None => {}
    }
    Ok(())
}

fn parameters(args: &RunArgs) -> BTreeMap<String, u64> {
    let named = [
        ("jobs", args.jobs),
        ("models", args.models),
        ("concurrency", args.concurrency),
    ];
    let given = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    args.parameter.iter().cloned().chain(given).collect()
}

fn tell(args: &RunArgs, outcome: &Outcome) -> Result<Exit> {
    let result = &outcome.result;
    if args.json {
        ui::data(&serde_json::to_string(result)?);
    } else {
        let plan = outcome.directory.plan()?;
        let samples = results::assemble::samples(&outcome.directory)?;
        ui::data(report::terminal::run(&plan, result, &samples).trim_end());
    }
    ui::say(&format!(
        "Run directory: {}",
        outcome.directory.path().display()
    ));
    let page = outcome.directory.path().join("report.html");
    // The run is done and its figures are kept: a page that cannot be written is said, no more.
    if let Err(error) = super::report::write_page(&outcome.directory, result, &page) {
        ui::error(&error);
    }
    if outcome.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(exit_of(&result.verdict))
}

/// The exit code that says what a run shows.
pub fn exit_of(verdict: &Verdict) -> Exit {
    match verdict.result.as_str() {
        "fail" => Exit::No,
        // A demonstration is not meant to prove anything.
        "not_shown" if verdict.demonstration => Exit::Good,
        "pass" => Exit::Good,
        _ => Exit::NoAnswer,
    }
}

/// Makes the directories absolute (jobs run elsewhere) and makes sure they are there.
fn directories(args: &RunArgs) -> Result<Directories> {
    let absolute = |path: &Path| -> Result<PathBuf> {
        if path.to_str().is_none() {
            bail!(
                "the name of the directory {} is not UTF-8: records could not name it; use another one",
                path.display()
            );
        }
        if !args.dry_run {
            fs::create_dir_all(path)
                .with_context(|| format!("failed to make the directory {}", path.display()))?;
        }
        let path = std::path::absolute(path)
            .with_context(|| format!("failed to find {}", path.display()))?;
        check_place(&path)?;
        Ok(path)
    };
    let data = absolute(&args.data)?;
    let or_data = |path: &Option<PathBuf>| path.as_deref().map_or(Ok(data.clone()), absolute);
    let work = or_data(&args.work)?;
    let util = args.util.as_deref().map_or(Ok(work.clone()), absolute)?;
    let output = or_data(&args.output)?;
    let runs = match &args.runs {
        Some(runs) => absolute(runs)?,
        None => absolute(&args.data.join("runs"))?,
    };
    Ok(Directories {
        data,
        output,
        work,
        util,
        runs,
    })
}

/// What a run makes in a directory is to be possible, and to be safe there.
fn check_place(path: &Path) -> Result<()> {
    let there = existing(path);
    rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK).with_context(|| {
        format!(
            "failed to use {}: files cannot be made in it",
            there.display()
        )
    })?;
    if let Some(around) = marker::around(path) {
        bail!(
            "{} is within {}, which Gristmill made and `gristmill clean` removes as a whole: use a directory beside it",
            path.display(),
            around.display()
        );
    }
    Ok(())
}

pub(super) fn host_facts(
    given: Option<u32>,
    suite: &str,
    directories: &Directories,
) -> Result<HostFacts> {
    let cores = host::cores::live();
    let of_files = [
        &directories.data,
        &directories.output,
        &directories.work,
        &directories.util,
    ];
    let memory = memory::caching(of_files.map(|directory| existing(directory)))?;
    Ok(HostFacts {
        cores: given.unwrap_or(cores.physical),
        cores_basis: match given {
            None => cores.basis,
            Some(_) => format!(
                "given by --cores; the host has {} ({})",
                cores.physical, cores.basis
            ),
        },
        memory: Bytes(memory),
        free: free_spaces(suite, directories)?,
    })
}

/// A flag that the signals raise which end commands.
pub(in crate::commands) fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    let mut signals = Signals::new(signals::ending()).context("failed to handle signals")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if !raised.swap(true, Ordering::Relaxed) {
                ui::say("stopping");
            }
        }
    });
    Ok(stop)
}
