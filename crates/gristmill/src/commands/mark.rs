//! `gristmill mark`: an event on the timeline of a run that is on its way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use bench::marker::{self, Holds};
use results::run::RunDirectory;

use crate::cli::MarkArgs;
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &MarkArgs) -> Result<Exit> {
    let path = match &args.run {
        Some(path) => path.clone(),
        None => only_run(&args.runs)?,
    };
    if marker::read(&path) != Some(Holds::Run) {
        bail!("{} is not a run directory", path.display());
    }
    if !marker::is_in_use(&path) {
        bail!("the run of {} is over", path.display());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let at_s = RunDirectory::open(&path)
        .mark(now.unwrap_or_default().as_secs_f64(), &args.text)
        .with_context(|| format!("failed to mark the run of {}", path.display()))?;
    ui::say(&format!("{}: {:.1} s: {}", path.display(), at_s, args.text));
    Ok(Exit::Good)
}

/// The run that is on its way below a directory.
fn only_run(runs: &Path) -> Result<PathBuf> {
    let explain = || format!("failed to look for runs in {}", runs.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(runs).with_context(explain)? {
        let path = entry.with_context(explain)?.path();
        if marker::read(&path) == Some(Holds::Run) && marker::is_in_use(&path) {
            found.push(path);
        }
    }
    match found.as_slice() {
        [] => bail!(
            "no run is on its way in {}; name one with --run DIR",
            runs.display()
        ),
        [one] => Ok(one.clone()),
        several => {
            let several: Vec<String> = several
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            bail!(
                "several runs are on their way, name one with --run: {}",
                several.join(", ")
            )
        }
    }
}
