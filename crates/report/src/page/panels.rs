//! The charts over time. A chart is there if what it shows was measured.

use std::collections::{BTreeMap, BTreeSet};

use results::sample::{
    ChannelSample, CpuSample, DeviceSample, MemorySample, MountSample, NetworkSample, Sample,
};
use serde::Serialize;

use super::series::{Bins, Kind};

/// Lines of a chart beyond which nobody tells them apart.
const LINES_MAX: usize = 6;

/// A chart over time.
#[derive(Debug, Serialize)]
pub(super) struct Panel {
    /// Stable id.
    pub(super) id: String,
    pub(super) title: String,
    /// What it shows and how to read it, a sentence.
    pub(super) about: String,
    pub(super) unit: &'static str,
    /// Series are parts of a whole and stand on one another.
    pub(super) stacked: bool,
    /// Top of the scale where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top: Option<f64>,
    pub(super) series: Vec<Series>,
}

/// A line or a layer.
#[derive(Debug, Serialize)]
pub(super) struct Series {
    pub(super) label: String,
    /// Name of its colour in the style sheet.
    pub(super) colour: &'static str,
    pub(super) values: Vec<Option<f64>>,
    /// Parts that are shown beside the value, such as reads and writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<Part>,
}

/// A part of a series.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) label: &'static str,
    pub(super) values: Vec<Option<f64>>,
}

/// Channels by key, with their names on the page, in the order of legends.
pub(super) const CHANNELS: [(&str, &str); 4] = [
    ("input", "Input"),
    ("output", "Output"),
    ("work", "WORK"),
    ("util", "Utility"),
];

/// Colours of lines that are no channels, in turn.
const LINES: [&str; LINES_MAX] = ["line-1", "line-2", "line-3", "line-4", "line-5", "line-6"];

/// All charts that there are figures for, of nodes of these names.
pub(super) fn all(bins: &Bins, nodes: &[String]) -> Vec<Panel> {
    if bins.is_empty() {
        return Vec::new();
    }
    let known = [
        throughput(bins, nodes),
        by_node(bins, nodes),
        processors(bins),
        memory(bins, nodes),
        devices(bins, nodes),
        mounts(bins, nodes),
        network(bins, nodes),
        pressure(bins, nodes),
    ];
    known
        .into_iter()
        .chain(observed(bins, nodes))
        .filter(|panel| !panel.series.is_empty())
        .collect()
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// What is said only where there are several nodes.
fn of_several<'a>(nodes: &[String], sentence: &'a str) -> &'a str {
    if nodes.len() > 1 { sentence } else { "" }
}

fn throughput(bins: &Bins, nodes: &[String]) -> Panel {
    let used: BTreeSet<&String> = bins.samples().flat_map(|s| s.channels.keys()).collect();
    let of = |name: &'static str, bytes: fn(&ChannelSample) -> u64| {
        // A sample that has some channels has those that were used.
        bins.values(Kind::Rate, move |sample: &Sample| {
            let measured = !sample.channels.is_empty();
            measured.then(|| megabytes(sample.channels.get(name).map_or(0, bytes)))
        })
    };
    let series = CHANNELS
        .iter()
        .filter(|(name, _)| used.iter().any(|used| used == name))
        .map(|(name, label)| Series {
            label: (*label).to_owned(),
            colour: name,
            values: of(name, |channel| channel.read_bytes + channel.write_bytes),
            parts: vec![
                Part {
                    label: "read",
                    values: of(name, |channel| channel.read_bytes),
                },
                Part {
                    label: "written",
                    values: of(name, |channel| channel.write_bytes),
                },
            ],
        });
    Panel {
        id: "throughput".to_owned(),
        title: "Throughput by channel".to_owned(),
        about: format!(
            "What programs were served, reads and writes together, whether it came from a device or from a cache.{}",
            of_several(nodes, " All nodes together.")
        ),
        unit: "MB/s",
        stacked: true,
        top: None,
        series: series.collect(),
    }
}

