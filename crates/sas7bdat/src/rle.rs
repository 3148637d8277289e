//! Run-length encoding of rows: `COMPRESS=CHAR`, literal `SASYZCRL`.
//!
//! A stored row is a sequence of controls. The high half of a control byte says what to do, the low
//! half is part of a count:
//!
//! | high | does | high | does |
//! |---|---|---|---|
//! | 0 | copies 64 + 256·low + next byte | 8 to B | copies 1, 17, 33, 49 + low |
//! | 1 | copies 4160 + 256·low + next byte | C | repeats the next byte 3 + low times |
//! | 2 | copies 96 + low | D | repeats `@` 2 + low times |
//! | 4 | repeats the byte after next 18 + 256·low + next | E | repeats blank 2 + low times |
//! | 5, 6, 7 | repeats `@`, blank, NUL 17 + 256·low + next | F | repeats NUL 2 + low times |

mod decode;
mod encode;

pub(crate) use decode::decode_at;
pub use encode::Encoder;

/// Restores a row: `row` is filled exactly, or the stored bytes are damaged.
///
/// # Errors
/// Says what is wrong with the stored bytes.
pub fn decode(stored: &[u8], row: &mut [u8]) -> Result<(), &'static str> {
    let end = row.len();
    decode_at(stored, 0, stored.len(), row, 0, end)
}
