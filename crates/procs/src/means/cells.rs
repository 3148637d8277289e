//! What is accumulated of all variables in all groups: of each only what is asked for, one kind beside
//! the other, so that a row costs no more than that.

use super::cell::{Cell, Depth, SHIFT_MAX};

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

/// Variables are taken by so many at a time; the last ones are filled up with zeros.
const LANES: usize = 2;

/// Variables, filled up.
pub(super) const fn filled_up(variables: usize) -> usize {
    variables.next_multiple_of(LANES)
}

/// What stands before the kinds of a group.
mod head {
    /// Rows, with FREQ.
    pub(super) const FREQUENCY: usize = 0;
    /// At so many rows the shifts are moved to the means.
    pub(super) const RECENTRE_AT: usize = 1;
    /// 1 if every variable has a shift, 0 before.
    pub(super) const SETTLED: usize = 2;
    /// Filled up.
    pub(super) const LENGTH: usize = super::filled_up(3);
}

/// Cells by group and variable.
#[derive(Debug)]
pub(super) struct Cells {
    variables: usize,
    asked: Asked,
    /// Missing values, with FREQ, by group and variable.
    missing: Vec<f64>,
    /// What a row changes, by group, so that it lies together: the head, and of every kind that is
    /// asked for, a value of each variable, filled up. The kinds are, in this order: weights; least
    /// and greatest values; either sums, or shifts (about which powers are taken, NaN before the first
    /// value) and sums of powers, of which the first, with the shift, tells the sum.
    kinds: Vec<f64>,
    groups: usize,
}

impl Cells {
    pub(super) fn new(variables: usize, asked: Asked) -> Self {
        Self {
            variables,
            asked,
            missing: Vec::new(),
            kinds: Vec::new(),
            groups: 0,
        }
    }

    /// How many values of a variable are kept, in `kinds`.
    fn kept(&self) -> usize {
        // A sum, or a shift, and powers.
        let sums = 1 + self.asked.depth.powers();
        sums + usize::from(self.asked.weights) + 2 * usize::from(self.asked.extremes)
    }

