//! `lctl get_param` (`osc.fs-OST0000-osc-ffff.max_dirty_mb=32`), `lfs df` and `lfs getstripe -d`.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads `lctl get_param`. The kind of the device and the name make the fact, the device is its
/// subject: `lustre[osc.sas-OST0000-osc-ff].max_dirty_mb`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let (name, value) = line.split_once('=')?;
        let (device, name) = name.trim().rsplit_once('.')?;
        let known = ["osc.", "mdc.", "llite.", "ldlm."];
        known
            .iter()
            .any(|start| device.starts_with(start))
            .then(|| found(Key::of("lustre", device, name), Value::of(value), number))
    };
    lines(text).filter_map(fact).collect()
}

/// Reads a file of `/proc/fs/lustre` or `/sys/fs/lustre`: kind, device and name are in the path.
pub fn parse_file(path: &str, text: &str) -> Vec<Found> {
    let Some((_, inside)) = path.split_once("fs/lustre/") else {
        return Vec::new();
    };
    let Some((device, name)) = inside.rsplit_once('/') else {
        return Vec::new();
    };
    let value = text.lines().next().unwrap_or_default();
    vec![found(
        Key::of("lustre", &device.replace('/', "."), name),
        Value::of(value),
        1,
    )]
}

/// Reads `lfs df`: use of object storage targets, `sas-OST0000_UUID 1000 900 100 90% /sas[OST:0]`.
pub fn parse_df(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [target, .., used, place] = fields.as_slice() else {
            return None;
        };
        let used: i64 = used.strip_suffix('%')?.parse().ok()?;
        place
            .contains("[OST:")
            .then(|| found(Key::of("ost", target, "used_percent"), used, number))
    };
    lines(text).filter_map(fact).collect()
}

/// Reads `lfs getstripe -d DIR`: `stripe_count:  -1 stripe_size:   4194304`. Of a progressive
/// layout the widest counts; -1 is all targets.
pub fn parse_stripe(path: &str, text: &str) -> Vec<Found> {
    let directory = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with('/'));
    // The name of a captured output has dots for slashes.
    let named = path
        .rsplit_once("getstripe_")
        .map(|(_, name)| name.replace('.', "/"));
    let directory = directory.map(str::to_owned).or(named).unwrap_or_default();
    let mut widest: Option<(usize, i64)> = None;
    for (number, line) in lines(text) {
        let mut words = line.split_ascii_whitespace();
        if words.any(|word| matches!(word, "stripe_count:" | "lmm_stripe_count:"))
            && let Some(Ok(count)) = words.next().map(str::parse::<i64>)
        {
            let count = if count == -1 { i64::MAX } else { count };
            if widest.is_none_or(|(_, most)| count > most) {
                widest = Some((number, count));
            }
        }
    }
    let fact = widest.map(|(number, count)| {
        let value = if count == i64::MAX {
            Value::from("all")
        } else {
            count.into()
        };
        found(Key::of("mount", &directory, "stripe_count"), value, number)
    });
    fact.into_iter().collect()
}
