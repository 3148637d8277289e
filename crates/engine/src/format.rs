//! Numbers and texts as SAS formats print them, and numbers read from text.

mod calendar;
mod digits;
pub mod informat;
mod table;
pub mod user;

use std::borrow::Cow;

use sas7bdat::{Format, missing};

pub use self::digits::decimal;
use self::digits::right;
pub use self::table::names;
use self::table::{Entry, Print};
use self::user::{Formats, Label};
use crate::expr::evaluate::trimmed;

/// `.`, `_` or the letter of a missing value.
fn missing_text(value: f64) -> char {
    match missing::code(value) {
        None | Some(0) => '.',
        Some(code) => char::from(code),
    }
}

/// BESTw.: the most significant digits that fit, trailing zeros dropped; right aligned in `width`.
pub fn best(value: f64, width: usize) -> String {
    if value.is_nan() {
        return right(&missing_text(value).to_string(), width);
    }
    right(&digits::best(value, width), width)
}

/// w.d: fixed decimals; falls back to BEST when it does not fit.
fn fixed(value: f64, width: usize, decimals: usize) -> String {
    if value.is_nan() {
        return right(&missing_text(value).to_string(), width);
    }
    let text = decimal(value, decimals);
    if text.len() <= width {
        return right(&text, width);
    }
    // The zero before the period is given up first.
    let bare = text.replacen("0.", ".", 1);
    if value.abs() < 1.0 && bare.len() <= width {
        return right(&bare, width);
    }
    best(value, width)
}

