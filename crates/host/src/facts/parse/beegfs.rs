//! `/proc/fs/beegfs/*/config` (`key = value` of a mounted client) and
//! `/etc/beegfs/beegfs-client.conf`.

use super::{Found, found, said};
use crate::facts::{Key, Value};

/// Reads either.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let (name, value) = line.split_once('=')?;
        let known = ["tune", "conn", "sys", "quota"];
        let name = name.trim();
        known
            .iter()
            .any(|start| name.starts_with(start))
            .then(|| found(Key::plain("beegfs", name), Value::of(value), number))
    };
    said(text, &['#', '[']).filter_map(fact).collect()
}
