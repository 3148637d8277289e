//! Puts the metadata together from the header and the subheaders of the pages.

use crate::encoding::Encoding;
use crate::endian::{Fields, index};
use crate::error::Error;
use crate::header::{Header, trimmed};
use crate::metadata::{IndexInfo, Metadata};
use crate::page::{IGNORED, MAX_BLOCKS, PageHeader, Pointer, Shape, block, capacity};
use crate::stored::RowRule;
use crate::subheader::{Location, RowFields, Signature, TextRef};
use crate::variable::{Compression, Format, Kind, Layout, Variable};

/// Most bytes of descriptions: 32,767 variables with the longest names, labels and formats take a
/// tenth of it, and a file of nothing but descriptions must not fill the memory.
const MOST_DESCRIBED_BYTES: usize = 256 * 1024 * 1024;

/// Most variables for which room is made before their descriptions are seen.
const ROOM_MOST: usize = 256;

/// Collects subheaders page by page.
#[derive(Debug, Default, Clone)]
pub(crate) struct Collector {
    pub(crate) row: Option<RowFields>,
    columns: Option<u64>,
    texts: Vec<Vec<u8>>,
    names: Vec<TextRef>,
    attributes: Vec<Attribute>,
    formats: Vec<FormatFields>,
    indexes: Vec<IndexFields>,
    /// Pages on which blocks of texts and indexes begin and end, as COUNTS has it.
    pub(crate) located: Vec<u64>,
    described_bytes: usize,
    pub(crate) compression: Compression,
}

#[derive(Debug, Clone, Copy)]
struct Attribute {
    offset: u64,
    length: u32,
    kind: u8,
}

#[derive(Debug, Clone, Copy)]
struct FormatFields {
    format: [u16; 2],
    informat: [u16; 2],
    informat_name: TextRef,
    format_name: TextRef,
    label: TextRef,
}

#[derive(Debug, Clone)]
struct IndexFields {
    name: TextRef,
    unique: bool,
    columns: Vec<u16>,
}

impl Collector {
    /// Takes the subheaders of a page; says whether there are compressed rows on it.
    pub(crate) fn page(&mut self, page: Fields<'_>, number: u64) -> Result<bool, Error> {
        let header = PageHeader::parse(page);
        let end = Shape::of(page.wide).pointers_end(usize::from(header.pointers));
        if end > page.bytes.len() {
            let detail = format!("{} pointers do not fit", header.pointers);
            return Err(Error::page(
                number,
                Shape::of(page.wide).header_bytes,
                detail,
            ));
        }
        let mut has_rows = false;
        let mut described = 0;
        for slot in 1..=usize::from(header.pointers) {
            let pointer = Pointer::parse(page, slot);
            if pointer.flags & IGNORED != 0 || pointer.length == 0 {
                continue;
            }
            let block = block(page, pointer, number, slot)?;
            if self
                .rule()
                .is_row(header, block, pointer, Location::new(number, slot))
            {
                has_rows = true;
            } else if let Some(signature) = Signature::of(block) {
                // Blocks that overlap could make a small file claim any amount of memory.
                described += block.bytes.len();
                if described > page.bytes.len() {
                    return Err(Error::page(number, 0, "its subheaders overlap"));
                }
                self.described_bytes += block.bytes.len();
                if self.described_bytes > MOST_DESCRIBED_BYTES {
                    let detail =
                        format!("there are more than {MOST_DESCRIBED_BYTES} bytes of them");
                    return Err(Error::metadata(detail));
                }
                self.subheader(signature, block);
            }
        }
        Ok(has_rows)
    }

    pub(crate) fn rule(&self) -> RowRule {
        RowRule {
            row: self.row,
            compression: self.compression,
        }
    }

    fn subheader(&mut self, signature: Signature, block: Fields<'_>) {
        match signature {
            Signature::Row => {
                if self.row.is_none() {
                    self.row = Some(RowFields::parse(block));
                }
            }
            Signature::ColumnCount => {
                let columns = *self.columns.get_or_insert(block.long_at(8, 4));
                self.formats.reserve(index(columns).min(ROOM_MOST));
            }
            Signature::Text => self.text(block),
            Signature::Name => {
                let start = block.pick(16, 12);
                let count = block.bytes.len().saturating_sub(block.pick(28, 20)) / 8;
                self.names
                    .extend((0..count).map(|k| TextRef::parse(block, start + 8 * k)));
            }
            Signature::Attribute => self.attributes(block),
            Signature::Format => self.formats.push(FormatFields::parse(block)),
            Signature::Index => self.indexes.push(IndexFields::parse(block)),
            Signature::Counts => self.counts(block),
            Signature::List => {}
        }
    }

