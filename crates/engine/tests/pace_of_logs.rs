//! What small steps cost SAS, from the public logs of the corpus (`GRISTMILL_CORPUS`): the figures that
//! the pace table has for each step.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use engine::pace::Table;
use regex::Regex;

/// Steps on more rows, or that took longer, are not small.
const ROWS_MAX: u64 = 1000;
const CPU_S_MAX: f64 = 0.3;

/// `12.34 seconds`, `1:02.03` or `1:02:03.04`.
fn seconds(text: &str) -> f64 {
    let parts = text.split(':').map(|part| part.parse::<f64>().unwrap());
    parts.fold(0.0, |sum, part| sum * 60.0 + part)
}

struct Patterns {
    rows: Regex,
    step: Regex,
    cpu: Regex,
}

/// CPU times of the small steps of a log, by kind.
fn small_steps(log: &str, patterns: &Patterns, found: &mut BTreeMap<String, Vec<f64>>) {
    let lines: Vec<&str> = log.lines().collect();
    let (mut most, mut seen) = (0, false);
    for (index, line) in lines.iter().enumerate() {
        if let Some(rows) = patterns.rows.captures(line) {
            let number = rows.iter().skip(1).flatten().next().unwrap().as_str();
            most = most.max(number.replace(',', "").parse().unwrap_or(u64::MAX));
            seen = true;
        }
        let Some(step) = patterns.step.captures(line) else {
            continue;
        };
        let kind = step.get(1).map_or("DATA", |name| name.as_str());
        let block = &lines[index..lines.len().min(index + 8)];
        let times = block.iter().filter_map(|line| patterns.cpu.captures(line));
        // User and system apart, or both together; then the next step's may follow.
        let is_user = |line: &&str| line.trim_start().starts_with("user");
        let lines = if block.iter().any(is_user) { 2 } else { 1 };
        let times: Vec<f64> = times.take(lines).map(|time| seconds(&time[1])).collect();
        let counts = seen || kind == "DATASETS";
        if counts && most <= ROWS_MAX && !times.is_empty() {
            let cpu: f64 = times.iter().sum();
            if cpu <= CPU_S_MAX {
                found.entry(kind.to_owned()).or_default().push(cpu);
            }
        }
        (most, seen) = (0, false);
    }
}

#[test]
fn small_steps_cost_what_the_table_says() {
    let Some(corpus) = env::var_os("GRISTMILL_CORPUS").map(PathBuf::from) else {
        // There is no corpus here.
        return;
    };
    let patterns = Patterns {
        rows: Regex::new(
            r"There were ([0-9,]+) observations|has ([0-9,]+) observations|with ([0-9,]+) rows",
        )
        .unwrap(),
        step: Regex::new(r"NOTE: (?:DATA statement|PROCEDURE ([A-Z0-9]+)).*used").unwrap(),
        cpu: Regex::new(r"^[^a-z]*(?:user |system )?cpu time +([0-9:.]+)").unwrap(),
    };
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(corpus.join("logs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Samples of the documentation were made up to show the layout.
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        if is_log && !name.contains("RECON") && !name.starts_with("doc_") {
            let log = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            small_steps(&log, &patterns, &mut found);
        }
    }
    let table = Table::built_in();
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    for (kind, least) in [
        ("DATA", 1500),
        ("SORT", 250),
        ("FREQ", 250),
        ("DATASETS", 150),
        ("SQL", 150),
        ("MEANS", 70),
        ("SUMMARY", 15),
        ("PRINT", 10),
        ("GLM", 10),
    ] {
        let times = &found[kind];
        let (table, logs) = (table.kind(kind).1.s_per_step, mean(times));
        assert!(times.len() >= least, "{kind}: {} steps", times.len());
        assert!(
            (logs - table).abs() <= 0.0006,
            "{kind}: {logs}, not {table}"
        );
    }
    let all: Vec<f64> = found.into_values().flatten().collect();
    let table = table.kind("OTHER").1.s_per_step;
    assert!((mean(&all) - table).abs() <= 0.0006, "{}", mean(&all));
}
