//! What the subheaders say of each other and of the rows.

use super::Report;
use super::pages::Pages;
use crate::endian::Fields;
use crate::metadata::Metadata;
use crate::subheader::{Location, Signature, TextRef};
use crate::variable::{Compression, Layout};
use crate::writer::list;

/// A subheader of the pages before any amended one.
#[derive(Debug, Clone)]
struct Found {
    signature: Signature,
    location: Location,
    amended: bool,
    bytes: Vec<u8>,
}

/// Subheaders in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Descriptions {
    found: Vec<Found>,
    texts: u64,
}

const VARIABLE: [Signature; 4] = [
    Signature::Attribute,
    Signature::Text,
    Signature::Name,
    Signature::List,
];

impl Descriptions {
    pub(super) fn add(
        &mut self,
        signature: Signature,
        block: Fields<'_>,
        location: Location,
        amended: bool,
    ) {
        self.texts += u64::from(signature == Signature::Text);
        self.found.push(Found {
            signature,
            location,
            amended,
            bytes: block.bytes.to_vec(),
        });
    }

    fn of(&self, signature: Signature) -> impl DoubleEndedIterator<Item = &Found> {
        self.found
            .iter()
            .filter(move |found| found.signature == signature)
    }

    fn first(&self, signature: Signature) -> Location {
        self.of(signature)
            .next()
            .map(|found| found.location)
            .unwrap_or_default()
    }

    pub(super) fn check(&self, metadata: &Metadata, pages: &Pages, report: &mut Report) {
        let wide = metadata.word_bits == 64;
        let fields = |bytes| Fields {
            bytes,
            endian: metadata.endian,
            wide,
        };
        if let Some(row) = self.of(Signature::Row).next() {
            self.check_row(
                fields(&row.bytes),
                row.location.page,
                metadata,
                pages,
                report,
            );
            self.check_locations(fields(&row.bytes), row.location.page, pages, report);
        }
        self.check_counts(metadata, report);
        self.check_columns(metadata, report);
        self.check_list(metadata, report);
        pages.check_index(metadata.deleted_rows, report);
    }

    fn check_row(
        &self,
        row: Fields<'_>,
        page: u64,
        metadata: &Metadata,
        pages: &Pages,
        report: &mut Report,
    ) {
        let compressed = metadata.compression != Compression::None;
        let mut long = |rule, wide, narrow, expected| {
            report.equal(rule, page, row.long_at(wide, narrow), expected);
        };
        long("rows", 48, 24, pages.rows);
        let (on_first, on_second) = self.formats_on_pages();
        long("formats on first page", 72, 36, on_first);
        long("formats on second page", 80, 40, on_second);
        let overhead = row.pick(28, 20);
        let lists: usize = self
            .of(Signature::List)
            .map(|list| list.bytes.len().saturating_sub(overhead))
            .sum();
        long("bytes of lists", 88, 44, lists as u64);
        let names: u64 = self
            .names(metadata)
            .map(|name| u64::from(name.length))
            .sum();
        long("bytes of names", 96, 48, names);
        long("page size", 104, 52, u64::from(metadata.page_bytes));
        let (fit, pointers) = pages.mix.unwrap_or((1, 0));
        long("rows beside descriptions", 120, 60, fit.max(1));
        let mut number = |rule, wide, narrow, expected| {
            report.equal(
                rule,
                page,
                u64::from(row.u16(row.pick(wide, narrow))),
                expected,
            );
        };
        number("texts", 748, 420, self.texts);
        let longest = self
            .names(metadata)
            .map(|name| name.length)
            .max()
            .unwrap_or(0);
        number("longest name", 750, 422, u64::from(longest));
        if !compressed && pages.mix.is_some() {
            let blocks = if pages.has_data_pages {
                metadata.rows_per_page
            } else {
                pointers + fit
            };
            number("most blocks", 766, 438, blocks);
        }
        // Later changes add to the blocks.
        let blocks = row.long_at(16, 8);
        if blocks < pages.blocks {
            report.equal("blocks", page, blocks, pages.blocks);
        }
        let mask = u64::from(row.u32(row.pick(440, 220)));
        report.equal("page mask", page, mask, u64::from(metadata.page_mask ^ 1));
        if row.wide && metadata.release.as_str() >= "9.03" {
            report.equal("rows again", page, row.u64(776), pages.rows);
        }
        let expected = Layout::new(&metadata.variables, metadata.compression);
        // Rows of 32-bit files without a number of 8 bytes are rounded to 4.
        if row.wide && metadata.layout != expected {
            let detail = format!("rows of {} bytes are laid out", metadata.layout.row_bytes);
            report.note(
                "row layout",
                page,
                format!("{detail} unlike those of SAS 9.4"),
            );
        }
    }

