//! Least squares by orthogonal triangles: rows are taken in block by block and rotated into an upper
//! triangle, which keeps twice the digits that cross products would. Many rows at once may come in by
//! cross products where these lose next to nothing.

mod products;
mod sparse;
mod twofold;

use self::products::Products;
pub(crate) use self::products::Tiles;
pub(crate) use self::sparse::Sparse;

/// Rows rotated in at once.
pub(crate) const BLOCK: usize = 128;

/// More columns than this are not computed with twice the digits.
const PRECISE_COLUMNS: usize = 32;

/// A column whose rest is so much smaller than itself depends on those before it.
const SINGULAR: f64 = 1e-12;

/// Blocks of rows whose cross products are tried first.
const PANEL: usize = 8;

/// Cross products of fewer rows than so many times the columns cost more than they save.
const TALL: usize = 4;

/// The triangle R of the rows so far: the columns have the same cross products as all rows.
pub(crate) struct Triangle {
    columns: usize,
    /// Column by column, each as long as the triangle is wide.
    upper: Vec<f64>,
    /// Rows not yet in the triangle: blocks of `BLOCK` rows, each column by column.
    panel: Vec<f64>,
    rows: usize,
    /// Blocks of a full panel.
    blocks: usize,
    /// Cross products are worth trying.
    products: Option<Box<Products>>,
    /// The triangle is that of rows already.
    begun: bool,
    /// If the rows end before there is a block of them, twice the digits are worth their time.
    precise: bool,
}

impl Triangle {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            upper: vec![0.0; columns * columns],
            panel: Vec::new(),
            rows: 0,
            blocks: 1,
            products: None,
            begun: false,
            precise: false,
        }
    }

    /// A triangle for many rows, of which column 0 is the intercept.
    pub(crate) fn tall(columns: usize) -> Self {
        Self {
            blocks: PANEL,
            products: Some(Box::new(Products::new(columns))),
            ..Self::new(columns)
        }
    }

    /// The same, computed with twice the digits if there are few rows and columns: large residuals
    /// would cost the estimates of polynomials half of theirs.
    pub(crate) fn precise(columns: usize) -> Self {
        Self {
            precise: columns <= PRECISE_COLUMNS,
            ..Self::tall(columns)
        }
    }

    /// Takes a row in: `value` gives its columns.
    #[inline]
    pub(crate) fn add(&mut self, mut value: impl FnMut(usize) -> f64) {
        let (block, row) = self.space();
        for (column, cells) in block.chunks_exact_mut(BLOCK).enumerate() {
            cells[row] = value(column);
        }
        self.took(1);
    }

    /// A block, column by column, and how many of its [`BLOCK`] rows are taken: there is room behind.
    #[inline]
    pub(crate) fn space(&mut self) -> (&mut [f64], usize) {
        let cells = self.columns * BLOCK;
        let start = self.rows / BLOCK * cells;
        if self.panel.len() < start + cells {
            self.panel.resize(start + cells, 0.0);
        }
        (&mut self.panel[start..start + cells], self.rows % BLOCK)
    }

    /// So many rows were put into the room that [`space`](Self::space) gave.
    #[inline]
    pub(crate) fn took(&mut self, rows: usize) {
        self.rows += rows;
        if self.rows == self.blocks * BLOCK {
            self.settle();
        }
    }

    /// Brings the rows of the panel into the triangle.
    fn settle(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let mut panel = std::mem::take(&mut self.panel);
        self.begun = true;
        if std::mem::take(&mut self.precise) && rows < BLOCK {
            let at = |row: usize, column: usize| panel[column * BLOCK + row];
            self.upper = twofold::triangle(rows, self.columns, at);
        } else if !self.settle_products(&panel, rows) {
            let blocks = panel.chunks_exact_mut(self.columns * BLOCK);
            for (number, block) in blocks.take(rows.div_ceil(BLOCK)).enumerate() {
                let own = (rows - number * BLOCK).min(BLOCK);
                for column in block.chunks_exact_mut(BLOCK) {
                    column[own..].fill(0.0);
                }
                self.rotate(block, BLOCK, |_| BLOCK);
            }
        }
        self.panel = panel;
    }

    /// By cross products, if they will do; they are not tried again where they once did not.
    fn settle_products(&mut self, panel: &[f64], rows: usize) -> bool {
        if rows < TALL * self.columns {
            return false;
        }
        let Some(mut products) = self.products.take() else {
            return false;
        };
        let Some(upper) = products.triangle(panel, rows) else {
            return false;
        };
        self.rotate_triangle(&upper);
        self.products = Some(products);
        true
    }

    /// Rotates the rows of another triangle into this one.
    fn rotate_triangle(&mut self, upper: &[f64]) {
        let height = self.columns.next_multiple_of(8);
        let mut cells = vec![0.0; self.columns * height];
        let columns = upper.chunks_exact(self.columns);
        for (cells, column) in cells.chunks_exact_mut(height).zip(columns) {
            cells[..self.columns].copy_from_slice(column);
        }
        self.rotate(&mut cells, height, |column| {
            (column + 1).next_multiple_of(8)
        });
    }

    /// Rotates rows into the triangle, which uses them up: column by column, `height` rows each,
    /// of which `tall` says how many may not be zero; both are multiples of eight.
    fn rotate(&mut self, rows: &mut [f64], height: usize, tall: impl Fn(usize) -> usize) {
        for column in 0..self.columns {
            let place = column * self.columns + column;
            let (done, right) = rows.split_at_mut((column + 1) * height);
            let own = &done[column * height..][..tall(column)];
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
            for (other, cells) in right.chunks_exact_mut(height).enumerate() {
                let cells = &mut cells[..own.len()];
                let at = (column + 1 + other) * self.columns + column;
                let along = scale * (head * self.upper[at] + dot(own, cells));
                self.upper[at] -= along * head;
                subtract(cells, along, own);
            }
        }
    }

    /// Takes in the rows of another triangle, which come behind those of this one.
    pub(crate) fn join(&mut self, mut other: Self) {
        if !self.begun && self.rows == 0 {
            *self = other;
            return;
        }
        if !other.begun && other.rows < BLOCK {
            // Few rows in all may yet be worth twice the digits.
            for row in 0..other.rows {
                self.add(|column| other.panel[column * BLOCK + row]);
            }
            return;
        }
        other.settled();
        self.settled();
        self.rotate_triangle(&other.upper);
    }

    /// The triangle with all rows in it.
    pub(crate) fn settled(&mut self) -> &Self {
        if self.rows > 0 {
            self.settle();
        }
        self
    }

    /// Adds so many times the first column to each other one.
    pub(crate) fn add_first(&mut self, times: &[f64]) {
        let first = self.settled().upper[0];
        for (column, times) in self.upper.chunks_exact_mut(self.columns).zip(times) {
            column[0] += times * first;
        }
    }

    /// Bytes that a triangle of so many columns takes.
    pub(crate) fn bytes(columns: usize) -> u64 {
        (columns * (columns + BLOCK) * size_of::<f64>()) as u64
    }

    /// The same with a panel of rows.
    pub(crate) fn tall_bytes(columns: usize) -> u64 {
        let cells = columns * (3 * columns + (PANEL + 1) * BLOCK);
        (cells * size_of::<f64>()) as u64
    }

    /// The triangle of some of the columns, in another order.
    pub(crate) fn of_columns(&mut self, chosen: &[usize]) -> Self {
        self.settled();
        let mut triangle = Self::new(chosen.len());
        for row in 0..self.columns {
            triangle.add(|column| self.upper[chosen[column] * self.columns + row]);
        }
        triangle.settled();
        triangle
    }

    /// Sum of squares of a column.
    pub(crate) fn norm_square(&self, column: usize) -> f64 {
        let cells = &self.upper[column * self.columns..(column + 1) * self.columns];
        cells.iter().map(|cell| cell * cell).sum()
    }

    /// Element of R.
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.upper[column * self.columns + row]
    }
}

