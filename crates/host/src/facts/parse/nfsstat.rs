//! Output of `nfsstat -m`: `/mnt from server:/export`, then a line of flags.

use super::{Found, lines, mount_facts};
use crate::file_systems::listed;

/// Reads the output.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let mut mount = None;
    for (number, line) in lines(text) {
        if let Some(flags) = line.trim_start().strip_prefix("Flags:") {
            let Some((point, source)) = mount.take() else {
                continue;
            };
            let options = listed(flags.trim());
            let version = options.iter().any(|option| option.starts_with("vers=4"));
            let fstype = if version { "nfs4" } else { "nfs" };
            facts.extend(mount_facts(point, fstype, source, options, number));
        } else {
            mount = line.trim().split_once(" from ").or(mount);
        }
    }
    facts
}
