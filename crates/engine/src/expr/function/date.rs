//! Dates (days since 1960), times (seconds) and datetimes (seconds since 1960).

mod interval;

use self::interval::{Interval, Unit, month_start};
use super::character::whole;
use super::table::{Entry, Gives, general, plain};
use crate::datetime::{Date, date, days_from, days_in_month};
use crate::expr::evaluate::trimmed;
use crate::expr::general::{Call, Result};
use crate::failure::Failure;
use sas7bdat::missing;

const DAY: f64 = 86_400.0;

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("TODAY", "", Gives::Number, |call| {
        Result::Number((now(call) / DAY).floor())
    }),
    general("DATE", "", Gives::Number, |call| {
        Result::Number((now(call) / DAY).floor())
    }),
    general("TIME", "", Gives::Number, |call| {
        Result::Number(now(call).rem_euclid(DAY))
    }),
    general("DATETIME", "", Gives::Number, |call| {
        Result::Number(now(call))
    }),
    plain("DATEPART", "n", |v| Some((v[0] / DAY).floor())),
    plain("TIMEPART", "n", |v| Some(v[0].rem_euclid(DAY))),
    plain("MDY", "nnn", |v| from_parts(v[2], v[0], v[1])),
    plain("DHMS", "nnnn", |v| {
        Some(v[0] * DAY + v[1] * 3600.0 + v[2] * 60.0 + v[3])
    }),
    plain("HMS", "nnn", |v| Some(v[0] * 3600.0 + v[1] * 60.0 + v[2])),
    plain("YEAR", "n", |v| calendar(v[0]).map(|d| d.year as f64)),
    plain("QTR", "n", |v| {
        calendar(v[0]).map(|d| f64::from(d.month.div_ceil(3)))
    }),
    plain("MONTH", "n", |v| calendar(v[0]).map(|d| f64::from(d.month))),
    plain("DAY", "n", |v| calendar(v[0]).map(|d| f64::from(d.day))),
    // 1 January 1960 was a Friday, day 6.
    plain("WEEKDAY", "n", |v| {
        Some((v[0].floor() + 5.0).rem_euclid(7.0) + 1.0)
    }),
    general("WEEK", "n?c", Gives::Number, |call| {
        let descriptor = if call.count() > 1 {
            String::from_utf8_lossy(trimmed(&call.text(1))).to_ascii_uppercase()
        } else {
            "U".to_owned()
        };
        let date = call.number(0);
        if date.is_nan() {
            return Result::Number(missing::encode(0));
        }
        Result::Number(match week(date, &descriptor) {
            Some(week) => week as f64,
            None => call.invalid(),
        })
    }),
    general("YRDIF", "nnc", Gives::Number, |call| {
        let basis = String::from_utf8_lossy(trimmed(&call.text(2))).to_ascii_uppercase();
        let (start, end) = (call.number(0), call.number(1));
        if start.is_nan() || end.is_nan() {
            return Result::Number(missing::encode(0));
        }
        if basis == "AGE" {
            let message = "The basis AGE of YRDIF is not implemented yet.";
            call.events.fail(Failure::world(message));
            return Result::Number(missing::encode(0));
        }
        Result::Number(years_between(start, end, &basis).unwrap_or_else(|| call.invalid()))
    }),
    general("DATDIF", "nnc", Gives::Number, |call| {
        let basis = String::from_utf8_lossy(trimmed(&call.text(2))).to_ascii_uppercase();
        let (start, end) = (call.number(0), call.number(1));
        if start.is_nan() || end.is_nan() {
            return Result::Number(missing::encode(0));
        }
        let days = match &*basis {
            "30/360" | "360" => {
                years_between(start, end, &basis).map(|years| (years * 360.0).round())
            }
            "ACT/ACT" | "ACTUAL" | "ACT" | "ACT/360" | "ACT/365" => {
                Some(end.floor() - start.floor())
            }
            _ => None,
        };
        Result::Number(days.unwrap_or_else(|| call.invalid()))
    }),
    plain("JULDATE", "n", |v| {
        let today = calendar(v[0])?;
        let first = from_parts(today.year as f64, 1.0, 1.0)?;
        let day = v[0].floor() - first + 1.0;
        // Two digits mean the years from 1926 on.
        let year = match today.year {
            1926..2026 => today.year % 100,
            year => year,
        };
        Some(year as f64 * 1000.0 + day)
    }),
    plain("DATEJUL", "n", |v| {
        let (year, day) = ((v[0] / 1000.0).floor(), v[0].rem_euclid(1000.0));
        let first = from_parts(year, 1.0, 1.0)?;
        let date = first + day - 1.0;
        let same = calendar(date)?.year == calendar(first)?.year;
        (day >= 1.0 && day.fract() == 0.0 && same).then_some(date)
    }),
    plain("HOUR", "n", |v| {
        Some((v[0].rem_euclid(DAY) / 3600.0).floor())
    }),
    plain("MINUTE", "n", |v| {
        Some((v[0].rem_euclid(3600.0) / 60.0).floor())
    }),
    plain("SECOND", "n", |v| Some(v[0].rem_euclid(60.0))),
    general("INTNX", "cnn?c", Gives::Number, |call| {
        Result::Number(intnx(call))
    }),
    general("INTCK", "cnn?c", Gives::Number, |call| {
        Result::Number(intck(call))
    }),
];

