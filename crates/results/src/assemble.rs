//! The figures of a run from what its directory holds, whether it was finished or not: the plan, the
//! events so far, the steps that jobs have finished.

mod batches;
mod by_node;
pub mod disturbance;
mod drift;
mod records;
mod sampled;
mod settled;

use std::collections::{BTreeMap, HashMap};

use self::disturbance::{Window, disturbances};
use crate::audit::NodeAudit;
use crate::node::{NodeRecord, PhysicalReads};
use crate::run::{
    Aggregate, ChannelResult, Disturbance, Error, Event, EventKind, FailedOperation, JobPlan,
    JobResult, RunDirectory, RunPlan, RunResult, name_in_batch,
};
use crate::sample::Sample;
use crate::statistics::summarize;
use crate::step::{ChannelRecord, END, StepRecord};
use crate::subject::cpu_real;
use crate::thresholds::Thresholds;
use crate::verdict::{self, Facts};

/// Bytes of a block in `ru_inblock`.
const BLOCK_BYTES: u64 = 512;

/// Reads a run directory and computes its figures; the verdict is by the published requirements.
pub fn assemble(directory: &RunDirectory) -> Result<RunResult, Error> {
    assemble_with(directory, &Thresholds::published())
}

/// What each node did over time, by name.
pub fn samples(directory: &RunDirectory) -> Result<Vec<(String, Vec<Sample>)>, Error> {
    let nodes = directory.nodes()?.into_iter();
    nodes
        .map(|node| Ok((node.clone(), directory.samples(&node)?)))
        .collect()
}

/// MB/s of each channel over the time in which jobs ran.
fn rates(channels: &mut BTreeMap<String, ChannelResult>, elapsed_s: Option<f64>) {
    for channel in channels.values_mut() {
        let bytes = channel.read_bytes + channel.write_bytes;
        channel.mb_per_s = elapsed_s.map(|elapsed| bytes as f64 / 1e6 / elapsed);
    }
}

/// The same with requirements of the user's.
pub fn assemble_with(
    directory: &RunDirectory,
    thresholds: &Thresholds,
) -> Result<RunResult, Error> {
    let plan = directory.plan()?;
    let events = directory.events()?;
    let first_launch = time_of(&events, EventKind::JobLaunched, f64::min);
    let OfSteps {
        mut jobs,
        mut channels,
        cut,
    } = of_steps(directory, &plan, &events)?;
    let nodes = nodes(directory, &plan)?;
    let samples = self::samples(directory)?;
    let window = Window::of(&events);
    let mut aggregate = aggregate(&plan, &jobs, &events, first_launch);
    if let Some(window) = window.filter(|_| !nodes.is_empty()) {
        physical_reads((&mut aggregate, &mut jobs), &nodes, &samples, window);
        let launcher = sampled::launcher(&samples, window);
        (aggregate.launcher_cpu_s, aggregate.launcher_cpu_share) = launcher.unzip();
    }
    rates(&mut channels, aggregate.elapsed_s);
    let mut disturbance = disturbances(&nodes, &samples, &events);
    disturbance.extend(cut);
    disturbance.extend(records::not_sampled(&plan, &events, &samples));
    let sustained_peak =
        window.and_then(|window| sampled::sustained_peak(&samples, &nodes, window));
    let drift = window.and_then(|window| drift::drift(&plan, &jobs, &samples, window));
    let by_node = by_node::results(&plan.nodes, &jobs, &nodes, &events);
    let audits = directory.audits()?;
    let facts = Facts {
        audits: &audits,
        drift: drift.as_ref(),
        plan: &plan,
        jobs: &jobs,
        channels: &channels,
        aggregate: &aggregate,
        events: &events,
        samples: &samples,
        nodes: &nodes,
        sustained: sustained_peak.as_ref(),
        disturbances: &disturbance,
    };
    let verdict = verdict::of_run(&facts, thresholds);
    Ok(RunResult {
        schema: crate::SCHEMA.to_owned(),
        run: plan.run.clone(),
        suite: plan.suite.clone(),
        scale: plan.scale,
        verdict,
        jobs,
        channels,
        aggregate,
        nodes: by_node,
        disturbance,
        sustained_peak,
        drift,
        engine: engine(&plan, &events),
        not_measured: not_measured(&nodes, &samples, &events),
        audits: audits.iter().map(NodeAudit::to_look_at).collect(),
    })
}

