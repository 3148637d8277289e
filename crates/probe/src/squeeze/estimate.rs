//! Figures from samples, each with the interval that holds the true one in 95 of 100 samples.

use serde::Serialize;

use super::chunk::{KINDS, Left, least_share};

/// From fewer chunks nothing is told of others.
pub const LEAST_CHUNKS: u64 = 4;

/// The normal distribution's 97.5 % point.
const Z: f64 = 1.959_963_984_540_054;

/// A figure, and its 95 % confidence interval; both ends are the figure where nothing was left to chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    #[serde(skip)]
    is_exact: bool,
}

impl Estimate {
    /// What was counted.
    pub const fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
            is_exact: true,
        }
    }

    /// A share that is never 0, with a standard error of so many degrees of freedom: its logarithm is what is
    /// nearly normal, so that neither end is 0; nothing is less than `least`.
    pub fn share(value: f64, error: f64, freedom: f64, least: f64) -> Self {
        let factor = (student(freedom) * error / value).exp();
        Self {
            value,
            low: (value / factor).max(least.min(value)),
            high: (value * factor).min(1.0),
            is_exact: false,
        }
    }

    /// With a standard error of so many degrees of freedom, within what is possible.
    pub fn new(value: f64, error: f64, freedom: f64, possible: (f64, f64)) -> Self {
        let half = student(freedom) * error;
        Self {
            value,
            low: (value - half).max(possible.0),
            high: (value + half).min(possible.1),
            is_exact: false,
        }
    }

    /// With an interval that begins at `low` at the latest.
    #[must_use]
    pub fn reaching(self, low: f64) -> Self {
        Self {
            low: self.low.min(low),
            ..self
        }
    }

    /// One of parts that are independent of each other or not: its ends are those of both.
    #[must_use]
    pub fn beside(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            value: of(self.value, other.value),
            low: of(self.low, other.low),
            high: of(self.high, other.high),
            is_exact: self.is_exact && other.is_exact,
        }
    }

    /// Whether it was counted.
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// A figure that grows with this one.
    #[must_use]
    pub fn rising(&self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            value: of(self.value),
            low: of(self.low),
            high: of(self.high),
            is_exact: self.is_exact,
        }
    }

    /// A figure that falls as this one grows.
    #[must_use]
    pub fn falling(&self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            value: of(self.value),
            low: of(self.high),
            high: of(self.low),
            is_exact: self.is_exact,
        }
    }
}

/// The 97.5 % point of Student's distribution, by its expansion about the normal one: within 0.01 from 7
/// degrees on.
fn student(freedom: f64) -> f64 {
    let (square, n) = (Z * Z, freedom.max(1.0));
    let first = (square + 1.0) / 4.0;
    let second = (5.0 * square * square + 16.0 * square + 3.0) / 96.0;
    let third = (3.0 * square.powi(3) + 19.0 * square * square + 17.0 * square - 15.0) / 384.0;
    Z * (1.0 + first / n + second / n.powi(2) + third / n.powi(3))
}

/// What is left of compressed chunks, and how far chunks differ.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// Chunks that were compressed.
    pub chunks: u64,
    /// Their bytes.
    pub compressed_bytes: u64,
    /// Sums over them of what they stand for: bytes, and their squares.
    bytes: f64,
    bytes_squares: f64,
    left: [f64; KINDS],
    left_squares: [f64; KINDS],
    products: [f64; KINDS],
}

impl Sums {
    /// Adds a chunk that stands for so many.
    pub fn add(&mut self, bytes: usize, left: &Left, weight: f64) {
        self.chunks += 1;
        self.compressed_bytes += bytes as u64;
        let bytes = bytes as f64 * weight;
        self.bytes += bytes;
        self.bytes_squares += bytes * bytes;
        for (kind, left) in left.iter().enumerate() {
            let left = f64::from(*left) * weight;
            self.left[kind] += left;
            self.left_squares[kind] += left * left;
            self.products[kind] += left * bytes;
        }
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.compressed_bytes += other.compressed_bytes;
        self.bytes += other.bytes;
        self.bytes_squares += other.bytes_squares;
        let pairs = [
            (&mut self.left, &other.left),
            (&mut self.left_squares, &other.left_squares),
            (&mut self.products, &other.products),
        ];
        for (sums, others) in pairs {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        }
    }

