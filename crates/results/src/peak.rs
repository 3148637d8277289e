//! The sustained peak: the highest mean over 60 s contiguous, or 2 % of the run if that is longer,
//! all nodes on one clock.

use crate::run::SustainedPeak;

/// Shortest window, seconds.
const WINDOW_S_MIN: f64 = 60.0;

/// Window as a share of the run.
const WINDOW_SHARE: f64 = 0.02;

/// Share of a window that samples must cover: what was not sampled was not sustained.
const COVERED_MIN: f64 = 0.99;

/// Sustained throughput of storage, MB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfStorage {
    /// All channels.
    pub total: f64,
    /// Permanent data.
    pub shared: f64,
    /// WORK and utility files.
    pub work: f64,
}

impl SustainedPeak {
    /// What storage moved for the jobs at its peak; `None` where memory was not sampled. Which channel's bytes stayed
    /// in memory is not known: all are taken to have been cut alike.
    pub fn of_storage(&self) -> Option<OfStorage> {
        let served = self.mb_per_s.filter(|served| *served > 0.0)?;
        let total = self.settled_mb_per_s?.min(served);
        let part = total / served;
        Some(OfStorage {
            total,
            shared: self.shared_mb_per_s? * part,
            work: self.work_mb_per_s? * part,
        })
    }
}

/// What was moved in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// End of the interval, seconds on a clock that all nodes share.
    pub end_s: f64,
    /// Its length, seconds.
    pub interval_s: f64,
    /// How much.
    pub amount: f64,
}

/// A sustained peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Amount per second.
    pub per_s: f64,
    /// When the window began.
    pub began_s: f64,
}

/// The window of a run of this length.
pub fn window_s(run_s: f64) -> f64 {
    WINDOW_S_MIN.max(run_s * WINDOW_SHARE)
}

/// One node's amounts added up over time: straight lines between the ends of intervals.
struct Course {
    /// Times, and up to them the amount and the time that was sampled.
    ends: Vec<(f64, f64, f64)>,
}

impl Course {
    fn new(moved: &[Moved]) -> Self {
        let mut ends = Vec::with_capacity(moved.len() * 2);
        let (mut amount, mut sampled, mut last) = (0.0, 0.0, f64::NEG_INFINITY);
        for one in moved.iter().filter(|one| one.interval_s > 0.0) {
            let begin = (one.end_s - one.interval_s).max(last);
            if begin > last {
                ends.push((begin, amount, sampled));
            }
            if one.end_s <= begin {
                continue;
            }
            amount += one.amount;
            sampled += one.end_s - begin;
            last = one.end_s;
            ends.push((last, amount, sampled));
        }
        Self { ends }
    }

    /// Amount and sampled time up to `time`.
    fn until(&self, time: f64) -> (f64, f64) {
        let after = self.ends.partition_point(|end| end.0 < time);
        let Some(next) = self.ends.get(after) else {
            return self.ends.last().map_or((0.0, 0.0), |end| (end.1, end.2));
        };
        let Some(before) = after.checked_sub(1).map(|at| self.ends[at]) else {
            return (0.0, 0.0);
        };
        let part = (time - before.0) / (next.0 - before.0);
        let between = |from: f64, to: f64| from + (to - from) * part;
        (between(before.1, next.1), between(before.2, next.2))
    }
}

