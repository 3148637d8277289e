//! Parquet files of other writers: types that this crate reads and does not write.

use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;

use gristmill_parquet::{Error, Table};
use parquet::data_type::{DataType, Int96, Int96Type};
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
