//! Profiles of TuneD: options that no plugin knows, twins, and what fights with them.

use super::{Judged, files};
use crate::facts::{Facts, Key, Value, boot};

/// Options of plugins that profiles for storage use. Source: plugins and profiles of TuneD 2.19 to
/// 2.27.
const OPTIONS: [(&str, &[&str]); 5] = [
    (
        "vm",
        &[
            "transparent_hugepages",
            "transparent_hugepage",
            "dirty_ratio",
            "dirty_background_ratio",
            "dirty_bytes",
            "dirty_background_bytes",
            "transparent_hugepage.defrag",
        ],
    ),
    (
        "cpu",
        &[
            "load_threshold",
            "latency_low",
            "latency_high",
            "force_latency",
            "governor",
            "sampling_down_factor",
            "energy_perf_bias",
            "min_perf_pct",
            "max_perf_pct",
            "no_turbo",
            "pm_qos_resume_latency_us",
            "energy_performance_preference",
            "boost",
        ],
    ),
    (
        "disk",
        &[
            "dynamic",
            "elevator",
            "apm",
            "spindown",
            "readahead",
            "readahead_multiply",
            "scheduler_quantum",
        ],
    ),
    (
        "net",
        &[
            "dynamic",
            "wake_on_lan",
            "nf_conntrack_hashsize",
            "features",
            "coalesce",
            "pause",
            "ring",
            "channels",
            "txqueuelen",
            "mtu",
        ],
    ),
    ("mounts", &["disable_barriers"]),
];

/// Options of every section.
const COMMON: [&str; 6] = [
    "type",
    "devices",
    "enabled",
    "replace",
    "priority",
    "devices_udev_regex",
];

struct Setting {
    profile: String,
    section: String,
    kind: String,
    name: String,
    value: Value,
    from: String,
}

/// Options of the active profile and of all that it includes.
fn active(facts: &Facts) -> Vec<Setting> {
    let Some(profile) = facts.plain("tuned", "profile") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for profile in boot::chain(facts, &profile.to_string()) {
        for (key, fact) in facts.class("tuned") {
            let (Some(seen), true) = (
                fact.persisted.last(),
                key.subject.as_deref() == Some(&profile),
            ) else {
                continue;
            };
            let Some((section, name)) = key.name.split_once('/') else {
                continue;
            };
            // `[disk-nvme] type=disk`.
            let kind = Key::of("tuned", &profile, &format!("{section}/type"));
            let kind = facts.get(&kind).and_then(|fact| fact.persisted.last());
            let kind = kind.map_or_else(|| section.to_owned(), |seen| seen.value.to_string());
            found.push(Setting {
                profile: profile.clone(),
                section: section.to_owned(),
                kind,
                name: name.to_owned(),
                value: seen.value.clone(),
                from: seen.from.clone(),
            });
        }
    }
    found
}

/// Every option is known to its plugin: TuneD only logs those that are not.
pub(crate) fn options(facts: &Facts) -> Vec<Judged> {
    let active = active(facts);
    if active.is_empty() {
        return Vec::new();
    }
    let mut wrong = files::odd(facts, &["/tuned.conf"]);
    for option in &active {
        let known = OPTIONS.iter().find(|(kind, _)| *kind == option.kind);
        if let Some((kind, known)) = known
            && !known.contains(&option.name.as_str())
            && !COMMON.contains(&option.name.as_str())
        {
            wrong.push(format!(
                "{}: [{}] {} of the profile {} is unknown to the plugin {kind}, and without effect",
                option.from, option.section, option.name, option.profile
            ));
        }
    }
    vec![Judged::unless(wrong)]
}

/// Options that the installed version does not have yet.
pub(crate) fn version(facts: &Facts) -> Vec<Judged> {
    let Some(version) = facts.plain("tuned", "version").map(ToString::to_string) else {
        return Vec::new();
    };
    let older = |than: &str| super::super::compare::versions(&version, than).is_lt();
    let mut wrong = Vec::new();
    for option in active(facts) {
        let needs = match (option.kind.as_str(), option.name.as_str()) {
            ("vm", "dirty_bytes" | "dirty_background_bytes")
                if option.value.to_string().ends_with('%') =>
            {
                "2.26"
            }
            ("vm", name) if name.starts_with("dirty_") => "2.25",
            ("cpu", "boost") => "2.27",
            _ => continue,
        };
        if older(needs) {
            wrong.push(format!(
                "{}: {} needs TuneD {needs}, installed is {version}",
                option.from, option.name
            ));
        }
    }
    vec![Judged::unless(wrong)]
}

/// A child that sets `[sysctl] vm.dirty_*` where its parent sets `[vm] dirty_*`.
pub(crate) fn twins(facts: &Facts) -> Vec<Judged> {
    let active = active(facts);
    if active.is_empty() {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for option in active
        .iter()
        .filter(|option| option.section == "sysctl" && option.name.starts_with("vm.dirty_"))
    {
        let kind = |name: &str| name.contains("background");
        let twin = active.iter().find(|other| {
            other.section == "vm"
                && other.name.starts_with("dirty_")
                && kind(&other.name) == kind(&option.name)
        });
        if let Some(twin) = twin {
            wrong.push(format!(
                "{}: {} and {}: [vm] {} fight",
                option.from, option.name, twin.from, twin.name
            ));
        }
    }
    vec![Judged::unless(wrong)]
}

/// Keys that the profile and a file of sysctl set to different values.
pub(crate) fn sysctl(facts: &Facts) -> Vec<Judged> {
    if active(facts).is_empty() {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (key, fact) in facts.class("sysctl") {
        let of_tuned = fact
            .persisted
            .iter()
            .rev()
            .find(|seen| boot::is_tuned(&seen.from));
        let of_file = fact
            .persisted
            .iter()
            .rev()
            .find(|seen| !boot::is_tuned(&seen.from) && !seen.from.starts_with("/usr/lib/"));
        if let (Some(tuned), Some(file)) = (of_tuned, of_file)
            && tuned.value != file.value
        {
            let winner = fact
                .boot
                .as_ref()
                .map(|seen| seen.from.clone())
                .unwrap_or_default();
            wrong.push(format!(
                "{}: {} ({}) and {} ({}); {winner} wins",
                key.name, tuned.value, tuned.from, file.value, file.from
            ));
        }
    }
    vec![Judged::unless(wrong)]
}

/// Everything that sets transparent huge pages agrees.
pub(crate) fn thp_writers(facts: &Facts) -> Vec<Judged> {
    let mut writers: Vec<(String, String)> = Vec::new();
    if let Some(fact) = facts.get(&Key::plain("thp", "enabled")) {
        writers.extend(
            fact.persisted
                .last()
                .map(|seen| (seen.value.to_string(), seen.from.clone())),
        );
    }
    let argument = facts.get(&Key::plain("cmdline", "transparent_hugepage"));
    if let Some(seen) = argument.and_then(|fact| fact.running.as_ref()) {
        writers.push((seen.value.to_string(), seen.from.clone()));
    }
    let Some((first, _)) = writers.first() else {
        return Vec::new();
    };
    let running = facts.plain("thp", "enabled").map(ToString::to_string);
    let agree = writers.iter().all(|(value, _)| value == first)
        && running.as_ref().is_none_or(|running| running == first);
    let said: Vec<String> = writers
        .iter()
        .map(|(value, from)| format!("{from} sets {value}"))
        .collect();
    let mut one = Judged::unless(if agree { Vec::new() } else { said });
    one.running = running;
    vec![one]
}
