//! Files: what the kernel or a tool would not take as it is written.

use std::collections::BTreeSet;

use super::Judged;
use crate::facts::derive::is_of_kernel;
use crate::facts::{Facts, Key, Value};

/// Options that a type of file system does not know, with the kernel that dropped them. Sources:
/// xfs.rst (removed options), nfs(5) (ignored or misspelt in published lists).
const REFUSED: [(&[&str], &[&str], &str); 6] = [
    (
        &["xfs"],
        &["barrier", "nobarrier", "barrier=0", "barrier=1"],
        "XFS has no such option (barrier and nobarrier were removed in Linux 4.19): the mount fails",
    ),
    (
        &["xfs"],
        &[
            "delaylog",
            "nodelaylog",
            "ihashsize",
            "irixsgid",
            "osyncisdsync",
            "osyncisosync",
        ],
        "XFS dropped this option before Linux 4.0: the mount fails",
    ),
    (
        &["ext4", "ext3"],
        &["nobarriers", "barriers=0"],
        "ext4 spells it nobarrier or barrier=0: the mount fails",
    ),
    (
        &["nfs", "nfs4"],
        &["inrt", "retains=2"],
        "misspelt (intr, retrans=2): the mount fails or the option is ignored",
    ),
    (
        &["lustre"],
        &["lock", "locks"],
        "Lustre has no such option; locks across nodes need flock",
    ),
    (
        &["ext4", "xfs"],
        &["noatme", "nodirtime"],
        "misspelt (noatime, nodiratime): the mount fails",
    ),
];

/// Options of fstab that the kernel refuses; with `nofail` the failure goes unnoticed.
pub(crate) fn fstab_options(facts: &Facts) -> Vec<Judged> {
    let kernel = facts
        .plain("os", "kernel")
        .map(ToString::to_string)
        .unwrap_or_default();
    let old = !kernel.is_empty() && super::super::compare::versions(&kernel, "4.18").is_lt();
    let mut judged = Vec::new();
    for point in persisted_mounts(facts) {
        let kind = persisted(facts, &point, "fstype");
        let (Some((kind, _)), Some((options, from))) = (kind, persisted(facts, &point, "options"))
        else {
            continue;
        };
        let kind = kind.to_string();
        let options = options.texts();
        let mut wrong = Vec::new();
        for (kinds, refused, why) in REFUSED {
            let has_barrier = refused.contains(&"nobarrier");
            for option in options
                .iter()
                .filter(|option| refused.contains(&option.as_str()))
            {
                // Before 4.19 XFS took barrier and nobarrier, but never barrier=0.
                let taken = old && has_barrier && !option.contains('=');
                if kinds.contains(&kind.as_str()) && !taken {
                    wrong.push(format!("{from}: {option}: {why}"));
                }
            }
        }
        if !wrong.is_empty() && options.iter().any(|option| option == "nofail") {
            let all = format!(
                "{from}: nofail hides that: what is written to {point} would land on the file system above"
            );
            wrong.push(all);
        }
        let mut one = Judged::of("mount", &point, wrong.is_empty(), options.join(","));
        one.evidence = wrong;
        judged.push(one);
    }
    judged
}

fn persisted_mounts(facts: &Facts) -> Vec<String> {
    let points = facts.subjects("mount").into_iter();
    points
        .filter(|point| point.starts_with('/') && persisted(facts, point, "options").is_some())
        .map(str::to_owned)
        .collect()
}

/// What fstab says of a mount, and where.
fn persisted(facts: &Facts, point: &str, name: &str) -> Option<(Value, String)> {
    let fact = facts.get(&Key::of("mount", point, name))?;
    let seen = fact.persisted.last()?;
    Some((seen.value.clone(), seen.from.clone()))
}

