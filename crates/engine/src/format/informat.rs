//! Informats: numbers, dates and times read from text.

use std::borrow::Cow;
use std::sync::Arc;

use sas7bdat::{Format, missing};

use super::read_number;
use super::user::{Formats, UserInformat};
use crate::datetime::{Date, MONTHS, days_from, days_in_month};
use crate::expr::evaluate::trimmed;

/// An informat, looked up.
#[derive(Debug, Clone, PartialEq)]
pub enum Informat {
    /// `w.d`: so many implied decimals.
    Number(u16),
    /// COMMAw.d: `$`, commas, percent signs and blanks are passed over, parentheses are a minus.
    Comma(u16),
    /// PERCENTw.d: the same, but a percent sign divides by 100.
    Percent(u16),
    /// `01JAN2020`
    Date,
    /// `01JAN2020:12:30:00`
    Datetime,
    /// `12:30:00`
    Time,
    /// `31/12/2020`
    Dmy,
    /// `12/31/2020`
    Mdy,
    /// `2020-12-31`
    Ymd,
    /// `2020-12-31T12:30:00`
    IsoDatetime,
    /// `JAN2020`
    MonthYear,
    /// `202012`
    YearMonth,
    /// A date in any of these ways.
    AnyDate,
    /// Hexadecimal digits; 16 of them are a double.
    Hex,
    /// `$w.`: leading blanks are dropped.
    Text,
    /// `$CHARw.`: blanks are kept.
    Char,
    /// One that PROC FORMAT made.
    User(Arc<UserInformat>),
}

/// The informats by name, with their default widths.
static INFORMATS: &[(&str, u16, Informat)] = &[
    ("", 12, Informat::Number(0)),
    ("F", 12, Informat::Number(0)),
    ("BEST", 12, Informat::Number(0)),
    ("Z", 12, Informat::Number(0)),
    ("E", 12, Informat::Number(0)),
    ("COMMA", 1, Informat::Comma(0)),
    ("DOLLAR", 1, Informat::Comma(0)),
    ("PERCENT", 6, Informat::Percent(0)),
    ("DATE", 7, Informat::Date),
    ("DATETIME", 18, Informat::Datetime),
    ("TIME", 8, Informat::Time),
    ("DDMMYY", 6, Informat::Dmy),
    ("MMDDYY", 6, Informat::Mdy),
    ("YYMMDD", 6, Informat::Ymd),
    ("E8601DA", 10, Informat::Ymd),
    ("E8601DT", 19, Informat::IsoDatetime),
    ("MONYY", 5, Informat::MonthYear),
    ("YYMMN", 4, Informat::YearMonth),
    ("ANYDTDTE", 9, Informat::AnyDate),
    ("HEX", 8, Informat::Hex),
    ("$", 8, Informat::Text),
    ("$F", 8, Informat::Text),
    ("$CHAR", 8, Informat::Char),
];

/// Names of all informats, those of texts with `$`; that of `w.d` is empty.
pub fn names() -> impl Iterator<Item = &'static str> {
    INFORMATS.iter().map(|(name, ..)| *name)
}

impl Informat {
    /// The informat called `name`, upper case, with its default width; those of the user first.
    pub fn find(name: &str, decimals: u16, formats: &Formats) -> Option<(Self, u16)> {
        if let Some(user) = formats.informat(name) {
            return Some((Self::User(user.clone()), user.width));
        }
        let (_, width, informat) = INFORMATS.iter().find(|(known, ..)| *known == name)?;
        let informat = match informat {
            Self::Number(_) => Self::Number(decimals),
            Self::Comma(_) => Self::Comma(decimals),
            Self::Percent(_) => Self::Percent(decimals),
            other => other.clone(),
        };
        Some((informat, *width))
    }

    /// Whether it makes texts.
    pub fn is_text(&self) -> bool {
        match self {
            Self::User(user) => user.text,
            other => matches!(other, Self::Text | Self::Char),
        }
    }

