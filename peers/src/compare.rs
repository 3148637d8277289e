//! Compares two dumps line by line; neither is held in memory.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Numbers that a peer rounds are nearer than this to what is stored.
const ROUNDED: f64 = 1e-14;

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// The peer gives an error, ours reads.
    Refused,
    /// The peer reads, ours gives an error.
    Accepted,
    /// Number of rows.
    Rows,
    /// Number of columns.
    Columns,
    /// Label of the data set.
    SetLabel,
    Name,
    Type,
    Length,
    Format,
    Label,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A number that the peer rounds.
    Rounded,
    /// Which missing value it is, or whether it is missing.
    Missing,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Rows => "rows",
            Self::Columns => "columns",
            Self::SetLabel => "set-label",
            Self::Name => "name",
            Self::Type => "type",
            Self::Length => "length",
            Self::Format => "format",
            Self::Label => "label",
            Self::Text => "text",
            Self::Number => "number",
            Self::Rounded => "rounded",
            Self::Missing => "missing",
        })
    }
}

/// How often something differs, and the first place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) count: u64,
    pub(crate) example: String,
}

/// All differences of one peer on one file.
pub(crate) type Differences = BTreeMap<Kind, Found>;

/// What two dumps hold beside their differences.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) differences: Differences,
    /// Values compared.
    pub(crate) values: u64,
    /// Our own error, if there is one.
    pub(crate) error: Option<String>,
    /// Rows and columns of ours.
    pub(crate) rows: u64,
    pub(crate) columns: usize,
}

struct Dump {
    lines: std::iter::Peekable<std::io::Lines<BufReader<File>>>,
    label: String,
    columns: Vec<[String; 5]>,
}

enum Line {
    Row(String),
    End(u64),
    Error(String),
}

impl Dump {
    fn open(path: &Path) -> Result<Self> {
        let mut lines = BufReader::with_capacity(1 << 16, File::open(path)?)
            .lines()
            .peekable();
        let (mut label, mut columns) = (String::new(), Vec::new());
        while let Some(Ok(line)) = lines.peek() {
            let mut words = line.split('\t');
            match words.next() {
                Some("label") => words.next().unwrap_or("").clone_into(&mut label),
                Some("column") => {
                    columns.push(std::array::from_fn(|_| {
                        words.next().unwrap_or("").to_owned()
                    }));
                }
                _ => break,
            }
            lines.next();
        }
        Ok(Self {
            lines,
            label,
            columns,
        })
    }

    fn next(&mut self) -> Result<Line> {
        let line = self.lines.next().context("a dump has no end")??;
        Ok(match line.split_once('\t') {
            Some(("end", count)) => Line::End(count.parse()?),
            Some(("error", message)) => Line::Error(message.to_owned()),
            _ => Line::Row(line),
        })
    }
}

/// Compares a peer's dump with ours.
pub(crate) fn compare(ours: &Path, theirs: &Path, tells_missing: bool) -> Result<Comparison> {
    let (mut ours, mut theirs) = (Dump::open(ours)?, Dump::open(theirs)?);
    let mut result = Comparison {
        columns: ours.columns.len(),
        ..Comparison::default()
    };
    let mut values = Differences::new();
    let same_columns = ours.columns.len() == theirs.columns.len();
    let (our_end, their_end) = loop {
        let (left, right) = (ours.next()?, theirs.next()?);
        match (left, right) {
            (Line::Row(left), Line::Row(right)) => {
                result.rows += 1;
                if same_columns {
                    let names = &ours.columns;
                    let row = (result.rows, names.as_slice());
                    result.values += row_values(&left, &right, row, tells_missing, &mut values);
                }
            }
            (left, right) => break (skip(left, &mut ours)?, skip(right, &mut theirs)?),
        }
    };
    match (our_end, their_end) {
        (Line::Error(message), Line::Error(_)) => {
            result.error = Some(message);
            return Ok(result);
        }
        (Line::Error(message), _) => {
            note(&mut result.differences, Kind::Accepted, || message.clone());
            result.error = Some(message);
            return Ok(result);
        }
        (Line::End(count), Line::Error(message)) => {
            result.rows = count;
            note(&mut result.differences, Kind::Refused, || message);
            return Ok(result);
        }
        (Line::End(left), Line::End(right)) if left != right => {
            result.rows = left;
            let example = format!("ours {left}, theirs {right}");
            note(&mut result.differences, Kind::Rows, || example);
        }
        // Values in rows of the same number only: others are not the same rows.
        _ => result.differences = values,
    }
    headers(&ours, &theirs, &mut result.differences);
    Ok(result)
}

