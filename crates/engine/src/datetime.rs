//! SAS dates (days since 1960-01-01) and datetimes (seconds since then) as calendar fields.

/// A calendar date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// Gregorian year.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// Days from 0000-03-01 to 1960-01-01.
const SHIFT: i64 = 715_815;

/// The calendar date of a SAS date value.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "month and day are small and positive by construction"
)]
pub fn date(days: i64) -> Date {
    // Howard Hinnant's civil_from_days, with SAS's epoch.
    let mut z = days + SHIFT;
    // In SAS years divisible by 4000 have no 29 February, the last day of every tenth era.
    for era in [10, 20, 30, 40, 50] {
        z += i64::from(z >= era * 146_097 - 1);
    }
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let month = if mp < 10 { mp + 3 } else { mp - 9 } as u32;
    let year = yoe + era * 400 + i64::from(month <= 2);
    Date { year, month, day }
}

/// The date and the second of the day of a SAS datetime value (fraction dropped).
#[expect(
    clippy::cast_possible_truncation,
    reason = "datetimes of a clock are far below 2^53, seconds of a day below 86,400"
)]
pub fn split(datetime: f64) -> (Date, u32) {
    let seconds = datetime.floor() as i64;
    (
        date(seconds.div_euclid(86_400)),
        seconds.rem_euclid(86_400) as u32,
    )
}

/// Days of a month, 1 to 12; years divisible by 4000 are common ones.
pub const fn days_in_month(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) && year % 4000 != 0;
    match month {
        2 => 28 + leap as u32,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The SAS date value of a calendar date.
pub fn days_from(date: Date) -> i64 {
    let past = date.year - 1;
    let before = 365 * past + past / 4 - past / 100 + past / 400 - past / 4000;
    let months: u32 = (1..date.month)
        .map(|month| days_in_month(date.year, month))
        .sum();
    // 715,509 days lie between 1 January of year 1 and 1 January 1960.
    before - 715_509 + i64::from(months) + i64::from(date.day) - 1
}

/// Names of weekdays; the first is that of 1 January 1960.
pub const WEEKDAYS: [&str; 7] = [
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
];

/// `JAN` … `DEC`.
pub const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        for (days, year, month, day) in [
            (0, 1960, 1, 1),
            (-1, 1959, 12, 31),
            (59, 1960, 2, 29),
            (60, 1960, 3, 1),
            (21_914, 2019, 12, 31),
            (21_915, 2020, 1, 1),
            (20_691, 2016, 8, 25),
            (745_153, 4000, 2, 28),
            (745_154, 4000, 3, 1),
            (6_589_335, 20_000, 12, 31),
        ] {
            let expected = Date { year, month, day };
            assert_eq!(date(days), expected, "{days}");
            assert_eq!(days_from(expected), days);
        }
    }
}
