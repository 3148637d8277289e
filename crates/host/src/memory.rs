//! Memory of the host, within the cgroup's limit.

use std::fs;

/// Memory that a run on this host has, bytes; `None` if nothing tells.
pub fn live() -> Option<u64> {
    let total = total_bytes(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let limit = crate::cgroup::memory();
    Some(limit.map_or(total, |limit| limit.min(total)))
}

/// `MemTotal` of /proc/meminfo, bytes.
pub fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
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
}
