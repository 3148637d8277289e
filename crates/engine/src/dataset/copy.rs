//! Moving rows between layouts: a list of byte ranges, merged where neighbours stay neighbours, so
//! that an unchanged row is one copy.

use sas7bdat::Kind;

use crate::expr::Slot;

/// Copies variables from rows of one layout into rows of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCopy {
    moves: Vec<Move>,
    /// Numerics that change length or byte order.
    conversions: Vec<(Slot, Slot)>,
    /// Character variables that get longer: where blanks follow.
    blanks: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Move {
    from: u32,
    to: u32,
    length: u32,
}

impl RowCopy {
    /// Copies each `(from, to)` pair; both sides have the same kind.
    pub fn new(pairs: &[(Slot, Slot)]) -> Self {
        let mut moves: Vec<Move> = Vec::new();
        let mut conversions = Vec::new();
        let mut blanks = Vec::new();
        for (from, to) in pairs {
            let same_bytes = from.length == to.length && from.big_endian == to.big_endian;
            if from.kind == Kind::Numeric && !same_bytes {
                conversions.push((*from, *to));
                continue;
            }
            let length = from.length.min(to.length);
            moves.push(Move {
                from: from.offset,
                to: to.offset,
                length,
            });
            if to.length > length {
                blanks.push((to.offset + length, to.offset + to.length));
            }
        }
        moves.sort_unstable_by_key(|part| part.from);
        let mut merged: Vec<Move> = Vec::new();
        for part in moves {
            match merged.last_mut() {
                Some(last)
                    if last.from + last.length == part.from && last.to + last.length == part.to =>
                {
                    last.length += part.length;
                }
                _ => merged.push(part),
            }
        }
        Self {
            moves: merged,
            conversions,
            blanks,
        }
    }

    /// True if a whole row of `bytes` bytes is copied as it is.
    pub fn is_identity(&self, bytes: u32) -> bool {
        self.conversions.is_empty()
            && self.blanks.is_empty()
            && self.moves
                == [Move {
                    from: 0,
                    to: 0,
                    length: bytes,
                }]
    }

    /// Copies one row.
    #[inline]
    pub fn apply(&self, from: &[u8], to: &mut [u8]) {
        for part in &self.moves {
            let (source, target, length) =
                (part.from as usize, part.to as usize, part.length as usize);
            to[target..target + length].copy_from_slice(&from[source..source + length]);
        }
        for (start, end) in &self.blanks {
            to[*start as usize..*end as usize].fill(b' ');
        }
        for (source, target) in &self.conversions {
            store_number(target, to, source.number(from));
        }
    }
}

/// Writes a number into its slot, giving up the least significant bytes where it is short.
#[inline]
pub fn store_number(slot: &Slot, row: &mut [u8], value: f64) {
    let (start, length) = (slot.offset as usize, slot.length as usize);
    let target = &mut row[start..start + length];
    if let (Some(whole), false) = (target.first_chunk_mut::<8>(), slot.big_endian) {
        *whole = value.to_le_bytes();
        return;
    }
    if slot.big_endian {
        target.copy_from_slice(&value.to_be_bytes()[..length]);
    } else {
        target.copy_from_slice(&value.to_le_bytes()[8 - length..]);
    }
}

/// Writes a text into its slot: cut or blank padded.
#[inline]
pub fn store_text(slot: &Slot, row: &mut [u8], text: &[u8]) {
    let (start, length) = (slot.offset as usize, slot.length as usize);
    let target = &mut row[start..start + length];
    let used = text.len().min(length);
    target[..used].copy_from_slice(&text[..used]);
    target[used..].fill(b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(kind: Kind, offset: u32, length: u32) -> Slot {
        Slot {
            kind,
            offset,
            length,
            big_endian: false,
        }
    }

    #[test]
    fn neighbours_merge_into_one_copy() {
        let pairs: Vec<_> = (0..4)
            .map(|i| (slot(Kind::Numeric, i * 8, 8), slot(Kind::Numeric, i * 8, 8)))
            .collect();
        assert!(RowCopy::new(&pairs).is_identity(32));
        assert!(!RowCopy::new(&pairs[1..]).is_identity(24));
    }

    #[test]
    fn numbers_convert_and_texts_pad() {
        let big = Slot {
            big_endian: true,
            ..slot(Kind::Numeric, 0, 8)
        };
        let pairs = [
            (big, slot(Kind::Numeric, 4, 4)),
            (slot(Kind::Character, 8, 2), slot(Kind::Character, 0, 4)),
        ];
        let mut from = 1.5f64.to_be_bytes().to_vec();
        from.extend_from_slice(b"ab");
        let mut to = vec![0; 8];
        RowCopy::new(&pairs).apply(&from, &mut to);
        assert_eq!(&to[..4], b"ab  ");
        assert_eq!(
            slot(Kind::Numeric, 4, 4).number(&to).to_bits(),
            1.5f64.to_bits()
        );
    }
}
