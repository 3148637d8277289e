//! Changing what a data set says of itself, in place: names, labels, formats, indexes. As SAS does it,
//! new texts and index descriptions go to an amended page behind all others, and what refers to them
//! is rewritten where it lies; the pages of rows are not touched.

use std::cmp::Reverse;

use crate::endian::{Endian, Fields, Put, index};
use crate::error::Error;
use crate::header::{CREATED_AT, PAGES_AT};
use crate::metadata::{IndexInfo, Metadata};
use crate::page::{AMENDED, IGNORED, PageHeader, Pointer, WIDE};
use crate::reader::{Reader, read_exact};
use crate::source::{Sink, Source};
use crate::subheader::{Location, Signature, TextRef};
use crate::variable::{Format, Variable};
use crate::writer::list;

/// Where fields of the COUNTS subheader lie.
const AMENDED_PAGE: usize = 48;
const AMENDED_FREE: usize = 80;
const LONGEST_BLOCK: usize = 8;
const BLOCKS: usize = 16;
/// First and last location of a kind of block lie this far behind its signature.
const FIRST: usize = 8;
const LAST: usize = 24;
/// UPDATECENTILES: percent of changes after which SAS counts the centiles of an index again.
const UPDATE_CENTILES: u16 = 5;

/// A page of descriptions, and whether it has to be written.
struct Page {
    number: u64,
    bytes: Vec<u8>,
    changed: bool,
}

/// A block on one of the pages.
#[derive(Clone, Copy)]
struct Block {
    page: usize,
    slot: usize,
    offset: usize,
    length: usize,
}

/// Rewrites what the data set says of itself: `label`, `variables` and `indexes` instead of what it
/// says now. Kinds, lengths and order of the variables are as they were; `modified` is the time of
/// the change, seconds since 1960.
///
/// # Errors
/// If the file cannot be read or written, was not laid out by SAS 9 on 64-bit Linux, or a text lacks
/// in its encoding or is too long.
pub fn amend<F: Source + Sink>(
    mut file: F,
    label: &str,
    variables: &[Variable],
    indexes: &[IndexInfo],
    modified: f64,
) -> Result<(), Error> {
    let reader = Reader::open(&mut file)?;
    let (metadata, numbers) = (reader.metadata().clone(), reader.described().to_vec());
    let first_row = reader
        .rule()
        .row
        .filter(|row| row.rows > 0)
        .map(|row| row.first_row);
    if metadata.endian != Endian::Little || metadata.word_bits != 64 || metadata.windows {
        let detail = "it is in a format native to another host";
        return Err(Error::NotExtensible { detail });
    }
    let pages = load(&mut file, &metadata, &numbers)?;
    let mut editor = Editor {
        old_pages: metadata.pages,
        pages_now: metadata.pages,
        first_row,
        metadata,
        pages,
    };
    editor.set_label(label)?;
    for (number, variable) in variables.iter().enumerate() {
        editor.set_variable(number, variable)?;
    }
    editor.set_names(variables)?;
    editor.set_indexes(indexes)?;
    editor.set_flags(variables, indexes)?;
    editor.write(&mut file, modified)
}

struct Editor {
    metadata: Metadata,
    pages: Vec<Page>,
    old_pages: u64,
    pages_now: u64,
    /// From here on blocks of pages that are not amended are rows.
    first_row: Option<Location>,
}

impl Editor {
    /// All blocks of a kind, in the order of the file.
    fn blocks(&self, signature: Signature) -> Vec<Block> {
        let mut found = Vec::new();
        for (place, page) in self.pages.iter().enumerate() {
            let fields = fields(&page.bytes);
            let header = PageHeader::parse(fields);
            for slot in 1..=usize::from(header.pointers) {
                let pointer = Pointer::parse(fields, slot);
                let (offset, length) = (index(pointer.offset), index(pointer.length));
                let block = Fields {
                    bytes: fields.slice(offset, length),
                    ..fields
                };
                let at = Location::new(page.number, slot);
                let behind = self.first_row.is_some_and(|first| at >= first);
                let row = pointer.flags != 0 || behind && !header.is_amended();
                if row || length < least(signature) || Signature::of(block) != Some(signature) {
                    continue;
                }
                found.push(Block {
                    page: place,
                    slot,
                    offset,
                    length,
                });
            }
        }
        found
    }

