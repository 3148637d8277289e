//! Sums of a binary model: rows are taken many at a time, and columns that are not of classes are kept
//! apart from those that are mostly zero.

use std::ops::Range;

use super::likelihood::{BINS, Problem, Sums, logistic};
use crate::effects::design::EffectColumns;
use crate::linear::{BLOCK, Tiles, dot};
use crate::observations::{Chunk, whole};

/// A column that no row lacks: the intercept or a product of covariates.
struct Dense {
    column: usize,
    covariates: Vec<usize>,
}

/// An effect with classes, and the number of its first column among those of all of them.
struct Sparse<'a> {
    effect: &'a EffectColumns,
    first: usize,
}

/// Dense columns are held in lines of whole fours.
const FOUR: usize = 4;

/// The columns of the effects in the model, and the parameters.
pub(super) struct Terms<'a> {
    dense: Vec<Dense>,
    sparse: Vec<Sparse<'a>>,
    /// The columns of `sparse` effects, and their parameters.
    columns: Vec<usize>,
    slopes: Vec<f64>,
    beta: &'a [f64],
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// Dense columns, [`BLOCK`] rows each, in whole tiles.
    dense: Vec<f64>,
    /// The same row by row, times the spread.
    lines: Vec<f64>,
    eta: Vec<f64>,
    residual: Vec<f64>,
    spread: Vec<f64>,
    /// Of each sparse effect, the rows' combinations of levels and products of covariates.
    combinations: Vec<f64>,
    products: Vec<f64>,
    /// Sparse columns by number and their values, row after row, and where each row's end.
    entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(problem: &Problem<'a>, beta: &'a [f64], active: &[bool]) -> Self {
        let mut terms = Self {
            dense: Vec::new(),
            sparse: Vec::new(),
            columns: Vec::new(),
            slopes: Vec::new(),
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
            let columns = effect.first..effect.first + effect.count;
            if effect.is_continuous() {
                terms.dense.push(Dense {
                    column: effect.first,
                    covariates: effect.covariates().to_vec(),
                });
                continue;
            }
            let first = terms.columns.len();
            terms.sparse.push(Sparse { effect, first });
            terms.slopes.extend_from_slice(&beta[columns.clone()]);
            terms.columns.extend(columns);
        }
        terms
    }

    /// Dense columns in whole fours, if there are sparse ones beside them.
    fn width(&self) -> usize {
        self.dense.len().next_multiple_of(FOUR)
    }

    /// Sums for a sparse column: with dense ones, then with sparse ones.
    fn line(&self) -> usize {
        self.width() + self.columns.len()
    }

    /// Sums of products that are kept apart: the lines of the sparse columns, then of dense columns
    /// with each other.
    pub(super) fn crossed(&self) -> usize {
        let tiled = Tiles::padded(self.dense.len());
        self.columns.len() * self.line() + tiled * tiled
    }

    /// Puts the sums that were kept apart into the information.
    pub(super) fn uncross(&self, crossed: &[f64], information: &mut [f64], size: usize) {
        let (lines, tiles) = crossed.split_at(self.columns.len() * self.line());
        let mut add = |one: usize, other: usize, sum: f64| {
            information[one.min(other) * size + one.max(other)] += sum;
        };
        if !self.columns.is_empty() {
            for (column, line) in self.columns.iter().zip(lines.chunks_exact(self.line())) {
                for (dense, sum) in self.dense.iter().zip(line) {
                    add(*column, dense.column, *sum);
                }
                for (other, sum) in self.columns.iter().zip(&line[self.width()..]) {
                    if other >= column {
                        add(*column, *other, *sum);
                    }
                }
            }
        }
        let tiled = Tiles::padded(self.dense.len());
        for (across, right) in self.dense.iter().enumerate() {
            for (down, left) in self.dense[..=across].iter().enumerate() {
                add(left.column, right.column, tiles[across * tiled + down]);
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
            scratch.combine(self, terms, chunk, rows.clone());
            scratch.entries(terms);
            self.likelihood(chunk, rows, sums, scratch);
            scratch.gradient(terms, sums);
            scratch.sparse_information(terms, sums);
            scratch.dense_information(terms, sums);
        }
    }

    /// The likelihood of a block, and the residual and spread of each of its rows.
    fn likelihood(
        &self,
        chunk: Chunk<'_>,
        rows: Range<usize>,
        sums: &mut Sums,
        scratch: &mut Scratch,
    ) {
        scratch.residual.clear();
        scratch.spread.clear();
        let responses = &chunk.column(0)[rows.clone()];
        // The logarithm of a product is taken once: it has at most 2 to the number of rows.
        let (mut product, mut lost) = (1.0, 0.0);
        for ((row, response), eta) in rows.zip(responses).zip(&scratch.eta) {
            let place = self.places[whole(*response)];
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
        // What lies behind the last row of a block counts nothing.
        scratch.residual.resize(BLOCK, 0.0);
    }
}

impl Scratch {
    /// The dense columns of a block of rows, and their part of the linear predictor.
    fn columns(
        &mut self,
        problem: &Problem<'_>,
        terms: &Terms<'_>,
        chunk: Chunk<'_>,
        rows: Range<usize>,
    ) {
        let count = rows.len();
        self.eta.clear();
        self.eta.resize(count, 0.0);
        self.dense
            .resize(Tiles::padded(terms.dense.len()) * BLOCK, 0.0);
        for (dense, column) in terms.dense.iter().zip(self.dense.chunks_exact_mut(BLOCK)) {
            let (column, rest) = column.split_at_mut(count);
            rest.fill(0.0);
            column.fill(1.0);
            for covariate in &dense.covariates {
                let values = &chunk.column(problem.head + covariate)[rows.clone()];
                times(column, values);
            }
            let slope = terms.beta[dense.column];
            for (eta, value) in self.eta.iter_mut().zip(column) {
                *eta += slope * *value;
            }
        }
    }

    /// The combinations of levels that rows have, and the products of their covariates.
    fn combine(
        &mut self,
        problem: &Problem<'_>,
        terms: &Terms<'_>,
        chunk: Chunk<'_>,
        rows: Range<usize>,
    ) {
        let count = terms.sparse.len() * BLOCK;
        self.combinations.clear();
        self.combinations.resize(count, 0.0);
        self.products.clear();
        self.products.resize(count, 1.0);
        let levels = problem.head + problem.covariates;
        for (number, sparse) in terms.sparse.iter().enumerate() {
            let own = number * BLOCK..number * BLOCK + rows.len();
            for (class, stride) in sparse.effect.strides() {
                // Both are whole numbers, and so is what they make.
                let codes = &chunk.column(levels + class)[rows.clone()];
                for (cell, code) in self.combinations[own.clone()].iter_mut().zip(codes) {
                    *cell += code * *stride as f64;
                }
            }
            for covariate in sparse.effect.covariates() {
                let values = &chunk.column(problem.head + covariate)[rows.clone()];
                times(&mut self.products[own.clone()], values);
            }
        }
    }

    /// The sparse columns of the rows, and their part of the linear predictor.
    fn entries(&mut self, terms: &Terms<'_>) {
        self.entries.clear();
        self.ends.clear();
        for (row, eta) in self.eta.iter_mut().enumerate() {
            for (number, sparse) in terms.sparse.iter().enumerate() {
                let product = self.products[number * BLOCK + row];
                let combination = whole(self.combinations[number * BLOCK + row]);
                for (column, value) in sparse.effect.entries(combination) {
                    let column = sparse.first + *column as usize;
                    let value = value * product;
                    *eta += value * terms.slopes[column];
                    let column = u32::try_from(column).unwrap_or(u32::MAX);
                    self.entries.push((column, value));
                }
            }
            self.ends.push(self.entries.len());
        }
    }

    fn gradient(&self, terms: &Terms<'_>, sums: &mut Sums) {
        for (dense, column) in terms.dense.iter().zip(self.dense.chunks_exact(BLOCK)) {
            sums.gradient[dense.column] += dot(column, &self.residual);
        }
        let mut start = 0;
        for (end, residual) in self.ends.iter().zip(&self.residual) {
            for (column, value) in &self.entries[start..*end] {
                sums.gradient[terms.columns[*column as usize]] += value * residual;
            }
            start = *end;
        }
    }

    /// Products of sparse columns with all columns.
    fn sparse_information(&mut self, terms: &Terms<'_>, sums: &mut Sums) {
        if terms.columns.is_empty() {
            return;
        }
        let (width, size) = (terms.width(), terms.line());
        self.lines.resize(BLOCK * width, 0.0);
        for (number, column) in self
            .dense
            .chunks_exact(BLOCK)
            .take(terms.dense.len())
            .enumerate()
        {
            let lines = self.lines.chunks_exact_mut(width.max(1));
            for ((line, value), spread) in lines.zip(column).zip(&self.spread) {
                line[number] = value * spread;
            }
        }
        let mut start = 0;
        for (row, (end, spread)) in self.ends.iter().zip(&self.spread).enumerate() {
            let entries = &self.entries[start..*end];
            let (own, _) = self.lines[row * width..(row + 1) * width].as_chunks::<FOUR>();
            for (index, (column, value)) in entries.iter().enumerate() {
                let line = &mut sums.crossed[*column as usize * size..][..size];
                let (dense, sparse) = line.split_at_mut(width);
                let (fours, _) = dense.as_chunks_mut::<FOUR>();
                for (cells, products) in fours.iter_mut().zip(own) {
                    for (cell, product) in cells.iter_mut().zip(products) {
                        *cell += value * product;
                    }
                }
                let scaled = spread * value;
                for (other, value) in &entries[index..] {
                    sparse[*other as usize] += scaled * value;
                }
            }
            start = *end;
        }
    }

    /// Products of dense columns with each other.
    fn dense_information(&mut self, terms: &Terms<'_>, sums: &mut Sums) {
        for spread in &mut self.spread {
            *spread = spread.sqrt();
        }
        let count = self.spread.len();
        for column in self.dense.chunks_exact_mut(BLOCK) {
            times(&mut column[..count], &self.spread);
        }
        let start = terms.columns.len() * terms.line();
        Tiles::add(&self.dense, &mut sums.crossed[start..]);
    }
}

fn times(column: &mut [f64], values: &[f64]) {
    for (cell, value) in column.iter_mut().zip(values) {
        *cell *= value;
    }
}
