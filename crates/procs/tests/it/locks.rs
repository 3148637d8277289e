//! LOCK statements: what the session keeps others from, and for how long.

use std::path::Path;
use std::sync::{Arc, Mutex};

use base::store::memory::MemoryStore;
use base::store::{Access, Channel, LockKind, Store, StoreFile};
use engine::session;

use crate::harness::{Ran, clean, rows, run_on, setup, store};

/// A store with D.A of one row.
fn prepared() -> MemoryStore {
    let store = store();
    let ran = run_on(Arc::new(store.clone()), "data d.a; x = 1; run;");
    assert_eq!(ran.exit, 0, "{}", ran.log);
    store
}

fn lock(store: &MemoryStore, kind: LockKind) -> Option<Box<dyn StoreFile>> {
    let path = Path::new("/data/a.sas7bdat");
    let file = store.open(Channel::Input, path, Access::Update).unwrap();
    file.lock(kind).is_ok().then_some(file)
}

/// After each step of `program`: whether another process may read D.A.
fn readable_after_steps(program: &str) -> (Vec<bool>, MemoryStore) {
    let store = prepared();
    let other = store.another_process();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let observer = Box::new(move |_: &_| {
        let free = lock(&other, LockKind::Shared).is_some();
        told.lock().unwrap().push(free);
    });
    let (log, listing) = (Box::new(Vec::new()), Box::new(Vec::new()));
    let setup = setup(Arc::new(store.clone()), log, listing, observer);
    session::run(setup, "test.sas", program).unwrap();
    let seen = seen.lock().unwrap().clone();
    (seen, store)
}

#[test]
fn the_log_and_syslckrc_tell_what_became_of_a_lock() {
    let (ran, _) = clean(
        "data d.a; x = 1; run;
         %put before=&syslckrc;
         lock d.a; %put locked=&syslckrc;
         lock d.a.data list; %put listed=&syslckrc;
         lock d.a; %put again=&syslckrc;
         lock d.a clear; %put cleared=&syslckrc;
         lock d.a query; %put asked=&syslckrc;
         lock d.a clear; %put nothing=&syslckrc;
         lock d.a nomsg; lock work._a list nomsg; %put quiet=&syslckrc;",
    );
    for line in [
        "before=0\n",
        "NOTE: D.A.DATA is now locked for exclusive access by you.\n",
        "locked=0\n",
        "NOTE: D.A.DATA is locked for exclusive access by you.\n",
        "listed=-630098\n",
        "NOTE: D.A.DATA is already locked for exclusive access by you.\n",
        "again=-630098\n",
        "NOTE: D.A.DATA is no longer locked by you.\n",
        "cleared=0\n",
        "NOTE: D.A.DATA is not locked or in use by you.\n",
        "asked=-630099\n",
        "nothing=-630099\n",
        "quiet=-630099\n",
    ] {
        assert!(ran.log.contains(line), "{line}: {}", ran.log);
    }
    assert_eq!(ran.log.matches("is now locked").count(), 1, "{}", ran.log);
}

