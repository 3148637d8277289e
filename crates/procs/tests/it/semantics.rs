//! What a DATA step means, rule by rule.

use std::sync::Arc;

use crate::harness::{clean, rows, run_on, store, variables};

/// Runs `data d.out; <body> run;` and compares the rows of D.OUT.
fn check(body: &str, expected: &[&str]) {
    after("", &format!("data d.out; {body} run;"), expected);
}

/// Runs `setup` and `step` and compares the rows of D.OUT.
#[track_caller]
fn after(setup: &str, step: &str, expected: &[&str]) {
    let (_, store) = clean(&format!("{setup} {step}"));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), expected, "{step}");
}

/// Runs a program that must fail and returns its log.
#[track_caller]
fn fails(program: &str) -> String {
    let ran = run_on(Arc::new(store()), program);
    assert_eq!(ran.exit, 2, "{program}\n{}", ran.log);
    ran.log
}

#[track_caller]
fn says(log: &str, text: &str) {
    assert!(log.contains(text), "{text}\n--- in ---\n{log}");
}

const ABC: &str = "data a; do x = 1 to 3; y = x * 10; output; end; run;";

#[test]
fn columns_come_in_the_order_of_their_first_mention() {
    let (_, store) = clean(&format!(
        "{ABC} data d.out; length z 8; retain q y; array w{{2}}; set a; keep x y z q w1 w2; run;"
    ));
    assert_eq!(
        variables(&store, "/data/out.sas7bdat"),
        ["z", "q", "y", "w1", "w2", "x"]
    );
}

#[test]
fn if_0_then_set_defines_variables_and_nobs() {
    after(
        ABC,
        "data d.out; if 0 then set a nobs=n; rows = n; output; stop; run;",
        &[". . 3"],
    );
}

#[test]
fn lengths_are_fixed_by_the_first_mention() {
    let program =
        "data d.out; c = 'ab'; c = 'abcdef'; d = c || 'xyz'; e = 'a'; length f $ 3; f = d; run;";
    after("", program, &["ab abxyz a abx"]);
    let program = "data d.out; c = 'ab'; length c $ 9; c = 'abcdef'; run;";
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 1);
    says(
        &ran.log,
        "WARNING: Length of character variable c has already been set.",
    );
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["ab"]);
}

#[test]
fn what_is_not_kept_over_is_missing_at_the_top() {
    after(
        ABC,
        "data d.out; set a; if x = 1 then do; p = 1; q = 1; c = 'k'; end; retain q; n + 1; run;",
        &["1 10 1 1 k 1", "2 20 . 1  2", "3 30 . 1  3"],
    );
}

#[test]
fn a_variable_read_by_set_keeps_what_was_assigned() {
    after(
        ABC,
        "data d.out; if _n_ = 1 then set a(keep=y obs=1); set a(keep=x); y = y + 1; run;",
        &["11 1", "12 2", "13 3"],
    );
}

#[test]
fn the_next_data_set_makes_variables_of_the_one_before_missing() {
    after(
        "data a; x = 1; p = 5; run; data b; do x = 2 to 3; output; end; run;",
        "data d.out; set a(in=ina) b(in=inb); if x = 2 then p = 7; i = ina * 10 + inb; run;",
        &["1 5 10", "2 7 1", "3 7 1"],
    );
}

#[test]
fn two_set_statements_end_with_the_shorter_and_merge_with_the_longer() {
    let two = "data a; do x = 1 to 3; output; end; run; data b; do y = 1 to 2; output; end; run;";
    after(two, "data d.out; set a; set b; run;", &["1 1", "2 2"]);
    after(two, "data d.out; merge a b; run;", &["1 1", "2 2", "3 ."]);
    after(
        two,
        "data d.out; merge a b(rename=(y=x)) end=e; last = e; run;",
        &["1 0", "2 0", "3 1"],
    );
}

