//! `gristmill report`: the tables of runs, finished or not.

use anyhow::{Context, Result};
use results::assemble::assemble;
use results::run::RunDirectory;

use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &ReportArgs) -> Result<Exit> {
    let mut exit = Exit::Good;
    for path in &args.runs {
        let directory = RunDirectory::open(path);
        let explain = || format!("failed to report on {}", path.display());
        let plan = directory.plan().with_context(explain)?;
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
