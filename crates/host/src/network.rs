//! Traffic of network interfaces (/proc/net/dev) and the speed of their links (/sys/class/net).

use std::collections::BTreeMap;
use std::fs;

use crate::fields::{number, numbers};

/// Totals of an interface since it is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interface {
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
}

/// Interfaces by name.
pub fn parse(net_dev: &str) -> BTreeMap<String, Interface> {
    let interface = |line: &str| {
        // A long count may follow the colon without a blank.
        let (name, counts) = line.rsplit_once(':')?;
        let counts = numbers(counts, 0);
        let counted = Interface {
            received_bytes: *counts.first()?,
            sent_bytes: *counts.get(8)?,
        };
        Some((name.trim().to_owned(), counted))
    };
    net_dev.lines().filter_map(interface).collect()
}

/// Speed of a link, MB/s (10^6) in each direction; `None` if the interface does not tell.
pub fn link_mb_per_s(interface: &str) -> Option<f64> {
    speed(&fs::read_to_string(format!("/sys/class/net/{interface}/speed")).ok()?)
}

/// `speed` is in Mbit/s, or -1.
fn speed(text: &str) -> Option<f64> {
    Some(megabits(text)? as f64 / 8.0)
}

/// Speed of a link, Mbit/s, as the kernel writes it.
pub(crate) fn megabits(text: &str) -> Option<u64> {
    // Virtual interfaces that know nothing say 0 or all ones.
    number(text.trim()).filter(|megabits| *megabits > 0 && *megabits < u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_and_sent_are_told_apart() {
        let interfaces = parse(include_str!("captured/net_dev"));
        assert_eq!(interfaces.len(), 4);
        let eth0 = interfaces["eth0"];
        assert_eq!(eth0.received_bytes, 3_250_925_567);
        assert_eq!(eth0.sent_bytes, 4_187_034);
        assert_eq!(interfaces["eth0:1"].sent_bytes, 9);
    }

    #[test]
    fn odd_lines_are_left_out() {
        assert!(parse("eth0: 1 2 3\n:\nnothing\nlo:x\n").is_empty());
    }

    #[test]
    fn a_link_may_not_tell_its_speed() {
        assert_eq!(speed("10000\n"), Some(1250.0));
        for unknown in ["-1\n", "0\n", "4294967295\n", ""] {
            assert_eq!(speed(unknown), None, "{unknown:?}");
        }
    }
}
