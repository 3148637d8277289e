//! `gristmill run --slurm --nodes 1,2,4`: a run for each number of nodes, submitted one after the other, and what they
//! show together.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench::grid::series::{Part, Series, is_whole};
use bench::grid::slurm::{self, Submission, as_text};
use bench::run::Directories;
use bench::suite::Suite;
use results::run::RunDirectory;

use super::{exit_of, stop_on_signals};
use crate::cli::RunArgs;
use crate::commands::nodes::{Shown, options, without_submission};
use crate::commands::{compare, report};
use crate::exit::Exit;
use crate::ui;

/// How long the end of a run's output is waited for, seconds.
const PATIENCE_S: u32 = 60;

/// Submits a run for each number of nodes, and says what they show together.
pub fn submit(args: &RunArgs, suite: &Suite, directories: &Directories) -> Result<Exit> {
    let stop = stop_on_signals()?;
    let mut series = begun(args, suite, directories)?;
    ui::say(&format!("Series: {}", series.folder().display()));
    for nodes in &args.grid.nodes {
        let part = series.part(*nodes);
        series.note(part).context("failed to keep the series")?;
    }
    let mut exit = Exit::Good;
    for nodes in &args.grid.nodes {
        let explain = || format!("failed to run on {}", counted(*nodes));
        let part = done_before(series.part(*nodes), &series)?;
        exit = exit.and(if part.runs.is_empty() {
            submitted(args, &mut series, part, &stop).with_context(explain)?
        } else {
            ui::say(&format!("{}: kept from before", counted(*nodes)));
            series.note(part.clone()).with_context(explain)?;
            of_results(&part.runs)?
        });
        if stop.load(Ordering::Relaxed) {
            return Ok(Exit::Interrupted);
        }
    }
    tell(args, &series)?;
    Ok(exit)
}

fn counted(nodes: u32) -> String {
    let word = if nodes == 1 { "node" } else { "nodes" };
    format!("{nodes} {word}")
}

/// The series: a new one, or with --resume that of the same command.
fn begun(args: &RunArgs, suite: &Suite, directories: &Directories) -> Result<Series> {
    let given = without_submission(std::env::args_os().skip(1));
    let words = given.iter().map(|word| Ok(as_text(word)?.to_owned()));
    let words: Vec<String> = words
        .collect::<std::io::Result<_>>()
        .context("failed to write the command down for the nodes")?;
    let from = std::env::current_dir().context("failed to find the current directory")?;
    let runs = &directories.runs;
    if !args.grid.resume {
        return Series::create(runs, suite.text.name.get_ref(), words, from)
            .with_context(|| format!("failed to begin a series in {}", runs.display()));
    }
    let found = Series::find(runs, &words, &from)
        .with_context(|| format!("failed to look for the series in {}", runs.display()))?;
    found.with_context(|| {
        format!(
            "--resume: {} holds no series of this command from this directory (only --nodes, --partition, \
             --account and --slurm-option may differ); leave --resume out to begin one",
            runs.display()
        )
    })
}

/// A part with the runs that its last job left, if it was ended while nobody waited.
fn done_before(mut part: Part, series: &Series) -> Result<Part> {
    let Some(job) = part.job.clone().filter(|_| part.runs.is_empty()) else {
        return Ok(part);
    };
    if slurm::is_queued(&job).context("failed to ask Slurm for its jobs")? {
        bail!(
            "--resume: Slurm job {job} of this series, on {}, still waits or runs; repeat this when it has \
             ended, or end it: scancel {job}",
            counted(part.nodes)
        );
    }
    let (_, messages) = series.outputs(&part);
    let told = match std::fs::read_to_string(&messages) {
        // It was cancelled before it began.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("failed to read {}", messages.display()))?,
    };
    part.runs = whole(run_directories(&told))?;
    Ok(part)
}

/// Those in which every node did its part; the others are told.
fn whole(runs: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for run in runs {
        if is_whole(&run)? {
            kept.push(run);
        } else {
            ui::say(&format!(
                "{}: a node was lost, or the run was cut short; it does not count in the tables of growth",
                run.display()
            ));
        }
    }
    Ok(kept)
}

