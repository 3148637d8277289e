//! Outputs of `ethtool`: speed; `-g`: rings; `-i`: driver.

use super::{Found, base, found, lines};
use crate::facts::{Key, Value};
use crate::network;

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
                .and_then(network::megabits);
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

/// Lines behind a heading that names the interface: name and value, without blanks.
fn named<'a>(text: &'a str, heading: &'static str) -> Vec<(usize, &'a str, &'a str, &'a str)> {
    let (mut interface, mut all) = (None, Vec::new());
    for (number, line) in lines(text) {
        if let Some(name) = line.strip_prefix(heading) {
            interface = Some(name.trim().trim_end_matches(':'));
        } else if let (Some(interface), Some((name, value))) = (interface, line.split_once(':')) {
            all.push((number, interface, name.trim(), value.trim()));
        }
    }
    all
}

/// Those of the lines that are wanted, by their names here.
fn wanted(lines: Vec<(usize, &str, &str, &str)>, names: &[(&str, &str)]) -> Vec<Found> {
    let fact = |(number, interface, name, value): (usize, &str, &str, &str)| {
        let (_, ours) = names.iter().find(|(theirs, _)| *theirs == name)?;
        // `off [fixed]`.
        let value = value.split(' ').next().filter(|value| !value.is_empty())?;
        let key = Key::of("net", interface, ours);
        Some(found(key, Value::of(value), number))
    };
    lines.into_iter().filter_map(fact).collect()
}

/// Reads `ethtool -a IF`: whether frames that pause are sent and obeyed.
pub fn parse_pause(_path: &str, text: &str) -> Vec<Found> {
    wanted(
        named(text, "Pause parameters for "),
        &[
            ("Autonegotiate", "pause_autonegotiate"),
            ("RX", "pause_rx"),
            ("TX", "pause_tx"),
        ],
    )
}

/// Reads `ethtool -c IF`: how long interrupts wait for company.
pub fn parse_coalesce(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let mut others = Vec::new();
    for (number, interface, name, value) in named(text, "Coalesce parameters for ") {
        if name != "Adaptive RX" {
            others.push((number, interface, name, value));
            continue;
        }
        // `Adaptive RX: off  TX: off`.
        let mut words = value.split_ascii_whitespace().filter(|word| *word != "TX:");
        for ours in ["adaptive_rx", "adaptive_tx"] {
            let key = Key::of("net", interface, ours);
            facts.extend(words.next().map(|word| found(key, Value::of(word), number)));
        }
    }
    facts.extend(wanted(
        others,
        &[
            ("rx-usecs", "coalesce_rx_usecs"),
            ("tx-usecs", "coalesce_tx_usecs"),
        ],
    ));
    facts
}

/// Reads `ethtool -k IF`: what the card does instead of the processors.
pub fn parse_offload(_path: &str, text: &str) -> Vec<Found> {
    const NAMES: [&str; 7] = [
        "rx-checksumming",
        "tx-checksumming",
        "scatter-gather",
        "tcp-segmentation-offload",
        "generic-segmentation-offload",
        "generic-receive-offload",
        "large-receive-offload",
    ];
    wanted(
        named(text, "Features for "),
        &NAMES.map(|name| (name, name)),
    )
}
