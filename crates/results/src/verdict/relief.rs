//! What of a limit was scarce, and which failing rules of the audit relieve that.
//!
//! A rule says what it relieves (`bottleneck`). It fits a limit if that was scarce there, if its mount, device or
//! path holds one of the directories behind the limit, and if it is for a file system of theirs.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::{AuditFinding, NodeAudit};
use crate::node::{FileSystemRecord, NodeRecord};
use crate::run::{ChannelResult, Limit};
use crate::sample::Sample;

use super::evidence::Facts;
use super::limit::{busy, directory, job_seconds};

/// What takes this share of the time, or of the bytes, was scarce.
const SHARE_MIN: f64 = 0.25;

/// Memory was scarce if some process waited for it for this share of the time.
const MEMORY_STALL_MIN: f64 = 0.10;

/// Calls of a server that move fewer bytes each are not those of reading and writing data.
const CALL_BYTES_MIN: f64 = 16_384.0;

/// Says of a limit what was scarce, which directories are behind it, and what relieves it.
pub(super) fn complete(limit: &mut Limit, facts: &Facts<'_>) {
    let of_node =
        |record: &&NodeRecord| limit.node.as_ref().is_none_or(|node| *node == record.node);
    let record = facts.nodes.iter().find(of_node);
    limit.directories = directories(limit, record);
    let scarce = scarce(limit, facts.samples, facts.channels);
    limit.scarce = scarce.into_iter().map(str::to_owned).collect();
    limit.rules = rules(limit, record, facts.audits);
}

/// The name of what limited, without that of its node or of its storage.
fn what(limit: &Limit) -> &str {
    let node = limit.node.as_deref().unwrap_or_default();
    let of_node = limit.name.strip_suffix(node);
    let of_node = of_node.and_then(|name| name.strip_suffix(" of "));
    let channel = || limit.name.split(" (").next().unwrap_or_default();
    of_node.unwrap_or_else(channel)
}

fn directories(limit: &Limit, record: Option<&NodeRecord>) -> Vec<String> {
    let what = what(limit);
    if limit.kind == "channel" {
        return vec![directory(what).to_owned()];
    }
    let is_behind = |system: &FileSystemRecord| match &*limit.kind {
        "cpu" => true,
        "device" => system.devices.iter().any(|device| device == what),
        "server" => system.mount_point == what,
        // What is in memory goes over no link, nor what is on devices of the node.
        "link" => system.devices.is_empty() && !system.is_in_memory(),
        _ => false,
    };
    let all = record.iter().flat_map(|record| &record.file_systems);
    all.filter(|(_, system)| is_behind(system))
        .map(|(name, _)| name.clone())
        .collect()
}

fn scarce(
    limit: &Limit,
    samples: &[(String, Vec<Sample>)],
    channels: &BTreeMap<String, ChannelResult>,
) -> BTreeSet<&'static str> {
    let mut found = match &*limit.kind {
        "cpu" => BTreeSet::from(["cpu"]),
        "link" => BTreeSet::from(["network"]),
        "device" => of_device(limit, samples),
        "server" => of_server(limit, samples),
        _ => BTreeSet::new(),
    };
    if matches!(&*limit.kind, "device" | "server" | "channel") {
        let is_behind = |name: &str| limit.directories.iter().any(|one| one == directory(name));
        let behind = channels.iter().filter(|(name, _)| is_behind(name));
        found.extend(of_channels(behind.map(|(_, channel)| channel)));
    }
    if memory_stalls(limit, samples) {
        found.insert("memory");
    }
    found
}

/// The larger parts of a whole.
fn parts(all: &[(&'static str, f64)]) -> BTreeSet<&'static str> {
    let sum: f64 = all.iter().map(|(_, part)| part).sum();
    let is_large = |(_, part): &&(&str, f64)| sum > 0.0 && part / sum >= SHARE_MIN;
    all.iter().filter(is_large).map(|(name, _)| *name).collect()
}

/// Samples of the limit's node in which jobs were running.
fn of_node<'a>(
    limit: &'a Limit,
    samples: &'a [(String, Vec<Sample>)],
) -> impl Iterator<Item = &'a Sample> {
    let is_its = |node: &String| limit.node.as_ref().is_none_or(|one| one == node);
    busy(samples)
        .filter(move |(node, _)| is_its(node))
        .map(|(_, sample)| sample)
}

/// By the time that requests took.
fn of_device(limit: &Limit, samples: &[(String, Vec<Sample>)]) -> BTreeSet<&'static str> {
    let all = of_node(limit, samples).filter_map(|sample| sample.devices.get(what(limit)));
    let (reads, writes) = all.fold((0.0, 0.0), |sum, one| {
        (sum.0 + one.read_s, sum.1 + one.write_s)
    });
    parts(&[("reads", reads), ("writes", writes)])
}

