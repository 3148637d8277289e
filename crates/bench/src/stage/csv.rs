//! Text files: comma-separated values with names in the first line.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use base::rowhash::RowHash;
use recipe::Generator;
use sas7bdat::{Kind, missing, trim_blanks};

/// Rows between two looks at whether to go on.
const ROWS_AT_A_TIME: u64 = 1024;

/// Writes rows `0..rows`; returns the hash of the rows as a data set would hold them, and the length of
/// the file. `on_progress` is told the bytes of rows made; returning false ends it early.
pub fn write(
    generator: &Generator,
    rows: u64,
    file: File,
    mut on_progress: impl FnMut(u64) -> bool,
) -> io::Result<(RowHash, u64)> {
    let variables = generator.variables();
    let layout = generator.layout();
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let names: Vec<&str> = variables.iter().map(|one| one.name.as_str()).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut row = vec![0; layout.row_bytes as usize];
    let mut hash = RowHash::default();
    for number in 0..rows {
        generator.fill(number, &mut row);
        hash.add(&row);
        for (place, (variable, offset)) in variables.iter().zip(&layout.offsets).enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            let from = *offset as usize;
            let value = &row[from..from + variable.length as usize];
            match variable.kind {
                Kind::Numeric => write_number(&mut out, value)?,
                Kind::Character => write_text(&mut out, trim_blanks(value))?,
            }
        }
        out.write_all(b"\n")?;
        if (number + 1) % ROWS_AT_A_TIME == 0 && !on_progress(ROWS_AT_A_TIME * row.len() as u64) {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
    }
    on_progress(rows % ROWS_AT_A_TIME * row.len() as u64);
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok((hash, file.metadata()?.len()))
}

/// The shortest text that reads back as the same number; nothing for a missing value.
fn write_number(out: &mut impl Write, value: &[u8]) -> io::Result<()> {
    let bytes: [u8; 8] = value.try_into().map_err(io::Error::other)?;
    let number = f64::from_le_bytes(bytes);
    if missing::code(number).is_some() {
        return Ok(());
    }
    write!(out, "{number}")
}

/// A text, in quotation marks if it would be read as something else.
fn write_text(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    if !text.iter().any(|byte| b",\"\n\r".contains(byte)) {
        return out.write_all(text);
    }
    out.write_all(b"\"")?;
    for byte in text {
        if *byte == b'"' {
            out.write_all(b"\"")?;
        }
        out.write_all(&[*byte])?;
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_texts_are_lines() {
        let text = r#"
columns = [
    { name = "n", kind = "sequence", start = 1 },
    { name = "x", kind = "constant", value = 0.5 },
    { name = "m", kind = "missing" },
    { name = "c", kind = "character", length = 4, used = 2, alphabet = "," },
]
"#;
        let recipe = recipe::Recipe::parse("r", text).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.csv");
        let file = File::create(&path).unwrap();
        let (_, bytes) = write(&Generator::new(&recipe, 1), 2, file, |_| true).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "n,x,m,c\n1,0.5,,\",,\"\n2,0.5,,\",,\"\n");
        assert_eq!(bytes, text.len() as u64);
    }
}
