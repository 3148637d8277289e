//! Output of `findmnt`: a tree of points with source, type and options in columns.

use super::{Found, lines, mount_facts, uppermost};
use crate::file_systems::listed;

/// Reads the output; points and sources that have blanks are left out, since columns cannot be told
/// then.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut mounts = Vec::new();
    for (number, line) in lines(text) {
        let Some(start) = line.find('/') else {
            continue;
        };
        let fields: Vec<&str> = line[start..].split_ascii_whitespace().collect();
        if let [point, source, fstype, options] = fields.as_slice() {
            mounts.push(mount_facts(point, fstype, source, listed(options), number));
        }
    }
    uppermost(mounts)
}
