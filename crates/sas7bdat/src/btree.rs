//! Index files (`.sas7bndx`): a B+-tree a index, from key values to where rows lie.
//!
//! Index files of 32-bit layouts were seen; that of 64-bit ones is put together from them and from the
//! index of row numbers inside data sets. See `docs/format/sas7bndx.md`.

mod build;
mod directory;
mod key;
mod node;
mod search;

pub use build::IndexWriter;
pub use directory::{Directory, IndexEntry, KeyPart};
pub use key::{encode_number, encode_text};
pub use search::{IndexReader, Span, Walk};

/// Where a row lies: a page (1-based) and a slot on it (1-based).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// 1-based page.
    pub page: u32,
    /// 1-based slot.
    pub slot: u16,
}

/// Bytes of a row's place in an entry.
pub const ROW_ID_BYTES: usize = 8;

impl RowId {
    /// As it is stored: in the order of pages and slots.
    pub fn to_bytes(self) -> [u8; ROW_ID_BYTES] {
        (u64::from(self.page) << 32 | u64::from(self.slot) << 16).to_be_bytes()
    }

    /// From the stored form.
    pub fn from_bytes(bytes: [u8; ROW_ID_BYTES]) -> Self {
        let both = u64::from_be_bytes(bytes);
        Self {
            page: u32::try_from(both >> 32).unwrap_or(u32::MAX),
            slot: u16::try_from(both >> 16 & 0xFFFF).unwrap_or(u16::MAX),
        }
    }
}
