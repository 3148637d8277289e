//! Limits of the control groups that this process is in, every ancestor counted: Slurm, systemd and
//! containers put them at different levels. Both versions of the hierarchy.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";

/// Processors that the groups allow; `None` if they set no limit.
pub(crate) fn processors() -> Option<f64> {
    let unified = files("", "cpu.max")
        .iter()
        .filter_map(|text| quota(text))
        .reduce(f64::min);
    let periods = files("cpu", "cpu.cfs_period_us");
    let quotas = files("cpu", "cpu.cfs_quota_us");
    let older = quotas
        .iter()
        .zip(&periods)
        .filter_map(|(quota_us, period_us)| {
            quota(&format!("{} {}", quota_us.trim(), period_us.trim()))
        });
    older.chain(unified).reduce(f64::min)
}

/// The list of processors that the group's own cpuset gives (`0-3,8`); `None` if it has none.
pub(crate) fn cpuset() -> Option<String> {
    let older = ["cpuset.effective_cpus", "cpuset.cpus"].map(|file| files("cpuset", file));
    let unified = files("", "cpuset.cpus.effective");
    let mut all = older.into_iter().chain([unified]).flatten();
    all.find(|list| !list.trim().is_empty())
}

/// Memory that the groups allow, bytes; `None` if they set no limit.
pub(crate) fn memory() -> Option<u64> {
    let limits = [
        files("", "memory.max"),
        files("memory", "memory.limit_in_bytes"),
    ];
    limits
        .iter()
        .flatten()
        .filter_map(|text| text.trim().parse().ok())
        .min()
}

/// "200000 100000" to 2 processors; "max 100000" and "-1 100000" are no limit.
fn quota(text: &str) -> Option<f64> {
    let mut fields = text.split_ascii_whitespace();
    let (quota, period): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (period > 0.0 && quota > 0.0).then(|| quota / period)
}

/// Contents of `file` in this process's group of `controller` (empty for the unified hierarchy) and
/// in all its ancestors.
fn files(controller: &str, file: &str) -> Vec<String> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(group) = group_of(&groups, controller) else {
        return Vec::new();
    };
    let root = Path::new(ROOT).join(controller);
    ancestors(&root, &group)
        .iter()
        .filter_map(|directory| fs::read_to_string(directory.join(file)).ok())
        .collect()
}

/// The path of a controller's group in `/proc/self/cgroup`, whose lines are `4:memory:/slurm/job_1`
/// or `0::/user`.
fn group_of(groups: &str, controller: &str) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        controllers
            .split(',')
            .any(|name| name == controller)
            .then(|| path.to_owned())
    })
}

fn ancestors(root: &Path, group: &str) -> Vec<PathBuf> {
    let group = Path::new(group.trim_start_matches('/'));
    group.ancestors().map(|part| root.join(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_in_both_hierarchies() {
        let groups = "5:cpu,cpuacct:/slurm/job_7\n4:memory:/slurm/job_7/step_0\n0::/user.slice\n";
        assert_eq!(group_of(groups, "memory").unwrap(), "/slurm/job_7/step_0");
        assert_eq!(group_of(groups, "cpu").unwrap(), "/slurm/job_7");
        assert_eq!(group_of(groups, "").unwrap(), "/user.slice");
        assert_eq!(group_of(groups, "blkio"), None);
    }

    #[test]
    fn limits_of_all_ancestors_are_looked_at() {
        let found = ancestors(Path::new("/r"), "/a/b");
        assert_eq!(found, ["/r/a/b", "/r/a", "/r/"].map(PathBuf::from));
    }

    #[test]
    fn no_limit_is_not_a_limit() {
        assert_eq!(quota("250000 100000"), Some(2.5));
        assert_eq!(quota("max 100000"), None);
        assert_eq!(quota("-1 100000"), None);
    }
}
