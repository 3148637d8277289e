//! Page by page: numbers, free space, how full pages are, and where the rows lie.

use super::Report;
use super::descriptions::Descriptions;
use crate::endian::{Fields, index};
use crate::error::Error;
use crate::metadata::Metadata;
use crate::page::{IGNORED, MAX_BLOCKS, PageHeader, Pointer, Shape, bitmap_bytes, block, capacity};
use crate::reader::leaf;
use crate::stored::RowRule;
use crate::subheader::{Location, Signature};
use crate::variable::Compression;

/// What the pages hold, against which the descriptions are checked.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "they tell kinds of pages apart")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Pages {
    rule: RowRule,
    compressed: bool,
    deleted: bool,
    row_bytes: u64,
    page_bytes: u64,
    mask: u32,
    unaligned: bool,
    /// Rows found, deleted ones included.
    pub(super) rows: u64,
    pub(super) first_row: Option<Location>,
    pub(super) last_row: Option<Location>,
    /// What the ROW subheader counts: subheaders and compressed rows, and two or three.
    pub(super) blocks: u64,
    /// Rows that the last page of descriptions has room for, and its pointers.
    pub(super) mix: Option<(u64, u64)>,
    pub(super) has_data_pages: bool,
    /// A data page that is not full must be the last one.
    open_page: u64,
    /// Free space and number of the page of rows before.
    before: Option<(u64, u64)>,
    /// Rows up to each page with rows, to compare with the index.
    row_pages: Vec<(u64, u64)>,
    leaf: Option<(u64, Vec<(u64, u64)>)>,
}

impl Pages {
    pub(super) fn new(metadata: &Metadata, rule: RowRule) -> Self {
        let compressed = metadata.compression != Compression::None;
        Self {
            rule,
            compressed,
            deleted: metadata.deleted_rows > 0,
            row_bytes: u64::from(metadata.layout.row_bytes),
            page_bytes: u64::from(metadata.page_bytes),
            mask: metadata.page_mask,
            unaligned: metadata.release.ends_with(".0000M0"),
            rows: 0,
            first_row: None,
            last_row: None,
            blocks: if compressed { 2 } else { 3 },
            mix: None,
            has_data_pages: false,
            open_page: 0,
            before: None,
            row_pages: Vec::new(),
            leaf: None,
        }
    }

    pub(super) fn page(
        &mut self,
        page: Fields<'_>,
        number: u64,
        descriptions: &mut Descriptions,
        report: &mut Report,
    ) -> Result<(), Error> {
        let header = PageHeader::parse(page);
        let expected = u64::from(self.mask) ^ (number & 0xFFFF_FFFF);
        report.equal(
            "page number",
            number,
            u64::from(header.masked_number),
            expected,
        );
        if header.is_index() {
            let entries = leaf(page)
                .iter()
                .map(|entry| (entry.rows, entry.page))
                .collect();
            self.leaf.get_or_insert((number, entries));
            return Ok(());
        }
        if header.is_data() {
            self.data(page, header, number, report);
            return Ok(());
        }
        let used = self.pointers(page, header, number, descriptions, report)?;
        let shape = Shape::of(page.wide);
        let end = shape.pointers_end(usize::from(header.pointers)) as u64;
        let space = self.page_bytes.saturating_sub(end + used);
        if header.is_mix() {
            self.mix(page, header, number, space, report);
        } else if !(self.deleted && self.compressed) {
            report.equal("free bytes", number, header.free_bytes, space);
        }
        Ok(())
    }

    fn data(&mut self, page: Fields<'_>, header: PageHeader, number: u64, report: &mut Report) {
        self.has_data_pages = true;
        let space = self.page_bytes - Shape::of(page.wide).header_bytes as u64;
        let fit = capacity(space, self.row_bytes).min(MAX_BLOCKS);
        let rows = u64::from(header.blocks);
        if self.open_page > 0 && rows > 0 {
            let detail = format!("it has rows and page {} is not full", self.open_page);
            report.note("full pages", number, detail);
        }
        if rows < fit {
            self.open_page = number;
        }
        let free = space.saturating_sub(rows * self.row_bytes + bitmap_bytes(fit));
        report.equal("free bytes", number, header.free_bytes, free);
        self.add_plain(number, 0, rows);
    }

    fn mix(
        &mut self,
        page: Fields<'_>,
        header: PageHeader,
        number: u64,
        space: u64,
        report: &mut Report,
    ) {
        let pointers = u64::from(header.pointers);
        let end = Shape::of(page.wide).pointers_end(usize::from(header.pointers));
        let padding = if end.is_multiple_of(8) || self.unaligned {
            0
        } else {
            4
        };
        let space = space.saturating_sub(padding);
        let fit = capacity(space, self.row_bytes).min(MAX_BLOCKS - pointers);
        let rows = header.plain_rows();
        let free = space.saturating_sub(rows * self.row_bytes + bitmap_bytes(fit));
        report.equal("free bytes", number, header.free_bytes, free);
        if rows < fit {
            self.open_page = number;
        }
        self.mix = Some((fit, pointers));
        self.add_plain(number, pointers, rows);
    }

