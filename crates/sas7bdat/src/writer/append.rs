//! Adding rows to a data set in place: the last page is filled up, new pages come behind it.

use super::index::{self, RowIndex};
use super::stored::{Encoder, Filling};
use super::{Before, NO_ROW, WriteOptions, Writer, plan};
use crate::buffer::Buffer;
use crate::endian::{Endian, Fields, Put, index as to_index};
use crate::error::Error;
use crate::header::CREATED_AT;
use crate::metadata::Metadata;
use crate::page::{PageHeader, Pointer, WIDE, bitmap_bytes};
use crate::reader::{Reader, read_exact};
use crate::source::{Sink, Source};
use crate::subheader::{Location, RowFields, Signature};
use crate::variable::Compression;

/// What the file tells of where rows go.
struct Open {
    metadata: Metadata,
    row: RowFields,
    /// Image of page 1, and where the ROW subheader lies on it.
    first: Buffer,
    row_at: usize,
    /// The page with the last row, or the last page of descriptions if there is no row.
    tail: u64,
    page: Buffer,
}

impl<F: Source + Sink> Writer<F> {
    /// Continues a data set: rows are added behind its last one. Gives what it said of itself before, too.
    ///
    /// Until [`finish`](Self::finish) the file stays the data set that it was, with bytes behind its
    /// end; `modified` is the time of the change, seconds since 1960.
    ///
    /// # Errors
    /// If the file cannot be read, or was not laid out by SAS 9 on 64-bit Linux, or has deleted rows.
    pub fn append(mut file: F, modified: f64) -> Result<(Self, Metadata), Error> {
        let open = Open::read(&mut file)?;
        let metadata = &open.metadata;
        let mut header = Buffer::any(metadata.header_bytes as usize);
        read_exact(&mut file, 0, &mut header)?;
        header.put_f64(CREATED_AT + 8, modified);
        let compressed = metadata.compression != Compression::None;
        let row_index = if compressed {
            open.row_index(&mut file)?
        } else {
            None
        };
        let on_page = open.rows_on_tail();
        let place = if compressed {
            open.stored_place()?
        } else {
            open.plain_place(on_page)?
        };
        let stored = if compressed { metadata.rows } else { 0 };
        let blocks = open.first_fields().long_at(open.row_at + 16, 0);
        let options = WriteOptions {
            page_bytes: metadata.page_bytes,
            compression: metadata.compression,
            page_mask: metadata.page_mask,
            encoding: metadata.encoding,
            ..WriteOptions::default()
        };
        let located = metadata.rows > 0;
        let mut writer = Self {
            sink: file,
            header,
            variable_bytes: metadata
                .variables
                .iter()
                .map(|variable| variable.length as usize)
                .sum(),
            scratch: Vec::new(),
            row_bytes: metadata.layout.row_bytes as usize,
            layout: metadata.layout.clone(),
            row_at: open.row_at,
            blocks: blocks.saturating_sub(stored),
            mix_pointers: place.mix_pointers as u64,
            mix_rows: place.mix_rows,
            page_rows: metadata.rows_per_page,
            number: open.tail,
            at: place.at,
            on_page,
            capacity: place.capacity,
            pointers: place.filling.pointers,
            filling: place.filling,
            encoder: Encoder::new(metadata.compression, false),
            index: row_index,
            first_row: if located { open.row.first_row } else { NO_ROW },
            last_row: if located { open.row.last_row } else { NO_ROW },
            rows: metadata.rows,
            before: Some(Before {
                pages: metadata.pages,
                tail: None,
            }),
            options,
            first: open.first,
            page: open.page,
        };
        if !compressed && writer.on_page >= writer.capacity {
            writer.begin_new_page();
        }
        Ok((writer, open.metadata))
    }

    /// Leaves the last page as it is: no row fits on it.
    fn begin_new_page(&mut self) {
        self.number = self.before.as_ref().map_or(0, |old| old.pages) + 1;
        self.begin_page();
    }
}

/// Where the next row goes on the last page.
struct Place {
    at: usize,
    capacity: u64,
    filling: Filling,
    mix_pointers: usize,
    mix_rows: u64,
}

impl Open {
    fn read<F: Source>(file: &mut F) -> Result<Self, Error> {
        let refuse = |detail| Err(Error::NotExtensible { detail });
        let metadata = Reader::open(&mut *file)?.metadata().clone();
        if metadata.endian != Endian::Little || metadata.word_bits != 64 || metadata.windows {
            return refuse("it is in a format native to another host");
        }
        if metadata.deleted_rows > 0 {
            return refuse("it has deleted rows");
        }
        if metadata.variables.is_empty() {
            return refuse("it has no variables");
        }
        let first = read_page(file, &metadata, 1)?;
        let fields = fields(&first);
        let header = PageHeader::parse(fields);
        let row_at = (1..=usize::from(header.pointers))
            .map(|slot| Pointer::parse(fields, slot))
            .find_map(|pointer| {
                let block = fields.slice(to_index(pointer.offset), to_index(pointer.length));
                let block = Fields {
                    bytes: block,
                    ..fields
                };
                let whole = block.bytes.len() == plan::ROW_BYTES;
                (whole && Signature::of(block) == Some(Signature::Row)).then_some(pointer.offset)
            });
        let Some(row_at) = row_at.map(to_index) else {
            return refuse("its row description is not one of SAS 9");
        };
        let block = Fields {
            bytes: fields.slice(row_at, plan::ROW_BYTES),
            ..fields
        };
        let row = RowFields::parse(block);
        let tail = if metadata.rows > 0 {
            row.last_row.page
        } else {
            // The last of the descriptions, as the ROW subheader locates it.
            Location::parse(block, 528, 0).page
        };
        if !(1..=metadata.pages).contains(&tail) {
            return refuse("it does not tell where its last row lies");
        }
        let page = read_page(file, &metadata, tail)?;
        Ok(Self {
            metadata,
            row,
            first,
            row_at,
            tail,
            page,
        })
    }

