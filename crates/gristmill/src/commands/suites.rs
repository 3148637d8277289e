//! `gristmill suites`: what there is, what one does, what is wrong with one of your own.

mod show;
mod sizes;
mod tradeoff;

use std::path::Path;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::plan::{self, HostFacts, Plan, Request, Scale};
use bench::suite::{self, Mistake, Suite, programs};
use serde::Serialize;

use crate::cli::{SuitesArgs, SuitesVerb};
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &SuitesArgs) -> Result<Exit> {
    match &args.what {
        None => list(args.json),
        Some(SuitesVerb::Show { suite, json }) => show::run(&suite::find(suite)?, *json),
        Some(SuitesVerb::Sizes(args)) => sizes::run(args),
        Some(SuitesVerb::Tradeoff(args)) => tradeoff::run(args),
        Some(SuitesVerb::Check { directory, json }) => check(directory, *json),
    }
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line {
    name: String,
    title: String,
    jobs: usize,
    input_bytes: u64,
    demonstration_jobs: usize,
    demonstration_input_bytes: u64,
}

/// The plan of a suite on this host at a scale, whether it fits or not.
fn planned(suite: &Suite, scale: Scale) -> Result<Plan> {
    let host = HostFacts {
        cores: host::cores::live().physical,
        cores_basis: String::new(),
        memory: Bytes(host::memory::live().context("failed to read the size of the memory")?),
        free: Vec::new(),
    };
    Ok(plan::plan(suite, &Request::of(scale), &host)?)
}

fn list(json: bool) -> Result<Exit> {
    let mut lines = Vec::new();
    for name in suite::names() {
        let suite = suite::builtin(name)?;
        let whole = planned(&suite, Scale::Factor(1.0))?;
        let small = planned(&suite, Scale::Demonstration)?;
        lines.push(Line {
            name: name.to_owned(),
            title: suite.text.title,
            jobs: whole.jobs.len(),
            input_bytes: whole.input_bytes().0,
            demonstration_jobs: small.jobs.len(),
            demonstration_input_bytes: small.input_bytes().0,
        });
    }
    if json {
        ui::data(&serde_json::to_string(&lines)?);
        return Ok(Exit::Good);
    }
    for line in lines {
        ui::data(&line.title);
        ui::data(&format!(
            "  gristmill run {:<20} {:>4} jobs, {:>7} of input; at scale 1 {} jobs, {}",
            line.name,
            line.demonstration_jobs,
            Bytes(line.demonstration_input_bytes).to_string(),
            line.jobs,
            Bytes(line.input_bytes)
        ));
    }
    ui::say(
        "`gristmill suites show SUITE` explains one, `gristmill suites check DIR` checks one of yours",
    );
    Ok(Exit::Good)
}

/// What `check` prints with `--json`.
#[derive(Serialize)]
struct Checked {
    mistakes: Vec<Mistake>,
}

fn check(directory: &Path, json: bool) -> Result<Exit> {
    let mistakes = mistakes(directory)?;
    let exit = if mistakes.is_empty() {
        Exit::Good
    } else {
        ui::say(&format!("mistakes: {}", mistakes.len()));
        Exit::No
    };
    if json {
        ui::data(&serde_json::to_string(&Checked { mistakes })?);
    } else {
        for mistake in &mistakes {
            ui::data(&mistake.to_string());
        }
    }
    Ok(exit)
}

fn mistakes(directory: &Path) -> Result<Vec<Mistake>> {
    let suite = match suite::folder(directory) {
        Ok(suite) => suite,
        Err(suite::Error::Mistakes(mistakes)) => return Ok(mistakes),
        Err(error) => return Err(error.into()),
    };
    let small = planned(&suite, Scale::Demonstration)?;
    let procedures = procs::all();
    let is_procedure = |name: &str| procedures.iter().any(|one| one.name() == name);
    let mistakes = programs::check(&suite, &small.jobs, &is_procedure);
    if mistakes.is_empty() {
        ui::say(&format!(
            "{}: {} jobs, {} of input at demonstration scale; nothing wrong",
            suite.file,
            small.jobs.len(),
            small.input_bytes()
        ));
    }
    Ok(mistakes)
}
