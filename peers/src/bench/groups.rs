//! Who is measured beside whom, and what ours must reach.

use std::path::{Path, PathBuf};

use sas7bdat::Compression;

use super::beside;
use super::data::{Input, PAGE_BYTES, ROW_BYTES};
use crate::places::{installed, own};

/// Contestants that do the same work; the first one is ours.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) title: String,
    /// What ours must reach, as a multiple of the fastest other by CPU seconds.
    pub(super) least: f64,
    /// The same by the clock, where that is asked for.
    pub(super) least_wall: Option<f64>,
    pub(super) files: Vec<Input>,
    /// Before every run the files leave the page cache, and others fill it.
    pub(super) cold: bool,
    pub(super) contestants: Vec<Contestant>,
}

/// A program to run.
#[derive(Debug)]
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) command: Vec<String>,
    /// Bytes of rows it works on.
    pub(super) bytes: u64,
    /// How many rows it must say it has read.
    pub(super) rows: Option<u64>,
    /// Whether ours must be faster than it; others are there for information.
    pub(super) counts: bool,
    /// A file to remove before it runs.
    pub(super) removes: Option<PathBuf>,
}

/// All groups, for data sets of so many rows below a folder.
pub(super) fn all(rows: u64, folder: &Path) -> Vec<Group> {
    let mut groups = vec![sequential(rows, folder)];
    for (word, compression) in [
        ("none", Compression::None),
        ("char", Compression::Char),
        ("binary", Compression::Binary),
    ] {
        groups.push(values(
            word,
            &data_set(word, compression, rows, folder),
            rows,
        ));
    }
    for (word, compression) in [("char", Compression::Char), ("binary", Compression::Binary)] {
        groups.push(decompression(
            word,
            &data_set(word, compression, rows, folder),
            rows,
        ));
    }
    groups.push(writing(rows, folder));
    for recipe in ["bank", "multiuser"] {
        for (how, least) in [("char", 4.0), ("binary", 2.0)] {
            groups.extend(encoding(recipe, how, least, rows * ROW_BYTES, folder));
        }
    }
    groups
}

fn data_set(word: &str, compression: Compression, rows: u64, folder: &Path) -> Input {
    Input::DataSet {
        path: folder.join(format!("{word}-{rows}.sas7bdat")),
        rows,
        compression,
    }
}

/// Ours, by its own program.
pub(super) fn work(words: &[&str]) -> Vec<String> {
    let mut command = vec![beside("peers"), "work".to_owned()];
    command.extend(words.iter().map(|word| (*word).to_owned()));
    command
}

