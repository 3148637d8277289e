//! Output of `mmlsmount all -L`: how many nodes have a file system mounted.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads `File system ffs is mounted on 7 nodes:`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let (name, rest) = line
            .strip_prefix("File system ")?
            .split_once(" is mounted on ")?;
        let count = Value::of(rest.split(' ').next()?);
        Some(found(Key::of("gpfs-fs", name, "nodes"), count, number))
    };
    lines(text).filter_map(fact).collect()
}
