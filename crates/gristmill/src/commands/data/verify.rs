//! `gristmill data verify`: reads everything, and says what is damaged or differs from its recipe.

mod canonical;
mod compare;

use std::path::Path;

use anyhow::{Error, Result};
use base::rowhash::RowHash;
use base::units::Bytes;
use engine::dataset::files::FileSource;
use recipe::Generator;
use sas7bdat::{Reader, check, check::Violation};
use serde_json::{Value, json};

use super::args::VerifyArgs;
use super::files;
use super::progress::Progress;
use super::recipes;
use super::value::counted;
use crate::exit::Exit;
use crate::ui;
use canonical::Canonical;
use compare::Comparison;

/// What was found in a file.
struct Report {
    file: String,
    bytes: u64,
    hash: RowHash,
    findings: Vec<Finding>,
}

impl Report {
    /// Takes what the format codec found, or why it could not look.
    fn add(&mut self, path: &Path, found: Result<Vec<Violation>, sas7bdat::Error>) -> Result<()> {
        match found {
            Ok(violations) => {
                let findings = violations.iter().map(Finding::from_violation);
                self.findings.extend(findings);
            }
            Err(error) => {
                let finding = Finding::from_codec(error).map_err(|e| read_error(path, &e))?;
                self.findings.push(finding);
            }
        }
        Ok(())
    }
}

/// Something that is not as it should be.
struct Finding {
    /// 1-based page, if known.
    page: Option<u64>,
    /// Row counted from 1, if it is one row's fault.
    row: Option<u64>,
    column: Option<String>,
    detail: String,
}

impl Finding {
    fn whole(detail: impl Into<String>) -> Self {
        Self {
            page: None,
            row: None,
            column: None,
            detail: detail.into(),
        }
    }

    fn from_violation(violation: &Violation) -> Self {
        Self {
            page: Some(violation.page).filter(|page| *page > 0),
            ..Self::whole(format!("{}: {}", violation.rule, violation.detail))
        }
    }

    /// What the format codec found; `Err` if it is the file system's failure and not the file's.
    fn from_codec(error: sas7bdat::Error) -> Result<Self, sas7bdat::Error> {
        let (page, row) = match &error {
            sas7bdat::Error::Io { .. } => return Err(error),
            sas7bdat::Error::CorruptPage { page, .. } => (Some(*page), None),
            sas7bdat::Error::CorruptRow { page, row, .. } => (Some(*page), Some(row + 1)),
            _ => (None, None),
        };
        Ok(Self {
            page,
            row,
            column: None,
            detail: format!("failed to {error}"),
        })
    }
}

/// Runs the verb. A file that cannot be opened is named, and the others are still checked.
pub fn run(args: &VerifyArgs) -> Result<Exit> {
    let recipe = args.recipe.as_deref().map(recipes::find).transpose()?;
    let generator = recipe.map(|recipe| Generator::new(&recipe, args.seed));
    let mut reports = Vec::new();
    let mut unread = false;
    for path in &args.files {
        match check(path, generator.as_ref(), args) {
            Ok(report) if args.json => reports.push(report),
            Ok(report) => {
                ui::data(&as_text(&report));
                reports.push(report);
            }
            Err(error) => {
                ui::error(&error);
                unread = true;
            }
        }
    }
    if args.json {
        let list = reports.iter().map(as_json).collect();
        ui::data(&Value::Array(list).to_string());
    }
    let found = reports.iter().any(|report| !report.findings.is_empty());
    Ok(match (unread, found) {
        (true, _) => Exit::CouldNotRun,
        (false, true) => Exit::No,
        (false, false) => Exit::Good,
    })
}

fn check(path: &Path, generator: Option<&Generator>, args: &VerifyArgs) -> Result<Report> {
    let file = files::open(path)?;
    let mut report = Report {
        file: path.display().to_string(),
        bytes: file.size()?,
        hash: RowHash::default(),
        findings: Vec::new(),
    };
    let reader = match Reader::open(FileSource(file)) {
        Ok(reader) => reader,
        Err(error) => {
            let finding = Finding::from_codec(error).map_err(|error| read_error(path, &error))?;
            report.findings.push(finding);
            return Ok(report);
        }
    };
    read(path, reader, generator, &mut report)?;
    if args.strict && report.findings.is_empty() {
        check_layout(path, &mut report)?;
    }
    let found = report.hash.rows;
    if let Some(wanted) = args.rows
        && found != wanted
    {
        let detail = format!("there are {found} rows; {wanted} were expected");
        report.findings.push(Finding::whole(detail));
    }
    Ok(report)
}

