//! Numbers and texts as SAS formats print them, and numbers read from text.

use std::ops::RangeInclusive;

use sas7bdat::{Format, missing};

use crate::datetime::{self, Date, MONTHS};

/// `.`, `_` or the letter of a missing value.
fn missing_text(value: f64) -> char {
    match missing::code(value) {
        None | Some(0) => '.',
        Some(code) => char::from(code),
    }
}

fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

/// BESTw.: the most significant digits that fit, trailing zeros dropped; right aligned in `width`.
pub fn best(value: f64, width: usize) -> String {
    if value.is_nan() {
        return right(&missing_text(value).to_string(), width);
    }
    right(&best_digits(value, width), width)
}

fn best_digits(value: f64, width: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    if (1e-4..1e15).contains(&magnitude) {
        for decimals in (0..=width).rev() {
            let text = format!("{value:.decimals$}");
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            };
            let all_lost = text == "0" || text == "-0";
            if text.len() <= width && !all_lost {
                return text;
            }
        }
    }
    scientific(value, width)
}

/// `1.2346E8`: as many digits as fit, no `+`, no padding of the exponent.
fn scientific(value: f64, width: usize) -> String {
    for digits in (0..=15usize).rev() {
        let text = format!("{value:.digits$E}");
        let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
        let mantissa = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        let text = format!("{mantissa}E{exponent}");
        if text.len() <= width {
            return text;
        }
    }
    "*".repeat(width)
}

/// w.d: fixed decimals; falls back to BEST when it does not fit.
fn fixed(value: f64, width: usize, decimals: usize) -> String {
    if value.is_nan() {
        return right(&missing_text(value).to_string(), width);
    }
    let text = format!("{value:.decimals$}");
    if text.len() <= width {
        right(&text, width)
    } else {
        best(value, width)
    }
}

fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if decimals > 0 {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// How a numeric format prints `value`; `None` if the format is not implemented.
pub fn number(value: f64, format: &Format) -> Option<String> {
    let (width, decimals) = (usize::from(format.width), usize::from(format.decimals));
    let or = |default| if width == 0 { default } else { width };
    let name = format.name.to_ascii_uppercase();
    if value.is_nan()
        && matches!(
            name.as_str(),
            "DATE" | "DATETIME" | "TIME" | "COMMA" | "DOLLAR"
        )
    {
        return Some(right(&missing_text(value).to_string(), or(9)));
    }
    Some(match name.as_str() {
        "" if width == 0 => best(value, 12),
        "" | "F" => fixed(value, or(12), decimals),
        "BEST" => best(value, or(12)),
        "COMMA" => money("", value, or(6), decimals),
        "DOLLAR" => money("$", value, or(6), decimals),
        "Z" if !value.is_nan() => zero_padded(value, or(1), decimals),
        "DATE" if or(7) >= 5 => date_text(value, or(7)),
        "DATETIME" if or(16) >= 16 => datetime_text(value, or(16)),
        "TIME" if or(8) >= 8 => time_text(value, or(8)),
        _ => return None,
    })
}

/// Zw.d: leading zeros; decimals are given up where the width is too small.
fn zero_padded(value: f64, width: usize, decimals: usize) -> String {
    for decimals in (0..=decimals).rev() {
        let text = format!("{value:0width$.decimals$}");
        if text.len() <= width {
            return text;
        }
    }
    best(value, width)
}

/// COMMAw.d and DOLLARw.d: where the width is too small, first decimals go, then the commas, then the
/// currency sign and digits that BEST can do without.
fn money(sign: &str, value: f64, width: usize, decimals: usize) -> String {
    let text = |decimals| {
        let digits = grouped(value, decimals);
        match digits.strip_prefix('-') {
            Some(digits) => format!("-{sign}{digits}"),
            None => format!("{sign}{digits}"),
        }
    };
    let plain = || text(0).replace(',', "");
    let shorter = (0..=decimals)
        .rev()
        .map(text)
        .chain(std::iter::once_with(plain));
    let fitting = shorter.into_iter().find(|text| text.len() <= width);
    fitting.map_or_else(|| best(value, width), |text| right(&text, width))
}

/// Right aligned, or asterisks if it is too long.
fn fitted(text: &str, width: usize) -> String {
    if text.len() <= width {
        right(text, width)
    } else {
        "*".repeat(width)
    }
}

/// SAS's calendar: 1 January 1582 to 31 December 20000, in days since 1960.
const DATES: RangeInclusive<f64> = -138_061.0..=6_589_335.0;

/// The day of a date value, if SAS's calendar has it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn day(value: f64) -> Option<Date> {
    let days = value.floor();
    DATES.contains(&days).then(|| datetime::date(days as i64))
}

/// DATE5. (`13SEP`), DATE7. (`13SEP17`), DATE9. (`13SEP2017`) and DATE11. (`13-SEP-2017`).
fn date_text(value: f64, width: usize) -> String {
    let Some(date) = day(value) else {
        return "*".repeat(width);
    };
    let month = MONTHS[date.month as usize - 1];
    let (day, year) = (date.day, date.year);
    let text = match width {
        11.. => format!("{day:02}-{month}-{year:04}"),
        9..=10 => format!("{day:02}{month}{year:04}"),
        7..=8 => format!("{day:02}{month}{:02}", year.rem_euclid(100)),
        _ => format!("{day:02}{month}"),
    };
    fitted(&text, width)
}

