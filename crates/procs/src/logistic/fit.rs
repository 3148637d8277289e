//! Fisher scoring, and tests of what it finds.

use engine::failure::Outcome;

use super::likelihood::{Problem, Sums};
use crate::distribution::chi_square_probability;
use crate::linear::dot;

/// A parameter whose information others leave less of than this depends on them.
const SINGULAR: f64 = 1e-11;

/// How iterations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Converged,
    Complete,
    Quasi,
    Unfinished,
}

/// Estimates of a model.
#[derive(Debug, Clone)]
pub(super) struct Fitted {
    /// One for every column of the design; zero for what is not in the model.
    pub(super) beta: Vec<f64>,
    /// Row by row; zero for what is not in the model or depends on others.
    pub(super) covariance: Vec<f64>,
    /// Columns that are in the model and do not depend on others.
    pub(super) free: Vec<bool>,
    pub(super) likelihood: f64,
    pub(super) status: Status,
    pub(super) sums: Sums,
}

/// A chi-square test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) square: f64,
    pub(super) degrees: f64,
}

impl Test {
    pub(super) fn probability(&self) -> f64 {
        chi_square_probability(self.square, self.degrees)
    }
}

/// The inverse of the symmetric matrix of which `information` is the upper triangle, restricted to
/// `columns`: full size, with zeros elsewhere and where a column depends on those before it.
pub(super) fn invert(information: &[f64], size: usize, columns: &[usize]) -> (Vec<f64>, Vec<bool>) {
    let count = columns.len();
    let at = |row: usize, column: usize| {
        let (row, column) = (
            columns[row].min(columns[column]),
            columns[row].max(columns[column]),
        );
        information[row * size + column]
    };
    let scales: Vec<f64> = (0..count)
        .map(|index| {
            if at(index, index) > 0.0 {
                at(index, index).sqrt()
            } else {
                0.0
            }
        })
        .collect();
    let mut cells = vec![0.0; count * count];
    for row in 0..count {
        for column in 0..count {
            let scale = scales[row] * scales[column];
            cells[row * count + column] = if scale > 0.0 {
                at(row, column) / scale
            } else {
                0.0
            };
        }
    }
    let mut free = vec![false; size];
    let mut swept = vec![false; count];
    for pivot in 0..count {
        let value = cells[pivot * count + pivot];
        if value.is_nan() || value <= SINGULAR {
            continue;
        }
        swept[pivot] = true;
        free[columns[pivot]] = true;
        let line: Vec<f64> = cells[pivot * count..(pivot + 1) * count]
            .iter()
            .map(|cell| cell / value)
            .collect();
        for row in (0..count).filter(|row| *row != pivot) {
            let factor = cells[row * count + pivot];
            if factor == 0.0 {
                continue;
            }
            for (cell, part) in cells[row * count..(row + 1) * count].iter_mut().zip(&line) {
                *cell -= factor * part;
            }
            cells[row * count + pivot] = -factor / value;
        }
        cells[pivot * count..(pivot + 1) * count].copy_from_slice(&line);
        cells[pivot * count + pivot] = 1.0 / value;
    }
    let mut inverse = vec![0.0; size * size];
    for row in (0..count).filter(|row| swept[*row]) {
        for column in (0..count).filter(|column| swept[*column]) {
            inverse[columns[row] * size + columns[column]] =
                cells[row * count + column] / (scales[row] * scales[column]);
        }
    }
    (inverse, free)
}

/// `matrix` times `vector`.
pub(super) fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix
        .chunks_exact(vector.len())
        .map(|row| dot(row, vector))
        .collect()
}

