//! The row-number index of compressed data sets: which rows lie on which page.

use super::Reader;
use crate::endian::{Endian, Fields, index};
use crate::error::Error;
use crate::page::{PageHeader, Shape};
use crate::source::Source;

/// Entries grow downwards from here, or from the end of smaller pages.
pub(crate) const TOP: usize = 32_767;

/// A page with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Rows up to and with the last one on the page.
    pub(crate) rows: u64,
    pub(crate) page: u64,
}

impl<S: Source> Reader<S> {
    /// The entries of the index if it is one node that covers all rows, else none.
    pub(super) fn index_entries(&mut self) -> Result<&[Entry], Error> {
        if self.leaf.is_none() {
            let entries =
                if self.loaded > 0 && self.metadata.pages >= 2 && self.metadata.deleted_rows == 0 {
                    let (loaded, pending) = (self.loaded, self.pending);
                    self.load(2)?;
                    let entries = leaf(self.fields());
                    self.load(loaded)?;
                    self.pending = pending;
                    entries
                } else {
                    Vec::new()
                };
            let whole = entries
                .last()
                .is_some_and(|last| last.rows == self.metadata.rows);
            self.leaf = Some(if whole { entries } else { Vec::new() });
        }
        Ok(self.leaf.as_deref().unwrap_or(&[]))
    }
}

/// The entries of a node; none if it is not a leaf in order.
pub(crate) fn leaf(page: Fields<'_>) -> Vec<Entry> {
    let header = PageHeader::parse(page);
    if !header.is_index() {
        return Vec::new();
    }
    let entry_bytes = page.pick(18, 10);
    let lowest = Shape::of(page.wide).header_bytes + 8;
    let key = Fields {
        endian: Endian::Big,
        ..page
    };
    let mut entries: Vec<Entry> = Vec::new();
    let mut at = page.bytes.len().min(TOP);
    for _ in 0..header.pointers {
        let Some(next) = at.checked_sub(entry_bytes).filter(|next| *next >= lowest) else {
            return Vec::new();
        };
        at = next;
        let entry = Entry {
            rows: key.long(at),
            page: page.long(at + page.pick(8, 4)),
        };
        let before = entries.last().map_or((0, 0), |last| (last.rows, last.page));
        if entry.rows <= before.0 || entry.page <= before.1 || index(entry.rows) == usize::MAX {
            return Vec::new();
        }
        entries.push(entry);
    }
    entries
}
