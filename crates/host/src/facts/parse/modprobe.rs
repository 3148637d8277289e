//! Files of `modprobe.d`: parameters that modules get when they are loaded.

use super::{Found, found, odd, said};
use crate::facts::{Key, Value};

/// Directives of modprobe.d(5). Names of modules and of directives are exact: `Options` is none.
const DIRECTIVES: [&str; 7] = [
    "options",
    "alias",
    "blacklist",
    "install",
    "remove",
    "softdep",
    "weakdep",
];

/// Reads the file.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in said(text, &['#']) {
        let mut fields = line.split_ascii_whitespace();
        match fields.next() {
            Some("options") => {
                let Some(module) = fields.next() else {
                    facts.push(odd(path, number, line));
                    continue;
                };
                let module = module.replace('-', "_");
                for field in fields {
                    let (name, value) = field.split_once('=').unwrap_or((field, "1"));
                    let value = Value::of(value.trim_matches('"'));
                    facts.push(found(Key::of("module", &module, name), value, number));
                }
            }
            Some(word) if DIRECTIVES.contains(&word) => {}
            _ => facts.push(odd(path, number, line)),
        }
    }
    facts
}