/// Options that mean something when they differ between fstab and what runs; others are defaults,
/// or of the kernel.
const TELLING: [&str; 24] = [
    "ro",
    "noatime",
    "nodiratime",
    "nobarrier",
    "barrier=0",
    "sync",
    "discard",
    "soft",
    "softerr",
    "nolock",
    "nocto",
    "noac",
    "nosuid",
    "noexec",
    "flock",
    "localflock",
    "nobrl",
    "rsize",
    "wsize",
    "vers",
    "nfsvers",
    "nconnect",
    "actimeo",
    "proto",
];

/// What is mounted is what fstab says: type, and options that matter.
pub(crate) fn mount_drift(facts: &Facts) -> Vec<Judged> {
    let mut judged = Vec::new();
    for point in persisted_mounts(facts) {
        let (Some((options, from)), Some((kind, _))) = (
            persisted(facts, &point, "options"),
            persisted(facts, &point, "fstype"),
        ) else {
            continue;
        };
        let options = options.texts();
        let running = facts.of("mount", &point, "options").map(Value::texts);
        let Some(running) = running else {
            let manual = options.iter().any(|option| option == "noauto");
            let known = facts.class("mount").any(|(_, fact)| fact.running.is_some());
            if !manual && known {
                let mut one = Judged::of("mount", &point, false, "not mounted".to_owned());
                one.evidence.push(from);
                judged.push(one);
            }
            continue;
        };
        let mut wrong = Vec::new();
        let found = facts.text("mount", &point, "fstype").unwrap_or_default();
        if found == "autofs" && options.iter().any(|option| AUTOMOUNT.contains(&&**option)) {
            let mut one = Judged::of("mount", &point, true, found);
            one.holds = None;
            one.evidence
                .push(format!("{from}: mounted on demand; look at {point} first"));
            judged.push(one);
            continue;
        }
        let is_bind = options
            .iter()
            .any(|option| option == "bind" || option == "rbind");
        if !is_bind && !shows_as(&kind.to_string(), &found) {
            wrong.push(format!("mounted as {found}, {from} says {kind}"));
        }
        for option in &options {
            if let Some(difference) = differs(option, &running) {
                wrong.push(format!("{from} says {option}, {difference}"));
            }
        }
        let mut one = Judged::of("mount", &point, wrong.is_empty(), running.join(","));
        one.evidence = wrong;
        judged.push(one);
    }
    judged
}

/// Options of fstab by which systemd mounts when somebody looks. Source: systemd.mount(5).
const AUTOMOUNT: [&str; 2] = ["x-systemd.automount", "comment=systemd.automount"];

/// Whether what fstab calls so is shown so by the kernel: helpers of mount have names of their own, above all those of
/// file systems in FUSE, which show as `fuse.NAME`, or without any name. Sources: mount(8), mount.fuse3(8),
/// ntfs-3g(8), mount.efs(8), `beegfs_mount`.
fn shows_as(kind: &str, found: &str) -> bool {
    let is_nfs = |kind: &str| kind.starts_with("nfs") || kind == "efs";
    let plain = |kind: &str| kind.strip_suffix("_nodev").unwrap_or(kind).to_owned();
    if kind == "auto" || plain(kind) == found || (is_nfs(kind) && is_nfs(found)) {
        return true;
    }
    match found.strip_prefix("fuse") {
        // That does not tell which: it is none of the kernel's own.
        Some("" | "blk") => !is_of_kernel(kind),
        Some(name) => {
            let name = name.trim_start_matches('.');
            kind == "fuse" || name.starts_with(kind.trim_start_matches("fuse."))
        }
        None => false,
    }
}

