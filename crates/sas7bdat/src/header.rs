//! The file header: the first `header_bytes` bytes of a data set.

use crate::buffer::Buffer;
use crate::encoding::Encoding;
use crate::endian::{Endian, Fields, Put, index};
use crate::error::Error;

/// Bytes that have to be read to know everything of a header.
pub(crate) const PREFIX_BYTES: usize = 1024;
/// Smallest header and page that any release writes.
pub(crate) const SMALLEST_BYTES: u32 = 1024;

pub(crate) const MAGIC: [u8; 32] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2, 0xea, 0x81, 0x60, 0xb3, 0x14, 0x11, 0xcf, 0xbd, 0x92,
    0x08, 0x00, 0x09, 0xc7, 0x31, 0x8c, 0x18, 0x1f, 0x10, 0x11,
];
/// Whether a file that begins so says that it is a data set: its first 32 bytes.
pub fn is_data_set(beginning: &[u8]) -> bool {
    beginning.starts_with(&MAGIC)
}

/// Byte 15 of an index file.
pub(crate) const INDEX_MAGIC: u8 = 0x65;
/// Alignment bytes 32 to 39 of a 64-bit little-endian Unix file.
pub(crate) const ALIGNMENT: [u8; 8] = [0x33, 0x22, 0x00, 0x33, 0x33, 0x01, 0x02, 0x31];
/// Where the fields that a writer fills lie in a 64-bit file.
pub(crate) const CREATED_AT: usize = 168;
pub(crate) const PAGES_AT: usize = 208;
pub(crate) const PASSWORD_AT: usize = 296;
pub(crate) const MASK_AT: usize = 328;
/// Exclusive-or of these and the nonce is stored, three times where a data set has no password.
pub(crate) const NO_PASSWORD: [u8; 4] = [0x4c, 0x4e, 0x6f, 0x65];

/// What a header says.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_field_names,
    reason = "sizes carry their unit, and one is the header's"
)]
pub(crate) struct Header {
    pub(crate) endian: Endian,
    pub(crate) wide: bool,
    pub(crate) windows: bool,
    pub(crate) encoding: Encoding,
    pub(crate) name: Vec<u8>,
    pub(crate) created: f64,
    pub(crate) modified: f64,
    pub(crate) utc_offset: f64,
    pub(crate) header_bytes: u32,
    pub(crate) page_bytes: u32,
    pub(crate) pages: u64,
    pub(crate) release: String,
    pub(crate) host: String,
    pub(crate) os_version: String,
    pub(crate) os_maker: String,
    pub(crate) os_name: String,
    pub(crate) mask: u32,
}

impl Header {
    /// Reads a header from the first bytes of a file; `file_bytes` is the size of the whole.
    pub(crate) fn parse(bytes: &[u8], file_bytes: u64) -> Result<Self, Error> {
        let wide = Self::recognise(bytes)?;
        Self::read(bytes, wide, file_bytes)
    }

    /// Reads the header of an index file.
    pub(crate) fn parse_index(bytes: &[u8], file_bytes: u64) -> Result<Self, Error> {
        let is_index = bytes.len() >= 288
            && bytes.get(15) == Some(&INDEX_MAGIC)
            && bytes.get(16..32) == MAGIC.get(16..);
        if !is_index {
            return Err(Error::NotADataSet {
                reason: "the first 32 bytes are not those of an index file",
            });
        }
        Self::read(bytes, bytes.get(32) == Some(&0x33), file_bytes)
    }

    fn read(bytes: &[u8], wide: bool, file_bytes: u64) -> Result<Self, Error> {
        let endian = if bytes.get(37) == Some(&1) {
            Endian::Little
        } else {
            Endian::Big
        };
        let fields = Fields {
            bytes,
            endian,
            wide,
        };
        let first = if fields.u8(35) == 0x33 { 4 } else { 0 };
        let second = first + if wide { 4 } else { 0 };
        let text = |offset: usize, length| printable(fields.slice(offset, length));
        let header = Self {
            endian,
            wide,
            windows: fields.u8(39) == b'2',
            encoding: Encoding::from_byte(fields.u8(70)),
            name: trimmed(fields.slice(92, 64)).to_vec(),
            created: fields.f64(164 + first),
            modified: fields.f64(172 + first),
            utc_offset: fields.f64(180 + first),
            header_bytes: fields.u32(196 + first),
            page_bytes: fields.u32(200 + first),
            pages: fields.long(204 + first),
            release: text(216 + second, 8),
            host: text(224 + second, 16),
            os_version: text(240 + second, 16),
            os_maker: text(256 + second, 16),
            os_name: text(272 + second, 16),
            mask: fields.u32(320 + second),
        };
        header.check_sizes(first, file_bytes)?;
        Ok(header)
    }