#[test]
fn a_lock_lasts_whatever_the_session_does_with_the_data_set() {
    let (free, store) = readable_after_steps(
        "lock d.a;
         data b; set d.a; run;
         data d.a; set d.a; x = 2; run;
         proc append base=d.a data=b; run;
         proc sort data=d.a; by x; run;
         proc datasets lib=d nolist; modify a; label x = 'new'; run; quit;
         data d.a; set d.a nosuch; run;
         data _null_; run;
         lock d.a clear;
         data _null_; run;",
    );
    // The sixth step fails: one of its data sets is not there.
    assert_eq!(
        free,
        [false, false, false, false, false, false, false, true]
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1", "2"]);
}

#[test]
fn a_lock_ends_with_the_session_and_with_the_data_set() {
    let (free, store) = readable_after_steps("lock d.a; data _null_; run;");
    assert_eq!(free, [false]);
    assert!(lock(&store.another_process(), LockKind::Exclusive).is_some());
    let store = prepared();
    let ran = run_on(
        Arc::new(store),
        "lock d.a; proc datasets lib=d nolist; change a = b; quit; data d.a; x = 1; run;
         lock d.a list; proc delete data=d.b; run;",
    );
    assert_eq!(ran.exit, 0, "{}", ran.log);
    assert!(ran.log.contains("D.A.DATA is not locked"), "{}", ran.log);
}

/// Runs `program` while another process holds D.A.
fn run_beside(kind: LockKind, program: &str) -> Ran {
    let store = prepared();
    let held = lock(&store.another_process(), kind).unwrap();
    let ran = run_on(Arc::new(store), program);
    held.close().unwrap();
    ran
}

#[test]
fn what_another_session_uses_cannot_be_locked_and_the_program_goes_on() {
    for kind in [LockKind::Shared, LockKind::Exclusive] {
        let ran = run_beside(
            kind,
            "lock d.a; %put code=&syslckrc; data b; x = 1; run; lock d.a clear; %put &syslckrc;",
        );
        assert_eq!(ran.exit, 2, "{}", ran.log);
        for line in [
            "ERROR: A lock is not available for D.A.DATA",
            "code=70031\n",
            "NOTE: The data set WORK.B has 1 observations and 1 variables.",
            "-630099\n",
        ] {
            assert!(ran.log.contains(line), "{line}: {}", ran.log);
        }
    }
    let quiet = run_beside(LockKind::Exclusive, "lock d.a nomsg; %put code=&syslckrc;");
    assert_eq!(quiet.exit, 0, "{}", quiet.log);
    assert!(quiet.log.contains("code=70031\n"), "{}", quiet.log);
    let ends = run_beside(
        LockKind::Exclusive,
        "options errorabend; lock d.a; %put still here;",
    );
    assert!(ends.log.contains("ERRORABEND"), "{}", ends.log);
    assert!(!ends.log.contains("\nstill here"), "{}", ends.log);
}

#[test]
fn a_macro_tries_again_until_the_other_session_is_done() {
    let store = prepared();
    let held = Mutex::new(lock(&store.another_process(), LockKind::Exclusive));
    let steps = Mutex::new(0);
    let observer = Box::new(move |_: &_| {
        let mut steps = steps.lock().unwrap();
        *steps += 1;
        if *steps == 2 {
            drop(held.lock().unwrap().take());
        }
    });
    let log = crate::harness::Text::default();
    let listing = Box::new(Vec::new());
    let setup = setup(Arc::new(store), Box::new(log.clone()), listing, observer);
    let program = "%macro trylock(member); %local n; %let n = 0;
           %do %until(&syslckrc <= 0 or &n > 9);
             data _null_; run; lock &member; %let n = %eval(&n + 1);
           %end; %put tries=&n; %mend; %trylock(d.a)
         data _null_; set d.a; put x=; run;";
    session::run(setup, "test.sas", program).unwrap();
    let log = log.get();
    assert!(log.contains("tries=2\n"), "{log}");
    assert!(log.contains("x=1\n"), "{log}");
}

#[test]
fn without_file_locks_others_do_not_see_a_lock() {
    let store = prepared();
    let ran = run_on(
        Arc::new(store),
        "options filelocks=none; lock d.a; %put code=%eval(&syslckrc < 0); lock d.a list;",
    );
    assert_eq!(ran.exit, 1, "{}", ran.log);
    assert!(ran.log.contains("FILELOCKS=NONE"), "{}", ran.log);
    assert!(ran.log.contains("code=1\n"), "{}", ran.log);
    let work = clean("data a; run; lock work.a; data a; set a; run; lock work.a clear;");
    assert!(work.0.log.contains("WORK.A.DATA is no longer locked"));
}

#[test]
fn what_cannot_be_locked_is_refused_by_name() {
    let refused = |program: &str, text: &str| {
        let ran = run_on(Arc::new(prepared()), program);
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
        assert_eq!(ran.exit, 2);
    };
    refused("lock d.nosuch;", "ERROR: File D.NOSUCH.DATA does not exist");
    refused("lock q.a;", "Libref Q is not assigned");
    refused(
        "lock d;",
        "The LOCK statement for a library is not implemented yet",
    );
    refused("lock d.a.view;", "LOCK statement for this member type");
    refused("lock d.a now;", "22-322");
}

#[test]
fn another_session_cannot_delete_or_rename_what_is_locked() {
    for program in [
        "proc delete data=d.a; run;",
        "proc datasets lib=d nolist; delete a; quit;",
        "proc datasets lib=d nolist; change a = b; quit;",
        "proc sql; drop table d.a; quit;",
        "proc datasets lib=d kill nolist; quit;",
    ] {
        let ran = run_beside(LockKind::Exclusive, program);
        assert!(
            ran.log.contains("A lock is not available for D.A.DATA"),
            "{program}: {}",
            ran.log
        );
    }
}