/// What the records of steps say.
struct OfSteps {
    jobs: Vec<JobResult>,
    channels: BTreeMap<String, ChannelResult>,
    /// Those that are not whole.
    cut: Vec<Disturbance>,
}

fn of_steps(directory: &RunDirectory, plan: &RunPlan, events: &[Event]) -> Result<OfSteps, Error> {
    let mut found = OfSteps {
        jobs: Vec::new(),
        channels: BTreeMap::new(),
        cut: Vec::new(),
    };
    let first_launch = time_of(events, EventKind::JobLaunched, f64::min);
    let batches = events.iter().filter_map(|event| event.batch).max();
    let batches = 1..=batches.unwrap_or(1);
    let of_jobs = of_jobs(events);
    for (batch, job) in batches.flat_map(|batch| plan.jobs.iter().map(move |job| (batch, job))) {
        let name = name_in_batch(&job.name, batch);
        let steps = directory.steps(&name)?;
        let finished = of_jobs.get(&(EventKind::JobFinished, name.as_str()));
        let cut = records::cut_steps(plan, &name, &steps, finished.copied());
        found.cut.extend(cut);
        let steps = steps.records;
        for (name, channel) in steps.iter().flat_map(|step| &step.channels) {
            add_channel(found.channels.entry(name.clone()).or_default(), channel);
        }
        let job = job_result(plan, (batch, job), &steps, &of_jobs, first_launch);
        found.jobs.push(job);
    }
    Ok(found)
}

/// What the nodes of a run are, in order; those that left no record are missing.
pub fn nodes(directory: &RunDirectory, plan: &RunPlan) -> Result<Vec<NodeRecord>, Error> {
    let first = std::slice::from_ref(&plan.node);
    let names = if plan.nodes.is_empty() {
        first
    } else {
        &plan.nodes
    };
    let records = names.iter().map(|name| directory.node(name).transpose());
    records.flatten().collect()
}

/// What ran the programs, if it was a licensed SAS.
pub(crate) fn engine(plan: &RunPlan, events: &[Event]) -> Option<String> {
    let command = plan.sas.as_ref()?.display();
    let mut read = events
        .iter()
        .filter(|event| event.event == EventKind::LogsRead);
    let said = read.find_map(|event| event.detail.clone());
    Some(match said {
        Some(said) => format!("{said}, by {command}"),
        None => format!("{command}, of which no log was read"),
    })
}

/// How much of what was read was read physically, where all nodes let it be known in the same way.
fn physical_reads(
    (aggregate, jobs): (&mut Aggregate, &mut [JobResult]),
    nodes: &[NodeRecord],
    samples: &[(String, Vec<Sample>)],
    window: Window,
) {
    let mut ways = nodes.iter().map(NodeRecord::physical_reads);
    let first = ways.next().flatten();
    let way = first.filter(|first| ways.all(|way| way == Some(*first)));
    let sampled = samples.iter().all(|(_, samples)| !samples.is_empty()) && !samples.is_empty();
    let (bytes, basis) = match way {
        Some(PhysicalReads::Processes) => (
            aggregate.device_read_bytes,
            "what the kernel read from devices for the jobs",
        ),
        Some(PhysicalReads::Mounts) => (
            sampled.then(|| sampled::read_from_servers(nodes, samples, window)),
            "what the mounts read from their servers",
        ),
        None => (None, ""),
    };
    // What a file system hides is not 0.
    aggregate.device_read_bytes = bytes;
    if way != Some(PhysicalReads::Processes) {
        for job in jobs {
            job.device_read_bytes = None;
        }
    }
    let read = aggregate.read_bytes.filter(|read| *read > 0);
    aggregate.physical_read_share = bytes
        .zip(read)
        .map(|(bytes, read)| bytes as f64 / read as f64);
    aggregate.physical_read_basis = aggregate.physical_read_share.map(|_| basis.to_owned());
}

