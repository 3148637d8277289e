//! Hashes of rows in one form, whatever the data set they lie in: as an uncompressed data set would
//! hold them, with zeros for padding. Compressed rows lack the padding, and what SAS leaves in it is
//! whatever its memory held.

use base::rowhash::{RowHash, hash_bytes};
use sas7bdat::{Compression, Layout, Variable};

/// A running hash of the rows of one data set.
#[derive(Debug, Clone)]
pub struct RowHasher {
    hash: RowHash,
    form: Form,
}

/// The one form of a row.
#[derive(Debug, Clone)]
struct Form {
    /// Bytes up to the end of the last value.
    values: usize,
    /// Bytes with the padding.
    whole: usize,
    /// A row that had to be padded; behind the values it stays zero.
    padded: Vec<u8>,
}

impl RowHasher {
    /// For rows of a data set with these variables in this layout.
    pub fn new(variables: &[Variable], layout: &Layout) -> Self {
        let places = variables.iter().zip(&layout.offsets);
        let ends = places.map(|(variable, offset)| offset.saturating_add(variable.length));
        let values = ends.max().unwrap_or(0).min(layout.row_bytes) as usize;
        let whole = Layout::new(variables, Compression::None).row_bytes as usize;
        let form = Form {
            values,
            whole: whole.max(values),
            padded: Vec::new(),
        };
        Self {
            hash: RowHash::default(),
            form,
        }
    }

    /// Adds a row.
    #[inline]
    pub fn add(&mut self, row: &[u8]) {
        self.hash.add(self.form.of(row));
    }

    /// The hash of a row that is not added.
    pub fn hash_of(&mut self, row: &[u8]) -> u64 {
        hash_bytes(self.form.of(row))
    }

    /// The hash so far.
    pub const fn hash(&self) -> RowHash {
        self.hash
    }
}

impl Form {
    /// The row in the one form: where it lies, if it has that form already.
    #[inline]
    fn of<'r>(&'r mut self, row: &'r [u8]) -> &'r [u8] {
        let zeros = row.get(self.values..self.whole);
        if zeros.is_some_and(|zeros| zeros.iter().all(|byte| *byte == 0)) {
            return &row[..self.whole];
        }
        self.padded.resize(self.whole, 0);
        self.padded[..self.values].copy_from_slice(&row[..self.values]);
        &self.padded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables whose values take 10 bytes, so that rows are padded to 16.
    fn variables() -> [Variable; 2] {
        [Variable::numeric("x"), Variable::character("c", 2)]
    }

    fn hash(row: &[u8]) -> u64 {
        let layout = Layout {
            offsets: vec![0, 8],
            row_bytes: u32::try_from(row.len()).unwrap(),
        };
        let mut hasher = RowHasher::new(&variables(), &layout);
        hasher.add(row);
        assert_eq!(hasher.hash_of(row), hasher.hash().sum);
        hasher.hash().sum
    }

    #[test]
    fn what_pads_a_row_does_not_count() {
        let values = b"12345678ab".as_slice();
        let zeros = [values, &[0; 6]].concat();
        let remnants = [values, &[0, 0, 7, 0, 0, 9]].concat();
        assert_eq!(hash(&zeros), hash_bytes(&zeros));
        assert_eq!(hash(&remnants), hash(&zeros));
        assert_eq!(hash(values), hash(&zeros));
        // A writer that aligns rows otherwise.
        assert_eq!(hash(&[values, &[3; 14]].concat()), hash(&zeros));
        assert_ne!(hash(&[&values[..9], &[0; 7]].concat()), hash(&zeros));
    }

    #[test]
    fn values_behind_a_gap_count() {
        let layout = Layout {
            offsets: vec![8, 30],
            row_bytes: 32,
        };
        let mut hasher = RowHasher::new(&variables(), &layout);
        let mut row = [7; 32];
        let before = hasher.hash_of(&row);
        row[31] = 8;
        assert_ne!(hasher.hash_of(&row), before);
    }
}
