//! What Gristmill staged or left below a directory, and its removal.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host::file_systems::{self, Mount};

use crate::marker::{self, Holds};
use crate::matrix::journal;
use crate::orphans::session_of;

/// How deep marked folders are looked for.
const DEPTH_MAX: usize = 8;

/// A marked folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// What it holds.
    pub holds: Holds,
    /// Bytes of all files in it.
    pub bytes: u64,
    /// Files in it.
    pub files: u64,
    /// True if the session that made it may still be at work: it is not removed.
    pub in_use: bool,
}

/// Marked folders at or below `directory`, sorted by path; links are not followed.
pub fn find(directory: &Path, host: &str) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    look(directory, host, 0, &mut found)?;
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

fn look(directory: &Path, host: &str, depth: usize, found: &mut Vec<Found>) -> io::Result<()> {
    if let Some(holds) = marker::read(directory) {
        let files = marker::files(directory)?;
        let name = directory
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let in_use = match session_of(&name) {
            Some((process_id, made_on)) => made_on != host || ::io::process::is_alive(process_id),
            // What a series changed on the host is known to its folder alone.
            None if holds == Holds::Matrix && has_changes(directory)? => true,
            None => marker::is_in_use(directory) || holds_one_in_use(directory)?,
        };
        found.push(Found {
            path: directory.to_owned(),
            holds,
            bytes: files.iter().map(|(_, bytes)| bytes).sum(),
            files: files.len() as u64,
            in_use,
        });
        return Ok(());
    }
    if depth == DEPTH_MAX {
        return Ok(());
    }
    let entries = match fs::read_dir(directory) {
        Err(error) if depth > 0 && is_passed_over(&error) => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            look(&entry.path(), host, depth + 1, found)?;
        }
    }
    Ok(())
}

/// True if a folder within this one is in use.
fn holds_one_in_use(directory: &Path) -> io::Result<bool> {
    let mut waiting = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(error) if is_passed_over(&error) => continue,
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            if depth == DEPTH_MAX || !entry.file_type()?.is_dir() {
                continue;
            }
            if marker::is_in_use(&entry.path()) {
                return Ok(true);
            }
            waiting.push((entry.path(), depth + 1));
        }
    }
    Ok(false)
}

/// True if a series has changed something that it has not put back.
fn has_changes(directory: &Path) -> io::Result<bool> {
    let boot = journal::boot_id()?;
    Ok(!journal::pending(directory, &boot)?.is_empty())
}

/// Folders that nobody may read, and those that vanished meanwhile.
fn is_passed_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound
    )
}

/// Removes a marked folder, its marker last: what is cut short can be cleaned again. Nobody takes it into use
/// meanwhile.
pub fn remove(found: &Found) -> io::Result<()> {
    if marker::read(&found.path).is_none() {
        let message = format!(
            "{} is not marked as made by Gristmill",
            found.path.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let held = match found.holds {
        // Sessions do not lock theirs.
        Holds::Work => None,
        _ => Some(marker::hold(&found.path)?),
    };
    without_mounts(&found.path)?;
    for entry in fs::read_dir(&found.path)? {
        let entry = entry?;
        if entry.file_name() == marker::MARKER {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    // NFS and FUSE keep the name of a file that is open, and the folder would not be empty.
    drop(held);
    fs::remove_file(found.path.join(marker::MARKER))?;
    fs::remove_dir(&found.path)
}

/// Removes a directory and all below it, but nothing that lies on what is mounted there.
pub(crate) fn remove_tree(directory: &Path) -> io::Result<()> {
    without_mounts(directory)?;
    fs::remove_dir_all(directory)
}

/// Refuses a directory in which something is mounted: its files are not ours.
fn without_mounts(directory: &Path) -> io::Result<()> {
    let directory = fs::canonicalize(directory)?;
    let mounts = file_systems::parse(&fs::read_to_string("/proc/self/mountinfo")?);
    let Some(mount) = mounted_below(&mounts, &directory) else {
        return Ok(());
    };
    let message = format!(
        "{} is mounted in it: unmount that first, nothing was removed",
        mount.point.display()
    );
    Err(io::Error::new(io::ErrorKind::CrossesDevices, message))
}

fn mounted_below<'a>(mounts: &'a [Mount], directory: &Path) -> Option<&'a Mount> {
    let below = |mount: &&Mount| mount.point != directory && mount.point.starts_with(directory);
    mounts.iter().find(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_in_a_folder_is_found() {
        let mounts = file_systems::parse(
            "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
             28 27 254:0 /precious /data/ours/in\\040it rw - ext4 /dev/vda rw\n\
             29 27 8:1 / /data/ours2 rw - xfs /dev/sda1 rw\n",
        );
        let found = |directory: &str| {
            let mount = mounted_below(&mounts, Path::new(directory));
            mount.map(|mount| mount.point.display().to_string())
        };
        assert_eq!(found("/data/ours").as_deref(), Some("/data/ours/in it"));
        assert_eq!(found("/data/ours2"), None);
        assert_eq!(found("/elsewhere"), None);
    }

    #[test]
    fn only_marked_folders_are_listed_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let ours = root.path().join("a/gristmill-large-sorts");
        marker::make(&ours, Holds::Data).unwrap();
        fs::write(ours.join("s1.sas7bdat"), [0; 100]).unwrap();
        let theirs = root.path().join("a/precious");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("x"), "x").unwrap();

        let found = find(root.path(), "here").unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].holds, found[0].files), (Holds::Data, 2));
        remove(&found[0]).unwrap();
        assert!(!ours.exists() && theirs.join("x").exists());
        assert!(remove(&found[0]).is_err());
    }

    #[test]
    fn a_folder_in_use_keeps_those_around_it() {
        let root = tempfile::tempdir().unwrap();
        let outer = root.path().join("gristmill-large-sorts");
        drop(marker::make(&outer, Holds::Data).unwrap());
        let inner = outer.join("runs/one");
        let held = marker::make(&inner, Holds::Run).unwrap();
        assert!(find(root.path(), "here").unwrap()[0].in_use);
        drop(held);
        let found = find(root.path(), "here").unwrap().remove(0);
        assert!(!found.in_use);
        // One that was taken since it was looked at.
        let held = marker::make(&outer, Holds::Data).unwrap();
        assert!(remove(&found).is_err() && inner.exists());
        drop(held);
        remove(&found).unwrap();
        assert!(!outer.exists());
    }

    #[test]
    fn a_folder_with_foreign_files_is_not_taken_over() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("x"), "x").unwrap();
        assert!(marker::make(root.path(), Holds::Data).is_err());
    }
}
