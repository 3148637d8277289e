//! What limited a run, as far as samples and step records tell.

use std::collections::{BTreeMap, BTreeSet};

use crate::node::{FileSystemRecord, NodeRecord};
use crate::run::{ChannelResult, JobResult, Limit};
use crate::sample::Sample;

/// From this share of their time on, processors, devices and links count as busy.
const BUSY: f64 = 0.90;

/// A link that carries this share of its speed is full: headers take the rest.
const LINK_FULL: f64 = 0.85;

/// Nodes on which something was busy must have had this share of the jobs' time: what held back fewer of them did not
/// limit the run.
const NODES_SHARE: f64 = 0.5;

/// Inside operations on a channel for less of their time, jobs were not limited by it.
const WAITED_SHARE: f64 = 0.25;

/// What was busy while jobs were running: processors first, since a run that they limit shows nothing of
/// storage, then links, the run's own devices and servers, and where none of them was the channel that jobs waited for
/// longest, if they waited long. Where all files are on devices a full link is most likely full of something else.
pub(super) fn of_run(
    samples: &[(String, Vec<Sample>)],
    jobs: &[JobResult],
    channels: &BTreeMap<String, ChannelResult>,
    nodes: &[NodeRecord],
) -> Option<Limit> {
    let on_devices = |node: &NodeRecord| {
        let mut all = node.file_systems.values();
        all.all(|one| !one.devices.is_empty())
    };
    let local = !nodes.is_empty() && nodes.iter().all(on_devices);
    processors(samples)
        .or_else(|| links(samples).filter(|_| !local))
        .or_else(|| devices(samples, nodes))
        .or_else(|| links(samples))
        .or_else(|| servers(samples, nodes))
        .or_else(|| waited_for(jobs, channels, nodes))
}

/// The class of jobs that was inside file operations for the largest share of its time.
pub(super) fn job_class(jobs: &[JobResult]) -> Option<Limit> {
    let mut classes: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for job in jobs {
        let (Some(class), Some(held_s), Some(busy_s)) = (&job.class, job.held_s(), job.busy_s())
        else {
            continue;
        };
        let sums = classes.entry(class).or_default();
        *sums = (sums.0 + held_s, sums.1 + busy_s);
    }
    let share = |sums: &(f64, f64)| sums.0 / sums.1;
    let (class, sums) = classes
        .iter()
        .filter(|(_, sums)| sums.1 > 0.0)
        .max_by(|a, b| share(a.1).total_cmp(&share(b.1)))?;
    Some(Limit {
        kind: "job_class".to_owned(),
        name: (*class).to_owned(),
        evidence: format!(
            "inside file operations for {:.0} % of its time",
            share(sums) * 100.0
        ),
        relief: "a faster store for what these jobs read and write, or fewer of them at once"
            .to_owned(),
        ..Limit::default()
    })
}

/// Whether the processors were the limit.
pub(super) fn is_cpu(limit: Option<&Limit>) -> bool {
    limit.is_some_and(|limit| limit.kind == "cpu")
}

/// Samples in which jobs were running.
pub(super) fn busy(samples: &[(String, Vec<Sample>)]) -> impl Iterator<Item = (&String, &Sample)> {
    let all = samples.iter();
    all.flat_map(|(node, samples)| samples.iter().map(move |one| (node, one)))
        .filter(|(_, sample)| sample.running > 0 && sample.interval_s > 0.0)
}

/// What something is: its name, which is empty for the node as a whole, and its node's.
type What<'a> = (&'a str, &'a str);

/// What a sample counts for: a busy hour with all jobs is not made up for by one with the last of them.
pub(super) fn job_seconds(sample: &Sample) -> f64 {
    sample.interval_s * sample.running as f64
}

