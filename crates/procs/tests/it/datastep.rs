//! The DATA step.

use std::sync::Arc;

use crate::harness::{clean, fails, rows, run_on, store, variables};

/// Runs `data d.out; <body> run;` and compares the rows of D.OUT.
fn check(body: &str, expected: &[&str]) {
    let (_, store) = clean(&format!("data d.out; {body} run;"));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), expected, "{body}");
}

#[test]
fn loops_by_zero_go_on_until_while_ends_them() {
    let (_, store) = clean(
        "data d.a; n = 0; do rc = 0 by 0 while(rc = 0); n + 1; if n = 3 then rc = 1; output; end; run;",
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1 0", "2 0", "3 1"]);
    fails(
        "data _null_; do i = 0 to 3 by 0; end; run;",
        "Invalid DO loop control information",
    );
}

#[test]
fn put_shows_what_begins_and_ends_a_group() {
    let (ran, _) = clean(
        "options nosource; data a; do id = 1, 1, 2; output; end; run;
         data _null_; set a; by id; put first.id= last.id= id (first.id last.id)(+1 1.); run;",
    );
    for line in [
        "FIRST.id=1 LAST.id=0 1  1 0",
        "FIRST.id=0 LAST.id=1 1  0 1",
        "FIRST.id=1 LAST.id=1 2  1 1",
    ] {
        assert!(ran.log.contains(line), "{line}: {}", ran.log);
    }
}

#[test]
fn assignments_make_variables_of_the_right_type_and_length() {
    check(
        "x = 1 + 2 * 3; c = 'ab' || 'cd'; d = c || '!';",
        &["7 abcd abcd!"],
    );
}

#[test]
fn operators_bind_as_in_sas() {
    check(
        "a = -2**2; b = 2**-1; c = 1 < 3 < 2; d = not 0 = 1;",
        &["-4 0.5 0 1"],
    );
}

#[test]
fn missing_values_spread_sort_low_and_count_as_false() {
    check(
        "a = . + 1; b = . < -1e300; c = .a > .; d = (.); if d then e = 1; else e = 2;",
        &[". 1 1 . 2"],
    );
}

#[test]
fn loops_end_past_their_limit() {
    check("do i = 1 to 3; output; end; output;", &["1", "2", "3", "4"]);
    check("do i = 10 to 1 by -4; output; end;", &["10", "6", "2"]);
    check("do i = 1, 5, 7 to 8; output; end;", &["1", "5", "7", "8"]);
    check(
        "i = 0; do while(i < 2); i = i + 1; output; end;",
        &["1", "2"],
    );
    check(
        "i = 0; do until(i >= 2); i = i + 1; if i = 1 then continue; output; end;",
        &["2"],
    );
    check(
        "do i = 1 to 9; if i = 3 then leave; output; end;",
        &["1", "2"],
    );
}

#[test]
fn the_sum_statement_starts_at_zero_and_skips_missing() {
    check(
        "do i = 1, ., 3; n + i; output; end; drop i;",
        &["1", "1", "4"],
    );
}

#[test]
fn set_reads_one_data_set_after_the_other() {
    let program = "data a; do x = 1 to 2; output; end; run;
        data b; y = 7; x = 9; run;
        data d.out; set a b end=last; z = last; run;";
    let (ran, store) = clean(program);
    assert_eq!(variables(&store, "/data/out.sas7bdat"), ["x", "y", "z"]);
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        ["1 . 0", "2 . 0", "9 7 1"]
    );
    assert!(
        ran.log
            .contains("There were 2 observations read from the data set WORK.A.")
    );
    assert!(
        ran.log
            .contains("The data set D.OUT has 3 observations and 3 variables.")
    );
}

#[test]
fn options_choose_variables_and_rows_on_the_way_in_and_out() {
    let program = "data a; do x = 1 to 9; y = x * x; c = 'k'; output; end; run;
        data d.out(drop=c rename=(y=square)) d.rest(keep=z);
          set a(where=(x > 2 and x in (1, 3:6)) firstobs=2 obs=3 rename=(x=z));
        run;";
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    // RENAME comes before WHERE: X is Z by then.
    assert_eq!(ran.exit, 2);
    assert!(
        ran.log.contains("Variable x is not on file WORK.A"),
        "{}",
        ran.log
    );

    let (_, store) = clean(&program.replace("(x > 2 and x in", "(z > 2 and z in"));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["4 16", "5 25"]);
    assert_eq!(rows(&store, "/data/rest.sas7bdat"), ["4", "5"]);
}

