//! `gristmill logs`: tables of SAS logs, and two sets of logs side by side.

use std::collections::BTreeSet;
use std::fs;
use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;
use results::log::compare::{Set, of_sets};
use results::log::files::{Outcome, below, read_all};
use results::log::{LINUX_BLOCK_BYTES, SasLog};
use results::table::Table;
use results::tables::logs as tables;
use serde_json::json;

use super::report::{csv, write_whole};
use crate::cli::LogsArgs;
use crate::exit::Exit;
use crate::ui;

/// Steps of one log that are listed in its order; of more, the slowest.
const STEPS_LISTED: usize = 40;

/// Runs the verb.
pub fn run(args: &LogsArgs) -> Result<Exit> {
    if let [before, after] = &args.compare[..] {
        return compare(args, before, after);
    }
    let found = found(args, &args.paths)?;
    let logs: Vec<SasLog> = found.logs.into_iter().map(|(_, log)| log).collect();
    if let Some(place) = &args.csv {
        csv(place, None, &tables::of_logs(&logs))?;
    } else if args.json {
        ui::data(&json!({ "logs": logs }).to_string());
    } else {
        ui::data(&summary(&logs, found.no_logs).join("\n"));
        for table in shown(args, &logs) {
            ui::data(&format!("\n{}", report::table::text(&table).trim_end()));
        }
    }
    if let Some(file) = &args.html {
        let statements = summary(&logs, found.no_logs);
        let title = args.paths.iter().map(|path| path.display().to_string());
        let title = title.collect::<Vec<String>>().join(", ");
        let tables = of_page(&logs);
        write_whole(file, &report::page::of_tables(&title, &statements, &tables))?;
    }
    Ok(exit(&logs))
}

/// Errors and sessions without an end are findings; of a log that was not read neither is known.
fn exit(logs: &[SasLog]) -> Exit {
    let bad = |log: &SasLog| log.about.errors > 0 || log.about.complete == Some(false);
    if logs.iter().any(bad) {
        Exit::No
    } else if logs.iter().any(|log| log.about.unread_line.is_some()) {
        Exit::NoAnswer
    } else {
        Exit::Good
    }
}

/// The logs that were asked for.
struct Found {
    /// With their names below the paths that were given.
    logs: Vec<(String, SasLog)>,
    /// Files in folders that are no logs.
    no_logs: usize,
}

fn found(args: &LogsArgs, paths: &[PathBuf]) -> Result<Found> {
    let mut files: Vec<(PathBuf, String, bool)> = Vec::new();
    for path in paths {
        let found = below(path).with_context(|| format!("failed to read {}", path.display()))?;
        for (folder, error) in &found.failed {
            ui::say(&format!(
                "warning: failed to read {}: {error}",
                folder.display()
            ));
        }
        files.extend(found.files.into_iter().map(|file| {
            let named = file == *path;
            let short = file.strip_prefix(path).ok().filter(|_| !named);
            let short = short.or(file.file_name().map(Path::new)).unwrap_or(&file);
            let name = short.display().to_string();
            (file, name, named)
        }));
    }
    // Whoever names a folder and a log in it, or has links to it, wants it counted once.
    let mut seen = BTreeSet::new();
    files.retain(|(path, _, _)| {
        let about = fs::metadata(path).ok();
        about.is_none_or(|about| seen.insert((about.dev(), about.ino())))
    });
    let paths_of: Vec<PathBuf> = files.iter().map(|(path, _, _)| path.clone()).collect();
    let outcomes = read(&paths_of);
    let mut found = Found {
        logs: Vec::new(),
        no_logs: 0,
    };
    for ((path, name, named), outcome) in files.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Log(mut log) => {
                // What the log says itself goes before what was said of it.
                log.about.block_bytes = log.about.block_bytes.or(args.block_bytes);
                found.logs.push((name, *log));
            }
            Outcome::NoLog if named => bail!(
                "{} is not a SAS log: no line in it is one that only SAS writes",
                path.display()
            ),
            Outcome::NoLog => found.no_logs += 1,
            Outcome::Failed(error) if named => {
                return Err(anyhow!(error).context(format!("failed to read {}", path.display())));
            }
            Outcome::Failed(error) => {
                ui::say(&format!(
                    "warning: failed to read {}: {error}",
                    path.display()
                ));
            }
        }
    }
    if found.logs.is_empty() {
        let names: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        bail!(
            "no SAS log in {}: {} files looked at",
            names.join(", "),
            paths_of.len()
        );
    }
    Ok(found)
}

