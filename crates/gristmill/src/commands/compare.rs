//! `gristmill compare`: runs, or runs and papers, side by side.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use results::assemble::{self, assemble};
use results::compare::{Comparison, Side, compare};
use results::reference;
use results::run::RunDirectory;
use results::subject::Subject;
use results::table::Table;
use results::tables;

use super::report::{csv, unknown, write_whole};
use crate::cli::CompareArgs;
use crate::exit::Exit;
use crate::paths::each_once;
use crate::ui;

/// Runs the verb.
pub fn run(args: &CompareArgs) -> Result<Exit> {
    let paths: Vec<PathBuf> = args.sides.iter().flat_map(|text| paths(text)).collect();
    each_once(paths.iter().map(PathBuf::as_path))?;
    let sides = args
        .sides
        .iter()
        .map(|text| side(text))
        .collect::<Result<Vec<Side>>>()?;
    let comparison = compare(&sides);
    let mut tables = comparison.tables();
    tables.extend(forms(&sides));
    if let Some(file) = &args.html {
        write_whole(file, &report::page::comparison(&comparison, &tables))?;
    }
    match &args.csv {
        Some(place) => csv(place, None, &tables)?,
        None if args.json => {
            let mut all = serde_json::to_value(&comparison)?;
            if let Some(keys) = all.as_object_mut() {
                keys.insert("tables".to_owned(), serde_json::to_value(&tables)?);
            }
            ui::data(&all.to_string());
        }
        None => ui::data(report::terminal::comparison(&comparison, &tables).trim_end()),
    }
    Ok(Exit::Good)
}

/// What runs on several numbers of nodes show.
pub struct Grown {
    /// All figures.
    pub comparison: Comparison,
    /// For the terminal: what it comes to, and tables, those of the Isilon paper among them.
    pub text: String,
    /// The same as a page.
    pub page: String,
}

/// How runs on several numbers of nodes compare; a side for each number.
pub fn growth(sides: &[Side]) -> Grown {
    let comparison = compare(sides);
    let runs: Vec<Subject> = sides.iter().flat_map(|side| side.runs.clone()).collect();
    let of_paper = [tables::scalability(&runs), tables::slowest(&runs)];
    let mut tables: Vec<Table> = comparison.growth.iter().map(tables::growth).collect();
    tables.extend(of_paper.into_iter().flatten());
    let found = comparison.growth.iter();
    let mut said: Vec<&String> = found.flat_map(|growth| &growth.statements).collect();
    said.extend(&comparison.differences);
    let said: Vec<String> = said.iter().map(|text| format!("  - {text}")).collect();
    let texts: Vec<String> = tables.iter().map(report::table::text).collect();
    let page = report::page::comparison(&comparison, &tables);
    Grown {
        text: format!("{}\n{}", texts.join("\n"), said.join("\n")),
        page,
        comparison,
    }
}

/// The papers' own forms: each run has a row of its own, under its side's name where it is alone there.
fn forms(sides: &[Side]) -> Vec<Table> {
    let alone = sides.iter().all(|side| side.runs.len() == 1);
    let runs = sides.iter().flat_map(|side| {
        side.runs.iter().map(|run| Subject {
            name: match side.runs.len() {
                1 => side.label.clone(),
                _ => run.name.clone(),
            },
            ..run.clone()
        })
    });
    let mut tables = tables::of_several(&runs.collect::<Vec<Subject>>());
    // Jobs are side by side already.
    tables.retain(|table| table.id != "job-runtimes");
    if !alone && let Some(table) = tables.iter_mut().find(|table| table.id == "aggregate") {
        // A difference of single runs is not one of the sides.
        table.rows.retain(|row| !row.summary);
    }
    tables
}

/// A published run, a run directory, or several joined by commas.
fn side(text: &str) -> Result<Side> {
    if let Some(id) = text.strip_prefix(reference::PREFIX) {
        let run = reference::find(id).ok_or_else(|| unknown(id))?;
        return Ok(Side {
            label: run.name.clone(),
            runs: vec![run],
        });
    }
    of_runs(&paths(text), None)
}

fn paths(text: &str) -> Vec<PathBuf> {
    if Path::new(text).exists() {
        vec![PathBuf::from(text)]
    } else {
        text.split(',').map(PathBuf::from).collect()
    }
}

/// A side of runs, named by the first of them unless it has a name.
pub fn of_runs(paths: &[PathBuf], name: Option<String>) -> Result<Side> {
    let runs = paths
        .iter()
        .map(|path| subject(path))
        .collect::<Result<Vec<Subject>>>()?;
    Ok(Side {
        label: name.unwrap_or_else(|| label(paths, &runs)),
        runs,
    })
}

fn subject(path: &Path) -> Result<Subject> {
    let directory = RunDirectory::open(path);
    let explain = || format!("failed to read the run {}", path.display());
    let plan = directory.plan().with_context(explain)?;
    let result = assemble(&directory).with_context(explain)?;
    let nodes = assemble::nodes(&directory, &plan).with_context(explain)?;
    Ok(Subject {
        audits: directory.audits().with_context(explain)?,
        ..Subject::of_run(&plan, &result).on_nodes(&nodes)
    })
}

/// The name of the directory, which people choose, and how many more there are.
fn label(paths: &[PathBuf], runs: &[Subject]) -> String {
    let name = paths.first().and_then(|path| path.file_name());
    let run = runs.first().map(|run| run.name.clone());
    let name = name.map(|name| name.to_string_lossy().into_owned()).or(run);
    let name = name.unwrap_or_default();
    match paths.len() {
        0 | 1 => name,
        all => format!("{name} and {} more", all - 1),
    }
}
