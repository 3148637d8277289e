//! WORK and utility directories left by jobs that were killed: named as SAS names them, marked by
//! Gristmill, made on this host by a process that is gone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::marker;

/// A directory that a killed job left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Where.
    pub path: PathBuf,
    /// The process that made it.
    pub process_id: u32,
    /// Bytes in it.
    pub bytes: u64,
}

/// Reads `SAS_work<serial><pid>_<host>` or `SAS_util…`; `None` for any other name.
pub fn session_of(name: &str) -> Option<(u32, &str)> {
    let rest = name
        .strip_prefix("SAS_work")
        .or_else(|| name.strip_prefix("SAS_util"))?;
    let (digits, host) = rest.split_once('_')?;
    let process_id = digits.get(digits.len().checked_sub(8)?..)?;
    Some((u32::from_str_radix(process_id, 16).ok()?, host))
}

/// Orphans directly below `parent`.
pub fn find(parent: &Path, host: &str) -> io::Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some((process_id, made_on)) =
            session_of(&name.to_string_lossy()).map(|(id, host)| (id, host.to_owned()))
        else {
            continue;
        };
        let path = entry.path();
        let gone = made_on == host && !::io::process::is_alive(process_id);
        if gone && marker::read(&path).is_some() {
            let files = match marker::files(&path) {
                // Another user's, in which nobody else may look.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
                other => other?,
            };
            let bytes = files.iter().map(|(_, bytes)| bytes).sum();
            orphans.push(Orphan {
                path,
                process_id,
                bytes,
            });
        }
    }
    orphans.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(orphans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_process_and_host() {
        assert_eq!(
            session_of("SAS_work4B8600001E4B_lly22auv"),
            Some((0x1E4B, "lly22auv"))
        );
        assert_eq!(session_of("SAS_util00010000001E4B_h"), Some((0x1E4B, "h")));
        assert_eq!(session_of("SAS_work_h"), None);
        assert_eq!(session_of("other"), None);
    }

    #[test]
    fn only_marked_directories_of_dead_processes_are_orphans() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, marked: bool| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            if marked {
                fs::write(path.join(marker::MARKER), "").unwrap();
            }
        };
        // No process has the largest id; 1 is always alive.
        make("SAS_work00017FFFFFFF_here", true);
        make("SAS_work00027FFFFFFF_here", false);
        make("SAS_work00037FFFFFFF_there", true);
        make("SAS_work000400000001_here", true);
        let found = find(parent.path(), "here").unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|orphan| orphan.path.file_name().unwrap())
            .collect();
        assert_eq!(names, ["SAS_work00017FFFFFFF_here"]);
    }
}
