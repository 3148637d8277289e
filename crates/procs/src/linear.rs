//! Least squares by orthogonal triangles: rows are taken in block by block and rotated into an upper
//! triangle, which keeps twice the digits that cross products would.

/// Rows rotated in at once.
const BLOCK: usize = 128;

/// A column whose rest is so much smaller than itself depends on those before it.
const SINGULAR: f64 = 1e-12;

/// The triangle R of the rows so far: the columns have the same cross products as all rows.
pub(crate) struct Triangle {
    columns: usize,
    /// Column by column, each as long as the triangle is wide.
    upper: Vec<f64>,
    /// Column by column, `BLOCK` rows each.
    block: Vec<f64>,
    rows: usize,
}

impl Triangle {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            upper: vec![0.0; columns * columns],
            block: vec![0.0; columns * BLOCK],
            rows: 0,
        }
    }

    /// Takes a row in: `value` gives its columns.
    #[inline]
    pub(crate) fn add(&mut self, mut value: impl FnMut(usize) -> f64) {
        for column in 0..self.columns {
            self.block[column * BLOCK + self.rows] = value(column);
        }
        self.rows += 1;
        if self.rows == BLOCK {
            self.rotate();
        }
    }

    /// Rotates the rows of the block into the triangle.
    fn rotate(&mut self) {
        if self.rows < BLOCK {
            for column in self.block.chunks_exact_mut(BLOCK) {
                column[self.rows..].fill(0.0);
            }
        }
        self.rows = 0;
        for column in 0..self.columns {
            let place = column * self.columns + column;
            let (done, right) = self.block.split_at_mut((column + 1) * BLOCK);
            let own = &done[column * BLOCK..];
            let below: f64 = dot(own, own);
            if below == 0.0 {
                continue;
            }
            let top = self.upper[place];
            let norm = (top * top + below).sqrt();
            let pivot = if top > 0.0 { -norm } else { norm };
            // The reflection is I - scale v v', v = (top - pivot, own).
            let head = top - pivot;
            let scale = 2.0 / (head * head + below);
            self.upper[place] = pivot;
            for (other, cells) in right.chunks_exact_mut(BLOCK).enumerate() {
                let at = (column + 1 + other) * self.columns + column;
                let along = scale * (head * self.upper[at] + dot(own, cells));
                self.upper[at] -= along * head;
                for (cell, own) in cells.iter_mut().zip(own) {
                    *cell -= along * own;
                }
            }
        }
    }

    /// The triangle of some of the columns, in another order.
    pub(crate) fn of_columns(&mut self, chosen: &[usize]) -> Self {
        if self.rows > 0 {
            self.rotate();
        }
        let mut triangle = Self::new(chosen.len());
        for row in 0..self.columns {
            triangle.add(|column| self.upper[chosen[column] * self.columns + row]);
        }
        triangle.rotate();
        triangle
    }

    /// Element of R.
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.upper[column * self.columns + row]
    }
}

#[inline]
fn dot(left: &[f64], right: &[f64]) -> f64 {
    // Eight sums at a time, so that they can be carried out side by side.
    let mut sums = [0.0; 8];
    for (left, right) in left.chunks_exact(8).zip(right.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum()
}

/// Estimates of one dependent variable: the last column of a triangle on the others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fit {
    /// One for every column but the last; zero where [`Self::singular`].
    pub(crate) estimates: Vec<f64>,
    /// Diagonal of the inverse of X'X.
    pub(crate) inverse_diagonal: Vec<f64>,
    /// Sequential (Type I) sums of squares.
    pub(crate) sequential: Vec<f64>,
    /// Columns that depend on those before them.
    pub(crate) singular: Vec<bool>,
    /// Sum of squares of the residuals.
    pub(crate) error: f64,
}

impl Fit {
    /// Fits the last column of `triangle` to the others.
    pub(crate) fn new(triangle: &Triangle) -> Self {
        let count = triangle.columns - 1;
        let column_norm = |column: usize| {
            let squares: f64 = (0..=column)
                .map(|row| triangle.at(row, column).powi(2))
                .sum();
            squares.sqrt()
        };
        let singular: Vec<bool> = (0..count)
            .map(|column| triangle.at(column, column).abs() <= SINGULAR * column_norm(column))
            .collect();
        let mut error = triangle.at(count, count).powi(2);
        let mut sequential = Vec::with_capacity(count);
        for (column, singular) in singular.iter().enumerate() {
            let square = triangle.at(column, count).powi(2);
            sequential.push(if *singular { 0.0 } else { square });
            if *singular {
                error += square;
            }
        }
        let mut estimates = vec![0.0; count];
        solve(triangle, &singular, &mut estimates, |row| {
            triangle.at(row, count)
        });
        let mut inverse_diagonal = vec![0.0; count];
        let mut column = vec![0.0; count];
        for unit in 0..count {
            if singular[unit] {
                continue;
            }
            solve(triangle, &singular, &mut column, |row| {
                f64::from(u8::from(row == unit))
            });
            for (sum, part) in inverse_diagonal.iter_mut().zip(&column) {
                *sum += part * part;
            }
        }
        Self {
            estimates,
            inverse_diagonal,
            sequential,
            singular,
            error,
        }
    }
}

/// Solves R x = right from below; what is singular is zero.
fn solve(triangle: &Triangle, singular: &[bool], out: &mut [f64], right: impl Fn(usize) -> f64) {
    for row in (0..out.len()).rev() {
        if singular[row] {
            out[row] = 0.0;
            continue;
        }
        let known: f64 = (row + 1..out.len())
            .map(|column| triangle.at(row, column) * out[column])
            .sum();
        out[row] = (right(row) - known) / triangle.at(row, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(rows: &[Vec<f64>]) -> Fit {
        let mut triangle = Triangle::new(rows[0].len());
        for row in rows {
            triangle.add(|column| row[column]);
        }
        let all: Vec<usize> = (0..rows[0].len()).collect();
        Fit::new(&triangle.of_columns(&all))
    }

    #[test]
    fn a_line_through_points_is_found() {
        let rows: Vec<Vec<f64>> = (0..1000)
            .map(|number| {
                let x = f64::from(number);
                vec![
                    1.0,
                    x,
                    3.0 + 2.0 * x + if number % 2 == 0 { 0.5 } else { -0.5 },
                ]
            })
            .collect();
        let fit = fit(&rows);
        assert!((fit.estimates[1] - 2.0).abs() < 1e-5, "{fit:?}");
        assert!((fit.error - 250.0).abs() < 0.01, "{fit:?}");
    }

    #[test]
    fn a_column_that_depends_on_others_is_told() {
        let rows: Vec<Vec<f64>> = (0..50)
            .map(|number| {
                let (x, z) = (f64::from(number), f64::from(number * number % 7));
                vec![1.0, x, z, 2.0 * x - 3.0 * z + 1.0, x + z]
            })
            .collect();
        let fit = fit(&rows);
        assert_eq!(fit.singular, [false, false, false, true]);
        assert!(fit.error < 1e-18);
        assert!((fit.estimates[1] - 1.0).abs() < 1e-12 && (fit.estimates[2] - 1.0).abs() < 1e-12);
    }
}
