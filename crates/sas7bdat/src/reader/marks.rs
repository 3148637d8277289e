//! Pages carry their number: one that does not is not the page that was written there.

use super::{Reader, read_exact};
use crate::endian::index;
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

impl<S: Source> Reader<S> {
    /// The page that was read last, 1-based: that of the row that was given last, until another one is
    /// asked for. 0 if none could be read.
    pub fn page(&self) -> u64 {
        self.loaded
    }

    /// What is wrong with the number that this page carries, if anything is.
    pub fn misplaced(&self) -> Option<Misplaced> {
        let masked = PageHeader::parse(self.fields()).masked_number;
        let carries = masked ^ self.metadata.page_mask;
        // The number has 32 bits.
        let is_right = u64::from(carries) == self.loaded & u64::from(u32::MAX);
        (!is_right).then(|| Misplaced {
            page: self.loaded,
            carries: u64::from(carries),
            blank: self.fields().bytes.iter().all(|byte| *byte == 0),
        })
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
