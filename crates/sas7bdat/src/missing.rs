//! Missing numbers: `.`, `._` and `.A` to `.Z`.
//!
//! SAS stores a missing value as a NaN whose third byte (counted from the sign) is the complement of
//! a code. Two sets of codes exist: files written on Unix count `._` 0, `.` 1, `.A` 2 to `.Z` 27;
//! files written on Windows use characters, `-` for `._`, `.` for `.`, `A` to `Z`. The numbers that
//! this crate hands out are always in the first form; both sort `._` below `.` below `.A` when
//! compared by their bits.

/// Bits of every missing value without its code byte.
const PREFIX: u64 = 0xFFFF_0000_0000_0000;
const CODE_SHIFT: u32 = 40;

/// Whether a number is missing. Every NaN is: SAS has no other NaN.
#[inline]
pub fn is_missing(value: f64) -> bool {
    value.is_nan()
}

/// Which missing value it is: 0 for `.`, `b'_'`, `b'A'` to `b'Z'`; `None` if it is a number.
///
/// A NaN of another origin counts as `.`.
pub fn code(value: f64) -> Option<u8> {
    if !value.is_nan() {
        return None;
    }
    let bits = value.to_bits();
    if bits & PREFIX != PREFIX {
        return Some(0);
    }
    let [_, _, third, ..] = bits.to_be_bytes();
    Some(match !third {
        0 | b'-' => b'_',
        count @ 2..=27 => b'A' + (count - 2),
        letter @ b'A'..=b'Z' => letter,
        _ => 0,
    })
}

/// The missing value of a code (see [`code`]); any other code gives `.`.
pub fn encode(code: u8) -> f64 {
    let count = match code {
        b'_' => 0,
        b'A'..=b'Z' => code - b'A' + 2,
        b'a'..=b'z' => code - b'a' + 2,
        _ => 1,
    };
    f64::from_bits(PREFIX | (u64::from(!count) << CODE_SHIFT))
}

/// Missing value `.`.
pub fn missing() -> f64 {
    encode(0)
}

/// A number as it stood in a file, with a missing value in the form that [`encode`] gives.
#[inline]
pub fn normalize(value: f64) -> f64 {
    match code(value) {
        None => value,
        Some(code) => encode(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_have_the_bits_that_sas_writes_on_unix() {
        assert_eq!(encode(0).to_bits(), 0xFFFF_FE00_0000_0000);
        assert_eq!(encode(b'_').to_bits(), 0xFFFF_FF00_0000_0000);
        assert_eq!(encode(b'A').to_bits(), 0xFFFF_FD00_0000_0000);
        assert_eq!(encode(b'Z').to_bits(), 0xFFFF_E400_0000_0000);
    }

    #[test]
    fn missing_values_of_windows_files_mean_the_same() {
        for (bits, symbol) in [(0xD1, 0), (0xD2, b'_'), (0xBE, b'A'), (0xA5, b'Z')] {
            let value = f64::from_bits(PREFIX | bits << CODE_SHIFT);
            assert_eq!(code(value), Some(symbol));
            assert_eq!(normalize(value).to_bits(), encode(symbol).to_bits());
        }
    }

    #[test]
    fn every_code_survives() {
        for symbol in [0, b'_'].into_iter().chain(b'A'..=b'Z') {
            assert_eq!(code(encode(symbol)), Some(symbol));
        }
        assert_eq!(code(0.0), None);
        assert_eq!(code(f64::NAN), Some(0));
    }
}