/// Reports where the file is laid out otherwise than SAS would have done it.
fn check_layout(path: &Path, report: &mut Report) -> Result<()> {
    let source = FileSource(files::open(path)?);
    report.add(path, check::check(source))
}

/// Reads all rows into the report.
fn read(
    path: &Path,
    mut reader: Reader<FileSource>,
    generator: Option<&Generator>,
    report: &mut Report,
) -> Result<()> {
    let mut canonical = Canonical::new(reader.metadata());
    let mut comparison = match generator.map(|g| Comparison::new(g, reader.metadata())) {
        None => None,
        Some(Ok(comparison)) => Some(comparison),
        Some(Err(finding)) => {
            report.findings.push(finding);
            None
        }
    };
    let mut progress = Progress::new(report.file.clone(), report.bytes);
    let rows_total = reader.metadata().rows.max(1);
    let mut is_whole = true;
    loop {
        let rows = match reader.next_slab() {
            Ok(Some(rows)) => rows,
            Ok(None) => break,
            Err(error) => {
                let finding = Finding::from_codec(error).map_err(|e| read_error(path, &e))?;
                report.findings.push(finding);
                is_whole = false;
                break;
            }
        };
        let row_bytes = canonical.row_bytes();
        let slab = canonical.slab(rows);
        if let Some(comparison) = &mut comparison {
            comparison.check(report.hash.rows, slab);
        }
        for row in slab.chunks_exact(row_bytes) {
            report.hash.add(row);
        }
        let count = rows.count as u64;
        progress.advance(report.bytes / rows_total * count);
    }
    if let Some(comparison) = comparison {
        report.findings.extend(comparison.finish(reader.metadata()));
    }
    contradictions(path, &mut reader, is_whole, report)
}

/// Reports what the file contradicts itself in.
fn contradictions(
    path: &Path,
    reader: &mut Reader<FileSource>,
    is_whole: bool,
    report: &mut Report,
) -> Result<()> {
    let violations = if is_whole {
        reader.contradictions()
    } else {
        // What lies behind the damage says nothing new, but a page that is not in its place may be the cause.
        Ok(reader.misplaced_so_far().into_iter().collect())
    };
    report.add(path, violations)
}

fn read_error(path: &Path, error: &sas7bdat::Error) -> Error {
    files::failed(path, error)
}

fn as_text(report: &Report) -> String {
    let verdict = if report.findings.is_empty() {
        "good"
    } else {
        "DAMAGED OR DIFFERENT"
    };
    let mut out = format!(
        "{}: {verdict}; {} read, {}, row hash {:016x}",
        report.file,
        counted(report.hash.rows, "row"),
        Bytes(report.bytes),
        report.hash.sum
    );
    for finding in &report.findings {
        out.push_str("\n  ");
        let mut place = Vec::new();
        place.extend(finding.page.map(|page| format!("page {page}")));
        place.extend(finding.row.map(|row| format!("row {row}")));
        place.extend(finding.column.as_ref().map(|name| format!("column {name}")));
        if !place.is_empty() {
            out.push_str(&place.join(", "));
            out.push_str(": ");
        }
        out.push_str(&finding.detail);
    }
    out
}

fn as_json(report: &Report) -> Value {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let mut value = json!({"detail": finding.detail});
            if let Some(page) = finding.page {
                value["page"] = json!(page);
            }
            if let Some(row) = finding.row {
                value["row"] = json!(row);
            }
            if let Some(column) = &finding.column {
                value["column"] = json!(column);
            }
            value
        })
        .collect();
    json!({
        "file": report.file,
        "bytes": report.bytes,
        "rows": report.hash.rows,
        "row_hash": format!("{:016x}", report.hash.sum),
        "good": report.findings.is_empty(),
        "findings": findings,
    })
}
