//! Figures of samples over time, drawn together into no more points than a page should carry.

use results::sample::Sample;
use serde::Serialize;

use super::axis::Axis;
use super::number::{count, duration, rounded, rounded_to_ms};

/// Points of a chart: a second each for almost three hours.
const POINTS_MAX: usize = 10_000;

/// Intervals that figures are given for, each of one or several samples.
#[derive(Debug, Default, Serialize)]
pub(super) struct Bins {
    /// Ends of the intervals; each begins where the one before it ends.
    pub(super) end_s: Vec<f64>,
    /// Begin of the first.
    pub(super) start_s: f64,
    #[serde(skip)]
    axis: Axis,
    #[serde(skip)]
    nodes: Vec<Vec<Sample>>,
}

/// What a figure of a sample is, and so what becomes of those of several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What was moved in the interval: by the second, nodes added up.
    Rate,
    /// What there was: the mean over the interval, nodes added up.
    Level,
    /// Seconds of the interval: percent of it, the mean of the nodes.
    Share,
    /// Processor seconds of the interval: percent of those of all nodes together.
    Processors,
}

impl Bins {
    /// Intervals for the samples of nodes, each in the order of time.
    pub(super) fn of(nodes: &[Vec<Sample>]) -> Self {
        let axis = Axis::of(nodes, POINTS_MAX);
        Self {
            end_s: axis.ends_s.iter().copied().map(rounded_to_ms).collect(),
            start_s: rounded_to_ms(axis.start_s),
            axis,
            nodes: nodes.to_vec(),
        }
    }

    /// Whether anything was sampled.
    pub(super) fn is_empty(&self) -> bool {
        self.end_s.is_empty()
    }

    /// Length of each interval, seconds.
    pub(super) fn lengths_s(&self) -> Vec<f64> {
        self.axis.lengths_s()
    }

    /// All samples of all nodes.
    pub(super) fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.nodes.iter().flatten()
    }

    /// The same, each with the place of its node.
    pub(super) fn by_node(&self) -> impl Iterator<Item = (usize, &Sample)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(node, samples)| samples.iter().map(move |sample| (node, sample)))
    }

    /// What a point of the charts stands for, a sentence; nothing if nothing was sampled.
    pub(super) fn resolution(&self) -> Option<String> {
        let each = duration(self.axis.mean_s()?);
        let points = count(self.end_s.len() as u64);
        let together = self.axis.each;
        let flattened = "Peaks shorter than that are flattened here, not in the run directory.";
        Some(match (self.axis.nodes, together) {
            (1, 1) => {
                let samples = count(self.samples().count() as u64);
                format!("{samples} samples, one every {each}; all of them are in this file.")
            }
            (1, _) => format!(
                "Each point is the mean of {together} samples in a row, about {each}; {points} points. {flattened}"
            ),
            (nodes, 1) => format!(
                "{points} points, one every {each}, which the samples of {nodes} nodes are shared out to."
            ),
            (nodes, _) => format!(
                "Each point is a mean over about {each}; {points} points, which the samples of {nodes} nodes are \
                 shared out to. {flattened}"
            ),
        })
    }

    /// A figure for every interval; absent where no node has it.
    pub(super) fn values(
        &self,
        kind: Kind,
        of: impl Fn(&Sample) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        self.added_up(&self.nodes, kind, &of)
    }

    /// A figure of one node for every interval; absent where it has none.
    pub(super) fn values_of_node(
        &self,
        node: usize,
        kind: Kind,
        of: impl Fn(&Sample) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        self.added_up(self.nodes.get(node..=node).unwrap_or_default(), kind, &of)
    }

    fn added_up(
        &self,
        nodes: &[Vec<Sample>],
        kind: Kind,
        of: &impl Fn(&Sample) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let mut sums = vec![Sums::default(); self.end_s.len()];
        for node in nodes {
            for (sum, of_node) in sums.iter_mut().zip(self.of_node(node, kind, of)) {
                sum.add(of_node, kind);
            }
        }
        let with_lengths = sums.into_iter().zip(self.lengths_s());
        with_lengths
            .map(|(sum, length_s)| sum.value(kind, length_s))
            .collect()
    }

    /// Amount and divisor of one node in each interval. An amount is spread evenly over the interval
    /// it was measured for.
    fn of_node(
        &self,
        samples: &[Sample],
        kind: Kind,
        of: &impl Fn(&Sample) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let mut out = vec![(0.0, 0.0); self.end_s.len()];
        let mut bin = 0;
        for sample in samples {
            let Some(figure) = of(sample) else { continue };
            let (amount, divisor) = match kind {
                Kind::Rate | Kind::Share => (figure, sample.interval_s),
                Kind::Level => (figure * sample.interval_s, sample.interval_s),
                Kind::Processors => match processor_seconds(sample) {
                    Some(seconds) => (figure, seconds),
                    None => continue,
                },
            };
            let (from, to) = (sample.at_s - sample.interval_s, sample.at_s);
            bin = self.axis.place(from, bin);
            let mut place = bin;
            let mut begin = from;
            while begin < to {
                let last = self.axis.holds(place, to);
                let end = if last { to } else { self.axis.ends_s[place] };
                let share = (end - begin) / sample.interval_s;
                out[place].0 += amount * share;
                out[place].1 += divisor * share;
                begin = end;
                if last {
                    break;
                }
                place += 1;
            }
        }
        out
    }
}

