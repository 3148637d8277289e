//! `gristmill data head`: the first rows, with no more pages read than they lie on.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use sas7bdat::{Kind, Variable};
use serde_json::{Value, json};

use super::args::HeadArgs;
use super::files::{self, DataSet, failed};
use super::value::{self, has_format, missing_text, printable};
use crate::exit::Exit;
use crate::ui;

/// Wider tables are printed in blocks of columns.
const LINE_WIDTH: usize = 120;

/// Runs the verb.
pub fn run(args: &HeadArgs) -> Result<Exit> {
    let mut reader = files::open_data_set(&args.file)?;
    let variables = reader.metadata().variables.clone();
    if args.json {
        let rows = first_rows(&mut reader, &args.file, args.rows, as_json)?;
        let columns: Vec<&str> = variables.iter().map(|v| v.name.as_str()).collect();
        let file = args.file.display().to_string();
        let total = reader.metadata().rows;
        let result = json!({"file": file, "rows_total": total, "columns": columns, "rows": rows});
        ui::data(&result.to_string());
        return Ok(Exit::Good);
    }
    let rows = first_rows(&mut reader, &args.file, args.rows, as_text)?;
    ui::data(table(&variables, &rows).trim_end());
    let (shown, total) = (rows.len() as u64, reader.metadata().rows);
    if shown < total {
        ui::say(&format!("({shown} of {total} rows)"));
    }
    Ok(Exit::Good)
}

/// Turns the first `count` rows into values.
fn first_rows<V>(
    reader: &mut DataSet,
    path: &Path,
    count: u64,
    convert: fn(&DataSet, usize, &[u8]) -> V,
) -> Result<Vec<Vec<V>>> {
    let columns = reader.metadata().variables.len();
    let mut rows = Vec::new();
    let mut row = Vec::new();
    while (rows.len() as u64) < count {
        match reader.next_row().map_err(|error| failed(path, &error))? {
            Some(bytes) => {
                row.clear();
                row.extend_from_slice(bytes);
            }
            None => break,
        }
        let values = (0..columns).map(|column| convert(reader, column, &row));
        rows.push(values.collect());
    }
    Ok(rows)
}

fn as_text(reader: &DataSet, column: usize, row: &[u8]) -> String {
    let variable = &reader.metadata().variables[column];
    match variable.kind {
        Kind::Numeric => value::number(reader.decode_numeric(column, row), &variable.format),
        Kind::Character => {
            let text = value::text(reader.bytes(column, row), reader.metadata().encoding);
            printable(&text)
        }
    }
}

/// Numbers stay numbers unless a format says how to show them; `.` is null.
fn as_json(reader: &DataSet, column: usize, row: &[u8]) -> Value {
    let variable = &reader.metadata().variables[column];
    if variable.kind == Kind::Character {
        let text = value::text(reader.bytes(column, row), reader.metadata().encoding);
        return Value::String(text);
    }
    let number = reader.decode_numeric(column, row);
    match missing_text(number) {
        Some(text) if text == "." => Value::Null,
        Some(text) => Value::String(text),
        None if has_format(&variable.format) => {
            Value::String(value::number(number, &variable.format))
        }
        None => json!(number),
    }
}

/// Columns side by side, numbers to the right, in blocks that fit the line.
fn table(variables: &[Variable], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = variables
        .iter()
        .enumerate()
        .map(|(column, variable)| {
            let values = rows.iter().map(|row| row[column].chars().count());
            values.max().unwrap_or(0).max(variable.name.chars().count())
        })
        .collect();
    let row_width = rows.len().to_string().len().max(3);
    let mut out = String::new();
    let mut first = 0;
    while first < variables.len() {
        let mut end = first + 1;
        let mut width = row_width + 2 + widths[first];
        while end < variables.len() && width + 2 + widths[end] <= LINE_WIDTH {
            width += 2 + widths[end];
            end += 1;
        }
        if first > 0 {
            out.push('\n');
        }
        let mut line = |number: &str, text: &dyn Fn(usize) -> String| {
            let mut line = format!("{number:>row_width$}");
            for column in first..end {
                let (text, width) = (text(column), widths[column]);
                let _ = match variables[column].kind {
                    Kind::Numeric => write!(line, "  {text:>width$}"),
                    Kind::Character => write!(line, "  {text:width$}"),
                };
            }
            out.push_str(line.trim_end());
            out.push('\n');
        };
        line("Obs", &|column| printable(&variables[column].name));
        for (number, row) in rows.iter().enumerate() {
            line(&(number + 1).to_string(), &|column| row[column].clone());
        }
        first = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_wider_than_a_line_go_in_blocks() {
        let variables: Vec<Variable> = (0..3)
            .map(|n| Variable::character(format!("c{n}"), 70))
            .collect();
        let rows = vec![vec!["x".repeat(70), "y".repeat(30), "z".to_owned()]];
        let table = table(&variables, &rows);
        assert!(table.lines().all(|line| line.len() <= LINE_WIDTH));
        assert_eq!(table.lines().filter(|l| l.starts_with("Obs")).count(), 1);
        let rows = vec![vec!["x".repeat(70), "y".repeat(60), "z".to_owned()]];
        let table = super::table(&variables, &rows);
        assert_eq!(table.lines().filter(|l| l.starts_with("Obs")).count(), 2);
    }
}
