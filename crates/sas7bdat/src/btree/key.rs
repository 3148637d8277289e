//! Key values as they are stored: bytes whose order is that of the values.

/// Appends a number: its most significant `length` bytes, so that missing values come before all
/// numbers and negative ones before positive ones.
pub fn encode_number(value: f64, length: usize, key: &mut Vec<u8>) {
    // Minus zero is zero.
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    };
    key.extend(ordered.to_be_bytes().into_iter().take(length));
}

/// Appends a text of `length` bytes, cut or padded with blanks.
pub fn encode_text(value: &[u8], length: usize, key: &mut Vec<u8>) {
    key.extend(value.iter().chain(std::iter::repeat(&b' ')).take(length));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::missing;

    fn key(value: f64) -> Vec<u8> {
        let mut key = Vec::new();
        encode_number(value, 8, &mut key);
        key
    }

    #[test]
    fn the_order_of_bytes_is_the_order_of_values() {
        let values = [
            missing::missing(),
            f64::NEG_INFINITY,
            -1e9,
            -1.5,
            0.0,
            1e-300,
            0.25,
            19_000.0,
            f64::MAX,
        ];
        assert!(values.windows(2).all(|two| key(two[0]) < key(two[1])));
        assert_eq!(key(0.0), key(-0.0));
        // A date in a real index: 10JAN1999 is 14254.
        assert_eq!(key(14_254.0), [0xC0, 0xCB, 0xD7, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn texts_are_cut_and_padded() {
        let mut key = Vec::new();
        encode_text(b"ab", 4, &mut key);
        encode_text(b"abcdef", 3, &mut key);
        assert_eq!(key, b"ab  abc");
    }
}
