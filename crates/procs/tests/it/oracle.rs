//! Known results beside the corpus, and how they are brought into a store and compared.

#![expect(clippy::print_stdout, reason = "what is skipped is worth seeing")]

use std::path::{Path, PathBuf};

use base::store::memory::MemoryStore;
use base::store::{Channel, Creation, Store};
use sas7bdat::{Seekable, Variable, WriteOptions, Writer};

/// Folder of known results beside the corpus; `None` (and a line) where there is none.
pub(crate) fn oracles() -> Option<PathBuf> {
    let corpus = std::env::var("GRISTMILL_CORPUS");
    let corpus = corpus.unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus").to_owned()
    });
    let folder = Path::new(&corpus).join("oracles");
    if !folder.is_dir() {
        println!("skipped: no {}", folder.display());
    }
    folder.is_dir().then_some(folder)
}

/// Names and rows of a CSV file of numbers; what is none is missing.
pub(crate) fn csv(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let names = lines
        .next()
        .unwrap()
        .split(',')
        .map(str::to_owned)
        .collect();
    let row = |line: &str| {
        line.split(',')
            .map(|cell| cell.trim().parse().unwrap_or(f64::NAN))
            .collect()
    };
    (
        names,
        lines.filter(|line| !line.is_empty()).map(row).collect(),
    )
}

/// Puts a data set of numbers into the store as D.`name`.
pub(crate) fn put(store: &MemoryStore, name: &str, names: &[String], rows: &[Vec<f64>]) {
    let variables: Vec<Variable> = names.iter().map(Variable::numeric).collect();
    let options = WriteOptions {
        name: name.to_ascii_uppercase(),
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(
        Seekable::new(std::io::Cursor::new(Vec::new())),
        &variables,
        options,
    )
    .unwrap();
    for row in rows {
        let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
        writer.write_row(&bytes).unwrap();
    }
    let (sink, _) = writer.finish().unwrap();
    let file = store
        .create(
            Channel::Output,
            Path::new(&format!("/data/{name}.sas7bdat")),
            Creation::New,
        )
        .unwrap();
    file.write_at(0, sink.into_inner().get_ref()).unwrap();
    file.close().unwrap();
}

/// Correct significant digits, at most 15.
pub(crate) fn digits(found: f64, certified: f64) -> f64 {
    let scale = if certified.abs() > 0.0 {
        certified
    } else {
        1.0
    };
    (-((found - certified) / scale).abs().log10()).clamp(0.0, 15.0)
}
