//! `gristmill report`: verdict and tables of runs, finished or not, and of papers.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use report::page::{self, Run};
use report::views::View;
use results::assemble::{assemble_with, samples};
use results::bundle::{Replacements, pack};
use results::reference::{self, Document};
use results::run::{RunDirectory, RunResult, Verdict};
use results::subject::Subject;
use results::table::Table;
use results::thresholds::Thresholds;
use results::{tables, verdict};
use serde::Serialize;

use crate::cli::{ReportArgs, ViewKind};
use crate::exit::{Exit, Usage, usage};
use crate::ui;

/// Runs the verb.
pub fn run(args: &ReportArgs) -> Result<Exit> {
    if let Some(bundle) = &args.bundle {
        return send(args, bundle);
    }
    if args.html.is_some() && args.runs.len() > 1 {
        usage!("--html writes the page of one run: name one");
    }
    let thresholds = thresholds(args.thresholds.as_deref())?;
    let mut exit = Exit::Good;
    for path in &args.runs {
        let name = path.to_string_lossy();
        let found = match name.strip_prefix(reference::PREFIX) {
            Some(id) => published(args, id, &thresholds)?,
            None => of_run(args, path, &thresholds)
                .with_context(|| format!("failed to report on {}", path.display()))?,
        };
        exit = exit.and(found);
    }
    Ok(exit)
}

/// The published requirements, or those of a file.
pub fn thresholds(file: Option<&Path>) -> Result<Thresholds> {
    let Some(file) = file else {
        return Ok(Thresholds::published());
    };
    let explain = || format!("failed to read the thresholds of {}", file.display());
    let text = fs::read_to_string(file).with_context(explain)?;
    Thresholds::parse(&text).with_context(explain)
}

/// What `--json` prints of a run: its result as `result.json` has it, and all tables.
#[derive(Serialize)]
struct WithTables<'a> {
    result: &'a RunResult,
    tables: &'a [Table],
}

impl WithTables<'_> {
    /// The tables beside the keys of the result, which others build on.
    fn json(&self) -> Result<String> {
        let mut all = serde_json::to_value(self.result)?;
        if let Some(keys) = all.as_object_mut() {
            keys.insert("tables".to_owned(), serde_json::to_value(self.tables)?);
        }
        Ok(all.to_string())
    }
}

fn of_run(args: &ReportArgs, path: &Path, thresholds: &Thresholds) -> Result<Exit> {
    let directory = RunDirectory::open(path);
    let plan = directory.plan()?;
    if let Some(view) = args.view {
        show_samples(view, &directory)?;
        return Ok(Exit::Good);
    }
    if bench::marker::is_in_use(path) {
        ui::say("the run is on its way: what follows is how far it is");
    }
    let result = assemble_with(&directory, thresholds)?;
    let samples = samples(&directory)?;
    if args.csv.is_some() || args.json {
        let tables = tables::of_run(&plan, &result, &samples);
        match &args.csv {
            Some(place) => csv(
                place,
                Some(&plan.run).filter(|_| args.runs.len() > 1),
                &tables,
            )?,
            None => ui::data(
                &WithTables {
                    result: &result,
                    tables: &tables,
                }
                .json()?,
            ),
        }
    } else {
        ui::data(report::terminal::run(&plan, &result, &samples).trim_end());
    }
    if let Some(file) = &args.html {
        write_page(&directory, &result, file)?;
    }
    // What was said when the run was made stays in its directory.
    let then = directory.result()?.map(|result| result.verdict.result);
    if let Some(then) = then.filter(|then| *then != result.verdict.result) {
        ui::say(&format!(
            "note: when the run was made its verdict was: {} (this one is by: {})",
            report::verdict::word(&then),
            thresholds.title
        ));
    }
    Ok(super::run::exit_of(&result.verdict))
}

/// Writes the page of a run.
pub(super) fn write_page(directory: &RunDirectory, result: &RunResult, file: &Path) -> Result<()> {
    let run = Run::read(directory, result.clone())?;
    write_whole(file, &page::run(&run))
}

/// A page may be replaced by a newer one; anything else is somebody's.
fn is_page(file: &Path) -> bool {
    let mut begin = [0; 9];
    match fs::metadata(file) {
        Err(_) => true,
        Ok(about) if !about.is_file() || about.len() == 0 => true,
        Ok(_) => {
            let read = fs::File::open(file).and_then(|mut file| file.read_exact(&mut begin));
            read.is_ok() && begin.eq_ignore_ascii_case(b"<!doctype")
        }
    }
}

/// Writes a page beside `file` and renames it, so that a reader never sees half of it.
pub(super) fn write_whole(file: &Path, text: &str) -> Result<()> {
    if !is_page(file) {
        bail!(
            "failed to write {}: what is there is no page; name another file",
            file.display()
        );
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, file))
        .with_context(|| format!("failed to write {}", file.display()))?;
    ui::say(&format!("Report: {}", file.display()));
    Ok(())
}

