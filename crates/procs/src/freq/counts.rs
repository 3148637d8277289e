//! The counts of one table.

use engine::failure::{Failure, Outcome};

use crate::levels::{Classes, Levels};

/// A table being counted: one cell for every combination of values that occurs.
pub(super) struct Counts {
    pub(super) classes: Classes,
    levels: Levels,
    keys: Vec<u8>,
    cells: Vec<f64>,
    /// What was left out for a missing value.
    pub(super) missing: f64,
    /// Its cells, if they are wanted.
    left_out: Option<Box<Counts>>,
    /// Some weight was negative: there are neither percentages nor statistics.
    pub(super) negative: bool,
    limit: u64,
}

impl Counts {
    pub(super) fn new(classes: Classes, limit: u64) -> Self {
        Self {
            classes,
            levels: Levels::new(),
            keys: Vec::new(),
            cells: Vec::new(),
            missing: 0.0,
            left_out: None,
            negative: false,
            limit,
        }
    }

    /// Keeps the cells of what is left out, too; `classes` are the same with missing values.
    pub(super) fn keep_left_out(&mut self, classes: Classes) {
        self.left_out = Some(Box::new(Self::new(classes, self.limit)));
    }

    /// Forgets the counts.
    pub(super) fn clear(&mut self) {
        self.levels = Levels::new();
        self.keys.clear();
        self.cells.clear();
        self.missing = 0.0;
        self.negative = false;
        if let Some(left_out) = &mut self.left_out {
            left_out.clear();
        }
    }

    /// Counts a row.
    #[inline]
    pub(super) fn add(&mut self, row: &[u8], weight: f64) -> Outcome<()> {
        self.negative |= weight < 0.0;
        let Some((key, told)) = self.classes.key(row) else {
            self.missing += weight;
            return match &mut self.left_out {
                Some(left_out) => left_out.add(row, weight),
                None => Ok(()),
            };
        };
        let cell = self.levels.number(told);
        if cell == self.cells.len() {
            self.keys.extend_from_slice(key);
            self.cells.push(0.0);
            // Vectors that grow hold up to twice what is in them.
            let each = 2 * (key.len() + Levels::bytes_each(told.len()) + size_of::<f64>());
            if (each * self.cells.len()) as u64 > self.limit {
                return Err(Failure::world(format!(
                    "The SAS System stopped processing this step because of insufficient memory: {} \
                     combinations of values do not fit into {} MiB. Raise MEMSIZE=.",
                    self.cells.len(),
                    self.limit >> 20
                )));
            }
        } else if key.len() != told.len() {
            let lowest = &mut self.keys[cell * key.len()..(cell + 1) * key.len()];
            if key < &*lowest {
                lowest.copy_from_slice(key);
            }
        }
        self.cells[cell] += weight;
        Ok(())
    }

    /// Makes equal levels equal parts of keys; to be called once all rows are counted.
    pub(super) fn unify(&mut self) {
        let Some(left_out) = &mut self.left_out else {
            return self.classes.unify(&mut self.keys);
        };
        let counted = self.keys.len();
        self.keys.append(&mut left_out.keys);
        self.classes.unify(&mut self.keys);
        left_out.keys = self.keys.split_off(counted);
    }

    /// All cells and those that were left out, in the order of their values.
    pub(super) fn with_left_out(&self) -> Vec<Cell<'_>> {
        let cell = |left_out| {
            move |(key, count)| Cell {
                key,
                count,
                left_out,
            }
        };
        let counted = self.in_order().into_iter().map(cell(false));
        let Some(left_out) = &self.left_out else {
            return counted.collect();
        };
        let left_out = left_out.in_order().into_iter().map(cell(true));
        let mut cells: Vec<Cell<'_>> = counted.chain(left_out).collect();
        cells.sort_by(|left, right| left.key.cmp(right.key));
        cells
    }

    /// All cells, in the order of their values: key and count.
    pub(super) fn in_order(&self) -> Vec<(&[u8], f64)> {
        let bytes = self.classes.key_bytes().max(1);
        let mut cells: Vec<(&[u8], f64)> = self
            .keys
            .chunks_exact(bytes)
            .zip(self.cells.iter().copied())
            .collect();
        cells.sort_by(|left, right| left.0.cmp(right.0));
        cells
    }
}

/// A combination of values and how often it occurs.
pub(super) struct Cell<'a> {
    pub(super) key: &'a [u8],
    pub(super) count: f64,
    /// One of them is missing.
    pub(super) left_out: bool,
}

/// Those that were counted: key and count.
pub(super) fn counted<'a>(cells: &[Cell<'a>]) -> Vec<(&'a [u8], f64)> {
    let counted = cells.iter().filter(|cell| !cell.left_out);
    counted.map(|cell| (cell.key, cell.count)).collect()
}

