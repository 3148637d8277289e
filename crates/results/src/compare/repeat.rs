//! One measurement of a side.

use std::collections::{BTreeMap, BTreeSet};

use super::Side;
use crate::run::JobResult;
use crate::subject::{Figures, Subject};

/// One measurement of a side: a run, or a batch of one.
pub(super) struct Repeat {
    /// Elapsed time by job, a mean where a job ran on several nodes.
    pub(super) real_s: BTreeMap<String, f64>,
    pub(super) figures: Figures,
    /// What sums are over; absent if jobs failed, since then there are no sums.
    load: Option<Load>,
}

/// What ran: sums over it compare with sums over the same.
#[derive(PartialEq)]
enum Load {
    /// How often each job did.
    Jobs(BTreeMap<String, u64>),
    /// How many jobs, where they are not known one by one.
    Programs(Option<u64>),
}

pub(super) fn repeats(side: &Side) -> Vec<Repeat> {
    side.runs.iter().flat_map(of_run).collect()
}

/// Whether sums over the jobs of two sides are over the same jobs, as often.
pub(super) fn of_one_load(base: &[Repeat], of: &[Repeat]) -> bool {
    let mut loads = base.iter().chain(of).filter_map(|one| one.load.as_ref());
    let first = loads.next();
    loads.all(|load| Some(load) == first)
}

/// A run with several batches is as many measurements, of which only the jobs are known apart.
fn of_run(run: &Subject) -> Vec<Repeat> {
    let batches: BTreeSet<u32> = run.jobs.iter().map(|job| job.batch).collect();
    if batches.len() < 2 {
        return vec![repeat(&run.jobs, run.figures.clone(), run.programs)];
    }
    let of_batch = |batch: u32| {
        let jobs = run.jobs.iter().filter(|job| job.batch == batch);
        let jobs: Vec<JobResult> = jobs.cloned().collect();
        repeat(&jobs, Figures::of_jobs(&jobs), run.programs)
    };
    batches.into_iter().map(of_batch).collect()
}

/// Sums and rates, unless jobs ended before they had done their work, which is not to be fast.
fn repeat(jobs: &[JobResult], figures: Figures, programs: Option<u64>) -> Repeat {
    let real_s = real_by_job(jobs);
    if jobs.iter().any(JobResult::has_failed) {
        return Repeat {
            real_s,
            figures: Figures::default(),
            load: None,
        };
    }
    let mut launches: BTreeMap<String, u64> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.real_s.is_some()) {
        *launches.entry(job.name.clone()).or_default() += 1;
    }
    let load = if jobs.is_empty() {
        Load::Programs(programs)
    } else {
        Load::Jobs(launches)
    };
    Repeat {
        real_s,
        figures,
        load: Some(load),
    }
}

fn real_by_job(jobs: &[JobResult]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.has_failed()) {
        let Some(real_s) = job.real_s else { continue };
        let sum = sums.entry(job.name.clone()).or_default();
        *sum = (sum.0 + real_s, sum.1 + 1.0);
    }
    sums.into_iter()
        .map(|(name, (sum, count))| (name, sum / count))
        .collect()
}
