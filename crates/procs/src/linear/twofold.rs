//! Numbers of twice the digits of a double, and reflections of a few rows with them.

use std::ops::{Add, Mul, Neg, Sub};

/// The sum of two doubles that do not overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Twofold(f64, f64);

impl Twofold {
    const ZERO: Self = Self(0.0, 0.0);

    fn sum(left: f64, right: f64) -> Self {
        let sum = left + right;
        let part = sum - left;
        Self(sum, (left - (sum - part)) + (right - part))
    }

    fn square_root(self) -> Self {
        if self.0 <= 0.0 {
            return Self::ZERO;
        }
        let root = self.0.sqrt();
        let rest = self - Self(root, 0.0) * Self(root, 0.0);
        Self::sum(root, rest.0 / (2.0 * root))
    }

    fn over(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self - other * Self(first, 0.0);
        let second = rest.0 / other.0;
        let rest = rest - other * Self(second, 0.0);
        Self::sum(first, second) + Self(rest.0 / other.0, 0.0)
    }
}

impl Add for Twofold {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = Self::sum(self.0, other.0);
        Self::sum(sum.0, sum.1 + self.1 + other.1)
    }
}

impl Neg for Twofold {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Sub for Twofold {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twofold {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -product);
        Self::sum(product, rest + self.0 * other.1 + self.1 * other.0)
    }
}

/// The sum of products.
fn dot(left: &[Twofold], right: &[Twofold]) -> Twofold {
    // Four sums at a time: each waits for its last addition only.
    let mut sums = [Twofold::ZERO; 4];
    let (left, right) = (left.chunks_exact(4), right.chunks_exact(4));
    let rest = left.remainder().iter().zip(right.remainder());
    for (sum, (left, right)) in sums.iter_mut().zip(rest) {
        *sum = *left * *right;
    }
    for (left, right) in left.zip(right) {
        for lane in 0..4 {
            sums[lane] = sums[lane] + left[lane] * right[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The triangle of `rows` rows of `columns` columns: `at` gives their elements, by row and column;
/// column by column, as long as the triangle is wide.
pub(super) fn triangle(rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut cells: Vec<Vec<Twofold>> = (0..columns)
        .map(|column| (0..rows).map(|row| Twofold(at(row, column), 0.0)).collect())
        .collect();
    for column in 0..columns.min(rows) {
        let (done, right) = cells.split_at_mut(column + 1);
        let own = &mut done[column][column..];
        let norm = dot(own, own).square_root();
        if norm.0 == 0.0 {
            continue;
        }
        let pivot = if own[0].0 > 0.0 { -norm } else { norm };
        own[0] = own[0] - pivot;
        let square = dot(own, own);
        for other in right {
            let other = &mut other[column..];
            let along = dot(own, other).over(square) * Twofold(2.0, 0.0);
            for (cell, own) in other.iter_mut().zip(&*own) {
                *cell = *cell - along * *own;
            }
        }
        own[0] = pivot;
        own[1..].fill(Twofold::ZERO);
    }
    let mut upper = vec![0.0; columns * columns];
    for (column, cells) in cells.iter().enumerate() {
        for (row, cell) in cells.iter().take(column + 1).enumerate() {
            upper[column * columns + row] = cell.0;
        }
    }
    upper
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products_keep_what_cancels() {
        for count in 1..12u32 {
            let left: Vec<Twofold> = (0..count)
                .map(|number| Twofold(f64::from(number) + 0.1, 0.0))
                .collect();
            let mut right = vec![Twofold(1e16, 0.0); left.len()];
            right[0] = Twofold(1.0, 0.0);
            let minus: Vec<Twofold> = right.iter().map(|one| -*one).collect();
            let rest = dot(&left, &right) + dot(&left, &minus);
            assert_eq!(rest, Twofold::ZERO, "{count}");
            let ones = vec![Twofold(1.0, 0.0); left.len()];
            let sum: f64 = (0..count).map(f64::from).sum();
            let rest = dot(&left, &ones).0 - sum - 0.1 * f64::from(count);
            assert!(rest.abs() < 1e-13, "{count}: {rest}");
        }
    }

    #[test]
    fn what_a_double_drops_is_kept() {
        let third = Twofold(1.0, 0.0).over(Twofold(3.0, 0.0));
        let rest = third * Twofold(3.0, 0.0) - Twofold(1.0, 0.0);
        assert!(rest.0.abs() < 1e-30, "{rest:?}");
        let root = Twofold(2.0, 0.0).square_root();
        let rest = root * root - Twofold(2.0, 0.0);
        assert!(rest.0.abs() < 1e-30, "{rest:?}");
    }
}