    /// Whether longs have 8 bytes; an error if this is no data set.
    fn recognise(bytes: &[u8]) -> Result<bool, Error> {
        let no = |reason| Err(Error::NotADataSet { reason });
        if bytes.len() < 288 {
            return no("it is shorter than a header");
        }
        let fields = Fields {
            bytes,
            endian: Endian::Little,
            wide: true,
        };
        let magic = fields.slice(0, 32);
        if magic.get(15) == Some(&0x63) && magic.get(16..) == MAGIC.get(16..) {
            return no("it is a catalog, not a data set");
        }
        if magic.get(15) == Some(&INDEX_MAGIC) && magic.get(16..) == MAGIC.get(16..) {
            return no("it is an index file, not a data set");
        }
        // JMP leaves bytes 12 to 27 zero.
        let bare = magic
            .get(..28)
            .is_some_and(|start| start.iter().all(|byte| *byte == 0))
            && magic.get(28..) == MAGIC.get(28..);
        if magic != MAGIC && !(bare && fields.slice(84, 8) == b"SAS FILE") {
            return no("the first 32 bytes are not those of a data set");
        }
        Ok(fields.u8(32) == 0x33)
    }

    fn check_sizes(&self, first: usize, file_bytes: u64) -> Result<(), Error> {
        let at = |offset| (offset + first) as u64;
        let (header, page) = (self.header_bytes, self.page_bytes);
        if header < SMALLEST_BYTES {
            let detail = format!("a header of {header} bytes is too small");
            return Err(Error::header(at(196), detail));
        }
        if page < SMALLEST_BYTES {
            return Err(Error::header(
                at(200),
                format!("pages of {page} bytes are too small"),
            ));
        }
        let expected = u64::from(page)
            .checked_mul(self.pages)
            .and_then(|pages| pages.checked_add(u64::from(header)))
            .ok_or_else(|| Error::header(at(204), format!("{} pages are too many", self.pages)))?;
        if expected > file_bytes {
            return Err(Error::Truncated {
                expected,
                actual: file_bytes,
            });
        }
        if self.pages == 0 {
            return Err(Error::header(at(204), "there is not a single page"));
        }
        Ok(())
    }

    /// The header as SAS 9.4 on 64-bit Linux writes it.
    pub(crate) fn build(&self, file_kind: [u8; 8]) -> Buffer {
        let mut bytes = Buffer::zeroed(index(u64::from(self.header_bytes)));
        let out = bytes.front(PREFIX_BYTES);
        let utf8 = self.encoding == Encoding::UTF_8;
        let high = if utf8 { Encoding::UTF_8.byte } else { 0 };
        out.put(0, &MAGIC);
        out.put(32, &ALIGNMENT);
        out.put(
            40,
            &[
                1, 0, 0, 0, 0, 0, 0, high, 0, 0, 3, 1, 0x18, 0x1f, 0x10, 0x11,
            ],
        );
        out.put(56, &ALIGNMENT);
        out.put(
            64,
            &[
                1,
                0x33,
                1,
                0x23,
                0x33,
                0,
                self.encoding.byte,
                high,
                0,
                0x20,
                3,
                1,
            ],
        );
        out.put(84, b"SAS FILE");
        out.put(92, &[b' '; 32]);
        out.put(92, self.name.get(..32).unwrap_or(&self.name));
        out.put(156, &file_kind);
        out.put_f64(CREATED_AT, self.created);
        out.put_f64(CREATED_AT + 8, self.modified);
        out.put_f64(CREATED_AT + 16, self.utc_offset);
        out.put_f64(CREATED_AT + 24, self.utc_offset);
        out.put_u32(200, self.header_bytes);
        out.put_u32(204, self.page_bytes);
        out.put_u64(PAGES_AT, self.pages);
        out.put(224, &padded::<8>(&self.release));
        out.put(232, &padded::<16>(&self.host));
        out.put(248, &padded::<16>(&self.os_version));
        out.put(264, &padded::<16>(&self.os_maker));
        out.put(280, &padded::<16>(&self.os_name));
        let [a, b, c, d, ..] = self.created.to_bits().to_le_bytes();
        let nonce = u32::from_le_bytes([a, b, c, d]);
        out.put_u32(PASSWORD_AT, nonce);
        for place in 1..=3 {
            out.put_u32(
                PASSWORD_AT + 4 * place,
                nonce ^ u32::from_le_bytes(NO_PASSWORD),
            );
        }
        out.put_u32(MASK_AT, self.mask);
        out.put_f64(336, self.created);
        bytes
    }
}

fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (place, byte) in bytes.iter_mut().zip(text.bytes()) {
        *place = byte;
    }
    bytes
}

/// Without the blanks and NULs at the end.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|byte| !matches!(byte, 0 | b' '))
        .map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(bytes)
}

fn printable(bytes: &[u8]) -> String {
    let start = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(trimmed(bytes.get(..start).unwrap_or(bytes))).into_owned()
}
