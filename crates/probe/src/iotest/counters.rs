//! What devices, or the server of a mount, say that they moved.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use host::file_systems::{self, Physical};

use super::{DeviceShare, PhaseOutcome, Place};

/// Bytes read and written since the host started, by device or mount.
pub(super) struct Counters(BTreeMap<String, (u64, u64)>);

/// The device or mount whose counters show what a directory moves.
fn behind(place: &Path) -> Option<String> {
    let (mount, physical) = file_systems::live(place)?;
    match physical {
        Physical::Devices(names) => names.into_iter().next(),
        Physical::Mount => Some(mount.point.display().to_string()),
        Physical::Hidden(_) => None,
    }
}

impl Counters {
    pub(super) fn now(places: &[Place]) -> Self {
        let devices = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountstats").unwrap_or_default();
        let devices = host::block_devices::parse(&devices);
        let mounts = host::nfs::parse(&mounts);
        let counts = places
            .iter()
            .filter_map(|place| behind(&place.folder))
            .filter_map(|name| {
                let device = devices
                    .get(&name)
                    .map(|one| (one.read_bytes, one.write_bytes));
                let mount = mounts
                    .get(&name)
                    .map(|one| (one.read_bytes, one.write_bytes));
                Some((name, device.or(mount)?))
            });
        Self(counts.collect())
    }

    /// What each moved in a phase, beside what the streams on it did.
    pub(super) fn since(&self, places: &[Place], phase: &PhaseOutcome) -> Vec<DeviceShare> {
        let now = Self::now(places);
        let mut shares: Vec<DeviceShare> = Vec::new();
        for (place, outcome) in places.iter().zip(&phase.places) {
            let Some(name) = behind(&place.folder) else {
                continue;
            };
            let Some((before, after)) = self.0.get(&name).zip(now.0.get(&name)) else {
                continue;
            };
            let found = shares.iter_mut().position(|share| share.name == name);
            let found = found.unwrap_or_else(|| {
                shares.push(DeviceShare {
                    name,
                    read_bytes: after.0.saturating_sub(before.0),
                    written_bytes: after.1.saturating_sub(before.1),
                    ..DeviceShare::default()
                });
                shares.len() - 1
            });
            let sum =
                |of: fn(&super::StreamOutcome) -> u64| outcome.streams.iter().map(of).sum::<u64>();
            shares[found].streams_read_bytes += sum(|stream| stream.read_bytes);
            shares[found].streams_written_bytes += sum(|stream| stream.written_bytes);
        }
        shares
    }
}
