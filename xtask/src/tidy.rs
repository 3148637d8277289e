//! Rules of the tree that no other tool checks.

use std::fs;

use anyhow::{Result, bail};

use crate::process::{output, root};

/// Longest line of Rust, characters: the formatter's 100 and some room for texts it cannot break.
const COLUMNS_MAX: usize = 120;

/// Longest Rust file, lines; longer ones are several rooms in one.
const LINES_MAX: usize = 1000;

/// What must not be left on main.
const BANNED: [&str; 3] = ["FIXME", "XXX", "dbg!("];

/// Checks every tracked Rust file.
pub(crate) fn run() -> Result<()> {
    let mut findings = Vec::new();
    for path in output(&["git", "ls-files", "*.rs"])?.lines() {
        let Ok(text) = fs::read_to_string(root().join(path)) else {
            continue;
        };
        check(path, &text, &mut findings);
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("the tree is not tidy:\n{}", findings.join("\n"))
}

fn check(path: &str, text: &str, findings: &mut Vec<String>) {
    if text.lines().count() > LINES_MAX {
        findings.push(format!("{path}: more than {LINES_MAX} lines"));
    }
    let is_this_file = path == "xtask/src/tidy.rs";
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.chars().count() > COLUMNS_MAX {
            findings.push(format!("{path}:{number}: more than {COLUMNS_MAX} columns"));
        }
        if let Some(word) = BANNED
            .iter()
            .find(|word| line.contains(*word) && !is_this_file)
        {
            findings.push(format!("{path}:{number}: {word}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_tidy_is_named_with_its_line() {
        let mut findings = Vec::new();
        check(
            "a.rs",
            &format!("fine\n// {}: later\n{}\n", BANNED[0], "x".repeat(130)),
            &mut findings,
        );
        assert_eq!(findings, ["a.rs:2: FIXME", "a.rs:3: more than 120 columns"]);
    }
}
