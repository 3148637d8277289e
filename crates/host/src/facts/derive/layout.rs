//! What is below a mount: its device, read-ahead, stripes, disks and their maker; speed of the
//! network.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Facts, Key, Value};

/// Devices over devices end here.
const DEPTH_MAX: usize = 16;

pub(super) fn derive(facts: &mut Facts) {
    let names: BTreeMap<String, String> = devices_by(facts, "mapper_name");
    let mut numbers: BTreeMap<String, String> = devices_by(facts, "number");
    for device in numbers.values_mut() {
        // `lsblk` knows a map by its name alone, everything else by that of the kernel.
        if let Some(kernel) = names.get(device) {
            device.clone_from(kernel);
        }
    }
    let points: Vec<String> = facts
        .subjects("mount")
        .into_iter()
        .map(str::to_owned)
        .collect();
    for point in points {
        let text = |name: &str| facts.text("mount", &point, name);
        let number = text("device");
        let source = text("source").unwrap_or_default();
        let device = number
            .as_ref()
            .and_then(|number| numbers.get(number).cloned())
            .or_else(|| device_of(facts, &source, &names));
        let mut found: Vec<(&str, Value, String)> = Vec::new();
        if let Some(number) = &number
            && let Some(kb) = facts.of("bdi", number, "read_ahead_kb")
        {
            let from = format!("/sys/class/bdi/{number}/read_ahead_kb");
            found.push(("read_ahead_kb", kb.clone(), from));
        }
        if let Some(device) = &device {
            below(facts, device, &mut found);
            if text("fstype").as_deref() == Some("btrfs") {
                found.retain(|(name, ..)| *name != "read_ahead_kb");
                found.extend(of_btrfs(facts));
            }
            found.push((
                "block",
                device.as_str().into(),
                "what is mounted".to_owned(),
            ));
            // `xfs_info` names the device as it was mounted.
            let unit = facts
                .of("xfs", &source, "stripe_unit_blocks")
                .and_then(Value::amount);
            let block = facts
                .of("xfs", &source, "block_bytes")
                .and_then(Value::amount);
            if let (Some(unit), Some(block)) = (unit, block) {
                #[expect(clippy::cast_possible_truncation, reason = "bytes of a stripe")]
                let bytes = (unit * block) as i64;
                found.push(("stripe_unit_bytes", bytes.into(), "xfs_info".to_owned()));
            }
        }
        for (name, value, from) in found {
            facts.run(Key::of("mount", &point, name), value, &from);
        }
    }
    carried(facts);
    of_paths(facts);
    network(facts);
    maps(facts);
}

/// Read-ahead of a btrfs, which is none of its devices': at least 4 MiB unless somebody set less (`open_ctree` of
/// Linux). Each has a number that its mounts do not tell, so that it is known only where all have the same.
fn of_btrfs(facts: &Facts) -> Option<(&'static str, Value, String)> {
    let own = facts.class("bdi").filter(|(key, _)| {
        let subject = key.subject.as_deref().unwrap_or_default();
        subject.starts_with("btrfs-") && key.name == "read_ahead_kb"
    });
    let mut values = own.filter_map(|(key, _)| facts.running(key));
    let kb = values.next()?;
    let from = "/sys/class/bdi/btrfs-*/read_ahead_kb".to_owned();
    values
        .all(|other| other == kb)
        .then(|| ("read_ahead_kb", kb.clone(), from))
}

/// Devices by the value of an attribute.
fn devices_by(facts: &Facts, attribute: &str) -> BTreeMap<String, String> {
    let devices = facts.subjects("block").into_iter();
    devices
        .filter_map(|device| Some((facts.text("block", device, attribute)?, device.to_owned())))
        .collect()
}

/// The device that `/dev/sda3` or `/dev/mapper/vg-lv` is.
fn device_of(facts: &Facts, source: &str, names: &BTreeMap<String, String>) -> Option<String> {
    let name = source.strip_prefix("/dev/")?;
    let name = name.strip_prefix("mapper/").unwrap_or(name);
    // `lsblk` shows names of maps, not of the kernel.
    let known = facts.subjects("block").contains(name);
    names
        .get(name)
        .cloned()
        .or_else(|| known.then(|| name.to_owned()))
}

/// The whole disk of a partition.
pub(crate) fn whole<'a>(facts: &Facts, device: &'a str) -> &'a str {
    let stem = device.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let stem = stem
        .strip_suffix('p')
        .filter(|disk| disk.ends_with(|letter: char| letter.is_ascii_digit()))
        .unwrap_or(stem);
    let has_queue = |name: &str| facts.of("block", name, "scheduler").is_some();
    let is_partition = stem != device
        && !stem.is_empty()
        && !device.starts_with("dm-")
        && !device.starts_with("md");
    if is_partition && has_queue(stem) {
        stem
    } else {
        device
    }
}

