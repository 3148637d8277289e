//! The triangle of many rows by their cross products: half the work of rotations, and no digits lost
//! that count, as it is done without where columns are close to depending on each other.

use super::BLOCK;
use super::pair::Pair;

/// Columns whose products with each other are computed at once: as many as registers hold sums of.
const TILE: usize = 3;

/// At least so much of a column's sum of squares must be left by those before it: as many digits of
/// the rest as this has are lost.
const LEFT: f64 = 1e-3;

/// Bits of a shift: few, so that differences from it are exact for data of few digits.
const SHIFT_BITS: u64 = !0 << 32;

/// Memory for cross products, used again and again.
pub(super) struct Products {
    columns: usize,
    /// The same, in whole tiles.
    padded: usize,
    /// Upper triangle, column by column.
    sums: Vec<f64>,
    /// A block less the shifts.
    block: Vec<f64>,
    shifts: Vec<f64>,
}

impl Products {
    pub(super) fn new(columns: usize) -> Self {
        let padded = columns.next_multiple_of(TILE);
        Self {
            columns,
            padded,
            sums: vec![0.0; padded * padded],
            block: vec![0.0; padded * BLOCK],
            shifts: vec![0.0; columns],
        }
    }

    /// The triangle of `rows` rows in blocks, column by column; column 0 is the intercept. `None` if a
    /// column is too close to depending on those before it.
    pub(super) fn triangle(&mut self, panel: &[f64], rows: usize) -> Option<Vec<f64>> {
        self.sums.fill(0.0);
        self.shift(panel, rows.min(BLOCK));
        let blocks = panel.chunks_exact(self.columns * BLOCK);
        for (number, block) in blocks.take(rows.div_ceil(BLOCK)).enumerate() {
            self.take(block, (rows - number * BLOCK).min(BLOCK));
        }
        let mut upper = self.root()?;
        // The shifts come back: they lie along the intercept.
        let first = upper[0];
        for (column, shift) in upper.chunks_exact_mut(self.columns).zip(&self.shifts).skip(1) {
            column[0] += shift * first;
        }
        Some(upper)
    }

    /// Close to the means, so that what is left of a column is about as large as its spread.
    fn shift(&mut self, panel: &[f64], rows: usize) {
        let mut columns = panel.chunks_exact(BLOCK).map(|column| &column[..rows]);
        let Some(intercept) = columns.next() else {
            return;
        };
        let products = |column: &[f64]| -> f64 {
            let pairs = intercept.iter().zip(column);
            pairs.map(|(left, right)| left * right).sum()
        };
        let weight = products(intercept);
        for (shift, column) in self.shifts[1..].iter_mut().zip(columns) {
            *shift = f64::from_bits((products(column) / weight).to_bits() & SHIFT_BITS);
        }
    }

    /// Adds the products of a block of which the first `rows` count.
    fn take(&mut self, block: &[f64], rows: usize) {
        let intercept = &block[..BLOCK];
        let columns = block.chunks_exact(BLOCK).zip(&self.shifts);
        for (own, (column, shift)) in self.block.chunks_exact_mut(BLOCK).zip(columns) {
            for ((own, value), root) in own.iter_mut().zip(column).zip(intercept) {
                *own = value - shift * root;
            }
            own[rows..].fill(0.0);
        }
        let height = self.padded;
        for (across, right) in self.block.chunks_exact(TILE * BLOCK).enumerate() {
            for (down, left) in self.block.chunks_exact(TILE * BLOCK).enumerate() {
                if down > across {
                    break;
                }
                let sums = tile(left, right);
                for (column, sums) in sums.iter().enumerate() {
                    let start = (across * TILE + column) * height + down * TILE;
                    for (cell, sum) in self.sums[start..start + TILE].iter_mut().zip(sums) {
                        *cell += sum;
                    }
                }
            }
        }
    }

    /// The root of the sums: the triangle whose columns have these products.
    fn root(&self) -> Option<Vec<f64>> {
        let height = self.columns;
        let mut upper = vec![0.0; height * height];
        for column in 0..height {
            let (done, own) = upper.split_at_mut(column * height);
            let sums = &self.sums[column * self.padded..][..=column];
            for (row, line) in done.chunks_exact(height).enumerate() {
                own[row] = (sums[row] - dot(&line[..row], &own[..row])) / line[row];
            }
            let rest = sums[column] - dot(&own[..column], &own[..column]);
            // Neither if the sums overflowed.
            if rest.is_nan() || rest.is_infinite() || rest <= LEFT * sums[column] {
                return None;
            }
            own[column] = rest.sqrt();
        }
        Some(upper)
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (left, right) = (left.chunks_exact(4), right.chunks_exact(4));
    let rest = left.remainder().iter().zip(right.remainder());
    let rest: f64 = rest.map(|(left, right)| left * right).sum();
    for (left, right) in left.zip(right) {
        for lane in 0..4 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Products of the columns of `left` with those of `right`, by the latter.
#[inline]
fn tile(left: &[f64], right: &[f64]) -> [[f64; TILE]; TILE] {
    let mut sums = [[Pair::of([0.0; 2]); TILE]; TILE];
    let (left, right) = (columns(left), columns(right));
    for row in 0..BLOCK / 2 {
        let left = left.map(|column| Pair::of(column[row]));
        for (sums, column) in sums.iter_mut().zip(right) {
            let right = Pair::of(column[row]);
            for (sum, left) in sums.iter_mut().zip(left) {
                *sum = sum.plus_product(left, right);
            }
        }
    }
    sums.map(|column| column.map(Pair::sum))
}

/// The columns of a tile, two rows at a time.
fn columns(cells: &[f64]) -> [&[[f64; 2]]; TILE] {
    std::array::from_fn(|column| {
        let cells = &cells[column * BLOCK..(column + 1) * BLOCK];
        &cells.as_chunks().0[..BLOCK / 2]
    })
}
