use super::*;
use crate::suite::builtin;

pub(crate) fn host(free_gib: u64) -> HostFacts {
    let free = Bytes::gib(free_gib);
    let space = FreeSpace {
        directory: "/d".into(),
        free,
        staged: Vec::new(),
        uses: vec![Use::Data, Use::Output, Use::Work, Use::Util],
        shared: None,
    };
    HostFacts {
        cores: 4,
        cores_basis: "given".into(),
        memory: Bytes::gib(16),
        free: vec![space],
    }
}

fn planned(scale: Scale, free_gib: u64) -> Result<Plan, Error> {
    plan(
        &builtin("large-sorts").unwrap(),
        &Request::of(scale),
        &host(free_gib),
    )
}

#[test]
fn two_jobs_per_core_start_within_a_second() {
    let plan = planned(Scale::Demonstration, 100).unwrap();
    assert_eq!(plan.jobs.len(), 8);
    assert!(plan.jobs.iter().all(|job| job.offset_s < 1.0));
    assert_eq!(plan.jobs[2].symbols["in"], "s3");
    assert_eq!(plan.datasets[plan.jobs[2].inputs[0]].name, "s3");
}

#[test]
fn a_demonstration_stays_under_three_gigabytes_and_spills() {
    let plan = planned(Scale::Demonstration, 100).unwrap();
    assert!(plan.input_bytes().0 * 3 < 3_000_000_000);
    let sortsize = base::units::parse_size(&plan.options["SORTSIZE"])
        .unwrap()
        .0;
    assert!(plan.datasets[0].bytes().0 / sortsize >= 4);
    assert!(
        plan.notes
            .iter()
            .any(|note| note.contains("SORTSIZE reduced"))
    );
    assert!(plan.demonstration && !plan.qualifying);
}

#[test]
fn at_the_papers_scale_every_file_is_larger_than_memory() {
    let plan = planned(Scale::Factor(1.0), 10_000).unwrap();
    assert!(plan.datasets.iter().all(|set| set.bytes() > plan.memory));
    assert_eq!(plan.options["SORTSIZE"], "768M");
    assert!(plan.qualifying);
}

#[test]
fn auto_qualifies_where_it_fits_and_says_so_where_not() {
    let plan = planned(Scale::Auto, 1000).unwrap();
    assert!(plan.qualifying, "{}", plan.scale_reason);
    let plan = planned(Scale::Auto, 60).unwrap();
    assert!(!plan.qualifying && plan.scale_reason.contains("what fits"));
    let message = planned(Scale::Auto, 0).unwrap_err().to_string();
    assert!(message.contains("0 B are free"), "{message}");
}

#[test]
fn caches_hold_files_as_they_are_compressed() {
    let suite = builtin("multiuser").unwrap();
    let of = |variant: Option<&str>| {
        let mut request = Request::of(Scale::Auto);
        request.variant = variant.map(str::to_owned);
        plan(&suite, &request, &host(1_000_000)).unwrap()
    };
    let (plain, compressed) = (of(None), of(Some("compressed")));
    assert!((plain.compressed_to - 1.0).abs() < 1e-9 && plain.qualifying);
    // Table 4: 63 GB become 22, 185 become 57, those of text 4.
    let to = compressed.compressed_to;
    assert!((0.25..0.5).contains(&to), "{to}");
    let more = compressed.input_bytes().0 as f64 / plain.input_bytes().0 as f64;
    assert!((more * to - 1.0).abs() < 0.02, "{more} {to}");
    assert!(compressed.qualifying);
    let mut request = Request::of(Scale::Factor(plain.scale));
    request.variant = Some("compressed".to_owned());
    assert!(!plan(&suite, &request, &host(1_000_000)).unwrap().qualifying);
}

#[test]
fn what_does_not_fit_is_refused_with_the_figures() {
    let message = planned(Scale::Factor(1.0), 100).unwrap_err().to_string();
    assert!(
        message.contains("/d") && message.contains("107 GB are free"),
        "{message}"
    );
}

