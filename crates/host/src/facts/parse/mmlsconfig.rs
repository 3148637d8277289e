//! Output of `mmlsconfig`, and `/var/mmfs/gen/mmfs.cfg`: values that differ from GPFS's own, in
//! sections for nodes and classes.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the output. What is in a section has its nodes and classes as subject; `[common]` is for
/// all.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let (mut section, mut facts) = (None, Vec::new());
    for (number, line) in lines(text) {
        let line = line.trim();
        if line.starts_with("File systems in cluster") {
            break;
        }
        if line.ends_with(':') || line.starts_with(['-', '#']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']');
            section = (name != "common").then_some(name);
        } else if let Some((name, value)) = line.split_once(char::is_whitespace) {
            let key = match section {
                Some(section) => Key::of("gpfs", section, name),
                None => Key::plain("gpfs", name),
            };
            facts.push(found(key, Value::of(value), number));
        }
    }
    facts
}
