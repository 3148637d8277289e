//! The triangle of many rows by their cross products: half the work of rotations, and no digits lost
//! that count, as it is done without where columns are close to depending on each other.

use super::{BLOCK, dot};

/// Columns whose products with each other are computed at once: as many as registers hold sums of.
const TILE: usize = 3;

/// Sums carried out side by side.
const LANES: usize = 2;

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
        let padded = Tiles::padded(columns);
        Self {
            columns,
            padded,
            sums: Vec::new(),
            block: Vec::new(),
            shifts: Vec::new(),
        }
    }

    /// The triangle of `rows` rows in blocks, column by column; column 0 is the intercept. `None` if a
    /// column is too close to depending on those before it.
    pub(super) fn triangle(&mut self, panel: &[f64], rows: usize) -> Option<Vec<f64>> {
        // Small groups never come here, and pay for no memory.
        self.sums.clear();
        self.sums.resize(self.padded * self.padded, 0.0);
        self.block.resize(self.padded * BLOCK, 0.0);
        self.shifts.resize(self.columns, 0.0);
        self.shift(panel, rows.min(BLOCK));
        let blocks = panel.chunks_exact(self.columns * BLOCK);
        for (number, block) in blocks.take(rows.div_ceil(BLOCK)).enumerate() {
            self.take(block, (rows - number * BLOCK).min(BLOCK));
        }
        let mut upper = self.root()?;
        // The shifts come back: they lie along the intercept.
        let first = upper[0];
        for (column, shift) in upper
            .chunks_exact_mut(self.columns)
            .zip(&self.shifts)
            .skip(1)
        {
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
        Tiles::add(&self.block, &mut self.sums);
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

/// Cross products of all columns of a block with each other.
pub(crate) struct Tiles;

impl Tiles {
    /// Columns in whole tiles.
    pub(crate) const fn padded(columns: usize) -> usize {
        columns.next_multiple_of(TILE)
    }

    /// Adds the products of the columns of `block`, which are whole tiles of columns of [`BLOCK`]
    /// rows, to the upper triangle of `sums`, column by column.
    pub(crate) fn add(block: &[f64], sums: &mut [f64]) {
        let height = block.len() / BLOCK;
        for (across, right) in block.chunks_exact(TILE * BLOCK).enumerate() {
            for (down, left) in block
                .chunks_exact(TILE * BLOCK)
                .take(across + 1)
                .enumerate()
            {
                let products = tile(left, right);
                for (column, products) in products.iter().enumerate() {
                    let start = (across * TILE + column) * height + down * TILE;
                    for (cell, lanes) in sums[start..start + TILE].iter_mut().zip(products) {
                        *cell += lanes[0] + lanes[1];
                    }
                }
            }
        }
    }
}

/// Sums of a tile: by the columns of the right, those of the left, and lanes.
type Sums = [[[f64; LANES]; TILE]; TILE];

/// Products of the columns of `left` with those of `right`.
// Not inlined: what becomes of the sums would lead the compiler to other pairs than the lanes.
#[inline(never)]
fn tile(left: &[f64], right: &[f64]) -> Sums {
    let mut sums = Sums::default();
    let (left, right) = (columns(left), columns(right));
    for row in 0..BLOCK / LANES {
        for (sums, right) in sums.iter_mut().zip(right) {
            for (sums, left) in sums.iter_mut().zip(left) {
                for lane in 0..LANES {
                    sums[lane] += left[row][lane] * right[row][lane];
                }
            }
        }
    }
    sums
}

/// The columns of a tile, their rows by lanes.
fn columns(cells: &[f64]) -> [&[[f64; LANES]]; TILE] {
    std::array::from_fn(|column| {
        let cells = &cells[column * BLOCK..(column + 1) * BLOCK];
        &cells.as_chunks().0[..BLOCK / LANES]
    })
}
