//! What a node of a run is: `nodes/<node>.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A node, as its samples need it to be understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Host name.
    pub node: String,
    /// Release of its kernel.
    #[serde(default)]
    pub kernel: String,
    /// Processors that are on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// File systems of the run's directories, by `data`, `output`, `work`, `util`.
    #[serde(default)]
    pub file_systems: BTreeMap<String, FileSystemRecord>,
    /// What could not be measured on this node, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
    /// Names of series that `--observe` was to bring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
}

/// The file system that a directory of a run is on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemRecord {
    /// Where it is mounted.
    pub mount_point: String,
    /// `ext4`, `nfs4`, …
    pub kind: String,
    /// What is mounted there.
    pub source: String,
    /// Block devices behind it, that of the file system first (the whole disk, if it is a partition),
    /// then those below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// True if the mount counts for itself (NFS).
    #[serde(default)]
    pub counts_itself: bool,
    /// Why its physical reads and writes are not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
}

impl NodeRecord {
    /// True if what processes read from devices is counted on all of the run's file systems.
    pub fn sees_physical_reads(&self) -> bool {
        let mut file_systems = self.file_systems.values();
        !self.file_systems.is_empty() && file_systems.all(|one| one.hidden.is_none())
    }

    /// Devices that the run's file systems are on directly, each once.
    pub fn own_devices(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let first = self.file_systems.values().map(|one| one.devices.first());
        for name in first.flatten() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}
