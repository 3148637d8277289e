//! The audit of the node before a run: what the `host` room finds, as run directories keep it.
//!
//! It only reads, ends in time whatever the node does, and is over before anything is measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use host::audit::catalogue::Catalogue;
use host::audit::fleet::word;
use host::audit::{Finding, Outcome, Rule, Site, judge};
use host::facts::collect::{Given, collect};
use host::facts::{Facts, Key, Root, Value};
use results::audit::{AuditFinding, NodeAudit, SCHEMA};
use results::node::NodeRecord;

/// What is not read after so long is not read: a server that does not answer holds up each command.
const TIME_MAX: Duration = Duration::from_secs(20);

/// A file that never ends is waited for no longer.
const PATIENCE: Duration = Duration::from_secs(25);

/// What the run's directories are for SAS.
const ROLES: [(&str, &str); 4] = [
    ("data", "sasdata"),
    ("output", "sasdata"),
    ("work", "saswork"),
    ("util", "utilloc"),
];

/// Audits this node, whose directories are those of the run; the error says why that was not done.
pub fn live(node: &NodeRecord, directories: &[(&str, &Path)]) -> Result<NodeAudit, String> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let paths: BTreeMap<String, String> = directories
        .iter()
        .map(|(name, path)| ((*name).to_owned(), real(path).display().to_string()))
        .collect();
    let (node, (tell, told)) = (node.clone(), mpsc::channel());
    let work = move || {
        // Nobody listens any more if this took too long.
        let _ = tell.send(audited(&Root::live(), &node, &paths, TIME_MAX));
    };
    thread::Builder::new()
        .name("audit".to_owned())
        .spawn(work)
        .map_err(|error| error.to_string())?;
    match told.recv_timeout(PATIENCE) {
        Ok(audit) => audit,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(format!("it did not end within {} s", PATIENCE.as_secs()))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("it ended early".to_owned()),
    }
}

/// The audit of a root on which the run's directories have these paths.
fn audited(
    root: &Root,
    node: &NodeRecord,
    paths: &BTreeMap<String, String>,
    time_max: Duration,
) -> Result<NodeAudit, String> {
    let began = Instant::now();
    let role = |(name, role): &(&str, &str)| Some(((*role).to_owned(), paths.get(*name)?.clone()));
    let given = Given {
        paths: ROLES.iter().filter_map(role).collect(),
        of_run: true,
        until: Some(began + time_max),
        ..Given::default()
    };
    let site = Site {
        host_roles: vec!["compute".to_owned()],
        ..Site::default()
    };
    let catalogue = Catalogue::built_in().map_err(|error| error.to_string())?;
    let facts = collect(root, &given).map_err(|error| error.to_string())?;
    let found = judge(&catalogue, &facts, &site);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for finding in &found {
        *counts.entry(word(finding.result).to_owned()).or_default() += 1;
    }
    let places = Places::of(node, paths, &facts);
    let kept = found
        .into_iter()
        .filter(|finding| finding.result != Outcome::NotApplicable);
    let findings = kept.map(|finding| {
        let rule = catalogue.rules.get(&finding.id);
        let directories = finding.subject.as_deref();
        let directories = directories.and_then(|subject| places.directories(subject));
        record(finding, rule, directories)
    });
    let not_read = facts.running(&Key::plain("audit", "not_read"));
    Ok(NodeAudit {
        schema: SCHEMA.to_owned(),
        node: node.node.clone(),
        counts,
        findings: findings.collect(),
        not_read: not_read.map(Value::texts).unwrap_or_default(),
        took_s: began.elapsed().as_secs_f64(),
    })
}

fn record(finding: Finding, rule: Option<&Rule>, directories: Option<Vec<String>>) -> AuditFinding {
    let relieves = rule.and_then(|rule| rule.bottleneck.as_ref());
    let relieves = relieves.into_iter().flatten();
    AuditFinding {
        id: finding.id,
        subject: finding.subject,
        directories,
        result: word(finding.result).to_owned(),
        severity: finding.severity.name().to_owned(),
        title: finding.title,
        bottleneck: relieves.map(|one| one.name().to_owned()).collect(),
        file_systems: rule.map_or_else(Vec::new, |rule| rule.applies.fs.clone()),
        expected: finding.expected,
        running: finding.running,
        persisted: finding.persisted,
        evidence: finding.evidence,
        why: finding.why,
    }
}

/// Names by which findings call a mount, device or path, with the run's directories that it holds.
struct Places(BTreeMap<String, Vec<String>>);

