//! Least squares: a figure is what its cell makes it, times what its block makes it, times noise. Logarithms make
//! sums of that.

use std::collections::{BTreeMap, BTreeSet};

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::statistics::ratio::Ratio;

/// Share of intervals that hold what they are of.
const CONFIDENCE: f64 = 0.95;

/// A figure of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Logarithm of the figure.
    pub value: f64,
    /// Number of its cell.
    pub cell: usize,
    /// Its block; a run that was made elsewhere has none.
    pub block: Option<String>,
}

/// Cells and blocks as least squares estimate them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// By cell: place among the parameters.
    cells: BTreeMap<usize, usize>,
    /// Names of the blocks; the effects of all of them sum to 0. One or none: no block effects.
    pub blocks: Vec<String>,
    /// Why there are no block effects, if runs have blocks.
    pub without_blocks: Option<String>,
    /// Cells first, then all blocks but the last.
    estimates: Vec<f64>,
    /// Inverse of the normal equations' matrix.
    inverse: Vec<Vec<f64>>,
    /// Degrees of freedom of the residual.
    pub freedom: usize,
    /// Variance of the residual; absent without freedom.
    pub variance: Option<f64>,
}

/// Fits the figures; `None` if fewer than two cells have one.
pub fn fit(measured: &[Measured]) -> Option<Fit> {
    let numbers: BTreeSet<usize> = measured.iter().map(|one| one.cell).collect();
    if numbers.len() < 2 {
        return None;
    }
    let cells: BTreeMap<usize, usize> = numbers
        .into_iter()
        .enumerate()
        .map(|(place, cell)| (cell, place))
        .collect();
    let (blocks, without_blocks) = match blocks(measured) {
        Ok(blocks) => (blocks, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let rows: Vec<Vec<f64>> = measured
        .iter()
        .map(|one| row(one, &cells, &blocks))
        .collect();
    let size = cells.len() + blocks.len().saturating_sub(1);
    let mut normal = vec![vec![0.0; size]; size];
    let mut right = vec![0.0; size];
    for (row, one) in rows.iter().zip(measured) {
        for (at, left) in row.iter().enumerate().filter(|(_, left)| **left != 0.0) {
            right[at] += left * one.value;
            for (other, value) in row.iter().enumerate() {
                normal[at][other] += left * value;
            }
        }
    }
    let inverse = inverse(normal)?;
    let estimates: Vec<f64> = inverse.iter().map(|row| dot(row, &right)).collect();
    let squares: f64 = rows
        .iter()
        .zip(measured)
        .map(|(row, one)| (one.value - dot(row, &estimates)).powi(2))
        .sum();
    let freedom = measured.len().saturating_sub(size);
    Some(Fit {
        cells,
        blocks,
        without_blocks,
        estimates,
        inverse,
        freedom,
        variance: (freedom > 0).then(|| squares / freedom as f64),
    })
}

/// Names of the blocks, if cells can be compared across all of them.
fn blocks(measured: &[Measured]) -> Result<Vec<String>, String> {
    let names: BTreeSet<&String> = measured
        .iter()
        .filter_map(|one| one.block.as_ref())
        .collect();
    if names.len() < 2 {
        return Ok(Vec::new());
    }
    if measured.iter().any(|one| one.block.is_none()) {
        return Err(
            "some runs belong to no block: drift from block to block is not taken out and counts as noise"
                .to_owned(),
        );
    }
    let mut reached: BTreeSet<&String> = names.iter().take(1).copied().collect();
    loop {
        let cells: BTreeSet<usize> = measured
            .iter()
            .filter(|one| {
                one.block
                    .as_ref()
                    .is_some_and(|name| reached.contains(name))
            })
            .map(|one| one.cell)
            .collect();
        let next: BTreeSet<&String> = measured
            .iter()
            .filter(|one| cells.contains(&one.cell))
            .filter_map(|one| one.block.as_ref())
            .collect();
        if next.len() == reached.len() {
            break;
        }
        reached = next;
    }
    if reached.len() < names.len() {
        return Err(
            "runs of different places share no block: drift from block to block is not taken out and counts as \
             noise"
                .to_owned(),
        );
    }
    Ok(names.into_iter().cloned().collect())
}

/// A row of the design: its cell, and its block against the last, so that blocks sum to 0.
fn row(one: &Measured, cells: &BTreeMap<usize, usize>, blocks: &[String]) -> Vec<f64> {
    let of_blocks = blocks.len().saturating_sub(1);
    let mut row = vec![0.0; cells.len() + of_blocks];
    row[cells[&one.cell]] = 1.0;
    let block = blocks
        .iter()
        .position(|name| Some(name) == one.block.as_ref());
    if let Some(block) = block {
        if block < of_blocks {
            row[cells.len() + block] = 1.0;
        } else {
            row[cells.len()..].fill(-1.0);
        }
    }
    row
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// Inverse of a symmetric, positive definite matrix, by Gauss and Jordan with pivots; `None` if it has none.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    /// Counts of runs are at the diagonal: what is so far below 1 is a rounding error.
    const SMALL: f64 = 1e-9;
    let size = matrix.len();
    for (at, row) in matrix.iter_mut().enumerate() {
        row.resize(2 * size, 0.0);
        row[size + at] = 1.0;
    }
    for at in 0..size {
        let pivot = (at..size)
            .max_by(|left, right| matrix[*left][at].abs().total_cmp(&matrix[*right][at].abs()))?;
        matrix.swap(at, pivot);
        let by = matrix[at][at];
        if by.abs() < SMALL {
            return None;
        }
        for value in &mut matrix[at] {
            *value /= by;
        }
        let own = matrix[at].clone();
        for (other, row) in matrix.iter_mut().enumerate() {
            let times = row[at];
            if other == at || times == 0.0 {
                continue;
            }
            for (value, own) in row.iter_mut().zip(&own) {
                *value -= times * own;
            }
        }
    }
    Some(matrix.into_iter().map(|row| row[size..].to_vec()).collect())
}

impl Fit {
    /// True if the cell was measured.
    pub fn has(&self, cell: usize) -> bool {
        self.cells.contains_key(&cell)
    }

    /// A weighted sum of cells as a ratio with its interval; `None` if one of them was not measured.
    pub fn contrast(&self, weights: &BTreeMap<usize, f64>) -> Option<Ratio> {
        let mut all = vec![0.0; self.estimates.len()];
        for (cell, weight) in weights {
            all[*self.cells.get(cell)?] = *weight;
        }
        Some(self.ratio(&all))
    }

    /// A block over the first.
    pub fn block(&self, block: usize) -> Ratio {
        let mut all = vec![0.0; self.estimates.len()];
        let (first, count) = (self.cells.len(), self.blocks.len());
        let mut add = |block: usize, sign: f64| {
            if block + 1 < count {
                all[first + block] += sign;
            } else {
                for value in &mut all[first..] {
                    *value -= sign;
                }
            }
        };
        add(block, 1.0);
        add(0, -1.0);
        self.ratio(&all)
    }

    fn ratio(&self, weights: &[f64]) -> Ratio {
        let estimate = dot(weights, &self.estimates);
        let interval = self
            .variance
            .zip(quantile(self.freedom))
            .map(|(variance, t)| {
                let times: Vec<f64> = self.inverse.iter().map(|row| dot(row, weights)).collect();
                let half = t * (variance * dot(weights, &times)).sqrt();
                ((estimate - half).exp(), (estimate + half).exp())
            });
        Ratio {
            ratio: estimate.exp(),
            interval,
        }
    }
}

/// Quantile of Student's t for a two-sided interval; `None` without freedom.
fn quantile(freedom: usize) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    Some(t.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of NIST/SEMATECH's e-Handbook, 1.3.6.7.2.
    #[test]
    fn quantiles_are_those_of_the_table() {
        for (freedom, wanted) in [(1, 12.706), (4, 2.776), (10, 2.228), (30, 2.042)] {
            let found = quantile(freedom).unwrap();
            assert!((found - wanted).abs() < 5e-4, "{freedom}: {found}");
        }
        assert_eq!(quantile(0), None);
    }

    #[test]
    fn cells_that_share_no_block_are_compared_without_blocks() {
        let one = |cell: usize, block: &str, value: f64| Measured {
            value,
            cell,
            block: Some(block.to_owned()),
        };
        let apart = [
            one(0, "a1", 1.0),
            one(0, "a2", 1.2),
            one(1, "b1", 2.0),
            one(1, "b2", 2.2),
        ];
        let found = fit(&apart).unwrap();
        assert!(found.without_blocks.is_some() && found.blocks.is_empty());
        assert_eq!(found.freedom, 2);
        let joined = [apart.to_vec(), vec![one(0, "b1", 1.1)]].concat();
        let found = fit(&joined).unwrap();
        assert_eq!((found.without_blocks, found.blocks.len()), (None, 4));
    }

    #[test]
    fn one_cell_shows_nothing() {
        let one = |value| Measured {
            value,
            cell: 3,
            block: None,
        };
        assert_eq!(fit(&[one(1.0), one(2.0)]), None);
        assert_eq!(fit(&[]), None);
    }
}
