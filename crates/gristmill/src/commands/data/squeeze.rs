//! `gristmill data squeeze`: what storage that compresses and deduplicates would save.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};
use base::units::Bytes;
use probe::squeeze::{BLOCKS_MAX, Options, Shares, Source, Squeezed, bytes_to_read, squeeze};
use serde_json::json;

use super::args::SqueezeArgs;
use super::progress::Progress;
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &SqueezeArgs) -> Result<Exit> {
    let files = open(&args.files)?;
    let sources: Vec<Source<'_>> = files
        .iter()
        .map(|(path, file, about)| Source {
            name: path.display().to_string(),
            bytes: about.len(),
            allocated_bytes: Some(about.blocks() * 512),
            content: file,
        })
        .collect();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let options = Options {
        threads: args.threads.map_or(processors, usize::from),
        sample_bytes: args.sample.0,
        duplicates: !args.no_duplicates,
        blocks_max: BLOCKS_MAX,
    };
    let name = match &sources[..] {
        [one] => one.name.clone(),
        all => format!("{} files", all.len()),
    };
    let progress = Mutex::new(Progress::new(name, bytes_to_read(&sources, &options)));
    let found = squeeze(&sources, &options, &|bytes| {
        // A bar that cannot be drawn is no reason to stop.
        if let Ok(mut progress) = progress.lock() {
            progress.advance(bytes);
        }
    })?;
    drop(progress);
    if args.json {
        let all = json!({ "measurements": found.measurements(), "table": found.files });
        ui::data(&all.to_string());
    } else {
        ui::data(as_text(&found).trim_end());
    }
    Ok(Exit::Good)
}

/// Opens files, each once: one that is named twice would be its own duplicate.
fn open(paths: &[PathBuf]) -> Result<Vec<(&Path, File, Metadata)>> {
    let mut known: HashMap<(u64, u64), &Path> = HashMap::new();
    let mut files = Vec::new();
    for path in paths {
        let explain = || format!("failed to open {}", path.display());
        let file = File::open(path).with_context(explain)?;
        let about = file.metadata().with_context(explain)?;
        if !about.is_file() {
            bail!("{} is not a file; name the files in it", path.display());
        }
        if let Some(before) = known.insert((about.dev(), about.ino()), path) {
            bail!(
                "{} and {} are the same file; name it once",
                before.display(),
                path.display()
            );
        }
        files.push((path.as_path(), file, about));
    }
    Ok(files)
}

fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

fn as_text(found: &Squeezed) -> String {
    let width = found.files.iter().map(|file| file.file.chars().count());
    let width = width.max().unwrap_or(0).max(9);
    let mut out = format!(
        "{:width$}  {:>8}  {:>9}  {:>8}  {:>8}  {:>8}  {:>8}\n",
        "File", "size", "allocated", "deflate", "stored", "LZ4", "stored"
    );
    for file in &found.files {
        let allocated = file.allocated_bytes.map(|bytes| Bytes(bytes).to_string());
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>9}  {:>8}  {:>8}  {:>8}  {:>8}",
            file.file,
            Bytes(file.bytes).to_string(),
            allocated.unwrap_or_else(|| "-".to_owned()),
            ratio(file.deflate_ratio),
            ratio(file.deflate_stored_ratio),
            ratio(file.lz4_ratio),
            ratio(file.lz4_stored_ratio),
        );
    }
    if let (Some(shares), true) = (&found.shares, found.files.len() > 1) {
        let of = |share: f64| ratio((share > 0.0).then(|| 1.0 / share));
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>9}  {:>8}  {:>8}  {:>8}  {:>8}",
            "all",
            Bytes(found.bytes).to_string(),
            "",
            of(shares.deflate),
            of(shares.deflate_stored),
            of(shares.lz4),
            of(shares.lz4_stored),
        );
    }
    out.push_str(
        "\nBytes for one that is left of chunks of 128 KiB, each compressed by itself; stored: in units of \
         8 KiB, no less than an eighth.\n",
    );
    let _ = writeln!(out, "Compressed: {}.", found.basis());
    duplicates(found, &mut out);
    out
}

/// The table of blocks that are there more than once.
fn duplicates(found: &Squeezed, out: &mut String) {
    if found.duplicates.is_empty() {
        out.push_str("Duplicates were not looked for.\n");
        return;
    }
    let _ = writeln!(
        out,
        "\n{:>9}  {:>10}  {:>21}  {:>17}  counted",
        "Blocks", "duplicates", "reduction, deflate", "reduction, LZ4"
    );
    for blocks in &found.duplicates {
        let of = |plain: fn(&Shares) -> f64, stored: fn(&Shares) -> f64| {
            let of = |kind| ratio(blocks.reduction(found.bytes, kind));
            format!("{} ({} stored)", of(plain), of(stored))
        };
        let counted = match blocks.one_in {
            1 => "all".to_owned(),
            one_in => format!("1 of {one_in}, by hash"),
        };
        let _ = writeln!(
            out,
            "{:>5} KiB  {:>8.2} %  {:>21}  {:>17}  {counted}",
            blocks.block_bytes >> 10,
            100.0 * blocks.share(found.bytes),
            of(|all| all.deflate, |all| all.deflate_stored),
            of(|all| all.lz4, |all| all.lz4_stored),
        );
    }
    out.push_str(
        "Reduction: bytes of all files for one that is left, with duplicates stored once and compressed.\n",
    );
}
