//! Lays subheaders on pages: pointers from the front, blocks from the back.

use crate::buffer::Buffer;
use crate::endian::Put;
use crate::page::{IGNORED, MIX, WIDE};
use crate::subheader::{Location, Signature};

/// Longest block of variable size, and longest if it is the first of its page.
const LONGEST: usize = 32_740;
const LONGEST_FIRST: usize = 32_676;

/// A page of descriptions being filled.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: Buffer,
    pub(super) pointers: usize,
    /// Where the lowest block begins.
    pub(super) low: usize,
}

impl Page {
    /// A page of which only the header is cleared; see [`Pager::close_pages`].
    fn new(page_bytes: usize) -> Self {
        let mut bytes = Buffer::any(page_bytes);
        let header = bytes.get_mut(..WIDE.header_bytes);
        header.unwrap_or_default().fill(0);
        Self {
            bytes,
            pointers: 0,
            low: page_bytes,
        }
    }

    /// Bytes between the pointers, one more counted, and the lowest block.
    pub(super) fn free(&self) -> usize {
        self.low
            .saturating_sub(WIDE.pointers_end(self.pointers + 1))
    }

    /// Adds a block and its pointer; the caller made sure that both fit.
    pub(super) fn add(&mut self, block: &[u8], flags: u8, kind: u8) {
        self.low -= block.len();
        self.bytes.put(self.low, block);
        self.pointer(self.pointers, self.low, block.len(), flags, kind);
        self.pointers += 1;
    }

    pub(super) fn pointer(
        &mut self,
        place: usize,
        offset: usize,
        length: usize,
        flags: u8,
        kind: u8,
    ) {
        let at = WIDE.pointers_end(place);
        self.bytes.put_u64(at, offset as u64);
        self.bytes.put_u64(at + 8, length as u64);
        self.bytes.put(at + 16, &[flags, kind, 0, 0, 0, 0, 0, 0]);
    }
}

/// Where a block is, to fill in later what is known later.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) location: Location,
    pub(super) offset: usize,
    pub(super) bytes: usize,
    pub(super) signature: Signature,
}

/// All pages of descriptions.
#[derive(Debug)]
pub(super) struct Pager {
    page_bytes: usize,
    compressed: bool,
    pub(super) pages: Vec<Page>,
    pub(super) placed: Vec<Placed>,
}

impl Pager {
    pub(super) fn new(page_bytes: usize, compressed: bool) -> Self {
        let pages = vec![Page::new(page_bytes)];
        Self {
            page_bytes,
            compressed,
            pages,
            placed: Vec::new(),
        }
    }

    /// Longest block of variable size that fits on the present page.
    pub(super) fn room(&self) -> usize {
        let Some(page) = self.pages.last() else {
            return 0;
        };
        let longest = if page.pointers == 0 {
            LONGEST_FIRST
        } else {
            LONGEST
        };
        // The last pointer of a page stands for its free space.
        page.free().saturating_sub(WIDE.pointer_bytes).min(longest)
    }

    pub(super) fn new_page(&mut self) {
        self.pages.push(Page::new(self.page_bytes));
    }

    /// Puts a block on the present page, or on a new one if it does not fit.
    pub(super) fn place(&mut self, signature: Signature, block: &[u8]) {
        let free = self.pages.last().map_or(0, Page::free);
        if block.len() + WIDE.pointer_bytes > free {
            self.new_page();
        }
        let number = self.pages.len();
        let Some(page) = self.pages.last_mut() else {
            return;
        };
        let variable = matches!(
            signature,
            Signature::Text | Signature::Name | Signature::Attribute | Signature::List
        );
        page.add(block, 0, u8::from(variable || self.compressed));
        self.placed.push(Placed {
            location: Location::new(number as u64, page.pointers),
            offset: page.low,
            bytes: block.len(),
            signature,
        });
    }

    /// The bytes of a placed block.
    pub(super) fn block(&mut self, placed: Placed) -> &mut [u8] {
        let page = usize::try_from(placed.location.page - 1).ok();
        page.and_then(|page| self.pages.get_mut(page))
            .and_then(|page| {
                page.bytes
                    .get_mut(placed.offset..placed.offset + placed.bytes)
            })
            .unwrap_or_default()
    }

    /// Blocks of one kind, in order.
    pub(super) fn of(&self, signature: Signature) -> impl Iterator<Item = Placed> {
        self.placed
            .iter()
            .copied()
            .filter(move |placed| placed.signature == signature)
    }

    /// Ends each page with the pointer of its free space and writes the page headers. The last page
    /// stays open for rows if they are compressed. What lies between pointers and blocks is cleared, but not
    /// on the page that gets rows: they or the end of that page overwrite it.
    pub(super) fn close_pages(&mut self, mask: u32, mix: bool) {
        let (count, compressed) = (self.pages.len(), self.compressed);
        for (number, page) in (1u32..).zip(&mut self.pages) {
            let last = number as usize == count;
            if compressed && last {
                page.bytes.put_u32(0, mask ^ number);
                continue;
            }
            let (place, end) = (page.pointers, WIDE.pointers_end(page.pointers + 1));
            if compressed {
                page.pointer(place, end, page.low - end, IGNORED, 1);
            } else {
                page.pointer(place, page.low, 0, IGNORED, 0);
            }
            page.pointers += 1;
            let kind = if last && mix { MIX } else { 0 };
            if kind != MIX {
                let gap = page.bytes.get_mut(end..page.low);
                gap.unwrap_or_default().fill(0);
            }
            header(
                &mut page.bytes,
                mask ^ number,
                page.low - end,
                kind,
                page.pointers,
                page.pointers,
            );
        }
    }
}

/// Writes a page header.
pub(super) fn header(
    page: &mut [u8],
    masked_number: u32,
    free_bytes: usize,
    kind: u16,
    blocks: usize,
    pointers: usize,
) {
    let number = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    page.put_u32(0, masked_number);
    page.put_u64(24, free_bytes as u64);
    page.put_u16(32, kind);
    page.put_u16(34, number(blocks));
    page.put_u16(36, number(pointers));
    page.put_u16(38, 0);
}
