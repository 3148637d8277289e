//! What a run shows. It shows nothing unless every job ran, every output was verified, the input was
//! cold and larger than caches, and the storage was asked for enough.

use super::disturbance::beyond_limits;
use crate::run::{
    Aggregate, Disturbance, Event, EventKind, JobResult, Requirement, RunPlan, Verdict,
};

/// Total throughput per physical core that SAS asks of storage, MB/s (10^6), lower bound.
const REQUIRED_MB_PER_S_PER_CORE: f64 = 100.0;

/// The upper end of the same range, and what the Isilon paper's section 5.3 asks.
const WANTED_MB_PER_S_PER_CORE: f64 = 150.0;

/// Where both figures stand.
const SOURCE: &str = "Isilon F810 paper (2020): chapter 4, 100-150 MBps per CPU, reads and writes \
                      mixed, quoting SAS's I/O best practices; section 5.3, 150 MBps per core";

/// Above this cached share a run did not measure storage.
const CACHED_SHARE_MAX: f64 = 0.05;

/// The verdict of a run, finished or not.
pub(super) fn verdict(
    plan: &RunPlan,
    jobs: &[JobResult],
    aggregate: &Aggregate,
    events: &[Event],
    disturbance: &[Disturbance],
) -> Verdict {
    if let Some(reason) = failure(jobs, events) {
        return say("fail", reason, Vec::new());
    }
    if let Some(reason) = incomplete(jobs, events) {
        return say("inconclusive", reason, Vec::new());
    }
    if plan.demonstration {
        return say(
            "not_shown",
            "demonstration scale gives no verdict".to_owned(),
            Vec::new(),
        );
    }
    if let Some(reason) = beyond_limits(disturbance) {
        return say("inconclusive", reason, Vec::new());
    }
    if !plan.saturating {
        let reason = "a mixed load does not show what storage can sustain; every job ended and every \
                      check of its outputs held";
        return say("not_shown", reason.to_owned(), Vec::new());
    }
    let Some(value) = aggregate.mb_per_s_per_core else {
        let reason = "the throughput is not known: a job left no record of its steps, or the flush \
                      was not measured";
        return say("inconclusive", reason.to_owned(), Vec::new());
    };
    if let Some(reason) = not_shown(plan, aggregate, events) {
        return say(
            "inconclusive",
            reason,
            vec![requirement(value, "not_shown")],
        );
    }
    let result = if value >= REQUIRED_MB_PER_S_PER_CORE {
        "pass"
    } else {
        "fail"
    };
    let against = match value {
        v if v < REQUIRED_MB_PER_S_PER_CORE => "below the 100 that SAS needs at least",
        v if v < WANTED_MB_PER_S_PER_CORE => {
            "at least the 100 that SAS needs, but below the 150 that it asks of a grid node"
        }
        _ => "at least the 150 that SAS asks of a grid node",
    };
    let reason = format!("{value:.0} MB/s per core: {against}");
    say(result, reason, vec![requirement(value, result)])
}

fn say(result: &str, reason: String, requirements: Vec<Requirement>) -> Verdict {
    Verdict {
        result: result.to_owned(),
        reason,
        requirements,
    }
}

