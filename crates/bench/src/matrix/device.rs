//! Whether a device may be formatted: named, confirmed, and in nobody's use.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::units::Bytes;
use host::file_systems;

use super::tool;

/// What blkid finds on members of something: such a device belongs to it even while it is not active.
const MEMBERS: [(&str, &str); 8] = [
    ("LVM2_member", "a physical volume of LVM"),
    ("LVM1_member", "a physical volume of LVM"),
    ("linux_raid_member", "a member of an array (md)"),
    ("crypto_LUKS", "encrypted (LUKS)"),
    ("swap", "swap space"),
    ("swsuspend", "swap space"),
    ("zfs_member", "a member of a ZFS pool"),
    ("drbd", "a device of DRBD"),
];

/// A device that may be formatted, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its size.
    pub size: Option<Bytes>,
    /// What it holds now, such as `xfs`, `nothing that blkid knows`.
    pub holds: String,
}

/// Looks at a device and refuses what must not be formatted, with the reason.
pub fn check(device: &str) -> Result<Description, String> {
    let path = fs::canonicalize(device).map_err(|error| format!("{device}: {error}"))?;
    let there = fs::metadata(&path).map_err(|error| format!("{device}: {error}"))?;
    if !there.file_type().is_block_device() {
        return Err(format!("{device} is no block device"));
    }
    let number = (
        u64::from(rustix::fs::major(there.rdev())),
        u64::from(rustix::fs::minor(there.rdev())),
    );
    not_mounted(device, &path, number)?;
    not_swap(device, number)?;
    not_below_others(device, number)?;
    let holds = signature(device, &path)?;
    // The kernel's own answer, which knows of mounts in other namespaces as well.
    let exclusive = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(rustix::fs::OFlags::EXCL.bits()).unwrap_or_default())
        .open(&path);
    if let Err(error) = exclusive {
        let why = match error.kind() {
            io::ErrorKind::ResourceBusy => {
                "it is in use: the kernel does not give it to another".to_owned()
            }
            _ => error.to_string(),
        };
        return Err(format!("{device}: {why}"));
    }
    let size = tool::run(&tool::words(&["blockdev", "--getsize64", device]));
    let size = size
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .map(Bytes);
    Ok(Description { size, holds })
}

fn not_mounted(device: &str, path: &Path, number: (u64, u64)) -> Result<(), String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo");
    let mounts = mounts.map_err(|error| format!("failed to read what is mounted: {error}"))?;
    let is_of = |mount: &file_systems::Mount| {
        let source = fs::canonicalize(&mount.source);
        mount.device == number || source.is_ok_and(|source| source == path)
    };
    match file_systems::parse(&mounts)
        .iter()
        .find(|mount| is_of(mount))
    {
        Some(mount) => Err(format!("{device} is mounted at {}", mount.point.display())),
        None => Ok(()),
    }
}

fn not_swap(device: &str, number: (u64, u64)) -> Result<(), String> {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let is_it = |line: &str| {
        let path = line.split_whitespace().next().unwrap_or_default();
        fs::metadata(path).is_ok_and(|there| {
            there.file_type().is_block_device()
                && (
                    u64::from(rustix::fs::major(there.rdev())),
                    u64::from(rustix::fs::minor(there.rdev())),
                ) == number
        })
    };
    if swaps.lines().skip(1).any(is_it) {
        return Err(format!("{device} is swap space in use"));
    }
    Ok(())
}

/// Devices made of it, and partitions on it.
fn not_below_others(device: &str, (major, minor): (u64, u64)) -> Result<(), String> {
    let shown = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    if let Some(holder) = names(&shown.join("holders")).first() {
        return Err(format!(
            "{device} is part of {holder} (LVM, md, multipath or encryption)"
        ));
    }
    let has_partition = |name: &&String| shown.join(name).join("partition").exists();
    if let Some(partition) = names(&shown).iter().find(has_partition) {
        return Err(format!(
            "{device} has partitions ({partition}): name one of them, or remove them first"
        ));
    }
    Ok(())
}

/// What lies on it, for people to recognise; refused if it is a part of something.
fn signature(device: &str, path: &Path) -> Result<String, String> {
    let path = path.display().to_string();
    let found = match tool::run(&tool::words(&[
        "blkid", "--probe", "--output", "export", &path,
    ])) {
        Ok(found) => found,
        // blkid ends with 2 if it finds nothing.
        Err(tool::Error::Failed { how, .. }) if how.ends_with(": 2") => String::new(),
        Err(error) => return Err(format!("{device}: what is on it cannot be told: {error}")),
    };
    let value = |key: &str| {
        let of_key = |line: &str| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
        found.lines().find_map(of_key)
    };
    let kind = value("TYPE");
    let member = MEMBERS
        .iter()
        .find(|(name, _)| kind.as_deref() == Some(*name));
    if let Some((_, what)) = member {
        return Err(format!("{device} is {what}: take it out of there first"));
    }
    if let Some(table) = value("PTTYPE") {
        return Err(format!(
            "{device} has a partition table ({table}): name a partition, or remove the table first"
        ));
    }
    Ok(match (kind, value("LABEL")) {
        (Some(kind), Some(label)) => format!("{kind}, labelled {label}"),
        (Some(kind), None) => kind,
        (None, _) => "nothing that blkid knows".to_owned(),
    })
}

/// What is missing before these devices may be formatted: each must be confirmed by its name.
pub fn confirmed(named: &[String], confirmed: &[String]) -> Result<(), String> {
    let missing: Vec<&String> = named
        .iter()
        .filter(|device| !confirmed.contains(device))
        .collect();
    if !missing.is_empty() {
        let flags: Vec<String> = missing
            .iter()
            .map(|device| format!("--format {device}"))
            .collect();
        return Err(format!(
            "everything on {} would be lost: to confirm that, add {}",
            listed(&missing),
            flags.join(" ")
        ));
    }
    let unknown: Vec<&String> = confirmed
        .iter()
        .filter(|device| !named.contains(device))
        .collect();
    if !unknown.is_empty() {
        return Err(format!(
            "--format {}: the plan names no such device",
            listed(&unknown)
        ));
    }
    Ok(())
}

fn listed(names: &[&String]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_device_is_formatted_only_if_it_was_confirmed_by_its_name() {
        let both = names(&["/dev/sdb", "/dev/sdc"]);
        assert_eq!(confirmed(&both, &both), Ok(()));
        assert_eq!(confirmed(&[], &[]), Ok(()));
        let missing = confirmed(&both, &names(&["/dev/sdb"])).unwrap_err();
        assert!(missing.contains("add --format /dev/sdc"), "{missing}");
        let more = confirmed(&names(&["/dev/sdb"]), &both).unwrap_err();
        assert!(more.contains("names no such device"), "{more}");
    }

    #[test]
    fn what_is_no_device_or_is_mounted_is_refused() {
        assert!(check("/dev/null").unwrap_err().contains("no block device"));
        assert!(check("/dev/no-such-device").is_err());
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let on_device = |mount: &file_systems::Mount| {
            fs::metadata(&mount.source).is_ok_and(|there| there.file_type().is_block_device())
        };
        // Containers show no device of theirs.
        for mount in file_systems::parse(&mounts).into_iter().filter(on_device) {
            let refused = check(&mount.source).unwrap_err();
            assert!(refused.contains("is mounted at"), "{refused}");
        }
    }
}
