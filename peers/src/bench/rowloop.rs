//! The work of the engine benchmark's programs as plain loops over the pages of an uncompressed data
//! set, each for its program alone: what the engine is measured against.
//!
//! Pages are read and written one by one. The output has the rows and the page headers of a data set
//! but no descriptions.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use sas7bdat::{Reader, Seekable};

use super::rowgroups;

/// Bytes of a page header.
const HEADER: usize = 40;

/// Where the texts of a row begin: c1, c2, c3 and c4 behind 40 numbers.
pub(super) const C1: usize = 320;
pub(super) const C2: usize = 322;
pub(super) const C3: usize = 330;
/// Where x11 and x21 lie.
const X11: usize = 14 * 8;
const X21: usize = 24 * 8;

/// Rows written to pages.
struct Pages {
    file: File,
    page: Vec<u8>,
    at: usize,
    row_bytes: usize,
    offset: u64,
    rows: u64,
}

impl Pages {
    fn create(path: &Path, row_bytes: usize) -> Result<Self> {
        /// What the engine is told to write.
        const PAGE_BYTES: usize = 128 << 10;
        Ok(Self {
            file: File::create(path)?,
            page: vec![0; PAGE_BYTES],
            at: HEADER,
            row_bytes,
            offset: PAGE_BYTES as u64,
            rows: 0,
        })
    }

    /// Room for the next row.
    fn row(&mut self) -> Result<&mut [u8]> {
        if self.at + self.row_bytes > self.page.len() {
            self.file.write_all_at(&self.page, self.offset)?;
            self.offset += self.page.len() as u64;
            self.at = HEADER;
        }
        let start = self.at;
        self.at += self.row_bytes;
        self.rows += 1;
        Ok(&mut self.page[start..start + self.row_bytes])
    }

    /// A row of some bytes and four new numbers.
    fn with(&mut self, bytes: &[u8], new: [f64; 4]) -> Result<()> {
        let (old, places) = self.row()?.split_at_mut(bytes.len());
        old.copy_from_slice(bytes);
        for (place, value) in places.chunks_exact_mut(8).zip(new) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    fn finish(self) -> Result<f64> {
        self.file.write_all_at(&self.page, self.offset)?;
        Ok(self.rows as f64)
    }
}

fn number(row: &[u8], column: usize) -> f64 {
    let bytes = row[column * 8..column * 8 + 8].try_into();
    f64::from_le_bytes(bytes.expect("eight bytes"))
}

/// k and m stand behind id.
pub(super) fn k(row: &[u8]) -> f64 {
    number(row, 1)
}

pub(super) fn m(row: &[u8]) -> f64 {
    number(row, 2)
}

/// x1 to x36 stand behind id, k, m and y.
#[inline]
pub(super) fn x(row: &[u8], index: usize) -> f64 {
    number(row, index + 3)
}

/// Calls for every row.
#[inline]
pub(super) fn each(input: &Path, mut work: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let reader = Reader::open(Seekable::new(File::open(input)?))?;
    let metadata = reader.metadata();
    let page_bytes = metadata.page_bytes as usize;
    let row_bytes = metadata.layout.row_bytes as usize;
    let (rows, mut offset) = (metadata.rows, u64::from(metadata.header_bytes));
    let file = File::open(input)?;
    let mut page = vec![0; page_bytes];
    let mut seen = 0;
    while seen < rows {
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
            work(row)?;
            seen += 1;
        }
    }
    Ok(())
}

/// Does the work of a program and prints the number by which it is compared.
pub(super) fn run(program: &str, input: &Path, output: &Path) -> Result<()> {
    let (kind, index) = program
        .split_at_checked(program.len().saturating_sub(1))
        .context("a program's name")?;
    let result = match kind {
        "scan" => scan(index, input)?,
        "filter" => filter(index, input, output)?,
        "copy" => copy(index, input, output)?,
        "means" => rowgroups::means(index, input)?,
        _ => bail!("there is no loop for {program}"),
    };
    println!("result={result}");
    Ok(())
}

/// The sum of a product over some rows.
#[inline]
fn total(
    input: &Path,
    is_wanted: impl Fn(&[u8]) -> bool,
    product: impl Fn(&[u8]) -> f64,
) -> Result<f64> {
    let mut sum = 0.0;
    each(input, |row| {
        if is_wanted(row) {
            sum += product(row);
        }
        Ok(())
    })?;
    Ok(sum)
}