fn now(call: &Call<'_, '_>) -> f64 {
    call.events.surroundings.now()
}

fn calendar(value: f64) -> Option<Date> {
    let days = value.floor();
    (-138_061.0..=6_589_335.0)
        .contains(&days)
        .then(|| whole(days).map(date))?
}

/// The week of the year: `U` weeks begin on Sundays and `W` on Mondays, the days before the first
/// one are week 0; `V` by ISO 8601.
fn week(value: f64, descriptor: &str) -> Option<i64> {
    let days = whole(value.floor())?;
    let today = calendar(value)?;
    let first = |year| {
        days_from(Date {
            year,
            month: 1,
            day: 1,
        })
    };
    // 1 January 1960 was a Friday.
    let from_sunday = (days + 5).rem_euclid(7);
    let from_monday = (days + 4).rem_euclid(7);
    let day_of_year = days - first(today.year);
    match descriptor {
        "U" => Some((day_of_year + 7 - from_sunday) / 7),
        "W" => Some((day_of_year + 7 - from_monday) / 7),
        "V" => {
            // The year of a week is that of its Thursday.
            let thursday = days - from_monday + 3;
            Some((thursday - first(date(thursday).year)) / 7 + 1)
        }
        _ => None,
    }
}

/// YRDIF: years and parts of years from one date to another.
fn years_between(start: f64, end: f64, basis: &str) -> Option<f64> {
    let (from, to) = (calendar(start)?, calendar(end)?);
    let days = end.floor() - start.floor();
    match basis {
        "30/360" | "360" => {
            // The last day of a month counts as its thirtieth.
            let day = |date: &Date| {
                if date.day == days_in_month(date.year, date.month) {
                    30
                } else {
                    date.day.min(30)
                }
            };
            let count =
                |date: &Date| date.year * 360 + i64::from(date.month) * 30 + i64::from(day(date));
            Some((count(&to) - count(&from)) as f64 / 360.0)
        }
        "ACT/360" => Some(days / 360.0),
        "ACT/365" => Some(days / 365.0),
        "ACT/ACT" | "ACTUAL" | "ACT" => {
            let part = |value: f64, date: &Date| {
                let first = |year| {
                    days_from(Date {
                        year,
                        month: 1,
                        day: 1,
                    }) as f64
                };
                let length = first(date.year + 1) - first(date.year);
                (value.floor() - first(date.year)) / length
            };
            Some((to.year - from.year) as f64 + part(end, &to) - part(start, &from))
        }
        _ => None,
    }
}

fn from_parts(year: f64, month: f64, day: f64) -> Option<f64> {
    let (year, month, day) = (whole(year)?, whole(month)?, whole(day)?);
    // Two digits mean the years from 1926 on.
    let year = if (0..100).contains(&year) {
        1926 + (year - 26).rem_euclid(100)
    } else {
        year
    };
    let month = u32::try_from(month)
        .ok()
        .filter(|month| (1..=12).contains(month))?;
    let day = u32::try_from(day).ok()?;
    let valid = (1582..=20_000).contains(&year) && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| days_from(Date { year, month, day }) as f64)
}

/// The interval of a call of `function`, or what is wrong with it.
fn interval(function: &str, name: &[u8]) -> std::result::Result<Interval, String> {
    Interval::parse(name).ok_or_else(|| {
        format!(
            "The interval '{}' of {function} is unknown or not implemented yet. There are {}, \
             with multiples and shifts, and DT before those of dates.",
            String::from_utf8_lossy(name).trim(),
            Interval::NAMES
        )
    })
}

/// What is wrong with the interval that a call of `function` names, if anything is.
pub(super) fn refusal(function: &str, name: &[u8]) -> Option<String> {
    interval(function, name).err()
}

fn intnx(call: &mut Call<'_, '_>) -> f64 {
    let (from, count) = (call.number(1), call.number(2));
    if from.is_nan() || count.is_nan() {
        call.events.count(call.site);
        return missing::encode(0);
    }
    let alignment = call.text(3).first().map_or(b'B', u8::to_ascii_uppercase);
    let interval = match interval("INTNX", &call.text(0)) {
        Ok(interval) => interval,
        Err(message) => return call.refuse(message),
    };
    shifted(interval, from, count, alignment).unwrap_or_else(|| call.invalid())
}

