//! What storage moved for the jobs, from what they read and wrote, what storage did and what waited in memory.

use super::disturbance::Window;
use super::sampled::Nodes;
use crate::node::{FileSystemRecord, NodeRecord};
use crate::peak::{Moved, sustained};
use crate::sample::{ChannelSample, Sample};

/// The highest mean of what storage took and gave, all nodes added up, MB/s.
pub(super) fn settled(
    (nodes, records): (&Nodes, &[NodeRecord]),
    window: Window,
    window_s: f64,
) -> Option<f64> {
    let of_node = |(node, samples): &(String, Vec<Sample>)| {
        let record = records.iter().find(|record| record.node == *node);
        let record = record.filter(|record| is_counted(record, samples));
        settled_of(samples, record, window)
    };
    let moved = nodes.iter().map(of_node).collect::<Option<Vec<_>>>()?;
    sustained(&moved, window_s).map(|peak| peak.per_s)
}

/// Whether all devices and mounts of a node's files are among what was sampled: some devices have no counters.
fn is_counted(record: &NodeRecord, samples: &[Sample]) -> bool {
    let devices = record.own_devices().unwrap_or_default();
    let mounts = record.served_mounts();
    let seen = |of: &dyn Fn(&Sample) -> bool| samples.iter().any(of);
    devices
        .iter()
        .all(|name| seen(&|sample| sample.devices.contains_key(*name)))
        && mounts
            .iter()
            .all(|point| seen(&|sample| sample.mounts.contains_key(*point)))
}

/// What storage of the run's files read and wrote; `None` where that is not what jobs read and wrote and caches did
/// not serve, as with mirrors and compression, or where it does not tell.
pub(super) fn by_storage(sample: &Sample, record: Option<&NodeRecord>) -> Option<(f64, f64)> {
    let record = record?;
    let mut systems = record.file_systems.values();
    let tells = |one: &FileSystemRecord| !one.devices.is_empty() || one.counts_itself;
    if !systems.all(|one| tells(one) && one.kind != "btrfs") {
        return None;
    }
    let devices = record.own_devices()?.into_iter();
    let devices = devices.filter_map(|name| sample.devices.get(name));
    let mounts = record.served_mounts().into_iter();
    let mounts = mounts.filter_map(|point| sample.mounts.get(point));
    let moved = devices
        .map(|one| (one.read_bytes, one.write_bytes))
        .chain(mounts.map(|one| (one.read_bytes, one.write_bytes)));
    let (read, written) = moved.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some((read as f64, written as f64))
}

/// What storage moved for the jobs of a node, sample after sample.
///
/// Whose bytes wait in the page cache, and whose a device writes, nobody tells: there is one level and one counter for
/// all programs. So a second counts as written what storage wrote then, as far as the jobs wrote it in that second, and
/// beyond it as far as less waits than before and what the jobs wrote earlier may be what waited. Growth needs no
/// credit held back: what a job wrote and storage did not take is missing from the counter, and what others made dirty
/// takes nothing from the jobs, since the kernel writes the oldest first. Storage that writes more than the jobs do
/// while as much waits as before writes for others, or for the file system itself. Bytes of the jobs count once: what
/// was credited waits no more, and no more of theirs waits than waits in all, by which removed files drop out. So no
/// second is below 0, and a run has at most what was served and written. Reads count as far as storage read in that
/// second and the one before, since it reads ahead.
#[derive(Debug, Default)]
struct Settled {
    /// Read by storage in the sample before and not served yet.
    ahead: f64,
    /// Written by jobs, and not yet by storage: at most.
    pending: f64,
}

impl Settled {
    /// Bytes of a sample; `waits` are the bytes that waited to be written before and after it.
    fn amount(&mut self, sample: &Sample, record: Option<&NodeRecord>, waits: (f64, f64)) -> f64 {
        let sum =
            |of: fn(&ChannelSample) -> u64| sample.channels.values().map(of).sum::<u64>() as f64;
        let (served, wrote) = (sum(|one| one.read_bytes), sum(|one| one.write_bytes));
        let (before, after) = waits;
        let Some((read, written)) = by_storage(sample, record) else {
            // What falls may have been removed, and what grows may be the jobs'.
            return served + wrote - (after - before).clamp(0.0, wrote);
        };
        let moved = served.min(read + self.ahead);
        self.ahead = (read + self.ahead - moved).min(read);
        let fell = (before - after).max(0.0);
        let stored = written.min(wrote + fell.min(self.pending));
        self.pending = (self.pending + wrote - stored).min(after);
        moved + stored
    }
}

