//! What mounts from servers count of themselves, whichever kind they are.

use std::collections::BTreeMap;
use std::fs;

use crate::file_systems::Mount;
use crate::{cifs, nfs};

/// Where the kernel shows those of NFS.
pub const MOUNTSTATS: &str = "/proc/self/mountstats";

/// Totals of a mount since it was mounted, or of the share that it is of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServedMount {
    /// `nfs`, `nfs4`, `cifs`, …
    pub kind: String,
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to the server.
    pub write_bytes: u64,
    /// Calls of the server.
    pub operations: u64,
    /// Calls by kind (`READ`, `LOCK`, …), those that were made, where the mount tells.
    pub calls: BTreeMap<String, u64>,
    /// Time of the calls from queueing to answer, added up, ms; absent where the mount does not tell.
    pub operation_ms: Option<u64>,
}

/// The totals of a mount of this host now, if it counts for itself.
pub fn now(mount: &Mount) -> Option<ServedMount> {
    if cifs::KINDS.contains(&&*mount.kind) {
        return cifs::share_of(&fs::read_to_string(cifs::STATS).ok()?, &mount.source);
    }
    let text = fs::read_to_string(MOUNTSTATS).ok()?;
    nfs::parse(&text).remove(&mount.point.display().to_string())
}

/// What its totals are of: the mount point, or the share with all of its mounts.
pub fn name(mount: &Mount) -> String {
    if cifs::KINDS.contains(&&*mount.kind) {
        // //server/share, without the folder in it.
        let share = mount.source.split('/').take(4);
        return share.collect::<Vec<_>>().join("/");
    }
    mount.point.display().to_string()
}
