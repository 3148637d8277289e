//! Sums of a binary model: rows are taken many at a time, and columns that are not of classes are kept
//! apart from those that are mostly zero.

use super::likelihood::{BINS, Problem, Sums, logistic};
use crate::effects::design::EffectColumns;
use crate::linear::{BLOCK, Tiles};
use crate::observations::{Chunk, whole};

/// A column that no row lacks: the intercept or a product of covariates.
struct Dense {
    column: usize,
    covariates: Vec<usize>,
}

/// The columns of the effects in the model, and the parameters.
pub(super) struct Terms<'a> {
    dense: Vec<Dense>,
    sparse: Vec<&'a EffectColumns>,
    /// For a column of `sparse` effects its number among these.
    numbers: Vec<usize>,
    sparse_columns: usize,
    beta: &'a [f64],
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// Dense columns, [`BLOCK`] rows each, in whole tiles.
    dense: Vec<f64>,
    /// The same row by row, times the spread.
    rows: Vec<f64>,
    eta: Vec<f64>,
    residual: Vec<f64>,
    spread: Vec<f64>,
    /// Sparse columns and their values, row after row, and where each row's end.
    entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(problem: &Problem<'a>, beta: &'a [f64], active: &[bool]) -> Self {
        let mut terms = Self {
            dense: Vec::new(),
            sparse: Vec::new(),
            numbers: vec![0; problem.design.columns],
            sparse_columns: 0,
            beta,
        };
        if problem.intercepts == 1 {
            terms.dense.push(Dense {
                column: 0,
                covariates: Vec::new(),
            });
        }
        for (effect, active) in problem.design.effects.iter().zip(active) {
            if !active {
                continue;
            }
            if effect.is_continuous() {
                terms.dense.push(Dense {
                    column: effect.first,
                    covariates: effect.covariates().to_vec(),
                });
                continue;
            }
            for column in 0..effect.count {
                terms.numbers[effect.first + column] = terms.sparse_columns;
                terms.sparse_columns += 1;
            }
            terms.sparse.push(effect);
        }
        terms
    }

    /// Sums of products that are kept apart: of sparse columns with dense ones, then of dense ones.
    pub(super) fn crossed(&self) -> usize {
        let tiled = Tiles::padded(self.dense.len());
        self.sparse_columns * self.dense.len() + tiled * tiled
    }

    /// Puts the sums that were kept apart into the information.
    pub(super) fn uncross(&self, sums: &mut Sums) {
        let size = sums.gradient.len();
        let (sparse, tiles) = sums
            .crossed
            .split_at(self.sparse_columns * self.dense.len());
        for effect in &self.sparse {
            for column in effect.first..effect.first + effect.count {
                let line = self.numbers[column] * self.dense.len();
                for (cell, dense) in sparse[line..].iter().zip(&self.dense) {
                    let (row, column) = (column.min(dense.column), column.max(dense.column));
                    sums.information[row * size + column] += cell;
                }
            }
        }
        let tiled = Tiles::padded(self.dense.len());
        for (across, right) in self.dense.iter().enumerate() {
            for (down, left) in self.dense[..=across].iter().enumerate() {
                sums.information[left.column * size + right.column] += tiles[across * tiled + down];
            }
        }
    }
}

impl Problem<'_> {
    /// Adds the rows of a chunk to the sums.
    pub(super) fn binary(
        &self,
        terms: &Terms<'_>,
        chunk: Chunk<'_>,
        sums: &mut Sums,
        scratch: &mut Scratch,
    ) {
        for first in (0..chunk.rows).step_by(BLOCK) {
            let rows = first..(first + BLOCK).min(chunk.rows);
            scratch.columns(self, terms, chunk, rows.clone());
            scratch.entries(self, terms, chunk, rows.clone());
            self.likelihood(chunk, rows, sums, scratch);
            scratch.gradient(terms, sums);
            scratch.information(terms, sums);
        }
    }

    /// The likelihood of a block, and the residual and spread of each of its rows.
    fn likelihood(
        &self,
        chunk: Chunk<'_>,
        rows: std::ops::Range<usize>,
        sums: &mut Sums,
        scratch: &mut Scratch,
    ) {
        scratch.residual.clear();
        scratch.spread.clear();
        // The logarithm of a product is taken once: it has at most 2 to the number of rows.
        let (mut product, mut lost) = (1.0, 0.0);
        for (row, eta) in rows.clone().zip(&scratch.eta) {
            let place = self.places[whole(chunk.column(0)[row])];
            let event = place == 0;
            let signed = if event { *eta } else { -eta };
            let (weight, times) = self.weights(chunk, row);
            // log(1 + exp(-x)) without overflow.
            let size = (-signed.abs()).exp();
            if self.head == 1 {
                product *= 1.0 + size;
                lost += (-signed).max(0.0);
            } else {
                lost += weight * ((-signed).max(0.0) + size.ln_1p());
            }
            let missed = if signed >= 0.0 { size } else { 1.0 } / (1.0 + size);
            sums.separated &= signed > 0.0;
            let residual = if event { missed } else { -missed };
            scratch.residual.push(weight * residual);
            let spread = weight * size / ((1.0 + size) * (1.0 + size));
            scratch.spread.push(spread);
            if !sums.bins.is_empty() {
                let bin = whole(logistic(*eta) * BINS as f64);
                sums.bins[place * self.bins() + bin] += times;
            }
        }
        sums.likelihood -= lost + product.ln();
    }
}

