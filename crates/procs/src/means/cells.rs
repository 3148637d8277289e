//! What is accumulated of all variables in all groups: of each only what is asked for, one kind beside
//! the other, so that a row costs no more than that.

use super::cell::{Cell, Depth};

/// What is asked for beside counts and sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// Least and greatest values.
    pub(super) extremes: bool,
    /// Powers of the values.
    pub(super) depth: Depth,
    /// Rows have weights.
    pub(super) weights: bool,
}

/// The shift of a group is moved first after so many rows, then after so many times as many each.
const RECENTRE: f64 = 16.0;

/// Cells by group and variable.
#[derive(Debug)]
pub(super) struct Cells {
    variables: usize,
    asked: Asked,
    /// Rows of each group, with FREQ.
    frequencies: Vec<f64>,
    /// At so many rows the shifts of a group are moved to the means.
    recentre_at: Vec<f64>,
    /// Missing values, with FREQ.
    missing: Vec<f64>,
    /// What a row changes, by group, so that it lies together: of every kind that is asked for, a
    /// value of each variable. The kinds are, in this order: sums; weights; least and greatest
    /// values; shifts (about which powers are taken, NaN before the first value) and sums of powers.
    kinds: Vec<f64>,
}

impl Cells {
    pub(super) fn new(variables: usize, asked: Asked) -> Self {
        Self {
            variables,
            asked,
            frequencies: Vec::new(),
            recentre_at: Vec::new(),
            missing: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// How many values of a variable are kept, in `kinds`.
    fn kept(&self) -> usize {
        let powers = self.asked.depth.powers();
        1 + usize::from(self.asked.weights)
            + 2 * usize::from(self.asked.extremes)
            + powers
            + usize::from(powers > 0)
    }

    /// One group of one variable with these values.
    #[cfg(test)]
    pub(super) fn of(values: &[f64]) -> Self {
        let mut cells = Self::new(
            1,
            Asked {
                extremes: true,
                depth: Depth::Powers,
                weights: false,
            },
        );
        cells.add_group();
        for value in values {
            cells.add(0, &[*value], 1.0, 1.0);
        }
        cells
    }

    /// Memory of a group, bytes.
    pub(super) fn bytes_each(&self) -> usize {
        (2 + (1 + self.kept()) * self.variables) * size_of::<f64>()
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.frequencies.len()
    }

    /// A group without rows.
    pub(super) fn add_group(&mut self) {
        self.frequencies.push(0.0);
        self.recentre_at.push(RECENTRE);
        self.missing.resize(self.groups() * self.variables, 0.0);
        self.kinds
            .resize(self.groups() * self.kept() * self.variables, 0.0);
        let group = self.groups() - 1;
        for variable in 0..self.variables {
            self.set(group, variable, &Cell::default());
        }
    }

    /// Rows of a group, with FREQ.
    pub(super) fn frequency(&self, group: usize) -> f64 {
        self.frequencies[group]
    }

    /// Adds a row, `times` times, with a weight: a value or NaN of every variable.
    #[inline]
    pub(super) fn add(&mut self, group: usize, values: &[f64], times: f64, weight: f64) {
        let (variables, bytes) = (self.variables, self.kept() * self.variables);
        let weight = weight * times;
        self.frequencies[group] += times;
        let (sums, rest) = self.kinds[group * bytes..(group + 1) * bytes].split_at_mut(variables);
        let mut complete = true;
        for (sum, value) in sums.iter_mut().zip(values) {
            complete &= !value.is_nan();
            *sum += if value.is_nan() { 0.0 } else { weight * value };
        }
        if !complete {
            let missing = &mut self.missing[group * variables..(group + 1) * variables];
            for (missing, value) in missing.iter_mut().zip(values) {
                *missing += if value.is_nan() { times } else { 0.0 };
            }
        }
        let mut rest = rest;
        if self.asked.weights {
            let (weights, others) = rest.split_at_mut(variables);
            for (weights, value) in weights.iter_mut().zip(values) {
                *weights += if value.is_nan() { 0.0 } else { weight };
            }
            rest = others;
        }
        if self.asked.extremes {
            let (extremes, others) = rest.split_at_mut(2 * variables);
            let (least, greatest) = extremes.split_at_mut(variables);
            for (least, value) in least.iter_mut().zip(values) {
                *least = if *value < *least { *value } else { *least };
            }
            for (greatest, value) in greatest.iter_mut().zip(values) {
                *greatest = if *value > *greatest {
                    *value
                } else {
                    *greatest
                };
            }
            rest = others;
        }
        if self.asked.depth > Depth::Sums {
            add_powers(rest, values, weight, self.asked.depth);
            if self.frequencies[group] >= self.recentre_at[group] {
                self.recentre(group);
            }
        }
    }

    #[cold]
    fn recentre(&mut self, group: usize) {
        self.recentre_at[group] = self.frequencies[group] * RECENTRE;
        for variable in 0..self.variables {
            let mut cell = self.cell(group, variable);
            cell.recentre();
            self.set(group, variable, &cell);
        }
    }

    /// What was accumulated of a variable in a group.
    pub(super) fn cell(&self, group: usize, variable: usize) -> Cell {
        let first = group * self.kept() * self.variables + variable;
        let mut kinds = self.kinds[first..].iter().step_by(self.variables).copied();
        let mut next = || kinds.next().unwrap_or_default();
        let missing = self.missing[group * self.variables + variable];
        let n = self.frequencies[group] - missing;
        let mut cell = Cell {
            n,
            missing,
            weights: n,
            sum: next(),
            ..Cell::default()
        };
        if self.asked.weights {
            cell.weights = next();
        }
        if self.asked.extremes {
            (cell.min, cell.max) = (next(), next());
        }
        if self.asked.depth > Depth::Sums {
            let shift = next();
            cell.shift = if shift.is_nan() { 0.0 } else { shift };
            (cell.first, cell.second) = (next(), next());
        }
        if self.asked.depth == Depth::Powers {
            (cell.third, cell.fourth) = (next(), next());
        }
        cell
    }

    /// Stores a cell; its count comes from the group's rows.
    fn set(&mut self, group: usize, variable: usize, cell: &Cell) {
        let asked = self.asked;
        self.missing[group * self.variables + variable] = cell.missing;
        let first = group * self.kept() * self.variables + variable;
        let mut kinds = self.kinds[first..].iter_mut().step_by(self.variables);
        let mut put = |value| {
            if let Some(kind) = kinds.next() {
                *kind = value;
            }
        };
        put(cell.sum);
        if asked.weights {
            put(cell.weights);
        }
        if asked.extremes {
            put(cell.min);
            put(cell.max);
        }
        if asked.depth > Depth::Sums {
            put(if cell.n > 0.0 { cell.shift } else { f64::NAN });
            put(cell.first);
            put(cell.second);
        }
        if asked.depth == Depth::Powers {
            put(cell.third);
            put(cell.fourth);
        }
    }

    /// Adds all rows of another group: its frequency and its cells, in order.
    pub(super) fn merge(
        &mut self,
        group: usize,
        frequency: f64,
        cells: impl Iterator<Item = Cell>,
    ) {
        let merged: Vec<Cell> = cells
            .enumerate()
            .map(|(variable, cell)| {
                let mut merged = self.cell(group, variable);
                merged.merge(&cell);
                merged
            })
            .collect();
        self.frequencies[group] += frequency;
        for (variable, cell) in merged.iter().enumerate() {
            self.set(group, variable, cell);
        }
    }
}

/// Adds to shifts and sums of powers.
#[inline]
fn add_powers(kinds: &mut [f64], values: &[f64], weight: f64, depth: Depth) {
    let (shifts, rest) = kinds.split_at_mut(values.len());
    let (first, rest) = rest.split_at_mut(values.len());
    let (second, rest) = rest.split_at_mut(values.len());
    let places = shifts.iter_mut().zip(values);
    for ((shift, value), (first, second)) in places.zip(first.iter_mut().zip(second)) {
        // The first value that is not missing is the first shift.
        *shift = if shift.is_nan() { *value } else { *shift };
        let distance = value - *shift;
        let distance = if distance.is_nan() { 0.0 } else { distance };
        *first += weight * distance;
        *second += weight * distance * distance;
    }
    if depth == Depth::Powers {
        let (third, fourth) = rest.split_at_mut(values.len());
        let places = shifts.iter().zip(values);
        for ((shift, value), (third, fourth)) in places.zip(third.iter_mut().zip(fourth)) {
            let distance = value - shift;
            let distance = if distance.is_nan() { 0.0 } else { distance };
            let cube = weight * distance * distance * distance;
            *third += cube;
            *fourth += cube * distance;
        }
    }
}
