//! Going to a row without reading all rows before it, where the file allows that.

use super::Reader;
use super::pages::{Current, Pending};
use crate::endian::index;
use crate::error::Error;
use crate::page::PageHeader;
use crate::source::Source;
use crate::variable::Compression;

impl<S: Source> Reader<S> {
    /// Makes `row` (0-based, among the live rows) the next one; the number of rows means the end.
    ///
    /// Rows side by side are found by arithmetic, compressed ones by the index that SAS puts on the
    /// second page or the row numbers that come with it; without, or with deleted rows, the pages in
    /// between are read.
    pub fn seek_row(&mut self, row: u64) -> Result<(), Error> {
        let rows = self.metadata.rows;
        if row > rows {
            return Err(Error::RowOutOfRange { row, rows });
        }
        let start = self.found - self.current.count as u64;
        if row >= start && row <= self.found {
            self.current.next = index(row - start);
            return Ok(());
        }
        if row == rows {
            self.found = rows;
            self.current = Current::default();
            self.pending = Pending::None;
            return Ok(());
        }
        if let Some((page, before)) = self.page_of(row)? {
            self.found = before;
            self.current = Current::default();
            self.load(page)?;
        } else if row < self.found {
            self.found = 0;
            self.current = Current::default();
            self.load(self.first_page)?;
        }
        self.skip_to(row)
    }

    /// The page of a row and the rows before that page.
    pub(super) fn page_of(&mut self, row: u64) -> Result<Option<(u64, u64)>, Error> {
        if self.metadata.deleted_rows > 0 {
            return Ok(None);
        }
        if self.metadata.compression != Compression::None {
            return self.stored_page_of(row);
        }
        let (first_page, first_rows) = (self.first_page, self.first_rows);
        let full = self.metadata.rows_per_page;
        let behind = self.metadata.rows.saturating_sub(first_rows);
        // Only if the last row lies where it would if every page were full and none in between were
        // of another kind.
        let pages =
            behind.checked_div(full).unwrap_or(0) + u64::from(!behind.is_multiple_of(full.max(1)));
        if full == 0 || first_page + pages != self.metadata.last_data_page {
            return Ok(None);
        }
        if row < first_rows {
            return Ok(Some((first_page, 0)));
        }
        let page = (row - first_rows) / full;
        Ok(Some((first_page + 1 + page, first_rows + page * full)))
    }

    /// Passes rows without decompressing them, page by page.
    fn skip_to(&mut self, row: u64) -> Result<(), Error> {
        while self.found < row {
            let wanted = row - self.found;
            match self.pending {
                Pending::Stored {
                    next_slot,
                    pointers,
                } => {
                    let header = PageHeader::parse(self.fields());
                    let (mut passed, mut slot) = (0, next_slot);
                    while passed < wanted && slot <= pointers {
                        passed += u64::from(self.row_pointer(header, slot)?.is_some());
                        slot += 1;
                    }
                    self.found += passed;
                    self.current = Current::default();
                    self.pending = if slot > pointers {
                        Pending::None
                    } else {
                        Pending::Stored {
                            next_slot: slot,
                            pointers,
                        }
                    };
                    if passed < wanted && self.next_page <= self.metadata.pages {
                        self.load(self.next_page)?;
                    } else if passed < wanted {
                        let (expected, actual) = (self.metadata.rows, self.found);
                        return Err(Error::MissingRows { expected, actual });
                    }
                }
                Pending::None | Pending::Plain { .. } => {
                    self.current.next = self.current.count;
                    if !self.fill()? {
                        return Ok(());
                    }
                    let start = self.found - self.current.count as u64;
                    self.current.next = index(row - start).min(self.current.count);
                }
            }
        }
        Ok(())
    }
}
