//! Which chunks of a file are compressed.

use base::random::Stream;

/// Chunks of a sample at least, 4 MiB: fewer would tell nothing.
pub const LEAST_SAMPLED: u64 = 32;

/// The chunks that are compressed, of all files one after the other: they are cut into parts of nearly as many
/// chunks, and one chunk of each part is taken by chance, so that a pattern in the files cannot agree with one
/// in the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    chunks: u64,
    sampled: u64,
    stream: Stream,
}

impl Sample {
    /// About `share` of so many chunks, but not fewer than [`LEAST_SAMPLED`]. The seed decides which.
    pub fn new(chunks: u64, share: f64, seed: u64) -> Self {
        let wanted = (chunks as f64 * share.clamp(0.0, 1.0)).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not more than the chunks there are, and not negative"
        )]
        let wanted = wanted as u64;
        Self {
            chunks,
            sampled: wanted.max(LEAST_SAMPLED).min(chunks),
            stream: Stream::new(seed),
        }
    }

    /// Chunks of the sample.
    pub const fn sampled(&self) -> u64 {
        self.sampled
    }

    /// The first chunk of a part.
    fn start(&self, part: u64) -> u64 {
        let start = u128::from(part) * u128::from(self.chunks) / u128::from(self.sampled.max(1));
        u64::try_from(start).unwrap_or(u64::MAX)
    }

    /// The chunk that is taken of a part, and for how many it stands.
    pub fn at(&self, part: u64) -> (u64, u64) {
        let (start, end) = (self.start(part), self.start(part + 1));
        let of = end.saturating_sub(start).max(1);
        let by_chance = (u128::from(self.stream.word(part)) * u128::from(of)) >> 64;
        (start + u64::try_from(by_chance).unwrap_or(0), of)
    }

    /// For how many a chunk stands, if it is in the sample.
    pub fn weight(&self, chunk: u64) -> Option<u64> {
        let near = u128::from(chunk) * u128::from(self.sampled) / u128::from(self.chunks.max(1));
        let near = u64::try_from(near).unwrap_or(u64::MAX);
        let around = near.saturating_sub(1)..=near.saturating_add(1);
        let mut parts = around.into_iter().filter(|part| *part < self.sampled);
        parts.find_map(|part| {
            let (taken, of) = self.at(part);
            (taken == chunk).then_some(of)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sample_has_as_many_chunks_as_it_says_one_of_each_part(
            chunks in 0u64..1 << 14, share in 0.0f64..1.1, seed in 0u64..99,
        ) {
            let sample = Sample::new(chunks, share, seed);
            let taken: Vec<(u64, u64)> = (0..sample.sampled()).map(|part| sample.at(part)).collect();
            prop_assert!(taken.iter().all(|(chunk, _)| *chunk < chunks));
            prop_assert!(taken.windows(2).all(|two| two[0].0 < two[1].0));
            let stands: u64 = taken.iter().map(|(_, of)| of).sum();
            prop_assert_eq!(stands, chunks);
            let held: Vec<(u64, u64)> = (0..chunks)
                .filter_map(|chunk| Some((chunk, sample.weight(chunk)?)))
                .collect();
            prop_assert_eq!(held, taken);
        }

        #[test]
        fn each_chunk_of_a_part_is_taken_as_often(parts in 32u64..44, of in 1u64..9) {
            let mut times = vec![0u32; usize::try_from(of).unwrap()];
            for seed in 0..400 {
                let sample = Sample::new(parts * of, 1.0 / of as f64, seed);
                prop_assert_eq!(sample.sampled(), parts);
                for part in 0..parts {
                    times[usize::try_from(sample.at(part).0 - part * of).unwrap()] += 1;
                }
            }
            let expected = 400.0 * parts as f64 / of as f64;
            for times in times {
                // Five standard errors.
                prop_assert!((f64::from(times) - expected).abs() < 5.0 * expected.sqrt());
            }
        }
    }
}
