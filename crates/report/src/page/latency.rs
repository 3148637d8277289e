//! Latencies of reads and writes over time, by classes of powers of two.

use std::collections::{BTreeMap, BTreeSet};

use results::sample::Sample;
use serde::Serialize;

use super::axis::Axis;
use super::number::{duration, rounded_to_ms};

/// Columns of the picture: more than pixels of a wide screen.
const COLUMNS_MAX: usize = 2_000;

/// How many operations were in which class, over time.
#[derive(Debug, Serialize)]
pub(super) struct Latencies {
    /// Upper end of each class, microseconds, ascending and without gaps.
    pub(super) class_us: Vec<u64>,
    /// Ends of the columns, seconds; each begins where the one before it ends.
    pub(super) end_s: Vec<f64>,
    /// Begin of the first.
    pub(super) start_s: f64,
    /// What a column is, a sentence.
    #[serde(skip)]
    pub(super) column: String,
    /// By channel, for each column: class, count, class, count, …
    pub(super) channels: BTreeMap<String, Vec<Vec<u64>>>,
}

impl Latencies {
    /// Those of samples by node; `None` if no latency was measured.
    pub(super) fn of(nodes: &[Vec<Sample>]) -> Option<Self> {
        let classes = || {
            let samples = nodes.iter().flatten();
            let channels = samples.flat_map(|sample| sample.channels.values());
            channels.flat_map(|channel| channel.latency_us.iter().map(|(end, _)| *end))
        };
        let (low, high) = (classes().min()?.max(1), classes().max()?);
        let class_us: Vec<u64> = std::iter::successors(Some(low), |end| end.checked_mul(2))
            .take_while(|end| *end <= high)
            .collect();
        let axis = Axis::of(nodes, COLUMNS_MAX);
        let column = match (axis.nodes, axis.each) {
            (1, 1) => "A column is one sample.".to_owned(),
            (1, each) => format!("A column is {each} samples."),
            _ => format!("A column is about {}.", duration(axis.mean_s()?)),
        };
        let end_s: Vec<f64> = axis.ends_s.iter().copied().map(rounded_to_ms).collect();
        let names: BTreeSet<&String> = nodes
            .iter()
            .flatten()
            .flat_map(|s| s.channels.keys())
            .collect();
        let channels = names
            .into_iter()
            .map(|name| (name.clone(), columns(nodes, name, &class_us, &end_s)))
            .collect();
        Some(Self {
            class_us,
            end_s,
            start_s: rounded_to_ms(axis.start_s),
            column,
            channels,
        })
    }

    /// Operations of a channel by class.
    pub(super) fn totals(&self, channel: &str) -> Vec<u64> {
        let mut totals = vec![0; self.class_us.len()];
        for pairs in self.channels.get(channel).into_iter().flatten() {
            for pair in pairs.chunks_exact(2) {
                if let Some(total) = usize::try_from(pair[0])
                    .ok()
                    .and_then(|class| totals.get_mut(class))
                {
                    *total += pair[1];
                }
            }
        }
        totals
    }
}

fn columns(nodes: &[Vec<Sample>], name: &str, class_us: &[u64], end_s: &[f64]) -> Vec<Vec<u64>> {
    let mut counts = vec![BTreeMap::<u64, u64>::new(); end_s.len()];
    for sample in nodes.iter().flatten() {
        let Some(channel) = sample.channels.get(name) else {
            continue;
        };
        // A sample belongs to the column that its middle lies in.
        let middle = sample.at_s - sample.interval_s / 2.0;
        let place = end_s.partition_point(|end| *end < middle);
        let Some(column) = counts.get_mut(place.min(end_s.len().saturating_sub(1))) else {
            continue;
        };
        for (end, count) in &channel.latency_us {
            let class = class_us.partition_point(|class| class < end);
            *column.entry(class as u64).or_default() += count;
        }
    }
    let flat = |column: BTreeMap<u64, u64>| column.into_iter().flat_map(<[u64; 2]>::from).collect();
    counts.into_iter().map(flat).collect()
}

#[cfg(test)]
mod tests {
    use results::sample::ChannelSample;

    use super::*;

    fn sample(at_s: f64, latency_us: &[(u64, u64)]) -> Sample {
        let channel = ChannelSample {
            latency_us: latency_us.to_vec(),
            ..ChannelSample::default()
        };
        Sample {
            at_s,
            interval_s: 1.0,
            channels: [("work".to_owned(), channel)].into(),
            ..Sample::default()
        }
    }

    #[test]
    fn classes_have_no_gaps_and_counts_add_up() {
        let node = vec![
            sample(1.0, &[(4, 2), (32, 1)]),
            sample(2.0, &[]),
            sample(3.0, &[(8, 5)]),
        ];
        let all = Latencies::of(&[node]).unwrap();
        assert_eq!(all.class_us, [4, 8, 16, 32]);
        assert_eq!(all.channels["work"], [vec![0, 2, 3, 1], vec![], vec![1, 5]]);
        assert_eq!(all.totals("work"), [2, 5, 0, 1]);
    }

    #[test]
    fn columns_that_are_drawn_together_keep_every_operation() {
        let count = COLUMNS_MAX * 3 + 2;
        let node: Vec<Sample> = (1..=count).map(|n| sample(n as f64, &[(16, 3)])).collect();
        let all = Latencies::of(&[node]).unwrap();
        assert!(all.end_s.len() <= COLUMNS_MAX);
        assert_eq!(all.totals("work"), [count as u64 * 3]);
    }

    /// The first by name is over before the other.
    #[test]
    fn a_node_that_goes_on_has_columns_of_its_own() {
        let first = vec![sample(1.0, &[(4, 1)])];
        let second = vec![
            sample(1.0, &[(4, 2)]),
            sample(2.0, &[(4, 3)]),
            sample(3.0, &[(4, 5)]),
        ];
        let all = Latencies::of(&[first, second]).unwrap();
        assert_eq!(all.end_s, [1.0, 2.0, 3.0]);
        assert_eq!(all.channels["work"], [vec![0, 3], vec![0, 3], vec![0, 5]]);
        assert_eq!(all.column, "A column is about 1 s.");
    }

    #[test]
    fn without_latencies_there_is_no_picture() {
        assert!(Latencies::of(&[vec![sample(1.0, &[])]]).is_none());
        assert!(Latencies::of(&[]).is_none());
    }
}