/// The highest mean of all nodes together over `window_s`; `None` if no window of this length was
/// sampled on every node.
pub fn sustained(nodes: &[Vec<Moved>], window_s: f64) -> Option<Peak> {
    let courses: Vec<Course> = nodes.iter().map(|moved| Course::new(moved)).collect();
    let mean = |began_s: f64| {
        let mut total = 0.0;
        for course in &courses {
            let (early, late) = (course.until(began_s), course.until(began_s + window_s));
            if late.1 - early.1 < window_s * COVERED_MIN {
                return None;
            }
            total += late.0 - early.0;
        }
        let per_s = total / window_s;
        Some(Peak { per_s, began_s })
    };
    // Between the ends of intervals the mean changes along straight lines: its highest value is
    // where a window begins or ends with an interval.
    let ends = courses.iter().flat_map(|course| &course.ends);
    let begins = ends.flat_map(|end| [end.0, end.0 - window_s]);
    let higher = |a: Peak, b: Peak| if b.per_s > a.per_s { b } else { a };
    begins.filter_map(mean).reduce(higher)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second each, the first ending at `first_s`.
    fn seconds(first_s: f64, amounts: &[f64]) -> Vec<Moved> {
        let moved = |(index, amount): (usize, &f64)| Moved {
            end_s: first_s + index as f64,
            interval_s: 1.0,
            amount: *amount,
        };
        amounts.iter().enumerate().map(moved).collect()
    }

    fn check(nodes: &[Vec<Moved>], window_s: f64, expected: Option<(f64, f64)>) {
        let found = sustained(nodes, window_s).map(|peak| (peak.per_s, peak.began_s));
        match (found, expected) {
            (Some(found), Some(expected)) => {
                assert!((found.0 - expected.0).abs() < 1e-9, "{found:?}");
                assert!((found.1 - expected.1).abs() < 1e-9, "{found:?}");
            }
            (found, expected) => assert_eq!(found, expected),
        }
    }

    #[test]
    fn the_best_contiguous_window_counts() {
        let node = seconds(1.0, &[1.0, 5.0, 6.0, 4.0, 9.0, 0.0]);
        check(std::slice::from_ref(&node), 1.0, Some((9.0, 4.0)));
        check(std::slice::from_ref(&node), 2.0, Some((6.5, 3.0)));
        check(std::slice::from_ref(&node), 3.0, Some((19.0 / 3.0, 2.0)));
        check(std::slice::from_ref(&node), 6.0, Some((25.0 / 6.0, 0.0)));
    }

    #[test]
    fn a_run_shorter_than_the_window_has_none() {
        check(&[seconds(1.0, &[5.0; 59])], 60.0, None);
        check(&[seconds(1.0, &[5.0; 60])], 60.0, Some((5.0, 0.0)));
        check(&[], 60.0, None);
        check(&[Vec::new()], 60.0, None);
    }

    #[test]
    fn what_was_not_sampled_was_not_sustained() {
        let mut node = seconds(1.0, &[9.0; 4]);
        node.extend(seconds(8.0, &[1.0; 5]));
        check(std::slice::from_ref(&node), 4.0, Some((9.0, 0.0)));
        check(&[node], 5.0, Some((1.0, 7.0)));
    }

    #[test]
    fn nodes_add_up_on_one_clock() {
        let one = seconds(1.0, &[0.0, 10.0, 0.0, 0.0]);
        let other = seconds(1.0, &[0.0, 0.0, 10.0, 0.0]);
        check(&[one.clone(), other.clone()], 1.0, Some((10.0, 1.0)));
        check(&[one, other], 2.0, Some((10.0, 1.0)));
        // Half a second apart: all of the one's best second, half of the other's.
        let late = seconds(1.5, &[0.0, 10.0, 0.0]);
        let early = seconds(1.0, &[0.0, 10.0, 0.0, 0.0]);
        check(&[early, late], 1.0, Some((15.0, 1.0)));
    }

    #[test]
    fn windows_grow_with_the_run() {
        assert_eq!(window_s(100.0).to_bits(), 60f64.to_bits());
        assert_eq!(window_s(36_000.0).to_bits(), 720f64.to_bits());
    }

    #[test]
    fn intervals_of_any_length_are_prorated() {
        let moved = |end_s, interval_s, amount| Moved {
            end_s,
            interval_s,
            amount,
        };
        // 10 a second for 2 s, then 4 a second for 4 s; the best 3 s are all of the first and a
        // quarter of the second.
        let node = vec![moved(2.0, 2.0, 20.0), moved(6.0, 4.0, 16.0)];
        check(&[node], 3.0, Some((8.0, 0.0)));
    }
}
