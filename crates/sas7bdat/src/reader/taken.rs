//! Rows that leave the reader with the memory they lie in, so that another thread may work on them.

use super::pages::Current;
use super::{PADDING, Reader, Rows};
use crate::error::Error;
use crate::source::Source;

/// Rows side by side that own their memory.
#[derive(Debug, Clone, Default)]
pub struct TakenRows {
    bytes: Vec<u8>,
    start: usize,
    row_bytes: usize,
    count: usize,
}

impl TakenRows {
    /// Rows side by side in `bytes`, each of `row_bytes` bytes.
    pub fn new(bytes: Vec<u8>, row_bytes: usize) -> Self {
        let count = bytes.len().checked_div(row_bytes).unwrap_or(0);
        Self {
            bytes,
            start: 0,
            row_bytes,
            count,
        }
    }

    /// How many rows.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// `count` of the rows, from row `first` on, as far as there are so many.
    pub fn rows(&self, first: usize, count: usize) -> Rows<'_> {
        let first = first.min(self.count);
        let count = count.min(self.count - first);
        let start = self.start + first * self.row_bytes;
        let bytes = self.bytes.get(start..start + count * self.row_bytes);
        Rows {
            bytes: bytes.unwrap_or(&[]),
            row_bytes: self.row_bytes,
            count,
        }
    }

    /// The memory, for other rows.
    pub fn into_memory(self) -> Vec<u8> {
        self.bytes
    }
}

impl<S: Source> Reader<S> {
    /// As [`next_slab`](Self::next_slab), but the rows leave with their memory; the reader goes on
    /// with `spare`, whatever that holds.
    pub fn take_slab(&mut self, mut spare: Vec<u8>) -> Result<Option<TakenRows>, Error> {
        if !self.fill()? {
            return Ok(None);
        }
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let current = std::mem::take(&mut self.current);
        let bytes = if current.on_page {
            let page_bytes = self.metadata.page_bytes as usize;
            spare.resize(page_bytes + PADDING, 0);
            if let Some(padding) = spare.get_mut(page_bytes..) {
                padding.fill(0);
            }
            self.loaded = 0;
            std::mem::replace(&mut self.page, spare.into()).into_memory()
        } else {
            std::mem::replace(&mut self.slab, spare)
        };
        let Current {
            start, count, next, ..
        } = current;
        Ok(Some(TakenRows {
            bytes,
            start: start + next * row_bytes,
            row_bytes,
            count: count - next,
        }))
    }
}
