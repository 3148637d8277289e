//! Batches that follow each other. What lies between two of them (the flush, the removal of outputs, the preparation
//! of the next) is no time of jobs; the flushes are counted for themselves.

use std::collections::BTreeMap;

use crate::run::{Event, EventKind, JobResult};

/// First launch and last end of each batch, seconds after the first launch of all.
pub(super) fn spans(jobs: &[JobResult]) -> BTreeMap<u32, (f64, f64)> {
    let mut spans: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for job in jobs {
        let Some((begin, end)) = job.launched_s.zip(ended_s(job)) else {
            continue;
        };
        let span = spans.entry(job.batch).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }
    spans
}

/// Seconds after the first launch.
pub(super) fn ended_s(job: &JobResult) -> Option<f64> {
    Some(job.launched_s? + job.real_s?)
}

/// How many there were, if there was more than one.
pub(super) fn several(jobs: &[JobResult]) -> Option<usize> {
    let last = jobs.iter().map(|job| job.batch).max()?;
    usize::try_from(last).ok().filter(|last| *last > 1)
}

/// From the first launch to the last end of each batch, added up, seconds.
pub(super) fn elapsed_s(jobs: &[JobResult]) -> f64 {
    let spans = spans(jobs);
    spans.values().map(|(begin, end)| end - begin).sum()
}

/// The flushes of so many batches, added up, seconds. Absent if one was not flushed: earlier versions removed its
/// outputs unwritten, and what storage did of them is not known.
pub(super) fn flush_s(events: &[Event], batches: usize) -> Option<f64> {
    let flushed = events
        .iter()
        .filter(|event| event.event == EventKind::Flushed);
    let all = flushed.map(|event| event.real_s);
    (all.clone().count() >= batches)
        .then(|| all.sum())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::aggregate;
    use crate::assemble::drift::tests::{job, plan};
    use crate::run::{Aggregate, Time};

    fn event(kind: EventKind, at_s: f64, real_s: f64) -> Event {
        let time = Time { at_s, unix_s: at_s };
        Event {
            real_s: Some(real_s),
            ..Event::new(time, kind)
        }
    }

    /// Batches that write 20 GB each in 25 s to a disk of 200 MB/s, of which the last ones are flushed; then 5 s go
    /// to the removal.
    fn figures(batches: u32, flushed: u32) -> Aggregate {
        let (mut jobs, mut events) = (Vec::new(), Vec::new());
        for batch in 1..=batches {
            let begin = f64::from(batch - 1) * 105.0;
            jobs.push(JobResult {
                read_bytes: Some(0),
                write_bytes: Some(20_000_000_000),
                ..job("a", batch, begin, 25.0)
            });
            events.push(event(EventKind::JobLaunched, begin, 0.0));
            events.push(event(EventKind::JobFinished, begin + 25.0, 25.0));
            if batch > batches - flushed {
                events.push(event(EventKind::Flushed, begin + 100.0, 75.0));
            }
        }
        aggregate(&plan(&["a"]), &jobs, &events, Some(0.0))
    }

    #[test]
    fn batches_written_to_memory_are_no_faster_than_the_disk() {
        for batches in [1, 2, 10] {
            let all = figures(batches, batches);
            let count = f64::from(batches);
            assert_eq!(all.elapsed_s, Some(25.0 * count));
            assert_eq!(all.flush_s, Some(75.0 * count));
            assert_eq!(all.mb_per_s, Some(800.0));
            assert_eq!(all.mb_per_s_flushed, Some(200.0));
        }
    }

    #[test]
    fn batches_whose_outputs_were_removed_unwritten_have_no_flushed_throughput() {
        let all = figures(10, 1);
        assert_eq!(all.elapsed_s, Some(250.0));
        assert_eq!((all.flush_s, all.mb_per_s_flushed), (None, None));
    }
}
