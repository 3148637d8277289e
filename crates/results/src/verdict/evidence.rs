//! The evidence of a run, from what its directory holds.

use std::collections::BTreeMap;

use base::units::Bytes;

use crate::assemble::disturbance::beyond_limits;
use crate::audit::NodeAudit;
use crate::node::NodeRecord;
use crate::peak::{self, OfStorage};
use crate::run::{
    Aggregate, ChannelResult, CopiesRecord, Disturbance, Drift, Event, EventKind, JobResult, Limit,
    RunPlan, SustainedPeak, Verdict,
};
use crate::sample::Sample;
use crate::subject::Figures;
use crate::thresholds::{Measure, Thresholds};

use super::{Evidence, Measured, judge, limit, relief};

/// Above this cached share a run did not measure storage, nor was a file read back from it.
pub const CACHED_SHARE_MAX: f64 = 0.05;

/// From this share of what the engine reaches on tmpfs on, the engine and not the storage is the limit.
const CEILING_NEAR: f64 = 0.90;

/// A load that reaches this in all and sends half of it to WORK shows less than 60 of permanent data, which is not
/// the storage's doing.
const TOTAL_MB_PER_S_PER_CORE: f64 = 100.0;

/// Shorter jobs say more of start-up than of storage.
const SPREAD_REAL_S_MIN: f64 = 10.0;

/// Equal jobs that were launched within so many seconds ran among the same others.
const TOGETHER_S: f64 = 10.0;

/// Jobs that could be compared with tmpfs stand for all from this share of the elapsed time on.
const ELONGATION_SHARE_MIN: f64 = 0.5;

const UNKNOWN: &str = "the throughput is not known: a job left no record of its steps, or the flush was not \
                       measured";

const NOT_COUNTED: &str =
    "a licensed SAS does not tell what went over each channel, so that the throughput is not known";

/// Why there is no throughput.
fn unknown(plan: &RunPlan) -> &'static str {
    if plan.sas.is_some() {
        NOT_COUNTED
    } else {
        UNKNOWN
    }
}

/// Everything that a verdict is made from.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What was planned.
    pub plan: &'a RunPlan,
    /// Jobs.
    pub jobs: &'a [JobResult],
    /// Channels.
    pub channels: &'a BTreeMap<String, ChannelResult>,
    /// All jobs together.
    pub aggregate: &'a Aggregate,
    /// What happened.
    pub events: &'a [Event],
    /// What each node did over time.
    pub samples: &'a [(String, Vec<Sample>)],
    /// What each node is.
    pub nodes: &'a [NodeRecord],
    /// What the audit of each node found.
    pub audits: &'a [NodeAudit],
    /// Sustained peaks; where nothing was sampled means over the whole run stand for them.
    pub sustained: Option<&'a SustainedPeak>,
    /// What else happened on the nodes.
    pub disturbances: &'a [Disturbance],
    /// First and last part of a run of several batches.
    pub drift: Option<&'a Drift>,
}

/// The verdict of a run, finished or not.
pub fn of_run(facts: &Facts<'_>, thresholds: &Thresholds) -> Verdict {
    judge(&evidence(facts), thresholds)
}

fn evidence(facts: &Facts<'_>) -> Evidence {
    let plan = facts.plan;
    let mut doubts: Vec<String> = incomplete(facts).into_iter().collect();
    if !plan.demonstration {
        doubts.extend(unproven(facts));
        doubts.extend(in_memory(facts.nodes));
        doubts.extend(one_machine(facts.nodes));
        doubts.extend(beyond_limits(facts.disturbances));
    }
    let mut limited_by = limit::of_run(facts.samples, facts.jobs, facts.channels, facts.nodes);
    if let Some(limit) = &mut limited_by {
        relief::complete(limit, facts);
    }
    Evidence {
        saturating: plan.saturating,
        demonstration: plan.demonstration,
        failure: failure(facts.jobs, facts.events),
        doubts,
        remarks: remarks(facts),
        measures: measures(facts, limited_by.as_ref()),
        limited_by,
    }
}

