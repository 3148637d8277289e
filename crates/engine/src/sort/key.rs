//! What rows are ordered by: fields in order of significance, each ascending or descending.
//!
//! The first eight bytes of a key are kept beside each row as one integer, the prefix, whose
//! unsigned order agrees with the key's order; only rows with equal prefixes look at the row again.

use std::cmp::Ordering;

use sas7bdat::Kind;

use crate::expr::Slot;
use crate::expr::evaluate::{compare_padded, order_key};

/// One BY variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyField {
    /// Where it lies in the row.
    pub slot: Slot,
    /// DESCENDING.
    pub descending: bool,
}

/// A BY list over rows of one layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    fields: Vec<KeyField>,
    /// True if equal prefixes mean equal keys.
    prefix_decides: bool,
}

impl SortKey {
    /// A key of at least one field.
    pub fn new(fields: Vec<KeyField>) -> Self {
        let prefix_decides = match fields.as_slice() {
            [only] => match only.slot.kind {
                Kind::Numeric => true,
                Kind::Character => only.slot.length <= 8,
            },
            _ => false,
        };
        Self {
            fields,
            prefix_decides,
        }
    }

    /// True if equal prefixes mean equal keys.
    pub const fn prefix_decides(&self) -> bool {
        self.prefix_decides
    }

    /// The first field as an integer in key order; of a text the first eight bytes.
    #[inline]
    pub fn prefix(&self, row: &[u8]) -> u64 {
        let first = &self.fields[0];
        let ascending = match first.slot.kind {
            Kind::Numeric => order_key(first.slot.number(row)),
            Kind::Character => {
                let bytes = first.slot.bytes(row);
                let used = bytes.len().min(8);
                let mut head = [b' '; 8];
                head[..used].copy_from_slice(&bytes[..used]);
                u64::from_be_bytes(head)
            }
        };
        if first.descending {
            !ascending
        } else {
            ascending
        }
    }

    /// Order of two rows.
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        for field in &self.fields {
            let order = match field.slot.kind {
                Kind::Numeric => {
                    order_key(field.slot.number(left)).cmp(&order_key(field.slot.number(right)))
                }
                Kind::Character => compare_padded(field.slot.bytes(left), field.slot.bytes(right)),
            };
            if order.is_ne() {
                return if field.descending {
                    order.reverse()
                } else {
                    order
                };
            }
        }
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: u32, descending: bool) -> SortKey {
        let slot = Slot {
            kind: Kind::Character,
            offset: 0,
            length,
            big_endian: false,
        };
        SortKey::new(vec![KeyField { slot, descending }])
    }

    #[test]
    fn prefixes_never_contradict_the_full_order() {
        let rows: [&[u8]; 5] = [
            b"abc       ",
            b"abcdefghij",
            b"abcdefghik",
            b"          ",
            b"b         ",
        ];
        for descending in [false, true] {
            let key = text(10, descending);
            for left in rows {
                for right in rows {
                    let by_prefix = key.prefix(left).cmp(&key.prefix(right));
                    let full = key.compare(left, right);
                    assert!(by_prefix.is_eq() || by_prefix == full, "{left:?} {right:?}");
                }
            }
        }
    }

    #[test]
    fn short_keys_are_decided_by_their_prefix() {
        assert!(text(8, false).prefix_decides());
        assert!(!text(9, false).prefix_decides());
    }
}