/// What each of several nodes was served; of more than can be told apart those that were served most and least.
fn by_node(bins: &Bins, nodes: &[String]) -> Panel {
    let served = |sample: &Sample| {
        let channels = sample.channels.values();
        let bytes = channels.map(|channel| channel.read_bytes + channel.write_bytes);
        (!sample.channels.is_empty()).then(|| megabytes(bytes.sum()))
    };
    let mut all: Vec<(&String, Vec<Option<f64>>)> = nodes
        .iter()
        .enumerate()
        .map(|(at, name)| (name, bins.values_of_node(at, Kind::Rate, served)))
        .filter(|_| nodes.len() > 1)
        .collect();
    let left_out = all.len().saturating_sub(LINES_MAX);
    if left_out > 0 {
        let sum = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
        all.sort_by(|(_, one), (_, other)| sum(other).total_cmp(&sum(one)));
        all.drain(LINES_MAX / 2..LINES_MAX / 2 + left_out);
    }
    let others = match left_out {
        0 => String::new(),
        left => {
            format!(" {left} nodes between those that were served most and least are left out.")
        }
    };
    Panel {
        id: "nodes".to_owned(),
        title: "Throughput by node".to_owned(),
        about: format!(
            "What the programs of each node were served, all channels, reads and writes together.{others}"
        ),
        unit: "MB/s",
        stacked: false,
        top: None,
        series: all
            .into_iter()
            .zip(LINES)
            .map(|((name, values), colour)| Series {
                label: name.clone(),
                colour,
                values,
                parts: Vec::new(),
            })
            .filter(Series::measured)
            .collect(),
    }
}

/// A part of the processors' time.
type PartOfCpu = fn(&CpuSample) -> Option<f64>;