/// The sum of products.
#[inline]
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    // Eight sums at a time, so that they can be carried out side by side.
    let mut sums = [0.0; 8];
    let (lefts, rights) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest = lefts.remainder().iter().zip(rights.remainder());
    let rest: f64 = rest.map(|(left, right)| left * right).sum();
    for (left, right) in lefts.zip(rights) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Takes so many times `part` off `cells`.
#[inline]
pub(crate) fn subtract(cells: &mut [f64], times: f64, part: &[f64]) {
    for (cell, part) in cells.iter_mut().zip(part) {
        *cell -= times * part;
    }
}

/// Some columns brought to row echelon form: a column that depends on those before it takes no row,
/// so that what comes after it is whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Echelon {
    height: usize,
    /// Column by column.
    cells: Vec<f64>,
    /// The row of each regressor; `None` if it depends on those before it.
    rows: Vec<Option<usize>>,
    /// The regressor of each row.
    pivots: Vec<usize>,
}

impl Echelon {
    /// Of `cells` (column by column, `height` rows each): the first `regressors` columns are
    /// reduced, the others go with them.
    pub(crate) fn new(mut cells: Vec<f64>, height: usize, regressors: usize) -> Self {
        let (mut rows, mut pivots) = (Vec::with_capacity(regressors), Vec::new());
        for column in 0..regressors {
            let rank = pivots.len();
            let (done, right) = cells.split_at_mut((column + 1) * height);
            let own = &mut done[column * height..];
            let norm = length(own);
            let rest = if rank < height {
                length(&own[rank..])
            } else {
                0.0
            };
            if rest <= SINGULAR * norm {
                own[rank..].fill(0.0);
                rows.push(None);
                continue;
            }
            if own[rank + 1..].iter().all(|cell| *cell == 0.0) {
                rows.push(Some(rank));
                pivots.push(column);
                continue;
            }
            let pivot = if own[rank] > 0.0 { -rest } else { rest };
            own[rank] -= pivot;
            let reflected = &own[rank..];
            let square = dot(reflected, reflected);
            for other in right.chunks_exact_mut(height) {
                let other = &mut other[rank..];
                let along = 2.0 * dot(reflected, other) / square;
                subtract(other, along, reflected);
            }
            own[rank] = pivot;
            own[rank + 1..].fill(0.0);
            rows.push(Some(rank));
            pivots.push(column);
        }
        Self {
            height,
            cells,
            rows,
            pivots,
        }
    }

