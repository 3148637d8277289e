//! What is accumulated of one variable in one group.
//!
//! Moments are taken about a shift that follows the mean, so that a small spread about a large mean
//! keeps its digits, and no row costs a division.

/// Moments are taken about smaller values only, so that no distance overflows.
pub(super) const SHIFT_MAX: f64 = 1e150;

/// How much is accumulated: more than is asked for costs time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// Counts, sum, extremes.
    Sums,
    /// Also squares: variance and what follows from it.
    Squares,
    /// Also third and fourth powers.
    Powers,
}

impl Depth {
    /// The highest power whose sum is kept.
    pub(super) const fn powers(self) -> usize {
        match self {
            Self::Sums => 0,
            Self::Squares => 2,
            Self::Powers => 4,
        }
    }
}

/// Sums of one variable in one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    /// Values that are not missing, with FREQ.
    pub(super) n: f64,
    /// Missing values, with FREQ.
    pub(super) missing: f64,
    /// Sum of weights.
    pub(super) weights: f64,
    /// Weighted sum.
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) shift: f64,
    /// Weighted sums of powers of the distance to the shift.
    pub(super) first: f64,
    pub(super) second: f64,
    pub(super) third: f64,
    pub(super) fourth: f64,
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            n: 0.0,
            missing: 0.0,
            weights: 0.0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            shift: 0.0,
            first: 0.0,
            second: 0.0,
            third: 0.0,
            fourth: 0.0,
        }
    }
}

impl Cell {
    /// Bytes of a stored cell.
    pub(super) const BYTES: usize = 11 * 8;

    /// Writes the cell to [`Self::BYTES`] bytes.
    pub(super) fn store(&self, bytes: &mut [u8]) {
        let Self {
            n,
            missing,
            weights,
            sum,
            min,
            max,
            shift,
            first,
            second,
            third,
            fourth,
        } = *self;
        let fields = [
            n, missing, weights, sum, min, max, shift, first, second, third, fourth,
        ];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
    }

    /// Reads a stored cell.
    pub(super) fn load(bytes: &[u8]) -> Self {
        let mut fields = bytes
            .chunks_exact(8)
            .filter_map(|field| field.first_chunk().copied().map(f64::from_le_bytes));
        let mut next = || fields.next().unwrap_or_default();
        Self {
            n: next(),
            missing: next(),
            weights: next(),
            sum: next(),
            min: next(),
            max: next(),
            shift: next(),
            first: next(),
            second: next(),
            third: next(),
            fourth: next(),
        }
    }

    /// Takes the moments about the mean.
    pub(super) fn recentre(&mut self) {
        if self.weights > 0.0 {
            self.shift_to(near(self.center(), self.spread()));
        }
    }

    /// The mean, near enough to take moments about it.
    fn center(&self) -> f64 {
        self.shift + self.first / self.weights
    }

    /// The standard deviation, roughly.
    fn spread(&self) -> f64 {
        (self.css().unwrap_or_default() / self.weights).sqrt()
    }

    /// Takes the moments about another point.
    fn shift_to(&mut self, shift: f64) {
        let by = shift - self.shift;
        if !by.is_finite() || by == 0.0 || shift.abs() > SHIFT_MAX {
            return;
        }
        let Self {
            first,
            second,
            third,
            fourth,
            weights,
            ..
        } = *self;
        self.shift = shift;
        self.first = first - weights * by;
        self.second = second - by * (2.0 * first - weights * by);
        self.third = third - by * (3.0 * second - by * (3.0 * first - weights * by));
        self.fourth =
            fourth - by * (4.0 * third - by * (6.0 * second - by * (4.0 * first - weights * by)));
    }

    /// Adds all that another cell has seen.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut other = *other;
        if self.n == 0.0 {
            let missing = self.missing;
            *self = other;
            self.missing += missing;
            return;
        }
        if other.n > 0.0 && self.weights > 0.0 && other.weights > 0.0 {
            // About the common mean, so that neither loses digits to the other's place.
            let both = self.weights + other.weights;
            let (center, other_center) = (self.center(), other.center());
            let common = (center * self.weights + other_center * other.weights) / both;
            let apart = (center - other_center).abs();
            let common = near(common, self.spread().max(other.spread()).max(apart));
            self.shift_to(common);
            other.shift_to(common);
        } else {
            other.shift_to(self.shift);
        }
        self.n += other.n;
        self.missing += other.missing;
        self.weights += other.weights;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.first += other.first;
        self.second += other.second;
        self.third += other.third;
        self.fourth += other.fourth;
    }

    /// The mean; with [`Depth::Sums`] from the plain sum.
    pub(super) fn mean(&self, depth: Depth) -> Option<f64> {
        if self.n == 0.0 || self.weights <= 0.0 {
            return None;
        }
        let plain = self.sum / self.weights;
        if depth == Depth::Sums || !plain.is_finite() {
            return Some(plain);
        }
        // The moments tell what the plain sum lost; where it lost nothing it is the better rounded.
        let rest = self.first - self.weights * (plain - self.shift);
        Some(plain + rest / self.weights)
    }

    /// Weighted sum of squares about the mean.
    pub(super) fn css(&self) -> Option<f64> {
        let about = (self.n > 0.0 && self.weights > 0.0)
            .then(|| self.second - self.first * self.first / self.weights)?;
        Some(about.max(0.0))
    }

    /// Weighted sum of squares about zero.
    pub(super) fn uss(&self) -> Option<f64> {
        (self.n > 0.0).then(|| {
            let mut about = *self;
            about.shift_to(0.0);
            about.second
        })
    }

    /// Sums of third and fourth powers about the mean.
    pub(super) fn powers(&self) -> Option<(f64, f64)> {
        let mean = self.mean(Depth::Powers)?;
        let mut about = *self;
        about.shift_to(mean);
        Some((about.third, about.fourth))
    }
}

