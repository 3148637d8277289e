//! `gristmill suites sizes`: the data sets of a suite beside their published sizes.

use std::fmt::Write;
use std::thread;

use anyhow::{Context, Result};
use bench::suite::sizes::{Size, measure};
use bench::suite::{self, Suite};
use serde_json::{Value, json};

use crate::cli::SizesArgs;
use crate::exit::{Exit, usage};
use crate::ui;

/// Runs the verb. The answer is no if a data set is too far off.
pub fn run(args: &SizesArgs) -> Result<Exit> {
    let suite = suite::find(&args.suite)?;
    if args
        .scale
        .is_some_and(|scale| !(scale > 0.0 && scale <= 1.0))
    {
        usage!("--scale: a number above 0 and up to 1 is needed");
    }
    if !has_published(&suite) {
        let mut known = suite::names();
        known.retain(|name| suite::builtin(name).is_ok_and(|suite| has_published(&suite)));
        usage!(
            "the suite {} has no published sizes (key `published` of [[datasets]]); there are some in: {}",
            suite.text.name.get_ref(),
            known.join(", ")
        );
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let sizes = measure(&suite, args.scale, threads).context("failed to make the data sets")?;
    if args.json {
        ui::data(&Value::Array(sizes.iter().map(as_json).collect()).to_string());
    } else {
        ui::data(as_text(&sizes).trim_end());
    }
    Ok(if sizes.iter().all(Size::holds) {
        Exit::Good
    } else {
        Exit::No
    })
}

fn has_published(suite: &Suite) -> bool {
    let mut sets = suite.text.datasets.iter();
    sets.any(|set| set.published.is_some())
}

fn as_json(size: &Size) -> Value {
    let [ratio_off, stored_off] = size.off();
    let mut value = json!(size);
    value["ratio"] = json!(size.ratio());
    value["published_ratio"] = json!(size.published_ratio());
    value["ratio_off"] = json!(ratio_off);
    value["stored_off"] = json!(stored_off);
    value["holds"] = json!(size.holds());
    value
}

/// In the binary multiples of the paper.
fn text_of(bytes: u64) -> String {
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    let units = ["K", "M", "G", "T"];
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = if value < 9.95 {
        2
    } else {
        usize::from(value < 99.5)
    };
    format!("{value:.decimals$}{}", units[unit])
}

fn as_text(sizes: &[Size]) -> String {
    let width = sizes.iter().map(|size| size.name.len()).max().unwrap_or(0);
    let mut out = format!(
        "{:width$}  {:>11}  {:>6} {:>6}  {:>6} {:>6}  {:>6} {:>6} {:>7}  {:>6} {:>6} {:>7}\n",
        "Data set",
        "rows made",
        "none",
        "paper",
        "BINARY",
        "paper",
        "ratio",
        "paper",
        "off",
        "array",
        "paper",
        "off"
    );
    for size in sizes {
        let [plain, binary, stored] = size.published_bytes.map(text_of);
        let [ratio_off, stored_off] = size.off().map(|off| format!("{:+.1} %", 100.0 * off));
        let line = format!(
            "{:width$}  {:>11}  {:>6} {plain:>6}  {:>6} {binary:>6}  {:>6.3} {:>6.3} {ratio_off:>7}  {:>6} \
             {stored:>6} {stored_off:>7}  {}",
            size.name,
            size.measured_rows,
            text_of(size.plain_bytes),
            text_of(size.binary_bytes),
            size.ratio(),
            size.published_ratio(),
            text_of(size.stored_bytes),
            if size.holds() { "" } else { "too far off" }
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let fixed = sizes.iter().map(|size| size.fixed_bytes);
    let _ = write!(
        out,
        "\nSizes at scale 1, in the paper's units (K = 1024): measured on the rows made and multiplied up, but for \
         header and\ndescriptions ({} to {} a data set). array: what deflate leaves of the compressed data set, \
         chunks of 128 KiB in\nunits of 8 KiB, no less than an eighth.\nAllowed: {}.\n",
        text_of(fixed.clone().min().unwrap_or(0)),
        text_of(fixed.max().unwrap_or(0)),
        allowed(sizes)
    );
    out
}

/// How far data sets may be off, in words.
fn allowed(sizes: &[Size]) -> String {
    let mut kinds: Vec<([f64; 2], Vec<&str>)> = Vec::new();
    for size in sizes {
        let same = |known: &[f64; 2]| known.map(f64::to_bits) == size.within.map(f64::to_bits);
        match kinds.iter_mut().find(|(within, _)| same(within)) {
            Some((_, names)) => names.push(&size.name),
            None => kinds.push((size.within, vec![&size.name])),
        }
    }
    kinds.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let words = kinds.iter().enumerate().map(|(place, (within, names))| {
        let [ratio, stored] = within.map(|part| format!("{:.0} %", 100.0 * part));
        let which = if place == 0 {
            String::new()
        } else {
            format!(" for {}", names.join(", "))
        };
        format!("ratio {ratio} and array {stored}{which}")
    });
    words.collect::<Vec<_>>().join("; ")
}