/// What has reached `least` on average over the jobs' time, if the nodes where it has had most of that; the largest.
fn reaching<'a>(
    least: f64,
    samples: &[(String, Vec<Sample>)],
    shares: impl Iterator<Item = (What<'a>, f64, f64)>,
) -> Option<(What<'a>, f64)> {
    let mut sums: BTreeMap<What<'a>, (f64, f64)> = BTreeMap::new();
    for (what, share, seconds) in shares {
        let sum = sums.entry(what).or_default();
        *sum = (sum.0 + share * seconds, sum.1 + seconds);
    }
    sums.retain(|_, (weighted, seconds)| *weighted >= least * *seconds);
    let nodes: BTreeMap<&str, f64> = sums.iter().map(|((_, node), sum)| (*node, sum.1)).collect();
    // Of nodes that are one machine only the first looks at it.
    let looked_at: BTreeSet<&String> = busy(samples)
        .filter(|(_, sample)| sample.cpu.is_some())
        .map(|(node, _)| node)
        .collect();
    let all: f64 = busy(samples)
        .filter(|(node, _)| looked_at.is_empty() || looked_at.contains(node))
        .map(|(_, sample)| job_seconds(sample))
        .sum();
    if nodes.values().sum::<f64>() < NODES_SHARE * all {
        return None;
    }
    let means = sums
        .into_iter()
        .map(|(what, (weighted, seconds))| (what, weighted / seconds));
    means.max_by(|one, other| one.1.total_cmp(&other.1))
}

fn processors(samples: &[(String, Vec<Sample>)]) -> Option<Limit> {
    let shares = busy(samples).filter_map(|(node, sample)| {
        let (share, _) = sample.cpu.as_ref()?.busy_shares()?;
        Some((("", node.as_str()), share, job_seconds(sample)))
    });
    let ((_, node), share) = reaching(BUSY, samples, shares)?;
    let jobs = busy(samples).filter(|(name, _)| *name == node);
    let jobs = jobs.filter_map(|(_, sample)| {
        let (_, of_jobs) = sample.cpu.as_ref()?.busy_shares()?;
        let seconds = job_seconds(sample);
        Some((of_jobs? * seconds, seconds))
    });
    let (jobs, all) = jobs.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let of_jobs = (all > 0.0).then(|| jobs / all);
    let (told, relief) = match of_jobs {
        Some(of_jobs) if of_jobs < share / 2.0 => (
            format!(
                ", {:.0} % of it by this run's jobs",
                of_jobs / share * 100.0
            ),
            "end what else runs there; storage was not the limit",
        ),
        _ => (
            String::new(),
            "more or faster cores; storage was not the limit",
        ),
    };
    Some(Limit {
        kind: "cpu".to_owned(),
        name: node.to_owned(),
        node: Some(node.to_owned()),
        evidence: format!(
            "processors busy {:.0} % of the jobs' time{told}",
            share * 100.0
        ),
        relief: relief.to_owned(),
        ..Limit::default()
    })
}

/// A limit that is something of a node.
fn of_node(kind: &str, (name, node): What<'_>, evidence: String, relief: &str) -> Limit {
    Limit {
        kind: kind.to_owned(),
        name: format!("{name} of {node}"),
        evidence,
        relief: relief.to_owned(),
        node: Some(node.to_owned()),
        ..Limit::default()
    }
}

fn links(samples: &[(String, Vec<Sample>)]) -> Option<Limit> {
    let shares = busy(samples).flat_map(|(node, sample)| {
        sample.network.iter().filter_map(move |(name, link)| {
            let speed = link.link_mb_per_s.filter(|speed| *speed > 0.0)?;
            // Each direction has the whole speed.
            let bytes = link.received_bytes.max(link.sent_bytes) as f64;
            let share = bytes / 1e6 / sample.interval_s / speed;
            Some(((name.as_str(), node.as_str()), share, job_seconds(sample)))
        })
    });
    let (what, share) = reaching(LINK_FULL, samples, shares)?;
    Some(of_node(
        "link",
        what,
        format!("{:.0} % of the link's speed used on average", share * 100.0),
        "faster or more links (bonding, nconnect), or more nodes",
    ))
}

