//! Our side of a measurement: one piece of work per process.

use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};

use anyhow::Result;
use base::meter::Meter;
use flate2::write::ZlibEncoder;
use io::process::ProcessMeter;
use sas7bdat::{Batch, Compression, Reader, Seekable, Writer, rdc, rle};
use std::io::Write;

use super::calibration;
use super::data::{self, ROW_BYTES, Random};
use super::rowloop;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Work {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    /// Reads all pages, decompressing rows
    Rows { file: PathBuf },
    /// Decodes all values of all rows
    Values { file: PathBuf },
    /// Writes a new data set, on the disk at the end
    Write { file: PathBuf, rows: u64 },
    /// Encodes rows that lie back to back
    Encode {
        file: PathBuf,
        row_bytes: usize,
        /// char, binary or deflate
        how: String,
    },
    /// Hashes all blocks of 4 KiB, once they are in memory
    Hash { file: PathBuf },
    /// Makes the file calls below a directory that strace recorded, when told to
    Replay { recorded: PathBuf, root: String },
    /// Does the work of one of the engine's programs as a plain loop
    Loop {
        program: String,
        input: PathBuf,
        output: PathBuf,
    },
}

/// Does it and prints what was done.
pub(crate) fn run(work: &Work) -> Result<()> {
    match &work.kind {
        Kind::Rows { file } => rows(file),
        Kind::Values { file } => values(file),
        Kind::Write { file, rows } => write(file, *rows),
        Kind::Encode {
            file,
            row_bytes,
            how,
        } => encode(file, *row_bytes, how),
        Kind::Hash { file } => hash(file),
        Kind::Replay { recorded, root } => calibration::replay::run(recorded, root),
        Kind::Loop {
            program,
            input,
            output,
        } => rowloop::run(program, input, output),
    }
}

fn open(file: &Path) -> Result<Reader<Seekable<File>>> {
    Ok(Reader::open(Seekable::new(File::open(file)?))?)
}

fn rows(file: &Path) -> Result<()> {
    let mut reader = open(file)?;
    let mut rows = 0;
    while let Some(slab) = reader.next_slab()? {
        rows += slab.count;
        black_box(slab.bytes);
    }
    println!("rows={rows}");
    Ok(())
}

fn values(file: &Path) -> Result<()> {
    let mut reader = open(file)?;
    let columns: Vec<usize> = (0..reader.metadata().variables.len()).collect();
    let mut batch = Batch::default();
    let mut rows = 0;
    while reader.next_batch(&columns, &mut batch)? {
        rows += batch.rows;
        black_box(&batch);
    }
    println!("rows={rows}");
    Ok(())
}

/// The same few rows over and over: how they come about is not what is measured.
fn write(file: &Path, rows: u64) -> Result<()> {
    const SLAB_ROWS: u64 = 1024;
    let mut random = Random(1);
    let mut slab = vec![0; usize::try_from(SLAB_ROWS * ROW_BYTES)?];
    for (number, row) in (0..).zip(slab.chunks_exact_mut(usize::try_from(ROW_BYTES)?)) {
        data::fill(row, number, &mut random);
    }
    let sink = Seekable::new(File::create(file)?);
    let options = data::options(Compression::None);
    let mut writer = Writer::create(sink, &data::variables(), options)?;
    let mut left = rows;
    while left > 0 {
        let count = left.min(SLAB_ROWS);
        writer.write_slab(&slab[..usize::try_from(count * ROW_BYTES)?])?;
        left -= count;
    }
    let (sink, written) = writer.finish()?;
    sink.into_inner().sync_all()?;
    println!("rows={}", written.rows);
    Ok(())
}

fn hash(file: &Path) -> Result<()> {
    let all = fs::read(file)?;
    let meter = ProcessMeter::start();
    let before = meter.usage();
    let sum = all.chunks(4096).fold(0u64, |sum, block| {
        sum.wrapping_add(base::rowhash::hash_bytes(block))
    });
    black_box(sum);
    let after = meter.usage();
    let spent = (after.user + after.system).saturating_sub(before.user + before.system);
    println!(
        "cpu_s={:.6} wall_s={:.6}",
        spent.as_secs_f64(),
        spent.as_secs_f64()
    );
    Ok(())
}

fn encode(file: &Path, row_bytes: usize, how: &str) -> Result<()> {
    let all = fs::read(file)?;
    let rows = || all.chunks_exact(row_bytes);
    let meter = ProcessMeter::start();
    let before = meter.usage();
    let stored: u64 = match how {
        "char" => {
            let mut encoder = rle::Encoder::new(false);
            rows()
                .map(|row| encoder.encode(row).map_or(row.len(), <[u8]>::len) as u64)
                .sum()
        }
        "binary" => {
            let mut encoder = rdc::Encoder::new();
            rows()
                .map(|row| encoder.encode(row).map_or(row.len(), <[u8]>::len) as u64)
                .sum()
        }
        _ => {
            let mut stored = 0;
            for piece in all.chunks(1 << 22) {
                let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::new(1));
                encoder.write_all(piece)?;
                stored += encoder.finish()?.len() as u64;
            }
            stored
        }
    };
    let after = meter.usage();
    let spent = (after.user + after.system).saturating_sub(before.user + before.system);
    println!(
        "bytes={} stored={stored} cpu_s={:.6}",
        all.len(),
        spent.as_secs_f64()
    );
    Ok(())
}
