//! What else happened on the node while the jobs ran: foreign CPU time, foreign traffic of the
//! devices, time that other guests took, a clock that was set. Beyond a limit a run shows nothing.

use super::settled::by_storage;
use crate::node::NodeRecord;
use crate::run::{Disturbance, Event, EventKind};
use crate::sample::{ChannelSample, CpuSample, DeviceSample, Sample};

/// Most of the processors' time that others may take.
pub const FOREIGN_CPU_SHARE_MAX: f64 = 0.05;

/// Most of the processors' time that the hypervisor may give to others.
pub const STEAL_SHARE_MAX: f64 = 0.05;

/// Most of the traffic of the run's devices that others may cause.
pub const FOREIGN_TRAFFIC_SHARE_MAX: f64 = 0.10;

/// Less foreign traffic than this, MB/s (10^6), disturbs nobody.
pub const FOREIGN_TRAFFIC_MB_PER_S_MIN: f64 = 1.0;

/// Most that the wall clock may move against the monotonic clock, seconds. `CLOCK_MONOTONIC` is
/// slewed along with it: what remains are steps.
pub const CLOCK_DRIFT_S_MAX: f64 = 0.5;

/// Longest time without a sample, seconds: whatever held up the sampler held up the jobs too, or the launcher that
/// takes their times.
pub const HELD_UP_S_MAX: f64 = 10.0;

/// The same as a share of the time in which jobs ran, where that is less; but samples are never so regular that
/// [`HELD_UP_S_MIN`] means something.
pub const HELD_UP_SHARE_MAX: f64 = 0.05;

/// Seconds.
pub const HELD_UP_S_MIN: f64 = 3.0;

/// Most that others may leave waiting in the page cache, of what jobs moved.
pub const FOREIGN_CACHE_SHARE_MAX: f64 = 0.10;

/// What a file system may write for itself beside what jobs wrote: journal and metadata.
const WRITE_OVERHEAD_SHARE: f64 = 0.05;

/// The same for each change of a directory or a file's length, bytes. On ext4 with a journal a run of 13,000
/// changes wrote 250 bytes for each beside the files' own.
const CHANGE_BYTES: f64 = 2048.0;

/// What such a change may make wait to be written, bytes: a page of a file or a directory and one of its inode.
const CHANGE_WAITS_BYTES: f64 = 8192.0;

/// Bytes of a block in `ru_inblock`.
const BLOCK_BYTES: f64 = 512.0;

/// When jobs ran, and when all they had written was on the devices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// First launch, seconds since the run began.
    pub launched_s: f64,
    /// Last end of a job; the end of time if one has not ended.
    pub ended_s: f64,
    /// End of the flush; the same as `ended_s` if there was none.
    pub flushed_s: f64,
}

impl Window {
    /// From what happened; `None` if no job was launched.
    pub fn of(events: &[Event]) -> Option<Self> {
        let times = |kind| {
            let of_kind = events.iter().filter(move |event| event.event == kind);
            of_kind.map(|event| event.at_s)
        };
        let launched_s = times(EventKind::JobLaunched).reduce(f64::min)?;
        let all_ended =
            times(EventKind::JobFinished).count() >= times(EventKind::JobLaunched).count();
        let ended_s = times(EventKind::JobFinished).reduce(f64::max);
        let ended_s = ended_s.filter(|_| all_ended).unwrap_or(f64::INFINITY);
        let flushed = times(EventKind::Flushed).reduce(f64::max);
        Some(Self {
            launched_s,
            ended_s,
            flushed_s: flushed.unwrap_or(ended_s).max(ended_s),
        })
    }

    /// Samples of the time in which jobs ran: those that lie in it for the larger part.
    pub fn running<'a>(&self, samples: &'a [Sample]) -> Vec<&'a Sample> {
        within(samples, self.launched_s, self.ended_s)
    }

    /// The same, and of the flush.
    pub fn with_flush<'a>(&self, samples: &'a [Sample]) -> Vec<&'a Sample> {
        within(samples, self.launched_s, self.flushed_s)
    }
}

fn within(samples: &[Sample], from_s: f64, to_s: f64) -> Vec<&Sample> {
    let middle = |sample: &Sample| sample.at_s - sample.interval_s / 2.0;
    let lies = |sample: &&Sample| (from_s..=to_s).contains(&middle(sample));
    samples.iter().filter(lies).collect()
}

