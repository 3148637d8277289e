//! Memory that may hold what was written when it is read.

use std::path::Path;

use anyhow::{Context, Result};

/// Bytes of memory that may cache files of these directories: what the cgroup allows, or all that the host has where
/// one of them is on a file system whose cache is not charged to the group.
pub(super) fn caching<'a>(directories: impl IntoIterator<Item = &'a Path>) -> Result<u64> {
    let mut beside_group = false;
    for directory in directories {
        let found = io::cache::is_beside_group(directory);
        beside_group |= found.with_context(|| {
            let directory = directory.display();
            format!("failed to look at the file system of {directory}")
        })?;
    }
    host::memory::caching(beside_group).context("failed to read the size of the memory")
}
