//! Seeded random streams addressed by position, so that any row of any column can be generated
//! alone: `value(i)` depends on the key and on `i` only, never on what was drawn before.
//!
//! The mixer is `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
//! OOPSLA 2014) used in counter mode. It is part of the contract "same seed, same bytes": a change
//! of any constant here changes every generated data set.

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Keeps the keys of seeds apart from the labels of children: without it, seed 1 and label 1 cancel
/// out. Fractional digits of the square root of 3.
const SEEDS: u64 = 0xBB67_AE85_84CA_A73B;

/// Finaliser of `SplitMix64`: a bijection of 64-bit words.
#[inline]
pub const fn mix(word: u64) -> u64 {
    let z = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A stream of 64-bit words addressed by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            key: mix(seed.wrapping_add(GOLDEN) ^ SEEDS),
        }
    }

    /// An independent stream below this one, told apart by `label` (a column number, a job number).
    #[must_use]
    pub const fn child(self, label: u64) -> Self {
        Self {
            key: mix(self.key ^ mix(label.wrapping_mul(GOLDEN).wrapping_add(1))),
        }
    }

    /// The word at `index`.
    #[inline]
    pub const fn word(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_mul(GOLDEN)))
    }

    /// A double in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(self, index: u64) -> f64 {
        // Signed, because that is one instruction where unsigned takes five; the value is the same.
        (self.word(index) >> 11).cast_signed() as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An integer in `0..bound`, by multiplication (bias below 2^-32 for bounds below 2^32).
    #[inline]
    pub const fn below(self, index: u64, bound: u64) -> u64 {
        ((self.word(index) as u128 * bound as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of `SplitMix64` seeded with 0, as printed by its reference implementation.
    #[test]
    fn mixer_is_splitmix64() {
        let outputs: Vec<u64> = (1..=3u64).map(|i| mix(i.wrapping_mul(GOLDEN))).collect();
        assert_eq!(
            outputs,
            [
                0xE220_A839_7B1D_CDAF,
                0x6E78_9E6A_A1B9_65F4,
                0x06C4_5D18_8009_454F
            ]
        );
    }

    #[test]
    fn any_position_is_reachable_alone_and_children_differ() {
        let stream = Stream::new(42);
        assert_eq!(stream.word(1_000_000), Stream::new(42).word(1_000_000));
        assert_ne!(stream.child(1).word(0), stream.child(2).word(0));
        assert_ne!(stream.word(0), Stream::new(43).word(0));
    }

    #[test]
    fn small_seeds_and_labels_do_not_cancel_out() {
        let mut keys = std::collections::BTreeSet::from([0]);
        for seed in 0..100 {
            let root = Stream::new(seed);
            assert!(keys.insert(root.key));
            for label in 0..100 {
                assert!(keys.insert(root.child(label).key), "{seed} {label}");
            }
        }
    }

    #[test]
    fn units_and_bounds_stay_in_range_and_spread() {
        let stream = Stream::new(7);
        let mean = (0..10_000).map(|i| stream.unit(i)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert!((0..10_000).all(|i| stream.below(i, 10) < 10));
    }
}
