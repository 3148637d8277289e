//! Outputs of `lvs` and `pvs`: pairs (`--nameprefixes`) or a table with a heading.

use std::collections::BTreeMap;

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Fields and their names here.
const NAMES: [(&str, &str); 6] = [
    ("LV_READ_AHEAD", "read_ahead"),
    ("LV_KERNEL_READ_AHEAD", "kernel_read_ahead"),
    ("SEGTYPE", "segment_type"),
    ("STRIPES", "stripes"),
    ("STRIPE_SIZE", "stripe_size"),
    ("DEVICES", "devices"),
];

/// Reads logical volumes. A volume of several segments has the values of its first.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts: Vec<Found> = Vec::new();
    for (number, fields) in rows(text) {
        let subject = match (
            fields.get("VG_NAME"),
            fields.get("LV_NAME"),
            fields.get("LV_FULL_NAME"),
        ) {
            (Some(group), Some(name), _) => format!("{group}/{name}"),
            (_, _, Some(whole)) => whole.clone(),
            _ => continue,
        };
        for (theirs, ours) in NAMES {
            let key = Key::of("lv", &subject, ours);
            let value = fields.get(theirs).filter(|value| !value.is_empty());
            let Some(value) = value.filter(|_| !facts.iter().any(|fact| fact.key == key)) else {
                continue;
            };
            let value = match ours {
                "devices" => Value::list(value.split(',').map(str::trim)),
                _ => Value::of(value),
            };
            facts.push(found(key, value, number));
        }
    }
    facts
}

/// Reads `pvs`: how many physical volumes a group has, and which.
pub fn parse_physical(_path: &str, text: &str) -> Vec<Found> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, fields) in rows(text) {
        if let (Some(group), Some(volume)) = (fields.get("VG_NAME"), fields.get("PV_NAME"))
            && !group.is_empty()
        {
            groups
                .entry(group.clone())
                .or_default()
                .push(volume.clone());
        }
    }
    let facts = groups.into_iter().flat_map(|(group, volumes)| {
        let count = found(Key::of("vg", &group, "pv_count"), volumes.len(), 0);
        [
            count,
            found(Key::of("vg", &group, "pvs"), Value::list(volumes), 0),
        ]
    });
    facts.collect()
}

type Row = (usize, BTreeMap<String, String>);

fn rows(text: &str) -> Vec<Row> {
    if text.contains("_NAME='") {
        lines(text)
            .filter_map(|(number, line)| Some((number, pairs(line)?)))
            .collect()
    } else {
        table(text)
    }
}

/// `LVM2_LV_NAME='home'|LVM2_VG_NAME='fedora'`.
fn pairs(line: &str) -> Option<BTreeMap<String, String>> {
    let mut fields = BTreeMap::new();
    for pair in line.trim().split('|') {
        let (name, value) = pair.split_once("='")?;
        let name = name.trim().trim_start_matches("LVM2_").to_owned();
        fields
            .entry(name)
            .or_insert_with(|| value.trim_end_matches('\'').trim().to_owned());
    }
    Some(fields)
}

/// A table for people: names stand first, devices last.
fn table(text: &str) -> Vec<Row> {
    let mut rows = lines(text);
    let heading = rows.find(|(_, line)| {
        let first = line.split_ascii_whitespace().next();
        matches!(first, Some("LV" | "PV"))
    });
    let Some((_, heading)) = heading else {
        return Vec::new();
    };
    let physical = heading.trim_start().starts_with("PV");
    let has_devices = heading.trim_end().ends_with("Devices");
    let mut found = Vec::new();
    for (number, line) in rows {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(first), Some(second)) = (fields.first(), fields.get(1)) else {
            continue;
        };
        let mut row = BTreeMap::new();
        let names = if physical {
            ["PV_NAME", "VG_NAME"]
        } else {
            ["LV_NAME", "VG_NAME"]
        };
        row.insert(names[0].to_owned(), (*first).to_owned());
        // A physical volume without a group has its format in the second column.
        let second = if physical && *second == "lvm2" {
            ""
        } else {
            second
        };
        row.insert(names[1].to_owned(), second.to_owned());
        if has_devices && let Some(last) = fields.last() {
            row.insert("DEVICES".to_owned(), (*last).to_owned());
        }
        found.push((number, row));
    }
    found
}
