//! `/proc/mounts`: source, point, type and options of every mount.

use super::{Found, lines, mount_facts, uppermost};
use crate::fields::unescaped;
use crate::file_systems::listed;

/// Reads the table. A line with a blank that is not octal says something else than it seems to, and
/// is left out.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut mounts = Vec::new();
    for (number, line) in lines(text) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (source, point, fstype, options) = match fields.as_slice() {
            [source, point, fstype, options]
            | [
                source,
                point,
                fstype,
                options,
                "0" | "1" | "2",
                "0" | "1" | "2",
            ] if point.starts_with('/') => (source, point, fstype, options),
            _ => continue,
        };
        let (source, point) = (unescaped(source), unescaped(point));
        mounts.push(mount_facts(
            &point,
            fstype,
            &source,
            listed(options),
            number,
        ));
    }
    uppermost(mounts)
}
