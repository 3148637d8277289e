//! The `sas7bdat` crate as a peer.
//!
//! `crate-reader dump` reads lines `data set <tab> output` and answers each with `done`;
//! `crate-reader arrow|raw FILE` reads all rows once, on one thread, and prints how many.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufWriter, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sas7bdat::{CellValue, Dataset, LogicalType, Parallelism};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["dump"] => dump_all(),
        ["arrow", file] => {
            println!("rows={}", read_arrow(file)?);
            Ok(())
        }
        ["raw", file] => {
            println!("rows={}", read_raw(file)?);
            Ok(())
        }
        _ => Err("usage: crate-reader dump | arrow FILE | raw FILE".into()),
    }
}

fn read_arrow(file: &str) -> Outcome<u64> {
    let data = Dataset::open(file)?;
    let mut rows = 0;
    data.scan()
        .with_parallelism(Parallelism::None)
        .visit_arrow_batches(|batch| {
            rows += batch.num_rows() as u64;
            black_box(&batch);
            Ok(ControlFlow::Continue(()))
        })?;
    Ok(rows)
}

fn read_raw(file: &str) -> Outcome<u64> {
    let data = Dataset::open(file)?;
    let mut rows = 0;
    data.scan()
        .with_parallelism(Parallelism::None)
        .visit_raw_rows(|row| {
            rows += 1;
            black_box(row.bytes);
            Ok(ControlFlow::Continue(()))
        })?;
    Ok(rows)
}

fn dump_all() -> Outcome<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (path, target) = line.split_once('\t').ok_or("no tab in the line")?;
        let mut out = BufWriter::new(File::create(target)?);
        match catch_unwind(AssertUnwindSafe(|| dump(path, &mut out))) {
            Ok(Ok(count)) => writeln!(out, "end\t{count}")?,
            Ok(Err(error)) => {
                let message = error.to_string().replace(['\t', '\n'], " ");
                writeln!(out, "error\t{message}")?;
            }
            Err(_) => writeln!(out, "error\tpanicked")?,
        }
        out.flush()?;
        println!("done");
    }
    Ok(())
}

fn dump(path: &str, out: &mut impl Write) -> Outcome<u64> {
    let mut data = Dataset::open(path)?;
    let label = data.metadata().file_label.clone();
    writeln!(out, "label\t{}", escaped(label.as_deref().unwrap_or("")))?;
    let mut numbers = Vec::new();
    for column in data.columns() {
        let is_text = matches!(
            column.logical_type,
            LogicalType::String | LogicalType::Bytes
        );
        if !is_text {
            numbers.push((column.name.clone(), LogicalType::Float));
        }
        writeln!(
            out,
            "column\t{}\t{}\t{}\t{}\t{}",
            escaped(&column.name),
            if is_text { "char" } else { "num" },
            column.physical_width,
            escaped(&column.format_spec().unwrap_or_default()),
            escaped(column.label.as_deref().unwrap_or("")),
        )?;
    }
    // Dates and times as the numbers that are stored.
    data.apply_schema_overrides(numbers.clone())?;
    let numeric: Vec<bool> = data
        .columns()
        .iter()
        .map(|column| column.logical_type == LogicalType::Float)
        .collect();
    let mut rows = 0;
    let mut failure = None;
    data.scan()
        .with_parallelism(Parallelism::None)
        .visit_rows(|row| {
            rows += 1;
            let mut text = String::from("row");
            for (cell, numeric) in row.iter().zip(&numeric) {
                text.push('\t');
                text.push_str(&value(cell, *numeric));
            }
            text.push('\n');
            if let Err(error) = out.write_all(text.as_bytes()) {
                failure = Some(error);
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    failure.map_or(Ok(rows), |error| Err(error.into()))
}

fn value(cell: &CellValue<'_>, numeric: bool) -> String {
    let number = |value: f64| {
        if value.is_nan() {
            ".".to_owned()
        } else {
            format!("x{:016x}", value.to_bits())
        }
    };
    match cell {
        CellValue::Null if numeric => ".".to_owned(),
        CellValue::Null => "'".to_owned(),
        CellValue::Int32(value) => number(f64::from(*value)),
        CellValue::Int64(value) => number(*value as f64),
        CellValue::Float64(value) => number(*value),
        CellValue::Str(text) => format!("'{}", escaped(text)),
        CellValue::Bytes(bytes) => format!("'{}", escaped(&String::from_utf8_lossy(bytes))),
        CellValue::Date(date) => number(f64::from(date.days_since_sas_epoch)),
        CellValue::DateTime(time) => number(time.seconds_since_sas_epoch as f64),
        CellValue::Time(time) => number(f64::from(time.seconds_since_midnight)),
    }
}

fn escaped(text: &str) -> String {
    text.trim_end_matches([' ', '\0'])
        .replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}
