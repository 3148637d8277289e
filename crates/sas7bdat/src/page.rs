//! Page headers, pointers, and how many rows a page holds.

use crate::endian::{Fields, index};
use crate::error::Error;

/// Type bits of a page header. A page of compressed rows or of descriptions only has none.
pub(crate) const DATA: u16 = 0x0100;
pub(crate) const MIX: u16 = 0x0200;
pub(crate) const AMENDED: u16 = 0x0400;
/// Some rows on the page are deleted.
pub(crate) const DELETED: u16 = 0x0080;
/// Any of these bits: a node of the row-number index, no rows.
pub(crate) const INDEX: u16 = 0x9000;
/// What such a node has.
pub(crate) const INDEX_NODE: u16 = 0x9000;
const CONTENT: u16 = 0x0F00;

/// Pointer flag: the block is deleted or is the page's free space.
pub(crate) const IGNORED: u8 = 0x01;
/// Pointer flag: the block is a compressed row.
pub(crate) const COMPRESSED: u8 = 0x04;

/// Most blocks on a page: their count has 16 bits.
pub(crate) const MAX_BLOCKS: u64 = u16::MAX as u64;

/// Sizes that depend on the width of longs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) header_bytes: usize,
    pub(crate) pointer_bytes: usize,
}

pub(crate) const WIDE: Shape = Shape {
    header_bytes: 40,
    pointer_bytes: 24,
};
pub(crate) const NARROW: Shape = Shape {
    header_bytes: 24,
    pointer_bytes: 12,
};

impl Shape {
    pub(crate) fn of(wide: bool) -> Self {
        if wide { WIDE } else { NARROW }
    }

    /// Where the pointers end.
    pub(crate) fn pointers_end(self, pointers: usize) -> usize {
        self.header_bytes + pointers * self.pointer_bytes
    }
}

/// Rows that fit beside their deleted-flag bits, one a row, into `space` bytes.
pub(crate) fn capacity(space: u64, row_bytes: u64) -> u64 {
    // Rows without variables count as one byte.
    space.saturating_mul(8) / (row_bytes.max(1).saturating_mul(8) + 1)
}

/// Bytes of the deleted-flag bits of a page of this capacity.
pub(crate) fn bitmap_bytes(capacity: u64) -> u64 {
    capacity.div_ceil(8)
}

/// What a page header says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PageHeader {
    /// Page number XOR the mask of the file.
    pub(crate) masked_number: u32,
    pub(crate) free_bytes: u64,
    pub(crate) kind: u16,
    pub(crate) blocks: u16,
    pub(crate) pointers: u16,
}

impl PageHeader {
    pub(crate) fn parse(page: Fields<'_>) -> Self {
        let end = Shape::of(page.wide).header_bytes;
        Self {
            masked_number: page.u32(0),
            free_bytes: page.long_at(24, 12),
            kind: page.u16(end - 8),
            blocks: page.u16(end - 6),
            pointers: page.u16(end - 4),
        }
    }

    pub(crate) fn is_index(self) -> bool {
        self.kind & INDEX != 0
    }

    pub(crate) fn is_data(self) -> bool {
        !self.is_index() && self.kind & CONTENT == DATA
    }

    pub(crate) fn is_mix(self) -> bool {
        !self.is_index() && self.kind & CONTENT == MIX
    }

    pub(crate) fn is_amended(self) -> bool {
        !self.is_index() && self.kind & CONTENT == AMENDED
    }

    /// Whether the pointers lead to descriptions or compressed rows.
    pub(crate) fn has_pointers(self) -> bool {
        !self.is_index() && self.kind & CONTENT != DATA
    }

    /// Rows that lie side by side behind the pointers.
    pub(crate) fn plain_rows(self) -> u64 {
        if self.is_data() {
            u64::from(self.blocks)
        } else if self.is_mix() {
            u64::from(self.blocks.saturating_sub(self.pointers))
        } else {
            0
        }
    }
}

/// One entry behind the page header: where a description or a stored row lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) flags: u8,
    pub(crate) kind: u8,
}

impl Pointer {
    /// The pointer of a 1-based slot.
    #[inline]
    pub(crate) fn parse(page: Fields<'_>, slot: usize) -> Self {
        let shape = Shape::of(page.wide);
        let at = shape.pointers_end(slot.saturating_sub(1));
        let long = page.pick(8, 4);
        Self {
            offset: page.long(at),
            length: page.long(at + long),
            flags: page.u8(at + 2 * long),
            kind: page.u8(at + 2 * long + 1),
        }
    }
}

/// The bytes that a pointer leads to.
pub(crate) fn block(
    page: Fields<'_>,
    pointer: Pointer,
    number: u64,
    slot: usize,
) -> Result<Fields<'_>, Error> {
    let (start, length) = (index(pointer.offset), index(pointer.length));
    let bytes = start
        .checked_add(length)
        .and_then(|end| page.bytes.get(start..end));
    let bytes = bytes.ok_or_else(|| {
        let at = Shape::of(page.wide).pointers_end(slot.saturating_sub(1));
        let detail = format!("pointer {slot} leads to {length} bytes at {start}, beyond the page");
        Error::page(number, at, detail)
    })?;
    Ok(Fields { bytes, ..page })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_costs_one_bit_more_than_its_bytes() {
        assert_eq!(capacity(65_536 - 40, 336), 194);
        assert_eq!(capacity(65_536 - 40, 1), 58_218);
        assert_eq!(capacity(7, 7), 0);
        assert_eq!(bitmap_bytes(194), 25);
    }
}