fn requirement(value: f64, result: &str) -> Requirement {
    Requirement {
        id: "throughput-per-core".to_owned(),
        value,
        threshold: REQUIRED_MB_PER_S_PER_CORE,
        unit: "MB/s per physical core, reads and writes".to_owned(),
        result: result.to_owned(),
        source: SOURCE.to_owned(),
    }
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
fn incomplete(jobs: &[JobResult], events: &[Event]) -> Option<String> {
    if interrupted(events) {
        return Some("the run was interrupted".to_owned());
    }
    let count = |which: fn(&JobResult) -> bool| jobs.iter().filter(|job| which(job)).count();
    let all = jobs.len();
    match (
        count(|job| job.exit.is_none()),
        count(|job| job.verified.is_none()),
    ) {
        (0, 0) => None,
        (0, unverified) => Some(format!(
            "the outputs of {unverified} of {all} jobs were not verified"
        )),
        (unfinished, _) => Some(format!("{unfinished} of {all} jobs did not finish")),
    }
}

/// Why the throughput says nothing of the storage, if it does not.
fn not_shown(plan: &RunPlan, aggregate: &Aggregate, events: &[Event]) -> Option<String> {
    let reason = if !plan.qualifying {
        "all files together are less than three times the memory: caches may have helped"
    } else if at_once(plan) < u64::from(plan.cores) {
        "there were fewer jobs at once than cores: the storage was not asked for enough"
    } else if !plan.cold {
        "the start was warm"
    } else if !was_cold(aggregate, events) {
        "the input was not shown to be out of the cache at the start"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// Jobs that could run at once.
fn at_once(plan: &RunPlan) -> u64 {
    let jobs = plan.jobs.len() as u64;
    let allowed = plan.parameters.get("concurrency");
    allowed.map_or(jobs, |allowed| jobs.min(*allowed))
}

/// Little of the input was cached; where the file system cannot tell, dropping all caches counts.
fn was_cold(aggregate: &Aggregate, events: &[Event]) -> bool {
    match aggregate.cached_share {
        Some(share) => share <= CACHED_SHARE_MAX,
        None => events
            .iter()
            .any(|event| event.caches_dropped == Some(true)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::run::{JobPlan, Time};

    fn plan() -> RunPlan {
        RunPlan {
            schema: crate::SCHEMA.to_owned(),
            program: String::new(),
            run: "r".to_owned(),
            suite: "s".to_owned(),
            scale: 1.0,
            time_scale: 1.0,
            parameters: BTreeMap::new(),
            variant: None,
            saturating: true,
            staged_bytes: Some(1),
            scale_reason: String::new(),
            demonstration: false,
            qualifying: true,
            notes: Vec::new(),
            seed: 1,
            started_unix_s: 0.0,
            node: "n".to_owned(),
            cores: 1,
            cores_basis: String::new(),
            memory_bytes: 1,
            cold: true,
            options: BTreeMap::new(),
            directories: BTreeMap::new(),
            verify: "full".to_owned(),
            wall_limit_s: None,
            duration_s: None,
            series: None,
            jobs: vec![JobPlan {
                name: "j".to_owned(),
                offset_s: 0.0,
                input_bytes: 1,
                symbols: BTreeMap::new(),
                class: None,
                persona: None,
                options: BTreeMap::new(),
            }],
        }
    }

    fn job() -> JobResult {
        JobResult {
            name: "j".to_owned(),
            batch: 1,
            node: "n".to_owned(),
            real_s: Some(1.0),
            user_s: Some(0.1),
            system_s: Some(0.1),
            exit: Some(0),
            verified: Some(true),
            findings: Vec::new(),
            read_bytes: Some(1),
            write_bytes: Some(1),
            device_read_bytes: Some(1),
            sorted_bytes: 1,
            sort_runs: 1,
            launched_s: Some(0.0),
            late_s: Some(0.0),
            error: None,
        }
    }

    fn aggregate() -> Aggregate {
        Aggregate {
            mb_per_s_per_core: Some(150.0),
            cached_share: Some(0.0),
            ..Aggregate::default()
        }
    }

    fn check(plan: &RunPlan, job: JobResult, aggregate: &Aggregate, events: &[Event]) -> String {
        verdict(plan, &[job], aggregate, events, &[]).result
    }

    #[test]
    fn a_whole_cold_qualifying_verified_run_passes_or_fails_by_its_figure() {
        assert_eq!(check(&plan(), job(), &aggregate(), &[]), "pass");
        let between = Aggregate {
            mb_per_s_per_core: Some(120.0),
            ..aggregate()
        };
        let verdict = verdict(&plan(), &[job()], &between, &[], &[]);
        assert!(
            verdict.reason.contains("below the 150"),
            "{}",
            verdict.reason
        );
        let slow = Aggregate {
            mb_per_s_per_core: Some(99.0),
            ..aggregate()
        };
        assert_eq!(check(&plan(), job(), &slow, &[]), "fail");
    }

    /// What is wrong with a run, and how it comes about.
    type Flaw = (
        &'static str,
        fn(&mut RunPlan, &mut JobResult, &mut Aggregate),
    );

    const FLAWS: [Flaw; 9] = [
        ("small", |plan, _, _| plan.qualifying = false),
        ("warm", |plan, _, _| plan.cold = false),
        ("few jobs", |plan, _, _| plan.cores = 2),
        ("few at once", |plan, _, _| {
            plan.cores = 2;
            plan.jobs.push(plan.jobs[0].clone());
            plan.parameters.insert("concurrency".to_owned(), 1);
        }),
        ("unverified", |_, job, _| job.verified = None),
        ("unfinished", |_, job, _| job.exit = None),
        ("cached", |_, _, all| all.cached_share = Some(0.5)),
        ("cached or not is unknown", |_, _, all| {
            all.cached_share = None;
        }),
        ("no figure", |_, _, all| all.mb_per_s_per_core = None),
    ];

    #[test]
    fn anything_less_is_inconclusive() {
        for (what, spoil) in FLAWS {
            let (mut plan, mut job, mut all) = (plan(), job(), aggregate());
            spoil(&mut plan, &mut job, &mut all);
            assert_eq!(check(&plan, job, &all, &[]), "inconclusive", "{what}");
        }
    }

    #[test]
    fn a_disturbed_run_shows_nothing() {
        let disturbance = Disturbance {
            exceeded: true,
            statement: "other programs took 9 s".to_owned(),
            ..Disturbance::default()
        };
        let verdict = verdict(&plan(), &[job()], &aggregate(), &[], &[disturbance]);
        assert_eq!(verdict.result, "inconclusive");
        assert!(verdict.reason.contains("took 9 s"), "{}", verdict.reason);
    }

    #[test]
    fn a_mixed_load_shows_no_capability() {
        let mixed = RunPlan {
            saturating: false,
            ..plan()
        };
        assert_eq!(check(&mixed, job(), &aggregate(), &[]), "not_shown");
    }

    #[test]
    fn jobs_ended_by_an_interruption_are_no_failure() {
        let events = [Event::new(Time::default(), EventKind::Interrupted)];
        let ended = JobResult {
            exit: Some(143),
            ..job()
        };
        assert_eq!(check(&plan(), ended, &aggregate(), &events), "inconclusive");
    }

    #[test]
    fn dropping_all_caches_counts_where_the_file_system_cannot_tell() {
        let mut dropped = Event::new(Time::default(), EventKind::Evicted);
        dropped.caches_dropped = Some(true);
        let unknown = Aggregate {
            cached_share: None,
            ..aggregate()
        };
        assert_eq!(check(&plan(), job(), &unknown, &[dropped]), "pass");
    }

    #[test]
    fn errors_and_wrong_outputs_fail_whatever_else_holds() {
        let errors = JobResult {
            exit: Some(2),
            ..job()
        };
        let wrong = JobResult {
            verified: Some(false),
            findings: vec!["x".into()],
            ..job()
        };
        for job in [errors, wrong] {
            let small = RunPlan {
                demonstration: true,
                ..plan()
            };
            assert_eq!(check(&small, job, &aggregate(), &[]), "fail");
        }
    }
}
