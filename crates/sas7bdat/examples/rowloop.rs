//! The work of a few DATA steps as plain loops over the pages of an uncompressed data set: what a
//! DATA step is measured against.
//!
//! `cargo run --release --example rowloop -- KIND INPUT OUTPUT`, KIND being `scan`, `filter` or `copy`.
//! The input has rows of doubles first; pages are read and written one by one. The output has the rows
//! and the page headers of a data set but no descriptions.

#![allow(clippy::print_stdout, reason = "prints its figures")]
#![allow(clippy::disallowed_methods, reason = "measures time and files")]

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use sas7bdat::Reader;

/// Bytes of a page header.
const HEADER: usize = 40;

/// Rows written to pages.
struct Pages {
    file: File,
    page: Vec<u8>,
    at: usize,
    row_bytes: usize,
    offset: u64,
}

impl Pages {
    /// Room for the next row.
    fn row(&mut self) -> Result<&mut [u8], Box<dyn Error>> {
        if self.at + self.row_bytes > self.page.len() {
            self.file.write_all_at(&self.page, self.offset)?;
            self.offset += self.page.len() as u64;
            self.at = HEADER;
        }
        let start = self.at;
        self.at += self.row_bytes;
        Ok(&mut self.page[start..start + self.row_bytes])
    }
}

fn number(row: &[u8], column: usize) -> f64 {
    let bytes = row[column * 8..column * 8 + 8].try_into();
    f64::from_le_bytes(bytes.expect("eight bytes"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, input, output] = arguments.as_slice() else {
        return Err("KIND INPUT OUTPUT".into());
    };
    let metadata = Reader::open(std::fs::read(input)?.as_slice())?
        .metadata()
        .clone();
    let (page_bytes, row_bytes) = (
        metadata.page_bytes as usize,
        metadata.layout.row_bytes as usize,
    );
    let start = Instant::now();
    let file = File::open(input)?;
    let extra = if kind == "filter" { 32 } else { 0 };
    let mut pages = Pages {
        file: File::create(output)?,
        page: vec![0; page_bytes],
        at: HEADER,
        row_bytes: row_bytes + extra,
        offset: page_bytes as u64,
    };
    let mut page = vec![0; page_bytes];
    let (mut seen, mut sum, mut kept) = (0u64, 0.0, 0u64);
    let mut offset = u64::from(metadata.header_bytes);
    while seen < metadata.rows {
        file.read_exact_at(&mut page, offset)?;
        offset += page_bytes as u64;
        let field = |at: usize| usize::from(u16::from_le_bytes([page[at], page[at + 1]]));
        // Rows alone, or behind the pointers of descriptions.
        let (start, count) = match field(32) {
            0x100 => (HEADER, field(34)),
            0x200 => (HEADER + field(36) * 24, field(34) - field(36)),
            _ => continue,
        };
        for row in page[start..].chunks_exact(row_bytes).take(count) {
            seen += 1;
            match kind.as_str() {
                "scan" => {
                    if number(row, 0) > 0.5 {
                        sum += number(row, 1) * number(row, 2);
                    }
                }
                "filter" => {
                    if number(row, 0) < 0.403 {
                        kept += 1;
                        let room = pages.row()?;
                        room[..row_bytes].copy_from_slice(row);
                        let (a, b, c) = (number(row, 1), number(row, 2), number(row, 3));
                        let new = [
                            a * b + c,
                            a / (b + 1.0),
                            (a - b) * (a - b) + 2.0 * c,
                            a + b + c + number(row, 4) * 0.5,
                        ];
                        for (place, value) in room[row_bytes..].chunks_exact_mut(8).zip(new) {
                            place.copy_from_slice(&value.to_le_bytes());
                        }
                    }
                }
                _ => pages.row()?.copy_from_slice(row),
            }
        }
    }
    pages.file.write_all_at(&pages.page, pages.offset)?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = (metadata.rows * row_bytes as u64) as f64 / 1e6 / seconds;
    println!("{kind}: {seen} rows, {kept} kept, sum {sum:.3}; {seconds:.3} s, {rate:.0} MB/s");
    Ok(())
}
