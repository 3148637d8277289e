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

/// Cells by group and variable. Vectors of what is not asked for stay empty.
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
    sums: Vec<f64>,
    weights: Vec<f64>,
    least: Vec<f64>,
    greatest: Vec<f64>,
    /// About which points the powers are taken; NaN before the first value.
    shifts: Vec<f64>,
    /// Sums of the first to fourth powers.
    powers: [Vec<f64>; 4],
}

impl Cells {
    pub(super) fn new(variables: usize, asked: Asked) -> Self {
        Self {
            variables,
            asked,
            frequencies: Vec::new(),
            recentre_at: Vec::new(),
            missing: Vec::new(),
            sums: Vec::new(),
            weights: Vec::new(),
            least: Vec::new(),
            greatest: Vec::new(),
            shifts: Vec::new(),
            powers: Default::default(),
        }
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
        let powers = self.asked.depth.powers();
        let kept = 2
            + usize::from(self.asked.weights)
            + 2 * usize::from(self.asked.extremes)
            + powers
            + usize::from(powers > 0);
        (2 + kept * self.variables) * size_of::<f64>()
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.frequencies.len()
    }

    /// A group without rows.
    pub(super) fn add_group(&mut self) {
        self.frequencies.push(0.0);
        self.recentre_at.push(RECENTRE);
        let cells = self.groups() * self.variables;
        self.missing.resize(cells, 0.0);
        self.sums.resize(cells, 0.0);
        if self.asked.weights {
            self.weights.resize(cells, 0.0);
        }
        if self.asked.extremes {
            self.least.resize(cells, f64::INFINITY);
            self.greatest.resize(cells, f64::NEG_INFINITY);
        }
        let powers = self.asked.depth.powers();
        if powers > 0 {
            self.shifts.resize(cells, f64::NAN);
        }
        for power in &mut self.powers[..powers] {
            power.resize(cells, 0.0);
        }
    }

    /// Rows of a group, with FREQ.
    pub(super) fn frequency(&self, group: usize) -> f64 {
        self.frequencies[group]
    }

    /// Adds a row, `times` times, with a weight: a value or NaN of every variable.
    #[inline]
    pub(super) fn add(&mut self, group: usize, values: &[f64], times: f64, weight: f64) {
        let here = group * self.variables..(group + 1) * self.variables;
        let weight = weight * times;
        self.frequencies[group] += times;
        let mut complete = true;
        for (sum, value) in self.sums[here.clone()].iter_mut().zip(values) {
            complete &= !value.is_nan();
            *sum += if value.is_nan() { 0.0 } else { weight * value };
        }
        if !complete {
            for (missing, value) in self.missing[here.clone()].iter_mut().zip(values) {
                *missing += if value.is_nan() { times } else { 0.0 };
            }
        }
        if self.asked.weights {
            for (weights, value) in self.weights[here.clone()].iter_mut().zip(values) {
                *weights += if value.is_nan() { 0.0 } else { weight };
            }
        }
        if self.asked.extremes {
            for (least, value) in self.least[here.clone()].iter_mut().zip(values) {
                *least = if *value < *least { *value } else { *least };
            }
            for (greatest, value) in self.greatest[here.clone()].iter_mut().zip(values) {
                *greatest = if *value > *greatest {
                    *value
                } else {
                    *greatest
                };
            }
        }
        if self.asked.depth > Depth::Sums {
            self.add_powers(group, values, weight);
        }
    }

    #[inline]
    fn add_powers(&mut self, group: usize, values: &[f64], weight: f64) {
        let here = group * self.variables..(group + 1) * self.variables;
        let [first, second, third, fourth] = &mut self.powers;
        let places = self.shifts[here.clone()].iter_mut().zip(values);
        let low = first[here.clone()]
            .iter_mut()
            .zip(&mut second[here.clone()]);
        for ((shift, value), (first, second)) in places.zip(low) {
            // The first value that is not missing is the first shift.
            *shift = if shift.is_nan() { *value } else { *shift };
            let distance = value - *shift;
            let distance = if distance.is_nan() { 0.0 } else { distance };
            *first += weight * distance;
            *second += weight * distance * distance;
        }
        if self.asked.depth == Depth::Powers {
            let places = self.shifts[here.clone()].iter().zip(values);
            let high = third[here.clone()].iter_mut().zip(&mut fourth[here]);
            for ((shift, value), (third, fourth)) in places.zip(high) {
                let distance = value - shift;
                let distance = if distance.is_nan() { 0.0 } else { distance };
                let cube = weight * distance * distance * distance;
                *third += cube;
                *fourth += cube * distance;
            }
        }
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
        let at = group * self.variables + variable;
        let of = |kept: &[f64], without: f64| kept.get(at).copied().unwrap_or(without);
        let missing = self.missing[at];
        let n = self.frequencies[group] - missing;
        let [first, second, third, fourth] = &self.powers;
        let shift = of(&self.shifts, 0.0);
        Cell {
            n,
            missing,
            weights: of(&self.weights, n),
            sum: self.sums[at],
            min: of(&self.least, f64::INFINITY),
            max: of(&self.greatest, f64::NEG_INFINITY),
            shift: if shift.is_nan() { 0.0 } else { shift },
            first: of(first, 0.0),
            second: of(second, 0.0),
            third: of(third, 0.0),
            fourth: of(fourth, 0.0),
        }
    }

    /// Stores a cell; its count comes from the group's rows.
    fn set(&mut self, group: usize, variable: usize, cell: &Cell) {
        let at = group * self.variables + variable;
        let put = |kept: &mut Vec<f64>, value: f64| {
            if let Some(place) = kept.get_mut(at) {
                *place = value;
            }
        };
        put(&mut self.missing, cell.missing);
        put(&mut self.sums, cell.sum);
        put(&mut self.weights, cell.weights);
        put(&mut self.least, cell.min);
        put(&mut self.greatest, cell.max);
        put(
            &mut self.shifts,
            if cell.n > 0.0 { cell.shift } else { f64::NAN },
        );
        let powers = [cell.first, cell.second, cell.third, cell.fourth];
        for (kept, power) in self.powers.iter_mut().zip(powers) {
            put(kept, power);
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
