//! Profiles of `TuneD`, which change many settings at once.

use std::fs;
use std::path::PathBuf;

use super::journal::{Undo, Value};
use super::setting::{Kernel, chosen, read};
use super::tool;

/// Settings that profiles change and that have one file each, below /sys and /proc.
const CHANGED: [&str; 8] = [
    "proc/sys/vm/dirty_background_bytes",
    "proc/sys/vm/dirty_background_ratio",
    "proc/sys/vm/dirty_bytes",
    "proc/sys/vm/dirty_ratio",
    "proc/sys/vm/swappiness",
    "proc/sys/kernel/numa_balancing",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/kernel/mm/transparent_hugepage/defrag",
];

/// The profile in force; `None`: none is.
pub fn active() -> Result<Option<String>, String> {
    let said = tool::run(&tool::words(&["tuned-adm", "active"]));
    let said = match said {
        Ok(said) => said,
        // It ends with an error where no profile is active.
        Err(tool::Error::Failed { said, .. }) if said.contains("No current active profile") => said,
        Err(error) => return Err(error.to_string()),
    };
    Ok(active_in(&said))
}

fn active_in(said: &str) -> Option<String> {
    let name = |line: &str| {
        line.strip_prefix("Current active profile:")
            .map(str::to_owned)
    };
    let profile = said.lines().find_map(name);
    profile.map(|profile| profile.trim().to_owned())
}

/// Why a profile cannot be put in force here, if so.
pub fn missing(profile: &str) -> Option<String> {
    if !tool::is_there("tuned-adm") {
        return Some("TuneD is not installed (no tuned-adm)".to_owned());
    }
    match tool::run(&tool::words(&["tuned-adm", "list"])) {
        Ok(list) if lists(&list, profile) => None,
        Ok(_) => Some(format!("TuneD has no profile {profile}")),
        Err(error) => Some(error.to_string()),
    }
}

/// Lines of profiles are `- name` with a summary after it.
fn lists(list: &str, profile: &str) -> bool {
    let name = |line: &str| {
        line.strip_prefix("- ")?
            .split_whitespace()
            .next()
            .map(str::to_owned)
    };
    list.lines().filter_map(name).any(|name| name == profile)
}

/// The command that puts a profile in force.
pub fn set(profile: &str) -> Vec<String> {
    tool::words(&["tuned-adm", "profile", profile])
}

/// How a change of the profile is put back: the profile, then what somebody had set otherwise than it does.
pub fn undo(kernel: &Kernel, before: Option<String>) -> Undo {
    let root = |name: &str| -> PathBuf {
        match name.split_once('/') {
            Some(("proc", rest)) => kernel.proc.join(rest),
            Some((_, rest)) => kernel.sys.join(rest),
            None => kernel.sys.clone(),
        }
    };
    let mut paths: Vec<PathBuf> = CHANGED.iter().map(|name| root(name)).collect();
    let disks = fs::read_dir(kernel.sys.join("block"))
        .into_iter()
        .flatten()
        .flatten();
    for disk in disks {
        let queue = disk.path().join("queue");
        paths.extend(["read_ahead_kb", "scheduler"].map(|name| queue.join(name)));
    }
    let policies = fs::read_dir(kernel.sys.join("devices/system/cpu/cpufreq"));
    for policy in policies.into_iter().flatten().flatten() {
        paths.push(policy.path().join("scaling_governor"));
    }
    paths.sort();
    let value = |path: PathBuf| {
        let value = chosen(&read(&path).ok()?);
        // A limit of 0 is put back by its other view.
        let is_other_view = value == "0" && path.to_string_lossy().contains("/vm/dirty_");
        (!is_other_view).then_some(Value { path, value })
    };
    Undo::Tuned {
        profile: before,
        then: paths.into_iter().filter_map(value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `tuned-adm list` of 2.20 prints it.
    const LIST: &str = "Available profiles:\n\
        - balanced                    - General non-specialized tuned profile\n\
        - throughput-performance      - Broadly applicable tuning, not unlike balanced\n\
        - own\n\
        Current active profile: throughput-performance\n";

    #[test]
    fn profiles_are_read_from_what_tuned_adm_prints() {
        assert_eq!(active_in(LIST).as_deref(), Some("throughput-performance"));
        assert_eq!(active_in("No current active profile.\n"), None);
        assert!(lists(LIST, "balanced") && lists(LIST, "own"));
        assert!(!lists(LIST, "General") && !lists(LIST, "profile"));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let why = missing("no-such-profile").unwrap();
        assert!(why.to_lowercase().contains("tuned"), "{why}");
    }
}
