//! What is known of the file of a staged data set's indexes: a damaged one hides rows.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use base::rowhash::hash_bytes;
use serde::{Deserialize, Serialize};

/// Read at once, bytes.
const BLOCK: usize = 1 << 20;

/// Length and hash of an index file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexFile {
    /// Length, bytes.
    pub bytes: u64,
    /// Hash of the hashes of its blocks, hexadecimal.
    pub hash: String,
}

impl IndexFile {
    /// Reads the file.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut block = Vec::with_capacity(BLOCK);
        let (mut bytes, mut hash) = (0, 0_u64);
        loop {
            block.clear();
            let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
            if read == 0 {
                break;
            }
            bytes += read as u64;
            let pair = [hash.to_le_bytes(), hash_bytes(&block).to_le_bytes()];
            hash = hash_bytes(pair.as_flattened());
        }
        let hash = format!("{hash:016x}");
        Ok(Self { bytes, hash })
    }
}
