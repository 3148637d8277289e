//! A hash of a multiset of rows: the sum (mod 2^64) of a 64-bit hash per row, so that the order of
//! rows does not matter but every lost, doubled or changed row does.

use xxhash_rust::xxh3::xxh3_64;

/// XXH3-64 of some bytes, for tables in memory.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Running hash and count of a multiset of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowHash {
    /// Sum of the rows' XXH3-64 hashes, mod 2^64.
    pub sum: u64,
    /// Rows added.
    pub rows: u64,
}

impl RowHash {
    /// Adds one row.
    #[inline]
    pub fn add(&mut self, row: &[u8]) {
        self.sum = self.sum.wrapping_add(xxh3_64(row));
        self.rows += 1;
    }

    /// Adds all rows of another multiset.
    pub fn merge(&mut self, other: Self) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.rows += other.rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(rows: &[&[u8]]) -> RowHash {
        let mut hash = RowHash::default();
        for row in rows {
            hash.add(row);
        }
        hash
    }

    #[test]
    fn order_does_not_matter_but_every_row_does() {
        assert_eq!(hash(&[b"a", b"b"]), hash(&[b"b", b"a"]));
        assert_ne!(hash(&[b"a", b"b"]), hash(&[b"a", b"a"]));
        assert_ne!(hash(&[b"a", b"b"]), hash(&[b"a", b"b", b"b"]));
    }

    #[test]
    fn merging_equals_adding() {
        let mut left = hash(&[b"a"]);
        left.merge(hash(&[b"b", b"c"]));
        assert_eq!(left, hash(&[b"c", b"a", b"b"]));
    }
}