/// What the nodes hide, what failed to be measured, series that never had a value.
fn not_measured(
    nodes: &[NodeRecord],
    samples: &[(String, Vec<Sample>)],
    events: &[Event],
) -> Vec<String> {
    let of = |node: Option<&str>, text: String| match node.filter(|_| nodes.len() > 1) {
        Some(node) => format!("{node}: {text}"),
        None => text,
    };
    let mut found = Vec::new();
    for node in nodes {
        let hidden = node.not_measured.iter().cloned();
        found.extend(hidden.map(|text| of(Some(&node.node), text)));
    }
    for event in events {
        let failed = event.detail.clone();
        let failed = failed.filter(|_| event.event == EventKind::NotMeasured);
        found.extend(failed.map(|text| of(event.node.as_deref(), text)));
    }
    for node in nodes {
        let own = samples.iter().filter(|(name, _)| *name == node.node);
        let own: Vec<&Sample> = own.flat_map(|(_, samples)| samples).collect();
        found.extend(node.observed.iter().filter_map(|name| {
            let has = |one: &&Sample| one.observed.contains_key(name);
            let since = own.iter().skip_while(|one| !has(one));
            let (all, without) = (since.clone().count(), since.filter(|one| !has(one)).count());
            let text = match (all, without) {
                (0, _) => format!("the observed series {name} never had a value"),
                (_, 0) => return None,
                _ => {
                    format!("the observed series {name} had no value in {without} of {all} samples")
                }
            };
            Some(of(Some(&node.node), text))
        }));
    }
    found
}

/// How long after the last job ended everything was on the devices, of a run of one batch. A node of several
/// begins to flush when its own jobs have ended.
fn flush_s(events: &[Event]) -> Option<f64> {
    let flushed: Vec<&Event> = events
        .iter()
        .filter(|event| event.event == EventKind::Flushed)
        .collect();
    match flushed.as_slice() {
        [] => None,
        [one] => one.real_s,
        // One that failed says nothing of how long it takes.
        several if several.iter().any(|event| event.real_s.is_none()) => None,
        several => {
            let ended_s = time_of(events, EventKind::JobFinished, f64::max)?;
            let flushed_s = several.iter().map(|event| event.at_s).fold(0.0, f64::max);
            Some((flushed_s - ended_s).max(0.0))
        }
    }
}

fn time_of(events: &[Event], kind: EventKind, pick: fn(f64, f64) -> f64) -> Option<f64> {
    events
        .iter()
        .filter(|event| event.event == kind)
        .map(|event| event.at_s)
        .reduce(pick)
}

/// The first event of each kind of each job.
type OfJobs<'a> = HashMap<(EventKind, &'a str), &'a Event>;

fn of_jobs(events: &[Event]) -> OfJobs<'_> {
    let mut found = OfJobs::new();
    for event in events {
        if let Some(job) = &event.job {
            found.entry((event.event, job)).or_insert(event);
        }
    }
    found
}