/// Everything that can be told of all nodes; `samples` are of each by name.
pub fn disturbances(
    nodes: &[NodeRecord],
    samples: &[(String, Vec<Sample>)],
    events: &[Event],
) -> Vec<Disturbance> {
    let Some(window) = Window::of(events) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| node.same_host_as.is_none()) {
        let own = samples.iter().find(|(name, _)| *name == node.node);
        let own = own.map_or(&[][..], |(_, samples)| samples);
        let has_others = |other: &NodeRecord| other.same_host_as.as_ref() == Some(&node.node);
        if nodes.iter().any(has_others) {
            // What the jobs of the others do is not told from what else the host does.
            found.extend(steal(&window.running(own)));
            found.extend(clock_drift(own));
            continue;
        }
        let here = |event: &&Event| event.node.as_ref().is_none_or(|name| *name == node.node);
        let events: Vec<Event> = events.iter().filter(here).cloned().collect();
        found.extend(of_node(node, own, window, &events).into_iter().map(|one| {
            if nodes.len() == 1 {
                return one;
            }
            Disturbance {
                statement: format!("{}: {}", node.node, one.statement),
                node: Some(node.node.clone()),
                ..one
            }
        }));
    }
    found
}

fn of_node(
    node: &NodeRecord,
    samples: &[Sample],
    window: Window,
    events: &[Event],
) -> Vec<Disturbance> {
    let running = window.running(samples);
    let flushed = window.with_flush(samples);
    let mut found = Vec::new();
    found.extend(foreign_cpu(&running));
    found.extend(steal(&running));
    found.extend(foreign_traffic(node, &flushed, events));
    found.extend(foreign_cache(node, &running));
    found.extend(other_devices(node, &flushed));
    found.extend(clock_drift(samples));
    found.extend(held_up(&running));
    found
}

/// Why a run shows nothing, if it was disturbed beyond a limit.
pub fn beyond_limits(disturbances: &[Disturbance]) -> Option<String> {
    let beyond: Vec<&str> = disturbances
        .iter()
        .filter(|one| one.exceeded)
        .map(|one| one.statement.as_str())
        .collect();
    (!beyond.is_empty()).then(|| format!("the run was disturbed: {}", beyond.join("; ")))
}

fn sum<T>(of: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    of.iter().map(figure).sum()
}

/// Busy time that belongs neither to jobs nor to the launcher nor to the kernel, which works for
/// whoever reads and writes.
fn foreign_cpu(running: &[&Sample]) -> Option<Disturbance> {
    let cpu: Vec<&CpuSample> = running
        .iter()
        .filter_map(|sample| sample.cpu.as_ref())
        .collect();
    let of_jobs: f64 = cpu.iter().map(|one| one.jobs_s).sum::<Option<f64>>()?;
    let of_launcher: f64 = cpu.iter().map(|one| one.launcher_s).sum::<Option<f64>>()?;
    let interrupts = sum(&cpu, |one| one.interrupts_s.unwrap_or(0.0));
    let kernel_threads = sum(&cpu, |one| one.kernel_threads_s.unwrap_or(0.0));
    let seen = cpu.iter().any(|one| one.kernel_threads_s.is_some());
    let who = if seen {
        "other programs"
    } else {
        "other programs and threads of the kernel, which cannot be told apart here,"
    };
    let all = sum(&cpu, |one| one.all_s());
    let busy = sum(&cpu, |one| one.busy_s());
    let foreign = (busy - interrupts - of_jobs - of_launcher - kernel_threads).max(0.0);
    let share = foreign / all;
    (all > 0.0).then(|| Disturbance {
        kind: "foreign_cpu".to_owned(),
        what: None,
        node: None,
        value: foreign,
        unit: "s".to_owned(),
        share: Some(share),
        share_max: Some(FOREIGN_CPU_SHARE_MAX),
        exceeded: share > FOREIGN_CPU_SHARE_MAX,
        statement: format!(
            "{who} took {foreign:.1} s of CPU time, {:.1} % of what the processors have \
             ({:.0} % allowed)",
            share * 100.0,
            FOREIGN_CPU_SHARE_MAX * 100.0
        ),
    })
}

