//! Formats of dates, times and datetimes.

use std::ops::RangeInclusive;

use super::digits::decimal;
use crate::datetime::{self, Date, MONTHS, WEEKDAYS};

/// SAS's calendar: 1 January 1582 to 31 December 20000, in days since 1960.
pub(super) const DATES: RangeInclusive<f64> = -138_061.0..=6_589_335.0;

pub(super) const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The order and separator of DDMMYY, MMDDYY and YYMMDD with their letters.
fn separated(name: &str) -> Option<(&str, Option<char>)> {
    let (order, letter) = name.split_at_checked(6)?;
    let separator = match letter {
        "" => Some(if order == "YYMMDD" { '-' } else { '/' }),
        "S" => Some('/'),
        "D" => Some('-'),
        "P" => Some('.'),
        "C" => Some(':'),
        "B" => Some(' '),
        "N" => None,
        _ => return None,
    };
    matches!(order, "DDMMYY" | "MMDDYY" | "YYMMDD").then_some((order, separator))
}

/// The day of a date value, if SAS's calendar has it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn day(value: f64) -> Option<Date> {
    let days = value.floor();
    DATES.contains(&days).then(|| datetime::date(days as i64))
}

fn weekday(value: f64) -> &'static str {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a remainder of seven"
    )]
    let index = value.floor().rem_euclid(7.0) as usize;
    WEEKDAYS[index]
}

/// The text of a value that is there; `name` is one of this family. Texts that do not fit are
/// asterisks.
pub(super) fn text(name: &str, value: f64, width: usize, decimals: usize) -> String {
    let shown = match name {
        "TIME" | "HHMM" | "HOUR" | "MMSS" | "TOD" | "E8601TM" => clock(
            name,
            if name == "TOD" {
                value.rem_euclid(86_400.0)
            } else {
                value
            },
            width,
            decimals,
        ),
        "DATETIME" | "E8601DT" => datetime(name, value, width, decimals),
        _ => {
            let value = if name.starts_with("DT") {
                (value / 86_400.0).floor()
            } else {
                value
            };
            let name = name.strip_prefix("DT").unwrap_or(name);
            day(value).map(|date| date_text(name, value, date, width))
        }
    };
    match shown {
        Some(text) if text.len() <= width => format!("{text:>width$}"),
        _ => "*".repeat(width),
    }
}

fn date_text(name: &str, value: f64, date: Date, width: usize) -> String {
    let Date { year, month, day } = date;
    let short = year.rem_euclid(100);
    let upper = MONTHS[month as usize - 1];
    let full = MONTH_NAMES[month as usize - 1];
    let quarter = month.div_ceil(3);
    match name {
        "DATE" => match width {
            11.. => format!("{day:02}-{upper}-{year:04}"),
            9..=10 => format!("{day:02}{upper}{year:04}"),
            7..=8 => format!("{day:02}{upper}{short:02}"),
            _ => format!("{day:02}{upper}"),
        },
        "MONYY" if width >= 7 => format!("{upper}{year:04}"),
        "MONYY" => format!("{upper}{short:02}"),
        "YEAR" if width >= 4 => format!("{year:04}"),
        "YEAR" => format!("{short:02}"),
        "QTR" => quarter.to_string(),
        "MONTH" => month.to_string(),
        "DAY" => day.to_string(),
        "WEEKDAY" => ((value.floor() + 5.0).rem_euclid(7.0) + 1.0).to_string(),
        "DOWNAME" => cut(weekday(value), width).to_owned(),
        "MONNAME" => cut(full, width).to_owned(),
        "YYMM" if width >= 7 => format!("{year:04}M{month:02}"),
        "YYMM" => format!("{short:02}M{month:02}"),
        "MMYY" if width >= 7 => format!("{month:02}M{year:04}"),
        "MMYY" => format!("{month:02}M{short:02}"),
        "YYMMN" if width >= 6 => format!("{year:04}{month:02}"),
        "YYMMN" => format!("{short:02}{month:02}"),
        "YYQ" if width >= 6 => format!("{year:04}Q{quarter}"),
        "YYQ" => format!("{short:02}Q{quarter}"),
        "JULIAN" => {
            let first = datetime::days_from(Date {
                year,
                month: 1,
                day: 1,
            });
            let number = datetime::days_from(date) - first + 1;
            if width >= 7 {
                format!("{year:04}{number:03}")
            } else {
                format!("{short:02}{number:03}")
            }
        }
        "E8601DA" => format!("{year:04}-{month:02}-{day:02}"),
        "WEEKDATE" | "WEEKDATX" | "WORDDATE" | "WORDDATX" => {
            words(name, weekday(value), date, width)
        }
        _ => numbers(name, date, width),
    }
}

