//! UPDATE, lists of data sets, and conditions that add up.

use std::sync::Arc;

use crate::harness::{clean, fails, rows, run_on, store, variables};

const PAYROLL: &str = "data master; input id pay name $; datalines;
1 100 a
2 200 b
3 300 c
5 500 e
;
data trans; input id pay name $ extra; datalines;
2 . bb 7
2 250 . .
3 .A _ 8
4 400 . 9
5 ._ . .
;
";

/// Runs `program` and compares the rows of D.OUT.
#[track_caller]
fn gives(program: &str, expected: &[&str]) {
    let (_, store) = clean(program);
    assert_eq!(rows(&store, "/data/out.sas7bdat"), expected, "{program}");
}

#[test]
fn missing_values_of_transactions_change_nothing() {
    let program = format!(
        "{PAYROLL} data d.out; update master(in=m) trans(in=t) end=e; by id; w = m * 10 + t; \
         l = e; n = _n_; run;"
    );
    gives(
        &program,
        &[
            "1 100 a . 10 0 1",
            "2 250 bb 7 11 0 3",
            "3 .A  8 11 0 4",
            "4 400  9 1 0 5",
            "5 . e . 11 1 6",
        ],
    );
}

#[test]
fn missing_values_count_with_nomissingcheck() {
    let program =
        format!("{PAYROLL} data d.out; update master trans updatemode=nomissingcheck; by id; run;");
    gives(
        &program,
        &["1 100 a .", "2 250  .", "3 .A _ 8", "4 400  9", "5 ._  ."],
    );
}

#[test]
fn output_shows_every_transaction() {
    // The known way to carry the last value that is there forward.
    let program = "data a; input g x y; datalines;
1 1 .
1 . 2
1 3 .
2 . .
2 . 5
;
data d.out; update a(obs=0) a; by g; output; run;";
    gives(program, &["1 1 .", "1 1 2", "1 3 2", "2 . .", "2 . 5"]);
    let program = program.replace("output; ", "f = first.g; l = last.g; ");
    gives(&program, &["1 3 2 0 1", "2 . 5 0 1"]);
}

#[test]
fn transactions_go_to_the_first_of_equal_masters() {
    let store = store();
    let program = "data a; input id x; datalines;
1 1
1 2
2 3
;
data b; id = 1; x = 9; run; data d.out; update a b; by id; l = last.id; run;";
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 1, "{}", ran.log);
    let text = "WARNING: The MASTER data set contains more than one observation for a BY group.";
    assert!(ran.log.contains(text), "{}", ran.log);
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        ["1 9 0", "1 2 1", "2 3 1"]
    );
}

#[test]
fn update_needs_two_data_sets_and_by() {
    let two = "data a; x = 1; run; data b; x = 1; run;";
    fails(
        &format!("{two} data c; update a; by x; run;"),
        "needs two data sets",
    );
    fails(
        &format!("{two} data c; update a b; run;"),
        "needs a BY statement",
    );
    let program = format!("{two} data c; update a b updatemode=maybe; by x; run;");
    fails(&program, "MISSINGCHECK or NOMISSINGCHECK");
}

#[test]
fn update_agrees_with_a_model_on_random_rows() {
    // Written out as SQL's COALESCE over a join where every key is there once.
    let program = "data a; do k = 1 to 200; if ranuni(3) < .7 then do; x = int(ranuni(3) * 9);
          if ranuni(3) < .3 then x = .; output; end; end; run;
        data b; do k = 1 to 200; if ranuni(5) < .5 then do; x = int(ranuni(5) * 9) + 10;
          if ranuni(5) < .3 then x = .; output; end; end; run;
        data u; update a b; by k; run;
        proc sql noprint; create table s as select coalesce(b.k, a.k) as k, coalesce(b.x, a.x) as x
          from a full join b on a.k = b.k order by k; quit;
        data d.out; merge u(in=i) s(in=j rename=(x=y)); by k; if x ne y or i ne j; run;";
    gives(program, &[]);
}