fn steal(running: &[&Sample]) -> Option<Disturbance> {
    let cpu: Vec<&CpuSample> = running
        .iter()
        .filter_map(|sample| sample.cpu.as_ref())
        .collect();
    let (stolen, all) = (sum(&cpu, |one| one.steal_s), sum(&cpu, |one| one.all_s()));
    let share = stolen / all;
    (all > 0.0).then(|| Disturbance {
        kind: "steal".to_owned(),
        what: None,
        node: None,
        value: stolen,
        unit: "s".to_owned(),
        share: Some(share),
        share_max: Some(STEAL_SHARE_MAX),
        exceeded: share > STEAL_SHARE_MAX,
        statement: format!(
            "the hypervisor gave {stolen:.1} s of CPU time to other guests, {:.1} % of what the \
             processors have ({:.0} % allowed)",
            share * 100.0,
            STEAL_SHARE_MAX * 100.0
        ),
    })
}

/// What the run's devices moved less what the kernel counts as moved for the jobs. The jobs' reads are
/// exact; their writes reach the device later and with what the file system adds, for which some is
/// allowed: the result is what others moved at least.
fn foreign_traffic(
    node: &NodeRecord,
    samples: &[&Sample],
    events: &[Event],
) -> Option<Disturbance> {
    // The kernel counts what jobs moved on devices and on mounts of servers in one sum.
    if !node.served_mounts().is_empty() {
        return None;
    }
    let devices = node.own_devices()?;
    let of = |figure: fn(&DeviceSample) -> u64| -> f64 {
        let per_sample = samples.iter().flat_map(|sample| {
            let found = devices.iter().filter_map(|name| sample.devices.get(*name));
            found.map(figure)
        });
        per_sample.sum::<u64>() as f64
    };
    let (read, written) = (of(|one| one.read_bytes), of(|one| one.write_bytes));
    let finished = events
        .iter()
        .filter(|event| event.event == EventKind::JobFinished);
    let by_jobs = |figure: fn(&Event) -> Option<u64>| {
        let blocks = finished.clone().map(figure).sum::<Option<u64>>()?;
        Some(blocks as f64 * BLOCK_BYTES)
    };
    let launched = events
        .iter()
        .filter(|event| event.event == EventKind::JobLaunched);
    if devices.is_empty() || launched.count() != finished.clone().count() {
        return None;
    }
    let read_by_jobs = by_jobs(|event| event.block_input)?;
    let written_by_jobs = by_jobs(|event| event.block_output)?;
    // What a job did not come to say is taken as written.
    let cancelled = finished.map(|event| event.cancelled_write_bytes.unwrap_or(0));
    let cancelled = cancelled.sum::<u64>() as f64;
    let changes = sum(samples, |sample| changes(sample));
    let first = samples.first().and_then(|sample| sample.memory.as_ref());
    let waiting = first.map_or(0, |memory| memory.dirty_bytes + memory.writeback_bytes);
    let reaches_devices = (written_by_jobs - cancelled).max(0.0);
    let allowed =
        reaches_devices * (1.0 + WRITE_OVERHEAD_SHARE) + changes * CHANGE_BYTES + waiting as f64;
    // A file system on several devices may keep each byte on more than one of them, which nothing here tells.
    let mut records = node.file_systems.values();
    let is_single = records.all(|record| record.members.is_empty());
    let written_by_others = (written - allowed).max(0.0) * f64::from(u8::from(is_single));
    let foreign = (read - read_by_jobs).max(0.0) + written_by_others;
    let seconds = sum(samples, |sample| sample.interval_s);
    let (all, mb_per_s) = (read + written, foreign / 1e6 / seconds);
    let share = foreign / all;
    let what = devices.join(", ");
    (all > 0.0 && seconds > 0.0).then(|| Disturbance {
        kind: "foreign_device_traffic".to_owned(),
        value: mb_per_s,
        unit: "MB/s".to_owned(),
        share: Some(share),
        share_max: Some(FOREIGN_TRAFFIC_SHARE_MAX),
        exceeded: share > FOREIGN_TRAFFIC_SHARE_MAX && mb_per_s > FOREIGN_TRAFFIC_MB_PER_S_MIN,
        statement: format!(
            "other programs moved at least {mb_per_s:.1} MB/s on {what}, {:.1} % of its traffic \
             ({:.0} % allowed)",
            share * 100.0,
            FOREIGN_TRAFFIC_SHARE_MAX * 100.0
        ),
        what: Some(what),
        node: None,
    })
}

