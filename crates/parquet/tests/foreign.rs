//! Parquet files of other writers: types that this crate reads and does not write.

use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;

use gristmill_parquet::{Error, Table};
use parquet::data_type::{
    ByteArray, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use sas7bdat::{Compression, Layout, Variable};

/// A file of one column.
fn file<T: DataType>(column: &str, values: &[T::T]) -> File {
    let schema = format!("message m {{ required {column}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let written = column.typed::<T>().write_batch(values, None, None);
    assert_eq!(written.unwrap(), values.len());
    column.close().unwrap();
    group.close().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&writer.into_inner().unwrap()).unwrap();
    file.rewind().unwrap();
    file
}

#[derive(Debug)]
struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

/// The variable and its numbers.
fn numbers(table: &mut Table) -> (Variable, Vec<f64>) {
    let variables = table.variables(vec!["x".to_owned()]).unwrap();
    let layout = Layout::new(&variables, Compression::None);
    let mut numbers = Vec::new();
    let read = table.read::<Failed>(&variables, &layout, |slab| {
        let values = slab.chunks_exact(8).map(|value| value.try_into().unwrap());
        numbers.extend(values.map(f64::from_le_bytes));
        Ok(())
    });
    read.unwrap();
    (variables[0].clone(), numbers)
}

/// The double nearest to a number with more digits than it holds.
fn nearest(text: &str) -> f64 {
    text.parse().unwrap()
}

/// A day, counted as astronomers do, and nanoseconds.
fn moment(day: u32, nanoseconds: u64) -> Int96 {
    let word = |shift: u32| u32::try_from(nanoseconds >> shift & 0xFFFF_FFFF).unwrap();
    let mut moment = Int96::new();
    moment.set_data(word(0), word(32), day);
    moment
}

#[test]
fn old_timestamps_of_every_year_are_moments() {
    // 1 January of 1960, 0001 (in the Gregorian calendar) and 9999.
    let days = [2_436_935, 1_721_426, 5_373_120];
    let noon = 12 * 3600 * 1_000_000_000;
    let values = days.map(|day| moment(day, noon + 250_000_000));
    let mut table = Table::open(file::<Int96Type>("int96 x", &values)).unwrap();
    let (variable, numbers) = numbers(&mut table);
    assert_eq!(variable.format.name, "DATETIME");
    let expected = [0.0, -715_509.0, 2_936_185.0].map(|day| day * 86_400.0 + 43_200.25);
    assert_eq!(numbers, expected);
}

#[test]
fn decimals_are_rounded_once_and_counted() {
    let values = [12_345, 9_007_199_254_740_993, i64::MAX, -1];
    let mut table = Table::open(file::<Int64Type>("int64 x (DECIMAL(18,2))", &values)).unwrap();
    let (_, read) = numbers(&mut table);
    assert_eq!(
        read,
        [
            123.45,
            90_071_992_547_409.93,
            92_233_720_368_547_758.07,
            -0.01
        ]
    );
    assert_eq!(table.rounded(), 2);
    let values = [12_345, -99];
    let mut table = Table::open(file::<Int32Type>("int32 x (DECIMAL(9,2))", &values)).unwrap();
    assert_eq!(numbers(&mut table).1, [123.45, -0.99]);
    // 10^30 is no double: dividing by it would round a second time.
    let digits = [3i128, 7, 123_456_789, 1_234_567_890_123_456_789];
    let values = digits
        .map(|digits| FixedLenByteArray::from(ByteArray::from(digits.to_be_bytes().to_vec())));
    let column = "fixed_len_byte_array(16) x (DECIMAL(38,30))";
    let mut table = Table::open(file::<FixedLenByteArrayType>(column, &values)).unwrap();
    let (_, read) = numbers(&mut table);
    assert_eq!(
        read,
        [
            3e-30,
            7e-30,
            123_456_789e-30,
            nearest("1234567890123456789e-30")
        ]
    );
    assert_eq!(table.rounded(), 1);
}

#[test]
fn moments_are_as_exact_as_numbers_hold_them() {
    // 2026-11-22 12:00:00.123456789 in nanoseconds since 1970.
    let values = [1_795_348_800_123_456_789, -1, i64::MAX];
    let column = "int64 x (TIMESTAMP(NANOS,false))";
    let mut table = Table::open(file::<Int64Type>(column, &values)).unwrap();
    let expected = [
        nearest("2110968000.123456789"),
        nearest("315619199.999999999"),
        nearest("9538991236.854775807"),
    ];
    assert_eq!(numbers(&mut table).1, expected);
}

#[test]
fn infinite_numbers_are_missing_and_counted() {
    let values = [1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut table = Table::open(file::<DoubleType>("double x", &values)).unwrap();
    let (_, read) = numbers(&mut table);
    let bits: Vec<u64> = read.iter().map(|number| number.to_bits()).collect();
    let missing = sas7bdat::missing::missing().to_bits();
    assert_eq!(bits, [1f64.to_bits(), missing, missing, missing]);
    assert_eq!(table.infinite(), 2);
}
