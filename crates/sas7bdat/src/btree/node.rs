//! A page of a tree: its header, and entries from the end of the page downwards.

use super::{ROW_ID_BYTES, RowId};
use crate::endian::{Endian, Fields, Put, index};
use crate::page::Shape;

/// Type bit: the last node of its level.
pub(super) const LAST: u16 = 0x1000;
/// Type of an empty tree.
pub(super) const EMPTY: u16 = 0x9000;
/// Offset bit: several rows have the key.
const MANY: u16 = 0x8000;

/// Bytes before the offsets of the entries.
pub(super) const fn head_bytes(wide: bool) -> usize {
    if wide { 48 } else { 28 }
}

/// A node in memory.
#[derive(Debug, Clone)]
pub(super) struct Node {
    bytes: Vec<u8>,
    endian: Endian,
    wide: bool,
    /// Entries lie at a fixed distance: keys of one length, one row each.
    fixed: Option<usize>,
}

/// A leaf that is gone through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'n> {
    node: &'n Node,
    key_bytes: usize,
}

impl<'n> Leaf<'n> {
    /// Key and rest of an entry, and whether it has several rows.
    #[inline]
    pub(super) fn entry(&self, number: usize) -> Option<(&'n [u8], &'n [u8], bool)> {
        let (start, end, many) = self.node.place(number)?;
        let (key, rest) = self
            .node
            .bytes
            .get(start..end)?
            .split_at_checked(self.key_bytes)?;
        Some((key, rest, many))
    }
}

/// What a node says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) next: u64,
    pub(super) index: u64,
    pub(super) entries: usize,
    pub(super) level: u64,
}

impl Node {
    /// `unique` with the length of the keys tells how leaves are laid out.
    pub(super) fn new(bytes: Vec<u8>, endian: Endian, wide: bool, unique: Option<usize>) -> Self {
        let mut node = Self {
            bytes,
            endian,
            wide,
            fixed: None,
        };
        if node.head().level == 0 {
            node.fixed = unique.map(|key_bytes| key_bytes + ROW_ID_BYTES);
        }
        node
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn fields(&self) -> Fields<'_> {
        Fields {
            bytes: &self.bytes,
            endian: self.endian,
            wide: self.wide,
        }
    }

    pub(super) fn head(&self) -> Head {
        let fields = self.fields();
        let end = Shape::of(self.wide).header_bytes;
        Head {
            next: fields.long_at(16, 8),
            index: fields.long_at(24, 12),
            entries: usize::from(fields.u16(end - 4)),
            level: fields.long(end),
        }
    }

    /// Where entry `number` begins and ends, and whether it has several rows.
    fn place(&self, number: usize) -> Option<(usize, usize, bool)> {
        if let Some(length) = self.fixed {
            let end = self.bytes.len().checked_sub(number * length)?;
            return Some((end.checked_sub(length)?, end, false));
        }
        let offset = |number: usize| self.fields().u16(head_bytes(self.wide) + 2 * number);
        let end = match number.checked_sub(1) {
            Some(before) => usize::from(offset(before) & !MANY),
            None => self.bytes.len(),
        };
        let start = offset(number);
        Some((usize::from(start & !MANY), end, start & MANY != 0))
    }

    /// Key and rest of entry `number` of a node with keys of `key_bytes`; an inner node has shorter
    /// ones, before the four bytes of the child.
    pub(super) fn entry(&self, number: usize, key_bytes: usize) -> Option<(&[u8], &[u8], bool)> {
        let (start, end, many) = self.place(number)?;
        let entry = self.bytes.get(start..end)?;
        let split = if self.head().level > 0 {
            entry.len().checked_sub(4)?
        } else {
            key_bytes
        };
        let (key, rest) = entry.split_at_checked(split)?;
        Some((key, rest, many))
    }

