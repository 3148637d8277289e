//! Short byte strings as numbers.

/// Up to eight bytes as a number that no others of that length have.
///
/// ```
/// use base::word::word_of;
/// assert_eq!(word_of(b"abcde"), word_of(b"abcde"));
/// assert_ne!(word_of(b"abcde"), word_of(b"abcdf"));
/// ```
#[inline]
#[must_use]
pub fn word_of(bytes: &[u8]) -> u64 {
    let four = |bytes: &[u8]| bytes.first_chunk().copied().map_or(0, u32::from_le_bytes);
    match bytes.len() {
        8.. => bytes.first_chunk().copied().map_or(0, u64::from_le_bytes),
        4..8 => u64::from(four(bytes)) | u64::from(four(&bytes[bytes.len() - 4..])) << 32,
        _ => bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
