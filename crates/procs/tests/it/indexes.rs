//! Indexes: made, used, kept up, refused when they do not match.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::meter::{Meter, Usage, WallClock};
use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::memory::MemoryStore;
use base::store::{Channel, Operation, Store};

use crate::harness::{clean, rows, run_on, store};

/// 3,000 rows of accounts in no order, 300 different ones, with a sum that tells rows apart.
const MADE: &str = "options msglevel=i bufsize=4k;
    data d.a(index=(acct place=(region branch)));
      length region $2;
      do i = 1 to 3000;
        acct = mod(i * 7919, 300); branch = mod(i, 25); region = byte(65 + mod(i, 4)) || 'x';
        output;
      end;
    run;";

#[test]
fn index_option_makes_simple_and_composite_indexes() {
    let (ran, store) = clean(MADE);
    assert!(
        ran.log
            .contains("NOTE: Simple index acct has been defined."),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("NOTE: Composite index place has been defined."),
        "{}",
        ran.log
    );
    let bytes = store
        .get("/data/a.sas7bndx")
        .expect("there is an index file");
    let index = sas7bdat::btree::IndexReader::open(bytes.as_slice(), 0).unwrap();
    let entries = &index.directory().entries;
    assert_eq!(
        entries.iter().map(|entry| entry.keys).collect::<Vec<_>>(),
        [300, 100]
    );
    let data = store.get("/data/a.sas7bdat").unwrap();
    assert_eq!(sas7bdat::check::check(data.as_slice()).unwrap(), []);
}

/// The same rows with and without an index, whatever the condition.
#[test]
fn a_where_gives_the_same_rows_with_and_without_an_index() {
    for condition in [
        "acct = 17",
        "acct in (3, 250, 999)",
        "acct between 10 and 14 and branch ne 3",
        "acct between 14 and 10 and branch ne 3",
        "region between 'Bx' and 'Ax' and acct < 150",
        "290 < acct",
        "acct = . or acct = 5",
        "region = 'Ax' and branch = 4",
        "region = 'Bx' and 3 <= branch < 6",
        "region =: 'C' and branch = 2",
        "region = 'Axyz'",
        "not (acct = 7)",
        "acct < -1",
        "acct = 5.5",
    ] {
        for compress in ["no", "char"] {
            let program = format!(
                "options compress={compress}; {MADE}
                 data found; set d.a; where {condition}; run;
                 data plain; set d.a(idxwhere=no); where {condition}; run;
                 data forced; set d.a(idxwhere=yes); where {condition}; run;
                 proc sort data=found out=d.found; by i; run;
                 proc sort data=plain out=d.plain; by i; run;
                 proc sort data=forced out=d.forced; by i; run;"
            );
            let (ran, store) = clean(&program);
            let plain = rows(&store, "/data/plain.sas7bdat");
            assert_eq!(
                rows(&store, "/data/found.sas7bdat"),
                plain,
                "{condition}: {}",
                ran.log
            );
            assert_eq!(
                rows(&store, "/data/forced.sas7bdat"),
                plain,
                "{condition}: {}",
                ran.log
            );
        }
    }
}

#[test]
fn an_index_is_taken_when_it_pays_and_msglevel_i_says_so() {
    let (ran, _) = clean(&format!(
        "{MADE} data one; set d.a; where acct = 17; run;
         data all; set d.a; where acct > 20; run;
         data two; set d.a; where region = 'Ax' and branch = 4; run;"
    ));
    let info = "INFO: Index acct selected for WHERE clause optimization.";
    assert_eq!(ran.log.matches(info).count(), 1, "{}", ran.log);
    let info = "INFO: Index place selected for WHERE clause optimization.";
    assert_eq!(ran.log.matches(info).count(), 1, "{}", ran.log);
}

#[test]
fn by_takes_an_index_and_needs_no_sort() {
    let (ran, store) = clean(&format!(
        "{MADE} data d.groups; set d.a; by acct; if first.acct then n = 0; n + 1; if last.acct; run;"
    ));
    assert_eq!(rows(&store, "/data/groups.sas7bdat").len(), 300);
    let info = "INFO: Index acct selected for BY clause processing.";
    assert!(ran.log.contains(info), "{}", ran.log);
}

