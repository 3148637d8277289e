//! Reading a data set: page by page, in order, each page with one read.

mod index;
mod marks;
mod number;
mod pages;
mod place;
mod seek;
mod taken;

use std::collections::BTreeMap;

use crate::buffer::Buffer;
use crate::collector::Collector;
use crate::endian::{Endian, Fields};
use crate::error::Error;
use crate::header::{Header, PREFIX_BYTES};
use crate::metadata::Metadata;
use crate::missing;
use crate::page::PageHeader;
use crate::source::Source;
use crate::stored::RowRule;
use crate::variable::Kind;
pub(crate) use index::{TOP as INDEX_TOP, leaf};
pub use marks::Misplaced;
use marks::Numbers;
use pages::{Current, Pending};
pub use taken::TakenRows;

/// Zeros behind the page and behind decompressed rows, so that copies go in whole chunks.
const PADDING: usize = 64;
/// Decompressed rows handed out at once: what fits a core's own cache, unless a page is larger.
const SLAB_BYTES: usize = 256 * 1024;

/// Rows side by side, in the layout and byte order of the file.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// `count` rows of `row_bytes` bytes.
    pub bytes: &'a [u8],
    /// Bytes of a row.
    pub row_bytes: usize,
    /// How many rows.
    pub count: usize,
}

impl<'a> Rows<'a> {
    /// The rows one by one.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (bytes, row_bytes) = (self.bytes, self.row_bytes);
        (0..self.count).map(move |row| {
            bytes
                .get(row * row_bytes..(row + 1) * row_bytes)
                .unwrap_or(&[])
        })
    }
}

/// A data set open for reading.
///
/// ```
/// # fn main() -> Result<(), sas7bdat::Error> {
/// # let options = sas7bdat::WriteOptions::default();
/// # let variables = [sas7bdat::Variable::numeric("x")];
/// # let mut writer = sas7bdat::Writer::create(Vec::new(), &variables, options)?;
/// # writer.write_row(&1.5f64.to_le_bytes())?;
/// # let (bytes, _) = writer.finish()?;
/// let mut reader = sas7bdat::Reader::open(bytes.as_slice())?;
/// assert_eq!(reader.metadata().variables[0].name, "x");
/// while let Some(rows) = reader.next_slab()? {
///     for row in rows.iter() {
///         assert_eq!(f64::from_le_bytes(row[..8].try_into().unwrap()), 1.5);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    /// The pages that hold descriptions, ascending.
    described: Vec<u64>,
    metadata: Metadata,
    /// How each column lies in a row, ready for decoding.
    places: Vec<Place>,
    rule: RowRule,
    /// Stat/Transfer does not align rows.
    unaligned: bool,
    /// Rows with the deleted ones, where the metadata repeat that.
    rows_again: Option<u64>,
    numbers: Numbers,
    /// The page last read, and padding.
    page: Buffer,
    /// Its number, 0 if there is none.
    loaded: u64,
    /// The first page that may hold rows.
    first_page: u64,
    /// Rows on that page, if it is not compressed.
    first_rows: u64,
    /// The page to read next.
    next_page: u64,
    pending: Pending,
    /// Decompressed or live rows.
    slab: Vec<u8>,
    /// The slots of the rows in the slab, if places are asked for.
    slots: Vec<u16>,
    placing: bool,
    current: Current,
    /// Live rows up to the end of `current`.
    found: u64,
    /// How pages of compressed rows are found, once it was looked for.
    finder: Option<index::Finder>,
    /// Live rows before pages, as far as they were asked for.
    rows_before: BTreeMap<u64, u64>,
}

/// How a column lies in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) kind: Kind,
}

