//! Proof that no data were lost: every output is read back, must be sorted and must hold the same
//! multiset of rows as was staged; when it does not, input and output are compared with the seed and
//! the first wrong row is named.

pub mod checks;

use std::cmp::Ordering;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use base::rowhash::RowHash;
use engine::dataset::hash::RowHasher;
use engine::expr::Slot;
use engine::sort::{KeyField, SortKey};
use recipe::{Generator, Recipe};
use sas7bdat::{Endian, Reader};

use crate::plan::PlannedDataset;
use crate::stage::Staged;

/// Whether rows of the same key are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Yes.
    Ties,
    /// No: each key comes once.
    NoTies,
}

/// Checks that `path` is in the order of `by` and, if it is known, holds the `expected` rows. Returns
/// what is wrong.
pub fn sorted_same_rows(
    path: &Path,
    by: &[String],
    order: Order,
    expected: Option<RowHash>,
) -> Vec<String> {
    match read_sorted(path, by, order) {
        Err(message) => vec![message],
        Ok(Seen { unsorted_row, hash }) => {
            let mut findings = Vec::new();
            let file = path.display();
            if let Some(row) = unsorted_row {
                findings.push(format!(
                    "{file}: row {row} is not in the order of {}",
                    by.join(" ")
                ));
            }
            let expected = expected.unwrap_or(hash);
            if hash.rows != expected.rows {
                let (there, wanted) = (hash.rows, expected.rows);
                findings.push(format!("{file}: {there} rows instead of {wanted}"));
            } else if hash != expected {
                findings.push(format!(
                    "{file}: the rows are not those of the input (hash {:016x} instead of {:016x})",
                    hash.sum, expected.sum
                ));
            }
            findings
        }
    }
}

struct Seen {
    unsorted_row: Option<u64>,
    hash: RowHash,
}

/// Reads all rows.
fn read_rows(path: &Path) -> Result<RowHash, String> {
    read_sorted(path, &[], Order::Ties).map(|seen| seen.hash)
}

fn read_sorted(path: &Path, by: &[String], order: Order) -> Result<Seen, String> {
    let explain = |error: sas7bdat::Error| format!("{}: failed to {error}", path.display());
    let mut reader = open(path)?;
    let metadata = reader.metadata();
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
    let mut hasher = RowHasher::new(&metadata.variables, metadata.layout.row_bytes);
    let mut unsorted_row = None;
    let mut rows = 0u64;
    let mut last: Vec<u8> = Vec::new();
    while let Some(row) = reader.next_row().map_err(explain)? {
        if !by.is_empty() {
            let in_order = rows == 0
                || match order {
                    Order::Ties => key.compare(&last, row) != Ordering::Greater,
                    Order::NoTies => key.compare(&last, row) == Ordering::Less,
                };
            if !in_order {
                unsorted_row.get_or_insert(rows + 1);
            }
            last.clear();
            last.extend_from_slice(row);
        }
        hasher.add(row);
        rows += 1;
    }
    Ok(Seen {
        unsorted_row,
        hash: hasher.hash(),
    })
}

/// Compares the length of a staged file and the rows it says it has with what was staged: for data that
/// jobs read in part, so that hashes cannot tell.
pub fn as_staged(path: &Path, staged: &Staged) -> Option<String> {
    let bytes = std::fs::metadata(path).map(|found| found.len());
    let bytes = bytes.unwrap_or_default();
    let rows = open(path).map(|reader| reader.metadata().rows);
    match rows {
        Err(message) => Some(message),
        Ok(rows) if (rows, bytes) != (staged.rows, staged.file_bytes) => Some(format!(
            "{}: it is not as it was staged: {rows} rows in {bytes} bytes instead of {} in {}; jobs may \
             only read IN",
            path.display(),
            staged.rows,
            staged.file_bytes
        )),
        Ok(_) => None,
    }
}

/// Compares a staged file row by row with its seed; names the first row that differs.
pub fn against_seed(path: &Path, dataset: &PlannedDataset) -> Result<Option<String>, String> {
    let explain = |error: sas7bdat::Error| format!("{}: failed to {error}", path.display());
    let (name, text) = &dataset.recipe;
    let recipe = Recipe::parse(name, text).map_err(|error| error.to_string())?;
    let generator = Generator::new(&recipe, dataset.seed);
    let mut reader = open(path)?;
    let mut expected = vec![0; generator.layout().row_bytes as usize];
    for number in 0..dataset.rows {
        let Some(row) = reader.next_row().map_err(explain)? else {
            return Ok(Some(format!(
                "{}: it ends after {number} rows",
                path.display()
            )));
        };
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
            "{}: row {} differs from what was staged, first in {column} (byte {at} of the row)",
            path.display(),
            number + 1
        )));
    }
    Ok(None)
}

fn open(path: &Path) -> Result<Reader<FileSource>, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Reader::open(FileSource(file)).map_err(|error| format!("{}: failed to {error}", path.display()))
}

struct FileSource(File);

impl sas7bdat::Source for FileSource {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.0.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
}
