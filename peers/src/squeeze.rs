//! `data squeeze` beside zlib and plain sets of blocks: what is left of generated files.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use probe::squeeze::{Options, Source, Squeezed, squeeze};
use recipe::Generator;
use serde_json::Value;

use crate::places::{installed, own};

/// Bytes of each file; not whole chunks.
const FILE_BYTES: usize = (24 << 20) + 12_345;

/// Two libraries find other matches: what is left differs by this part at the most.
const TOLERANCE: f64 = 0.02;

/// Blocks of 4 KiB that shrink to a hundred bytes differ by how the tables of their codes are written: by this part
/// of the block at the most.
const TABLES: f64 = 0.005;

/// Rows of these recipes, from those that shrink to nothing to those that hardly do.
const RECIPES: [&str; 6] = [
    "bank",
    "multiuser",
    "simdata",
    "sortinput",
    "ranrw_wide",
    "large-sorts",
];

/// Checks every recipe, and a file with copies in it; what differs is an error.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let mut findings = Vec::new();
    for name in RECIPES {
        let mut content = rows(name)?;
        findings.extend(compare(folder, name, &content)?);
        content.copy_within(
            ..FILE_BYTES / 2 / 131_072 * 131_072,
            FILE_BYTES / 2 / 131_072 * 131_072,
        );
        findings.extend(compare(folder, &format!("{name}, twice"), &content)?);
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("squeeze differs from zlib:\n{}", findings.join("\n"))
}

fn rows(name: &str) -> Result<Vec<u8>> {
    let recipe = recipe::named(name).with_context(|| format!("there is no recipe {name}"))?;
    let generator = Generator::new(&recipe, 1);
    let row_bytes = generator.layout().row_bytes as usize;
    let mut rows = vec![0; FILE_BYTES.next_multiple_of(row_bytes)];
    generator.fill(0, &mut rows);
    rows.truncate(FILE_BYTES);
    Ok(rows)
}

fn compare(folder: &Path, name: &str, content: &Vec<u8>) -> Result<Vec<String>> {
    let options = Options {
        threads: 2,
        rewrite: false,
        ..Options::WHOLE
    };
    let source = Source {
        name: name.to_owned(),
        bytes: content.len() as u64,
        allocated_bytes: None,
        is_data_set: false,
        content,
    };
    let ours = squeeze(&[source], &options, &|_| {});
    let theirs = of_zlib(&folder.join("squeeze.bin"), content)?;
    let number = |value: &Value| value.as_f64().context("no number");
    let bytes = content.len() as f64;
    let mut findings = Vec::new();
    for (what, ratio) in [
        ("deflate", "deflate_ratio"),
        ("deflate_4k", "deflate_4k_ratio"),
        ("stored", "deflate_stored_ratio"),
    ] {
        let found = bytes * ours.share(ratio).context("nothing was compressed")?.value;
        let expected = number(&theirs[what])?;
        println!(
            "squeeze {name}: {what} {found:.0} bytes, zlib {expected:.0} ({:+.2} %)",
            100.0 * (found / expected - 1.0)
        );
        let tables = if ratio == "deflate_4k_ratio" {
            bytes * TABLES
        } else {
            0.0
        };
        if (found - expected).abs() > (expected * TOLERANCE).max(tables) {
            findings.push(format!("{name}: {what} {found:.0}, zlib {expected:.0}"));
        }
    }
    findings.extend(distinct(name, &ours, &theirs["distinct"])?);
    Ok(findings)
}

/// Different blocks are counted, not estimated: they must be the same.
fn distinct(name: &str, ours: &Squeezed, theirs: &Value) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for blocks in &ours.duplicates {
        let expected = theirs[blocks.block_bytes.to_string()].as_f64();
        let expected = expected.context("no number of different blocks")?;
        if (blocks.distinct.bytes.value - expected).abs() > 0.5 {
            findings.push(format!(
                "{name}: {} bytes in different blocks of {}, SHA-256 finds {expected}",
                blocks.distinct.bytes.value, blocks.block_bytes
            ));
        }
    }
    Ok(findings)
}

fn of_zlib(path: &Path, content: &[u8]) -> Result<Value> {
    fs::write(path, content)?;
    let python = installed("python/bin/python");
    let python = if python.exists() {
        python
    } else {
        "python3".into()
    };
    let output = Command::new(&python)
        .arg(own("programs/squeeze.py"))
        .arg(path)
        .output()
        .with_context(|| format!("failed to start {}", python.display()))?;
    fs::remove_file(path)?;
    if !output.status.success() {
        bail!("squeeze.py: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("squeeze.py printed no JSON")
}
