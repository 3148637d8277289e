//! Blocks that are there more than once, counted in bounded memory.
//!
//! Each block is known by its hash. While there are few, all are kept. When there are more than the limit,
//! only hashes whose last bits are zero stay, one bit more each time: which blocks stay depends on nothing
//! but their hashes, so that those that stay are a fair sample of the different blocks, and each is counted
//! wherever it is (Gibbons, "Distinct sampling for highly-accurate answers to distinct values queries", VLDB
//! 2001; for deduplication: Harnik et al., "Estimating unseen deduplication", FAST 2016).

use std::collections::HashMap;

use super::chunk::Left;

/// A block as it was met.
#[derive(Debug, Clone, Copy)]
pub struct Met {
    /// Its hash.
    pub hash: u64,
    /// Its bytes.
    pub bytes: u32,
    /// What is left of each of its bytes, if its chunk was compressed, and for how many chunks that one
    /// stands.
    pub shares: Option<(Shares, f64)>,
}

/// What is left of each byte of a chunk, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    /// After deflate.
    pub deflate: f64,
    /// After deflate, as storage gives out space.
    pub deflate_stored: f64,
    /// After LZ4.
    pub lz4: f64,
    /// After LZ4, as storage gives out space.
    pub lz4_stored: f64,
}

impl Shares {
    /// Those of a chunk of so many bytes.
    pub fn of(left: Left, bytes: usize) -> Self {
        let share = |left: usize| left as f64 / bytes.max(1) as f64;
        Self {
            deflate: share(left.deflate),
            deflate_stored: share(left.deflate_stored),
            lz4: share(left.lz4),
            lz4_stored: share(left.lz4_stored),
        }
    }

    /// Adds `weight` times another.
    pub fn add(&mut self, other: Self, weight: f64) {
        self.deflate += other.deflate * weight;
        self.deflate_stored += other.deflate_stored * weight;
        self.lz4 += other.lz4 * weight;
        self.lz4_stored += other.lz4_stored * weight;
    }

    /// The mean, if these are sums.
    #[must_use]
    pub fn divided(self, by: f64) -> Self {
        Self {
            deflate: self.deflate / by,
            deflate_stored: self.deflate_stored / by,
            lz4: self.lz4 / by,
            lz4_stored: self.lz4_stored / by,
        }
    }
}

/// What is known of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    times: u64,
    bytes: u32,
    /// Sum of the weights of its compressed chunks.
    weight: f64,
    /// Sum of what was left, times weight.
    shares: Shares,
}

/// Blocks of one size.
#[derive(Debug)]
pub struct Blocks {
    known: HashMap<u64, Known>,
    /// Only hashes with so many zeros at the end are kept.
    zeros: u32,
    limit: usize,
}

/// What was found out about blocks of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distinct {
    /// Bytes of different blocks.
    pub bytes: f64,
    /// One in so many of the different blocks was kept; 1 = all, so that the count is exact.
    pub one_in: u64,
    /// What compression leaves of each byte of different blocks, if any of them was compressed.
    pub shares: Option<Shares>,
}

impl Blocks {
    /// None yet; never more than `limit` are kept.
    pub fn new(limit: usize) -> Self {
        Self {
            known: HashMap::new(),
            zeros: 0,
            limit: limit.max(1),
        }
    }

    /// Counts a block.
    pub fn add(&mut self, block: &Met) {
        if block.hash.trailing_zeros() < self.zeros {
            return;
        }
        let known = self.known.entry(block.hash).or_default();
        known.times += 1;
        known.bytes = block.bytes;
        if let Some((shares, weight)) = block.shares {
            known.weight += weight;
            known.shares.add(shares, weight);
        }
        while self.known.len() > self.limit && self.zeros < 63 {
            self.zeros += 1;
            let zeros = self.zeros;
            self.known.retain(|hash, _| hash.trailing_zeros() >= zeros);
        }
    }

    /// What was found out.
    pub fn distinct(&self) -> Distinct {
        let one_in = 1u64 << self.zeros;
        let mut hashes: Vec<(&u64, &Known)> = self.known.iter().collect();
        // Sums in one order give the same figures each time.
        hashes.sort_unstable_by_key(|(hash, _)| **hash);
        let mut kept = 0.0;
        let (mut weights, mut shares) = (0.0, Shares::default());
        for (_, block) in hashes {
            let bytes = f64::from(block.bytes);
            kept += bytes;
            // A block that is there ten times is met ten times as often by a sample; it is stored once.
            let once = bytes / block.times as f64;
            weights += block.weight * once;
            shares.add(block.shares, once);
        }
        Distinct {
            bytes: kept * one_in as f64,
            one_in,
            shares: (weights > 0.0).then(|| shares.divided(weights)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Stream;

    fn met(hash: u64) -> Met {
        Met {
            hash,
            bytes: 8192,
            shares: None,
        }
    }

    #[test]
    fn few_blocks_are_counted_exactly() {
        let mut blocks = Blocks::new(10);
        for hash in [1, 2, 3, 2, 1, 1, 6] {
            blocks.add(&met(hash));
        }
        let distinct = blocks.distinct();
        assert_eq!((distinct.one_in, distinct.shares), (1, None));
        assert!((distinct.bytes - 4.0 * 8192.0).abs() < 1e-9);
    }

    #[test]
    fn many_blocks_are_sampled_within_the_limit() {
        let mut blocks = Blocks::new(1 << 12);
        let stream = Stream::new(3);
        // 200,000 different blocks, each three times.
        for round in 0..3 {
            for index in 0..200_000u64 {
                blocks.add(&met(stream.word((index * 7 + round) % 200_000)));
                assert!(blocks.known.len() <= 1 << 12);
            }
        }
        let distinct = blocks.distinct();
        assert!(distinct.one_in >= 64);
        let off = distinct.bytes / (200_000.0 * 8192.0) - 1.0;
        // Three standard errors of a sample of about 3,000.
        assert!(off.abs() < 0.055, "{off}");
        assert!(blocks.known.values().all(|block| block.times == 3));
    }

    #[test]
    fn what_is_there_often_is_compressed_once() {
        let mut blocks = Blocks::new(100);
        let share = |share: f64| Shares {
            deflate: share,
            ..Shares::default()
        };
        // Nine times a block that shrinks to an eighth, once one that stays as it is.
        for hash in [1u64; 9] {
            let shares = Some((share(0.125), 1.0));
            blocks.add(&Met {
                shares,
                ..met(hash)
            });
        }
        let shares = Some((share(1.0), 1.0));
        blocks.add(&Met { shares, ..met(2) });
        let left = blocks.distinct().shares.unwrap();
        assert!((left.deflate - 0.5625).abs() < 1e-12, "{left:?}");
    }
}
