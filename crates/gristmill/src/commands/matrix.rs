//! `gristmill matrix`: a factorial series, what it shows, and putting back what a killed one changed.

mod dry_run;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use bench::matrix::plan::{self, Changes, Matrix};
use bench::matrix::series::{self, Config, Outcome};
use bench::matrix::setting::Kernel;
use bench::matrix::{design, device};
use clap::Parser;
use results::matrix::record::MatrixFolder;
use results::matrix::{self, Analysis};

use super::report::{csv, write_whole};
use super::run::stop_on_signals;
use crate::cli::{Cli, MatrixArgs, MatrixOutput, MatrixVerb, VERSION};
use crate::exit::{Exit, usage};
use crate::paths::each_once;
use crate::ui;

/// Runs the verb.
pub fn run(args: &MatrixArgs) -> Result<Exit> {
    match &args.verb {
        Some(MatrixVerb::Report { paths, output }) => report(paths, output),
        Some(MatrixVerb::Restore { folder }) => {
            let stop = stop_on_signals()?;
            series::restore(folder, &stop, &mut ui::say)?;
            ui::say("nothing is left to put back");
            Ok(Exit::Good)
        }
        None => carry_out(args),
    }
}

fn carry_out(args: &MatrixArgs) -> Result<Exit> {
    let Some(path) = &args.plan else {
        usage!("matrix: which plan?");
    };
    let changes = Changes {
        scale: args.scale,
        repeats: args.repeats,
        only: args.only.clone(),
        devices: args.device.clone(),
        arguments: args.arguments.clone(),
    };
    let matrix = plan::read(path, &changes)?;
    let cells = design::cells(&matrix);
    let labels: BTreeMap<String, String> = args.label.iter().cloned().collect();
    check_labels(&matrix, &labels)?;
    let folder = folder(args, &matrix)?;
    check_arguments(&matrix)?;
    let config = Config {
        plan: design::record(&matrix, &cells, &labels, VERSION),
        matrix: &matrix,
        cells: &cells,
        images: args.images.clone().unwrap_or_else(|| folder.join("images")),
        folder: MatrixFolder::open(&folder),
        format: args.format.clone(),
        program: std::env::current_exe().context("failed to find this program's own file")?,
        kernel: Kernel::live(),
    };
    if args.dry_run {
        return dry_run::tell(&config, args.output.json);
    }
    if may_change(&config)? {
        in_namespace()?;
    }
    let stop = stop_on_signals()?;
    let outcome = series::run(&config, &stop, &mut ui::say)?;
    tell(&config, &outcome, &args.output)
}

/// What runs are given is understood by them, or each would fail.
fn check_arguments(matrix: &Matrix) -> Result<()> {
    let mut words = vec!["gristmill", "run", matrix.text.suite.get_ref()];
    words.extend(matrix.text.arguments.iter().map(|word| &**word.get_ref()));
    if let Err(said) = Cli::try_parse_from(words) {
        let said = said.to_string();
        let said = said.lines().next().unwrap_or_default();
        let said = said.trim_start_matches("error: ");
        usage!("arguments of `gristmill run` in the plan: {said}");
    }
    Ok(())
}

/// A label that is a factor's name would be two things.
fn check_labels(matrix: &Matrix, labels: &BTreeMap<String, String>) -> Result<()> {
    let mut factors = matrix
        .text
        .factors
        .iter()
        .map(|factor| factor.name.get_ref());
    if let Some(name) = factors.find(|name| labels.contains_key(*name)) {
        usage!("--label {name}=…: {name} is a factor of the plan");
    }
    Ok(())
}

fn folder(args: &MatrixArgs, matrix: &Matrix) -> Result<PathBuf> {
    let named = || {
        PathBuf::from(format!(
            "gristmill-bench/matrix-{}",
            matrix.text.name.get_ref()
        ))
    };
    let folder = args.folder.clone().unwrap_or_else(named);
    std::path::absolute(&folder).with_context(|| format!("failed to find {}", folder.display()))
}

