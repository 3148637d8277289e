//! TuneD: the active profile, `tuned-main.conf`, and profiles (`/usr/lib/tuned/NAME/tuned.conf` and
//! its later places); and `/etc/nfs.conf`, which is written alike.

use super::{Found, base, found, lines, odd, said};
use crate::facts::{Key, Value};

/// Reads `/etc/tuned/active_profile`: names of profiles on a line.
pub fn parse_active(_path: &str, text: &str) -> Vec<Found> {
    let profile = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    if profile.is_empty() {
        return Vec::new();
    }
    vec![found(Key::plain("tuned", "profile"), profile, 1)]
}

/// Reads `tuned-adm active` or `tuned-adm list`.
pub fn parse_adm(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        let mut say = |name: &str, value: &str| {
            facts.push(found(Key::plain("tuned", name), value.trim(), number));
        };
        if let Some(profile) = line.strip_prefix("Current active profile:") {
            say("profile", profile);
        } else if let Some(profile) = line.strip_prefix("Preset profile:") {
            say("preset", profile);
        } else if line.contains("tuned daemon is not running") {
            say("daemon", "not running");
        } else if line.starts_with("No current active profile") {
            say("profile", "none");
        }
    }
    facts
}

/// Reads `tuned --version`: `tuned 2.20.0`; or a list of packages: `tuned-2.20.0-1.el9.noarch`.
pub fn parse_version(_path: &str, text: &str) -> Vec<Found> {
    let version = lines(text).find_map(|(number, line)| {
        let rest = line
            .strip_prefix("tuned-")
            .or_else(|| line.strip_prefix("tuned "))?;
        let version = rest.split(['-', ' ']).next()?;
        version
            .starts_with(|letter: char| letter.is_ascii_digit())
            .then(|| found(Key::plain("tuned", "version"), version, number))
    });
    version.into_iter().collect()
}

/// Reads `tuned-main.conf`.
pub fn parse_main(_path: &str, text: &str) -> Vec<Found> {
    let known = ["daemon", "dynamic_tuning", "reapply_sysctl", "rollback"];
    let fact = |(number, line): (usize, &str)| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        known
            .contains(&name)
            .then(|| found(Key::plain("tuned-main", name), Value::of(value), number))
    };
    said(text, &['#', ';']).filter_map(fact).collect()
}

/// Reads a profile: `tuned[NAME].section/option`. The folder of the file is the profile's name.
pub fn parse_profile(path: &str, text: &str) -> Vec<Found> {
    let profile = path.rsplit('/').nth(1).unwrap_or_default();
    sections(path, text, |section, name| {
        Key::of("tuned", profile, &format!("{section}/{name}"))
    })
}

/// Reads `/etc/nfs.conf` or `/etc/nfsmount.conf`: `nfs-conf.nfsrahead.nfs`.
pub fn parse_nfs_conf(path: &str, text: &str) -> Vec<Found> {
    let class = base(path).trim_end_matches(".conf");
    let class = if class == "nfsmount" {
        "nfsmount"
    } else {
        "nfs-conf"
    };
    sections(path, text, |section, name| {
        // `[ MountPoint "/sas" ]`.
        Key::plain(class, &format!("{}.{name}", section.trim()))
    })
}

fn sections(path: &str, text: &str, key: impl Fn(&str, &str) -> Key) -> Vec<Found> {
    let (mut section, mut facts) = (String::new(), Vec::new());
    for (number, line) in said(text, &['#', ';']) {
        if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').trim().clone_into(&mut section);
        } else if let Some((name, value)) = line.split_once('=') {
            // `readahead=>4096`: only upwards.
            facts.push(found(key(&section, name.trim()), Value::of(value), number));
        } else {
            facts.push(odd(path, number, line));
        }
    }
    facts
}
