//! What a file says twice. Pages carry their number: one that does not is not the page that was written there.

use super::pages::Pending;
use super::{Reader, read_exact, size};
use crate::check::Violation;
use crate::endian::{Fields, index};
use crate::error::Error;
use crate::page::PageHeader;
use crate::source::Source;

/// A page that does not carry its own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misplaced {
    /// Where it lies, 1-based.
    pub page: u64,
    /// The number that it carries.
    pub carries: u64,
    /// Whether it holds nothing but zeros.
    pub blank: bool,
}

/// The numbers that the pages read so far carry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    mask: u32,
    /// Some writers give no numbers: zero, even to the first page.
    given: bool,
    first_wrong: Option<Misplaced>,
    wrong: u64,
}

impl Numbers {
    pub(super) fn new(mask: u32) -> Self {
        Self {
            mask,
            given: true,
            first_wrong: None,
            wrong: 0,
        }
    }

    /// Takes a page that was read.
    pub(super) fn see(&mut self, page: Fields<'_>, number: u64) {
        if number == 1 {
            self.given = PageHeader::parse(page).masked_number != 0;
        }
        if let Some(misplaced) = self.misplaced(page, number) {
            self.first_wrong.get_or_insert(misplaced);
            self.wrong += 1;
        }
    }

    fn misplaced(&self, page: Fields<'_>, number: u64) -> Option<Misplaced> {
        let carries = PageHeader::parse(page).masked_number ^ self.mask;
        // The number has 32 bits.
        let is_right = u64::from(carries) == number & u64::from(u32::MAX);
        (self.given && !is_right).then(|| Misplaced {
            page: number,
            carries: u64::from(carries),
            blank: page.bytes.iter().all(|byte| *byte == 0),
        })
    }

    fn violation(&self) -> Option<Violation> {
        let Misplaced {
            page,
            carries,
            blank,
        } = self.first_wrong?;
        let mut detail = if blank {
            "it holds nothing but zeros".to_owned()
        } else {
            format!("it says that it is page {carries}: it is not the one that was written there")
        };
        if self.wrong > 1 {
            let more = format!(" ({} pages are wrong; this is the first)", self.wrong);
            detail.push_str(&more);
        }
        let rule = "page number";
        Some(Violation { rule, page, detail })
    }
}

impl<S: Source> Reader<S> {
    /// In what the file contradicts itself, though its rows were read up to here: the numbers of pages, how many rows
    /// there are, and where the file ends. Reads the pages that come next; reading does not go on from there.
    pub fn contradictions(&mut self) -> Result<Vec<Violation>, Error> {
        let mut rows = self.found + self.rows_ahead()?;
        while self.next_page <= self.metadata.pages {
            self.load(self.next_page)?;
            rows += self.rows_ahead()?;
        }
        let mut violations: Vec<Violation> = self.numbers.violation().into_iter().collect();
        let promised = self.metadata.rows;
        let mut note = |rule, detail| {
            let page = 0;
            violations.push(Violation { rule, page, detail });
        };
        if rows > promised {
            let detail = format!("the metadata promise {promised} and the pages hold {rows}");
            note("rows", detail);
        }
        let all = promised + self.metadata.deleted_rows;
        let again = self.rows_again.unwrap_or(all);
        if again != all {
            let detail = format!("the metadata promise {all} in one place and {again} in another");
            note("rows", detail);
        }
        let (header, page) = (self.metadata.header_bytes, self.metadata.page_bytes);
        let expected = u64::from(header) + self.metadata.pages * u64::from(page);
        let size = size(&mut self.source)?;
        if size != expected {
            let detail = format!("the header promises {expected} bytes and there are {size}");
            note("file size", detail);
        }
        Ok(violations)
    }

    /// The first page of those read so far that does not carry its number, and how many more there are.
    pub fn misplaced_so_far(&self) -> Option<Violation> {
        self.numbers.violation()
    }

    /// Live rows of the loaded page that were not given yet.
    fn rows_ahead(&mut self) -> Result<u64, Error> {
        let given = std::mem::take(&mut self.current).count as u64;
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::None if self.loaded == 0 => Ok(0),
            // Rows side by side are all made ready at once, as far as they are wanted.
            Pending::None => match self.prepare()? {
                plain @ Pending::Plain { .. } => Ok(self.live(plain)?.saturating_sub(given)),
                _ => Ok(0),
            },
            pending => self.live(pending),
        }
    }

    pub(super) fn live(&self, pending: Pending) -> Result<u64, Error> {
        match pending {
            Pending::None => Ok(0),
            Pending::Plain { count, deleted, .. } => {
                let is_live = |row: usize| {
                    let flags = deleted.and_then(|bits| self.page.get(bits + row / 8));
                    flags.is_none_or(|flags| flags & (0x80 >> (row % 8)) == 0)
                };
                Ok((0..count).filter(|row| is_live(*row)).count() as u64)
            }
            Pending::Stored {
                next_slot,
                pointers,
            } => {
                let header = PageHeader::parse(self.fields());
                let mut live = 0;
                for slot in next_slot..=pointers {
                    live += u64::from(self.row_pointer(header, slot)?.is_some());
                }
                Ok(live)
            }
        }
    }

    /// The page that was read last, 1-based: that of the row that was given last, until another one is
    /// asked for. 0 if none could be read.
    pub fn page(&self) -> u64 {
        self.loaded
    }

    /// What is wrong with the number that this page carries, if anything is.
    pub fn misplaced(&self) -> Option<Misplaced> {
        self.numbers.misplaced(self.fields(), self.loaded)
    }

    /// Looks at all pages, rows or not, and returns the first that does not carry its number.
    pub fn into_first_misplaced(mut self) -> Result<Option<Misplaced>, Error> {
        let page_bytes = u64::from(self.metadata.page_bytes);
        for number in 1..=self.metadata.pages {
            let offset = u64::from(self.metadata.header_bytes) + (number - 1) * page_bytes;
            let page = self.page.get_mut(..index(page_bytes)).unwrap_or_default();
            read_exact(&mut self.source, offset, page)?;
            self.loaded = number;
            if let Some(misplaced) = self.misplaced() {
                return Ok(Some(misplaced));
            }
        }
        Ok(None)
    }
}
