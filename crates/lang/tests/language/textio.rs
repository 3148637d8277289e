//! Arrays, SELECT, text files, labels and objects.

use crate::check;

/// Checks the body of a DATA step.
#[track_caller]
fn body(text: &str, expect: &str) {
    check(
        &format!("data a; {text} run;"),
        &[&format!("(data [a] {expect})")],
    );
}

#[test]
fn arrays_have_bounds_types_elements_and_initial_values() {
    body("array x{3};", "(array x{1:3})");
    body(
        "array x(*) a b1-b3 _numeric_;",
        "(array x{} a b[1..3] _numeric_)",
    );
    body("array x[0:4,2] $ 8 c:;", "(array x{0:4 1:2} $ 8 c:)");
    body(
        "array x{4} _temporary_ (1 2*0 -1);",
        "(array x{1:4} temporary (1 0 0 -1))",
    );
    body(
        "array c{2} $3 ('a', 'b');",
        "(array c{1:2} $ 3 (\"a\" \"b\"))",
    );
    body("array x{2} (2*(1 2));", "(array x{1:2} (1 2 1 2))");
}

#[test]
fn elements_and_substr_are_assigned() {
    body(
        "a{1} = 2; b[i, 2] = 3; c(i) = 4;",
        "(= a[1] 2) (= b[i 2] 3) (= c[i] 4)",
    );
    body("a{i} + 1;", "(+= a[i] 1)");
    body("substr(c, 1, 2) = 'a';", "(= substr<c 1 2> \"a\")");
    body("substr(c{2}, 3) = 'a';", "(= substr<c[2] 3 > \"a\")");
    body("y = sum(of a{*}, of b(*));", "(= y sum(of<a{*}> of<b{*}>))");
}

#[test]
fn select_groups_have_whens_and_otherwise() {
    body(
        "select (x); when (1) do; y=1; end; when (2, 3) y=2; otherwise; end; z=1;",
        "(select x (when 1 (do (= y 1))) (when 2 3 (= y 2)) ()) (= z 1)",
    );
    body(
        "select; when (x > 1) y = 1; end;",
        "(select (when (> x 1) (= y 1)))",
    );
}

#[test]
fn put_and_input_have_items_of_every_style() {
    body(
        "put 'a' x= y 5.2 @12 z comma9. +1 / _all_ @;",
        "(put \"a\" x= y/5.2 @12 z/comma9. +1 / _all_ @)",
    );
    body(
        "put 3*'-' x 1-5 .2 (a b)(8. +1);",
        "(put 3*\"-\" x<1-5.2> [a b][1*/8. +1])",
    );
    body("putlog x y=;", "(putlog x y=)");
    body(
        "input x y $ z : date9. @1 c $char4. n 5-8 a{2} @@;",
        "(input x y$ z:date9. @1 c$/$char4. n<5-8.0> a[2] @@)",
    );
    body(
        "input a & $20. b ?? 8. #2 c;",
        "(input a$&:$20. b??/8. #2 c)",
    );
    body("input @'key' x; input;", "(input @\"key\" x) (input)");
}

#[test]
fn text_files_have_options() {
    body(
        "infile 'a b.csv' dlm=',' dsd firstobs=2 truncover lrecl=1000 end=last;",
        "(infile \"a b.csv\" dlm=\",\" dsd firstobs=2 truncover lrecl=1000 end=last)",
    );
    body(
        "file log; file out lrecl=200;",
        "(file log) (file out lrecl=200)",
    );
    check(
        "filename f 'a' lrecl=80; filename f clear;",
        &["(filename f \"a\" lrecl=80)", "(filename f clear)"],
    );
}

#[test]
fn data_lines_belong_to_their_step_and_the_line_that_ends_them_is_program_text() {
    check(
        "data a; input x; datalines;\n1 &x\n'2\n; proc sort; run;",
        &["(data [a] (input x) [\"1 &x\", \"'2\"])", "(proc sort <>)"],
    );
}

#[test]
fn labels_jumps_and_objects() {
    body(
        "a: x = 1; goto a; go to b; link c;",
        "(a:) (= x 1) (goto a) (goto b) (link c)",
    );
    body(
        "declare hash h(dataset: 'w.p', ordered: 'a'); dcl hiter i('h'); dcl hash g;",
        "(hash h dataset:\"w.p\" ordered:\"a\") (hiter i \"h\") (hash g)",
    );
    body(
        "h.definekey('k'); rc = h.find(key: x); n = h.num_items;",
        "h.definekey(\"k\") (= rc h.find(key:x)) (= n h.num_items)",
    );
    body(
        "attrib x y length=$8 format=$5. label='it' z length=4;",
        "(attrib ( x y length=8 format=$5. label=\"it\") ( z length=4))",
    );
}
