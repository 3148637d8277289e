//! The encodings of compressed rows.

use sas7bdat::{rdc, rle};

/// Decodes the bytes behind the first two, which give the length of the row, as RLE.
pub fn decode_rle(bytes: &[u8]) {
    decode(bytes, rle::decode);
}

/// Decodes the bytes behind the first two, which give the length of the row, as RDC.
pub fn decode_rdc(bytes: &[u8]) {
    decode(bytes, rdc::decode);
}

/// What was in the row before must not show: a decoder fills all of it or fails.
fn decode(bytes: &[u8], decode: impl Fn(&[u8], &mut [u8]) -> Result<(), &'static str>) {
    let Some((length, stored)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length));
    let (mut row, mut other) = (vec![0x55; length], vec![0xAA; length]);
    let result = decode(stored, &mut row);
    assert_eq!(result, decode(stored, &mut other));
    match result {
        Ok(()) => assert!(
            row == other,
            "the decoder left bytes of the row as they were"
        ),
        Err(message) => assert!(!message.is_empty()),
    }
}

/// Encodes two rows with the same RLE encoder and decodes what came out.
pub fn rle_round_trip(bytes: &[u8]) {
    let mut encoder = rle::Encoder::new(bytes.first().is_some_and(|byte| byte & 1 == 1));
    let encode = |row: &[u8]| encoder.encode(row).map(<[u8]>::to_vec);
    round_trip(bytes, encode, rle::decode);
}

/// Encodes two rows with the same RDC encoder and decodes what came out.
pub fn rdc_round_trip(bytes: &[u8]) {
    let mut encoder = rdc::Encoder::new();
    let encode = |row: &[u8]| encoder.encode(row).map(<[u8]>::to_vec);
    round_trip(bytes, encode, rdc::decode);
}

fn round_trip(
    bytes: &[u8],
    mut encode: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    decode: impl Fn(&[u8], &mut [u8]) -> Result<(), &'static str>,
) {
    let Some((_, all)) = bytes.split_first() else {
        return;
    };
    let (half, _) = all.split_at(all.len() / 2);
    for row in [all, half, all] {
        let Some(stored) = encode(row) else {
            continue;
        };
        assert!(
            stored.len() < row.len(),
            "a row of {} bytes takes {} when encoded",
            row.len(),
            stored.len()
        );
        let mut decoded = vec![0x55; row.len()];
        assert_eq!(decode(&stored, &mut decoded), Ok(()));
        assert!(decoded == row, "the decoded row is another one");
    }
}