/// What may change a directory or a file's length.
fn changes(sample: &Sample) -> f64 {
    let channels = sample.channels.values();
    let changes = channels.map(|one| one.changes.unwrap_or(one.metadata_operations));
    changes.sum::<u64>() as f64
}

/// What came to wait in the page cache and cannot be the jobs': growth beyond what they wrote and storage did not
/// take. What others wrote while storage took as much, or the jobs removed as much, is not seen: a lower bound.
fn foreign_cache(node: &NodeRecord, running: &[&Sample]) -> Option<Disturbance> {
    // Jobs that do not let themselves be seen may have written all of it.
    let sampled = running.iter().all(|sample| sample.memory.is_some());
    if !sampled || running.iter().all(|sample| sample.channels.is_empty()) {
        return None;
    }
    let waits = |sample: &Sample| {
        let memory = sample.memory.as_ref();
        memory.map_or(0, |one| one.dirty_bytes + one.writeback_bytes) as f64
    };
    let jobs = |sample: &&Sample, of: fn(&ChannelSample) -> u64| -> f64 {
        sample.channels.values().map(of).sum::<u64>() as f64
    };
    let beyond = running.windows(2).map(|pair| {
        let (before, sample) = (pair[0], pair[1]);
        let grew = (waits(sample) - waits(before)).max(0.0);
        let wrote = jobs(&sample, |one| one.write_bytes) * (1.0 + WRITE_OVERHEAD_SHARE)
            + changes(sample) * CHANGE_WAITS_BYTES;
        let stored = by_storage(sample, Some(node)).map_or(0.0, |(_, written)| written);
        (grew - (wrote - stored).max(0.0)).max(0.0)
    });
    let foreign: f64 = beyond.sum();
    let moved = sum(running, |sample| jobs(sample, ChannelSample::bytes));
    let seconds = sum(running, |sample| sample.interval_s);
    let (mb_per_s, share) = (foreign / 1e6 / seconds, foreign / moved);
    (moved > 0.0 && seconds > 0.0).then(|| Disturbance {
        kind: "foreign_page_cache".to_owned(),
        what: None,
        node: None,
        value: mb_per_s,
        unit: "MB/s".to_owned(),
        share: Some(share),
        share_max: Some(FOREIGN_CACHE_SHARE_MAX),
        exceeded: share > FOREIGN_CACHE_SHARE_MAX && mb_per_s > FOREIGN_TRAFFIC_MB_PER_S_MIN,
        statement: format!(
            "other programs left at least {mb_per_s:.1} MB/s waiting in the page cache, {:.1} % of what the jobs \
             moved ({:.0} % allowed)",
            share * 100.0,
            FOREIGN_CACHE_SHARE_MAX * 100.0
        ),
    })
}

