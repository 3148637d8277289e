//! The descriptions of a data set: all subheaders, laid on pages.

use std::borrow::Cow;

use super::list;
use super::options::{WriteOptions, is_plain};
use super::pager::{Pager, Placed};
use super::text::{OVERHEAD, Texts};
use crate::endian::{Endian, Put};
use crate::error::Error;
use crate::page::{MAX_BLOCKS, WIDE, capacity};
use crate::subheader::{Location, Signature, TextRef};
use crate::variable::{Compression, Format, Kind, Layout, Variable};

pub(super) const ROW_BYTES: usize = 808;
const COLUMN_COUNT_BYTES: usize = 24;
const COUNTS_BYTES: usize = 600;
const FORMAT_BYTES: usize = 64;
/// Attributes are kept in shorter blocks than the others.
const LONGEST_ATTRIBUTES: usize = 24_588;

/// Pages of descriptions, and what rows need to know of them.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) pager: Pager,
    /// The ROW subheader, on the first page.
    pub(super) row: Placed,
    /// Rows that fit on the last page of descriptions.
    pub(super) mix_rows: u64,
    /// Rows on a page without descriptions.
    pub(super) page_rows: u64,
    /// Blocks of the descriptions as the ROW subheader counts them.
    pub(super) blocks: u64,
}

/// Texts of a variable by number, `None` where it is empty.
struct Described {
    name: Option<usize>,
    label: Option<usize>,
    format: Option<usize>,
    informat: Option<usize>,
}

/// Texts of the data set itself.
struct Heading {
    encoding: Option<usize>,
    literal: Option<usize>,
    blanks: Option<usize>,
    data_type: Option<usize>,
    creator: Option<usize>,
    label: Option<usize>,
}

/// Lengths in bytes of the encoded texts of a variable.
struct Encoded<'v> {
    name: Cow<'v, [u8]>,
    label_bytes: usize,
}

/// References to the texts, once they are laid.
struct References(Vec<TextRef>);

impl References {
    fn get(&self, number: Option<usize>) -> TextRef {
        number
            .and_then(|number| self.0.get(number))
            .copied()
            .unwrap_or_default()
    }
}

/// Lays the descriptions of a data set.
pub(super) fn plan(
    variables: &[Variable],
    layout: &Layout,
    options: &WriteOptions,
) -> Result<Plan, Error> {
    let compressed = options.compression != Compression::None;
    let mut texts = Texts::of(variables.len());
    let heading = heading(&mut texts, options)?;
    let mut described = Vec::with_capacity(variables.len());
    let mut encoded = Vec::with_capacity(variables.len());
    for variable in variables {
        let encode = |text| options.encoding.encode(text);
        let (name, label) = (encode(&variable.name)?, encode(&variable.label)?);
        described.push(Described {
            name: texts.add(&name),
            label: texts.add(&label),
            format: texts.add(&encode(&variable.format.name)?),
            informat: texts.add(&encode(&variable.informat.name)?),
        });
        encoded.push(Encoded {
            name,
            label_bytes: label.len(),
        });
    }
    let mut pager = Pager::new(options.page_bytes as usize, compressed);
    pager.placed.reserve(variables.len() + 8);
    pager.place(Signature::Row, &[0; ROW_BYTES]);
    let mut count = [0; COLUMN_COUNT_BYTES];
    count.put_u64(0, Signature::ColumnCount.number());
    count.put_u64(8, variables.len() as u64);
    pager.place(Signature::ColumnCount, &count);
    pager.place(Signature::Counts, &[0; COUNTS_BYTES]);
    let references = References(texts.place(&mut pager));
    if !variables.is_empty() {
        place_names(&mut pager, &described, &references);
        place_attributes(&mut pager, variables, layout, &encoded);
        if variables.len() > 1 {
            place_list(&mut pager, &encoded, variables.len());
        }
        for (variable, described) in variables.iter().zip(&described) {
            let block = format_block(variable, described, &references);
            pager.place(Signature::Format, &block);
        }
    }
    fill_counts(&mut pager);
    finish(pager, &heading, &references, layout, options, &encoded)
}

fn heading(texts: &mut Texts, options: &WriteOptions) -> Result<Heading, Error> {
    let encoding = texts.add(&[0, 0, 0, options.encoding.byte]);
    let literal = match options.compression {
        Compression::None => None,
        Compression::Char => texts.add(b"SASYZCRL"),
        Compression::Binary => texts.add(b"SASYZCR2"),
    };
    let heading = Heading {
        encoding,
        literal,
        blanks: texts.add(b"        "),
        data_type: texts.add(b"        "),
        creator: texts.add(&options.encoding.encode(&options.creator)?),
        label: None,
    };
    texts.end_header();
    let label = texts.add(&options.encoding.encode(&options.label)?);
    Ok(Heading { label, ..heading })
}

/// A block of variable size with its sizes; the entries begin at byte 16.
fn variable_block(signature: Signature, content_bytes: usize) -> Vec<u8> {
    let mut block = vec![0; OVERHEAD + content_bytes];
    block.put_u64(0, signature.number());
    block.put_u16(
        8,
        u16::try_from(OVERHEAD + content_bytes - 20).unwrap_or(u16::MAX),
    );
    block
}

