//! Mounts from servers, which count for themselves: NFS by mount, CIFS by share.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use host::file_systems::{self, Mount};
use host::served::{MOUNTSTATS, ServedMount};
use host::{cifs, nfs};

use super::readings::Source;

/// What is read of them.
#[derive(Debug, Default)]
pub struct Servers {
    mountstats: Source,
    stats: Source,
    /// Mount points and sources of CIFS.
    shares: Vec<(String, String)>,
    /// Mount points of which nothing of NFS is to be counted.
    uncounted: BTreeSet<String>,
}

impl Servers {
    /// Those of this host; where several count the same, that of the run's `own` mount points is the one.
    pub fn open(own: &[&str]) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounts = own_first(seen(file_systems::parse(&mounts)), own);
        let is_share = |mount: &&Mount| cifs::KINDS.contains(&&*mount.kind);
        let shares = mounts.iter().filter(is_share);
        let shares = shares.map(|mount| (shown(mount), mount.source.clone()));
        Self {
            mountstats: Source::open(MOUNTSTATS),
            stats: Source::open(cifs::STATS),
            shares: shares.collect(),
            uncounted: uncounted(&mounts),
        }
    }

    /// The totals now, by mount point.
    pub fn read(&mut self) -> BTreeMap<String, ServedMount> {
        let text = self.mountstats.read();
        let mut found = text.map(|text| nfs::parse(&text)).unwrap_or_default();
        found.retain(|point, _| !self.uncounted.contains(point));
        if !self.shares.is_empty()
            && let Some(text) = self.stats.read()
        {
            found.extend(cifs::by_mount(&text, &self.shares));
        }
        found
    }
}

fn shown(mount: &Mount) -> String {
    mount.point.display().to_string()
}

fn own_first(mut mounts: Vec<Mount>, own: &[&str]) -> Vec<Mount> {
    mounts.sort_by_key(|mount| !own.iter().any(|point| mount.point == Path::new(point)));
    mounts
}

/// Mounts that no later one at the same place hides.
fn seen(mounts: Vec<Mount>) -> Vec<Mount> {
    let last: BTreeMap<PathBuf, Mount> = mounts
        .into_iter()
        .map(|mount| (mount.point.clone(), mount))
        .collect();
    last.into_values().collect()
}

/// Mounts of one file system with the same options are one for the kernel, which shows its counts at each: all of them
/// but the first, and places where something else hides one.
fn uncounted(mounts: &[Mount]) -> BTreeSet<String> {
    let mut devices = BTreeSet::new();
    let counts =
        |mount: &&Mount| matches!(&*mount.kind, "nfs" | "nfs4") && devices.insert(mount.device);
    let counting: BTreeSet<String> = mounts.iter().filter(counts).map(shown).collect();
    let all = mounts.iter().map(shown);
    all.filter(|point| !counting.contains(point)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_counts_once_is_counted_once_and_at_the_run_s_own_mount() {
        let mounts = "\
            36 1 0:40 / /home rw,relatime - nfs4 server:/export/home rw,vers=4.2\n\
            37 1 0:40 / /sas/data rw,relatime - nfs4 server:/export/data rw,vers=4.2\n\
            38 1 0:41 / /sas/work rw,relatime - nfs4 server:/export/work rw,vers=4.2,nconnect=4\n\
            39 1 0:40 / /sas/out rw,relatime - nfs4 server:/export/out rw,vers=4.2\n";
        let mounts = file_systems::parse(mounts);
        let own = ["/sas/data", "/sas/work", "/sas/out"];
        let found = uncounted(&own_first(mounts.clone(), &own));
        assert_eq!(found, ["/home", "/sas/out"].map(str::to_owned).into());
        let found = uncounted(&own_first(mounts, &[]));
        assert_eq!(found, ["/sas/data", "/sas/out"].map(str::to_owned).into());
    }

    #[test]
    fn a_hidden_mount_counts_nothing() {
        let mounts = "\
            36 1 0:40 / /sas rw,relatime - nfs4 server:/a rw\n\
            37 1 0:41 / /sas rw,relatime - nfs4 server:/b rw\n\
            38 1 0:42 / /work rw,relatime - nfs4 server:/c rw\n\
            39 1 0:43 / /work rw,relatime - tmpfs work rw\n\
            40 1 0:40 / /out rw,relatime - nfs4 server:/a rw\n";
        let mounts = own_first(seen(file_systems::parse(mounts)), &["/sas", "/out"]);
        assert_eq!(uncounted(&mounts), ["/work".to_owned()].into());
    }
}
