//! Intervals of INTNX and INTCK: numbered one after the other, with the day (or second) that each begins with.

use super::calendar;
use crate::datetime::{Date, days_from};
use crate::expr::evaluate::trimmed;

/// January 1960, in months since year 0: intervals of several units are counted from here.
const ORIGIN_MONTH: i64 = 1960 * 12;

/// 27 December 1959, the Sunday of the week of 1 January 1960: intervals of weeks are counted from here.
const ORIGIN_SUNDAY: i64 = -5;

/// An interval such as WEEK, MONTH2.3 or DTDAY.
#[derive(Clone, Copy)]
pub(super) struct Interval {
    pub(super) unit: Unit,
    multiple: i64,
    /// From 0.
    shift: i64,
    /// Applied to datetimes.
    pub(super) datetime: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// So many seconds, of times and datetimes.
    Seconds(i64),
    Days,
    Weeks,
    /// Days; those of the weekend, bits from Sunday on, belong to the day before.
    Weekdays(u8),
    /// So many parts of a month, two or three.
    Parts(i64),
    Months(i64),
}

impl Interval {
    /// What there is, for messages.
    pub(super) const NAMES: &str = "SECOND MINUTE HOUR DAY WEEK WEEKDAY (also with days of the weekend, as \
                                    WEEKDAY17W) TENDAY SEMIMONTH MONTH QTR SEMIYEAR YEAR";

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(trimmed(text))
            .trim()
            .to_ascii_uppercase();
        let (head, shift) = text.split_once('.').unwrap_or((&text, "1"));
        let name = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let multiple = match &head[name.len()..] {
            "" => 1,
            digits => digits.parse().ok().filter(|multiple| *multiple > 0)?,
        };
        let (datetime, name) = match name.strip_prefix("DT") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let unit = match name {
            "SECOND" => Unit::Seconds(1),
            "MINUTE" => Unit::Seconds(60),
            "HOUR" => Unit::Seconds(3600),
            "DAY" => Unit::Days,
            "WEEK" => Unit::Weeks,
            "WEEKDAY" => Unit::Weekdays(0b100_0001),
            "TENDAY" => Unit::Parts(3),
            "SEMIMONTH" => Unit::Parts(2),
            "MONTH" => Unit::Months(1),
            "QTR" | "QUARTER" => Unit::Months(3),
            "SEMIYEAR" => Unit::Months(6),
            "YEAR" => Unit::Months(12),
            _ => Unit::Weekdays(weekend(name)?),
        };
        let shift = shift
            .parse::<i64>()
            .ok()?
            .checked_sub(1)
            .filter(|shift| *shift >= 0)?;
        let datetime = datetime && !matches!(unit, Unit::Seconds(_));
        Some(Self {
            unit,
            multiple,
            shift,
            datetime,
        })
    }

    /// The number of the interval that `value` lies in.
    pub(super) fn index(&self, value: i64) -> Option<i64> {
        let months = || {
            let day = calendar(value as f64)?;
            let months = day.year * 12 + i64::from(day.month) - 1 - ORIGIN_MONTH;
            Some((months, i64::from(day.day)))
        };
        let (unit, multiple) = match self.unit {
            Unit::Seconds(length) => (value.div_euclid(length), self.multiple),
            Unit::Days => (value, self.multiple),
            // The shift counts days.
            Unit::Weeks => (value - ORIGIN_SUNDAY, self.multiple.checked_mul(7)?),
            Unit::Weekdays(weekend) => {
                (weekday(value, weekend) - weekday(0, weekend), self.multiple)
            }
            Unit::Parts(parts) => {
                let (months, day) = months()?;
                let part = ((day - 1) * parts / 30).min(parts - 1);
                (months * parts + part, self.multiple)
            }
            // The shift counts months.
            Unit::Months(length) => (months()?.0, self.multiple.checked_mul(length)?),
        };
        Some(unit.checked_sub(self.shift)?.div_euclid(multiple))
    }

    /// The first value of the interval of this number.
    pub(super) fn start(&self, index: i64) -> Option<i64> {
        let units = |length: i64| {
            let multiple = self.multiple.checked_mul(length)?;
            index.checked_mul(multiple)?.checked_add(self.shift)
        };
        match self.unit {
            Unit::Seconds(length) => units(1)?.checked_mul(length),
            Unit::Days => units(1),
            Unit::Weeks => units(7)?.checked_add(ORIGIN_SUNDAY),
            Unit::Weekdays(weekend) => {
                let number = units(1)?.checked_add(weekday(0, weekend))?;
                let days = (0..7).filter(|day| weekend >> day & 1 == 0);
                let working: Vec<i64> = days.collect();
                let count = i64::try_from(working.len()).ok()?;
                let place = usize::try_from(number.rem_euclid(count)).ok()?;
                let week = number.div_euclid(count).checked_mul(7)?;
                week.checked_add(ORIGIN_SUNDAY + working[place])
            }
            Unit::Parts(parts) => {
                let number = units(1)?;
                let month = number.div_euclid(parts).checked_add(ORIGIN_MONTH)?;
                Some(month_start(month)? + 30 / parts * number.rem_euclid(parts))
            }
            Unit::Months(length) => month_start(units(length)?.checked_add(ORIGIN_MONTH)?),
        }
    }
}

/// The days of the weekend in `WEEKDAYdaysW`, Sunday being 1.
fn weekend(name: &str) -> Option<u8> {
    let days = name.strip_prefix("WEEKDAY")?.strip_suffix('W')?;
    let bits = days.bytes().try_fold(0u8, |bits, day| match day {
        b'1'..=b'7' => Some(bits | 1 << (day - b'1')),
        _ => None,
    })?;
    (bits != 0 && bits != 0b111_1111).then_some(bits)
}

/// How many days that are not of the weekend there are from the origin to `value`, less one.
fn weekday(value: i64, weekend: u8) -> i64 {
    let (week, day) = (
        (value - ORIGIN_SUNDAY).div_euclid(7),
        (value - ORIGIN_SUNDAY).rem_euclid(7),
    );
    let working = |until: i64| {
        (0..until)
            .map(|day| i64::from(weekend >> day & 1 == 0))
            .sum::<i64>()
    };
    week * working(7) + working(day + 1) - 1
}

/// The first day of a month counted from year 0.
pub(super) fn month_start(months: i64) -> Option<i64> {
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let month = u32::try_from(month).ok()? + 1;
    (1582..=20_000).contains(&year).then(|| {
        days_from(Date {
            year,
            month,
            day: 1,
        })
    })
}