impl Scratch {
    /// The dense columns of a block of rows, and their part of the linear predictor.
    fn columns(
        &mut self,
        problem: &Problem<'_>,
        terms: &Terms<'_>,
        chunk: Chunk<'_>,
        rows: std::ops::Range<usize>,
    ) {
        let count = rows.len();
        self.eta.clear();
        self.eta.resize(count, 0.0);
        self.dense
            .resize(Tiles::padded(terms.dense.len()) * BLOCK, 0.0);
        for (dense, column) in terms.dense.iter().zip(self.dense.chunks_exact_mut(BLOCK)) {
            let column = &mut column[..count];
            column.fill(1.0);
            for covariate in &dense.covariates {
                let values = &chunk.column(problem.head + covariate)[rows.clone()];
                for (cell, value) in column.iter_mut().zip(values) {
                    *cell *= value;
                }
            }
            let slope = terms.beta[dense.column];
            for (eta, value) in self.eta.iter_mut().zip(column) {
                *eta += slope * *value;
            }
        }
    }

    /// The sparse columns of the rows, and their part of the linear predictor.
    fn entries(
        &mut self,
        problem: &Problem<'_>,
        terms: &Terms<'_>,
        chunk: Chunk<'_>,
        rows: std::ops::Range<usize>,
    ) {
        self.entries.clear();
        self.ends.clear();
        let levels = problem.head + problem.covariates;
        for (row, eta) in rows.zip(&mut self.eta) {
            for effect in &terms.sparse {
                let code = |class: usize| whole(chunk.column(levels + class)[row]);
                let mut times = 1.0;
                for covariate in effect.covariates() {
                    times *= chunk.column(problem.head + covariate)[row];
                }
                for (column, value) in effect.entries(code) {
                    let column = effect.first + *column as usize;
                    let value = value * times;
                    *eta += value * terms.beta[column];
                    self.entries
                        .push((u32::try_from(column).unwrap_or(u32::MAX), value));
                }
            }
            self.ends.push(self.entries.len());
        }
    }

    fn gradient(&self, terms: &Terms<'_>, sums: &mut Sums) {
        for (dense, column) in terms.dense.iter().zip(self.dense.chunks_exact(BLOCK)) {
            let products = column.iter().zip(&self.residual);
            let sum: f64 = products.map(|(value, residual)| value * residual).sum();
            sums.gradient[dense.column] += sum;
        }
        let mut start = 0;
        for (end, residual) in self.ends.iter().zip(&self.residual) {
            for (column, value) in &self.entries[start..*end] {
                sums.gradient[*column as usize] += value * residual;
            }
            start = *end;
        }
    }

    fn information(&mut self, terms: &Terms<'_>, sums: &mut Sums) {
        let (count, width) = (self.spread.len(), terms.dense.len());
        let size = sums.gradient.len();
        let (crossed, tiles) = sums.crossed.split_at_mut(terms.sparse_columns * width);
        if terms.sparse_columns > 0 {
            self.rows.resize(BLOCK * width, 0.0);
            let columns = self.dense.chunks_exact(BLOCK).take(width);
            for (number, column) in columns.enumerate() {
                let cells = self.rows[number..].iter_mut().step_by(width.max(1));
                for ((cell, value), spread) in cells.zip(column).zip(&self.spread) {
                    *cell = value * spread;
                }
            }
            let mut start = 0;
            for (row, (end, spread)) in self.ends.iter().zip(&self.spread).enumerate() {
                let entries = &self.entries[start..*end];
                let products = &self.rows[row * width..(row + 1) * width];
                for (index, (column, value)) in entries.iter().enumerate() {
                    let column = *column as usize;
                    let line = &mut crossed[terms.numbers[column] * width..][..width];
                    for (cell, product) in line.iter_mut().zip(products) {
                        *cell += value * product;
                    }
                    let scaled = spread * value;
                    let line = &mut sums.information[column * size..(column + 1) * size];
                    for (other, value) in &entries[index..] {
                        line[*other as usize] += scaled * value;
                    }
                }
                start = *end;
            }
        }
        for spread in &mut self.spread {
            *spread = spread.sqrt();
        }
        for column in self.dense.chunks_exact_mut(BLOCK).take(width) {
            for (value, root) in column.iter_mut().zip(&self.spread) {
                *value *= root;
            }
            column[count..].fill(0.0);
        }
        Tiles::add(&self.dense, tiles);
    }
}