    fn counts(&mut self, block: Fields<'_>) {
        for place in 0..7 {
            let at = block.pick(120, 64) + place * block.pick(40, 20);
            let kind = Fields {
                bytes: block.bytes.get(at..).unwrap_or(&[]),
                ..block
            };
            if matches!(
                Signature::of(kind),
                Some(Signature::Text | Signature::Index)
            ) {
                self.located.push(Location::parse(kind, 8, 4).page);
                self.located.push(Location::parse(kind, 24, 12).page);
            }
        }
    }

    /// Whether there are fewer blocks of texts than the ROW subheader counts.
    pub(crate) fn lacks_texts(&self) -> bool {
        let counted = self.row.map_or(0, |row| usize::from(row.texts));
        self.texts.len() < counted
    }

    fn text(&mut self, block: Fields<'_>) {
        let text = block.bytes.get(block.pick(8, 4)..).unwrap_or(&[]);
        self.texts.push(text.to_vec());
        if self.texts.len() > 1 {
            return;
        }
        // The literal has a reference of its own, and its place is fixed where that is lacking.
        let reference = self.row.map(|row| row.compression).unwrap_or_default();
        let literal = match reference.length {
            8 => self.resolve(reference).unwrap_or(&[]),
            _ => text.get(12..20).unwrap_or(&[]),
        };
        self.compression = match literal {
            b"SASYZCRL" => Compression::Char,
            b"SASYZCR2" => Compression::Binary,
            _ => Compression::None,
        };
    }

    fn attributes(&mut self, block: Fields<'_>) {
        let (start, entry) = (block.pick(16, 12), block.pick(16, 12));
        let count = block.bytes.len().saturating_sub(block.pick(28, 20)) / entry;
        self.attributes.extend((0..count).map(|k| {
            let at = start + k * entry;
            let length_at = at + block.pick(8, 4);
            Attribute {
                offset: block.long(at),
                length: block.u32(length_at),
                kind: block.u8(length_at + 6),
            }
        }));
    }

    fn resolve(&self, reference: TextRef) -> Option<&[u8]> {
        if reference.length == 0 {
            return Some(&[]);
        }
        let start = usize::from(reference.offset);
        let text = self.texts.get(usize::from(reference.text))?;
        text.get(start..start + usize::from(reference.length))
    }

    fn string(&self, reference: TextRef, encoding: Encoding, what: &str) -> Result<String, Error> {
        let bytes = self.resolve(reference).ok_or_else(|| {
            let TextRef { text, offset, length } = reference;
            Error::metadata(format!(
                "{what} should lie in text {text} at {offset}, {length} bytes, and there is no such place"
            ))
        })?;
        Ok(encoding.decode(trimmed(bytes)).into_owned())
    }

    /// Everything together, once all pages with descriptions were seen.
    pub(crate) fn finish(self, header: Header) -> Result<Metadata, Error> {
        let row = self
            .row
            .ok_or_else(|| Error::metadata("there is no row description"))?;
        let row_bytes = check_row(&row, &header, self.compression)?;
        let (variables, layout) = self.variables(header.encoding, row_bytes)?;
        let string = |reference, what| self.string(reference, header.encoding, what);
        let space = u64::from(header.page_bytes) - Shape::of(header.wide).header_bytes as u64;
        let located = row.rows > 0 && row.first_row.page > 0;
        let rows_per_page = capacity(space, row.row_bytes).min(MAX_BLOCKS);
        Ok(Metadata {
            name: header.encoding.decode(&header.name).into_owned(),
            label: string(row.label, "the label")?,
            data_type: string(row.data_type, "the data set type").unwrap_or_default(),
            creator: string(row.creator, "the creator").unwrap_or_default(),
            indexes: self.index_infos(&variables, header.encoding),
            variables,
            layout,
            rows: row.rows - row.deleted_rows,
            deleted_rows: row.deleted_rows,
            page_bytes: header.page_bytes,
            header_bytes: header.header_bytes,
            pages: header.pages,
            compression: self.compression,
            encoding: header.encoding,
            endian: header.endian,
            word_bits: if header.wide { 64 } else { 32 },
            windows: header.windows,
            created: header.created,
            modified: header.modified,
            utc_offset: header.utc_offset,
            release: header.release,
            host: header.host,
            os_version: header.os_version,
            os_maker: header.os_maker,
            os_name: header.os_name,
            page_mask: header.mask,
            first_data_page: if located { row.first_row.page } else { 0 },
            last_data_page: if located { row.last_row.page } else { 0 },
            rows_per_page: if self.compression == Compression::None {
                rows_per_page
            } else {
                0
            },
            mix_rows: row.mix_rows,
            blocks: row.blocks,
        })
    }