/// Devices behind the run's directories: what others keep busy did not limit it.
fn devices(samples: &[(String, Vec<Sample>)], nodes: &[NodeRecord]) -> Option<Limit> {
    let behind = |node: &String, name: &String| {
        let record = nodes.iter().find(|record| record.node == *node);
        record.is_none_or(|record| {
            let mut all = record.file_systems.values();
            all.any(|one| one.devices.contains(name))
        })
    };
    let shares = busy(samples).flat_map(|(node, sample)| {
        let own = sample.devices.iter().filter(|one| behind(node, one.0));
        own.map(move |(name, device)| {
            let share = device.busy_s / sample.interval_s;
            ((name.as_str(), node.as_str()), share, job_seconds(sample))
        })
    });
    let (what, share) = reaching(BUSY, samples, shares)?;
    Some(of_node(
        "device",
        what,
        format!(
            "had requests outstanding {:.0} % of the jobs' time",
            share * 100.0
        ),
        "more devices to stripe over, faster ones, or WORK on devices of its own",
    ))
}

/// A server of the run's files that calls waited for on average more than one at a time.
fn servers(samples: &[(String, Vec<Sample>)], nodes: &[NodeRecord]) -> Option<Limit> {
    let is_used = |node: &String, mount: &String| {
        let record = nodes.iter().find(|record| record.node == *node);
        record.is_none_or(|record| record.served_mounts().contains(mount.as_str()))
    };
    let shares = busy(samples).flat_map(|(node, sample)| {
        let own = sample.mounts.iter().filter(|one| is_used(node, one.0));
        own.filter_map(move |(mount, calls)| {
            let outstanding = calls.operation_s? / sample.interval_s;
            let what = (mount.as_str(), node.as_str());
            Some((what, outstanding, job_seconds(sample)))
        })
    });
    let (what, outstanding) = reaching(1.0, samples, shares)?;
    Some(of_node(
        "server",
        what,
        format!("{outstanding:.1} calls of the server outstanding on average, links not full"),
        "a faster server or more of its nodes; more connections (nconnect)",
    ))
}

fn waited_for(
    jobs: &[JobResult],
    channels: &BTreeMap<String, ChannelResult>,
    nodes: &[NodeRecord],
) -> Option<Limit> {
    let sum = |of: fn(&JobResult) -> Option<f64>| jobs.iter().filter_map(of).sum::<f64>();
    let (jobs_s, inside_s) = (sum(JobResult::busy_s), sum(|job| job.blocked_s));
    // What threads do behind a program that goes on is no waiting: all channels have their part of the rest.
    let part = if inside_s > 0.0 {
        sum(JobResult::held_s) / inside_s
    } else {
        0.0
    };
    let (name, seconds) = channels
        .iter()
        .filter_map(|(name, channel)| Some((name, channel.blocked_s? * part)))
        .filter(|(_, seconds)| jobs_s > 0.0 && *seconds >= WAITED_SHARE * jobs_s)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let storage = nodes.first().and_then(|node| file_system(node, name));
    let is_local = |name: &str| matches!(name, "work" | "util");
    let shared = nodes.first().is_some_and(|node| {
        let others = ["input", "output", "work", "util"];
        let mut others = others.iter().filter(|one| is_local(one) != is_local(name));
        storage.is_some() && others.any(|other| file_system(node, other) == storage)
    });
    let relief = match is_local(name) {
        _ if shared => "faster storage, or storage of its own for WORK and utility files",
        true => "a faster local file system for WORK and utility files",
        false => "faster storage of permanent data",
    };
    let place = storage.map_or(String::new(), |storage| {
        let devices = match storage.own_devices() {
            [] => storage.source.clone(),
            own => own.join(", "),
        };
        format!(" ({} on {devices})", storage.kind)
    });
    Some(Limit {
        kind: "channel".to_owned(),
        name: format!("{name}{place}"),
        evidence: format!(
            "jobs were inside operations on its files for {:.0} % of their time",
            seconds / jobs_s * 100.0
        ),
        relief: relief.to_owned(),
        node: nodes.first().map(|node| node.node.clone()),
        ..Limit::default()
    })
}

/// Where a channel's files lie.
fn file_system<'a>(node: &'a NodeRecord, channel: &str) -> Option<&'a FileSystemRecord> {
    node.file_systems.get(directory(channel))
}

