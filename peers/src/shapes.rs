//! Data sets that we write for others to read: every combination of options, and shapes at the edges.
//!
//! Values are drawn from the shape's name, so that a shape is the same file every time.

mod list;
mod values;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use sas7bdat::{Kind, Variable, WriteOptions, Writer};

use crate::dump;
use values::{Random, Value};

pub(crate) use list::names;

/// How many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Count(u64),
    /// As many as fit on the first page, and this many more.
    FirstPage(u64),
    /// As many as fit on the first two pages with rows, and this many more.
    TwoPages(u64),
}

/// A data set to write.
struct Shape {
    variables: Vec<Variable>,
    options: WriteOptions,
    rows: Rows,
    /// The values of a row, in variable order.
    fill: fn(&Shape, u64, &mut Random) -> Vec<Value>,
}

/// Writes the shape `name` and a dump of what was put into it.
pub(crate) fn write(name: &str, file: &Path, target: &Path) -> Result<()> {
    let shape = list::shape(name).with_context(|| format!("there is no shape {name}"))?;
    let seed = Random::seed(name);
    let count = match shape.rows {
        Rows::Count(count) => count,
        Rows::FirstPage(more) => fitting(&shape, seed, 1)? + more,
        Rows::TwoPages(more) => {
            let first = fitting(&shape, seed, 1)?;
            fitting(&shape, seed, first + 1)? + more
        }
    };
    let mut random = Random(seed);
    let mut out = BufWriter::new(File::create(target)?);
    writeln!(out, "label\t{}", shape.options.label)?;
    for variable in &shape.variables {
        dump::column(variable, &mut out)?;
    }
    let (variables, options) = (&shape.variables, shape.options.clone());
    let mut writer = Writer::create(Vec::new(), variables, options)?;
    let mut row = vec![0; writer.layout().row_bytes as usize];
    let offsets = writer.layout().offsets.clone();
    let mut line = String::new();
    for number in 0..count {
        line.clear();
        line.push_str("row");
        let values = (shape.fill)(&shape, number, &mut random);
        put(&shape, &values, &offsets, &mut row);
        for (variable, value) in shape.variables.iter().zip(&values) {
            line.push('\t');
            match value {
                Value::Number(value) => {
                    dump::number(&mut line, truncated(*value, variable.length));
                }
                Value::Text(text) => dump::text(&mut line, text, shape.options.encoding),
            }
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
        writer.write_row(&row)?;
    }
    writeln!(out, "end\t{count}")?;
    out.flush()?;
    let (bytes, _) = writer.finish()?;
    fs::write(file, bytes)?;
    Ok(())
}

/// The most rows that take no more pages than `rows` rows do.
fn fitting(shape: &Shape, seed: u64, rows: u64) -> Result<u64> {
    let wanted = pages(shape, seed, rows)?;
    let (mut fits, mut exceeds) = (rows, rows * 2);
    while pages(shape, seed, exceeds)? == wanted {
        (fits, exceeds) = (exceeds, exceeds * 2);
    }
    while exceeds - fits > 1 {
        let middle = u64::midpoint(fits, exceeds);
        if pages(shape, seed, middle)? == wanted {
            fits = middle;
        } else {
            exceeds = middle;
        }
    }
    Ok(fits)
}

fn pages(shape: &Shape, seed: u64, rows: u64) -> Result<u64> {
    let mut random = Random(seed);
    let (variables, options) = (&shape.variables, shape.options.clone());
    let mut writer = Writer::create(Vec::new(), variables, options)?;
    let mut row = vec![0; writer.layout().row_bytes as usize];
    let offsets = writer.layout().offsets.clone();
    for number in 0..rows {
        put(
            shape,
            &(shape.fill)(shape, number, &mut random),
            &offsets,
            &mut row,
        );
        writer.write_row(&row)?;
    }
    Ok(writer.finish()?.1.pages)
}

/// Lays values into a row.
fn put(shape: &Shape, values: &[Value], offsets: &[u32], row: &mut [u8]) {
    for ((variable, value), offset) in shape.variables.iter().zip(values).zip(offsets) {
        let length = variable.length as usize;
        let field = &mut row[*offset as usize..][..length];
        match value {
            Value::Number(value) => {
                assert_eq!(variable.kind, Kind::Numeric, "{}", variable.name);
                field.copy_from_slice(&value.to_le_bytes()[8 - length..]);
            }
            Value::Text(text) => {
                assert_eq!(variable.kind, Kind::Character, "{}", variable.name);
                field.fill(b' ');
                field[..text.len()].copy_from_slice(text);
            }
        }
    }
}

/// What is left of a number that is stored in `length` bytes.
fn truncated(value: f64, length: u32) -> f64 {
    let lost = 64 - 8 * length.min(8);
    f64::from_bits(value.to_bits() >> lost << lost)
}
