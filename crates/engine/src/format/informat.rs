//! Informats: numbers, dates and times read from text.

use sas7bdat::{Format, missing};

use super::read_number;
use crate::datetime::{Date, MONTHS, days_from, days_in_month};

/// Whether there is a numeric informat of this name.
pub fn is_known(format: &Format) -> bool {
    matches!(
        format.name.to_ascii_uppercase().as_str(),
        "" | "F"
            | "BEST"
            | "COMMA"
            | "COMMAX"
            | "DOLLAR"
            | "PERCENT"
            | "DATE"
            | "DATETIME"
            | "TIME"
            | "DDMMYY"
            | "MMDDYY"
            | "YYMMDD"
            | "MONYY"
            | "YYMMN"
            | "ANYDTDTE"
            | "E8601DA"
            | "E8601DT"
            | "HEX"
            | "Z"
            | "E"
    )
}

/// The value that `bytes` stand for; `None` if they are not valid.
pub fn read(bytes: &[u8], format: &Format) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?.trim_matches([' ', '\0']);
    if text.is_empty() || text == "." {
        return Some(missing::encode(0));
    }
    match format.name.to_ascii_uppercase().as_str() {
        "" | "F" | "BEST" | "Z" | "E" => {
            let value = read_number(text.as_bytes())?;
            // Decimals are implied only where none are written.
            let implied = format.decimals > 0 && !text.contains(['.', 'e', 'E']);
            Some(if implied {
                value / 10_f64.powi(i32::from(format.decimals))
            } else {
                value
            })
        }
        "COMMA" | "DOLLAR" | "PERCENT" => commas(text),
        "DATE" => date(text),
        "DATETIME" => {
            let split = text
                .char_indices()
                .filter(|(_, c)| matches!(c, ':' | ' ' | '/'))
                .map(|(i, _)| i);
            let at = split.min()?;
            Some(date(text.get(..at)?)? * 86_400.0 + time(text.get(at + 1..)?.trim())?)
        }
        "TIME" => time(text),
        "DDMMYY" => parts(text, [2, 1, 0]),
        "MMDDYY" => parts(text, [2, 0, 1]),
        "YYMMDD" | "E8601DA" => parts(text, [0, 1, 2]),
        "E8601DT" => {
            let (day, clock) = text.split_once(['T', ' '])?;
            Some(parts(day, [0, 1, 2])? * 86_400.0 + time(clock)?)
        }
        "MONYY" => date(&format!("01{text}")),
        "YYMMN" => parts(&format!("{text}01"), [0, 1, 2]),
        "ANYDTDTE" => date(text)
            .or_else(|| {
                parts(text, [0, 1, 2]).filter(|_| text.bytes().take(4).all(|b| b.is_ascii_digit()))
            })
            .or_else(|| parts(text, [2, 0, 1])),
        "HEX" => {
            let value = u64::from_str_radix(text, 16).ok()?;
            Some(if text.len() == 16 {
                f64::from_bits(value)
            } else {
                value as f64
            })
        }
        _ => None,
    }
}

fn commas(text: &str) -> Option<f64> {
    let negative = text.starts_with('(') && text.ends_with(')');
    let plain: String = text
        .chars()
        .filter(|c| !matches!(c, ',' | '$' | '(' | ')' | ' ' | '%'))
        .collect();
    let value = read_number(plain.as_bytes())?;
    let value = if negative { -value } else { value };
    Some(if text.contains('%') {
        value / 100.0
    } else {
        value
    })
}

fn full_year(text: &str) -> Option<i64> {
    let year: i64 = text.parse().ok()?;
    match text.len() {
        2 => Some(1926 + (year - 26).rem_euclid(100)),
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
        [digits] => {
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
            )
        };
        for (name, decimals, text, value) in [
            ("", 0, " 12.5 ", Some(12.5)),
            ("", 2, "1234", Some(12.34)),
            ("", 2, "12.3", Some(12.3)),
            ("COMMA", 0, "$1,234.5", Some(1234.5)),
            ("COMMA", 0, "(7)", Some(-7.0)),
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
    }
}
