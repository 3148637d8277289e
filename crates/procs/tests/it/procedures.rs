//! CONTENTS, PRINT, DATASETS and DELETE.

use std::sync::Arc;

use crate::harness::{clean, rows, run_on, store};

const MAKE: &str = "data d.a(label='A few rows'); length c $5; do i = 1 to 3; c = 'row';
    x = i / 3; label x = 'A third'; format x 8.3; output; end; run;";

#[test]
fn print_shows_rows_with_their_formats() {
    let program = format!("title 'Rows'; {MAKE} proc print data=d.a(obs=2); run;");
    let (ran, _) = clean(&program);
    let lines: Vec<&str> = ran
        .listing
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty())
        .collect();
    assert_eq!(
        lines[1..],
        [
            "Obs  c    i      x",
            "  1  row  1  0.333",
            "  2  row  2  0.667"
        ]
    );
}

#[test]
fn print_takes_labels_and_chosen_variables() {
    let program = format!("{MAKE} proc print data=d.a noobs label n; var x i; where i > 1; run;");
    let (ran, _) = clean(&program);
    let lines: Vec<&str> = ran
        .listing
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty())
        .collect();
    assert_eq!(
        lines[1..],
        ["A third  i", "  0.667  2", "  1.000  3", "N = 2"]
    );
}

#[test]
fn contents_tells_what_the_file_says_of_itself() {
    let (ran, _) = clean(&format!("{MAKE} proc contents data=d.a; run;"));
    for part in [
        "Data Set Name             D.A",
        "Observations              3",
        "Variables                 3",
        "Label                     A few rows",
        "Data Set Page Size        65536",
        "     3  x         Num       8  8.3               A third",
    ] {
        assert!(ran.listing.contains(part), "{part}\n{}", ran.listing);
    }
}

#[test]
fn datasets_deletes_members_and_says_what_was_not_there() {
    let program = format!("{MAKE} proc datasets lib=d nolist; delete a none; quit;");
    let (ran, store) = clean(&program);
    assert!(store.get("/data/a.sas7bdat").is_none());
    assert!(ran.log.contains("Deleting D.A (memtype=DATA)."));
    assert!(
        ran.log
            .contains("The file D.NONE (memtype=DATA) was not found")
    );
    assert_eq!(
        ran.steps.len(),
        2,
        "a procedure with run groups is one step"
    );
}

#[test]
fn unknown_options_and_statements_are_named() {
    for (program, part) in [
        (
            "proc sort data=d.a tagsort; by x; run;",
            "PROC SORT: the option TAGSORT",
        ),
        (
            "proc sort data=d.a; id x; run;",
            "PROC SORT: the statement ID",
        ),
        (
            "proc print data=d.a; pageby x; run;",
            "PROC PRINT: the statement PAGEBY",
        ),
        ("proc sort data=d.a; run;", "No BY statement used"),
        (
            "proc sort data=d.a; by nosuch; run;",
            "Variable nosuch not found on file D.A",
        ),
    ] {
        let store = store();
        let ran = run_on(Arc::new(store), &format!("{MAKE} {program}"));
        assert_eq!(ran.exit, 2, "{program}");
        assert!(ran.log.contains(part), "{part}\n{}", ran.log);
    }
}

#[test]
fn datasets_deletes_nothing_from_a_read_only_library() {
    for delete in [
        "proc datasets lib=r kill;",
        "proc datasets lib=r; delete a;",
    ] {
        let program =
            format!("data d.a; x = 1; run; libname r '/data' access=readonly; {delete} run; quit;");
        let store = store();
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 2, "{delete}");
        assert!(ran.log.contains("ACCESS=READONLY"), "{}", ran.log);
        assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1"], "{delete}");
    }
}

#[test]
fn work_cannot_be_assigned() {
    let ran = run_on(Arc::new(store()), "libname work '/data';");
    assert_eq!(ran.exit, 2);
    assert!(ran.log.contains("WORK is the session's own"), "{}", ran.log);
}

#[test]
fn delete_removes_what_is_named_and_warns_of_what_is_not_there() {
    let ran = run_on(
        Arc::new(store()),
        &format!(
            "{MAKE} data b; set d.a; run; proc delete data=d.a b c; run; proc print data=d.a; run;"
        ),
    );
    for part in [
        "NOTE: Deleting D.A (memtype=DATA).",
        "NOTE: Deleting WORK.B (memtype=DATA).",
        "WARNING: File WORK.C.DATA does not exist.",
        "File D.A.DATA does not exist",
    ] {
        assert!(ran.log.contains(part), "{part}: {}", ran.log);
    }
}
