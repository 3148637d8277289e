//! The texts of a data set, gathered in text subheaders, and references to them.

use super::pager::Pager;
use crate::endian::Put;
use crate::subheader::{Signature, TextRef};

/// Signature, sizes, and the zeros at the end.
pub(super) const OVERHEAD: usize = 28;
/// References count from the end of the signature; the first text lies behind 8 bytes of sizes.
const FIRST_OFFSET: usize = 8;

/// Texts in the order in which they are stored.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    /// End of each text in `bytes`.
    ends: Vec<usize>,
    /// Texts that must be in the first subheader.
    header: usize,
}

impl Texts {
    /// Room for the texts of so many variables, of common lengths.
    pub(super) fn of(variables: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(64 + 16 * variables),
            ends: Vec::with_capacity(8 + 2 * variables),
            header: 0,
        }
    }

    /// Adds a text; its reference is found under the number given back. Empty texts have none.
    pub(super) fn add(&mut self, text: &[u8]) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        Some(self.ends.len() - 1)
    }

    /// All texts so far have to be in the first subheader, where readers look for them.
    pub(super) fn end_header(&mut self) {
        self.header = self.ends.len();
    }

    fn get(&self, number: usize) -> &[u8] {
        let start = number
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let end = self.ends.get(number).copied().unwrap_or(0);
        self.bytes
            .get(start.copied().unwrap_or(0)..end)
            .unwrap_or(&[])
    }

    /// Lays the texts in subheaders that fill the pages; gives the reference of each.
    pub(super) fn place(&self, pager: &mut Pager) -> Vec<TextRef> {
        let mut references = Vec::with_capacity(self.ends.len());
        let mut subheader = 0;
        let header_bytes: usize = (0..self.header).map(|k| padded(self.get(k).len())).sum();
        if pager.room() < OVERHEAD + header_bytes {
            pager.new_page();
        }
        while references.len() < self.ends.len() {
            let room = pager.room().saturating_sub(OVERHEAD) / 4 * 4;
            let first = references.len();
            let mut used = 0;
            while references.len() < self.ends.len() {
                let next = self.get(references.len());
                if used + padded(next.len()) > room {
                    break;
                }
                references.push(reference(subheader, used, next.len()));
                used += padded(next.len());
            }
            if used == 0 {
                pager.new_page();
                continue;
            }
            let full = references.len() < self.ends.len();
            let block = self.block(
                first..references.len(),
                used,
                if full { room } else { used },
            );
            pager.place(Signature::Text, &block);
            subheader += 1;
        }
        references
    }

    fn block(&self, texts: std::ops::Range<usize>, used: usize, room: usize) -> Vec<u8> {
        let mut block = vec![0; OVERHEAD + room];
        let sizes = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
        let out = block.as_mut_slice();
        out.put_u64(0, Signature::Text.number());
        out.put_u16(8, sizes(OVERHEAD + room - 20));
        if used < room {
            // What is left over is chained as free space.
            out.put_u16(10, sizes(room - used));
            out.put_u16(12, sizes(FIRST_OFFSET + used));
            out.put(16 + used, &[0xFF; 4]);
        }
        let mut at = 16;
        for text in texts.map(|number| self.get(number)) {
            out.put(at, text);
            at += padded(text.len());
        }
        block
    }
}

fn reference(subheader: u16, used: usize, length: usize) -> TextRef {
    let number = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
    TextRef {
        text: subheader,
        offset: number(FIRST_OFFSET + used),
        length: number(length),
    }
}

fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}