/// How an option of fstab differs from what runs, if it matters.
fn differs(option: &str, running: &[String]) -> Option<String> {
    let name = option.split('=').next().unwrap_or(option);
    if !TELLING.contains(&name) && !TELLING.contains(&option) {
        return None;
    }
    let Some((name, value)) = option.split_once('=') else {
        // NFS shows nolock as local_lock, noatime not at all.
        let shown_otherwise = ["nolock", "noatime", "nodiratime", "flock"].contains(&option)
            && running.iter().any(|option| option.starts_with("vers="));
        let there = running.iter().any(|known| known == option);
        return (!there && !shown_otherwise).then(|| "which does not run".to_owned());
    };
    let theirs = if name == "nfsvers" { "vers" } else { name };
    let found = running
        .iter()
        .find_map(|known| known.split_once('=').filter(|(known, _)| *known == theirs))?;
    // `vers=4` may run as 4.2, `actimeo` is shown as four times.
    let same = found.1 == value || found.1.starts_with(&format!("{value}."));
    (!same).then(|| format!("{theirs}={} runs", found.1))
}

/// Soft limits at most as high as hard ones, and no line that `pam_limits` cannot read.
pub(crate) fn limits_soft_hard(facts: &Facts) -> Vec<Judged> {
    let mut wrong = odd(facts, &["/security/limits"]);
    let known = !facts.subjects("limits").is_empty();
    for (key, fact) in facts.class("limits") {
        let Some(domain) = key
            .subject
            .as_deref()
            .and_then(|subject| subject.strip_suffix(" soft"))
        else {
            continue;
        };
        let hard = facts.get(&Key::of("limits", &format!("{domain} hard"), &key.name));
        let (Some(soft), Some(hard)) = (
            fact.persisted.last(),
            hard.and_then(|fact| fact.persisted.last()),
        ) else {
            continue;
        };
        let bound = |value: &Value| {
            value
                .amount()
                .filter(|amount| *amount >= 0.0)
                .unwrap_or(f64::INFINITY)
        };
        if bound(&soft.value) > bound(&hard.value) {
            wrong.push(format!(
                "{}: {domain} soft {} {} is above hard {} ({})",
                soft.from, key.name, soft.value, hard.value, hard.from
            ));
        }
    }
    if !known && wrong.is_empty() {
        return Vec::new();
    }
    vec![Judged::unless(wrong)]
}

/// Lines of some files that their readers do not take.
pub(crate) fn odd(facts: &Facts, parts: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, fact) in facts.class("odd") {
        let place = key.subject.as_deref().unwrap_or_default();
        let seen = fact.persisted.last().or(fact.running.as_ref());
        if let Some(seen) = seen.filter(|_| parts.iter().any(|part| place.contains(part))) {
            lines.push(format!("{place}: not understood: {}", seen.value));
        }
    }
    lines
}

/// Parameters of modules that the kernel did not know, and lines of modprobe.d that are none.
pub(crate) fn modprobe_accepted(facts: &Facts) -> Vec<Judged> {
    let mut wrong = odd(facts, &["/modprobe.d/"]);
    let unknown = facts.plain("dmesg", "unknown_parameters");
    for parameter in unknown.map(Value::texts).unwrap_or_default() {
        wrong.push(format!(
            "dmesg: {parameter} is unknown to its module and was ignored"
        ));
    }
    // A module that shows some of its parameters shows all that can be read; these papers misspell
    // some.
    for (key, fact) in facts.class("module") {
        let (Some(module), Some(seen)) = (&key.subject, fact.persisted.last()) else {
            continue;
        };
        let misspelt = [("qla2xxx", "ql2xmaxdeth", "ql2xmaxqdepth")];
        for (of, name, right) in misspelt {
            if module == of && key.name == name {
                wrong.push(format!(
                    "{}: {name} is no parameter of {of}; {right} is meant",
                    seen.from
                ));
            }
        }
    }
    if unknown.is_none() && wrong.is_empty() {
        let known = facts
            .class("module")
            .any(|(_, fact)| !fact.persisted.is_empty());
        if !known {
            return Vec::new();
        }
        let mut one = Judged::unless(Vec::new());
        one.holds = None;
        one.evidence
            .push("messages of the kernel were not captured".to_owned());
        return vec![one];
    }
    vec![Judged::unless(wrong)]
}

