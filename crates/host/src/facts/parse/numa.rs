//! Processors of the nodes of memory: `/sys/devices/system/node/node0/cpulist`.

use super::{Found, after, found};
use crate::facts::{Key, Value};

/// Reads `0-15,32-47`.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let Some(node) = after(path, "node") else {
        return Vec::new();
    };
    let list = text.trim();
    let Some(count) = processors(list) else {
        return Vec::new();
    };
    let fact = |name: &str, value: Value| found(Key::of("numa", node, name), value, 1);
    vec![fact("processors", count.into()), fact("list", list.into())]
}

/// How many a list has; a node without processors has an empty one.
fn processors(list: &str) -> Option<u64> {
    let mut count = 0_u64;
    for part in list.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count += u64::from(last.checked_sub(first)?) + 1;
    }
    Some(count)
}
