//! `/proc/self/mountinfo`: every mount, its device, options of the mount and of the file system.

use super::{Found, found, lines, mount_facts, uppermost};
use crate::facts::Key;
use crate::file_systems;

/// Reads the table.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut mounts = Vec::new();
    for (number, line) in lines(text) {
        let Some(mount) = file_systems::mount(line) else {
            continue;
        };
        let point = mount.point.to_string_lossy();
        let (major, minor) = mount.device;
        let device = format!("{major}:{minor}");
        let mut facts = vec![found(Key::of("mount", &point, "device"), device, number)];
        let all = mount_facts(&point, &mount.kind, &mount.source, mount.options, number);
        facts.extend(all);
        mounts.push(facts);
    }
    uppermost(mounts)
}
