//! SAS7BDAT to Parquet and back.

use std::fs::File;
use std::io::{Seek, Write};

use gristmill_parquet::{Error, Lost, Table, write};
use sas7bdat::{Compression, Format, Layout, Reader, Variable, WriteOptions, Writer, missing};

fn formatted(name: &str, format: &str) -> Variable {
    let mut variable = Variable::numeric(name);
    variable.format = Format {
        name: format.to_owned(),
        width: 0,
        decimals: 0,
    };
    variable
}

fn data_set(rows: &[(f64, f64, f64, &str)]) -> Vec<u8> {
    let variables = [
        Variable::numeric("x"),
        formatted("day", "DATE"),
        formatted("moment", "DATETIME"),
        Variable::character("text", 12),
    ];
    let mut writer = Writer::create(Vec::new(), &variables, WriteOptions::default()).unwrap();
    let layout = Layout::new(&variables, Compression::None);
    for (x, day, moment, text) in rows {
        let mut row = vec![0; layout.row_bytes as usize];
        let mut put = |column: usize, bytes: &[u8]| {
            row[layout.offsets[column] as usize..][..bytes.len()].copy_from_slice(bytes);
        };
        put(0, &x.to_le_bytes());
        put(1, &day.to_le_bytes());
        put(2, &moment.to_le_bytes());
        put(3, format!("{text:12}").as_bytes());
        writer.write_row(&row).unwrap();
    }
    writer.finish().unwrap().0
}

fn to_parquet(data_set: &[u8]) -> (File, u64, Lost) {
    let mut reader = Reader::open(data_set).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let (bytes, rows, lost) = write(&mut reader, Vec::new(), |_| ()).unwrap();
    file.write_all(&bytes).unwrap();
    file.rewind().unwrap();
    (file, rows, lost)
}

/// Reading fails only in the library; the callback never does.
#[derive(Debug)]
struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

fn from_parquet(file: File) -> (Vec<Variable>, Vec<u8>) {
    let mut table = Table::open(file).unwrap();
    let names = table.names().map(str::to_owned).collect();
    let variables = table.variables(names).unwrap();
    let layout = Layout::new(&variables, Compression::None);
    let mut rows = Vec::new();
    let read = table.read::<Failed>(&variables, &layout, |slab| {
        rows.extend_from_slice(slab);
        Ok(())
    });
    read.unwrap();
    (variables, rows)
}

fn plain_rows(data_set: &[u8]) -> Vec<u8> {
    let mut reader = Reader::open(data_set).unwrap();
    let mut rows = Vec::new();
    while let Some(slab) = reader.next_slab().unwrap() {
        rows.extend_from_slice(slab.bytes);
    }
    rows
}

#[test]
fn numbers_dates_moments_and_texts_come_back() {
    let rows: Vec<(f64, f64, f64, String)> = (0..10_000u32)
        .map(|n| {
            let x = if n % 7 == 0 {
                missing::missing()
            } else {
                f64::from(n) / 3.0
            };
            let day = f64::from(n) - 5000.0;
            let moment = f64::from(n) * 1e5 + 0.25;
            (x, day, moment, format!("{n:>012}"))
        })
        .collect();
    let borrowed: Vec<_> = rows.iter().map(|r| (r.0, r.1, r.2, r.3.as_str())).collect();
    let before = data_set(&borrowed);
    let (file, count, lost) = to_parquet(&before);
    assert_eq!((count, lost), (10_000, Lost::default()));
    let (variables, after) = from_parquet(file);
    let formats: Vec<&str> = variables.iter().map(|v| v.format.name.as_str()).collect();
    assert_eq!(formats, ["", "DATE", "DATETIME", ""]);
    assert_eq!(variables[3], Variable::character("text", 12));
    assert!(plain_rows(&before) == after, "the rows differ");
}

