//! The files that are measured: made once, read into the page cache before every rotation.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use recipe::Generator;
use sas7bdat::{Compression, Seekable, Variable, WriteOptions, Writer, missing};

/// Bytes of a row.
pub(super) const ROW_BYTES: u64 = 336;
/// Bytes of a page.
pub(super) const PAGE_BYTES: u32 = 65_536;
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

/// A file to measure with.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// A data set of the 36 columns.
    DataSet {
        path: PathBuf,
        rows: u64,
        compression: Compression,
    },
    /// Rows of a recipe, back to back.
    Rows {
        path: PathBuf,
        recipe: &'static str,
        bytes: u64,
    },
    /// Whatever a command makes; `{}` in it stands for the path.
    Made { path: PathBuf, command: Vec<String> },
}

impl Input {
    pub(super) fn path(&self) -> &PathBuf {
        match self {
            Self::DataSet { path, .. } | Self::Rows { path, .. } | Self::Made { path, .. } => path,
        }
    }

    /// Whether the program that makes it is installed.
    pub(super) fn maker_exists(&self) -> bool {
        match self {
            Self::DataSet { .. } | Self::Rows { .. } => true,
            Self::Made { command, .. } => command
                .first()
                .is_some_and(|program| Path::new(program).exists()),
        }
    }
}

/// Makes the file unless it is there.
pub(super) fn ensure(input: &Input) -> Result<()> {
    let path = input.path();
    if path.exists() {
        return Ok(());
    }
    eprintln!("  making {}", path.display());
    let unfinished = path.with_extension("unfinished");
    match input {
        Input::DataSet {
            rows, compression, ..
        } => data_set(&unfinished, *rows, *compression)?,
        Input::Rows { recipe, bytes, .. } => recipe_rows(&unfinished, recipe, *bytes)?,
        // Its maker looks at the name's ending, so it is made in place.
        Input::Made { command, .. } => return made(path, command),
    }
    fs::rename(unfinished, path)?;
    Ok(())
}

/// Reads the file once.
pub(super) fn warm(input: &Input) -> Result<()> {
    io::copy(&mut File::open(input.path())?, &mut io::sink())?;
    Ok(())
}

/// Takes it out of the page cache.
pub(super) fn evict(input: &Input) -> Result<()> {
    ::io::cache::evict(input.path())?;
    Ok(())
}

fn made(path: &Path, command: &[String]) -> Result<()> {
    let target = path.display().to_string();
    let words: Vec<String> = command
        .iter()
        .map(|word| word.replace("{}", &target))
        .collect();
    let (program, arguments) = words.split_first().context("a command")?;
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        let _ = fs::remove_file(path);
        bail!("{} ended with {status}", words.join(" "));
    }
    Ok(())
}

fn data_set(path: &PathBuf, rows: u64, compression: Compression) -> Result<()> {
    let file = Seekable::new(File::create(path)?);
    let mut writer = Writer::create(file, &variables(), options(compression))?;
    let mut random = Random(1);
    let mut row = vec![0; writer.layout().row_bytes as usize];
    for number in 0..rows {
        fill(&mut row, number, &mut random);
        writer.write_row(&row)?;
    }
    writer.finish()?.0.into_inner().sync_all()?;
    Ok(())
}

fn recipe_rows(path: &PathBuf, name: &str, bytes: u64) -> Result<()> {
    let recipe = recipe::named(name).with_context(|| format!("there is no recipe {name}"))?;
    let generator = Generator::new(&recipe, 1);
    let row_bytes = u64::from(generator.layout().row_bytes);
    let slab_rows = 4096;
    let mut slab = vec![0; usize::try_from(slab_rows * row_bytes)?];
    let mut out = BufWriter::new(File::create(path)?);
    let mut first = 0;
    while first * row_bytes < bytes {
        generator.fill(first, &mut slab);
        out.write_all(&slab)?;
        first += slab_rows;
    }
    out.flush()?;
    Ok(())
}

/// How the measured data sets are written.
pub(super) fn options(compression: Compression) -> WriteOptions {
    WriteOptions {
        compression,
        page_bytes: PAGE_BYTES,
        created: 2e9,
        page_mask: 77,
        ..WriteOptions::default()
    }
}

/// 30 numbers and 6 texts of 2 to 40 bytes.
pub(super) fn variables() -> Vec<Variable> {
    let numbers = (0..30).map(|k| Variable::numeric(format!("n{k}")));
    let texts = WIDTHS
        .iter()
        .zip(0..)
        .map(|(width, k)| Variable::character(format!("c{k}"), *width));
    numbers.chain(texts).collect()
}

pub(super) struct Random(pub(super) u64);

impl Random {
    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// Compresses to 0.81 (char) and 0.86 (binary) of its size: mostly measured numbers,
/// some counts, dates and missing ones, and padded words.
pub(super) fn fill(row: &mut [u8], number: u64, random: &mut Random) {
    let (numbers, mut texts) = row.split_at_mut(240);
    for (column, place) in numbers.chunks_exact_mut(8).enumerate() {
        let bits = random.next();
        let value = match column % 10 {
            0 => number as f64,
            1 => (bits % 100) as f64,
            4 => (bits % 1000) as f64,
            5 if column < 10 => (bits % 1000) as f64,
            2 => 20_000.0 + (bits % 3000) as f64,
            3 if bits.is_multiple_of(8) => missing::missing(),
            _ => (bits >> 11) as f64 / 9_007_199_254_740_992.0,
        };
        place.copy_from_slice(&value.to_le_bytes());
    }
    for width in WIDTHS {
        let bits = random.next();
        let (field, rest) = texts.split_at_mut(width as usize);
        texts = rest;
        field.fill(b' ');
        match width {
            2 => field.copy_from_slice([b"NC", b"CA", b"BW"][(bits % 3) as usize]),
            8 | 12 => {
                let text = format!("{bits:016x}");
                field.copy_from_slice(&text.as_bytes()[..width as usize]);
            }
            _ => {
                let town = TOWNS[(bits % 8) as usize].as_bytes();
                let length = town.len().min(field.len());
                field[..length].copy_from_slice(&town[..length]);
            }
        }
    }
}