fn measures(facts: &Facts<'_>, limited_by: Option<&Limit>) -> BTreeMap<Measure, Measured> {
    let mut all = BTreeMap::from([
        (Measure::JobsFailed, failed(facts)),
        (
            Measure::JobsNotVerified,
            Measured::of(unverified(facts) as f64),
        ),
        (Measure::CpuReal, cpu_real(facts)),
        (Measure::TimeInIo, time_in_io(facts)),
        (Measure::Elongation, elongation(facts)),
        (Measure::Spread, spread(facts)),
        (Measure::Growth, growth(facts)),
        (Measure::MetadataLatency, longest_of_class(facts, "latency")),
        (Measure::Response, response(facts)),
    ]);
    if let Some(why) = processors(limited_by) {
        for measure in [
            Measure::CpuReal,
            Measure::TimeInIo,
            Measure::Elongation,
            Measure::Spread,
        ] {
            if let Some(measured) = all.get_mut(&measure) {
                measured.only_if_met = Some(why.clone());
                measured.limited_by = limited_by.cloned();
            }
        }
    }
    all.extend(throughput(facts, limited_by));
    all
}

/// Why jobs that took long may not have waited for the storage.
fn processors(limited_by: Option<&Limit>) -> Option<String> {
    let limit = limited_by.filter(|_| limit::is_cpu(limited_by))?;
    Some(format!(
        "the processors of {}, not the storage, were the limit: {}",
        limit.name, limit.evidence
    ))
}

/// Jobs that an interruption ended did not fail.
fn failed(facts: &Facts<'_>) -> Measured {
    if interrupted(facts.events) {
        return Measured::absent("the run was interrupted, which ends jobs");
    }
    Measured::of(count(facts.jobs, ended_with_errors))
}

fn count(jobs: &[JobResult], which: impl Fn(&JobResult) -> bool) -> f64 {
    jobs.iter().filter(|job| which(job)).count() as f64
}

/// Ended with errors. What a signal ended may have been ended by anybody: it did not finish.
fn ended_with_errors(job: &JobResult) -> bool {
    job.exit.is_some_and(|exit| exit > 1)
}

/// Throughput of all channels, of permanent data, and of WORK with utility files, MB/s.
struct Rates {
    total: f64,
    shared: f64,
    work: f64,
    basis: &'static str,
}

/// Sustained peaks, or means over the whole run where memory was not sampled: what the page cache took in
/// would count as moved otherwise.
fn rates(facts: &Facts<'_>) -> Option<Rates> {
    // What a job without a record moved is unknown, and so is every rate.
    facts.aggregate.bytes_moved?;
    let total = facts.aggregate.mb_per_s_flushed?;
    if let Some(rates) = facts.sustained.and_then(sustained) {
        return Some(rates);
    }
    let seconds = facts.aggregate.elapsed_s? + facts.aggregate.flush_s?;
    let mean = |names: [&str; 2]| {
        let found = names.iter().filter_map(|name| facts.channels.get(*name));
        let bytes: u64 = found.map(|one| one.read_bytes + one.write_bytes).sum();
        bytes as f64 / 1e6 / seconds
    };
    Some(Rates {
        total,
        shared: mean(["input", "output"]),
        work: mean(["work", "util"]),
        basis: "mean over the whole run, flush included",
    })
}

fn sustained(peak: &SustainedPeak) -> Option<Rates> {
    let OfStorage {
        total,
        shared,
        work,
    } = peak.of_storage()?;
    Some(Rates {
        total,
        shared,
        work,
        basis: "highest mean over 60 s, or 2 % of the run if that is longer, without what stayed in the page \
                cache",
    })
}

/// The three figures of capability.
fn throughput(facts: &Facts<'_>, limited_by: Option<&Limit>) -> [(Measure, Measured); 3] {
    let cores = f64::from(facts.plan.cores.max(1));
    let rates = rates(facts);
    let basis = rates.as_ref().map(|rates| rates.basis);
    let total = rates.as_ref().map(|rates| rates.total);
    let shared = rates.as_ref().map(|rates| rates.shared);
    let work = rates.as_ref().map(|rates| rates.work);
    let only_if_met = held_down(facts, total, limited_by);
    let measured = |value: Option<f64>, only_if_met: Option<String>| match value {
        Some(value) => Measured {
            value: Some(value),
            basis,
            only_if_met,
            ..Measured::default()
        },
        None => Measured::absent(unknown(facts.plan)),
    };
    let share = shared
        .zip(total)
        .map(|(shared, total)| shared / total * 100.0);
    // Half of a sort's bytes go to WORK: what permanent data alone could do is not shown by less.
    let mix = share
        .filter(|share| *share < 95.0)
        .map(|share| format!("only {share:.0} % of the load went to permanent data"));
    let ratio = work.zip(shared.filter(|shared| *shared > 0.0));
    let ratio = ratio.map(|(work, shared)| work / shared);
    [
        (
            Measure::TotalPerCore,
            measured(total.map(|total| total / cores), only_if_met.clone()),
        ),
        (
            Measure::SharedPerCore,
            measured(
                shared.map(|shared| shared / cores),
                only_if_met.or(mix.filter(|_| {
                    total.is_some_and(|total| total / cores >= TOTAL_MB_PER_S_PER_CORE)
                })),
            ),
        ),
        (
            Measure::WorkOverShared,
            measured(
                ratio,
                Some("the load itself decides what share of it goes to WORK".to_owned()),
            ),
        ),
    ]
}

