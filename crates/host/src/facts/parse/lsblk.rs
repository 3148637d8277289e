//! Outputs of `lsblk`: the tree, the tree with `-t` (topology), and pairs (`-P`). Read-ahead is in
//! KiB.

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Columns and their names here.
const NAMES: [(&str, &str); 12] = [
    ("RA", "read_ahead_kb"),
    ("SCHED", "scheduler"),
    ("ROTA", "rotational"),
    ("RQ-SIZE", "nr_requests"),
    ("MODEL", "model"),
    ("VENDOR", "vendor"),
    ("MAJ:MIN", "number"),
    ("TYPE", "type"),
    ("MIN-IO", "minimum_io_size"),
    ("OPT-IO", "optimal_io_size"),
    ("LOG-SEC", "logical_block_size"),
    ("PHY-SEC", "physical_block_size"),
];

/// Reads either.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    if text.lines().any(|line| line.contains("NAME=\"")) {
        return lines(text)
            .flat_map(|(number, line)| pairs(number, line))
            .collect();
    }
    tree(text)
}

fn pairs(number: usize, line: &str) -> Vec<Found> {
    let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
    let mut rest = line;
    while let Some((name, tail)) = rest.split_once("=\"") {
        let Some((value, tail)) = tail.split_once('"') else {
            break;
        };
        fields.insert(name.trim(), value.trim());
        rest = tail;
    }
    let kernel = fields.get("KNAME").or_else(|| fields.get("NAME"));
    let Some(device) = kernel.filter(|device| !device.is_empty()) else {
        return Vec::new();
    };
    let mut facts = values(device, &fields, number);
    if let Some(name) = fields.get("NAME").filter(|name| *name != device) {
        facts.push(found(
            Key::of("block", device, "mapper_name"),
            *name,
            number,
        ));
    }
    facts
}

fn values(device: &str, fields: &BTreeMap<&str, &str>, number: usize) -> Vec<Found> {
    let fact = |(theirs, ours): &(&str, &str)| {
        let value = fields.get(theirs).filter(|value| !value.is_empty())?;
        Some(found(
            Key::of("block", device, ours),
            Value::of(value),
            number,
        ))
    };
    NAMES.iter().filter_map(fact).collect()
}

/// A tree: depth is in the column where a name begins. A device below several parents is printed
/// below each.
fn tree(text: &str) -> Vec<Found> {
    let mut rows = lines(text);
    let Some((_, heading)) = rows.find(|(_, line)| line.starts_with("NAME")) else {
        return Vec::new();
    };
    let columns: Vec<&str> = heading.split_ascii_whitespace().collect();
    let mut facts = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut slaves: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (number, line) in rows {
        let Some(depth) = line
            .chars()
            .position(|letter| letter.is_ascii_alphanumeric())
        else {
            continue;
        };
        let text: String = line.chars().skip(depth).collect();
        let mut fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let Some(shown) = fields.first().copied() else {
            continue;
        };
        // `mpathb (dm-2)`.
        let kernel = fields.get(1).and_then(|field| field.strip_prefix('('));
        let device = match kernel {
            Some(kernel) => {
                let kernel = kernel.trim_end_matches(')').to_owned();
                fields.remove(1);
                kernel
            }
            None => shown.to_owned(),
        };
        above.retain(|(parent, _)| *parent < depth);
        if let Some((_, parent)) = above.last() {
            let below = slaves.entry(device.clone()).or_default();
            below.insert(parent.clone());
        }
        above.push((depth, device.clone()));
        // Volumes have no scheduler, which is no number.
        let scheduler = columns.iter().position(|column| *column == "SCHED");
        if let Some(at) = scheduler.filter(|_| fields.len() + 1 == columns.len())
            && fields
                .get(at)
                .is_some_and(|field| field.parse::<u64>().is_ok())
        {
            fields.insert(at, "");
        }
        // A field that may be empty shifts those behind it: only rows as long as the heading, or
        // that lack its last, are told.
        if fields.len() + 1 >= columns.len() {
            let named: BTreeMap<&str, &str> = columns.iter().copied().zip(fields).collect();
            facts.extend(values(&device, &named, number));
        }
    }
    for (device, below) in slaves {
        facts.push(found(
            Key::of("block", &device, "slaves"),
            Value::list(below),
            0,
        ));
    }
    facts
}