#[test]
fn what_parquet_cannot_hold_is_counted() {
    let missing_a = missing::encode(b'A');
    let before = data_set(&[(missing_a, 1.5, missing_a, ""), (1.0, 1.0, 1.0, "ab")]);
    let (file, _, lost) = to_parquet(&before);
    let expected = Lost {
        special_missing: 2,
        parts_of_days: 1,
        ..Lost::default()
    };
    assert_eq!(lost, expected);
    let (variables, rows) = from_parquet(file);
    // The longest text is what counts.
    assert_eq!(variables[3].length, 2);
    assert_eq!(rows[..8], missing::missing().to_le_bytes());
    assert_eq!(rows[8..16], 1.0f64.to_le_bytes());
}

#[test]
fn a_data_set_without_rows_becomes_a_file_without_rows() {
    let (file, rows, _) = to_parquet(&data_set(&[]));
    assert_eq!(rows, 0);
    let (variables, rows) = from_parquet(file);
    assert_eq!((variables.len(), rows.len()), (4, 0));
}

#[test]
fn what_is_no_parquet_file_is_refused() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"PAR1 but not really PAR1").unwrap();
    let error = Table::open(file).err().unwrap();
    assert!(
        error.to_string().starts_with("use the Parquet file: "),
        "{error}"
    );
}

#[test]
fn moments_are_counted_that_microseconds_do_not_hold() {
    let (exact, rounded) = (2_000_000_000.123_456_f64, 2_000_000_000.000_000_5_f64);
    let before = data_set(&[(0.0, 0.0, exact, ""), (0.0, 0.0, rounded, "")]);
    let (file, _, lost) = to_parquet(&before);
    let expected = Lost {
        rounded_moments: 1,
        ..Lost::default()
    };
    assert_eq!(lost, expected);
    let (_, rows) = from_parquet(file);
    let moment = |row: usize| f64::from_le_bytes(rows[row * 32 + 16..][..8].try_into().unwrap());
    assert_eq!(rows.len(), 64);
    assert_eq!(moment(0).to_bits(), exact.to_bits());
    assert!((moment(1) - rounded).abs() < 1e-6);
}

#[test]
fn dates_and_moments_that_parquet_has_not_become_null_and_are_counted() {
    let (last_day, first_day) = (2_147_487_300.0, -2_147_479_995.0);
    let before = data_set(&[
        (0.0, last_day, 9e12, "a"),
        (0.0, last_day + 1.0, 1e13, "a"),
        (0.0, first_day, -1e300, "a"),
        (0.0, first_day - 1.0, f64::INFINITY, "a"),
    ]);
    let (file, _, lost) = to_parquet(&before);
    let expected = Lost {
        out_of_range: 5,
        ..Lost::default()
    };
    assert_eq!(lost, expected);
    let (variables, rows) = from_parquet(file);
    let layout = Layout::new(&variables, Compression::None);
    let missing = missing::missing().to_bits();
    let column = |column: usize| -> Vec<u64> {
        let rows = rows.chunks_exact(layout.row_bytes as usize);
        let values = rows.map(|row| &row[layout.offsets[column] as usize..][..8]);
        values
            .map(|value| u64::from_le_bytes(value.try_into().unwrap()))
            .collect()
    };
    assert_eq!(
        column(1),
        [last_day.to_bits(), missing, first_day.to_bits(), missing]
    );
    assert_eq!(column(2), [9e12f64.to_bits(), missing, missing, missing]);
}

#[test]
fn texts_that_are_no_characters_are_counted() {
    let mut before = data_set(&[
        (0.0, 0.0, 0.0, "QQ"),
        (0.0, 0.0, 0.0, "ab"),
        (0.0, 0.0, 0.0, "QQ"),
    ]);
    let places = before
        .windows(3)
        .enumerate()
        .filter(|(_, there)| *there == b"QQ ");
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    for place in places {
        before[place] = 0xFF;
    }
    let (file, _, lost) = to_parquet(&before);
    let expected = Lost {
        undecodable: 2,
        ..Lost::default()
    };
    assert_eq!(lost, expected);
    assert_eq!(from_parquet(file).0[3].length, 4);
}
