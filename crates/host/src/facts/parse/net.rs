//! Files of `/sys/class/net`: frames, speed, state and bonds; the driver is what a link points to.

use super::{Found, after, base, found};
use crate::facts::{Key, Value};
use crate::network;

/// Reads a file. A speed of -1, or of all ones, is none.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let Some(interface) = after(path, "net").filter(|_| !text.trim().is_empty()) else {
        return Vec::new();
    };
    let fact = |name: &str, value: Value| vec![found(Key::of("net", interface, name), value, 1)];
    let text = text.trim();
    match base(path) {
        "speed" => match network::megabits(text) {
            Some(speed) => fact("speed_mbps", speed.into()),
            None => Vec::new(),
        },
        // `802.3ad 4`, `layer3+4 1`: name and number.
        "mode" => fact("bond_mode", text.split(' ').next().unwrap_or(text).into()),
        "xmit_hash_policy" => fact("bond_hash", text.split(' ').next().unwrap_or(text).into()),
        "slaves" => fact("bond_members", Value::list(text.split_ascii_whitespace())),
        name => fact(name, Value::of(text)),
    }
}

/// Reads what `/sys/class/net/IF/device/driver` points to.
pub fn parse_driver(path: &str, target: &str) -> Vec<Found> {
    let driver = after(path, "net").filter(|_| !base(target).is_empty());
    let fact = driver.map(|name| found(Key::of("net", name, "driver"), base(target.trim()), 0));
    fact.into_iter().collect()
}

/// Reads what `/sys/class/net/IF/master` and `/sys/class/net/IF/lower_*` point to: the interface that it is a
/// part of, and those that it is made of. Source: net/core/dev.c, `netdev_adjacent_sysfs_add`.
pub fn parse_level(path: &str, target: &str) -> Vec<Found> {
    let other = base(target.trim());
    let interface = after(path, "net").filter(|_| !other.is_empty());
    let fact = interface.map(|name| found(Key::of("net", name, base(path)), other, 0));
    fact.into_iter().collect()
}