fn read(paths: &[PathBuf]) -> Vec<Outcome> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let bar = (std::io::stderr().is_terminal() && paths.len() > 1)
        .then(|| ProgressBar::new(paths.len() as u64));
    let done = AtomicUsize::new(0);
    let outcomes = read_all(paths, threads, &|| {
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = &bar {
            bar.set_position(count as u64);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    outcomes
}

/// What was read, a sentence each.
fn summary(logs: &[SasLog], no_logs: usize) -> Vec<String> {
    let steps: usize = logs.iter().map(|log| log.steps.len()).sum();
    let count = |wanted: fn(&SasLog) -> bool| logs.iter().filter(|log| wanted(log)).count();
    let sum = |figure: fn(&SasLog) -> u64| logs.iter().map(figure).sum::<u64>();
    let many = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    let mut all = vec![
        format!("{}, {}", many(logs.len(), "log"), many(steps, "step")),
        format!(
            "errors: {} lines in {}; warnings: {} lines in {}",
            sum(|log| log.about.errors),
            many(count(|log| log.about.errors > 0), "log"),
            sum(|log| log.about.warnings),
            many(count(|log| log.about.warnings > 0), "log"),
        ),
    ];
    let cut = count(|log| log.about.complete == Some(false));
    if cut > 0 {
        all.push(format!(
            "{} with the begin of a session and not its end: cut, saved from a window, or the job died",
            many(cut, "log")
        ));
    }
    let unread = logs
        .iter()
        .filter_map(|log| Some((log, log.about.unread_line?)));
    let unread: Vec<(&SasLog, u64)> = unread.collect();
    if let Some((first, line)) = unread.first() {
        all.push(format!(
            "{} with accounting lines in a language that is not read (line {line} of {}): its steps are not known",
            many(unread.len(), "log"),
            first.file
        ));
    }
    let several = count(|log| log.about.sessions.is_some());
    if several > 0 {
        all.push(format!(
            "{} of several sessions each: what they took is that of their steps",
            many(several, "log")
        ));
    }
    let empty = count(|log| log.steps.is_empty() && log.about.unread_line.is_none());
    if empty > 0 && logs.len() > 1 {
        all.push(format!("{} without a step", many(empty, "log")));
    }
    if no_logs > 0 {
        all.push(format!(
            "left out as no SAS logs: {}",
            many(no_logs, "file")
        ));
    }
    all
}

/// What a page has room for.
fn of_page(logs: &[SasLog]) -> Vec<Table> {
    const ROWS: usize = 200;
    let tables = [
        tables::folders(logs, ROWS),
        tables::files(logs, ROWS),
        tables::procedures(logs, ROWS),
        tables::actions(logs, ROWS),
        tables::slowest(logs, ROWS),
        tables::messages(logs, ROWS),
        tables::datasets(logs, ROWS),
    ];
    tables.into_iter().flatten().collect()
}

/// What a terminal has room for.
fn shown(args: &LogsArgs, logs: &[SasLog]) -> Vec<Table> {
    let top = args.top;
    let listed = match logs {
        [one] => args.steps || one.steps.len() <= STEPS_LISTED,
        _ => args.steps,
    };
    let tables = [
        tables::folders(logs, top),
        tables::files(logs, top),
        tables::procedures(logs, top),
        tables::actions(logs, top),
        if listed { tables::steps(logs) } else { None },
        if listed && !args.steps {
            None
        } else {
            tables::slowest(logs, top)
        },
        tables::messages(logs, top),
        tables::datasets(logs, top),
    ];
    let mut tables: Vec<Table> = tables.into_iter().flatten().collect();
    for table in &mut tables {
        narrow(table);
    }
    tables
}

/// Takes columns away that a terminal has no room for; CSV and JSON have them.
fn narrow(table: &mut Table) {
    let hidden: &[&str] = match &*table.id {
        "log-slowest" | "log-steps" => &["From", "Ended", "Step", "Warnings"],
        _ => &[],
    };
    for title in hidden {
        if let Some(at) = table
            .columns
            .iter()
            .position(|column| column.title == *title)
        {
            table.columns.remove(at);
            for row in &mut table.rows {
                row.cells.remove(at);
            }
        }
    }
}

fn compare(args: &LogsArgs, before: &Path, after: &Path) -> Result<Exit> {
    let set = |label: &str, path: &Path| -> Result<Set> {
        Ok(Set {
            label: label.to_owned(),
            place: path.display().to_string(),
            logs: found(args, &[path.to_owned()])?.logs,
        })
    };
    let (before, after) = (set("before", before)?, set("after", after)?);
    let compared = of_sets(&before, &after);
    let mut all = compared.comparison.tables();
    all.extend(compared.tables);
    if !all.iter().any(|table| table.id == "compare-steps") {
        bail!(
            "no log of {} has the same name as one of {}, dates left out: name two logs to compare them whatever they \
             are called",
            before.place,
            after.place
        );
    }
    if let Some(file) = &args.html {
        write_whole(file, &report::page::comparison(&compared.comparison, &all))?;
    }
    if let Some(place) = &args.csv {
        csv(place, None, &all)?;
    } else if args.json {
        let mut value = serde_json::to_value(&compared.comparison)?;
        if let Some(keys) = value.as_object_mut() {
            keys.insert("tables".to_owned(), serde_json::to_value(&all)?);
        }
        ui::data(&value.to_string());
    } else {
        for table in &mut all {
            let rows = table.rows.len();
            if table.id != "compare-aggregate"
                && rows > args.top
                && !table.rows.iter().any(|row| row.summary)
            {
                table.rows.truncate(args.top);
                table.note(format!(
                    "{} more rows: see --top and --csv",
                    rows - args.top
                ));
            }
        }
        ui::data(report::terminal::comparison(&compared.comparison, &all).trim_end());
    }
    Ok(Exit::Good)
}

/// A value of `--block-bytes`.
pub fn block_bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(bytes @ 1..=1_048_576) => Ok(bytes),
        _ => Err(format!("a number of bytes, such as {LINUX_BLOCK_BYTES}")),
    }
}
