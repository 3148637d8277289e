//! What a run must have to pass, and what it is called otherwise.

use std::collections::BTreeMap;

use super::*;
use crate::node::FileSystemRecord;
use crate::run::{JobPlan, PacingRecord, Requirement, Series, SeriesBase, Time};
use crate::sample::CpuSample;

fn plan() -> RunPlan {
    RunPlan {
        sas: None,
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
        nodes: Vec::new(),
        cores: 1,
        cores_basis: String::new(),
        memory_bytes: 1,
        cold: true,
        options: BTreeMap::new(),
        directories: BTreeMap::new(),
        verify: "full".to_owned(),
        wall_limit_s: None,
        duration_s: None,
        labels: BTreeMap::new(),
        series: None,
        pace: None,
        pacing: None,
        ceiling: None,
        lanes: 1,
        copies: None,
        work_util_share: None,
        sizes: Vec::new(),
        jobs: vec![JobPlan {
            name: "j".to_owned(),
            offset_s: 0.0,
            input_bytes: 1,
            kind: None,
            symbols: BTreeMap::new(),
            class: None,
            persona: None,
            options: BTreeMap::new(),
            node: None,
        }],
    }
}

fn job() -> JobResult {
    JobResult {
        pace_s: None,
        pace_fixed_s: None,
        stood_in_s: None,
        name: "j".to_owned(),
        batch: 1,
        node: "n".to_owned(),
        real_s: Some(1.0),
        user_s: Some(0.1),
        thread_cpu_s: None,
        cpu_wait_s: None,
        system_s: Some(0.1),
        exit: Some(0),
        verified: Some(true),
        findings: Vec::new(),
        class: None,
        memory_bytes: None,
        blocked_s: None,
        sleep_s: None,
        read_bytes: Some(1),
        write_bytes: Some(1),
        device_read_bytes: Some(1),
        sorted_bytes: 1,
        sort_moved_bytes: None,
        sort_runs: 1,
        sort_s: None,
        launched_s: Some(0.0),
        late_s: Some(0.0),
        error: None,
        failed_operations: Vec::new(),
    }
}

fn aggregate() -> Aggregate {
    Aggregate {
        elapsed_s: Some(0.5),
        flush_s: Some(0.5),
        bytes_moved: Some(150_000_000),
        mb_per_s_flushed: Some(150.0),
        cached_share: Some(0.0),
        ..Aggregate::default()
    }
}

fn requirement(verdict: &Verdict, id: &str) -> Requirement {
    let mut all = verdict.requirements.iter();
    all.find(|one| one.id == id).unwrap().clone()
}

fn verdict(
    plan: &RunPlan,
    jobs: &[JobResult],
    aggregate: &Aggregate,
    events: &[Event],
    disturbances: &[Disturbance],
) -> Verdict {
    verdict_of(plan, jobs, aggregate, (events, disturbances, &[]))
}

fn verdict_of(
    plan: &RunPlan,
    jobs: &[JobResult],
    aggregate: &Aggregate,
    (events, disturbances, nodes): (&[Event], &[Disturbance], &[NodeRecord]),
) -> Verdict {
    sampled(plan, jobs, aggregate, (events, disturbances, nodes), &[])
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates of tests are small and whole"
)]
fn sampled(
    plan: &RunPlan,
    jobs: &[JobResult],
    aggregate: &Aggregate,
    (events, disturbances, nodes): (&[Event], &[Disturbance], &[NodeRecord]),
    samples: &[(String, Vec<Sample>)],
) -> Verdict {
    // Half of a sort's bytes are permanent data.
    let bytes = aggregate
        .mb_per_s_flushed
        .map_or(0, |rate| (rate / 2.0) as u64 * 1_000_000);
    let channel = ChannelResult {
        read_bytes: bytes,
        ..ChannelResult::default()
    };
    let channels = ["input", "util"].map(|name| (name.to_owned(), channel.clone()));
    let facts = Facts {
        audits: &[],
        drift: None,
        plan,
        jobs,
        channels: &channels.into(),
        aggregate,
        events,
        samples,
        nodes,
        sustained: None,
        disturbances,
    };
    of_run(&facts, &Thresholds::published())
}

fn check(plan: &RunPlan, job: JobResult, aggregate: &Aggregate, events: &[Event]) -> String {
    verdict(plan, &[job], aggregate, events, &[]).result
}

