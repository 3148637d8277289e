//! Pages of compressed rows: pointers from the front, rows from the back.

use super::pager::header;
use crate::endian::Put;
use crate::page::{COMPRESSED, IGNORED, WIDE};
use crate::variable::Compression;
use crate::{rdc, rle};

/// The field has 16 bits, but Parso reads it with a sign and finds nothing on a page with more.
const MOST_POINTERS: usize = i16::MAX as usize;

/// The encoder of a data set.
#[derive(Debug)]
pub(super) enum Encoder {
    Char(rle::Encoder),
    Binary(rdc::Encoder),
}

impl Encoder {
    pub(super) fn new(compression: Compression, strict: bool) -> Option<Self> {
        match compression {
            Compression::None => None,
            Compression::Char => Some(Self::Char(rle::Encoder::new(strict))),
            Compression::Binary => Some(Self::Binary(rdc::Encoder::new())),
        }
    }

    /// The stored form of a row and the flags of its pointer.
    #[inline]
    pub(super) fn encode<'e>(&'e mut self, row: &'e [u8]) -> (&'e [u8], u8) {
        let stored = match self {
            Self::Char(encoder) => encoder.encode(row),
            Self::Binary(encoder) => encoder.encode(row),
        };
        match stored {
            Some(stored) => (stored, COMPRESSED),
            None => (row, 0),
        }
    }
}

/// The page being filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    pub(super) pointers: usize,
    /// Where the lowest row or subheader begins.
    pub(super) low: usize,
}

impl Filling {
    pub(super) fn empty(page_bytes: usize) -> Self {
        Self {
            pointers: 0,
            low: page_bytes,
        }
    }

    /// Whether a stored row fits beside its pointer and that of the free space.
    #[inline]
    pub(super) fn fits(self, stored_bytes: usize) -> bool {
        WIDE.pointers_end(self.pointers + 2) + stored_bytes <= self.low
            && self.pointers + 2 <= MOST_POINTERS
    }

    #[inline]
    pub(super) fn add(&mut self, page: &mut [u8], stored: &[u8], flags: u8) {
        self.low -= stored.len();
        page.put(self.low, stored);
        pointer(page, self.pointers, self.low, stored.len(), flags);
        self.pointers += 1;
    }

    /// Ends the page: clears what an earlier page left between pointers and rows, adds the pointer of
    /// the free space and the page header. Pages that the index of row numbers leads to carry the
    /// 1-based number of their first row, the first page excepted.
    pub(super) fn close(self, page: &mut [u8], masked_number: u32, first_row: u64) {
        let (count, end) = (self.pointers + 1, WIDE.pointers_end(self.pointers + 1));
        let free = self.low - end;
        page.get_mut(end..self.low).unwrap_or_default().fill(0);
        pointer(page, self.pointers, end, free, IGNORED);
        header(page, masked_number, free, 0, count, count);
        page.put_u64(16, first_row);
    }
}

#[inline]
fn pointer(page: &mut [u8], place: usize, offset: usize, length: usize, flags: u8) {
    let mut bytes = [0; WIDE.pointer_bytes];
    bytes.put_u64(0, offset as u64);
    bytes.put_u64(8, length as u64);
    bytes.put(16, &[flags, 1]);
    page.put(WIDE.pointers_end(place), &bytes);
}
