//! What mounts from servers count of themselves, whichever kind they are.

use std::collections::BTreeMap;

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
