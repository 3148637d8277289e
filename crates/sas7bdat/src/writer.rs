//! Writing a data set: one write per page, in ascending order, and the back-patches at close.

mod append;
mod index;
pub(crate) mod list;
mod options;
mod pager;
mod plan;
mod stored;
mod text;

pub use options::WriteOptions;
pub(crate) use plan::name_flags;

use crate::buffer::Buffer;
use crate::endian::Endian;
use crate::endian::Put;
use crate::error::Error;
use crate::header::{Header, INDEX_MAGIC, PAGES_AT, PREFIX_BYTES};
use crate::page::{DATA, MIX, WIDE, bitmap_bytes};
use crate::source::Sink;
use crate::subheader::Location;
use crate::variable::{Compression, Layout, Variable};
use index::RowIndex;
use pager::header;
use plan::{Plan, put_location};
use stored::{Encoder, Filling};

/// Location that stands for no row.
const NO_ROW: Location = Location { page: 0, slot: 3 };
/// Flags of a compressed data set without an index of row numbers.
const FLAGS_WITHOUT_INDEX: u64 = 0x0020_310A;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: u64,
    /// Pages.
    pub pages: u64,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Whether rows can be found by the index of row numbers.
    pub row_index: bool,
}

/// A data set being written.
///
/// Rows are handed over in the layout that [`layout`](Self::layout) tells. A file that was not
/// [finished](Self::finish) is no data set.
#[derive(Debug)]
pub struct Writer<K> {
    sink: K,
    options: WriteOptions,
    /// The file header, but for what is known at close.
    header: Buffer,
    /// Bytes of a row's variables; padding follows.
    variable_bytes: usize,
    /// A row on its way to the encoder.
    scratch: Vec<u8>,
    layout: Layout,
    row_bytes: usize,
    /// Image of page 1 once it was written: its ROW subheader is completed at close.
    first: Buffer,
    /// Where the ROW subheader lies on it.
    row_at: usize,
    blocks: u64,
    /// Pointers and rows that the last page of descriptions has room for.
    mix_pointers: u64,
    mix_rows: u64,
    page_rows: u64,
    /// The page being filled and its number.
    page: Buffer,
    number: u64,
    /// Where the next uncompressed row goes.
    at: usize,
    /// Rows on the page, and how many fit.
    on_page: u64,
    capacity: u64,
    /// Pointers before the first uncompressed row.
    pointers: usize,
    filling: Filling,
    encoder: Option<Encoder>,
    index: Option<RowIndex>,
    first_row: Location,
    last_row: Location,
    rows: u64,
    /// What was there before rows were appended.
    before: Option<Before>,
}

/// The end of a data set to which rows are appended.
#[derive(Debug)]
struct Before {
    /// Pages of the file.
    pages: u64,
    /// Number and image of the page on which its last row lay: it is written at close, so that until
    /// then the file is the data set it was.
    tail: Option<(u64, Buffer)>,
}

impl<K: Sink> Writer<K> {
    /// Begins a data set: writes the header and the pages of descriptions that have no room for rows.
    pub fn create(sink: K, variables: &[Variable], options: WriteOptions) -> Result<Self, Error> {
        options.check()?;
        let options = WriteOptions {
            compression: options.compression.effective(variables),
            ..options
        };
        options::check_variables(variables, options.encoding)?;
        let layout = options::check_layout(variables, &options)?;
        let Plan {
            mut pager,
            row,
            mix_rows,
            page_rows,
            blocks,
        } = plan::plan(variables, &layout, &options)?;
        let last = pager
            .pages
            .pop()
            .map(|page| (page.bytes, page.pointers, page.low));
        let (page, pointers, low) = last.unwrap_or_default();
        let number = pager.pages.len() as u64 + 1;
        let compressed = options.compression != Compression::None;
        let page_bytes = options.page_bytes as usize;
        let index = compressed && options.row_index && number < index::PAGE;
        let mut writer = Self {
            header: file_header(&options)?,
            sink,
            row_bytes: layout.row_bytes as usize,
            variable_bytes: variables
                .iter()
                .map(|variable| variable.length as usize)
                .sum(),
            scratch: Vec::new(),
            layout,
            first: Buffer::default(),
            row_at: row.offset,
            blocks,
            mix_pointers: pointers as u64,
            mix_rows,
            page_rows,
            page,
            number,
            at: WIDE.pointers_end(pointers),
            on_page: 0,
            capacity: mix_rows,
            pointers,
            filling: Filling { pointers, low },
            encoder: Encoder::new(options.compression, options.strict),
            index: index.then(|| RowIndex::new(page_bytes)),
            first_row: NO_ROW,
            last_row: NO_ROW,
            rows: 0,
            before: None,
            options,
        };
        writer.write_header(false)?;
        for (number, page) in (1..).zip(pager.pages) {
            writer.write(writer.offset(number), &page.bytes, false)?;
            if number == 1 {
                writer.first = page.bytes;
            }
        }
        if !compressed && mix_rows == 0 {
            writer.flush()?;
        }
        Ok(writer)
    }

