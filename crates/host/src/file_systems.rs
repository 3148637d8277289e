//! Which file system a directory is on, and which block devices are behind it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::fields::{number, unescaped};
use crate::{cifs, served};

/// Devices over devices over devices end here.
const DEPTH_MAX: u32 = 8;

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Number of its device; the major number is 0 where no block device is behind it directly.
    pub device: (u64, u64),
    /// Where it is mounted.
    pub point: PathBuf,
    /// `ext4`, `nfs4`, …
    pub kind: String,
    /// What is mounted there: a device, an export, a name.
    pub source: String,
    /// Options of the mount, then those of the file system that are not among them.
    pub options: Vec<String>,
}

impl Mount {
    /// The space that this mount may fill together with others of the same answer: subvolumes of a btrfs, data sets
    /// of a ZFS pool and exports of a server have device numbers of their own. `None`: it has its space for itself.
    pub fn pool(&self) -> Option<String> {
        let source = self.source.as_str();
        let pool = match self.kind.as_str() {
            "btrfs" => source,
            "zfs" => source.split('/').next().unwrap_or(source),
            "nfs" | "nfs4" => source.split_once(":/").map_or(source, |(server, _)| server),
            _ => return None,
        };
        Some(format!("{} {pool}", self.kind))
    }
}

/// Where the physical side of a file system can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Physical {
    /// Block devices by name, whole disks where they are partitions.
    Devices {
        /// Those that the file system is on: one, or all of a btrfs. What it moves is what all of them do.
        own: Vec<String>,
        /// Those below these.
        below: Vec<String>,
    },
    /// The mount counts for itself (NFS, CIFS).
    Mount,
    /// Nowhere; the text says why.
    Hidden(String),
}

/// The mounts of /proc/self/mountinfo, in the order in which they were made.
pub fn parse(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(mount).collect()
}

/// `27 1 254:0 / /mnt rw,relatime shared:1 - ext4 /dev/vda rw`.
pub(crate) fn mount(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split_ascii_whitespace().skip(2);
    let (major, minor) = head.next()?.split_once(':')?;
    let point = head.nth(1)?;
    let mut options = listed(head.next().unwrap_or_default());
    let mut tail = tail.split_ascii_whitespace();
    let (kind, source) = (tail.next()?, tail.next()?);
    for option in listed(tail.next().unwrap_or_default()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: (number(major)?, number(minor)?),
        point: PathBuf::from(unescaped(point)),
        kind: kind.to_owned(),
        source: unescaped(source),
        options,
    })
}

/// Options between commas; a comma in quotation marks (contexts of SELinux) separates nothing.
pub(crate) fn listed(options: &str) -> Vec<String> {
    let mut quoted = false;
    let parts = options.split(|letter| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    });
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The mount that a path is on; the path has no symbolic links left.
pub fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let depth = |mount: &Mount| mount.point.components().count();
    // Of two mounts at the same place the later one hides the earlier.
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| depth(mount))
}

/// The mount of a directory of this host, and where its physical side can be seen.
pub fn live(directory: &Path) -> Option<(Mount, Physical)> {
    live_at(directory, 0)
}

fn live_at(directory: &Path, depth: u32) -> Option<(Mount, Physical)> {
    let path = fs::canonicalize(directory).ok()?;
    let mounts = parse(&fs::read_to_string("/proc/self/mountinfo").ok()?);
    let mount = mount_of(&mounts, &path)?.clone();
    let physical = physical(&mount, depth);
    Some((mount, physical))
}

fn physical(mount: &Mount, depth: u32) -> Physical {
    let hidden = |why: &str| Physical::Hidden(format!("{} {why}", mount.kind));
    match mount.kind.as_str() {
        "nfs" | "nfs4" => return Physical::Mount,
        kind if cifs::KINDS.contains(&kind) && served::now(mount).is_some() => {
            return Physical::Mount;
        }
        kind if is_in_memory(kind) => return hidden("keeps files in memory"),
        "overlay" => return hidden("hides which file system files are on"),
        _ => {}
    }
    let sys = Path::new("/sys");
    let numbers = match mount.device {
        // btrfs shows a number of its own; its source is a device, which may be one of several.
        (0, _) if mount.source.starts_with("/dev/") => {
            let source = block_number(Path::new(&mount.source));
            source.map_or_else(Vec::new, |source| members(sys, source))
        }
        (0, _) => Vec::new(),
        known => vec![known],
    };
    if numbers.is_empty() {
        return hidden("does not tell what it reads and writes physically");
    }
    let (own, below) = devices(sys, &numbers, depth);
    if own.is_empty() {
        return hidden("is on a device that /sys does not show");
    }
    Physical::Devices { own, below }
}