    /// Numbers of a group in `kinds`.
    fn stride(&self) -> usize {
        head::LENGTH + self.kept() * filled_up(self.variables)
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
            cells.add(0, &[*value, 0.0], 1.0, 1.0);
        }
        cells
    }

    /// Memory of a group, bytes.
    pub(super) fn bytes_each(&self) -> usize {
        (self.variables + self.stride()) * size_of::<f64>()
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// A group without rows.
    pub(super) fn add_group(&mut self) {
        let group = self.groups;
        self.groups += 1;
        self.missing.resize(self.groups * self.variables, 0.0);
        self.kinds.resize(self.groups * self.stride(), 0.0);
        let start = group * self.stride();
        self.kinds[start + head::RECENTRE_AT] = RECENTRE;
        for variable in 0..self.variables {
            self.set(group, variable, &Cell::default());
        }
    }

    /// Rows of a group, with FREQ.
    pub(super) fn frequency(&self, group: usize) -> f64 {
        self.kinds[group * self.stride() + head::FREQUENCY]
    }

    /// Looks at what rows of these groups will change, so that it comes from memory for all of them at
    /// a time and not one after the other.
    #[inline]
    pub(super) fn look_at(&self, groups: impl Iterator<Item = usize>) {
        const PER_CACHE_LINE: usize = 64 / size_of::<f64>();
        let stride = self.stride();
        let mut seen = 0;
        for group in groups {
            let all = &self.kinds[group * stride..(group + 1) * stride];
            for one in all.iter().step_by(PER_CACHE_LINE) {
                seen ^= one.to_bits();
            }
        }
        std::hint::black_box(seen);
    }

    /// Adds a row, `times` times, with a weight: a value or NaN of every variable, [`filled_up`] with
    /// zeros.
    #[inline]
    pub(super) fn add(&mut self, group: usize, values: &[f64], times: f64, weight: f64) {
        let (variables, stride) = (self.variables, self.stride());
        let weight = weight * times;
        let (head, kinds) =
            self.kinds[group * stride..(group + 1) * stride].split_at_mut(head::LENGTH);
        head[head::FREQUENCY] += times;
        let is_recentred = head[head::FREQUENCY] >= head[head::RECENTRE_AT];
        let complete = !any_missing(values);
        if complete {
            let rest = add_simple(kinds, values, weight, self.asked);
            if self.asked.depth == Depth::Sums {
                add_sums(rest, values, weight);
            } else {
                if head[head::SETTLED] == 0.0 {
                    settle(&mut rest[..variables], values);
                    // No value is missing.
                    head[head::SETTLED] = 1.0;
                }
                add_powers(rest, values, weight, self.asked.depth);
            }
        } else {
            let missing = &mut self.missing[group * variables..(group + 1) * variables];
            for (missing, value) in missing.iter_mut().zip(values) {
                *missing += if value.is_nan() { times } else { 0.0 };
            }
            add_some(kinds, values, weight, self.asked);
        }
        if is_recentred && self.asked.depth > Depth::Sums {
            self.recentre(group);
        }
    }

    #[cold]
    fn recentre(&mut self, group: usize) {
        let at = group * self.stride() + head::RECENTRE_AT;
        self.kinds[at] = self.frequency(group) * RECENTRE;
        for variable in 0..self.variables {
            let mut cell = self.cell(group, variable);
            cell.recentre();
            self.set(group, variable, &cell);
        }
    }

    /// What was accumulated of a variable in a group.
    pub(super) fn cell(&self, group: usize, variable: usize) -> Cell {
        let first = group * self.stride() + head::LENGTH + variable;
        let lanes = filled_up(self.variables);
        let mut kinds = self.kinds[first..].iter().step_by(lanes).copied();
        let mut next = || kinds.next().unwrap_or_default();
        let missing = self.missing[group * self.variables + variable];
        let n = self.frequency(group) - missing;
        let mut cell = Cell {
            n,
            missing,
            weights: n,
            ..Cell::default()
        };
        if self.asked.weights {
            cell.weights = next();
        }
        if self.asked.extremes {
            (cell.min, cell.max) = (next(), next());
        }
        if self.asked.depth == Depth::Sums {
            cell.sum = next();
            return cell;
        }
        let shift = next();
        cell.shift = if shift.is_nan() { 0.0 } else { shift };
        (cell.first, cell.second) = (next(), next());
        cell.sum = cell.first + cell.weights * cell.shift;
        if self.asked.depth == Depth::Powers {
            (cell.third, cell.fourth) = (next(), next());
        }
        cell
    }

    /// Stores a cell; its count comes from the group's rows.
    fn set(&mut self, group: usize, variable: usize, cell: &Cell) {
        let asked = self.asked;
        self.missing[group * self.variables + variable] = cell.missing;
        let first = group * self.stride() + head::LENGTH + variable;
        let lanes = filled_up(self.variables);
        let mut kinds = self.kinds[first..].iter_mut().step_by(lanes);
        let mut put = |value| {
            if let Some(kind) = kinds.next() {
                *kind = value;
            }
        };
        if asked.weights {
            put(cell.weights);
        }
        if asked.extremes {
            put(cell.min);
            put(cell.max);
        }
        if asked.depth == Depth::Sums {
            put(cell.sum);
            return;
        }
        put(if cell.n > 0.0 { cell.shift } else { f64::NAN });
        put(cell.first);
        put(cell.second);
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
        let at = group * self.stride() + head::FREQUENCY;
        self.kinds[at] += frequency;
        for (variable, cell) in merged.iter().enumerate() {
            self.set(group, variable, cell);
        }
    }
}

/// The numbers of one kind, or of a row, by lanes.
fn lanes(numbers: &[f64]) -> &[[f64; LANES]] {
    numbers.as_chunks().0
}

fn lanes_mut(numbers: &mut [f64]) -> &mut [[f64; LANES]] {
    numbers.as_chunks_mut().0
}

/// New lanes: all are worked out before any is stored, so that several go into one instruction.
#[inline]
fn each(of: impl Fn(usize) -> f64) -> [f64; LANES] {
    std::array::from_fn(of)
}

#[inline]
fn any_missing(values: &[f64]) -> bool {
    let mut any = [false; LANES];
    for values in lanes(values) {
        for (any, value) in any.iter_mut().zip(values) {
            *any |= value.is_nan();
        }
    }
    any.iter().fold(false, |left, right| left | right)
}

/// Adds a row without missing values to sums.
#[inline]
fn add_sums(sums: &mut [f64], values: &[f64], weight: f64) {
    for (sums, values) in lanes_mut(sums).iter_mut().zip(lanes(values)) {
        *sums = each(|lane| sums[lane] + weight * values[lane]);
    }
}