/// A two-way table: rows and columns by their parts of the key, and the counts.
pub(super) struct Crossed<'a> {
    pub(super) rows: Vec<&'a [u8]>,
    pub(super) columns: Vec<&'a [u8]>,
    counts: Vec<f64>,
}

impl<'a> Crossed<'a> {
    /// The cells of one stratum; the parts are those of the last two variables.
    pub(super) fn new(
        cells: &[(&'a [u8], f64)],
        row: &std::ops::Range<usize>,
        column: &std::ops::Range<usize>,
    ) -> Self {
        let mut rows: Vec<&[u8]> = cells.iter().map(|(key, _)| &key[row.clone()]).collect();
        let mut columns: Vec<&[u8]> = cells.iter().map(|(key, _)| &key[column.clone()]).collect();
        for values in [&mut rows, &mut columns] {
            values.sort_unstable();
            values.dedup();
        }
        let mut counts = vec![0.0; rows.len() * columns.len()];
        for (key, count) in cells {
            let place = |values: &[&[u8]], part: &std::ops::Range<usize>| {
                values
                    .binary_search(&&key[part.clone()])
                    .unwrap_or_default()
            };
            counts[place(&rows, row) * columns.len() + place(&columns, column)] += count;
        }
        Self {
            rows,
            columns,
            counts,
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.counts[row * self.columns.len() + column]
    }

    pub(super) fn row_total(&self, row: usize) -> f64 {
        (0..self.columns.len())
            .map(|column| self.at(row, column))
            .sum()
    }

    pub(super) fn column_total(&self, column: usize) -> f64 {
        (0..self.rows.len()).map(|row| self.at(row, column)).sum()
    }

    pub(super) fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The phi coefficient, with a sign for tables of two by two.
    pub(super) fn phi(&self) -> f64 {
        let size = (self.chi_squares().0 / self.total()).sqrt();
        if (self.rows.len(), self.columns.len()) != (2, 2) {
            return size;
        }
        let along = self.at(0, 0) * self.at(1, 1) - self.at(0, 1) * self.at(1, 0);
        size.copysign(along)
    }

    /// The contingency coefficient.
    pub(super) fn contingency(&self) -> f64 {
        let square = self.phi().powi(2);
        (square / (1.0 + square)).sqrt()
    }

    /// Cramer's V.
    pub(super) fn cramer(&self) -> f64 {
        let smaller = self.rows.len().min(self.columns.len()) as f64 - 1.0;
        self.phi() / smaller.sqrt()
    }

    /// The share of the cells whose expected count is below `limit`.
    pub(super) fn share_below(&self, limit: f64) -> f64 {
        let total = self.total();
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let below = (0..rows * columns).filter(|cell| {
            let (row, column) = (cell / columns, cell % columns);
            self.row_total(row) * self.column_total(column) / total < limit
        });
        below.count() as f64 / (rows * columns) as f64
    }

    /// Pearson's and the likelihood ratio chi-square, and their degrees of freedom.
    pub(super) fn chi_squares(&self) -> (f64, f64, f64) {
        let total = self.total();
        let (mut pearson, mut likelihood) = (0.0, 0.0);
        for row in 0..self.rows.len() {
            for column in 0..self.columns.len() {
                let count = self.at(row, column);
                let expected = self.row_total(row) * self.column_total(column) / total;
                pearson += (count - expected).powi(2) / expected;
                if count > 0.0 {
                    likelihood += 2.0 * count * (count / expected).ln();
                }
            }
        }
        let degrees = (self.rows.len() as f64 - 1.0) * (self.columns.len() as f64 - 1.0);
        (pearson, likelihood, degrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eye and hair colours of children, a published example: 20.9248 with 8 degrees of freedom.
    #[test]
    fn chi_square_of_a_published_table() {
        let counts = [
            [6.0, 51.0, 69.0, 68.0, 28.0],
            [16.0, 94.0, 90.0, 94.0, 47.0],
            [0.0, 37.0, 69.0, 55.0, 38.0],
        ];
        let keys: Vec<[u8; 2]> = (0..15u8).map(|cell| [cell / 5, cell % 5]).collect();
        let cells: Vec<(&[u8], f64)> = keys
            .iter()
            .map(|key| {
                (
                    key.as_slice(),
                    counts[usize::from(key[0])][usize::from(key[1])],
                )
            })
            .filter(|(_, count)| *count > 0.0)
            .collect();
        let (pearson, likelihood, degrees) = Crossed::new(&cells, &(0..1), &(1..2)).chi_squares();
        assert!((pearson - 20.9248).abs() < 5e-5, "{pearson}");
        assert!((likelihood - 25.9733).abs() < 5e-5, "{likelihood}");
        assert!((degrees - 8.0).abs() < 1e-12);
    }
}
