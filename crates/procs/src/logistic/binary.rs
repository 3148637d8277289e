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

/// An effect with classes, and the number of its first combination of levels among those of all.
struct Sparse<'a> {
    effect: &'a EffectColumns,
    first: usize,
}

/// Sums with dense columns are held in lines of whole fours.
const FOUR: usize = 4;

/// The effects in the model, and the parameters. Every row has one combination of levels of each
/// effect with classes, whatever columns that makes; so sums are kept by combination and become sums
/// by column once all rows are in.
pub(super) struct Terms<'a> {
    dense: Vec<Dense>,
    sparse: Vec<Sparse<'a>>,
    /// What each combination adds to the linear predictor, per unit of the covariates' product.
    slopes: Vec<f64>,
    beta: &'a [f64],
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// Dense columns, [`BLOCK`] rows each, in whole tiles.
    dense: Vec<f64>,
    /// The same row by row, times the spread, and the residual behind.
    lines: Vec<f64>,
    eta: Vec<f64>,
    residual: Vec<f64>,
    spread: Vec<f64>,
    /// Of each sparse effect, the rows' combinations of levels and products of covariates.
    codes: Vec<f64>,
    combinations: Vec<usize>,
    products: Vec<f64>,
    /// The products times the spread.
    scaled: Vec<f64>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(problem: &Problem<'a>, beta: &'a [f64], active: &[bool]) -> Self {
        let mut terms = Self {
            dense: Vec::new(),
            sparse: Vec::new(),
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
            if *active && effect.is_continuous() {
                terms.dense.push(Dense {
                    column: effect.first,
                    covariates: effect.covariates().to_vec(),
                });
            } else if *active {
                let first = terms.slopes.len();
                terms.sparse.push(Sparse { effect, first });
                let slope = |combination: usize| -> f64 {
                    let entries = effect.entries(combination).iter();
                    let slopes = entries
                        .map(|(column, value)| value * beta[effect.first + *column as usize]);
                    slopes.sum()
                };
                terms.slopes.extend((0..effect.combinations()).map(slope));
            }
        }
        terms
    }

    /// Sums of a combination with the spread times dense columns and with the residual.
    fn width(&self) -> usize {
        (self.dense.len() + 1).next_multiple_of(FOUR)
    }

    /// All sums of a combination: also with all combinations.
    fn line(&self) -> usize {
        self.width() + self.slopes.len()
    }

    /// Sums that are kept apart: the lines of all combinations, then products of dense columns.
    pub(super) fn apart(&self) -> usize {
        let tiled = Tiles::padded(self.dense.len());
        self.slopes.len() * self.line() + tiled * tiled
    }

    /// Puts the sums that were kept apart where they belong.
    pub(super) fn settle(&self, sums: &mut Sums) {
        let size = sums.gradient.len();
        let (lines, tiles) = sums.apart.split_at(self.slopes.len() * self.line());
        let information = &mut sums.information;
        let mut add = |one: usize, other: usize, sum: f64| {
            information[one.min(other) * size + one.max(other)] += sum;
        };
        for (number, own) in self.sparse.iter().enumerate() {
            for combination in 0..own.effect.combinations() {
                let line = &lines[(own.first + combination) * self.line()..][..self.line()];
                let (front, others) = line.split_at(self.width());
                let entries = own.effect.entries(combination);
                for (index, (column, value)) in entries.iter().enumerate() {
                    let column = own.effect.first + *column as usize;
                    sums.gradient[column] += value * front[self.dense.len()];
                    for (dense, sum) in self.dense.iter().zip(front) {
                        add(column, dense.column, value * sum);
                    }
                    for (second, more) in &entries[index..] {
                        let second = own.effect.first + *second as usize;
                        add(
                            column,
                            second,
                            value * more * others[own.first + combination],
                        );
                    }
                    for other in &self.sparse[number + 1..] {
                        other.each_entry(&others[other.first..], |second, sum| {
                            add(column, second, value * sum);
                        });
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

impl Sparse<'_> {
    /// Hands out the columns of all combinations with their part of the combinations' `sums`.
    fn each_entry(&self, sums: &[f64], mut take: impl FnMut(usize, f64)) {
        for (combination, sum) in sums[..self.effect.combinations()].iter().enumerate() {
            if *sum != 0.0 {
                for (column, value) in self.effect.entries(combination) {
                    take(self.effect.first + *column as usize, value * sum);
                }
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
            self.likelihood(chunk, rows, sums, scratch);
            for (dense, column) in terms.dense.iter().zip(scratch.dense.chunks_exact(BLOCK)) {
                sums.gradient[dense.column] += dot(column, &scratch.residual);
            }
            scratch.sparse_sums(terms, sums);
            scratch.dense_sums(terms, sums);
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

    /// The combinations of levels that rows have, the products of their covariates, and their part
    /// of the linear predictor.
    fn combine(
        &mut self,
        problem: &Problem<'_>,
        terms: &Terms<'_>,
        chunk: Chunk<'_>,
        rows: Range<usize>,
    ) {
        let levels = problem.head + problem.covariates;
        self.combinations.clear();
        self.products.clear();
        for sparse in &terms.sparse {
            self.codes.clear();
            self.codes.resize(rows.len(), sparse.first as f64);
            for (class, stride) in sparse.effect.strides() {
                // Whole numbers, and so is what they make.
                let codes = &chunk.column(levels + class)[rows.clone()];
                for (cell, code) in self.codes.iter_mut().zip(codes) {
                    *cell += code * *stride as f64;
                }
            }
            let start = self.products.len();
            self.products.resize(start + rows.len(), 1.0);
            for covariate in sparse.effect.covariates() {
                let values = &chunk.column(problem.head + covariate)[rows.clone()];
                times(&mut self.products[start..], values);
            }
            self.combinations
                .extend(self.codes.iter().map(|code| whole(*code)));
            let own = self.combinations[start..]
                .iter()
                .zip(&self.products[start..]);
            for (eta, (combination, product)) in self.eta.iter_mut().zip(own) {
                *eta += terms.slopes[*combination] * product;
            }
        }
    }

    /// Sums by combinations of levels.
    fn sparse_sums(&mut self, terms: &Terms<'_>, sums: &mut Sums) {
        let (width, size, count) = (terms.width(), terms.line(), self.spread.len());
        if terms.sparse.is_empty() {
            return;
        }
        self.lines.resize(BLOCK * width, 0.0);
        for (number, column) in self
            .dense
            .chunks_exact(BLOCK)
            .take(terms.dense.len())
            .enumerate()
        {
            let lines = self.lines.chunks_exact_mut(width);
            for ((line, value), spread) in lines.zip(column).zip(&self.spread) {
                line[number] = value * spread;
            }
        }
        let lines = self.lines.chunks_exact_mut(width);
        for (line, residual) in lines.zip(&self.residual) {
            line[terms.dense.len()] = *residual;
        }
        let effects = self.combinations.chunks_exact(count);
        let effects: Vec<_> = effects.zip(self.products.chunks_exact(count)).collect();
        for (number, (combinations, products)) in effects.iter().enumerate() {
            let lines = self.lines.chunks_exact(width);
            for ((combination, product), values) in combinations.iter().zip(*products).zip(lines) {
                let line = &mut sums.apart[combination * size..][..width];
                let fours = line.as_chunks_mut::<FOUR>().0.iter_mut();
                for (cells, values) in fours.zip(values.as_chunks::<FOUR>().0) {
                    for (cell, value) in cells.iter_mut().zip(values) {
                        *cell += product * value;
                    }
                }
            }
            self.scaled.clear();
            let scaled = products.iter().zip(&self.spread);
            self.scaled
                .extend(scaled.map(|(product, spread)| product * spread));
            for (others, more) in &effects[number..] {
                let pairs = combinations.iter().zip(*others);
                for ((pair, scaled), more) in pairs.zip(&self.scaled).zip(*more) {
                    sums.apart[pair.0 * size + width + pair.1] += scaled * more;
                }
            }
        }
    }

    /// Products of dense columns with each other.
    fn dense_sums(&mut self, terms: &Terms<'_>, sums: &mut Sums) {
        for spread in &mut self.spread {
            *spread = spread.sqrt();
        }
        let count = self.spread.len();
        for column in self.dense.chunks_exact_mut(BLOCK) {
            times(&mut column[..count], &self.spread);
        }
        let start = terms.slopes.len() * terms.line();
        Tiles::add(&self.dense, &mut sums.apart[start..]);
    }
}

fn times(column: &mut [f64], values: &[f64]) {
    for (cell, value) in column.iter_mut().zip(values) {
        *cell *= value;
    }
}