#[test]
fn where_if_delete_and_output_decide_what_is_written() {
    let make = "data a; do x = 1 to 6; output; end; run;";
    for (body, expected) in [
        ("set a; where x between 2 and 4; if x ne 3;", vec!["2", "4"]),
        ("set a; if x > 2 then delete;", vec!["1", "2"]),
        ("set a; if x = 5; output; output;", vec!["5", "5"]),
        ("set a; if x = 3 then stop;", vec!["1", "2"]),
        ("set a(obs=2); return;", vec!["1", "2"]),
    ] {
        let (_, store) = clean(&format!("{make} data d.out; {body} run;"));
        assert_eq!(rows(&store, "/data/out.sas7bdat"), expected, "{body}");
    }
}

#[test]
fn retained_variables_keep_their_value_and_others_do_not() {
    let program = "data a; do x = 1 to 3; output; end; run;
        data d.out; retain r; set a; if x = 1 then do; r = 5; p = 5; end; run;";
    let (_, store) = clean(program);
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        ["5 1 5", "5 2 .", "5 3 ."]
    );
}

#[test]
fn short_numbers_lose_precision_only_when_written() {
    check(
        "length x 3; x = 0.1; y = x = 0.1;",
        &["0.0999908447265625 1"],
    );
}

#[test]
fn conversions_and_missing_operations_are_noted_with_their_places() {
    let (ran, store) = clean("data d.out;\n  x = '12' + 1;\n  c = 5 || 'a';\n  y = . + 1;\nrun;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["13            5a ."]);
    for text in [
        "Character values have been converted to numeric values at the places given by: \
         (Line):(Column).\n      2:7",
        "Numeric values have been converted to character values at the places given by: \
         (Line):(Column).\n      3:7",
        "Missing values were generated as a result of performing an operation on missing values.",
    ] {
        assert!(ran.log.contains(text), "{text}\n{}", ran.log);
    }
}

#[test]
fn what_is_not_there_yet_is_an_error_with_its_place() {
    for (program, part) in [
        (
            "data a; modify b; run;",
            "The MODIFY statement is not implemented yet (test.sas, line 1",
        ),
        (
            "data a; x = soundex(y); run;",
            "The function soundex is unknown or not implemented yet (test.sas",
        ),
        (
            "proc univariate; run;",
            "Procedure UNIVARIATE not found or not implemented yet",
        ),
        (
            "options reuse=yes;",
            "Option REUSE is not recognized or not implemented yet",
        ),
        (
            "data a; set d.none; run;",
            "File D.NONE.DATA does not exist",
        ),
        ("data x.a; y = 1; run;", "Libref X is not assigned"),
    ] {
        let ran = run_on(Arc::new(store()), program);
        assert_eq!(ran.exit, 2, "{program}");
        assert!(ran.log.contains(part), "{part}\n{}", ran.log);
    }
}

#[test]
fn a_step_that_fails_leaves_the_old_data_set() {
    let program = "data d.a; x = 1; run; data d.a; set d.a d.none; run;";
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 2);
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1"]);
}

#[test]
fn a_step_whose_set_is_not_executed_stops_looping() {
    let program = "data a; x = 1; run; data d.out; if 0 then set a; y = 1; run;";
    let (ran, store) = clean(program);
    assert_eq!(rows(&store, "/data/out.sas7bdat"), [". 1"]);
    assert!(
        ran.log.contains("NOTE: DATA STEP stopped due to looping."),
        "{}",
        ran.log
    );
}

#[test]
fn loops_without_a_way_to_their_end_are_refused() {
    for range in ["1 to 3 by 0", ". to 3", "1 to .", "1 to 3 by ."] {
        let store = store();
        let program = format!("data d.out; do i = {range}; output; end; run;");
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 2, "{range}");
        let said = "Invalid DO loop control information, either the INITIAL or TO expression is \
                    missing or the BY expression is missing, zero, or invalid";
        assert!(ran.log.contains(said), "{}", ran.log);
        assert!(store.get("/data/out.sas7bdat").is_none());
    }
}