#[test]
fn datasets_creates_and_deletes_indexes() {
    let (ran, store) = clean(
        "data d.a; do x = 5 to 1 by -1; y = 1; output; end; run;
         proc datasets lib=d nolist; modify a; index create x / unique; index create both=(y x); quit;
         proc datasets lib=d nolist; modify a; index delete x; quit;",
    );
    for note in [
        "NOTE: Simple index x has been defined.",
        "NOTE: Composite index both has been defined.",
        "NOTE: Index x deleted.",
    ] {
        assert!(ran.log.contains(note), "{note}: {}", ran.log);
    }
    let bytes = store.get("/data/a.sas7bdat").unwrap();
    let reader = sas7bdat::Reader::open(bytes.as_slice()).unwrap();
    let names: Vec<&str> = reader
        .metadata()
        .indexes
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["both"]);
    let (_, store) = clean(
        "data d.a(index=(x)); x = 1; run;
         proc datasets lib=d nolist; modify a; index delete x; quit;",
    );
    assert!(store.get("/data/a.sas7bndx").is_none());
}

/// What an index file says of its indexes, but for the pages of their roots.
fn trees(store: &MemoryStore) -> Vec<sas7bdat::btree::IndexEntry> {
    let bytes = store.get("/data/a.sas7bndx").unwrap();
    let index = sas7bdat::btree::IndexReader::open(bytes.as_slice(), 0).unwrap();
    let mut entries = index.directory().entries.clone();
    for one in &mut entries {
        one.root = 0;
    }
    entries
}

#[test]
fn indexes_that_are_kept_are_those_made_at_once() {
    let conditions = ["acct = 17", "region = 'Ax' and branch = 4", "i = 700"];
    let found = |store: &MemoryStore| -> Vec<Vec<String>> {
        let found = conditions.map(|condition| {
            let program = format!("data d.found; set d.a(idxwhere=yes); where {condition}; run;");
            let ran = run_on(
                Arc::new(store.clone()),
                &format!("options msglevel=i; {program}"),
            );
            assert_eq!(ran.exit, 0, "{}", ran.log);
            assert!(ran.log.contains("selected for WHERE"), "{}", ran.log);
            rows(store, "/data/found.sas7bdat")
        });
        found.into()
    };
    for compress in ["no", "char"] {
        let made = MADE.replace("bufsize", &format!("compress={compress} bufsize"));
        let (_, once) = clean(&made.replace("acct place", "i / unique acct place"));
        let (_, grown) = clean(&format!(
            "{} proc datasets lib=d nolist; modify a;
               index create branch; index create i / unique; index create acct;
               index create place=(region branch); index delete branch; quit;",
            made.replace("(index=(acct place=(region branch)))", "")
        ));
        assert_eq!(trees(&once), trees(&grown));
        assert_eq!(found(&once), found(&grown));
    }
}

/// Half of the rows, or another file: what is there is of no use, and nothing is lost.
#[test]
fn indexes_are_made_anew_where_the_old_file_does_not_agree() {
    let (_, few) = clean(&MADE.replace("3000", "1500"));
    let (_, other) = clean(&MADE.replace("place=(region branch)", "i"));
    let wrong = [
        few.get("/data/a.sas7bndx"),
        other.get("/data/a.sas7bndx"),
        Some(vec![0; 9000]),
        None,
    ];
    for bytes in wrong {
        let (_, store) = clean(MADE);
        let all = trees(&store);
        match bytes {
            Some(bytes) => store.put("/data/a.sas7bndx", bytes),
            None => store
                .remove(Channel::Input, "/data/a.sas7bndx".as_ref())
                .unwrap(),
        }
        let ran = run_on(
            Arc::new(store.clone()),
            "proc datasets lib=d nolist; modify a; index create i / unique; quit;",
        );
        assert_eq!(ran.exit, 0, "{}", ran.log);
        let note =
            "NOTE: The index file of D.A.DATA cannot be used: its indexes are all made from the";
        assert!(ran.log.contains(note), "{}", ran.log);
        assert_eq!(trees(&store)[..2], all);
        assert!(store.get("/data/a.sas7bndx.lck").is_none());
    }
}

