use std::sync::Mutex;

use base::meter::{Usage, WallClock};

use super::*;

/// A processor of its own, whose time passes as told.
#[derive(Default)]
struct Staged {
    cpu: Mutex<Duration>,
    burnt: Mutex<Vec<(Duration, usize)>>,
    idled: Mutex<Vec<Duration>>,
}

impl Staged {
    fn works(&self, time: Duration) {
        *self.cpu.lock().unwrap() += time;
    }

    fn burnt(&self) -> Duration {
        self.burnt.lock().unwrap().iter().map(|one| one.0).sum()
    }
}

impl Meter for Staged {
    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn memory_peak_bytes(&self) -> u64 {
        0
    }

    fn wall(&self) -> WallClock {
        WallClock::default()
    }

    fn cpu(&self) -> Duration {
        *self.cpu.lock().unwrap()
    }

    fn burn(&self, cpu: Duration, threads: usize) -> Duration {
        self.works(cpu);
        self.burnt.lock().unwrap().push((cpu, threads));
        cpu / u32::try_from(threads).unwrap()
    }

    /// Always a tenth late.
    fn idle(&self, time: Duration) -> Duration {
        let passed = time * 11 / 10;
        self.idled.lock().unwrap().push(passed);
        passed
    }
}

const TABLE: &str = "
title = 't'
date = '2026'
[kind.DATA]
s_per_step = 0.0
s_per_mb = 0.01
basis = 'b'
[kind.SORT]
s_per_step = 0.5
s_per_mb = 0.02
s_per_million_rows = 3.0
threads = true
basis = 'b'
[kind.OTHER]
like = 'DATA'
basis = 'b'
";

fn pace(factor: f64, by: By) -> (Arc<Staged>, Pace) {
    let meter = Arc::new(Staged::default());
    let table = Table::read(TABLE).unwrap();
    let request = Request { table, factor, by };
    (meter.clone(), Pace::new(request, meter))
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn near(one: Duration, other: Duration) {
    assert!(
        one.abs_diff(other) < Duration::from_micros(1),
        "{one:?}, {other:?}"
    );
}

#[test]
fn a_step_spends_what_it_owes_beyond_what_it_used() {
    let (meter, pace) = pace(1.0, By::Busy);
    meter.works(ms(5000));
    pace.begin("DATA", 4);
    for _ in 0..100 {
        meter.works(ms(3));
        pace.pay(1e6, 10.0);
    }
    let done = pace.end().unwrap();
    near(done.owed, ms(1000));
    near(meter.burnt(), ms(700));
    near(done.spent, ms(700));
    near(meter.cpu(), ms(6000));
    assert_eq!(done.stood_in, Duration::ZERO);
    assert_eq!((done.kind.as_str(), done.rows), ("DATA", 1000.0));
    // At most one thread, and spread over the step.
    let burnt = meter.burnt.lock().unwrap();
    assert_eq!(burnt.len(), 100);
    assert!(burnt.iter().all(|one| one.1 == 1));
}

#[test]
fn a_step_slower_than_the_table_is_left_alone() {
    let (meter, pace) = pace(1.0, By::Busy);
    pace.begin("DATA", 1);
    for _ in 0..10 {
        meter.works(ms(11));
        pace.pay(1e6, 1.0);
    }
    assert_eq!(pace.end().unwrap().spent, Duration::ZERO);
    assert_eq!(meter.burnt(), Duration::ZERO);
}

#[test]
fn small_debts_wait_until_they_are_worth_it_or_the_step_ends() {
    let (meter, pace) = pace(1.0, By::Busy);
    pace.begin("DATA", 1);
    for _ in 0..25 {
        // 0.1 ms each.
        pace.pay(1e4, 1.0);
    }
    assert_eq!(meter.burnt.lock().unwrap().len(), 2);
    let done = pace.end().unwrap();
    near(meter.burnt(), Duration::from_micros(2500));
    near(done.owed, done.spent);
}

#[test]
fn a_threaded_step_spends_on_several_threads_what_one_would() {
    let (meter, pace) = pace(0.5, By::Busy);
    pace.begin("SORT", 2);
    assert_eq!(pace.threads(8), 2);
    pace.pay(10e6, 1e5);
    // Half of 0.5 s + 10 MB of 0.02 s + a tenth of 3 s.
    let done = pace.end().unwrap();
    near(done.owed, ms(500));
    near(meter.burnt(), ms(500));
    near(done.spent, ms(250));
    // Half of 0.5 s, on two threads.
    near(done.fixed, ms(125));
    assert!(meter.burnt.lock().unwrap().iter().all(|one| one.1 == 2));
    pace.begin("DATA", 2);
    assert_eq!(pace.threads(8), 1);
}

#[test]
fn waiting_stands_in_for_computing_and_lateness_is_made_up_for() {
    let (meter, pace) = pace(1.0, By::Sleep);
    pace.begin("DATA", 1);
    for _ in 0..100 {
        meter.works(ms(2));
        pace.pay(1e6, 1.0);
    }
    let done = pace.end().unwrap();
    assert_eq!(meter.burnt(), Duration::ZERO);
    // 1 s is owed and 0.2 s were used; only the last wait may be too long, which is no CPU time.
    near(done.stood_in, ms(800));
    let late = done.spent.checked_sub(ms(800)).unwrap();
    assert!(late <= WAIT / 10, "{late:?}");
    pace.begin("SORT", 4);
    let done = pace.end().unwrap();
    near(done.stood_in, ms(500));
    near(done.spent, Duration::from_micros(137_500));
}

#[test]
fn nothing_is_paid_outside_of_steps() {
    let (meter, pace) = pace(1.0, By::Busy);
    pace.pay(1e9, 1e9);
    assert_eq!(pace.end(), None);
    assert_eq!(pace.threads(3), 3);
    assert_eq!(meter.burnt(), Duration::ZERO);
    pace.begin("TRANSPOSE", 1);
    pace.pay(1e6, 0.0);
    let done = pace.end().unwrap();
    assert_eq!(done.kind, "OTHER");
    near(done.owed, ms(10));
}

#[test]
fn absurd_amounts_do_not_overflow() {
    let (_, pace) = pace(1e300, By::Busy);
    pace.begin("DATA", 1);
    pace.pay(f64::MAX, f64::MAX);
    pace.pay(f64::MAX, f64::MAX);
    assert!(pace.end().unwrap().owed > Duration::from_hours(1));
}
