//! Statements of the DATA step and global ones.

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
fn the_data_statement_names_outputs_with_options() {
    check("data; run;", &["(data [_DATA_])"]);
    check("data _null_; run;", &["(data [])"]);
    check("data a.b c; run;", &["(data [a.b c])"]);
    check(
        "data a(keep=x y1-y3 drop=z: rename=(p=q r1-r2=s1-s2) compress=binary bufsize=128k); run;",
        &[
            "(data [a(keep=x y[1..3] drop=z: rename=p>q r1>s1 r2>s2 compress=\"binary\" \
           bufsize=\"128k\")])",
        ],
    );
    check(
        "data a(where=(x<>1)); run;",
        &["(data [a(where=(ne x 1))])"],
    );
    check(
        "data a(index=(x y=(a b)/unique) label='it''s'); run;",
        &["(data [a(index=\"x y=(a b)/unique\" label=\"it's\")])"],
    );
}

#[test]
fn set_takes_data_sets_and_options() {
    body("set;", "(set _LAST_)");
    body(
        "set a b.c(obs=10) end=last nobs=n;",
        "(set a b.c(obs=\"10\") end=\"last\" nobs=\"n\")",
    );
    body("set a key=id / unique;", "(set a key=\"id\" unique)");
    body("set d: x.e:(keep=a);", "(set d: x.e:(keep=a))");
    body(
        "update a b updatemode=missingcheck;",
        "(update a b updatemode=\"missingcheck\")",
    );
}

#[test]
fn old_forms_of_arrays_are_read() {
    body(
        "array a x y; array c $ 4 p q; do over a; a = 1; end;",
        "(array a x y) (array c $ 4 p q) (loop _I_ (range 1 to DIM(a)) (= a 1))",
    );
    body("abort; if x then abort;", "(abort) (if x (abort))");
}

#[test]
fn where_may_add_to_an_earlier_one() {
    body(
        "where x; where also y; where same and z;",
        "(where x) (where-also y) (where-also z)",
    );
    body("where also = 1;", "(where (= also 1))");
}

#[test]
fn assignments_may_target_words_of_the_language() {
    body("x = 1;", "(= x 1)");
    body("x = y = 2;", "(= x (= y 2))");
    body(
        "if = 1; data = 2; set=3; title = 'a'; x + 1;",
        "(= if 1) (= data 2) (= set 3) (= title \"a\") (+= x 1)",
    );
    body("'a b'n = 1;", "(= a b 1)");
    body("n + (x > 1);", "(+= n (> x 1))");
}

#[test]
fn if_comes_with_then_else_or_alone() {
    body("if x;", "(if x)");
    body("if x then y=1;", "(if x (= y 1))");
    body(
        "if x then y=1; else y=2; z=3;",
        "(if x (= y 1) (= y 2)) (= z 3)",
    );
    body(
        "if a then if b then c=1; else c=2; else c=3;",
        "(if a (if b (= c 1) (= c 2)) (= c 3))",
    );
    body(
        "if a then do; b=1; end; else if c then delete; else stop;",
        "(if a (do (= b 1)) (if c (delete) (stop)))",
    );
    body("if a then; else b=1;", "(if a () (= b 1))");
    body("if a then b=1; else if c;", "(if a (= b 1) (if c))");
}

#[test]
fn do_has_many_forms() {
    body("do; end;", "(do)");
    body(
        "do i=1 to 10; x+i; end;",
        "(loop i (range 1 to 10) (+= x i))",
    );
    body(
        "do i=1, 5, 10 to 20 by 5, x while(y<3); end;",
        "(loop i (range 1) (range 5) (range 10 to 20 by 5) (range x (while (< y 3))))",
    );
    body(
        "do i=10 by -1 to 1 until(x); end;",
        "(loop i (range 10 to 1 by (- 1) (until x)))",
    );
    body(
        "do while(x<3); x+1; end;",
        "(loop (while (< x 3)) (+= x 1))",
    );
    body(
        "do until(eof); set b end=eof; end;",
        "(loop (until eof) (set b end=\"eof\"))",
    );
    body(
        "do while(a) until(b); leave; continue; end;",
        "(loop (while a) (until b) (leave) (continue))",
    );
    body(
        "do m='jan','feb'; end;",
        "(loop m (range \"jan\") (range \"feb\"))",
    );
}

#[test]
fn declarations_take_variable_lists() {
    body(
        "keep a x1-x9 b--c d-numeric-e f-character-g h: _all_;",
        "(keep a x[1..9] b--c d-numeric-e f-character-g h: _all_)",
    );
    body(
        "drop _numeric_ _character_ x08-x10;",
        "(drop _numeric_ _character_ x[08..10])",
    );
    body("rename a=b c1-c2=d1-d2;", "(rename a>b c1>d1 c2>d2)");
    body("retain;", "(retain)");
    body(
        "retain a b 0 c 'x' d .a e;",
        "(retain a=0 b=0 c=\"x\" d=.A e)",
    );
    body("retain a b (1, -2);", "(retain a=1 b=-2)");
    body(
        "length a b $ 20 c 8 d $200 e $8. f 3;",
        "(length a:$20 b:$20 c:8 d:$200 e:$8 f:3)",
    );
    body(
        "format a b date9. c 8.2 d $char10. e;",
        "(format a:date9. b:date9. c:8.2 d:$char10. e:)",
    );
    body(
        "format x comma12.2 y $. z best.;",
        "(format x:comma12.2 y:$. z:best.)",
    );
    body("informat a yymmdd10.;", "(informat a:yymmdd10.)");
    body("label a='A b' c=\"d\";", "(label a=\"A b\" c=\"d\")");
    body("by a descending b notsorted;", "(by a -b notsorted)");
    body("output; output a lib.b;", "(output) (output a lib.b)");
    body("return; ; comment any words;", "(return) ()");
}

#[test]
fn global_statements_act_at_once_even_inside_a_step() {
    check(
        "options fullstimer bufsize=128k fmtsearch=(a b) obs=max;",
        &["(options fullstimer bufsize=\"128k\" fmtsearch=\"a b\" obs=\"max\")"],
    );
    check(
        "libname in '/data' filelocks=none;",
        &["(libname in \"/data\" filelocks=\"none\")"],
    );
    check("libname in v9 \"/data\";", &["(libname in v9 \"/data\")"]);
    check("libname in clear;", &["(libname in clear)"]);
    check(
        "title; title2 'a' \"b\"; footnote10 plain words;",
        &[
            "(title 1)",
            "(title 2 \"ab\")",
            "(footnote 10 \"plain words\")",
        ],
    );
    check(
        "data a; options obs=1; x=1; run;",
        &["(options obs=\"1\")", "(data [a] (= x 1))"],
    );
    check("endsas; data a; run;", &["(endsas)"]);
    check("data a; endsas;", &["(data [a])", "(endsas)"]);
}

#[test]
fn else_if_chains_may_be_long() {
    let chain = "if x=1 then y=1; ".to_owned() + &"else if x=2 then y=2; ".repeat(499);
    let found = crate::lines(
        &format!("data a; {chain} run;"),
        &mut crate::MemoryHost::default(),
    );
    assert!(found[0].starts_with("(data [a]"), "{found:?}");
    let found = crate::lines(
        &format!(
            "data a; {chain}{} run;",
            "else if x then y=1; ".repeat(100_000)
        ),
        &mut crate::MemoryHost::default(),
    );
    assert!(found[0].contains("more than 500 ELSE IF"), "{}", found[0]);
}