/// Why a low throughput would not be the storage's.
fn held_down(facts: &Facts<'_>, total: Option<f64>, limited_by: Option<&Limit>) -> Option<String> {
    let ceiling = facts
        .plan
        .ceiling
        .as_ref()
        .and_then(|ceiling| ceiling.mb_per_s);
    if let Some((total, ceiling)) = total.zip(ceiling)
        && total >= ceiling * CEILING_NEAR
    {
        return Some(format!(
            "the engine, not the storage, was the limit: on tmpfs it reaches {ceiling:.0} MB/s, here {total:.0}"
        ));
    }
    processors(limited_by)
}

/// Why figures that depend on how fast programs compute cannot be judged.
fn unpaced(plan: &RunPlan) -> Option<String> {
    // A licensed SAS has its own pace.
    let paced = plan.sas.is_some() || plan.pace.as_deref().is_some_and(|pace| pace != "none");
    if !paced {
        let why = "the run is not paced: its programs compute faster than SAS does, so that they wait for a larger \
                   share of their time";
        return Some(why.to_owned());
    }
    let factor = plan.pacing.as_ref().map(|pacing| pacing.factor);
    factor.filter(|factor| *factor > 1.0).map(|factor| {
        format!(
            "steps spent {factor} times the CPU time that SAS spends: their jobs ask storage for less than SAS's would"
        )
    })
}

/// In what the load of a mixed run differs from that of its suite, by which storage may be held to more or less.
fn load(plan: &RunPlan, nodes: usize) -> Vec<String> {
    if plan.saturating || plan.demonstration {
        return Vec::new();
    }
    let factor = plan.pacing.as_ref().map(|pacing| pacing.factor);
    let factor = factor.filter(|factor| (factor - 1.0).abs() > 1e-9);
    let pace = factor.map(|factor| format!("steps spent {factor} times the CPU time of the table"));
    let apart = ((plan.time_scale - 1.0).abs() > 1e-9).then(|| {
        format!(
            "launches and thinking times were {} times those of the suite",
            plan.time_scale
        )
    });
    let jobs = plan.jobs.len() as u64;
    let at_once = at_once(plan, nodes);
    let few = (at_once < jobs).then(|| format!("at most {at_once} of {jobs} jobs ran at once"));
    pace.into_iter().chain(apart).chain(few).collect()
}

/// Mean elapsed time over that on the fewest nodes of a series.
fn growth(facts: &Facts<'_>) -> Measured {
    let base = facts
        .plan
        .series
        .as_ref()
        .and_then(|series| series.base.as_ref());
    let Some(base) = base else {
        return Measured::absent("no run on fewer nodes was made before, in the same series");
    };
    if facts.jobs.iter().any(JobResult::has_failed) {
        return Measured::absent("jobs failed, which says nothing of how long they take");
    }
    let mean_s = Figures::of_jobs(facts.jobs).real_mean_s;
    match (mean_s, base.real_mean_s.filter(|seconds| *seconds > 0.0)) {
        (Some(mean_s), Some(base_s)) => Measured::of(mean_s / base_s),
        _ => Measured::absent(format!("no job ended, here or on {} nodes", base.nodes)),
    }
}

