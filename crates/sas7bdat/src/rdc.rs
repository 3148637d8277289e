//! Ross data compression of rows: `COMPRESS=BINARY`, literal `SASYZCR2`.
//!
//! A stored row is made of groups: a 16-bit control word, most significant byte and bit first, then 16
//! items, a literal byte where the bit is 0, a code where it is 1:
//!
//! | first half | does |
//! |---|---|
//! | 0 | repeats the next byte 3 + low times |
//! | 1 | repeats the byte after next 19 + low + 16·next times |
//! | 2 | copies 16 + the byte after next, from 3 + low + 16·next bytes back |
//! | 3 to 15 | copies that many, from 3 + low + 16·next bytes back |
//!
//! The method is Ed Ross's, C Users Journal, October 1992.

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
