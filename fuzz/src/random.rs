//! Random numbers, the same everywhere.

/// `SplitMix64`: every state is a good one, so that seed and iteration number together are enough
/// to make an input again.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of one iteration of a run.
    pub fn new(seed: u64, iteration: u64) -> Self {
        let mut first = Self(seed);
        let start = first.number();
        let mut second = Self(start ^ iteration);
        Self(second.number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, or 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u64;
        usize::try_from(self.number() % limit).unwrap_or(0)
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.number().to_le_bytes()[7]
    }

    /// A small number mostly, a large one at times, at most `limit`.
    pub fn skewed(&mut self, limit: usize) -> usize {
        let bits = self.below(usize::BITS as usize - limit.leading_zeros() as usize + 1);
        self.below(1 << bits).min(limit)
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
