//! Throughput over time, by channel.

use std::collections::{BTreeMap, BTreeSet};

use crate::sample::{ChannelSample, Sample};
use crate::table::{Cell, Column, Table, Unit};

/// MB/s served to jobs, a row a second (Pure and Isilon, figures 8 and 11).
pub fn throughput(samples: &[(String, Vec<Sample>)]) -> Option<Table> {
    throughput_rows(samples, usize::MAX)
}

/// The same with fewer rows, each a mean over as many seconds as it takes.
pub fn throughput_rows(samples: &[(String, Vec<Sample>)], rows_max: usize) -> Option<Table> {
    // Staging and verification are not served to jobs.
    let all = || {
        let nodes = samples.iter();
        nodes.flat_map(|(_, samples)| while_running(samples))
    };
    let begin = all()
        .map(|one| one.at_s - one.interval_s)
        .reduce(f64::min)?
        .max(0.0);
    let end = all().map(|one| one.at_s).reduce(f64::max)?;
    let seconds = (end - begin).max(0.0);
    let width = (seconds / rows_max.max(1) as f64).ceil().max(1.0);
    let names: BTreeSet<&str> = all()
        .flat_map(|one| one.channels.keys().map(String::as_str))
        .collect();
    if names.is_empty() {
        return None;
    }
    let mut rows: BTreeMap<u64, Bin<'_>> = BTreeMap::new();
    for sample in all() {
        spread(sample, begin, width, &mut rows);
    }
    let title = if width > 1.0 {
        format!("Throughput over time, means over {width} s")
    } else {
        "Throughput over time".to_owned()
    };
    let columns = [("Until s", Unit::Seconds), ("Running", Unit::Plain)];
    let mut table =
        Table::new("throughput", title, &columns).in_form("Isilon, figures 8 and 11; Pure");
    for name in &names {
        table
            .columns
            .push(Column::new(*name, Unit::MegabytesPerSecond));
    }
    table
        .columns
        .push(Column::new("Total MB/s", Unit::MegabytesPerSecond));
    for (number, bin) in rows {
        let covered = (seconds - number as f64 * width).min(width);
        if covered <= 0.0 {
            continue;
        }
        let rate = |bytes: f64| bytes / 1e6 / covered;
        let of = |name: &&str| rate(bin.bytes.get(name).copied().unwrap_or_default());
        let total = rate(bin.bytes.values().fold(0.0, |sum, bytes| sum + bytes));
        let running = bin.running_s / covered;
        let mut cells = vec![
            Cell::Number(begin + number as f64 * width + covered),
            Cell::Number((running * 10.0).round() / 10.0),
        ];
        cells.extend(names.iter().map(of).map(Cell::Number));
        cells.push(Cell::Number(total));
        table.row(cells);
    }
    table.note("MB/s (10^6 bytes) that jobs read and wrote, all nodes together, cached or not; seconds since \
                the run began");
    Some(table)
}

/// From the first to the last sample with a job.
fn while_running(samples: &[Sample]) -> &[Sample] {
    let runs = |sample: &Sample| sample.running > 0 || !sample.channels.values().all(is_idle);
    let Some(first) = samples.iter().position(runs) else {
        return &[];
    };
    let last = samples.iter().rposition(runs).unwrap_or(first);
    &samples[first..=last]
}

fn is_idle(channel: &ChannelSample) -> bool {
    channel.bytes() == 0
}

#[derive(Default)]
struct Bin<'a> {
    bytes: BTreeMap<&'a str, f64>,
    running_s: f64,
}

/// Shares the bytes of a sample out to the bins that its interval covers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bins are counted from the begin of the first sample, a run is shorter than 2^53 seconds"
)]
fn spread<'a>(sample: &'a Sample, begin: f64, width: f64, rows: &mut BTreeMap<u64, Bin<'a>>) {
    let (to, from) = (sample.at_s, (sample.at_s - sample.interval_s).max(begin));
    if to <= from {
        return;
    }
    let first = ((from - begin) / width).floor() as u64;
    // An end on the edge of a bin belongs to the bin before.
    let last = (((to - begin) / width).ceil() as u64)
        .saturating_sub(1)
        .max(first);
    for number in first..=last {
        let low = begin + number as f64 * width;
        let part = (to.min(low + width) - from.max(low)).max(0.0);
        let share = part / (to - from);
        let bin = rows.entry(number).or_default();
        bin.running_s += sample.running as f64 * part;
        for (name, channel) in &sample.channels {
            let bytes = (channel.read_bytes + channel.write_bytes) as f64;
            *bin.bytes.entry(name).or_default() += bytes * share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: f64, interval_s: f64, megabytes: u64) -> Sample {
        let channel = ChannelSample {
            read_bytes: megabytes * 1_000_000,
            ..ChannelSample::default()
        };
        Sample {
            at_s,
            interval_s,
            running: 2,
            channels: BTreeMap::from([("input".to_owned(), channel)]),
            ..Sample::default()
        }
    }

    fn totals(table: &Table) -> Vec<f64> {
        let last = table.columns.len() - 1;
        table
            .rows
            .iter()
            .filter_map(|row| row.cells[last].number())
            .collect()
    }

    #[test]
    fn intervals_that_straddle_seconds_are_shared_out() {
        // Two nodes: one samples on the second, the other half a second later.
        let nodes = [
            (
                "a".to_owned(),
                vec![sample(1.0, 1.0, 100), sample(2.0, 1.0, 100)],
            ),
            (
                "b".to_owned(),
                vec![sample(0.5, 0.5, 20), sample(1.5, 1.0, 40)],
            ),
        ];
        let table = throughput(&nodes).unwrap();
        assert_eq!(totals(&table), [140.0, 120.0]);
        let condensed = throughput_rows(&nodes, 1).unwrap();
        assert_eq!(totals(&condensed), [130.0]);
    }

    #[test]
    fn time_before_and_after_the_jobs_is_left_out() {
        let idle = |at_s| Sample {
            running: 0,
            ..sample(at_s, 1.0, 0)
        };
        let node = vec![idle(1.0), idle(2.0), sample(3.0, 1.0, 7), idle(4.0)];
        let table = throughput(&[("a".to_owned(), node)]).unwrap();
        assert_eq!(totals(&table), [7.0]);
        assert_eq!(table.rows[0].cells[0], Cell::Number(3.0));
    }

    #[test]
    fn nothing_sampled_is_no_table() {
        assert_eq!(throughput(&[]), None);
        let silent = Sample::default();
        assert_eq!(throughput(&[("a".to_owned(), vec![silent])]), None);
    }
}
