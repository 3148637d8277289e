//! SAS7BDAT to CSV: RFC 4180, UTF-8, numbers in full.

use std::path::Path;

use anyhow::{Error, Result};
use csv::{ByteRecord, Writer, WriterBuilder};
use sas7bdat::{Kind, trim_blanks};

use super::super::files::{DataSet, NewFile, Stored, failed, open_data_set};
use super::super::progress::Progress;
use super::super::value::{missing_text, shortest};
use super::{Converted, undecodable};

const BUFFER_BYTES: usize = 256 * 1024;

/// Writes all rows of `input` to `output`.
pub fn convert(input: &Path, output: &Path, force: bool) -> Result<Converted> {
    let mut reader = open_data_set(input)?;
    let (new, file) = NewFile::create(output, ".part", force)?;
    let mut writer = WriterBuilder::new()
        .buffer_capacity(BUFFER_BYTES)
        .from_writer(Stored::new(file));
    let (rows, texts) = write(&mut reader, input, &mut writer).map_err(|error| match error {
        Failed::Read(error) => error,
        Failed::Write(error) => new.explain(error),
    })?;
    let flushed = writer.into_inner();
    let stored = flushed.map_err(|error| new.explain(Error::new(error.into_error())))?;
    new.finish(stored.into_file())?;
    Ok(Converted {
        rows,
        columns: reader.metadata().variables.len(),
        notes: undecodable(texts, reader.metadata().encoding)
            .into_iter()
            .collect(),
    })
}

enum Failed {
    Read(Error),
    Write(Error),
}

impl From<csv::Error> for Failed {
    fn from(error: csv::Error) -> Self {
        Self::Write(match error.into_kind() {
            csv::ErrorKind::Io(error) => Error::new(error),
            other => Error::msg(format!("{other:?}")),
        })
    }
}

/// How many rows were written, and texts that could not be read.
fn write(
    reader: &mut DataSet,
    input: &Path,
    writer: &mut Writer<Stored>,
) -> Result<(u64, u64), Failed> {
    let metadata = reader.metadata();
    let variables = metadata.variables.clone();
    writer.write_record(variables.iter().map(|variable| variable.name.as_bytes()))?;
    let row_bytes = u64::from(metadata.layout.row_bytes);
    let mut progress = Progress::new(input.display().to_string(), metadata.rows * row_bytes);
    let encoding = metadata.encoding;
    let mut record = ByteRecord::new();
    let mut row = Vec::new();
    let (mut rows, mut lossy) = (0, 0);
    loop {
        let next = reader.next_row();
        match next.map_err(|error| Failed::Read(failed(input, &error)))? {
            Some(bytes) => {
                row.clear();
                row.extend_from_slice(bytes);
            }
            None => return Ok((rows, lossy)),
        }
        record.clear();
        for (column, variable) in variables.iter().enumerate() {
            match variable.kind {
                Kind::Numeric => {
                    record.push_field(number(reader.decode_numeric(column, &row)).as_bytes());
                }
                Kind::Character => {
                    let text = trim_blanks(reader.bytes(column, &row));
                    let (text, is_lossy) = encoding.decode_lossy(text);
                    lossy += u64::from(is_lossy);
                    record.push_field(text.as_bytes());
                }
            }
        }
        writer.write_byte_record(&record)?;
        rows += 1;
        progress.advance(row_bytes);
    }
}

/// The shortest text that reads back as the same number; nothing for `.`.
fn number(value: f64) -> String {
    match missing_text(value) {
        None => shortest(value),
        Some(text) if text == "." => String::new(),
        Some(text) => text,
    }
}
