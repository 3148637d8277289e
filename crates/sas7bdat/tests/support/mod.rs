//! The corpus of public files, if it is there.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::print_stdout, reason = "says how many files there were")]

use std::io::Read;
use std::path::{Path, PathBuf};

/// A line of the manifest.
pub struct Case {
    pub file: String,
    pub bytes: Vec<u8>,
    /// By field name.
    fields: Vec<(String, String)>,
}

impl Case {
    pub fn field(&self, name: &str) -> &str {
        self.fields
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }
}

/// The folder of the corpus: `GRISTMILL_CORPUS`, else `../shared/corpus` beside the workspace.
pub fn folder() -> PathBuf {
    match std::env::var_os("GRISTMILL_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    }
}

/// Every file of the manifest; none, with a message, where there is no corpus.
pub fn cases() -> Vec<Case> {
    let folder = folder().join("sas7bdat");
    let Ok(manifest) = std::fs::read_to_string(folder.join("manifest.csv")) else {
        println!("corpus: 0 files read, none found in {}", folder.display());
        return Vec::new();
    };
    let mut rows = parse_csv(&manifest).into_iter();
    let header = rows.next().unwrap_or_default();
    let case = |row: Vec<String>| {
        let file = row.first()?.clone();
        let mut bytes = std::fs::read(folder.join(&file)).ok()?;
        if bytes.starts_with(&[0x1F, 0x8B]) {
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(bytes.as_slice())
                .read_to_end(&mut plain)
                .ok()?;
            bytes = plain;
        }
        Some(Case {
            file,
            bytes,
            fields: header.iter().cloned().zip(row).collect(),
        })
    };
    let total = rows.len();
    let cases: Vec<Case> = rows.filter_map(case).collect();
    println!(
        "corpus: {} files read, {} listed and not found",
        cases.len(),
        total - cases.len()
    );
    cases
}

fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            other => cell.push(other),
        }
    }
    rows
}

/// A small generator of numbers, the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }
}
