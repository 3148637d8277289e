//! Files of `/sys/kernel/config/dlm/cluster`, and `dlm_tool ls`.

use super::{Found, base, found, lines};
use crate::facts::{Key, Value};

/// Reads a file.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    vec![found(Key::plain("dlm", base(path)), Value::of(text), 1)]
}

/// Reads `dlm_tool ls`: members of lock spaces, `members       1 2 3`.
pub fn parse_tool(_path: &str, text: &str) -> Vec<Found> {
    let (mut space, mut facts) = (None, Vec::new());
    for (number, line) in lines(text) {
        let mut fields = line.split_ascii_whitespace();
        match fields.next() {
            Some("name") => space = fields.next(),
            Some("members") => {
                if let Some(space) = space {
                    let key = Key::of("dlm", space, "members");
                    facts.push(found(key, fields.count(), number));
                }
            }
            _ => {}
        }
    }
    facts
}