/// How many entries of a size fit on the present page, at least one; begins a page if needed.
fn entries(pager: &mut Pager, entry_bytes: usize, before: usize, longest: usize) -> usize {
    let fit =
        |pager: &Pager| pager.room().min(longest).saturating_sub(OVERHEAD + before) / entry_bytes;
    if fit(pager) == 0 {
        pager.new_page();
    }
    fit(pager).max(1)
}

fn place_names(pager: &mut Pager, described: &[Described], references: &References) {
    let mut rest = described;
    while !rest.is_empty() {
        let count = entries(pager, 8, 0, usize::MAX).min(rest.len());
        let (these, behind) = rest.split_at(count);
        let mut block = variable_block(Signature::Name, 8 * count);
        for (at, described) in (16..).step_by(8).zip(these) {
            put_text(&mut block, at, references.get(described.name));
        }
        pager.place(Signature::Name, &block);
        rest = behind;
    }
}

fn place_attributes(
    pager: &mut Pager,
    variables: &[Variable],
    layout: &Layout,
    encoded: &[Encoded<'_>],
) {
    let mut done = 0;
    while done < variables.len() {
        let count = entries(pager, 16, 0, LONGEST_ATTRIBUTES).min(variables.len() - done);
        let mut block = variable_block(Signature::Attribute, 16 * count);
        let these = variables
            .iter()
            .zip(&layout.offsets)
            .zip(encoded)
            .skip(done)
            .take(count);
        for (at, ((variable, offset), encoded)) in (16..).step_by(16).zip(these) {
            block.put_u64(at, u64::from(*offset));
            block.put_u32(at + 8, variable.length);
            block.put_u16(at + 12, name_flags(&encoded.name));
            block.put(
                at + 14,
                &[if variable.kind == Kind::Numeric { 1 } else { 2 }],
            );
        }
        pager.place(Signature::Attribute, &block);
        done += count;
    }
}

/// How a program has to write the name.
pub(crate) fn name_flags(name: &[u8]) -> u16 {
    let first = name
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    if !first
        || !name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    {
        0xC00
    } else if name.len() > 8 {
        0x800
    } else {
        0x400
    }
}

fn place_list(pager: &mut Pager, encoded: &[Encoded<'_>], columns: usize) {
    /// Sizes before the first slot.
    const HEAD: usize = 22;
    let size = list::table_size(columns);
    let names = encoded.iter().map(|encoded| &*encoded.name);
    let slots = list::build(names, size, Endian::Little);
    let number = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
    let (mut rest, mut head) = (slots.as_slice(), HEAD);
    while !rest.is_empty() {
        let count = entries(pager, 2, head, usize::MAX).min(rest.len());
        let (these, behind) = rest.split_at(count);
        let mut block = variable_block(Signature::List, head + 2 * count);
        if head > 0 {
            block.put_u16(16, number(head + 2 * count));
            block.put_u16(24, number(columns));
            block.put_u16(26, number(slots.len()));
            block.put_u16(28, 1);
            block.put_u16(30, number(columns));
        }
        for (at, slot) in (16 + head..).step_by(2).zip(these) {
            block.put_u16(at, slot.cast_unsigned());
        }
        pager.place(Signature::List, &block);
        (rest, head) = (behind, 0);
    }
}

fn format_block(
    variable: &Variable,
    described: &Described,
    references: &References,
) -> [u8; FORMAT_BYTES] {
    let mut block = [0; FORMAT_BYTES];
    let mut size = |at, format: &Format| {
        if !is_plain(format) {
            block.put_u16(at, format.width);
            block.put_u16(at + 2, format.decimals);
        }
    };
    size(24, &variable.format);
    size(28, &variable.informat);
    block.put_u64(0, Signature::Format.number());
    put_text(&mut block, 40, references.get(described.informat));
    put_text(&mut block, 46, references.get(described.format));
    put_text(&mut block, 52, references.get(described.label));
    block
}

fn put_text(block: &mut [u8], at: usize, text: TextRef) {
    block.put_u16(at, text.text);
    block.put_u16(at + 2, text.offset);
    block.put_u16(at + 4, text.length);
}

pub(super) fn put_location(block: &mut [u8], at: usize, location: Location) {
    block.put_u64(at, location.page);
    block.put_u16(at + 8, location.slot);
}

/// The COUNTS subheader: where the blocks of variable size begin and end.
fn fill_counts(pager: &mut Pager) {
    let Some(placed) = pager.of(Signature::Counts).next() else {
        return;
    };
    let kinds = [
        Signature::Attribute,
        Signature::Text,
        Signature::Name,
        Signature::List,
    ];
    let ends = kinds.map(|kind| (kind, pager.of(kind).next(), pager.of(kind).last()));
    let variable = pager
        .placed
        .iter()
        .filter(|placed| kinds.contains(&placed.signature));
    let longest = variable.map(|placed| placed.bytes - 20).max().unwrap_or(0);
    let block = pager.block(placed);
    block.put_u64(0, Signature::Counts.number());
    block.put_u64(8, longest as u64);
    block.put_u64(
        16,
        ends.iter().filter(|(_, first, _)| first.is_some()).count() as u64,
    );
    block.put_u64(24, 7);
    block.put_u16(112, 1804);
    let mut at = 120;
    for (kind, first, last) in ends {
        block.put_u64(at, kind.number());
        if let (Some(first), Some(last)) = (first, last) {
            put_location(block, at + 8, first.location);
            put_location(block, at + 24, last.location);
        }
        at += 40;
    }
    for absent in [-5i64, -6, -7] {
        block.put_u64(at, absent.cast_unsigned());
        at += 40;
    }
}

/// Closes the pages and fills what the ROW subheader says of the descriptions.
fn finish(
    mut pager: Pager,
    heading: &Heading,
    references: &References,
    layout: &Layout,
    options: &WriteOptions,
    encoded: &[Encoded<'_>],
) -> Result<Plan, Error> {
    let compressed = options.compression != Compression::None;
    let row_bytes = u64::from(layout.row_bytes);
    let (free, pointers) = pager
        .pages
        .last()
        .map_or((0, 0), |page| (page.free(), page.pointers));
    let slots_left = MAX_BLOCKS.saturating_sub(pointers as u64 + 1);
    let fit = capacity(free as u64, row_bytes).min(slots_left);
    let data_space = u64::from(options.page_bytes) - WIDE.header_bytes as u64;
    let page_rows = capacity(data_space, row_bytes).min(MAX_BLOCKS);
    pager.close_pages(options.page_mask, fit > 0);
    let row = pager.of(Signature::Row).next();
    let row = row.ok_or_else(|| Error::metadata("there is no row description"))?;
    fill_row(&mut pager, row, heading, references, encoded);
    let block = pager.block(row);
    block.put_u64(8, if compressed { 0x131 } else { 0xF0 });
    block.put_u64(32, if compressed { 0x0022_303A } else { 0x0022_3011 });
    block.put_u64(40, row_bytes);
    block.put_u64(104, u64::from(options.page_bytes));
    block.put_u64(120, fit.max(1));
    block.put_u32(440, options.page_mask ^ 1);
    let blocks = pager.placed.len() as u64 + if compressed { 2 } else { 3 };
    Ok(Plan {
        pager,
        row,
        mix_rows: fit,
        page_rows,
        blocks,
    })
}

/// What the ROW subheader says of the other subheaders.
fn fill_row(
    pager: &mut Pager,
    row: Placed,
    heading: &Heading,
    references: &References,
    encoded: &[Encoded<'_>],
) {
    let count = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
    let first = |signature| pager.of(signature).next().map(|placed| placed.location);
    let column_count = first(Signature::ColumnCount).unwrap_or_default();
    let first_format = first(Signature::Format).unwrap_or_default();
    let last = pager
        .placed
        .last()
        .map(|placed| placed.location)
        .unwrap_or_default();
    let texts = pager.of(Signature::Text).count();
    let (on_first, on_second) = formats_on_pages(pager);
    let slots: usize = pager
        .of(Signature::List)
        .map(|placed| placed.bytes - OVERHEAD)
        .sum();
    let names: usize = encoded.iter().map(|encoded| encoded.name.len()).sum();
    let longest_name = encoded
        .iter()
        .map(|encoded| encoded.name.len())
        .max()
        .unwrap_or(0);
    let longest_label = encoded
        .iter()
        .map(|encoded| encoded.label_bytes)
        .max()
        .unwrap_or(0);
    let block = pager.block(row);
    block.put_u64(0, Signature::Row.number());
    block.put_u64(72, on_first);
    block.put_u64(80, on_second);
    block.put_u64(88, slots as u64);
    block.put_u64(96, names as u64);
    block.put(128, &[0xFF; 16]);
    put_location(block, 512, column_count);
    put_location(block, 528, last);
    put_location(block, 576, first_format);
    block.put_u16(586, u16::from(heading.literal.is_some()));
    put_text(block, 672, references.get(heading.encoding));
    put_text(block, 678, references.get(heading.label));
    put_text(block, 684, references.get(heading.data_type));
    put_text(block, 690, references.get(heading.literal));
    put_text(block, 696, references.get(heading.blanks));
    put_text(block, 702, references.get(heading.creator));
    block.put_u16(744, 4);
    block.put_u16(746, 1);
    block.put_u16(748, count(texts));
    block.put_u16(750, count(longest_name));
    block.put_u16(752, count(longest_label));
    block.put(792, &[0, 0, 0, 1]);
}

/// Format subheaders on the first and on the second page that hold any.
fn formats_on_pages(pager: &Pager) -> (u64, u64) {
    let mut counts = [0, 0];
    let mut first_page = 0;
    for placed in pager.of(Signature::Format) {
        let page = placed.location.page;
        if first_page == 0 {
            first_page = page;
        }
        match page - first_page {
            0 => counts[0] += 1,
            1 => counts[1] += 1,
            _ => {}
        }
    }
    counts.into()
}
