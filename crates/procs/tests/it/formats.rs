//! PROC FORMAT and the formats that it makes.

use crate::harness::{clean, rows, run_on, store};
use std::sync::Arc;

const FORMATS: &str = "proc format; value age low -< 13 = 'child' 13 - 19 = 'teen' 20 - high = 'adult' \
                       . = 'none'; value $grp 'A', 'B' = 'first' 'C' - 'E' = 'later' other = 'rest'; run; ";

#[test]
fn labels_are_put_and_printed() {
    let (ran, store) = clean(&format!(
        "{FORMATS} data d.a; do x = 5, 13, 19, 45, .; t = put(x, age.); w = put(x, age3.); output; end; run;"
    ));
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        [
            "5 child chi",
            "13 teen tee",
            "19 teen tee",
            "45 adult adu",
            ". none non"
        ]
    );
    assert!(
        ran.log.contains("NOTE: Format AGE has been output."),
        "{}",
        ran.log
    );
    assert!(
        ran.log.contains("NOTE: Format $GRP has been output."),
        "{}",
        ran.log
    );
}

#[test]
fn labels_of_texts() {
    let (_, store) = clean(&format!(
        "{FORMATS} data d.a; do i = 1 to 5; c = substr('ABCDZ', i, 1); t = put(c, $grp.); output; end; \
         drop i; run;"
    ));
    let found = rows(&store, "/data/a.sas7bdat");
    assert_eq!(found.len(), 5);
    assert_eq!(found[0], "A first");
    assert_eq!(found[3], "D later");
    assert_eq!(found[4], "Z rest");
}

#[test]
fn a_stored_format_is_used_by_print() {
    let (ran, _) = clean(&format!(
        "{FORMATS} data d.a; x = 15; g = 'B'; format x age. g $grp.; run; proc print data=d.a; run;"
    ));
    assert!(
        ran.listing.contains("teen") && ran.listing.contains("first"),
        "{}",
        ran.listing
    );
}

#[test]
fn a_value_without_a_label_is_printed_as_it_is() {
    let (_, store) =
        clean("proc format; value few 1='one'; run; data d.a; t = put(7, few5.); run;");
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["    7"]);
}

#[test]
fn faulty_formats_say_what_is_wrong() {
    for (statement, error) in [
        ("value x1 1='a';", "cannot end with a digit"),
        (
            "value x 5-1='a';",
            "The start of a range is greater than its end",
        ),
        ("value x 1-5='a' 3-9='b';", "overlap"),
        ("value x 1=;", "expecting a label in quotes"),
        ("value x 'a'='b';", "expecting a number"),
        (
            "invalue x 1=1;",
            "the statement INVALUE is not valid or not implemented yet",
        ),
        (
            "picture x 1='9';",
            "the statement PICTURE is not valid or not implemented yet",
        ),
    ] {
        let ran = run_on(Arc::new(store()), &format!("proc format; {statement} run;"));
        assert!(ran.log.contains(error), "{statement} {}", ran.log);
        assert_eq!(ran.exit, 2);
    }
}

#[test]
fn classes_and_tables_group_by_user_formats() {
    let (ran, store) = clean(
        "proc format; value size low-<4 = 'small' 4-high = 'large';
           value $end 'a', 'b' = 'first' other = 'last'; run;
         data d.a; length c $1; do i = 1 to 6; c = substr('abcxyz', i, 1); x = i;
           format x size. c $end.; output; end; run;
         proc means data=d.a nway noprint; class x; var i; output out=d.m n=n sum=s; run;
         proc summary data=d.a print sum; class c; types () c; var i; run;
         proc freq data=d.a; tables x*c / out=d.f; run;
         proc freq data=d.a noprint; tables x / out=d.p; format x 4.; run;
         proc means data=d.a nway noprint; class x; var i; format x best.; output out=d.q n=n; run;",
    );
    assert_eq!(
        rows(&store, "/data/m.sas7bdat"),
        ["1 1 3 3 6", "4 1 3 3 15"]
    );
    assert_eq!(
        rows(&store, "/data/f.sas7bdat"),
        [
            format!("1 a 2 {}", 200.0 / 6.0),
            // The lowest value stands for each level: c for the later letters.
            format!("1 c 1 {}", 100.0 / 6.0),
            "4 c 3 50".to_owned(),
        ]
    );
    // A FORMAT statement of the procedure comes before the variable's own format.
    assert_eq!(rows(&store, "/data/p.sas7bdat").len(), 6);
    assert_eq!(rows(&store, "/data/q.sas7bdat").len(), 6);
    for part in ["first", "last", "small", "large"] {
        assert!(ran.listing.contains(part), "{part}: {}", ran.listing);
    }
}

#[test]
fn print_takes_formats_and_labels_for_itself() {
    let (ran, _) = clean(&format!(
        "{FORMATS} data d.a; share = 0.256; x = 45; g = 'C'; run; \
         proc print data=d.a label noobs; format share percent8.2 x age. g grp.; \
         label share = 'Part of all'; run; proc print data=d.a noobs; run;"
    ));
    for text in ["25.60%", "adult", "later", "Part of all", "0.256"] {
        assert!(ran.listing.contains(text), "{text}: {}", ran.listing);
    }
    for (statement, what) in [
        (
            "format x nosuch.;",
            "The format NOSUCH of variable x was not found",
        ),
        ("format y 8.;", "Variable y not found on file D.A"),
    ] {
        let program = format!("data d.a; x = 1; run; proc print data=d.a; {statement} run;");
        let ran = run_on(Arc::new(store()), &program);
        assert!(ran.log.contains(what), "{}", ran.log);
    }
}

#[test]
fn put_and_dumps_show_labels() {
    let (ran, _) = clean(&format!(
        "{FORMATS} data _null_; x = 15; g = 'B'; h = 'C'; put x age. g $grp. h grp.; format x age.; \
         put x= g= ; put _all_; run;"
    ));
    for text in ["\nteen firstlater", "\nx=teen g=B", "\nx=teen g=B h=C"] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn the_lowest_value_stands_for_a_level_whatever_the_length() {
    let (_, store) = clean(
        "data d.a; length c $200; do c = 'ab', 'aa', 'ac'; x = 1; output; end; format c $1.; run;
         proc means data=d.a nway noprint; class c; var x; output out=d.m(drop=_type_) sum=s; run;",
    );
    assert_eq!(rows(&store, "/data/m.sas7bdat"), ["aa 3 3"]);
}
