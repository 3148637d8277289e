//! BY groups of procedures: consecutive rows whose values their formats show alike.

use crate::harness::{clean, fails, rows};

/// Twelve rows in the order of `x`; AGE. shows three groups of it, GRADE. two of `c`.
const MADE: &str = "proc format;
      value age low-<4 = 'young' 4-<9 = 'grown' other = 'old'; value $grade 'A','B' = 'good' other = 'bad';
    run;
    data a; do x = 1 to 12; c = byte(65 + mod(x, 4)); y = x * x; z = mod(x, 2); output; end; run;";

#[track_caller]
fn left(program: &str, wanted: &[&str]) {
    let (ran, store) = clean(&format!("{MADE} {program}"));
    assert_eq!(
        rows(&store, "/data/o.sas7bdat"),
        wanted,
        "{program}\n{}",
        ran.log
    );
}

#[test]
fn every_procedure_takes_groups_as_formats_show_them() {
    let by = "by x; format x age.;";
    left(
        &format!("proc means data=a noprint; {by} var y; output out=d.o n=n sum=s; run;"),
        &["1 0 3 3 14", "4 0 5 5 190", "9 0 4 4 446"],
    );
    left(
        &format!(
            "proc freq data=a noprint; {by} tables z / out=d.o; run; data d.o; set d.o; drop percent; run;"
        ),
        &["1 0 1", "1 1 2", "4 0 3", "4 1 2", "9 0 2", "9 1 2"],
    );
    let steps = "data d.o; set o; keep x; run;";
    for step in [
        format!(
            "proc glm data=a outstat=o noprint; {by} model y = z; run; quit; proc sort data=o nodupkey; by x; run;"
        ),
        format!("proc logistic data=a outest=o noprint; {by} model z = y; run;"),
        "data a; set a; format x age.; run; proc reg data=a outest=o noprint; by x; model y = z; run; quit;".to_owned(),
    ] {
        left(&format!("{step} {steps}"), &["1", "4", "9"]);
    }
    let (ran, _) = clean(&format!("{MADE} proc print data=a noobs; {by} var y; run;"));
    for (group, count) in [
        (" x=young ", 1),
        (" x=grown ", 1),
        (" x=old ", 1),
        (" x=", 3),
    ] {
        assert_eq!(ran.listing.matches(group).count(), count, "{}", ran.listing);
    }
}

#[test]
fn formats_of_the_data_set_and_of_several_variables_group() {
    let sorted = "proc sort data=a; by c x; run;
        data a; set a; format c $grade. x age.; run;";
    left(
        &format!("{sorted} proc means data=a noprint; by c; output out=d.o n(y)=n; run;"),
        &["A 0 6 6", "C 0 6 6"],
    );
    // Within A and B the ages begin anew: raw values ascend, and groups are those of neighbours.
    left(
        &format!("{sorted} proc means data=a noprint; by c x; output out=d.o n(y)=n; run;"),
        &[
            "A 4 0 2 2",
            "A 12 0 1 1",
            "B 1 0 1 1",
            "B 5 0 1 1",
            "B 9 0 1 1",
            "C 2 0 1 1",
            "C 6 0 1 1",
            "C 10 0 1 1",
            "D 3 0 1 1",
            "D 7 0 1 1",
            "D 11 0 1 1",
        ],
    );
    // A format that is taken away, and BY variables that are not formatted.
    left(
        &format!("{sorted} proc means data=a noprint; by c; format c; output out=d.o n(y)=n; run;"),
        &["A 0 3 3", "B 0 3 3", "C 0 3 3", "D 0 3 3"],
    );
    left(
        "proc means data=a noprint; by z notsorted x; format x age.; output out=d.o n(y)=n; run;
         data d.o; set d.o(obs=2); run;",
        &["1 1 0 1 1", "0 2 0 1 1"],
    );
    left(
        "proc means data=a noprint; by descending c notsorted; format c $grade.; output out=d.o n(y)=n; run;
         data d.o; set d.o(obs=3); run;",
        &["B 0 1 1", "C 0 2 2", "A 0 2 2"],
    );
}

#[test]
fn output_data_sets_take_the_format_along() {
    let (_, store) = clean(&format!(
        "{MADE} proc means data=a noprint; by x; format x age.; var y; output out=d.o n=n; run;"
    ));
    let bytes = store.get("/data/o.sas7bdat").unwrap();
    let reader = sas7bdat::Reader::open(bytes.as_slice()).unwrap();
    assert_eq!(reader.metadata().variables[0].format.name, "AGE");
}

#[test]
fn sorted_is_by_values_and_not_by_what_formats_show() {
    // Within one group of the format.
    fails(
        &format!(
            "{MADE} data a; set a a; run;
             proc means data=a(firstobs=5 obs=16 where=(4 <= x < 9)) noprint; by x; format x age.;
             var y; output out=o n=n; run;"
        ),
        "is not sorted in ascending sequence. The current BY group has x=grown",
    );
    fails(
        &format!(
            "{MADE} data a; do x = 4, 6, 5; y = 1; output; end; run;
             proc means data=a noprint; by x; format x age.; var y; output out=o n=n; run;"
        ),
        "is not sorted in ascending sequence. The current BY group has x=grown",
    );
}

#[test]
fn data_steps_and_sorts_group_by_values() {
    left(
        "data a; set a; format x age.; run; proc sort data=a out=s nodupkey; by x; run;
         data d.o; set s; by x; if first.x; keep x; run; data d.o; set d.o(obs=2); run;",
        &["1", "2"],
    );
}
