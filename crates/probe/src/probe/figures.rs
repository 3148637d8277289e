//! What an experiment found: figures with their spread, what could not be measured and why, and what is wrong.

use std::time::Duration;

use results::measurement::Measurement;
use results::statistics::{Summary, summarize};
use serde::Serialize;

use super::{Experiment, Said};

/// Differences are claimed from so many figures of each side on: by chance all five of one are above all five of
/// the other, or below, once in 126 times.
const FIGURES_LEAST: usize = 5;

/// Smaller differences are not worth a word, and with many comparisons some would be found by chance.
const RATIO_LEAST: f64 = 1.1;

/// Of so many figures some are of moments in which something else happened: the middle half of them counts.
const FIGURES_MANY: usize = 12;

/// Figures of the same thing, measured several times.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample(Vec<f64>);

impl Sample {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(super) fn push_us(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e6);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn extend(&mut self, value: Option<f64>) {
        self.0.extend(value);
    }

    pub(super) fn summary(&self) -> Option<Summary> {
        summarize(&self.0)
    }

    pub(super) fn median(&self) -> Option<f64> {
        self.summary().map(|summary| summary.median)
    }

    /// The value below which this share of the figures is.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in the list"
        )]
        let place = (last as f64 * share).ceil() as usize;
        sorted.get(place.min(last)).copied()
    }

    /// The ratio of the medians of this and another, if noise does not explain it: each was measured several
    /// times, and all figures of one (of many: their middle half) are above all of the other.
    pub(super) fn apart(&self, other: &Self) -> Option<f64> {
        let ((low, median, high), (other_low, other_median, other_high)) =
            (self.span()?, other.span()?);
        let is_apart = low > other_high || high < other_low;
        let ratio = (is_apart && other_median > 0.0).then(|| median / other_median);
        ratio.filter(|ratio| !(1.0 / RATIO_LEAST..=RATIO_LEAST).contains(ratio))
    }

    /// Whether it was measured often enough for [`Self::apart`].
    pub(super) fn can_tell(&self) -> bool {
        self.0.len() >= FIGURES_LEAST
    }

    /// Where the figures are, around their median.
    fn span(&self) -> Option<(f64, f64, f64)> {
        let summary = self.summary()?;
        match summary.count {
            ..FIGURES_LEAST => None,
            FIGURES_LEAST..FIGURES_MANY => Some((summary.min, summary.median, summary.max)),
            _ => Some((self.quantile(0.25)?, summary.median, self.quantile(0.75)?)),
        }
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        Self(values.into_iter().collect())
    }
}

/// A figure that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Absent {
    /// Which, or which group of figures.
    pub name: String,
    /// Why it could not be measured, and what it needs.
    pub why: String,
}

/// An experiment and what it found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Its name on the command line, and before the names of its figures.
    pub id: &'static str,
    /// A line.
    pub title: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What papers say.
    pub papers: &'static [Said],
    /// What it needs beside the directory; empty: nothing.
    pub needs: &'static str,
    /// Figures.
    pub measurements: Vec<Measurement>,
    /// Figures that could not be measured.
    pub absent: Vec<Absent>,
    /// What must not be: data that are wrong, locks that do not exclude.
    pub wrong: Vec<String>,
    /// What the figures say, no more.
    pub interpretation: Vec<String>,
    /// How long it took, seconds.
    pub elapsed_s: f64,
}

impl Report {
    pub(super) fn of(experiment: &Experiment) -> Self {
        Self {
            id: experiment.id,
            title: experiment.title,
            shows: experiment.shows,
            why: experiment.why,
            papers: experiment.papers,
            needs: experiment.needs,
            measurements: Vec::new(),
            absent: Vec::new(),
            wrong: Vec::new(),
            interpretation: Vec::new(),
            elapsed_s: 0.0,
        }
    }

    fn named(&self, name: &str) -> String {
        format!("{}_{name}", self.id)
    }

    /// A figure.
    pub(super) fn figure(&mut self, name: &str, value: f64, unit: &str, detail: impl Into<String>) {
        let name = self.named(name);
        self.measurements
            .push(Measurement::new(&name, value, unit, detail));
    }

    /// Yes (1) or no (0).
    pub(super) fn answer(&mut self, name: &str, yes: bool, detail: impl Into<String>) {
        self.figure(name, f64::from(u8::from(yes)), "yes=1", detail);
    }

    /// The median of figures, with their range; nothing if there are none.
    pub(super) fn sample(
        &mut self,
        name: &str,
        sample: &Sample,
        unit: &str,
        detail: &str,
    ) -> Option<f64> {
        let Summary {
            count,
            min,
            median,
            max,
            ..
        } = sample.summary()?;
        let spread = match count {
            1 => "measured once".to_owned(),
            _ => format!("median of {count}, from {} to {}", short(min), short(max)),
        };
        self.figure(name, median, unit, format!("{detail}; {spread}"));
        Some(median)
    }

    /// A figure that is not there.
    pub(super) fn absent(&mut self, name: &str, why: impl Into<String>) {
        let name = match name {
            "" => self.id.to_owned(),
            name => self.named(name),
        };
        let why = why.into();
        self.absent.push(Absent { name, why });
    }

    /// Something that must not be.
    pub(super) fn wrong(&mut self, text: impl Into<String>) {
        self.wrong.push(text.into());
    }

    /// Figures that are not told apart: by noise, or for want of rounds.
    pub(super) fn not_apart(&mut self, what: &str, sample: &Sample) {
        self.says(if sample.can_tell() {
            format!("no difference beyond noise: {what}")
        } else {
            format!("too few rounds fit into the time to tell a difference (--seconds gives more): {what}")
        });
    }

    /// What figures say.
    pub(super) fn says(&mut self, text: impl Into<String>) {
        self.interpretation.push(text.into());
    }
}

/// Three digits or so.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        v if !(f64::EPSILON..100.0).contains(&v) => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        values.iter().copied().collect()
    }

    #[test]
    fn noise_is_no_difference() {
        let low = sample(&[1.0, 2.0, 2.0, 2.0, 3.0]);
        let high = sample(&[4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(high.apart(&low), Some(3.0));
        assert!(low.apart(&high).is_some_and(|ratio| ratio < 0.4));
        let meeting = sample(&[3.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(meeting.apart(&low), None, "ranges meet");
        let few = sample(&[5.0, 6.0, 7.0, 8.0]);
        assert_eq!((few.apart(&low), few.can_tell()), (None, false), "too few");
        let near = sample(&[3.05, 3.06, 3.07, 3.08, 3.09]);
        assert_eq!(near.apart(&sample(&[3.0; 5])), None, "not worth a word");
        assert_eq!(Sample::default().apart(&low), None);
        let with_outliers = |value: f64| -> Sample {
            (0..20)
                .map(|place| if place < 3 { 99.0 } else { value })
                .collect()
        };
        assert_eq!(with_outliers(4.0).apart(&with_outliers(2.0)), Some(2.0));
    }

    #[test]
    fn the_largest_share_of_few_is_the_largest() {
        let few = sample(&[3.0, 1.0, 2.0]);
        assert_eq!(few.quantile(0.99), Some(3.0));
        assert_eq!(few.quantile(0.5), Some(2.0));
        assert_eq!(Sample::default().quantile(0.5), None);
    }
}
