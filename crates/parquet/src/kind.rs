//! How numbers mean dates on either side.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::schema::types::ColumnDescriptor;
use sas7bdat::Format;

/// Days from 1 January 1960, SAS's epoch, to 1 January 1970, Parquet's.
pub(crate) const EPOCH_DAYS: f64 = 3653.0;
/// The same in seconds.
pub(crate) const EPOCH_SECONDS: f64 = EPOCH_DAYS * 86_400.0;

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
    Moment(f64),
    /// A moment that comes as SAS has it.
    SasMoment,
    /// A time of day, in this many parts of a second.
    Time(f64),
    /// A decimal number, to be divided by this.
    Decimal(f64),
}

/// What the numbers of a variable mean by its format.
pub(crate) fn of_format(format: &Format) -> Meaning {
    const DATES: [&str; 10] = [
        "DATE", "DAY", "DDMMYY", "E8601DA", "MMDDYY", "MONYY", "WEEKDATE", "WORDDATE", "YYMMDD",
        "YYMMDDD",
    ];
    const MOMENTS: [&str; 3] = ["DATETIME", "E8601DT", "MDYAMPM"];
    let name = format.name.to_ascii_uppercase();
    if DATES.contains(&name.as_str()) {
        Meaning::Date
    } else if MOMENTS.contains(&name.as_str()) {
        Meaning::Moment(1e6)
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
        TimeUnit::MILLIS => 1e3,
        TimeUnit::MICROS => 1e6,
        TimeUnit::NANOS => 1e9,
    };
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Meaning::Date,
        (Some(LogicalType::Timestamp(stamp)), _) => Meaning::Moment(parts(&stamp.unit)),
        (Some(LogicalType::Time(time)), _) => Meaning::Time(parts(&time.unit)),
        (None, ConvertedType::TIMESTAMP_MILLIS) => Meaning::Moment(1e3),
        (None, ConvertedType::TIMESTAMP_MICROS) => Meaning::Moment(1e6),
        (None, ConvertedType::TIME_MILLIS) => Meaning::Time(1e3),
        (None, ConvertedType::TIME_MICROS) => Meaning::Time(1e6),
        (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => {
            Meaning::Decimal(10f64.powi(column.type_scale()))
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
    /// The number as SAS has it.
    pub(crate) fn sas_number(self, stored: f64) -> f64 {
        match self {
            Self::Number | Self::Unsigned | Self::SasMoment => stored,
            Self::Date => stored + EPOCH_DAYS,
            Self::Moment(parts) => stored / parts + EPOCH_SECONDS,
            Self::Time(parts) => stored / parts,
            Self::Decimal(divisor) => stored / divisor,
        }
    }
}