/// Dates in words: the longest form that always fits.
fn words(name: &str, weekday: &str, Date { year, month, day }: Date, width: usize) -> String {
    let full = MONTH_NAMES[month as usize - 1];
    let (brief, short_day) = (&full[..3], &weekday[..3]);
    let day_first = name.ends_with('X');
    let with = |month: &str, year: &str| {
        if day_first {
            format!("{day} {month} {year}")
        } else {
            format!("{month} {day}, {year}")
        }
    };
    let short = format!("{:02}", year.rem_euclid(100));
    let year = year.to_string();
    // A form is used from the width of its longest value on.
    let forms = if name.starts_with("WEEK") {
        vec![
            (29, format!("{weekday}, {}", with(full, &year))),
            (23, format!("{weekday}, {}", with(brief, &year))),
            (17, format!("{short_day}, {}", with(brief, &year))),
            (15, format!("{short_day}, {}", with(brief, &short))),
            (9, weekday.to_owned()),
            (3, short_day.to_owned()),
        ]
    } else {
        vec![
            (18, with(full, &year)),
            (12, with(brief, &year)),
            (9, full.to_owned()),
            (3, brief.to_owned()),
        ]
    };
    let found = forms.into_iter().find(|(least, _)| width >= *least);
    found.map_or_else(String::new, |(_, form)| form)
}

fn numbers(name: &str, Date { year, month, day }: Date, width: usize) -> String {
    let (order, separator) = separated(name).unwrap_or(("YYMMDD", None));
    let short = year.rem_euclid(100);
    let year = if width >= 8 + 2 * usize::from(separator.is_some()) {
        format!("{year:04}")
    } else {
        format!("{short:02}")
    };
    let (month, day) = (format!("{month:02}"), format!("{day:02}"));
    let parts = match order {
        "DDMMYY" => [day, month, year],
        "MMDDYY" => [month, day, year],
        _ => [year, month, day],
    };
    let separator = separator.filter(|_| width >= 8);
    let wide: String = parts.join(&separator.map(String::from).unwrap_or_default());
    if wide.len() <= width {
        return wide;
    }
    parts[..2].concat()
}

fn cut(text: &str, width: usize) -> &str {
    text.get(..width).unwrap_or(text)
}

/// Hours, minutes and seconds of a number of seconds that is rounded to so many decimals.
fn split_seconds(value: f64, decimals: usize) -> Option<(f64, f64, String)> {
    let scale = 10_f64.powi(i32::try_from(decimals).ok()?);
    let seconds = (value * scale).round() / scale;
    if seconds >= 1e15 {
        return None;
    }
    let (hours, rest) = ((seconds / 3600.0).floor(), seconds % 3600.0);
    let (minutes, second) = ((rest / 60.0).floor(), rest % 60.0);
    let digits = if decimals == 0 { 2 } else { 3 + decimals };
    Some((hours, minutes, format!("{second:0digits$.decimals$}")))
}

fn clock(name: &str, value: f64, width: usize, decimals: usize) -> Option<String> {
    let sign = if value < 0.0 { "-" } else { "" };
    let magnitude = value.abs();
    if name == "HHMM" {
        let minutes = (magnitude / 60.0).round();
        return Some(format!(
            "{sign}{}:{:02}",
            (minutes / 60.0).floor(),
            minutes % 60.0
        ));
    }
    if name == "HOUR" {
        return Some(decimal(value / 3600.0, decimals));
    }
    // Decimals that do not fit are given up.
    let decimals = (0..=decimals)
        .rev()
        .find(|d| width >= 8 + d + usize::from(*d > 0))
        .unwrap_or(0);
    let (mut hours, minutes, seconds) = split_seconds(magnitude, decimals)?;
    if name == "TOD" {
        hours %= 24.0;
    }
    Some(match name {
        "MMSS" => format!("{sign}{}:{seconds}", hours * 60.0 + minutes),
        "TOD" | "E8601TM" => format!("{sign}{hours:02}:{minutes:02}:{seconds}"),
        _ => match width {
            7.. => {
                let whole = format!("{sign}{hours}:{minutes:02}:{seconds}");
                if width == 7 && whole.len() > 7 {
                    format!("{sign}{hours}:{minutes:02}")
                } else {
                    whole
                }
            }
            4..=6 => format!("{sign}{hours}:{minutes:02}"),
            _ => format!("{sign}{hours}"),
        },
    })
}

fn datetime(name: &str, value: f64, width: usize, decimals: usize) -> Option<String> {
    let extra = if decimals == 0 { 0 } else { decimals + 1 };
    // Decimals that do not fit are given up.
    let decimals = match name {
        "DATETIME" if width < 16 + extra => width.saturating_sub(17),
        _ => decimals,
    };
    let (hours, minutes, seconds) = split_seconds(value.rem_euclid(86_400.0), decimals)?;
    // Rounding may lead to the next day.
    let date = day((value / 86_400.0).floor() + (hours / 24.0).floor())?;
    let hours = hours % 24.0;
    let Date { year, month, day } = date;
    if name == "E8601DT" {
        return Some(format!(
            "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds}"
        ));
    }
    let short = format!(
        "{day:02}{}{:02}",
        MONTHS[month as usize - 1],
        year.rem_euclid(100)
    );
    let long = format!("{day:02}{}{year:04}", MONTHS[month as usize - 1]);
    // The century needs 19 columns, or all that the decimals leave of 20 and more.
    let century = width >= 19.max(18 + extra);
    Some(match width {
        16.. if century => format!("{long}:{hours:02}:{minutes:02}:{seconds}"),
        16.. => format!("{short}:{hours:02}:{minutes:02}:{seconds}"),
        13..=15 => format!("{short}:{hours:02}:{minutes:02}"),
        10..=12 => format!("{short}:{hours:02}"),
        9 => long,
        _ => short,
    })
}