fn settled_of(
    samples: &[Sample],
    record: Option<&NodeRecord>,
    window: Window,
) -> Option<Vec<Moved>> {
    let unwritten = |sample: &Sample| {
        let memory = sample.memory.as_ref()?;
        Some((memory.dirty_bytes + memory.writeback_bytes) as f64)
    };
    let levels = samples
        .iter()
        .map(unwritten)
        .collect::<Option<Vec<f64>>>()?;
    let before = levels
        .first()
        .copied()
        .into_iter()
        .chain(levels.iter().copied());
    let middle = |sample: &Sample| sample.at_s - sample.interval_s / 2.0;
    let mut settled = Settled::default();
    let moved = samples
        .iter()
        .zip(levels.iter().zip(before))
        .filter(|(sample, _)| (window.launched_s..=window.ended_s).contains(&middle(sample)))
        .map(|(sample, (after, before))| Moved {
            end_s: sample.at_s,
            interval_s: sample.interval_s,
            amount: settled.amount(sample, record, (before, *after)) / 1e6,
        });
    Some(moved.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{DeviceSample, MemorySample, MountSample};

    /// A second in MB: served to jobs, written by them, read by storage, written by it, and what waited after it.
    type Second = (u64, u64, u64, u64, u64);

    const MB: u64 = 1_000_000;

    fn samples(seconds: impl IntoIterator<Item = Second>) -> Vec<Sample> {
        let sample = |(at, (served, wrote, read, written, waits)): (u32, Second)| Sample {
            at_s: f64::from(at) + 1.0,
            interval_s: 1.0,
            channels: [(
                "work".to_owned(),
                ChannelSample {
                    read_bytes: served * MB,
                    write_bytes: wrote * MB,
                    ..ChannelSample::default()
                },
            )]
            .into(),
            devices: [(
                "sda".to_owned(),
                DeviceSample {
                    read_bytes: read * MB,
                    write_bytes: written * MB,
                    ..DeviceSample::default()
                },
            )]
            .into(),
            memory: Some(MemorySample {
                dirty_bytes: waits * MB,
                ..MemorySample::default()
            }),
            ..Sample::default()
        };
        (0..).zip(seconds).map(sample).collect()
    }

    fn record() -> NodeRecord {
        let system = FileSystemRecord {
            devices: vec!["sda".to_owned()],
            ..FileSystemRecord::default()
        };
        NodeRecord {
            file_systems: [("work".to_owned(), system)].into(),
            ..NodeRecord::default()
        }
    }

    /// MB of each second.
    fn amounts(record: Option<&NodeRecord>, seconds: impl IntoIterator<Item = Second>) -> Vec<f64> {
        let window = Window {
            launched_s: 0.0,
            ended_s: f64::INFINITY,
            flushed_s: f64::INFINITY,
        };
        let moved = settled_of(&samples(seconds), record, window).unwrap();
        moved.iter().map(|one| one.amount).collect()
    }

    fn of(seconds: impl IntoIterator<Item = Second>) -> Vec<f64> {
        amounts(Some(&record()), seconds)
    }

    fn writes(wrote: u64, written: u64, waits: u64) -> Second {
        (0, wrote, 0, written, waits)
    }

    /// 10 MB/s; 30 MB/s for 70 s, of which 20 MB/s stay in memory; these are written in the 140 s after.
    fn taken_by_memory() -> Vec<Second> {
        let second = |second: u64| match second {
            100..170 => writes(30, 10, (second - 99) * 20),
            170..310 => writes(10, 20, 1400 - (second - 169) * 10),
            _ => writes(10, 10, 0),
        };
        (0..320).map(second).collect()
    }

    #[test]
    fn what_the_page_cache_took_was_not_moved_by_storage() {
        let found = of(taken_by_memory());
        assert_eq!(found[99..=100], [10.0, 10.0]);
        assert_eq!(found[169..=170], [10.0, 20.0]);
        assert_eq!(found[309..=310], [20.0, 10.0]);
        let all: f64 = found.iter().sum();
        assert!((all - 4600.0).abs() < 1e-6, "{all}");
    }

    #[test]
    fn what_was_removed_before_it_was_written_was_not_moved() {
        let removed = taken_by_memory().into_iter();
        let removed = removed.map(|second| writes(second.1, 0, second.4));
        assert!(of(removed).iter().all(|amount| amount.abs() < 1e-9));
    }

    #[test]
    fn without_counters_what_falls_is_not_credited_and_what_grows_is_at_most_what_jobs_wrote() {
        let found = amounts(None, taken_by_memory());
        assert_eq!((found[99], found[100], found[170]), (10.0, 10.0, 10.0));
        let burst = [writes(100, 0, 0), writes(100, 0, 500), writes(100, 0, 0)];
        assert_eq!(amounts(None, burst), [100.0, 0.0, 100.0]);
    }

    /// Jobs write 100 MB/s, all of which storage takes.
    #[test]
    fn files_that_others_make_and_remove_take_nothing_from_the_jobs() {
        let at_once = |second: u64| writes(100, 100, if second % 4 == 1 { 200 } else { 0 });
        let found = of((0..40).map(at_once));
        assert!(
            found.iter().all(|one| (one - 100.0).abs() < 1e-9),
            "{found:?}"
        );
        // Over eight seconds each, which looks as if the jobs' own bytes stayed.
        let slowly = |second: u64| writes(100, 100, second % 9 * 25);
        let found = of((0..45).map(slowly));
        assert!(
            found.iter().all(|one| (one - 100.0).abs() < 1e-9),
            "{found:?}"
        );
    }

    #[test]
    fn what_others_have_written_is_not_the_jobs() {
        // 300 MB of others, written within three seconds after a while; the jobs' own go straight through.
        let written = |second: u64| match second {
            0..5 => writes(100, 100, 300),
            5..8 => writes(100, 200, 300 - (second - 4) * 100),
            _ => writes(100, 100, 0),
        };
        let found = of((0..20).map(written));
        assert!(
            found.iter().all(|one| (one - 100.0).abs() < 1e-9),
            "{found:?}"
        );
        // 50 MB/s of others, while as much of the jobs' waits as memory takes.
        let full = |second: u64| {
            writes(
                100,
                if second < 5 { 0 } else { 150 },
                500.min((second + 1) * 100),
            )
        };
        let found = of((0..40).map(full));
        assert_eq!(found[..5], [0.0; 5]);
        assert!(
            found[5..].iter().all(|one| (one - 100.0).abs() < 1e-9),
            "{found:?}"
        );
    }

    /// Whatever else happens, no second has less than nothing, and all together no more than was written.
    #[test]
    fn a_sum_is_never_more_than_jobs_and_storage_wrote() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        let seconds: Vec<Second> = (0..2000)
            .map(|_| (next(50), next(100), next(50), next(120), next(400)))
            .collect();
        let found = of(seconds.clone());
        assert!(found.iter().all(|one| *one >= 0.0));
        let sum = |figure: fn(&Second) -> u64| seconds.iter().map(figure).sum::<u64>() as f64;
        let all: f64 = found.iter().sum();
        assert!(
            all <= sum(|one| one.0).min(sum(|one| one.2)) + sum(|one| one.1).min(sum(|one| one.3))
        );
    }

    #[test]
    fn what_the_page_cache_served_was_not_read_from_storage() {
        let reads = |read: &u64| (100, 0, *read, 0, 0);
        let of = |stored: &[u64]| of(stored.iter().map(reads));
        assert_eq!(of(&[40, 0, 300]), [40.0, 0.0, 100.0]);
        // Reading ahead serves the sample after, and no later one.
        assert_eq!(of(&[150, 50, 0]), [100.0, 100.0, 0.0]);
        assert_eq!(of(&[900, 0, 0]), [100.0, 100.0, 0.0]);
    }

    /// Input and output on one mount: the server took what jobs wrote, and nothing more. It keeps what it took in
    /// memory until it is told to store it, and the client as long.
    #[test]
    fn what_a_mount_wrote_counts_once() {
        let system = FileSystemRecord {
            mount_point: "/sas".to_owned(),
            kind: "nfs4".to_owned(),
            counts_itself: true,
            ..FileSystemRecord::default()
        };
        let record = NodeRecord {
            file_systems: ["data", "output"]
                .map(|name| (name.to_owned(), system.clone()))
                .into(),
            ..NodeRecord::default()
        };
        let seconds = [
            writes(100, 100, 100),
            writes(100, 100, 200),
            writes(100, 100, 0),
        ];
        let mut samples = samples(seconds);
        for sample in &mut samples {
            let written = std::mem::take(&mut sample.devices)["sda"].write_bytes;
            let mount = MountSample {
                write_bytes: written,
                ..MountSample::default()
            };
            sample.mounts = [("/sas".to_owned(), mount)].into();
        }
        let window = Window {
            launched_s: 0.0,
            ended_s: 9.0,
            flushed_s: 9.0,
        };
        let moved = settled_of(&samples, Some(&record), window).unwrap();
        assert!(
            moved.iter().all(|one| (one.amount - 100.0).abs() < 1e-9),
            "{moved:?}"
        );
    }
}