/// Attributes of the device of a mount, and of the disks at the bottom.
fn below(facts: &Facts, device: &str, found: &mut Vec<(&str, Value, String)>) {
    let device = whole(facts, device);
    let source = |name: &str| {
        let key = Key::of("block", device, name);
        let seen = facts.get(&key)?.running.as_ref()?;
        Some((seen.value.clone(), seen.from.clone()))
    };
    for name in ["read_ahead_kb", "scheduler", "rotational", "write_cache"] {
        found.extend(source(name).map(|(value, from)| (name, value, from)));
    }
    let mut disks = BTreeSet::new();
    bottom(facts, device, &mut disks, 0);
    let vendors: BTreeSet<String> = disks
        .iter()
        .filter_map(|disk| facts.text("block", disk, "vendor"))
        .collect();
    if !vendors.is_empty() {
        found.push((
            "vendor",
            Value::list(vendors),
            "/sys/block/*/device/vendor".to_owned(),
        ));
    }
    if let Some(mapper) = facts.text("block", device, "mapper_name") {
        if let Some(count) = facts.of("dm", &mapper, "stripes") {
            found.push(("stripes", count.clone(), "dmsetup table".to_owned()));
        }
        if let Some(bytes) = facts.of("dm", &mapper, "stripe_bytes") {
            found.push(("stripe_bytes", bytes.clone(), "dmsetup table".to_owned()));
        }
        logical(facts, &mapper, found);
    }
    if let Some(level) = facts.text("block", device, "raid_level") {
        if level == "raid0"
            && let Some(members) = facts.of("block", device, "raid_members")
        {
            found.push(("stripes", members.clone(), "md".to_owned()));
        }
        found.push(("raid_level", level.into(), "md".to_owned()));
    }
    let crypt = disks_between(facts, device).iter().any(|device| {
        facts
            .text("block", device, "mapper_uuid")
            .is_some_and(|uuid| uuid.starts_with("CRYPT-"))
    });
    if crypt {
        found.push(("encrypted", 1_i64.into(), "dm uuid".to_owned()));
    }
    found.push(("disks", Value::list(disks), "slaves of devices".to_owned()));
}

/// What LVM says of a volume: stripes, and how many physical volumes its group has.
fn logical(facts: &Facts, mapper: &str, found: &mut Vec<(&str, Value, String)>) {
    // LVM doubles hyphens of names.
    let name = mapper.replace("--", "\u{0}");
    let Some((group, volume)) = name.split_once('-') else {
        return;
    };
    let (group, volume) = (group.replace('\u{0}', "-"), volume.replace('\u{0}', "-"));
    let subject = format!("{group}/{volume}");
    if let Some(stripes) = facts.of("lv", &subject, "stripes") {
        found.push(("stripes", stripes.clone(), "lvs".to_owned()));
    }
    if let Some(size) = facts
        .of("lv", &subject, "stripe_size")
        .and_then(Value::amount)
    {
        #[expect(clippy::cast_possible_truncation, reason = "bytes of a stripe")]
        let bytes = size as i64;
        found.push(("stripe_bytes", bytes.into(), "lvs".to_owned()));
    }
    if facts.of("lv", &subject, "segment_type").is_some() {
        found.push(("volume", subject.into(), "lvs".to_owned()));
    }
    if let Some(count) = facts.of("vg", &group, "pv_count") {
        found.push(("pv_count", count.clone(), "pvs".to_owned()));
    }
}

fn slaves(facts: &Facts, device: &str) -> Vec<String> {
    facts
        .of("block", device, "slaves")
        .map(Value::texts)
        .unwrap_or_default()
}

/// A device and all below it.
fn disks_between(facts: &Facts, device: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::from([device.to_owned()]);
    let mut ahead = vec![device.to_owned()];
    while let Some(device) = ahead.pop() {
        for slave in slaves(facts, &device) {
            if all.len() < 4096 && all.insert(slave.clone()) {
                ahead.push(slave);
            }
        }
    }
    all
}

fn bottom(facts: &Facts, device: &str, disks: &mut BTreeSet<String>, depth: usize) {
    let slaves = slaves(facts, device);
    if slaves.is_empty() || depth > DEPTH_MAX {
        disks.insert(whole(facts, device).to_owned());
    }
    for slave in slaves {
        if depth <= DEPTH_MAX {
            bottom(facts, &slave, disks, depth + 1);
        }
    }
}