#[test]
fn renames_happen_all_at_once() {
    let make = "data a; x = 1; y = 2; z = 3; run;";
    for (program, expected) in [
        ("data d.out; set a; rename x=y y=x; run;", ["y", "x", "z"]),
        ("data d.out; set a(rename=(x=y y=x)); run;", ["y", "x", "z"]),
        (
            "data d.out(rename=(x=y y=z z=x)); set a; run;",
            ["y", "z", "x"],
        ),
        (
            "proc sort data=a out=d.out(rename=(x=y y=x)); by x; run;",
            ["y", "x", "z"],
        ),
    ] {
        let (_, store) = clean(&format!("{make} {program}"));
        assert_eq!(
            variables(&store, "/data/out.sas7bdat"),
            expected,
            "{program}"
        );
        assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1 2 3"]);
    }
}

#[test]
fn two_variables_of_one_name_are_an_error() {
    for program in [
        "data d.out; x = 1; y = 2; rename x=y; run;",
        "data d.out(rename=(x=y)); x = 1; y = 2; run;",
        "data a; x = 1; y = 2; run; data d.out; set a(rename=(x=y)); run;",
    ] {
        let ran = run_on(Arc::new(store()), program);
        assert_eq!(ran.exit, 2, "{program}");
        assert!(ran.log.contains("more than one variable y"), "{}", ran.log);
    }
}

#[test]
fn keep_and_drop_options_see_the_names_of_the_rename_statement() {
    let make = "x = 1; y = 2; z = 3;";
    for (options, statements, expected) in [
        ("keep=b", "rename x=b;", vec!["b"]),
        ("drop=b", "rename x=b; drop y;", vec!["z"]),
        ("drop=b rename=(z=c)", "rename x=b; keep x z;", vec!["c"]),
    ] {
        let (_, store) = clean(&format!("data d.out({options}); {make} {statements} run;"));
        assert_eq!(
            variables(&store, "/data/out.sas7bdat"),
            expected,
            "{options}"
        );
    }
}

#[test]
fn an_unknown_name_in_keep_drop_or_rename_is_a_warning() {
    for statement in ["drop nosuch;", "keep x nosuch;", "rename nosuch=b;"] {
        let store = store();
        let program = format!("data d.out; x = 1; {statement} run;");
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 1, "{statement}");
        let said = "WARNING: The variable nosuch in the DROP, KEEP, or RENAME list has never been \
                    referenced.";
        assert!(ran.log.contains(said), "{}", ran.log);
        assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1"]);
    }
}

#[test]
fn variables_that_are_never_written_may_be_dropped_and_kept() {
    let program = "data a; x = 1; run; data d.out(drop=n); set a end=last nobs=n; drop last; run;";
    let (_, store) = clean(program);
    assert_eq!(variables(&store, "/data/out.sas7bdat"), ["x"]);
}

#[test]
fn a_number_assigned_to_a_text_keeps_its_value() {
    let (_, store) = clean(
        "data d.out; length s $8 t $3 u $20; n = 5; s = n; t = 1234567; u = n; c = n || ''; \
         a = '[' || s || ']' || u || ']' || t; keep a; run;",
    );
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        ["[       5]           5        ]1E6"]
    );
}

#[test]
fn a_later_where_statement_replaces_the_earlier_one() {
    let make = "data a; do x = 1 to 4; output; end; run;";
    for program in [
        "data d.out; set a; where x > 3; where x < 3; run;",
        "proc sort data=a out=d.out; where x > 3; where x < 3; by x; run;",
    ] {
        let (ran, store) = clean(&format!("{make} {program}"));
        assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1", "2"], "{program}");
        let said = "NOTE: WHERE clause has been replaced.";
        assert!(ran.log.contains(said), "{}", ran.log);
    }
}

#[test]
fn a_where_option_wins_over_the_where_statement() {
    let make = "data a b; do x = 1 to 4; output; end; run;";
    let program = "data d.out; set a(where=(x = 4)) b; where x < 2; run;";
    let (ran, store) = clean(&format!("{make} {program}"));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["4", "1"]);
    let said = "There were 1 observations read from the data set WORK.A.\n      WHERE x=4;\n";
    assert!(ran.log.contains(said), "{}", ran.log);
}

