//! First and last part of a run of many batches.

use std::collections::{BTreeMap, BTreeSet};

use super::batches::{ended_s, spans};
use super::disturbance::Window;
use crate::run::{Drift, JobDrift, JobResult, RunPlan};
use crate::sample::{ChannelSample, Sample};

const HOUR_S: f64 = 3600.0;

/// Compares them; `None` for a run of one batch, or one that was not made to go on for some time.
pub(super) fn drift(
    plan: &RunPlan,
    jobs: &[JobResult],
    samples: &[(String, Vec<Sample>)],
    window: Window,
) -> Option<Drift> {
    plan.duration_s?;
    let run_s = jobs.iter().filter_map(ended_s).reduce(f64::max)?;
    let (part, part_s) = if run_s >= 2.0 * HOUR_S {
        ("hour", HOUR_S)
    } else {
        ("tenth", run_s / 10.0)
    };
    let first = batches(jobs, |begin, _| begin < part_s);
    let last = batches(jobs, |_, end| end > run_s - part_s);
    let ran = jobs.iter().map(|job| job.batch).collect::<BTreeSet<_>>();
    if ran.len() < 2 {
        return None;
    }
    let times: Vec<JobDrift> = plan
        .jobs
        .iter()
        .filter_map(|job| {
            let real_s = [
                mean(jobs, &job.name, &first)?,
                mean(jobs, &job.name, &last)?,
            ];
            let name = job.name.clone();
            Some(JobDrift { name, real_s })
        })
        .collect();
    let logarithms = times.iter().map(|job| (job.real_s[1] / job.real_s[0]).ln());
    let count = times.len() as f64;
    // Whole batches, since the end of one asks for less than its beginning.
    let spans = spans(jobs);
    let parts = [&first, &last].map(|of| {
        let own = spans.iter().filter(|(batch, _)| of.contains(batch));
        own.map(|(_, (begin, end))| (window.launched_s + begin, window.launched_s + end))
            .collect()
    });
    Some(Drift {
        part: part.to_owned(),
        part_s,
        mb_per_s: throughput(samples, parts),
        batches: [&first, &last].map(|of| u32::try_from(of.len()).unwrap_or(u32::MAX)),
        real_ratio: (count > 0.0).then(|| (logarithms.sum::<f64>() / count).exp()),
        jobs: times,
    })
}

/// Batches of which begin and end, seconds after the first launch, are as asked for.
fn batches(jobs: &[JobResult], wanted: impl Fn(f64, f64) -> bool) -> BTreeSet<u32> {
    let kept = spans(jobs)
        .into_iter()
        .filter(|(_, (begin, end))| wanted(*begin, *end));
    kept.map(|(batch, _)| batch).collect()
}

