//! The figures of a run from what its directory holds, whether it was finished or not: the plan, the
//! events so far, the steps that jobs have finished.

use std::collections::BTreeMap;

use crate::run::{
    Aggregate, ChannelResult, Error, Event, EventKind, JobPlan, JobResult, Requirement,
    RunDirectory, RunPlan, RunResult, Verdict,
};
use crate::statistics::summarize;
use crate::step::StepRecord;

/// Total throughput per physical core that SAS asks of storage, MB/s (10^6), lower bound.
const REQUIRED_MB_PER_S_PER_CORE: f64 = 100.0;

/// Above this cached share a run did not measure storage.
const CACHED_SHARE_MAX: f64 = 0.05;

/// Reads a run directory and computes its figures.
pub fn assemble(directory: &RunDirectory) -> Result<RunResult, Error> {
    let plan = directory.plan()?;
    let events = directory.events()?;
    let mut jobs = Vec::new();
    let mut channels: BTreeMap<String, ChannelResult> = BTreeMap::new();
    let first_launch = time_of(&events, EventKind::JobLaunched, f64::min);
    for job in &plan.jobs {
        let steps = directory.steps(&job.name)?;
        for (name, channel) in steps.iter().flat_map(|step| &step.channels) {
            let total = channels.entry(name.clone()).or_default();
            total.read_bytes += channel.read_bytes;
            total.write_bytes += channel.write_bytes;
        }
        jobs.push(job_result(&plan, job, &steps, &events, first_launch));
    }
    let aggregate = aggregate(&plan, &jobs, &events, first_launch);
    for channel in channels.values_mut() {
        let bytes = channel.read_bytes + channel.write_bytes;
        channel.mb_per_s = aggregate
            .elapsed_s
            .map(|elapsed| bytes as f64 / 1e6 / elapsed);
    }
    let verdict = verdict(&plan, &jobs, &aggregate);
    let (schema, run, suite) = (
        crate::SCHEMA.to_owned(),
        plan.run.clone(),
        plan.suite.clone(),
    );
    Ok(RunResult {
        schema,
        run,
        suite,
        scale: plan.scale,
        verdict,
        jobs,
        channels,
        aggregate,
    })
}

fn time_of(events: &[Event], kind: EventKind, pick: fn(f64, f64) -> f64) -> Option<f64> {
    events
        .iter()
        .filter(|event| event.event == kind)
        .map(|event| event.unix_s)
        .reduce(pick)
}

fn job_result(
    plan: &RunPlan,
    job: &JobPlan,
    steps: &[StepRecord],
    events: &[Event],
    first_launch: Option<f64>,
) -> JobResult {
    let find = |kind| {
        events
            .iter()
            .find(|event| event.event == kind && event.job.as_ref() == Some(&job.name))
    };
    let finished = find(EventKind::JobFinished);
    let findings = find(EventKind::JobVerified).and_then(|event| event.findings.clone());
    let launched = find(EventKind::JobLaunched);
    let channels = || steps.iter().flat_map(|step| step.channels.values());
    let sorts = || steps.iter().filter_map(|step| step.sort.as_ref());
    JobResult {
        name: job.name.clone(),
        batch: 1,
        node: plan.node.clone(),
        real_s: finished.and_then(|event| event.real_s),
        user_s: finished.and_then(|event| event.user_s),
        system_s: finished.and_then(|event| event.system_s),
        exit: finished.and_then(|event| event.exit),
        verified: findings.as_ref().map(Vec::is_empty),
        findings: findings.unwrap_or_default(),
        read_bytes: channels().map(|channel| channel.read_bytes).sum(),
        write_bytes: channels().map(|channel| channel.write_bytes).sum(),
        sorted_bytes: sorts().map(|sort| sort.rows * sort.row_bytes).sum(),
        sort_runs: sorts().map(|sort| sort.runs).sum(),
        launched_s: launched
            .zip(first_launch)
            .map(|(event, first)| event.unix_s - first),
    }
}