/// What is not confirmed or needs root is refused before anything is made. True if something is mounted.
fn may_change(config: &Config<'_>) -> Result<bool> {
    device::confirmed(&config.devices(), &config.format).map_err(anyhow::Error::msg)?;
    let mut volumes = config.cells.iter().flat_map(|cell| cell.volumes.values());
    let mounts = volumes.any(|volume| !volume.kind.is_empty());
    let sets = config.cells.iter().any(|cell| !cell.settings.is_empty());
    if (mounts || sets) && !rustix::process::geteuid().is_root() {
        bail!(
            "file systems are made and mounted and settings are changed by root only; --dry-run shows what would be \
             done"
        );
    }
    Ok(mounts)
}

/// Starts this same command in a mount namespace of its own, in its place. Whoever makes a namespace while a series
/// runs (containers, services) would get a copy of its mounts, and keep the devices in use after they were unmounted
/// here; and mounts of a namespace end with its processes, whatever ended them.
fn in_namespace() -> Result<()> {
    /// Set in the command that was started so.
    const DONE: &str = "GRISTMILL_MATRIX_NAMESPACE";
    if std::env::var_os(DONE).is_some() {
        return Ok(());
    }
    let own = std::env::current_exe().context("failed to find this program's own file")?;
    // Mounts of the host come in, ours do not go out.
    let error = Command::new("unshare")
        .args(["--mount", "--propagation", "slave", "--"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .env(DONE, "1")
        .exec();
    Err(error).context("failed to start unshare (util-linux), which makes a mount namespace")
}

fn tell(config: &Config<'_>, outcome: &Outcome, output: &MatrixOutput) -> Result<Exit> {
    let folder = config.folder.path();
    if outcome.interrupted {
        ui::say(&format!(
            "interrupted; everything is put back. The same command continues the series in {}",
            folder.display()
        ));
        return Ok(Exit::Interrupted);
    }
    let analysis = matrix::analyse(matrix::read::read(&[folder.to_owned()])?);
    let title = title(&[folder.to_owned()])?;
    show(&title, &analysis, output)?;
    // The series is done and its figures are kept: a page that cannot be written is said, no more.
    let page = folder.join("report.html");
    if let Err(error) = write_whole(&page, &report::page::matrix(&title, &analysis)) {
        ui::error(&error);
    }
    let Outcome {
        done,
        failed,
        not_possible,
        ..
    } = outcome;
    ui::say(&format!(
        "Series: {}: {done} runs done, {failed} failed, {not_possible} not possible here",
        folder.display()
    ));
    if *failed > 0 {
        return Ok(Exit::No);
    }
    Ok(exit_of(&analysis))
}

fn exit_of(analysis: &Analysis) -> Exit {
    if analysis.responses.is_empty() {
        return Exit::NoAnswer;
    }
    Exit::Good
}

fn report(paths: &[PathBuf], output: &MatrixOutput) -> Result<Exit> {
    each_once(paths.iter().map(PathBuf::as_path))?;
    for path in paths {
        if !MatrixFolder::is_one(path) && !path.join("run.json").is_file() {
            bail!(
                "{} is neither the folder of a series nor a run directory",
                path.display()
            );
        }
    }
    let analysis = matrix::analyse(matrix::read::read(paths)?);
    let title = title(paths)?;
    show(&title, &analysis, output)?;
    Ok(exit_of(&analysis))
}

/// The title of the series, or how many runs of other places there are.
fn title(paths: &[PathBuf]) -> Result<String> {
    let mut titles = Vec::new();
    let mut alone = 0;
    for path in paths {
        match MatrixFolder::open(path).plan()? {
            Some(plan) if !titles.contains(&plan.title) => titles.push(plan.title),
            Some(_) => {}
            None => alone += 1,
        }
    }
    if alone > 0 {
        titles.push(format!("{alone} runs by their labels"));
    }
    Ok(titles.join("; "))
}

fn show(title: &str, analysis: &Analysis, output: &MatrixOutput) -> Result<()> {
    let tables = matrix::tables::all(analysis);
    if let Some(file) = &output.html {
        write_whole(file, &report::page::matrix(title, analysis))?;
    }
    match &output.csv {
        Some(place) => csv(place, None, &tables),
        None if output.json => {
            let mut all = serde_json::to_value(analysis)?;
            if let Some(keys) = all.as_object_mut() {
                keys.insert("title".to_owned(), title.into());
                keys.insert("tables".to_owned(), serde_json::to_value(&tables)?);
            }
            ui::data(&all.to_string());
            Ok(())
        }
        None => {
            ui::data(report::matrix::text(title, analysis).trim_end());
            Ok(())
        }
    }
}
