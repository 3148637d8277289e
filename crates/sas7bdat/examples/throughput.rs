//! How fast rows are read and written, in MB (10^6) of row bytes per CPU second of one thread.
//!
//! `cargo run --release --example throughput [ROWS] [FOLDER]`: 36 columns, 6 of them text, 336 bytes a
//! row. With a folder the files are kept there and read from there, through the page cache.

#![allow(clippy::print_stdout, reason = "prints its figures")]
#![allow(clippy::disallowed_methods, reason = "measures time and files")]

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use sas7bdat::{
    Batch, Column, Compression, Reader, Seekable, Source, Variable, WriteOptions, Writer, rdc, rle,
};

const ROW_BYTES: usize = 336;
const WIDTHS: [u32; 6] = [2, 8, 10, 12, 24, 40];
const TOWNS: [&str; 8] = [
    "Cary",
    "Heidelberg",
    "Raleigh",
    "Apex",
    "Durham",
    "San Luis Obispo",
    "York",
    "Aix",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

fn variables() -> Vec<Variable> {
    let numbers = (0..30).map(|k| Variable::numeric(format!("n{k}")));
    let texts = WIDTHS
        .iter()
        .zip(0..)
        .map(|(width, k)| Variable::character(format!("c{k}"), *width));
    numbers.chain(texts).collect()
}

/// Mostly measured numbers, some counts, amounts, dates and missing ones, and padded words.
fn fill(row: &mut [u8], number: u64, random: &mut Random) {
    #[expect(clippy::cast_precision_loss, reason = "random numbers")]
    for (column, place) in row.chunks_exact_mut(8).take(30).enumerate() {
        let bits = random.next();
        let value = match column % 10 {
            0 => number as f64,
            1 => (bits % 100) as f64,
            2 => 20_000.0 + (bits % 3000) as f64,
            3 if bits.is_multiple_of(8) => sas7bdat::missing::missing(),
            _ => (bits >> 11) as f64 / 9_007_199_254_740_992.0,
        };
        place.copy_from_slice(&value.to_le_bytes());
    }
    let mut at = 240;
    for width in WIDTHS {
        let bits = random.next();
        let width = width as usize;
        let field = &mut row[at..at + width];
        field.fill(b' ');
        match width {
            2 => field.copy_from_slice(["NC", "CA", "BW"][(bits % 3) as usize].as_bytes()),
            8 | 12 => field.copy_from_slice(&format!("{bits:016x}").as_bytes()[..width]),
            _ => {
                let town = TOWNS[(bits % 8) as usize].as_bytes();
                let length = town.len().min(width);
                field[..length].copy_from_slice(&town[..length]);
            }
        }
        at += width;
    }
}

/// Nanoseconds on a core of this thread so far.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

/// Best of three, in MB of row bytes per CPU second.
fn measure(what: &str, rows: usize, mut work: impl FnMut() -> Result<u64, Box<dyn Error>>) {
    let mut best = f64::MAX;
    let mut sum = 0;
    for _ in 0..3 {
        let start = cpu_ns();
        match work() {
            Ok(result) => sum = result,
            Err(error) => println!("{what}: failed to {error}"),
        }
        best = best.min((cpu_ns() - start) as f64);
    }
    let rate = (rows * ROW_BYTES) as f64 * 1000.0 / best;
    println!("{what:<28} {rate:>9.0} MB/s   check {sum:016x}");
}

fn options(compression: Compression) -> WriteOptions {
    WriteOptions {
        compression,
        created: 2e9,
        page_mask: 77,
        ..WriteOptions::default()
    }
}

fn decode<S: Source>(reader: &mut Reader<S>) -> Result<u64, Box<dyn Error>> {
    let columns: Vec<usize> = (0..36).collect();
    let mut batch = Batch::default();
    let mut sum = 0u64;
    while reader.next_batch(&columns, &mut batch)? {
        for column in &batch.columns {
            match column {
                Column::Numeric(values) => {
                    sum ^= values.iter().fold(0, |sum, value| sum ^ value.to_bits());
                }
                Column::Character(texts) => {
                    sum =
                        sum.wrapping_add(texts.iter().fold(0, |sum, text| sum + text.len() as u64));
                }
            }
        }
    }
    Ok(sum)
}

fn walk<S: Source>(reader: &mut Reader<S>) -> Result<u64, Box<dyn Error>> {
    let mut rows = 0;
    while let Some(slab) = reader.next_slab()? {
        rows += slab.count as u64;
    }
    Ok(rows)
}

fn encode(name: &str, slab: &[u8], rows: usize) {
    measure(&format!("encode char {name}"), rows, || {
        let mut encoder = rle::Encoder::new(true);
        Ok(slab
            .chunks_exact(ROW_BYTES)
            .map(|row| encoder.encode(row).map_or(row.len(), <[u8]>::len) as u64)
            .sum())
    });
    measure(&format!("encode binary {name}"), rows, || {
        let mut encoder = rdc::Encoder::new();
        Ok(slab
            .chunks_exact(ROW_BYTES)
            .map(|row| encoder.encode(row).map_or(row.len(), <[u8]>::len) as u64)
            .sum())
    });
    measure(&format!("zlib 1 {name}"), rows, || {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(1));
        encoder.write_all(slab)?;
        Ok(encoder.finish()?.len() as u64)
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let rows: usize = std::env::args()
        .nth(1)
        .map_or(Ok(400_000), |word| word.parse())?;
    let folder = std::env::args_os().nth(2).map(PathBuf::from);
    let mut slab = vec![0; rows * ROW_BYTES];
    let mut random = Random(1);
    for (number, row) in (0..).zip(slab.chunks_exact_mut(ROW_BYTES)) {
        fill(row, number, &mut random);
    }
    if let Some(folder) = &folder {
        std::fs::write(folder.join("rows.bin"), &slab)?;
    }
    for compression in [Compression::None, Compression::Char, Compression::Binary] {
        let mut file = Vec::new();
        measure(&format!("write {compression:?}"), rows, || {
            let sink = std::mem::take(&mut file);
            let mut sink: Vec<u8> = sink;
            sink.clear();
            let mut writer = Writer::create(sink, &variables(), options(compression))?;
            for row in slab.chunks_exact(ROW_BYTES) {
                writer.write_row(row)?;
            }
            file = writer.finish()?.0;
            Ok(file.len() as u64)
        });
        println!(
            "{:<28} {:>9.3}",
            "stored",
            file.len() as f64 / slab.len() as f64
        );
        let name = format!("{compression:?}");
        measure(&format!("slabs {name}"), rows, || {
            walk(&mut Reader::open(file.as_slice())?)
        });
        measure(&format!("values {name}"), rows, || {
            decode(&mut Reader::open(file.as_slice())?)
        });
        if let Some(folder) = &folder {
            let path = folder.join(format!("{name}.sas7bdat"));
            std::fs::write(&path, &file)?;
            from_file(&name, &path, rows);
        }
    }
    encode("", &slab, rows);
    Ok(())
}

fn from_file(name: &str, path: &Path, rows: usize) {
    measure(&format!("slabs {name} from file"), rows, || {
        walk(&mut Reader::open(Seekable::new(File::open(path)?))?)
    });
    measure(&format!("values {name} from file"), rows, || {
        decode(&mut Reader::open(Seekable::new(File::open(path)?))?)
    });
}