fn processors(bins: &Bins) -> Panel {
    let jobs_known = bins
        .samples()
        .filter_map(|sample| sample.cpu.as_ref())
        .any(|cpu| cpu.jobs_s.is_some());
    let by_owner: [(&str, &'static str, PartOfCpu); 5] = [
        ("Jobs", "cpu-1", |cpu| cpu.jobs_s),
        ("Launcher and sampler", "cpu-2", |cpu| cpu.launcher_s),
        ("Other programs and the kernel's threads", "cpu-3", |cpu| {
            let own = cpu.jobs_s? + cpu.launcher_s.unwrap_or(0.0);
            Some((cpu.user_s + cpu.system_s - own).max(0.0))
        }),
        ("Waiting for I/O", "cpu-4", |cpu| Some(cpu.iowait_s)),
        ("Taken by other guests", "cpu-5", |cpu| Some(cpu.steal_s)),
    ];
    let by_mode: [(&str, &'static str, PartOfCpu); 4] = [
        ("Programs", "cpu-1", |cpu| Some(cpu.user_s)),
        ("Kernel", "cpu-3", |cpu| Some(cpu.system_s)),
        ("Waiting for I/O", "cpu-4", |cpu| Some(cpu.iowait_s)),
        ("Taken by other guests", "cpu-5", |cpu| Some(cpu.steal_s)),
    ];
    let parts: &[_] = if jobs_known { &by_owner } else { &by_mode };
    Panel {
        id: "processors".to_owned(),
        title: "Processors".to_owned(),
        about: "Share of all processors' time; what is missing to 100 % was idle. Waiting for I/O is idle \
                time too, with requests outstanding."
            .to_owned(),
        unit: "%",
        stacked: true,
        top: Some(100.0),
        series: parts
            .iter()
            .map(|(label, colour, part)| Series {
                label: (*label).to_owned(),
                colour,
                values: bins.values(Kind::Processors, |sample| {
                    sample.cpu.as_ref().and_then(*part)
                }),
                parts: Vec::new(),
            })
            .filter(Series::measured)
            .collect(),
    }
}

impl Series {
    fn measured(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }
}

fn memory(bins: &Bins, nodes: &[String]) -> Panel {
    let level = |label: &str, colour, of: fn(&MemorySample) -> u64| Series {
        label: label.to_owned(),
        colour,
        values: bins.values(Kind::Level, |sample| {
            Some(of(sample.memory.as_ref()?) as f64 / 1e9)
        }),
        parts: Vec::new(),
    };
    let series = [
        level("Page cache", LINES[0], |memory| memory.cached_bytes),
        level("Available", LINES[1], |memory| memory.available_bytes),
        level("Not yet written", LINES[2], |memory| {
            memory.dirty_bytes + memory.writeback_bytes
        }),
    ];
    let together = " All nodes together that were sampled at the time.";
    Panel {
        id: "memory".to_owned(),
        title: "Memory".to_owned(),
        about: format!(
            "Page cache and what programs could still get; what waits to be written is throughput that devices have \
             not delivered yet.{}",
            of_several(nodes, together)
        ),
        unit: "GB",
        stacked: false,
        top: None,
        series: series.into_iter().filter(Series::measured).collect(),
    }
}

/// Devices, mounts or interfaces of a sample, by name.
type Movers<T> = fn(&Sample) -> &BTreeMap<String, T>;

/// Bytes one way and the other.
type Ways<T> = fn(&T) -> (u64, u64);

/// A line for each of those that move most bytes, at most [`LINES_MAX`], and a sentence on those that are left out. Of
/// several nodes each has its own: `vda` of one is not that of another.
fn traffic<T>(
    bins: &Bins,
    nodes: &[String],
    (movers, bytes): (Movers<T>, Ways<T>),
    words: [&'static str; 2],
) -> (Vec<Series>, String) {
    let mut totals: BTreeMap<(usize, &String), u64> = BTreeMap::new();
    for (node, sample) in bins.by_node() {
        for (name, mover) in movers(sample) {
            let (one, other) = bytes(mover);
            *totals.entry((node, name)).or_default() += one + other;
        }
    }
    let mut totals: Vec<_> = totals.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    totals.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let left_out = match totals.len().saturating_sub(LINES_MAX) {
        0 => String::new(),
        left => format!(" The {LINES_MAX} that moved most are shown, {left} are not."),
    };
    let line = |(((node, name), _), colour): (((usize, &String), u64), _)| {
        let rate = |pick: fn((u64, u64)) -> u64| {
            bins.values_of_node(node, Kind::Rate, |sample| {
                Some(megabytes(pick(bytes(movers(sample).get(name)?))))
            })
        };
        let part = |label, values| Part { label, values };
        Series {
            label: place(nodes, node, name),
            colour,
            values: rate(|(one, other)| one + other),
            parts: vec![
                part(words[0], rate(|(one, _)| one)),
                part(words[1], rate(|(_, other)| other)),
            ],
        }
    };
    (totals.into_iter().zip(LINES).map(line).collect(), left_out)
}

/// What something is called that several nodes may have under one name.
fn place(nodes: &[String], node: usize, name: &str) -> String {
    match nodes.get(node) {
        Some(of) if nodes.len() > 1 => format!("{of}:{name}"),
        _ => name.to_owned(),
    }
}

fn devices(bins: &Bins, nodes: &[String]) -> Panel {
    let bytes: Ways<DeviceSample> = |one| (one.read_bytes, one.write_bytes);
    let of: Movers<DeviceSample> = |sample| &sample.devices;
    let (series, left_out) = traffic(bins, nodes, (of, bytes), ["read", "written"]);
    Panel {
        id: "devices".to_owned(),
        title: "Devices".to_owned(),
        about: format!(
            "What block devices really moved, reads and writes together. A device may lie on another; they are not \
             added up.{left_out}"
        ),
        unit: "MB/s",
        stacked: false,
        top: None,
        series,
    }
}

fn mounts(bins: &Bins, nodes: &[String]) -> Panel {
    let bytes: Ways<MountSample> = |one| (one.read_bytes, one.write_bytes);
    let of: Movers<MountSample> = |sample| &sample.mounts;
    let (series, left_out) = traffic(bins, nodes, (of, bytes), ["read", "written"]);
    Panel {
        id: "mounts".to_owned(),
        title: "Network file systems".to_owned(),
        about: format!(
            "What came from servers and went to them, by mount point; mounts that are one for the kernel at one of \
             them.{left_out}"
        ),
        unit: "MB/s",
        stacked: false,
        top: None,
        series,
    }
}

fn network(bins: &Bins, nodes: &[String]) -> Panel {
    let bytes: Ways<NetworkSample> = |one| (one.received_bytes, one.sent_bytes);
    let of: Movers<NetworkSample> = |sample| &sample.network;
    let (series, left_out) = traffic(bins, nodes, (of, bytes), ["received", "sent"]);
    let mut speeds: BTreeMap<String, f64> = BTreeMap::new();
    for (node, sample) in bins.by_node() {
        let links = sample.network.iter();
        let told = links.filter_map(|(name, link)| Some((name, link.link_mb_per_s?)));
        speeds.extend(told.map(|(name, speed)| (place(nodes, node, name), speed)));
    }
    let speeds: Vec<String> = series
        .iter()
        .filter_map(|line| {
            let speed = super::number::figure(*speeds.get(&line.label)?);
            Some(format!("{} {speed} MB/s each way", line.label))
        })
        .collect();
    let links = if speeds.is_empty() {
        "The interfaces do not tell the speed of their links.".to_owned()
    } else {
        format!("Links: {}.", speeds.join(", "))
    };
    Panel {
        id: "network".to_owned(),
        title: "Network".to_owned(),
        about: format!("Received and sent together, by interface. {links}{left_out}"),
        unit: "MB/s",
        stacked: false,
        top: None,
        series,
    }
}

fn pressure(bins: &Bins, nodes: &[String]) -> Panel {
    let kinds = [
        ("io_full", "All tasks waiting for I/O"),
        ("io_some", "Some task waiting for I/O"),
        ("memory_some", "Some task waiting for memory"),
        ("cpu_some", "Some task waiting for a processor"),
    ];
    let lines = kinds
        .iter()
        .zip(LINES)
        .map(|((key, label), colour)| Series {
            label: (*label).to_owned(),
            colour,
            values: bins.values(Kind::Share, |sample| sample.pressure_s.get(*key).copied()),
            parts: Vec::new(),
        });
    Panel {
        id: "pressure".to_owned(),
        title: "Stalls".to_owned(),
        about: format!(
            "Share of the time in which tasks could not go on, as the kernel accounts it (pressure stall \
             information).{}",
            of_several(
                nodes,
                " The mean of the nodes that were sampled at the time."
            )
        ),
        unit: "%",
        stacked: false,
        top: None,
        series: lines.filter(Series::measured).collect(),
    }
}

/// A chart for each series of others, since their units are not known; each node that has it is a line.
fn observed(bins: &Bins, nodes: &[String]) -> Vec<Panel> {
    let names: BTreeSet<&String> = bins.samples().flat_map(|s| s.observed.keys()).collect();
    let panel = |(index, name): (usize, &String)| {
        let line = |node: usize| Series {
            label: place(nodes, node, name),
            colour: LINES[node % LINES_MAX],
            values: bins.values_of_node(node, Kind::Level, |sample| {
                sample.observed.get(name).copied()
            }),
            parts: Vec::new(),
        };
        Panel {
            id: format!("observed-{}", index + 1),
            title: name.clone(),
            about: "Measured by others and put on this axis (--observe).".to_owned(),
            unit: "",
            stacked: false,
            top: None,
            series: (0..nodes.len())
                .map(line)
                .filter(Series::measured)
                .collect(),
        }
    };
    names.into_iter().enumerate().map(panel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes that move so many MB in each of two seconds.
    fn nodes(rates: &[u64]) -> (Vec<String>, Vec<Vec<Sample>>) {
        let sample = |at_s: f64, rate: u64| Sample {
            at_s,
            interval_s: 1.0,
            channels: BTreeMap::from([(
                "work".to_owned(),
                ChannelSample {
                    read_bytes: rate * 1_000_000,
                    ..ChannelSample::default()
                },
            )]),
            ..Sample::default()
        };
        let of = |rate: &u64| vec![sample(1.0, *rate), sample(2.0, *rate)];
        let names = (1..=rates.len()).map(|node| format!("node{node}"));
        (names.collect(), rates.iter().map(of).collect())
    }

    #[test]
    fn each_of_several_nodes_has_its_line() {
        let (names, samples) = nodes(&[3, 5]);
        let panel = by_node(&Bins::of(&samples), &names);
        let labels: Vec<&str> = panel.series.iter().map(|one| &*one.label).collect();
        assert_eq!(labels, ["node1", "node2"]);
        assert_eq!(panel.series[1].values, [Some(5.0), Some(5.0)]);
        let (names, samples) = nodes(&[3]);
        assert!(by_node(&Bins::of(&samples), &names).series.is_empty());
    }

    #[test]
    fn of_many_nodes_those_are_shown_that_differ_most() {
        let (names, samples) = nodes(&[4, 8, 1, 5, 7, 2, 6, 3]);
        let panel = by_node(&Bins::of(&samples), &names);
        let labels: Vec<&str> = panel.series.iter().map(|one| &*one.label).collect();
        assert_eq!(
            labels,
            ["node2", "node5", "node7", "node8", "node6", "node3"]
        );
        assert!(panel.about.contains("2 nodes between"), "{}", panel.about);
    }

    /// Two machines that are alike, by their samples of a second.
    fn machines() -> (Vec<String>, Vec<Vec<Sample>>) {
        let sample = |moved: u64| Sample {
            at_s: 1.0,
            interval_s: 1.0,
            cpu: Some(CpuSample {
                user_s: 2.0,
                idle_s: 2.0,
                ..CpuSample::default()
            }),
            memory: Some(MemorySample {
                available_bytes: 25_000_000_000,
                cached_bytes: 5_000_000_000,
                ..MemorySample::default()
            }),
            devices: [
                (
                    "vda".to_owned(),
                    DeviceSample {
                        read_bytes: moved,
                        ..DeviceSample::default()
                    },
                ),
                ("idle".to_owned(), DeviceSample::default()),
            ]
            .into(),
            mounts: [(
                "/sas".to_owned(),
                MountSample {
                    read_bytes: moved,
                    ..MountSample::default()
                },
            )]
            .into(),
            network: [(
                "eth0".to_owned(),
                NetworkSample {
                    sent_bytes: moved,
                    link_mb_per_s: Some(1250.0),
                    ..NetworkSample::default()
                },
            )]
            .into(),
            pressure_s: [("io_some".to_owned(), 0.9)].into(),
            observed: [("hits %".to_owned(), 60.0)].into(),
            ..Sample::default()
        };
        let nodes = ["n1", "n2"].map(str::to_owned).to_vec();
        (
            nodes,
            vec![vec![sample(30_000_000)], vec![sample(40_000_000)]],
        )
    }

    fn text(panels: &[Panel]) -> String {
        let mut lines = Vec::new();
        for panel in panels {
            lines.push(format!("{} [{}]: {}", panel.title, panel.unit, panel.about));
            for series in &panel.series {
                let values = series.values.iter().map(|value| format!("{value:?}"));
                let values: Vec<String> = values.collect();
                lines.push(format!("  {}: {}", series.label, values.join(" ")));
            }
        }
        lines.join("\n")
    }

    #[test]
    fn of_several_nodes_shares_are_means_levels_sums_and_devices_their_own() {
        let (names, samples) = machines();
        let several = text(&all(&Bins::of(&samples), &names));
        let alone = text(&all(&Bins::of(&samples[..1]), &names[..1]));
        insta::assert_snapshot!(format!("{several}\n\n{alone}"));
    }
}
