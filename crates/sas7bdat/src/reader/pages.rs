//! Turning pages into rows side by side.

use super::{PADDING, Reader, SLAB_BYTES, read_exact};
use crate::endian::index;
use crate::error::Error;
use crate::page::{COMPRESSED, DELETED, IGNORED, PageHeader, Pointer, Shape, block};
use crate::source::Source;
use crate::subheader::Location;
use crate::variable::Compression;
use crate::{rdc, rle};

/// Rows of the loaded page that were not yet made ready.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    None,
    /// Rows side by side.
    Plain {
        start: usize,
        count: usize,
        /// Where the deleted-flag bits lie.
        deleted: Option<usize>,
    },
    /// Rows with a pointer each.
    Stored {
        next_slot: usize,
        pointers: usize,
    },
}

/// Rows that are ready.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Current {
    /// They lie on the page, not in the slab.
    pub(super) on_page: bool,
    pub(super) start: usize,
    pub(super) count: usize,
    pub(super) next: usize,
}

impl<S: Source> Reader<S> {
    /// Makes sure that there is a row ready; false after the last one.
    #[inline]
    pub(super) fn fill(&mut self) -> Result<bool, Error> {
        if self.current.next < self.current.count {
            return Ok(true);
        }
        self.next_rows()
    }

    fn next_rows(&mut self) -> Result<bool, Error> {
        loop {
            let left = self.metadata.rows - self.found;
            if left == 0 {
                return Ok(false);
            }
            let most = index(left);
            self.current = match self.pending {
                Pending::None => {
                    if self.next_page > self.metadata.pages {
                        let (expected, actual) = (self.metadata.rows, self.found);
                        return Err(Error::MissingRows { expected, actual });
                    }
                    self.load(self.next_page)?;
                    continue;
                }
                Pending::Plain {
                    start,
                    count,
                    deleted: None,
                } => {
                    self.pending = Pending::None;
                    Current {
                        on_page: true,
                        start,
                        count: count.min(most),
                        next: 0,
                    }
                }
                Pending::Plain {
                    start,
                    count,
                    deleted: Some(bits),
                } => {
                    self.pending = Pending::None;
                    self.gather_live(start, count, bits, most)
                }
                Pending::Stored {
                    next_slot,
                    pointers,
                } => self.gather_stored(next_slot, pointers, most)?,
            };
            self.found += self.current.count as u64;
            if self.current.count > 0 {
                return Ok(true);
            }
        }
    }

    /// Reads a page; the one behind it comes next.
    pub(super) fn load(&mut self, number: u64) -> Result<(), Error> {
        let page_bytes = u64::from(self.metadata.page_bytes);
        let offset = u64::from(self.metadata.header_bytes) + (number - 1) * page_bytes;
        if self.loaded != number {
            self.loaded = 0;
            let page = self.page.get_mut(..index(page_bytes)).unwrap_or_default();
            read_exact(&mut self.source, offset, page)?;
            self.loaded = number;
            let mut numbers = self.numbers;
            numbers.see(self.fields(), number);
            self.numbers = numbers;
        }
        self.next_page = number + 1;
        self.pending = self.prepare()?;
        Ok(())
    }

    /// Where the rows of the loaded page lie.
    pub(super) fn prepare(&self) -> Result<Pending, Error> {
        let page = self.fields();
        let header = PageHeader::parse(page);
        let shape = Shape::of(page.wide);
        if header.is_index() {
            return Ok(Pending::None);
        }
        if header.has_pointers() && !header.is_mix() {
            if self.metadata.compression == Compression::None {
                return Ok(Pending::None);
            }
            if shape.pointers_end(usize::from(header.pointers)) > page.bytes.len() {
                let detail = format!("{} pointers do not fit", header.pointers);
                return Err(Error::page(self.loaded, shape.header_bytes, detail));
            }
            return Ok(Pending::Stored {
                next_slot: 1,
                pointers: usize::from(header.pointers),
            });
        }
        let mut start = shape.header_bytes;
        if header.is_mix() {
            start = shape.pointers_end(usize::from(header.pointers));
            let padding = page.slice(start, 4);
            let blank = padding == [0; 4] || padding == [b' '; 4];
            if !start.is_multiple_of(8) && (blank || !self.unaligned) {
                start += 4;
            }
        }
        let count = index(header.plain_rows());
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let end = start + count * row_bytes;
        if end > page.bytes.len() {
            let detail = format!("{count} rows of {row_bytes} bytes do not fit");
            return Err(Error::page(self.loaded, start, detail));
        }
        let mut deleted = None;
        if header.kind & DELETED != 0 {
            // The bits lie behind the free space.
            let bits = end.saturating_add(index(header.free_bytes));
            if bits.saturating_add(count.div_ceil(8)) > page.bytes.len() {
                return Err(Error::page(
                    self.loaded,
                    end,
                    "the deleted-flag bits do not fit",
                ));
            }
            deleted = Some(bits);
        }
        Ok(Pending::Plain {
            start,
            count,
            deleted,
        })
    }