#[test]
fn a_prefix_lists_the_data_sets_there_are() {
    let three = "data m2; x = 2; run; data m1; x = 1; run; data m10; x = 10; run; data n; run;";
    gives(
        &format!("{three} data d.out; set m:; run;"),
        &["1", "10", "2"],
    );
    let program = format!("{three} data d.out; set n(obs=0) m: (where=(x > 1) in=i); w = i; run;");
    gives(&program, &["10 1", "2 1"]);
    gives(
        &format!("{three} data d.out; merge m1-m2(in=i) work.m10:(in=j); w = i + j; run;"),
        &["10 2"],
    );
    fails(
        &format!("{three} data d.out; set q:; run;"),
        "The data set list (WORK.Q:) does not contain any members",
    );
}

#[test]
fn where_also_adds_to_the_condition() {
    let ten = "data a; do x = 1 to 10; output; end; run;";
    for and in ["also", "same and"] {
        let program = format!("{ten} data d.out; set a; where x > 3; where {and} x < 6; run;");
        let (ran, store) = clean(&program);
        assert_eq!(rows(&store, "/data/out.sas7bdat"), ["4", "5"]);
        assert!(
            ran.log.contains("NOTE: WHERE clause has been augmented."),
            "{}",
            ran.log
        );
        let program =
            format!("{ten} proc sort data=a out=d.out; by x; where x > 3; where {and} x < 6; run;");
        gives(&program, &["4", "5"]);
    }
    gives(
        &format!("{ten} data d.out; set a; where also x = 3; run;"),
        &["3"],
    );
    let also = "where also x > 0;".repeat(102);
    fails(
        &format!("{ten} data d.out; set a; {also} run;"),
        "more than 100 WHERE ALSO",
    );
}

/// A store with `/a` and `/b`, each with a data set X of its own and one that only it has.
fn two_directories() -> base::store::memory::MemoryStore {
    let store = store();
    store.add_directory("/a");
    store.add_directory("/b");
    let program = "libname a '/a'; libname b '/b';
        data a.x a.onlya; v = 'a'; run; data b.x b.onlyb; v = 'b'; run;";
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 0, "{}", ran.log);
    store
}

/// Runs `program` over [`two_directories`].
#[track_caller]
fn concatenated(program: &str, exit: u8) -> (String, base::store::memory::MemoryStore) {
    let store = two_directories();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, exit, "{program}\n{}", ran.log);
    (ran.log, store)
}

#[test]
fn a_libref_of_several_directories_reads_in_order_and_writes_to_the_first() {
    let (log, store) = concatenated(
        "libname b '/b'; libname c ('/a' b);
         data d.out; set c.x c.onlya c.onlyb; run; data d.all; set c.only:; run;
         data c.new; v = 'n'; run; data c.onlyb; set c.onlyb; w = 1; run;",
        0,
    );
    let levels = "NOTE: Libref C was successfully assigned as follows: \n      Levels:           2\n      \
                  Engine(1):        V9 \n      Physical Name(1): /a\n      Engine(2):        V9 \n      \
                  Physical Name(2): /b";
    assert!(log.contains(levels), "{log}");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["a", "a", "b"]);
    assert_eq!(rows(&store, "/data/all.sas7bdat"), ["a", "b"]);
    assert_eq!(rows(&store, "/a/new.sas7bdat"), ["n"]);
    assert_eq!(rows(&store, "/a/onlyb.sas7bdat"), ["b 1"]);
    assert_eq!(rows(&store, "/b/onlyb.sas7bdat"), ["b"]);
}

#[test]
fn members_of_a_concatenation_are_changed_where_they_are() {
    let (_, store) = concatenated(
        "libname c ('/a' '/b'); data one; v = 'z'; run;
         proc append base=c.onlyb data=one; run;
         proc sql; update c.onlyb set v = 'y' where v = 'z'; drop table c.x; quit;
         proc datasets lib=c nolist; modify onlyb; label v = 'text'; change onlyb = moved; quit;",
        0,
    );
    assert_eq!(rows(&store, "/b/moved.sas7bdat"), ["b", "y"]);
    assert!(store.get("/a/onlyb.sas7bdat").is_none());
    assert!(store.get("/b/onlyb.sas7bdat").is_none());
    assert!(store.get("/a/x.sas7bdat").is_none());
    assert_eq!(rows(&store, "/b/x.sas7bdat"), ["b"]);
}

