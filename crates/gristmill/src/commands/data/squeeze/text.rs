//! The tables of `data squeeze` for a terminal.

use std::fmt::Write;

use base::units::Bytes;
use probe::squeeze::{Duplicates, Estimate, FileFigures, METHODS, Options, Squeezed};

/// All tables.
pub fn of(found: &Squeezed, options: &Options) -> String {
    let names = found.files.iter().map(|file| file.file.chars().count());
    let width = names.max().unwrap_or(0).max(21);
    let mut out = String::new();
    sas(found, width, &mut out);
    files(found, width, &mut out);
    compression(found, &mut out);
    duplicates(found, options, &mut out);
    out
}

fn bytes(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of files, not negative"
    )]
    let value = value.round() as u64;
    Bytes(value).to_string()
}

/// What an array that compresses keeps of a file, if it was compressed.
fn on_array(bytes: u64, share: Option<&Estimate>) -> Option<f64> {
    share.map(|share| bytes as f64 * share.value)
}

fn share_of(file: &FileFigures) -> Option<f64> {
    let ratio = file.ratios.get("deflate_stored_ratio")?;
    Some(file.bytes as f64 / ratio)
}

/// Data sets in the form of the paper's Table 4.
fn sas(found: &Squeezed, width: usize, out: &mut String) {
    let mut sums = [0.0; 6];
    let mut is_whole = [true; 6];
    let mut rows = String::new();
    let mut sets = 0;
    for file in &found.files {
        let Some(sas) = &file.sas else {
            continue;
        };
        sets += 1;
        let share = sas.binary_deflate_stored_share.as_ref();
        let cells = [
            Some(sas.none_bytes as f64),
            Some(sas.char_bytes as f64),
            Some(sas.binary_bytes as f64),
            on_array(sas.binary_bytes, share),
            Some(file.bytes as f64),
            share_of(file),
        ];
        for (at, cell) in cells.iter().enumerate() {
            sums[at] += cell.unwrap_or(0.0);
            is_whole[at] &= cell.is_some();
        }
        let shown = |cell: Option<f64>| cell.map_or_else(|| "-".to_owned(), bytes);
        let notes = [
            sas.too_short.then_some("rows too short to compress"),
            sas.layout.map(|_| "of a 32-bit release"),
        ];
        let notes: Vec<&str> = notes.into_iter().flatten().collect();
        row(&file.file, width, &cells.map(shown), &mut rows);
        let _ = writeln!(
            rows,
            "  {}{}{}",
            sas.compression,
            if notes.is_empty() { "" } else { "; " },
            notes.join("; ")
        );
    }
    if sets == 0 {
        return;
    }
    out.push_str(
        "SAS data sets: what SAS would write, and what an array that compresses keeps of it\n\n",
    );
    let names = [
        "none",
        "CHAR",
        "BINARY",
        "array of it",
        "as it lies",
        "array of it",
    ];
    row("File, by COMPRESS=", width, &names.map(str::to_owned), out);
    out.push_str("  is\n");
    out.push_str(&rows);
    let of = |at: usize, text: String| if is_whole[at] { text } else { "-".to_owned() };
    if sets > 1 {
        let total: Vec<String> = (0..6).map(|at| of(at, bytes(sums[at]))).collect();
        row("Total", width, &total, out);
        out.push('\n');
    }
    let ratio = |at: usize| of(at, format!("{:.2}:1", sums[0] / sums[at].max(1.0)));
    let ratios: Vec<String> = (0..6).map(ratio).collect();
    row("Storage savings ratio", width, &ratios, out);
    out.push_str(
        "\n\nSizes by COMPRESS= are those that files of these rows and page sizes have, counted, not estimated; \
         deleted rows\nwould not be written. Array: deflate of chunks of 128 KiB, in units of 8 KiB and no less \
         than an eighth.\n\n",
    );
}

fn row(name: &str, width: usize, cells: &[String], out: &mut String) {
    wide_row(name, width, cells, 11, out);
}

fn wide_row(name: &str, width: usize, cells: &[String], cell_width: usize, out: &mut String) {
    let _ = write!(out, "{name:width$}");
    for cell in cells {
        let _ = write!(out, "  {cell:>cell_width$}");
    }
}

/// Every file.
fn files(found: &Squeezed, width: usize, out: &mut String) {
    let names = ["size", "allocated", "deflate", "stored", "LZ4", "zstd"];
    let mut rows = vec![("File", names.map(str::to_owned))];
    for file in &found.files {
        let ratio = |name: &str| {
            let interval = file.intervals.get(name);
            match (file.ratios.get(name), interval) {
                (Some(ratio), Some([low, high])) => format!("{ratio:.2} ({low:.1} to {high:.1})"),
                (Some(ratio), None) => format!("{ratio:.2}"),
                (None, _) => "-".to_owned(),
            }
        };
        let allocated = file.allocated_bytes.map(|bytes| Bytes(bytes).to_string());
        let cells = [
            Bytes(file.bytes).to_string(),
            allocated.unwrap_or_else(|| "-".to_owned()),
            ratio("deflate_ratio"),
            ratio("deflate_stored_ratio"),
            ratio("lz4_ratio"),
            ratio("zstd_ratio"),
        ];
        rows.push((&file.file, cells));
    }
    let widest = rows
        .iter()
        .flat_map(|(_, cells)| cells)
        .map(|cell| cell.chars().count());
    let cell_width = widest.max().unwrap_or(0);
    for (name, cells) in rows {
        wide_row(name, width, &cells, cell_width, out);
        out.push('\n');
    }
    if found.files.len() > 1 {
        wide_row(
            "all",
            width,
            &[Bytes(found.bytes).to_string()],
            cell_width,
            out,
        );
        out.push('\n');
    }
    out.push('\n');
}

