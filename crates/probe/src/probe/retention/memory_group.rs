//! A group of processes whose memory is limited (cgroup, version 1 or 2), made below or beside the one that this
//! process is in. No other group is changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";

/// A group that goes when this does.
pub(super) struct MemoryGroup {
    path: PathBuf,
}

impl MemoryGroup {
    /// Makes one that may have so much memory; else says why not.
    pub(super) fn make(bytes: u64) -> Result<Self, String> {
        let groups = fs::read_to_string("/proc/self/cgroup")
            .map_err(|error| format!("/proc/self/cgroup cannot be read: {error}"))?;
        let mut tried = Vec::new();
        for (parent, limit) in candidates(&groups, Path::new(ROOT)) {
            match make_in(&parent, limit, bytes) {
                Ok(group) => return Ok(group),
                Err(error) => tried.push(format!("{}: {error}", parent.display())),
            }
        }
        if tried.is_empty() {
            return Err("this process is in no group whose memory is counted".to_owned());
        }
        Err(format!(
            "no group could be made in {}",
            tried.join(", nor in ")
        ))
    }

    /// Moves a process into it.
    pub(super) fn take(&self, process_id: u32) -> io::Result<()> {
        fs::write(self.path.join("cgroup.procs"), process_id.to_string())
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A process that has just ended is in it for a moment longer.
        for _ in 0..50 {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(Duration::from_millis(20));
                }
                _ => return,
            }
        }
    }
}

/// Groups in which one can be made, and the name of the limit there: in version 1 the own group, in version 2,
/// where a group with processes has no groups with limits, first the one above.
fn candidates(groups: &str, root: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        if controllers.split(',').any(|name| name == "memory") {
            found.push((root.join("memory").join(path), "memory.limit_in_bytes"));
        }
        if controllers.is_empty() {
            for root in [root.to_owned(), root.join("unified")] {
                let own = root.join(path);
                if let (Some(parent), false) = (own.parent(), path.is_empty()) {
                    found.push((parent.to_owned(), "memory.max"));
                }
                found.push((own, "memory.max"));
            }
        }
    }
    // Not all hosts have both.
    found.retain(|(path, _)| path.join("cgroup.procs").exists());
    found
}

fn make_in(parent: &Path, limit: &str, bytes: u64) -> io::Result<MemoryGroup> {
    let path = parent.join(format!("gristmill-probe-{}", std::process::id()));
    fs::create_dir(&path)?;
    let group = MemoryGroup { path };
    if !group.path.join(limit).exists() {
        let why = "memory is not among the controllers of its groups";
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    fs::write(group.path.join(limit), bytes.to_string())?;
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_made_where_both_versions_allow_it() {
        let root = tempfile::tempdir().unwrap();
        for group in ["memory/slurm/job_7", "user.slice/session", "user.slice"] {
            let path = root.path().join(group);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("cgroup.procs"), "").unwrap();
        }
        let found = |text: &str| -> Vec<(String, &str)> {
            let all = candidates(text, root.path()).into_iter();
            all.map(|(path, limit)| {
                let path = path.strip_prefix(root.path()).unwrap();
                (path.display().to_string(), limit)
            })
            .collect()
        };
        assert_eq!(
            found("5:cpu:/slurm\n4:memory:/slurm/job_7\n"),
            [("memory/slurm/job_7".to_owned(), "memory.limit_in_bytes")]
        );
        assert_eq!(
            found("0::/user.slice/session\n"),
            [
                ("user.slice".to_owned(), "memory.max"),
                ("user.slice/session".to_owned(), "memory.max")
            ]
        );
        assert!(found("").is_empty());
    }
}
