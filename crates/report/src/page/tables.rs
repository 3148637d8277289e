//! Tables: channels, operations, and those that say what the charts show.

use std::collections::BTreeMap;

use base::units::Bytes;
use results::step::OperationRecord;
use serde::Serialize;

use super::Run;
use super::condensed::add_operation;
use super::latency::Latencies;
use super::number::{clock, count, duration, figure, percent, short};
use super::panels::{CHANNELS, Panel, Series};
use super::series::Bins;

/// Rows of a table over time.
const ROWS: usize = 12;

/// What counts as a second, seconds: samplers are a little early or late.
const SECOND_S: f64 = 0.95;

/// A chart with the table that stands for it.
#[derive(Debug, Serialize)]
pub(super) struct Charted {
    id: String,
    title: String,
    about: String,
    unit: &'static str,
    /// Mean over the time of each series, and its largest over a second or more.
    series: Vec<Summed>,
    /// Means over equal parts of the time.
    rows: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Serialize)]
struct Summed {
    label: String,
    colour: &'static str,
    mean: String,
    largest: String,
}

/// A figure, or a dash where nothing was measured.
pub(super) fn dash(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), figure)
}

/// The mean over the time for which there is a figure; `lengths_s` are those of the intervals.
fn mean(values: &[Option<f64>], lengths_s: &[f64]) -> Option<f64> {
    let (mut sum, mut span) = (0.0, 0.0);
    for (value, length_s) in values.iter().zip(lengths_s) {
        if let Some(value) = value {
            sum += value * length_s;
            span += length_s;
        }
    }
    (span > 0.0).then(|| sum / span)
}

/// The highest mean over a second, or over one interval where that is longer: the last sample of a run, or one
/// that a mark cuts in two, may be of a moment.
fn largest(values: &[Option<f64>], lengths_s: &[f64]) -> Option<f64> {
    let from = |first: usize| {
        let mut span = 0.0;
        let others = lengths_s[first..].iter().position(|length_s| {
            span += length_s;
            span >= SECOND_S
        })?;
        let window = first..=first + others;
        let known = values[window.clone()].iter().all(Option::is_some);
        mean(&values[window.clone()], &lengths_s[window]).filter(|_| known)
    };
    (0..values.len()).filter_map(from).reduce(f64::max)
}

pub(super) fn of_panel(panel: &Panel, bins: &Bins) -> Charted {
    let (ends, start) = (&bins.end_s, bins.start_s);
    let lengths_s = bins.lengths_s();
    let summed = |series: &Series| Summed {
        label: series.label.clone(),
        colour: series.colour,
        mean: dash(mean(&series.values, &lengths_s)),
        largest: dash(largest(&series.values, &lengths_s)),
    };
    let each = ends.len().div_ceil(ROWS).max(1);
    let row = |index: usize| {
        let (from, to) = (index * each, ((index + 1) * each).min(ends.len()));
        let begin = if from == 0 { start } else { ends[from - 1] };
        let values = panel
            .series
            .iter()
            .map(|series| dash(mean(&series.values[from..to], &lengths_s[from..to])));
        (
            format!("{} to {}", clock(begin), clock(ends[to - 1])),
            values.collect(),
        )
    };
    Charted {
        id: panel.id.clone(),
        title: panel.title.clone(),
        about: panel.about.clone(),
        unit: panel.unit,
        series: panel.series.iter().map(summed).collect(),
        rows: (0..ends.len().div_ceil(each)).map(row).collect(),
    }
}

/// The picture of latencies as a table.
#[derive(Debug, Serialize)]
pub(super) struct LatencyTable {
    channels: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
    /// Operations of each channel.
    totals: Vec<String>,
    note: String,
}

pub(super) fn of_latency(latency: &Latencies) -> LatencyTable {
    let channels: Vec<String> = in_order(latency.channels.keys()).cloned().collect();
    let totals: Vec<Vec<u64>> = channels.iter().map(|name| latency.totals(name)).collect();
    let all: Vec<u64> = totals.iter().map(|classes| classes.iter().sum()).collect();
    let row = |(class, end): (usize, &u64)| {
        let cells = totals.iter().zip(&all).map(|(of_channel, all)| {
            let here = of_channel[class];
            match here {
                0 => "–".to_owned(),
                here => format!("{} ({})", count(here), percent(here as f64 / *all as f64)),
            }
        });
        (
            format!("up to {}", microseconds(*end as f64)),
            cells.collect(),
        )
    };
    LatencyTable {
        rows: latency.class_us.iter().enumerate().map(row).collect(),
        totals: all.into_iter().map(count).collect(),
        channels: channels.iter().map(|name| channel(name)).collect(),
        note: latency.column.clone(),
    }
}

/// `16 µs`, `2.05 ms`, `1.05 s`.
fn microseconds(value: f64) -> String {
    match value {
        v if v < 1e3 => format!("{} µs", short(v)),
        v if v < 1e6 => format!("{} ms", short(v / 1e3)),
        v => format!("{} s", short(v / 1e6)),
    }
}

/// A channel's name on the page.
fn channel(name: &str) -> String {
    let known = CHANNELS.iter().find(|(known, _)| *known == name);
    known.map_or(name, |(_, label)| label).to_owned()
}

