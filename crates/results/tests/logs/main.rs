//! Real logs against what was read in them by hand (`expected/`), and against the counts of their list.
//!
//! The logs are not part of the repository: `GRISTMILL_CORPUS` names the folder that holds them.

#![expect(clippy::print_stderr, reason = "says how many files were there")]

mod actions;
mod anything;
mod synthetic;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use results::log::SasLog;
use results::log::files::{Outcome, read_file};
use serde_json::{Map, Value};

/// The folder of the logs, if it is there.
fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let corpus = std::env::var_os("GRISTMILL_CORPUS");
    let corpus = corpus.map_or_else(|| root.join("shared/corpus"), PathBuf::from);
    let logs = corpus.join("logs");
    if !logs.is_dir() {
        eprintln!("no logs in {}: 0 files read, all skipped", logs.display());
        return None;
    }
    Some(logs)
}

fn log(path: &Path) -> Option<SasLog> {
    match read_file(path) {
        Outcome::Log(log) => Some(*log),
        Outcome::NoLog => None,
        Outcome::Failed(error) => panic!("{}: {error}", path.display()),
    }
}

/// Figures in k, as printed, become bytes; the rest stays.
fn in_bytes(expected: &Value) -> Map<String, Value> {
    let mut all = Map::new();
    for (key, value) in expected.as_object().expect("a table") {
        match key.strip_suffix("_k") {
            Some(name) => {
                let bytes = (value.as_f64().unwrap() * 1024.0).round();
                all.insert(format!("{name}_bytes"), Value::from(bytes));
            }
            None => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    all
}

/// Numbers by value: 7 is 7.0.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(a), Value::Number(b)) => {
            (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => expected == found,
    }
}

/// Every key that is expected, and no other.
fn check(place: &str, expected: &Value, found: &Value) {
    let expected = in_bytes(expected);
    let found = found.as_object().unwrap();
    let keys: std::collections::BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    for key in keys {
        let (expected, found) = (expected.get(key), found.get(key));
        let equal = match (expected, found) {
            (Some(expected), Some(found)) => same(expected, found),
            _ => false,
        };
        assert!(
            equal,
            "{place}: {key}: expected {expected:?}, found {found:?}"
        );
    }
}

fn check_log(place: &str, expected: &Value, log: &SasLog) {
    let found = serde_json::to_value(log).unwrap();
    for key in ["version", "platform", "complete", "errors", "warnings"] {
        assert_eq!(expected.get(key), found.get(key), "{place}: {key}");
    }
    let partial = expected.get("partial") == Some(&Value::Bool(true));
    for key in ["initialization", "session"] {
        match (expected.get(key), found.get(key)) {
            (Some(expected), Some(found)) => check(&format!("{place}: {key}"), expected, found),
            (expected, found) => assert_eq!(expected, found, "{place}: {key}"),
        }
    }
    let steps = expected["steps"].as_array().unwrap();
    let found = found["steps"].as_array().unwrap();
    if !partial {
        assert_eq!(steps.len(), found.len(), "{place}: steps");
    }
    for step in steps {
        let number = step["step"].as_u64().unwrap();
        let found = &found[usize::try_from(number).unwrap() - 1];
        check(&format!("{place}: step {number}"), step, found);
    }
}

#[test]
fn hand_checked_logs_give_every_figure() {
    let Some(folder) = folder() else { return };
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/expected");
    let mut paths: Vec<PathBuf> = fs::read_dir(expected)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let (mut read, mut skipped) = (0, 0);
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let expected: Value = toml::from_str(&text).unwrap();
        let file = folder.join(expected["file"].as_str().unwrap());
        if !file.exists() {
            skipped += 1;
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let log = log(&file).unwrap_or_else(|| panic!("{name}: no log"));
        check_log(&name, &expected, &log);
        read += 1;
    }
    eprintln!("hand-checked logs: {read} read, {skipped} skipped");
}

/// Counts of the list: steps, errors, warnings. It counts lines, which is wrong for some files.
fn listed(folder: &Path) -> BTreeMap<String, [u64; 3]> {
    let text = fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let row = |line: &str| {
        // The last columns hold no commas: steps, fullstimer, block_ops, step_count, errors, warnings.
        let mut cells: Vec<&str> = line.rsplit(',').take(6).collect();
        cells.reverse();
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        let file = line.split(',').next().unwrap().to_owned();
        (file, [number(0), number(4), number(5)])
    };
    text.lines().skip(1).map(row).collect()
}

/// Lines that say on which pages errors were printed; the list counts them as errors.
fn summaries(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter(|line| line.starts_with(b"ERROR: Errors printed on page"))
        .count() as u64
}

#[test]
fn every_log_gives_the_counts_of_the_list() {
    let Some(folder) = folder() else { return };
    let (mut read, mut skipped, mut wrong) = (0, 0, Vec::new());
    for (file, [steps, errors, warnings]) in listed(&folder) {
        // Each of its lines holds several steps: read by hand.
        if file == "sgf2019_jupyter_homework.log" {
            continue;
        }
        let path = folder.join(&file);
        if !path.exists() {
            skipped += 1;
            continue;
        }
        read += 1;
        let found = log(&path).map_or([0; 3], |log| {
            [log.steps.len() as u64, log.about.errors, log.about.warnings]
        });
        let expected = [steps, errors - summaries(&path), warnings];
        if found != expected {
            wrong.push(format!("{file}: expected {expected:?}, found {found:?}"));
        }
    }
    eprintln!("logs of the list: {read} read, {skipped} skipped");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