#[test]
fn the_end_of_the_data_stops_the_step_at_the_set_statement() {
    let program = format!("{ABC} data d.out; n + 1; put n=; set a; put 'after'; run;");
    let (ran, store) = clean(&program);
    assert_eq!(rows(&store, "/data/out.sas7bdat").len(), 3);
    assert_eq!(ran.log.matches("\nn=").count(), 4, "{}", ran.log);
    assert_eq!(ran.log.matches("\nafter").count(), 3);
}

#[test]
fn any_output_statement_does_away_with_the_implicit_one() {
    check("x = 1; if 0 then output;", &[]);
    check("x = 1; return; x = 2;", &["1"]);
    check("x = 1; stop;", &[]);
    check("x = 1; delete;", &[]);
}

#[test]
fn point_reads_any_row_and_never_ends() {
    after(
        ABC,
        "data d.out; do i = 3, 1, 3; set a point=i nobs=n; output; end; stop; run;",
        &["3 30", "1 10", "3 30"],
    );
    after(
        ABC,
        "data d.out; p = 9; set a point=p; e = _error_; output; stop; run;",
        &[". . 1"],
    );
    let log = fails(&format!(
        "{ABC} data d.out; p = 1; set a point=p; by x; stop; run;"
    ));
    says(&log, "BY cannot be used with POINT=");
}

#[test]
fn n_counts_iterations_and_automatic_variables_are_not_written() {
    after(
        ABC,
        "data d.out; set a end=e; if x ne 2; n = _n_; run;",
        &["1 10 1", "3 30 3"],
    );
}

#[test]
fn where_comes_before_and_if_after_first_and_last() {
    let setup = "data a; input k v; datalines;\n1 1\n1 2\n1 3\n2 4\n;\n";
    after(
        setup,
        "data d.out; set a; by k; if v ne 1; f = first.k; l = last.k; run;",
        &["1 2 0 0", "1 3 0 1", "2 4 1 1"],
    );
    after(
        setup,
        "data d.out; set a; by k; where v ne 1; f = first.k; l = last.k; run;",
        &["1 2 1 0", "1 3 0 1", "2 4 1 1"],
    );
}

#[test]
fn first_of_a_later_variable_is_1_when_an_earlier_one_changes() {
    after(
        "data a; input g h; datalines;\n1 1\n1 2\n2 2\n2 2\n;\n",
        "data d.out; set a; by g h; r = catx4; drop catx4; \
         f = 10 * first.g + first.h; l = 10 * last.g + last.h; drop r; run;",
        &["1 1 11 1", "1 2 1 11", "2 2 11 0", "2 2 0 11"],
    );
}

#[test]
fn descending_and_notsorted_orders() {
    after(
        "data a; input k c $; datalines;\n3 b\n3 a\n1 z\n;\n",
        "data d.out; set a; by descending k; f = first.k; run;",
        &["3 b 1", "3 a 0", "1 z 1"],
    );
    after(
        "data a; input k; datalines;\n2\n1\n1\n2\n;\n",
        "data d.out; set a; by k notsorted; f = first.k; l = last.k; run;",
        &["2 1 1", "1 1 0", "1 0 1", "2 1 1"],
    );
}

#[test]
fn unsorted_data_stop_the_step_with_the_values() {
    let log = fails("data a; input k; datalines;\n1\n3\n2\n;\n data d.out; set a; by k; run;");
    says(
        &log,
        "ERROR: BY variables are not properly sorted on data set WORK.A.",
    );
    says(&log, "k=3 FIRST.k=1 LAST.k=1 _ERROR_=0 _N_=2");
    says(
        &log,
        "The SAS System stopped processing this step because of errors.",
    );
}

#[test]
fn sets_with_by_interleave() {
    after(
        "data a; input k a; datalines;\n1 1\n2 2\n4 3\n;\n
         data b; input k b; datalines;\n2 7\n3 8\n;\n",
        "data d.out; set a b(in=inb); by k; i = inb; run;",
        &["1 1 . 0", "2 2 . 0", "2 . 7 1", "3 . 8 1", "4 3 . 0"],
    );
}