/// Of the time in which programs do not wait of their own accord.
fn cpu_real(facts: &Facts<'_>) -> Measured {
    let known = facts.jobs.iter().filter_map(|job| {
        let busy_s = job.busy_s().filter(|busy_s| *busy_s > 0.0)?;
        Some((job, job.cpu_s()?, busy_s))
    });
    let known: Vec<(&JobResult, f64, f64)> = known.collect();
    let ratios = known.iter().map(|(_, cpu_s, busy_s)| cpu_s / busy_s);
    let mean = ratios.sum::<f64>() / known.len() as f64;
    let waited = known
        .iter()
        .map(|(job, cpu_s, busy_s)| (*job, busy_s - cpu_s));
    Measured {
        value: (!known.is_empty()).then_some(mean),
        not_shown: unpaced(facts.plan),
        only_if_met: not_the_storages(waited),
        limited_by: limit::job_class(facts.jobs),
        ..Measured::default()
    }
}

fn time_in_io(facts: &Facts<'_>) -> Measured {
    let known = facts
        .jobs
        .iter()
        .filter_map(|job| Some((job, job.held_s()?, job.busy_s()?)));
    let known: Vec<(&JobResult, f64, f64)> = known.collect();
    let held_s: f64 = known.iter().map(|one| one.1).sum();
    let busy_s: f64 = known.iter().map(|one| one.2).sum();
    let waits = known
        .iter()
        .map(|(job, held_s, _)| Some(job.cpu_wait_s?.min(*held_s)));
    let cpu_wait_s: Option<f64> = waits.sum();
    // A call that has to wait for a processor takes longer, too.
    let waited = cpu_wait_s.filter(|waited_s| *waited_s > held_s / 2.0);
    Measured {
        value: (busy_s > 0.0).then(|| held_s / busy_s),
        not_shown: unpaced(facts.plan),
        only_if_met: waited.map(|waited_s| {
            format!(
                "jobs were inside file operations for {held_s:.0} s, all together, and the same jobs had no \
                 processor for {waited_s:.0} s, there or elsewhere"
            )
        }),
        limited_by: limit::job_class(facts.jobs),
        ..Measured::default()
    }
}

fn elongation(facts: &Facts<'_>) -> Measured {
    let Some(ceiling) = &facts.plan.ceiling else {
        return Measured::absent("what the jobs take on tmpfs was not measured");
    };
    // What programs wait for of their own accord is no part of either.
    let busy_s = JobResult::busy_s;
    let ended = facts.jobs.iter().filter(|job| job.ended_well());
    let pairs: Vec<(&JobResult, f64, f64)> = ended
        .clone()
        .filter_map(|job| {
            let alone = ceiling.jobs.get(&job.name)?.at(job.moved_bytes()?);
            Some((job, busy_s(job)?, alone))
        })
        .collect();
    let here: f64 = pairs.iter().map(|one| one.1).sum();
    let alone: f64 = pairs.iter().map(|one| one.2).sum();
    if alone <= 0.0 {
        return Measured::absent("no job was measured on tmpfs");
    }
    let of_all = here / ended.filter_map(busy_s).sum::<f64>();
    if of_all < ELONGATION_SHARE_MIN {
        return Measured::absent(format!(
            "jobs that were long enough on tmpfs to tell took {:.0} % of the elapsed time here",
            of_all * 100.0
        ));
    }
    let lost = pairs.iter().map(|(job, here, alone)| (*job, here - alone));
    Measured {
        limited_by: limit::job_class(facts.jobs),
        only_if_met: not_the_storages(lost),
        ..Measured::of(here / alone)
    }
}

/// Why time that jobs lost is not the storage's: for most of it they had no processor, or were not inside file
/// operations.
fn not_the_storages<'a>(lost: impl Iterator<Item = (&'a JobResult, f64)>) -> Option<String> {
    let known: Vec<(&JobResult, f64, f64)> = lost
        .filter_map(|(job, lost_s)| Some((job, job.blocked_s?, lost_s.max(0.0))))
        .collect();
    if known.is_empty() {
        return Some("what the jobs waited for is not known".to_owned());
    }
    // What one job waited for does not explain what another one lost.
    let inside_s: f64 = known
        .iter()
        .map(|(_, blocked_s, lost_s)| blocked_s.min(*lost_s))
        .sum();
    let lost_s: f64 = known.iter().map(|one| one.2).sum();
    let waits = known
        .iter()
        .map(|(job, _, lost_s)| Some(job.cpu_wait_s?.min(*lost_s)));
    let cpu_wait_s: Option<f64> = waits.sum();
    let waited = match cpu_wait_s {
        Some(waited_s) if waited_s > lost_s / 2.0 => {
            format!("had no processor for {waited_s:.0} s")
        }
        _ if inside_s >= lost_s / 2.0 => return None,
        Some(waited_s) => format!(
            "were inside file operations for {inside_s:.0} s and had no processor for {waited_s:.0} s: they waited \
             for something else"
        ),
        None => format!(
            "were inside file operations for {inside_s:.0} s: they waited for something else, most likely for \
             processors"
        ),
    };
    Some(format!(
        "jobs lost {lost_s:.0} s, all together, and {waited}"
    ))
}