#[test]
fn parts_of_the_multiuser_day_are_scaled_and_what_differs_is_noted() {
    let suite = builtin("multiuser").unwrap();
    let mut host = host(100);
    host.free[0].shared = Some("NFS".to_owned());
    let small = plan(&suite, &Request::of(Scale::Demonstration), &host).unwrap();
    assert_eq!(small.jobs.len(), 33);
    let named = |name: &str| small.jobs.iter().find(|job| job.name == name).unwrap();
    // 40 minutes and 56 seconds, at 0.03.
    assert!((named("fscheck_m").offset_s - 72.0).abs() < 1e-9);
    assert_eq!(named("smallnoise_5").symbols["think"], "1.68");
    assert_eq!(named("hplogistic_1").options["MEMSIZE"], "64G");
    // Two users' same job on tables of their own, and one that is asked for more.
    assert_eq!(named("bank1_1").kind, named("bank1_3").kind);
    assert_ne!(named("hplogistic_1").kind, named("hplogistic_2").kind);
    assert_ne!(named("bank1_1").kind, named("bank2_1").kind);
    let inputs = |name: &str| named(name).inputs.len();
    assert_eq!(
        (inputs("rtumble_1"), inputs("sort_1"), inputs("wr_junk_1")),
        (4, 1, 0)
    );
    let notes = small.notes.join("\n");
    assert!(notes.contains("multiplied by 0.03"), "{notes}");
    assert!(
        notes.contains("WORK lies on a shared file system (NFS)"),
        "{notes}"
    );
    assert!(
        notes.contains("inputs and WORK share the file system of /d"),
        "{notes}"
    );

    let mut compressed = Request::of(Scale::Demonstration);
    compressed.variant = Some("compressed".to_owned());
    let plan = plan(&suite, &compressed, &host).unwrap();
    assert_eq!(plan.options["COMPRESS"], "BINARY");
}

#[test]
fn launches_of_a_stream_follow_each_other() {
    let suite = builtin("mixed-analytics").unwrap();
    let plan = plan(&suite, &Request::of(Scale::Factor(0.001)), &host(100)).unwrap();
    let place = |name: &str| plan.jobs.iter().position(|job| job.name == name).unwrap();
    let job = |name: &str| &plan.jobs[place(name)];
    // Streams of two, two and one launches start with waves 1, 12 and 19, four minutes apart.
    assert_eq!(job("io_sort_2").follows, Some(place("io_sort_1")));
    assert_eq!(job("io_sort_3").follows, None);
    assert!((job("io_sort_3").offset_s - 11.0 * 240.0).abs() < 1e-9);
    assert_eq!(job("io_sort_5").symbols["in"], "iosort_3");
    let copies: Vec<u64> = plan
        .datasets
        .iter()
        .filter(|set| set.name.starts_with("iosort_"))
        .map(|set| set.seed)
        .collect();
    assert_eq!(copies, [2, 2, 2], "replicas are identical");
}

#[test]
fn a_pool_runs_as_many_at_once_as_was_asked_for() {
    let suite = builtin("demand-calibration").unwrap();
    let mut request = Request::of(Scale::Demonstration);
    request.parameters.insert("concurrency".to_owned(), 5);
    request.parameters.insert("models".to_owned(), 3);
    let plan = plan(&suite, &request, &host(100)).unwrap();
    assert_eq!((plan.concurrency, plan.jobs.len()), (Some(5), 3));
    assert_eq!(plan.jobs[2].symbols["seed"], "3001");
    assert_eq!(plan.jobs[2].inputs.len(), 43);
    assert!(
        plan.notes
            .iter()
            .any(|note| note == "models: 3 instead of 750")
    );
}

fn mixed(mix: &[(&str, u64)]) -> Result<Plan, Error> {
    let mut request = Request::of(Scale::Demonstration);
    let counts = mix.iter();
    request.mix = counts
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect();
    plan(&builtin("multiuser").unwrap(), &request, &host(100))
}

