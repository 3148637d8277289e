//! Numeric columns, drawn in runs of neighbours of one kind so that the inner loops are tight.

use base::random::Stream;

/// Something that fills its place in a row.
pub(crate) trait Piece {
    /// Draws the values of row `identity`.
    fn draw(&self, identity: u64, row: &mut [u8]);
}

/// Neighbouring columns of 8 bytes each, all of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Numbers<C> {
    offset: usize,
    columns: Vec<C>,
}

/// A column of numbers.
pub(crate) trait Column {
    /// The number in row `identity`.
    fn number(&self, identity: u64) -> f64;
}

impl<C: Column> Numbers<C> {
    pub(crate) fn new(offset: usize, column: C) -> Self {
        Self {
            offset,
            columns: vec![column],
        }
    }

    /// Takes the column if it is the next neighbour; gives it back otherwise.
    pub(crate) fn extend(&mut self, offset: usize, column: C) -> Option<C> {
        if offset != self.offset + self.columns.len() * 8 {
            return Some(column);
        }
        self.columns.push(column);
        None
    }
}

impl<C: Column> Piece for Numbers<C> {
    #[inline]
    fn draw(&self, identity: u64, row: &mut [u8]) {
        let places = row[self.offset..][..self.columns.len() * 8].chunks_exact_mut(8);
        for (column, place) in self.columns.iter().zip(places) {
            place.copy_from_slice(&column.number(identity).to_le_bytes());
        }
    }
}

/// Doubles in [0, 1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random(pub(crate) Stream);

impl Column for Random {
    #[inline]
    fn number(&self, identity: u64) -> f64 {
        self.0.unit(identity)
    }
}

/// Integers from `from` on, `count` of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integer {
    pub(crate) stream: Stream,
    pub(crate) from: i64,
    pub(crate) count: u64,
}

impl Column for Integer {
    #[inline]
    fn number(&self, identity: u64) -> f64 {
        let drawn = self.stream.below(identity, self.count).cast_signed();
        self.from.wrapping_add(drawn) as f64
    }
}

/// One of `levels` random doubles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) stream: Stream,
    pub(crate) values: Stream,
    pub(crate) levels: u64,
}

impl Column for Level {
    #[inline]
    fn number(&self, identity: u64) -> f64 {
        self.values.unit(self.stream.below(identity, self.levels))
    }
}

/// `start + identity * step`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence {
    pub(crate) start: i64,
    pub(crate) step: i64,
}

impl Column for Sequence {
    #[inline]
    fn number(&self, identity: u64) -> f64 {
        let distance = identity.cast_signed().wrapping_mul(self.step);
        self.start.wrapping_add(distance) as f64
    }
}