/// Settings of sunrpc that stand in sysctl files only: at boot the module is not loaded yet, and
/// they are lost.
pub(crate) fn sunrpc_persisted(facts: &Facts) -> Vec<Judged> {
    let mut wrong = Vec::new();
    let mut any = false;
    for (key, fact) in facts.class("sysctl") {
        let Some(name) = key.name.strip_prefix("sunrpc.") else {
            continue;
        };
        any |= fact.running.is_some();
        let Some(seen) = fact.persisted.last() else {
            continue;
        };
        any = true;
        let module = facts.get(&Key::of("module", "sunrpc", name));
        if module.is_none_or(|fact| fact.persisted.is_empty()) {
            let line = format!(
                "{}: {} = {} comes before the module is loaded; write it to modprobe.d",
                seen.from, key.name, seen.value
            );
            wrong.push(line);
        }
    }
    if any {
        vec![Judged::unless(wrong)]
    } else {
        Vec::new()
    }
}

/// What udev's rules of the site write is what runs.
pub(crate) fn udev_accepted(facts: &Facts) -> Vec<Judged> {
    let mut wrong = odd(facts, &["/udev/rules.d/"]);
    let mut any = !wrong.is_empty();
    let mut schedulers: BTreeSet<String> = BTreeSet::new();
    for device in facts.subjects("block") {
        let offered = facts.of("block", device, "schedulers").map(Value::texts);
        schedulers.extend(offered.unwrap_or_default());
    }
    for (key, fact) in facts.class("udev") {
        let (Some(place), Some(seen)) = (&key.subject, fact.persisted.last()) else {
            continue;
        };
        // Rules of the distribution are its own business.
        if !place.starts_with("/etc/") || key.name != "queue/scheduler" {
            continue;
        }
        any = true;
        let wanted = seen.value.to_string();
        if !schedulers.is_empty() && !schedulers.contains(&wanted) {
            let known: Vec<&str> = schedulers.iter().map(String::as_str).collect();
            wrong.push(format!(
                "{place}: no device offers the scheduler {wanted}, only {}",
                known.join(", ")
            ));
        }
    }
    if any {
        vec![Judged::unless(wrong)]
    } else {
        Vec::new()
    }
}

/// Jobs that drop the page cache.
pub(crate) fn drop_caches(facts: &Facts) -> Vec<Judged> {
    let lines = facts.class("cron").filter_map(|(key, fact)| {
        let seen = fact.persisted.last()?;
        Some(format!(
            "{}: {}",
            key.subject.as_deref().unwrap_or_default(),
            seen.value
        ))
    });
    vec![Judged::unless(lines.collect())]
}

/// Rules of systemd-tmpfiles that remove old files where WORK is.
pub(crate) fn tmpfiles_work(facts: &Facts) -> Vec<Judged> {
    let mut judged = Vec::new();
    for subject in facts.subjects("path") {
        let role = facts.text("path", subject, "role").unwrap_or_default();
        let Some(path) = facts.text("path", subject, "path") else {
            continue;
        };
        if role != "saswork" && role != "utilloc" {
            continue;
        }
        let above = |pattern: &str| {
            let plain = pattern.trim_end_matches('*').trim_end_matches('/');
            !plain.is_empty()
                && (path == plain
                    || path.starts_with(&format!("{plain}/"))
                    || (pattern.ends_with('*') && path.starts_with(plain)))
        };
        let mut wrong = Vec::new();
        let mut kept = false;
        for (key, fact) in facts.class("tmpfiles") {
            let (Some(pattern), Some(seen)) = (&key.subject, fact.persisted.last()) else {
                continue;
            };
            if above(pattern) {
                kept |= key.name == "kept";
                if key.name == "age" {
                    wrong.push(format!(
                        "{}: {pattern} is cleaned of what is older than {}",
                        seen.from, seen.value
                    ));
                }
            }
        }
        let mut one = Judged::of("path", subject, kept || wrong.is_empty(), path);
        one.evidence = wrong;
        judged.push(one);
    }
    judged
}