/// By the bytes that calls moved, and by how little each moved.
fn of_server(limit: &Limit, samples: &[(String, Vec<Sample>)]) -> BTreeSet<&'static str> {
    let all = of_node(limit, samples).filter_map(|sample| sample.mounts.get(what(limit)));
    let (reads, writes, calls) = all.fold((0.0, 0.0, 0.0), |sum, one| {
        (
            sum.0 + one.read_bytes as f64,
            sum.1 + one.write_bytes as f64,
            sum.2 + one.operations as f64,
        )
    });
    let mut found = parts(&[("reads", reads), ("writes", writes)]);
    if calls > 0.0 && (reads + writes) / calls < CALL_BYTES_MIN {
        found.insert("metadata");
    }
    found
}

/// By the time that jobs were inside operations.
fn of_channels<'a>(channels: impl Iterator<Item = &'a ChannelResult>) -> BTreeSet<&'static str> {
    let mut seconds: BTreeMap<&'static str, f64> = BTreeMap::new();
    for (operation, s) in channels.flat_map(|channel| &channel.operation_s) {
        let group = match &**operation {
            "read" => "reads",
            // Network file systems write when files are closed.
            "write" | "header_rewrite" | "fsync" | "close" => "writes",
            "lock" | "unlock" => "locks",
            _ => "metadata",
        };
        *seconds.entry(group).or_default() += s;
    }
    parts(&seconds.into_iter().collect::<Vec<_>>())
}

fn memory_stalls(limit: &Limit, samples: &[(String, Vec<Sample>)]) -> bool {
    let (mut stalled, mut all) = (0.0, 0.0);
    for sample in of_node(limit, samples) {
        if let Some(s) = sample.pressure_s.get("memory_some") {
            stalled += s * sample.running as f64;
            all += job_seconds(sample);
        }
    }
    all > 0.0 && stalled / all >= MEMORY_STALL_MIN
}