/// Numbers of the devices of the btrfs that a device belongs to, that one first; itself if it belongs to none.
fn members(sys: &Path, source: (u64, u64)) -> Vec<(u64, u64)> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let numbers = |volume: fs::DirEntry| -> Vec<(u64, u64)> {
        entries(&volume.path().join("devices"))
            .filter_map(|device| number_in(&device.path().join("dev")))
            .collect()
    };
    let mut volumes = entries(&sys.join("fs/btrfs")).map(numbers);
    let found = volumes.find(|numbers| numbers.contains(&source));
    let mut found = found.unwrap_or_else(|| vec![source]);
    found.sort_unstable_by_key(|number| (*number != source, *number));
    found
}

/// Names of the whole devices that have these numbers, and of those below them.
fn devices(sys: &Path, numbers: &[(u64, u64)], depth: u32) -> (Vec<String>, Vec<String>) {
    let (mut own, mut below) = (Vec::new(), Vec::new());
    for number in numbers {
        let mut names = Vec::new();
        collect(sys, *number, depth, &mut names);
        let mut names = names.into_iter();
        own.extend(names.next().filter(|name| !own.contains(name)));
        below.extend(names);
    }
    let mut seen = own.clone();
    below.retain(|name| {
        let is_new = !seen.contains(name);
        seen.extend(is_new.then(|| name.clone()));
        is_new
    });
    (own, below)
}

/// Number of the block device that a path names.
fn block_number(path: &Path) -> Option<(u64, u64)> {
    let device = fs::metadata(path).ok()?.rdev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    (major != 0).then(|| (u64::from(major), u64::from(minor)))
}

/// Adds the name of the whole device that has `number`, then those below it: the disk of a
/// partition, members of a volume, the device behind the file of a loop device.
fn collect(sys: &Path, (major, minor): (u64, u64), depth: u32, names: &mut Vec<String>) {
    let link = sys.join(format!("dev/block/{major}:{minor}"));
    let Ok(mut device) = fs::canonicalize(link) else {
        return;
    };
    if device.join("partition").exists() {
        device.pop();
    }
    let Some(name) = device.file_name().map(|name| name.to_string_lossy()) else {
        return;
    };
    if depth > DEPTH_MAX || names.iter().any(|known| *known == name) {
        return;
    }
    names.push(name.into_owned());
    let slaves = fs::read_dir(device.join("slaves")).into_iter().flatten();
    let mut numbers: Vec<(u64, u64)> = slaves
        .filter_map(|entry| number_in(&entry.ok()?.path().join("dev")))
        .collect();
    numbers.sort_unstable();
    for number in numbers {
        collect(sys, number, depth + 1, names);
    }
    if let Ok(file) = fs::read_to_string(device.join("loop/backing_file")) {
        let below = Path::new(file.trim_end()).parent();
        if let Some((_, Physical::Devices { own, below })) =
            below.and_then(|path| live_at(path, depth + 1))
        {
            let all = own.into_iter().chain(below);
            let new = all.filter(|name| !names.contains(name));
            let new: Vec<String> = new.collect();
            names.extend(new);
        }
    }
}

/// `254:0` of a `dev` file.
fn number_in(file: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(file).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((number(major)?, number(minor)?))
}

/// True if `name` is a whole device of this host and no partition.
pub fn is_whole_device(name: &str) -> bool {
    // The kernel writes the slashes of names such as cciss/c0d0 as exclamation marks.
    Path::new("/sys/block")
        .join(name.replace('/', "!"))
        .exists()
}

/// Kinds of file systems, as mountinfo names them, that several nodes may have mounted at the same time.
const SHARED: [&str; 21] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "cvfs",
    "fuse.ceph",
    "fuse.glusterfs",
    "gfs2",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "quobyte",
    "smb3",
    "virtiofs",
    "vxclfs",
    "wekafs",
];

/// Whether a file system keeps files in memory and nowhere else.
pub fn is_in_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs")
}

