//! Data sets that procedures make: the options of their names.

use crate::harness::{clean, fails, rows};

const MADE: &str =
    "data a; do i = 1 to 6; g = mod(i, 2); c = byte(64 + i); y = i * i; output; end; run;";

/// What a procedure leaves in `d.o`, whose options are `options`.
fn made(step: &str, options: &str) -> Vec<String> {
    let step = step.replace("d.o", &format!("d.o({options})"));
    let (_, store) = clean(&format!("{MADE} {step}"));
    rows(&store, "/data/o.sas7bdat")
}

const STEPS: [(&str, &str); 9] = [
    ("proc sort data=a out=d.o; by descending i; run;", "i > 3"),
    ("proc sort data=a out=d.o nodupkey; by g; run;", "g"),
    (
        "proc means data=a noprint; class g; var y; output out=d.o mean=m; run;",
        "_type_ = 1",
    ),
    (
        "proc freq data=a noprint; tables c / out=d.o; run;",
        "c in ('A', 'F')",
    ),
    (
        "proc sql; create table d.o as select i, y as m from a order by i; quit;",
        "m > 9",
    ),
    (
        "proc reg data=a outest=d.o noprint; model y = i; run; quit;",
        "_rmse_ > 1",
    ),
    (
        "proc reg data=a noprint; model y = i; output out=d.o p=p; run; quit;",
        "p > 7",
    ),
    (
        "proc glm data=a outstat=d.o noprint; model y = i; run; quit;",
        "_type_ = 'SS3'",
    ),
    (
        "proc logistic data=a noprint; model g = y; output out=d.o p=p; run;",
        "p < 0.5 and c ne 'B'",
    ),
];

#[test]
fn where_picks_the_rows_that_a_procedure_writes() {
    for (step, condition) in STEPS {
        let whole = format!(
            "{} data d.o; set d.all; where {condition}; run;",
            step.replace("d.o", "d.all")
        );
        let (_, store) = clean(&format!("{MADE} {whole}"));
        let wanted = rows(&store, "/data/o.sas7bdat");
        let all = rows(&store, "/data/all.sas7bdat");
        assert!(
            !wanted.is_empty() && wanted.len() < all.len() || all.len() < 2,
            "{step} {all:?}"
        );
        assert_eq!(
            made(step, &format!("where=({condition})")),
            wanted,
            "{step}"
        );
        assert_eq!(made(step, "where=(0)"), [""; 0], "{step}");
    }
    // By the names that the data set has.
    let step = "proc sort data=a out=d.o; by i; run;";
    assert_eq!(
        made(
            step,
            "keep=i g compress=char rename=(i=number) where=(number > 4)"
        ),
        ["5 1", "6 0"]
    );
    let (ran, _) = clean(&format!(
        "{MADE} proc sort data=a out=o(where=(i > 4)); by i; run;"
    ));
    let note = "The data set WORK.O has 2 observations and 4 variables.";
    assert!(ran.log.contains(note), "{}", ran.log);
}

#[test]
fn options_that_an_output_cannot_have_are_errors() {
    for (step, _) in STEPS {
        let fails = |options: &str, text: &str| {
            let step = step.replace("d.o", &format!("d.o({options})"));
            fails(&format!("{MADE} {step}"), text);
        };
        fails("where=(nothere > 1)", "Variable nothere is not on file D.O");
        fails(
            "obs=3",
            "FIRSTOBS= and OBS= are not valid for output data sets",
        );
        fails(
            "firstobs=3",
            "FIRSTOBS= and OBS= are not valid for output data sets",
        );
    }
    fails(
        &format!("{MADE} proc sort data=a out=d.o(drop=y where=(y > 1)); by i; run;"),
        "Variable y is not on file D.O",
    );
}
