//! Some rows of a BY group, taken in by one thread with levels numbered by itself, and what becomes of
//! them in their group.

use engine::failure::Outcome;
use engine::session::World;

use super::{Bound, Values};
use crate::effects::classes::ClassData;
use crate::observations::{CHUNK_ROWS, Observations};

/// Rows of a BY group.
pub(super) struct Group {
    pub(super) observations: Observations,
    pub(super) counts: Counts,
    pub(super) response: ClassData,
    pub(super) classes: ClassData,
}

/// What is counted of rows.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) rows: u64,
    pub(super) read: f64,
    pub(super) used: f64,
    pub(super) weight: f64,
    /// Frequency and weight of each response, by its number.
    pub(super) profile: Vec<(f64, f64)>,
}

/// Rows with numbers of levels of their own.
pub(super) struct Share {
    counts: Counts,
    response: ClassData,
    classes: ClassData,
    values: Values,
    /// Full chunks.
    chunks: Vec<Vec<f64>>,
    /// The chunk being filled: columns of [`CHUNK_ROWS`] rows.
    filling: Vec<f64>,
    filled: usize,
}

impl Bound<'_> {
    pub(super) fn group(&self, world: &mut World) -> Outcome<Group> {
        let always = self.name == "LOGISTIC";
        Ok(Group {
            observations: Observations::new(self.width(), self.limit / 2, always, world)?,
            counts: Counts::default(),
            response: self.response.emptied(),
            classes: self.classes.emptied(),
        })
    }

    pub(super) fn share(&self) -> Share {
        Share {
            counts: Counts::default(),
            response: self.response.emptied(),
            classes: self.classes.emptied(),
            values: Values::default(),
            chunks: Vec::new(),
            filling: Vec::new(),
            filled: 0,
        }
    }

    /// Numbers before the covariates and class levels of a row: the response and, if they are not
    /// all 1, weight and frequency.
    pub(super) fn head(&self) -> usize {
        if self.weight.is_some() || self.freq.is_some() {
            3
        } else {
            1
        }
    }

    pub(super) fn width(&self) -> usize {
        self.head() + self.effects.covariates.len() + self.class_fields.len()
    }

    /// The row's covariates and level numbers; false if one is missing.
    pub(super) fn values(
        &self,
        row: &[u8],
        classes: &mut ClassData,
        values: &mut Values,
    ) -> Outcome<bool> {
        let complete = classes.codes(row, &mut values.codes)?;
        values.covariates.clear();
        let covariates = self.effects.covariates.iter();
        values
            .covariates
            .extend(covariates.map(|field| field.slot.number(row)));
        Ok(complete && !values.covariates.iter().any(|value| value.is_nan()))
    }

    /// Takes a row in.
    pub(super) fn take(&self, share: &mut Share, row: &[u8]) -> Outcome<()> {
        let counts = &mut share.counts;
        counts.rows += 1;
        let complete = self.values(row, &mut share.classes, &mut share.values)?;
        let times = self.freq.map_or(1.0, |slot| slot.number(row).trunc());
        if times.is_nan() || times < 1.0 {
            return Ok(());
        }
        counts.read += times;
        let weight = self.weight.map_or(1.0, |slot| slot.number(row));
        if !complete || weight.is_nan() || weight <= 0.0 {
            return Ok(());
        }
        if !share.response.codes(row, &mut share.values.code)? {
            return Ok(());
        }
        let code = share.values.code[0] as usize;
        if counts.profile.len() <= code {
            counts.profile.resize(code + 1, (0.0, 0.0));
        }
        counts.profile[code].0 += times;
        counts.profile[code].1 += times * weight;
        counts.used += times;
        counts.weight += times * weight;
        let head = [f64::from(share.values.code[0]), weight, times];
        share.push(&head[..self.head()]);
        Ok(())
    }
}

impl Share {
    /// Puts a row of which `values` are known into the chunk.
    fn push(&mut self, head: &[f64]) {
        let Values {
            covariates, codes, ..
        } = &self.values;
        if self.filled == 0 {
            let width = head.len() + covariates.len() + codes.len();
            self.filling.resize(width * CHUNK_ROWS, 0.0);
        }
        let codes = codes.iter().map(|code| f64::from(*code));
        let row = head.iter().chain(covariates).copied().chain(codes);
        for (column, value) in self.filling.chunks_exact_mut(CHUNK_ROWS).zip(row) {
            column[self.filled] = value;
        }
        self.filled += 1;
        if self.filled == CHUNK_ROWS {
            self.filled = 0;
            self.chunks.push(std::mem::take(&mut self.filling));
        }
    }

    /// All rows are in.
    pub(super) fn complete(&mut self) {
        if self.filled > 0 {
            let columns = self.filling.chunks_exact(CHUNK_ROWS);
            let columns = columns.flat_map(|column| &column[..self.filled]);
            self.chunks.push(columns.copied().collect());
            self.filled = 0;
        }
    }

    /// So many rows that they are a share.
    pub(super) fn is_full(&self) -> bool {
        !self.chunks.is_empty()
    }
}

impl Group {
    /// Takes in the rows behind these; the numbers of their levels become those of the group.
    pub(super) fn join(&mut self, mut share: Share, head: usize, world: &mut World) -> Outcome<()> {
        share.complete();
        let responses = self.response.adopt(&share.response)?.swap_remove(0);
        let classes = self.classes.adopt(&share.classes)?;
        let counts = &mut self.counts;
        counts.rows += share.counts.rows;
        counts.read += share.counts.read;
        counts.used += share.counts.used;
        counts.weight += share.counts.weight;
        for (own, (times, weight)) in responses.iter().zip(share.counts.profile) {
            let own = *own as usize;
            if counts.profile.len() <= own {
                counts.profile.resize(own + 1, (0.0, 0.0));
            }
            counts.profile[own].0 += times;
            counts.profile[own].1 += weight;
        }
        for mut chunk in share.chunks {
            let columns = head + share.values.covariates.len() + classes.len();
            let rows = chunk.len() / columns;
            let (front, codes) = chunk.split_at_mut(rows * (columns - classes.len()));
            renumber(&mut front[..rows], &responses);
            for (codes, numbers) in codes.chunks_exact_mut(rows).zip(&classes) {
                renumber(codes, numbers);
            }
            self.observations.push(chunk, world)?;
        }
        Ok(())
    }
}

/// Gives numbers of levels their new ones.
fn renumber(codes: &mut [f64], numbers: &[u32]) {
    let same = numbers
        .iter()
        .enumerate()
        .all(|(old, new)| old == *new as usize);
    if same {
        return;
    }
    for code in codes {
        if let Some(new) = numbers.get(crate::observations::whole(*code)) {
            *code = f64::from(*new);
        }
    }
}