/// Equal jobs that are long enough, with their elapsed times: the same in other batches or on other nodes, or of one
/// kind and size; those of them that began within the same seconds of their batches.
fn launched_together<'a>(facts: &Facts<'a>) -> Vec<Vec<(&'a JobResult, f64)>> {
    let mut begun: BTreeMap<u32, f64> = BTreeMap::new();
    for job in facts.jobs {
        if let Some(launched_s) = job.launched_s {
            let first = begun.entry(job.batch).or_insert(launched_s);
            *first = first.min(launched_s);
        }
    }
    let mut equal: BTreeMap<_, Vec<(f64, &JobResult, f64)>> = BTreeMap::new();
    // Batches follow each other, each with the jobs of the plan in their order.
    for (plan, job) in facts.plan.jobs.iter().cycle().zip(facts.jobs) {
        let busy_s = job.busy_s().filter(|busy_s| *busy_s >= SPREAD_REAL_S_MIN);
        let (Some(launched_s), Some(busy_s)) = (job.launched_s, busy_s) else {
            continue;
        };
        // Batches side by side have names that end in `.2` and so on.
        let name = job.name.split('.').next().unwrap_or_default();
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let kind = (stem, job.class.as_deref(), plan.input_bytes, &plan.kind);
        let begun_s = launched_s - begun.get(&job.batch).copied().unwrap_or_default();
        equal.entry(kind).or_default().push((begun_s, job, busy_s));
    }
    let mut groups = Vec::new();
    for mut jobs in equal.into_values() {
        jobs.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut first_s = f64::NEG_INFINITY;
        for (begun_s, job, busy_s) in jobs {
            if begun_s - first_s > TOGETHER_S {
                first_s = begun_s;
                groups.push(Vec::new());
            }
            groups
                .last_mut()
                .expect("one was begun")
                .push((job, busy_s));
        }
    }
    groups
}

