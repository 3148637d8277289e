//! Data sets as members of libraries: APPEND, COPY, DATASETS.

use std::io::ErrorKind;
use std::sync::Arc;

use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::memory::MemoryStore;
use base::store::{Channel, Operation, Store};

use crate::harness::{clean, rows, run_on, store, variables};

#[test]
fn append_adds_rows_in_place_and_says_so() {
    let (ran, store) = clean(
        "data d.a; length c $3; do x = 1 to 3; c = 'old'; output; end; run;
         data b; length c $3; x = 4; c = 'new'; run;
         proc append base=d.a data=b; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        ["old 1", "old 2", "old 3", "new 4"]
    );
    for note in [
        "NOTE: Appending WORK.B to D.A.",
        "NOTE: There were 1 observations read from the data set WORK.B.",
        "NOTE: 1 observations added.",
        "NOTE: The data set D.A has 4 observations and 2 variables.",
    ] {
        assert!(ran.log.contains(note), "{note}: {}", ran.log);
    }
}

#[test]
fn append_without_a_base_copies() {
    let (ran, store) = clean("data b; x = 4; run; proc append base=d.a; run;");
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["4"]);
    let note = "NOTE: BASE data set does not exist. DATA file is being copied to BASE file.";
    assert!(ran.log.contains(note), "{}", ran.log);
}

#[test]
fn append_in_many_steps_gives_the_same_rows_as_one_step() {
    for options in ["", "compress=char", "compress=binary"] {
        let (_, store) = clean(&format!(
            "options bufsize=8k;
             data all; do x = 1 to 3000; text = put(x * 7, hex8.); output; end; run;
             %macro parts; %do i = 1 %to 30;
               data part({options}); set all(firstobs=%eval(&i * 100 - 99) obs=%eval(&i * 100)); run;
               proc append base=d.a data=part; run;
             %end; %mend; %parts
             data d.once({options}); set all; run;
             data d.seen; set d.a(firstobs=2999); run;"
        ));
        let added = rows(&store, "/data/a.sas7bdat");
        assert_eq!(added, rows(&store, "/data/once.sas7bdat"), "{options}");
        assert_eq!(rows(&store, "/data/seen.sas7bdat"), added[2998..]);
        let violations = sas7bdat::check::check(store.get("/data/a.sas7bdat").unwrap().as_slice());
        assert_eq!(violations.unwrap(), [], "{options}");
    }
}

#[test]
fn append_tells_variables_that_differ_and_stops_unless_forced() {
    let program = |force: &str| {
        format!(
            "data d.a; length c $3 only 8; c = 'old'; x = 1; only = 2; run;
             data b; length c $5; x = 4; c = 'newer'; more = 1; run;
             proc append base=d.a data=b {force}; run;"
        )
    };
    let store = store();
    let ran = run_on(Arc::new(store.clone()), &program(""));
    assert_eq!(ran.exit, 2, "{}", ran.log);
    for line in [
        "WARNING: Variable only was not found on DATA file.",
        "WARNING: Variable c has different lengths on BASE and DATA files (BASE 3 DATA 5).",
        "WARNING: Variable more was not found on BASE file. The variable will not be added to the",
        "ERROR: No appending done because of anomalies listed above. Use FORCE option to append",
    ] {
        assert!(ran.log.contains(line), "{line}: {}", ran.log);
    }
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["old 2 1"]);
    let (ran, store) = (run_on(Arc::new(store.clone()), &program("force")), store);
    assert_eq!(ran.exit, 1, "{}", ran.log);
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["old 2 1", "new . 4"]);
    let note = "NOTE: FORCE is specified, so dropping/truncating will occur.";
    assert!(ran.log.contains(note), "{}", ran.log);
}