/// DATETIME16. (`13SEP17:08:15:00`) and, with the century, from width 18 on.
fn datetime_text(value: f64, width: usize) -> String {
    let Some(date) = day((value / 86_400.0).floor()) else {
        return "*".repeat(width);
    };
    let (_, second) = datetime::split(value);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let month = MONTHS[date.month as usize - 1];
    let year = if width >= 18 {
        date.year
    } else {
        date.year.rem_euclid(100)
    };
    let text = format!(
        "{:02}{month}{year:02}:{hour:02}:{minute:02}:{second:02}",
        date.day
    );
    fitted(&text, width)
}

/// TIME8. (`8:15:00`); hours go on beyond 24.
fn time_text(value: f64, width: usize) -> String {
    let seconds = value.abs().floor();
    if seconds >= 1e15 {
        return "*".repeat(width);
    }
    let (hours, second) = ((seconds / 3600.0).floor(), seconds % 3600.0);
    let sign = if value < 0.0 { "-" } else { "" };
    let (minute, second) = ((second / 60.0).floor(), second % 60.0);
    fitted(&format!("{sign}{hours}:{minute:02}:{second:02}"), width)
}

/// Reads a number as the `w.` informat does: blanks around it, `.` for missing. `None` if it is
/// not a number.
pub fn read_number(bytes: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?.trim_matches([' ', '\0']);
    if text.is_empty() || text == "." {
        return Some(missing::encode(0));
    }
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    text.parse()
        .ok()
        .filter(|value: &f64| plain && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of SAS's documentation and of `semantics_observed`-style evidence.
    #[test]
    fn best_keeps_the_most_significant_digits() {
        for (value, width, text) in [
            (1_257_000.0, 6, "1.26E6"),
            (1_257_000.0, 3, "1E6"),
            (123_456_789.0, 8, "1.2346E8"),
            (123_456_789.0, 6, "1.23E8"),
            (12.34, 6, " 12.34"),
            (1.0 / 3.0, 12, "0.3333333333"),
            (0.0, 3, "  0"),
            (-17.0, 5, "  -17"),
        ] {
            assert_eq!(best(value, width), text);
        }
        assert_eq!(best(missing::encode(b'A'), 4), "   A");
    }

    #[test]
    fn formats_print() {
        let show = |name: &str, width, decimals, value| {
            number(
                value,
                &Format {
                    name: name.into(),
                    width,
                    decimals,
                },
            )
        };
        assert_eq!(show("DATE", 9, 0, 21_075.0).unwrap(), "13SEP2017");
        assert_eq!(show("DATE", 7, 0, 21_075.0).unwrap(), "13SEP17");
        assert_eq!(show("", 8, 2, 1.5).unwrap(), "    1.50");
        assert_eq!(show("COMMA", 12, 1, 1_234_567.0).unwrap(), " 1,234,567.0");
        assert_eq!(show("Z", 6, 1, 12_345.789).unwrap(), "012346");
        assert_eq!(show("DATETIME", 18, 0, 0.0).unwrap(), "01JAN1960:00:00:00");
        assert_eq!(show("NOSUCH", 8, 0, 1.0), None);
    }

    #[test]
    fn what_does_not_fit_falls_back_and_never_lies() {
        for (name, width, decimals, value, text) in [
            ("TIME", 8, 0, 90_000.0, "25:00:00"),
            ("TIME", 8, 0, 3_661.0, " 1:01:01"),
            ("TIME", 9, 0, -3_661.0, " -1:01:01"),
            ("TIME", 8, 0, 360_000.0, "********"),
            ("TIME", 8, 0, f64::MAX, "********"),
            ("COMMA", 12, 2, 1_234_567.5, "1,234,567.50"),
            ("COMMA", 10, 2, 1_234_567.5, " 1,234,568"),
            ("COMMA", 8, 2, 1_234_567.5, " 1234568"),
            ("COMMA", 6, 2, 1_234_567.5, "1.23E6"),
            ("COMMA", 2, 0, 1_234_567.5, "**"),
            ("DOLLAR", 9, 2, 1_234.5, "$1,234.50"),
            ("DOLLAR", 9, 2, -1_234.5, "-$1,234.5"),
            ("DOLLAR", 5, 2, 1_234.0, "$1234"),
            ("DOLLAR", 4, 2, 1_234.0, "1234"),
            ("DATE", 9, 0, -138_061.0, "01JAN1582"),
            ("DATE", 9, 0, -138_062.0, "*********"),
            ("DATE", 12, 0, 6_589_335.0, "31-DEC-20000"),
            ("DATE", 9, 0, 6_589_336.0, "*********"),
            ("DATE", 9, 0, 1e300, "*********"),
            ("DATE", 5, 0, 21_075.0, "13SEP"),
            ("DATETIME", 18, 0, 1e300, "******************"),
            ("DATETIME", 18, 0, -1.0, "31DEC1959:23:59:59"),
        ] {
            let format = Format {
                name: name.into(),
                width,
                decimals,
            };
            let shown = number(value, &format);
            assert_eq!(
                shown.as_deref(),
                Some(text),
                "{name}{width}.{decimals} {value}"
            );
        }
    }

    #[test]
    fn numbers_are_read_strictly() {
        assert_eq!(read_number(b" 12.5 "), Some(12.5));
        assert_eq!(read_number(b"-1e3"), Some(-1000.0));
        assert!(read_number(b"  ").unwrap().is_nan());
        assert_eq!(read_number(b"nan"), None);
        assert_eq!(read_number(b"1x"), None);
    }
}
