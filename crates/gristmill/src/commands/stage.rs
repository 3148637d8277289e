//! `gristmill stage`: the data of a suite, and nothing else.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use bench::plan::{Request, Scale, Use, Verify};
use bench::run::{Config, Directories};
use bench::{plan, suite};

use super::exec::host_name;
use super::run::{host_facts, sas_options, stop_on_signals};
use super::view::View;
use results::thresholds::Thresholds;

use crate::cli::{StageArgs, VERSION};
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &StageArgs) -> Result<Exit> {
    let suite = suite::find(&args.suite)?;
    let explain = || format!("failed to make the directory {}", args.data.display());
    std::fs::create_dir_all(&args.data).with_context(explain)?;
    let data = std::path::absolute(&args.data)?;
    let directories = Directories {
        runs: data.join("runs"),
        output: data.clone(),
        work: data.clone(),
        util: data.clone(),
        data,
    };
    let mut host = host_facts(args.cores, suite.text.name.get_ref(), &directories)?;
    for space in &mut host.free {
        space.uses.retain(|what| *what == Use::Data);
    }
    let request = Request {
        parameters: args.parameter.iter().cloned().collect(),
        variant: args.variant.clone(),
        seed: args.seed,
        options: sas_options(&args.option),
        verify: Verify::Off,
        copies: args.copies,
        ..Request::of(args.scale.unwrap_or(Scale::Demonstration))
    };
    let plan = plan::plan(&suite, &request, &host).context("failed to plan the stage")?;
    let (files, bytes) = (plan.datasets.len(), plan.input_bytes());
    let stop = stop_on_signals()?;
    let config = Config {
        plan,
        directories,
        warm: true,
        empty_caches: None,
        keep: true,
        only_stage: true,
        audit: false,
        wall_limit: None,
        duration: None,
        pace: None,
        labels: BTreeMap::new(),
        series: None,
        program: std::env::current_exe().context("failed to find this program's own file")?,
        sas: None,
        version: VERSION.to_owned(),
        node: host_name(),
        host: host_name(),
        observe: Vec::new(),
        ceiling: None,
        thresholds: Thresholds::published(),
    };
    let mut view = View::new();
    let outcome = bench::run::run(&config, &stop, &mut view);
    view.finish();
    if outcome?.interrupted {
        return Ok(Exit::Interrupted);
    }
    ui::say(&format!(
        "{files} files ({bytes} of rows) are in place below {}",
        config.directories.data.display()
    ));
    Ok(Exit::Good)
}
