//! Figures that come from samples: sustained peaks, what measuring cost.

use std::collections::BTreeMap;

use super::disturbance::Window;
use crate::peak::{Moved, sustained, window_s};
use crate::run::SustainedPeak;
use crate::sample::{ChannelSample, DeviceSample, Sample};

/// The highest means over the window: of all channels together, of each, of each device.
pub(super) fn sustained_peak(samples: &[Sample], window: Window) -> Option<SustainedPeak> {
    let running = window.running(samples);
    let with_flush = window.with_flush(samples);
    let run_s: f64 = with_flush.iter().map(|sample| sample.interval_s).sum();
    let window_s = window_s(run_s);
    let peak = |samples: &[&Sample], bytes: &dyn Fn(&Sample) -> u64| {
        let moved = |sample: &&Sample| Moved {
            end_s: sample.at_s,
            interval_s: sample.interval_s,
            amount: bytes(sample) as f64 / 1e6,
        };
        let moved: Vec<Moved> = samples.iter().map(moved).collect();
        sustained(&[moved], window_s).map(|peak| peak.per_s)
    };
    let total = peak(&running, &|sample| {
        sample.channels.values().map(ChannelSample::bytes).sum()
    });
    let of_channels = |names: &'static [&str]| {
        peak(&running, &|sample| {
            let moved = names.iter().filter_map(|name| sample.channels.get(*name));
            moved.map(ChannelSample::bytes).sum()
        })
    };
    let shared = of_channels(&["input", "output"]);
    let work = of_channels(&["work", "util"]);
    let each = |samples: &[&Sample], names: &mut dyn Iterator<Item = &String>, of: &Of| {
        let mut peaks = BTreeMap::new();
        for name in names {
            if peaks.contains_key(name) {
                continue;
            }
            let peak = peak(samples, &|sample| of(sample, name));
            peaks.extend(peak.map(|peak| (name.clone(), peak)));
        }
        peaks
    };
    let channels = each(
        &running,
        &mut running.iter().flat_map(|sample| sample.channels.keys()),
        &|sample, name| sample.channels.get(name).map_or(0, ChannelSample::bytes),
    );
    let of_devices = |bytes: fn(&DeviceSample) -> u64| {
        each(
            &with_flush,
            &mut with_flush.iter().flat_map(|sample| sample.devices.keys()),
            &move |sample, name| sample.devices.get(name).map_or(0, bytes),
        )
    };
    let devices = of_devices(DeviceSample::bytes);
    // Jobs that do not let themselves be seen have no peak.
    let total = total.filter(|_| !channels.is_empty());
    (total.is_some() || !devices.is_empty()).then_some(SustainedPeak {
        window_s,
        mb_per_s: total,
        settled_mb_per_s: total.and_then(|_| settled(samples, window, window_s)),
        shared_mb_per_s: shared.filter(|_| total.is_some()),
        work_mb_per_s: work.filter(|_| total.is_some()),
        channels,
        devices,
        device_reads: of_devices(|device| device.read_bytes),
        device_writes: of_devices(|device| device.write_bytes),
    })
}

/// The highest mean of what storage took and gave: a second in which the page cache took more than it wrote
/// counts for less, one in which it wrote what it had taken before for more.
fn settled(samples: &[Sample], window: Window, window_s: f64) -> Option<f64> {
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
    let moved = samples
        .iter()
        .zip(levels.iter().zip(before))
        .filter(|(sample, _)| (window.launched_s..=window.ended_s).contains(&middle(sample)))
        .map(|(sample, (after, before))| {
            let served: u64 = sample.channels.values().map(ChannelSample::bytes).sum();
            Moved {
                end_s: sample.at_s,
                interval_s: sample.interval_s,
                amount: (served as f64 - (after - before)) / 1e6,
            }
        })
        .collect();
    sustained(&[moved], window_s).map(|peak| peak.per_s)
}

/// Bytes of what a name stands for.
type Of = dyn Fn(&Sample, &str) -> u64;

