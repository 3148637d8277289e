//! The free space of the file systems that a run fills.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::marker;
use bench::plan::{FreeSpace, Use};
use bench::run::Directories;

/// The nearest directory that exists, for the dry run before anything is made.
pub(super) fn existing(path: &Path) -> &Path {
    path.ancestors()
        .find(|ancestor| ancestor.exists())
        .unwrap_or(Path::new("/"))
}

/// The kind of a file system that nodes share, by the number in `statfs`.
fn shared_kind(directory: &Path) -> Result<Option<&'static str>> {
    let found = rustix::fs::statfs(directory).with_context(|| {
        format!(
            "failed to look at the file system of {}",
            directory.display()
        )
    })?;
    let number = u64::try_from(found.f_type).unwrap_or_default() & 0xFFFF_FFFF;
    Ok(match number {
        0x6969 => Some("NFS"),
        0xFF53_4D42 | 0xFE53_4D42 => Some("SMB"),
        0x0BD0_0BD0 => Some("Lustre"),
        0x4750_4653 => Some("GPFS"),
        0x00C3_6400 => Some("Ceph"),
        0x1983_0326 => Some("BeeGFS"),
        _ => None,
    })
}

/// Free space per file system, with what the run will put on each.
pub(super) fn free_spaces(suite: &str, directories: &Directories) -> Result<Vec<FreeSpace>> {
    let mut found: Vec<(Filled, FreeSpace)> = Vec::new();
    let stage = directories.data.join(format!("gristmill-{suite}"));
    let files = marker::files(&stage).context("failed to look at what is staged")?;
    let inside = |(path, bytes): (PathBuf, u64)| {
        let path = path.strip_prefix(&stage).map(Path::to_owned);
        Some((path.ok()?, bytes))
    };
    let mut staged: Vec<(PathBuf, u64)> = files.into_iter().filter_map(inside).collect();
    let uses = [
        // The first: what is staged is its.
        (&directories.data, Use::Data),
        (&directories.util, Use::Util),
        (&directories.output, Use::Output),
        (&directories.work, Use::Work),
        (&directories.runs, Use::Runs),
    ];
    for (directory, what) in uses {
        let there = existing(directory);
        let filled = Filled::of(there)
            .with_context(|| format!("failed to find the free space at {}", there.display()))?;
        if let Some((_, space)) = found.iter_mut().find(|(known, _)| known.is(&filled)) {
            space.uses.push(what);
            continue;
        }
        let staged = std::mem::take(&mut staged);
        let held: u64 = staged.iter().map(|(_, bytes)| bytes).sum();
        let space = FreeSpace {
            directory: directory.display().to_string(),
            free: Bytes(filled.free + held),
            staged,
            uses: vec![what],
            shared: shared_kind(there)?.map(str::to_owned),
        };
        found.push((filled, space));
    }
    Ok(found.into_iter().map(|(_, space)| space).collect())
}

/// The space that files of a directory fill.
struct Filled {
    device: u64,
    /// What it shares with mounts that have other devices.
    pool: Option<String>,
    /// Bytes.
    free: u64,
}

impl Filled {
    fn of(directory: &Path) -> Result<Self> {
        let answer = rustix::fs::statvfs(directory)?;
        Ok(Self {
            device: rustix::fs::stat(directory)?.st_dev,
            pool: host::file_systems::live(directory).and_then(|(mount, _)| mount.pool()),
            free: answer.f_bavail * answer.f_frsize,
        })
    }

    /// Mounts of one pool tell the same free space, but where quotas or other file systems of a server make them
    /// differ.
    fn is(&self, other: &Self) -> bool {
        let alike = self.free.abs_diff(other.free) <= self.free / 1000;
        let one_pool = self.pool.is_some() && self.pool == other.pool;
        self.device == other.device || (one_pool && alike)
    }
}