#[test]
fn a_concatenation_keeps_what_its_parts_forbid() {
    let (log, _) = concatenated(
        "libname b '/b' access=readonly; libname c ('/a' b); proc append base=c.onlyb data=c.x; run;",
        2,
    );
    assert!(
        log.contains("Write access to member C.ONLYB.DATA is denied"),
        "{log}"
    );
    let (log, store) = concatenated(
        "libname b '/b'; libname c ('/a' b); proc copy in=c out=b move; run;",
        2,
    );
    assert!(log.contains("copied onto itself"), "{log}");
    assert_eq!(rows(&store, "/b/onlyb.sas7bdat"), ["b"]);
    let (log, _) = concatenated("libname c ('/a' nowhere);", 2);
    assert!(log.contains("Libref NOWHERE is not assigned"), "{log}");
    let (log, _) = concatenated("libname c ('/a' '/none');", 2);
    assert!(log.contains("no directory /none"), "{log}");
    let (log, _) = concatenated("libname c ('/a' work);", 2);
    assert!(
        log.contains("WORK cannot be part of a concatenation"),
        "{log}"
    );
}

#[test]
fn a_temporary_file_is_written_read_included_and_removed() {
    let program = "filename code temp; data _null_; file code; put 'data d.out; x = 7; run;'; run;
        data d.text; infile code truncover; input line $40.; run;
        %include code / source2;
        filename code clear;";
    let (_, store) = clean(program);
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["7"]);
    assert_eq!(
        rows(&store, "/data/text.sas7bdat"),
        ["data d.out; x = 7; run;"]
    );
    fails(
        "%include nowhere;",
        "Cannot %INCLUDE nowhere: No logical assign for filename NOWHERE",
    );
    fails("filename f temp; %include f;", "Cannot %INCLUDE f:");
    fails(
        "%include f(member);",
        "member of a directory is not implemented yet",
    );
}

#[test]
fn indsname_names_the_data_set_that_gave_the_row() {
    let (_, store) = clean(
        "data d.a; do x = 1, 3; output; end; run;
         data b; do x = 2, 4; output; end; run;
         data d.r; set d.a b indsname=from; name = from; short = scan(from, 2, '.'); run;
         data d.i; length from $3; set d.a b indsname=from; by x; name = from; run;
         data d.p; do p = 4, 1; set d.a b point=p indsname=from; name = from; output; end; stop; run;",
    );
    assert_eq!(
        variables(&store, "/data/r.sas7bdat"),
        ["x", "name", "short"]
    );
    assert_eq!(
        rows(&store, "/data/r.sas7bdat"),
        ["1 D.A A", "3 D.A A", "2 WORK.B B", "4 WORK.B B"]
    );
    // A length given before stays: the name is cut.
    assert_eq!(
        rows(&store, "/data/i.sas7bdat"),
        ["1 D.A", "2 WOR", "3 D.A", "4 WOR"]
    );
    assert_eq!(rows(&store, "/data/p.sas7bdat"), ["4 WORK.B", "1 D.A"]);
    let (_, store) = clean(
        "data d.a; do x = 1 to 5000; output; end; run;
         data d.r; set d.a indsname=from; name = from; if x > 4998; run;",
    );
    assert_eq!(rows(&store, "/data/r.sas7bdat"), ["4999 D.A", "5000 D.A"]);
    let wrong = run_on(
        Arc::new(crate::harness::store()),
        "data d.a; from = 1; run; data b; set d.a indsname=from; run;",
    );
    assert!(
        wrong.log.contains("from must be character"),
        "{}",
        wrong.log
    );
}
