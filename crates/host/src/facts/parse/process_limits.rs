//! `/proc/PID/limits`: what a running process may open, start and lock.

use super::{Found, after, found, lines};
use crate::facts::{Key, Value};

const NAMES: [(&str, &str); 5] = [
    ("Max open files", "nofile"),
    ("Max processes", "nproc"),
    ("Max locked memory", "memlock"),
    ("Max stack size", "stack"),
    ("Max core file size", "core"),
];

/// Reads the table.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let process = after(path, "proc").filter(|process| process.parse::<u32>().is_ok());
    let Some(process) = process else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        for (start, name) in NAMES {
            let Some(rest) = line.strip_prefix(start) else {
                continue;
            };
            let mut fields = rest.split_ascii_whitespace();
            for kind in ["soft", "hard"] {
                let value = fields.next().map(Value::of);
                let key = Key::of("process", process, &format!("{name}_{kind}"));
                facts.extend(value.map(|value| found(key, value, number)));
            }
        }
    }
    facts
}
