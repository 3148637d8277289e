//! What devices and servers were asked for, as far as that can be seen.

use std::fs;
use std::path::Path;

use host::file_systems::{self, Physical};

/// Where the physical side of a folder can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    /// What devices read for this process alone.
    Process {
        /// The device that counts requests, those of others too.
        device: String,
    },
    /// What the mount fetched from its server, for whomever.
    Mount(String),
    /// What mounts of a share (CIFS) fetched from its server, for whomever; its source.
    Share(String),
    /// Nowhere, and why.
    Hidden(String),
}

impl Side {
    pub(super) fn of(folder: &Path) -> Self {
        match file_systems::live(folder) {
            Some((_, Physical::Devices(names))) => Self::Process {
                device: names.into_iter().next().unwrap_or_default(),
            },
            Some((mount, Physical::Mount)) if host::cifs::KINDS.contains(&&*mount.kind) => {
                Self::Share(mount.source)
            }
            Some((mount, Physical::Mount)) => Self::Mount(mount.point.display().to_string()),
            Some((_, Physical::Hidden(why))) => Self::Hidden(why),
            None => Self::Hidden("/proc does not say what it is on".to_owned()),
        }
    }

    /// How reads are counted, for people.
    pub(super) fn basis(&self) -> String {
        match self {
            Self::Process { .. } => "bytes that devices read for this process".to_owned(),
            Self::Mount(name) | Self::Share(name) => {
                format!("bytes that {name} fetched from its server")
            }
            Self::Hidden(why) => why.clone(),
        }
    }

    /// Bytes read so far.
    pub(super) fn read_bytes(&self) -> Option<u64> {
        match self {
            Self::Process { .. } => io::process::device_read_bytes(),
            Self::Mount(point) => mounts().get(point).map(|mount| mount.read_bytes),
            Self::Share(source) => share(source).map(|share| share.read_bytes),
            Self::Hidden(_) => None,
        }
    }

    /// Requests so far, those of others too: reads and writes of the device, or calls of the server.
    pub(super) fn requests(&self) -> Option<u64> {
        match self {
            Self::Process { device } => {
                let text = fs::read_to_string("/proc/diskstats").ok()?;
                let devices = host::block_devices::parse(&text);
                devices.get(device).map(|one| one.reads + one.writes)
            }
            Self::Mount(point) => mounts().get(point).map(|mount| mount.operations),
            Self::Share(source) => share(source).map(|share| share.requests),
            Self::Hidden(_) => None,
        }
    }
}

fn share(source: &str) -> Option<host::cifs::Share> {
    let stats = fs::read_to_string(host::cifs::STATS).ok()?;
    host::cifs::share_of(&host::cifs::parse(&stats), source)
}

fn mounts() -> std::collections::BTreeMap<String, host::served::ServedMount> {
    host::nfs::parse(&fs::read_to_string("/proc/self/mountstats").unwrap_or_default())
}
