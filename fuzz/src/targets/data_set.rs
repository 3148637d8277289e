//! Data sets: every way of reading one gives the same rows, or an error.

use std::hash::{DefaultHasher, Hash, Hasher};

use sas7bdat::check::check;
use sas7bdat::{Batch, Column, Error, Metadata, Reader, trim_blanks};

/// Rows whose hashes are kept to compare with those that a seek leads to.
const HASHES_MAX: usize = 10_000;

/// Opens a data set and reads it row by row, slab by slab, batch by batch and by seeking, and
/// checks it.
pub fn read_data_set(bytes: &[u8]) {
    let checked = check(bytes);
    let mut reader = match Reader::open(bytes) {
        Ok(reader) => reader,
        Err(error) => {
            says_what(&error);
            assert!(checked.is_err(), "what cannot be opened was checked");
            return;
        }
    };
    describes_rows(reader.metadata());
    let mut hashes = Hashes::default();
    let by_row = loop {
        match reader.next_row() {
            Ok(Some(row)) => hashes.add(row),
            Ok(None) => break true,
            Err(error) => {
                says_what(&error);
                break false;
            }
        }
    };
    if by_row {
        assert_eq!(hashes.count, reader.metadata().rows, "rows read");
        assert_eq!(reader.position(), hashes.count, "position at the end");
    }
    let (slabs, by_slab) = read_slabs(bytes);
    assert_eq!(by_row, by_slab, "rows and slabs end differently");
    if by_row {
        assert!(hashes == slabs, "rows and slabs differ");
    }
    compare_batches(bytes, by_row);
    if by_row {
        let violations = checked.ok();
        let clean = violations.as_ref().is_some_and(Vec::is_empty);
        // Where a page lost or gained a row, which row has which number depends on where one counts.
        let counted = violations.is_some_and(|all| all.iter().all(|one| one.rule != "rows"));
        seek(bytes, &hashes, clean, counted);
    }
}

fn says_what(error: &Error) {
    assert!(!error.to_string().is_empty(), "an error without a message");
}

/// Hashes of rows, and of all of them.
#[derive(Default, PartialEq)]
struct Hashes {
    all: u64,
    count: u64,
    rows: Vec<u64>,
}

impl Hashes {
    fn add(&mut self, row: &[u8]) {
        let hash = hash(row);
        if self.rows.len() < HASHES_MAX {
            self.rows.push(hash);
        }
        self.all = self.all.rotate_left(1).wrapping_add(hash);
        self.count += 1;
    }
}

fn hash(row: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

fn describes_rows(metadata: &Metadata) {
    let layout = &metadata.layout;
    assert_eq!(metadata.variables.len(), layout.offsets.len());
    for (variable, offset) in metadata.variables.iter().zip(&layout.offsets) {
        let end = u64::from(*offset) + u64::from(variable.length);
        assert!(
            end <= u64::from(layout.row_bytes),
            "{} ends behind its row",
            variable.name
        );
    }
}

/// All slabs; false if an error came.
fn read_slabs(bytes: &[u8]) -> (Hashes, bool) {
    let mut hashes = Hashes::default();
    let Ok(mut reader) = Reader::open(bytes) else {
        return (hashes, false);
    };
    loop {
        match reader.next_slab() {
            Ok(Some(rows)) => {
                assert_eq!(rows.bytes.len(), rows.count * rows.row_bytes);
                rows.iter().for_each(|row| hashes.add(row));
            }
            Ok(None) => return (hashes, true),
            Err(_) => return (hashes, false),
        }
    }
}

/// Every value of every batch is the one decoded from its row.
fn compare_batches(bytes: &[u8], whole: bool) {
    let (Ok(mut batches), Ok(mut slabs)) = (Reader::open(bytes), Reader::open(bytes)) else {
        return;
    };
    let columns: Vec<usize> = (0..batches.metadata().variables.len()).collect();
    let mut batch = Batch::default();
    let mut copy = Vec::new();
    loop {
        match batches.next_batch(&columns, &mut batch) {
            Ok(true) => {}
            Ok(false) => return assert!(whole, "the batches end without an error"),
            Err(_) => return assert!(!whole, "the batches end with an error"),
        }
        let Ok(Some(slab)) = slabs.next_slab() else {
            panic!("there are more batches than slabs");
        };
        assert_eq!(batch.rows, slab.count);
        copy.clear();
        copy.extend_from_slice(slab.bytes);
        let row_bytes = slab.row_bytes;
        for (number, column) in batch.columns.iter().enumerate() {
            let rows = copy.chunks_exact(row_bytes);
            match column {
                Column::Numeric(values) => {
                    assert_eq!(values.len(), batch.rows);
                    for (value, row) in values.iter().zip(rows) {
                        let other = slabs.decode_numeric(number, row);
                        assert_eq!(value.to_bits(), other.to_bits(), "column {number}");
                    }
                }
                Column::Character(texts) => {
                    assert_eq!(texts.len(), batch.rows);
                    for (text, row) in texts.iter().zip(rows) {
                        assert_eq!(text, trim_blanks(slabs.bytes(number, row)));
                    }
                }
            }
        }
    }
}

/// A seek leads to the row of that number if the pages hold as many rows as promised; in a file that
/// is not clean, an error may come instead.
fn seek(bytes: &[u8], hashes: &Hashes, clean: bool, counted: bool) {
    let Ok(mut reader) = Reader::open(bytes) else {
        return;
    };
    let rows = hashes.count;
    assert!(reader.seek_row(rows + 1).is_err(), "a seek beyond the end");
    let last = rows.saturating_sub(1);
    for wanted in [last, 0, rows / 2, rows / 3, last, rows, rows / 5, 1] {
        if wanted > rows {
            continue;
        }
        if let Err(error) = reader.seek_row(wanted) {
            says_what(&error);
            assert!(!clean, "seek to row {wanted}: {error}");
            return;
        }
        let row = match reader.next_row() {
            Ok(row) => row.map(hash),
            Err(error) => {
                says_what(&error);
                assert!(!clean, "row {wanted} after a seek: {error}");
                return;
            }
        };
        if !counted {
            continue;
        }
        assert_eq!(row.is_none(), wanted == rows, "row {wanted} after a seek");
        let expected = usize::try_from(wanted)
            .ok()
            .and_then(|wanted| hashes.rows.get(wanted));
        if let (Some(row), Some(expected)) = (row, expected) {
            assert_eq!(row, *expected, "row {wanted} after a seek is another one");
        }
    }
}