impl<S: Source> Reader<S> {
    /// Reads the header and the pages with descriptions.
    pub fn open(mut source: S) -> Result<Self, Error> {
        let size = size(&mut source)?;
        let mut prefix = [0; PREFIX_BYTES];
        let prefix = prefix
            .get_mut(..crate::endian::index(size).min(PREFIX_BYTES))
            .unwrap_or_default();
        read_exact(&mut source, 0, prefix)?;
        let header = Header::parse(prefix, size)?;
        let page_bytes = header.page_bytes as usize;
        let mut page = Buffer::any(page_bytes + PADDING);
        page.get_mut(page_bytes..).unwrap_or_default().fill(0);
        let mut collector = Collector::default();
        let (mut number, mut described) = (0, Vec::new());
        let mut first = PageHeader::default();
        let mut numbers = Numbers::new(header.mask);
        while number < header.pages {
            number += 1;
            let fields = load(&mut source, &header, number, &mut page)?;
            numbers.see(fields, number);
            first = PageHeader::parse(fields);
            if first.is_data() {
                break;
            }
            if first.has_pointers() {
                described.push(number);
                if collector.page(fields, number)? || first.is_mix() {
                    break;
                }
            }
        }
        described.extend(collect_amended(
            &mut source,
            &header,
            &mut collector,
            number,
        )?);
        let (rule, row) = (collector.rule(), collector.row.unwrap_or_default());
        let metadata = collector.finish(header)?;
        let places = metadata.variables.iter().zip(&metadata.layout.offsets);
        let mut reader = Self {
            source,
            described,
            places: places
                .map(|(variable, offset)| Place {
                    offset: *offset as usize,
                    length: variable.length as usize,
                    kind: variable.kind,
                })
                .collect(),
            rule,
            unaligned: metadata.release.ends_with(".0000M0"),
            // Other writers than SAS leave it out.
            rows_again: Some(row.rows_again)
                .filter(|rows| *rows > 0 && metadata.release.as_str() >= "9.03"),
            numbers,
            page,
            loaded: number,
            first_page: number,
            first_rows: first.plain_rows(),
            next_page: number + 1,
            pending: Pending::None,
            slab: Vec::new(),
            slots: Vec::new(),
            placing: false,
            current: Current::default(),
            found: 0,
            finder: None,
            rows_before: BTreeMap::new(),
            metadata,
        };
        reader.pending = reader.prepare()?;
        Ok(reader)
    }

    /// What the data set says about itself.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The pages that hold descriptions, ascending.
    pub(crate) fn described(&self) -> &[u64] {
        &self.described
    }

    /// The number of the row that comes next.
    pub fn position(&self) -> u64 {
        self.found - (self.current.count - self.current.next) as u64
    }

    /// Gives back the source.
    pub fn into_source(self) -> S {
        self.source
    }

    /// The next live row, decompressed, in the layout and byte order of the file.
    pub fn next_row(&mut self) -> Result<Option<&[u8]>, Error> {
        if !self.fill()? {
            return Ok(None);
        }
        self.current.next += 1;
        Ok(Some(self.last_row()))
    }

    /// The row that [`next_row`](Self::next_row) gave last, as long as nothing else was read; empty
    /// before the first one.
    #[inline]
    pub fn last_row(&self) -> &[u8] {
        let Some(row) = self.current.next.checked_sub(1) else {
            return &[];
        };
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let start = self.current.start + row * row_bytes;
        let bytes = if self.current.on_page {
            &*self.page
        } else {
            &self.slab
        };
        bytes.get(start..start + row_bytes).unwrap_or(&[])
    }

    /// All live rows of the next page, or the rest of them after [`next_row`](Self::next_row).
    ///
    /// Rows that decompress to much more than a page come in several pieces, so that memory stays
    /// small whatever a file promises.
    pub fn next_slab(&mut self) -> Result<Option<Rows<'_>>, Error> {
        if !self.fill()? {
            return Ok(None);
        }
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let (first, count) = (self.current.next, self.current.count);
        self.current.next = count;
        let start = self.current.start + first * row_bytes;
        let bytes = if self.current.on_page {
            &*self.page
        } else {
            &self.slab
        };
        let count = count - first;
        let bytes = bytes.get(start..start + count * row_bytes).unwrap_or(&[]);
        Ok(Some(Rows {
            bytes,
            row_bytes,
            count,
        }))
    }

    /// The rows that come next and are ready, at least one; `None` after the last one. They still come
    /// next: [`advance`](Self::advance) goes past them.
    pub fn ready(&mut self) -> Result<Option<Rows<'_>>, Error> {
        if !self.fill()? {
            return Ok(None);
        }
        let row_bytes = self.metadata.layout.row_bytes as usize;
        let Current {
            on_page,
            start,
            count,
            next,
        } = self.current;
        let bytes = if on_page { &*self.page } else { &self.slab };
        let range = start + next * row_bytes..start + count * row_bytes;
        Ok(Some(Rows {
            bytes: bytes.get(range).unwrap_or(&[]),
            row_bytes,
            count: count - next,
        }))
    }

    /// Goes past `rows` of those that are ready; no further.
    #[inline]
    pub fn advance(&mut self, rows: usize) {
        let next = self.current.next.saturating_add(rows);
        self.current.next = next.min(self.current.count);
    }

    /// The number of a column in a row, whatever the byte order and length it is stored with.
    ///
    /// Missing values keep their code (see [`missing`]). A column of text, or one that does not exist,
    /// is missing.
    #[inline]
    pub fn decode_numeric(&self, column: usize, row: &[u8]) -> f64 {
        let stored = self
            .places
            .get(column)
            .filter(|place| place.kind == Kind::Numeric);
        let stored = stored.and_then(|place| row.get(place.offset..place.offset + place.length));
        match stored {
            Some(stored) => number(stored, self.metadata.endian, self.metadata.windows),
            None => missing::missing(),
        }
    }

    /// The bytes of a column in a row, with the blanks that pad a text.
    #[inline]
    pub fn bytes<'r>(&self, column: usize, row: &'r [u8]) -> &'r [u8] {
        let place = self.places.get(column);
        place
            .and_then(|place| row.get(place.offset..place.offset + place.length))
            .unwrap_or(&[])
    }

    pub(crate) fn rule(&self) -> RowRule {
        self.rule
    }

    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    fn fields(&self) -> Fields<'_> {
        let bytes = self
            .page
            .get(..self.metadata.page_bytes as usize)
            .unwrap_or(&[]);
        Fields {
            bytes,
            endian: self.metadata.endian,
            wide: self.metadata.word_bits == 64,
        }
    }
}