/// The largest ratio of longest to shortest among jobs that are equal: the same job in other batches or on
/// other nodes, or jobs of one kind, size and launch time.
fn spread(facts: &Facts<'_>) -> Measured {
    let groups = launched_together(facts);
    let times = |group: &[(&JobResult, f64)], pick: fn(f64, f64) -> f64| {
        group.iter().map(|(_, real_s)| *real_s).reduce(pick)
    };
    let ratio =
        |group: &Vec<(&JobResult, f64)>| Some(times(group, f64::max)? / times(group, f64::min)?);
    let widest = groups
        .iter()
        .filter(|group| group.len() > 1)
        .filter_map(|group| Some((group, ratio(group)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((group, value)) = widest else {
        return Measured::absent("no jobs of 10 s or more were equal and launched together");
    };
    let slowest = group.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let limited_by = slowest.map(|(job, real_s)| Limit {
        kind: "node".to_owned(),
        name: job.node.clone(),
        evidence: format!(
            "{} took {real_s:.0} s without thinking, {value:.2} times the shortest of its kind",
            job.name
        ),
        relief: "look at what else this node and its links do; equal shares for equal jobs"
            .to_owned(),
        node: Some(job.node.clone()),
        ..Limit::default()
    });
    Measured {
        limited_by,
        ..Measured::of(value)
    }
}

fn longest_of_class(facts: &Facts<'_>, class: &str) -> Measured {
    let jobs = facts
        .jobs
        .iter()
        .filter(|job| job.class.as_deref() == Some(class));
    let longest = jobs.filter_map(|job| job.real_s).reduce(f64::max);
    longest.map_or_else(
        || Measured::absent(format!("no job of class {class} was run")),
        Measured::of,
    )
}

/// The longest that a user waited in all: a job's time without what its program asked to sleep.
fn response(facts: &Facts<'_>) -> Measured {
    let of_class = |job: &&JobResult| job.class.as_deref() == Some("interactive");
    let waits = facts.jobs.iter().filter(of_class);
    let longest = waits
        .filter_map(|job| Some(job.real_s? - job.sleep_s?))
        .reduce(f64::max);
    longest.map_or_else(
        || {
            Measured::absent(
                "no job of class interactive was run, or its thinking time is not known",
            )
        },
        Measured::of,
    )
}

fn interrupted(events: &[Event]) -> bool {
    events
        .iter()
        .any(|event| event.event == EventKind::Interrupted)
}

/// Something went wrong that is no interruption.
fn failure(jobs: &[JobResult], events: &[Event]) -> Option<String> {
    let errors = jobs
        .iter()
        .find(|job| job.exit.is_some_and(|exit| exit > 1));
    if let Some(job) = errors.filter(|_| !interrupted(events)) {
        return Some(format!("job {} ended with errors; see its log", job.name));
    }
    let wrong = jobs.iter().find(|job| !job.findings.is_empty())?;
    Some(format!("job {}: {}", wrong.name, wrong.findings.join("; ")))
}

/// The run stopped before it could show anything.
fn incomplete(facts: &Facts<'_>) -> Option<String> {
    if interrupted(facts.events) {
        return Some("the run was interrupted".to_owned());
    }
    let lost = facts.events.iter();
    let lost: Vec<&str> = lost
        .filter(|event| event.event == EventKind::NodeLost)
        .filter_map(|event| event.detail.as_deref())
        .collect();
    if !lost.is_empty() {
        return Some(lost.join("; "));
    }
    let all = facts.jobs.len();
    let unfinished = facts.jobs.iter().filter(|job| job.exit.is_none()).count();
    match (unfinished, unverified(facts)) {
        (0, 0) => None,
        (0, unverified) => Some(format!(
            "the outputs of {unverified} of {all} jobs were not verified"
        )),
        (unfinished, _) => Some(format!("{unfinished} of {all} jobs did not finish")),
    }
}

/// Jobs whose outputs were to be verified and were not.
fn unverified(facts: &Facts<'_>) -> usize {
    let all = facts.jobs.iter();
    let (verified, unverified): (Vec<_>, Vec<_>) = all.partition(|job| job.verified.is_some());
    if facts.plan.verify == "sample" && !verified.is_empty() {
        return 0;
    }
    unverified.len()
}

fn remarks(facts: &Facts<'_>) -> Vec<String> {
    let plan = facts.plan;
    let verified = match plan.verify.as_str() {
        "sample" => Some("only the outputs of one launch of each program were verified"),
        _ => None,
    };
    let engine = crate::assemble::engine(plan, facts.events);
    let engine = engine.map(|engine| {
        format!(
            "the programs ran under {engine}; their inputs were not compared by the rows that they read, nor \
             their outputs with the blocks that they wrote: SAS tells neither"
        )
    });
    let replaced = plan.duration_s.is_some();
    let replaced =
        replaced.then_some("outputs of earlier batches made room for those of later ones");
    verified
        .into_iter()
        .chain(replaced)
        .map(str::to_owned)
        .chain(load(plan, facts.nodes.len()))
        .chain(read_back(facts.events))
        .chain(engine)
        .chain(plan.copies.as_ref().map(copies))
        .chain(facts.drift.and_then(slower))
        .collect()
}

/// How much of what jobs left is as they wrote it, and how much of that surely lay on storage: what a file system
/// keeps in a cache of its own cannot be told from it.
fn read_back(events: &[Event]) -> Option<String> {
    let compared = events.iter().filter_map(|event| {
        // Earlier versions did not look.
        let from_storage = event.from_storage_bytes.unwrap_or(0);
        Some((event.read_back_bytes?, from_storage))
    });
    let (all, stored) = compared.reduce(|one, other| (one.0 + other.0, one.1 + other.1))?;
    let untold = all.saturating_sub(stored);
    let same = "compared, block by block, with what they wrote";
    let from = "from a cache or from storage: it cannot be told here";
    Some(match (stored, untold) {
        (stored, 0) => {
            let stored = Bytes(stored);
            format!("{stored} that the jobs left were read back from storage and {same}")
        }
        (0, untold) => {
            let untold = Bytes(untold);
            format!("{untold} that the jobs left were read back and {same}, {from}")
        }
        (stored, untold) => format!(
            "{} that the jobs left were read back from storage and {same}; {} more were compared, {from}",
            Bytes(stored),
            Bytes(untold)
        ),
    })
}

/// How a run of many batches went on.
fn slower(drift: &Drift) -> Option<String> {
    let times = drift.real_ratio?;
    let rate = drift.throughput_ratio();
    let rate = rate.map_or(String::new(), |rate| {
        format!(", throughput was {rate:.2} times that")
    });
    Some(format!(
        "in the last {} jobs took {times:.2} times as long as in the first{rate}",
        drift.part
    ))
}

/// What storage that deduplicates makes of the copies.
fn copies(of: &CopiesRecord) -> String {
    let CopiesRecord {
        files, of_files, ..
    } = of;
    let gigabytes = of.bytes as f64 / 1e9;
    if of.kind == "identical" {
        return format!(
            "{files} of {of_files} staged files ({gigabytes:.2} GB) are identical copies of others, which \
             flatters storage that deduplicates (--copies distinct makes them differ)"
        );
    }
    format!(
        "{files} of {of_files} staged files ({gigabytes:.2} GB) are copies from seeds of their own, which do not \
         deduplicate"
    )
}

/// Why the figures say nothing of the storage, if they do not.
fn unproven(facts: &Facts<'_>) -> Option<String> {
    let plan = facts.plan;
    let few = plan.saturating && at_once(plan, facts.nodes.len()) < u64::from(plan.cores);
    let reason = if !plan.qualifying {
        "all files together are less than three times the memory: caches may have helped"
    } else if few {
        "there were fewer jobs at once than cores: the storage was not asked for enough"
    } else if plan.saturating && facts.aggregate.mb_per_s_flushed.is_none() {
        unknown(plan)
    } else if plan.saturating && is_short(facts) {
        "the run was shorter than 60 s: what storage sustains is not shown"
    } else if !plan.cold {
        "the start was warm"
    } else if !was_cold(facts.aggregate, facts.events) {
        "the input was not shown to be out of the cache at the start"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// Too short for a sustained peak, though it was sampled.
fn is_short(facts: &Facts<'_>) -> bool {
    let run_s = facts.aggregate.elapsed_s.zip(facts.aggregate.flush_s);
    let run_s = run_s.map(|(elapsed_s, flush_s)| elapsed_s + flush_s);
    let is_sampled = facts.samples.iter().any(|(_, own)| !own.is_empty());
    is_sampled && run_s.is_some_and(|run_s| run_s < peak::window_s(run_s))
}

/// Files of a directory that lie in memory ask no storage for anything.
fn in_memory(nodes: &[NodeRecord]) -> Option<String> {
    let mut systems = nodes.iter().flat_map(|node| &node.file_systems);
    let (name, system) = systems.find(|(_, one)| one.is_in_memory())?;
    Some(format!(
        "the files of {name} lie in memory ({} at {}), and no storage serves them",
        system.kind, system.mount_point
    ))
}

/// So many machines.
pub(crate) fn machines(count: usize) -> String {
    match count {
        1 => "1 machine".to_owned(),
        many => format!("{many} machines"),
    }
}

/// Nodes that are one machine share its cache, its network and its processors.
fn one_machine(nodes: &[NodeRecord]) -> Option<String> {
    let shared = nodes
        .iter()
        .filter(|node| node.same_host_as.is_some())
        .count();
    (shared > 0).then(|| {
        format!(
            "{} nodes are only {}: what one of them wrote, another may have read from the same cache",
            nodes.len(),
            machines(nodes.len() - shared)
        )
    })
}

/// Jobs that could run at once on all nodes together; `concurrency` is that of each.
fn at_once(plan: &RunPlan, nodes: usize) -> u64 {
    let jobs = plan.jobs.len() as u64;
    let allowed = plan.parameters.get("concurrency");
    allowed.map_or(jobs, |allowed| jobs.min(*allowed * nodes.max(1) as u64))
}

/// Little of the input was cached on any node; where the file system cannot tell, dropping all caches counts.
fn was_cold(aggregate: &Aggregate, events: &[Event]) -> bool {
    let is_little = |share: f64| share <= CACHED_SHARE_MAX;
    let mut evictions = events
        .iter()
        .filter(|event| event.event == EventKind::Evicted)
        .peekable();
    let told = aggregate.cached_share.map(is_little);
    let looked = told.unwrap_or_else(|| evictions.peek().is_some());
    looked
        && evictions.all(|event| {
            let dropped = event.caches_dropped == Some(true);
            event.cached_share.map_or(dropped, is_little)
        })
}

#[cfg(test)]
mod tests;