/// Which devices carry a mounted file system, and which kind of device each is.
fn carried(facts: &mut Facts) {
    let mut above: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for point in facts.subjects("mount") {
        if let Some(device) = facts.text("mount", point, "block") {
            for device in disks_between(facts, whole(facts, &device)) {
                above.entry(device).or_default().insert(point.to_owned());
            }
        }
    }
    for (device, points) in above {
        facts.run(
            Key::of("block", &device, "mounts"),
            Value::list(points),
            "mounts and slaves",
        );
    }
    let devices: Vec<String> = facts
        .subjects("block")
        .into_iter()
        .map(str::to_owned)
        .collect();
    for device in devices {
        let kind = match device.as_str() {
            name if name.starts_with("nvme") => "nvme",
            name if name.starts_with("dm-") => "dm",
            name if name.starts_with("md") => "md",
            name if name.starts_with("sd") => "scsi",
            name if name.starts_with("vd") || name.starts_with("xvd") => "virtual",
            name if name.starts_with("sr")
                || name.starts_with("loop")
                || name.starts_with("ram")
                || name.starts_with("zram") =>
            {
                "none"
            }
            _ => "other",
        };
        facts.run(Key::of("block", &device, "kind"), kind, "its name");
    }
}

/// The vendor of a multipath map is that of its paths. (What is made of maps, volumes and the like, has settings of its
/// own.)
fn of_paths(facts: &mut Facts) {
    let devices: Vec<String> = facts
        .subjects("block")
        .into_iter()
        .filter(|device| is_map(facts, device))
        .map(str::to_owned)
        .collect();
    for device in devices {
        let mut paths = BTreeSet::new();
        bottom(facts, &device, &mut paths, 0);
        let vendors: BTreeSet<String> = paths
            .iter()
            .filter_map(|path| facts.text("block", path, "vendor"))
            .collect();
        if !vendors.is_empty() {
            facts.run(
                Key::of("block", &device, "vendor"),
                Value::list(vendors),
                "slaves and /sys/block/*/device/vendor",
            );
        }
    }
}

fn is_map(facts: &Facts, device: &str) -> bool {
    let text = |name: &str| facts.text("block", device, name);
    let target = || facts.text("dm", &text("mapper_name")?, "target");
    text("mapper_uuid").is_some_and(|uuid| uuid.starts_with("mpath-"))
        || text("type").as_deref() == Some("mpath")
        || target().as_deref() == Some("multipath")
}

/// Interfaces that are there twice: those made of others, which count themselves; and the parts of a bond of which
/// one at a time carries something, which counts for them.
fn counted_elsewhere(facts: &Facts) -> BTreeSet<String> {
    let one_at_a_time =
        |bond: &str| facts.text("net", bond, "bond_mode").as_deref() == Some("active-backup");
    let mut elsewhere = BTreeSet::new();
    let mut level = |upper: &str, lower: &str| {
        let counts = if one_at_a_time(upper) { lower } else { upper };
        elsewhere.insert(counts.to_owned());
    };
    for (key, fact) in facts.class("net") {
        let (Some(name), Some(seen)) = (key.subject.as_deref(), &fact.running) else {
            continue;
        };
        match key.name.as_str() {
            "master" => level(&seen.value.to_string(), name),
            "bond_members" => {
                for member in seen.value.texts() {
                    level(name, &member);
                }
            }
            "bond_mode" if !one_at_a_time(name) => level(name, ""),
            of if of.starts_with("lower_") => level(name, &seen.value.to_string()),
            _ => {}
        }
    }
    elsewhere
}

/// Interfaces that carry data: up, with a speed, each link once.
fn network(facts: &mut Facts) {
    let mut sum = 0_i64;
    let elsewhere = counted_elsewhere(facts);
    for name in facts.subjects("net") {
        let virtual_ones = [
            "lo", "docker", "veth", "virbr", "br-", "tun", "tap", "cni", "flannel",
        ];
        let is_virtual = virtual_ones.iter().any(|start| name.starts_with(start))
            || name.contains('.')
            || elsewhere.contains(name);
        let is_up = facts
            .text("net", name, "operstate")
            .is_some_and(|state| state == "up");
        if let (false, true, Some(Value::Number(speed))) =
            (is_virtual, is_up, facts.of("net", name, "speed_mbps"))
        {
            sum = sum.saturating_add(*speed);
        }
    }
    if sum > 0 {
        facts.run(
            Key::plain("host", "link_mbps"),
            sum,
            "speeds of interfaces that are up",
        );
        if let Some(cores) = facts.number("host", "cores") {
            // Nine tenths of a link are payload.
            #[expect(clippy::cast_possible_truncation, reason = "MB/s of a core")]
            let per_core = (sum as f64 / 8.0 * 0.9 / cores.max(1.0)).floor() as i64;
            facts.run(
                Key::plain("host", "link_mb_per_s_per_core"),
                per_core,
                "speeds and cores",
            );
        }
    }
}

/// Vendors of storage that are seen.
fn maps(facts: &mut Facts) {
    let vendors: BTreeSet<String> = facts
        .subjects("map")
        .into_iter()
        .filter_map(|map| facts.text("map", map, "vendor"))
        .chain(
            facts
                .subjects("block")
                .into_iter()
                .filter_map(|device| facts.text("block", device, "vendor")),
        )
        .collect();
    for vendor in vendors {
        facts.run(
            Key::of("vendor", &vendor, "seen"),
            1_i64,
            "vendors of devices",
        );
    }
}
