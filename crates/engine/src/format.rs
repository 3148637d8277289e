//! Numbers and texts as SAS formats print them, and numbers read from text.

use sas7bdat::{Format, missing};

use crate::datetime::{self, MONTHS};

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
        "COMMA" => right(&grouped(value, decimals), or(6)),
        "DOLLAR" => right(&format!("${}", grouped(value, decimals)), or(6)),
        "Z" if !value.is_nan() => zero_padded(value, or(1), decimals),
        "DATE" => date_text(value, or(7))?,
        "DATETIME" if or(16) >= 16 => {
            let (date, second) = datetime::split(value);
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            let month = MONTHS[date.month as usize - 1];
            let year = if or(16) >= 18 {
                date.year
            } else {
                date.year.rem_euclid(100)
            };
            let text = format!(
                "{:02}{month}{year:02}:{hour:02}:{minute:02}:{second:02}",
                date.day
            );
            right(&text, or(16))
        }
        "TIME" if or(8) >= 8 && value >= 0.0 => {
            let (_, second) = datetime::split(value.rem_euclid(86_400.0));
            let text = format!(
                "{}:{:02}:{:02}",
                second / 3600,
                second / 60 % 60,
                second % 60
            );
            right(&text, or(8))
        }
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

/// DATE7. (`13SEP17`) and DATE9. (`13SEP2017`).
#[expect(
    clippy::cast_possible_truncation,
    reason = "dates are far below 2^53 days"
)]
fn date_text(value: f64, width: usize) -> Option<String> {
    let date = datetime::date(value.floor() as i64);
    let month = MONTHS[date.month as usize - 1];
    let text = match width {
        9.. => format!("{:02}{month}{:04}", date.day, date.year),
        7..=8 => format!("{:02}{month}{:02}", date.day, date.year.rem_euclid(100)),
        _ => return None,
    };
    Some(right(&text, width))
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
    fn numbers_are_read_strictly() {
        assert_eq!(read_number(b" 12.5 "), Some(12.5));
        assert_eq!(read_number(b"-1e3"), Some(-1000.0));
        assert!(read_number(b"  ").unwrap().is_nan());
        assert_eq!(read_number(b"nan"), None);
        assert_eq!(read_number(b"1x"), None);
    }
}
