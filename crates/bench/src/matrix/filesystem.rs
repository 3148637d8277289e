//! File systems: how they are made, mounted, and what the kernel says it mounted.

use std::path::Path;

use base::units::parse_size;
use host::file_systems::{self, Mount};

use super::tool;

/// A file system that can be made here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileSystem {
    /// ext3: block maps, no extents.
    Ext3,
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// btrfs.
    Btrfs,
    /// GFS2 on one node, without locks between nodes.
    Gfs2,
}

impl FileSystem {
    const ALL: [Self; 5] = [Self::Ext3, Self::Ext4, Self::Xfs, Self::Btrfs, Self::Gfs2];

    /// That of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Names of all.
    pub fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).into()
    }

    /// Its name, also the kernel's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext3 => "ext3",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Gfs2 => "gfs2",
        }
    }

    /// The command that makes one. Nothing is left to be done later in the background, where it would disturb
    /// what is measured, and nothing is discarded: an image that was written once stays so.
    pub fn mkfs(self, device: &str, more: &[String]) -> Vec<String> {
        let program = format!("mkfs.{}", self.name());
        let mut words = match self {
            Self::Ext3 | Self::Ext4 => {
                let (own, rest) = extended(more);
                return [
                    tool::words(&[&*program, "-q", "-E", &own]),
                    rest,
                    tool::words(&[device]),
                ]
                .concat();
            }
            // They refuse what has a file system on it, and what is mounted; only the first is wanted away.
            Self::Xfs | Self::Btrfs => tool::words(&[&*program, "-q", "-f", "-K"]),
            Self::Gfs2 => {
                tool::words(&[&*program, "-q", "-O", "-K", "-p", "lock_nolock", "-j", "1"])
            }
        };
        words.extend_from_slice(more);
        words.push(device.to_owned());
        words
    }
}

/// Options of `-E` put together, since mke2fs heeds one alone, and the other words.
fn extended(more: &[String]) -> (String, Vec<String>) {
    let mut own = "lazy_itable_init=0,lazy_journal_init=0,nodiscard".to_owned();
    let mut rest = Vec::new();
    let mut words = more.iter();
    while let Some(word) = words.next() {
        let given = match word.strip_prefix("-E") {
            Some("") => words.next().map(String::as_str),
            Some(attached) => Some(attached),
            None => {
                rest.push(word.clone());
                continue;
            }
        };
        own = format!("{own},{}", given.unwrap_or_default());
    }
    (own, rest)
}

/// The command that mounts something.
pub fn mount(kind: &str, source: &str, point: &str, options: &str) -> Vec<String> {
    let mut words = tool::words(&["mount", "-t", kind]);
    if !options.is_empty() {
        words.extend(tool::words(&["-o", options]));
    }
    words.extend(tool::words(&[source, point]));
    words
}

/// What is mounted at a place.
pub fn mounted_at(point: &Path) -> Option<Mount> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts = file_systems::parse(&mounts);
    mounts.into_iter().rfind(|mount| mount.point == point)
}

/// Options that the kernel shows whenever they are in force.
const ALWAYS_SHOWN: [&str; 9] = [
    "noatime",
    "nodiratime",
    "relatime",
    "lazytime",
    "sync",
    "dirsync",
    "ro",
    "rw",
    "nobarrier",
];

/// Options of `mount` itself, which no file system ever shows.
const OF_MOUNT: [&str; 3] = ["defaults", "loop", "_netdev"];

/// Holds the options asked for against those in force: a sentence for each that the kernel does not show, so
/// that it cannot be read back, or what is otherwise than asked for.
pub fn read_back(asked: &str, found: &[String]) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    for option in file_systems_options(asked) {
        let wanted = canonical(option);
        let has = |text: &str| found.iter().any(|one| canonical(one) == text);
        let other = match wanted.split_once('=') {
            _ if has(&wanted) || OF_MOUNT.contains(&&*wanted) => continue,
            Some(("actimeo", seconds)) => match attribute_times(found, seconds) {
                Ok(()) => continue,
                Err(other) => Some(other),
            },
            Some((key @ ("vers" | "nfsvers"), version)) => {
                let is_minor = |one: &&String| one.starts_with(&format!("vers={version}."));
                if found.iter().any(|one| is_minor(&one)) || has(&format!("vers={version}")) {
                    continue;
                }
                shown_of(found, if key == "nfsvers" { "vers" } else { key })
            }
            Some((key, value)) => {
                let shown = shown_of(found, key);
                let is_same = |shown: &String| same_size(value, &shown[key.len() + 1..]);
                if shown.as_ref().is_some_and(is_same) {
                    continue;
                }
                shown
            }
            None if wanted == "strictatime" => {
                let kept = found
                    .iter()
                    .find(|one| ["noatime", "relatime"].contains(&one.as_str()));
                match kept {
                    None => continue,
                    some => some.cloned(),
                }
            }
            None if wanted == "barrier" => {
                match found.iter().find(|one| canonical(one) == "nobarrier") {
                    // It is the default, and not shown.
                    None => continue,
                    some => some.cloned(),
                }
            }
            None if ALWAYS_SHOWN.contains(&&*wanted) => Some(format!("not {wanted}")),
            None => Some(opposite(&wanted)).filter(|one| has(one)),
        };
        match other {
            Some(other) => {
                return Err(format!(
                    "mounted with {other}, although {option} was asked for"
                ));
            }
            None => notes.push(format!(
                "the mount option {option} cannot be read back: the kernel does not show it"
            )),
        }
    }
    Ok(notes)
}