fn rules(limit: &Limit, record: Option<&NodeRecord>, audits: &[NodeAudit]) -> Vec<AuditFinding> {
    let kinds: BTreeSet<&String> = limit
        .directories
        .iter()
        .filter_map(|name| Some(&record?.file_systems.get(name)?.kind))
        .collect();
    let fits = |one: &&AuditFinding| {
        let relieves = one
            .bottleneck
            .iter()
            .any(|name| limit.scarce.contains(name));
        let is_there = match &one.directories {
            Some(all) => all.iter().any(|name| limit.directories.contains(name)),
            None => {
                let kinds_of_rule = &one.file_systems;
                kinds_of_rule.is_empty() || kinds_of_rule.iter().any(|kind| kinds.contains(kind))
            }
        };
        one.result == "fail" && relieves && is_there
    };
    let mut found: Vec<AuditFinding> = audits
        .iter()
        .filter(|audit| limit.node.as_ref().is_none_or(|node| *node == audit.node))
        .flat_map(|audit| audit.findings.iter().filter(fits).cloned())
        .collect();
    found.sort_by(|left, right| left.place().cmp(&right.place()));
    for one in &mut found {
        // The audit beside it has the rest.
        one.why = String::new();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{DeviceSample, MountSample};

    fn system(point: &str, kind: &str, devices: &[&str]) -> FileSystemRecord {
        FileSystemRecord {
            mount_point: point.to_owned(),
            kind: kind.to_owned(),
            devices: devices.iter().map(|name| (*name).to_owned()).collect(),
            ..FileSystemRecord::default()
        }
    }

    /// Data on NFS, WORK on a volume over two disks.
    fn node() -> NodeRecord {
        NodeRecord {
            node: "n1".to_owned(),
            file_systems: [
                ("data".to_owned(), system("/sas", "nfs4", &[])),
                ("output".to_owned(), system("/sas", "nfs4", &[])),
                ("work".to_owned(), system("/w", "xfs", &["dm-0", "sda"])),
                ("util".to_owned(), system("/w", "xfs", &["dm-0", "sda"])),
            ]
            .into(),
            ..NodeRecord::default()
        }
    }

    fn finding(id: &str, relieves: &[&str], directories: Option<&[&str]>) -> AuditFinding {
        let texts = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        AuditFinding {
            id: id.to_owned(),
            result: "fail".to_owned(),
            severity: "high".to_owned(),
            bottleneck: texts(relieves),
            directories: directories.map(texts),
            ..AuditFinding::default()
        }
    }

    /// Rules on read-ahead of both mounts and of another, and some for the host.
    fn audit() -> NodeAudit {
        let mut passes = finding("PASSES", &["reads", "writes"], None);
        passes.result = "pass".to_owned();
        let mut nfs = finding("SLOTS", &["reads", "writes"], None);
        nfs.file_systems = vec!["nfs".to_owned(), "nfs4".to_owned()];
        let mut swap = finding("SWAP", &["memory"], None);
        swap.severity = "critical".to_owned();
        NodeAudit {
            node: "n1".to_owned(),
            findings: vec![
                finding("AHEAD-NFS", &["reads"], Some(&["data", "output"])),
                finding("AHEAD-DISK", &["reads"], Some(&["work", "util"])),
                finding("AHEAD-OTHER", &["reads"], Some(&[])),
                finding("DIRTY", &["writes"], None),
                finding("GOVERNOR", &["cpu"], None),
                finding("LOCKS", &[], Some(&["data"])),
                finding("MTU", &["network", "cpu"], None),
                passes,
                nfs,
                swap,
            ],
            ..NodeAudit::default()
        }
    }

    fn limit(kind: &str, name: &str) -> Limit {
        Limit {
            kind: kind.to_owned(),
            name: name.to_owned(),
            node: Some("n1".to_owned()),
            ..Limit::default()
        }
    }

    /// Directories, what was scarce, and the rules that fit.
    fn completed(
        mut limit: Limit,
        sample: Sample,
        channels: &[(&str, &str, f64)],
    ) -> (String, String, String) {
        let mut all: BTreeMap<String, ChannelResult> = BTreeMap::new();
        for (channel, operation, s) in channels {
            let channel = all.entry((*channel).to_owned()).or_default();
            channel.operation_s.insert((*operation).to_owned(), *s);
        }
        let sample = Sample {
            running: 1,
            interval_s: 1.0,
            ..sample
        };
        let (record, audits) = (node(), [audit()]);
        let samples = [("n1".to_owned(), vec![sample])];
        limit.directories = directories(&limit, Some(&record));
        let scarce = scarce(&limit, &samples, &all);
        limit.scarce = scarce.into_iter().map(str::to_owned).collect();
        let ids = rules(&limit, Some(&record), &audits);
        let ids: Vec<String> = ids.into_iter().map(|one| one.id).collect();
        (
            limit.directories.join(" "),
            limit.scarce.join(" "),
            ids.join(" "),
        )
    }

    fn is(found: &(String, String, String), wanted: [&str; 3]) {
        assert_eq!([&*found.0, &*found.1, &*found.2], wanted);
    }

    #[test]
    fn a_device_that_reads_is_relieved_by_read_ahead_of_its_mount() {
        let device = DeviceSample {
            read_s: 9.0,
            write_s: 1.0,
            ..DeviceSample::default()
        };
        let sample = Sample {
            devices: [("sda".to_owned(), device)].into(),
            ..Sample::default()
        };
        let found = completed(limit("device", "sda of n1"), sample, &[]);
        is(&found, ["util work", "reads", "AHEAD-DISK"]);
    }

    #[test]
    fn what_jobs_waited_for_counts_beside_what_the_device_did() {
        let device = DeviceSample {
            read_s: 1.0,
            ..DeviceSample::default()
        };
        let sample = Sample {
            devices: [("dm-0".to_owned(), device)].into(),
            pressure_s: [("memory_some".to_owned(), 0.5)].into(),
            ..Sample::default()
        };
        let channels = [
            ("work", "write", 3.0),
            ("work", "rename", 0.1),
            ("input", "lock", 9.0),
        ];
        let found = completed(limit("device", "dm-0 of n1"), sample, &channels);
        let wanted = ["util work", "memory reads writes", "SWAP AHEAD-DISK DIRTY"];
        is(&found, wanted);
    }

    #[test]
    fn a_server_is_relieved_by_rules_of_its_mount_and_kind() {
        let mount = MountSample {
            read_bytes: 1_000_000,
            operations: 1_000,
            ..MountSample::default()
        };
        let sample = Sample {
            mounts: [("/sas".to_owned(), mount)].into(),
            ..Sample::default()
        };
        let found = completed(limit("server", "/sas of n1"), sample, &[]);
        is(&found, ["data output", "metadata reads", "AHEAD-NFS SLOTS"]);
    }

    #[test]
    fn processors_links_and_channels_have_rules_of_their_own() {
        let none = Sample::default;
        let found = completed(limit("cpu", "n1"), none(), &[]);
        is(&found, ["data output util work", "cpu", "GOVERNOR MTU"]);
        let found = completed(limit("link", "eth0 of n1"), none(), &[]);
        is(&found, ["data output", "network", "MTU"]);
        let channels = [
            ("work", "read", 3.0),
            ("work", "close", 2.0),
            ("input", "lock", 9.0),
        ];
        let found = completed(limit("channel", "work (xfs on dm-0)"), none(), &channels);
        is(&found, ["work", "reads writes", "AHEAD-DISK DIRTY"]);
        let found = completed(limit("job_class", "sorts"), none(), &channels);
        is(&found, ["", "", ""]);
    }

    #[test]
    fn another_node_is_not_mended() {
        let mut limit = limit("cpu", "n2");
        limit.node = Some("n2".to_owned());
        limit.scarce = vec!["cpu".to_owned()];
        assert!(rules(&limit, None, &[audit()]).is_empty());
    }
}
