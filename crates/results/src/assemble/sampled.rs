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
    let devices = each(
        &with_flush,
        &mut with_flush.iter().flat_map(|sample| sample.devices.keys()),
        &|sample, name| sample.devices.get(name).map_or(0, DeviceSample::bytes),
    );
    // Jobs that do not let themselves be seen have no peak.
    let total = total.filter(|_| !channels.is_empty());
    (total.is_some() || !devices.is_empty()).then_some(SustainedPeak {
        window_s,
        mb_per_s: total,
        channels,
        devices,
    })
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
        let early = sustained_peak(&samples(), window(0.0, 100.0)).unwrap();
        assert!((early.mb_per_s.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(sustained_peak(&samples(), window(0.0, 50.0)), None);
    }

    #[test]
    fn the_launcher_is_a_share_of_one_core() {
        let (cpu_s, share) = launcher(&samples(), window(0.0, 100.0)).unwrap();
        assert!((cpu_s - 0.2).abs() < 1e-9 && (share - 0.002).abs() < 1e-9);
        assert_eq!(launcher(&[], window(0.0, 1.0)), None);
    }
}