/// Whether a file system of this kind can be one that nodes share.
pub fn is_shared(kind: &str) -> bool {
    SHARED.contains(&kind)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_deepest_and_latest_mount_counts() {
        let mounts = parse(include_str!("captured/mountinfo"));
        let of = |path: &str| {
            let mount = mount_of(&mounts, Path::new(path)).unwrap();
            (mount.kind.as_str(), mount.device)
        };
        assert_eq!(of("/data/x"), ("ext4", (254, 0)));
        assert_eq!(of("/sas work/a"), ("xfs", (253, 3)));
        assert_eq!(of("/sas workings"), ("ext4", (254, 0)));
        assert_eq!(of("/twice/a"), ("nfs4", (0, 61)));
        assert_eq!(mounts[0].source, "proc");
    }

    #[test]
    fn mounts_of_one_pool_are_known() {
        let of = |kind: &str, source: &str| {
            let line = format!("27 1 0:31 /@work /work rw - {kind} {source} rw");
            mount(&line).unwrap().pool()
        };
        assert_eq!(of("ext4", "/dev/sdb"), None);
        assert_eq!(of("btrfs", "/dev/sdb"), Some("btrfs /dev/sdb".to_owned()));
        assert_eq!(of("zfs", "tank/sas/work"), of("zfs", "tank"));
        assert_eq!(
            of("nfs4", "isilon:/ifs/work"),
            of("nfs4", "isilon:/ifs/data")
        );
        assert_ne!(
            of("nfs4", "isilon:/ifs/work"),
            of("nfs4", "other:/ifs/data")
        );
        assert_eq!(
            of("nfs", "[fd00::1]:/ifs"),
            Some("nfs [fd00::1]".to_owned())
        );
    }

    #[test]
    fn odd_lines_are_left_out() {
        assert!(parse("27 1 254:0 / /\n- ext4\n1 2 x:y / / rw - a b\n").is_empty());
        assert_eq!(mount_of(&[], Path::new("/")), None);
    }

    #[test]
    fn partitions_and_volumes_lead_to_their_disks() {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path();
        let make = |path: &str| fs::create_dir_all(sys.join(path)).unwrap();
        let write = |path: &str, text: &str| fs::write(sys.join(path), text).unwrap();
        for disk in ["devices/sda/sda2", "devices/sdb", "devices/dm-1/slaves"] {
            make(disk);
        }
        make("dev/block");
        write("devices/sda/sda2/partition", "2\n");
        write("devices/sda/sda2/dev", "8:2\n");
        write("devices/sdb/dev", "8:16\n");
        for (link, to) in [
            ("dev/block/8:2", "devices/sda/sda2"),
            ("dev/block/8:16", "devices/sdb"),
            ("dev/block/253:1", "devices/dm-1"),
            ("devices/dm-1/slaves/sda2", "devices/sda/sda2"),
            ("devices/dm-1/slaves/sdb", "devices/sdb"),
        ] {
            symlink(sys.join(to), sys.join(link)).unwrap();
        }
        let mut names = Vec::new();
        collect(sys, (253, 1), 0, &mut names);
        assert_eq!(names, ["dm-1", "sda", "sdb"]);
        names.clear();
        collect(sys, (9, 9), 0, &mut names);
        assert!(names.is_empty());
    }

    #[test]
    fn a_btrfs_is_on_all_of_its_devices() {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path();
        let make = |path: &str| fs::create_dir_all(sys.join(path)).unwrap();
        let link = |link: &str, to: &str| symlink(sys.join(to), sys.join(link)).unwrap();
        make("dev/block");
        for (device, number) in [
            ("devices/sda", "8:0"),
            ("devices/sda/sda1", "8:1"),
            ("devices/sda/sda2", "8:2"),
            ("devices/sdb", "8:16"),
            ("devices/dm-0", "253:0"),
        ] {
            make(device);
            fs::write(sys.join(device).join("dev"), format!("{number}\n")).unwrap();
            link(&format!("dev/block/{number}"), device);
        }
        for partition in ["sda1", "sda2"] {
            fs::write(
                sys.join(format!("devices/sda/{partition}/partition")),
                "1\n",
            )
            .unwrap();
        }
        make("devices/dm-0/slaves");
        link("devices/dm-0/slaves/sda", "devices/sda");
        link("devices/dm-0/slaves/sdb", "devices/sdb");
        make("fs/btrfs/features");
        for (volume, members) in [
            ("one", &["sda/sda1"][..]),
            ("two", &["dm-0", "sda/sda2", "sdb"][..]),
        ] {
            make(&format!("fs/btrfs/{volume}/devices"));
            for member in members {
                let name = member.rsplit('/').next().unwrap();
                let at = format!("fs/btrfs/{volume}/devices/{name}");
                link(&at, &format!("devices/{member}"));
            }
        }
        assert_eq!(members(sys, (8, 1)), [(8, 1)]);
        // Of no btrfs that is mounted.
        assert_eq!(members(sys, (8, 32)), [(8, 32)]);
        let two = members(sys, (8, 16));
        assert_eq!(two, [(8, 16), (8, 2), (253, 0)]);
        let (own, below) = devices(sys, &two, 0);
        assert_eq!((own.join(" "), below.len()), ("sdb sda dm-0".to_owned(), 0));
        let (own, below) = devices(sys, &[(253, 0)], 0);
        assert_eq!(
            (own.join(" "), below.join(" ")),
            ("dm-0".into(), "sda sdb".into())
        );
    }

    #[test]
    fn memory_and_exports_have_no_devices() {
        let mount = |kind: &str, source: &str| Mount {
            device: (0, 40),
            point: "/m".into(),
            kind: kind.to_owned(),
            source: source.to_owned(),
            options: Vec::new(),
        };
        assert_eq!(physical(&mount("nfs4", "a:/b"), 0), Physical::Mount);
        for (kind, source) in [("tmpfs", "tmpfs"), ("gpfs", "fs1"), ("fuse.s3", "s3")] {
            let found = physical(&mount(kind, source), 0);
            assert!(
                matches!(&found, Physical::Hidden(why) if why.starts_with(kind)),
                "{found:?}"
            );
        }
    }
}