    /// The node as a leaf with keys of `key_bytes`, for going through all of it.
    pub(super) fn leaf(&self, key_bytes: usize) -> Leaf<'_> {
        Leaf {
            node: self,
            key_bytes,
        }
    }

    /// The rows of a leaf's entry.
    pub(super) fn rows(&self, rest: &[u8], many: bool, found: &mut Vec<RowId>) {
        let listed = if many {
            let count = Fields {
                bytes: rest,
                ..self.fields()
            };
            let count = usize::from(count.u16(0));
            let ids = rest.get(2..).unwrap_or(&[]);
            ids.get(..count * ROW_ID_BYTES).unwrap_or(ids)
        } else {
            rest
        };
        let ids = listed.chunks_exact(ROW_ID_BYTES);
        found.extend(ids.filter_map(|id| id.first_chunk().copied().map(RowId::from_bytes)));
    }

    /// The child that an inner entry leads to.
    pub(super) fn child(&self, rest: &[u8]) -> u64 {
        let fields = Fields {
            bytes: rest,
            ..self.fields()
        };
        u64::from(fields.u32(0))
    }
}

/// A node being filled; always little endian and wide.
#[derive(Debug)]
pub(super) struct Filling {
    pub(super) number: u64,
    bytes: Vec<u8>,
    offsets: Vec<u16>,
    low: usize,
    level: u64,
    fixed: bool,
    /// The key added last.
    pub(super) last_key: Vec<u8>,
}

impl Filling {
    pub(super) fn new(number: u64, page_bytes: usize, level: u64, fixed: bool) -> Self {
        Self {
            number,
            bytes: vec![0; page_bytes],
            offsets: Vec::new(),
            low: page_bytes,
            level,
            fixed: fixed && level == 0,
            last_key: Vec::new(),
        }
    }

    pub(super) fn entries(&self) -> usize {
        self.offsets.len()
    }

    fn free(&self) -> usize {
        let offsets = if self.fixed {
            0
        } else {
            2 * self.offsets.len()
        };
        self.low.saturating_sub(head_bytes(true) + offsets)
    }

    pub(super) fn fits(&self, bytes: usize) -> bool {
        let offset = if self.fixed { 0 } else { 2 };
        self.free() >= bytes + offset
    }

    /// Adds an entry behind the others; the caller made sure that it fits.
    pub(super) fn add(&mut self, parts: &[&[u8]], many: bool) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.low -= length;
        let mut at = self.low;
        for part in parts {
            self.bytes.put(at, part);
            at += part.len();
        }
        let offset = u16::try_from(self.low).unwrap_or(u16::MAX);
        self.offsets.push(offset | if many { MANY } else { 0 });
    }

    /// The page, complete.
    pub(super) fn close(mut self, mask: u32, index: u64, next: u64, empty: bool) -> Vec<u8> {
        let (count, free) = (self.offsets.len(), self.free());
        let size = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
        let [a, b, c, d, ..] = self.number.to_le_bytes();
        let last = if next == 0 { LAST } else { 0 };
        let bytes = &mut self.bytes;
        bytes.put_u32(0, mask ^ u32::from_le_bytes([a, b, c, d]));
        bytes.put_u64(16, next);
        bytes.put_u64(24, index);
        bytes.put_u16(32, if empty { EMPTY } else { last });
        bytes.put_u16(34, if empty { 1 } else { 2 });
        bytes.put_u16(36, size(count));
        bytes.put_u16(38, size(free));
        bytes.put_u64(40, self.level);
        if !self.fixed {
            for (place, offset) in self.offsets.iter().enumerate() {
                bytes.put_u16(head_bytes(true) + 2 * place, *offset);
            }
        }
        self.bytes
    }
}

/// A key that can be no more than the first of the right side and no less than the last of the left.
pub(super) fn separator<'k>(left: &'k [u8], right: &'k [u8]) -> &'k [u8] {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    if same == left.len() {
        return left;
    }
    right.get(..=same).unwrap_or(right)
}

/// Entries that a page has at most: their offsets have 15 bits.
pub(super) fn page_limit() -> usize {
    index(u64::from(MANY))
}
