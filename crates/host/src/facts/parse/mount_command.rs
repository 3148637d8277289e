//! Output of `mount` and `mount -l`: `/dev/sda1 on /boot type ext4 (rw,relatime) [label]`.

use super::{Found, lines, mount_facts, uppermost};
use crate::file_systems::listed;

/// Reads the output. Points may have ` on ` and ` type ` in them: the last ` type ` before the
/// options counts.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut mounts = Vec::new();
    for (number, line) in lines(text) {
        let Some((mount, options)) = line.rsplit_once(" (") else {
            continue;
        };
        let Some((mount, fstype)) = mount.rsplit_once(" type ") else {
            continue;
        };
        let Some((source, point)) = mount.split_once(" on ") else {
            continue;
        };
        let options = options.split(')').next().unwrap_or_default();
        mounts.push(mount_facts(point, fstype, source, listed(options), number));
    }
    uppermost(mounts)
}