/// User, system, waiting, stolen and idle time together.
fn processor_seconds(sample: &Sample) -> Option<f64> {
    let cpu = sample.cpu.as_ref()?;
    let all = cpu.user_s + cpu.system_s + cpu.iowait_s + cpu.steal_s + cpu.idle_s;
    (all > 0.0).then_some(all)
}

#[derive(Debug, Clone, Default)]
struct Sums {
    amount: f64,
    divisor: f64,
    nodes: usize,
}

impl Sums {
    fn add(&mut self, (amount, divisor): (f64, f64), kind: Kind) {
        if divisor <= 0.0 {
            return;
        }
        self.nodes += 1;
        match kind {
            Kind::Level => self.amount += amount / divisor,
            Kind::Rate | Kind::Share | Kind::Processors => {
                self.amount += amount;
                self.divisor += divisor;
            }
        }
    }

    /// In an interval of this length. What was moved is of all of it, though a node was sampled in a part alone, so
    /// that rates over time are the bytes that were moved.
    fn value(&self, kind: Kind, length_s: f64) -> Option<f64> {
        if self.nodes == 0 {
            return None;
        }
        Some(rounded(match kind {
            Kind::Rate => self.amount / length_s,
            Kind::Level => self.amount,
            Kind::Share | Kind::Processors => self.amount / self.divisor * 100.0,
        }))
    }
}

#[cfg(test)]
mod tests {
    use results::sample::ChannelSample;

    use super::*;

    fn sample(at_s: f64, interval_s: f64, bytes: Option<u64>) -> Sample {
        let channel = |read_bytes| ChannelSample {
            read_bytes,
            ..ChannelSample::default()
        };
        Sample {
            at_s,
            interval_s,
            channels: bytes
                .map(|bytes| ("work".to_owned(), channel(bytes)))
                .into_iter()
                .collect(),
            ..Sample::default()
        }
    }

    fn megabytes(sample: &Sample) -> Option<f64> {
        Some(sample.channels.get("work")?.read_bytes as f64 / 1e6)
    }

    #[test]
    fn a_rate_is_of_its_interval_and_absent_where_nothing_was_measured() {
        let node = vec![
            sample(1.0, 1.0, Some(5_000_000)),
            sample(3.0, 2.0, Some(5_000_000)),
            sample(4.0, 1.0, None),
        ];
        let bins = Bins::of(&[node]);
        assert_eq!(
            bins.values(Kind::Rate, megabytes),
            [Some(5.0), Some(2.5), None]
        );
    }

    #[test]
    fn nodes_are_added_up_on_one_clock_to_the_end_of_the_last() {
        let first = vec![
            sample(1.0, 1.0, Some(1_000_000)),
            sample(2.0, 1.0, Some(1_000_000)),
        ];
        let second = vec![
            sample(0.5, 0.5, Some(1_000_000)),
            sample(1.5, 1.0, Some(4_000_000)),
            sample(2.5, 1.0, Some(6_000_000)),
            sample(3.5, 1.0, Some(8_000_000)),
        ];
        let bins = Bins::of(&[first, second]);
        assert_eq!(bins.end_s, [1.0, 2.0, 3.5]);
        // 1 + (1 + 2) over the first second; 1 + (2 + 3) over the next; 3 + 8 over the 1.5 s left.
        let last = rounded(11.0 / 1.5);
        assert_eq!(
            bins.values(Kind::Rate, megabytes),
            [Some(4.0), Some(6.0), Some(last)]
        );
        assert_eq!(
            bins.values_of_node(0, Kind::Rate, megabytes),
            [Some(1.0), Some(1.0), None]
        );
        assert_eq!(
            bins.values_of_node(1, Kind::Rate, megabytes),
            [Some(3.0), Some(5.0), Some(last)]
        );
    }

    /// The first by name is over long before the other.
    #[test]
    fn a_node_that_ends_early_takes_nothing_from_those_that_go_on() {
        let node = |seconds: u32, rate: u64| -> Vec<Sample> {
            let seconds = 1..=seconds;
            seconds
                .map(|at| sample(f64::from(at), 1.0, Some(rate * 1_000_000)))
                .collect()
        };
        let bins = Bins::of(&[node(2, 10), node(6, 5)]);
        let (both, alone) = (Some(15.0), Some(5.0));
        assert_eq!(
            bins.values(Kind::Rate, megabytes),
            [both, both, alone, alone, alone, alone]
        );
        assert_eq!(
            bins.values(Kind::Level, |sample| Some(sample.interval_s))[2..],
            [Some(1.0); 4]
        );
        let said = bins.resolution().unwrap();
        insta::assert_snapshot!(said, @"6 points, one every 1 s, which the samples of 2 nodes are shared out to.");
    }

    #[test]
    fn many_samples_are_drawn_together_and_nothing_is_lost() {
        let count = POINTS_MAX * 2 + 1;
        let node =
            (0..count).map(|n| sample(n as f64 + 1.0, 1.0, Some(1_000_000 * (n as u64 % 7))));
        let node: Vec<Sample> = node.collect();
        let total: f64 = node.iter().filter_map(megabytes).sum();
        let bins = Bins::of(&[node]);
        assert_eq!((bins.axis.each, bins.end_s.len()), (3, count.div_ceil(3)));
        let values = bins.values(Kind::Rate, megabytes);
        let mut begin = bins.start_s;
        let mut sum = 0.0;
        for (value, end) in values.iter().zip(&bins.end_s) {
            sum += value.unwrap() * (end - begin);
            begin = *end;
        }
        assert!((sum / total - 1.0).abs() < 1e-3, "{sum} is not {total}");
    }
}
