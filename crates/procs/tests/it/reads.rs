//! How much is read: pages that a program does not need are left alone.

use std::io::ErrorKind;
use std::sync::Arc;

use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::memory::MemoryStore;
use base::store::{Channel, Operation};

use crate::harness::{Ran, clean, rows, run_on};

/// Runs `program` over `store` and counts the reads of permanent data sets.
fn reads_of(store: &MemoryStore, program: &str) -> (Ran, u64) {
    reads_of_channel(store, program, Channel::Input)
}

fn reads_of_channel(store: &MemoryStore, program: &str, channel: Channel) -> (Ran, u64) {
    let plan = Plan {
        operation: Some(Operation::Read),
        channel: Some(channel),
        nth: u64::MAX,
        fault: Fault::Fail(ErrorKind::Other),
    };
    let counting = Arc::new(FaultyStore::new(store.clone(), plan));
    let ran = run_on(counting.clone(), program);
    assert_eq!(ran.exit, 0, "{program}\n{}", ran.log);
    (ran, counting.calls())
}

/// 3,000 rows on many pages.
fn made(options: &str) -> MemoryStore {
    let (_, store) = clean(&format!(
        "options bufsize=4k;
         data d.a({options}); length text $40; do x = 1 to 3000; text = put(x * 7, hex8.); output; end; run;"
    ));
    store
}

const STEPS: [&str; 6] = [
    "data d.out; set d.a(PART); run;",
    "proc print data=d.a(PART); run;",
    "proc means data=d.a(PART); run;",
    "proc sort data=d.a(PART) out=d.out; by descending x; run;",
    "data base; set d.a(obs=1); run; proc append base=base data=d.a(PART); run;",
    "proc sql; create table d.out as select * from d.a(PART); quit;",
];

#[test]
fn firstobs_goes_to_its_row_and_reads_none_before() {
    let store = made("");
    for step in STEPS {
        let step = |part| reads_of(&store, &step.replace("PART", part)).1;
        let (whole, late) = (step("obs=max"), step("firstobs=2901 obs=2950"));
        assert!(whole > 30, "{whole}");
        assert!(late <= 8, "{late} of {whole}");
    }
}

#[test]
fn firstobs_gives_the_same_rows_however_they_are_stored() {
    for options in ["", "compress=char", "compress=binary"] {
        let store = made(options);
        run_on(
            Arc::new(store.clone()),
            "data d.gap; set d.a; run; proc sql; delete from d.gap where mod(x, 3) = 0; quit;",
        );
        for (dataset, name) in [("d.a", "a"), ("d.gap", "gap")] {
            let all = rows(&store, format!("/data/{name}.sas7bdat"));
            for (first, last) in [
                (1, 5),
                (2, 2),
                (60, 700),
                (1999, 5000),
                (3000, 3000),
                (9, 8),
            ] {
                let program = format!(
                    "data d.out; set {dataset}(firstobs={first} obs={last}); run;
                     data d.picked; set {dataset}(firstobs={first} obs={last} where=(x > 100)); run;"
                );
                let ran = run_on(Arc::new(store.clone()), &program);
                assert_eq!(ran.exit, 0, "{}", ran.log);
                let last = last.min(all.len());
                let wanted = all.get(first - 1..last).unwrap_or_default();
                assert_eq!(
                    rows(&store, "/data/out.sas7bdat"),
                    wanted,
                    "{options} {name}"
                );
                let number = |row: &&String| {
                    let x = row.split(' ').nth(1).and_then(|x| x.parse::<f64>().ok());
                    x.is_some_and(|x| x > 100.0)
                };
                let wanted: Vec<&String> = all.iter().filter(number).collect();
                let wanted = wanted.get(first - 1..last.min(wanted.len()));
                assert_eq!(
                    rows(&store, "/data/picked.sas7bdat")
                        .iter()
                        .collect::<Vec<_>>(),
                    wanted.unwrap_or_default(),
                    "{options} {name}"
                );
            }
        }
    }
}

#[test]
fn index_create_reads_the_rows_for_new_indexes_only() {
    let (_, store) = clean(
        "options bufsize=4k;
         data d.a; length text $40; do x = 1 to 3000; y = mod(x * 7, 100);
           z = mod(x, 3); text = put(x, 8.); output; end; run;",
    );
    let pages = sas7bdat::Reader::open(store.get("/data/a.sas7bdat").unwrap().as_slice())
        .unwrap()
        .metadata()
        .pages;
    let change = |text: &str| reads_of_channel(&store, text, Channel::Output).1;
    let datasets = |text: &str| {
        change(&format!(
            "proc datasets lib=d nolist; modify a; {text} quit;"
        ))
    };
    // Headers, descriptions and the index file come in.
    let few = pages / 2;
    let three = datasets("index create x / unique; index create y; index create both=(z x);");
    assert!(three < 4 * pages, "{three} of {pages} pages");
    let one = change("proc sql; create index z on d.a(z); quit;");
    assert!(
        (pages - few..pages + few).contains(&one),
        "{one} of {pages} pages"
    );
    let gone = change("proc sql; drop index y from d.a; quit;");
    assert!(gone < few, "{gone} of {pages} pages");
    let gone = datasets("index delete z;");
    assert!(gone < few, "{gone} of {pages} pages");
}
