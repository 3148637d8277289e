//! Figures that come from samples: sustained peaks, what measuring cost.

use std::collections::{BTreeMap, BTreeSet};

use super::disturbance::Window;
use super::settled::settled;
use crate::node::NodeRecord;
use crate::peak::{Moved, sustained, window_s};
use crate::run::SustainedPeak;
use crate::sample::{DeviceSample, Sample};

/// What each node did over time, by name.
pub(super) type Nodes = [(String, Vec<Sample>)];

/// Bytes of what a name stands for.
type Of = dyn Fn(&Sample, &str) -> u64;

/// The highest means over the window, all nodes on one clock: of all channels together, of each, of each
/// device. Devices of several nodes are named `node:device`.
pub(super) fn sustained_peak(
    nodes: &Nodes,
    records: &[NodeRecord],
    window: Window,
) -> Option<SustainedPeak> {
    let each = nodes.iter();
    let running: Vec<Vec<&Sample>> = each.map(|(_, own)| window.running(own)).collect();
    let with_flush: Vec<Vec<&Sample>> = nodes
        .iter()
        .map(|(_, own)| window.with_flush(own))
        .collect();
    let seconds = |own: &Vec<&Sample>| own.iter().map(|one| one.interval_s).sum::<f64>();
    let window_s = window_s(with_flush.iter().map(seconds).fold(0.0, f64::max));
    let of_channels = |wanted: &dyn Fn(&str) -> bool| {
        peak(&running, window_s, &|sample| {
            let moved = sample.channels.iter().filter(|(name, _)| wanted(name));
            moved.map(|(_, channel)| channel.bytes()).sum()
        })
    };
    let total = of_channels(&|_| true);
    let shared = of_channels(&|name| ["input", "output"].contains(&name));
    let work = of_channels(&|name| ["work", "util"].contains(&name));
    let names = running.iter().flatten().flat_map(|one| one.channels.keys());
    let names: BTreeSet<&String> = names.collect();
    let channels: BTreeMap<String, f64> = names
        .into_iter()
        .filter_map(|name| Some((name.clone(), of_channels(&|other| other == name)?)))
        .collect();
    let of_devices = |bytes: &Of| devices(nodes, &with_flush, window_s, bytes);
    let bytes_of = |figure: fn(&DeviceSample) -> u64| {
        move |sample: &Sample, name: &str| sample.devices.get(name).map_or(0, figure)
    };
    let devices = of_devices(&bytes_of(DeviceSample::bytes));
    // Jobs that do not let themselves be seen have no peak.
    let total = total.filter(|_| !channels.is_empty());
    (total.is_some() || !devices.is_empty()).then(|| SustainedPeak {
        window_s,
        mb_per_s: total,
        settled_mb_per_s: total.and_then(|_| settled((nodes, records), window, window_s)),
        shared_mb_per_s: shared.filter(|_| total.is_some()),
        work_mb_per_s: work.filter(|_| total.is_some()),
        channels,
        devices,
        device_reads: of_devices(&bytes_of(|device| device.read_bytes)),
        device_writes: of_devices(&bytes_of(|device| device.write_bytes)),
    })
}

/// The highest mean of so many bytes a sample, MB/s, nodes added up.
fn peak(nodes: &[Vec<&Sample>], window_s: f64, bytes: &dyn Fn(&Sample) -> u64) -> Option<f64> {
    let moved = |sample: &&Sample| Moved {
        end_s: sample.at_s,
        interval_s: sample.interval_s,
        amount: bytes(sample) as f64 / 1e6,
    };
    let of_node = |own: &Vec<&Sample>| own.iter().map(moved).collect();
    let moved: Vec<Vec<Moved>> = nodes.iter().map(of_node).collect();
    sustained(&moved, window_s).map(|peak| peak.per_s)
}

/// The peak of each device of each node.
fn devices(
    nodes: &Nodes,
    samples: &[Vec<&Sample>],
    window_s: f64,
    bytes: &Of,
) -> BTreeMap<String, f64> {
    let mut peaks = BTreeMap::new();
    for ((node, _), own) in nodes.iter().zip(samples) {
        let names: BTreeSet<&String> = own.iter().flat_map(|one| one.devices.keys()).collect();
        for name in names {
            let own = std::slice::from_ref(own);
            let peak = peak(own, window_s, &|sample| bytes(sample, name));
            let full = if nodes.len() > 1 {
                format!("{node}:{name}")
            } else {
                name.clone()
            };
            peaks.extend(peak.map(|peak| (full, peak)));
        }
    }
    peaks
}

