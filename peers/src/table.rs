//! The table of differences in `docs/format/peers.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::Result;

use crate::compare::{Found, Kind};
use crate::known::{Area, Known};
use crate::peer::Peer;
use crate::places::root;

const FILE: &str = "docs/format/peers.md";

/// A difference of one peer on one file.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) peer: Peer,
    pub(crate) kind: Kind,
    pub(crate) found: Found,
    /// Its place in the list of reasons.
    pub(crate) reason: Option<usize>,
}

pub(crate) fn title(area: Area) -> &'static str {
    match area {
        Area::Corpus => "Public files",
        Area::Written => "Files that we write",
    }
}

/// Replaces the part of the page that is about `area`.
pub(crate) fn write(area: Area, counts: &str, known: &[Known], rows: &[Row]) -> Result<()> {
    let path = root().join(FILE);
    let page = fs::read_to_string(&path).unwrap_or_default();
    let mut other = BTreeMap::new();
    for part in page.split("\n## ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        other.insert(name.to_owned(), text.trim().to_owned());
    }
    other.insert(title(area).to_owned(), text(counts, known, rows));
    let mut page = INTRODUCTION.to_owned();
    for area in [Area::Corpus, Area::Written] {
        if let Some(text) = other.get(title(area)) {
            let _ = write!(page, "\n## {}\n\n{}\n", title(area), text.trim());
        }
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, page)?;
    Ok(())
}

const INTRODUCTION: &str = "# Where readers of SAS7BDAT differ

Written by `cargo xtask peers check`; the reasons are kept in `peers/known.toml`, and a difference
without a reason fails the check. Compared are rows, columns, names, types, lengths, formats, labels
and every value: numbers bit by bit, missing values by their letter where the peer tells it, texts
without the blanks and zeros at their end. What a peer does not tell (pyreadstat and pandas: lengths
of numbers, widths of formats) is not compared.

`refused`: the peer gives an error where ours reads; the other words name what differs. The number is
how many rows, columns or values differ.
";

fn text(counts: &str, known: &[Known], rows: &[Row]) -> String {
    let mut text = format!("{counts}.\n");
    for (index, known) in known.iter().enumerate() {
        let found: Vec<&Row> = rows
            .iter()
            .filter(|row| row.reason == Some(index))
            .collect();
        if found.is_empty() {
            continue;
        }
        let _ = write!(text, "\n**{}** Right: {}.\n\n", known.reason, known.right);
        table(&found, &mut text);
    }
    let open: Vec<&Row> = rows.iter().filter(|row| row.reason.is_none()).collect();
    if !open.is_empty() {
        text.push_str("\n**Not explained.**\n\n");
        table(&open, &mut text);
    }
    text
}

/// Files that differ in the same way share a line.
fn table(rows: &[&Row], text: &mut String) {
    text.push_str("| peer | differs in | files | first one |\n|---|---|---|---|\n");
    let mut groups: BTreeMap<(Peer, Kind), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry((row.peer, row.kind)).or_default().push(row);
    }
    for ((peer, kind), rows) in groups {
        let files: Vec<String> = rows
            .iter()
            .map(|row| match (row.kind, row.found.count) {
                (Kind::Refused | Kind::Rows | Kind::Columns, _) => row.file.clone(),
                (_, count) => format!("{} ({count})", row.file),
            })
            .collect();
        let example = rows.first().map_or("", |row| row.found.example.as_str());
        let _ = writeln!(
            text,
            "| {} | {kind} | {} | {} |",
            peer.name(),
            cell(&files.join(", ")),
            cell(example)
        );
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
