//! Which number a row has that was found at its place.

use super::Reader;
use super::pages::{Current, Pending};
use crate::btree::RowId;
use crate::error::Error;
use crate::page::PageHeader;
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// The number of the row at a place (1-based, among the live rows); `None` if there is no such
    /// row. Reading in order does not go on from there.
    ///
    /// Where pages of compressed rows carry no numbers, or rows were deleted, every page is read once.
    pub fn number_of(&mut self, place: RowId) -> Result<Option<u64>, Error> {
        let (page, slot) = (u64::from(place.page), usize::from(place.slot));
        if !(1..=self.metadata.pages).contains(&page) || slot == 0 {
            return Ok(None);
        }
        let before = self.rows_before(page)?;
        let on_page = self.live_rows(page, slot)?;
        Ok((on_page > 0).then_some(before + on_page))
    }

    fn rows_before(&mut self, page: u64) -> Result<u64, Error> {
        if let Some(rows) = self.rows_before.get(&page) {
            return Ok(*rows);
        }
        if let Some(rows) = self.search_rows(page)? {
            self.rows_before.insert(page, rows);
            return Ok(rows);
        }
        let mut rows = 0;
        for page in self.first_page..=self.metadata.pages {
            self.rows_before.insert(page, rows);
            rows += self.live_rows(page, usize::MAX)?;
        }
        Ok(self.rows_before.get(&page).copied().unwrap_or(0))
    }

    /// Bisects the rows for the first one on `page`.
    fn search_rows(&mut self, page: u64) -> Result<Option<u64>, Error> {
        let (mut low, mut high) = (0, self.metadata.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.page_of(middle)? {
                None => return Ok(None),
                Some((found, before)) if found == page => return Ok(Some(before)),
                Some((found, _)) if found < page => low = middle + 1,
                Some(_) => high = middle,
            }
        }
        Ok(None)
    }

    /// Live rows of a page up to a slot.
    fn live_rows(&mut self, page: u64, last_slot: usize) -> Result<u64, Error> {
        self.current = Current::default();
        self.load(page)?;
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::Plain {
                start,
                count,
                deleted,
            } => {
                let upto = last_slot.saturating_sub(self.slots_before_rows());
                let count = count.min(upto);
                self.live(Pending::Plain {
                    start,
                    count,
                    deleted,
                })
            }
            Pending::Stored { pointers, .. } => {
                let header = PageHeader::parse(self.fields());
                let mut live = 0;
                for slot in 1..=pointers.min(last_slot) {
                    live += u64::from(self.row_pointer(header, slot)?.is_some());
                }
                Ok(live)
            }
            Pending::None => Ok(0),
        }
    }
}