/// CPU time of launchers and samplers while jobs ran, seconds, and that of the node where it was most as a share
/// of one core.
pub(super) fn launcher(nodes: &Nodes, window: Window) -> Option<(f64, f64)> {
    let mut all = 0.0;
    let mut most: Option<f64> = None;
    for (_, samples) in nodes {
        let running = window.running(samples);
        let seconds: f64 = running.iter().map(|sample| sample.interval_s).sum();
        let of = |sample: &&Sample| sample.cpu.as_ref()?.launcher_s;
        let cpu_s = running.iter().map(of).sum::<Option<f64>>()?;
        all += cpu_s;
        let share = (seconds > 0.0).then(|| cpu_s / seconds);
        most = most.into_iter().chain(share).reduce(f64::max);
    }
    Some((all, most?))
}

/// Bytes that the mounts of the run read from their servers while jobs ran.
pub(super) fn read_from_servers(nodes: &[NodeRecord], samples: &Nodes, window: Window) -> u64 {
    let mut bytes = 0;
    for node in nodes {
        let points = node.served_mounts();
        let own = samples.iter().filter(|(name, _)| *name == node.node);
        let running = own.flat_map(|(_, own)| window.running(own));
        let mounts = running.flat_map(|sample| &sample.mounts);
        let of_run = mounts.filter(|(point, _)| points.contains(&point.as_str()));
        bytes += of_run.map(|(_, mount)| mount.read_bytes).sum::<u64>();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::FileSystemRecord;
    use crate::sample::{ChannelSample, CpuSample, MountSample};

    fn one_node(samples: Vec<Sample>) -> Vec<(String, Vec<Sample>)> {
        vec![("n".to_owned(), samples)]
    }

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

    #[test]
    fn only_what_the_run_s_own_mounts_read_while_jobs_ran_counts() {
        let sample = |second: u32| {
            let mount = |read_bytes| MountSample {
                read_bytes,
                ..MountSample::default()
            };
            Sample {
                at_s: f64::from(second) + 1.0,
                interval_s: 1.0,
                mounts: [
                    ("/sas".to_owned(), mount(7)),
                    ("/home".to_owned(), mount(100)),
                ]
                .into(),
                ..Sample::default()
            }
        };
        let served = FileSystemRecord {
            mount_point: "/sas".to_owned(),
            counts_itself: true,
            ..FileSystemRecord::default()
        };
        // Inputs and outputs are on the same mount.
        let node = NodeRecord {
            node: "n".to_owned(),
            file_systems: [
                ("data".to_owned(), served.clone()),
                ("output".to_owned(), served),
            ]
            .into(),
            ..NodeRecord::default()
        };
        let other = NodeRecord {
            node: "m".to_owned(),
            same_host_as: Some("n".to_owned()),
            ..node.clone()
        };
        let samples = [
            ("n".to_owned(), (0..10).map(sample).collect()),
            ("m".to_owned(), Vec::new()),
        ];
        let read = read_from_servers(&[node, other], &samples, window(2.0, 6.0));
        assert_eq!(read, 4 * 7);
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
        let peak = sustained_peak(&one_node(samples()), &[], window(0.0, 300.0)).unwrap();
        assert!((peak.mb_per_s.unwrap() - 30.0).abs() < 1e-9);
        assert!((peak.channels["work"] - 30.0).abs() < 1e-9);
        assert!((peak.devices["sda"] - 15.0).abs() < 1e-9);
        assert!((peak.device_reads["sda"] - 15.0).abs() < 1e-9);
        assert!(peak.device_writes["sda"].abs() < 1e-9);
        let early = sustained_peak(&one_node(samples()), &[], window(0.0, 100.0)).unwrap();
        assert!((early.mb_per_s.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(
            sustained_peak(&one_node(samples()), &[], window(0.0, 50.0)),
            None
        );
    }

    #[test]
    fn the_launcher_is_a_share_of_one_core() {
        let (cpu_s, share) = launcher(&one_node(samples()), window(0.0, 100.0)).unwrap();
        assert!((cpu_s - 0.2).abs() < 1e-9 && (share - 0.002).abs() < 1e-9);
        assert_eq!(launcher(&one_node(Vec::new()), window(0.0, 1.0)), None);
    }
}
