//! Who made the machine: files of `/sys/class/dmi/id`, and `dmidecode`.

use super::{Found, base, found, lines};
use crate::facts::Key;

/// Files below `/sys/class/dmi/id` and their names here.
const NAMES: [(&str, &str); 6] = [
    ("sys_vendor", "system_vendor"),
    ("product_name", "product"),
    ("product_version", "product_version"),
    ("bios_vendor", "bios_vendor"),
    ("chassis_asset_tag", "chassis_asset_tag"),
    ("board_vendor", "board_vendor"),
];

/// Reads a file.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let name = NAMES.iter().find(|(theirs, _)| *theirs == base(path));
    match (name, text.trim()) {
        (Some((_, name)), value) if !value.is_empty() => {
            vec![found(Key::plain("dmi", name), value, 1)]
        }
        _ => Vec::new(),
    }
}

/// Reads `dmidecode`.
pub fn parse_dmidecode(_path: &str, text: &str) -> Vec<Found> {
    let (mut section, mut facts) = ("", Vec::new());
    for (number, line) in lines(text) {
        if !line.starts_with(['\t', ' ']) {
            section = line.trim();
            continue;
        }
        let Some((name, value)) = line.trim().split_once(": ") else {
            continue;
        };
        let name = match (section, name) {
            ("System Information", "Manufacturer") => "system_vendor",
            ("System Information", "Product Name") => "product",
            ("System Information", "Version") => "product_version",
            ("BIOS Information", "Vendor") => "bios_vendor",
            ("Chassis Information", "Asset Tag") => "chassis_asset_tag",
            _ => continue,
        };
        facts.push(found(Key::plain("dmi", name), value.trim(), number));
    }
    facts
}
