//! Output of `iscsiadm -m session`: sessions of targets, and by which portals.

use std::collections::BTreeMap;

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads lines such as `tcp: [1] 10.0.0.1:3260,1 iqn.2017-06.com.example:server1 (non-flash)`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut targets: BTreeMap<&str, (&str, Vec<&str>, usize)> = BTreeMap::new();
    for (number, line) in lines(text) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [transport, session, portal, target, ..] = fields.as_slice()
            && session.starts_with('[')
        {
            let portal = portal.split(',').next().unwrap_or(portal);
            let transport = transport.trim_end_matches(':');
            let known = targets
                .entry(target)
                .or_insert((transport, Vec::new(), number));
            known.1.push(portal);
        }
    }
    let mut facts = Vec::new();
    for (target, (transport, portals, number)) in targets {
        let mut add = |name: &str, value: Value| {
            facts.push(found(Key::of("iscsi", target, name), value, number));
        };
        add("transport", transport.into());
        add("sessions", portals.len().into());
        add("portals", Value::list(portals));
    }
    facts
}
