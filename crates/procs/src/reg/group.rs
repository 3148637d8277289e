//! The rows of a BY group, taken in many at a time.

use sas7bdat::Rows;

use super::Design;
use crate::columns::{numbers, part};
use crate::linear::{BLOCK, Triangle};

/// Rows looked at together: their numbers stay in the cache.
const BATCH: usize = 64;

/// A BY group taken in, or some of its rows.
pub(super) struct Group {
    pub(super) triangle: Triangle,
    /// Rows in the data set.
    pub(super) rows: u64,
    /// Rows with FREQ: read, and used.
    pub(super) read: f64,
    pub(super) used: f64,
}

impl Group {
    /// Takes in the rows behind these.
    pub(super) fn join(&mut self, other: Self) {
        self.triangle.join(other.triangle);
        self.rows += other.rows;
        self.read += other.read;
        self.used += other.used;
    }
}

impl Design<'_> {
    pub(super) fn group(&self) -> Group {
        let columns = self.fields.len() + 1;
        Group {
            triangle: if self.grouped {
                Triangle::tall(columns)
            } else {
                Triangle::precise(columns)
            },
            rows: 0,
            read: 0.0,
            used: 0.0,
        }
    }

    /// Takes rows in.
    pub(super) fn take(&self, group: &mut Group, rows: Rows<'_>) {
        group.rows += rows.count as u64;
        let mut first = 0;
        while first < rows.count {
            let (block, filled) = group.triangle.space();
            let count = BATCH.min(BLOCK - filled).min(rows.count - first);
            let batch = part(rows, first, count);
            for (field, column) in self
                .fields
                .iter()
                .zip(block.chunks_exact_mut(BLOCK).skip(1))
            {
                numbers(&field.slot, batch, &mut column[filled..filled + count]);
            }
            let mut roots = [1.0; BATCH];
            let (read, mut used) = self.roots(batch, &mut roots);
            let mut absent = [false; BATCH];
            for column in block.chunks_exact(BLOCK).skip(1) {
                for (absent, value) in absent.iter_mut().zip(&column[filled..filled + count]) {
                    *absent |= value.is_nan();
                }
            }
            if absent.contains(&true) {
                used -= self.drop_absent(batch, &absent, &mut roots);
            }
            group.read += read;
            group.used += used;
            let kept = self.fill(block, filled, &roots[..count]);
            group.triangle.took(kept);
            first += count;
        }
    }

    /// The roots of the weights of rows, 0 where a row does not count: how many were read, and how
    /// many count.
    fn roots(&self, rows: Rows<'_>, roots: &mut [f64; BATCH]) -> (f64, f64) {
        if self.freq.is_none() && self.weight.is_none() {
            return (rows.count as f64, rows.count as f64);
        }
        let (mut read, mut used) = (0.0, 0.0);
        for (root, row) in roots.iter_mut().zip(rows.iter()) {
            *root = 0.0;
            let times = self.times(row);
            let weight = self.weight.as_ref().map_or(1.0, |slot| slot.number(row));
            if times.is_nan() || times < 1.0 {
                continue;
            }
            read += times;
            if weight > 0.0 {
                used += times;
                *root = (times * weight).sqrt();
            }
        }
        (read, used)
    }

    fn times(&self, row: &[u8]) -> f64 {
        self.freq
            .as_ref()
            .map_or(1.0, |slot| slot.number(row).trunc())
    }

    /// Rows that lack a value do not count: gives how many that were counted.
    fn drop_absent(&self, rows: Rows<'_>, absent: &[bool; BATCH], roots: &mut [f64; BATCH]) -> f64 {
        let mut dropped = 0.0;
        for ((root, row), absent) in roots.iter_mut().zip(rows.iter()).zip(absent) {
            if *absent && *root > 0.0 {
                dropped += self.times(row);
                *root = 0.0;
            }
        }
        dropped
    }

    /// Puts the roots into the intercept's column of a block and multiplies the others by them; rows
    /// that do not count go. Gives how many are left.
    fn fill(&self, block: &mut [f64], filled: usize, roots: &[f64]) -> usize {
        let (intercept, columns) = block.split_at_mut(BLOCK);
        intercept[filled..filled + roots.len()].copy_from_slice(roots);
        if self.weight.is_some() || self.freq.is_some() {
            for column in columns.chunks_exact_mut(BLOCK) {
                for (value, root) in column[filled..].iter_mut().zip(roots) {
                    *value *= root;
                }
            }
        }
        if roots.iter().all(|root| *root > 0.0) {
            return roots.len();
        }
        for column in block.chunks_exact_mut(BLOCK) {
            let mut kept = filled;
            for (row, root) in roots.iter().enumerate() {
                if *root > 0.0 {
                    column[kept] = column[filled + row];
                    kept += 1;
                }
            }
        }
        roots.iter().filter(|root| **root > 0.0).count()
    }
}
