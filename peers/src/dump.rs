//! A data set as text, in the one form that every peer's dump has (see `README.md`).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use sas7bdat::{Batch, Column, Encoding, Format, Kind, Metadata, Reader, Seekable, missing};

/// Dumps to standard output.
pub(crate) fn print(file: &Path) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(file, &mut out)?;
    out.flush()?;
    Ok(())
}

/// Dumps into a file, as the peers do: an error of the reader is part of the dump.
pub(crate) fn to_file(file: &Path, target: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(target)?);
    write(file, &mut out)?;
    out.flush()?;
    Ok(())
}

fn write(file: &Path, out: &mut impl Write) -> Result<()> {
    match rows(file, out) {
        Ok(count) => writeln!(out, "end\t{count}")?,
        Err(error) => writeln!(out, "error\t{}", one_line(&error.to_string()))?,
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.replace(['\t', '\n'], " ")
}

fn rows(file: &Path, out: &mut impl Write) -> Result<u64> {
    let mut reader = Reader::open(Seekable::new(File::open(file)?))?;
    header(reader.metadata(), out)?;
    let encoding = reader.metadata().encoding;
    let columns: Vec<usize> = (0..reader.metadata().variables.len()).collect();
    if columns.is_empty() {
        // A batch needs a column to be filled; rows are still there.
        let mut count = 0;
        while let Some(slab) = reader.next_slab()? {
            for _ in 0..slab.count {
                writeln!(out, "row")?;
            }
            count += slab.count as u64;
        }
        return Ok(count);
    }
    let mut batch = Batch::default();
    let mut count = 0;
    let mut line = String::new();
    while reader.next_batch(&columns, &mut batch)? {
        for row in 0..batch.rows {
            line.clear();
            line.push_str("row");
            for column in &batch.columns {
                line.push('\t');
                match column {
                    Column::Numeric(values) => number(&mut line, values[row]),
                    Column::Character(texts) => {
                        text(&mut line, texts.bytes(row).unwrap_or(&[]), encoding);
                    }
                }
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        count += batch.rows as u64;
    }
    Ok(count)
}

/// The lines before the rows.
pub(crate) fn header(metadata: &Metadata, out: &mut impl Write) -> Result<()> {
    writeln!(out, "label\t{}", escaped(&metadata.label))?;
    for variable in &metadata.variables {
        column(variable, out)?;
    }
    Ok(())
}

/// The line of one variable.
pub(crate) fn column(variable: &sas7bdat::Variable, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "column\t{}\t{}\t{}\t{}\t{}",
        escaped(&variable.name),
        match variable.kind {
            Kind::Numeric => "num",
            Kind::Character => "char",
        },
        variable.length,
        escaped(&spelled(&variable.format)),
        escaped(&variable.label),
    )?;
    Ok(())
}

/// A format as name, width and decimals, without the point at the end.
fn spelled(format: &Format) -> String {
    let mut text = format.name.clone();
    if format.width > 0 {
        let _ = write!(text, "{}", format.width);
    }
    if format.decimals > 0 {
        let _ = write!(text, ".{}", format.decimals);
    }
    text
}

/// A number by its bits, a missing value by its code.
pub(crate) fn number(line: &mut String, value: f64) {
    match missing::code(value) {
        None => {
            let _ = write!(line, "x{:016x}", value.to_bits());
        }
        Some(0) => line.push('.'),
        Some(code) => {
            line.push('.');
            line.push(char::from(code));
        }
    }
}

/// A text without the blanks and zeros at its end.
pub(crate) fn text(line: &mut String, bytes: &[u8], encoding: Encoding) {
    line.push('\'');
    line.push_str(&escaped(&encoding.decode(bytes)));
}

fn escaped(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches([' ', '\0']);
    if !text.contains(['\\', '\t', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let text = text
        .replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_form() {
        let mut line = String::new();
        number(&mut line, -0.0);
        line.push('\t');
        number(&mut line, missing::encode(b'A'));
        line.push('\t');
        text(&mut line, b"a\tb\\ \0 ", Encoding::UTF_8);
        assert_eq!(line, "x8000000000000000\t.A\t'a\\tb\\\\");
    }
}
