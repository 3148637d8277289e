//! Files of `/sys/block/*/device`: vendor (padded), model, time limit, queue depth, state.

use super::{Found, after, base, found};
use crate::facts::{Key, Value};

/// Reads one.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let Some(device) = after(path, "block").filter(|_| !text.trim().is_empty()) else {
        return Vec::new();
    };
    let name = match base(path) {
        "timeout" => "timeout_s",
        other => other,
    };
    vec![found(Key::of("block", device, name), Value::of(text), 1)]
}
