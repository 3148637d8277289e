//! Rules of udev: what they write to attributes of devices, `ATTR{queue/scheduler}="none"`.

use super::{Found, found, odd, said};
use crate::facts::{Key, Value};

/// Attributes that a person who tunes storage writes.
const WATCHED: [&str; 3] = ["queue/", "bdi/", "device/"];

/// Reads the file: `udev[path:line].queue/scheduler`, and beside it under `match` what the line is
/// for. A line that breaks in the middle of a word, as those that were copied from a paper do, is
/// odd.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let joined = text.replace("\\\n", " ");
    for (number, line) in said(&joined, &['#']) {
        let subject = format!("{path}:{number}");
        let (mut writes, mut matches) = (Vec::new(), Vec::new());
        for part in parts(line) {
            if let Some((left, value)) = assignment(part) {
                let attribute = left
                    .strip_prefix("ATTR{")
                    .and_then(|rest| rest.strip_suffix('}'));
                writes.extend(attribute.map(|attribute| (attribute, value)));
            } else {
                matches.push(part.trim());
            }
        }
        if writes.is_empty() {
            let wanted = WATCHED
                .iter()
                .any(|start| line.contains(&format!("{{{start}")));
            if wanted && !line.contains("==") {
                facts.push(odd(path, number, line));
            }
            continue;
        }
        for (attribute, value) in writes {
            let key = Key::of("udev", &subject, attribute);
            facts.push(found(key, Value::of(value), number));
        }
        let key = Key::of("udev", &subject, "match");
        facts.push(found(key, Value::list(matches), number));
    }
    facts
}

/// Parts between commas that are not in quotation marks.
fn parts(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let parts = line.split(|letter| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    });
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

/// `ATTR{online}="1"`, but neither `==` nor `!=` nor `+=`.
fn assignment(part: &str) -> Option<(&str, &str)> {
    let (left, right) = part.split_once('=')?;
    let value = right.strip_prefix('"')?.strip_suffix('"')?;
    let left = left.trim_end_matches(':');
    (!left.ends_with(['!', '+', '-', '='])).then_some((left.trim(), value))
}
