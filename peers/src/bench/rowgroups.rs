//! The loops beside MEANS: statistics of ten columns for every pair of two variables' levels.

use std::path::Path;

use anyhow::{Result, bail};

use super::rowloop::{C1, C2, C3, each, k, m, x};

/// What is kept of a column: no more than the program asks for.
trait Column: Copy {
    const NEW: Self;
    fn add(&mut self, value: f64);
}

#[derive(Clone, Copy)]
struct Sum(f64);

impl Column for Sum {
    const NEW: Self = Self(0.0);
    fn add(&mut self, value: f64) {
        self.0 += value;
    }
}

#[derive(Clone, Copy)]
struct Extremes {
    sum: f64,
    least: f64,
    greatest: f64,
}

impl Column for Extremes {
    const NEW: Self = Self {
        sum: 0.0,
        least: f64::INFINITY,
        greatest: f64::NEG_INFINITY,
    };
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }
}

#[derive(Clone, Copy)]
struct Squares {
    sum: f64,
    squares: f64,
}

impl Column for Squares {
    const NEW: Self = Self {
        sum: 0.0,
        squares: 0.0,
    };
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }
}

impl Squares {
    /// The standard deviation.
    fn deviation(self, count: f64) -> f64 {
        ((self.squares - self.sum * self.sum / count) / (count - 1.0)).sqrt()
    }
}

/// The rows of a pair of levels.
#[derive(Clone, Copy)]
struct Cell<C> {
    key: u64,
    count: f64,
    columns: [C; 10],
}

/// Cells by open addressing; a count of 0 marks a free place.
struct Cells<C>(Vec<Cell<C>>);

impl<C: Column> Cells<C> {
    /// More than twice as many as the programs have pairs.
    const PLACES: usize = 1 << 13;

    #[inline]
    fn of(input: &Path, first: usize, key: impl Fn(&[u8]) -> Option<u64>) -> Result<Self> {
        let free = Cell {
            key: 0,
            count: 0.0,
            columns: [C::NEW; 10],
        };
        let mut cells = vec![free; Self::PLACES];
        each(input, |row| {
            let Some(key) = key(row) else { return Ok(()) };
            let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51) as usize;
            while cells[place].count > 0.0 && cells[place].key != key {
                place = (place + 1) % Self::PLACES;
            }
            let cell = &mut cells[place];
            cell.key = key;
            cell.count += 1.0;
            for (column, index) in cell.columns.iter_mut().zip(first..) {
                let value = x(row, index);
                // A missing value, as MEANS has to look for as well.
                if !value.is_nan() {
                    column.add(value);
                }
            }
            Ok(())
        })?;
        Ok(Self(cells))
    }

    /// The sum of something over all pairs.
    fn total(&self, what: impl Fn(&Cell<C>) -> f64) -> f64 {
        let used = self.0.iter().filter(|cell| cell.count > 0.0);
        used.map(what).sum()
    }
}

/// Up to eight bytes of a text.
fn text<const N: usize>(row: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&row[at..at + N]);
    u64::from_le_bytes(bytes)
}

/// Does the work of one of the programs.
pub(super) fn means(index: &str, input: &Path) -> Result<f64> {
    Ok(match index {
        "1" => Cells::<Sum>::of(input, 1, |r| {
            Some(text::<8>(r, C2) ^ text::<2>(r, C1).rotate_left(8))
        })?
        .total(|cell| cell.columns[0].0 + cell.columns[9].0),
        "2" => Cells::<Sum>::of(input, 1, |r| Some(k(r).to_bits() ^ (m(r).to_bits() >> 24)))?
            .total(|cell| cell.columns[0].0 + cell.columns[9].0),
        "3" => Cells::<Extremes>::of(input, 11, |r| Some(m(r).to_bits() ^ text::<2>(r, C1)))?
            .total(|cell| {
                let [first, .., last] = cell.columns;
                first.sum + first.least + last.greatest
            }),
        "4" => Cells::<Squares>::of(input, 1, |r| {
            Some(k(r).to_bits() ^ text::<8>(r, C2).rotate_left(16))
        })?
        .total(|cell| {
            let [first, .., last] = cell.columns;
            first.sum + last.deviation(cell.count)
        }),
        "5" => Cells::<Sum>::of(input, 21, |r| {
            // All twelve bytes of c3 belong to the key, though the last eight are blank here.
            let tail = text::<8>(r, C3 + 4).rotate_left(16);
            (x(r, 1) > 0.25).then(|| text::<4>(r, C3) ^ tail ^ m(r).to_bits())
        })?
        .total(|cell| cell.columns[0].0 + cell.columns[9].0),
        _ => bail!("there is no loop means{index}"),
    })
}
