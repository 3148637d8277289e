//! Reads the corpus, and files that we write, with ours and the peers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use sas7bdat::Seekable;

use crate::compare::{self, Comparison};
use crate::dump;
use crate::known::{self, Area, Known};
use crate::manifest::{self, Entry};
use crate::peer::{Peer, Running};
use crate::places::{corpus, installed};
use crate::shapes;
use crate::squeeze;
use crate::table::{self, Row};

/// Everything that a check found.
pub(crate) struct Report {
    area: Area,
    known: Vec<Known>,
    pub(crate) rows: Vec<Row>,
    /// What has no reason.
    unexplained: Vec<String>,
    /// Files that ours read, refused, and that are listed and not there.
    read: usize,
    refused: usize,
    skipped: usize,
    values: u64,
}

/// Checks the corpus, what is written, or both.
pub(crate) fn run(
    with_corpus: bool,
    with_written: bool,
    only: &str,
    keep: Option<&Path>,
) -> Result<()> {
    let folder = installed("check");
    fs::create_dir_all(&folder)?;
    let mut failures = Vec::new();
    let is_whole = only.is_empty();
    if with_corpus {
        let report = check_corpus(&folder, only)?;
        failures.extend(report.finish(is_whole)?);
    }
    if with_written {
        let report = check_written(keep.unwrap_or(&folder), keep.is_some(), only)?;
        failures.extend(report.finish(is_whole)?);
    }
    if with_written && (is_whole || only == "squeeze") {
        squeeze::check(&folder)?;
    }
    if failures.is_empty() {
        return Ok(());
    }
    bail!(
        "{} unexplained differences:\n{}",
        failures.len(),
        failures.join("\n")
    )
}

fn check_corpus(folder: &Path, only: &str) -> Result<Report> {
    let source = corpus();
    let mut report = Report::new(Area::Corpus)?;
    let mut peers = Peer::ALL.map(Running::new);
    let ours = folder.join("ours.txt");
    for entry in manifest::read(&source)? {
        if !entry.file.contains(only) {
            continue;
        }
        if !source.join(&entry.file).exists() {
            report.skipped += 1;
            continue;
        }
        let file = plain(&source.join(&entry.file), folder)?;
        dump::to_file(&file, &ours)?;
        if entry.is_index {
            // Peers have no reader for index files: all that is asked is that ours says so.
            let comparison = compare::compare(&ours, &ours, true)?;
            report.refused += 1;
            if comparison.error.is_none() {
                report
                    .unexplained
                    .push(format!("{}: an index was read as a data set", entry.file));
            }
            continue;
        }
        let mut last = None;
        for peer in &mut peers {
            let comparison = report.ask(peer, &entry.file, &file, folder)?;
            last = Some(comparison);
        }
        let last = last.context("there are peers")?;
        report.against_manifest(&entry, &last);
    }
    Ok(report)
}

fn check_written(folder: &Path, keep: bool, only: &str) -> Result<Report> {
    fs::create_dir_all(folder)?;
    let scratch = installed("check");
    let mut report = Report::new(Area::Written)?;
    let mut peers = Peer::ALL.map(Running::new);
    let (ours, back) = (scratch.join("ours.txt"), scratch.join("back.txt"));
    for name in shapes::names() {
        if !name.contains(only) {
            continue;
        }
        let file = folder.join(format!("{name}.sas7bdat"));
        shapes::write(&name, &file, &ours)?;
        dump::to_file(&file, &back)?;
        let own = compare::compare(&ours, &back, true)?;
        for (kind, found) in &own.differences {
            let example = &found.example;
            report.unexplained.push(format!(
                "{name}: our reader: {kind}: put in and read: {example}"
            ));
        }
        report.against_rules(&name, &file)?;
        report.read += 1;
        for peer in &mut peers {
            report.ask(peer, &name, &file, &scratch)?;
        }
        if !keep {
            fs::remove_file(&file)?;
        }
    }
    Ok(report)
}