fn aggregate(
    plan: &RunPlan,
    jobs: &[JobResult],
    events: &[Event],
    first_launch: Option<f64>,
) -> Aggregate {
    let since_launch = |time: Option<f64>| Some(time? - first_launch?);
    let elapsed_s = since_launch(time_of(events, EventKind::JobFinished, f64::max))
        .filter(|elapsed| *elapsed > 0.0);
    let sum = |of: fn(&JobResult) -> Option<f64>| jobs.iter().filter_map(of).sum::<f64>();
    let ratios: Vec<f64> = jobs
        .iter()
        .filter_map(|job| Some((job.user_s? + job.system_s?) / job.real_s.filter(|r| *r > 0.0)?))
        .collect();
    let (real_s, user_s, system_s) = (
        sum(|job| job.real_s),
        sum(|job| job.user_s),
        sum(|job| job.system_s),
    );
    let bytes_moved = jobs
        .iter()
        .map(|job| job.read_bytes + job.write_bytes)
        .sum::<u64>();
    let sorted = jobs.iter().map(|job| job.sorted_bytes).sum::<u64>();
    let megabytes = bytes_moved as f64 / 1e6;
    let mb_per_s = elapsed_s.map(|elapsed| megabytes / elapsed);
    let flushed = events
        .iter()
        .find(|event| event.event == EventKind::Flushed);
    let flush_s = flushed.and_then(|event| event.real_s);
    let mb_per_s_flushed = elapsed_s
        .zip(flush_s)
        .map(|(elapsed, flush)| megabytes / (elapsed + flush));
    Aggregate {
        elapsed_s,
        first_done_s: since_launch(time_of(events, EventKind::JobFinished, f64::min)),
        real_s,
        user_s,
        system_s,
        cpu_real_mean_of_ratios: summarize(&ratios).map(|summary| summary.mean),
        cpu_real_ratio_of_sums: (real_s > 0.0).then(|| (user_s + system_s) / real_s),
        bytes_moved,
        mb_per_s,
        flush_s,
        mb_per_s_flushed,
        mb_per_s_per_core: mb_per_s_flushed.map(|rate| rate / f64::from(plan.cores.max(1))),
        moved_per_sorted: (sorted > 0).then(|| bytes_moved as f64 / sorted as f64),
        cached_share: events.iter().rev().find_map(|event| event.cached_share),
    }
}

fn verdict(plan: &RunPlan, jobs: &[JobResult], aggregate: &Aggregate) -> Verdict {
    let say = |result: &str, reason: String, requirements| Verdict {
        result: result.to_owned(),
        reason,
        requirements,
    };
    let unfinished = jobs.iter().filter(|job| job.exit.is_none()).count();
    if let Some(job) = jobs.iter().find(|job| !job.findings.is_empty()) {
        let reason = format!("job {}: {}", job.name, job.findings.join("; "));
        return say("fail", reason, Vec::new());
    }
    if let Some(job) = jobs
        .iter()
        .find(|job| job.exit.is_some_and(|exit| exit > 1))
    {
        return say(
            "fail",
            format!("job {} ended with errors; see its log", job.name),
            Vec::new(),
        );
    }
    if unfinished > 0 {
        let reason = format!("{unfinished} of {} jobs did not finish", jobs.len());
        return say("inconclusive", reason, Vec::new());
    }
    if plan.demonstration {
        return say(
            "not_shown",
            "demonstration scale gives no verdict".to_owned(),
            Vec::new(),
        );
    }
    let Some(value) = aggregate.mb_per_s_per_core else {
        return say(
            "inconclusive",
            "no throughput was measured".to_owned(),
            Vec::new(),
        );
    };
    let enough = value >= REQUIRED_MB_PER_S_PER_CORE;
    let requirement = Requirement {
        id: "throughput-per-core".to_owned(),
        value,
        threshold: REQUIRED_MB_PER_S_PER_CORE,
        unit: "MB/s per physical core, reads and writes".to_owned(),
        result: if enough { "pass" } else { "fail" }.to_owned(),
        source: "SAS: 100-150 MB/s per physical core (Isilon F810 paper, section on sizing)"
            .to_owned(),
    };
    let cached = plan.cold
        && aggregate
            .cached_share
            .is_none_or(|share| share > CACHED_SHARE_MAX);
    if !plan.qualifying || cached || !plan.cold {
        let reason = if plan.qualifying {
            "the input was not shown to be out of the cache at the start".to_owned()
        } else {
            "all files together are less than three times the memory: caches may have helped"
                .to_owned()
        };
        return say("inconclusive", reason, vec![requirement]);
    }
    let reason = format!("{value:.0} MB/s per core against {REQUIRED_MB_PER_S_PER_CORE:.0} needed");
    say(
        if enough { "pass" } else { "fail" },
        reason,
        vec![requirement],
    )
}