fn grouped(value: f64, decimals: usize) -> String {
    let text = decimal(value.abs(), decimals);
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

/// A name in upper case, as most are written.
fn upper(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        Cow::Owned(name.to_ascii_uppercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// How a numeric format prints `value`; `None` if the format is not implemented.
pub fn number(value: f64, format: &Format) -> Option<String> {
    let name = upper(&format.name);
    let entry = Entry::find(&name).filter(|entry| !matches!(entry.print, Print::Text(_)))?;
    let width = match format.width {
        0 => usize::from(entry.width),
        width => usize::from(width),
    };
    if value.is_nan() {
        return Some(right(&missing_text(value).to_string(), width));
    }
    if name.is_empty() && format.width == 0 {
        return Some(best(value, width));
    }
    entry.number(value, width, usize::from(format.decimals))
}

/// Width of a format that is written without one.
pub fn default_width(format: &Format, formats: &Formats) -> u16 {
    let name = upper(&format.name);
    if let Some(user) = formats.get(&name) {
        return user.width;
    }
    let entry = Entry::find(&name);
    entry
        .map(|entry| entry.width)
        .filter(|width| *width > 0)
        .unwrap_or(12)
}

/// How often a label may stand for another format.
const DEPTH_MAX: u32 = 8;

/// How a format prints a number, those of the user first.
pub fn number_with(value: f64, format: &Format, formats: &Formats) -> Option<String> {
    number_within(value, format, formats, DEPTH_MAX)
}

fn number_within(value: f64, format: &Format, formats: &Formats, depth: u32) -> Option<String> {
    let Some(user) = formats.get(&upper(&format.name)) else {
        return number(value, format);
    };
    let width = usize::from(if format.width == 0 {
        user.width
    } else {
        format.width
    });
    Some(match user.ranges.number(value) {
        // Labels stand at the left, numbers without one at the right.
        Some(Label::Text(label)) => fitted_label(label, width),
        Some(Label::Picture(picture)) if !value.is_nan() || picture.noedit => {
            picture.print(value, user.round, width)
        }
        Some(Label::Format(inner)) => {
            let inner = sized_for(inner, width);
            let text = number_within(value, &inner, formats, depth.checked_sub(1)?)?;
            right(&text, width)
        }
        Some(Label::Picture(_)) | None => best(value, width.max(1)),
    })
}

/// A format that stands for a label, as wide as the label would be unless it says how wide it is.
fn sized_for(format: &Format, width: usize) -> Format {
    let mut format = format.clone();
    let most = u16::try_from(width).unwrap_or(u16::MAX);
    if format.width == 0 || format.width > most {
        format.width = most;
    }
    format
}

fn fitted_label(label: &str, width: usize) -> String {
    let cut: String = label.chars().take(width).collect();
    format!("{cut:<width$}")
}

/// How a character format prints a text; without a width as long as it is.
pub fn text_with(value: &[u8], format: &Format, formats: &Formats) -> Vec<u8> {
    text_within(value, format, formats, DEPTH_MAX)
}

fn text_within(value: &[u8], format: &Format, formats: &Formats, depth: u32) -> Vec<u8> {
    let name = upper(&format.name);
    if let Some(user) = formats.get(&name) {
        let width = usize::from(if format.width == 0 {
            user.width
        } else {
            format.width
        });
        let text = match user.ranges.text(value) {
            Some(Label::Text(label)) => label.as_bytes().to_vec(),
            Some(Label::Format(inner)) if depth > 0 => {
                text_within(value, &sized_for(inner, width), formats, depth - 1)
            }
            _ => trimmed(value).to_vec(),
        };
        return sized(text, width);
    }
    let text = match Entry::find(&name).map(|entry| entry.print) {
        Some(Print::Text(print)) => print(value),
        _ => value.to_vec(),
    };
    sized(text, usize::from(format.width))
}

/// `$QUOTEw.`
fn quoted(value: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(trimmed(value)).replace('"', "\"\"");
    format!("\"{text}\"").into_bytes()
}

/// Whether there is a character format of this name.
pub fn is_text_format(name: &str, formats: &Formats) -> bool {
    let name = upper(name);
    let known = Entry::find(&name).is_some_and(|entry| matches!(entry.print, Print::Text(_)));
    known || formats.contains_key(&name)
}

fn sized(mut text: Vec<u8>, width: usize) -> Vec<u8> {
    if width > 0 {
        text.resize(width, b' ');
    }
    text
}

/// `best12.2`, `$8.` or `date9.` as a format; `None` if it is not written like one.
pub fn parse(text: &str) -> Option<Format> {
    let (head, decimals) = text.split_once('.')?;
    let name = head.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = |digits: &str| {
        if digits.is_empty() {
            Some(0)
        } else {
            digits.parse().ok()
        }
    };
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'));
    plain.then_some(())?;
    Some(Format {
        name: name.to_ascii_uppercase(),
        width: number(&head[name.len()..])?,
        decimals: number(decimals)?,
    })
}

/// PERCENTw.d: the last column is kept for a closing parenthesis, negative values are in parentheses.
fn percent(value: f64, width: usize, decimals: usize) -> String {
    let room = width.saturating_sub(3);
    let magnitude = (value * 100.0).abs();
    let number = (0..=decimals)
        .rev()
        .map(|decimals| decimal(magnitude, decimals))
        .find(|text| text.len() <= room)
        .unwrap_or_else(|| "*".repeat(room));
    let text = if value < 0.0 {
        format!("({number}%)")
    } else {
        format!("{number}% ")
    };
    right(&text, width)
}

/// PVALUEw.d: `<.001` below what the decimals show.
fn probability(value: f64, width: usize, decimals: usize) -> String {
    let least = 10_f64.powi(-i32::try_from(decimals).unwrap_or(4));
    if value >= 0.0 && value < least {
        let text = format!("{least:.decimals$}");
        return right(&format!("<{}", text.trim_start_matches('0')), width);
    }
    fixed(value, width, decimals)
}

fn parenthesised(value: f64, width: usize, decimals: usize) -> String {
    let digits = grouped(value.abs(), decimals);
    let text = if value < 0.0 {
        format!("({digits})")
    } else {
        format!("{digits} ")
    };
    if text.len() <= width {
        right(&text, width)
    } else {
        best(value, width)
    }
}

/// Ew.: `1.257E+03`
fn exponent(value: f64, width: usize) -> String {
    let digits = width.saturating_sub(7).min(17);
    let text = digits::exponential(value, digits);
    let (mantissa, power) = text.split_once('E').unwrap_or((&text, "0"));
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    fitted(&format!("{mantissa}E{sign}{power:0>2}"), width)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, as far as that is seen"
)]
fn hexadecimal(value: f64, width: usize) -> String {
    if width >= 16 {
        return format!("{:016X}", value.to_bits());
    }
    let digits = format!("{:016X}", value as i64);
    digits[16 - width..].to_owned()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, as far as that is seen"
)]
fn binary(value: f64, width: usize) -> String {
    let digits = format!("{:064b}", value as i64);
    digits[64 - width.min(64)..].to_owned()
}

/// Zw.d: leading zeros; decimals are given up where the width is too small.
fn zero_padded(value: f64, width: usize, decimals: usize) -> String {
    for decimals in (0..=decimals).rev() {
        let text = digits::zero_padded(value, width, decimals);
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
    // Without its leading zero a fraction may still fit.
    let bare = |text: String| {
        let shorter = text.replacen("0.", ".", usize::from(value.abs() < 1.0));
        [text, shorter]
    };
    let shorter = (0..=decimals)
        .rev()
        .map(text)
        .flat_map(bare)
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
            (std::f64::consts::PI, 17, " 3.14159265358979"),
            (1.0 / 3.0, 18, " 0.333333333333333"),
            (0.001_234, 8, "0.001234"),
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
        assert_eq!(show("DATETIME", 19, 0, 0.0).unwrap(), " 01JAN1960:00:00:00");
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
            ("DATETIME", 18, 0, -1.0, "  31DEC59:23:59:59"),
            ("DATETIME", 18, 0, 86_399.7, "  02JAN60:00:00:00"),
            ("DATETIME", 18, 1, 86_399.96, "02JAN60:00:00:00.0"),
            ("DATETIME", 20, 1, 86_399.7, "01JAN1960:23:59:59.7"),
            ("DATETIME", 7, 0, 86_399.7, "02JAN60"),
            ("TIME", 8, 0, 86_399.7, "24:00:00"),
            ("TIME", 8, 0, 59.5, " 0:01:00"),
            ("TIME", 8, 0, 59.4, " 0:00:59"),
            ("TIME", 5, 0, 27_885.0, " 7:44"),
            ("HHMM", 5, 0, 27_885.0, " 7:45"),
            ("HOUR", 2, 0, 27_885.0, " 8"),
            ("TOD", 8, 0, 86_399.7, "00:00:00"),
            ("MMSS", 5, 0, 59.7, " 1:00"),
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

    /// Single facts published for SAS, one a line: value, format, text.
    const PUBLISHED: &[(f64, &str, &str)] = &[
        (1_234.0, "best6.", "  1234"),
        (-1_234.0, "best6.", " -1234"),
        (123_456_789_012.0, "best12.", "123456789012"),
        (18_888.88, "best12.", "    18888.88"),
        (1.0 / 3.0, "comma3.0", "  0"),
        (1.0 / 3.0, "comma3.1", "0.3"),
        (1.0 / 3.0, "comma3.2", ".33"),
        (10.0 / 3.0, "comma3.2", "3.3"),
        (100.0 / 3.0, "comma3.1", " 33"),
        (100.0 / 3.0, "comma3.2", " 33"),
        (21_075.75, "date11.", "13-SEP-2017"),
        (21_075.75, "date10.", " 13SEP2017"),
        (21_075.75, "date8.", " 13SEP17"),
        (21_075.75, "date6.", " 13SEP"),
        (318_098.0, "datetime19.", " 04JAN1960:16:21:38"),
        (318_098.0, "datetime18.", "  04JAN60:16:21:38"),
        (318_098.0, "datetime16.", "04JAN60:16:21:38"),
        (318_098.0, "datetime15.", "  04JAN60:16:21"),
        (318_098.0, "datetime13.", "04JAN60:16:21"),
        (318_098.0, "datetime12.", "  04JAN60:16"),
        (318_098.0, "datetime10.", "04JAN60:16"),
        (318_098.0, "datetime9.", "04JAN1960"),
        (318_098.0, "datetime8.", " 04JAN60"),
        (318_098.0, "datetime7.", "04JAN60"),
        (318_098.5, "datetime20.1", "04JAN1960:16:21:38.5"),
        (318_098.5, "datetime18.1", "04JAN60:16:21:38.5"),
        (0.1813, "percent8.2", " 18.13% "),
        (0.1813, "percent7.2", " 18.1% "),
        (0.1813, "percent6.2", "  18% "),
        (0.1813, "percent5.2", " 18% "),
        (0.1813, "percent4.2", " *% "),
        (-0.5, "percent8.1", " (50.0%)"),
        (4.0, "pvalue6.3", " 4.000"),
        (0.0004, "pvalue6.3", " <.001"),
        (44.000_04, "pvalue6.3", "44.000"),
        (11_907.35, "time.", " 3:18:27"),
        (11_907.35, "time12.3", " 3:18:27.350"),
        (11_907.35, "time5.", " 3:18"),
        (11_907.35, "hhmm.", " 3:18"),
        (21_075.0, "weekdate29.", "Wednesday, September 13, 2017"),
        (21_075.0, "weekdate23.", "Wednesday, Sep 13, 2017"),
        (21_075.0, "weekdate17.", "Wed, Sep 13, 2017"),
        (21_075.0, "weekdate9.", "Wednesday"),
        (21_075.0, "worddate18.", "September 13, 2017"),
        (12_345.789, "z3.", "1E4"),
        (12_345.789, "z7.1", "12345.8"),
        (12_345.789, "z7.2", "12345.8"),
        (12_345.789, "z10.2", "0012345.79"),
        (12_345.789, "z10.3", "012345.789"),
        (12_345.789, "z10.4", "12345.7890"),
        (21_034.0, "yymmn6.", "201708"),
        (21_034.0, "yymmn4.", "1708"),
        (21_075.0, "ddmmyy10.", "13/09/2017"),
        (21_075.0, "mmddyy8.", "09/13/17"),
        (21_075.0, "yymmdd10.", "2017-09-13"),
        (21_075.0, "yymmddn8.", "20170913"),
        (21_075.0, "ddmmyyp10.", "13.09.2017"),
        (21_075.0, "yymmdd6.", "170913"),
        (21_075.0, "monyy7.", "SEP2017"),
        (21_075.0, "monyy.", "SEP17"),
        (21_075.0, "year.", "2017"),
        (21_075.0, "qtr.", "3"),
        (21_075.0, "yyq6.", "2017Q3"),
        (21_075.0, "downame.", "Wednesday"),
        (21_075.0, "e8601da.", "2017-09-13"),
        (1_257.0, "e10.", " 1.257E+03"),
        (-1_257.0, "e10.", "-1.257E+03"),
        (255.0, "hex4.", "00FF"),
        (5.0, "binary4.", "0101"),
        (41_400.0, "hour4.1", "11.5"),
        (0.333, "4.3", ".333"),
        (f64::NAN, "percent8.2", "       ."),
    ];

    #[test]
    fn formats_print_what_is_published() {
        for (value, written, text) in PUBLISHED {
            let value = *value;
            let format = parse(written).unwrap();
            let value = if value.is_nan() {
                missing::encode(0)
            } else {
                value
            };
            let shown = number(value, &format);
            assert_eq!(shown.as_deref(), Some(*text), "{value} {written}");
        }
        assert_eq!(parse("no format"), None);
        assert_eq!(number(1.0, &parse("nosuch8.").unwrap()), None);
    }

    #[test]
    fn texts_print() {
        let none = Formats::default();
        for (text, written, shown) in [
            ("ab", "$4.", "ab  "),
            ("abc", "$char2.", "ab"),
            ("ab ", "$upcase3.", "AB "),
            ("a", "$hex2.", "61"),
            ("a", "$quote5.", "\"a\"  "),
        ] {
            let format = parse(written).unwrap();
            assert_eq!(
                text_with(text.as_bytes(), &format, &none),
                shown.as_bytes(),
                "{written}"
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
