//! Values as text.

use engine::format;
use sas7bdat::{Encoding, Format, missing, trim_blanks};

/// Beyond this, dates and groups of digits mean nothing.
const FORMATTED_MAX: f64 = 1e15;

/// `.`, `._` or `.A` to `.Z`; `None` for a number.
pub fn missing_text(value: f64) -> Option<String> {
    missing::code(value).map(|code| match code {
        0 => ".".to_owned(),
        code => format!(".{}", char::from(code)),
    })
}

/// The code of a missing value that is written as [`missing_text`] does, in whatever case.
pub fn missing_code(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [b'.'] => Some(0),
        [b'.', code] if *code == b'_' || code.is_ascii_alphabetic() => {
            Some(code.to_ascii_uppercase())
        }
        _ => None,
    }
}

/// Whole numbers from here on may have more digits than it takes to tell them apart.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The shortest text that reads back as the same number; a whole number has all its digits.
pub fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    if (EXACT_MAX..1e17).contains(&magnitude) {
        return format!("{value:.0}");
    }
    if value == 0.0 || (1e-5..1e17).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Whether a format changes how a number looks.
pub fn has_format(format: &Format) -> bool {
    !format.name.is_empty() || format.width > 0
}

/// A number through its format where that is known, in full otherwise.
pub fn number(value: f64, format: &Format) -> String {
    if let Some(text) = missing_text(value) {
        return text;
    }
    let known = has_format(format) && value.abs() < FORMATTED_MAX;
    known
        .then(|| format::number(value, format))
        .flatten()
        .map_or_else(|| shortest(value), |text| text.trim().to_owned())
}

/// A text without the blanks that pad it.
pub fn text(bytes: &[u8], encoding: Encoding) -> String {
    encoding.decode(trim_blanks(bytes)).into_owned()
}

/// A text for a terminal: nothing that would move the cursor.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect()
}

/// `1 page`, `2 pages`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// `DATE9.`, `8.2`, or nothing.
pub fn format_text(format: &Format) -> String {
    if !has_format(format) {
        return String::new();
    }
    let or_empty = |number: u16| {
        if number == 0 {
            String::new()
        } else {
            number.to_string()
        }
    };
    let (width, decimals) = (or_empty(format.width), or_empty(format.decimals));
    format!("{}{width}.{decimals}", format.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_as_they_were() {
        for value in [
            0.0,
            -0.0,
            1.5,
            0.1,
            1e16,
            1e17,
            1e300,
            1e-7,
            -2.5e-308,
            f64::MAX,
        ] {
            let text = shortest(value);
            assert_eq!(
                text.parse::<f64>().unwrap().to_bits(),
                value.to_bits(),
                "{text}"
            );
            assert!(text.len() < 25, "{text}");
        }
    }

    #[test]
    fn missing_values_keep_their_letter() {
        for code in [0, b'_', b'A', b'Z'] {
            let text = missing_text(missing::encode(code)).unwrap();
            assert_eq!(missing_code(&text), Some(code));
        }
        assert_eq!(missing_code(".1"), None);
        assert_eq!(missing_text(1.0), None);
    }

    #[test]
    fn formats_that_are_not_known_leave_the_number_as_it_is() {
        let format = |name: &str, width| Format {
            name: name.to_owned(),
            width,
            decimals: 0,
        };
        assert_eq!(number(21_075.0, &format("DATE", 9)), "13SEP2017");
        assert_eq!(number(1e300, &format("DATE", 9)), "1e300");
        assert_eq!(number(0.1, &format("NOSUCH", 5)), "0.1");
        assert_eq!(number(0.1, &Format::default()), "0.1");
    }
}