impl Places {
    fn of(node: &NodeRecord, paths: &BTreeMap<String, String>, facts: &Facts) -> Self {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        // Whatever is there is somewhere, and most of it holds nothing of the run.
        for class in ["mount", "path", "block", "map", "lv", "dm"] {
            for subject in facts.subjects(class) {
                places.entry(subject.to_owned()).or_default();
            }
        }
        let mut holds = |place: String, name: &str| {
            let names = places.entry(place).or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        for (name, role) in ROLES {
            if let Some(path) = paths.get(name) {
                holds(format!("{role} {path}"), name);
            }
        }
        for (name, system) in &node.file_systems {
            holds(system.mount_point.clone(), name);
            for device in &system.devices {
                holds(device.clone(), name);
                // Maps of multipath and volumes have names of their own.
                if let Some(mapped) = facts.text("block", device, "mapper_name") {
                    for volume in facts.subjects("lv") {
                        if mapper_name(volume) == mapped {
                            holds(volume.to_owned(), name);
                        }
                    }
                    holds(mapped, name);
                }
            }
        }
        Self(places)
    }

    /// The run's directories that a subject holds; `None` if it is nothing that could hold any.
    fn directories(&self, subject: &str) -> Option<Vec<String>> {
        self.0.get(subject).cloned()
    }
}

/// The name of the device of a volume: `vg/a-b` is `vg-a--b`.
fn mapper_name(volume: &str) -> String {
    volume.replace('-', "--").replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::node::FileSystemRecord;

    const FILES: [(&str, &str); 9] = [
        (
            "proc/self/mountinfo",
            "21 1 8:1 / / rw,relatime - xfs /dev/sda1 rw\n\
             30 21 253:2 / /w rw,noatime - xfs /dev/mapper/vg-work rw\n\
             31 21 253:3 / /other rw,noatime - xfs /dev/mapper/vg-other rw\n\
             40 21 0:51 / /sas rw,relatime - nfs4 nas1:/sas rw,vers=4.2,hard,local_lock=none\n",
        ),
        ("proc/sys/vm/swappiness", "60\n"),
        ("sys/block/dm-2/dm/name", "vg-work\n"),
        ("sys/block/dm-2/dev", "253:2\n"),
        ("sys/block/dm-2/queue/read_ahead_kb", "128\n"),
        ("sys/block/dm-3/dm/name", "vg-other\n"),
        ("sys/block/dm-3/dev", "253:3\n"),
        ("sys/block/dm-3/queue/read_ahead_kb", "8192\n"),
        ("sys/class/bdi/0:51/read_ahead_kb", "128\n"),
    ];

    fn node() -> NodeRecord {
        let system = |point: &str, kind: &str, devices: &[&str]| FileSystemRecord {
            mount_point: point.to_owned(),
            kind: kind.to_owned(),
            devices: devices.iter().map(|name| (*name).to_owned()).collect(),
            ..FileSystemRecord::default()
        };
        NodeRecord {
            node: "n1".to_owned(),
            file_systems: [
                ("data".to_owned(), system("/sas", "nfs4", &[])),
                ("output".to_owned(), system("/sas", "nfs4", &[])),
                ("work".to_owned(), system("/w", "xfs", &["dm-2"])),
                ("util".to_owned(), system("/w", "xfs", &["dm-2"])),
            ]
            .into(),
            ..NodeRecord::default()
        }
    }

    fn audit(time_max: Duration) -> NodeAudit {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let paths = [
            ("data", "/sas/bench"),
            ("output", "/sas/bench"),
            ("work", "/w"),
            ("util", "/w"),
        ];
        let paths = paths.map(|(name, path)| (name.to_owned(), path.to_owned()));
        audited(&Root::tree(folder.path()), &node(), &paths.into(), time_max).unwrap()
    }

    #[test]
    fn findings_know_the_directories_of_the_run() {
        let audit = audit(TIME_MAX);
        let of = |id: &str| {
            let mut all = audit.findings.iter();
            all.find(|one| one.id == id && one.result == "fail")
                .unwrap_or_else(|| panic!("{id} fails: {:?}", audit.findings))
        };
        let directories = |id: &str| of(id).directories.as_ref().map(|all| all.join(" "));
        assert_eq!(directories("NFS-101").as_deref(), Some("data output"));
        assert_eq!(directories("BLK-117").as_deref(), Some("util work"));
        assert_eq!(directories("VM-105"), None);
        assert_eq!(of("VM-105").bottleneck, ["memory"]);
        assert_eq!(of("NFS-101").file_systems, ["nfs", "nfs4"]);
        assert_eq!(of("NFS-101").running.as_deref(), Some("128"));
        assert!(audit.not_read.is_empty());
        let kept = audit.findings.len() as u64;
        let all: u64 = audit.counts.values().sum();
        assert_eq!(kept, all - audit.counts["not_applicable"]);
    }

    #[test]
    fn what_is_not_read_in_time_is_named_and_unknown() {
        let audit = audit(Duration::ZERO);
        assert!(audit.not_read.iter().any(|name| name == "mountinfo"));
        assert_eq!(audit.counts.get("fail"), None);
    }

    #[test]
    fn volumes_are_known_by_both_names() {
        assert_eq!(mapper_name("vg_sas/lv-work"), "vg_sas-lv--work");
    }
}