impl Problem<'_> {
    /// The columns of the intercepts and the active effects.
    pub(super) fn columns(&self, active: &[bool]) -> Vec<usize> {
        let effects = self
            .design
            .effects
            .iter()
            .zip(active)
            .filter(|(_, active)| **active);
        (0..self.intercepts)
            .chain(effects.flat_map(|(effect, _)| effect.first..effect.first + effect.count))
            .collect()
    }

    /// Maximizes the likelihood from `start` on, where the sums may be `known`.
    pub(super) fn fit(
        &self,
        (start, known): (Vec<f64>, Option<Sums>),
        active: &[bool],
        maximum: u64,
        criterion: f64,
    ) -> Outcome<Fitted> {
        let columns = self.columns(active);
        let size = self.design.columns;
        let mut beta = start;
        let mut sums = match known {
            Some(sums) => sums,
            None => self.sums(&beta, active, false)?,
        };
        let mut variances: Vec<f64> = vec![0.0; size];
        let mut iteration = 0;
        loop {
            let (covariance, free) = invert(&sums.information, size, &columns);
            let step = times(&covariance, &sums.gradient);
            let gain = dot(&step, &sums.gradient);
            let own: Vec<f64> = (0..size)
                .map(|column| covariance[column * size + column])
                .collect();
            let grown = own
                .iter()
                .zip(&variances)
                .any(|(own, before)| *own > 2.0 * before && *before > 0.0);
            let status = if sums.separated && iteration > 0 {
                Some(Status::Complete)
            } else if iteration >= 8 && grown {
                Some(Status::Quasi)
            } else if gain.abs() / (sums.likelihood.abs() + 1e-6) < criterion && gain < 1e-13 {
                // Steps become smaller by squares: so small a last one is past the digits printed.
                Some(Status::Converged)
            } else if iteration >= maximum {
                Some(Status::Unfinished)
            } else {
                None
            };
            if let Some(status) = status {
                return Ok(Fitted {
                    likelihood: sums.likelihood,
                    beta,
                    covariance,
                    free,
                    status,
                    sums,
                });
            }
            variances = own;
            iteration += 1;
            (beta, sums) = self.advance(&beta, &step, &sums, active)?;
        }
    }

    /// Takes a step, or as much of it as raises the likelihood.
    fn advance(
        &self,
        beta: &[f64],
        step: &[f64],
        sums: &Sums,
        active: &[bool],
    ) -> Outcome<(Vec<f64>, Sums)> {
        let mut scale = 1.0;
        loop {
            let next: Vec<f64> = beta
                .iter()
                .zip(step)
                .map(|(beta, step)| beta + scale * step)
                .collect();
            let reached = self.sums(&next, active, false)?;
            let slack = 1e-9 * (sums.likelihood.abs() + 1.0);
            if reached.likelihood >= sums.likelihood - slack || scale < 1e-6 {
                return Ok((next, reached));
            }
            scale /= 2.0;
        }
    }
}

/// Score test of `columns` beside `others`, at a model that has only the latter.
pub(super) fn score(sums: &Sums, size: usize, others: &[usize], columns: &[usize]) -> Test {
    let all: Vec<usize> = [others, columns].concat();
    let (with, free) = invert(&sums.information, size, &all);
    let (without, _) = invert(&sums.information, size, others);
    let of = |inverse: &[f64]| dot(&times(inverse, &sums.gradient), &sums.gradient);
    Test {
        square: (of(&with) - of(&without)).max(0.0),
        degrees: columns.iter().filter(|column| free[**column]).count() as f64,
    }
}

impl Fitted {
    /// Wald test of rows of coefficients.
    pub(super) fn wald(&self, rows: &[Vec<f64>]) -> Test {
        let size = rows.len();
        let values: Vec<f64> = rows.iter().map(|row| dot(row, &self.beta)).collect();
        let mut matrix = vec![0.0; size * size];
        for (index, row) in rows.iter().enumerate() {
            let product = times(&self.covariance, row);
            for (other, column) in rows.iter().enumerate() {
                matrix[index * size + other] = dot(&product, column);
            }
        }
        let columns: Vec<usize> = (0..size).collect();
        let (inverse, free) = invert(&matrix, size, &columns);
        Test {
            square: dot(&times(&inverse, &values), &values),
            degrees: free.iter().filter(|free| **free).count() as f64,
        }
    }

    /// Wald test of parameters.
    pub(super) fn wald_of(&self, columns: impl Iterator<Item = usize>) -> Test {
        let unit = |column: usize| {
            let mut row = vec![0.0; self.beta.len()];
            row[column] = 1.0;
            row
        };
        let rows: Vec<Vec<f64>> = columns
            .filter(|column| self.free[*column])
            .map(unit)
            .collect();
        self.wald(&rows)
    }

    pub(super) fn error(&self, column: usize) -> f64 {
        if self.free[column] {
            self.covariance[column * self.beta.len() + column].sqrt()
        } else {
            f64::NAN
        }
    }
}