/// Adds a row without missing values to weights and extremes, and returns the other kinds.
#[inline]
fn add_simple<'a>(
    kinds: &'a mut [f64],
    values: &[f64],
    weight: f64,
    asked: Asked,
) -> &'a mut [f64] {
    let mut rest = kinds;
    if asked.weights {
        let (weights, others) = rest.split_at_mut(values.len());
        for one in weights {
            *one += weight;
        }
        rest = others;
    }
    if asked.extremes {
        let (least, others) = rest.split_at_mut(values.len());
        let (greatest, others) = others.split_at_mut(values.len());
        let places = lanes_mut(least).iter_mut().zip(lanes_mut(greatest));
        for ((least, greatest), values) in places.zip(lanes(values)) {
            let lower = |lane: usize| values[lane] < least[lane];
            let new_least = each(|lane| {
                if lower(lane) {
                    values[lane]
                } else {
                    least[lane]
                }
            });
            let higher = |lane: usize| values[lane] > greatest[lane];
            *greatest = each(|lane| {
                if higher(lane) {
                    values[lane]
                } else {
                    greatest[lane]
                }
            });
            *least = new_least;
        }
        rest = others;
    }
    rest
}

/// Adds the values of a row that are not missing.
#[cold]
fn add_some(kinds: &mut [f64], values: &[f64], weight: f64, asked: Asked) {
    let lanes = values.len();
    for (variable, value) in values
        .iter()
        .enumerate()
        .filter(|(_, value)| !value.is_nan())
    {
        let mut next = kinds[variable..].iter_mut().step_by(lanes);
        let mut add = |what: &mut dyn FnMut(&mut f64)| next.next().map(what);
        if asked.weights {
            add(&mut |weights| *weights += weight);
        }
        if asked.extremes {
            add(&mut |least| *least = least.min(*value));
            add(&mut |greatest| *greatest = greatest.max(*value));
        }
        if asked.depth == Depth::Sums {
            add(&mut |sum| *sum += weight * value);
            continue;
        }
        let mut distance = 0.0;
        add(&mut |shift| {
            settle(std::slice::from_mut(shift), &[*value]);
            distance = value - *shift;
        });
        let mut power = weight;
        for _ in 0..asked.depth.powers() {
            power *= distance;
            add(&mut |sum| *sum += power);
        }
    }
}

/// Gives variables that had no value yet a shift: the first one.
#[cold]
fn settle(shifts: &mut [f64], values: &[f64]) {
    for (shift, value) in shifts.iter_mut().zip(values) {
        if shift.is_nan() {
            *shift = if value.abs() < SHIFT_MAX { *value } else { 0.0 };
        }
    }
}

/// Adds a row without missing values to sums of powers, which lie behind the shifts.
#[inline]
fn add_powers(kinds: &mut [f64], values: &[f64], weight: f64, depth: Depth) {
    let (shifts, rest) = kinds.split_at_mut(values.len());
    let (first, rest) = rest.split_at_mut(values.len());
    let (second, rest) = rest.split_at_mut(values.len());
    let distances = lanes(values).iter().zip(lanes(shifts));
    let distances = distances.map(|(values, shifts)| each(|lane| values[lane] - shifts[lane]));
    if depth == Depth::Squares {
        let places = lanes_mut(first).iter_mut().zip(lanes_mut(second));
        for ((first, second), distances) in places.zip(distances) {
            let weighted = each(|lane| weight * distances[lane]);
            *first = each(|lane| first[lane] + weighted[lane]);
            *second = each(|lane| second[lane] + weighted[lane] * distances[lane]);
        }
        return;
    }
    let (third, fourth) = rest.split_at_mut(values.len());
    let lower = lanes_mut(first).iter_mut().zip(lanes_mut(second));
    let higher = lanes_mut(third).iter_mut().zip(lanes_mut(fourth));
    for (((first, second), (third, fourth)), distances) in lower.zip(higher).zip(distances) {
        let squares = each(|lane| weight * distances[lane] * distances[lane]);
        *first = each(|lane| first[lane] + weight * distances[lane]);
        *second = each(|lane| second[lane] + squares[lane]);
        *third = each(|lane| third[lane] + squares[lane] * distances[lane]);
        *fourth = each(|lane| fourth[lane] + squares[lane] * distances[lane] * distances[lane]);
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
            cells.add(0, &[value, late, f64::NAN, 0.0], 1.0, 1.0);
        }
        let [whole, late, never] = [0, 1, 2].map(|variable| cells.cell(0, variable));
        assert_eq!((whole.n, late.n, never.n), (40.0, 20.0, 0.0));
        assert_eq!((never.missing, late.sum), (40.0, 20.0 * 1e6 + 610.0));
        assert!((whole.css().unwrap() - 5330.0).abs() < 1e-9);
        assert!((late.css().unwrap() - 665.0).abs() < 1e-9);
        assert_eq!(never.css(), None);
    }
}
