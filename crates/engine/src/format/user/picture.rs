//! Templates of PICTURE: numbers printed digit by digit, dates and times by directives.

use std::fmt::Write as _;

use crate::datetime::{Date, MONTHS, WEEKDAYS, date, days_from};
use crate::format::calendar::{DATES, MONTH_NAMES};

/// A template with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Digit selectors and other characters, or directives.
    pub template: Box<str>,
    /// What stands before the first digit.
    pub prefix: Box<str>,
    /// What stands in the places before that.
    pub fill: char,
    /// MULT=; without it ten for each digit behind the period.
    pub multiplier: Option<f64>,
    /// The template is printed as it is.
    pub noedit: bool,
    /// DECSEP=, printed for a period.
    pub decimal: Option<char>,
    /// DIG3SEP=, printed for a comma.
    pub thousands: Option<char>,
    /// DATATYPE=: the template has directives.
    pub datatype: Option<Datatype>,
}

/// What the values of a template with directives are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datatype {
    /// Days.
    Date,
    /// Seconds since midnight.
    Time,
    /// Seconds.
    Datetime,
}

impl Datatype {
    /// As DATATYPE= names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::Datetime => "DATETIME",
        }
    }
}

/// Differences of a product from a whole number that come from the multiplication alone.
const EXACT: f64 = 1e-13;

/// Largest number of which all digits are known.
const DIGITS_MAX: f64 = 9_007_199_254_740_992.0;

impl Picture {
    /// A template without options.
    pub fn new(template: &str) -> Self {
        Self {
            template: template.into(),
            prefix: "".into(),
            fill: ' ',
            multiplier: None,
            noedit: false,
            decimal: None,
            thousands: None,
            datatype: None,
        }
    }

    /// Places for digits.
    fn selectors(&self) -> usize {
        let places = self.template.bytes().filter(u8::is_ascii_digit);
        places.count()
    }

    /// What a value is multiplied by.
    pub fn factor(&self) -> f64 {
        self.multiplier.unwrap_or_else(|| {
            let (_, behind) = self.template.split_once('.').unwrap_or(("", ""));
            let places = behind.bytes().filter(u8::is_ascii_digit).count();
            10_f64.powi(i32::try_from(places).unwrap_or(i32::MAX))
        })
    }

    /// `value`, which is not missing, in `width` columns.
    pub fn print(&self, value: f64, round: bool, width: usize) -> String {
        if let Some(datatype) = self.datatype {
            let text = directives(&self.template, datatype, value);
            return text.map_or_else(|| "*".repeat(width), |text| left(&text, width));
        }
        if self.noedit || self.selectors() == 0 {
            return left(&self.template, width);
        }
        let product = value.abs() * self.factor();
        let nearest = product.round();
        let whole = if round || (product - nearest).abs() <= product * EXACT {
            nearest
        } else {
            product.floor()
        };
        if whole > DIGITS_MAX {
            return "*".repeat(width);
        }
        self.placed(&format!("{whole:.0}"), width)
    }

    /// The digits in their places, at the right of `width` columns. Digits that have no place are
    /// lost on the left, as documented; what the columns have no room for gives asterisks.
    fn placed(&self, digits: &str, width: usize) -> String {
        let places = self.selectors();
        let padded = format!("{digits:0>places$}");
        let digits = &padded.as_bytes()[padded.len() - places..];
        let length = self.template.chars().count();
        let mut text: Vec<char> = vec![self.fill; width.saturating_sub(length)];
        let (mut place, mut first) = (0, None);
        for c in self.template.chars() {
            if c.is_ascii_digit() {
                let digit = char::from(digits[place]);
                place += 1;
                if first.is_none() && (digit != '0' || c != '0') {
                    first = Some(text.len());
                }
                text.push(if first.is_some() { digit } else { self.fill });
            } else if first.is_some() || place == places {
                text.push(match c {
                    '.' => self.decimal.unwrap_or(c),
                    ',' => self.thousands.unwrap_or(c),
                    other => other,
                });
            } else {
                text.push(self.fill);
            }
        }
        let cut = text.len() - width;
        let used = first.unwrap_or_else(|| text.iter().take_while(|c| **c == self.fill).count());
        if used < cut {
            return "*".repeat(width);
        }
        let prefix = self.prefix.chars().count();
        if let Some(first) = first.filter(|first| cut + prefix <= *first) {
            text.splice(first - prefix..first, self.prefix.chars());
        }
        text[cut..].iter().collect()
    }
}

fn left(text: &str, width: usize) -> String {
    let cut: String = text.chars().take(width).collect();
    format!("{cut:<width$}")
}

