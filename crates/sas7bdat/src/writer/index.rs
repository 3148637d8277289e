//! The index of row numbers on page 2 of a compressed data set.

use super::pager::header;
use super::stored::Filling;
use crate::endian::{Fields, Put};
use crate::page::{INDEX_NODE, PageHeader};
use crate::reader::{INDEX_TOP, leaf};
use crate::subheader::Location;

/// Page that the index takes.
pub(super) const PAGE: u64 = 2;
const ENTRY_BYTES: usize = 18;
/// Page header and level of the node.
const LOWEST: usize = 48;

/// The entries so far; gives up, and frees them, once one node cannot hold them.
#[derive(Debug)]
pub(super) struct RowIndex {
    top: usize,
    entries: Vec<u8>,
    count: usize,
    full: bool,
}

impl RowIndex {
    pub(super) fn new(page_bytes: usize) -> Self {
        Self {
            top: page_bytes.min(INDEX_TOP),
            entries: Vec::new(),
            count: 0,
            full: false,
        }
    }

    /// A page with rows is complete; `rows` counts up to and with its last one.
    pub(super) fn add(&mut self, rows: u64, last: Location) {
        if self.full || LOWEST + (self.count + 1) * ENTRY_BYTES > self.top {
            self.full = true;
            self.entries = Vec::new();
            return;
        }
        self.entries.extend_from_slice(&rows.to_be_bytes());
        self.entries.extend_from_slice(&last.page.to_le_bytes());
        self.entries.extend_from_slice(&last.slot.to_le_bytes());
        self.count += 1;
    }

    /// The index of a file of `rows` rows, without the entry of page `last`; `None` if `page` holds
    /// no index of all rows.
    pub(super) fn read(page: Fields<'_>, page_bytes: usize, rows: u64, last: u64) -> Option<Self> {
        let entries = leaf(page);
        if !PageHeader::parse(page).is_index() || entries.last().map_or(0, |one| one.rows) != rows {
            return None;
        }
        let mut index = Self::new(page_bytes);
        for (place, entry) in entries.iter().enumerate() {
            let slot = page.u16(index.top - place * ENTRY_BYTES - 2);
            if entry.page != last {
                index.add(
                    entry.rows,
                    Location {
                        page: entry.page,
                        slot,
                    },
                );
            }
        }
        Some(index)
    }

    /// One that has overflowed.
    pub(super) fn overflowed() -> Self {
        Self {
            full: true,
            ..Self::new(0)
        }
    }

    /// Whether the index holds every page so far.
    pub(super) fn is_whole(&self) -> bool {
        !self.full
    }

    /// Writes the node, or an empty page of rows where the index overflowed.
    pub(super) fn fill(&self, page: &mut [u8], mask: u32) {
        page.fill(0);
        let masked = mask ^ 2;
        if self.full {
            Filling::empty(page.len()).close(page, masked, 0);
            return;
        }
        let free = self.top - LOWEST - self.count * ENTRY_BYTES;
        header(page, masked, 1, INDEX_NODE, self.count + 1, self.count);
        page.put_u16(38, u16::try_from(free).unwrap_or(u16::MAX));
        for (place, entry) in self.entries.chunks_exact(ENTRY_BYTES).enumerate() {
            page.put(self.top - (place + 1) * ENTRY_BYTES, entry);
        }
    }
}