/// Whatever call fails while an index is added to others, rows stay, and an index gives right rows or
/// none.
#[test]
fn a_failing_file_system_leaves_rows_and_indexes_right() {
    let (_, made) = clean(MADE);
    let whole = rows(&made, "/data/a.sas7bdat");
    let wanted = whole
        .iter()
        .filter(|row| row.split(' ').nth(2) == Some("17"));
    let wanted: Vec<&String> = wanted.collect();
    assert_eq!(wanted.len(), 10);
    for operation in [
        Operation::Open,
        Operation::Create,
        Operation::Read,
        Operation::Write,
        Operation::HeaderRewrite,
        Operation::Rename,
        Operation::Close,
    ] {
        // Calls are many and alike: all of the first and some of the rest.
        for nth in (1..12).chain((12..).step_by(7)) {
            let (_, inner) = clean(MADE);
            let plan = Plan {
                operation: Some(operation),
                channel: None,
                nth,
                fault: Fault::Fail(ErrorKind::Other),
            };
            let faulty = Arc::new(FaultyStore::new(inner.clone(), plan));
            let program = "proc datasets lib=d nolist; modify a; index create i / unique; index delete place; quit;";
            let ran = run_on(faulty.clone(), program);
            if faulty.calls() < nth {
                assert!(nth > 1, "{operation} was never called");
                break;
            }
            // Without the old index file the rows serve.
            let unused = ran
                .log
                .contains("D.A.DATA cannot be used: its indexes are all made");
            let failed = ran.exit >= 2 || unused && operation == Operation::Open;
            assert!(failed, "{operation} {nth}: {}", ran.log);
            assert_eq!(rows(&inner, "/data/a.sas7bdat"), whole, "{operation} {nth}");
            assert!(
                inner.get("/data/a.sas7bndx.lck").is_none(),
                "{operation} {nth}"
            );
            let look = "data d.found; set d.a(idxwhere=yes); where acct = 17; run;";
            let looked = run_on(Arc::new(inner.clone()), look);
            if looked.exit == 0 {
                let found = rows(&inner, "/data/found.sas7bdat");
                assert!(found.iter().eq(wanted.iter().copied()), "{operation} {nth}");
            } else {
                let told = [
                    "does not match D.A.DATA",
                    "index file of D.A.DATA cannot be opened",
                ];
                let told = told.iter().any(|text| looked.log.contains(text));
                assert!(told, "{operation} {nth}: {}", looked.log);
            }
        }
    }
}

#[test]
fn statements_of_a_run_group_make_one_index_file() {
    let files = |statements: &str| {
        let (_, inner) = clean(&MADE.replace("(index=(acct place=(region branch)))", ""));
        let plan = Plan {
            operation: Some(Operation::Create),
            channel: Some(Channel::Output),
            nth: u64::MAX,
            fault: Fault::Fail(ErrorKind::Other),
        };
        let counting = Arc::new(FaultyStore::new(inner.clone(), plan));
        let program = format!("proc datasets lib=d nolist; modify a; {statements} quit;");
        let ran = run_on(counting.clone(), &program);
        (counting.calls(), ran, inner)
    };
    let three = "index create acct; index create branch; index create place=(region branch);";
    let (made, _, store) = files(three);
    assert_eq!((made, trees(&store).len()), (1, 3));
    let (made, _, store) = files(&format!("{three} index delete acct; index delete place;"));
    assert_eq!((made, trees(&store).len()), (2, 1));
    let (made, _, store) = files("index create i / unique; index create acct;");
    assert_eq!((made, trees(&store).len()), (2, 2));
    // What comes before a mistake is done.
    for wrong in ["index create nothere;", "index create branch / unique;"] {
        let (_, ran, store) = files(&format!("index create acct; {wrong} index create i;"));
        assert_eq!(ran.exit, 2, "{}", ran.log);
        assert!(
            ran.log
                .contains("NOTE: Simple index acct has been defined."),
            "{}",
            ran.log
        );
        assert_eq!(trees(&store).len(), 1, "{}", ran.log);
    }
}

#[test]
fn a_unique_index_refuses_repeated_values() {
    let store = store();
    let ran = run_on(
        Arc::new(store.clone()),
        "data d.a; x = 1; output; output; run;
         proc datasets lib=d nolist; modify a; index create x / unique; quit;",
    );
    let error = "ERROR: Duplicate values not allowed on index x for file A.";
    assert!(ran.log.contains(error), "{}", ran.log);
    assert!(store.get("/data/a.sas7bndx").is_none());
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1", "1"]);
}

#[test]
fn append_keeps_indexes_up() {
    let (ran, store) = clean(&format!(
        "{MADE} data more; set d.a(obs=10); acct = 17; i = i + 10000; run;
         proc append base=d.a data=more; run;
         data d.found; set d.a(idxwhere=yes); where acct = 17; run;"
    ));
    assert_eq!(
        rows(&store, "/data/found.sas7bdat").len(),
        20,
        "{}",
        ran.log
    );
}

