//! Files of `/sys/devices/system/cpu`: governors, drivers, preferences, boost.

use super::{Found, base, found};
use crate::facts::{Key, Value};

/// Reads one. What is told per processor has the processor as its subject, and is gathered
/// afterwards.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let name = base(path);
    let processor = path.split('/').find(|part| {
        part.strip_prefix("cpu")
            .is_some_and(|rest| rest.parse::<u32>().is_ok())
    });
    let key = match processor {
        Some(processor) => Key::of("cpu", processor, name),
        None if path.contains("/smt/") => Key::plain("cpu", "smt"),
        None => Key::plain("cpu", name),
    };
    vec![found(key, Value::of(text), 1)]
}
