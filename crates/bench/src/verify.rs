//! Proof that no data were lost: every output is read back, must be sorted and must hold the same
//! multiset of rows as was staged; when it does not, input and output are compared with the seed and
//! the first wrong row is named.

pub mod checks;
mod located;
#[cfg(test)]
mod samples;
mod stray;
pub mod written;

use std::cmp::Ordering;
use std::path::Path;

use ::io::cache;
use base::rowhash::RowHash;
use engine::dataset::hash::RowHasher;
use engine::expr::Slot;
use engine::sort::{KeyField, SortKey};
use recipe::{Generator, Recipe};
use sas7bdat::Endian;

use crate::plan::PlannedDataset;
use crate::stage::{IndexFile, Staged, csv};
use located::Located;

/// Rows between two looks at whether to go on.
const ROWS_AT_A_TIME: u64 = 1 << 16;

/// Whether rows of the same key are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Yes.
    Ties,
    /// No: each key comes once.
    NoTies,
}

/// The rows that a file must hold.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedRows<'a> {
    /// Their hash and number.
    pub hash: RowHash,
    /// A file that holds all of them, to find out which row is wrong.
    pub held_by: &'a Path,
    /// Whether it holds no others.
    pub whole: bool,
}

/// Checks that `path` is in the order of `by` and, if they are known, holds the `expected` rows. Returns
/// what is wrong.
pub fn sorted_same_rows(
    path: &Path,
    by: &[String],
    order: Order,
    expected: Option<ExpectedRows<'_>>,
) -> Vec<String> {
    let Seen { unsorted, hash } = match read_sorted(path, by, order) {
        Err(message) => return vec![message],
        Ok(seen) => seen,
    };
    let mut findings = Vec::new();
    let file = path.display();
    if let Some(place) = unsorted {
        let by = by.join(" ");
        findings.push(format!("{file}: {place} is not in the order of {by}"));
    }
    let Some(expected) = expected.filter(|expected| expected.hash != hash) else {
        return findings;
    };
    let (there, wanted) = (hash.rows, expected.hash.rows);
    let number = format!("{file}: {there} rows instead of {wanted}");
    let sums = (hash.sum, expected.hash.sum);
    let hashes = format!(
        "{file}: the rows are not those of the input (hash {:016x} instead of {:016x})",
        sums.0, sums.1
    );
    findings.push(if there == wanted { hashes } else { number });
    findings.extend(wrong_row(path, expected));
    findings
}

/// Which row is too many, changed or missing.
fn wrong_row(path: &Path, expected: ExpectedRows<'_>) -> Option<String> {
    let (file, input) = (path.display(), expected.held_by.display());
    let explain = |message| Some(format!("{file}: which row it is was not found: {message}"));
    match stray::first(path, expected.held_by) {
        Err(message) => return explain(message),
        Ok(Some(place)) => {
            return Some(format!(
                "{file}: {place} is the first that is not among those of {input}"
            ));
        }
        Ok(None) if !expected.whole => return None,
        Ok(None) => {}
    }
    match stray::first(expected.held_by, path) {
        Err(message) => explain(message),
        Ok(place) => {
            place.map(|place| format!("{file}: {place} of {input} is the first that it lacks"))
        }
    }
}

struct Seen {
    unsorted: Option<String>,
    hash: RowHash,
}

/// Reads all rows.
fn read_rows(path: &Path) -> Result<RowHash, String> {
    read_sorted(path, &[], Order::Ties).map(|seen| seen.hash)
}

fn read_sorted(path: &Path, by: &[String], order: Order) -> Result<Seen, String> {
    read_until(path, by, order, &|| false)
}

/// Reads rows until it is stopped.
fn read_until(
    path: &Path,
    by: &[String],
    order: Order,
    stopped: &dyn Fn() -> bool,
) -> Result<Seen, String> {
    let mut rows = Located::open(path)?;
    let metadata = rows.metadata();
    let mut fields = Vec::new();
    for name in by {
        let Some(column) = metadata.column(name) else {
            return Err(format!("{}: there is no variable {name}", path.display()));
        };
        let variable = &metadata.variables[column];
        let slot = Slot {
            kind: variable.kind,
            offset: metadata.layout.offsets[column],
            length: variable.length,
            big_endian: metadata.endian == Endian::Big,
        };
        fields.push(KeyField {
            slot,
            descending: false,
        });
    }
    let key = SortKey::new(fields);
    let mut hasher = RowHasher::new(&metadata.variables, &metadata.layout);
    let mut unsorted = None;
    let mut last: Vec<u8> = Vec::new();
    while rows.advance()? {
        if rows.number().is_multiple_of(ROWS_AT_A_TIME) && stopped() {
            break;
        }
        let row = rows.row();
        if !by.is_empty() {
            let in_order = rows.number() == 1
                || match order {
                    Order::Ties => key.compare(&last, row) != Ordering::Greater,
                    Order::NoTies => key.compare(&last, row) == Ordering::Less,
                };
            if !in_order {
                unsorted.get_or_insert_with(|| rows.place());
            }
            last.clear();
            last.extend_from_slice(row);
        }
        hasher.add(row);
    }
    Ok(Seen {
        unsorted,
        hash: hasher.hash(),
    })
}