#[test]
fn replacing_deleting_and_renaming_take_the_index_file_along() {
    let names = |store: &MemoryStore| store.list(Channel::Input, "/data".as_ref()).unwrap();
    let (_, store) = clean(&format!("{MADE} data d.a; x = 1; run;"));
    assert_eq!(names(&store), ["a.sas7bdat"]);
    let (_, store) = clean(&format!(
        "{MADE} proc datasets lib=d nolist; delete a; quit;"
    ));
    assert!(names(&store).is_empty());
    let (_, store) = clean(&format!(
        "{MADE} proc datasets lib=d nolist; change a=b; quit;
         data work.w(index=(x)); do x = 1 to 100; output; end; run;
         proc datasets lib=work nolist; change w=v; quit;
         data d.one; set v(idxwhere=yes); where x = 5; run;
         data d.two; set d.b(idxwhere=yes); where acct = 17; run;"
    ));
    assert_eq!(rows(&store, "/data/one.sas7bdat"), ["5"]);
    assert_eq!(rows(&store, "/data/two.sas7bdat").len(), 10);
}

#[test]
fn an_index_file_of_other_rows_is_refused() {
    let (_, store) = clean(MADE);
    let other = store.get("/data/a.sas7bndx").unwrap();
    let (_, store) = clean(&MADE.replace("7919", "7907"));
    store.put("/data/a.sas7bndx", other);
    let ran = run_on(
        Arc::new(store.clone()),
        "data found; set d.a(idxwhere=yes); where acct = 17; run;",
    );
    assert_eq!(ran.exit, 2, "{}", ran.log);
    assert!(ran.log.contains("does not match D.A.DATA"), "{}", ran.log);
    store
        .remove(Channel::Input, "/data/a.sas7bndx".as_ref())
        .unwrap();
    let ran = run_on(
        Arc::new(store.clone()),
        "data found; set d.a; where acct = 17; run;",
    );
    assert!(
        ran.log
            .contains("ERROR: The index file of D.A.DATA cannot be opened"),
        "{}",
        ran.log
    );
}

#[test]
fn set_key_looks_rows_up() {
    let (ran, store) = clean(
        "data d.a(index=(acct));
           do acct = 1 to 50; n = 1; output; if mod(acct, 10) = 0 then do; n = 2; output; end; end;
         run;
         data wanted; do acct = 7, 20, 20, 20, 99, 20; output; end; run;
         data d.found; set wanted; set d.a key=acct; found = (_iorc_ = 0);
           if not found then do; _error_ = 0; n = .; end;
         run;
         data d.each; set wanted; set d.a key=acct / unique; if _iorc_ then _error_ = 0; else output; run;",
    );
    // Asked again for the same value, the next row of it comes; then there is none.
    assert_eq!(
        rows(&store, "/data/found.sas7bdat"),
        ["7 1 1", "20 1 1", "20 2 1", "20 . 0", "99 . 0", "20 1 1"],
        "{}",
        ran.log
    );
    assert_eq!(
        rows(&store, "/data/each.sas7bdat"),
        ["7 1", "20 1", "20 1", "20 1", "20 1"]
    );
}

#[test]
fn modify_changes_names_labels_and_formats_in_place() {
    let (ran, store) = clean(
        "data d.a(index=(x)); do x = 1 to 10; y = x; output; end; run;
         proc datasets lib=d nolist;
           modify a(label='Ten');
             rename x = z; label y = 'Why'; format y comma8.;
         quit;
         data d.found; set d.a(idxwhere=yes); where z = 3; run;",
    );
    let bytes = store.get("/data/a.sas7bdat").unwrap();
    let metadata = sas7bdat::Reader::open(bytes.as_slice())
        .unwrap()
        .metadata()
        .clone();
    assert_eq!(metadata.label, "Ten");
    assert_eq!(metadata.variables[0].name, "z");
    assert_eq!(metadata.variables[1].label, "Why");
    assert_eq!(metadata.variables[1].format.name, "COMMA");
    assert_eq!(metadata.indexes[0].name, "z");
    assert_eq!(rows(&store, "/data/found.sas7bdat"), ["3 3"], "{}", ran.log);
    assert!(
        ran.log.contains("NOTE: Renaming variable x to z."),
        "{}",
        ran.log
    );
}