    /// The text in `bytes`; `None` if they are not valid.
    pub fn text<'a>(&self, bytes: &'a [u8], formats: &Formats) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Char => return Some(Cow::Borrowed(bytes)),
            Self::User(user) => return user.text(bytes, formats).map(Cow::Owned),
            _ => {}
        }
        let start = bytes.iter().position(|byte| *byte != b' ');
        let text = &bytes[start.unwrap_or(bytes.len())..];
        // A single period is a missing value.
        Some(Cow::Borrowed(if trimmed(text) == b"." {
            b""
        } else {
            text
        }))
    }

    /// The number in `bytes`; `None` if there is none.
    pub fn number_with(&self, bytes: &[u8], formats: &Formats) -> Option<f64> {
        match self {
            Self::User(user) => user.number(bytes, formats),
            standard => standard.number(bytes),
        }
    }

    /// As [`Self::number_with`], of an informat that is not the user's.
    pub(super) fn number(&self, bytes: &[u8]) -> Option<f64> {
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
            Self::Number(decimals) => plain(text, *decimals),
            Self::Comma(decimals) => commas(text, *decimals),
            Self::Percent(decimals) => commas(text, *decimals).map(|value| {
                if text.contains('%') {
                    value / 100.0
                } else {
                    value
                }
            }),
            Self::Date => date(text),
            Self::Datetime => {
                let at = text.find([':', ' ', '/'])?;
                Some(date(text.get(..at)?)? * 86_400.0 + time(text.get(at + 1..)?.trim())?)
            }
            Self::Time => time(text),
            Self::Dmy => parts(text, [2, 1, 0]),
            Self::Mdy => parts(text, [2, 0, 1]),
            Self::Ymd => parts(text, [0, 1, 2]),
            Self::IsoDatetime => {
                let (day, clock) = text.split_once(['T', ' '])?;
                Some(parts(day, [0, 1, 2])? * 86_400.0 + time(clock)?)
            }
            Self::MonthYear => date(&format!("01{text}")),
            Self::YearMonth => parts(&format!("{text}01"), [0, 1, 2]),
            Self::AnyDate => date(text)
                .or_else(|| {
                    let year_first = text.bytes().take(4).all(|b| b.is_ascii_digit());
                    parts(text, [0, 1, 2]).filter(|_| year_first)
                })
                .or_else(|| parts(text, [2, 0, 1])),
            Self::Hex => {
                let value = u64::from_str_radix(text, 16).ok()?;
                Some(if text.len() == 16 {
                    f64::from_bits(value)
                } else {
                    value as f64
                })
            }
            Self::Text | Self::Char | Self::User(_) => None,
        }
    }
}

/// The value that `bytes` stand for; `None` if they are not valid, or the informat is unknown.
pub fn read(bytes: &[u8], format: &Format, formats: &Formats) -> Option<f64> {
    let name = format.name.to_ascii_uppercase();
    let (informat, _) = Informat::find(&name, format.decimals, formats)?;
    informat.number_with(bytes, formats)
}

/// Decimals are implied only where none are written.
fn plain(text: &str, decimals: u16) -> Option<f64> {
    let value = read_number(text.as_bytes())?;
    let implied = decimals > 0 && !text.contains(['.', 'e', 'E']);
    Some(if implied {
        value / 10_f64.powi(i32::from(decimals))
    } else {
        value
    })
}

fn commas(text: &str, decimals: u16) -> Option<f64> {
    let negative = text.starts_with('(');
    let digits: String = text.chars().filter(|c| !"$,%() ".contains(*c)).collect();
    plain(&digits, decimals).map(|value| if negative { -value } else { value })
}

fn full_year(text: &str) -> Option<i64> {
    let year: i64 = text.parse().ok()?;
    match text.len() {
        1 | 2 => Some(1926 + (year - 26).rem_euclid(100)),
        4 => Some(year),
        _ => None,
    }
}

fn value_of(year: i64, month: u32, day: u32) -> Option<f64> {
    let valid = (1582..=20_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| days_from(Date { year, month, day }) as f64)
}

/// `13sep2017`, `1-Jan-60`.
fn date(text: &str) -> Option<f64> {
    let text: String = text
        .chars()
        .filter(|c| !matches!(c, ' ' | '-' | '/'))
        .collect();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (day, rest) = text.split_at_checked(digits)?;
    let (name, year) = rest.split_at_checked(3)?;
    let month = MONTHS
        .iter()
        .position(|month| month.eq_ignore_ascii_case(name))?;
    value_of(
        full_year(year)?,
        u32::try_from(month).ok()? + 1,
        day.parse().ok()?,
    )
}

