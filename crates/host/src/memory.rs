//! Memory of the host, within the cgroup's limit.

use std::fs;

use crate::fields::number;

/// Memory that a run on this host has, bytes; `None` if nothing tells.
pub fn live() -> Option<u64> {
    let total = total_bytes(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let limit = crate::cgroup::memory();
    Some(limit.map_or(total, |limit| limit.min(total)))
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
    fn names_are_whole() {
        let text = "MemTotal: 10 kB\nMemAvailable: 5 kB\nSwapCached: 7 kB\nCached: 3 kB\n\
                    Dirty: 2 kB\nWriteback: 1 kB\nWritebackTmp: 9 kB\n";
        let found = parse(text).unwrap();
        assert_eq!((found.cached_bytes, found.writeback_bytes), (3072, 1024));
        assert_eq!(parse("MemTotal: 10 kB\nCached: x kB\n"), None);
    }
}
