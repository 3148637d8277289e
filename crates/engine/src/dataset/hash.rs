//! Hashes of rows in one form, whatever the data set they lie in: as an uncompressed data set would
//! hold them. Compressed rows lack the zero bytes that pad uncompressed ones.

use base::rowhash::{RowHash, hash_bytes};
use sas7bdat::{Compression, Layout, Variable};

/// A running hash of the rows of one data set.
#[derive(Debug, Clone)]
pub struct RowHasher {
    hash: RowHash,
    /// A padded row; empty if rows are padded already.
    padded: Vec<u8>,
}

impl RowHasher {
    /// For rows of `row_bytes` of a data set with these variables.
    pub fn new(variables: &[Variable], row_bytes: u32) -> Self {
        let whole = Layout::new(variables, Compression::None).row_bytes;
        let padded = if row_bytes < whole {
            vec![0; whole as usize]
        } else {
            Vec::new()
        };
        Self {
            hash: RowHash::default(),
            padded,
        }
    }

    /// Adds a row.
    #[inline]
    pub fn add(&mut self, row: &[u8]) {
        if self.padded.is_empty() {
            self.hash.add(row);
            return;
        }
        self.padded[..row.len()].copy_from_slice(row);
        self.hash.add(&self.padded);
    }

    /// The hash of a row that is not added.
    pub fn hash_of(&mut self, row: &[u8]) -> u64 {
        if self.padded.is_empty() {
            return hash_bytes(row);
        }
        self.padded[..row.len()].copy_from_slice(row);
        hash_bytes(&self.padded)
    }

    /// The hash so far.
    pub const fn hash(&self) -> RowHash {
        self.hash
    }
}
