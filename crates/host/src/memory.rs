//! Memory of the host, within the cgroup's limit.

use std::fs;

use crate::fields::number;

/// Memory that a run on this host has, bytes; `None` if nothing tells.
pub fn live() -> Option<u64> {
    caching(false)
}

/// Memory that may cache files, bytes; `None` if nothing tells. The cgroup's limit bounds the page cache, which is
/// charged to the group. Caches beside the group's (`beside_group`: GPFS, ZFS, …) may take what the host has.
pub fn caching(beside_group: bool) -> Option<u64> {
    let total = total_bytes(&fs::read_to_string("/proc/meminfo").ok()?)?;
    Some(within(total, crate::cgroup::memory(), beside_group))
}

fn within(total: u64, limit: Option<u64>, beside_group: bool) -> u64 {
    let limit = limit.filter(|_| !beside_group);
    limit.map_or(total, |limit| limit.min(total))
}

/// `MemTotal` of /proc/meminfo, bytes.
pub fn total_bytes(meminfo: &str) -> Option<u64> {
    bytes_of(meminfo, "MemTotal")
}

/// How the memory is used, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// All.
    pub total_bytes: u64,
    /// Available without swapping.
    pub available_bytes: u64,
    /// Page cache.
    pub cached_bytes: u64,
    /// Waiting to be written.
    pub dirty_bytes: u64,
    /// Being written.
    pub writeback_bytes: u64,
}

/// /proc/meminfo; `None` unless it says everything.
pub fn parse(meminfo: &str) -> Option<MemoryUse> {
    Some(MemoryUse {
        total_bytes: total_bytes(meminfo)?,
        available_bytes: bytes_of(meminfo, "MemAvailable")?,
        cached_bytes: bytes_of(meminfo, "Cached")?,
        dirty_bytes: bytes_of(meminfo, "Dirty")?,
        writeback_bytes: bytes_of(meminfo, "Writeback")?,
    })
}

fn bytes_of(meminfo: &str, name: &str) -> Option<u64> {
    let value = |line: &str| {
        let (found, value) = line.split_once(':')?;
        let kib = number(value.split_ascii_whitespace().next()?)?;
        (found == name).then(|| kib.saturating_mul(1024))
    };
    meminfo.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_in_kib() {
        let text = "MemFree:  1 kB\nMemTotal:       24687444 kB\n";
        assert_eq!(total_bytes(text), Some(24_687_444 * 1024));
        assert_eq!(total_bytes("nothing"), None);
    }

    #[test]
    fn a_limit_bounds_only_what_is_charged_to_the_group() {
        assert_eq!(within(256, Some(16), false), 16);
        assert_eq!(within(256, Some(16), true), 256);
        assert_eq!(within(256, Some(u64::MAX), false), 256);
        assert_eq!(within(256, None, false), 256);
    }

    #[test]
    fn names_are_whole() {
        let text = "MemTotal: 10 kB\nMemAvailable: 5 kB\nSwapCached: 7 kB\nCached: 3 kB\n\
                    Dirty: 2 kB\nWriteback: 1 kB\nWritebackTmp: 9 kB\n";
        let found = parse(text).unwrap();
        assert_eq!((found.cached_bytes, found.writeback_bytes), (3072, 1024));
        assert_eq!(parse("MemTotal: 10 kB\nCached: x kB\n"), None);
    }
}