/// Reads on to the end of a dump.
fn skip(mut line: Line, dump: &mut Dump) -> Result<Line> {
    while let Line::Row(_) = line {
        line = dump.next()?;
    }
    Ok(line)
}

fn headers(ours: &Dump, theirs: &Dump, found: &mut Differences) {
    if theirs.label != "?" && ours.label != theirs.label {
        note(found, Kind::SetLabel, || {
            format!("ours {:?}, theirs {:?}", ours.label, theirs.label)
        });
    }
    if ours.columns.len() != theirs.columns.len() {
        note(found, Kind::Columns, || {
            format!(
                "ours {}, theirs {}",
                ours.columns.len(),
                theirs.columns.len()
            )
        });
        return;
    }
    let kinds = [
        Kind::Name,
        Kind::Type,
        Kind::Length,
        Kind::Format,
        Kind::Label,
    ];
    for (left, right) in ours.columns.iter().zip(&theirs.columns) {
        for ((kind, ours), theirs) in kinds.into_iter().zip(left).zip(right) {
            if !same_attribute(ours, theirs) {
                note(found, kind, || {
                    format!("{}: ours {ours:?}, theirs {theirs:?}", left[0])
                });
            }
        }
    }
}

/// `?` is what a peer does not tell; `~NAME` a format of which it tells the name alone.
fn same_attribute(ours: &str, theirs: &str) -> bool {
    match theirs.strip_prefix('~') {
        _ if theirs == "?" => true,
        Some(name) => {
            let rest = ours.strip_prefix(name);
            rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        }
        None => ours == theirs,
    }
}

fn row_values(
    left: &str,
    right: &str,
    (number, columns): (u64, &[[String; 5]]),
    tells_missing: bool,
    found: &mut Differences,
) -> u64 {
    if left == right {
        return columns.len() as u64;
    }
    let pairs = left.split('\t').skip(1).zip(right.split('\t').skip(1));
    for (index, (ours, theirs)) in pairs.enumerate() {
        if ours == theirs || (!tells_missing && ours.starts_with('.') && theirs == ".") {
            continue;
        }
        let name = columns.get(index).map_or("?", |column| column[0].as_str());
        note(found, value_kind(ours, theirs), || {
            format!(
                "row {number}, {name}: ours {}, theirs {}",
                shown(ours),
                shown(theirs)
            )
        });
    }
    columns.len() as u64
}

fn value_kind(ours: &str, theirs: &str) -> Kind {
    if ours.starts_with('\'') || theirs.starts_with('\'') {
        return Kind::Text;
    }
    match (bits(ours), bits(theirs)) {
        (Some(ours), Some(theirs)) if (ours - theirs).abs() < ROUNDED => Kind::Rounded,
        (Some(_), Some(_)) => Kind::Number,
        (Some(ours), None) if ours.abs() < ROUNDED => Kind::Rounded,
        _ => Kind::Missing,
    }
}

fn bits(word: &str) -> Option<f64> {
    let bits = u64::from_str_radix(word.strip_prefix('x')?, 16).ok()?;
    Some(f64::from_bits(bits))
}

/// A value for a reader of the report.
fn shown(word: &str) -> String {
    const LONGEST: usize = 60;
    match bits(word) {
        Some(number) => format!("{number:?}"),
        None if word.chars().count() > LONGEST => {
            let start: String = word.chars().take(LONGEST).collect();
            format!("{:?}…", start.trim_start_matches('\''))
        }
        None => match word.strip_prefix('\'') {
            Some(text) => format!("{text:?}"),
            None => word.to_owned(),
        },
    }
}

fn note(found: &mut Differences, kind: Kind, example: impl FnOnce() -> String) {
    found
        .entry(kind)
        .and_modify(|found| found.count += 1)
        .or_insert_with(|| Found {
            count: 1,
            example: example(),
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_a_peer_does_not_tell_do_not_differ() {
        assert!(same_attribute("8", "?"));
        assert!(same_attribute("DATE9.2", "~DATE"));
        assert!(!same_attribute("DATETIME9", "~DATE"));
        assert!(!same_attribute("DATE9", "DATE"));
    }

    #[test]
    fn rounding_is_told_from_reading_wrongly() {
        assert_eq!(
            value_kind("x3cd203af9ee75616", "x0000000000000000"),
            Kind::Rounded
        );
        assert_eq!(
            value_kind("x3ff0000000000000", "x0000000000000000"),
            Kind::Number
        );
        assert_eq!(value_kind("x3ff0000000000000", "."), Kind::Missing);
        assert_eq!(value_kind("'a", "'b"), Kind::Text);
    }
}
