//! Settings of the kernel: files below `/proc/sys`, `sysctl -a`, `sysctl.conf` and files of
//! `sysctl.d`.

use super::{Found, found, lines, odd, said};
use crate::facts::{Key, Value};

/// Settings that are looked at, with `/` as below `/proc/sys`. (All of them would be thousands, and
/// some that are only written.)
pub const LOOKED_AT: [&str; 41] = [
    "fs/file-max",
    "fs/nr_open",
    "kernel/numa_balancing",
    "kernel/pid_max",
    "kernel/sched_min_granularity_ns",
    "kernel/sem",
    "kernel/threads-max",
    "net/core/default_qdisc",
    "net/core/netdev_max_backlog",
    "net/core/rmem_default",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_default",
    "net/core/wmem_max",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_fin_timeout",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_window_scaling",
    "net/ipv4/tcp_wmem",
    "sunrpc/tcp_max_slot_table_entries",
    "sunrpc/tcp_slot_table_entries",
    "sunrpc/udp_slot_table_entries",
    "vm/dirty_background_bytes",
    "vm/dirty_background_ratio",
    "vm/dirty_bytes",
    "vm/dirty_expire_centisecs",
    "vm/dirty_ratio",
    "vm/dirty_writeback_centisecs",
    "vm/hugetlb_shm_group",
    "vm/max_map_count",
    "vm/min_free_kbytes",
    "vm/nr_hugepages",
    "vm/overcommit_memory",
    "vm/overcommit_ratio",
    "vm/swappiness",
    "vm/vfs_cache_pressure",
    "vm/watermark_scale_factor",
    "vm/zone_reclaim_mode",
];

/// Reads a file below `/proc/sys`; several fields are separated by one blank.
pub fn parse_file(path: &str, text: &str) -> Vec<Found> {
    let Some((_, name)) = path.split_once("proc/sys/") else {
        return Vec::new();
    };
    let Some(first) = text.lines().next() else {
        return Vec::new();
    };
    vec![found(key(name), spaced(first), 1)]
}

/// Reads `sysctl -a`: only what is looked at.
pub fn parse_all(_path: &str, text: &str) -> Vec<Found> {
    let known = |name: &str| LOOKED_AT.iter().any(|path| path.replace('/', ".") == name);
    let fact = |(number, line): (usize, &str)| {
        let (name, value) = line.split_once(" =")?;
        known(name.trim()).then(|| found(key(name.trim()), spaced(value), number))
    };
    lines(text).filter_map(fact).collect()
}

/// Reads `sysctl.conf` and its like: `key = value`, `-key = value` where errors are no matter.
pub fn parse_conf(path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in said(text, &['#', ';']) {
        let Some((name, value)) = line.split_once('=') else {
            // `-pattern` takes keys out of patterns; headings of captures have no letters at their
            // start.
            if line.starts_with(|letter: char| letter.is_ascii_alphanumeric())
                && !line.contains(':')
            {
                facts.push(odd(path, number, line));
            }
            continue;
        };
        let name = name.trim().trim_start_matches('-').trim();
        let is_name = !name.is_empty() && name.chars().all(|letter| !letter.is_whitespace());
        if is_name && name.chars().any(char::is_alphanumeric) {
            facts.push(found(key(name), spaced(value), number));
        }
    }
    facts
}

/// `vm/swappiness`, `vm.swappiness`; a slash first means that dots are dots of names.
fn key(name: &str) -> Key {
    Key::plain("sysctl", &name.replace('/', "."))
}

fn spaced(value: &str) -> Value {
    let fields: Vec<&str> = value.split_ascii_whitespace().collect();
    Value::of(&fields.join(" "))
}
