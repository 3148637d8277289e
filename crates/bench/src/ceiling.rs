//! What the jobs of a run do where storage does not hold them back: from small runs of the same jobs on tmpfs.
//! Near it, a run shows the engine and not the storage.
//!
//! All jobs at once tell what the engine can move. What a job takes for itself is told by one job of each kind,
//! one after the other: times of jobs that wait for processors do not grow with their data. Jobs of a pool are
//! alike and always as many, so that they tell both at once.

use std::collections::BTreeMap;

use base::units::Bytes;
use results::run::{Alone, JobResult, RunResult};

use crate::plan::{Need, Plan, PlannedJob, Space};
use crate::suite::Suite;
use crate::suite::expand::rounded;
use crate::suite::text::Rule;

/// Input of all jobs at once for each core, bytes.
const INPUT_PER_CORE: f64 = 100e6;

/// Input of one job of each kind after the other, bytes.
const INPUT_ALONE: f64 = 300e6;

/// The input of a small run takes no more than this share of what is free on tmpfs, and of the run's.
const ROOM_SHARE: f64 = 0.1;

/// All files of the small run together take no more than this share of what is free.
const FILES_SHARE: f64 = 0.5;

/// Times that a pool is filled.
const ROUNDS: usize = 2;

/// Shorter jobs say more of starting a process than of their work: nothing is made of their times.
const MOVING_S_MIN: f64 = 0.4;

/// How jobs run on tmpfs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As many at once as in the run.
    AtOnce,
    /// One of each kind, one after the other.
    Alone,
}

impl How {
    /// How much smaller than a run its small run on a tmpfs with so many bytes free is: a factor on scale and
    /// times, above 0 and below 1.
    pub fn factor(self, suite: &Suite, plan: &Plan, free: Bytes) -> f64 {
        let mut chosen = plan.clone();
        self.choose(suite, &mut chosen);
        let input = chosen.input_bytes().0.max(1) as f64;
        let room = ROOM_SHARE * (free.0 as f64).min(input);
        let wanted = match self {
            Self::AtOnce => INPUT_PER_CORE * f64::from(plan.cores),
            Self::Alone => INPUT_ALONE,
        };
        wanted.min(room) / input
    }

    /// Leaves a small run the jobs that it takes.
    pub fn choose(self, suite: &Suite, small: &mut Plan) {
        match self {
            Self::AtOnce if is_pool(suite) => few(small),
            Self::AtOnce => {}
            Self::Alone => one_of_each(small),
        }
    }
}

/// Whether the next job starts when one ends: its jobs are alike.
pub fn is_pool(suite: &Suite) -> bool {
    *suite.text.launch.rule.get_ref() == Rule::Pool
}

/// Jobs of one kind here read data that are made alike, too.
fn kind(plan: &Plan, job: &PlannedJob) -> (String, Vec<usize>) {
    let inputs = job.inputs.iter().filter_map(|at| plan.datasets.get(*at));
    let inputs = inputs.map(|dataset| dataset.entry);
    (job.kind.clone(), inputs.collect())
}

fn one_of_each(small: &mut Plan) {
    let mut names = BTreeMap::new();
    for job in &small.jobs {
        let name = names.entry(kind(small, job));
        name.or_insert_with(|| job.name.clone());
    }
    let names: Vec<String> = names.into_values().collect();
    keep(small, |job| names.contains(&job.name), Some(1));
    for job in &mut small.jobs {
        job.offset_s = 0.0;
    }
}

/// Of a pool there may be hundreds.
fn few(small: &mut Plan) {
    let Some(at_once) = small.concurrency else {
        return;
    };
    let mut of_entry: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for job in &small.jobs {
        let names = of_entry.entry(job.entry).or_default();
        names.push(job.name.clone());
        names.truncate(at_once.saturating_mul(ROUNDS));
    }
    let kept = |job: &PlannedJob| of_entry[&job.entry].contains(&job.name);
    keep(small, kept, small.concurrency);
}

/// Leaves jobs out, and the space that they need.
fn keep(small: &mut Plan, kept: impl Fn(&PlannedJob) -> bool, concurrency: Option<usize>) {
    let at_once = |plan: &Plan| {
        let jobs = plan.jobs.len().max(1);
        plan.concurrency.map_or(jobs, |count| count.min(jobs)) as f64
    };
    let size = |plan: &Plan| {
        let (jobs, input) = (plan.jobs.len().max(1), plan.input_bytes().0.max(1));
        (jobs as f64, input as f64, at_once(plan))
    };
    let before = size(small);
    small.retain_jobs(kept);
    small.concurrency = concurrency;
    let after = size(small);
    // Multiples of the input are of one that may have become smaller.
    let part = |need: Need, kept: f64| Need {
        per_input: need.per_input * kept * before.1 / after.1,
        fixed: need.fixed * kept,
    };
    let (jobs, at_once) = (after.0 / before.0, after.2 / before.2);
    small.space = Space {
        output: part(small.space.output, jobs),
        runs: part(small.space.runs, jobs),
        work: part(small.space.work, at_once),
        util: part(small.space.util, at_once),
    };
}