    fn variables(
        &self,
        encoding: Encoding,
        row_bytes: u32,
    ) -> Result<(Vec<Variable>, Layout), Error> {
        let columns = index(self.columns.unwrap_or(0));
        let (names, attributes) = (self.names.len(), self.attributes.len());
        if names < columns || attributes < columns {
            return Err(Error::metadata(format!(
                "{columns} variables are announced, {names} have names, {attributes} have attributes"
            )));
        }
        let mut layout = Layout {
            offsets: Vec::with_capacity(columns),
            row_bytes,
        };
        let mut variables = Vec::with_capacity(columns);
        let described = self
            .names
            .iter()
            .zip(&self.attributes)
            .take(columns)
            .enumerate();
        for (number, (name, attribute)) in described {
            let name = self.string(*name, encoding, "the name of a variable")?;
            let kind = match attribute.kind {
                1 => Kind::Numeric,
                2 => Kind::Character,
                other => {
                    let detail = format!("variable {name} has type {other}, which is not known");
                    return Err(Error::metadata(detail));
                }
            };
            let end = attribute.offset.saturating_add(u64::from(attribute.length));
            let number_fits = kind == Kind::Character || attribute.length <= 8;
            if attribute.length == 0 || end > u64::from(row_bytes) || !number_fits {
                return Err(Error::metadata(format!(
                    "variable {name} of {} bytes at {} does not fit a row of {row_bytes}",
                    attribute.length, attribute.offset
                )));
            }
            layout
                .offsets
                .push(u32::try_from(attribute.offset).unwrap_or(u32::MAX));
            let mut variable = Variable {
                length: attribute.length,
                kind,
                ..Variable::numeric(name)
            };
            if let Some(format) = self.formats.get(number) {
                variable.label = self.string(format.label, encoding, "a label")?;
                variable.format = self.format(format.format_name, format.format, encoding)?;
                variable.informat = self.format(format.informat_name, format.informat, encoding)?;
            }
            variables.push(variable);
        }
        Ok((variables, layout))
    }

    fn format(&self, name: TextRef, size: [u16; 2], encoding: Encoding) -> Result<Format, Error> {
        let [width, decimals] = size;
        Ok(Format {
            name: self.string(name, encoding, "the name of a format")?,
            width,
            decimals,
        })
    }

    /// Indexes are told in passing: one that makes no sense is left out.
    fn index_infos(&self, variables: &[Variable], encoding: Encoding) -> Vec<IndexInfo> {
        let info = |fields: &IndexFields| {
            let columns: Option<Vec<usize>> = fields
                .columns
                .iter()
                .map(|number| usize::from(*number).checked_sub(1))
                .collect();
            let columns = columns?;
            let first = variables.get(*columns.first()?)?;
            let name = match fields.name.length {
                0 => first.name.clone(),
                _ => self
                    .string(fields.name, encoding, "the name of an index")
                    .ok()?,
            };
            columns
                .iter()
                .all(|column| *column < variables.len())
                .then_some(())?;
            Some(IndexInfo {
                name,
                unique: fields.unique,
                columns,
            })
        };
        self.indexes.iter().filter_map(info).collect()
    }
}

impl FormatFields {
    fn parse(block: Fields<'_>) -> Self {
        let size = |wide, narrow| {
            let at = block.pick(wide, narrow);
            [block.u16(at), block.u16(at + 2)]
        };
        let text = |wide, narrow| TextRef::parse(block, block.pick(wide, narrow));
        Self {
            format: size(24, 12),
            informat: size(28, 16),
            informat_name: text(40, 28),
            format_name: text(46, 34),
            label: text(52, 40),
        }
    }
}

impl IndexFields {
    fn parse(block: Fields<'_>) -> Self {
        let start = block.pick(8, 4);
        let count = usize::from(block.u16(start + 16)).min(block.bytes.len() / 2);
        Self {
            name: TextRef::parse(block, start + 4),
            unique: block.u16(start + 10) & 2 != 0,
            columns: (0..count).map(|k| block.u16(start + 18 + 2 * k)).collect(),
        }
    }
}

/// Bytes of a row, if what the ROW subheader says can be.
fn check_row(row: &RowFields, header: &Header, compression: Compression) -> Result<u32, Error> {
    if row.row_bytes > u64::from(header.page_bytes) {
        return Err(Error::metadata(format!(
            "rows of {} bytes are longer than a page of {}",
            row.row_bytes, header.page_bytes
        )));
    }
    let most = header.pages.saturating_mul(MAX_BLOCKS);
    if row.rows > most || row.deleted_rows > row.rows {
        return Err(Error::metadata(format!(
            "{} rows, {} of them deleted, cannot lie on {} pages",
            row.rows, row.deleted_rows, header.pages
        )));
    }
    let space = u64::from(header.page_bytes) - Shape::of(header.wide).header_bytes as u64;
    if compression == Compression::None && row.rows > 0 && row.row_bytes > space {
        return Err(Error::metadata(format!(
            "rows of {} bytes fit no page",
            row.row_bytes
        )));
    }
    Ok(u32::try_from(row.row_bytes).unwrap_or(u32::MAX))
}