    /// What a kind of compression leaves of each byte, 0 to 1, of `all` chunks; none if fewer
    /// than [`LEAST_CHUNKS`] were compressed and there are more.
    ///
    /// The ratio of the sums estimates it. Its error comes from how far what is left of chunks departs from
    /// that ratio, as if every chunk were drawn from all of them: one of each part is never worse. Two chunks
    /// are added for the error alone, one that goes away and one that stays as it is: a few chunks that happen
    /// to be alike prove little of those not looked at.
    pub fn share(&self, kind: usize, all: u64) -> Option<Estimate> {
        let too_few = self.chunks < LEAST_CHUNKS.min(all);
        if self.chunks == 0 || too_few || self.bytes <= 0.0 {
            return None;
        }
        let share = self.left[kind] / self.bytes;
        if self.chunks >= all {
            return Some(Estimate::exact(share));
        }
        let n = self.chunks as f64;
        let squares = self.left_squares[kind] - 2.0 * share * self.products[kind]
            + share * share * self.bytes_squares;
        let mean = self.bytes / n;
        let alike = (share * share + (1.0 - share).powi(2)) * mean * mean;
        let variance = (squares.max(0.0) + alike) / (n - 1.0).max(1.0);
        let error = (n * variance).sqrt() / self.bytes;
        Some(Estimate::share(share, error, n - 1.0, least_share(kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk::CHUNK_BYTES;
    use super::super::sample::Sample;
    use super::*;
    use base::random::Stream;

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (freedom, point) in [(7.0, 2.3646), (10.0, 2.2281), (30.0, 2.0423), (1e9, 1.9600)] {
            assert!((student(freedom) - point).abs() < 0.01, "{freedom}");
        }
    }

    /// What is left of the chunks of some files: half noise and half zeros, in blocks and mixed; a slope; rare
    /// chunks that do not shrink; short chunks among long ones.
    fn files() -> Vec<Vec<(usize, f64)>> {
        let stream = Stream::new(9);
        let file = |left: &dyn Fn(u64) -> f64| -> Vec<(usize, f64)> {
            (0..1200).map(|at| (CHUNK_BYTES, left(at))).collect()
        };
        let short = |at: u64| {
            let bytes = if stream.unit(at) < 0.5 {
                4096
            } else {
                CHUNK_BYTES
            };
            (bytes, 0.2 + 0.6 * stream.unit(at + 5000))
        };
        vec![
            file(&|at| if at < 600 { 1.0 } else { 0.125 }),
            file(&|at| if stream.unit(at) < 0.5 { 1.0 } else { 0.01 }),
            file(&|at| at as f64 / 1200.0),
            file(&|at| if stream.unit(at) < 0.05 { 1.0 } else { 0.1 }),
            file(&|at| if at % 2 == 0 { 0.9 } else { 0.3 }),
            (0..1200).map(short).collect(),
        ]
    }

    /// Intervals hold the true figure in 95 of 100 samples or more: over all files, sizes of samples and
    /// seeds, and for each of them in nearly as many.
    #[test]
    fn the_interval_holds_the_true_share_as_often_as_it_says() {
        let (mut all_held, mut all) = (0u32, 0u32);
        for (number, file) in files().iter().enumerate() {
            let sum = |of: &dyn Fn(&(usize, f64)) -> f64| file.iter().map(of).sum::<f64>();
            let whole = |chunk: &(usize, f64)| (chunk.0 as f64 * chunk.1).round();
            let truth = sum(&whole) / sum(&|chunk| chunk.0 as f64);
            for share in [0.02, 0.1, 0.5] {
                let mut held = 0;
                for seed in 0..400 {
                    let sample = Sample::new(file.len() as u64, share, seed);
                    let mut sums = Sums::default();
                    for part in 0..sample.sampled() {
                        let (chunk, weight) = sample.at(part);
                        let chunk = &file[usize::try_from(chunk).unwrap()];
                        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                        let left = [whole(chunk) as u32; KINDS];
                        sums.add(chunk.0, &left, weight as f64);
                    }
                    let found = sums.share(0, file.len() as u64).unwrap();
                    held += u32::from((found.low..=found.high).contains(&truth));
                }
                // 400 trials of 95 %: 380, less three standard errors of 4.4.
                assert!(held >= 366, "file {number}, share {share}: {held} of 400");
                (all_held, all) = (all_held + held, all + 400);
            }
        }
        assert!(
            f64::from(all_held) >= 0.95 * f64::from(all),
            "{all_held} of {all}"
        );
    }

    #[test]
    fn a_few_chunks_that_are_alike_leave_a_doubt() {
        let mut sums = Sums::default();
        for _ in 0..8 {
            sums.add(CHUNK_BYTES, &[1000; KINDS], 100.0);
        }
        let found = sums.share(0, 800).unwrap();
        assert!(found.high > 0.2, "{found:?}");
        assert!(sums.share(0, 8).unwrap().is_exact());
        // However little is known, no method shrinks anything to nothing.
        for kind in 0..KINDS {
            let found = sums.share(kind, 800).unwrap();
            assert!(1.0 / found.low < 20_000.0, "{kind}: {found:?}");
        }
        let mut few = Sums::default();
        few.add(CHUNK_BYTES, &[1000; KINDS], 800.0);
        assert_eq!(few.share(0, 800), None);
    }
}
