//! PROC FORMAT and the formats that it makes.

use crate::harness::{clean, fails, put, rows, run, run_on, store};
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
        ("value x 1='a' 1='b';", "This range is repeated"),
        ("value $x 'a'-'c'='a' 'b'='b';", "overlap"),
        ("value x (multilabel) 1='a';", "option MULTILABEL of VALUE"),
        ("value x 1=[nosuch5.];", "The format NOSUCH was not found"),
        ("invalue x 'a'='b';", "'b' is not a number"),
        (
            "invalue x 'a'=[nosuch5.];",
            "The informat NOSUCH was not found",
        ),
        (
            "picture x 1='%Q' (datatype=date);",
            "has a directive that is not known",
        ),
        (
            "picture x 1='9' (datatype=datetime_util);",
            "DATATYPE=DATETIME_UTIL of PICTURE",
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
fn a_format_holds_for_the_whole_step_wherever_it_stands() {
    let lines = put(
        "data _null_; d = 0; e = 1; array a{2} d e; i = 2; put '>' d e= d 2. a{i}; format d e date9.; \
         attrib e format = 3.1; run;",
    );
    // A list value follows a formatted one at once.
    assert_eq!(lines, ["01JAN1960 e=1.0  01.0"]);
}

#[test]
fn the_lowest_value_stands_for_a_level_whatever_the_length() {
    let (_, store) = clean(
        "data d.a; length c $200; do c = 'ab', 'aa', 'ac'; x = 1; output; end; format c $1.; run;
         proc means data=d.a nway noprint; class c; var x; output out=d.m(drop=_type_) sum=s; run;",
    );
    assert_eq!(rows(&store, "/data/m.sas7bdat"), ["aa 3 3"]);
}

#[test]
fn informats_read_what_they_name() {
    // The example of the documentation of INVALUE: grades as points.
    let (ran, store) = clean(
        "proc format; invalue evaluation 'O'=4 'S'=3 'E'=2 'C'=1 'N'=0;
           invalue $sex (upcase just) 'M', 'MALE' = 'm' 'F' = 'f' other = '?';
           invalue part 1-10 = 1 11-high = 2 'none' = 0 . = .n other = _error_;
           invalue mixed 'x' = -1 other = [comma8.]; run;
         data d.a; input id $ (p1-p3) (evaluation1.) @; input s :$sex6. p :part. m :mixed.;
         datalines;
         a OSE male 5 x
         b SCN F 11.5 1,234
         c CC? z none 7
         d NNN f . .
         ;
         data d.b; length t $6; do t = 'x', '12', '3,000'; v = input(t, mixed.); output; end; run;
         data d.c; t = input(' mALE', $sex5.) || '|'; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        [
            "a 4 3 2 m 1 -1",
            "b 3 1 0 f 2 1234",
            // `?` is no grade, and no number.
            "c 1 1 . ? 0 7",
            "d 0 0 0 f .N .",
        ]
    );
    assert_eq!(
        rows(&store, "/data/b.sas7bdat"),
        ["x -1", "12 12", "3,000 3000"]
    );
    assert_eq!(rows(&store, "/data/c.sas7bdat"), ["m    |"]);
    for text in [
        "NOTE: Informat EVALUATION has been output.",
        "NOTE: Informat $SEX has been output.",
        "NOTE: Invalid data for p3 in line",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn pictures_print_numbers() {
    let (_, store) = clean(
        "proc format; picture pay low-<0 = '000,009.99' (prefix='-$') 0-high = '000,009.99' (prefix='$');
           picture days 01-31='99' other='99-illegal day value';
           picture when (default=19) low-high = '%Y-%0m-%0d %0H:%0M:%0S' (datatype=datetime);
           value wide 0 - 9 = 'a single digit only' 10 - high = [comma9.1]; run;
         data d.a; length t $30; t = put(25500, pay.); output; t = put(-7.5, pay.); output;
           t = put(2, days.); output; t = put(67, days.); output; t = put(3661, when.); output;
           t = put(3, wide.); output; t = put(12345.67, wide.); output; run;
         data d.l; t = put(3, wide.) || '|'; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        [
            "$25,500.00",
            "    -$7.50",
            "                  02",
            "67-illegal day value",
            "1960-01-01 01:01:01",
            "a single digit only",
            "           12,345.7",
        ]
    );
    assert_eq!(rows(&store, "/data/l.sas7bdat"), ["a single digit only|"]);
}

#[test]
fn formats_come_from_data_sets_and_go_to_them() {
    let (ran, store) = clean(
        "data d.in; length fmtname $8 label $12 start end $4 type hlo sexcl $1;
           fmtname = 'size'; type = 'N'; start = '1'; end = '5'; label = 'small'; output;
           start = '5'; end = '9'; sexcl = 'Y'; label = 'large'; output;
           start = ' '; end = ' '; sexcl = ' '; hlo = 'O'; label = 'other'; output;
           fmtname = 'town'; type = 'C'; hlo = ' '; start = 'PA'; end = start; label = 'Paris'; output;
           fmtname = 'points'; type = 'I'; start = 'A'; end = start; label = '4'; output; run;
         proc format cntlin=d.in; run;
         data d.a; length s $8; do x = 1, 5, 5.5, 12; s = put(x, size.); t = put('PA', $town.);
           p = input('A', points.); output; end; run;
         proc format cntlout=d.out; picture pct low-<0 = '009.9%' (prefix='-'); run;
         proc format cntlin=d.out(where=(fmtname='SIZE')); run;
         proc format cntlout=d.some(keep=fmtname type); select $: @points; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        [
            "small 1 Paris 4",
            "small 5 Paris 4",
            "large 5.5 Paris 4",
            "other 12 Paris 4",
        ]
    );
    let written: Vec<String> = rows(&store, "/data/out.sas7bdat");
    let words = |row: &String| row.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        written.iter().map(words).collect::<Vec<_>>(),
        [
            "PCT LOW 0 009.9% 1 40 6 6 0.000000000001 - 10 0 P N Y L",
            "SIZE 1 5 small 1 40 5 5 0.000000000001 0 0 N N N",
            "SIZE 5 9 large 1 40 5 5 0.000000000001 0 0 N Y N",
            "SIZE **OTHER** **OTHER** other 1 40 5 5 0.000000000001 0 0 N N N O",
            "TOWN PA PA Paris 1 40 5 5 0 0 0 C N N",
            "POINTS A A 4 1 40 1 1 0.000000000001 0 0 I N N",
        ]
    );
    assert_eq!(rows(&store, "/data/some.sas7bdat"), ["TOWN C", "POINTS I"]);
    for text in [
        "NOTE: Format SIZE has been output.",
        "NOTE: Format $TOWN has been output.",
        "NOTE: Informat POINTS has been output.",
        "NOTE: Format SIZE is already on the library WORK.FORMATS.",
        "NOTE: There were 5 observations read from the data set D.IN.",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn formats_stay_within_memory() {
    let ran = run_on(
        Arc::new(store()),
        "options memsize=20m; data d.in; length label $200; retain fmtname 'f'; label = repeat('x', 99);
           do start = 1 to 200000; output; end; run;
         proc format cntlin=d.in; run;",
    );
    assert!(ran.log.contains("insufficient memory"), "{}", ran.log);
    assert!(!ran.log.contains("has been output"), "{}", ran.log);
}

#[test]
fn formats_that_are_not_there_are_errors_of_put_and_input() {
    for (value, error) in [
        ("put(x, nosuch5.)", "The format NOSUCH was not found"),
        ("put(c, nosuch5.)", "The format $NOSUCH was not found"),
        ("input(c, nosuch5.)", "The informat NOSUCH was not found"),
    ] {
        let program = format!("data d.a; x = 1; c = 'a'; y = {value}; run;");
        let ran = run_on(Arc::new(store()), &program);
        assert!(ran.log.contains(error), "{value} {}", ran.log);
    }
}

#[test]
fn unknown_formats_of_a_data_step_are_errors() {
    for (program, text) in [
        (
            "data a; x = 1; format x nosuch5.; run;",
            "The format NOSUCH of variable x was not found",
        ),
        (
            "data a; d = 1; format d yymmp7.; run;",
            "The format YYMMP of variable d was not found",
        ),
        (
            "data a; attrib x format=nosuch5.; x = 1; run;",
            "The format NOSUCH of variable x was not found",
        ),
        (
            "data a; format c nosuch5.; c = 'x'; run;",
            "The format $NOSUCH of variable c was not found",
        ),
        (
            "data a; format c $nosuch5.; run;",
            "The format $NOSUCH of variable c was not found",
        ),
        (
            "data a; x = 1; format x $char5.; run;",
            "the character format $CHAR with the numeric variable x",
        ),
    ] {
        fails(program, text);
    }
}

#[test]
fn nofmterr_makes_unknown_formats_notes() {
    let program = "options nofmterr; data a; x = 1; format x nosuch5.; run; \
         options fmterr; data _null_; set a; put '>' x; run;";
    assert_eq!(put(program), ["1"]);
    let (log, _) = run(program);
    assert!(
        log.contains("NOTE: The format NOSUCH of variable x was not found"),
        "{log}"
    );
    fails(
        "options nofmterr; options fmterr; data a; x = 1; format x nosuch5.; run;",
        "The format NOSUCH",
    );
}

#[test]
fn known_formats_are_taken_for_either_type() {
    let program = "data a; format n 8.2 c 4. d date9. e $quote8.; n = 1; c = 'ab'; d = 0; e = 'x'; \
         format _numeric_ best6.; run; data _null_; set a; format n; put '>' n c d e; run;";
    assert_eq!(put(program), ["1 ab 0 \"x\""]);
}