#[test]
fn whatever_fails_while_rows_are_added_the_data_set_is_whole() {
    let made = "options bufsize=4k; data d.a; do x = 1 to 900; output; end; run;";
    let add = "data b; do x = 901 to 4000; output; end; run; proc append base=d.a data=b; run;";
    for operation in [
        Operation::Open,
        Operation::Read,
        Operation::Write,
        Operation::HeaderRewrite,
        Operation::Lock,
        Operation::Close,
    ] {
        let mut nth = 1;
        loop {
            let (_, inner) = clean(made);
            let plan = Plan {
                operation: Some(operation),
                channel: Some(Channel::Output),
                nth,
                fault: Fault::Fail(ErrorKind::StorageFull),
            };
            let faulty = Arc::new(FaultyStore::new(inner.clone(), plan));
            let ran = run_on(faulty.clone(), add);
            if faulty.calls() < nth {
                break;
            }
            assert_eq!(ran.exit, 2, "{operation} {nth}: {}", ran.log);
            let after = rows(&inner, "/data/a.sas7bdat");
            assert!(
                after.len() == 900 || after.len() == 4000,
                "{operation} {nth}: {}",
                after.len()
            );
            assert!(after.iter().zip(1..).all(|(row, x)| *row == x.to_string()));
            nth += 1;
        }
        assert!(nth > 1, "{operation} was never called");
    }
}

#[test]
fn a_failed_append_gives_the_space_back() {
    let (_, inner) = clean("options bufsize=4k; data d.a; do x = 1 to 900; output; end; run;");
    let before = inner.get("/data/a.sas7bdat").unwrap();
    let plan = Plan {
        operation: Some(Operation::Write),
        channel: Some(Channel::Output),
        nth: 3,
        fault: Fault::Fail(ErrorKind::StorageFull),
    };
    let faulty = Arc::new(FaultyStore::new(inner.clone(), plan));
    let ran = run_on(
        faulty,
        "data b; do x = 901 to 4000; output; end; run; proc append base=d.a data=b; run;",
    );
    assert!(
        ran.log
            .contains("ERROR: Insufficient space in file D.A.DATA"),
        "{}",
        ran.log
    );
    assert!(inner.get("/data/a.sas7bdat").unwrap() == before);
}

fn names(store: &MemoryStore, directory: &str) -> Vec<String> {
    store.list(Channel::Input, directory.as_ref()).unwrap()
}

#[test]
fn copy_takes_what_is_selected_with_its_compression_and_page_size() {
    let (ran, store) = clean(
        "libname d2 '/util';
         data d.one(compress=binary bufsize=16k label='Uno');
           length c $200; do x = 1 to 50; output; end;
         run;
         data d.two; y = 1; run; data d.three; z = 1; run;
         proc copy in=d out=work; select one t:; exclude three; run;
         proc datasets lib=work nolist; copy in=d out=work; select three; run; change three=drei; quit;
         data d.found; set drei; run;",
    );
    assert!(
        ran.log
            .contains("NOTE: Copying D.ONE to WORK.ONE (memtype=DATA)."),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("NOTE: Copying D.TWO to WORK.TWO (memtype=DATA)."),
        "{}",
        ran.log
    );
    assert_eq!(variables(&store, "/data/found.sas7bdat"), ["z"]);
    let change = "NOTE: Changing the name WORK.THREE to WORK.DREI (memtype=DATA).";
    assert!(ran.log.contains(change), "{}", ran.log);
    let (ran, store) = clean(
        "data d.one(compress=binary bufsize=16k label='Uno');
           length c $200; do x = 1 to 50; output; end;
         run;
         data keep; x = 1; run;
         libname e '/util'; proc copy in=d out=e; run;",
    );
    let bytes = store
        .get("/util/one.sas7bdat")
        .unwrap_or_else(|| panic!("{}", ran.log));
    let reader = sas7bdat::Reader::open(bytes.as_slice()).unwrap();
    let metadata = reader.metadata();
    assert_eq!(metadata.compression, sas7bdat::Compression::Binary);
    assert_eq!(
        (metadata.page_bytes, metadata.label.as_str()),
        (16_384, "Uno")
    );
    assert_eq!(
        rows(&store, "/util/one.sas7bdat"),
        rows(&store, "/data/one.sas7bdat")
    );
}

#[test]
fn datasets_deletes_saves_and_moves() {
    let (_, store) = clean(
        "data d.a1; x = 1; run; data d.a2; x = 2; run; data d.a3; x = 3; run; data d.b; x = 4; run;
         data d.c; x = 5; run; libname e '/util';
         proc datasets lib=d nolist; delete a1-a2; run; save b c; quit;
         proc copy in=d out=e move; select c; run;",
    );
    assert_eq!(names(&store, "/data"), ["b.sas7bdat"]);
    assert!(names(&store, "/util").contains(&"c.sas7bdat".to_owned()));
}