    fn first_fields(&self) -> Fields<'_> {
        fields(&self.first)
    }

    /// Rows on the last page.
    fn rows_on_tail(&self) -> u64 {
        let row = &self.row;
        if self.metadata.rows == 0 {
            return 0;
        }
        if self.metadata.compression == Compression::None {
            return PageHeader::parse(fields(&self.page)).plain_rows();
        }
        let before = if row.first_row.page == self.tail {
            u64::from(row.first_row.slot).saturating_sub(1)
        } else {
            0
        };
        u64::from(row.last_row.slot).saturating_sub(before)
    }

    /// The place behind the last of the rows side by side.
    fn plain_place(&self, on_page: u64) -> Result<Place, Error> {
        let refuse = |detail| Err(Error::NotExtensible { detail });
        let page = fields(&self.page);
        let header = PageHeader::parse(page);
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let behind = |start: usize| start + to_index(on_page) * row_bytes;
        let pointers = usize::from(header.pointers);
        let lowest = |page: Fields<'_>, pointers| {
            let offsets = (1..=pointers).map(|slot| to_index(Pointer::parse(page, slot).offset));
            offsets.min().unwrap_or(page.bytes.len())
        };
        let (at, end, capacity, pointers) = if header.is_mix() {
            let at = behind(WIDE.pointers_end(pointers));
            (at, lowest(page, pointers), self.row.mix_rows, pointers)
        } else if header.is_data() {
            let at = behind(WIDE.header_bytes);
            (at, page.bytes.len(), self.metadata.rows_per_page, 0)
        } else {
            // Descriptions only: rows begin on a page of their own.
            return Ok(Place {
                at: 0,
                capacity: 0,
                filling: Filling::empty(page.bytes.len()),
                mix_pointers: 0,
                mix_rows: 0,
            });
        };
        let bits = to_index(bitmap_bytes(capacity));
        let free = at.checked_add(bits).and_then(|used| end.checked_sub(used));
        let rest = to_index(capacity.saturating_sub(on_page)).saturating_mul(row_bytes);
        let room = free.is_some_and(|free| rest <= free && free as u64 == header.free_bytes);
        if on_page > capacity || !room {
            return refuse("its last page is not filled as SAS 9 fills pages");
        }
        Ok(Place {
            at,
            capacity,
            filling: Filling { pointers, low: end },
            // Only what lies on this page matters: behind it all pages are alike.
            mix_pointers: pointers,
            mix_rows: if pointers > 0 { capacity } else { 0 },
        })
    }

    /// The place in front of the last compressed row.
    fn stored_place(&self) -> Result<Place, Error> {
        let page = fields(&self.page);
        let header = PageHeader::parse(page);
        let count = usize::from(header.pointers);
        let free = Pointer::parse(page, count);
        let low = to_index(free.offset.saturating_add(free.length));
        let is_free_space = count > 0
            && self.rows_on_tail() < count as u64
            && free.flags & crate::page::IGNORED != 0
            && to_index(free.offset) == WIDE.pointers_end(count)
            && low <= page.bytes.len();
        if !is_free_space || header.kind != 0 {
            return Err(Error::NotExtensible {
                detail: "its last page is not filled as SAS 9 fills pages",
            });
        }
        Ok(Place {
            at: 0,
            capacity: 0,
            filling: Filling {
                pointers: count - 1,
                low,
            },
            mix_pointers: 0,
            mix_rows: 0,
        })
    }

    /// The index of row numbers so far, without the last page, which is added again when it is full.
    fn row_index<F: Source>(&self, file: &mut F) -> Result<Option<RowIndex>, Error> {
        if self.metadata.pages < index::PAGE {
            return Ok(None);
        }
        let page = read_page(file, &self.metadata, index::PAGE)?;
        let page_bytes = self.metadata.page_bytes as usize;
        if let Some(read) = RowIndex::read(fields(&page), page_bytes, self.metadata.rows, self.tail)
        {
            return Ok(Some(read));
        }
        // Pages carry the number of their first row where there was an index that overflowed.
        let numbered = fields(&self.page).long_at(16, 8) > 0;
        Ok(numbered.then(RowIndex::overflowed))
    }
}

fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields {
        bytes,
        endian: Endian::Little,
        wide: true,
    }
}

fn read_page<F: Source>(file: &mut F, metadata: &Metadata, number: u64) -> Result<Buffer, Error> {
    let page_bytes = u64::from(metadata.page_bytes);
    let mut page = Buffer::any(metadata.page_bytes as usize);
    let offset = u64::from(metadata.header_bytes) + (number - 1) * page_bytes;
    read_exact(file, offset, &mut page)?;
    Ok(page)
}
