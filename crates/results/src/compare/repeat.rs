//! One measurement of a side: a run. Its batches are none: runs also differ in what was cached, where files lay and who
//! else was there, of which batches of one run tell nothing.

use std::collections::BTreeMap;

use super::Side;
use crate::run::JobResult;
use crate::statistics::summarize;
use crate::subject::{Figures, Subject};

/// One measurement of a side.
pub(super) struct Repeat {
    /// Elapsed time by job, a mean where a job ran on several nodes or in several batches.
    pub(super) real_s: BTreeMap<String, f64>,
    pub(super) figures: Figures,
    /// What sums are over; absent if jobs failed, since then there are no sums.
    load: Option<Load>,
    /// Batches that figures are means over; none where there was one batch.
    batches: Option<Batches>,
}

/// Batches that figures are means over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Batches {
    count: usize,
    /// The first is not among them, since it alone began cold.
    without_first: bool,
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
    side.runs.iter().map(of_run).collect()
}

/// Whether sums over the jobs of two sides are over the same jobs, as often.
pub(super) fn of_one_load(base: &[Repeat], of: &[Repeat]) -> bool {
    let mut loads = base.iter().chain(of).filter_map(|one| one.load.as_ref());
    let first = loads.next();
    loads.all(|load| Some(load) == first)
}

/// What is to be known of batches before sides are compared, a sentence each.
pub(super) fn cautions(sides: &[Side], all: &[Vec<Repeat>]) -> Vec<String> {
    let mut found = Vec::new();
    for (side, repeats) in sides.iter().zip(all) {
        let Some(of) = repeats.iter().find_map(|one| one.batches) else {
            continue;
        };
        let first = if of.without_first {
            " after the first, which alone began cold"
        } else {
            ""
        };
        let once = match repeats.len() {
            1 => format!(
                "; how those {} scatter does not tell how much two runs differ: it was measured once",
                of.count
            ),
            _ => String::new(),
        };
        found.push(format!(
            "{}: times are means over the batches of a run{first}{once}",
            side.label
        ));
    }
    let warm = |one: &Repeat| one.batches.is_some_and(|of| of.without_first);
    let cold = sides
        .iter()
        .zip(all)
        .filter(|(side, repeats)| side.runs.iter().any(began_cold) && !repeats.iter().any(warm));
    let cold: Vec<&str> = cold.map(|(side, _)| &*side.label).collect();
    if !cold.is_empty() && all.iter().flatten().any(warm) {
        found.push(format!(
            "times of batches after the first, with what the first left in caches, stand beside those of a cold \
             start: {}",
            cold.join(", ")
        ));
    }
    found
}

fn began_cold(run: &Subject) -> bool {
    run.configuration
        .get("cold")
        .is_some_and(|cold| cold == "true")
}

fn of_run(run: &Subject) -> Repeat {
    let mut batches: BTreeMap<u32, Vec<JobResult>> = BTreeMap::new();
    for job in &run.jobs {
        batches.entry(job.batch).or_default().push(job.clone());
    }
    if batches.len() < 2 {
        return repeat(&run.jobs, run.figures.clone(), run.programs);
    }
    // The last may have been cut short.
    let ended = |jobs: &&Vec<JobResult>| {
        !jobs
            .iter()
            .any(|job| job.has_failed() || job.exit.is_none())
    };
    let later: Vec<&Vec<JobResult>> = batches.values().skip(1).filter(ended).collect();
    let without_first = began_cold(run) && !later.is_empty();
    let first = batches.values().take(1).filter(ended);
    let counted: Vec<&Vec<JobResult>> = first
        .filter(|_| !without_first)
        .chain(later.iter().copied())
        .collect();
    let Some(one) = counted.first() else {
        return repeat(&run.jobs, run.figures.clone(), run.programs);
    };
    let jobs: Vec<JobResult> = counted
        .iter()
        .flat_map(|jobs| jobs.iter().cloned())
        .collect();
    let failed = run.jobs.iter().any(JobResult::has_failed);
    let rates = if failed {
        Figures::default()
    } else {
        run.figures.clone()
    };
    Repeat {
        real_s: real_by_job(&jobs),
        figures: mean_of(&counted, &rates),
        batches: Some(Batches {
            count: counted.len(),
            without_first,
        }),
        ..repeat(one, Figures::default(), run.programs)
    }
}

/// Sums and means of a batch, the mean of all batches; `rates` are of the whole run.
fn mean_of(batches: &[&Vec<JobResult>], rates: &Figures) -> Figures {
    let each: Vec<Figures> = batches.iter().map(|jobs| Figures::of_jobs(jobs)).collect();
    let mean = |figure: fn(&Figures) -> Option<f64>| {
        let figures: Option<Vec<f64>> = each.iter().map(figure).collect();
        Some(summarize(&figures?)?.mean)
    };
    Figures {
        real_sum_s: mean(|all| all.real_sum_s),
        real_mean_s: mean(|all| all.real_mean_s),
        real_max_s: mean(|all| all.real_max_s),
        user_s: mean(|all| all.user_s),
        system_s: mean(|all| all.system_s),
        memory_bytes: mean(|all| all.memory_bytes),
        cpu_real_mean: mean(|all| all.cpu_real_mean),
        cpu_real_of_sums: mean(|all| all.cpu_real_of_sums),
        mb_per_s: rates.mb_per_s,
        models_per_hour: rates.models_per_hour,
        ..Figures::default()
    }
}

/// Sums and rates, unless jobs ended before they had done their work, which is not to be fast.
fn repeat(jobs: &[JobResult], figures: Figures, programs: Option<u64>) -> Repeat {
    let real_s = real_by_job(jobs);
    if jobs.iter().any(JobResult::has_failed) {
        return Repeat {
            real_s,
            figures: Figures::default(),
            load: None,
            batches: None,
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
        batches: None,
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