/// The file itself, or what its compressed form holds.
fn plain(file: &Path, folder: &Path) -> Result<PathBuf> {
    if file.extension().is_none_or(|extension| extension != "gz") {
        return Ok(file.to_owned());
    }
    let target = folder.join("plain.sas7bdat");
    let packed = fs::File::open(file).with_context(|| file.display().to_string())?;
    let mut reader = flate2::read::GzDecoder::new(packed);
    std::io::copy(&mut reader, &mut fs::File::create(&target)?)?;
    Ok(target)
}

impl Report {
    fn new(area: Area) -> Result<Self> {
        Ok(Self {
            area,
            known: known::read(area)?,
            rows: Vec::new(),
            unexplained: Vec::new(),
            read: 0,
            refused: 0,
            skipped: 0,
            values: 0,
        })
    }

    /// Has a peer read a file, and compares that with the dump that lies in `ours.txt`.
    fn ask(
        &mut self,
        peer: &mut Running,
        name: &str,
        file: &Path,
        folder: &Path,
    ) -> Result<Comparison> {
        let theirs = folder.join("theirs.txt");
        peer.dump(file, &theirs)?;
        let peer = peer.peer;
        let comparison = compare::compare(&folder.join("ours.txt"), &theirs, peer.tells_missing())
            .with_context(|| format!("{name}, {}", peer.name()))?;
        self.values += comparison.values;
        for (kind, found) in &comparison.differences {
            let reason = known::find(&self.known, peer, *kind, name);
            if reason.is_none() {
                let text = format!(
                    "{name}: {}: {kind} ({}): {}",
                    peer.name(),
                    found.count,
                    found.example
                );
                eprintln!("{text}");
                self.unexplained.push(text);
            }
            self.rows.push(Row {
                file: name.to_owned(),
                peer,
                kind: *kind,
                found: found.clone(),
                reason,
            });
        }
        Ok(comparison)
    }

    fn against_manifest(&mut self, entry: &Entry, ours: &Comparison) {
        let file = &entry.file;
        match &ours.error {
            Some(error) if entry.is_damaged => {
                self.refused += 1;
                println!("refused {file}: {error}");
            }
            Some(error) => self
                .unexplained
                .push(format!("{file}: ours: failed to {error}")),
            None if entry.is_damaged => {
                self.unexplained
                    .push(format!("{file}: ours: read though damaged"));
            }
            None => {
                self.read += 1;
                let rows = entry.rows.is_some_and(|rows| rows != ours.rows);
                let columns = entry.columns.is_some_and(|columns| columns != ours.columns);
                if rows || columns {
                    self.unexplained.push(format!(
                        "{file}: ours: {} rows and {} columns, the manifest says {:?} and {:?}",
                        ours.rows, ours.columns, entry.rows, entry.columns
                    ));
                }
            }
        }
    }

    /// What we write must keep the rules of layout that SAS keeps.
    fn against_rules(&mut self, name: &str, file: &Path) -> Result<()> {
        let violations = sas7bdat::check::check(Seekable::new(fs::File::open(file)?))?;
        for violation in violations {
            self.unexplained.push(format!("{name}: ours: {violation}"));
        }
        Ok(())
    }

    /// Prints the counts, writes the table, and gives back what has no reason.
    fn finish(self, is_whole: bool) -> Result<Vec<String>> {
        let mut differing: Vec<&str> = self.rows.iter().map(|row| row.file.as_str()).collect();
        differing.dedup();
        let counts = format!(
            "{} files read, {} refused as they must be, {} skipped; in {} some peer differs; {} values compared",
            self.read,
            self.refused,
            self.skipped,
            differing.len(),
            self.values
        );
        println!("{}: {counts}", table::title(self.area));
        if is_whole {
            for (index, known) in self.known.iter().enumerate() {
                if !self.rows.iter().any(|row| row.reason == Some(index)) {
                    println!("no longer needed in known.toml: {}", known.reason);
                }
            }
            table::write(self.area, &counts, &self.known, &self.rows)?;
        }
        Ok(self.unexplained)
    }
}
