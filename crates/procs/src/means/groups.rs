//! What is accumulated of every group, and the groups of fewer class variables made from it.

use std::ops::Range;

use engine::failure::{Failure, Outcome};

use super::cell::Cell;
use super::cells::{Asked, Cells};
use crate::levels::{Classes, Levels};

/// The groups of one type (one set of class variables).
pub(super) struct Groups {
    /// Analysis variables.
    variables: usize,
    key_bytes: usize,
    asked: Asked,
    levels: Levels,
    /// The lowest key of each group.
    keys: Vec<u8>,
    cells: Cells,
    /// All values of each cell, where quantiles are asked for; each with its weight behind it where there
    /// are weights.
    values: Option<Vec<Vec<f64>>>,
    /// Memory taken so far and memory there is, bytes.
    used: u64,
    limit: u64,
    /// Groups beyond the limit go elsewhere, which the caller sees to.
    spills: bool,
}

impl Groups {
    pub(super) fn new(
        variables: usize,
        key_bytes: usize,
        asked: Asked,
        with_values: bool,
        limit: u64,
    ) -> Self {
        Self {
            variables,
            key_bytes,
            levels: Levels::new(),
            keys: Vec::new(),
            asked,
            cells: Cells::new(variables, asked),
            values: with_values.then(Vec::new),
            used: 0,
            limit,
            spills: false,
        }
    }

    /// Groups that are given away once they are full.
    pub(super) fn spilling(self) -> Self {
        Self {
            spills: true,
            ..self
        }
    }

    /// Whether memory is used up.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.used > self.limit
    }

    /// Number of analysis variables.
    pub(super) fn variables(&self) -> usize {
        self.variables
    }

    /// Number of groups.
    pub(super) fn count(&self) -> usize {
        self.cells.groups()
    }

    /// The group that `told` tells, made if it is new.
    #[inline]
    pub(super) fn find(&mut self, key: &[u8], told: &[u8]) -> Outcome<usize> {
        let group = self.levels.number(told);
        if group == self.cells.groups() {
            self.add_group(key, told)?;
        } else if key.len() != told.len() {
            let lowest = &mut self.keys[group * self.key_bytes..(group + 1) * self.key_bytes];
            if key < &*lowest {
                lowest.copy_from_slice(key);
            }
        }
        Ok(group)
    }

    #[cold]
    fn add_group(&mut self, key: &[u8], told: &[u8]) -> Outcome<()> {
        self.take(self.cells.bytes_each() + key.len() + Levels::bytes_each(told.len()))?;
        self.keys.extend_from_slice(key);
        self.cells.add_group();
        if let Some(values) = &mut self.values {
            values.resize(self.cells.groups() * self.variables, Vec::new());
        }
        Ok(())
    }

    /// Accounts for memory. Vectors that grow hold up to twice what is in them.
    fn take(&mut self, bytes: usize) -> Outcome<()> {
        self.used += 2 * bytes as u64;
        if self.used > self.limit && !self.spills {
            return Err(Failure::world(format!(
                "The SAS System stopped processing this step because of insufficient memory: {} class \
                 levels do not fit into {} MiB. Raise MEMSIZE= or SUMSIZE=.",
                self.count(),
                self.limit >> 20
            )));
        }
        Ok(())
    }

    /// See [`Cells::look_at`].
    #[inline]
    pub(super) fn look_at(&self, groups: impl Iterator<Item = usize>) {
        self.cells.look_at(groups);
    }

    /// Adds a row to a group; see [`Cells::add`].
    #[inline]
    pub(super) fn add(&mut self, group: usize, values: &[f64], times: f64, weight: f64) {
        self.cells.add(group, values, times, weight);
    }

    /// Adds all rows of another group; see [`Cells::merge`].
    pub(super) fn merge(
        &mut self,
        group: usize,
        frequency: f64,
        cells: impl Iterator<Item = Cell>,
    ) {
        self.cells.merge(group, frequency, cells);
    }

    /// Keeps a value for quantiles, as often as FREQ says, or once with the weight of all.
    pub(super) fn keep(
        &mut self,
        group: usize,
        variable: usize,
        value: f64,
        (times, weight): (f64, f64),
    ) -> Outcome<()> {
        if self.asked.weights {
            self.take(2 * size_of::<f64>())?;
            if let Some(values) = &mut self.values {
                values[group * self.variables + variable].extend([value, times * weight]);
            }
            return Ok(());
        }
        let mut left = times;
        while left >= 1.0 {
            self.take(size_of::<f64>())?;
            if let Some(values) = &mut self.values {
                values[group * self.variables + variable].push(value);
            }
            left -= 1.0;
        }
        Ok(())
    }

    /// Makes equal levels equal parts of keys; to be called once all rows are in.
    pub(super) fn unify(&mut self, classes: &Classes) {
        classes.unify(&mut self.keys);
    }

    /// Sorts the values that were kept.
    pub(super) fn sort_values(&mut self) {
        for values in self.values.iter_mut().flatten() {
            if self.asked.weights {
                let (pairs, _) = values.as_chunks_mut::<2>();
                pairs.sort_unstable_by(|left, right| left[0].total_cmp(&right[0]));
            } else {
                values.sort_unstable_by(f64::total_cmp);
            }
        }
    }

    /// Groups in the order of their keys.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.count()).collect();
        order.sort_by(|left, right| self.key(*left).cmp(self.key(*right)));
        order
    }

    pub(super) fn key(&self, group: usize) -> &[u8] {
        &self.keys[group * self.key_bytes..(group + 1) * self.key_bytes]
    }

    pub(super) fn frequency(&self, group: usize) -> f64 {
        self.cells.frequency(group)
    }

    pub(super) fn cell(&self, group: usize, variable: usize) -> Cell {
        self.cells.cell(group, variable)
    }

    /// The kept values of a cell, in order once they are sorted.
    pub(super) fn values(&self, group: usize, variable: usize) -> &[f64] {
        self.values.as_ref().map_or(&[], |values| {
            values[group * self.variables + variable].as_slice()
        })
    }

    /// The groups that remain when only some parts of the key tell them apart; `told` gives what
    /// tells a group from its key.
    pub(super) fn merged(
        &self,
        kept: &[Range<usize>],
        told: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Outcome<Self> {
        let mut merged = Self::new(
            self.variables,
            self.key_bytes,
            self.asked,
            self.values.is_some(),
            self.limit,
        );
        let mut masked = vec![0; self.key_bytes];
        for group in 0..self.count() {
            let key = self.key(group);
            masked.fill(0);
            for part in kept {
                masked[part.clone()].copy_from_slice(&key[part.clone()]);
            }
            let into = merged.find(&masked, &told(&masked))?;
            let cells = (0..self.variables).map(|variable| self.cell(group, variable));
            merged.merge(into, self.frequency(group), cells);
            if let Some(values) = &mut merged.values {
                for variable in 0..self.variables {
                    values[into * self.variables + variable]
                        .extend_from_slice(self.values(group, variable));
                }
            }
            if self.values.is_some() {
                let kept: usize = (0..self.variables)
                    .map(|one| self.values(group, one).len())
                    .sum();
                merged.take(kept * size_of::<f64>())?;
            }
        }
        Ok(merged)
    }
}
