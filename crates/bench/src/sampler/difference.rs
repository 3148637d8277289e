//! A sample from the totals at the ends of its interval.

use std::collections::BTreeMap;

use ::io::live::classes_in_use;
use base::store::Channel;
use host::block_devices::BlockDevice;
use host::processors::ProcessorTimes;
use host::served::ServedMount;
use results::sample::{
    ChannelSample, CpuSample, DeviceSample, MemorySample, MountSample, NetworkSample, Sample,
};

use super::readings::Readings;

/// What happened between two readings. What is not in both is absent.
pub fn sample(before: &Readings, now: &Readings) -> Sample {
    let interval_s = now.at.saturating_sub(before.at).as_secs_f64();
    Sample {
        unix_s: now.unix.as_secs_f64(),
        at_s: now.at.as_secs_f64(),
        interval_s,
        running: now.running,
        cpu: before
            .processors
            .zip(now.processors)
            .map(|(earlier, later)| cpu(&earlier, &later, before, now)),
        memory: now.memory.map(|memory| MemorySample {
            total_bytes: memory.total_bytes,
            available_bytes: memory.available_bytes,
            cached_bytes: memory.cached_bytes,
            dirty_bytes: memory.dirty_bytes,
            writeback_bytes: memory.writeback_bytes,
        }),
        channels: channels(before, now),
        devices: both(&before.devices, &now.devices, |earlier, later| {
            device(earlier, later, interval_s)
        }),
        mounts: both(&before.mounts, &now.mounts, mount),
        network: both(
            &before.network,
            &now.network,
            |(earlier, _), (later, link)| NetworkSample {
                received_bytes: later.received_bytes.saturating_sub(earlier.received_bytes),
                sent_bytes: later.sent_bytes.saturating_sub(earlier.sent_bytes),
                link_mb_per_s: *link,
            },
        ),
        pressure_s: both(&before.pressure_s, &now.pressure_s, |earlier, later| {
            to_microseconds((later - earlier).max(0.0))
        }),
        observed: now.observed.clone(),
    }
}

/// What is made of the values that both maps have.
fn both<T, U>(
    before: &BTreeMap<String, T>,
    now: &BTreeMap<String, T>,
    make: impl Fn(&T, &T) -> U,
) -> BTreeMap<String, U> {
    let in_both = |(name, later): (&String, &T)| {
        let earlier = before.get(name)?;
        Some((name.clone(), make(earlier, later)))
    };
    now.iter().filter_map(in_both).collect()
}

/// Milliseconds of the kernel's that passed, as seconds.
fn seconds(earlier_ms: u64, later_ms: u64) -> f64 {
    later_ms.saturating_sub(earlier_ms) as f64 / 1e3
}

/// Without the digits that only come from subtracting.
fn to_microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

fn cpu(
    earlier: &ProcessorTimes,
    later: &ProcessorTimes,
    before: &Readings,
    now: &Readings,
) -> CpuSample {
    // The kernel corrects idle and waiting times backwards at times.
    let passed =
        |of: fn(&ProcessorTimes) -> f64| to_microseconds((of(later) - of(earlier)).max(0.0));
    let interrupts_s = passed(|times| times.interrupts_s);
    let kernel_threads = now.kernel_threads_s.map(|total| {
        let before = now.kernel_threads_before_s.unwrap_or(total);
        to_microseconds((total - before).max(0.0))
    });
    CpuSample {
        user_s: passed(|times| times.user_s),
        system_s: passed(|times| times.system_s + times.interrupts_s),
        iowait_s: passed(|times| times.iowait_s),
        steal_s: passed(|times| times.steal_s),
        idle_s: passed(|times| times.idle_s),
        jobs_s: Some(now.jobs_cpu.saturating_sub(before.jobs_cpu).as_secs_f64()),
        launcher_s: Some(now.own_cpu.saturating_sub(before.own_cpu).as_secs_f64()),
        interrupts_s: Some(interrupts_s),
        kernel_threads_s: kernel_threads,
        quota_s: now
            .quota
            .map(|quota| quota * now.at.saturating_sub(before.at).as_secs_f64()),
    }
}

fn channels(before: &Readings, now: &Readings) -> BTreeMap<String, ChannelSample> {
    let Some(totals) = &now.channels else {
        return BTreeMap::new();
    };
    // Jobs that were not there before began with nothing.
    let earlier = before.channels.unwrap_or_default();
    Channel::ALL
        .iter()
        .zip(totals.iter().zip(&earlier))
        .map(|(channel, (total, earlier))| {
            let passed = total.since(earlier);
            let sample = ChannelSample {
                read_bytes: passed.read_bytes,
                write_bytes: passed.write_bytes,
                metadata_operations: passed.metadata_operations,
                changes: Some(passed.changes),
                blocked_s: passed.blocked.as_secs_f64(),
                latency_us: classes_in_use(&passed.classes),
            };
            (channel.name().to_owned(), sample)
        })
        .collect()
}