/// Traffic of devices that are not behind the run's directories: they may share a controller, a link or
/// an array with those that are. No limit is known for it.
fn other_devices(node: &NodeRecord, samples: &[&Sample]) -> Vec<Disturbance> {
    let behind = |name: &String| {
        let mut records = node.file_systems.values();
        records.any(|record| record.devices.contains(name))
    };
    let mut names: Vec<&String> = samples
        .iter()
        .flat_map(|sample| sample.devices.keys())
        .filter(|name| !behind(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    let seconds = sum(samples, |sample| sample.interval_s);
    let of = |name: &String| {
        let moved = samples.iter().filter_map(|sample| sample.devices.get(name));
        let bytes = moved.map(DeviceSample::bytes).sum::<u64>();
        let mb_per_s = bytes as f64 / 1e6 / seconds;
        (bytes > 0 && seconds > 0.0).then(|| Disturbance {
            kind: "other_device_traffic".to_owned(),
            what: Some(name.clone()),
            node: None,
            value: mb_per_s,
            unit: "MB/s".to_owned(),
            share: None,
            share_max: None,
            exceeded: false,
            statement: format!("{name}, which the run does not use, moved {mb_per_s:.1} MB/s"),
        })
    };
    names.into_iter().filter_map(of).collect()
}

/// How far the wall clock moved against the monotonic clock.
fn clock_drift(samples: &[Sample]) -> Option<Disturbance> {
    let apart = || samples.iter().map(|sample| sample.unix_s - sample.at_s);
    let drift = apart().reduce(f64::max)? - apart().reduce(f64::min)?;
    (samples.len() > 1).then(|| Disturbance {
        kind: "clock_drift".to_owned(),
        what: None,
        node: None,
        value: drift,
        unit: "s".to_owned(),
        share: None,
        share_max: None,
        exceeded: drift > CLOCK_DRIFT_S_MAX,
        statement: format!(
            "the wall clock moved by {drift:.3} s against the monotonic clock \
             ({CLOCK_DRIFT_S_MAX} s allowed)"
        ),
    })
}

/// The longest interval: a sample is due every second.
fn held_up(running: &[&Sample]) -> Option<Disturbance> {
    let intervals = running.iter().map(|sample| sample.interval_s);
    let longest = intervals.clone().reduce(f64::max)?;
    let all: f64 = intervals.sum();
    let limit = (all * HELD_UP_SHARE_MAX).clamp(HELD_UP_S_MIN, HELD_UP_S_MAX);
    Some(Disturbance {
        kind: "held_up".to_owned(),
        what: None,
        node: None,
        value: longest,
        unit: "s".to_owned(),
        share: None,
        share_max: None,
        exceeded: longest > limit,
        statement: format!(
            "the longest time between two samples was {longest:.1} s ({limit:.0} s allowed)"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of one node.
    fn disturbances(node: &NodeRecord, samples: &[Sample], events: &[Event]) -> Vec<Disturbance> {
        let samples = [(node.node.clone(), samples.to_vec())];
        super::disturbances(std::slice::from_ref(node), &samples, events)
    }
    use crate::node::FileSystemRecord;
    use crate::run::Time;
    use crate::sample::MemorySample;

    fn node() -> NodeRecord {
        let work = FileSystemRecord {
            devices: vec!["dm-0".to_owned(), "sda".to_owned()],
            ..FileSystemRecord::default()
        };
        NodeRecord {
            file_systems: [("work".to_owned(), work)].into(),
            ..NodeRecord::default()
        }
    }

    /// Ten seconds on four processors: jobs take 20 s, the launcher 0.1 s, threads of the kernel 2 s,
    /// interrupts 1 s; 300 MB are read and 500 MB written, all for jobs.
    fn samples() -> Vec<Sample> {
        let mut samples: Vec<Sample> = (1..=10).map(|second| sample(f64::from(second))).collect();
        let cpu = samples[9].cpu.as_mut().unwrap();
        cpu.kernel_threads_s = Some(2.0);
        samples
    }

    #[test]
    fn threads_of_the_kernel_that_cannot_be_seen_are_said_to_be_among_others() {
        let mut samples = samples();
        samples[9].cpu.as_mut().unwrap().kernel_threads_s = None;
        let found = disturbances(&node(), &samples, &events());
        let cpu = found.iter().find(|one| one.kind == "foreign_cpu").unwrap();
        assert!((cpu.value - 2.0).abs() < 1e-9, "{}", cpu.value);
        assert!(
            cpu.statement.contains("and threads of the kernel"),
            "{}",
            cpu.statement
        );
    }

    fn sample(at_s: f64) -> Sample {
        let device = DeviceSample {
            read_bytes: 30_000_000,
            write_bytes: 50_000_000,
            ..DeviceSample::default()
        };
        Sample {
            unix_s: 1e9 + at_s,
            at_s,
            interval_s: 1.0,
            cpu: Some(CpuSample {
                user_s: 1.5,
                system_s: 0.81,
                idle_s: 1.69,
                jobs_s: Some(2.0),
                launcher_s: Some(0.01),
                interrupts_s: Some(0.1),
                ..CpuSample::default()
            }),
            memory: Some(MemorySample::default()),
            channels: [("work".to_owned(), ChannelSample::default())].into(),
            devices: [("dm-0".to_owned(), device)].into(),
            ..Sample::default()
        }
    }

    fn events() -> Vec<Event> {
        let time = |at_s| Time { unix_s: 0.0, at_s };
        let mut finished = Event::of_job(time(10.0), EventKind::JobFinished, "a");
        finished.block_input = Some(300_000_000 / 512);
        finished.block_output = Some(500_000_000 / 512);
        vec![
            Event::of_job(time(0.0), EventKind::JobLaunched, "a"),
            finished,
        ]
    }

    fn find<'a>(found: &'a [Disturbance], kind: &str) -> &'a Disturbance {
        found.iter().find(|one| one.kind == kind).unwrap()
    }

    #[test]
    fn a_quiet_node_disturbs_nothing() {
        let found = disturbances(&node(), &samples(), &events());
        assert_eq!(beyond_limits(&found), None);
        // 23.1 s busy less 20, 0.1, 2 and 1.
        assert!(find(&found, "foreign_cpu").value.abs() < 1e-9, "{found:?}");
        assert!(find(&found, "foreign_device_traffic").value.abs() < 0.1);
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn files_that_others_make_and_remove_are_seen_in_the_page_cache() {
        let of = |others: u64| {
            let mut busy = samples();
            for (second, sample) in (0_u64..).zip(&mut busy) {
                let work = sample.channels.get_mut("work").unwrap();
                (work.read_bytes, work.write_bytes) = (30_000_000, 50_000_000);
                let memory = sample.memory.as_mut().unwrap();
                memory.dirty_bytes = second % 2 * others;
            }
            let found = disturbances(&node(), &busy, &events());
            find(&found, "foreign_page_cache").clone()
        };
        assert!(of(0).value.abs() < 1e-9);
        // Five times in ten seconds, less what the file system may have made wait for itself.
        let few = of(10_000_000);
        assert!((few.value - 3.75).abs() < 1e-9 && !few.exceeded, "{few:?}");
        let many = of(200_000_000);
        assert!((many.value - 98.75).abs() < 1e-9, "{many:?}");
        let reason = beyond_limits(&[many]).unwrap();
        assert!(
            reason.contains("98.8 MB/s waiting in the page cache, 123.4 % of"),
            "{reason}"
        );
    }

    #[test]
    fn what_the_jobs_wrote_and_storage_did_not_take_is_theirs() {
        let mut filling = samples();
        for (second, sample) in (0_u64..).zip(&mut filling) {
            let work = sample.channels.get_mut("work").unwrap();
            work.write_bytes = 150_000_000;
            sample.memory.as_mut().unwrap().writeback_bytes = second * 100_000_000;
        }
        let found = disturbances(&node(), &filling, &events());
        assert!(find(&found, "foreign_page_cache").value.abs() < 1e-9);
        // Nobody knows what jobs write that have no counters.
        for sample in &mut filling {
            sample.channels.clear();
        }
        let found = disturbances(&node(), &filling, &events());
        assert!(found.iter().all(|one| one.kind != "foreign_page_cache"));
    }

    #[test]
    fn foreign_cpu_time_counts_from_its_limit_on() {
        let mut busy = samples();
        for sample in &mut busy {
            let cpu = sample.cpu.as_mut().unwrap();
            cpu.user_s += 0.4;
            cpu.idle_s -= 0.4;
        }
        let found = disturbances(&node(), &busy, &events());
        let foreign = find(&found, "foreign_cpu");
        assert!((foreign.value - 4.0).abs() < 1e-9);
        assert!((foreign.share.unwrap() - 0.1).abs() < 1e-9);
        let reason = beyond_limits(&found).unwrap();
        assert!(reason.contains("4.0 s of CPU time, 10.0 % of"), "{reason}");
    }

    #[test]
    fn foreign_reads_and_writes_are_told_from_the_jobs() {
        let mut busy = samples();
        for sample in &mut busy {
            sample.devices.get_mut("dm-0").unwrap().read_bytes += 20_000_000;
            let other = DeviceSample {
                write_bytes: 5_000_000,
                ..DeviceSample::default()
            };
            sample.devices.insert("sdz".to_owned(), other.clone());
            sample.devices.insert("sda".to_owned(), other);
        }
        let found = disturbances(&node(), &busy, &events());
        let foreign = find(&found, "foreign_device_traffic");
        assert!((foreign.value - 20.0).abs() < 0.01, "{foreign:?}");
        assert!((foreign.share.unwrap() - 0.2).abs() < 1e-3);
        assert!(foreign.exceeded);
        let other = find(&found, "other_device_traffic");
        assert_eq!(other.what.as_deref(), Some("sdz"));
        assert!((other.value - 5.0).abs() < 1e-9 && !other.exceeded);
    }

    #[test]
    fn traffic_beside_a_mount_of_a_server_is_not_told_from_the_jobs() {
        let mut busy = samples();
        for sample in &mut busy {
            sample.devices.get_mut("dm-0").unwrap().read_bytes += 20_000_000;
        }
        let mut node = node();
        let data = FileSystemRecord {
            counts_itself: true,
            ..FileSystemRecord::default()
        };
        node.file_systems.insert("data".to_owned(), data);
        let found = disturbances(&node, &busy, &events());
        assert!(found.iter().all(|one| one.kind != "foreign_device_traffic"));
    }

    #[test]
    fn a_journal_and_what_waited_before_are_not_foreign() {
        let mut busy = samples();
        for sample in &mut busy {
            sample.devices.get_mut("dm-0").unwrap().write_bytes += 30_000_000;
            sample.channels.get_mut("work").unwrap().changes = Some(1600);
        }
        busy[0].memory.as_mut().unwrap().dirty_bytes = 250_000_000;
        let found = disturbances(&node(), &busy, &events());
        // 25 MB of overhead, 32.8 MB for sixteen thousand changes and 250 MB from before.
        assert!(find(&found, "foreign_device_traffic").value.abs() < 1e-3);
    }

    #[test]
    fn what_jobs_removed_before_it_was_written_does_not_hide_what_others_wrote() {
        let mut events = events();
        events[1].cancelled_write_bytes = Some(200_000_000);
        let found = disturbances(&node(), &samples(), &events);
        // 500 MB written, of which 300 MB and 5 % can be the jobs'.
        let foreign = find(&found, "foreign_device_traffic");
        assert!((foreign.value - 18.5).abs() < 1e-3, "{foreign:?}");
    }

    #[test]
    fn copies_on_several_devices_are_not_foreign() {
        let mut node = node();
        let work = node.file_systems.get_mut("work").unwrap();
        work.devices = vec!["sda".to_owned(), "sdb".to_owned()];
        work.members.clone_from(&work.devices);
        let mut mirrored = samples();
        for sample in &mut mirrored {
            // Each keeps all that is written, and half of the reads go to each.
            let mut device = sample.devices.remove("dm-0").unwrap();
            device.read_bytes /= 2;
            sample.devices = ["sda", "sdb"]
                .map(|name| (name.to_owned(), device.clone()))
                .into();
        }
        let found = disturbances(&node, &mirrored, &events());
        assert!(find(&found, "foreign_device_traffic").value.abs() < 1e-3);
        for sample in &mut mirrored {
            sample.devices.get_mut("sdb").unwrap().read_bytes += 20_000_000;
        }
        let found = disturbances(&node, &mirrored, &events());
        let foreign = find(&found, "foreign_device_traffic");
        assert!((foreign.value - 20.0).abs() < 0.01, "{foreign:?}");
    }

    #[test]
    fn stolen_time_and_a_clock_that_was_set_are_seen() {
        let mut odd = samples();
        for sample in &mut odd {
            sample.cpu.as_mut().unwrap().steal_s = 0.3;
        }
        odd[5].unix_s += 2.0;
        let found = disturbances(&node(), &odd, &events());
        assert!(find(&found, "steal").exceeded);
        assert!((find(&found, "clock_drift").value - 2.0).abs() < 1e-6);
        assert!(find(&found, "clock_drift").exceeded);
    }

    #[test]
    fn a_node_that_stood_still_is_seen() {
        let mut stopped = samples();
        for sample in &mut stopped[5..] {
            sample.at_s += 30.0;
        }
        stopped[5].interval_s = 31.0;
        let found = disturbances(&node(), &stopped, &events());
        assert!(
            !find(&found, "held_up").exceeded,
            "it was after the last job"
        );
        let mut late = events();
        late[1].at_s = 40.0;
        let found = disturbances(&node(), &stopped, &late);
        assert!(find(&found, "held_up").exceeded);
        assert!(beyond_limits(&found).unwrap().contains("was 31.0 s"));
    }

    #[test]
    fn what_cannot_be_told_is_absent() {
        let found = disturbances(&node(), &samples(), &events()[..1]);
        assert!(!found.iter().any(|one| one.kind == "foreign_device_traffic"));
        let found = disturbances(&NodeRecord::default(), &samples(), &events());
        assert!(!found.iter().any(|one| one.kind == "foreign_device_traffic"));
        assert!(disturbances(&node(), &samples(), &[]).is_empty());
        assert!(disturbances(&node(), &[], &events()).is_empty());
    }
}