pub(super) fn other(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn reads(name: &'static str, command: Vec<String>, rows: u64) -> Contestant {
    Contestant {
        name,
        command,
        bytes: rows * ROW_BYTES,
        rows: Some(rows),
        counts: true,
        removes: None,
    }
}

fn path(input: &Input) -> String {
    match input {
        Input::DataSet { path, .. } | Input::Rows { path, .. } | Input::Made { path, .. } => {
            path.display().to_string()
        }
    }
}

fn sequential(rows: u64, folder: &Path) -> Group {
    let input = data_set("none", Compression::None, rows, folder);
    let file = path(&input);
    let (from, block) = (format!("if={file}"), format!("bs={PAGE_BYTES}"));
    let dd = Contestant {
        rows: None,
        ..reads("dd", other(&["dd", &from, "of=/dev/null", &block]), rows)
    };
    Group {
        title: "Read all pages, none".to_owned(),
        least: 0.95,
        least_wall: Some(0.95),
        cold: false,
        contestants: vec![reads("ours", work(&["rows", &file]), rows), dd],
        files: vec![input],
    }
}

fn values(word: &str, input: &Input, rows: u64) -> Group {
    let file = path(input);
    let python = installed("python/bin/python").display().to_string();
    let script = own("programs/dump.py").display().to_string();
    let readstat = installed("bin/readstat").display().to_string();
    let reader = crate_reader();
    Group {
        title: format!("Decode all values, {word}"),
        least: 1.5,
        least_wall: None,
        cold: false,
        contestants: vec![
            reads("ours", work(&["values", &file]), rows),
            reads("ReadStat", other(&[&readstat, &file]), rows),
            reads(
                "polars_readstat",
                other(&[&python, &script, "time", "polars", &file]),
                rows,
            ),
            reads(
                "pandas",
                other(&[&python, &script, "time", "pandas", &file]),
                rows,
            ),
            reads(
                "sas7bdat crate, Arrow",
                other(&[&reader, "arrow", &file]),
                rows,
            ),
        ],
        files: vec![input.clone()],
    }
}

fn crate_reader() -> String {
    installed("crate-reader/release/crate-reader")
        .display()
        .to_string()
}

fn decompression(word: &str, input: &Input, rows: u64) -> Group {
    let (file, reader) = (path(input), crate_reader());
    Group {
        title: format!("Decompress all rows, {word}"),
        least: 1.5,
        least_wall: None,
        cold: false,
        contestants: vec![
            reads("ours", work(&["rows", &file]), rows),
            reads(
                "sas7bdat crate, raw rows",
                other(&[&reader, "raw", &file]),
                rows,
            ),
        ],
        files: vec![input.clone()],
    }
}

fn writing(rows: u64, folder: &Path) -> Group {
    let target = folder.join("written");
    let file = target.display().to_string();
    let (to, block) = (format!("of={file}"), format!("bs={PAGE_BYTES}"));
    // As many pages as the rows take, the header included.
    let page_rows = 8 * (u64::from(PAGE_BYTES) - 40) / (8 * ROW_BYTES + 1);
    let count = format!("count={}", rows.div_ceil(page_rows) + 1);
    let dd = other(&["dd", "if=/dev/zero", &to, &block, &count, "conv=fsync"]);
    let writes = |contestant| Contestant {
        removes: Some(target.clone()),
        ..contestant
    };
    Group {
        title: "Write a new file, fsync at the end, none".to_owned(),
        // At most 1.6 times the CPU seconds.
        least: 1.0 / 1.6,
        least_wall: Some(0.95),
        cold: false,
        contestants: vec![
            writes(reads(
                "ours",
                work(&["write", &file, &rows.to_string()]),
                rows,
            )),
            writes(Contestant {
                rows: None,
                ..reads("dd conv=fsync", dd, rows)
            }),
        ],
        files: Vec::new(),
    }
}

fn encoding(
    recipe: &'static str,
    how: &str,
    least: f64,
    bytes: u64,
    folder: &Path,
) -> Option<Group> {
    // zlib is slow: an eighth of the rows is enough to tell.
    let bytes = (bytes / 8).max(32 << 20);
    let parsed = recipe::named(recipe)?;
    let row_bytes = recipe::Generator::new(&parsed, 1)
        .layout()
        .row_bytes
        .to_string();
    let input = Input::Rows {
        path: folder.join(format!("{recipe}-{bytes}.rows")),
        recipe,
        bytes,
    };
    let file = path(&input);
    let python = installed("python/bin/python").display().to_string();
    let script = own("programs/deflate.py").display().to_string();
    let packs = |name, command| Contestant {
        bytes,
        rows: None,
        ..reads(name, command, 0)
    };
    Some(Group {
        title: format!("Encode {how}, rows of the {recipe} recipe"),
        least,
        least_wall: None,
        cold: false,
        contestants: vec![
            packs("ours", work(&["encode", &file, &row_bytes, how])),
            packs("zlib level 1 (C)", other(&[&python, &script, &file])),
            Contestant {
                counts: false,
                ..packs(
                    "miniz_oxide level 1",
                    work(&["encode", &file, &row_bytes, "deflate"]),
                )
            },
        ],
        files: vec![input],
    })
}
