//! Page 1 of an index file: which indexes there are.

use super::ROW_ID_BYTES;
use crate::endian::{Fields, Put, index};
use crate::error::Error;
use crate::page::Shape;

/// Centiles that are kept of each index: every twentieth part, the smallest and the largest.
pub(super) const CENTILES: usize = 21;
/// Indexes and key parts that a data set may have.
const MOST: u64 = 32_767;

/// A variable of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPart {
    /// 1-based number of the variable.
    pub column: u16,
    /// Bytes it takes in the key.
    pub length: u16,
    /// A number, not a text.
    pub numeric: bool,
}

/// One index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its number, by which its nodes are marked.
    pub number: u64,
    /// Page of its root.
    pub root: u64,
    /// No two rows have the same key.
    pub unique: bool,
    /// Different keys.
    pub keys: u64,
    /// The variables of its key.
    pub parts: Vec<KeyPart>,
    /// 21 keys that cut the rows into parts of 5 %, the smallest and the largest included.
    pub centiles: Vec<Vec<u8>>,
}

impl IndexEntry {
    /// Bytes of a key.
    pub fn key_bytes(&self) -> usize {
        self.parts.iter().map(|part| usize::from(part.length)).sum()
    }
}

/// Everything page 1 says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directory {
    /// Blocks that the data set counts, as its ROW subheader has it when the index was made.
    pub blocks: u64,
    /// The indexes.
    pub entries: Vec<IndexEntry>,
}

/// Reads or skips fields one after the other, whatever the width of longs.
struct Walk<'a> {
    fields: Fields<'a>,
    at: usize,
}

impl<'a> Walk<'a> {
    fn long(&mut self) -> u64 {
        let value = self.fields.long(self.at);
        self.longs(1);
        value
    }

    fn longs(&mut self, count: usize) {
        self.at = self
            .at
            .saturating_add(count.saturating_mul(self.fields.pick(8, 4)));
    }

    fn short(&mut self) -> u16 {
        let value = self.fields.u16(self.at);
        self.bytes(2);
        value
    }

    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let bytes = self.fields.slice(self.at, count);
        self.at = self.at.saturating_add(count);
        bytes
    }
}

impl Directory {
    pub(super) fn parse(page: Fields<'_>) -> Result<Self, Error> {
        let mut walk = Walk {
            fields: page,
            at: Shape::of(page.wide).header_bytes + page.pick(16, 4),
        };
        let count = walk.long();
        walk.longs(3);
        let blocks = walk.long();
        walk.longs(10);
        walk.bytes(8);
        if count > MOST {
            return Err(Error::page(1, 0, format!("it claims {count} indexes")));
        }
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(entry(&mut walk)?);
        }
        Ok(Self { blocks, entries })
    }

    /// The page as a 64-bit little-endian file has it; `None` if the indexes do not fit.
    pub(super) fn build(&self, page_bytes: usize, mask: u32) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(page_bytes);
        let count = self.entries.len() as u64;
        for value in [
            0,
            1,
            0,
            0,
            0,
            0,
            0,
            count,
            0,
            page_bytes as u64,
            page_bytes as u64,
        ] {
            out.extend(value.to_le_bytes());
        }
        for value in [
            self.blocks,
            count,
            0,
            page_bytes as u64,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ] {
            out.extend(value.to_le_bytes());
        }
        let short = u16::try_from(count).ok()?;
        for value in [short, 1, 230, 0] {
            out.extend(value.to_le_bytes());
        }
        for one in &self.entries {
            one.build(&mut out)?;
        }
        let used = out.len();
        if used > page_bytes {
            return None;
        }
        out.resize(page_bytes, 0);
        out.put_u32(0, mask ^ 1);
        out.put_u64(24, (page_bytes - used) as u64);
        out.put_u64(32, used as u64);
        Some(out)
    }
}

fn entry(walk: &mut Walk<'_>) -> Result<IndexEntry, Error> {
    let keys = walk.long();
    walk.longs(3);
    walk.bytes(8);
    let centile_bytes = index(walk.long());
    walk.longs(2);
    let (number, root) = (walk.long(), walk.long());
    walk.longs(2);
    walk.bytes(4);
    let flags = walk.short();
    let (key_bytes, id_bytes, parts) = (walk.short(), walk.short(), walk.short());
    let centiles = usize::from(walk.short());
    walk.bytes(6);
    let wrong = |what: String| Err(Error::page(1, 0, what));
    if usize::from(id_bytes) != ROW_ID_BYTES {
        return wrong(format!(
            "the places of rows in index {number} have {id_bytes} bytes"
        ));
    }
    let parts: Vec<KeyPart> = (0..parts)
        .map(|_| {
            let (column, length, kind) = (walk.short(), walk.short(), walk.short());
            walk.bytes(2);
            KeyPart {
                column,
                length,
                numeric: kind == 1,
            }
        })
        .collect();
    let sum: usize = parts.iter().map(|part| usize::from(part.length)).sum();
    if sum != usize::from(key_bytes) || parts.is_empty() || sum == 0 {
        return wrong(format!(
            "the variables of index {number} take {sum} bytes and its keys have {key_bytes}"
        ));
    }
    let block = walk.bytes(centile_bytes);
    if centiles > CENTILES || block.len() < centiles * sum {
        return wrong(format!(
            "the centiles of index {number} do not fit the page"
        ));
    }
    let centiles = block.chunks_exact(sum).take(centiles);
    Ok(IndexEntry {
        number,
        root,
        unique: flags & 2 != 0,
        keys,
        parts,
        centiles: centiles.map(<[u8]>::to_vec).collect(),
    })
}

impl IndexEntry {
    fn build(&self, out: &mut Vec<u8>) -> Option<()> {
        let key_bytes = self.key_bytes();
        let centile_bytes = (CENTILES * key_bytes).next_multiple_of(4);
        for value in [self.keys, 0, 0, 0] {
            out.extend(value.to_le_bytes());
        }
        for value in [0u16, 80, 40, 16] {
            out.extend(value.to_le_bytes());
        }
        for value in [centile_bytes as u64, 0, 0, self.number, self.root, 0, 0] {
            out.extend(value.to_le_bytes());
        }
        let parts = u16::try_from(self.parts.len()).ok()?;
        let flags = if self.unique { 2 } else { 0 };
        let (key, id) = (u16::try_from(key_bytes).ok()?, 8);
        for value in [5, parts + 1, flags, key, id, parts, 21, 0, 0, 0] {
            out.extend(value.to_le_bytes());
        }
        for part in &self.parts {
            let kind = if part.numeric { 1 } else { 2 };
            for value in [part.column, part.length, kind, 0] {
                out.extend(value.to_le_bytes());
            }
        }
        let start = out.len();
        for centile in &self.centiles {
            out.extend_from_slice(centile);
        }
        out.resize(start + centile_bytes, 0);
        Some(())
    }
}
