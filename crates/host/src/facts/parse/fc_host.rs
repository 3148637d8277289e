//! Files of `/sys/class/fc_host/host*`: state and speed of Fibre Channel ports.

use super::{Found, after, base, found};
use crate::facts::{Key, Value};

/// Reads one; `16 Gbit` is 16.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let Some(port) = after(path, "fc_host").filter(|_| !text.trim().is_empty()) else {
        return Vec::new();
    };
    let gbit = |text: &str| {
        let number = text.trim().strip_suffix(" Gbit");
        number.and_then(|number| number.trim().parse::<i64>().ok())
    };
    let fact = match base(path) {
        "speed" => gbit(text).map(|speed| ("speed_gbit", Value::from(speed))),
        "supported_speeds" => {
            let fastest = text.split(',').filter_map(gbit).max();
            fastest.map(|speed| ("speed_gbit_max", Value::from(speed)))
        }
        name => Some((name, Value::of(text))),
    };
    let fact = fact.map(|(name, value)| found(Key::of("fc", port, name), value, 1));
    fact.into_iter().collect()
}