#[expect(clippy::float_cmp, reason = "m holds whole numbers")]
fn scan(index: &str, input: &Path) -> Result<f64> {
    match index {
        "1" => total(input, |r| x(r, 1) > 0.5, |r| x(r, 2) * x(r, 3)),
        "2" => total(
            input,
            |r| (0.2..=0.6).contains(&x(r, 1)) && x(r, 2) < 0.9,
            |r| x(r, 3) * x(r, 4) + x(r, 5) * x(r, 6),
        ),
        "3" => total(
            input,
            |r| k(r) <= 50.0 && m(r) != 7.0,
            |r| x(r, 1) * x(r, 2) + x(r, 3) * x(r, 4) + x(r, 5) * x(r, 6) + x(r, 7) * x(r, 8),
        ),
        "4" => total(
            input,
            |r| &r[C1..C2] == b"a " || &r[C2..C3] == b"b       ",
            |r| x(r, 10) * x(r, 11),
        ),
        "5" => total(
            input,
            |r| x(r, 30) > 0.1 && x(r, 31) < x(r, 32),
            |r| x(r, 33) * x(r, 34) - 0.5 * x(r, 35) * x(r, 36),
        ),
        _ => bail!("there is no loop scan{index}"),
    }
}

/// Some rows with four new columns.
#[inline]
fn computed(
    [input, output]: [&Path; 2],
    is_wanted: impl Fn(&[u8]) -> bool,
    new: impl Fn(&[u8]) -> [f64; 4],
) -> Result<f64> {
    let mut pages = Pages::create(output, 360 + 32)?;
    each(input, |row| {
        if is_wanted(row) {
            pages.with(row, new(row))?;
        }
        Ok(())
    })?;
    pages.finish()
}

fn filter(index: &str, input: &Path, output: &Path) -> Result<f64> {
    let paths = [input, output];
    match index {
        "1" => computed(
            paths,
            |r| x(r, 1) < 0.403,
            |r| {
                let (a, b, c) = (x(r, 2), x(r, 3), x(r, 4));
                let difference = (a - b) * (a - b) + 2.0 * c;
                [
                    a * b + c,
                    a / (b + 1.0),
                    difference,
                    a + b + c + x(r, 5) * 0.5,
                ]
            },
        ),
        "2" => computed(
            paths,
            |r| k(r) <= 10.0,
            |r| {
                let sum = x(r, 1) + x(r, 2);
                [
                    sum,
                    x(r, 3) - x(r, 4),
                    x(r, 5) * x(r, 6),
                    k(r) * 100.0 + m(r),
                ]
            },
        ),
        "3" => computed(
            paths,
            |r| matches!(&r[C1..C2], b"a " | b"b "),
            |r| {
                let difference = (x(r, 3) - x(r, 4)).abs();
                let whole = (x(r, 2) * 10.0).trunc();
                [x(r, 1).sqrt(), whole, difference, x(r, 5).max(x(r, 6))]
            },
        ),
        "4" => computed(
            paths,
            |r| x(r, 1) + x(r, 2) < 0.9,
            |r| {
                let first = if x(r, 3) > 0.5 {
                    x(r, 3) * x(r, 4)
                } else {
                    x(r, 5)
                };
                let second = if m(r) <= 6.0 { 1.0 } else { 2.0 };
                let third = x(r, 6) * x(r, 7) - x(r, 8);
                [first, second, third, first + second + third]
            },
        ),
        "5" => some_columns(paths),
        _ => bail!("there is no loop filter{index}"),
    }
}

/// id, k, m, x1 to x17 and four new columns.
fn some_columns([input, output]: [&Path; 2]) -> Result<f64> {
    let mut pages = Pages::create(output, 24 * 8)?;
    each(input, |row| {
        if x(row, 3) > 0.5 {
            let new = [1, 3, 5, 7].map(|first| x(row, first) * x(row, first + 1));
            let room = pages.row()?;
            room[..24].copy_from_slice(&row[..24]);
            room[24..160].copy_from_slice(&row[32..168]);
            for (place, value) in room[160..].chunks_exact_mut(8).zip(new) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        Ok(())
    })?;
    pages.finish()
}

fn copy(index: &str, input: &Path, output: &Path) -> Result<f64> {
    let row_bytes = match index {
        "1" | "4" => 360,
        "2" => C1,
        "3" => 20 * 8,
        "5" => 360 - (X21 - X11),
        _ => bail!("there is no loop copy{index}"),
    };
    let mut pages = Pages::create(output, row_bytes)?;
    match index {
        "4" => each(input, |row| {
            if x(row, 1) < 0.5 {
                pages.row()?.copy_from_slice(row);
            }
            Ok(())
        })?,
        "5" => each(input, |row| {
            let room = pages.row()?;
            room[..X11].copy_from_slice(&row[..X11]);
            room[X11..].copy_from_slice(&row[X21..]);
            Ok(())
        })?,
        _ => each(input, |row| {
            pages.row()?.copy_from_slice(&row[..row_bytes]);
            Ok(())
        })?,
    }
    pages.finish()
}
