//! How storage is laid out: mounts, stripes, paths.

use std::collections::{BTreeMap, BTreeSet};

use super::Judged;
use crate::facts::{Facts, Value};

/// Places of one file system, and the roles of paths on it.
#[derive(Default)]
struct Holding {
    points: BTreeSet<String>,
    roles: BTreeSet<String>,
}

/// Roles of paths by the file systems that they are on.
fn holding(facts: &Facts) -> BTreeMap<String, Holding> {
    let mut all: BTreeMap<String, Holding> = BTreeMap::new();
    for subject in facts.subjects("path") {
        let text = |name: &str| facts.text("path", subject, name);
        if let (Some(role), Some(mount)) = (text("role"), text("mount"))
            && text("presumed").is_none()
        {
            let one = all.entry(file_system(facts, &mount)).or_default();
            one.roles.insert(role);
            one.points.insert(mount);
        }
    }
    all
}

/// What is the same for all places where one file system is mounted: bind mounts and subvolumes of a btrfs are no
/// file systems of their own.
fn file_system(facts: &Facts, point: &str) -> String {
    let text = |name: &str| facts.text("mount", point, name);
    let source = text("source").filter(|source| source.starts_with('/') || source.contains(":/"));
    let device = text("device");
    let found = if text("fstype").as_deref() == Some("btrfs") {
        source.or(device)
    } else {
        device.or(source)
    };
    found.unwrap_or_else(|| point.to_owned())
}

