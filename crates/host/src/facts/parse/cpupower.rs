//! Output of `cpupower frequency-info`.

use std::collections::BTreeSet;

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the output for all processors together.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut governors = BTreeSet::new();
    let (mut driver, mut boost) = (None, None);
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("The governor \"") {
            governors.extend(rest.split_once('"').map(|(name, _)| name));
        } else if let Some(name) = line.strip_prefix("driver:") {
            driver.get_or_insert((number, name.trim()));
        } else if let Some(active) = line.strip_prefix("Active:") {
            boost.get_or_insert((number, i64::from(active.trim() == "yes")));
        }
    }
    let mut facts = Vec::new();
    if let Some((line, name)) = driver {
        facts.push(found(Key::plain("cpu", "frequency_driver"), name, line));
    }
    if let Some((line, boost)) = boost {
        facts.push(found(Key::plain("cpu", "boost"), boost, line));
    }
    if !governors.is_empty() {
        facts.push(found(
            Key::plain("cpu", "governor"),
            Value::list(governors),
            0,
        ));
    }
    facts
}