    /// Of the `chosen` columns of a triangle, the last `responses` of which are no regressors.
    pub(crate) fn of(triangle: &Triangle, chosen: &[usize], responses: usize) -> Self {
        // Rows that are zero are none: a triangle by cross products is in echelon form without them.
        let rows: Vec<usize> = (0..triangle.columns)
            .filter(|row| {
                chosen
                    .iter()
                    .any(|column| triangle.at(*row, *column) != 0.0)
            })
            .collect();
        let cells = chosen
            .iter()
            .flat_map(|column| rows.iter().map(|row| triangle.at(*row, *column)))
            .collect();
        Self::new(cells, rows.len(), chosen.len() - responses)
    }

    pub(crate) fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The regressors that do not depend on those before them, one for each row.
    pub(crate) fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// The row of a regressor; `None` if it depends on those before it.
    pub(crate) fn row_of(&self, regressor: usize) -> Option<usize> {
        self.rows[regressor]
    }

    pub(crate) fn regressors(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[column * self.height + row]
    }

    /// The last part of a column: what the rows of the pivots leave.
    pub(crate) fn rest(&self, column: usize) -> &[f64] {
        &self.cells[column * self.height + self.rank()..(column + 1) * self.height]
    }

    /// A column by the pivots' columns: their coefficients, in the order of the rows.
    pub(crate) fn solve(&self, right: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut out: Vec<f64> = (0..self.rank()).map(right).collect();
        self.substitute(&mut out);
        out
    }

    /// Solves R x = `out`, of the first rows alone if it has no more.
    fn substitute(&self, out: &mut [f64]) {
        for row in (0..out.len()).rev() {
            out[row] /= self.at(row, self.pivots[row]);
            let own = out[row];
            let column = &self.cells[self.pivots[row] * self.height..][..row];
            subtract(&mut out[..row], own, column);
        }
    }

    /// Solves R' x = right, where `right` has an element for each row.
    pub(crate) fn solve_transposed(&self, right: &[f64]) -> Vec<f64> {
        let mut out = right.to_vec();
        for row in 0..self.rank() {
            let column = &self.cells[self.pivots[row] * self.height..][..=row];
            out[row] = (out[row] - dot(&column[..row], &out[..row])) / column[row];
        }
        out
    }

    /// Estimates for a response, one for every regressor; zero where it depends on others.
    pub(crate) fn estimates(&self, response: usize) -> Vec<f64> {
        let solution = self.solve(|row| self.at(row, response));
        let mut estimates = vec![0.0; self.regressors()];
        for (pivot, value) in self.pivots.iter().zip(solution) {
            estimates[*pivot] = value;
        }
        estimates
    }

    /// Sum of squares of a response that the regressors leave.
    pub(crate) fn error(&self, response: usize) -> f64 {
        // A sum of nothing is a zero with a sign.
        let rest = self.rest(response).iter().map(|cell| cell * cell);
        rest.sum::<f64>().abs()
    }

    /// Diagonal of the inverse of X'X; zero where a regressor depends on others.
    pub(crate) fn inverse_diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.rank()];
        for unit in 0..self.rank() {
            // The rows below stay zero.
            let mut column = vec![0.0; unit + 1];
            column[unit] = 1.0;
            self.substitute(&mut column);
            for (sum, part) in diagonal.iter_mut().zip(&column) {
                *sum += part * part;
            }
        }
        let of = |row: &Option<usize>| row.map_or(0.0, |row| diagonal[row]);
        self.rows.iter().map(of).collect()
    }
}

fn length(cells: &[f64]) -> f64 {
    dot(cells, cells).sqrt()
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
    /// The regressors' columns, for what else is asked of them.
    pub(crate) echelon: Echelon,
}

impl Fit {
    /// Fits the last of the `chosen` columns of `triangle` to the others.
    pub(crate) fn new(triangle: &Triangle, chosen: &[usize]) -> Self {
        let echelon = Echelon::of(triangle, chosen, 1);
        let response = chosen.len() - 1;
        let sequential =
            |row: &Option<usize>| row.map_or(0.0, |row| echelon.at(row, response).powi(2));
        Self {
            estimates: echelon.estimates(response),
            inverse_diagonal: echelon.inverse_diagonal(),
            sequential: echelon.rows.iter().map(sequential).collect(),
            singular: echelon.rows.iter().map(Option::is_none).collect(),
            error: echelon.error(response),
            echelon,
        }
    }
}

#[cfg(test)]
mod tests;
