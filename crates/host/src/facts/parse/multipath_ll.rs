//! Output of `multipath -ll`: maps, their policies and the state of their paths.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the output; of a map that is printed twice the first counts.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts: Vec<Found> = Vec::new();
    let mut map: Option<Map> = None;
    for (number, line) in lines(text) {
        if let Some(next) = heading(line, number) {
            facts.extend(map.replace(next).into_iter().flat_map(Map::facts));
        } else if let Some(map) = &mut map {
            map.line(line);
        }
    }
    facts.extend(map.into_iter().flat_map(Map::facts));
    facts
}

struct Map {
    number: usize,
    name: String,
    values: Vec<(&'static str, String)>,
    policies: Vec<String>,
    groups: usize,
    members: Vec<String>,
    ready: usize,
}

/// `mpatha (000219fb) dm-0 PURE,FlashArray`, or the identifier alone before `dm-0`.
fn heading(line: &str, number: usize) -> Option<Map> {
    let at = line.match_indices(" dm-").map(|(at, _)| at).next()?;
    if line.starts_with([' ', '|', '`', '\t']) || line.contains(" | ") {
        return None;
    }
    let (names, rest) = (line[..at].trim(), line[at + 1..].trim());
    let (device, maker) = rest.split_once(' ').unwrap_or((rest, ""));
    device.strip_prefix("dm-")?.parse::<u32>().ok()?;
    let (name, wwid) = match names.split_once(" (") {
        Some((name, wwid)) => (name, wwid.trim_end_matches(')')),
        None => (names, names),
    };
    let mut values = vec![("device", device.to_owned()), ("wwid", wwid.to_owned())];
    if let Some((vendor, product)) = maker.split_once(',') {
        values.push(("vendor", vendor.trim().to_owned()));
        values.push(("product", product.trim().to_owned()));
    }
    Some(Map {
        number,
        name: name.to_owned(),
        values,
        policies: Vec::new(),
        groups: 0,
        members: Vec::new(),
        ready: 0,
    })
}

impl Map {
    fn line(&mut self, line: &str) {
        if line.starts_with("size=") {
            for (start, name) in [
                ("features='", "features"),
                ("hwhandler='", "hardware_handler"),
            ] {
                let value = line
                    .split_once(start)
                    .and_then(|(_, rest)| rest.split_once('\''));
                self.values
                    .extend(value.map(|(value, _)| (name, value.to_owned())));
            }
        } else if line.starts_with("[size=") {
            self.old_attributes(line);
        } else if let Some((_, rest)) = line.split_once("policy='") {
            self.group(rest.split('\'').next().unwrap_or_default());
        } else if let Some((policy, _)) = line
            .strip_prefix("\\_ ")
            .and_then(|rest| rest.split_once(" ["))
        {
            // As RHEL 5 printed it: `\_ round-robin 0 [prio=1][active]`.
            self.group(policy);
        } else if line.starts_with([' ', '|', '`']) {
            let mut fields = line.split_ascii_whitespace();
            let address = fields
                .by_ref()
                .find(|field| field.matches(':').count() == 3);
            if let (Some(_), Some(device)) = (address, fields.next()) {
                self.members.push(device.to_owned());
                let states: Vec<&str> = fields.skip(1).collect();
                let is_ready = states.starts_with(&["active", "ready"])
                    || states.starts_with(&["[active][ready]"]);
                self.ready += usize::from(is_ready);
            }
        }
    }

    fn group(&mut self, policy: &str) {
        self.groups += 1;
        if !self.policies.iter().any(|known| known == policy) {
            self.policies.push(policy.to_owned());
        }
    }

    /// `[size=100G][features=1 queue_if_no_path][hwhandler=1 emc][rw]`.
    fn old_attributes(&mut self, line: &str) {
        for part in line.split(['[', ']']) {
            match part.split_once('=') {
                Some(("features", value)) => self.values.push(("features", value.to_owned())),
                Some(("hwhandler", value)) => {
                    self.values.push(("hardware_handler", value.to_owned()));
                }
                _ => {}
            }
        }
    }

    fn facts(self) -> Vec<Found> {
        let fact =
            |name: &str, value: Value| found(Key::of("map", &self.name, name), value, self.number);
        let mut facts: Vec<Found> = self
            .values
            .iter()
            .map(|(name, value)| fact(name, Value::from(value.as_str())))
            .collect();
        facts.push(fact("paths", self.members.len().into()));
        facts.push(fact("paths_ready", self.ready.into()));
        facts.push(fact("groups", self.groups.into()));
        facts.push(fact("policy", Value::List(self.policies.clone())));
        facts.push(fact("members", Value::List(self.members.clone())));
        facts
    }
}