/// Why a small run does not fit on a tmpfs with so many bytes free.
pub fn too_large(small: &Plan, free: Bytes) -> Option<String> {
    let space = small.space;
    let needs = [
        Need::INPUT,
        space.output,
        space.work,
        space.util,
        space.runs,
    ];
    let need = needs.into_iter().sum::<Need>().at(small.input_bytes());
    let allowed = Bytes(rounded(FILES_SHARE * free.0 as f64));
    (need.0 > allowed.0)
        .then(|| format!("its files would take {need}, and it may use {allowed} of memory"))
}

/// What a small run tells of the jobs of a run: what each takes for what it moves. A job that it left out is like
/// those of its kind.
pub fn times(plan: &Plan, small: &Plan, result: &RunResult) -> BTreeMap<String, Alone> {
    let mut of_job: BTreeMap<&str, Alone> = BTreeMap::new();
    let mut of_kind: BTreeMap<_, Vec<Alone>> = BTreeMap::new();
    for (job, result) in small.jobs.iter().zip(&result.jobs) {
        if let Some(alone) = alone(result) {
            of_job.insert(&job.name, alone);
            of_kind.entry(kind(small, job)).or_default().push(alone);
        }
    }
    let jobs = plan.jobs.iter().filter_map(|job| {
        let ran = small.jobs.iter().any(|small| small.name == job.name);
        let alone = match of_job.get(job.name.as_str()) {
            Some(alone) => *alone,
            None if ran => return None,
            None => mean(of_kind.get(&kind(plan, job))?),
        };
        Some((job.name.clone(), alone))
    });
    jobs.collect()
}

fn alone(job: &JobResult) -> Option<Alone> {
    let busy_s = job.busy_s()?;
    let fixed_s = job.pace_fixed_s.unwrap_or_default();
    let alone = Alone {
        fixed_s,
        moving_s: busy_s - fixed_s,
        bytes: job.moved_bytes()?,
    };
    let says = job.ended_well() && alone.bytes > 0 && alone.moving_s >= MOVING_S_MIN;
    says.then_some(alone)
}