#[test]
fn sorting_an_indexed_data_set_in_place_needs_force() {
    let store = store();
    let program = |force: &str| format!("proc sort data=d.a {force}; by y; run;");
    run_on(
        Arc::new(store.clone()),
        "data d.a(index=(x)); x = 1; y = 2; run;",
    );
    let ran = run_on(Arc::new(store.clone()), &program(""));
    assert_eq!(ran.exit, 2, "{}", ran.log);
    assert!(ran.log.contains("D.A.DATA has indexes"), "{}", ran.log);
    assert!(store.get("/data/a.sas7bndx").is_some());
    let ran = run_on(Arc::new(store.clone()), &program("force"));
    assert_eq!(ran.exit, 0, "{}", ran.log);
    assert!(store.get("/data/a.sas7bndx").is_none());
}

#[test]
fn an_index_for_a_condition_does_not_disturb_the_order_of_by() {
    for order in [
        "by i; where acct in (3, 250);",
        "where acct in (3, 250); by i;",
    ] {
        let (ran, store) = clean(&format!(
            "{MADE} data d.found; set d.a; {order} run;
             proc means data=d.a noprint; by i; where acct in (3, 250); var branch; output out=d.m mean=; run;"
        ));
        assert_eq!(
            rows(&store, "/data/found.sas7bdat").len(),
            20,
            "{}",
            ran.log
        );
        assert_eq!(rows(&store, "/data/m.sas7bdat").len(), 20, "{}", ran.log);
        assert!(!ran.log.contains("selected for WHERE"), "{}", ran.log);
    }
}

#[test]
fn procedures_take_by_groups_in_the_order_of_an_index() {
    let (ran, store) = clean(&format!(
        "{MADE} proc means data=d.a noprint; by acct; var i; output out=d.m n=n; run;
         proc reg data=d.a outest=d.e noprint; by acct; model i = branch; output out=d.o p=p; run; quit;"
    ));
    let groups = rows(&store, "/data/m.sas7bdat");
    assert_eq!(groups.len(), 300, "{}", ran.log);
    assert!(
        groups.iter().all(|row| row.ends_with(" 10")),
        "{}",
        groups[0]
    );
    assert_eq!(rows(&store, "/data/o.sas7bdat").len(), 3000);
    let info = "INFO: Index acct selected for BY clause processing.";
    assert!(ran.log.matches(info).count() >= 2, "{}", ran.log);
}

#[test]
fn copies_have_the_indexes_of_their_originals() {
    let (ran, store) = clean(&format!(
        "{MADE} libname e '/util'; proc copy in=d out=e move; run;
         data d.found; set e.a(idxwhere=yes); where acct = 17; run;"
    ));
    assert_eq!(
        rows(&store, "/data/found.sas7bdat").len(),
        10,
        "{}",
        ran.log
    );
    let info = "INFO: Index acct selected for WHERE clause optimization.";
    assert!(ran.log.contains(info), "{}", ran.log);
    assert!(store.get("/data/a.sas7bndx").is_none());
}

/// A minute passes between any two looks at the clock.
#[derive(Default)]
struct SlowClock(AtomicU32);

impl Meter for SlowClock {
    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn memory_peak_bytes(&self) -> u64 {
        0
    }

    fn wall(&self) -> WallClock {
        let minutes = self.0.fetch_add(1, Ordering::Relaxed);
        WallClock {
            sas_datetime: f64::from(minutes) * 60.0,
            ..WallClock::default()
        }
    }
}

#[test]
fn an_index_that_takes_long_to_make_still_matches_its_data_set() {
    let store = store();
    let mut setup = crate::harness::setup(
        Arc::new(store.clone()),
        Box::new(std::io::sink()),
        Box::new(std::io::sink()),
        Box::new(|_| {}),
    );
    setup.meter = Arc::new(SlowClock::default());
    let find = |name: &str| format!("data d.{name}; set d.a(idxwhere=yes); where acct = 17; run;");
    let program = format!(
        "{MADE} {}
         data more; set d.a(obs=5); acct = 17; run;
         proc append base=d.a data=more; run; {}
         proc datasets lib=d nolist; modify a(label='new'); index create i; quit; {}
         proc sql; update d.a set branch = 1 where i = 3; quit; {}",
        find("one"),
        find("two"),
        find("three"),
        find("four")
    );
    let ended = engine::session::run(setup, "test.sas", &program).unwrap();
    assert_eq!(ended.exit_code(), 0);
    for (name, count) in [("one", 10), ("two", 15), ("three", 15), ("four", 15)] {
        assert_eq!(
            rows(&store, format!("/data/{name}.sas7bdat")).len(),
            count,
            "{name}"
        );
    }
}