fn job_result(
    plan: &RunPlan,
    (batch, job): (u32, &JobPlan),
    steps: &[StepRecord],
    events: &OfJobs<'_>,
    first_launch: Option<f64>,
) -> JobResult {
    let name = name_in_batch(&job.name, batch);
    let find = |kind| events.get(&(kind, name.as_str())).copied();
    let finished = find(EventKind::JobFinished);
    let findings = find(EventKind::JobVerified).and_then(|event| event.findings.clone());
    let launched = find(EventKind::JobLaunched);
    // Without a record of its steps nothing is known of a job's traffic, which is not 0.
    let sum = |of: fn(&StepRecord) -> Option<u64>| {
        (!steps.is_empty())
            .then(|| steps.iter().map(of).sum::<Option<u64>>())
            .flatten()
    };
    // A licensed SAS does not tell what went over which channel.
    let counts_channels = plan.sas.is_none() && !steps.is_empty();
    let over_channels = |of: fn(&ChannelRecord) -> u64| {
        let channels = steps.iter().flat_map(|step| step.channels.values());
        counts_channels.then(|| channels.map(of).sum())
    };
    let sorts = Sorts::of(steps);
    let sleeps = plan
        .pacing
        .as_ref()
        .is_some_and(|pacing| pacing.by == "sleep");
    let stood_in_s: Option<f64> = sleeps.then(|| {
        let beyond = |step: &StepRecord| Some((step.pace_cpu_s? - step.cpu_s()).max(0.0));
        steps.iter().filter_map(beyond).sum()
    });
    JobResult {
        name: job.name.clone(),
        batch,
        node: job.node.as_ref().unwrap_or(&plan.node).clone(),
        real_s: finished.and_then(|event| event.real_s),
        user_s: finished.and_then(|event| Some(event.user_s? + stood_in_s.unwrap_or(0.0))),
        pace_s: plan
            .pacing
            .as_ref()
            .map(|_| steps.iter().filter_map(|step| step.pace_s).sum()),
        pace_fixed_s: plan.pacing.as_ref().and_then(|_| {
            let paced = steps.iter().filter(|step| step.kind != END);
            paced.map(|step| step.pace_fixed_s).sum()
        }),
        stood_in_s,
        system_s: finished.and_then(|event| event.system_s),
        thread_cpu_s: finished.and_then(|event| event.thread_cpu_s),
        cpu_wait_s: finished.and_then(|event| event.cpu_wait_s),
        exit: finished.and_then(|event| event.exit),
        verified: findings.as_ref().map(Vec::is_empty),
        findings: findings.unwrap_or_default(),
        class: job.class.clone(),
        memory_bytes: steps.iter().filter_map(|step| step.memory_bytes).max(),
        blocked_s: counts_channels.then(|| {
            let channels = steps.iter().flat_map(|step| step.channels.values());
            channels.map(blocked_s).sum()
        }),
        sleep_s: (!steps.is_empty())
            .then(|| steps.iter().map(|step| step.sleep_s).sum())
            .flatten(),
        read_bytes: over_channels(|channel| channel.read_bytes),
        write_bytes: over_channels(|channel| channel.write_bytes),
        device_read_bytes: sum(|step| Some(step.block_input? * BLOCK_BYTES)),
        sorted_bytes: sorts.bytes,
        sort_moved_bytes: counts_channels.then_some(sorts.moved_bytes),
        sort_runs: sorts.runs,
        sort_s: sorts.real_s,
        launched_s: launched
            .zip(first_launch)
            .map(|(event, first)| event.at_s - first),
        late_s: launched.and_then(|event| event.late_s),
        error: finished.and_then(|event| event.detail.clone()),
        failed_operations: FailedOperation::of(steps),
    }
}

/// What the steps that sorted did.
#[derive(Debug, Default)]
struct Sorts {
    /// Rows' bytes.
    bytes: u64,
    /// Over all channels.
    moved_bytes: u64,
    /// Of utility files.
    runs: u64,
    /// Absent if none did.
    real_s: Option<f64>,
}

impl Sorts {
    fn of(steps: &[StepRecord]) -> Self {
        let mut all = Self::default();
        for (step, sort) in steps
            .iter()
            .filter_map(|step| Some((step, step.sort.as_ref()?)))
        {
            all.bytes += sort.rows * sort.row_bytes;
            all.moved_bytes += step.bytes_moved();
            all.runs += sort.runs;
            *all.real_s.get_or_insert(0.0) += step.real_s;
        }
        all
    }
}

/// Adds what a step moved.
fn add_channel(total: &mut ChannelResult, channel: &ChannelRecord) {
    total.read_bytes += channel.read_bytes;
    total.write_bytes += channel.write_bytes;
    *total.blocked_s.get_or_insert(0.0) += blocked_s(channel);
    for (name, operation) in &channel.operations {
        *total.operations.entry(name.clone()).or_default() += operation.count;
        *total.operation_s.entry(name.clone()).or_default() += operation.total_s;
    }
}

