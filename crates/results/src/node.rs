//! What a node of a run is: `nodes/<node>.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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
    /// Which boot of which machine it is (`/proc/sys/kernel/random/boot_id`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The node, of those before it, that is the same machine: what the machine does as a whole is in that
    /// one's samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_host_as: Option<String>,
    /// How far its wall clock was ahead of that of the node that led the run, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<f64>,
    /// How far off that may be, seconds: half of the fastest answer's way there and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_uncertainty_s: Option<f64>,
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
    /// Options of the mount, without addresses, users and paths; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Those of them that it is on where they are several (btrfs); absent where it is on the first alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// True if the mount counts for itself (NFS, CIFS).
    #[serde(default)]
    pub counts_itself: bool,
    /// Why its physical reads and writes are not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
}

/// Where it is known from what was read physically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhysicalReads {
    /// What the kernel read from devices on behalf of the jobs' processes.
    Processes,
    /// What mounts that count for themselves (NFS, CIFS) read from their servers.
    Mounts,
}

impl fmt::Display for FileSystemRecord {
    /// Kind, what is mounted where, devices and options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {}", self.kind, self.source, self.mount_point)?;
        if !self.devices.is_empty() {
            write!(f, " on {}", self.devices.join(" over "))?;
        }
        if !self.options.is_empty() {
            write!(f, " ({})", self.options.join(","))?;
        }
        Ok(())
    }
}

impl FileSystemRecord {
    /// Whether it keeps files in memory and nowhere else.
    pub fn is_in_memory(&self) -> bool {
        matches!(&*self.kind, "tmpfs" | "ramfs")
    }

    /// Devices that it is on: what it moves is what all of them do.
    pub fn own_devices(&self) -> &[String] {
        if self.members.is_empty() {
            &self.devices[..self.devices.len().min(1)]
        } else {
            &self.members
        }
    }

    /// Devices below these.
    fn lower_devices(&self) -> impl Iterator<Item = &String> {
        let own = self.own_devices();
        self.devices.iter().filter(|name| !own.contains(name))
    }
}

impl NodeRecord {
    /// Where it is known from what jobs read physically: the kernel's counts of processes, or those of
    /// mounts from servers. `None` where a file system hides it, or where one has the one and another the other.
    pub fn physical_reads(&self) -> Option<PhysicalReads> {
        let mut records = self.file_systems.values().peekable();
        records.peek()?;
        if records.clone().all(|record| record.counts_itself) {
            return Some(PhysicalReads::Mounts);
        }
        // Memory is never read physically; below an overlay the kernel counts as ever.
        let is_counted = |record: &FileSystemRecord| {
            let by_process = record.is_in_memory() || record.kind == "overlay";
            !record.counts_itself && (record.hidden.is_none() || by_process)
        };
        records.all(is_counted).then_some(PhysicalReads::Processes)
    }

    /// Mount points of file systems that count for themselves, each once.
    pub fn served_mounts(&self) -> BTreeSet<&str> {
        let records = self.file_systems.values();
        let served = records.filter(|record| record.counts_itself);
        served.map(|record| &*record.mount_point).collect()
    }

    /// Devices that the run's file systems are on directly, each once; not one whose traffic passes through others of
    /// them. `None` where only a part of it does: a sum would count that part twice.
    pub fn own_devices(&self) -> Option<Vec<&str>> {
        let records = || self.file_systems.values();
        let of = |name: &String| records().find(|record| record.own_devices().contains(name));
        let below = |name: &String| {
            of(name)
                .into_iter()
                .flat_map(FileSystemRecord::lower_devices)
        };
        let mut names: Vec<&str> = Vec::new();
        for name in records().flat_map(FileSystemRecord::own_devices) {
            let own: Vec<&String> = below(name).filter(|lower| of(lower).is_some()).collect();
            let is_counted = |lower: &String| {
                own.iter()
                    .any(|one| *one == lower || below(one).any(|name| name == lower))
            };
            if own.is_empty() {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            } else if !below(name).all(is_counted) {
                return None;
            }
        }
        Some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, devices: &[&str], hidden: bool) -> FileSystemRecord {
        FileSystemRecord {
            kind: kind.to_owned(),
            devices: devices.iter().map(|name| (*name).to_owned()).collect(),
            counts_itself: kind.starts_with("nfs"),
            hidden: hidden.then(|| "why".to_owned()),
            ..FileSystemRecord::default()
        }
    }