fn file_systems_options(asked: &str) -> impl Iterator<Item = &str> {
    asked
        .split(',')
        .map(str::trim)
        .filter(|option| !option.is_empty())
}

/// One name for options that have several.
fn canonical(option: &str) -> String {
    match option {
        "barrier=0" => "nobarrier".to_owned(),
        "barrier=1" => "barrier".to_owned(),
        other => other.to_owned(),
    }
}

/// `key=value` as it is in force.
fn shown_of(found: &[String], key: &str) -> Option<String> {
    let starts = |one: &&String| {
        one.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with('='))
    };
    found.iter().find(starts).cloned()
}

/// The kernel shows 64m as 65536k.
fn same_size(one: &str, other: &str) -> bool {
    let (one, other) = (parse_size(one), parse_size(other));
    one.is_some() && one == other
}

fn opposite(option: &str) -> String {
    let without = option.strip_prefix("no").map(str::to_owned);
    without.unwrap_or_else(|| format!("no{option}"))
}

/// actimeo is shown as four times, those that are not the default.
fn attribute_times(found: &[String], seconds: &str) -> Result<(), String> {
    let defaults = [
        ("acregmin", "3"),
        ("acregmax", "60"),
        ("acdirmin", "30"),
        ("acdirmax", "60"),
    ];
    for (key, default) in defaults {
        let shown = shown_of(found, key).unwrap_or_else(|| format!("{key}={default}"));
        if shown != format!("{key}={seconds}") {
            return Err(shown);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(options: &str) -> Vec<String> {
        options.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_in_force_is_held_against_what_was_asked_for() {
        let ext4 = found("rw,noatime,nobarrier,stripe=16");
        assert_eq!(read_back("noatime,barrier=0,defaults", &ext4), Ok(vec![]));
        assert!(
            read_back("barrier=1", &ext4)
                .unwrap_err()
                .contains("nobarrier")
        );
        assert!(
            read_back("relatime", &ext4)
                .unwrap_err()
                .contains("not relatime")
        );
        assert_eq!(read_back("barrier", &found("rw,relatime")), Ok(vec![]));
        assert!(read_back("nobarrier", &found("rw")).is_err());
        assert!(read_back("strictatime", &found("rw,relatime")).is_err());
        assert_eq!(read_back("strictatime", &found("rw")), Ok(vec![]));
        let xfs = found("rw,allocsize=65536k");
        assert_eq!(read_back("allocsize=64m", &xfs), Ok(vec![]));
        assert!(read_back("allocsize=32m", &xfs).is_err());
        let notes = read_back("journal_async_commit", &ext4).unwrap();
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn what_a_server_grants_is_no_less_than_what_was_asked_for() {
        let nfs = found(
            "rw,relatime,vers=4.2,rsize=262144,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0,nconnect=4",
        );
        assert_eq!(read_back("vers=4,actimeo=0,nconnect=4", &nfs), Ok(vec![]));
        let less = read_back("rsize=1048576", &nfs).unwrap_err();
        assert_eq!(
            less,
            "mounted with rsize=262144, although rsize=1048576 was asked for"
        );
        assert!(
            read_back("actimeo=60", &nfs)
                .unwrap_err()
                .contains("acregmin=0")
        );
        assert!(read_back("vers=3", &nfs).unwrap_err().contains("vers=4.2"));
    }

    #[test]
    fn extended_options_are_put_together() {
        let more = tool::words(&["-E", "stride=16", "-b", "4096"]);
        let words = FileSystem::Ext4.mkfs("/dev/x", &more);
        assert_eq!(
            tool::shown(&words),
            "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard,stride=16 -b 4096 /dev/x"
        );
    }
}
