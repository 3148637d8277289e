use super::*;

fn options(place: &Path, phases: &[Phase]) -> Options {
    Options {
        places: vec![Place {
            directory: place.to_owned(),
            folder: place.to_owned(),
        }],
        streams: 3,
        phases: phases.to_vec(),
        time: Duration::from_secs(30),
        block_bytes: 131_072,
        file_bytes_max: Some(8 << 20),
        content: Content::Random,
        memory_bytes: 1 << 20,
        warm: false,
        among: Among::ALONE,
        run: 1,
    }
}

fn run(options: &Options) -> Result<Outcome, Error> {
    iotest(options, &AtomicBool::new(false), &mut |_, _| {})
}

/// A directory of a file system that can tell what it keeps in the page cache.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

#[test]
fn every_phase_moves_what_it_says() {
    let place = place();
    let outcome = run(&options(place.path(), &Phase::ALL)).unwrap();
    assert!(outcome.eviction_checked);
    let moved: Vec<Vec<(u64, u64)>> = outcome
        .phases
        .iter()
        .map(|phase| {
            let streams = phase.places[0].streams.iter();
            streams
                .map(|one| (one.read_bytes >> 20, one.written_bytes))
                .collect()
        })
        .collect();
    let each = |read, written| vec![(read, written); 3];
    // 64 blocks; mixed writes the first of every three.
    let wanted = [
        each(0, 8 << 20),
        each(8, 0),
        each(8, 22 * 131_072),
        each(8, 8 << 20),
    ];
    assert_eq!(moved, wanted);
    assert_eq!(outcome.wrong_blocks(), 0);
    for phase in &outcome.phases[1..] {
        assert!(phase.cached_share.unwrap() <= CACHED_MAX, "{phase:?}");
        assert!(!phase.may_be_cached(&outcome));
    }
    // The second files are gone, the first are the caller's to remove.
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
}

#[test]
fn what_a_stream_read_before_is_its_own_of_all_phases() {
    let place = place();
    let outcome = run(&options(place.path(), &Phase::ALL)).unwrap();
    let mut phases = outcome.phases;
    phases[2].places[0].streams[1].read_bytes = 131_072;
    let read = |phases: &[PhaseOutcome], stream| read_bytes(phases, (0, stream));
    assert_eq!(read(&phases[..1], 1), 0);
    assert_eq!(read(&phases[..3], 1), (8 << 20) + 131_072);
    assert_eq!(read(&phases[..3], 2), 16 << 20);
}

#[test]
fn a_block_that_changed_on_the_way_is_counted() {
    let place = place();
    run(&options(place.path(), &[Phase::Write])).unwrap();
    let path = Files::first(place.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[3 * 131_072 + 4096] ^= 1;
    fs::write(&path, bytes).unwrap();
    let outcome = run(&options(place.path(), &[Phase::Read])).unwrap();
    assert_eq!(outcome.wrong_blocks(), 1);
    assert_eq!(outcome.phases[0].places[0].streams[1].wrong_blocks, 1);
}

#[test]
fn what_another_run_or_another_host_wrote_does_not_belong() {
    let place = place();
    let written = options(place.path(), &[Phase::Write]);
    run(&written).unwrap();
    let wrong = |options: Options| run(&options).unwrap().wrong_blocks();
    let read = Options {
        phases: vec![Phase::Read],
        ..written
    };
    assert_eq!(wrong(read.clone()), 0);
    let among = Among { rank: 1, hosts: 2 };
    let of_host = Options {
        among,
        ..read.clone()
    };
    assert_eq!(wrong(of_host), 3 * 64);
    assert_eq!(wrong(Options { run: 2, ..read }), 3 * 64);
}

#[test]
fn time_ends_a_phase_and_a_signal_the_test() {
    let place = place();
    let short = Options {
        time: Duration::ZERO,
        ..options(place.path(), &[Phase::Write])
    };
    let outcome = run(&short).unwrap();
    // The least is a block.
    assert_eq!(outcome.phases[0].places[0].bytes(), 3 * 131_072);
    let stopped = iotest(
        &options(place.path(), &Phase::ALL),
        &AtomicBool::new(true),
        &mut |_, _| {},
    );
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn what_is_cached_is_read_again_until_the_time_is_over() {
    let place = place();
    let warm = Options {
        warm: true,
        time: Duration::from_millis(300),
        ..options(place.path(), &[Phase::Write, Phase::Read])
    };
    let outcome = run(&warm).unwrap();
    let read = &outcome.phases[1];
    assert!(read.places[0].bytes() > 2 * outcome.phases[0].places[0].bytes());
    assert_eq!((read.cached_share, outcome.wrong_blocks()), (None, 0));
}

#[test]
fn a_stream_that_fails_ends_the_others() {
    let place = place();
    // Where the file of a stream should be lies a folder.
    fs::create_dir(Files::first(place.path(), 1)).unwrap();
    let long = Options {
        file_bytes_max: None,
        ..options(place.path(), &[Phase::Write])
    };
    let begin = Instant::now();
    let failed = run(&long);
    assert!(
        matches!(
            failed,
            Err(Error::Io {
                action: "create",
                ..
            })
        ),
        "{failed:?}"
    );
    assert!(begin.elapsed() < long.time);
}

#[test]
fn too_little_space_is_said_before_anything_is_written() {
    let place = place();
    let large = Options {
        block_bytes: 1 << 60,
        ..options(place.path(), &[Phase::Write])
    };
    assert!(matches!(run(&large), Err(Error::Space { streams: 3, .. })));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