/// The directory of a channel's files.
pub(super) fn directory(channel: &str) -> &str {
    if channel == "input" { "data" } else { channel }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CpuSample, DeviceSample, MountSample, NetworkSample};

    fn sample(busy_cpu: f64, busy_device: f64, link_mb: u64) -> Vec<(String, Vec<Sample>)> {
        let sample = Sample {
            at_s: 1.0,
            interval_s: 1.0,
            running: 1,
            cpu: Some(CpuSample {
                user_s: busy_cpu,
                idle_s: 1.0 - busy_cpu,
                ..CpuSample::default()
            }),
            devices: BTreeMap::from([(
                "sda".to_owned(),
                DeviceSample {
                    busy_s: busy_device,
                    ..DeviceSample::default()
                },
            )]),
            network: BTreeMap::from([(
                "eth0".to_owned(),
                NetworkSample {
                    received_bytes: link_mb * 1_000_000,
                    sent_bytes: 0,
                    link_mb_per_s: Some(1250.0),
                },
            )]),
            ..Sample::default()
        };
        vec![("n1".to_owned(), vec![sample])]
    }

    /// Five seconds, and two of thinking.
    fn jobs() -> [JobResult; 1] {
        [JobResult {
            real_s: Some(7.0),
            sleep_s: Some(2.0),
            blocked_s: Some(4.0),
            ..JobResult::default()
        }]
    }

    fn kind(samples: &[(String, Vec<Sample>)]) -> Option<String> {
        of_run(samples, &[], &BTreeMap::new(), &[])
            .map(|limit| format!("{} {}", limit.kind, limit.name))
    }

    #[test]
    fn what_was_busy_is_named() {
        assert_eq!(kind(&sample(0.95, 1.0, 1200)).unwrap(), "cpu n1");
        assert_eq!(kind(&sample(0.5, 1.0, 1200)).unwrap(), "link eth0 of n1");
        assert_eq!(kind(&sample(0.5, 1.0, 100)).unwrap(), "device sda of n1");
        assert_eq!(kind(&sample(0.5, 0.5, 100)), None);
    }

    /// Ten seconds of twenty jobs on full processors, and ten of the last one, which thinks.
    #[test]
    fn what_limited_most_jobs_counts_not_what_was_there_at_the_end() {
        let mut samples = sample(1.0, 0.0, 0);
        samples[0].1[0].running = 20;
        samples[0].1[0].cpu.as_mut().unwrap().jobs_s = Some(1.0);
        let busy = samples[0].1[0].clone();
        samples[0].1.extend(vec![busy; 9]);
        let mut alone = sample(0.0, 0.0, 0)[0].1[0].clone();
        alone.cpu.as_mut().unwrap().jobs_s = Some(0.0);
        samples[0].1.extend(vec![alone; 12]);
        let limit = of_run(&samples, &[], &BTreeMap::new(), &[]).unwrap();
        assert_eq!(limit.name, "n1");
        assert_eq!(limit.evidence, "processors busy 94 % of the jobs' time");
        assert!(limit.relief.contains("more or faster cores"));
    }

    /// Eight of 64 processors are all that a quota allows, and all that jobs use.
    #[test]
    fn a_quota_that_is_used_up_is_a_limit() {
        let mut samples = sample(8.0, 0.1, 0);
        let cpu = samples[0].1[0].cpu.as_mut().unwrap();
        (cpu.idle_s, cpu.jobs_s, cpu.quota_s) = (56.0, Some(7.9), Some(8.0));
        assert_eq!(kind(&samples).unwrap(), "cpu n1");
        samples[0].1[0].cpu.as_mut().unwrap().jobs_s = Some(4.0);
        assert_eq!(kind(&samples), None);
    }

    #[test]
    fn a_node_with_few_of_the_jobs_did_not_limit_the_run() {
        let mut samples = sample(0.3, 1.0, 0);
        samples[0].1[0].running = 10;
        samples.extend(
            sample(0.95, 0.0, 0)
                .into_iter()
                .map(|(_, own)| ("n2".to_owned(), own)),
        );
        assert_eq!(kind(&samples).unwrap(), "device sda of n1");
    }

    /// Only the first of them looks at the machine.
    #[test]
    fn nodes_that_are_one_machine_are_limited_by_its_processors() {
        let mut samples = sample(0.99, 0.0, 0);
        for name in ["n2", "n3"] {
            let mut own = sample(0.0, 0.0, 0).remove(0).1;
            (own[0].cpu, own[0].running) = (None, 5);
            samples.push((name.to_owned(), own));
        }
        assert_eq!(kind(&samples).unwrap(), "cpu n1");
    }

    /// A backup of somebody else's fills the link and a server's queue.
    #[test]
    fn links_and_servers_that_the_run_does_not_need_come_last_or_not() {
        let mut samples = sample(0.5, 1.0, 1200);
        let calls = MountSample {
            operation_s: Some(5.0),
            ..MountSample::default()
        };
        samples[0].1[0].mounts.insert("/home".to_owned(), calls);
        let own = [node([("data", "sda"), ("work", "sda")])];
        let of = |samples: &[(String, Vec<Sample>)]| of_run(samples, &[], &BTreeMap::new(), &own);
        assert_eq!(of(&samples).unwrap().name, "sda of n1");
        samples[0].1[0].devices.clear();
        assert_eq!(of(&samples).unwrap().kind, "link");
        samples[0].1[0].network.clear();
        assert_eq!(of(&samples), None);
        assert_eq!(kind(&samples).unwrap(), "server /home of n1");
    }

    #[test]
    fn without_samples_it_is_the_channel_waited_for_longest() {
        let channel = |seconds| ChannelResult {
            blocked_s: Some(seconds),
            ..ChannelResult::default()
        };
        let channels = BTreeMap::from([
            ("input".to_owned(), channel(1.0)),
            ("work".to_owned(), channel(3.0)),
        ]);
        let limit = of_run(&[], &jobs(), &channels, &[]).unwrap();
        assert_eq!((&*limit.kind, &*limit.name), ("channel", "work"));
        assert!(
            limit.evidence.contains("60 % of their time"),
            "{}",
            limit.evidence
        );
        let quick = channels.into_keys().map(|name| (name, channel(1.0)));
        assert_eq!(of_run(&[], &jobs(), &quick.collect(), &[]), None);
    }

    fn node(devices: [(&str, &str); 2]) -> NodeRecord {
        let record = |(directory, device): (&str, &str)| {
            let record = FileSystemRecord {
                kind: "ext4".to_owned(),
                devices: vec![device.to_owned()],
                ..FileSystemRecord::default()
            };
            (directory.to_owned(), record)
        };
        NodeRecord {
            node: "n1".to_owned(),
            file_systems: devices.map(record).into(),
            ..NodeRecord::default()
        }
    }

    #[test]
    fn a_device_that_the_run_does_not_use_did_not_limit_it() {
        let busy = sample(0.5, 1.0, 100);
        let others = [node([("data", "sdb"), ("work", "sdb")])];
        assert_eq!(of_run(&busy, &[], &BTreeMap::new(), &others), None);
        let own = [node([("data", "sdb"), ("work", "sda")])];
        let limit = of_run(&busy, &[], &BTreeMap::new(), &own).unwrap();
        assert_eq!(limit.name, "sda of n1");
    }

    #[test]
    fn a_channel_is_told_with_its_storage() {
        let waited = ChannelResult {
            blocked_s: Some(2.0),
            ..ChannelResult::default()
        };
        let channels = BTreeMap::from([("work".to_owned(), waited)]);
        let shared = [node([("data", "sda"), ("work", "sda")])];
        let limit = of_run(&[], &jobs(), &channels, &shared).unwrap();
        assert_eq!(limit.name, "work (ext4 on sda)");
        assert!(limit.relief.contains("of its own"), "{}", limit.relief);
        let apart = [node([("data", "sda"), ("work", "sdb")])];
        let limit = of_run(&[], &jobs(), &channels, &apart).unwrap();
        assert!(limit.relief.contains("local"), "{}", limit.relief);
    }
}