#[test]
fn a_whole_cold_qualifying_verified_run_passes_or_fails_by_its_figure() {
    assert_eq!(check(&plan(), job(), &aggregate(), &[]), "pass");
    let between = Aggregate {
        mb_per_s_flushed: Some(120.0),
        ..aggregate()
    };
    let verdict = verdict(&plan(), &[job()], &between, &[], &[]);
    assert!(
        verdict.reason.contains("wanted but not met") && verdict.reason.contains("at least 150"),
        "{}",
        verdict.reason
    );
    let slow = Aggregate {
        mb_per_s_flushed: Some(99.0),
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
    ("no figure", |_, _, all| all.mb_per_s_flushed = None),
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
    let verdict = verdict(&plan(), &[ended], &aggregate(), &events, &[]);
    assert_eq!(verdict.result, "inconclusive");
    let failed = verdict
        .requirements
        .iter()
        .find(|one| one.id == "jobs-failed");
    assert_eq!(failed.unwrap().result, "not_shown");
}

#[test]
fn dropping_all_caches_counts_where_the_file_system_cannot_tell_and_every_node_did() {
    let node = |cached_share: Option<f64>, dropped: bool| Event {
        cached_share,
        caches_dropped: Some(dropped),
        ..Event::new(Time::default(), EventKind::Evicted)
    };
    let check = |nodes: &[Event]| {
        let shares = nodes.iter().filter_map(|event| event.cached_share);
        let all = Aggregate {
            cached_share: shares.reduce(f64::max),
            ..aggregate()
        };
        check(&plan(), job(), &all, nodes)
    };
    let (dropped, not) = (node(None, true), node(None, false));
    let (cold, warm) = (node(Some(0.01), false), node(Some(0.5), true));
    assert_eq!(check(std::slice::from_ref(&dropped)), "pass");
    assert_eq!(check(&[dropped.clone(), cold.clone()]), "pass");
    for warm in [&not, &warm] {
        assert_eq!(check(std::slice::from_ref(warm)), "inconclusive");
        assert_eq!(check(&[dropped.clone(), warm.clone()]), "inconclusive");
        assert_eq!(check(&[cold.clone(), warm.clone()]), "inconclusive");
    }
    assert_eq!(check(&[]), "inconclusive");
}

#[test]
fn what_may_have_come_from_a_cache_is_not_called_read_from_storage() {
    let said = |told: &[(u64, Option<u64>)]| {
        let events: Vec<Event> = told
            .iter()
            .map(|(all, stored)| Event {
                read_back_bytes: Some(*all),
                from_storage_bytes: *stored,
                ..Event::new(Time::default(), EventKind::JobVerified)
            })
            .collect();
        verdict(&plan(), &[job()], &aggregate(), &events, &[]).reason
    };
    let (from_storage, either) = (
        "read back from storage",
        "from a cache or from storage: it cannot",
    );
    let known = said(&[(2_000_000, Some(2_000_000)), (0, Some(0))]);
    assert!(
        known.contains(&format!("2.00 MB that the jobs left were {from_storage}")),
        "{known}"
    );
    assert!(!known.contains(either), "{known}");
    let part = said(&[(2_000_000, Some(2_000_000)), (5_000_000, Some(0))]);
    assert!(
        part.contains(&format!("2.00 MB that the jobs left were {from_storage}")),
        "{part}"
    );
    assert!(
        part.contains(&format!("5.00 MB more were compared, {either}")),
        "{part}"
    );
    // Earlier versions did not look.
    for unknown in [said(&[(5_000_000, Some(0))]), said(&[(5_000_000, None)])] {
        assert!(
            unknown.contains("5.00 MB that the jobs left were read back and compared"),
            "{unknown}"
        );
        assert!(
            unknown.contains(either) && !unknown.contains(from_storage),
            "{unknown}"
        );
    }
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

#[test]
fn a_saturating_run_does_not_judge_feeding_and_a_mixed_one_no_capability() {
    let parts = |saturating| {
        let plan = RunPlan {
            saturating,
            ..plan()
        };
        let verdict = verdict(&plan, &[job()], &aggregate(), &[], &[]);
        (
            verdict.capability.unwrap().result,
            verdict.feeding.unwrap().result,
        )
    };
    assert_eq!(parts(true), ("pass".to_owned(), "not_shown".to_owned()));
    // Unpaced, so that CPU/real cannot be judged either.
    assert_eq!(
        parts(false),
        ("not_shown".to_owned(), "not_shown".to_owned())
    );
}

#[test]
fn a_paced_mixed_run_is_judged_by_whether_its_jobs_waited() {
    let paced = RunPlan {
        saturating: false,
        pace: Some("sas".to_owned()),
        ..plan()
    };
    for (ratio, result) in [(1.2, "pass"), (0.8, "fail")] {
        // A second, and another one in which a user thought.
        let job = JobResult {
            class: Some("analytics".to_owned()),
            real_s: Some(2.0),
            sleep_s: Some(1.0),
            user_s: Some(ratio - 0.1),
            blocked_s: Some(0.4),
            ..job()
        };
        let verdict = verdict(&paced, &[job], &aggregate(), &[], &[]);
        assert_eq!(verdict.result, result, "{}", verdict.reason);
        let found = verdict
            .requirements
            .iter()
            .find(|one| one.id == "cpu-real")
            .unwrap();
        let limit = found.limited_by.as_ref().map(|limit| &*limit.name);
        assert_eq!(limit, (result == "fail").then_some("analytics"));
    }
}

#[test]
fn near_the_ceiling_of_the_engine_a_low_throughput_is_not_the_storages() {
    let limited = RunPlan {
        ceiling: Some(crate::run::Ceiling {
            mb_per_s: Some(95.0),
            ..Default::default()
        }),
        ..plan()
    };
    let slow = Aggregate {
        mb_per_s_flushed: Some(90.0),
        ..aggregate()
    };
    let verdict = verdict(&limited, &[job()], &slow, &[], &[]);
    assert_eq!(verdict.result, "inconclusive");
    assert!(
        verdict.reason.contains("the engine, not the storage"),
        "{}",
        verdict.reason
    );
}

/// Jobs that compute 2 s of 10: a second in files does not explain it, seven seconds do.
#[test]
fn jobs_that_wait_for_something_else_than_files_do_not_show_slow_storage() {
    let paced = RunPlan {
        pace: Some("sas".to_owned()),
        saturating: false,
        ..plan()
    };
    let with = |id: &str, blocked_s: f64, cpu_wait_s: Option<f64>| {
        let job = JobResult {
            real_s: Some(10.0),
            user_s: Some(1.5),
            system_s: Some(0.5),
            blocked_s: Some(blocked_s),
            cpu_wait_s,
            ..job()
        };
        let verdict = verdict(&paced, &[job], &aggregate(), &[], &[]);
        let found = requirement(&verdict, id);
        (found.result, found.reason.unwrap_or_default())
    };
    assert_eq!(with("cpu-real", 7.0, None).0, "fail");
    assert_eq!(with("cpu-real", 7.0, Some(1.0)).0, "fail");
    for (blocked_s, cpu_wait_s, said) in [
        (1.0, None, "file operations for 1 s: they waited"),
        (1.0, Some(2.0), "for 1 s and had no processor for 2 s"),
        // Calls that wait for a processor take as long as those that wait for storage.
        (7.0, Some(6.0), "and had no processor for 6 s"),
    ] {
        let (result, reason) = with("cpu-real", blocked_s, cpu_wait_s);
        assert_eq!(result, "inconclusive");
        assert!(
            reason.contains("lost 8 s") && reason.contains(said),
            "{reason}"
        );
    }
    // What one job waited for does not explain what another one lost.
    let of = |blocked_s: f64, cpu_wait_s: f64, user_s: f64| JobResult {
        real_s: Some(10.0),
        user_s: Some(user_s),
        system_s: Some(0.0),
        blocked_s: Some(blocked_s),
        cpu_wait_s: Some(cpu_wait_s),
        ..job()
    };
    let two = [of(8.0, 0.0, 2.0), of(0.0, 9.0, 10.0)];
    let found = verdict(&paced, &two, &aggregate(), &[], &[]);
    let found = requirement(&found, "cpu-real");
    assert_eq!(found.result, "fail", "{:?}", found.reason);
    assert_eq!(with("time-in-io", 7.0, Some(3.0)).0, "fail");
    let (result, reason) = with("time-in-io", 7.0, Some(4.0));
    assert_eq!(result, "inconclusive");
    assert!(reason.contains("no processor for 4 s"), "{reason}");
}

/// The second of a stream begins when the first one ends, in a thinner mix.
#[test]
fn only_jobs_that_were_launched_together_are_compared() {
    let mixed = RunPlan {
        saturating: false,
        jobs: vec![plan().jobs[0].clone(); 2],
        ..plan()
    };
    let with = |plan: &RunPlan, second_s: f64| {
        let of = |name: &str, launched_s: f64, real_s: f64| JobResult {
            name: name.to_owned(),
            launched_s: Some(launched_s),
            real_s: Some(real_s),
            ..job()
        };
        let jobs = [of("io_1", 0.0, 45.0), of("io_2", second_s, 25.0)];
        let verdict = verdict(plan, &jobs, &aggregate(), &[], &[]);
        requirement(&verdict, "spread").value
    };
    assert_eq!(with(&mixed, 9.0), Some(1.8));
    assert_eq!(with(&mixed, 45.0), None);
    let mut of_two_kinds = mixed.clone();
    for (kind, job) in ["1", "2"].into_iter().zip(&mut of_two_kinds.jobs) {
        job.kind = Some(kind.to_owned());
    }
    assert_eq!(with(&of_two_kinds, 9.0), None);
}

#[test]
fn a_short_run_shows_nothing_sustained() {
    let samples = [("n".to_owned(), vec![Sample::default()])];
    let of = |elapsed_s: f64| {
        let all = Aggregate {
            elapsed_s: Some(elapsed_s),
            ..aggregate()
        };
        sampled(&plan(), &[job()], &all, (&[], &[], &[]), &samples)
    };
    let short = of(59.0);
    assert_eq!(short.result, "inconclusive");
    assert!(
        short.reason.contains("shorter than 60 s"),
        "{}",
        short.reason
    );
    let long = of(60.0);
    assert!(!long.reason.contains("shorter"), "{}", long.reason);
}

#[test]
fn files_in_memory_show_no_storage() {
    let in_memory = |name: &str| {
        let system = FileSystemRecord {
            kind: "tmpfs".to_owned(),
            mount_point: "/dev/shm".to_owned(),
            ..FileSystemRecord::default()
        };
        let node = NodeRecord {
            file_systems: [(name.to_owned(), system)].into(),
            ..NodeRecord::default()
        };
        verdict_of(&plan(), &[job()], &aggregate(), (&[], &[], &[node]))
    };
    let work = in_memory("work");
    assert_eq!(work.result, "inconclusive");
    assert!(
        work.reason
            .contains("work lie in memory (tmpfs at /dev/shm)"),
        "{}",
        work.reason
    );
    let on_disk = verdict_of(
        &plan(),
        &[job()],
        &aggregate(),
        (&[], &[], &[NodeRecord::default()]),
    );
    assert_eq!(on_disk.result, "pass");
}

#[test]
fn a_lighter_load_than_sas_shows_no_feeding() {
    let paced = |factor: f64| {
        let plan = RunPlan {
            saturating: false,
            time_scale: 2.0,
            jobs: vec![plan().jobs[0].clone(); 3],
            parameters: [("concurrency".to_owned(), 1)].into(),
            pace: Some(factor.to_string()),
            pacing: Some(PacingRecord {
                factor,
                by: "busy".to_owned(),
                table: String::new(),
                table_date: String::new(),
                file: None,
            }),
            ..plan()
        };
        let job = JobResult {
            user_s: Some(1.0),
            ..job()
        };
        verdict(
            &plan,
            &[job.clone(), job.clone(), job],
            &aggregate(),
            &[],
            &[],
        )
    };
    let found = paced(5.0);
    assert_eq!(requirement(&found, "cpu-real").result, "not_shown");
    assert!(
        found
            .reason
            .contains("5 times the CPU time that SAS spends"),
        "{}",
        found.reason
    );
    let found = paced(1.0);
    assert_eq!(requirement(&found, "cpu-real").result, "pass");
    for said in ["2 times those of the suite", "at most 1 of 3 jobs"] {
        assert!(found.reason.contains(said), "{}", found.reason);
    }
    assert!(!found.reason.contains("of the table"), "{}", found.reason);
}

#[test]
fn a_figure_never_looks_like_the_limit_that_it_misses() {
    use super::super::{beside, figure};
    let figure_beside = |value: f64, limit| beside(figure(value), value, limit);
    assert_eq!(figure_beside(99.4, Some(100.0)), "99.4");
    assert_eq!(figure_beside(99.998, Some(100.0)), "99.998");
    assert_eq!(figure_beside(0.9996, Some(1.0)), "0.9996");
    assert_eq!(figure_beside(100.0, Some(100.0)), "100");
    assert_eq!(figure_beside(97.2, Some(100.0)), "97.2");
    assert_eq!(figure_beside(120.3, None), "120");
    assert_eq!(beside("1,000".to_owned(), 999.96, Some(1000.0)), "999.96");
}

#[test]
fn what_a_licensed_sas_waited_for_is_not_known() {
    let sas = RunPlan {
        sas: Some("/opt/sas".into()),
        saturating: false,
        ..plan()
    };
    let job = JobResult {
        sleep_s: None,
        blocked_s: None,
        ..job()
    };
    let verdict = verdict(&sas, &[job], &aggregate(), &[], &[]);
    let found = requirement(&verdict, "cpu-real");
    assert_eq!(found.result, "inconclusive");
    assert!(found.reason.unwrap().contains("is not known"));
}

/// A step that writes behind its computing is not held back by it.
#[test]
fn time_inside_files_counts_as_far_as_jobs_did_not_compute_meanwhile() {
    let paced = RunPlan {
        pace: Some("sas".to_owned()),
        saturating: false,
        ..plan()
    };
    let with = |user_s: f64, sleep_s: f64, thread_cpu_s: Option<f64>| {
        let job = JobResult {
            real_s: Some(10.0),
            user_s: Some(user_s),
            system_s: Some(1.0),
            thread_cpu_s,
            sleep_s: Some(sleep_s),
            blocked_s: Some(6.0),
            ..job()
        };
        let verdict = verdict(&paced, &[job], &aggregate(), &[], &[]);
        let found = requirement(&verdict, "time-in-io");
        found.value.unwrap()
    };
    for (user_s, sleep_s, thread_cpu_s, share) in [
        (1.0, 0.0, None, 0.6),
        (8.0, 0.0, None, 0.1),
        (12.0, 0.0, None, 0.0),
        (1.0, 2.0, None, 0.75),
        // Other threads computed, after the program had waited for its files.
        (12.0, 0.0, Some(4.0), 0.6),
        (12.0, 0.0, Some(9.5), 0.05),
    ] {
        let found = with(user_s, sleep_s, thread_cpu_s);
        assert!(
            (found - share).abs() < 1e-9,
            "{user_s} {sleep_s} {thread_cpu_s:?}: {found}"
        );
    }
}

/// Seven of eight seconds lost in files; but where processors were busy all the time, that shows nothing.
#[test]
fn jobs_on_busy_processors_do_not_show_slow_storage() {
    let paced = RunPlan {
        pace: Some("sas".to_owned()),
        saturating: false,
        ..plan()
    };
    let job = JobResult {
        real_s: Some(10.0),
        user_s: Some(1.5),
        system_s: Some(0.5),
        blocked_s: Some(7.0),
        ..job()
    };
    let with = |busy: f64| {
        let sample = Sample {
            interval_s: 1.0,
            running: 1,
            cpu: Some(CpuSample {
                user_s: busy,
                idle_s: 1.0 - busy,
                ..CpuSample::default()
            }),
            ..Sample::default()
        };
        let samples = [("n".to_owned(), vec![sample])];
        let nothing = (&[][..], &[][..], &[][..]);
        let job = std::slice::from_ref(&job);
        let verdict = sampled(&paced, job, &aggregate(), nothing, &samples);
        ["cpu-real", "time-in-io"].map(|id| {
            let found = requirement(&verdict, id);
            (
                found.result.clone(),
                found.reason.clone().unwrap_or_default(),
            )
        })
    };
    assert!(with(0.5).iter().all(|(result, _)| result == "fail"));
    for (result, reason) in with(0.99) {
        assert_eq!(result, "inconclusive");
        assert!(
            reason.contains("the processors of n, not the storage"),
            "{reason}"
        );
    }
}

/// 10 s in all on tmpfs for 100 MB, of which 2 s are there whatever moves; here 250 MB in 33 s, 3 of them thinking.
#[test]
fn elongation_is_elapsed_time_without_thinking_over_that_on_tmpfs_for_as_many_bytes() {
    let alone = crate::run::Alone {
        fixed_s: 2.0,
        moving_s: 8.0,
        bytes: 100_000_000,
    };
    let limited = RunPlan {
        ceiling: Some(crate::run::Ceiling {
            jobs: BTreeMap::from([("j".to_owned(), alone)]),
            ..Default::default()
        }),
        ..plan()
    };
    let job = JobResult {
        real_s: Some(33.0),
        sleep_s: Some(3.0),
        read_bytes: Some(200_000_000),
        write_bytes: Some(50_000_000),
        ..job()
    };
    let elongation = |jobs: &[JobResult]| {
        let verdict = verdict(&limited, jobs, &aggregate(), &[], &[]);
        let mut requirements = verdict.requirements.into_iter();
        requirements.find(|one| one.id == "elongation").unwrap()
    };
    let near = |value: Option<f64>| (value.unwrap() - 30.0 / 22.0).abs() < 1e-9;
    assert!(near(elongation(std::slice::from_ref(&job)).value));
    // One that failed tells nothing, and one that was too short on tmpfs leaves the rest to tell.
    let failed = JobResult {
        exit: Some(2),
        real_s: Some(1000.0),
        ..job.clone()
    };
    let other = |real_s: f64| JobResult {
        name: "other".to_owned(),
        real_s: Some(real_s),
        ..job.clone()
    };
    assert!(near(elongation(&[job.clone(), failed, other(20.0)]).value));
    let most = elongation(&[job.clone(), other(93.0)]);
    assert_eq!(most.value, None);
    let reason = most.reason.unwrap();
    assert!(reason.contains("took 25 % of the elapsed time"), "{reason}");
}

#[test]
fn a_demonstration_gives_no_verdict() {
    let small = RunPlan {
        demonstration: true,
        qualifying: false,
        ..plan()
    };
    let verdict = verdict(&small, &[job()], &aggregate(), &[], &[]);
    assert_eq!(
        (&*verdict.result, &*verdict.reason),
        ("not_shown", "demonstration: no verdict")
    );
    let judged = |one: &&crate::run::Requirement| one.result != "not_shown";
    let judged: Vec<&str> = verdict
        .requirements
        .iter()
        .filter(judged)
        .map(|one| &*one.id)
        .collect();
    assert_eq!(judged, ["jobs-failed", "jobs-not-verified"]);
}

/// Whatever the requirements of a file are called.
#[test]
fn requirements_are_told_by_their_measures() {
    let text = include_str!("../../thresholds.toml");
    let text = text.replace("id = \"jobs-failed\"", "id = \"no-failures\"");
    let text = text.replace("id = \"jobs-not-verified\"", "id = \"all-checked\"");
    let mut renamed = Thresholds::parse(&text).unwrap();
    renamed
        .requirements
        .retain(|one| one.measure.concerns_every_run());
    let none = |measure| (measure, Measured::of(0.0));
    let found = judge(
        &Evidence {
            saturating: true,
            demonstration: false,
            failure: None,
            doubts: Vec::new(),
            remarks: Vec::new(),
            measures: [Measure::JobsFailed, Measure::JobsNotVerified]
                .map(none)
                .into(),
            limited_by: None,
        },
        &renamed,
    );
    assert_eq!((&*found.result, found.requirements.len()), ("pass", 2));
    let ids: Vec<&str> = found.requirements.iter().map(|one| &*one.id).collect();
    assert_eq!(ids, ["no-failures", "all-checked"]);
    let every_run = Requirement::concerns_every_run;
    assert!(found.requirements.iter().all(every_run));
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
fn nodes_that_are_one_machine_show_nothing() {
    let node = |name: &str, same: Option<&str>| NodeRecord {
        node: name.to_owned(),
        same_host_as: same.map(str::to_owned),
        ..NodeRecord::default()
    };
    let (plan, jobs, all) = (plan(), [job()], aggregate());
    let of = |same| {
        let nodes = [node("a", None), node("b", same)];
        verdict_of(&plan, &jobs, &all, (&[], &[], &nodes))
    };
    assert_eq!(of(None).result, "pass");
    let one = of(Some("a"));
    assert_eq!(one.result, "inconclusive");
    assert!(
        one.reason.contains("2 nodes are only 1 machine:"),
        "{}",
        one.reason
    );
}

#[test]
fn run_times_are_held_against_those_on_fewer_nodes() {
    let growth = |base_s: Option<Option<f64>>| {
        let base = base_s.map(|real_mean_s| SeriesBase {
            nodes: 1,
            real_mean_s,
        });
        let plan = RunPlan {
            saturating: false,
            series: Some(Series {
                base,
                ..Series::default()
            }),
            ..plan()
        };
        let verdict = verdict(&plan, &[job()], &aggregate(), &[], &[]);
        let found = verdict
            .requirements
            .into_iter()
            .find(|one| one.id == "growth");
        let found = found.unwrap();
        (found.value, found.result)
    };
    assert_eq!(growth(Some(Some(0.8))), (Some(1.25), "fail".to_owned()));
    assert_eq!(growth(Some(Some(0.95))).1, "pass");
    assert_eq!(growth(Some(None)), (None, "not_shown".to_owned()));
    assert_eq!(growth(None), (None, "not_shown".to_owned()));
}
