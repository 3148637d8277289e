//! Which pieces of a file are read, and which of them are compressed.

use super::chunk::CHUNK_BYTES;

/// Bytes that are read at a time: eight chunks.
pub const PIECE_BYTES: u64 = 8 * CHUNK_BYTES as u64;

/// The pieces of a file. Those of the sample are spread evenly over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    bytes: u64,
    pieces: u64,
    sampled: u64,
}

impl Sample {
    /// Of a file; with `most`, about so many of its bytes and at least one piece.
    pub fn new(bytes: u64, most: Option<u64>) -> Self {
        let pieces = bytes.div_ceil(PIECE_BYTES);
        let sampled = most.map_or(pieces, |most| most.div_ceil(PIECE_BYTES).max(1).min(pieces));
        Self {
            bytes,
            pieces,
            sampled,
        }
    }

    /// Number of pieces of the file.
    pub const fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Number of pieces of the sample.
    pub const fn sampled(&self) -> u64 {
        self.sampled
    }

    /// The number of the piece at a place of the sample: the middle of equal parts.
    pub fn at(&self, place: u64) -> u64 {
        let middle = (2 * u128::from(place) + 1) * u128::from(self.pieces);
        u64::try_from(middle / (2 * u128::from(self.sampled.max(1)))).unwrap_or(u64::MAX)
    }

    /// Whether a piece is in the sample.
    pub fn holds(&self, piece: u64) -> bool {
        let near = u128::from(piece) * u128::from(self.sampled) / u128::from(self.pieces.max(1));
        let near = u64::try_from(near).unwrap_or(u64::MAX);
        let around = near.saturating_sub(1)..=near.saturating_add(1);
        around
            .into_iter()
            .any(|place| place < self.sampled && self.at(place) == piece)
    }

    /// Where a piece begins, and its length.
    pub fn range(&self, piece: u64) -> (u64, usize) {
        let start = piece * PIECE_BYTES;
        let length = (self.bytes - start).min(PIECE_BYTES);
        (start, usize::try_from(length).expect("a piece is small"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sample_has_as_many_pieces_as_it_says_evenly_spread(
            bytes in 0u64..1 << 34, most in prop::option::of(0u64..1 << 34),
        ) {
            let sample = Sample::new(bytes, most);
            let places: Vec<u64> = (0..sample.sampled()).map(|place| sample.at(place)).collect();
            prop_assert!(places.iter().all(|piece| *piece < sample.pieces()));
            let sampled = sample.sampled().max(1);
            let (least, most) = (sample.pieces() / sampled, sample.pieces().div_ceil(sampled));
            prop_assert!(places.windows(2).all(|two| (least..=most).contains(&(two[1] - two[0]))));
            let held: Vec<u64> = (0..sample.pieces()).filter(|piece| sample.holds(*piece)).collect();
            prop_assert_eq!(held, places);
            let lengths: u64 = (0..sample.pieces()).map(|piece| sample.range(piece).1 as u64).sum();
            prop_assert_eq!(lengths, bytes);
        }
    }
}
