//! SAS7BDAT to Parquet: one row group at a time, column by column.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use sas7bdat::{Batch, Column, Kind, Metadata, Reader, Source, Variable, missing};

use crate::error::Error;
use crate::kind::{EPOCH_DAYS, EPOCH_SECONDS, Meaning, of_format};

/// Rows are kept until they make a row group of about this size.
const GROUP_BYTES: usize = 64 << 20;
const GROUP_ROWS_MAX: usize = 1 << 20;
/// Moments are stored in parts of a second.
const MICROSECONDS: i64 = 1_000_000;

/// What Parquet could not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost {
    /// Special missing values (`.A` to `.Z`, `._`) that became null.
    pub special_missing: u64,
    /// Dates with a part of a day, which was dropped.
    pub parts_of_days: u64,
    /// Datetimes with a part of a microsecond, which were rounded.
    pub rounded_moments: u64,
    /// Dates and datetimes beyond those that Parquet has, which became null.
    pub out_of_range: u64,
    /// Texts with bytes that are no characters in the encoding of the data set, which became U+FFFD.
    pub undecodable: u64,
}

/// Writes all rows that are left in `reader`; `progress` is told of the rows done.
///
/// Texts become strings, numbers doubles or null; numbers with a date or datetime format become
/// dates and timestamps.
pub fn write<S: Source, W: Write + Send>(
    reader: &mut Reader<S>,
    out: W,
    mut progress: impl FnMut(u64),
) -> Result<(W, u64, Lost), Error> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let schema = Arc::new(schema(reader.metadata())?);
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = Group::new(reader.metadata());
    let wanted: Vec<usize> = (0..group.columns.len()).collect();
    let row_bytes = (reader.metadata().layout.row_bytes as usize).max(1);
    let group_rows = (GROUP_BYTES / row_bytes).clamp(1, GROUP_ROWS_MAX);
    let encoding = reader.metadata().encoding;
    let (mut batch, mut rows) = (Batch::default(), 0);
    let mut more = true;
    while more {
        more = reader.next_batch(&wanted, &mut batch)?;
        if more {
            let mut undecodable = 0;
            group.add(&batch, &mut |bytes| {
                let (text, is_lossy) = encoding.decode_lossy(bytes);
                undecodable += u64::from(is_lossy);
                match text {
                    Cow::Borrowed(text) => ByteArray::from(text),
                    Cow::Owned(text) => ByteArray::from(text.into_bytes()),
                }
            });
            group.lost.undecodable += undecodable;
            rows += batch.rows as u64;
            progress(batch.rows as u64);
        }
        if group.rows >= group_rows || (!more && group.rows > 0) {
            group.write(&mut writer)?;
        }
    }
    Ok((writer.into_inner()?, rows, group.lost))
}

fn schema(metadata: &Metadata) -> Result<Type, Error> {
    let fields = metadata.variables.iter().map(field);
    let fields = fields.collect::<Result<Vec<_>, Error>>()?;
    Ok(Type::group_type_builder("schema")
        .with_fields(fields)
        .build()?)
}