#[test]
fn merge_keeps_values_through_a_group_and_pairs_repeats_row_by_row() {
    let setup = "data one; length id $ 1 fruit $ 9; input id fruit; datalines;
a apple
a apple
b banana
c coconut
c coconut
c coconut
;
data two; length id $ 1 colour $ 9; input id colour; datalines;
a amber
b brown
b black
c cocoa
c cream
;
";
    let (ran, store) = clean(&format!("{setup} data d.out; merge one two; by id; run;"));
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        [
            "a apple amber",
            "a apple amber",
            "b banana brown",
            "b banana black",
            "c coconut cocoa",
            "c coconut cream",
            "c coconut cream"
        ]
    );
    says(
        &ran.log,
        "NOTE: MERGE statement has more than one data set with repeats of BY values.",
    );
    // The last group is paired row by row: six rows, where a join has eight.
    let (_, store) = clean(
        "data e; input num w $; datalines;\n1 one\n2 two\n5 five\n5 FIVE\n;\n
         data g; input num v $; datalines;\n1 eins\n3 drei\n5 funf\n5 fuenf\n;\n
         data d.out; merge e g; by num; run;",
    );
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        [
            "1 one eins",
            "2 two ",
            "3  drei",
            "5 five funf",
            "5 FIVE fuenf"
        ]
    );
}

#[test]
fn merge_tells_who_contributed_and_what_was_assigned_persists_in_the_group() {
    let setup = "data a; input k x; datalines;\n1 5\n3 6\n;\n
                 data b; input k y; datalines;\n1 1\n1 2\n2 3\n;\n";
    after(
        setup,
        "data d.out; merge a(in=ina) b(in=inb); by k; i = 10 * ina + inb; x = x + 1; run;",
        &["1 6 1 11", "1 7 2 11", "2 . 3 1", "3 7 . 10"],
    );
    after(
        setup,
        "data d.out; merge a(in=ina) b end=e; by k; if ina; last = e; f = first.k; l = last.k; run;",
        &["1 5 1 0 1 0", "1 5 2 0 0 1", "3 6 . 1 1 1"],
    );
}

#[test]
fn of_two_variables_of_one_name_the_one_read_last_stays() {
    after(
        "data a; k = 1; v = 1; run; data b; input k v; datalines;\n1 7\n1 8\n;\n",
        "data d.out; merge b a; by k; run;",
        &["1 1", "1 8"],
    );
}

#[test]
fn missing_values_are_small_equal_to_themselves_and_false() {
    check(
        "x = .; if x < 0 then a = 1; b = (. = .); c = (.a = .); d = not .; drop x;",
        &["1 1 0 1"],
    );
    check(
        "x = .; x + 5; y = sum(., .); z = sum(., 2); w = mean(., 4, 6); drop x;",
        &[". 2 5"],
    );
    let (ran, _) = clean("data a;\n do i = 1 to 3;\n  x = . + i;\n end;\nrun;");
    says(
        &ran.log,
        "Each place is given by: (Number of times) at (Line):(Column).\n      3 at 3:7",
    );
}

#[test]
fn division_by_zero_is_noted_dumped_and_goes_on() {
    let (ran, store) = clean("data d.out; do i = 0 to 2; x = 1 / i; output; end; run;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["0 .", "1 1", "2 0.5"]);
    says(
        &ran.log,
        "NOTE: Division by zero detected at line 1 column 32.",
    );
    says(&ran.log, "i=3 x=0.5 _ERROR_=1 _N_=1");
    says(
        &ran.log,
        "NOTE: Mathematical operations could not be performed at the following places. The results \
         of the operations have been set to missing values.\n      Each place is given by: (Number \
         of times) at (Line):(Column).\n      1 at 1:32",
    );
}

#[test]
fn as_many_errors_are_shown_as_errors_says() {
    let program = "options errors=2; data a; do x = 1 to 5; output; end; run;
        data d.out; set a; y = 1 / 0; run;";
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 1, "{}", ran.log);
    assert_eq!(ran.log.matches("_ERROR_=1").count(), 2, "{}", ran.log);
    assert_eq!(ran.log.matches("Division by zero detected").count(), 2);
    says(&ran.log, "WARNING: Limit set by ERRORS= option reached.");
    assert_eq!(rows(&store, "/data/out.sas7bdat").len(), 5);
}

