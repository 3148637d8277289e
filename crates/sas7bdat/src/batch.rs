//! Values column by column: one page at a time, only the columns asked for.

use std::borrow::Cow;

use crate::encoding::Encoding;
use crate::endian::Endian;
use crate::error::Error;
use crate::missing;
use crate::reader::{Place, Reader, Rows, number};
use crate::source::Source;
use crate::variable::Kind;

/// The values of some columns in some rows; reused from page to page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// One per column asked for, in that order.
    pub columns: Vec<Column>,
    /// Rows in it.
    pub rows: usize,
}

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers; missing ones keep their code (see [`missing`]).
    Numeric(Vec<f64>),
    /// Texts without the blanks at their end.
    Character(Texts),
}

/// Texts side by side, in the encoding of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Texts {
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl Texts {
    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a text, without the blanks at its end.
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        let end = *self.ends.get(row)?;
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before));
        self.bytes.get(start.copied().unwrap_or(0)..end)
    }

    /// A text as UTF-8.
    pub fn text(&self, row: usize, encoding: Encoding) -> Option<Cow<'_, str>> {
        self.bytes(row).map(|bytes| encoding.decode(bytes))
    }

    /// The bytes of all texts, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let text = self.bytes.get(start..*end).unwrap_or(&[]);
            start = *end;
            text
        })
    }

    /// All texts of a column; copies go in whole chunks, and the next one overwrites what overhangs.
    fn fill(&mut self, rows: Rows<'_>, place: Place) {
        const CHUNK: usize = 16;
        self.ends.clear();
        self.ends.reserve(rows.count);
        self.bytes.resize(rows.count * place.length + CHUNK, 0);
        let mut end = 0;
        for row in rows.bytes.chunks_exact(rows.row_bytes) {
            let value = row
                .get(place.offset..place.offset + place.length)
                .unwrap_or(&[]);
            let text = trim_blanks(value);
            let chunk = row
                .get(place.offset..)
                .and_then(<[u8]>::first_chunk::<CHUNK>);
            match (chunk, self.bytes.get_mut(end..)) {
                (Some(chunk), Some(rest)) if text.len() <= CHUNK => {
                    if let Some(start) = rest.first_chunk_mut::<CHUNK>() {
                        *start = *chunk;
                    }
                }
                (_, Some(rest)) => {
                    if let Some(start) = rest.get_mut(..text.len()) {
                        start.copy_from_slice(text);
                    }
                }
                _ => {}
            }
            end += text.len();
            self.ends.push(end);
        }
        self.bytes.truncate(end);
    }
}

/// Without the blanks at the end.
#[inline]
pub fn trim_blanks(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some((before, last)) = rest.split_last_chunk::<8>() {
        let others = u64::from_le_bytes(*last) ^ u64::from_le_bytes([b' '; 8]);
        if others != 0 {
            let blanks = others.leading_zeros() as usize / 8;
            return rest.get(..rest.len() - blanks).unwrap_or(rest);
        }
        rest = before;
    }
    while let Some((b' ', before)) = rest.split_last() {
        rest = before;
    }
    rest
}

impl<S: Source> Reader<S> {
    /// Fills `batch` with the values of `columns` in the next page's rows; false after the last row.
    pub fn next_batch(&mut self, columns: &[usize], batch: &mut Batch) -> Result<bool, Error> {
        let total = self.metadata().variables.len();
        let known = |column: usize| self.places().get(column).copied();
        let places: Vec<Place> = columns
            .iter()
            .map(|column| {
                known(*column).ok_or(Error::ColumnOutOfRange {
                    column: *column,
                    columns: total,
                })
            })
            .collect::<Result<_, _>>()?;
        let (endian, windows) = (self.metadata().endian, self.metadata().windows);
        let Some(rows) = self.next_slab()? else {
            batch.rows = 0;
            return Ok(false);
        };
        batch.rows = rows.count;
        batch.columns.truncate(places.len());
        for (number, place) in places.into_iter().enumerate() {
            if batch
                .columns
                .get(number)
                .is_none_or(|column| !column.holds(place.kind))
            {
                batch.columns.truncate(number);
                batch.columns.push(Column::new(place.kind));
            }
            match batch.columns.get_mut(number) {
                Some(Column::Numeric(values)) => numbers(values, rows, place, endian, windows),
                Some(Column::Character(texts)) => texts.fill(rows, place),
                None => {}
            }
        }
        Ok(true)
    }
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Numeric => Self::Numeric(Vec::new()),
            Kind::Character => Self::Character(Texts::default()),
        }
    }

    fn holds(&self, kind: Kind) -> bool {
        matches!(self, Self::Numeric(_)) == (kind == Kind::Numeric)
    }
}

/// All numbers of a column. Full length is nearly every number there is.
fn numbers(values: &mut Vec<f64>, rows: Rows<'_>, place: Place, endian: Endian, windows: bool) {
    values.clear();
    let all = rows.bytes.chunks_exact(rows.row_bytes);
    let stored = |row: &[u8]| {
        row.get(place.offset..)
            .and_then(<[u8]>::first_chunk::<8>)
            .copied()
            .unwrap_or([0; 8])
    };
    match (place.length, endian) {
        (8, Endian::Little) => values.extend(all.map(|row| f64::from_le_bytes(stored(row)))),
        (8, Endian::Big) => values.extend(all.map(|row| f64::from_be_bytes(stored(row)))),
        _ => values.extend(all.map(|row| {
            let stored = row
                .get(place.offset..place.offset + place.length)
                .unwrap_or(&[]);
            number(stored, endian, false)
        })),
    }
    if windows {
        for value in values.iter_mut().filter(|value| value.is_nan()) {
            *value = missing::normalize(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blanks_at_the_end_are_trimmed() {
        for length in 0..40 {
            for blanks in 0..=length {
                let mut text = vec![b'x'; length];
                text[length - blanks..].fill(b' ');
                assert_eq!(trim_blanks(&text), &text[..length - blanks]);
            }
        }
        assert_eq!(trim_blanks(b"  a b \0 "), b"  a b \0");
    }
}
