//! Text files: comma-separated values with names in the first line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use base::rowhash::RowHash;
use recipe::Generator;
use sas7bdat::{Kind, missing, trim_blanks};

/// Rows between two looks at whether to go on.
const ROWS_AT_A_TIME: u64 = 1024;

/// Bytes of a text written or read at once.
const BUFFER: usize = 1 << 20;

/// Writes rows `0..rows`; returns the hash of the rows as a data set would hold them, and the length of
/// the file. `on_progress` is told the bytes of rows made; returning false ends it early.
pub fn write(
    generator: &Generator,
    rows: u64,
    file: File,
    on_progress: impl FnMut(u64) -> bool,
) -> io::Result<(RowHash, u64)> {
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let hash = write_rows(generator, rows, &mut out, on_progress)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok((hash, file.metadata()?.len()))
}

/// The first line of a file that is not as [`write`] wrote it, from 1.
pub fn first_wrong_line(
    path: &Path,
    generator: &Generator,
    rows: u64,
    stopped: &dyn Fn() -> bool,
) -> io::Result<Option<u64>> {
    let mut beside = Beside {
        file: BufReader::with_capacity(BUFFER, File::open(path)?),
        line: 1,
        wrong: false,
    };
    let written = write_rows(generator, rows, &mut beside, |_| !stopped());
    if !beside.wrong {
        written?;
        // Nothing may follow.
        beside.wrong = !beside.file.fill_buf()?.is_empty();
    }
    Ok(beside.wrong.then_some(beside.line))
}

/// Takes what would be written and compares it with what a file has.
struct Beside {
    file: BufReader<File>,
    line: u64,
    wrong: bool,
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let there = self.file.fill_buf()?;
        let length = there.len().min(bytes.len());
        let same = there.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        let lines = bytes[..same].split(|byte| *byte == b'\n').count();
        self.line += lines as u64 - 1;
        if same < length || length == 0 && !bytes.is_empty() {
            self.wrong = true;
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.file.consume(length);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_rows(
    generator: &Generator,
    rows: u64,
    out: &mut impl Write,
    mut on_progress: impl FnMut(u64) -> bool,
) -> io::Result<RowHash> {
    let variables = generator.variables();
    let layout = generator.layout();
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
                Kind::Numeric => write_number(out, value)?,
                Kind::Character => write_text(out, trim_blanks(value))?,
            }
        }
        out.write_all(b"\n")?;
        if (number + 1) % ROWS_AT_A_TIME == 0 && !on_progress(ROWS_AT_A_TIME * row.len() as u64) {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
    }
    on_progress(rows % ROWS_AT_A_TIME * row.len() as u64);
    Ok(hash)
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
        let generator = Generator::new(&recipe, 1);
        let wrong = |text: &str| {
            let path = directory.path().join("w.csv");
            std::fs::write(&path, text).unwrap();
            first_wrong_line(&path, &generator, 2, &|| false).unwrap()
        };
        assert_eq!(wrong(&text), None);
        assert_eq!(wrong(&text.replace("2,0.5", "2,0.6")), Some(3));
        assert_eq!(wrong(&text.replace("n,x", "n,y")), Some(1));
        assert_eq!(wrong(&text[..text.len() - 5]), Some(3));
        assert_eq!(wrong(&format!("{text}3")), Some(4));
    }
}