fn shifted(interval: Interval, from: f64, count: f64, alignment: u8) -> Option<f64> {
    let scale = if interval.datetime { DAY } else { 1.0 };
    let value = whole((from / scale).floor())?;
    let index = interval.index(value)?;
    let target = index.checked_add(whole(count)?)?;
    let (start, end) = (
        interval.start(target)?,
        interval.start(target.checked_add(1)?)?,
    );
    let result = match alignment {
        b'B' => start as f64 * scale,
        b'E' => end as f64 * scale - 1.0,
        b'M' => (start + (end - 1 - start).div_euclid(2)) as f64 * scale,
        b'S' => {
            same_day(interval, value, start, end, index)? as f64 * scale
                + (from - (value as f64) * scale)
        }
        _ => return None,
    };
    Some(result)
}

/// The day as far into its interval as `value` was, at most the last one.
fn same_day(interval: Interval, value: i64, start: i64, end: i64, index: i64) -> Option<i64> {
    if let Unit::Months(_) = interval.unit {
        let (old, first) = (
            calendar(value as f64)?,
            calendar(interval.start(index)? as f64)?,
        );
        let months = (old.year - first.year) * 12 + i64::from(old.month) - i64::from(first.month);
        let to = calendar(start as f64)?;
        let month = month_start(to.year * 12 + i64::from(to.month) - 1 + months)?;
        let target = calendar(month as f64)?;
        let day = old.day.min(days_in_month(target.year, target.month));
        return Some(month + i64::from(day) - 1);
    }
    Some((start + value - interval.start(index)?).min(end - 1))
}

fn intck(call: &mut Call<'_, '_>) -> f64 {
    let (from, to) = (call.number(1), call.number(2));
    if from.is_nan() || to.is_nan() {
        call.events.count(call.site);
        return missing::encode(0);
    }
    let method = call.text(3).first().map_or(b'D', u8::to_ascii_uppercase);
    let interval = match interval("INTCK", &call.text(0)) {
        Ok(interval) => interval,
        Err(message) => return call.refuse(message),
    };
    if !matches!(method, b'D' | b'C') {
        return call.invalid();
    }
    let scale = if interval.datetime { DAY } else { 1.0 };
    let index = |value: f64| whole((value / scale).floor()).and_then(|value| interval.index(value));
    let (Some(first), Some(last)) = (index(from), index(to)) else {
        return call.invalid();
    };
    let mut count = last - first;
    if method == b'C' {
        // Whole intervals that have gone by since `from`.
        let reached = |count: i64| shifted(interval, from, count as f64, b'S');
        if to >= from && reached(count).is_some_and(|day| day > to) {
            count -= 1;
        } else if to < from && reached(count).is_some_and(|day| day < to) {
            count += 1;
        }
    }
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: i64, month: u32, day: u32) -> f64 {
        days_from(Date { year, month, day }) as f64
    }

    fn next(interval: &str, from: f64, count: f64, alignment: u8) -> Option<f64> {
        shifted(
            Interval::parse(interval.as_bytes())?,
            from,
            count,
            alignment,
        )
    }

    #[test]
    fn dates_move_by_intervals() {
        let from = day(2020, 1, 31);
        for (interval, count, alignment, expected) in [
            ("month", 1.0, b'B', day(2020, 2, 1)),
            ("month", 1.0, b'E', day(2020, 2, 29)),
            ("month", 1.0, b'S', day(2020, 2, 29)),
            ("month", 0.0, b'B', day(2020, 1, 1)),
            ("qtr", 1.0, b'B', day(2020, 4, 1)),
            ("year", -1.0, b'S', day(2019, 1, 31)),
            ("year", 1.0, b'E', day(2021, 12, 31)),
            ("week", 1.0, b'B', day(2020, 2, 2)),
            ("week.2", 0.0, b'B', day(2020, 1, 27)),
            ("day", 5.0, b'B', day(2020, 2, 5)),
            ("weekday", 1.0, b'B', day(2020, 2, 3)),
            ("semimonth", 1.0, b'B', day(2020, 2, 1)),
            ("month2", 0.0, b'B', day(2020, 1, 1)),
            ("month", 1.0, b'M', day(2020, 2, 15)),
        ] {
            assert_eq!(
                next(interval, from, count, alignment),
                Some(expected),
                "{interval} {count}"
            );
        }
        assert_eq!(
            next("dtday", 86_400.0 * 3.0 + 5.0, 1.0, b'B'),
            Some(86_400.0 * 4.0)
        );
        assert_eq!(next("hour", 3_700.0, 1.0, b'B'), Some(7_200.0));
        assert_eq!(next("nosuch", 0.0, 1.0, b'B'), None);
        assert_eq!(from_parts(2020.0, 2.0, 30.0), None);
        assert_eq!(from_parts(26.0, 1.0, 1.0), Some(day(1926, 1, 1)));
    }
}