/// Time inside all operations of a channel.
fn blocked_s(channel: &ChannelRecord) -> f64 {
    let operations = channel.operations.values();
    let added = || operations.map(|operation| operation.total_s).sum();
    channel.blocked_s.unwrap_or_else(added)
}

/// The sum of a figure that every job which ran must have; absent if one has it not.
fn total(jobs: &[JobResult], of: fn(&JobResult) -> Option<u64>) -> Option<u64> {
    jobs.iter()
        .filter(|job| job.real_s.is_some() || of(job).is_some())
        .map(of)
        .sum()
}

fn aggregate(
    plan: &RunPlan,
    jobs: &[JobResult],
    events: &[Event],
    first_launch: Option<f64>,
) -> Aggregate {
    let since_launch = |time: Option<f64>| Some(time? - first_launch?);
    let several = batches::several(jobs);
    let elapsed_s = match several {
        None => since_launch(time_of(events, EventKind::JobFinished, f64::max)),
        Some(_) => Some(batches::elapsed_s(jobs)),
    };
    let elapsed_s = elapsed_s.filter(|elapsed| *elapsed > 0.0);
    let sum = |of: fn(&JobResult) -> Option<f64>| jobs.iter().filter_map(of).sum::<f64>();
    let ratios: Vec<f64> = jobs.iter().filter_map(cpu_real).collect();
    let (real_s, user_s, system_s) = (
        sum(|job| job.real_s),
        sum(|job| job.user_s),
        sum(|job| job.system_s),
    );
    let read_bytes = total(jobs, |job| job.read_bytes);
    let bytes_moved = read_bytes
        .zip(total(jobs, |job| job.write_bytes))
        .map(|(read, written)| read + written);
    let sorted = jobs.iter().map(|job| job.sorted_bytes).sum::<u64>();
    let megabytes = bytes_moved.map(|bytes| bytes as f64 / 1e6);
    let flush_s = match several {
        None => flush_s(events),
        Some(batches) => batches::flush_s(events, batches),
    };
    let mb_per_s_flushed = megabytes
        .zip(elapsed_s.zip(flush_s))
        .map(|(megabytes, (elapsed, flush))| megabytes / (elapsed + flush));
    let per_sorted = |bytes: u64| (sorted > 0).then(|| bytes as f64 / sorted as f64);
    Aggregate {
        elapsed_s,
        first_done_s: since_launch(time_of(events, EventKind::JobFinished, f64::min)),
        real_s,
        user_s,
        system_s,
        memory_bytes: total(jobs, |job| job.memory_bytes),
        cpu_real_mean_of_ratios: summarize(&ratios).map(|summary| summary.mean),
        cpu_real_ratio_of_sums: (real_s > 0.0).then(|| (user_s + system_s) / real_s),
        bytes_moved,
        read_bytes,
        device_read_bytes: total(jobs, |job| job.device_read_bytes),
        mb_per_s: megabytes
            .zip(elapsed_s)
            .map(|(megabytes, elapsed)| megabytes / elapsed),
        flush_s,
        mb_per_s_flushed,
        mb_per_s_per_core: mb_per_s_flushed.map(|rate| rate / f64::from(plan.cores.max(1))),
        moved_per_sorted: total(jobs, |job| job.sort_moved_bytes).and_then(per_sorted),
        late_max_s: jobs.iter().filter_map(|job| job.late_s).reduce(f64::max),
        // Of the node that was least cold.
        cached_share: events
            .iter()
            .filter_map(|event| event.cached_share)
            .reduce(f64::max),
        data_to_memory_ratio: plan
            .staged_bytes
            .filter(|_| plan.memory_bytes > 0)
            .map(|bytes| bytes as f64 / plan.memory_bytes as f64),
        ..Aggregate::default()
    }
}
