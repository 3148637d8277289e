//! Latencies of calls: one by one while they are few, as a histogram when they are many.

use hdrhistogram::Histogram;

/// Two significant digits: a value is known within 1 %.
const HISTOGRAM_DIGITS: u8 = 2;

/// Different values that are kept one by one. Most steps make fewer calls of a kind; a histogram costs
/// them more than the calls' whole account.
const FEW: usize = 32;

/// How long calls took, in any unit; a value counts as at least 1.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// Values and how often each was met, in the order they came; empty once there is a histogram.
    few: Vec<(u64, u64)>,
    many: Option<Box<Histogram<u64>>>,
}

impl Latencies {
    /// Adds a value that was met `count` times.
    #[inline]
    pub fn record(&mut self, value: u64, count: u64) {
        // A histogram's range ends at 2^63.
        let value = value.clamp(1, i64::MAX as u64);
        if self.many.is_none() && self.few.len() < FEW {
            self.few.push((value, count));
            return;
        }
        let few = &mut self.few;
        let many = self.many.get_or_insert_with(|| {
            let mut many = Histogram::new(HISTOGRAM_DIGITS).expect("digits are in 0..=5");
            for (value, count) in few.drain(..) {
                many.record_n(value, count).expect("it resizes itself");
            }
            Box::new(many)
        });
        many.record_n(value, count).expect("it resizes itself");
    }

    /// The same in another unit.
    #[must_use]
    pub fn converted(mut self, unit: impl Fn(u64) -> u64) -> Self {
        for (value, _) in &mut self.few {
            *value = unit(*value).clamp(1, i64::MAX as u64);
        }
        let Some(many) = self.many.take() else {
            return self;
        };
        for step in many.iter_recorded() {
            self.record(unit(step.value_iterated_to()), step.count_at_value());
        }
        self
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        other.for_each(|value, count| self.record(value, count));
    }

    /// Every value with how often it was met; a histogram's values are the upper ends of its classes.
    pub fn for_each(&self, mut each: impl FnMut(u64, u64)) {
        for (value, count) in &self.few {
            each(*value, *count);
        }
        for step in self.many.iter().flat_map(|many| many.iter_recorded()) {
            each(step.value_iterated_to(), step.count_at_value());
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        let few: u64 = self.few.iter().map(|(_, count)| count).sum();
        few + self.many.as_ref().map_or(0, |many| many.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The longest, 0 if there is none.
    pub fn max(&self) -> u64 {
        let few = self.few.iter().map(|(value, _)| *value).max();
        let many = self.many.as_ref().map(|many| many.max());
        few.max(many).unwrap_or(0)
    }

    /// For each share the smallest value that so many of all are not above; 0 if there is none.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [u64; N] {
        if let Some(many) = &self.many {
            return shares.map(|share| many.value_at_quantile(share));
        }
        let mut sorted = self.few.clone();
        sorted.sort_unstable();
        let all = self.len() as f64;
        shares.map(|share| {
            let mut so_far = 0;
            let found = sorted.iter().find(|(_, count)| {
                so_far += count;
                so_far as f64 >= share * all
            });
            found.or(sorted.last()).map_or(0, |(value, _)| *value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(value: u64, expected: u64) -> bool {
        value.abs_diff(expected) * 100 <= expected
    }

    #[test]
    fn few_and_many_say_the_same() {
        for last in [1, 2, 31, 32, 33, 100, 1000] {
            let mut latencies = Latencies::default();
            for value in (1..=last).rev() {
                latencies.record(value * 1000, 1);
            }
            let mut sum = 0;
            latencies.for_each(|_, count| sum += count);
            assert_eq!((latencies.len(), sum), (last, last));
            assert!(within(latencies.max(), last * 1000));
            let [median, high, all] = latencies.quantiles([0.5, 0.99, 1.0]);
            assert!(within(median, last.div_ceil(2) * 1000), "{last}: {median}");
            assert!(
                within(high, (last * 99).div_ceil(100) * 1000),
                "{last}: {high}"
            );
            assert!(within(all, last * 1000), "{last}: {all}");
        }
    }

    #[test]
    fn another_unit_changes_values_and_not_how_often_they_were_met() {
        for last in [3, 300] {
            let mut latencies = Latencies::default();
            (1..=last).for_each(|value| latencies.record(value * 1000, 2));
            let converted = latencies.converted(|value| value / 10);
            assert_eq!(converted.len(), 2 * last);
            assert!(within(converted.max(), last * 100), "{last}");
            let [median] = converted.quantiles([0.5]);
            assert!(within(median, last.div_ceil(2) * 100), "{last}: {median}");
        }
        assert!(Latencies::default().converted(|value| value).is_empty());
    }

    #[test]
    fn values_met_often_count_as_often() {
        let mut latencies = Latencies::default();
        latencies.record(5, 98);
        latencies.record(0, 1);
        latencies.record(7, 1);
        assert_eq!(latencies.quantiles([0.01, 0.5, 0.99, 1.0]), [1, 5, 5, 7]);
        let mut merged = Latencies::default();
        (0..20).for_each(|_| merged.merge(&latencies));
        assert_eq!(merged.len(), 2000);
        assert_eq!(merged.quantiles([0.01, 0.5, 0.99, 1.0]), [1, 5, 5, 7]);
    }

    #[test]
    fn nothing_is_nothing() {
        let none = Latencies::default();
        assert!(none.is_empty());
        assert_eq!((none.max(), none.quantiles([0.5])), (0, [0]));
    }
}
