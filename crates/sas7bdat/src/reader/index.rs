//! The row-number index of compressed data sets: which rows lie on which page.

use super::Reader;
use super::pages::Pending;
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

/// How the pages of compressed rows can be found.
#[derive(Debug)]
pub(super) enum Finder {
    /// By the entries of the index.
    Entries(Vec<Entry>),
    /// By the number of the first row that each page carries: the index has more than one node, or was
    /// dropped because it would have.
    Pages,
    /// Only one after the other.
    Nothing,
}

impl<S: Source> Reader<S> {
    /// The page of a row and the rows before that page, if the file tells.
    pub(super) fn stored_page_of(&mut self, row: u64) -> Result<Option<(u64, u64)>, Error> {
        if self.finder.is_none() {
            self.finder = Some(self.look_for_index()?);
        }
        match &self.finder {
            Some(Finder::Entries(entries)) => {
                let place = entries.partition_point(|entry| entry.rows <= row);
                let before = place.checked_sub(1).and_then(|place| entries.get(place));
                let before = before.map_or(0, |entry| entry.rows);
                match entries.get(place).copied() {
                    Some(entry) => self.confirm(entry.page, before, entry.rows),
                    None => Ok(None),
                }
            }
            Some(Finder::Pages) => match self.search_pages(row)? {
                Some((page, before, behind)) => self.confirm(page, before, behind),
                None => Ok(None),
            },
            Some(Finder::Nothing) | None => Ok(None),
        }
    }

    /// The page and the rows before it if it agrees that it holds the rows from `before` up to
    /// `behind`; one wrong bit in the index must not lead to another row. It stays loaded then,
    /// otherwise reading can go on where it was.
    fn confirm(
        &mut self,
        page: u64,
        before: u64,
        behind: u64,
    ) -> Result<Option<(u64, u64)>, Error> {
        if !(self.first_page..=self.metadata.pages).contains(&page) {
            return Ok(None);
        }
        let (loaded, pending) = (self.loaded, self.pending);
        let agrees = self.load(page).and_then(|()| {
            let first = self.fields().long_at(16, 8);
            // The first page carries no number.
            let starts = first == before + 1 || page == self.first_page && before == 0;
            Ok(starts && self.stored_rows()? == behind - before)
        });
        if matches!(agrees, Ok(true)) {
            return Ok(Some((page, before)));
        }
        if loaded > 0 {
            self.load(loaded)?;
        }
        self.pending = pending;
        agrees.map(|_| None)
    }

    /// Rows on the loaded page, if they are compressed ones.
    fn stored_rows(&self) -> Result<u64, Error> {
        let Pending::Stored { pointers, .. } = self.pending else {
            return Ok(0);
        };
        let header = PageHeader::parse(self.fields());
        let mut rows = 0;
        for slot in 1..=pointers {
            rows += u64::from(self.row_pointer(header, slot)?.is_some());
        }
        Ok(rows)
    }

    fn look_for_index(&mut self) -> Result<Finder, Error> {
        if self.metadata.pages < 2 || self.metadata.deleted_rows > 0 || self.loaded == 0 {
            return Ok(Finder::Nothing);
        }
        let (loaded, pending) = (self.loaded, self.pending);
        self.load(2)?;
        let entries = leaf(self.fields());
        let header = PageHeader::parse(self.fields());
        // A page without rows where the index should be stands in for one that was dropped.
        let dropped = header.kind == 0 && header.blocks == 1 && header.pointers == 1;
        let numbered = header.is_index() || dropped;
        self.load(loaded)?;
        self.pending = pending;
        let whole = entries
            .last()
            .is_some_and(|last| last.rows == self.metadata.rows);
        Ok(match (whole, numbered) {
            (true, _) => Finder::Entries(entries),
            (false, true) => Finder::Pages,
            (false, false) => Finder::Nothing,
        })
    }

    /// Bisects the pages: the page, the rows before it and those up to its end. Gives up where the
    /// numbers of the pages do not ascend.
    fn search_pages(&mut self, row: u64) -> Result<Option<(u64, u64, u64)>, Error> {
        let (loaded, pending) = (self.loaded, self.pending);
        let (mut low, mut before) = (self.first_page, 0);
        let (mut high, mut behind) = (self.metadata.last_data_page, self.metadata.rows);
        if high > self.metadata.pages {
            return Ok(None);
        }
        let mut ascending = true;
        while ascending && low < high {
            let middle = low + (high - low).div_ceil(2);
            self.load(middle)?;
            let page = self.fields();
            let header = PageHeader::parse(page);
            match page.long_at(16, 8).checked_sub(1) {
                Some(first) if header.kind == 0 && before < first && first < behind => {
                    if first <= row {
                        (low, before) = (middle, first);
                    } else {
                        (high, behind) = (middle - 1, first);
                    }
                }
                None if middle == 2 => high = 1,
                _ => ascending = false,
            }
        }
        if loaded > 0 && self.loaded != loaded {
            self.load(loaded)?;
        }
        self.pending = pending;
        self.next_page = self.loaded + 1;
        Ok(ascending.then_some((low, before, behind)))
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
