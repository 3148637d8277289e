//! `gristmill report`: the tables of runs, finished or not.

use anyhow::{Context, Result, bail};
use report::views::View;
use results::assemble::assemble;
use results::run::RunDirectory;

use crate::cli::{ReportArgs, ViewKind};
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &ReportArgs) -> Result<Exit> {
    let mut exit = Exit::Good;
    for path in &args.runs {
        let directory = RunDirectory::open(path);
        let explain = || format!("failed to report on {}", path.display());
        let plan = directory.plan().with_context(explain)?;
        if let Some(view) = args.view {
            show_samples(view, &directory).with_context(explain)?;
            continue;
        }
        let result = match directory.result().with_context(explain)? {
            Some(result) => result,
            None => assemble(&directory).with_context(explain)?,
        };
        if args.json {
            ui::data(&serde_json::to_string(&result)?);
        } else {
            let node = directory.node(&plan.node).with_context(explain)?;
            ui::data(report::terminal::run(&plan, &result, node.as_ref()).trim_end());
        }
        exit = exit.and(super::run::exit_of(&result.verdict));
    }
    Ok(exit)
}

/// Prints the samples of every node.
fn show_samples(view: ViewKind, directory: &RunDirectory) -> Result<()> {
    let nodes = directory.nodes()?;
    if nodes.is_empty() {
        bail!("it has no samples: the run was made by an older version, or stopped too early");
    }
    let view = match view {
        ViewKind::Vmstat => View::Vmstat,
        ViewKind::Iostat => View::Iostat,
        ViewKind::Channels => View::Channels,
    };
    for node in &nodes {
        if nodes.len() > 1 {
            ui::data(&format!("Node {node}"));
        }
        let samples = directory.samples(node)?;
        ui::data(report::views::samples(view, &samples).trim_end_matches('\n'));
    }
    Ok(())
}