#[test]
fn invalid_data_in_a_conversion_is_missing_and_an_error() {
    let (ran, store) = clean("data d.out; c = 'abc'; x = c + 1; e = _error_; run;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["abc . 1"]);
    let said = "NOTE: Invalid numeric data, c='abc' , at line 1 column 28.";
    says(&ran.log, said);
    says(&ran.log, "Character values have been converted to numeric");
    assert!(!ran.log.contains("set to missing"), "{}", ran.log);
    let (ran, _) = clean(
        "data _null_; array t{2} $ 4; array s{2} $ 4 _temporary_ ('1', 'no');
         t1 = '1'; t2 = 'b c'; do i = 1 to 2; x = t{i} + s{i}; end; y = input('7', 2.) + trim('q '); run;",
    );
    for value in ["t2='b c'", "'no'", "'q'"] {
        says(
            &ran.log,
            &format!("NOTE: Invalid numeric data, {value} , at"),
        );
    }
}

#[test]
fn numbers_become_text_of_twelve_columns() {
    check(
        "length c $ 20; x = 5; c = x || '!'; d = trim(c);",
        &["           5! 5            5!"],
    );
}

#[test]
fn texts_compare_padded_and_over_the_shorter_length() {
    check(
        "c = 'ab'; a = (c = 'ab   '); b = (c =: 'abc'); d = (c in ('x', 'ab')); e = (c >: 'a'); drop c;",
        &["1 1 1 0"],
    );
    check(
        "x = 5; a = x in (1, 3:6); b = x not in (5); drop x;",
        &["1 0"],
    );
}

#[test]
fn operators_of_the_first_group() {
    check(
        "a = 2 <> 3; b = 2 >< 3; c = 2 ** 3 ** 2; d = -2 ** 2; e = 5 max 7;",
        &["3 2 512 -4 7"],
    );
}

#[test]
fn comparisons_chain_and_are_values() {
    check(
        "x = 5; a = 1 < x < 9; b = x = 5; c = (x > 3) + (x > 4); drop x;",
        &["1 1 2"],
    );
}

#[test]
fn substr_on_the_left_changes_a_part() {
    check(
        "length c $ 6; c = 'abcdef'; substr(c, 2, 3) = 'XY'; d = c; substr(d, 5) = '!';",
        &["aXY ef aXY !"],
    );
    let (ran, store) = clean("data d.out; c = 'ab'; substr(c, 3, 1) = 'x'; run;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["ab"]);
    let told = "NOTE: Invalid second argument to function SUBSTR at line 1 column 23.";
    says(&ran.log, told);
    let (ran, _) = clean("data _null_; c = 'ab'; substr(c, 2, 2) = 'x'; run;");
    says(&ran.log, "NOTE: Invalid third argument to function SUBSTR");
}

#[test]
fn parts_outside_of_a_text_are_told_by_their_argument() {
    for (call, which) in [
        ("substr(c, 4)", "second"),
        ("substr(c, 0, 9)", "second"),
        ("substr(c, 2, 3)", "third"),
        ("substr(c, 2, 0)", "third"),
    ] {
        let (ran, _) = clean(&format!("data _null_; c = 'abc'; d = {call}; run;"));
        let told =
            format!("NOTE: Invalid {which} argument to function SUBSTR at line 1 column 29.");
        says(&ran.log, &told);
        assert!(!ran.log.contains("Mathematical operations"), "{}", ran.log);
    }
}

#[test]
fn loops_take_their_bounds_once_and_end_past_the_limit() {
    check("n = 3; do i = 1 to n; n = 9; k + 1; end;", &["9 4 3"]);
    check("do x = 0 to 1 by 0.1; n + 1; end; drop x;", &["11"]);
    check(
        "do i = 1, 5, 10 to 20 by 5; output; end;",
        &["1", "5", "10", "15", "20"],
    );
    check("do i = 1 to 9; i = i + 2; n + 1; end;", &["10 3"]);
    check("do i = 1 to 9 while (i < 4); n + 1; end;", &["4 3"]);
    check("do i = 1 to 9 until (i >= 4); n + 1; end;", &["4 4"]);
    check(
        "do i = 1 to 3 by 1 while (1) until (i = 2), 7; output; end;",
        &["1", "2", "7"],
    );
    check(
        "do c = 'small', 'skinny'; output; end;",
        &["small", "skinn"],
    );
}

#[test]
fn retain_gives_values_once_and_orders_columns() {
    after(
        ABC,
        "data d.out; retain x p 5 c 'ab'; set a; p = p + 1; run;",
        &["1 6 ab 10", "2 7 ab 20", "3 8 ab 30"],
    );
    after(
        "data a; c = 'abc'; run;",
        "data d.out; retain n c; set a; n = 1; run;",
        &["1 abc"],
    );
    check(
        "retain a b (1 2) c 7; if a = 1 then d = b + c;",
        &["1 2 7 9"],
    );
}

#[test]
fn arrays_of_all_kinds() {
    check(
        "array x{3}; do i = 1 to dim(x); x{i} = i * i; end; drop i;",
        &["1 4 9"],
    );
    check("array x(*) a b; x(2) = 5; x[1] = 4;", &["4 5"]);
    check(
        "array x{0:2} p q r; x{0} = 1; x{2} = 3; l = lbound(x); h = hbound(x);",
        &["1 . 3 0 2"],
    );
    check(
        "array m{2,3}; do i = 1 to 2; do j = 1 to dim(m, 2); m{i,j} = 10 * i + j; end; end; drop i j;",
        &["11 12 13 21 22 23"],
    );
    check(
        "array t{3} _temporary_ (1 2 3); s = t{1} + t{2} + t{3}; n = sum(of t{*});",
        &["6 6"],
    );
    check(
        "array c{2} $ 3 ('ab', 'cdef'); d = c{2} || c{1};",
        &["ab cde cdeab"],
    );
    check(
        "a1 = 1; b = 2; c = 'k'; array n{*} _numeric_; s = dim(n); d = 9;",
        &["1 2 k 2 9"],
    );
    check(
        "array x{2} (5 6); x{1} + 1; y = mean(of x{*}, 9);",
        &["6 6 7"],
    );
    check(
        "array x{3} a b c; array y{2} a c; y{2} = 4; s = sum(of a--c);",
        &[". . 4 4"],
    );
}

#[test]
fn temporary_elements_keep_their_values() {
    after(
        ABC,
        "data d.out; set a; array t{2} _temporary_; s = t{1}; t{1} = x; run;",
        &["1 10 .", "2 20 1", "3 30 2"],
    );
}

#[test]
fn a_subscript_out_of_range_stops_the_step() {
    for (body, column) in [
        ("y = x{4};", 27),
        ("x{0} = 1;", 23),
        ("i = .; x{i} = 1;", 30),
    ] {
        let log = fails(&format!("data d.out; array x{{3}}; {body} run;"));
        says(&log, "ERROR: Array subscript out of range at line 1 column");
        says(&log, "_ERROR_=0 _N_=1");
        let _ = column;
    }
}

#[test]
fn wrong_arrays_are_errors() {
    for (body, text) in [
        ("y = z{1};", "Undeclared array referenced: z"),
        (
            "array x{3} a b; x{1} = 1;",
            "Too few variables defined for the dimension(s)",
        ),
        ("array x{1} a b; x{1} = 1;", "Too many variables defined"),
        ("c = 'a'; n = 1; array x{*} c n;", "must be the same type"),
        ("array x{2,2}; x{1} = 1;", "Too few array subscripts"),
        ("array x{2}; y = x;", "The array x needs subscripts"),
        ("array x{*} _temporary_;", "needs its dimensions"),
    ] {
        says(&fails(&format!("data d.out; {body} run;")), text);
    }
}

#[test]
fn select_takes_the_first_case_that_holds() {
    let setup = "data a; do x = 1 to 4; output; end; run;";
    after(
        setup,
        "data d.out; set a; length c $ 4; select (x); when (1, 3) c = 'odd'; when (2) do; c = 'two'; end; \
         otherwise c = 'else'; end; run;",
        &["1 odd", "2 two", "3 odd", "4 else"],
    );
    after(
        setup,
        "data d.out; set a; select; when (x > 3) y = 3; when (x > 1) y = 2; otherwise; end; run;",
        &["1 .", "2 2", "3 2", "4 3"],
    );
    let log = fails("data d.out; x = 5; select (x); when (1) y = 1; end; run;");
    says(&log, "Unsatisfied WHEN clause and no OTHERWISE clause");
}

#[test]
fn several_outputs_have_options_of_their_own() {
    let (_, store) = clean(&format!(
        "{ABC} data d.out(keep=x) d.b(drop=x rename=(y=z) where=(z > 10)); set a; \
         if x = 2 then output d.b; else output; run;"
    ));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1", "3"]);
    assert_eq!(rows(&store, "/data/b.sas7bdat"), ["20", "30"]);
    assert_eq!(variables(&store, "/data/b.sas7bdat"), ["z"]);
}

#[test]
fn retain_without_a_list_keeps_what_comes_later_too() {
    after(
        ABC,
        "data d.out; retain; set a; if x = 1 then p = 7; keep x p; run;",
        &["1 7", "2 7", "3 7"],
    );
}

#[test]
fn end_is_1_on_the_last_row_that_is_read() {
    after(
        ABC,
        "data d.out; set a(where=(x < 3)) a(obs=0) end=e; l = e; keep x l; run;",
        &["1 0", "2 1"],
    );
    let empty = "data none; set a; stop; run;";
    after(
        &format!("{ABC} {empty}"),
        "data d.out; set none(in=i) a none end=e; l = 10 * i + e; keep x l; run;",
        &["1 0", "2 0", "3 1"],
    );
    after(
        &format!("{ABC} {empty}"),
        "data d.out; set a none(in=i) end=e; by x; l = 10 * i + e; keep x l; run;",
        &["1 0", "2 0", "3 1"],
    );
    let (ran, _) = clean(&format!(
        "{ABC} data b; set a end=e; if x = 2 then stop; run;"
    ));
    says(
        &ran.log,
        "There were 2 observations read from the data set WORK.A.",
    );
}

#[test]
fn rows_read_ahead_are_whole_across_pages() {
    for compress in ["no", "binary"] {
        // 333 multiples of 3, whose sum is 3 * 333 * 334 / 2; 166 multiples of 6.
        let (_, store) = clean(&format!(
            "data a(compress={compress} bufsize=4096); length c $ 60; \
             do x = 1 to 1000; c = put(x, 5.); output; end; run; \
             data d.out; set a end=e; where mod(x, 3) = 0; n + 1; s + x; \
             wrong + (c ne put(x, 5.)); if e; keep n s wrong; run; \
             data d.both; merge a(where=(mod(x, 3) = 0) in=i) \
             a(where=(mod(x, 2) = 0) in=j rename=(c=f)) end=e; by x; \
             if i and j then n + 1; if i and j then wrong + (f ne c or c ne put(x, 5.)); \
             wrong + (j and f ne put(x, 5.)); if e; keep n wrong; run;"
        ));
        assert_eq!(rows(&store, "/data/out.sas7bdat"), ["333 166833 0"]);
        assert_eq!(rows(&store, "/data/both.sas7bdat"), ["166 0"]);
    }
}

#[test]
fn where_of_an_output_counts_nothing_in_the_step() {
    let (ran, store) =
        clean("data d.out(where=(1 / (x - 2) > 0 or x = '1')); do x = 1 to 3; output; end; run;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1", "3"]);
    assert!(!ran.log.contains("at the following places"), "{}", ran.log);
}

#[test]
fn numbered_lists_name_data_sets() {
    let setup = "data a1; x = 1; run; data a2; x = 2; run; data a3; x = 3; run;";
    after(setup, "data d.out; set a1-a3; run;", &["1", "2", "3"]);
    after(
        setup,
        "data d.out; set work.a2-work.a3(in=i) a1; run;",
        &["2", "3", "1"],
    );
}

#[test]
fn variable_lists_name_variables_everywhere() {
    let setup = "data a; x1 = 1; c = 'k'; x2 = 2; xb = 3; x3 = 4; run;";
    for (list, expected) in [
        ("x1-x3", vec!["x1", "x2", "x3"]),
        ("x1--xb", vec!["x1", "c", "x2", "xb"]),
        ("x1-numeric-xb", vec!["x1", "x2", "xb"]),
        ("x1-character-x3", vec!["c"]),
        ("x:", vec!["x1", "x2", "xb", "x3"]),
        ("_numeric_", vec!["x1", "x2", "xb", "x3"]),
        ("_character_", vec!["c"]),
        ("_all_", vec!["x1", "c", "x2", "xb", "x3"]),
    ] {
        let (_, store) = clean(&format!("{setup} data d.out; set a; keep {list}; run;"));
        assert_eq!(variables(&store, "/data/out.sas7bdat"), expected, "{list}");
    }
    after(
        setup,
        "data d.out; set a; s = sum(of x:, of x1--x2); keep s; run;",
        &["13"],
    );
}

#[test]
fn labels_are_jumped_to_and_linked() {
    check("x = 1; goto over; x = 2; over: y = x;", &["1 1"]);
    check(
        "do i = 1 to 2; link add; end; return; add: n + 10; return;",
        &["3 20"],
    );
    check("i = 0; again: i = i + 1; if i < 5 then goto again;", &["5"]);
    says(
        &fails("data a; goto nowhere; run;"),
        "Statement label NOWHERE is not defined",
    );
    says(
        &fails("data a; l: link l; run;"),
        "LINK statements are nested more than 10 deep",
    );
}

#[test]
fn attrib_says_it_all() {
    let (_, store) = clean(
        "data d.out; attrib c length=$4 label='Text' n length=4 format=8.2; c = 'abcdef'; n = 1; run;",
    );
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["abcd 1"]);
}

