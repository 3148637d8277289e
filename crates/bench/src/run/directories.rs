//! The directories that a run makes, and its name.

use std::path::{Path, PathBuf};

use results::run::{JobPlan, RunDirectory, RunPlan};

use super::{Config, Error, failed, named, now};
use crate::marker::{self, Holds, InUse};
use crate::plan::{Plan, PlannedJob};
use crate::stage::Stage;

/// Removes what jobs left, once it was verified.
pub(crate) fn remove_outputs(output: &Path) -> Result<(), Error> {
    if !output.exists() {
        return Ok(());
    }
    let found = crate::clean::Found {
        path: output.to_owned(),
        holds: Holds::Output,
        bytes: 0,
        files: 0,
        in_use: false,
    };
    crate::clean::remove(&found).map_err(failed("remove the outputs"))
}

/// `large-sorts-20261120T231500-4711`: sorts by time, unique on a host.
pub(crate) fn run_name(suite: &str) -> String {
    let days_1960_to_1970 = 3653.0;
    let (date, second) = engine::datetime::split(now() + days_1960_to_1970 * 86_400.0);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{suite}-{:04}{:02}{:02}T{hour:02}{minute:02}{second:02}Z-{}",
        date.year,
        date.month,
        date.day,
        std::process::id()
    )
}

/// A name that no run has: that of one which this process made in the same second is followed by a number.
pub(crate) fn free_name(runs: &Path, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let is_free = |name: &String| !runs.join(name).exists();
    names.find(is_free).expect("numbers do not end")
}

/// Makes the run directory, with the plan.
pub(crate) fn create_directory(
    config: &Config,
    name: &str,
) -> Result<(RunDirectory, InUse), Error> {
    let plan = &config.plan;
    let emptied = config.empty_caches.as_ref();
    let emptied =
        emptied.map(|command| format!("before the start caches are emptied by `{command}`"));
    let record = RunPlan {
        schema: results::SCHEMA.to_owned(),
        program: config.version.clone(),
        run: name.to_owned(),
        sas: config.sas.clone(),
        suite: plan.suite.clone(),
        scale: plan.scale,
        scale_reason: plan.scale_reason.clone(),
        time_scale: plan.time_scale,
        parameters: plan.parameters.clone(),
        variant: plan.variant.clone(),
        saturating: plan.saturating,
        staged_bytes: Some(plan.input_bytes().0),
        demonstration: plan.demonstration,
        seed: plan.seed,
        started_unix_s: now(),
        node: config.node.clone(),
        nodes: Vec::new(),
        cores: plan.cores,
        cores_basis: plan.cores_basis.clone(),
        memory_bytes: plan.memory.0,
        qualifying: plan.qualifying,
        notes: plan.notes.iter().cloned().chain(emptied).collect(),
        cold: !config.warm,
        options: plan.options.clone(),
        verify: plan.verify.name().to_owned(),
        wall_limit_s: config.wall_limit.map(|limit| limit.as_secs_f64()),
        duration_s: config.duration.map(|duration| duration.as_secs_f64()),
        labels: config.labels.clone(),
        series: config.series.clone().map(|series| results::run::Series {
            name: if series.name.is_empty() {
                name.to_owned()
            } else {
                series.name
            },
            ..series
        }),
        directories: named(config)
            .map(|(name, path)| (name.to_owned(), path.to_owned()))
            .into(),
        pace: config.pace.as_ref().map(|pace| pace.asked.clone()),
        pacing: config.pace.as_ref().map(|pace| pace.record.clone()),
        ceiling: config.ceiling.clone(),
        lanes: plan.lanes,
        copies: plan.copied(),
        work_util_share: plan.work_util_share,
        sizes: Vec::new(),
        jobs: plan.jobs.iter().map(|job| job_plan(plan, job)).collect(),
    };
    let path = config.directories.runs.join(name);
    let in_use =
        marker::make(&path, Holds::Run).map_err(failed(format!("make {}", path.display())))?;
    Ok((RunDirectory::create(&path, &record)?, in_use))
}

/// Opens the folder of staged data.
pub(crate) fn open_stage(config: &Config) -> Result<Stage, Error> {
    let path = config
        .directories
        .data
        .join(format!("gristmill-{}", config.plan.suite));
    Stage::open(&path).map_err(failed(format!(
        "open the staged data at {}",
        path.display()
    )))
}

fn job_plan(plan: &Plan, job: &PlannedJob) -> JobPlan {
    JobPlan {
        name: job.name.clone(),
        offset_s: job.offset_s,
        input_bytes: plan.inputs_of(job).0,
        kind: Some(job.kind.clone()),
        symbols: job.symbols.clone(),
        class: job.class.clone(),
        persona: job.persona.clone(),
        options: job.options.clone(),
        node: None,
    }
}

/// Where the jobs of a run make their outputs.
pub(crate) fn output_path(config: &Config, name: &str) -> PathBuf {
    let folder = format!("gristmill-output-{name}");
    config.directories.output.join(folder)
}
