//! What devices and servers were asked for, as far as that can be seen.

use std::fs;
use std::path::Path;

use host::file_systems::{self, Mount, Physical};
use host::served;

/// Where the physical side of a folder can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    /// What devices read for this process alone.
    Process {
        /// The devices that count requests, those of others too.
        devices: Vec<String>,
    },
    /// What the mount, or its share, fetched from its server, for whomever.
    Mount(Mount),
    /// Nowhere, and why.
    Hidden(String),
}

impl Side {
    pub(super) fn of(folder: &Path) -> Self {
        match file_systems::live(folder) {
            Some((_, Physical::Devices { own, .. })) => Self::Process { devices: own },
            Some((mount, Physical::Mount)) => Self::Mount(mount),
            Some((_, Physical::Hidden(why))) => Self::Hidden(why),
            None => Self::Hidden("/proc does not say what it is on".to_owned()),
        }
    }

    /// How reads are counted, for people.
    pub(super) fn basis(&self) -> String {
        match self {
            Self::Process { .. } => "bytes that devices read for this process".to_owned(),
            Self::Mount(mount) => {
                let name = served::name(mount);
                format!("bytes that {name} fetched from its server")
            }
            Self::Hidden(why) => why.clone(),
        }
    }

    /// Bytes read so far.
    pub(super) fn read_bytes(&self) -> Option<u64> {
        match self {
            Self::Process { .. } => io::process::device_read_bytes(),
            Self::Mount(mount) => served::now(mount).map(|mount| mount.read_bytes),
            Self::Hidden(_) => None,
        }
    }

    /// Requests so far, those of others too: reads and writes of the device, or calls of the server.
    pub(super) fn requests(&self) -> Option<u64> {
        match self {
            Self::Process { devices } => {
                let text = fs::read_to_string("/proc/diskstats").ok()?;
                let found = host::block_devices::parse(&text);
                let requests = |name| found.get(name).map(|one| one.reads + one.writes);
                devices.iter().map(requests).sum()
            }
            Self::Mount(mount) => served::now(mount).map(|mount| mount.operations),
            Self::Hidden(_) => None,
        }
    }
}