    fn one(&self, signature: Signature) -> Result<Block, Error> {
        let first = self.blocks(signature).first().copied();
        first.ok_or_else(|| Error::metadata("a description that every data set has is missing"))
    }

    fn read(&self, block: Block) -> Fields<'_> {
        let page = self
            .pages
            .get(block.page)
            .map_or(&[][..], |page| &page.bytes);
        Fields {
            bytes: fields(page).slice(block.offset, block.length),
            ..fields(page)
        }
    }

    fn edit(&mut self, block: Block) -> &mut [u8] {
        let Some(page) = self.pages.get_mut(block.page) else {
            return &mut [];
        };
        page.changed = true;
        page.bytes
            .get_mut(block.offset..block.offset + block.length)
            .unwrap_or_default()
    }

    fn set_label(&mut self, label: &str) -> Result<(), Error> {
        if self.metadata.label == label {
            return Ok(());
        }
        let text = self.text(label, 256)?;
        let row = self.one(Signature::Row)?;
        put_text(self.edit(row), 678, text);
        Ok(())
    }

    /// Label, format and informat of a variable.
    fn set_variable(&mut self, number: usize, new: &Variable) -> Result<(), Error> {
        let Some(old) = self.metadata.variables.get(number).cloned() else {
            return Err(Error::metadata("there are more variables than before"));
        };
        if (&old.label, &old.format, &old.informat) == (&new.label, &new.format, &new.informat) {
            return Ok(());
        }
        let formats = self.blocks(Signature::Format);
        let one_each = formats.len() == self.metadata.variables.len();
        let Some(block) = formats.get(number).copied().filter(|_| one_each) else {
            return Err(Error::metadata("a variable has no format description"));
        };
        if old.label != new.label {
            let text = self.text(&new.label, 256)?;
            put_text(self.edit(block), 52, text);
        }
        let both = [
            (&old.format, &new.format, 24, 46),
            (&old.informat, &new.informat, 28, 40),
        ];
        for (old, new, size, name) in both {
            if old != new {
                self.set_format(block, new, size, name)?;
            }
        }
        Ok(())
    }

    fn set_format(
        &mut self,
        block: Block,
        format: &Format,
        size_at: usize,
        name_at: usize,
    ) -> Result<(), Error> {
        let text = self.text(&format.name, 32)?;
        let bytes = self.edit(block);
        bytes.put_u16(size_at, format.width);
        bytes.put_u16(size_at + 2, format.decimals);
        put_text(bytes, name_at, text);
        Ok(())
    }

    /// Names, the hash table over them, and what is said of their lengths.
    fn set_names(&mut self, variables: &[Variable]) -> Result<(), Error> {
        let encoding = self.metadata.encoding;
        let encode = |text: &str| encoding.encode(text).map(std::borrow::Cow::into_owned);
        let names: Result<Vec<Vec<u8>>, Error> = variables
            .iter()
            .map(|variable| encode(&variable.name))
            .collect();
        let names = names?;
        let longest = |lengths: &mut dyn Iterator<Item = usize>| {
            u16::try_from(lengths.max().unwrap_or(0)).unwrap_or(u16::MAX)
        };
        let mut labels = Vec::new();
        for variable in variables {
            labels.push(encode(&variable.label)?.len());
        }
        let row = self.one(Signature::Row)?;
        let bytes = self.edit(row);
        bytes.put_u64(96, names.iter().map(|name| name.len() as u64).sum());
        bytes.put_u16(750, longest(&mut names.iter().map(Vec::len)));
        bytes.put_u16(752, longest(&mut labels.into_iter()));
        let old = self.metadata.variables.clone();
        if old
            .iter()
            .zip(variables)
            .all(|(old, new)| old.name == new.name)
        {
            return Ok(());
        }
        for (number, (old, new)) in old.iter().zip(variables).enumerate() {
            if old.name != new.name {
                let text = self.text(&new.name, 32)?;
                self.entry(Signature::Name, 8, number, |entry| put_text(entry, 0, text));
            }
        }
        let size: usize = self.list_slots().map(|(_, count)| count).sum();
        let slots = list::build(names.iter().map(Vec::as_slice), size, Endian::Little);
        let mut rest = slots.as_slice();
        for (block, count) in self.list_slots().collect::<Vec<_>>() {
            let (these, behind) = rest.split_at(count.min(rest.len()));
            let at = block.length - 12 - 2 * count;
            let bytes = self.edit(block);
            for (place, slot) in these.iter().enumerate() {
                bytes.put_u16(at + 2 * place, slot.cast_unsigned());
            }
            rest = behind;
        }
        Ok(())
    }

    /// The blocks of the column list and the slots that each holds.
    fn list_slots(&self) -> impl Iterator<Item = (Block, usize)> + use<> {
        let blocks = self.blocks(Signature::List);
        blocks.into_iter().enumerate().map(|(number, block)| {
            let head = if number == 0 { 22 } else { 0 };
            (block, block.length.saturating_sub(28 + head) / 2)
        })
    }

    /// Edits entry `number` of the blocks of a kind that have entries of `entry_bytes`.
    fn entry(
        &mut self,
        signature: Signature,
        entry_bytes: usize,
        number: usize,
        change: impl FnOnce(&mut [u8]),
    ) {
        let mut before = 0;
        for block in self.blocks(signature) {
            let count = block.length.saturating_sub(28) / entry_bytes;
            if number < before + count {
                let at = 16 + (number - before) * entry_bytes;
                if let Some(entry) = self.edit(block).get_mut(at..at + entry_bytes) {
                    change(entry);
                }
                return;
            }
            before += count;
        }
    }

    /// Removes the descriptions of indexes that are gone and adds those of new ones.
    fn set_indexes(&mut self, indexes: &[IndexInfo]) -> Result<(), Error> {
        let old = self.metadata.indexes.clone();
        if old == indexes {
            return Ok(());
        }
        for block in self.blocks(Signature::Index) {
            if let Some(page) = self.pages.get_mut(block.page) {
                page.changed = true;
                let at = WIDE.pointers_end(block.slot - 1) + 16;
                page.bytes.put(at, &[IGNORED]);
            }
        }
        let mut places = Vec::new();
        for (number, one) in (1u32..).zip(indexes) {
            let name = if one.columns.len() > 1 {
                self.text(&one.name, 32)?
            } else {
                TextRef::default()
            };
            let count = u16::try_from(one.columns.len()).unwrap_or(u16::MAX);
            let mut block = vec![0; 36 + 2 * one.columns.len()];
            block.put_u64(0, Signature::Index.number());
            block.put_u32(8, number);
            put_text(&mut block, 12, name);
            block.put_u16(18, if one.unique { 0x12 } else { 0x10 });
            block.put_u16(22, UPDATE_CENTILES);
            block.put_u16(24, count);
            for (at, column) in (26..).step_by(2).zip(&one.columns) {
                block.put_u16(at, u16::try_from(column + 1).unwrap_or(u16::MAX));
            }
            places.push(self.place(&block)?);
        }
        let (first, last) = (places.first(), places.last());
        self.locate(
            Signature::Index,
            first.copied().unwrap_or_default(),
            last.copied().unwrap_or_default(),
        )
    }

    /// How variables take part in indexes.
    fn set_flags(&mut self, variables: &[Variable], indexes: &[IndexInfo]) -> Result<(), Error> {
        let encoding = self.metadata.encoding;
        for (number, variable) in variables.iter().enumerate() {
            let name = encoding.encode(&variable.name)?.into_owned();
            let mut flags = crate::writer::name_flags(&name);
            for one in indexes.iter().filter(|one| one.columns.contains(&number)) {
                flags |= if one.columns.len() == 1 { 1 } else { 2 };
                flags |= if one.unique && one.columns.len() == 1 {
                    8
                } else {
                    0
                };
            }
            self.entry(Signature::Attribute, 16, number, |entry| {
                entry.put_u16(12, flags);
            });
        }
        Ok(())
    }

    /// Stores a text; an empty one takes no place.
    fn text(&mut self, text: &str, longest: usize) -> Result<TextRef, Error> {
        let bytes = self.metadata.encoding.encode(text)?.into_owned();
        if bytes.is_empty() {
            return Ok(TextRef::default());
        }
        if bytes.len() > longest {
            let detail = format!("{text:?} has {} bytes, and {longest} fit", bytes.len());
            return Err(Error::option("name or label", detail));
        }
        let needed = bytes.len().next_multiple_of(4);
        let texts = self.blocks(Signature::Text);
        let last = texts.last().copied();
        let (number, block) = match last.filter(|last| self.room(*last) >= needed + 8) {
            Some(last) => (texts.len() - 1, last),
            None => (texts.len(), self.new_texts(needed)?),
        };
        let fields = self.read(block);
        let (free, used) = (usize::from(fields.u16(10)), usize::from(fields.u16(12)));
        let size = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
        let target = self.edit(block);
        target.put(8 + used, &vec![0; needed]);
        target.put(8 + used, &bytes);
        target.put_u16(10, size(free - needed));
        target.put_u16(12, size(used + needed));
        target.put_u32(8 + used + needed, 1);
        target.put_u32(12 + used + needed, u32::from(size(free - needed)));
        Ok(TextRef {
            text: size(number),
            offset: size(used),
            length: size(bytes.len()),
        })
    }

    /// Free bytes of a block of texts on an amended page; those of other pages are left alone.
    fn room(&self, block: Block) -> usize {
        let page = self.pages.get(block.page);
        let amended = page.is_some_and(|page| PageHeader::parse(fields(&page.bytes)).is_amended());
        if amended {
            usize::from(self.read(block).u16(10))
        } else {
            0
        }
    }

    /// A new block of texts with room for `needed` bytes.
    fn new_texts(&mut self, needed: usize) -> Result<Block, Error> {
        // The sizes that SAS takes: a quarter of a page, 8 KiB at most.
        let usual = (self.metadata.page_bytes as usize / 4).min(8192) - 88;
        let length = usual.max(needed + 64);
        let size = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
        let mut block = vec![0; length];
        block.put_u64(0, Signature::Text.number());
        block.put_u16(8, size(length - 20));
        block.put_u16(10, size(length - 28));
        block.put_u16(12, 8);
        let place = self.place(&block)?;
        let texts = self.blocks(Signature::Text);
        let row = self.one(Signature::Row)?;
        self.edit(row).put_u16(748, size(texts.len()));
        let first = texts.first().copied();
        let first = first.map_or(Location::default(), |first| self.location(first));
        self.locate(Signature::Text, first, place)?;
        texts
            .last()
            .copied()
            .ok_or_else(|| Error::metadata("a block of texts was lost"))
    }

    fn location(&self, block: Block) -> Location {
        let page = self.pages.get(block.page).map_or(0, |page| page.number);
        Location::new(page, block.slot)
    }

    /// Notes in COUNTS where blocks of a kind begin and end.
    fn locate(&mut self, kind: Signature, first: Location, last: Location) -> Result<(), Error> {
        let counts = self.one(Signature::Counts)?;
        let fields = self.read(counts);
        let at = (0..7)
            .map(|place| 120 + 40 * place)
            .find(|at| fields.u64(*at) == kind.number());
        if let Some(at) = at {
            let bytes = self.edit(counts);
            bytes.put_u64(at + FIRST, first.page);
            bytes.put_u16(at + FIRST + 8, first.slot);
            bytes.put_u64(at + LAST, last.page);
            bytes.put_u16(at + LAST + 8, last.slot);
        }
        Ok(())
    }

    /// Puts a block on the amended page, or on a new one behind all pages.
    fn place(&mut self, block: &[u8]) -> Result<Location, Error> {
        let fits = |page: &Page| {
            let header = PageHeader::parse(fields(&page.bytes));
            let end = WIDE.pointers_end(usize::from(header.pointers).max(1));
            let behind = end.saturating_add(index(header.free_bytes));
            header.is_amended()
                && behind <= page.bytes.len()
                && index(header.free_bytes) >= block.len() + WIDE.pointer_bytes
        };
        if !self.pages.last().is_some_and(fits) {
            self.new_page();
        }
        let Some(page) = self.pages.last_mut() else {
            return Err(Error::metadata("there is no page of descriptions"));
        };
        page.changed = true;
        let header = PageHeader::parse(fields(&page.bytes));
        // The last pointer is that of the free space.
        let slot = usize::from(header.pointers).max(1);
        let end = WIDE.pointers_end(slot);
        let low = end + index(header.free_bytes) - block.len();
        page.bytes.put(low, block);
        put_pointer(&mut page.bytes, slot, low, block.len(), 0);
        let (end, count) = (WIDE.pointers_end(slot + 1), slot + 1);
        let free = low - end;
        put_pointer(&mut page.bytes, count, end, free, IGNORED);
        put_header(&mut page.bytes, free, count);
        let (number, bytes) = (page.number, block.len() as u64);
        let counts = self.one(Signature::Counts)?;
        let fields = self.read(counts);
        let (longest, blocks) = (fields.u64(LONGEST_BLOCK), fields.u64(BLOCKS));
        let target = self.edit(counts);
        target.put_u64(LONGEST_BLOCK, longest.max(bytes - 20));
        target.put_u64(BLOCKS, blocks.saturating_add(1));
        target.put_u64(AMENDED_PAGE, number);
        target.put_u64(AMENDED_FREE, free as u64);
        let row = self.one(Signature::Row)?;
        let blocks = self.read(row).u64(16);
        self.edit(row).put_u64(16, blocks.saturating_add(1));
        Ok(Location::new(number, slot))
    }

    fn new_page(&mut self) {
        self.pages_now += 1;
        let mut bytes = vec![0; self.metadata.page_bytes as usize];
        let [a, b, c, d, ..] = self.pages_now.to_le_bytes();
        bytes.put_u32(
            0,
            self.metadata.page_mask ^ u32::from_le_bytes([a, b, c, d]),
        );
        let end = WIDE.pointers_end(1);
        let free = bytes.len() - end;
        put_pointer(&mut bytes, 1, end, free, IGNORED);
        put_header(&mut bytes, free, 1);
        self.pages.push(Page {
            number: self.pages_now,
            bytes,
            changed: true,
        });
    }

    /// New pages first; page 1, which refers to them, last.
    fn write<F: Sink + Source>(self, file: &mut F, modified: f64) -> Result<(), Error> {
        let metadata = &self.metadata;
        let mut header = vec![0; metadata.header_bytes as usize];
        read_exact(file, 0, &mut header)?;
        header.put_f64(CREATED_AT + 8, modified);
        header.put_u64(PAGES_AT, self.pages_now);
        let page_bytes = u64::from(metadata.page_bytes);
        let offset = |number: u64| u64::from(metadata.header_bytes) + (number - 1) * page_bytes;
        let changed = || self.pages.iter().filter(|page| page.changed);
        for page in changed().filter(|page| page.number > self.old_pages) {
            put(file, offset(page.number), &page.bytes)?;
        }
        put(file, 0, &header)?;
        let mut old: Vec<&Page> = changed()
            .filter(|page| page.number <= self.old_pages)
            .collect();
        old.sort_by_key(|page| Reverse(page.number));
        for page in old {
            put(file, offset(page.number), &page.bytes)?;
        }
        Ok(())
    }
}