/// WORK and permanent data are on different file systems (UTILLOC may be with WORK).
pub(crate) fn separate_mounts(facts: &Facts) -> Vec<Judged> {
    let holding = holding(facts);
    let all: BTreeSet<&String> = holding.values().flat_map(|one| &one.roles).collect();
    let work = all.contains(&"saswork".to_owned());
    let data = all.iter().any(|role| role.starts_with("sasdata"));
    if !work || !data {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for Holding { points, roles } in holding.values() {
        let scratch = roles.contains("saswork") || roles.contains("utilloc");
        if scratch && roles.iter().any(|role| role.starts_with("sasdata")) {
            let listed = |all: &BTreeSet<String>, between: &str| {
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                all.join(between)
            };
            let what = match points.len() {
                1 => "holds",
                _ => "are one file system, which holds",
            };
            let (points, roles) = (listed(points, ", "), listed(roles, " and "));
            wrong.push(format!("{points} {what} {roles}"));
        }
    }
    vec![Judged::unless(wrong)]
}

/// WORK is striped over several local disks.
pub(crate) fn work_striped(facts: &Facts) -> Vec<Judged> {
    let mut judged = Vec::new();
    for subject in facts.subjects("path") {
        let role = facts.text("path", subject, "role").unwrap_or_default();
        let disks = facts.of("path", subject, "disks").map(Value::texts);
        let (true, Some(disks)) = (role == "saswork", disks) else {
            continue;
        };
        let stripes = facts
            .of("path", subject, "stripes")
            .and_then(Value::amount)
            .unwrap_or(1.0);
        // One array LUN may well be striped inside the array: only what is seen here is judged.
        let striped = stripes >= 2.0;
        let said = format!(
            "{stripes} stripes over {} disks ({})",
            disks.len(),
            disks.join(", ")
        );
        judged.push(Judged::of("path", subject, striped, said));
    }
    judged
}

/// A volume of SAS is striped over all physical volumes of its group.
pub(crate) fn stripes_all_volumes(facts: &Facts) -> Vec<Judged> {
    let mut judged = Vec::new();
    for point in facts.subjects("mount") {
        let count = |name: &str| facts.of("mount", point, name).and_then(Value::amount);
        let has_role = facts.of("mount", point, "roles").is_some();
        let (true, Some(stripes), Some(volumes)) = (has_role, count("stripes"), count("pv_count"))
        else {
            continue;
        };
        let said = format!("{stripes} stripes, {volumes} physical volumes");
        judged.push(Judged::of("mount", point, stripes >= volumes, said));
    }
    judged
}

/// The stripe unit of XFS is that of the volume below it.
pub(crate) fn xfs_aligned(facts: &Facts) -> Vec<Judged> {
    let mut judged = Vec::new();
    for point in facts.subjects("mount") {
        let count = |name: &str| facts.of("mount", point, name).and_then(Value::amount);
        let striped = count("stripes").is_some_and(|stripes| stripes > 1.0);
        if let (true, Some(unit), Some(stripe)) =
            (striped, count("stripe_unit_bytes"), count("stripe_bytes"))
        {
            let said = format!("XFS {unit} bytes, volume {stripe} bytes");
            judged.push(Judged::of(
                "mount",
                point,
                (unit - stripe).abs() < 0.5,
                said,
            ));
        }
    }
    judged
}

/// Every map has several paths, all ready, and as many as the others.
pub(crate) fn paths_equal(facts: &Facts) -> Vec<Judged> {
    let most = facts
        .subjects("map")
        .into_iter()
        .filter_map(|map| facts.of("map", map, "paths").and_then(Value::amount))
        .fold(0.0, f64::max);
    let mut judged = Vec::new();
    for map in facts.subjects("map") {
        let count = |name: &str| {
            facts
                .of("map", map, name)
                .and_then(Value::amount)
                .unwrap_or(0.0)
        };
        let (paths, ready) = (count("paths"), count("paths_ready"));
        let holds = paths >= 2.0 && (ready - paths).abs() < 0.5 && (paths - most).abs() < 0.5;
        let said = format!("{ready} of {paths} paths ready; other maps have up to {most}");
        judged.push(Judged::of("map", map, holds, said));
    }
    judged
}

/// Ports of Fibre Channel are up and at their full speed.
pub(crate) fn fibre_channel(facts: &Facts) -> Vec<Judged> {
    let mut judged = Vec::new();
    for port in facts.subjects("fc") {
        let state = facts.text("fc", port, "port_state").unwrap_or_default();
        if state.is_empty() {
            continue;
        }
        let speed = |name: &str| facts.of("fc", port, name).and_then(Value::amount);
        let full = match (speed("speed_gbit"), speed("speed_gbit_max")) {
            (Some(speed), Some(most)) => speed >= most,
            _ => true,
        };
        let said = format!("{state}, {} Gbit", speed("speed_gbit").unwrap_or(0.0));
        judged.push(Judged::of("fc", port, state == "Online" && full, said));
    }
    judged
}

/// BUFSIZE fits the stripe unit below the mounts of SAS: one is a multiple of the other.
pub(crate) fn buffers_aligned(facts: &Facts) -> Vec<Judged> {
    let option = crate::facts::Key::plain("sas", "BUFSIZE");
    let fact = facts.get(&option);
    let seen = fact.and_then(|fact| fact.running.as_ref().or(fact.persisted.last()));
    let Some(buffer) = seen
        .and_then(|seen| seen.value.amount())
        .filter(|bytes| *bytes > 0.0)
    else {
        return Vec::new();
    };
    let mut judged = Vec::new();
    for point in facts.subjects("mount") {
        let has_role = facts.of("mount", point, "roles").is_some();
        let unit = facts
            .of("mount", point, "stripe_bytes")
            .and_then(Value::amount)
            .filter(|unit| *unit > 0.0);
        if let (true, Some(unit)) = (has_role, unit) {
            let holds = buffer % unit < 0.5 || unit % buffer < 0.5;
            judged.push(Judged::of(
                "mount",
                point,
                holds,
                format!("BUFSIZE {buffer}, stripe {unit}"),
            ));
        }
    }
    judged
}

/// Guests leave memory for the host: 4 GB, or 8 %.
pub(crate) fn guests_memory(facts: &Facts) -> Vec<Judged> {
    let guests: f64 = facts
        .subjects("guest")
        .into_iter()
        .filter_map(|guest| {
            facts
                .of("guest", guest, "memory_bytes")
                .and_then(Value::amount)
        })
        .sum();
    let Some(memory) = facts
        .number("memory", "total_bytes")
        .filter(|_| guests > 0.0)
    else {
        return Vec::new();
    };
    let left = memory - guests;
    let mut one = Judged::unless(Vec::new());
    one.holds = Some(left >= (4.0e9_f64).max(0.08 * memory));
    one.running = Some(format!(
        "{:.1} GB for the host, {:.1} GB for guests",
        left / 1e9,
        guests / 1e9
    ));
    vec![one]
}
