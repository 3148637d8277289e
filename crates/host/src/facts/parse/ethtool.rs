//! Outputs of `ethtool`: speed; `-g`: rings; `-i`: driver.

use super::{Found, base, found, lines};
use crate::facts::{Key, Value};

/// Reads `ethtool IF`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let (mut interface, mut facts) = (None, Vec::new());
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("Settings for ") {
            interface = Some(name.trim_end_matches(':'));
        } else if let (Some(interface), Some(speed)) = (interface, line.strip_prefix("Speed:")) {
            let speed = speed
                .trim()
                .strip_suffix("Mb/s")
                .and_then(|mbps| mbps.parse::<i64>().ok());
            let key = Key::of("net", interface, "speed_mbps");
            facts.extend(speed.map(|speed| found(key, speed, number)));
        }
    }
    facts
}

/// Reads `ethtool -g IF`: maxima come first, then what is set.
pub fn parse_ring(_path: &str, text: &str) -> Vec<Found> {
    let (mut interface, mut name, mut facts) = (None, "", Vec::new());
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(found) = line.strip_prefix("Ring parameters for ") {
            interface = Some(found.trim_end_matches(':'));
        } else if line.starts_with("Pre-set maximums") {
            name = "ring_rx_max";
        } else if line.starts_with("Current hardware settings") {
            name = "ring_rx";
        } else if let (Some(interface), Some(count)) = (interface, line.strip_prefix("RX:"))
            && let Ok(count) = count.trim().parse::<i64>()
            && !name.is_empty()
        {
            facts.push(found(Key::of("net", interface, name), count, number));
        }
    }
    facts
}

/// Reads `ethtool -i IF`; the interface is in the name of the file only.
pub fn parse_driver(path: &str, text: &str) -> Vec<Found> {
    let interface = base(path).rsplit('_').next().unwrap_or_default();
    let driver = lines(text).find_map(|(number, line)| {
        let name = line.strip_prefix("driver:")?.trim();
        (!interface.is_empty() && !name.is_empty())
            .then(|| found(Key::of("net", interface, "driver"), Value::of(name), number))
    });
    driver.into_iter().collect()
}