/// A number of 1 to 8 bytes: the stored bytes are the most significant ones.
#[inline]
pub(crate) fn number(stored: &[u8], endian: Endian, windows: bool) -> f64 {
    let value = match (stored.first_chunk::<8>(), endian) {
        (Some(all), Endian::Little) => f64::from_le_bytes(*all),
        (Some(all), Endian::Big) => f64::from_be_bytes(*all),
        (None, Endian::Little) => {
            let mut all = [0; 8];
            for (place, byte) in all.iter_mut().rev().zip(stored.iter().rev()) {
                *place = *byte;
            }
            f64::from_le_bytes(all)
        }
        (None, Endian::Big) => {
            let mut all = [0; 8];
            for (place, byte) in all.iter_mut().zip(stored) {
                *place = *byte;
            }
            f64::from_be_bytes(all)
        }
    };
    if windows && value.is_nan() {
        missing::normalize(value)
    } else {
        value
    }
}

/// Labels that were changed later lie on amended pages, mostly behind the last row; rows that were
/// added afterwards lie behind them. Gives the numbers of these pages.
fn collect_amended<S: Source>(
    source: &mut S,
    header: &Header,
    collector: &mut Collector,
    first_page: u64,
) -> Result<Vec<u64>, Error> {
    let row = collector.row.unwrap_or_default();
    let last = if row.rows == 0 {
        first_page
    } else {
        row.last_row.page
    };
    if last < first_page || last > header.pages {
        return Ok(Vec::new());
    }
    let mut told = collector.located.clone();
    told.retain(|page| (first_page + 1..=last).contains(page));
    if told.is_empty() && last == header.pages && !collector.lacks_texts() {
        return Ok(Vec::new());
    }
    told.sort_unstable();
    told.dedup();
    let before = collector.clone();
    let pages = told.into_iter().chain(last + 1..=header.pages);
    let found = amended_of(source, header, collector, pages)?;
    if !collector.lacks_texts() {
        return Ok(found);
    }
    *collector = before;
    amended_of(source, header, collector, first_page + 1..=header.pages)
}

/// Collects from those of `pages` that are amended ones.
fn amended_of<S: Source>(
    source: &mut S,
    header: &Header,
    collector: &mut Collector,
    pages: impl Iterator<Item = u64>,
) -> Result<Vec<u64>, Error> {
    let mut found = Vec::new();
    let mut page = Buffer::any(header.page_bytes as usize);
    for number in pages {
        let fields = load(source, header, number, &mut page)?;
        if PageHeader::parse(fields).is_amended() {
            collector.page(fields, number)?;
            found.push(number);
        }
    }
    Ok(found)
}

/// Reads page `number` into the front of `page`.
fn load<'p, S: Source>(
    source: &mut S,
    header: &Header,
    number: u64,
    page: &'p mut [u8],
) -> Result<Fields<'p>, Error> {
    let offset = u64::from(header.header_bytes) + (number - 1) * u64::from(header.page_bytes);
    let bytes = page
        .get_mut(..header.page_bytes as usize)
        .unwrap_or_default();
    read_exact(source, offset, bytes)?;
    Ok(Fields {
        bytes,
        endian: header.endian,
        wide: header.wide,
    })
}

/// Bytes of the file.
fn size<S: Source>(source: &mut S) -> Result<u64, Error> {
    source.size().map_err(|source| Error::Io {
        action: "read",
        offset: 0,
        bytes: 0,
        source,
    })
}

pub(crate) fn read_exact<S: Source>(
    source: &mut S,
    offset: u64,
    buffer: &mut [u8],
) -> Result<(), Error> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let bytes = rest.len() as u64;
        let offset = offset + done as u64;
        match source.read_at(offset, rest) {
            Ok(0) => {
                return Err(Error::Truncated {
                    expected: offset + bytes,
                    actual: offset,
                });
            }
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::Io {
                    action: "read",
                    offset,
                    bytes,
                    source,
                });
            }
        }
    }
    Ok(())
}