fn field(variable: &Variable) -> Result<Arc<Type>, Error> {
    let (physical, logical) = match (variable.kind, of_format(&variable.format)) {
        (Kind::Character, _) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        (Kind::Numeric, Meaning::Date) => (Physical::INT32, Some(LogicalType::Date)),
        (Kind::Numeric, Meaning::Moment(_)) => {
            let stamp = LogicalType::timestamp(false, TimeUnit::MICROS);
            (Physical::INT64, Some(stamp))
        }
        (Kind::Numeric, _) => (Physical::DOUBLE, None),
    };
    let repetition = match variable.kind {
        Kind::Numeric => Repetition::OPTIONAL,
        Kind::Character => Repetition::REQUIRED,
    };
    let field = Type::primitive_type_builder(&variable.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

/// Rows that wait to be written.
struct Group {
    columns: Vec<Values>,
    rows: usize,
    lost: Lost,
}

/// Values of a column, without the missing ones, and which those are.
enum Values {
    Doubles(Vec<f64>, Vec<i16>),
    Days(Vec<i32>, Vec<i16>),
    Moments(Vec<i64>, Vec<i16>),
    Texts(Vec<ByteArray>),
}

impl Group {
    fn new(metadata: &Metadata) -> Self {
        let columns = metadata.variables.iter();
        let columns = columns.map(
            |variable| match (variable.kind, of_format(&variable.format)) {
                (Kind::Character, _) => Values::Texts(Vec::new()),
                (Kind::Numeric, Meaning::Date) => Values::Days(Vec::new(), Vec::new()),
                (Kind::Numeric, Meaning::Moment(_)) => Values::Moments(Vec::new(), Vec::new()),
                (Kind::Numeric, _) => Values::Doubles(Vec::new(), Vec::new()),
            },
        );
        Self {
            columns: columns.collect(),
            rows: 0,
            lost: Lost::default(),
        }
    }

    fn add(&mut self, batch: &Batch, text: &mut dyn FnMut(&[u8]) -> ByteArray) {
        self.rows += batch.rows;
        for (values, column) in self.columns.iter_mut().zip(&batch.columns) {
            match (values, column) {
                (Values::Texts(values), Column::Character(texts)) => {
                    values.extend(texts.iter().map(&mut *text));
                }
                (Values::Doubles(values, levels), Column::Numeric(numbers)) => {
                    let present = present(numbers, levels, &mut self.lost);
                    values.extend(present);
                }
                (Values::Days(values, levels), Column::Numeric(numbers)) => {
                    whole_numbers(numbers, values, levels, &mut self.lost, days);
                }
                (Values::Moments(values, levels), Column::Numeric(numbers)) => {
                    whole_numbers(numbers, values, levels, &mut self.lost, microseconds);
                }
                _ => unreachable!("a batch has the kinds of the data set"),
            }
        }
    }

    fn write<W: Write + Send>(
        &mut self,
        writer: &mut SerializedFileWriter<W>,
    ) -> Result<(), Error> {
        let mut group = writer.next_row_group()?;
        for values in &mut self.columns {
            let mut column = group.next_column()?.expect("a column per variable");
            values.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Values {
    /// Writes and forgets.
    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), Error> {
        match self {
            Self::Doubles(values, levels) => {
                let writer = column.typed::<DoubleType>();
                writer.write_batch(values, Some(levels), None)?;
                values.clear();
                levels.clear();
            }
            Self::Days(values, levels) => {
                let writer = column.typed::<Int32Type>();
                writer.write_batch(values, Some(levels), None)?;
                values.clear();
                levels.clear();
            }
            Self::Moments(values, levels) => {
                let writer = column.typed::<Int64Type>();
                writer.write_batch(values, Some(levels), None)?;
                values.clear();
                levels.clear();
            }
            Self::Texts(values) => {
                let writer = column.typed::<ByteArrayType>();
                writer.write_batch(values, None, None)?;
                values.clear();
            }
        }
        Ok(())
    }
}

/// The numbers that are there; notes in `levels` which are not.
fn present<'n>(
    numbers: &'n [f64],
    levels: &mut Vec<i16>,
    lost: &mut Lost,
) -> impl Iterator<Item = f64> + use<'n> {
    for number in numbers {
        levels.push(i16::from(!number.is_nan()));
        let special = missing::code(*number).is_some_and(|code| code != 0);
        lost.special_missing += u64::from(special);
    }
    numbers.iter().copied().filter(|number| !number.is_nan())
}

/// Converts the numbers that are there; what `convert` has no whole number for becomes null.
fn whole_numbers<T>(
    numbers: &[f64],
    values: &mut Vec<T>,
    levels: &mut Vec<i16>,
    lost: &mut Lost,
    convert: impl Fn(f64, &mut Lost) -> Option<T>,
) {
    for number in numbers {
        let special = missing::code(*number).is_some_and(|code| code != 0);
        lost.special_missing += u64::from(special);
        let value = if number.is_nan() {
            None
        } else {
            let value = convert(*number, lost);
            lost.out_of_range += u64::from(value.is_none());
            value
        };
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
}

/// Days since 1970 of a SAS date.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn days(date: f64, lost: &mut Lost) -> Option<i32> {
    let days = date.floor() - EPOCH_DAYS;
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&days);
    if fits && date.fract().abs() > 0.0 {
        lost.parts_of_days += 1;
    }
    fits.then_some(days as i32)
}

/// Microseconds since 1970 of a SAS datetime.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn microseconds(moment: f64, lost: &mut Lost) -> Option<i64> {
    /// 2^63; 64 bits hold what is below it.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let since_1960 = (moment * MICROSECONDS as f64).round();
    if since_1960.abs() >= BEYOND {
        return None;
    }
    let whole = (since_1960 as i64).checked_sub(EPOCH_SECONDS * MICROSECONDS)?;
    let is_rounded = (since_1960 / MICROSECONDS as f64 - moment).abs() > 0.0;
    lost.rounded_moments += u64::from(is_rounded);
    Some(whole)
}
