//! How much of what people write is read without an error: `GRISTMILL_PROGRAMS` names a folder of SAS
//! programs. Procedures read their own statements, which is not looked at here.

#![allow(clippy::print_stdout, reason = "prints its figures")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::diag::Severity;
use lang::{Host, Macros, Session};

#[derive(Default)]
struct Bare(Macros);

impl Host for Bare {
    fn macros(&self) -> &Macros {
        &self.0
    }

    fn macros_mut(&mut self) -> &mut Macros {
        &mut self.0
    }

    /// Files that a program includes are not at hand.
    fn include(&mut self, _: &str) -> Result<String, String> {
        Ok(String::new())
    }

    /// Values of functions are not known without running the program.
    fn function(&mut self, _: &str, _: &[String], _: Option<&str>) -> Result<String, String> {
        Ok("1".to_owned())
    }
}

/// All programs below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            programs(&path, found);
        } else if path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("sas"))
        {
            found.push(path);
        }
    }
}

/// The first error of a program.
fn first_error(text: &str) -> Option<String> {
    let mut host = Bare::default();
    let mut session = Session::new("program.sas", text);
    // Macro loops over values that are not known here may be long.
    for _ in 0..100_000 {
        let pulled = session.next(&mut host);
        let error = pulled
            .diagnostics
            .iter()
            .find(|one| one.severity == Severity::Error);
        if let Some(error) = error {
            return Some(error.message.clone());
        }
        if pulled.finished {
            return None;
        }
    }
    Some("it did not come to an end".to_owned())
}

/// The kind of an error: without names, places and numbers.
fn reason(message: &str) -> String {
    let plain = message.split(" (program.sas").next().unwrap_or(message);
    let words = plain.split_whitespace().map(|word| {
        let name = word.contains(|one: char| one.is_ascii_digit() || one == '_' || one == '\'');
        if name { "…" } else { word }
    });
    words.take(12).collect::<Vec<_>>().join(" ")
}

#[test]
fn public_programs_are_read() {
    let Some(folder) = std::env::var_os("GRISTMILL_PROGRAMS") else {
        println!("coverage: 0 programs read, GRISTMILL_PROGRAMS names no folder");
        return;
    };
    let mut paths = Vec::new();
    programs(Path::new(&folder), &mut paths);
    paths.sort();
    let (mut clean, mut reasons) = (0usize, BTreeMap::<String, (usize, String)>::new());
    for path in &paths {
        let bytes = std::fs::read(path).unwrap();
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| error.into_bytes().iter().copied().map(char::from).collect());
        match first_error(&text) {
            None => clean += 1,
            Some(error) => {
                let entry = reasons.entry(reason(&error)).or_default();
                entry.0 += 1;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                entry.1 = format!("{name}: {error}");
            }
        }
    }
    println!(
        "coverage: {} programs read, {clean} without an error, {:.1} %",
        paths.len(),
        clean as f64 * 100.0 / paths.len().max(1) as f64
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (_, (count, example)) in reasons.into_iter().take(40) {
        println!("{count:>5}  {example}");
    }
}
