//! Paths that SAS uses, their roles and the mounts that they are on.

use crate::facts::collect::Given;
use crate::facts::{Facts, Key, Value};

/// File systems that several nodes share.
pub(crate) const SHARED: [&str; 15] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "gpfs",
    "gfs2",
    "lustre",
    "cvfs",
    "ceph",
    "beegfs",
    "fuse.glusterfs",
    "glusterfs",
    "ocfs2",
    "fuse.ceph",
    "panfs",
];

/// Local file systems that hold data.
const LOCAL: [&str; 8] = ["xfs", "ext4", "ext3", "ext2", "btrfs", "zfs", "vxfs", "jfs"];

/// True for file systems that are modules of the kernel, not programs behind FUSE.
pub(crate) fn is_of_kernel(kind: &str) -> bool {
    LOCAL.contains(&kind) || (SHARED.contains(&kind) && !kind.contains("gluster"))
}

/// Where an operating system keeps its own.
const SYSTEM: [&str; 16] = [
    "/boot", "/usr", "/var", "/etc", "/opt", "/home", "/root", "/tmp", "/run", "/dev", "/proc",
    "/sys", "/sysroot", "/host", "/snap", "/nix",
];

pub(super) fn derive(facts: &mut Facts, given: &Given) {
    let mut paths: Vec<(String, String, String)> = Vec::new();
    let from = if given.of_run {
        "a directory of the run"
    } else {
        "--role"
    };
    for (role, path) in &given.paths {
        paths.push((role.clone(), path.clone(), from.to_owned()));
    }
    configured(facts, &mut paths);
    for (role, path, from) in paths {
        let anywhere = given.of_run && given.paths.contains(&(role.clone(), path.clone()));
        place(
            facts,
            &role,
            &path,
            &from,
            Sure {
                path: true,
                anywhere,
            },
        );
    }
    if facts.subjects("path").is_empty() {
        let points: Vec<String> = presumed(facts);
        for point in points {
            place(
                facts,
                "sasdata",
                &point,
                "presumed: no path of SAS is known",
                Sure::default(),
            );
        }
    }
}

/// WORK and UTILLOC of configuration files, of PROC OPTIONS and of running processes.
fn configured(facts: &Facts, paths: &mut Vec<(String, String, String)>) {
    let mut add = |name: &str, value: &Value, from: &str| {
        let role = if name == "WORK" { "saswork" } else { "utilloc" };
        for path in value.texts() {
            // A path may hold variables, which nobody can resolve here; `WORK` as UTILLOC is WORK's
            // own.
            let is_path = path.starts_with('/') && !path.contains('$') && !path.contains('!');
            let path = path.trim_matches(['\'', '"']).to_owned();
            let known = paths
                .iter()
                .any(|(other, place, _)| other == role && *place == path);
            if is_path && !known {
                paths.push((role.to_owned(), path, from.to_owned()));
            }
        }
    };
    for name in ["WORK", "UTILLOC"] {
        let fact = facts.get(&Key::plain("sas", name));
        if let Some(seen) = fact.and_then(|fact| fact.running.as_ref().or(fact.persisted.last())) {
            add(name, &seen.value, &seen.from);
        }
        for process in facts.subjects("process") {
            let key = Key::of("process", process, &format!("option.{name}"));
            if let Some(seen) = facts.get(&key).and_then(|fact| fact.running.as_ref()) {
                add(name, &seen.value, &seen.from);
            }
        }
    }
}

/// Mounts that may hold SAS data: network file systems, and local ones that are not part of the
/// operating system.
fn presumed(facts: &Facts) -> Vec<String> {
    let points = facts.subjects("mount").into_iter();
    let may = |point: &&str| {
        let Some(kind) = facts.text("mount", point, "fstype") else {
            return false;
        };
        let system = is_system(point);
        let read_only = facts
            .of("mount", point, "options")
            .is_some_and(|options| options.texts().iter().any(|option| option == "ro"));
        let shared = SHARED.contains(&kind.as_str()) && *point != "/";
        shared || (LOCAL.contains(&kind.as_str()) && !system && !read_only)
    };
    points.filter(may).map(str::to_owned).collect()
}

/// True if a mount belongs to the operating system.
fn is_system(point: &str) -> bool {
    let below = |folder: &&str| {
        point
            .strip_prefix(*folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    point == "/" || SYSTEM.iter().any(below)
}

/// How sure a role is.
#[derive(Clone, Copy, Default)]
struct Sure {
    /// Somebody said that the path has it.
    path: bool,
    /// Its file system has it too, were it the operating system's.
    anywhere: bool,
}

/// Says where a path is: `path[ROLE PATH].fstype` and its like.
fn place(facts: &mut Facts, role: &str, path: &str, from: &str, sure: Sure) {
    let subject = format!("{role} {path}");
    let mut say = |name: &str, value: Value| {
        facts.run(Key::of("path", &subject, name), value, from);
    };
    say("role", role.into());
    say("path", path.into());
    if !sure.path {
        say("presumed", 1_i64.into());
    }
    let mount = facts
        .subjects("mount")
        .into_iter()
        // What is only in fstab is not there: the path is on the file system above.
        .filter(|point| facts.of("mount", point, "fstype").is_some())
        .filter(|point| std::path::Path::new(path).starts_with(point))
        .max_by_key(|point| point.len())
        .map(str::to_owned);
    let Some(point) = mount else {
        return;
    };
    // What is mounted once somebody looks is not the file system that is there now.
    if facts.text("mount", &point, "fstype").as_deref() == Some("autofs") {
        facts.run(Key::of("path", &subject, "on_demand"), point.as_str(), from);
        return;
    }
    for name in [
        "fstype",
        "source",
        "block",
        "disks",
        "stripes",
        "raid_level",
        "used_percent",
        "rotational",
        "encrypted",
    ] {
        if let Some(value) = facts.of("mount", &point, name).cloned() {
            facts.run(Key::of("path", &subject, name), value, from);
        }
    }
    facts.run(Key::of("path", &subject, "mount"), point.as_str(), from);
    // A path without a mount of its own is a fault of its own; it does not make the system's file
    // systems those of SAS.
    if !sure.anywhere && (point == "/" || SYSTEM.contains(&point.as_str())) {
        return;
    }
    let key = Key::of("mount", &point, "roles");
    let mut roles = facts.running(&key).map(Value::texts).unwrap_or_default();
    if !roles.iter().any(|known| known == role) {
        roles.push(role.to_owned());
    }
    let presumed = Key::of("mount", &point, "presumed_role");
    facts.forget(|known| *known == key);
    facts.run(key, Value::List(roles), from);
    if !sure.path {
        facts.run(presumed, 1_i64, from);
    }
}