fn mount(earlier: &ServedMount, later: &ServedMount) -> MountSample {
    let passed = |of: fn(&ServedMount) -> u64| -> u64 { of(later).saturating_sub(of(earlier)) };
    let calls = later.calls.iter().filter_map(|(name, total)| {
        let earlier = earlier.calls.get(name).copied().unwrap_or(0);
        Some((name.clone(), total.checked_sub(earlier)?)).filter(|(_, made)| *made > 0)
    });
    MountSample {
        kind: later.kind.clone(),
        read_bytes: passed(|mount| mount.read_bytes),
        write_bytes: passed(|mount| mount.write_bytes),
        operations: passed(|mount| mount.operations),
        operation_s: earlier
            .operation_ms
            .zip(later.operation_ms)
            .map(|(earlier, later)| seconds(earlier, later)),
        calls: calls.collect(),
    }
}

fn device(earlier: &BlockDevice, later: &BlockDevice, interval_s: f64) -> DeviceSample {
    let passed = |of: fn(&BlockDevice) -> u64| -> u64 { of(later).saturating_sub(of(earlier)) };
    // The kernel shows milliseconds as 32 bits, which the time of many requests at once fills within hours. Where the
    // counts of requests go back, too, the device is another one.
    let is_same = later.reads >= earlier.reads && later.writes >= earlier.writes;
    let passed_s = |of: fn(&BlockDevice) -> u64| {
        let ms = if is_same && of(later) < of(earlier) {
            (of(later) + (1 << 32)).saturating_sub(of(earlier))
        } else {
            passed(of)
        };
        ms as f64 / 1e3
    };
    DeviceSample {
        read_bytes: passed(|device| device.read_bytes),
        write_bytes: passed(|device| device.write_bytes),
        reads: passed(|device| device.reads),
        writes: passed(|device| device.writes),
        read_s: passed_s(|device| device.read_ms),
        write_s: passed_s(|device| device.write_ms),
        busy_s: passed_s(|device| device.busy_ms),
        queue: if interval_s > 0.0 {
            passed_s(|device| device.queue_ms) / interval_s
        } else {
            0.0
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ::io::live::LiveCounts;

    use super::*;

    #[test]
    fn milliseconds_of_devices_go_round_after_32_bits() {
        let earlier = BlockDevice {
            reads: 10,
            read_ms: (1 << 32) - 500,
            queue_ms: (1 << 32) - 4000,
            ..BlockDevice::default()
        };
        let later = BlockDevice {
            reads: 20,
            read_ms: 1500,
            queue_ms: 4000,
            ..BlockDevice::default()
        };
        let sample = device(&earlier, &later, 2.0);
        assert_eq!((sample.read_s, sample.queue), (2.0, 4.0));
        let fresh = device(&earlier, &BlockDevice { reads: 1, ..later }, 2.0);
        assert_eq!((fresh.reads, fresh.queue), (0, 0.0));
    }

    fn readings(seconds: u64, user_s: f64, writes: u64) -> Readings {
        let mut channels = LiveCounts::default();
        channels[Channel::Work as usize].write_bytes = writes * 100;
        channels[Channel::Work as usize].classes[3] = writes;
        Readings {
            at: Duration::from_secs(seconds),
            unix: Duration::from_secs(1000 + seconds),
            processors: Some(ProcessorTimes {
                user_s,
                system_s: 1.0,
                interrupts_s: 0.5 * seconds as f64,
                ..ProcessorTimes::default()
            }),
            devices: [(
                "sda".to_owned(),
                BlockDevice {
                    writes,
                    write_bytes: writes * 512,
                    queue_ms: writes * 1000,
                    ..BlockDevice::default()
                },
            )]
            .into(),
            channels: Some(channels),
            jobs_cpu: Duration::from_millis(seconds * 700),
            ..Readings::default()
        }
    }

    #[test]
    fn a_sample_is_what_passed() {
        let sample = sample(&readings(10, 5.0, 8), &readings(12, 6.5, 20));
        assert!((sample.interval_s - 2.0).abs() < 1e-9);
        let cpu = sample.cpu.unwrap();
        let figures = [cpu.user_s, cpu.system_s, cpu.jobs_s.unwrap()];
        for (figure, expected) in figures.into_iter().zip([1.5, 1.0, 1.4]) {
            assert!((figure - expected).abs() < 1e-9, "{figures:?}");
        }
        assert_eq!(cpu.kernel_threads_s, None);
        let sda = &sample.devices["sda"];
        assert_eq!((sda.writes, sda.write_bytes), (12, 12 * 512));
        assert!((sda.queue - 6.0).abs() < 1e-9);
        let work = &sample.channels["work"];
        assert_eq!(work.write_bytes, 1200);
        assert_eq!(work.latency_us, [(8, 12)]);
        assert_eq!(sample.memory, None);
    }

    #[test]
    fn what_was_not_there_before_is_absent_but_for_jobs() {
        let mut before = readings(10, 5.0, 8);
        before.devices.clear();
        before.channels = None;
        let sample = sample(&before, &readings(11, 6.0, 9));
        assert!(sample.devices.is_empty());
        assert_eq!(sample.channels["work"].write_bytes, 900);
    }
}