/// An estimate with its interval.
fn with_interval(value: &Estimate, digits: usize) -> String {
    if value.is_exact() {
        return format!("{:.digits$}", value.value);
    }
    format!(
        "{:.digits$} ({:.digits$} to {:.digits$})",
        value.value, value.low, value.high
    )
}

/// All files by method and size of blocks.
fn compression(found: &Squeezed, out: &mut String) {
    if found.shares.is_empty() {
        out.push_str("Nothing was compressed.\n");
        return;
    }
    let sizes = ["4k_ratio", "8k_ratio", "32k_ratio", "ratio", "stored_ratio"];
    let cell = |method: &str, size: &str| {
        let share = found.share(&format!("{method}_{size}"));
        let share = share.filter(|share| share.low > 0.0);
        let ratio = share.map(|share| share.falling(|share| 1.0 / share));
        ratio.map_or_else(|| "-".to_owned(), |ratio| with_interval(&ratio, 2))
    };
    let rows: Vec<Vec<String>> = METHODS
        .iter()
        .map(|method| sizes.iter().map(|size| cell(method, size)).collect())
        .collect();
    let widest = rows.iter().flatten().map(|cell| cell.chars().count()).max();
    let width = widest.unwrap_or(0).max(14);
    let _ = write!(out, "{:21}", "All, in blocks of");
    for name in ["4 KiB", "8 KiB", "32 KiB", "128 KiB", "128 KiB stored"] {
        let _ = write!(out, "  {name:>width$}");
    }
    out.push('\n');
    for (method, cells) in METHODS.iter().zip(rows) {
        let _ = write!(out, "{method:21}");
        for cell in cells {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }
    out.push_str(
        "\nBytes for one that is left of blocks, each compressed by itself (deflate level 6, LZ4, zstd level 3); \
         stored: chunks of\n128 KiB in units of 8 KiB, no less than an eighth.\n",
    );
    let _ = writeln!(out, "Compressed: {}.", found.basis());
    if found.compressed_bytes != found.bytes {
        out.push_str(
            "In brackets: the interval that holds the true figure in 95 of 100 samples.\n",
        );
    }
}

/// A name and what it is for blocks of a size.
type Line = (&'static str, fn(&Duplicates) -> String);

/// What is said of duplicates.
const LINES: [Line; 5] = [
    ("Scanned blocks", |one| one.distinct.scanned.to_string()),
    ("Sampled blocks", |one| one.distinct.sampled.to_string()),
    ("Deduped blocks", |one| with_interval(&one.deduped(), 0)),
    ("Dedupe percent", |one| {
        with_interval(&one.share().rising(|share| 100.0 * share), 2)
    }),
    ("Different blocks kept", |one| match one.distinct.one_in {
        1 => "all".to_owned(),
        one_in => format!("1 of {one_in}"),
    }),
];

/// The report of a deduplication.
fn duplicates(found: &Squeezed, options: &Options, out: &mut String) {
    if found.duplicates.is_empty() {
        out.push_str("Duplicates were not looked for.\n");
        return;
    }
    let of = |line: &Line| found.duplicates.iter().map(line.1).collect::<Vec<_>>();
    let mut lines: Vec<(String, Vec<String>)> = LINES
        .iter()
        .map(|line| (line.0.to_owned(), of(line)))
        .collect();
    for (at, method) in METHODS.iter().enumerate() {
        let reduction = |one: &Duplicates| {
            let of = |stored| one.reduction(at, stored);
            match (of(false), of(true)) {
                (Some(plain), Some(stored)) => format!("{plain:.2} ({stored:.2} stored)"),
                _ => "-".to_owned(),
            }
        };
        if !found.shares.is_empty() {
            let cells = found.duplicates.iter().map(reduction).collect();
            lines.push((format!("Reduction, {method}"), cells));
        }
    }
    let widest = lines
        .iter()
        .flat_map(|line| &line.1)
        .map(|cell| cell.chars().count());
    let width = widest.max().unwrap_or(0);
    let _ = write!(out, "\n{:21}", "Dedupe report");
    for one in &found.duplicates {
        let _ = write!(
            out,
            "  {:>width$}",
            format!("{} KiB", one.block_bytes >> 10)
        );
    }
    out.push('\n');
    for (name, cells) in lines {
        let _ = write!(out, "{name:21}");
        for cell in cells {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }
    if !found.shares.is_empty() {
        out.push_str(
            "\nReduction: bytes of all files for one that is left, with duplicate blocks stored once and chunks \
             compressed.\n",
        );
    }
    if found.duplicates.iter().any(|one| one.distinct.one_in > 1) {
        let _ = writeln!(
            out,
            "Different blocks were more than {} hold (--memory): those with certain hashes were counted, wherever they \
             are.\nIn brackets: the interval that holds the true figure in 95 of 100 cases.",
            Bytes(options.memory_bytes)
        );
    }
}