    /// Where each variable goes in a row.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How rows are compressed: not at all where they are too short.
    pub fn compression(&self) -> Compression {
        self.options.compression
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row.
    #[inline]
    pub fn write_row(&mut self, row: &[u8]) -> Result<(), Error> {
        if row.len() != self.row_bytes {
            return Err(self.not_whole_rows(row.len()));
        }
        if self.encoder.is_some() {
            return self.store(row);
        }
        self.page.put(self.at, row);
        self.at += row.len();
        self.on_page += 1;
        self.rows += 1;
        if self.on_page == self.capacity {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Adds a row that `fill` writes, all bytes of its variables, to where it goes: on the page itself
    /// unless rows are compressed.
    #[inline]
    pub fn write_row_with(&mut self, fill: impl FnOnce(&mut [u8])) -> Result<(), Error> {
        if self.encoder.is_some() {
            let mut row = std::mem::take(&mut self.scratch);
            row.resize(self.row_bytes, 0);
            fill(&mut row);
            let stored = self.store(&row);
            self.scratch = row;
            return stored;
        }
        let end = self.at + self.row_bytes;
        let row = self.page.get_mut(self.at..end).unwrap_or_default();
        // What an earlier page left in the bytes that pad a row.
        row.get_mut(self.variable_bytes..)
            .unwrap_or_default()
            .fill(0);
        fill(row);
        self.at = end;
        self.on_page += 1;
        self.rows += 1;
        if self.on_page == self.capacity {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Adds rows that lie back to back.
    pub fn write_slab(&mut self, rows: &[u8]) -> Result<(), Error> {
        if self.row_bytes == 0 || !rows.len().is_multiple_of(self.row_bytes) {
            return Err(self.not_whole_rows(rows.len()));
        }
        if self.encoder.is_some() {
            return rows
                .chunks_exact(self.row_bytes)
                .try_for_each(|row| self.store(row));
        }
        let mut rest = rows;
        while !rest.is_empty() {
            let left = usize::try_from(self.capacity - self.on_page).unwrap_or(usize::MAX);
            let count = (rest.len() / self.row_bytes).min(left);
            let (these, behind) = rest.split_at(count * self.row_bytes);
            self.page.put(self.at, these);
            self.at += these.len();
            self.on_page += count as u64;
            self.rows += count as u64;
            if self.on_page == self.capacity {
                self.flush()?;
            }
            rest = behind;
        }
        Ok(())
    }

    #[cold]
    fn not_whole_rows(&self, actual: usize) -> Error {
        Error::NotWholeRows {
            row_bytes: self.layout.row_bytes,
            actual,
        }
    }

    /// Adds a compressed row.
    fn store(&mut self, row: &[u8]) -> Result<(), Error> {
        // The encoder's buffer is borrowed while the page may have to be written.
        let Some(mut encoder) = self.encoder.take() else {
            return Ok(());
        };
        let (stored, flags) = encoder.encode(row);
        let room = if self.filling.fits(stored.len()) {
            Ok(())
        } else {
            self.flush()
        };
        if room.is_ok() {
            // Some readers look at eight bytes of each row, and fail at the end of the page.
            let short = stored.len() < 8 && self.filling.pointers == 0 && !self.options.strict;
            let (stored, flags) = if short { (row, 0) } else { (stored, flags) };
            self.filling.add(&mut self.page, stored, flags);
            self.on_page += 1;
            self.rows += 1;
        }
        self.encoder = Some(encoder);
        room
    }

    /// Writes the page being filled and begins the next one.
    fn flush(&mut self) -> Result<(), Error> {
        self.note_rows();
        self.close_page();
        let (number, page) = (self.number, std::mem::take(&mut self.page));
        self.page = self.write_page(number, page)?;
        self.number = (self.number + 1).max(self.before.as_ref().map_or(0, |old| old.pages + 1));
        if let Some(index) = &self.index
            && self.number == index::PAGE
        {
            index.fill(&mut self.page, self.options.page_mask);
            let page = std::mem::take(&mut self.page);
            self.write(self.offset(index::PAGE), &page, false)?;
            self.page = page;
            self.number += 1;
        }
        self.begin_page();
        Ok(())
    }

    /// Makes an empty page of rows of the page in hand.
    fn begin_page(&mut self) {
        // Rows and what is cleared at the end overwrite all the rest.
        let header = self.page.get_mut(..WIDE.header_bytes);
        header.unwrap_or_default().fill(0);
        self.at = WIDE.header_bytes;
        self.on_page = 0;
        self.pointers = 0;
        self.capacity = self.page_rows;
        self.filling = Filling::empty(self.page.len());
    }

    /// Keeps where the rows of the page lie.
    fn note_rows(&mut self) {
        if self.on_page == 0 {
            return;
        }
        let before = if self.compressed() {
            self.filling.pointers - usize::try_from(self.on_page).unwrap_or(0)
        } else {
            self.pointers
        };
        if self.first_row == NO_ROW {
            self.first_row = Location::new(self.number, before + 1);
        }
        let last = before + usize::try_from(self.on_page).unwrap_or(0);
        self.last_row = Location::new(self.number, last);
        let (rows, last) = (self.rows, self.last_row);
        if let Some(index) = &mut self.index {
            index.add(rows, last);
        }
    }

    fn compressed(&self) -> bool {
        self.options.compression != Compression::None
    }

    /// Completes the header of the page being filled, and clears what an earlier page left behind.
    fn close_page(&mut self) {
        let masked = self.masked(self.number);
        if self.compressed() {
            let indexed = self.index.is_some() && self.number > 1;
            let first_row = if indexed {
                self.rows - self.on_page + 1
            } else {
                0
            };
            self.filling.close(&mut self.page, masked, first_row);
            return;
        }
        if self.capacity == 0 {
            return;
        }
        // Subheaders lie behind the rows of a mix page.
        let end = if self.pointers > 0 {
            self.filling.low
        } else {
            self.page.len()
        };
        self.page.get_mut(self.at..end).unwrap_or_default().fill(0);
        let bits = usize::try_from(bitmap_bytes(self.capacity)).unwrap_or(0);
        let kind = if self.pointers > 0 { MIX } else { DATA };
        let on_page = usize::try_from(self.on_page).unwrap_or(0);
        let (blocks, free) = (self.pointers + on_page, end - self.at - bits);
        header(&mut self.page, masked, free, kind, blocks, self.pointers);
    }

    /// Page numbers have 32 bits in their page headers.
    fn masked(&self, number: u64) -> u32 {
        let [a, b, c, d, ..] = number.to_le_bytes();
        self.options.page_mask ^ u32::from_le_bytes([a, b, c, d])
    }

    /// Writes the last page and completes the header and page 1.
    pub fn finish(mut self) -> Result<(K, Written), Error> {
        let first_written = !self.first.is_empty();
        // A page of descriptions is written even if it has no row.
        if self.on_page > 0 || self.filling.pointers > 0 {
            self.note_rows();
            self.close_page();
            let page = std::mem::take(&mut self.page);
            if self.number == 1 {
                self.first = page;
            } else {
                self.write_page(self.number, page)?;
            }
            self.number += 1;
        }
        let least = if self.index.is_some() { index::PAGE } else { 1 };
        let before = self.before.take();
        let pages = (self.number - 1).max(before.as_ref().map_or(least, |old| old.pages));
        let row_index = self.index.as_ref().is_some_and(RowIndex::is_whole);
        self.complete_row_subheader(row_index);
        let bytes = self.offset(pages + 1);
        let first = std::mem::take(&mut self.first);
        let index = self.index.take().map(|index| {
            let mut page = first.clone();
            index.fill(&mut page, self.options.page_mask);
            page
        });
        self.header.front(PREFIX_BYTES).put_u64(PAGES_AT, pages);
        if let Some(old) = before {
            // Page 1 counts the rows: whatever was written before it, the data set is the old one.
            self.write_header(true)?;
            if let Some((number, page)) = old.tail {
                self.write(self.offset(number), &page, true)?;
            }
            if let Some(page) = index {
                self.write(self.offset(index::PAGE), &page, true)?;
            }
            self.write(self.offset(1), &first, true)?;
        } else {
            self.write(self.offset(1), &first, first_written)?;
            if let Some(page) = index {
                self.write(self.offset(index::PAGE), &page, first_written)?;
            }
            self.write_header(true)?;
        }
        Ok((
            self.sink,
            Written {
                rows: self.rows,
                pages,
                bytes,
                row_index,
            },
        ))
    }

    /// What is known only at the end.
    fn complete_row_subheader(&mut self, row_index: bool) {
        let (rows, compressed) = (self.rows, self.compressed());
        let has_data_pages = rows > self.mix_rows;
        let most_blocks = if has_data_pages {
            self.page_rows
        } else {
            self.mix_pointers + self.mix_rows
        };
        let end = self.row_at + plan::ROW_BYTES;
        let block = self.first.get_mut(self.row_at..end).unwrap_or_default();
        block.put_u64(16, self.blocks + if compressed { rows } else { 0 });
        if row_index {
            block.put_u64(64, index::PAGE);
        } else if compressed {
            block.put_u64(32, FLAGS_WITHOUT_INDEX);
            block.put_u64(64, 0);
        }
        block.put_u64(48, rows);
        put_location(block, 544, self.first_row);
        put_location(block, 560, self.last_row);
        if !compressed {
            block.put_u16(766, u16::try_from(most_blocks).unwrap_or(u16::MAX));
        }
        block.put_u64(776, rows);
    }

    fn offset(&self, page: u64) -> u64 {
        self.header.len() as u64 + (page - 1) * u64::from(self.options.page_bytes)
    }

    /// Writes a page, or keeps it until the end: page 1, which is completed then, and what belongs to
    /// the data set as it was before rows were appended.
    ///
    /// Gives the memory for the next page, of any content.
    fn write_page(&mut self, number: u64, page: Buffer) -> Result<Buffer, Error> {
        let length = page.len();
        match &mut self.before {
            Some(old) if number <= old.pages => {
                if number > 1 {
                    old.tail = Some((number, page));
                    return Ok(Buffer::any(length));
                }
            }
            _ => self.write(self.offset(number), &page, false)?,
        }
        if number > 1 {
            return Ok(page);
        }
        self.first = page;
        Ok(Buffer::any(length))
    }

    fn write_header(&mut self, again: bool) -> Result<(), Error> {
        let header = std::mem::take(&mut self.header);
        let written = self.write(0, &header, again);
        self.header = header;
        written
    }

    fn write(&mut self, offset: u64, bytes: &[u8], again: bool) -> Result<(), Error> {
        let written = if again {
            self.sink.rewrite_at(offset, bytes)
        } else {
            self.sink.write_at(offset, bytes)
        };
        let length = bytes.len() as u64;
        written.map_err(|source| Error::Io {
            action: "write",
            offset,
            bytes: length,
            source,
        })
    }
}

/// The file header of a data set without pages.
fn file_header(options: &WriteOptions) -> Result<Buffer, Error> {
    Ok(described(options, options.header_bytes())?.build(*b"DATA    "))
}

/// The file header of an index file without pages.
pub(crate) fn index_header(options: &WriteOptions, header_bytes: u32) -> Result<Buffer, Error> {
    let mut header = described(options, header_bytes)?.build(*b"INDEX   ");
    header.front(PREFIX_BYTES).put(15, &[INDEX_MAGIC]);
    Ok(header)
}

fn described(options: &WriteOptions, header_bytes: u32) -> Result<Header, Error> {
    Ok(Header {
        endian: Endian::Little,
        wide: true,
        windows: false,
        encoding: options.encoding,
        name: options.encoding.encode(&options.name)?.to_ascii_uppercase(),
        created: options.created,
        modified: options.created,
        utc_offset: options.utc_offset,
        header_bytes,
        page_bytes: options.page_bytes,
        pages: 0,
        release: options.release.clone(),
        host: options.host.clone(),
        os_version: options.os_version.clone(),
        os_maker: String::new(),
        os_name: options.os_name.clone(),
        mask: options.page_mask,
    })
}
