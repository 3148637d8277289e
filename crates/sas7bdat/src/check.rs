//! Whether a file is laid out as SAS lays it out: what readers let pass and SAS may not.
//!
//! Every rule holds for the files of SAS 9 that were looked at; files of other writers break some of
//! them and can be read all the same. The rules are described in `docs/format/sas7bdat.md`.

mod descriptions;
mod pages;

use std::fmt;

use crate::endian::Fields;
use crate::error::Error;
use crate::header::{ALIGNMENT, MAGIC, NO_PASSWORD};
use crate::reader::Reader;
use crate::source::Source;
use descriptions::Descriptions;
use pages::Pages;

/// More than these are not reported.
const MOST_VIOLATIONS: usize = 1000;

/// A rule that a file breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which rule, in a word or two.
    pub rule: &'static str,
    /// Page (1-based), 0 for the file header.
    pub page: u64,
    /// What is there and what should be.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, page, detail } = self;
        match page {
            0 => write!(out, "{rule}: {detail}"),
            _ => write!(out, "{rule}, page {page}: {detail}"),
        }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Report(Vec<Violation>);

impl Report {
    /// Notes a number that differs from what the rule says.
    fn equal(&mut self, rule: &'static str, page: u64, found: u64, expected: u64) {
        if found != expected {
            self.note(rule, page, format!("{found} instead of {expected}"));
        }
    }

    fn note(&mut self, rule: &'static str, page: u64, detail: String) {
        if self.0.len() < MOST_VIOLATIONS {
            self.0.push(Violation { rule, page, detail });
        }
    }
}

/// Checks a data set, reading all of it: the violations, none if it is as SAS would have written it.
///
/// # Errors
/// If the data set cannot be read at all, or a row of it cannot.
pub fn check<S: Source>(source: S) -> Result<Vec<Violation>, Error> {
    let mut report = Report::default();
    let mut reader = Reader::open(source)?;
    let mut live = 0;
    while let Some(rows) = reader.next_slab()? {
        live += rows.count as u64;
    }
    let (metadata, rule) = (reader.metadata().clone(), reader.rule());
    report.equal("row count", 0, live, metadata.rows);
    let mut source = reader.into_source();
    check_header(&mut source, &metadata, &mut report)?;
    let mut pages = Pages::new(&metadata, rule);
    let mut descriptions = Descriptions::default();
    let mut page = vec![0; metadata.page_bytes as usize];
    for number in 1..=metadata.pages {
        let offset =
            u64::from(metadata.header_bytes) + (number - 1) * u64::from(metadata.page_bytes);
        crate::reader::read_exact(&mut source, offset, &mut page)?;
        let fields = Fields {
            bytes: &page,
            endian: metadata.endian,
            wide: metadata.word_bits == 64,
        };
        pages.page(fields, number, &mut descriptions, &mut report)?;
    }
    descriptions.check(&metadata, &pages, &mut report);
    Ok(report.0)
}

fn check_header<S: Source>(
    source: &mut S,
    metadata: &crate::Metadata,
    report: &mut Report,
) -> Result<(), Error> {
    let mut bytes = vec![0; 1024];
    crate::reader::read_exact(source, 0, &mut bytes)?;
    let wide = metadata.word_bits == 64;
    let fields = Fields {
        bytes: &bytes,
        endian: metadata.endian,
        wide,
    };
    let size = source.size().map_err(|source| Error::Io {
        action: "read",
        offset: 0,
        bytes: 0,
        source,
    })?;
    let (header, page) = (
        u64::from(metadata.header_bytes),
        u64::from(metadata.page_bytes),
    );
    report.equal("file size", 0, size, header + metadata.pages * page);
    if fields.slice(0, 32) != MAGIC {
        report.note("magic", 0, "the first 32 bytes differ".to_owned());
    }
    if metadata.release.starts_with('9') && fields.slice(32, 8) != fields.slice(56, 8) {
        report.note(
            "alignment",
            0,
            "bytes 56 to 63 do not repeat bytes 32 to 39".to_owned(),
        );
    }
    if wide && metadata.endian == crate::Endian::Little && fields.slice(32, 8) != ALIGNMENT {
        report.note(
            "alignment",
            0,
            format!("bytes 32 to 39 are {:02x?}", fields.slice(32, 8)),
        );
    }
    let new = metadata.release.as_str() >= "9.0401";
    if new && header != page && header != 8192 && header != 1024 {
        report.note("header size", 0, format!("{header}, and pages have {page}"));
    }
    let first = if fields.u8(35) == 0x33 { 4 } else { 0 };
    let start = 288 + first + if wide { 4 } else { 0 };
    let [a, b, c, d, ..] = fields.u64(164 + first).to_le_bytes();
    let (nonce, stored) = (u32::from_le_bytes([a, b, c, d]), fields.u32(start));
    // The nonce keeps the byte order of the machine that wrote, whatever the file has.
    if stored != nonce && stored != nonce.swap_bytes() {
        report.equal("password", 0, u64::from(stored), u64::from(nonce));
    }
    for place in 1..=3 {
        let pairs = fields
            .slice(start, 4)
            .iter()
            .zip(fields.slice(start + 4 * place, 4));
        if !pairs.map(|(nonce, stored)| nonce ^ stored).eq(NO_PASSWORD) {
            report.note(
                "password",
                0,
                format!("word {place} is not that of no password"),
            );
        }
    }
    Ok(())
}