fn published(args: &ReportArgs, id: &str, thresholds: &Thresholds) -> Result<Exit> {
    if args.html.is_some() {
        usage!(
            "--html is of runs; {}{id} is a published table",
            reference::PREFIX
        );
    }
    if let Some(document) = reference::documents().iter().find(|one| one.id == id) {
        return whole(args, document);
    }
    let Some(subject) = reference::find(id) else {
        return Err(unknown(id));
    };
    let verdict = verdict::of_reference(&subject, thresholds);
    let tables = tables::of_several(std::slice::from_ref(&subject));
    match &args.csv {
        Some(place) => csv(place, None, &tables)?,
        None if args.json => ui::data(&json(&subject, &verdict, &tables)?),
        None => {
            ui::data(&format!("{}: {}", subject.name, subject.title));
            ui::data(&format!("  {}", subject.source.unwrap_or_default()));
            ui::data(&format!("\n{}", report::verdict::text(&verdict).trim_end()));
            for table in &tables {
                ui::data(&format!("\n{}", report::table::text(table).trim_end()));
            }
        }
    }
    Ok(Exit::Good)
}

fn json(subject: &Subject, verdict: &Verdict, tables: &[Table]) -> Result<String> {
    let all = serde_json::json!({
        "run": subject.name,
        "suite": subject.suite,
        "source": subject.source,
        "verdict": verdict,
        "tables": tables,
    });
    Ok(serde_json::to_string(&all)?)
}

/// A whole paper: its tables in their own forms, and where it contradicts itself.
fn whole(args: &ReportArgs, document: &Document) -> Result<Exit> {
    let tables = tables::of_paper(document);
    match &args.csv {
        Some(place) => csv(place, None, &tables)?,
        None if args.json => {
            let all = serde_json::json!({ "document": document.name(), "tables": tables });
            ui::data(&all.to_string());
        }
        None => ui::data(report::terminal::paper(document).trim_end()),
    }
    Ok(Exit::Good)
}

/// There is no paper or run of this name.
pub fn unknown(id: &str) -> anyhow::Error {
    let documents = reference::documents().iter();
    let papers: Vec<String> = documents
        .map(|one| format!("{}{}", reference::PREFIX, one.id))
        .collect();
    let runs = reference::names().join(", ");
    let papers = papers.join(", ");
    Usage(format!(
        "there is no published run {id}; papers are {papers}, runs are {runs}"
    ))
    .into()
}

/// Prints the table of this name, or writes all below this directory. A bare name is a directory's only if it is there:
/// it may be a table's that was misspelt.
pub fn csv(place: &Path, run: Option<&String>, tables: &[Table]) -> Result<()> {
    if let Some(table) = tables.iter().find(|table| Path::new(&table.id) == place) {
        ui::data(report::table::csv(table).trim_end());
        return Ok(());
    }
    let name = place.to_string_lossy();
    if !name.contains('/') && !place.is_dir() {
        let names: Vec<&str> = tables.iter().map(|table| &*table.id).collect();
        usage!(
            "--csv: there is no table {name} and no directory of this name; tables are {}; --csv ./{name} makes the \
             directory",
            names.join(", ")
        );
    }
    let folder = run.map_or(place.to_owned(), |run| place.join(run));
    fs::create_dir_all(&folder)
        .with_context(|| format!("failed to make the directory {}", folder.display()))?;
    for table in tables {
        let path = folder.join(format!("{}.csv", table.id));
        fs::write(&path, report::table::csv(table))
            .with_context(|| format!("failed to write {}", path.display()))?;
        ui::say(&format!("{}: {}", path.display(), table.title));
    }
    Ok(())
}

/// Packs a run directory.
fn send(args: &ReportArgs, bundle: &Path) -> Result<Exit> {
    let [run] = &args.runs[..] else {
        usage!(
            "a bundle holds one run directory, {} were given",
            args.runs.len()
        );
    };
    let name = bundle.to_string_lossy();
    if !name.ends_with(".tar.gz") && !name.ends_with(".tgz") {
        usage!("failed to pack into {name}: bundles are .tar.gz");
    }
    let directory = RunDirectory::open(run);
    let explain = || format!("failed to pack {}", run.display());
    let users: Vec<String> = ["USER", "LOGNAME", "SUDO_USER"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .collect();
    let replacements = if args.anonymise {
        Some(Replacements::of(&directory, &users).with_context(explain)?)
    } else {
        None
    };
    let packed = pack(&directory, bundle, replacements.as_ref()).with_context(explain)?;
    ui::say(&format!("{name}: {} files", packed.files));
    for (what, by, count) in &packed.replaced {
        ui::say(&format!("replaced {what} by {by}, {count} times"));
    }
    for path in &packed.left_out {
        let is_page = path.extension().is_some_and(|ending| ending == "html");
        let why = if is_page {
            "a name is also a word of the page; make it anew with report --html"
        } else {
            "no text, names in it cannot be replaced"
        };
        ui::say(&format!("left out {}: {why}", path.display()));
    }
    if let Some(replacements) = &replacements {
        for name in replacements.in_fields() {
            ui::say(&format!(
                "the name {name} is replaced only where a field of a record names a host or what is mounted: records, \
                 logs and programs have the same word"
            ));
        }
        for user in replacements.kept() {
            ui::say(&format!(
                "the user's name {user} is not replaced: the records of a run have the same word"
            ));
        }
        ui::say(
            "look at the bundle before you send it: other names may stand in titles, labels, marks, observed series, \
             programs and logs",
        );
    }
    Ok(Exit::Good)
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