/// Whether every directive of a template is one that there is.
pub(super) fn known_directives(template: &str) -> bool {
    directives(template, Datatype::Date, 0.0).is_some()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the ranges are checked before"
)]
fn directives(template: &str, datatype: Datatype, value: f64) -> Option<String> {
    let (day, second) = match datatype {
        Datatype::Date => (value.floor(), 0.0),
        Datatype::Time | Datatype::Datetime => {
            ((value / 86_400.0).floor(), value.rem_euclid(86_400.0))
        }
    };
    if !DATES.contains(&day) {
        return None;
    }
    let (day, second) = (day as i64, second as u32);
    let Date {
        year,
        month,
        day: of_month,
    } = date(day);
    let hour = second / 3600;
    let of_year =
        day - days_from(Date {
            year,
            month: 1,
            day: 1,
        }) + 1;
    // 1 January 1960 was a Friday.
    let weekday = (day + 5).rem_euclid(7);
    let name = WEEKDAYS[day.rem_euclid(7) as usize];
    let mut text = String::new();
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let zero = rest.next_if_eq(&'0').is_some();
        let mut number = |value: i64, width: usize| {
            let width = if zero { width } else { 1 };
            // Writing to a text does not fail.
            let _ = write!(text, "{value:0width$}");
        };
        match rest.next()? {
            'd' => number(i64::from(of_month), 2),
            'H' => number(i64::from(hour), 2),
            'I' => number(i64::from((hour + 11) % 12 + 1), 2),
            'j' => number(of_year, 3),
            'm' => number(i64::from(month), 2),
            'M' => number(i64::from(second / 60 % 60), 2),
            'S' => number(i64::from(second % 60), 2),
            'U' => number((of_year + 6 - weekday) / 7, 2),
            'w' => number(weekday + 1, 1),
            'y' => number(year.rem_euclid(100), 2),
            'Y' => number(year, 4),
            'a' => text.push_str(name.get(..3)?),
            'A' => text.push_str(name),
            'b' => text.push_str(MONTHS.get(month as usize - 1)?),
            'B' => text.push_str(MONTH_NAMES[month as usize - 1]),
            'p' => text.push_str(if hour < 12 { "AM" } else { "PM" }),
            '%' => text.push('%'),
            _ => return None,
        }
    }
    Some(text)
}

impl Picture {
    /// Whether its directives are known.
    pub fn is_known(&self) -> bool {
        self.datatype.is_none() || known_directives(&self.template)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(template: &str, prefix: &str, fill: char, multiplier: Option<f64>) -> Picture {
        Picture {
            prefix: prefix.into(),
            fill,
            multiplier,
            ..Picture::new(template)
        }
    }

    /// The examples of the documentation of PICTURE.
    #[test]
    fn published_pictures() {
        for (template, prefix, fill, multiplier, value, shown) in [
            ("09.9M", "$", ' ', Some(0.000_01), 1_600_000.0, " $1.6M"),
            ("0000", "", ' ', None, 123.0, " 123"),
            ("000,009.99", "$", ' ', None, 25_500.0, "$25,500.00"),
            ("99", "", ' ', None, 2.0, "02"),
            (
                "99-illegal day value",
                "",
                ' ',
                None,
                67.0,
                "67-illegal day value",
            ),
            ("00,000,000.00", "$", '*', None, 19_999.0, "***$19,999.00"),
            ("00.00", "-", ' ', None, -2.05, "-2.05"),
            ("99", "-.", ' ', Some(100.0), -0.05, " -.05"),
            ("99", "-.", ' ', Some(100.0), -0.05, "05"),
            ("999-99-9999", "", ' ', None, 12_345_678.0, "012-34-5678"),
            (
                "(999)999-9999",
                "",
                ' ',
                None,
                9_195_551_234.0,
                " 919)555-1234",
            ),
            // By hand: leading zeros go with the commas between them.
            ("000,000", "", ' ', None, 12.0, "     12"),
            ("009.9%", "", ' ', None, 0.04, "  0.0%"),
            ("009.9%", "", ' ', None, 1289.33, "289.3%"),
            // 1289.33 * 100 is not whole in doubles.
            ("00,000.00", "", ' ', None, 1_289.33, " 1,289.33"),
            ("00,000.00", "", ' ', None, 1_289.339, " 1,289.33"),
        ] {
            let one = picture(template, prefix, fill, multiplier);
            let width = shown.chars().count();
            assert_eq!(one.print(value, false, width), shown, "{template} {value}");
        }
        let rounded = picture("09.99", "", ' ', None);
        assert_eq!(rounded.print(1.236, true, 5), " 1.24");
        assert_eq!(rounded.print(12.36, true, 4), "****");
        assert_eq!(rounded.print(1.2, true, 8), "    1.20");
    }

    #[test]
    fn directives_print_dates_and_times() {
        for (template, datatype, value, shown) in [
            ("%Y-%0m-%0d", Datatype::Date, 21_075.0, "2017-09-13"),
            ("%d.%m.%y", Datatype::Date, 0.0, "1.1.60"),
            ("%0d%b%Y", Datatype::Date, 21_075.0, "13SEP2017"),
            (
                "%A, %B %d",
                Datatype::Date,
                21_075.0,
                "Wednesday, September 13",
            ),
            ("%a %j %0j %w", Datatype::Date, 31.0, "Mon 32 032 2"),
            ("%0H:%0M:%0S", Datatype::Time, 3_661.0, "01:01:01"),
            ("%I:%0M %p", Datatype::Time, 46_800.0, "1:00 PM"),
            (
                "%Y%0m%0dT%0H%0M%0S",
                Datatype::Datetime,
                -1.0,
                "19591231T235959",
            ),
            ("100%%", Datatype::Date, 0.0, "100%"),
        ] {
            let one = Picture {
                datatype: Some(datatype),
                ..Picture::new(template)
            };
            assert!(one.is_known());
            assert_eq!(one.print(value, false, shown.len()), shown, "{template}");
        }
    }
}
