//! What the jobs of a run do where storage does not hold them back: from a small run of the same jobs on
//! tmpfs. Near it, a run shows the engine and not the storage.

use results::run::{Ceiling, RunResult};

use crate::plan::{Plan, PlannedJob};

/// Input of the small run for each core, bytes.
const INPUT_PER_CORE: f64 = 100e6;

/// The small run takes no more than this share of what is free on tmpfs, and of the run itself.
const ROOM_SHARE: f64 = 0.1;

/// Shorter jobs say more of starting a process than of their work: nothing is made of their times.
const REAL_S_MIN: f64 = 0.4;

/// How much smaller than a run its small run on a tmpfs with so many bytes free is: a factor on scale and
/// times, above 0 and below 1.
pub fn factor(plan: &Plan, free_bytes: u64) -> f64 {
    let input = plan.input_bytes().0.max(1) as f64;
    let room = ROOM_SHARE * (free_bytes as f64).min(input);
    (INPUT_PER_CORE * f64::from(plan.cores)).min(room) / input
}

/// What a small run tells of a run: the throughput of all jobs, and by job the time without thinking that
/// it would take at the size of the run.
pub fn ceiling(plan: &Plan, small: &Plan, result: &RunResult) -> Ceiling {
    let jobs = plan.jobs.iter().zip(&small.jobs).zip(&result.jobs);
    let real_s = jobs.filter_map(|((job, small_job), result)| {
        let busy_s = result.real_s? - result.sleep_s.unwrap_or_default();
        let times = moved(plan, job)? / moved(small, small_job)?;
        (busy_s >= REAL_S_MIN && result.exit == Some(0)).then(|| (job.name.clone(), busy_s * times))
    });
    Ceiling {
        mb_per_s: result.aggregate.mb_per_s,
        real_s: real_s.collect(),
    }
}

/// What a job moves as far as it is known, or its inputs.
fn moved(plan: &Plan, job: &PlannedJob) -> Option<f64> {
    let inputs = plan.inputs_of(job).0;
    let bytes = job.expected.map_or(inputs, |expected| expected.0);
    (bytes > 0).then_some(bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{host, request};
    use crate::plan::{Scale, plan};
    use crate::suite::builtin;

    fn sorts(scale: f64) -> Plan {
        let suite = builtin("large-sorts").unwrap();
        plan(&suite, &request(Scale::Factor(scale)), &host(10_000)).unwrap()
    }

    #[test]
    fn the_small_run_has_what_fits_and_what_its_cores_need() {
        let plan = sorts(0.1);
        let input = plan.input_bytes().0 as f64;
        // Four cores.
        assert!((factor(&plan, 1 << 40) * input - 400e6).abs() < 1.0);
        assert!((factor(&plan, 100_000_000) * input - 10e6).abs() < 1.0);
        let small = sorts(0.0001);
        assert!((factor(&small, 1 << 40) - ROOM_SHARE).abs() < 1e-9);
    }

    #[test]
    fn times_grow_with_what_jobs_move() {
        let (plan, small) = (sorts(0.1), sorts(0.01));
        let mut result = RunResult::default();
        result.aggregate.mb_per_s = Some(900.0);
        for (job, busy_s) in small.jobs.iter().zip([2.0, 0.1]) {
            result.jobs.push(results::run::JobResult {
                name: job.name.clone(),
                real_s: Some(busy_s + 1.0),
                sleep_s: Some(1.0),
                exit: Some(0),
                ..Default::default()
            });
        }
        let ceiling = ceiling(&plan, &small, &result);
        assert_eq!(ceiling.mb_per_s, Some(900.0));
        let real_s: Vec<(&str, f64)> = ceiling
            .real_s
            .iter()
            .map(|(name, real_s)| (name.as_str(), *real_s))
            .collect();
        assert!(matches!(real_s[..], [("sort_1", real_s)] if (real_s - 20.0).abs() < 0.1));
    }
}
