//! Informats of INPUT: text to numbers.

use sas7bdat::missing;

use crate::datetime;
use crate::expr::evaluate::trimmed;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::datastep) enum Informat {
    /// `w.d`: so many implied decimals.
    Number(u16),
    /// COMMAw.d: `$`, commas, percent signs and blanks are passed over, parentheses are a minus.
    Comma(u16),
    /// DATE9.: `01JAN2020`.
    Date,
    /// YYMMDD10.
    Ymd,
    /// MMDDYY10.
    Mdy,
    /// DDMMYY10.
    Dmy,
    /// `$w.`: leading blanks are dropped.
    Text,
    /// `$CHARw.`: blanks are kept.
    Char,
}

impl Informat {
    /// The informat called `name`, upper case, with its default width.
    pub(super) fn find(name: &str, decimals: u16) -> Option<(Self, u16)> {
        Some(match name {
            "" | "F" | "BEST" => (Self::Number(decimals), 12),
            "COMMA" | "DOLLAR" => (Self::Comma(decimals), 1),
            "DATE" => (Self::Date, 7),
            "YYMMDD" => (Self::Ymd, 6),
            "MMDDYY" => (Self::Mdy, 6),
            "DDMMYY" => (Self::Dmy, 6),
            "$" | "$F" => (Self::Text, 8),
            "$CHAR" => (Self::Char, 8),
            _ => return None,
        })
    }

    /// Whether it makes texts.
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Char)
    }

    /// The text in `bytes`.
    pub(super) fn text(self, bytes: &[u8]) -> &[u8] {
        if self == Self::Char {
            return bytes;
        }
        let start = bytes.iter().position(|byte| *byte != b' ');
        let text = &bytes[start.unwrap_or(bytes.len())..];
        // A single period is a missing value.
        if trimmed(text) == b"." { b"" } else { text }
    }

    /// The number in `bytes`; `None` if there is none.
    pub(super) fn number(self, bytes: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(bytes)
            .ok()?
            .trim_matches([' ', '\0', '\t']);
        if text.is_empty() || text == "." {
            return Some(missing::encode(0));
        }
        if let [b'.', code] = text.as_bytes()
            && (code.is_ascii_alphabetic() || *code == b'_')
        {
            return Some(missing::encode(code.to_ascii_uppercase()));
        }
        match self {
            Self::Number(decimals) => plain(text, decimals),
            Self::Comma(decimals) => {
                let negative = text.starts_with('(');
                let digits: String = text.chars().filter(|c| !"$,%() ".contains(*c)).collect();
                plain(&digits, decimals).map(|value| if negative { -value } else { value })
            }
            Self::Date => date(text),
            Self::Ymd => parts(text, [0, 1, 2]),
            Self::Mdy => parts(text, [2, 0, 1]),
            Self::Dmy => parts(text, [2, 1, 0]),
            Self::Text | Self::Char => None,
        }
    }
}

fn plain(text: &str, decimals: u16) -> Option<f64> {
    let allowed = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    if !text.bytes().all(allowed) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    if decimals > 0 && !text.contains('.') {
        return Some(value / 10f64.powi(i32::from(decimals)));
    }
    Some(value)
}

/// `1jan2020`, `01-JAN-20`.
fn date(text: &str) -> Option<f64> {
    let text: String = text
        .chars()
        .filter(|c| !"- /".contains(*c))
        .collect::<String>()
        .to_ascii_uppercase();
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (day, rest) = text.split_at(split);
    let month = rest.get(..3)?;
    let (number, _) = (1..).zip(datetime::MONTHS).find(|(_, one)| *one == month)?;
    let year = rest.get(3..)?;
    days(year, number, day.parse().ok()?)
}

/// Year, month and day at these places of a text of digits and separators.
fn parts(text: &str, order: [usize; 3]) -> Option<f64> {
    let separated: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    let found: Vec<&str> = match separated.as_slice() {
        [one] if one.len() == 8 || one.len() == 6 => {
            let long = one.len() - 4;
            let mut at = 0;
            let mut cut = Vec::new();
            for place in 0..3 {
                let digits = if order[0] == place { long } else { 2 };
                cut.push(one.get(at..at + digits)?);
                at += digits;
            }
            cut
        }
        [_, _, _] => separated,
        _ => return None,
    };
    let month = found[order[1]].parse().ok()?;
    let day = found[order[2]].parse().ok()?;
    days(found[order[0]], month, day)
}

/// Days since 1960; years of two digits lie in 1926 to 2025 (YEARCUTOFF=1926).
fn days(year: &str, month: u32, day: u32) -> Option<f64> {
    let mut number: i64 = year.parse().ok()?;
    if year.len() <= 2 {
        number += if number < 26 { 2000 } else { 1900 };
    }
    if !(1582..=19_900).contains(&number) || !(1..=12).contains(&month) || !(1..=31).contains(&day)
    {
        return None;
    }
    // The inverse of `datetime::date`, for the Gregorian calendar; years divisible by 4000 are no
    // leap years in SAS, so that later dates are some days nearer.
    let shifted = if month <= 2 { number - 1 } else { number };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * i64::from((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let at = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 + 3_653;
    let matches = |at: &i64| {
        let found = datetime::date(*at);
        (found.year, found.month, found.day) == (number, month, day)
    };
    (at - 4..=at).rev().find(matches).map(|at| at as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_sas_reads_them() {
        for (informat, text, expected) in [
            (Informat::Number(0), " 12.5 ", Some(12.5)),
            (Informat::Number(2), "1234", Some(12.34)),
            (Informat::Number(2), "12.3", Some(12.3)),
            (Informat::Number(0), "1e3", Some(1000.0)),
            (Informat::Number(0), "abc", None),
            (Informat::Number(0), "inf", None),
            (Informat::Comma(0), "$1,234.50", Some(1234.5)),
            (Informat::Comma(0), "(1,000)", Some(-1000.0)),
            (Informat::Date, "13sep2017", Some(21_075.0)),
            (Informat::Date, "1JAN60", Some(0.0)),
            (Informat::Date, "31FEB2020", None),
            (Informat::Ymd, "2017-09-13", Some(21_075.0)),
            (Informat::Mdy, "09/13/2017", Some(21_075.0)),
            (Informat::Dmy, "13092017", Some(21_075.0)),
        ] {
            assert_eq!(informat.number(text.as_bytes()), expected, "{text}");
        }
        let missing = Informat::Number(0).number(b".q").unwrap();
        assert_eq!(sas7bdat::missing::code(missing), Some(b'Q'));
        assert!(Informat::Number(0).number(b"  ").unwrap().is_nan());
    }
}