fn put<F: Sink>(file: &mut F, offset: u64, bytes: &[u8]) -> Result<(), Error> {
    file.rewrite_at(offset, bytes).map_err(|source| Error::Io {
        action: "write",
        offset,
        bytes: bytes.len() as u64,
        source,
    })
}

/// The pages of these numbers.
fn load<F: Source>(file: &mut F, metadata: &Metadata, numbers: &[u64]) -> Result<Vec<Page>, Error> {
    let page_bytes = u64::from(metadata.page_bytes);
    let mut pages = Vec::new();
    for number in numbers.iter().copied() {
        let mut bytes = vec![0; metadata.page_bytes as usize];
        let offset = u64::from(metadata.header_bytes) + (number - 1) * page_bytes;
        read_exact(file, offset, &mut bytes)?;
        pages.push(Page {
            number,
            bytes,
            changed: false,
        });
    }
    Ok(pages)
}

/// Bytes that a block of a kind has at least.
const fn least(signature: Signature) -> usize {
    match signature {
        Signature::Row => 808,
        Signature::Counts => 600,
        Signature::Format => 64,
        _ => 28,
    }
}

fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields {
        bytes,
        endian: Endian::Little,
        wide: true,
    }
}

fn put_text(block: &mut [u8], at: usize, text: TextRef) {
    block.put_u16(at, text.text);
    block.put_u16(at + 2, text.offset);
    block.put_u16(at + 4, text.length);
}

fn put_pointer(page: &mut [u8], slot: usize, offset: usize, length: usize, flags: u8) {
    let at = WIDE.pointers_end(slot - 1);
    page.put_u64(at, offset as u64);
    page.put_u64(at + 8, length as u64);
    page.put(at + 16, &[flags, 1, 0, 0, 0, 0, 0, 0]);
}

fn put_header(page: &mut [u8], free: usize, pointers: usize) {
    let count = u16::try_from(pointers).unwrap_or(u16::MAX);
    page.put_u64(24, free as u64);
    page.put_u16(32, AMENDED);
    page.put_u16(34, count);
    page.put_u16(36, count);
}