/// Channels in the order of the legends, others behind them.
fn in_order<'a>(names: impl Iterator<Item = &'a String>) -> impl Iterator<Item = &'a String> {
    let mut names: Vec<&String> = names.collect();
    let place = |name: &String| CHANNELS.iter().position(|(known, _)| known == name);
    names.sort_by_key(|name| place(name).unwrap_or(CHANNELS.len()));
    names.into_iter()
}

/// A channel's row.
#[derive(Debug, Serialize)]
pub(super) struct ChannelRow {
    id: String,
    label: String,
    read: String,
    written: String,
    share: String,
    /// The same, a number for a bar.
    share_percent: f64,
    rate: String,
    ratio: String,
}

pub(super) fn channels(run: &Run) -> Vec<ChannelRow> {
    let channels = &run.result.channels;
    let bytes = |read, write| (read + write) as f64;
    let all: f64 = channels
        .values()
        .map(|channel| bytes(channel.read_bytes, channel.write_bytes))
        .sum();
    in_order(channels.keys())
        .map(|name| {
            let figures = &channels[name];
            let moved = bytes(figures.read_bytes, figures.write_bytes);
            let share = if all > 0.0 { moved / all } else { 0.0 };
            let ratio = (figures.write_bytes > 0)
                .then(|| figures.read_bytes as f64 / figures.write_bytes as f64);
            ChannelRow {
                id: name.clone(),
                label: channel(name),
                read: Bytes(figures.read_bytes).to_string(),
                written: Bytes(figures.write_bytes).to_string(),
                share: percent(share),
                share_percent: share * 100.0,
                rate: dash(figures.mb_per_s),
                ratio: dash(ratio),
            }
        })
        .collect()
}

/// A kind of operation on a channel, over all steps that ended.
#[derive(Debug, Serialize)]
pub(super) struct OperationRow {
    channel: String,
    colour: String,
    operation: String,
    calls: String,
    errors: u64,
    bytes: String,
    time: String,
    mean: String,
    largest: String,
}

pub(super) fn operations(run: &Run) -> Vec<OperationRow> {
    let mut totals: BTreeMap<(&String, &String), OperationRecord> = BTreeMap::new();
    let steps = run.steps.values().flatten();
    let channels = steps.flat_map(|line| &line.record.channels);
    for (name, figures) in channels {
        for (operation, record) in &figures.operations {
            add_operation(totals.entry((name, operation)).or_default(), record);
        }
    }
    totals
        .into_iter()
        .filter(|(_, total)| total.count > 0)
        .map(|((name, operation), total)| OperationRow {
            channel: channel(name),
            colour: name.clone(),
            operation: operation.replace('_', " "),
            calls: count(total.count),
            errors: total.errors,
            bytes: match total.bytes {
                0 => "–".to_owned(),
                bytes => Bytes(bytes).to_string(),
            },
            time: duration(total.total_s),
            mean: microseconds(total.total_s * 1e6 / total.count as f64),
            largest: microseconds(total.latency_max_us),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use results::sample::Sample;

    use super::*;

    /// Samples of a gauge that end at these times.
    fn charted(start_s: f64, samples: &[(f64, f64)]) -> Charted {
        let mut begin = start_s;
        let of = |(at_s, level): &(f64, f64)| {
            let interval_s = at_s - begin;
            begin = *at_s;
            Sample {
                at_s: *at_s,
                interval_s,
                observed: [("gauge".to_owned(), *level)].into(),
                ..Sample::default()
            }
        };
        let bins = Bins::of(&[samples.iter().map(of).collect()]);
        let panels = super::super::panels::all(&bins, &["n1".to_owned()]);
        of_panel(&panels[0], &bins)
    }

    fn text(chart: &Charted) -> String {
        let rows = chart.rows.iter();
        let mut lines: Vec<String> = rows
            .map(|(time, cells)| format!("{time}: {}", cells.join(" ")))
            .collect();
        let summed = chart.series.iter();
        lines.extend(summed.map(|one| format!("mean {}, largest {}", one.mean, one.largest)));
        lines.join("\n")
    }

    #[test]
    fn means_are_over_time_and_a_moment_is_no_peak() {
        // The last sample of a run is cut short.
        insta::assert_snapshot!(text(&charted(0.0, &[(1.0, 10.0), (2.0, 10.0), (2.25, 100.0)])), @r"
        0:00 to 0:01: 10.0
        0:01 to 0:02: 10.0
        0:02 to 0:02: 100
        mean 20.0, largest 10.0
        ");
        // A mark cuts one in two.
        let cut = [(1.0, 10.0), (1.25, 90.0), (2.0, 30.0), (3.0, 20.0)];
        insta::assert_snapshot!(text(&charted(0.0, &cut)).lines().last().unwrap(), @"mean 25.0, largest 45.0");
        // A row is of several intervals.
        let many: Vec<(f64, f64)> = (1..=13)
            .map(|at| (f64::from(at), f64::from(at % 2)))
            .collect();
        let mut many = charted(0.0, &[many, vec![(13.5, 60.0)]].concat());
        let (time, cells) = many.rows.pop().unwrap();
        assert_eq!(
            (time.as_str(), cells),
            ("0:12 to 0:14", vec!["20.7".to_owned()])
        );
    }
}
