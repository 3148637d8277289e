//! File systems that nodes share.

use std::collections::{BTreeMap, BTreeSet};

use super::Judged;
use crate::facts::{Facts, Key, Value};

/// Mounts of one NFS server agree on connections, version and transport: the first mount decides
/// for all.
pub(crate) fn nfs_agree(facts: &Facts) -> Vec<Judged> {
    let mut servers: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for point in facts.subjects("mount") {
        let text = |name: &str| facts.text("mount", point, name).unwrap_or_default();
        if !text("fstype").starts_with("nfs") {
            continue;
        }
        let source = text("source");
        let Some((server, _)) = source.rsplit_once(":/") else {
            continue;
        };
        let wanted = facts.get(&Key::of("mount", point, "nconnect"));
        let wanted = wanted
            .and_then(|fact| fact.persisted.last())
            .map(|seen| seen.value.to_string());
        let options = format!(
            "{} connections, fstab asks for {}, vers={}, {}",
            text("connections"),
            wanted.unwrap_or_else(|| "none".to_owned()),
            text("vers"),
            text("proto")
        );
        servers
            .entry(server.to_owned())
            .or_default()
            .entry(options)
            .or_default()
            .push(point.to_owned());
    }
    let mut wrong = Vec::new();
    for (server, kinds) in servers.iter().filter(|(_, kinds)| kinds.len() > 1) {
        for (options, points) in kinds {
            wrong.push(format!("{server}: {}: {options}", points.join(", ")));
        }
    }
    if servers.is_empty() {
        Vec::new()
    } else {
        vec![Judged::unless(wrong)]
    }
}

/// A card that the hypervisor hands to the guest, by its driver.
pub(crate) fn sr_iov(facts: &Facts) -> Vec<Judged> {
    let own = [
        "mlx5_core",
        "mlx4_core",
        "mana",
        "ena",
        "ixgbevf",
        "iavf",
        "bnxt_en",
        "gve",
    ];
    let interfaces = facts.subjects("net").into_iter();
    let drivers: BTreeSet<String> = interfaces
        .filter_map(|name| facts.text("net", name, "driver"))
        .collect();
    if drivers.is_empty() {
        return Vec::new();
    }
    let mut one = Judged::unless(Vec::new());
    one.holds = Some(drivers.iter().any(|driver| own.contains(&driver.as_str())));
    one.running = Some(drivers.into_iter().collect::<Vec<_>>().join(", "));
    vec![one]
}

/// Disks that hold metadata only.
pub(crate) fn gpfs_metadata(facts: &Facts) -> Vec<Judged> {
    let disks: BTreeSet<&str> = facts.subjects("gpfs-disk");
    if disks.is_empty() {
        return Vec::new();
    }
    let is = |disk: &str, name: &str, wanted: &str| {
        facts
            .text("gpfs-disk", disk, name)
            .is_some_and(|value| value == wanted)
    };
    let only: Vec<&str> = disks
        .iter()
        .copied()
        .filter(|disk| is(disk, "metadata", "yes") && is(disk, "data", "no"))
        .collect();
    let mut one = Judged::unless(Vec::new());
    one.holds = Some(!only.is_empty());
    one.running = Some(format!(
        "{} of {} disks hold metadata only",
        only.len(),
        disks.len()
    ));
    vec![one]
}

/// What the daemon holds is what the configuration asks of all nodes.
pub(crate) fn gpfs_pending(facts: &Facts) -> Vec<Judged> {
    let mut wrong = Vec::new();
    let mut any = false;
    for (key, fact) in facts.class("gpfs-effective") {
        let special = facts
            .subjects("gpfs")
            .into_iter()
            .any(|section| facts.of("gpfs", section, &key.name).is_some());
        let wanted = facts.plain("gpfs", &key.name);
        let (Some(wanted), Some(seen), false) = (wanted, &fact.running, special) else {
            continue;
        };
        any = true;
        let same = wanted == &seen.value
            || wanted
                .amount()
                .zip(seen.value.amount())
                .is_some_and(|(left, right)| (left - right).abs() < 0.5);
        if !same {
            wrong.push(format!(
                "{}: the daemon has {}, mmlsconfig says {wanted}",
                key.name, seen.value
            ));
        }
    }
    if any {
        vec![Judged::unless(wrong)]
    } else {
        Vec::new()
    }
}

/// A service that keeps the time.
pub(crate) fn time_synchronised(facts: &Facts) -> Vec<Judged> {
    if facts.subjects("service").is_empty() {
        return Vec::new();
    }
    let services = ["chronyd", "chrony", "ntpd", "ntp", "systemd-timesyncd"];
    let active: Vec<&str> = services
        .into_iter()
        .filter(|name| facts.of("service", name, "active") == Some(&Value::from("active")))
        .collect();
    let mut one = Judged::unless(Vec::new());
    one.holds = Some(!active.is_empty());
    one.running = Some(if active.is_empty() {
        "no service".to_owned()
    } else {
        active.join(", ")
    });
    vec![one]
}