/// CPU time of launcher and sampler while jobs ran, seconds, and the same as a share of one core.
pub(super) fn launcher(samples: &[Sample], window: Window) -> Option<(f64, f64)> {
    let running = window.running(samples);
    let seconds: f64 = running.iter().map(|sample| sample.interval_s).sum();
    let of = |sample: &&Sample| sample.cpu.as_ref()?.launcher_s;
    let cpu_s = running.iter().map(of).sum::<Option<f64>>()?;
    (seconds > 0.0).then(|| (cpu_s, cpu_s / seconds))
}

/// Bytes that NFS mounts read from their servers while jobs ran.
pub(super) fn read_from_servers(samples: &[Sample], window: Window) -> u64 {
    let running = window.running(samples);
    let mounts = running.iter().flat_map(|sample| sample.mounts.values());
    mounts.map(|mount| mount.read_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::CpuSample;

    fn samples() -> Vec<Sample> {
        let sample = |second: u32| {
            let busy = (100..170).contains(&second);
            let bytes = if busy { 30_000_000 } else { 10_000_000 };
            Sample {
                at_s: f64::from(second) + 1.0,
                interval_s: 1.0,
                cpu: Some(CpuSample {
                    launcher_s: Some(0.002),
                    ..CpuSample::default()
                }),
                channels: [(
                    "work".to_owned(),
                    ChannelSample {
                        write_bytes: bytes,
                        ..ChannelSample::default()
                    },
                )]
                .into(),
                devices: [(
                    "sda".to_owned(),
                    DeviceSample {
                        read_bytes: bytes / 2,
                        ..DeviceSample::default()
                    },
                )]
                .into(),
                ..Sample::default()
            }
        };
        (0..300).map(sample).collect()
    }

    fn window(launched_s: f64, ended_s: f64) -> Window {
        Window {
            launched_s,
            ended_s,
            flushed_s: ended_s,
        }
    }

    #[test]
    fn peaks_are_of_the_time_in_which_jobs_ran() {
        let peak = sustained_peak(&samples(), window(0.0, 300.0)).unwrap();
        assert!((peak.mb_per_s.unwrap() - 30.0).abs() < 1e-9);
        assert!((peak.channels["work"] - 30.0).abs() < 1e-9);
        assert!((peak.devices["sda"] - 15.0).abs() < 1e-9);
        assert!((peak.device_reads["sda"] - 15.0).abs() < 1e-9);
        assert!(peak.device_writes["sda"].abs() < 1e-9);
        let early = sustained_peak(&samples(), window(0.0, 100.0)).unwrap();
        assert!((early.mb_per_s.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(sustained_peak(&samples(), window(0.0, 50.0)), None);
    }

    #[test]
    fn what_the_page_cache_took_was_not_moved_by_storage() {
        use crate::sample::MemorySample;
        let mut samples = samples();
        // 70 s at 30 MB/s, of which 20 MB/s stay in memory and are written in the 140 s after.
        for (second, sample) in (0u32..).zip(&mut samples) {
            let unwritten = match second {
                100..170 => (second - 99) * 20,
                170..310 => 1400 - (second - 169) * 10,
                _ => 0,
            };
            sample.memory = Some(MemorySample {
                dirty_bytes: u64::from(unwritten) * 1_000_000,
                ..MemorySample::default()
            });
        }
        let peak = sustained_peak(&samples, window(0.0, 300.0)).unwrap();
        assert!((peak.mb_per_s.unwrap() - 30.0).abs() < 1e-9);
        // 10 before and during, 10 served and 10 written back after.
        assert!((peak.settled_mb_per_s.unwrap() - 20.0).abs() < 1e-9);
        assert_eq!(peak.shared_mb_per_s, Some(0.0));
        assert!((peak.work_mb_per_s.unwrap() - 30.0).abs() < 1e-9);
    }

    #[test]
    fn the_launcher_is_a_share_of_one_core() {
        let (cpu_s, share) = launcher(&samples(), window(0.0, 100.0)).unwrap();
        assert!((cpu_s - 0.2).abs() < 1e-9 && (share - 0.002).abs() < 1e-9);
        assert_eq!(launcher(&[], window(0.0, 1.0)), None);
    }
}
