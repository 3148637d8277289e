//! A file system that fails at every possible call: the old data set stays, temporaries go, the log
//! names file, operation and cause.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::memory::MemoryStore;
use base::store::{Access, Channel, LockKind, Operation, Store};

use crate::harness::{clean, rows, run_on, store};

const MAKE: &str = "data d.a; do x = 40 to 1 by -1; y = 2; output; end; run;";

/// Spills: 20,000 rows of 16 bytes in 1 MiB... of which the entries take their share.
const SORT: &str = "options sortsize=1m ubufsize=64k;
    data b; do i = 1 to 60000; k = 60000 - i; output; end; run;
    proc sort data=b out=d.a; by k; run;";

/// A join and an order that both spill.
const JOIN: &str = "options memsize=66m sortsize=1m ubufsize=64k;
    data b; do i = 1 to 60000; k = 60000 - i; output; end; run;
    proc sql; create table d.a as select x.i, y.k from b as x left join b as y on x.i = y.k
    order by k; quit;";

fn prepared() -> MemoryStore {
    let (_, store) = clean(MAKE);
    store
}

/// Runs `program` again and again, failing one call later each time, until none fails.
fn fail_every_call(program: &str, operation: Operation, fault: Fault) -> u64 {
    let mut nth = 1;
    loop {
        let inner = prepared();
        let before = rows(&inner, "/data/a.sas7bdat");
        let plan = Plan {
            operation: Some(operation),
            channel: None,
            nth,
            fault,
        };
        let faulty = Arc::new(FaultyStore::new(inner.clone(), plan));
        let ran = run_on(faulty.clone(), program);
        if faulty.calls() < nth {
            return nth - 1;
        }
        let after = rows(&inner, "/data/a.sas7bdat");
        assert!(
            ran.exit >= 2 || after != before,
            "{operation} {nth}: {}",
            ran.log
        );
        if ran.exit == 2 {
            assert!(ran.log.contains("ERROR: "), "{}", ran.log);
        }
        assert!(
            after == before || after.len() == 60_000,
            "{operation} {nth}: {}",
            after.len()
        );
        let left: Vec<_> = inner
            .paths()
            .into_iter()
            .filter(|path| !path.ends_with("a.sas7bdat"))
            .collect();
        if operation != Operation::Unlink && operation != Operation::Directory {
            assert!(left.is_empty(), "{operation} {nth}: {left:?}");
        }
        // Reads and writes are many and alike: look at all of the first and some of the rest.
        nth += if nth < 12 { 1 } else { 17 };
    }
}

#[test]
fn no_failing_call_loses_the_old_data_set() {
    for operation in [
        Operation::Create,
        Operation::Open,
        Operation::Write,
        Operation::Read,
        Operation::HeaderRewrite,
        Operation::Rename,
        Operation::Unlink,
        Operation::Lock,
        Operation::Close,
        Operation::Stat,
    ] {
        let calls = fail_every_call(SORT, operation, Fault::Fail(ErrorKind::StorageFull));
        let never = [Operation::Stat];
        assert!(
            calls > 0 || never.contains(&operation),
            "{operation} was never called"
        );
    }
}

#[test]
fn no_failing_call_of_a_join_loses_the_old_data_set() {
    for operation in [
        Operation::Create,
        Operation::Open,
        Operation::Write,
        Operation::Read,
        Operation::Rename,
        Operation::Unlink,
        Operation::Close,
    ] {
        let calls = fail_every_call(JOIN, operation, Fault::Fail(ErrorKind::StorageFull));
        assert!(calls > 0, "{operation} was never called");
    }
}

#[test]
fn a_short_write_is_a_failed_write() {
    assert!(fail_every_call(SORT, Operation::Write, Fault::ShortWrite) > 10);
}

#[test]
fn a_full_disk_is_told_in_sas_words_with_file_operation_and_cause() {
    let plan = Plan {
        operation: Some(Operation::Write),
        channel: Some(Channel::Output),
        nth: 1,
        fault: Fault::Fail(ErrorKind::StorageFull),
    };
    let ran = run_on(Arc::new(FaultyStore::new(prepared(), plan)), MAKE);
    assert_eq!(ran.exit, 2);
    let expected =
        "ERROR: Insufficient space in file D.A.DATA: write of /data/a.sas7bdat.lck failed: ";
    assert!(ran.log.contains(expected), "{}", ran.log);
    assert!(
        ran.log
            .contains("WARNING: The data set D.A was not replaced because this step was stopped."),
        "{}",
        ran.log
    );
}

#[test]
fn a_full_utility_file_system_is_told_apart() {
    let plan = Plan {
        operation: Some(Operation::Write),
        channel: Some(Channel::Util),
        nth: 3,
        fault: Fault::Fail(ErrorKind::StorageFull),
    };
    let ran = run_on(Arc::new(FaultyStore::new(prepared(), plan)), SORT);
    assert!(
        ran.log
            .contains("No disk space is available for the utility file"),
        "{}",
        ran.log
    );
}

#[test]
fn a_lock_held_elsewhere_stops_the_step_unless_filelocks_says_otherwise() {
    let held = |options: &str| {
        let store = prepared();
        let other = store
            .another_process()
            .open(
                Channel::Input,
                Path::new("/data/a.sas7bdat"),
                Access::Update,
            )
            .unwrap();
        other.lock(LockKind::Exclusive).unwrap();
        let ran = run_on(Arc::new(store), &format!("{options} data d.a; z = 1; run;"));
        other.close().unwrap();
        ran
    };
    let fails = held("");
    assert_eq!(fails.exit, 2);
    assert!(
        fails.log.contains("A lock is not available for D.A.DATA"),
        "{}",
        fails.log
    );
    assert_eq!(held("options filelocks=none;").exit, 0);
    let warns = held("options filelocks=continue;");
    assert_eq!(warns.exit, 1);
    assert!(
        warns
            .log
            .contains("WARNING: D.A.DATA is replaced without a lock"),
        "{}",
        warns.log
    );
}

#[test]
fn work_is_never_locked_and_permanent_data_are() {
    let plan = Plan {
        operation: Some(Operation::Lock),
        channel: None,
        nth: u64::MAX,
        fault: Fault::Fail(ErrorKind::Other),
    };
    let locks = |program: &str| {
        let faulty = Arc::new(FaultyStore::new(store(), plan));
        run_on(faulty.clone(), program);
        faulty.calls()
    };
    assert_eq!(locks("data a; x = 1; run; data b; set a; run;"), 0);
    assert_eq!(locks("data d.a; x = 1; run;"), 1);
    assert_eq!(locks("options filelocks=none; data d.a; x = 1; run;"), 0);
}

#[test]
fn only_permanent_data_sets_are_settled_before_they_replace_others() {
    let plan = |channel| Plan {
        operation: Some(Operation::Fsync),
        channel: Some(channel),
        nth: u64::MAX,
        fault: Fault::Fail(ErrorKind::Other),
    };
    let settled = |channel| {
        let faulty = Arc::new(FaultyStore::new(store(), plan(channel)));
        run_on(faulty.clone(), "data a; x = 1; run; data d.a; set a; run;");
        faulty.calls()
    };
    assert_eq!(settled(Channel::Work), 0);
    assert_eq!(settled(Channel::Output), 1);
}
