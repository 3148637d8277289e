//! How numbers mean dates on either side.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::schema::types::ColumnDescriptor;
use sas7bdat::Format;

/// Days from 1 January 1960, SAS's epoch, to 1 January 1970, Parquet's.
pub(crate) const EPOCH_DAYS: f64 = 3653.0;
/// The same in seconds.
pub(crate) const EPOCH_SECONDS: i64 = 3653 * 86_400;

/// What a number means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    /// Itself.
    Number,
    /// A whole number without sign, stored as one with sign.
    Unsigned,
    /// Days.
    Date,
    /// A moment, in this many parts of a second.
    Moment(i64),
    /// A moment that comes as SAS has it.
    SasMoment,
    /// A time of day, in this many parts of a second.
    Time(i64),
    /// A decimal number with so many digits behind the point.
    Decimal(i32),
}

/// Formats of SAS dates but for those of [`SEPARATED`] and those that begin with NLDATE.
const DATES: [&str; 41] = [
    "B8601DA", "DATE", "DAY", "DOWNAME", "E8601DA", "EURDFDD", "EURDFDE", "EURDFDN", "EURDFDWN",
    "EURDFMN", "EURDFMY", "EURDFWDX", "EURDFWKX", "HDATE", "HEBDATE", "IS8601DA", "JULDAY",
    "JULIAN", "MINGUO", "MONNAME", "MONTH", "MONYY", "NENGO", "PDJULG", "PDJULI", "QTR", "QTRR",
    "WEEKDATE", "WEEKDATX", "WEEKDAY", "WEEKU", "WEEKV", "WEEKW", "WORDDATE", "WORDDATX", "YEAR",
    "YYMON", "YYQZ", "YYWEEKU", "YYWEEKV", "YYWEEKW",
];
/// Formats of dates that a letter may follow, which says what separates the parts.
const SEPARATED: [&str; 7] = ["DDMMYY", "MMDDYY", "MMYY", "YYMM", "YYMMDD", "YYQ", "YYQR"];
/// Formats of SAS datetimes but for those that begin with NLDATM.
const MOMENTS: [&str; 23] = [
    "B8601DN", "B8601DT", "B8601DX", "B8601DZ", "B8601LX", "DATEAMPM", "DATETIME", "DTDATE",
    "DTMONYY", "DTWKDATX", "DTYEAR", "DTYYQC", "E8601DN", "E8601DT", "E8601DX", "E8601DZ",
    "E8601LX", "EURDFDT", "IS8601DN", "IS8601DT", "IS8601DX", "IS8601DZ", "MDYAMPM",
];

/// What the numbers of a variable mean by its format. Times of day mean numbers: those of SAS may be
/// negative or longer than a day, which those of Parquet may not.
pub(crate) fn of_format(format: &Format) -> Meaning {
    let name = format.name.to_ascii_uppercase();
    let stem = name.strip_suffix(['B', 'C', 'D', 'N', 'P', 'S']);
    let is = |names: &[&str]| names.contains(&name.as_str());
    let is_separated = is(&SEPARATED) || stem.is_some_and(|stem| SEPARATED.contains(&stem));
    if is(&DATES) || is_separated || name.starts_with("NLDATE") {
        Meaning::Date
    } else if is(&MOMENTS) || name.starts_with("NLDATM") {
        Meaning::Moment(1_000_000)
    } else {
        Meaning::Number
    }
}

/// The format that shows numbers of this meaning.
pub(crate) fn format_of(meaning: Meaning) -> Format {
    let (name, width) = match meaning {
        Meaning::Date => ("DATE", 9),
        Meaning::Moment(_) | Meaning::SasMoment => ("DATETIME", 19),
        Meaning::Time(_) => ("TIME", 8),
        Meaning::Number | Meaning::Unsigned | Meaning::Decimal(_) => return Format::default(),
    };
    Format {
        name: name.to_owned(),
        width,
        decimals: 0,
    }
}