    /// Copies the rows that are not deleted.
    fn gather_live(&mut self, start: usize, count: usize, bits: usize, most: usize) -> Current {
        let row_bytes = self.metadata.layout.row_bytes as usize;
        self.slab.clear();
        self.slots.clear();
        let before = self.slots_before_rows() + 1;
        let mut live = 0;
        for row in 0..count {
            let flags = self.page.get(bits + row / 8).copied().unwrap_or(0);
            if flags & (0x80 >> (row % 8)) != 0 || live == most {
                continue;
            }
            let at = start + row * row_bytes;
            self.slab
                .extend_from_slice(self.page.get(at..at + row_bytes).unwrap_or(&[]));
            if self.placing {
                self.slots
                    .push(u16::try_from(before + row).unwrap_or(u16::MAX));
            }
            live += 1;
        }
        Current {
            on_page: false,
            start: 0,
            count: live,
            next: 0,
        }
    }

    /// Decompresses rows until the slab is full or the page is done.
    fn gather_stored(
        &mut self,
        mut slot: usize,
        pointers: usize,
        most: usize,
    ) -> Result<Current, Error> {
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let full = SLAB_BYTES.max(self.metadata.page_bytes as usize) / row_bytes.max(1);
        let most = most.min(full.max(1));
        let mut slab = std::mem::take(&mut self.slab);
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        let result = self.store_rows(&mut slot, pointers, most, &mut slab, &mut slots);
        (self.slab, self.slots) = (slab, slots);
        self.pending = if slot > pointers {
            Pending::None
        } else {
            Pending::Stored {
                next_slot: slot,
                pointers,
            }
        };
        Ok(Current {
            on_page: false,
            start: 0,
            count: result?,
            next: 0,
        })
    }

    pub(super) fn store_rows(
        &self,
        slot: &mut usize,
        pointers: usize,
        most: usize,
        slab: &mut Vec<u8>,
        slots: &mut Vec<u16>,
    ) -> Result<usize, Error> {
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let page = self.fields();
        let header = PageHeader::parse(page);
        let mut count = 0;
        while *slot <= pointers && count < most {
            let pointer = self.row_pointer(header, *slot)?;
            *slot += 1;
            let Some(pointer) = pointer else { continue };
            let (start, end) = (count * row_bytes, (count + 1) * row_bytes);
            if slab.len() < end + PADDING {
                // Grows with the rows found, not with what a pointer count promises.
                slab.resize(
                    (end + PADDING).max((slab.len() * 2).min(most * row_bytes)),
                    0,
                );
            }
            let from = index(pointer.offset);
            let to = from + index(pointer.length);
            self.restore(pointer, from, to, slab, start, end)
                .map_err(|detail| Error::CorruptRow {
                    page: self.loaded,
                    row: self.found + count as u64,
                    detail,
                })?;
            if self.placing {
                slots.push(u16::try_from(*slot - 1).unwrap_or(u16::MAX));
            }
            count += 1;
        }
        Ok(count)
    }

    /// The pointer of a slot if it leads to a live row; its block is on the page.
    #[inline]
    pub(super) fn row_pointer(
        &self,
        header: PageHeader,
        slot: usize,
    ) -> Result<Option<Pointer>, Error> {
        let page = self.fields();
        let pointer = Pointer::parse(page, slot);
        if pointer.flags & IGNORED != 0 || pointer.length == 0 {
            return Ok(None);
        }
        let block = block(page, pointer, self.loaded, slot)?;
        let at = Location::new(self.loaded, slot);
        Ok(self
            .rule
            .is_row(header, block, pointer, at)
            .then_some(pointer))
    }

    #[inline]
    fn restore(
        &self,
        pointer: Pointer,
        from: usize,
        to: usize,
        slab: &mut [u8],
        start: usize,
        end: usize,
    ) -> Result<(), &'static str> {
        if pointer.flags & COMPRESSED == 0 {
            let stored = self.page.get(from..to).unwrap_or(&[]);
            let place = slab.get_mut(start..end).unwrap_or_default();
            if stored.len() != place.len() {
                return Err("it is not compressed and has not the length of a row");
            }
            place.copy_from_slice(stored);
            return Ok(());
        }
        match self.metadata.compression {
            Compression::Char => rle::decode_at(&self.page, from, to, slab, start, end),
            Compression::Binary => rdc::decode_at(&self.page, from, to, slab, start, end),
            Compression::None => Err("it is compressed and the data set is not"),
        }
    }
}