/// A point near another one, on a grid that is fine against the spread of the values and whose steps are
/// a power of two: whole numbers are a whole number of steps away from it, and sums of that are exact.
fn near(point: f64, spread: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let step = f64::from_bits(spread.to_bits() & EXPONENT) / 4096.0;
    let steps = (point / step).round();
    if step.is_normal() && steps.is_finite() {
        steps * step
    } else {
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::means::cells::Cells;

    fn cell(values: &[f64]) -> Cell {
        Cells::of(values).cell(0, 0)
    }

    fn close(left: f64, right: f64, digits: i32) {
        let error = ((left - right) / right).abs();
        assert!(error < 10f64.powi(-digits), "{left} is not {right}");
    }

    /// `NumAcc4` of NIST's reference data sets: 1001 values about ten million, certified deviation 0.1.
    #[test]
    fn a_small_spread_about_a_large_mean_keeps_its_digits() {
        let mut values = vec![10_000_000.2];
        for _ in 0..500 {
            values.extend([10_000_000.1, 10_000_000.3]);
        }
        let cell = cell(&values);
        close(cell.mean(Depth::Powers).unwrap(), 10_000_000.2, 15);
        close((cell.css().unwrap() / 1000.0).sqrt(), 0.1, 8);
    }

    #[test]
    fn a_first_value_far_away_does_not_spoil_the_rest() {
        let mut values = vec![1e9];
        values.extend((0..100_000).map(|number| f64::from(number % 7)));
        let cell = cell(&values);
        // By whole numbers: the sum is 1,000,299,995; that of the squares 10^18 + 1,299,965.
        let mean = 1_000_299_995.0 / 100_001.0;
        close(cell.mean(Depth::Powers).unwrap(), mean, 14);
        close(cell.css().unwrap(), 999_989_994_100_559_000.0, 11);
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let values: Vec<f64> = (0..1000)
            .map(|number| f64::from(number * 7919 % 1009) + 1e6)
            .collect();
        let whole = cell(&values);
        for at in [0, 1, 17, 500, 999, 1000] {
            let mut left = cell(&values[..at]);
            left.merge(&cell(&values[at..]));
            assert_eq!(
                (left.n, left.min, left.max),
                (whole.n, whole.min, whole.max)
            );
            close(left.css().unwrap(), whole.css().unwrap(), 12);
            close(left.uss().unwrap(), whole.uss().unwrap(), 12);
            let (third, fourth) = left.powers().unwrap();
            let (whole_third, whole_fourth) = whole.powers().unwrap();
            assert!((third - whole_third).abs() < 1e-6 * whole_fourth.abs());
            close(fourth, whole_fourth, 9);
        }
    }

    /// The moments tell the sum; one that is known exactly must come out so, also of merged parts.
    #[test]
    fn sums_of_whole_numbers_are_exact() {
        for (offset, modulus) in [(0, 7), (1_000_003, 1009), (-5, 2), (1 << 40, 65_537)] {
            let whole: Vec<i64> = (0..20_000).map(|n| offset + n * 7919 % modulus).collect();
            let values: Vec<f64> = whole.iter().map(|value| *value as f64).collect();
            let sum = whole.iter().sum::<i64>() as f64;
            assert_eq!(cell(&values).sum.to_bits(), sum.to_bits());
            let mut parts = values.chunks(37).map(cell);
            let mut merged = parts.next().unwrap();
            parts.for_each(|part| merged.merge(&part));
            let told = merged.first + merged.weights * merged.shift;
            assert_eq!(told.to_bits(), sum.to_bits());
        }
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow_where_their_sum_does_not() {
        let values = [f64::MAX, -f64::MAX, 1e150, 1.0, -1e150];
        assert!((cell(&values).sum).abs() <= 1.0);
    }

    #[test]
    fn nothing_has_no_mean() {
        let cell = Cell::default();
        assert_eq!(
            (cell.mean(Depth::Squares), cell.css(), cell.uss()),
            (None, None, None)
        );
    }
}