/// What the numbers of a Parquet column mean, by its logical type or by the older converted one.
pub(crate) fn of_column(column: &ColumnDescriptor) -> Meaning {
    let parts = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Meaning::Date,
        (Some(LogicalType::Timestamp(stamp)), _) => Meaning::Moment(parts(&stamp.unit)),
        (Some(LogicalType::Time(time)), _) => Meaning::Time(parts(&time.unit)),
        (None, ConvertedType::TIMESTAMP_MILLIS) => Meaning::Moment(1000),
        (None, ConvertedType::TIMESTAMP_MICROS) => Meaning::Moment(1_000_000),
        (None, ConvertedType::TIME_MILLIS) => Meaning::Time(1000),
        (None, ConvertedType::TIME_MICROS) => Meaning::Time(1_000_000),
        (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => {
            Meaning::Decimal(column.type_scale())
        }
        (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Meaning::Unsigned,
        (
            None,
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64,
        ) => Meaning::Unsigned,
        _ => Meaning::Number,
    }
}

impl Meaning {
    /// A stored whole number as SAS has it.
    pub(crate) fn sas_number(self, stored: i64) -> f64 {
        // The whole seconds are exact, so that there is one rounding.
        let seconds = |parts: i64, epoch: i64| {
            let (whole, rest) = (stored.div_euclid(parts), stored.rem_euclid(parts));
            (whole + epoch) as f64 + rest as f64 / parts as f64
        };
        match self {
            Self::Number | Self::SasMoment => stored as f64,
            Self::Unsigned => stored.cast_unsigned() as f64,
            Self::Date => stored as f64 + EPOCH_DAYS,
            Self::Moment(parts) => seconds(parts, EPOCH_SECONDS),
            Self::Time(parts) => seconds(parts, 0),
            Self::Decimal(scale) => decimal(stored.into(), scale),
        }
    }
}

/// The double nearest to a decimal number with `scale` digits behind the point.
pub(crate) fn decimal(digits: i128, scale: i32) -> f64 {
    /// Powers of ten are doubles up to this one.
    const EXACT_SCALE: i32 = 22;
    if digits.unsigned_abs() <= 1 << 53 && (0..=EXACT_SCALE).contains(&scale) {
        return digits as f64 / 10f64.powi(scale);
    }
    let text = format!("{digits}e{}", -i64::from(scale));
    text.parse().expect("digits and an exponent are a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_and_moments_are_known() {
        let meaning = |name: &str| {
            of_format(&Format {
                name: name.to_owned(),
                width: 0,
                decimals: 0,
            })
        };
        for name in "DATE DAY DDMMYY DDMMYYB DDMMYYC DDMMYYD DDMMYYN DDMMYYP DDMMYYS B8601DA E8601DA JULIAN \
                     mmddyy MMDDYYP MMYY MMYYS MONYY NLDATE NLDATEW QTR WEEKDATE WEEKDATX WORDDATE WORDDATX \
                     YEAR YYMMDD YYMMDDB YYMMDDN YYMMDDP YYMMDDS YYMMN YYQ YYQC YYQRD"
            .split_whitespace()
        {
            assert_eq!(meaning(name), Meaning::Date, "{name}");
        }
        for name in "DATETIME DATEAMPM DTDATE DTMONYY DTYEAR B8601DT B8601DZ E8601DN E8601DT E8601DZ MDYAMPM \
                     NLDATM NLDATMAP IS8601DT"
            .split_whitespace()
        {
            assert_eq!(meaning(name), Meaning::Moment(1_000_000), "{name}");
        }
        for name in
            "TIME TIMEAMPM HHMM TOD E8601TM BEST COMMA D S N DATES DDMMYYX YY".split_whitespace()
        {
            assert_eq!(meaning(name), Meaning::Number, "{name}");
        }
        assert_eq!(meaning(""), Meaning::Number);
    }
}
