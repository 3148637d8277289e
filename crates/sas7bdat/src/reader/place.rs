//! Where rows lie, and reading a row from its place: one read of its page.

use super::Reader;
use super::pages::{Current, Pending};
use crate::btree::RowId;
use crate::error::Error;
use crate::page::PageHeader;
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// From now on [`place`](Self::place) knows where rows lie; to be called before the first one.
    pub fn keep_places(&mut self) {
        self.placing = true;
    }

    /// Where the row lies that [`next_row`](Self::next_row) gave last.
    pub fn place(&self) -> RowId {
        let row = self.current.next;
        let slot = if self.current.on_page {
            self.slots_before_rows() + row
        } else {
            let slot = row.checked_sub(1).and_then(|row| self.slots.get(row));
            usize::from(slot.copied().unwrap_or(0))
        };
        RowId {
            page: u32::try_from(self.loaded).unwrap_or(u32::MAX),
            slot: u16::try_from(slot).unwrap_or(u16::MAX),
        }
    }

    /// Pointers of the loaded page, which come before the rows in its slots.
    pub(super) fn slots_before_rows(&self) -> usize {
        let header = PageHeader::parse(self.fields());
        if header.is_mix() {
            usize::from(header.pointers)
        } else {
            0
        }
    }

    /// The row at a place, `None` if there is none or it is deleted. Reading in order does not go on
    /// from there.
    pub fn row_at(&mut self, place: RowId) -> Result<Option<&[u8]>, Error> {
        let (page, slot) = (u64::from(place.page), usize::from(place.slot));
        if !(1..=self.metadata.pages).contains(&page) || slot == 0 {
            return Ok(None);
        }
        self.current = Current::default();
        self.load(page)?;
        let pending = std::mem::replace(&mut self.pending, Pending::None);
        let row_bytes = self.metadata.layout.row_bytes as usize;
        match pending {
            Pending::None => Ok(None),
            Pending::Plain {
                start,
                count,
                deleted,
            } => {
                let Some(row) = slot.checked_sub(self.slots_before_rows() + 1) else {
                    return Ok(None);
                };
                let flags = deleted.and_then(|bits| self.page.get(bits + row / 8));
                if row >= count || flags.is_some_and(|flags| flags & (0x80 >> (row % 8)) != 0) {
                    return Ok(None);
                }
                let at = start + row * row_bytes;
                Ok(self.page.get(at..at + row_bytes))
            }
            Pending::Stored { pointers, .. } => {
                if slot > pointers {
                    return Ok(None);
                }
                let mut slab = std::mem::take(&mut self.slab);
                let mut next = slot;
                let found = self.store_rows(&mut next, slot, 1, &mut slab, &mut Vec::new());
                self.slab = slab;
                Ok(if found? == 1 {
                    self.slab.get(..row_bytes)
                } else {
                    None
                })
            }
        }
    }
}