#[test]
fn types_that_clash_are_an_error() {
    let log = fails("data a; x = 1; run; data b; x = 'a'; run; data d.out; set a b; run;");
    says(
        &log,
        "Variable x has been defined as both character and numeric",
    );
}

#[test]
fn by_variables_of_different_lengths_are_a_warning() {
    let program =
        "data a; length k $ 2; k = 'a'; x = 1; run; data b; length k $ 4; k = 'a'; y = 2; run;
        data d.out; merge a b; by k; run;";
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 1);
    says(
        &ran.log,
        "Multiple lengths were specified for the BY variable k by input data sets",
    );
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["a 1 2"]);
}

#[test]
fn uninitialized_variables_are_noted() {
    let (ran, _) = clean("data a; x = nosuch + 1; run;");
    says(&ran.log, "NOTE: Variable nosuch is uninitialized.");
    let (ran, _) = clean("data a; array x{2}; x{1} = 1; y = x1; run;");
    assert!(!ran.log.contains("uninitialized"), "{}", ran.log);
}

#[test]
fn a_step_reads_the_old_data_set_while_it_writes_the_new_one() {
    after(
        "data a; do x = 1 to 3; output; end; run;",
        "data a; set a; if x = 2 then delete; y = x; run; data d.out; set a; run;",
        &["1 1", "3 3"],
    );
}
