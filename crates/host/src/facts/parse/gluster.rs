//! `gluster volume info`, as text and with `--xml`: type, status, bricks and options of volumes.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads either.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    if text.trim_start().starts_with('<') {
        xml(text)
    } else {
        plain(text)
    }
}

fn plain(text: &str) -> Vec<Found> {
    let (mut volume, mut bricks, mut facts) = (None, 0_usize, Vec::new());
    for (number, line) in lines(text) {
        let Some((name, value)) = line.split_once(": ") else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if name == "Volume Name" {
            (volume, bricks) = (Some(value), 0);
        }
        let Some(volume) = volume else {
            continue;
        };
        let is_brick = name
            .strip_prefix("Brick")
            .is_some_and(|number| number.parse::<u32>().is_ok());
        let name = match name {
            "Type" => "type",
            "Status" => "status",
            _ if is_brick => {
                bricks += 1;
                facts.retain(|fact: &Found| fact.key != Key::of("gluster", volume, "bricks"));
                let key = Key::of("gluster", volume, "bricks");
                facts.push(found(key, bricks, number));
                continue;
            }
            option if is_option(option) => option,
            _ => continue,
        };
        facts.push(found(
            Key::of("gluster", volume, name),
            Value::of(value),
            number,
        ));
    }
    facts
}

/// `performance.io-cache`: lower-case letters around a dot.
fn is_option(name: &str) -> bool {
    name.contains('.')
        && name.chars().all(|letter| {
            letter.is_ascii_lowercase() || ".-_".contains(letter) || letter.is_ascii_digit()
        })
}

/// The few elements of volumes that matter; the output is one line without attributes.
fn xml(text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for volume in text.split("<volume>").skip(1) {
        let volume = volume.split("</volume>").next().unwrap_or_default();
        let Some(name) = element(volume, "name") else {
            continue;
        };
        for (theirs, ours) in [("typeStr", "type"), ("brickCount", "bricks")] {
            let value = element(volume, theirs).map(Value::of);
            facts.extend(value.map(|value| found(Key::of("gluster", name, ours), value, 0)));
        }
        for option in volume.split("<option>").skip(1) {
            if let (Some(option), Some(value)) = (element(option, "name"), element(option, "value"))
            {
                facts.push(found(Key::of("gluster", name, option), Value::of(value), 0));
            }
        }
    }
    facts
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}

/// Reads `gluster volume status`: how many bricks a volume has, and how many are online. A long
/// name breaks its line in two.
pub fn parse_status(_path: &str, text: &str) -> Vec<Found> {
    let mut facts: Vec<Found> = Vec::new();
    let (mut volume, mut is_brick) = (None, false);
    let mut counts = (0_usize, 0_usize);
    let mut close = |volume: Option<(usize, &str)>, counts: (usize, usize)| {
        if let Some((number, volume)) = volume.filter(|_| counts.0 > 0) {
            let fact = |name, count: usize| found(Key::of("gluster", volume, name), count, number);
            facts.extend([fact("bricks", counts.0), fact("bricks_online", counts.1)]);
        }
    };
    for (number, line) in lines(text) {
        if let Some(name) = line.strip_prefix("Status of volume: ") {
            close(volume, counts);
            (volume, counts, is_brick) = (Some((number, name.trim())), (0, 0), false);
            continue;
        }
        // A line begins a process unless it goes on with its name.
        if line.starts_with("Brick ") {
            is_brick = true;
            counts.0 += 1;
        } else if line.contains("Daemon") || line.starts_with("---") || line.trim().is_empty() {
            is_brick = false;
        }
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [.., "Y", _] = fields.as_slice()
            && is_brick
        {
            counts.1 += 1;
            is_brick = false;
        }
    }
    close(volume, counts);
    facts
}