    fn check_locations(&self, row: Fields<'_>, page: u64, pages: &Pages, report: &mut Report) {
        let none = Location { page: 0, slot: 3 };
        let last = self.found.iter().rfind(|found| !found.amended);
        let last = last.map(|found| found.location).unwrap_or_default();
        let expected = [
            ("column count", 512, 264, self.first(Signature::ColumnCount)),
            ("last subheader", 528, 272, last),
            ("first row", 544, 280, pages.first_row.unwrap_or(none)),
            ("last row", 560, 288, pages.last_row.unwrap_or(none)),
            ("first format", 576, 296, self.first(Signature::Format)),
        ];
        for (rule, wide, narrow, expected) in expected {
            let found = Location::parse(row, wide, narrow);
            if found != expected {
                let place = |at: Location| format!("block {} of page {}", at.slot, at.page);
                report.note(
                    rule,
                    page,
                    format!("{} instead of {}", place(found), place(expected)),
                );
            }
        }
    }

    fn formats_on_pages(&self) -> (u64, u64) {
        let mut pages: Vec<(u64, u64)> = Vec::new();
        for found in self.of(Signature::Format) {
            match pages.last_mut() {
                Some((page, count)) if *page == found.location.page => *count += 1,
                _ => pages.push((found.location.page, 1)),
            }
        }
        let count = |place: usize| pages.get(place).map_or(0, |(_, count)| *count);
        (count(0), count(1))
    }

    fn names(&self, metadata: &Metadata) -> impl Iterator<Item = TextRef> {
        let wide = metadata.word_bits == 64;
        let endian = metadata.endian;
        self.of(Signature::Name).flat_map(move |found| {
            let block = Fields {
                bytes: &found.bytes,
                endian,
                wide,
            };
            let count = block.bytes.len().saturating_sub(block.pick(28, 20)) / 8;
            (0..count).map(move |k| TextRef::parse(block, block.pick(16, 12) + 8 * k))
        })
    }

    /// Where the blocks of variable size begin and end, and the size that each says.
    fn check_counts(&self, metadata: &Metadata, report: &mut Report) {
        let wide = metadata.word_bits == 64;
        let overhead = if wide { 20 } else { 12 };
        for found in self
            .found
            .iter()
            .filter(|found| VARIABLE.contains(&found.signature))
        {
            let block = Fields {
                bytes: &found.bytes,
                endian: metadata.endian,
                wide,
            };
            let expected = found.bytes.len().saturating_sub(overhead) as u64;
            let size = u64::from(block.u16(block.pick(8, 4)));
            report.equal("size of a subheader", found.location.page, size, expected);
        }
        let Some(counts) = self.of(Signature::Counts).next() else {
            return;
        };
        let block = Fields {
            bytes: &counts.bytes,
            endian: metadata.endian,
            wide,
        };
        let (start, step) = (block.pick(120, 64), block.pick(40, 20));
        for (place, signature) in VARIABLE.into_iter().enumerate() {
            let at = start + place * step + block.pick(8, 4);
            let first = Location::parse(block, at, at);
            let last_at = at + block.pick(16, 8);
            let last = Location::parse(block, last_at, last_at);
            let expected = (self.first(signature), self.of(signature).next_back());
            let expected = (
                expected.0,
                expected.1.map(|found| found.location).unwrap_or_default(),
            );
            if (first, last) != expected {
                let detail = format!("{signature:?} from {first:?} to {last:?}, not {expected:?}");
                report.note("locations of subheaders", counts.location.page, detail);
            }
        }
    }

    fn check_columns(&self, metadata: &Metadata, report: &mut Report) {
        let columns = metadata.variables.len() as u64;
        let formats = self.of(Signature::Format).count() as u64;
        report.equal("formats", 0, formats, columns);
        report.equal("names", 0, self.names(metadata).count() as u64, columns);
    }

    /// The hash table of names, by the size that it says it has.
    fn check_list(&self, metadata: &Metadata, report: &mut Report) {
        let Some(first) = self.of(Signature::List).next() else {
            return;
        };
        let wide = metadata.word_bits == 64;
        let fields = |bytes| Fields {
            bytes,
            endian: metadata.endian,
            wide,
        };
        let head = fields(&first.bytes);
        let columns = u64::from(head.u16(head.pick(24, 16)));
        report.equal("columns of the list", first.location.page, columns, {
            metadata.variables.len() as u64
        });
        let size = usize::from(head.u16(head.pick(26, 18)));
        let mut slots = Vec::with_capacity(size);
        for (number, found) in self.of(Signature::List).enumerate() {
            let block = fields(&found.bytes);
            let start = if number == 0 {
                block.pick(38, 30)
            } else {
                block.pick(16, 12)
            };
            let end = block.bytes.len().saturating_sub(block.pick(12, 8));
            let values = (start..end)
                .step_by(2)
                .map(|at| block.u16(at).cast_signed());
            slots.extend(values.take(size - slots.len().min(size)));
        }
        let names: Vec<Vec<u8>> = metadata
            .variables
            .iter()
            .map(|variable| {
                let bytes = metadata.encoding.encode(&variable.name);
                bytes.map_or_else(
                    |_| variable.name.clone().into_bytes(),
                    std::borrow::Cow::into_owned,
                )
            })
            .collect();
        let expected = list::build(names.iter().map(Vec::as_slice), size, metadata.endian);
        if size < names.len() || slots != expected {
            let detail = format!("the hash table of {size} slots is not that of the names");
            report.note("column list", first.location.page, detail);
        }
    }
}
