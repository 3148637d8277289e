//! Files of `/sys/block/*/queue`, and of partitions' and mappers' folders beside it.

use super::{Found, after, base, found, thp};
use crate::facts::{Key, Value};

/// Reads one: of schedulers the one in brackets, and the choice.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let Some(device) = after(path, "block") else {
        return Vec::new();
    };
    let (name, text) = (base(path), text.trim());
    // `/sys/block/sda/sda2/dev` is of the partition.
    let folder = path.rsplit('/').nth(1);
    let partition = folder.filter(|folder| name == "dev" && folder.starts_with(device));
    let device = partition.unwrap_or(device);
    if text.is_empty() {
        return Vec::new();
    }
    let key = |name: &str| Key::of("block", device, name);
    if name == "scheduler" {
        let all = text.split_ascii_whitespace();
        let all = all.map(|word| word.trim_matches(['[', ']']));
        let chosen = thp::chosen(text).unwrap_or(text);
        return vec![
            found(key("scheduler"), chosen, 1),
            found(key("schedulers"), Value::list(all), 1),
        ];
    }
    // `/sys/block/dm-0/dm/name`, `…/dev`, `…/md/level`.
    let name = match name {
        "name" => "mapper_name",
        "uuid" => "mapper_uuid",
        "dev" => "number",
        "level" => "raid_level",
        "chunk_size" => "raid_chunk_bytes",
        "raid_disks" => "raid_members",
        other => other,
    };
    vec![found(key(name), Value::of(text), 1)]
}

/// Names of what is below a device: `/sys/block/dm-0/slaves`.
pub fn parse_slaves(path: &str, names: &str) -> Vec<Found> {
    let names: Vec<&str> = names.lines().collect();
    match after(path, "block") {
        Some(device) if !names.is_empty() => {
            vec![found(
                Key::of("block", device, "slaves"),
                Value::list(names),
                0,
            )]
        }
        _ => Vec::new(),
    }
}

/// `/sys/class/bdi/0:52/read_ahead_kb`.
pub fn parse_bdi(path: &str, text: &str) -> Vec<Found> {
    let fact = after(path, "bdi")
        .map(|device| found(Key::of("bdi", device, base(path)), Value::of(text), 1));
    fact.into_iter().collect()
}
