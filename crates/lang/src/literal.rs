//! Literals: formats, quoted texts with a suffix, dates and times.

use crate::ast::{FormatModifier, FormatRef, TokenKind};
use crate::keywords::in_name;
use base::diag::Span;

/// Operators of two characters, tried before the single ones.
pub(crate) const PAIRS: &[&str] = &[
    "**", "><", "<>", "<=", ">=", "=<", "=>", "^=", "~=", "¬=", "||", "!!", "??", "@@",
];

/// Operators and punctuation of one character.
pub(crate) const SINGLES: &[&str] = &[
    ";", ",", "(", ")", "[", "]", "{", "}", "=", "<", ">", "+", "-", "*", "/", "&", "|", "!", "^",
    "~", "¬", ":", ".", "@", "#", "?", "%", "\\", "`",
];

/// Two-digit years from 26 to 99 mean 1926 to 1999: YEARCUTOFF=1926, the default since SAS 9.4.
const YEAR_CUTOFF: i64 = 1926;

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];

/// A format from its text before the period and its decimals.
pub(crate) fn format(text: &str, decimals: &str, span: &Span) -> FormatRef {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = text.get(name.len()..).unwrap_or("");
    FormatRef {
        name: name.to_owned(),
        width: saturated(width),
        decimals: saturated(decimals),
        modifier: FormatModifier::None,
        span: span.clone(),
    }
}

/// A number such as `8.2` read as a format; `None` if it is not written like one.
pub(crate) fn number_as_format(text: &str, span: &Span) -> Option<FormatRef> {
    let (width, decimals) = text.split_once('.')?;
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    (!width.is_empty() && plain(width) && plain(decimals)).then(|| format(width, decimals, span))
}

fn saturated(digits: &str) -> u16 {
    if digits.is_empty() {
        0
    } else {
        digits.parse().unwrap_or(u16::MAX)
    }
}

/// The token of `'text'suffix`: `None` if the suffix is none, an error's sentence if the text does
/// not suit it.
pub(crate) fn with_suffix(
    text: &str,
    suffix: &str,
    quote: char,
) -> Option<Result<TokenKind, String>> {
    let suffix = suffix.to_ascii_lowercase();
    let source = || format!("{quote}{text}{quote}{suffix}");
    let number = |value: Option<f64>, what: &str| {
        value
            .map(|value| TokenKind::Number(value, source()))
            .ok_or_else(|| format!("Invalid {what} constant {}", source()))
    };
    Some(match suffix.as_str() {
        "d" => number(date(text), "date"),
        "t" => number(time(text), "time"),
        "dt" => number(datetime(text), "datetime"),
        "n" => Ok(TokenKind::Name(text.trim_end().to_owned())),
        "x" => hexadecimal_text(text)
            .map(|text| TokenKind::Text(text, quote == '"'))
            .ok_or_else(|| format!("Invalid hexadecimal constant {}", source())),
        "b" => Err("Bit masks are not implemented yet".to_owned()),
        _ => return None,
    })
}

/// Bytes that are not UTF-8 are taken as Latin-1, so that no byte is lost.
fn hexadecimal_text(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !matches!(c, ' ' | ','))
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect(),
    })
}

/// Days since 1960-01-01 of `01jan2020`, `1-Jan-20`.
fn date(text: &str) -> Option<f64> {
    let text: String = text
        .chars()
        .filter(|c| !matches!(c, ' ' | '-' | '/'))
        .collect();
    let day_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (day, rest) = text.split_at_checked(day_digits)?;
    let (month, year) = rest.split_at_checked(3)?;
    let month = MONTHS
        .iter()
        .position(|name| name.eq_ignore_ascii_case(month))?;
    if !(1..=2).contains(&day.len()) || !year.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (day, written): (i64, i64) = (day.parse().ok()?, year.parse().ok()?);
    let year = match year.len() {
        2 => YEAR_CUTOFF + (written - YEAR_CUTOFF).rem_euclid(100),
        4 => written,
        _ => return None,
    };
    let days_before = |month: usize| (0..month).map(|m| days_in_month(m, year)).sum::<i64>();
    if !(1582..=9999).contains(&year) || !(1..=days_in_month(month, year)).contains(&day) {
        return None;
    }
    let days = days_before_year(year) - days_before_year(1960) + days_before(month) + day - 1;
    Some(days as f64)
}

fn is_leap(year: i64) -> bool {
    days_before_year(year + 1) - days_before_year(year) == 366
}

/// SAS takes years divisible by 4000 for common years.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    365 * past + past / 4 - past / 100 + past / 400 - past / 4000
}

fn days_in_month(month: usize, year: i64) -> i64 {
    match month {
        1 => 28 + i64::from(is_leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

/// Seconds of `12:30`, `12:30:15.5`, `9:15 pm`.
fn time(text: &str) -> Option<f64> {
    let lower = text.trim().to_ascii_lowercase();
    let (clock, half_day) = match lower.strip_suffix("pm") {
        Some(clock) => (clock, Some(12.0)),
        None => match lower.strip_suffix("am") {
            Some(clock) => (clock, Some(0.0)),
            None => (lower.as_str(), None),
        },
    };
    let mut parts = clock.trim().split(':');
    let mut hours = plain_number(parts.next()?, false)?;
    let minutes = plain_number(parts.next()?, false)?;
    let seconds = parts
        .next()
        .map_or(Some(0.0), |part| plain_number(part, true))?;
    if parts.next().is_some() || minutes >= 60.0 || seconds >= 60.0 {
        return None;
    }
    if let Some(shift) = half_day {
        if !(1.0..=12.0).contains(&hours) {
            return None;
        }
        hours = hours % 12.0 + shift;
    }
    Some(hours * 3600.0 + minutes * 60.0 + seconds)
}

fn plain_number(text: &str, fraction: bool) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || (fraction && b == b'.'));
    if plain && text.len() <= 12 {
        text.parse().ok()
    } else {
        None
    }
}

/// Seconds since 1960-01-01 of `01jan2020:12:30:00`; a blank may stand for the first colon.
fn datetime(text: &str) -> Option<f64> {
    let text = text.trim();
    let last = text
        .char_indices()
        .take_while(|(_, c)| in_name(*c) || *c == '-')
        .last()?;
    let (day, rest) = text.split_at_checked(last.0 + last.1.len_utf8())?;
    let clock = rest.trim_start_matches([':', ' ', '/']);
    Some(date(day)? * 86_400.0 + time(clock)?)
}