#[test]
fn conditions_are_shown_with_their_grouping() {
    let program = "data a; length c $4; x = 3; c = 'it'; run;
        data d.out; set a; where (x > 2 and x in (1, 3:6)) or c = \"it's\" or c like 'a%' and x \
        is not missing and not (x between 1 and 2); run;";
    let (ran, _) = clean(program);
    let said = "WHERE ((((x>2) and (x in (1, 3:6))) or (c='it''s')) or ((c like 'a%') and ((x is \
                not missing) and (not (x>=1 and x<=2)))));";
    let plain = |text: &str| text.replace(['(', ')'], "");
    assert!(plain(&ran.log).contains(&plain(said)), "{}", ran.log);
}

#[test]
fn conditions_that_are_numbers_are_called_obvious() {
    for (condition, said) in [
        ("1", "WHERE 1 /* an obviously TRUE WHERE clause */ ;"),
        ("0", "WHERE 0 /* an obviously FALSE WHERE clause */ ;"),
    ] {
        let program = format!("data a; x = 1; run; data b; set a; where {condition}; run;");
        let (ran, _) = clean(&program);
        assert!(ran.log.contains(said), "{said}: {}", ran.log);
    }
}

#[test]
fn bounds_of_between_may_come_in_any_order() {
    let make =
        "data a; do x = ., -3, 1 to 6; c = byte(96 + x); low = 5; high = 3; output; end; run;";
    for (condition, expected, said) in [
        ("x between 4 and 2", "2 3 4", Some("(x>=2 and x<=4)")),
        ("x between 2 and 4", "2 3 4", Some("(x>=2 and x<=4)")),
        ("x between 1 and .", ". -3 1", Some("(x>=. and x<=1)")),
        ("x between 1 and -3", "-3 1", None),
        (
            "x not between 5 and 1",
            ". -3 6",
            Some("not (x>=1 and x<=5)"),
        ),
        (
            "c between 'd' and 'b'",
            "2 3 4",
            Some("(c>='b' and c<='d')"),
        ),
        ("c between 'd ' and 'd'", "4", None),
        (
            "x between low and high",
            "3 4 5",
            Some("x between low and high"),
        ),
        ("x not between low and high", ". -3 1 2 6", None),
        ("4 between x and 2", "4 5 6", None),
    ] {
        let program = format!("{make} data d.out(keep=x); set a; where {condition}; run;");
        let (ran, store) = clean(&program);
        let found = rows(&store, "/data/out.sas7bdat").join(" ");
        assert_eq!(found, expected, "{condition}");
        let said = said.map(|said| format!("WHERE {said};"));
        let log = &ran.log;
        assert!(
            said.is_none_or(|said| log.contains(&said)),
            "{condition}: {log}"
        );
    }
}

#[test]
fn prefixes_compare_over_the_shorter_declared_length() {
    check(
        "length e c $5; e = ''; c = 'Smith'; a = '' =: 'S'; b = 'Smith' =: 'S'; d = c =: 'Smithers'; \
         f = e =: c; g = c =: e; h = c =: ''; keep a b d f g h;",
        &["0 1 1 0 0 0"],
    );
}

#[test]
fn lists_longer_than_a_data_set_can_be_are_refused() {
    for statement in [
        "length a1-a99999999 8;",
        "drop a1-a99999999;",
        "x = sum(of a1-a99999999);",
        "length a1-a32767 $32767;",
    ] {
        let ran = run_on(Arc::new(store()), &format!("data d.out; {statement} run;"));
        assert_eq!(ran.exit, 2, "{statement}");
        assert!(ran.log.len() < 2000, "{}", ran.log.len());
    }
}

#[test]
fn as_many_variables_as_a_data_set_can_have_are_handled_quickly() {
    let program = "data a; length a1-a32767 3; keep a1-a32767; run; data d.out; set a; drop \
                   a2-a32767; run;";
    let (_, store) = clean(&format!("options bufsize=1m; {program}"));
    assert_eq!(variables(&store, "/data/out.sas7bdat"), ["a1"]);
}

#[test]
fn macro_variables_reach_later_steps() {
    let (_, store) = clean("%let n = 3; data d.out; do i = 1 to &n; output; end; c = \"&n\"; run;");
    assert_eq!(rows(&store, "/data/out.sas7bdat").len(), 3);
}

#[test]
fn nothing_is_left_in_work_and_utility_directories() {
    let (_, store) = clean("data a; x = 1; run; proc sort data=a; by x; run;");
    assert!(store.paths().is_empty(), "{:?}", store.paths());
}