    fn add_plain(&mut self, number: u64, pointers: u64, rows: u64) {
        if rows > 0 {
            let slot = |slot: u64| Location::new(number, index(pointers + slot));
            self.first_row.get_or_insert(slot(1));
            self.last_row = Some(slot(rows));
        }
        self.rows += rows;
    }

    /// Goes through the pointers; gives the bytes of the blocks that they lead to.
    fn pointers(
        &mut self,
        page: Fields<'_>,
        header: PageHeader,
        number: u64,
        descriptions: &mut Descriptions,
        report: &mut Report,
    ) -> Result<u64, Error> {
        let (mut used, mut low) = (0, self.page_bytes);
        let (mut described, mut described_bytes, mut rows) = (0u64, 0u64, 0u64);
        for slot in 1..=usize::from(header.pointers) {
            let pointer = Pointer::parse(page, slot);
            let is_last = slot == usize::from(header.pointers);
            if pointer.flags == IGNORED && (is_last || pointer.length == 0) {
                if !is_last {
                    report.note("last pointer", number, format!("it is pointer {slot}"));
                }
                continue;
            }
            let at = Location::new(number, slot);
            let block = block(page, pointer, number, slot)?;
            used += pointer.length;
            if pointer.offset + pointer.length != low {
                let detail = format!("block {slot} does not end where the one before begins");
                report.note("order of blocks", number, detail);
            }
            low = pointer.offset;
            // A description that another one replaced keeps its place.
            if pointer.flags == IGNORED {
                continue;
            }
            if self.rule.is_row(header, block, pointer, at) {
                rows += 1;
                self.first_row.get_or_insert(at);
                self.last_row = Some(at);
                if rows == 1 && described == 0 {
                    self.check_break(pointer.length, page, number, report);
                }
            } else if let Some(signature) = Signature::of(block) {
                described += 1;
                described_bytes += pointer.length;
                descriptions.add(signature, block, at, header.is_amended());
                let variable = matches!(
                    signature,
                    Signature::Text | Signature::Name | Signature::Attribute | Signature::List
                );
                let expected = u64::from(variable || self.compressed);
                if !header.is_amended() {
                    report.equal("pointer type", number, u64::from(pointer.kind), expected);
                }
            }
        }
        report.equal(
            "block count",
            number,
            u64::from(header.blocks),
            u64::from(header.pointers) + header.plain_rows(),
        );
        self.rows += rows;
        if !header.is_amended() {
            self.blocks += described + if self.compressed { rows } else { 0 };
        }
        if rows > 0 {
            self.row_pages.push((self.rows, number));
            if self.leaf.is_some() && !self.deleted {
                let first = page.long_at(16, 8);
                report.equal("first row of the page", number, first, self.rows - rows + 1);
            }
        }
        if self.compressed && !header.is_amended() {
            self.stored(page, header, number, (rows, described, described_bytes));
        }
        Ok(used)
    }

    /// The end of a page of a compressed data set with so many rows, descriptions, and bytes of these.
    fn stored(
        &mut self,
        page: Fields<'_>,
        header: PageHeader,
        number: u64,
        (rows, described, described_bytes): (u64, u64, u64),
    ) {
        // An empty page stands in for an index that overflowed.
        let used = rows > 0 || described > 0;
        // Writers stop at 15 or 16 bits of pointers, however much room is left.
        let may_grow = i16::try_from(header.pointers).is_ok_and(|count| count < i16::MAX);
        self.before = (used && may_grow).then_some((header.free_bytes, number));
        if described > 0 {
            let end = Shape::of(page.wide).pointers_end(index(described) + 1) as u64;
            let space = self.page_bytes.saturating_sub(end + described_bytes);
            let padding = if end.is_multiple_of(8) { 0 } else { 4 };
            let fit = capacity(space.saturating_sub(padding), self.row_bytes);
            self.mix = Some((fit, described));
        }
    }

    /// A page of compressed rows ends only where the next row does not fit, or the description that comes before
    /// it.
    fn check_break(&self, length: u64, page: Fields<'_>, number: u64, report: &mut Report) {
        let Some((free, before)) = self.before else {
            return;
        };
        if length + Shape::of(page.wide).pointer_bytes as u64 <= free {
            let detail = format!("its first row of {length} bytes fits on page {before}");
            report.note("full pages", number, detail);
        }
    }

    /// The index of row numbers against the pages.
    pub(super) fn check_index(&self, deleted: u64, report: &mut Report) {
        if let Some((page, entries)) = &self.leaf
            && deleted == 0
            && *entries != self.row_pages
        {
            let (found, expected) = (entries.len(), self.row_pages.len());
            let detail = format!("{found} entries do not lead to the {expected} pages with rows");
            report.note("row index", *page, detail);
        }
    }
}