/// Compares a staged file with what was staged, for data that jobs read in part or as text, so that the hashes of what
/// they read cannot tell: its length, and its rows by their hash. What is wrong.
pub fn as_staged(path: &Path, staged: &Staged, stopped: &dyn Fn() -> bool) -> Option<String> {
    // From storage, as far as the file system gives its pages up.
    let _ = cache::evict(path);
    let bytes = std::fs::metadata(path).map(|found| found.len());
    let bytes = bytes.unwrap_or_default();
    let rows = Located::open(path).map(|rows| rows.metadata().rows);
    match rows {
        Err(message) => Some(message),
        Ok(rows) if (rows, bytes) != (staged.rows, staged.file_bytes) => Some(format!(
            "{}: it is not as it was staged: {rows} rows in {bytes} bytes instead of {} in {}; jobs may \
             only read IN",
            path.display(),
            staged.rows,
            staged.file_bytes
        )),
        Ok(_) => match read_until(path, &[], Order::Ties, stopped) {
            Err(message) => Some(message),
            Ok(_) if stopped() => None,
            Ok(seen) if format!("{:016x}", seen.hash.sum) != staged.row_hash => {
                Some(format!("{}: its rows are not those staged", path.display()))
            }
            Ok(_) => staged
                .index_file
                .as_ref()
                .and_then(|staged| index_as_staged(&path.with_extension("sas7bndx"), staged)),
        },
    }
}

/// The same of the file of its indexes: rows that a damaged one does not lead to are missed by whoever asks it.
fn index_as_staged(path: &Path, staged: &IndexFile) -> Option<String> {
    let _ = cache::evict(path);
    let file = path.display();
    match IndexFile::of(path) {
        Err(error) => Some(format!("{file}: {error}")),
        Ok(found) if found != *staged => Some(format!("{file}: its bytes are not those staged")),
        Ok(_) => None,
    }
}

/// Compares a staged text with its seed, line by line.
pub fn text_as_staged(
    path: &Path,
    dataset: &PlannedDataset,
    stopped: &dyn Fn() -> bool,
) -> Option<String> {
    let (name, text) = &dataset.recipe;
    let recipe = Recipe::parse(name, text).map_err(|error| error.to_string());
    let file = path.display();
    let wrong = recipe.and_then(|recipe| {
        let generator = Generator::new(&recipe, dataset.seed);
        let _ = cache::evict(path);
        let wrong = csv::first_wrong_line(path, &generator, dataset.rows, stopped);
        wrong.map_err(|error| error.to_string())
    });
    match wrong {
        Err(message) => Some(format!("{file}: {message}")),
        Ok(line) => line.map(|line| format!("{file}: line {line} is not as it was staged")),
    }
}

/// Compares a staged file row by row with its seed; names the first row that differs.
pub fn against_seed(path: &Path, dataset: &PlannedDataset) -> Result<Option<String>, String> {
    let (name, text) = &dataset.recipe;
    let recipe = Recipe::parse(name, text).map_err(|error| error.to_string())?;
    let generator = Generator::new(&recipe, dataset.seed);
    let mut rows = Located::open(path)?;
    let mut expected = vec![0; generator.layout().row_bytes as usize];
    for number in 0..dataset.rows {
        if !rows.advance()? {
            return Ok(Some(format!(
                "{}: it ends after {number} rows",
                path.display()
            )));
        }
        let row = rows.row();
        generator.fill(number, &mut expected);
        if row == expected.as_slice() {
            continue;
        }
        let differs = row
            .iter()
            .zip(&expected)
            .position(|(left, right)| left != right);
        let at = u32::try_from(differs.unwrap_or_default()).unwrap_or(u32::MAX);
        let column = generator
            .variables()
            .iter()
            .zip(&generator.layout().offsets)
            .find_map(|(variable, offset)| {
                (*offset..*offset + variable.length)
                    .contains(&at)
                    .then_some(&variable.name)
            });
        let column = column.map_or("the padding", String::as_str);
        return Ok(Some(format!(
            "{}: {} differs from what was staged, first in {column} (byte {at} of the row)",
            path.display(),
            rows.place()
        )));
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
