//! The triangle of rows most of whose columns are zero, as classes make them, by their cross products:
//! they cost little where rotations fill every row up.

use super::{Triangle, dot};

/// At least so much of a column's sum of squares must be left by those before it: as many digits of
/// the rest as this has are lost.
const LEFT: f64 = 1e-3;

/// What is left of a column that depends on those before it: sums of so many products do not have
/// more digits.
const NOTHING: f64 = 1e-11;

/// Cross products of sparse rows.
pub(crate) struct Sparse {
    columns: usize,
    /// Upper triangle, column by column.
    sums: Vec<f64>,
}

impl Sparse {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            sums: vec![0.0; columns * columns],
        }
    }

    /// Takes a row in, `weight` times: the columns that are not zero, in ascending order, and their values.
    pub(crate) fn add(&mut self, weight: f64, row: &[(usize, f64)]) {
        for (place, (column, value)) in row.iter().enumerate() {
            let sums = &mut self.sums[column * self.columns..(column + 1) * self.columns];
            for (other, factor) in &row[..=place] {
                sums[*other] += weight * value * factor;
            }
        }
    }

    /// The triangle whose columns have these products: a column that depends on those before it has no
    /// row. `None` if a column comes close to that, and digits would be lost, or one that is not
    /// `structural` depends on others: whether it does cannot be told by cross products.
    pub(crate) fn triangle(self, structural: impl Fn(usize) -> bool) -> Option<Triangle> {
        let height = self.columns;
        let mut upper = self.sums;
        for column in 0..height {
            let (done, right) = upper.split_at_mut(column * height);
            let own = &mut right[..height];
            for (row, line) in done.chunks_exact(height).enumerate() {
                own[row] = if line[row] == 0.0 {
                    0.0
                } else {
                    (own[row] - dot(&line[..row], &own[..row])) / line[row]
                };
            }
            let sum = own[column];
            let rest = sum - dot(&own[..column], &own[..column]);
            own[column] = if rest > LEFT * sum && rest.is_finite() {
                rest.sqrt()
            } else if structural(column) && rest.abs() <= NOTHING * sum {
                0.0
            } else {
                return None;
            };
        }
        Some(Triangle {
            upper,
            begun: true,
            ..Triangle::new(height)
        })
    }
}
