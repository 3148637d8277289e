//! Samples of a node in the layouts that people know from vmstat and iostat, and by channel.

use std::collections::BTreeSet;
use std::fmt::Write;

use results::sample::{ChannelSample, CpuSample, DeviceSample, MountSample, Sample};

/// Headings are repeated after so many lines.
const LINES_PER_HEADING: usize = 40;

/// Which figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Processors, memory and traffic of all devices, a line a sample.
    Vmstat,
    /// Each device and each mount that counts for itself, a line each.
    Iostat,
    /// What jobs were served, a line a channel.
    Channels,
}

/// The samples of a node; `MB` are 10^6 bytes.
pub fn samples(view: View, samples: &[Sample]) -> String {
    match view {
        View::Vmstat => vmstat(samples),
        View::Iostat => iostat(samples),
        View::Channels => channels(samples),
    }
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("writing to a String cannot fail");
}

/// A figure, or a dash where nothing was measured.
fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// An amount a second of a sample's interval.
fn rate(sample: &Sample, amount: f64) -> Option<f64> {
    (sample.interval_s > 0.0).then(|| amount / sample.interval_s)
}

/// True for devices over others, whose traffic is seen there again.
fn is_stacked(name: &str) -> bool {
    ["dm-", "md", "loop", "bcache"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn vmstat(samples: &[Sample]) -> String {
    let mut out = String::new();
    for (index, sample) in samples.iter().enumerate() {
        if index % LINES_PER_HEADING == 0 {
            line(
                &mut out,
                "          ---------------memory MB--------------- ---io MB/s--- -------cpu %------- \
                 --stalled %--",
            );
            line(
                &mut out,
                "      s  jobs     avail     cache     dirty    wback     bi     bo  us  sy  id  wa  \
                 st   cpu  io mem",
            );
        }
        let memory = sample.memory.as_ref();
        let megabytes_of = |bytes: Option<u64>| figure(bytes.map(megabytes), 0);
        let devices = || {
            let all = sample.devices.iter();
            all.filter(|(name, _)| !is_stacked(name)).map(|one| one.1)
        };
        let moved = |of: fn(&DeviceSample) -> u64| {
            let known = devices().next().is_some();
            let bytes: u64 = devices().map(of).sum();
            figure(rate(sample, megabytes(bytes)).filter(|_| known), 1)
        };
        let cpu = |of: fn(&CpuSample) -> f64| {
            let cpu = sample.cpu.as_ref().filter(|cpu| cpu.all_s() > 0.0);
            figure(cpu.map(|cpu| of(cpu) / cpu.all_s() * 100.0), 0)
        };
        let stalled = |name: &str| {
            let seconds = sample.pressure_s.get(name).copied();
            let share = seconds.and_then(|seconds| rate(sample, seconds));
            figure(share.map(|share| share * 100.0), 0)
        };
        line(
            &mut out,
            &format!(
                "{:>7.1} {:>5} {:>9} {:>9} {:>9} {:>8} {:>6} {:>6} {:>3} {:>3} {:>3} {:>3} {:>3}   \
                 {:>3} {:>3} {:>3}",
                sample.at_s,
                sample.running,
                megabytes_of(memory.map(|one| one.available_bytes)),
                megabytes_of(memory.map(|one| one.cached_bytes)),
                megabytes_of(memory.map(|one| one.dirty_bytes)),
                megabytes_of(memory.map(|one| one.writeback_bytes)),
                moved(|device| device.read_bytes),
                moved(|device| device.write_bytes),
                cpu(|cpu| cpu.user_s),
                cpu(|cpu| cpu.system_s),
                cpu(|cpu| cpu.idle_s),
                cpu(|cpu| cpu.iowait_s),
                cpu(|cpu| cpu.steal_s),
                stalled("cpu_some"),
                stalled("io_some"),
                stalled("memory_some"),
            ),
        );
    }
    out
}

/// Milliseconds that each of `count` took.
fn each_ms(seconds: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| seconds * 1e3 / count as f64)
}

/// A mount in iostat's columns: all calls of the server are among the writes.
fn iostat_of_mount(sample: &Sample, (name, mount): (&str, &MountSample), width: usize) -> String {
    let per_s = |amount: f64| figure(rate(sample, amount), 1);
    let told = mount.operation_s;
    format!(
        "{:>7.1} {name:<width$} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6}",
        sample.at_s,
        "-",
        per_s(megabytes(mount.read_bytes)),
        "-",
        per_s(mount.operations as f64),
        per_s(megabytes(mount.write_bytes)),
        figure(
            told.and_then(|seconds| each_ms(seconds, mount.operations)),
            2
        ),
        figure(told.and_then(|seconds| rate(sample, seconds)), 2),
        "-",
    )
}

fn iostat(samples: &[Sample]) -> String {
    let mut out = String::new();
    let devices = samples.iter().flat_map(|sample| sample.devices.keys());
    let mounts = samples.iter().flat_map(|sample| sample.mounts.keys());
    let names: BTreeSet<&String> = devices.chain(mounts).collect();
    let longest = names.iter().map(|name| name.chars().count()).max();
    let width = longest.unwrap_or(0).max(6);
    let lines = samples.iter().flat_map(|sample| {
        let device = move |(name, device): (&String, &DeviceSample)| {
            let per_s = |amount: f64| figure(rate(sample, amount), 1);
            let busy = rate(sample, device.busy_s).map(|share| share * 100.0);
            format!(
                "{:>7.1} {name:<width$} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7.2} {:>6}",
                sample.at_s,
                per_s(device.reads as f64),
                per_s(megabytes(device.read_bytes)),
                figure(each_ms(device.read_s, device.reads), 2),
                per_s(device.writes as f64),
                per_s(megabytes(device.write_bytes)),
                figure(each_ms(device.write_s, device.writes), 2),
                device.queue,
                figure(busy, 1),
            )
        };
        let mounts = sample.mounts.iter();
        let mounts = mounts.map(move |(name, mount)| iostat_of_mount(sample, (name, mount), width));
        sample.devices.iter().map(device).chain(mounts)
    });
    for (index, text) in lines.enumerate() {
        if index % LINES_PER_HEADING == 0 {
            line(
                &mut out,
                &format!(
                    "{:>7} {:<width$} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6}",
                    "s",
                    "device",
                    "r/s",
                    "rMB/s",
                    "r_await",
                    "w/s",
                    "wMB/s",
                    "w_await",
                    "aqu-sz",
                    "%util"
                ),
            );
        }
        line(&mut out, &text);
    }
    if samples.iter().any(|sample| !sample.mounts.is_empty()) {
        line(
            &mut out,
            "Of a mount, w/s and w_await are all calls of the server and the time each took, ms.",
        );
    }
    out
}

/// The upper end of the class that the `share` of operations is in, ms.
fn latency_ms(channel: &ChannelSample, share: f64) -> Option<f64> {
    let all: u64 = channel.latency_us.iter().map(|class| class.1).sum();
    let wanted = all as f64 * share;
    let mut seen = 0;
    let class = channel.latency_us.iter().find(|(_, count)| {
        seen += count;
        seen as f64 >= wanted
    });
    class.map(|(end_us, _)| *end_us as f64 / 1e3)
}

fn channels(samples: &[Sample]) -> String {
    let mut out = String::new();
    let lines = samples.iter().flat_map(|sample| {
        sample.channels.iter().map(move |(name, channel)| {
            let per_s = |amount: f64, decimals| figure(rate(sample, amount), decimals);
            format!(
                "{:>7.1} {:>5} {name:<7} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
                sample.at_s,
                sample.running,
                per_s(megabytes(channel.read_bytes), 1),
                per_s(megabytes(channel.write_bytes), 1),
                per_s(channel.metadata_operations as f64, 1),
                per_s(channel.blocked_s, 2),
                figure(latency_ms(channel, 0.5), 3),
                figure(latency_ms(channel, 0.99), 3),
            )
        })
    });
    for (index, text) in lines.enumerate() {
        if index % LINES_PER_HEADING == 0 {
            line(
                &mut out,
                &format!(
                    "{:>7} {:>5} {:<7} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
                    "s",
                    "jobs",
                    "channel",
                    "rMB/s",
                    "wMB/s",
                    "meta/s",
                    "waiting",
                    "p50<ms",
                    "p99<ms"
                ),
            );
        }
        line(&mut out, &text);
    }
    if !out.is_empty() {
        line(
            &mut out,
            "waiting: threads of jobs inside of an operation, on average. p50, p99: upper ends of the \
             latency classes.",
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use results::sample::{MemorySample, MountSample};

    use super::*;

    fn sample() -> Sample {
        let device = DeviceSample {
            read_bytes: 200_000_000,
            write_bytes: 50_000_000,
            reads: 400,
            writes: 100,
            read_s: 0.8,
            write_s: 0.5,
            busy_s: 1.5,
            queue: 0.65,
        };
        Sample {
            at_s: 12.0,
            interval_s: 2.0,
            running: 3,
            cpu: Some(CpuSample {
                user_s: 1.0,
                system_s: 0.5,
                iowait_s: 0.5,
                steal_s: 0.0,
                idle_s: 2.0,
                ..CpuSample::default()
            }),
            memory: Some(MemorySample {
                available_bytes: 5_000_000_000,
                cached_bytes: 2_000_000_000,
                dirty_bytes: 30_000_000,
                ..MemorySample::default()
            }),
            channels: [(
                "work".to_owned(),
                ChannelSample {
                    read_bytes: 100_000_000,
                    write_bytes: 20_000_000,
                    metadata_operations: 30,
                    changes: None,
                    blocked_s: 1.0,
                    latency_us: vec![(64, 90), (4096, 10)],
                },
            )]
            .into(),
            devices: [
                ("dm-0".to_owned(), device.clone()),
                ("sda".to_owned(), device),
            ]
            .into(),
            mounts: [(
                "/mnt/sas".to_owned(),
                MountSample {
                    kind: "nfs4".to_owned(),
                    read_bytes: 4_000_000,
                    write_bytes: 0,
                    operations: 40,
                    operation_s: Some(0.1),
                    calls: [("READ".to_owned(), 40)].into(),
                },
            )]
            .into(),
            ..Sample::default()
        }
    }

    /// The fields of the line that begins with these.
    fn fields(text: &str, begin: &[&str]) -> Vec<String> {
        let split = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        let mut lines = text.lines().map(split);
        lines
            .find(|fields: &Vec<String>| fields.iter().zip(begin).all(|(a, b)| a == b))
            .unwrap()
    }

    #[test]
    fn vmstat_counts_traffic_once_and_shares_of_all_processors() {
        let text = samples(View::Vmstat, &[sample()]);
        let found = fields(&text, &["12.0", "3"]).join(" ");
        assert_eq!(
            found,
            "12.0 3 5000 2000 30 0 100.0 25.0 25 12 50 12 0 - - -"
        );
    }

    #[test]
    fn iostat_has_a_line_for_each_device_and_mount() {
        let text = samples(View::Iostat, &[sample()]);
        let found = fields(&text, &["12.0", "sda"]).join(" ");
        assert_eq!(found, "12.0 sda 200.0 100.0 2.00 50.0 25.0 5.00 0.65 75.0");
        let found = fields(&text, &["12.0", "/mnt/sas"]).join(" ");
        assert_eq!(found, "12.0 /mnt/sas - 2.0 - 20.0 0.0 2.50 0.05 -");
    }

    #[test]
    fn channels_show_latency_by_the_ends_of_classes() {
        let text = samples(View::Channels, &[sample()]);
        let found = fields(&text, &["12.0", "3", "work"]).join(" ");
        assert_eq!(found, "12.0 3 work 50.0 10.0 15.0 0.50 0.064 4.096");
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        let bare = Sample {
            at_s: 1.0,
            interval_s: 1.0,
            ..Sample::default()
        };
        let text = samples(View::Vmstat, std::slice::from_ref(&bare));
        let found = fields(&text, &["1.0", "0"]);
        assert!(found[2..].iter().all(|field| field == "-"), "{found:?}");
        assert_eq!(samples(View::Iostat, &[bare]), "");
        assert_eq!(samples(View::Channels, &[]), "");
    }
}