#[test]
fn users_come_in_other_numbers() {
    let some = mixed(&[("modeller", 4), ("report", 10), ("construction", 0)]).unwrap();
    let of = |persona: &str| {
        let own = some
            .jobs
            .iter()
            .filter(|job| job.persona.as_deref() == Some(persona));
        own.map(|job| job.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(
        of("modeller"),
        ["comp_glm_1a", "hplogistic_1", "hplogistic_2", "comp_glm_4a"]
    );
    assert_eq!(of("report").len(), 10);
    assert_eq!(
        (
            of("construction").len(),
            of("etl").len(),
            of("monitor").len()
        ),
        (0, 4, 6)
    );
    // The eighth report user is the first one once more: 30 seconds later, at 0.03.
    let eighth = some
        .jobs
        .iter()
        .find(|job| job.name == "smallnoise_5u2")
        .unwrap();
    assert_eq!(eighth.symbols["stream"], "5u2");
    assert!((eighth.offset_s - 180.0 * 0.03).abs() < 1e-9);
    // Nobody reads what construction read.
    assert!(
        !some
            .datasets
            .iter()
            .any(|set| set.name.starts_with("bank2input"))
    );
    let inputs = eighth
        .inputs
        .iter()
        .map(|at| some.datasets[*at].name.as_str());
    assert_eq!(inputs.collect::<Vec<_>>(), ["ranrw_small_1"]);
    let note = some
        .notes
        .iter()
        .find(|note| note.contains("report 10 instead of 7"));
    assert!(
        note.is_some_and(|note| note.contains("etl 4,")),
        "{:?}",
        some.notes
    );
}

#[test]
fn more_users_than_the_suite_has_are_numbered() {
    let twice = mixed(&[("construction", 14)]).unwrap();
    let bank = twice
        .jobs
        .iter()
        .find(|job| job.name == "bank2_1u2")
        .unwrap();
    assert!(format!("{:?}", bank.checks).contains("bank2_1u2"));
    let message = mixed(&[("manager", 1)]).unwrap_err().to_string();
    assert!(
        message.contains("no users manager; it has advanced (4)"),
        "{message}"
    );
    let all = [
        "advanced",
        "construction",
        "etl",
        "modeller",
        "monitor",
        "report",
    ];
    let message = mixed(&all.map(|name| (name, 0))).unwrap_err().to_string();
    assert_eq!(message, "--mix leaves no job");
}

#[test]
fn users_of_other_suites_are_refused_by_name() {
    for (suite, persona, count, part) in [
        (
            "large-sorts",
            "report",
            1,
            "the suite large-sorts has no personas",
        ),
        ("demand-calibration", "solution", 900, "which has no [mix]"),
    ] {
        let suite = builtin(suite).unwrap();
        let mut request = Request::of(Scale::Demonstration);
        request.mix.insert(persona.to_owned(), count);
        let message = plan(&suite, &request, &host(100)).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn jobs_that_are_left_out_take_their_data_with_them() {
    let suite = builtin("multiuser").unwrap();
    let mut plan = plan(&suite, &Request::of(Scale::Demonstration), &host(100)).unwrap();
    plan.retain_jobs(|job| ["rwrw_1", "sort_1", "wr_junk_3"].contains(&job.name.as_str()));
    let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["sort_1", "rwrw_1", "wr_junk_3"]);
    let sets: Vec<&str> = plan.datasets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(sets, ["simdata_tnk_1", "sortinput_1"]);
    let inputs: Vec<&[usize]> = plan.jobs.iter().map(|job| &job.inputs[..]).collect();
    assert_eq!(inputs, [&[1][..], &[0], &[]]);
}

#[test]
fn options_are_tried_before_anything_is_staged() {
    for (name, value, part) in [
        ("FOO", "1", "FOO is not recognized"),
        ("SORTSIZE", "bogus", "SORTSIZE=bogus is not valid"),
        ("OBS", "100", "a suite's jobs read all rows"),
    ] {
        let mut request = Request::of(Scale::Demonstration);
        request.options.insert(name.to_owned(), value.to_owned());
        let suite = builtin("large-sorts").unwrap();
        let message = plan(&suite, &request, &host(100)).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn another_seed_renews_every_data_set() {
    let seeds = |seed: u64| {
        let request = Request {
            seed,
            parameters: BTreeMap::from([("jobs".to_owned(), 8)]),
            ..Request::of(Scale::Demonstration)
        };
        let plan = plan(&builtin("large-sorts").unwrap(), &request, &host(100)).unwrap();
        let seeds = plan.datasets.iter().map(|set| set.seed);
        seeds.collect::<std::collections::BTreeSet<u64>>()
    };
    assert_eq!(seeds(1), (2..10).collect());
    for other in 2..20 {
        assert_eq!(
            (seeds(other).len(), seeds(other).is_disjoint(&seeds(1))),
            (8, true)
        );
    }
}

#[test]
fn what_is_staged_and_not_planned_makes_no_room() {
    let with = |name: &str| {
        let mut host = host(20);
        host.free[0].staged = vec![(PathBuf::from(name), Bytes::gib(19).0)];
        let suite = builtin("large-sorts").unwrap();
        let request = Request {
            parameters: BTreeMap::from([("jobs".to_owned(), 1)]),
            ..Request::of(Scale::Demonstration)
        };
        plan(&suite, &request, &host)
    };
    for kept in ["s1.sas7bdat", "s1.sas7bndx"] {
        assert!(with(kept).is_ok());
    }
    for stale in ["s2.sas7bdat", "s2.sas7bndx", "lane2/s1.sas7bdat"] {
        assert!(matches!(with(stale), Err(Error::Space { .. })), "{stale}");
    }
}
