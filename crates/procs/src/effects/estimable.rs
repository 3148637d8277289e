//! Estimable functions: which combinations of parameters the data can tell, and the hypotheses of
//! Type II and Type III.

use std::ops::Range;

use super::Effect;
use crate::linear::{Echelon, dot, subtract};

/// What is so small beside 1 in a row of coefficients is zero.
const NOTHING: f64 = 1e-8;

/// A row of which less is left has to be made orthogonal once more.
const ENOUGH: f64 = 0.1;

/// The rows of the general form of estimable functions: 1 at a pivot, and the coefficients of the
/// columns that depend on it.
pub(crate) struct General {
    /// Columns that depend on others.
    dependent: Vec<usize>,
    /// For each of them, its coefficients on the pivots.
    coefficients: Vec<Vec<f64>>,
}

impl General {
    pub(crate) fn new(echelon: &Echelon) -> Self {
        let dependent: Vec<usize> = (0..echelon.regressors())
            .filter(|column| echelon.row_of(*column).is_none())
            .collect();
        let of = |column: &usize| {
            let mut own = echelon.solve(|row| echelon.at(row, *column));
            for value in &mut own {
                if value.abs() < NOTHING {
                    *value = 0.0;
                }
            }
            own
        };
        Self {
            coefficients: dependent.iter().map(of).collect(),
            dependent,
        }
    }

    /// Whether a combination of parameters is estimable.
    pub(crate) fn is_estimable(&self, function: &[f64], echelon: &Echelon) -> bool {
        let size = function
            .iter()
            .fold(1.0, |most: f64, value| most.max(value.abs()));
        self.dependent
            .iter()
            .zip(&self.coefficients)
            .all(|(column, own)| {
                let pivots = echelon.pivots().iter().zip(own);
                let wanted: f64 = pivots.map(|(pivot, value)| function[*pivot] * value).sum();
                (function[*column] - wanted).abs() <= NOTHING * size
            })
    }

    /// The hypothesis of Type III of an effect, as coefficients of the pivots' parameters: it holds
    /// parameters of the effect and of those that contain it, and is orthogonal to all that holds
    /// only parameters of the latter.
    pub(crate) fn type_three(
        &self,
        echelon: &Echelon,
        own: &Range<usize>,
        containing: &[Range<usize>],
    ) -> Vec<Vec<f64>> {
        let inside = |column: usize| containing.iter().any(|range| range.contains(&column));
        // Rows of the effect and of those that contain it, as coefficients of all columns.
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (row, pivot) in echelon.pivots().iter().enumerate() {
            if own.contains(pivot) || inside(*pivot) {
                let mut line = vec![0.0; echelon.regressors()];
                line[*pivot] = 1.0;
                for (column, coefficients) in self.dependent.iter().zip(&self.coefficients) {
                    line[*column] = coefficients[row];
                }
                rows.push(line);
            }
        }
        let outside: Vec<usize> = self
            .dependent
            .iter()
            .copied()
            .filter(|column| !own.contains(column) && !inside(*column))
            .collect();
        let (_, rows) = eliminate(rows, outside);
        let (mut hypothesis, rest) = eliminate(rows, own.clone());
        let basis = orthonormal(rest);
        for row in &mut hypothesis {
            orthogonal(row, &basis);
        }
        let pivots = echelon.pivots();
        let of = |row: &Vec<f64>| pivots.iter().map(|pivot| row[*pivot]).collect();
        hypothesis.iter().map(of).collect()
    }
}

/// Columns of the effects that contain effect `index`; those of an intercept are not among them.
pub(crate) fn containing(
    effects: &[Effect],
    ranges: &[Range<usize>],
    index: usize,
) -> Vec<Range<usize>> {
    let own = &effects[index];
    effects
        .iter()
        .zip(ranges)
        .filter(|(other, _)| own.is_within(other))
        .map(|(_, range)| range.clone())
        .collect()
}

/// Degrees of freedom and sum of squares of a hypothesis.
pub(crate) fn square(echelon: &Echelon, response: usize, hypothesis: &[Vec<f64>]) -> (usize, f64) {
    let rotated = hypothesis
        .iter()
        .map(|row| echelon.solve_transposed(row))
        .collect();
    let basis = orthonormal(rotated);
    let along = |unit: &Vec<f64>| -> f64 {
        let parts = unit.iter().enumerate();
        parts
            .map(|(row, part)| part * echelon.at(row, response))
            .sum()
    };
    (
        basis.len(),
        basis.iter().map(|unit| along(unit).powi(2)).sum(),
    )
}

/// Reduces `rows` on `columns`: those that carry a pivot there, and the rest, which are zero there.
fn eliminate(
    mut rows: Vec<Vec<f64>>,
    columns: impl IntoIterator<Item = usize>,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut pivots = 0;
    for column in columns {
        let size = |row: &usize| rows[*row][column].abs();
        let Some(best) =
            (pivots..rows.len()).max_by(|one, other| size(one).total_cmp(&size(other)))
        else {
            break;
        };
        if rows[best][column].abs() <= NOTHING {
            for row in &mut rows[pivots..] {
                row[column] = 0.0;
            }
            continue;
        }
        rows.swap(pivots, best);
        let (head, tail) = rows.split_at_mut(pivots + 1);
        let pivot = &head[pivots];
        for row in tail {
            let factor = row[column] / pivot[column];
            if factor == 0.0 {
                continue;
            }
            for (cell, part) in row.iter_mut().zip(pivot) {
                *cell -= factor * part;
                if cell.abs() < NOTHING {
                    *cell = 0.0;
                }
            }
            row[column] = 0.0;
        }
        pivots += 1;
    }
    let rest = rows.split_off(pivots);
    (rows, rest)
}

/// Rows of length 1, orthogonal to each other, that span the same space.
fn orthonormal(rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut row in rows {
        let before = dot(&row, &row).sqrt();
        let length = orthogonal(&mut row, &basis);
        if length > NOTHING * before {
            for cell in &mut row {
                *cell /= length;
            }
            basis.push(row);
        }
    }
    basis
}

/// Takes off `row` what lies along `basis`; its length then.
fn orthogonal(row: &mut [f64], basis: &[Vec<f64>]) -> f64 {
    let mut before = dot(row, row).sqrt();
    for _ in 0..2 {
        for unit in basis {
            let along = dot(row, unit);
            subtract(row, along, unit);
        }
        let length = dot(row, row).sqrt();
        let enough = length > ENOUGH * before;
        before = length;
        if enough {
            break;
        }
    }
    before
}