/// Year, month and day, at these places of the text.
fn parts(text: &str, places: [usize; 3]) -> Option<f64> {
    let separated: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|p| !p.is_empty())
        .collect();
    let parts: Vec<&str> = match separated.as_slice() {
        [digits] if matches!(digits.len(), 6 | 8) => {
            let year = if digits.len() == 8 { 4 } else { 2 };
            let lengths = if places[0] == 0 {
                [year, 2, 2]
            } else {
                [2, 2, year]
            };
            let (first, rest) = digits.split_at_checked(lengths[0])?;
            let (second, third) = rest.split_at_checked(lengths[1])?;
            vec![first, second, third]
        }
        parts => parts.to_vec(),
    };
    let [_, _, _] = parts.as_slice() else {
        return None;
    };
    let [year, month, day] = places.map(|place| parts[place]);
    value_of(full_year(year)?, month.parse().ok()?, day.parse().ok()?)
}

/// `8:15`, `8:15:30.5`, `9:15 pm`.
fn time(text: &str) -> Option<f64> {
    let lower = text.trim().to_ascii_lowercase();
    let (clock, shift) = match (lower.strip_suffix("pm"), lower.strip_suffix("am")) {
        (Some(clock), _) => (clock, Some(12.0)),
        (_, Some(clock)) => (clock, Some(0.0)),
        _ => (lower.as_str(), None),
    };
    let (sign, clock) = match clock.strip_prefix('-') {
        Some(clock) => (-1.0, clock),
        None => (1.0, clock),
    };
    let mut parts = [0.0; 3];
    for (index, part) in clock.trim().split(':').enumerate() {
        let plain = part
            .bytes()
            .all(|b| b.is_ascii_digit() || (index == 2 && b == b'.'));
        *parts.get_mut(index)? = part.parse().ok().filter(|_| plain)?;
    }
    let [hours, minutes, seconds] = parts;
    let hours = shift.map_or(hours, |shift| hours % 12.0 + shift);
    (minutes < 60.0 && seconds < 60.0).then_some(sign * (hours * 3600.0 + minutes * 60.0 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn informats_read() {
        let read = |name: &str, decimals: u16, text: &str| {
            let name = name.to_owned();
            super::read(
                text.as_bytes(),
                &Format {
                    name,
                    width: 0,
                    decimals,
                },
                &Formats::default(),
            )
        };
        for (name, decimals, text, value) in [
            ("", 0, " 12.5 ", Some(12.5)),
            ("", 2, "1234", Some(12.34)),
            ("", 2, "12.3", Some(12.3)),
            ("COMMA", 0, "$1,234.5", Some(1234.5)),
            ("COMMA", 0, "(7)", Some(-7.0)),
            ("COMMA", 0, "18%", Some(18.0)),
            ("COMMA", 2, "$12,345", Some(123.45)),
            ("", 0, "1e3", Some(1000.0)),
            ("", 0, "inf", None),
            ("DDMMYY", 0, "13092017", Some(21_075.0)),
            ("DDMMYY", 0, "1309", None),
            ("MMDDYY", 0, "9/13/2017", Some(21_075.0)),
            ("PERCENT", 0, "18%", Some(0.18)),
            ("DATE", 0, "13sep2017", Some(21_075.0)),
            ("DATE", 0, "1-Jan-60", Some(0.0)),
            ("DATE", 0, "30feb2020", None),
            ("DDMMYY", 0, "13/09/2017", Some(21_075.0)),
            ("MMDDYY", 0, "091317", Some(21_075.0)),
            ("YYMMDD", 0, "20170913", Some(21_075.0)),
            ("YYMMN", 0, "196001", Some(0.0)),
            ("MONYY", 0, "jan60", Some(0.0)),
            ("TIME", 0, "1:01:01", Some(3661.0)),
            ("TIME", 0, "9:15 pm", Some(76_500.0)),
            ("DATETIME", 0, "01jan1960:00:01", Some(60.0)),
            ("E8601DT", 0, "1960-01-02T00:00:00", Some(86_400.0)),
            ("HEX", 0, "ff", Some(255.0)),
            ("", 0, "abc", None),
        ] {
            assert_eq!(read(name, decimals, text), value, "{name} {text}");
        }
        assert!(read("", 0, " . ").unwrap().is_nan());
        assert!(read("DATE", 0, "  ").unwrap().is_nan());
        assert_eq!(missing::code(read("", 0, ".q").unwrap()), Some(b'Q'));
    }

    #[test]
    fn texts_keep_their_blanks_only_as_char() {
        let text = |informat: Informat, bytes| {
            let formats = Formats::default();
            informat.text(bytes, &formats).unwrap().into_owned()
        };
        assert_eq!(text(Informat::Text, b"  a "), b"a ");
        assert_eq!(text(Informat::Text, b" . "), b"");
        assert_eq!(text(Informat::Char, b"  a "), b"  a ");
    }
}