fn of_results(runs: &[PathBuf]) -> Result<Exit> {
    let mut exit = Exit::Good;
    for run in runs {
        let result = RunDirectory::open(run).result()?;
        exit = exit.and(result.map_or(Exit::NoAnswer, |result| exit_of(&result.verdict)));
    }
    Ok(exit)
}

/// Submits a part and waits for it.
fn submitted(
    args: &RunArgs,
    series: &mut Series,
    mut part: Part,
    stop: &AtomicBool,
) -> Result<Exit> {
    part.attempts += 1;
    part.job = None;
    let (output, messages) = series.outputs(&part);
    let submission = Submission {
        nodes: part.nodes,
        options: options(&args.grid.submission),
        command: command(series)?,
        output,
        messages,
    };
    let (code, done) = carried_out(&submission, series, &mut part, stop)?;
    let had_result = !done.is_empty();
    part.runs = whole(done)?;
    series.note(part.clone())?;
    // Without a result the code is Slurm's and not the run's: of a node that failed, a time limit.
    let own = code.and_then(Exit::of_code).filter(|_| had_result);
    if own.is_none() && !stop.load(Ordering::Relaxed) {
        ui::say(&format!(
            "ERROR: the run on {} has no result; see {} and Slurm's account of the job",
            counted(part.nodes),
            submission.messages.display()
        ));
    }
    Ok(own.unwrap_or(Exit::CouldNotRun))
}

/// Submits a run and passes on what it says. Returns its exit code and those run directories that have a result:
/// several with `--repeat`.
fn carried_out(
    submission: &Submission,
    series: &mut Series,
    part: &mut Part,
    stop: &AtomicBool,
) -> Result<(Option<i32>, Vec<PathBuf>)> {
    let submitted = submission.submit()?;
    part.job = Some(submitted.id.clone());
    series.note(part.clone())?;
    ui::say(&format!(
        "{}: Slurm job {}",
        counted(submission.nodes),
        submitted.id
    ));
    let mut shown = Shown::new(&submission.output);
    let mut told = Shown::new(&submission.messages);
    let code = submitted.wait(stop, || {
        told.forward(&mut ui::Passed::Talk)?;
        shown.forward(&mut ui::Passed::Output)
    })?;
    // What was written last may not be seen at once on a file system that nodes share.
    for _ in 0..PATIENCE_S {
        shown.look_again(&mut ui::Passed::Output)?;
        told.look_again(&mut ui::Passed::Talk)?;
        if !run_directories(&told.text).is_empty() || stop.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
    let mut done = run_directories(&told.text);
    done.retain(|run| run.join("result.json").exists());
    Ok((code, done))
}

/// What runs on several numbers of nodes show together.
fn tell(args: &RunArgs, series: &Series) -> Result<()> {
    let mut parts: Vec<&Part> = series
        .parts()
        .iter()
        .filter(|part| !part.runs.is_empty())
        .collect();
    if parts.len() < 2 {
        return Ok(());
    }
    parts.sort_by_key(|part| part.nodes);
    let sides = parts.iter().map(|part| {
        let label = counted(part.nodes);
        compare::of_runs(&part.runs, Some(label))
    });
    let grown = compare::growth(&sides.collect::<Result<Vec<_>>>()?);
    if args.json {
        ui::data(&serde_json::to_string(&grown.comparison)?);
    } else {
        ui::data(grown.text.trim_end());
    }
    let page = series.folder().join("growth.html");
    report::write_whole(&page, &grown.page)?;
    Ok(())
}

/// What the first node of the allocation runs: this command without what is for the submission.
fn command(series: &Series) -> Result<Vec<OsString>> {
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let mut words = vec![program.into_os_string()];
    words.extend(without_submission(std::env::args_os().skip(1)));
    words.extend(["--in-series".into(), series.folder().into()]);
    Ok(words)
}

/// Where the runs are, as they say themselves.
fn run_directories(messages: &str) -> Vec<PathBuf> {
    let lines = messages.lines();
    let paths = lines.filter_map(|line| line.strip_prefix("Run directory: "));
    paths.map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_directory_counts() {
        let said = "Run directory: /a b\nReport: /a b/report.html\nRun directory: /c\n";
        assert_eq!(run_directories(said), ["/a b", "/c"].map(PathBuf::from));
        assert!(run_directories("ERROR").is_empty());
    }
}