fn mean(of: &[Alone]) -> Alone {
    let sum = |part: fn(&Alone) -> f64| of.iter().map(part).sum::<f64>() / of.len() as f64;
    Alone {
        fixed_s: sum(|one| one.fixed_s),
        moving_s: sum(|one| one.moving_s),
        bytes: of.iter().map(|one| one.bytes).sum::<u64>() / of.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Request;
    use crate::plan::tests::host;
    use crate::plan::{Scale, plan};
    use crate::suite::builtin;

    fn sorts(scale: f64) -> Plan {
        let suite = builtin("large-sorts").unwrap();
        plan(&suite, &Request::of(Scale::Factor(scale)), &host(10_000)).unwrap()
    }

    fn pool(scale: f64) -> (Suite, Plan) {
        let suite = builtin("demand-calibration").unwrap();
        let mut request = Request::of(Scale::Factor(scale));
        request.parameters.insert("concurrency".to_owned(), 2);
        let plan = plan(&suite, &request, &host(10_000)).unwrap();
        (suite, plan)
    }

    /// A job as it ended on tmpfs.
    fn ended(name: &str, real_s: f64, sleep_s: f64, fixed_s: f64) -> JobResult {
        JobResult {
            name: name.to_owned(),
            real_s: Some(real_s),
            sleep_s: Some(sleep_s),
            pace_fixed_s: Some(fixed_s),
            read_bytes: Some(6_000_000),
            write_bytes: Some(4_000_000),
            exit: Some(0),
            ..Default::default()
        }
    }

    #[test]
    fn the_small_run_has_what_fits_and_what_its_cores_need() {
        let plan = sorts(0.1);
        let input = plan.input_bytes().0 as f64;
        // Four cores.
        let suite = builtin("large-sorts").unwrap();
        let factor = |plan: &Plan, free: u64| How::AtOnce.factor(&suite, plan, Bytes(free));
        assert!((factor(&plan, 1 << 40) * input - 400e6).abs() < 1.0);
        assert!((factor(&plan, 100_000_000) * input - 10e6).abs() < 1.0);
        // All of it is for the one that stands for all.
        let large = sorts(2.0);
        let alone = How::Alone.factor(&suite, &large, Bytes(1 << 40));
        let of_one = large.input_bytes().0 as f64 / large.jobs.len() as f64;
        assert!((alone * of_one - 300e6).abs() < 1.0);
        let small = sorts(0.0001);
        assert!((factor(&small, 1 << 40) - ROOM_SHARE).abs() < 1e-9);
    }

    #[test]
    fn a_pool_of_hundreds_is_known_by_a_few_that_fit() {
        let (suite, mut small) = pool(0.05);
        assert_eq!(small.jobs.len(), 750);
        // The marts of all of them.
        assert!(too_large(&small, Bytes::gib(32)).is_some());
        How::AtOnce.choose(&suite, &mut small);
        let names: Vec<&str> = small.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["model_1", "model_2", "model_3", "model_4"]);
        assert_eq!(too_large(&small, Bytes::gib(5)), None);
        let why = too_large(&small, Bytes::gib(3)).unwrap();
        assert!(why.contains("may use 1.61 GB of memory"), "{why}");
        let mut sorts = sorts(0.1);
        let all = sorts.clone();
        How::AtOnce.choose(&builtin("large-sorts").unwrap(), &mut sorts);
        assert_eq!(sorts, all);
    }

    #[test]
    fn times_grow_with_what_jobs_move_but_for_what_their_steps_cost_anyhow() {
        let (plan, small) = (sorts(0.1), sorts(0.01));
        let mut result = RunResult::default();
        let names = small.jobs.iter().map(|job| job.name.as_str());
        let ends = names.zip([(4.5, 1.0, 1.5), (1.8, 0.0, 1.5)]);
        result.jobs = ends
            .map(|(name, (real_s, sleep_s, fixed_s))| ended(name, real_s, sleep_s, fixed_s))
            .collect();
        let jobs = times(&plan, &small, &result);
        // The other one hardly moved anything.
        let of_job: Vec<&str> = jobs.keys().map(String::as_str).collect();
        assert_eq!(of_job, ["sort_1"]);
        assert!((jobs["sort_1"].at(100_000_000) - 21.5).abs() < 1e-9);
    }

    #[test]
    fn jobs_that_were_left_out_are_like_those_of_their_kind() {
        let ((suite, plan), (_, mut small)) = (pool(1.0), pool(0.05));
        How::AtOnce.choose(&suite, &mut small);
        let mut result = RunResult::default();
        let took = [2.0, 4.0, 3.0, 3.0];
        let jobs = small.jobs.iter().zip(took);
        result.jobs = jobs
            .map(|(job, real_s)| ended(&job.name, real_s, 0.0, 0.0))
            .collect();
        result.jobs[1].exit = Some(2);
        let jobs = times(&plan, &small, &result);
        assert!(!jobs.contains_key("model_2"), "it failed");
        assert_eq!(jobs.len(), 749);
        assert!((jobs["model_3"].at(10_000_000) - 3.0).abs() < 1e-9);
        assert!((jobs["model_750"].at(20_000_000) - 16.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn one_job_of_each_kind_runs_alone_at_once() {
        let suite = builtin("multiuser").unwrap();
        let mut small = plan(&suite, &Request::of(Scale::Factor(0.001)), &host(10_000)).unwrap();
        let all = small.jobs.clone();
        let whole = small.clone();
        How::Alone.choose(&suite, &mut small);
        assert_eq!((all.len(), small.concurrency), (33, Some(1)));
        assert!(
            small
                .jobs
                .iter()
                .all(|job| job.offset_s == 0.0 && job.follows.is_none())
        );
        let kinds: Vec<_> = small.jobs.iter().map(|job| kind(&small, job)).collect();
        let mut distinct = kinds.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(kinds.len(), distinct.len());
        let mut all = all.iter().map(|job| kind(&whole, job));
        assert!(all.all(|kind| kinds.contains(&kind)), "{kinds:?}");
        // One of them does what the other one does not.
        let ran = |name: &str| small.jobs.iter().any(|job| job.name == name);
        assert!(ran("hplogistic_1") && ran("hplogistic_2"));
        assert!(ran("bank1_1") && !ran("bank1_3"));
    }

    /// Of four jobs with data of their own one is left: a quarter of the output, of a quarter of the input.
    #[test]
    fn a_small_run_needs_the_space_of_the_jobs_that_it_keeps() {
        let suite = builtin("large-sorts").unwrap();
        let mut request = Request::of(Scale::Factor(0.1));
        request.parameters.insert("jobs".to_owned(), 4);
        let whole = plan(&suite, &request, &host(10_000)).unwrap();
        let mut small = whole.clone();
        How::Alone.choose(&suite, &mut small);
        let bytes = |plan: &Plan, need: Need| need.at(plan.input_bytes()).0 as f64;
        for (all, one) in [
            (whole.space.output, small.space.output),
            (whole.space.util, small.space.util),
        ] {
            let part = bytes(&small, one) / bytes(&whole, all);
            assert!((part - 0.25).abs() < 1e-6, "{part}");
        }
    }
}
