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

/// The shifts of a group are moved first after so many rows, then after so many times as many each.
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
    /// Groups of which every variable has a shift.
    settled: Vec<bool>,
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
            settled: Vec::new(),
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
        self.settled.push(false);
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
        let (variables, kept) = (self.variables, self.kept() * self.variables);
        let weight = weight * times;
        self.frequencies[group] += times;
        let (sums, mut rest) = self.kinds[group * kept..(group + 1) * kept].split_at_mut(variables);
        let complete = !values.iter().fold(false, |any, value| any | value.is_nan());
        if complete {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * value;
            }
        } else {
            let missing = &mut self.missing[group * variables..(group + 1) * variables];
            for ((sum, missing), value) in sums.iter_mut().zip(missing).zip(values) {
                if value.is_nan() {
                    *missing += times;
                } else {
                    *sum += weight * value;
                }
            }
        }
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
        if self.asked.depth == Depth::Sums {
            return;
        }
        if !self.settled[group] {
            self.settled[group] = settle(&mut rest[..variables], values);
        }
        add_powers(rest, values, weight, complete, self.asked.depth);
        if self.frequencies[group] >= self.recentre_at[group] {
            self.recentre(group);
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

/// Gives variables that had no value yet a shift: the first one. True once all have one.
fn settle(shifts: &mut [f64], values: &[f64]) -> bool {
    for (shift, value) in shifts.iter_mut().zip(values) {
        if shift.is_nan() {
            *shift = *value;
        }
    }
    !shifts.iter().any(|shift| shift.is_nan())
}

/// Adds to sums of powers, which lie behind the shifts.
#[inline]
fn add_powers(kinds: &mut [f64], values: &[f64], weight: f64, complete: bool, depth: Depth) {
    let (shifts, rest) = kinds.split_at_mut(values.len());
    let (first, rest) = rest.split_at_mut(values.len());
    let (second, rest) = rest.split_at_mut(values.len());
    let places = first
        .iter_mut()
        .zip(second)
        .zip(values.iter().zip(&*shifts));
    if complete && depth == Depth::Squares {
        for ((first, second), (value, shift)) in places {
            let distance = value - shift;
            *first += weight * distance;
            *second += weight * distance * distance;
        }
        return;
    }
    let mut higher = rest.chunks_exact_mut(values.len());
    let (mut third, mut fourth) = (higher.next(), higher.next());
    for (variable, ((first, second), (value, shift))) in places.enumerate() {
        if value.is_nan() {
            continue;
        }
        let distance = value - shift;
        let square = weight * distance * distance;
        *first += weight * distance;
        *second += square;
        if let (Some(third), Some(fourth)) = (&mut third, &mut fourth) {
            third[variable] += square * distance;
            fourth[variable] += square * distance * distance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations worked out by hand: of 1 to 40 the sum of squares is (40^3 - 40) / 12 = 5330, of 21
    /// to 40 it is (20^3 - 20) / 12 = 665.
    #[test]
    fn variables_may_start_late_or_never() {
        let asked = Asked {
            extremes: false,
            depth: Depth::Squares,
            weights: false,
        };
        let mut cells = Cells::new(3, asked);
        cells.add_group();
        for value in 1..=40 {
            let value = f64::from(value);
            let late = if value > 20.0 { value + 1e6 } else { f64::NAN };
            cells.add(0, &[value, late, f64::NAN], 1.0, 1.0);
        }
        let [whole, late, never] = [0, 1, 2].map(|variable| cells.cell(0, variable));
        assert_eq!((whole.n, late.n, never.n), (40.0, 20.0, 0.0));
        assert_eq!((never.missing, late.sum), (40.0, 20.0 * 1e6 + 610.0));
        assert!((whole.css().unwrap() - 5330.0).abs() < 1e-9);
        assert!((late.css().unwrap() - 665.0).abs() < 1e-9);
        assert_eq!(never.css(), None);
    }
}
