//! Subheaders: the blocks that describe a data set, told apart by their signatures.

use crate::endian::Fields;

/// What a subheader describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    Row,
    ColumnCount,
    Counts,
    Text,
    Name,
    Attribute,
    List,
    Format,
    Index,
}

impl Signature {
    /// The signature at the start of a block, `None` if it is none of the known ones.
    pub(crate) fn of(block: Fields<'_>) -> Option<Self> {
        let first = block.slice(0, 4);
        // In 64-bit big-endian files the other half of these two is garbage.
        if first == [0xF7; 4] {
            return Some(Self::Row);
        }
        if first == [0xF6; 4] {
            return Some(Self::ColumnCount);
        }
        if block.bytes.len() < block.pick(8, 4) {
            return None;
        }
        let number = if block.wide {
            block.u64(0).cast_signed()
        } else {
            i64::from(block.u32(0).cast_signed())
        };
        Some(match number {
            -1024 => Self::Counts,
            -1026 => Self::Format,
            -1 => Self::Name,
            -2 => Self::List,
            -3 => Self::Text,
            -4 => Self::Attribute,
            -6 => Self::Index,
            _ => return None,
        })
    }

    /// The number that a 64-bit little-endian file stores.
    pub(crate) fn number(self) -> u64 {
        let signed: i64 = match self {
            Self::Row => return 0xF7F7_F7F7,
            Self::ColumnCount => return 0xF6F6_F6F6,
            Self::Counts => -1024,
            Self::Format => -1026,
            Self::Name => -1,
            Self::List => -2,
            Self::Text => -3,
            Self::Attribute => -4,
            Self::Index => -6,
        };
        signed.cast_unsigned()
    }
}

/// Where a string lies: the number of its text subheader, the offset behind that one's signature, and
/// the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextRef {
    pub(crate) text: u16,
    pub(crate) offset: u16,
    pub(crate) length: u16,
}

impl TextRef {
    pub(crate) fn parse(block: Fields<'_>, offset: usize) -> Self {
        Self {
            text: block.u16(offset),
            offset: block.u16(offset + 2),
            length: block.u16(offset + 4),
        }
    }
}

/// A page (1-based) and a block on it (1-based).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Location {
    pub(crate) page: u64,
    pub(crate) slot: u16,
}

impl Location {
    /// Slots have 16 bits, and so have their counts.
    pub(crate) fn new(page: u64, slot: usize) -> Self {
        Self {
            page,
            slot: u16::try_from(slot).unwrap_or(u16::MAX),
        }
    }

    pub(crate) fn parse(block: Fields<'_>, wide_offset: usize, narrow_offset: usize) -> Self {
        let at = block.pick(wide_offset, narrow_offset);
        Self {
            page: block.long(at),
            slot: block.u16(at + block.pick(8, 4)),
        }
    }
}

/// What the ROW subheader says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RowFields {
    pub(crate) blocks: u64,
    pub(crate) row_bytes: u64,
    /// Deleted ones included.
    pub(crate) rows: u64,
    /// The same once more in 64-bit files of SAS 9.3 and later, else anything.
    pub(crate) rows_again: u64,
    pub(crate) deleted_rows: u64,
    pub(crate) mix_rows: u64,
    pub(crate) first_row: Location,
    pub(crate) last_row: Location,
    pub(crate) label: TextRef,
    pub(crate) data_type: TextRef,
    pub(crate) compression: TextRef,
    pub(crate) creator: TextRef,
    /// Blocks of texts.
    pub(crate) texts: u16,
}

impl RowFields {
    pub(crate) fn parse(block: Fields<'_>) -> Self {
        let text = |wide, narrow| TextRef::parse(block, block.pick(wide, narrow));
        Self {
            blocks: block.long_at(16, 8),
            row_bytes: block.long_at(40, 20),
            rows: block.long_at(48, 24),
            rows_again: if block.wide { block.u64(776) } else { 0 },
            deleted_rows: block.long_at(56, 28),
            mix_rows: block.long_at(120, 60),
            first_row: Location::parse(block, 544, 280),
            last_row: Location::parse(block, 560, 288),
            label: text(678, 350),
            data_type: text(684, 356),
            compression: text(690, 362),
            creator: text(702, 374),
            texts: block.u16(block.pick(748, 420)),
        }
    }
}
