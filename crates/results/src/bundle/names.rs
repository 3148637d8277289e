//! The names that a run tells: hosts and the servers of its mounts, users, paths.

use std::path::Path;

use crate::audit::NodeAudit;
use crate::run::{Error, RunDirectory};

/// Names by what they are, as they were found: some more than once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) hosts: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) users: Vec<String>,
    pub(super) paths: Vec<String>,
    /// Numbers of boots, which tell a machine.
    pub(super) boots: Vec<String>,
}

/// Folders that every system has: paths below them tell nothing, and their own names stay.
const EVERYBODYS: [&str; 14] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/run", "/sys", "/tmp",
    "/usr", "/var",
];

/// Below these are files of the system, whose names are the same everywhere.
const SYSTEM: [&str; 7] = [
    "/dev/", "/etc/", "/lib/", "/proc/", "/run/", "/sys/", "/usr/",
];

/// Folders of which each is a user's.
const HOMES: [&str; 3] = ["home", "users", "Users"];

/// Options of mounts whose values are addresses end so.
const ADDRESS: &str = "addr=";

impl Names {
    /// Those of a run's nodes, directories, mounts and programs, and those that its audits tell.
    pub(super) fn of(directory: &RunDirectory) -> Result<Self, Error> {
        let mut names = Self::default();
        let plan = directory.plan()?;
        names.hosts.push(plan.node);
        names.hosts.extend(plan.nodes);
        let files = plan.sas.into_iter();
        let files = files.chain(plan.pacing.and_then(|pacing| pacing.file));
        let own =
            std::path::absolute(directory.path()).unwrap_or_else(|_| directory.path().to_owned());
        for path in plan.directories.into_values().chain(files).chain([own]) {
            names.paths.push(path.display().to_string());
        }
        for node in directory.nodes()? {
            if let Some(record) = directory.node(&node)? {
                for system in record.file_systems.into_values() {
                    names.hosts.extend(servers(&system.source));
                    names.sources.push(system.source);
                    names.paths.push(system.mount_point);
                }
                names.boots.extend(record.boot_id);
            }
            names.hosts.push(node);
        }
        for audit in directory.audits()? {
            names.audited(&audit);
            names.hosts.push(audit.node);
        }
        names.users = names.paths.iter().filter_map(|path| user(path)).collect();
        Ok(names)
    }

    /// Mounts of servers, their hosts and addresses, and paths in what an audit found.
    fn audited(&mut self, audit: &NodeAudit) {
        for one in &audit.findings {
            // The subject of a path is its role and the path.
            let texts = [
                one.subject.as_ref(),
                one.running.as_ref(),
                one.persisted.as_ref(),
            ];
            for text in texts.into_iter().flatten().chain(&one.evidence) {
                let values = text.split(ADDRESS).skip(1);
                self.hosts.extend(values.filter_map(|rest| {
                    let end = |letter: char| letter.is_whitespace() || ",;()\"'".contains(letter);
                    let value = rest.split(end).next()?;
                    (!value.is_empty()).then(|| value.to_owned())
                }));
                let apart = |letter: char| letter.is_whitespace() || ",;()=\"'".contains(letter);
                for word in text.split(apart) {
                    self.word(word);
                }
            }
        }
    }

    fn word(&mut self, word: &str) {
        let servers = servers(word);
        if !servers.is_empty() {
            self.hosts.extend(servers);
            self.sources.push(word.to_owned());
            return;
        }
        // A line of a file: `/etc/fstab:12`.
        let path = word
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_end_matches('/');
        let is_own = path.starts_with('/')
            && !EVERYBODYS.contains(&path)
            && !SYSTEM.iter().any(|system| path.starts_with(system));
        if is_own {
            self.paths.push(path.to_owned());
        }
    }
}

/// Hosts that something is mounted from: `nas:/export`, `//nas/share`, `10.0.0.1:6789,10.0.0.2:6789:/` (Ceph),
/// `mgs1@tcp:mgs2@tcp:/fs` (Lustre); none of a device.
fn servers(source: &str) -> Vec<String> {
    let hosts = match (source.strip_prefix("//"), source.split_once(":/")) {
        (Some(share), _) => share.split('/').next().unwrap_or_default(),
        (None, Some((hosts, _))) if !hosts.contains('/') => hosts,
        _ => return Vec::new(),
    };
    if let Some((address, _)) = hosts
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return vec![address.to_owned()];
    }
    hosts
        .split([',', ':'])
        .map(|host| host.split('@').next().unwrap_or_default())
        // Ports.
        .filter(|host| host.contains(|letter: char| !letter.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

/// Whose home a path is in.
fn user(path: &str) -> Option<String> {
    let mut parts = Path::new(path)
        .components()
        .map(std::path::Component::as_os_str);
    parts.find(|part| HOMES.iter().any(|home| part == home))?;
    parts.next().map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::AuditFinding;

    #[test]
    fn an_audit_tells_servers_addresses_and_paths_of_others() {
        let finding = AuditFinding {
            subject: Some("saswork /sas work/".to_owned()),
            running: Some("/home2 holds sasdata, mounted from nas02:/ifs/home".to_owned()),
            persisted: Some("rw,hard,mountaddr=10.1.2.3,addr=fd00::7 (/etc/fstab:12)".to_owned()),
            evidence: vec![
                "/proc/self/mountinfo:6".to_owned(),
                "[fd00::2]:/x".to_owned(),
            ],
            ..AuditFinding::default()
        };
        let mut names = Names::default();
        names.audited(&NodeAudit {
            findings: vec![finding],
            ..NodeAudit::default()
        });
        assert_eq!(names.hosts, ["nas02", "10.1.2.3", "fd00::7", "fd00::2"]);
        assert_eq!(names.sources, ["nas02:/ifs/home", "[fd00::2]:/x"]);
        assert_eq!(names.paths, ["/sas", "/home2"]);
    }

    #[test]
    fn servers_stand_in_front_of_what_is_mounted() {
        for (source, hosts) in [
            ("nas.corp.example:/vol/sas", &["nas.corp.example"][..]),
            ("//filer07/share/x", &["filer07"]),
            ("10.0.0.1:6789,10.0.0.2:6789:/", &["10.0.0.1", "10.0.0.2"]),
            ("mgs1@tcp:mgs2@tcp:/fs", &["mgs1", "mgs2"]),
            ("/dev/mapper/vg-lv", &[]),
            ("gpfs0", &[]),
            ("tmpfs", &[]),
        ] {
            assert_eq!(servers(source), hosts, "{source}");
        }
    }

    #[test]
    fn homes_tell_users() {
        assert_eq!(user("/export/home/ann/bench").as_deref(), Some("ann"));
        assert_eq!(user("/Users/bob").as_deref(), Some("bob"));
        assert_eq!(user("/home"), None);
        assert_eq!(user("/srv/homes/x"), None);
    }
}
