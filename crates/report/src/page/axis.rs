//! The intervals that figures over time are given for.

use results::sample::Sample;

/// Ends of intervals that are nearer to each other are one, seconds.
const SAME_S: f64 = 2e-3;

/// Intervals of several nodes are as long as most of their samples, or this much of it where samples are early.
const EARLY: f64 = 0.9;

/// Intervals in a row over all the time for which there are samples.
#[derive(Debug, Clone, Default)]
pub(super) struct Axis {
    /// Begin of the first, seconds.
    pub(super) start_s: f64,
    /// Ends; each begins where the one before it ends.
    pub(super) ends_s: Vec<f64>,
    /// As many that were closer together became one, at most.
    pub(super) each: usize,
    /// Nodes that were sampled.
    pub(super) nodes: usize,
}

impl Axis {
    /// No more than `most` intervals for the samples of nodes: of one node they are its samples, of several as long as
    /// samples are, from the first that any node has to the last.
    pub(super) fn of(nodes: &[Vec<Sample>], most: usize) -> Self {
        let samples = || nodes.iter().flatten().filter(|one| one.interval_s > 0.0);
        let mut edges: Vec<f64> = samples()
            .flat_map(|one| [one.at_s - one.interval_s, one.at_s])
            .collect();
        edges.sort_by(f64::total_cmp);
        let (Some(start_s), Some(end_s)) = (edges.first().copied(), edges.last().copied()) else {
            return Self::default();
        };
        let least_s = match nodes {
            [_] => SAME_S,
            _ => (EARLY * median(samples().map(|one| one.interval_s).collect())).max(SAME_S),
        };
        let mut ends_s: Vec<f64> = Vec::new();
        let mut last_s = start_s;
        for edge in edges {
            if edge - last_s >= least_s {
                ends_s.push(edge);
                last_s = edge;
            }
        }
        if end_s - last_s >= SAME_S {
            ends_s.push(end_s);
        }
        let each = ends_s.len().div_ceil(most).max(1);
        let drawn = ends_s.chunks(each).filter_map(|group| group.last());
        Self {
            start_s,
            ends_s: drawn.copied().collect(),
            each,
            nodes: nodes.len(),
        }
    }

    /// Length of each interval, seconds.
    pub(super) fn lengths_s(&self) -> Vec<f64> {
        let begins = std::iter::once(&self.start_s).chain(&self.ends_s);
        let pairs = begins.zip(&self.ends_s);
        pairs.map(|(begin, end)| end - begin).collect()
    }

    /// Mean length of the intervals, seconds; `None` without any.
    pub(super) fn mean_s(&self) -> Option<f64> {
        let span = self.ends_s.last()? - self.start_s;
        Some(span / self.ends_s.len() as f64)
    }

    /// The interval that `from` lies in, looked for from the interval `first` on.
    pub(super) fn place(&self, from: f64, first: usize) -> usize {
        let after = self.ends_s[first..].partition_point(|end| *end <= from + SAME_S / 2.0);
        (first + after).min(self.ends_s.len().saturating_sub(1))
    }

    /// Whether what ends at `to` has no part in the intervals behind this one.
    pub(super) fn holds(&self, place: usize, to: f64) -> bool {
        place + 1 >= self.ends_s.len() || self.ends_s[place] >= to - SAME_S
    }
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of `interval_s` from one time to another.
    fn node(from_s: f64, to_s: f64, interval_s: f64) -> Vec<Sample> {
        let ends = (1..).map(|at| from_s + f64::from(at) * interval_s);
        let sample = |at_s| Sample {
            at_s,
            interval_s,
            ..Sample::default()
        };
        ends.take_while(|end| *end <= to_s).map(sample).collect()
    }

    fn check(nodes: &[Vec<Sample>], start_s: f64, ends_s: &[f64]) {
        let found = Axis::of(nodes, 100);
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(found.start_s, start_s), "{found:?}");
        assert_eq!(found.ends_s.len(), ends_s.len(), "{found:?}");
        assert!(
            found
                .ends_s
                .iter()
                .zip(ends_s)
                .all(|(one, other)| near(*one, *other)),
            "{found:?}"
        );
    }

    #[test]
    fn intervals_of_one_node_are_its_samples() {
        check(&[node(0.0, 3.0, 1.0)], 0.0, &[1.0, 2.0, 3.0]);
        // What was not sampled has an interval without figures.
        let gap = [node(0.0, 2.0, 1.0), node(4.5, 5.5, 1.0)].concat();
        check(&[gap], 0.0, &[1.0, 2.0, 4.5, 5.5]);
        check(&[Vec::new()], 0.0, &[]);
        check(&[], 0.0, &[]);
    }

    #[test]
    fn those_of_several_reach_from_the_first_sample_to_the_last_of_any() {
        let nodes = [node(0.0, 2.0, 1.0), node(-1.7, 4.3, 1.0)];
        check(&nodes, -1.7, &[-0.7, 0.3, 1.3, 2.3, 3.3, 4.3]);
        let nodes = [node(0.0, 2.0, 1.0), node(0.3, 4.3, 1.0)];
        check(&nodes, 0.0, &[1.0, 2.0, 3.3, 4.3]);
    }

    #[test]
    fn many_are_drawn_together_to_the_end() {
        let found = Axis::of(&[node(0.0, 250.0, 1.0), node(0.0, 251.0, 1.0)], 100);
        assert_eq!((found.each, found.ends_s.len()), (3, 84));
        assert_eq!(found.ends_s.last(), Some(&251.0));
    }
}