    #[test]
    fn hidden_reads_are_not_known() {
        let disk = || record("xfs", &["dm-0", "sda"], false);
        let nfs = || record("nfs4", &[], false);
        let memory = || record("tmpfs", &[], true);
        let fuse = || record("fuse.s3", &[], true);
        for (data, work, expected) in [
            (disk(), disk(), Some(PhysicalReads::Processes)),
            (disk(), memory(), Some(PhysicalReads::Processes)),
            (nfs(), nfs(), Some(PhysicalReads::Mounts)),
            (nfs(), disk(), None),
            (disk(), fuse(), None),
        ] {
            let node = NodeRecord {
                file_systems: [("data".to_owned(), data), ("work".to_owned(), work)].into(),
                ..NodeRecord::default()
            };
            assert_eq!(node.physical_reads(), expected, "{node:?}");
        }
        assert_eq!(NodeRecord::default().physical_reads(), None);
    }

    #[test]
    fn own_devices_are_those_of_the_file_systems() {
        let same = || record("xfs", &["dm-0", "sda"], false);
        let node = NodeRecord {
            file_systems: [("data".to_owned(), same()), ("work".to_owned(), same())].into(),
            ..NodeRecord::default()
        };
        assert_eq!(node.own_devices(), Some(vec!["dm-0"]));
    }

    #[test]
    fn all_devices_of_a_btrfs_are_its_own() {
        let btrfs = |members: &[&str], devices: &[&str]| FileSystemRecord {
            members: members.iter().map(|name| (*name).to_owned()).collect(),
            ..record("btrfs", devices, false)
        };
        let own = |data: FileSystemRecord, work: FileSystemRecord| {
            let file_systems = [("data".to_owned(), data), ("work".to_owned(), work)].into();
            let node = NodeRecord {
                file_systems,
                ..NodeRecord::default()
            };
            node.own_devices().map(|names| names.join(" "))
        };
        let both = || btrfs(&["sda", "sdb"], &["sda", "sdb"]);
        assert_eq!(own(both(), both()).unwrap(), "sda sdb");
        let one = own(both(), record("xfs", &["sdb"], false));
        assert_eq!(one.unwrap(), "sda sdb");
        let volumes = || btrfs(&["dm-0", "dm-1"], &["dm-0", "dm-1", "sda", "sdb"]);
        let other = record("xfs", &["dm-2", "sda"], false);
        assert_eq!(own(volumes(), other).unwrap(), "dm-0 dm-1 dm-2");
        assert_eq!(own(volumes(), both()).unwrap(), "sda sdb");
        assert_eq!(own(volumes(), record("xfs", &["sda"], false)), None);
    }

    #[test]
    fn a_device_over_another_one_of_the_run_is_not_counted_twice() {
        let on = |data: &[&str], output: &[&str]| {
            let node = NodeRecord {
                file_systems: [
                    ("data".to_owned(), record("ext4", data, false)),
                    ("output".to_owned(), record("ext4", output, false)),
                ]
                .into(),
                ..NodeRecord::default()
            };
            let found = node.own_devices();
            found.map(|names| names.join(" "))
        };
        let counted = |names: &str| Some(names.to_owned());
        // A loop device whose file lies where outputs do, also through a volume.
        assert_eq!(on(&["loop0", "vda"], &["vda"]), counted("vda"));
        let through = on(&["loop0", "dm-0", "vda"], &["dm-0", "vda"]);
        assert_eq!(through, counted("dm-0"));
        // Two volumes of one disk: each moves what is its own.
        let volumes = on(&["dm-0", "sda"], &["dm-1", "sda"]);
        assert_eq!(volumes, counted("dm-0 dm-1"));
        // A stripe, one of whose disks has a partition of the run.
        assert_eq!(on(&["dm-0", "sda", "sdb"], &["sda"]), None);
    }
}