/// Mean elapsed time of a job that ended well, in some batches.
fn mean(jobs: &[JobResult], name: &str, batches: &BTreeSet<u32>) -> Option<f64> {
    let of_job = jobs.iter().filter(|job| {
        job.name == name && batches.contains(&job.batch) && job.exit.is_some_and(|exit| exit < 2)
    });
    let times: Vec<f64> = of_job
        .filter_map(|job| job.real_s.filter(|real_s| *real_s > 0.0))
        .collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// What jobs were served per second in two parts, spans of time each; a sample across an edge counts by its share.
fn throughput(
    nodes: &[(String, Vec<Sample>)],
    parts: [Vec<(f64, f64)>; 2],
) -> BTreeMap<String, [f64; 2]> {
    let mut rates: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (place, spans) in parts.into_iter().enumerate() {
        let all_s: f64 = spans.iter().map(|(from, to)| to - from).sum();
        for sample in nodes.iter().flat_map(|(_, samples)| samples) {
            let begin = sample.at_s - sample.interval_s;
            let inside =
                |(from, to): &(f64, f64)| (sample.at_s.min(*to) - begin.max(*from)).max(0.0);
            let inside_s: f64 = spans.iter().map(inside).sum();
            if inside_s <= 0.0 || sample.interval_s <= 0.0 {
                continue;
            }
            let share = inside_s / sample.interval_s / 1e6 / all_s;
            for (name, channel) in &sample.channels {
                let moved = ChannelSample::bytes(channel) as f64 * share;
                rates.entry(name.clone()).or_default()[place] += moved;
                rates.entry("all".to_owned()).or_default()[place] += moved;
            }
        }
    }
    rates
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::assemble) fn job(
        name: &str,
        batch: u32,
        launched_s: f64,
        real_s: f64,
    ) -> JobResult {
        JobResult {
            name: name.to_owned(),
            batch,
            launched_s: Some(launched_s),
            real_s: Some(real_s),
            exit: Some(0),
            ..JobResult::default()
        }
    }

    pub(in crate::assemble) fn plan(names: &[&str]) -> RunPlan {
        let jobs: Vec<_> = names
            .iter()
            .map(|name| {
                serde_json::json!({"name": name, "offset_s": 0.0, "input_bytes": 0, "symbols": {}})
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "schema": "1.0", "program": "", "run": "r", "suite": "s", "scale": 1.0, "seed": 1, "cores": 1,
            "started_unix_s": 0.0, "node": "n", "cores_basis": "", "memory_bytes": 1, "scale_reason": "",
            "demonstration": false, "qualifying": true, "notes": [], "cold": true, "options": {},
            "directories": {}, "duration_s": 100.0, "jobs": jobs,
        }))
        .unwrap()
    }

    fn second(end_s: f64, bytes: u64) -> Sample {
        let moved = ChannelSample {
            read_bytes: bytes,
            ..ChannelSample::default()
        };
        Sample {
            at_s: end_s,
            interval_s: 1.0,
            channels: [("work".to_owned(), moved)].into(),
            ..Sample::default()
        }
    }

    fn is(found: [f64; 2], expected: [f64; 2]) -> bool {
        found
            .iter()
            .zip(expected)
            .all(|(found, expected)| (found - expected).abs() < 1e-9)
    }

    const WINDOW: Window = Window {
        launched_s: 5.0,
        ended_s: 105.0,
        flushed_s: 105.0,
    };

    #[test]
    fn the_last_tenth_is_compared_with_the_first() {
        // Ten batches of 10 s one after the other: the job takes 4 s in the first and 8 s in the last.
        let mut jobs = Vec::new();
        for batch in 1..=10 {
            let begin = f64::from(batch - 1) * 10.0;
            let last = batch == 10;
            jobs.push(job("a", batch, begin, if last { 8.0 } else { 4.0 }));
            jobs.push(job("b", batch, begin, 10.0));
        }
        // 20 MB/s in the first half of the run, 5 in the second; what came before the launch does not count.
        let samples: Vec<Sample> = (0..110_u32)
            .map(|end| {
                second(
                    f64::from(end),
                    if end < 55 { 20_000_000 } else { 5_000_000 },
                )
            })
            .collect();
        let samples = [("n".to_owned(), samples)];
        let found = drift(&plan(&["a", "b"]), &jobs, &samples, WINDOW).unwrap();
        assert_eq!((found.part.as_str(), found.part_s), ("tenth", 10.0));
        assert_eq!(found.batches, [1, 1]);
        assert!(is(found.jobs[0].real_s, [4.0, 8.0]));
        assert!((found.real_ratio.unwrap() - 2f64.sqrt()).abs() < 1e-12);
        let [first, last] = found.mb_per_s["all"];
        assert!(
            (first - 20.0).abs() < 1e-9 && (last - 5.0).abs() < 1e-9,
            "{first} {last}"
        );
        assert!((found.throughput_ratio().unwrap() - 0.25).abs() < 1e-9);
    }

    /// Two equal batches, each with one job that goes on alone for half of it.
    #[test]
    fn an_end_with_few_jobs_is_not_slower_than_a_beginning_with_all() {
        let jobs: Vec<JobResult> = [1, 2]
            .into_iter()
            .flat_map(|batch| {
                let begin = f64::from(batch - 1) * 50.0;
                [job("a", batch, begin, 25.0), job("b", batch, begin, 50.0)]
            })
            .collect();
        let rate = |end: u32| {
            if end.saturating_sub(6) % 50 < 25 {
                20_000_000
            } else {
                1_000_000
            }
        };
        let samples = (0..110_u32).map(|end| second(f64::from(end), rate(end)));
        let samples = [("n".to_owned(), samples.collect::<Vec<_>>())];
        let found = drift(&plan(&["a", "b"]), &jobs, &samples, WINDOW).unwrap();
        let ratio = found.throughput_ratio().unwrap();
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn from_two_hours_on_the_parts_are_hours() {
        let jobs = [
            job("a", 1, 0.0, 3000.0),
            job("a", 2, 3000.0, 600.0),
            job("a", 3, 3600.0, 3700.0),
        ];
        let found = drift(&plan(&["a"]), &jobs, &[], WINDOW).unwrap();
        // Batches 1 and 2 began in the first hour; batch 3 alone ended in the last.
        assert_eq!((found.part.as_str(), found.batches), ("hour", [2, 1]));
        assert!(is(found.jobs[0].real_s, [1800.0, 3700.0]));
        assert!(found.mb_per_s.is_empty());
    }

    #[test]
    fn one_batch_and_failed_jobs_compare_with_nothing() {
        assert_eq!(
            drift(&plan(&["a"]), &[job("a", 1, 0.0, 9.0)], &[], WINDOW),
            None
        );
        let failed = JobResult {
            exit: Some(2),
            ..job("a", 2, 10.0, 10.0)
        };
        let found = drift(&plan(&["a"]), &[job("a", 1, 0.0, 9.0), failed], &[], WINDOW).unwrap();
        assert_eq!((found.jobs.len(), found.real_ratio), (0, None));
    }
}
