//! What devices, or the server of a mount, say that they moved.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use host::file_systems::{self, Mount, Physical};
use host::served;

use super::{DeviceShare, PhaseOutcome, Place};

/// Bytes read and written since the host started, by device or mount.
pub(super) struct Counters(BTreeMap<String, (u64, u64)>);

/// The devices or the mount whose counters show what a directory moves.
enum Behind {
    Devices(Vec<String>),
    Mount(Mount),
}

impl Behind {
    fn of(place: &Path) -> Option<Self> {
        let (mount, physical) = file_systems::live(place)?;
        match physical {
            Physical::Devices { own, .. } => Some(Self::Devices(own)),
            Physical::Mount => Some(Self::Mount(mount)),
            Physical::Hidden(_) => None,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Devices(names) => names.join(", "),
            Self::Mount(mount) => served::name(mount),
        }
    }

    /// Bytes read and written so far.
    fn bytes(&self) -> Option<(u64, u64)> {
        match self {
            Self::Devices(names) => {
                let text = fs::read_to_string("/proc/diskstats").ok()?;
                let devices = host::block_devices::parse(&text);
                names.iter().try_fold((0, 0), |(read, written), name| {
                    let one = devices.get(name)?;
                    Some((read + one.read_bytes, written + one.write_bytes))
                })
            }
            Self::Mount(mount) => served::now(mount).map(|one| (one.read_bytes, one.write_bytes)),
        }
    }
}

impl Counters {
    pub(super) fn now(places: &[Place]) -> Self {
        let behind = places.iter().filter_map(|place| Behind::of(&place.folder));
        let counts = behind.filter_map(|behind| Some((behind.name(), behind.bytes()?)));
        Self(counts.collect())
    }

    /// What each moved in a phase, beside what the streams on it did.
    pub(super) fn since(&self, places: &[Place], phase: &PhaseOutcome) -> Vec<DeviceShare> {
        let now = Self::now(places);
        let mut shares: Vec<DeviceShare> = Vec::new();
        for (place, outcome) in places.iter().zip(&phase.places) {
            let Some(behind) = Behind::of(&place.folder) else {
                continue;
            };
            let name = behind.name();
            let Some((before, after)) = self.0.get(&name).zip(now.0.get(&name)) else {
                continue;
            };
            let found = shares.iter_mut().position(|share| share.name == name);
            let found = found.unwrap_or_else(|| {
                shares.push(DeviceShare {
                    name,
                    several: matches!(&behind, Behind::Devices(names) if names.len() > 1),
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
