//! CSV to SAS7BDAT: one pass for the types, one for the rows.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use base::limits::CHARACTER_BYTES_MAX;
use csv::{Reader, ReaderBuilder, StringRecord};
use sas7bdat::{Kind, Variable, missing};

use super::super::args::ShapeArgs;
use super::super::files::NewDataSet;
use super::super::progress::Progress;
use super::Converted;
use super::infer::{Guess, label_renamed, names, number};
use super::lines::Lines;

const BUFFER_BYTES: usize = 256 * 1024;

/// Reads `input` twice and writes `output`.
pub fn convert(input: &Path, output: &Path, shape: ShapeArgs) -> Result<Converted> {
    let bytes = std::fs::metadata(input)
        .with_context(|| format!("failed to open {}", input.display()))?
        .len();
    let mut progress = Progress::new(input.display().to_string(), 2 * bytes);
    let variables = variables(input, &mut progress)?;
    // The same file gives the same bytes.
    let mut data_set = NewDataSet::create(output, &variables, shape, 0)?;
    let layout = data_set.layout().clone();
    let mut row = vec![0; layout.row_bytes as usize];
    let mut rows = 0;
    records(input, variables.len(), &mut progress, |_, record| {
        for ((variable, offset), value) in variables.iter().zip(&layout.offsets).zip(record) {
            let place = &mut row[*offset as usize..(*offset + variable.length) as usize];
            match variable.kind {
                Kind::Numeric => {
                    let value = number(value).unwrap_or_else(missing::missing);
                    place.copy_from_slice(&value.to_le_bytes());
                }
                Kind::Character => {
                    // What is longer by blanks only is cut.
                    let bytes = &value.as_bytes()[..value.len().min(place.len())];
                    place[..bytes.len()].copy_from_slice(bytes);
                    place[bytes.len()..].fill(b' ');
                }
            }
        }
        rows += 1;
        data_set.write_row(&row)
    })?;
    data_set.finish()?;
    Ok(Converted {
        rows,
        columns: variables.len(),
        notes: Vec::new(),
    })
}

fn open(input: &Path, columns: usize) -> Result<Reader<Lines<File>>> {
    let file = File::open(input).with_context(|| format!("failed to open {}", input.display()))?;
    let reader = ReaderBuilder::new()
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(Lines::new(file, columns == 1));
    Ok(reader)
}

/// Refuses a file that ends within quotes: what follows them would be one value.
fn check_quotes(input: &Path, reader: &Reader<Lines<File>>) -> Result<()> {
    if let Some(line) = reader.get_ref().unclosed() {
        bail!(
            "failed to read {}: line {line}: a quote opens a value and is never closed; close it, or write a \
             quote that belongs to the value twice and the whole value in quotes",
            input.display()
        );
    }
    Ok(())
}

/// Calls `each` with every record and its line.
fn records(
    input: &Path,
    columns: usize,
    progress: &mut Progress,
    mut each: impl FnMut(u64, &StringRecord) -> Result<()>,
) -> Result<()> {
    let mut reader = open(input, columns)?;
    let mut record = StringRecord::new();
    let mut before = 0;
    loop {
        let read = reader.read_record(&mut record);
        check_quotes(input, &reader)?;
        if !read.map_err(|error| unreadable(input, &error))? {
            return Ok(());
        }
        let position = reader.position().byte();
        progress.advance(position - before);
        before = position;
        let line = record.position().map_or(0, csv::Position::line);
        each(line, &record)?;
    }
}

fn unreadable(input: &Path, error: &csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    let place = line.map_or_else(String::new, |line| format!(" line {line}:"));
    let detail = match error.kind() {
        csv::ErrorKind::Utf8 { err, .. } => format!(
            "field {} is not UTF-8; convert the file first, for example with iconv",
            err.field() + 1
        ),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("there are {len} fields; the first line has {expected_len}")
        }
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    };
    anyhow::anyhow!("failed to read {}:{place} {detail}", input.display())
}

/// First pass: the variables that hold every value.
fn variables(input: &Path, progress: &mut Progress) -> Result<Vec<Variable>> {
    let mut reader = open(input, 0)?;
    let headers = reader.headers().cloned();
    check_quotes(input, &reader)?;
    let headers = headers.map_err(|error| unreadable(input, &error))?;
    let headers: Vec<String> = headers.iter().map(str::to_owned).collect();
    if headers.is_empty() {
        bail!(
            "{} is empty; its first line must name the columns",
            input.display()
        );
    }
    let mut guesses = vec![Guess::default(); headers.len()];
    records(input, headers.len(), progress, |line, record| {
        for (column, (guess, value)) in guesses.iter_mut().zip(record).enumerate() {
            guess.see(value);
            if guess.longest() > CHARACTER_BYTES_MAX {
                bail!(
                    "{}: line {line}: the value in column {} has {} bytes; \
                     a variable holds {CHARACTER_BYTES_MAX}",
                    input.display(),
                    headers[column],
                    value.len()
                );
            }
        }
        Ok(())
    })?;
    let variables = names(&headers).into_iter().zip(&guesses);
    let mut variables: Vec<Variable> = variables
        .map(|(name, guess)| guess.variable(name))
        .collect();
    label_renamed(&mut variables, &headers);
    Ok(variables)
}
