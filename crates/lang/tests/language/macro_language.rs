//! Macros: definition, calls, flow, scopes, functions, quoting, and what the log tells about them.

use crate::{MemoryHost, check, lines};
use lang::{Macros, Scope, Session, Tracing};

/// The texts that `%put` wrote; anything else that came fails.
#[track_caller]
fn puts(text: &str, expect: &[&str]) {
    let found = lines(text, &mut MemoryHost::default());
    let expect: Vec<String> = expect
        .iter()
        .map(|line| format!("(put {line:?})"))
        .collect();
    assert_eq!(found, expect, "{text}");
}

/// What the only `%put` of an expression wrote.
#[track_caller]
fn value(expression: &str, expect: &str) {
    puts(&format!("%put [{expression}];"), &[&format!("[{expect}]")]);
}

#[test]
fn a_macro_makes_steps_statements_and_parts_of_statements() {
    check(
        "%macro m(n, out=b); data &out; x = &n; run; %mend m; %m(1) %m(2, out=c)",
        &["(data [b] (= x 1))", "(data [c] (= x 2))"],
    );
    check(
        "%macro e; 1 + 2 %mend; data a; x = %e * 3; run;",
        &["(data [a] (= x (+ 1 (* 2 3))))"],
    );
    check(
        "%macro s(v); &v = 1; %mend; data a; %s(x) %s(y) run;",
        &["(data [a] (= x 1) (= y 1))"],
    );
    check(
        "%macro name; abc %mend; data x_%name; run;",
        &["(data [x_abc])"],
    );
}

#[test]
fn calls_with_and_without_parentheses() {
    puts(
        "%macro a; %put a; %mend; %macro b(x, y=2); %put &x|&y; %mend; %a %a; %b %b() %b(1) %b(,y=3);",
        &["a", "a", "|2", "|2", "1|2", "|3"],
    );
    // A macro without parameters leaves parentheses to the text.
    check(
        "%macro d; b %mend; data %d(keep=x); run;",
        &["(data [b(keep=x)])"],
    );
}

#[test]
fn defaults_mean_the_parameters_of_their_own_macro() {
    puts(
        "%let data=outer; %macro f(data=, out=&data._x); %put &data &out; %mend; %f(data=test)",
        &["test test_x"],
    );
    // Without an outer variable, in any order, and changed since.
    puts(
        "%macro f(out=&in, in=); %put &out; %let in = b; %put &out; %mend; %f(in=a)",
        &["a", "b"],
    );
    puts(
        "%macro f(a, up=%upcase(&b), b=<&a>, q=\"&a\", n=%nrstr(&a), m=&sysmacroname);
         %put &up &b &q &n &m; %mend; %f(x)",
        &["<X> <x> \"x\" &a F"],
    );
    // An argument still means what the caller sees.
    puts(
        "%let a = outer; %macro f(a, b=); %put &a &b; %mend; %f(1, b=&a)",
        &["1 outer"],
    );
    let own = "%let a = outer; %macro f(a=&a); %put [&a]; %mend; %f %f(a=1)";
    let said = lines(own, &mut MemoryHost::default());
    let text = "The text expression &a contains a recursive reference to the macro variable A. The \
                macro variable will be assigned the null value.";
    assert!(said.iter().any(|line| line.contains(text)), "{said:?}");
    assert!(said.iter().any(|line| line.contains("[]")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("[1]")), "{said:?}");
}

#[test]
fn arguments_keep_commas_in_quotes_and_parentheses() {
    let m = "%macro m(x, y, k=0); %put <&x|&y|&k>; %mend;";
    puts(&format!("{m} %m('a,b', (c,d))"), &["<'a,b'|(c,d)|0>"]);
    puts(&format!("{m} %m(%str(a,b), k = 5)"), &["<a,b||5>"]);
    puts(&format!("{m} %m(  a b  , /* c, */ d)"), &["<a b|d|0>"]);
    puts(&format!("{m} %macro n; 1, 2 %mend; %m(%n)"), &["<1|2|0>"]);
    puts(&format!("{m} %let l = p, q; %m(&l)"), &["<p|q|0>"]);
    check(
        &format!("{m} %m(1,2,3)"),
        &["ERROR: More positional parameters found than defined (program.sas, line 1, column 46)."],
    );
    check(
        &format!("{m} %m(z=3)"),
        &[
            "ERROR: The keyword parameter Z was not defined with the macro (program.sas, line 1, \
           column 46).",
        ],
    );
    check(
        &format!("{m} %m(k=3, 4)"),
        &[
            "ERROR: All positional parameters must precede keyword parameters (program.sas, line 1, \
           column 46).",
        ],
    );
    puts(
        "%macro p / parmbuff; %put &syspbuff; %mend; %p(a, b=c)",
        &["(a, b=c)"],
    );
}

#[test]
fn conditions_choose() {
    let m = "%macro m(n); %if &n = 1 %then %put one; %else %if &n > 9 %then %do; %put many; \
             %put more; %end; %else %put &n; %mend;";
    puts(
        &format!("{m} %m(1) %m(10) %m(5)"),
        &["one", "many", "more", "5"],
    );
    check(
        "%macro m(k); data a; set b %if &k %then (keep=x); %else (drop=y); ; run; %mend; %m(1) %m(0)",
        &["(data [a] (set b(keep=x)))", "(data [a] (set b(drop=y)))"],
    );
    check(
        "%macro m; proc print %if 1 %then data=a; noobs; run; %mend; %m",
        &["(proc print <data=a noobs>)"],
    );
    puts(
        "%if a = a %then %do; %put yes; %end; %else %do; %put no; %end; %put after;",
        &["yes", "after"],
    );
    check(
        "%if 1 %then %put x;",
        &["ERROR: In open code %IF needs %THEN %DO; and %END (program.sas, line 1, column 20)."],
    );
}

#[test]
fn loops_count_and_watch() {
    puts(
        "%macro m; %do i = 1 %to 3; %put &i; %end; %put end &i; %mend; %m",
        &["1", "2", "3", "end 4"],
    );
    puts(
        "%macro m; %do i = 5 %to 1 %by -2; %put &i; %end; %mend; %m",
        &["5", "3", "1"],
    );
    puts(
        "%macro m; %do i = 2 %to 1; %put &i; %end; %put &i; %mend; %m",
        &["2"],
    );
    puts(
        "%macro m; %let i=0; %do %while(&i < 2); %let i=%eval(&i+1); %put &i; %end; %mend; %m",
        &["1", "2"],
    );
    puts(
        "%macro m; %let i=9; %do %until (&i > 3); %let i=%eval(&i+1); %put &i; %end; %mend; %m",
        &["10"],
    );
    check(
        "%macro m(n); data a; %do i = 1 %to &n; x&i = &i; %end; run; %mend; %m(2)",
        &["(data [a] (= x1 1) (= x2 2))"],
    );
    puts(
        "%macro m; %do i=1 %to 2; %do j=1 %to &i; %put &i&j; %end; %end; %mend; %m",
        &["11", "21", "22"],
    );
    // The index may be changed inside; bounds are evaluated once.
    puts(
        "%macro m; %let n=3; %do i=1 %to &n; %put &i; %let n=9; %let i=%eval(&i+1); %end; %mend; %m",
        &["1", "3"],
    );
}

#[test]
fn jumps_and_returns() {
    puts(
        "%macro m(x); %if &x %then %goto out; %put in; %out: %put out; %mend; %m(0) %m(1)",
        &["in", "out", "out"],
    );
    puts(
        "%macro m; %do i=1 %to 9; %if &i = 3 %then %return; %put &i; %end; %put no; %mend; %m %put z;",
        &["1", "2", "z"],
    );
    check(
        "%macro m; %goto nowhere; %mend; %m",
        &[
            "ERROR: The label NOWHERE of %GOTO is not in an open block of the macro (program.sas, \
             line 1, column 16).",
            "ERROR: The macro M will stop executing.",
        ],
    );
}

#[test]
fn variables_belong_to_the_nearest_scope_that_has_them() {
    let outer = "%macro outer; %local v; %let v=1; %inner %put outer &v; %mend;";
    puts(
        &format!("%macro inner; %let v=2; %mend; %let v=0; {outer} %outer %put global &v;"),
        &["outer 2", "global 0"],
    );
    puts(
        &format!(
            "%macro inner; %local v; %let v=2; %mend; %let v=0; {outer} %outer %put global &v;"
        ),
        &["outer 1", "global 0"],
    );
    puts(
        "%macro m; %let new=1; %global g; %let g=2; %mend; %m %put %symexist(new) &g;",
        &["0 2"],
    );
    puts(
        "%let v=0; %macro m(v); %let v=5; %mend; %m(1) %put &v;",
        &["0"],
    );
    puts(
        "%macro m; %local a; %put %symlocal(a)%symglobl(a)%symexist(b); %mend; %let b=; %m",
        &["101"],
    );
    check(
        "%macro m; %local a; %global a; %mend; %m %local b;",
        &[
            "ERROR: Attempt to %GLOBAL a name (A) which exists in a local environment (program.sas, \
             line 1, column 28).",
            "ERROR: The %LOCAL statement is not valid in open code (program.sas, line 1, column 42).",
        ],
    );
    puts("%let a=1; %symdel a; %put %symexist(a);", &["0"]);
}

#[test]
fn symput_goes_to_the_nearest_scope_that_is_not_empty() {
    let mut macros = Macros::new();
    macros.symput("a", "1", Scope::Nearest).unwrap();
    assert_eq!(macros.get("A").as_deref(), Some("1"));
    // While a macro with parameters runs, a new variable is its own.
    let text = "%macro m(p); data a; run; %put now; %mend; %m(1) %put after;";
    let mut session = Session::new("program.sas", text);
    let mut host = MemoryHost::default();
    assert!(session.next(&mut host).step.is_some());
    host.macros.symput("new", "x", Scope::Nearest).unwrap();
    host.macros.symput("all", "y", Scope::Global).unwrap();
    session.next(&mut host);
    assert_eq!(host.macros.get("new").as_deref(), Some("x"));
    while !session.next(&mut host).finished {}
    assert_eq!(host.macros.get("new"), None);
    assert_eq!(host.macros.get("all").as_deref(), Some("y"));
}

#[test]
fn what_a_step_sets_is_visible_to_the_macro_that_made_the_step() {
    let text = "%macro m; %do i=1 %to 2; data a; run; data &&name&i; run; %end; %mend; %m";
    let mut session = Session::new("program.sas", text);
    let mut host = MemoryHost::default();
    let mut steps = Vec::new();
    loop {
        let pulled = session.next(&mut host);
        assert!(pulled.diagnostics.is_empty(), "{:?}", pulled.diagnostics);
        steps.extend(pulled.step.as_ref().map(crate::print::step));
        if pulled.finished {
            break;
        }
        for index in 1..=steps.len() / 2 + 1 {
            let value = format!("late{index}");
            host.macros
                .symput(&format!("name{index}"), &value, Scope::Nearest)
                .unwrap();
        }
    }
    assert_eq!(
        steps,
        [
            "(data [a])",
            "(data [late1])",
            "(data [a])",
            "(data [late2])"
        ]
    );
}

#[test]
fn functions_of_characters() {
    value("%upcase(ab c)", "AB C");
    value("%lowcase(AB, c)", "ab, c");
    value("%length(abc)%length()", "30");
    value("%substr(abcdef, 2, 3)|%substr(abc, 1+1)", "bcd|bc");
    value("%index(abcabc, ca)%index(a, z)", "30");
    value(
        "%scan(a b.c, 2)|%scan(a b c, -1)|%scan(a, 3)|%scan(a-b/c, 2, -)",
        "b|c||b/c",
    );
    value("%scan(%str(a,b), 2, %str(,))", "b");
    value("%trim(a )|%left(%str( a))|%cmpres(a   b)", "a|a|a b");
    value(
        "%verify(123x, 0123)%datatyp(1.5)%datatyp(a)",
        "4NUMERICCHAR",
    );
    value("x%eval(1+1)y", "x2y");
    check(
        "%put [%substr(abc, 5)];",
        &[
            "WARNING: Argument 2 to macro function %SUBSTR is out of range.",
            "(put \"[]\")",
        ],
    );
    puts("%macro left(x); mine %mend; %put %left(a);", &["mine"]);
}

#[test]
fn expressions() {
    value("%eval(7/2 + 2*3)", "9");
    value(
        "%sysevalf(7/2)|%sysevalf(7/2, ceil)|%sysevalf(7/2, integer)",
        "3.5|4|3",
    );
    puts(
        "%macro m / minoperator; %if b in a b %then %put in; %mend; %m",
        &["in"],
    );
    check(
        "%macro m(x); %if &x + 1 > 2 %then %put a; %put b; %mend; %m(q) %put c;",
        &[
            "ERROR: A character operand was found in the %EVAL function or %IF condition where a \
             numeric operand is required. The condition was: &x + 1 > 2 (program.sas, line 1, \
             column 17).",
            "ERROR: The macro M will stop executing.",
            "(put \"c\")",
        ],
    );
    check(
        "%put %eval(1/0);",
        &[
            "ERROR: Division by zero in %EVAL is invalid (program.sas, line 1, column 6).",
            "(put \"\")",
        ],
    );
}

#[test]
fn quoting_hides_and_shows() {
    puts("%let a = %str(x; y, z); %put &a;", &["x; y, z"]);
    puts("%let a = %str(  b ); %put [&a];", &["[  b ]"]);
    puts("%let a = %str(it%'s %(); %put &a;", &["it's ("]);
    puts(
        "%let v=1; %let a = %nrstr(&v %mac); %put &a|%unquote(%nrstr(&v));",
        &["&v %mac|1"],
    );
    puts(
        "%let v=a%str(,)b; %put %scan(%quote(&v), 2, %str(,))|%bquote(&v);",
        &["b|a,b"],
    );
    check(
        "data a; x = 1 %str(;) y = 2; run;",
        &["(data [a] (= x 1) (= y 2))"],
    );
    let mut host = MemoryHost::with(&[("S", "a;b & %c 'd"), ("V", "1")]);
    assert_eq!(
        lines("%let x = %superq(s); %put &x;", &mut host),
        ["(put \"a;b & %c 'd\")"]
    );
    puts(
        "%macro m(x); %if %bquote(&x) = %str(-) %then %put minus; %mend; %m(-)",
        &["minus"],
    );
    puts(
        "%macro m(x); %if %quote(&x) = %str(or) %then %put op; %else %put no; %mend; %m(%str(a or b))",
        &["no"],
    );
    value("%qupcase(a%str(,)b)%qsubstr(a%str(;)b, 2)", "A,B;b");
    check(
        "%let a=%str(a b); title \"&a %upcase(&a)\";",
        &["(title 1 \"a b A B\")"],
    );
}

#[test]
fn functions_of_the_engine() {
    value("%sysfunc(show(a, b c, %eval(1+1)))", "<a|b c|2|>");
    value("%sysfunc(show(), best12.)", "<|best12.>");
    puts("%let x=%qsysfunc(raw(%str(a;b))); %put &x;", &["a;b"]);
    check(
        "%let a = %sysfunc(nosuch(1)); %put %symexist(a);",
        &[
            "ERROR: The function NOSUCH is unknown (program.sas, line 1, column 10).",
            "(put \"0\")",
        ],
    );
    check("data x%sysfunc(raw(1))y; run;", &["(data [x1y])"]);
}

#[test]
fn comments_in_macros() {
    puts(
        "%macro m; /* don't %put a; */ %* isn't; %put b; * it's a comment; %put c; %mend; %m",
        &["b", "c"],
    );
    check(
        "%macro m; data a; * don't; x = 1; run; %mend; %m",
        &["(data [a] (= x 1))"],
    );
}

#[test]
fn macros_define_macros_and_call_themselves() {
    puts(
        "%macro o; %macro i(x); %put &x; %mend i; %i(1) %mend o; %o %i(2)",
        &["1", "2"],
    );
    puts(
        "%macro f(n); %if &n <= 1 %then 1; %else %eval(&n * %f(%eval(&n - 1))); %mend; %put %f(10);",
        &["3628800"],
    );
    let found = lines(
        "%macro m; %m %mend; %m %put after;",
        &mut MemoryHost::default(),
    );
    assert!(
        found[0].starts_with("ERROR: Macros call each other more than 200 deep"),
        "{found:?}"
    );
    assert_eq!(found.last().map(String::as_str), Some("(put \"after\")"));
    let found = lines(
        "%macro m; %let x=%m; %mend; %m %put after;",
        &mut MemoryHost::default(),
    );
    assert!(
        found.iter().any(|line| line.contains("levels deep")),
        "{found:?}"
    );
    assert_eq!(found.last().map(String::as_str), Some("(put \"after\")"));
}

#[test]
fn names_can_come_from_references() {
    puts(
        "%macro m1; %put one; %mend; %let i=1; %let n=m1; %m&i %&n",
        &["one", "one"],
    );
}

#[test]
fn faulty_definitions_say_where() {
    for (text, error) in [
        (
            "%macro m;\n%if 1 %put a;\n%mend;",
            "Macro keyword %THEN is missing after this %IF condition (program.sas, line 2, column 13)",
        ),
        (
            "%macro m;\n%do i=1;\n%end;\n%mend;",
            "Macro keyword %TO is missing in this iterative %DO statement (program.sas, line 2, column 8)",
        ),
        (
            "%macro m;\n %do;\n%mend;",
            "There is an unclosed %DO before the %MEND (program.sas, line 3, column 1)",
        ),
        (
            "%macro m;\n%end;\n%mend;",
            "There is no matching %DO statement for the %END (program.sas, line 2, column 1)",
        ),
        (
            "%macro m(a, a); %mend;",
            "The parameter A is there twice (program.sas, line 1, column 14)",
        ),
        (
            "%macro m / store; %mend;",
            "The option STORE of the %MACRO statement is not implemented yet (program.sas, line 1, \
             column 17)",
        ),
        (
            "%macro eval(x); %mend;",
            "Macro EVAL cannot be named like a macro statement or function (program.sas, line 1, \
             column 12)",
        ),
    ] {
        check(
            &format!("{text} data b; run;"),
            &[&format!("ERROR: {error}."), "(data [b])"],
        );
    }
    check(
        "data b; run; %macro m; data a; run;",
        &[
            "(data [b])",
            "ERROR: There is no matching %MEND for the %MACRO that stands here (program.sas, line \
             1, column 20).",
        ],
    );
}

#[test]
fn errors_in_macros_name_the_line_of_the_macro() {
    check(
        "%macro m;\n  data a;\n    x = ;\n  run;\n%mend;\n%m",
        &[
            "ERROR: 22-322: Syntax error, expecting an expression but found ';' (program.sas, line 3, \
           column 9).",
        ],
    );
}

#[test]
fn put_lists_variables() {
    puts(
        "%let g=1; %macro m(p); %put _local_; %put _user_; %mend; %m(2) %put _global_;",
        &["M P 2", "M P 2", "GLOBAL G 1", "GLOBAL G 1"],
    );
    puts("%let a=1; %let b=x; %put &=a and &=b;", &["A=1 and B=x"]);
}

#[test]
fn automatic_variables_count_and_refuse() {
    let mut host = MemoryHost::default();
    host.macros.set_automatic("SYSDATE9", "01JAN2020", true);
    host.macros.set_automatic("SYSCC", "0", false);
    assert_eq!(
        lines(
            "%put &sysdate9; %let syscc=4; %put &syscc; %let sysdate9=x;",
            &mut host
        ),
        [
            "(put \"01JAN2020\")",
            "(put \"4\")",
            "ERROR: Attempt to assign a value to a read-only symbolic variable (SYSDATE9) \
             (program.sas, line 1, column 44).",
        ]
    );
    puts(
        "%macro m; %put &sysmacroname &sysindex; %mend; %m %m %put [&sysmacroname];",
        &["M 1", "M 2", "[]"],
    );
}

#[test]
fn the_log_tells_what_macros_do() {
    let host = |mprint, mlogic, symbolgen| MemoryHost {
        tracing: Tracing {
            mprint,
            mlogic,
            symbolgen,
            minoperator: false,
        },
        ..MemoryHost::default()
    };
    let text = "%macro m(n); data a; x = &n  + 1; run; %mend; %m(2)";
    assert_eq!(
        lines(text, &mut host(true, false, false)),
        [
            "MPRINT(M):   data a;",
            "MPRINT(M):   x = 2 + 1;",
            "MPRINT(M):   run;",
            "(data [a] (= x (+ 2 1)))",
        ]
    );
    assert_eq!(
        lines(
            "%let i=1; %let a1=x; %put &&a&i;",
            &mut host(false, false, true)
        ),
        [
            "SYMBOLGEN:  && resolves to &.",
            "SYMBOLGEN:  Macro variable I resolves to 1",
            "SYMBOLGEN:  Macro variable A1 resolves to x",
            "(put \"x\")",
        ]
    );
    let text =
        "%macro m(n); %local v; %let v=&n; %if &v = 1 %then %do i=1 %to 1; %end; %mend; %m(1)";
    assert_eq!(
        lines(text, &mut host(false, true, false)),
        [
            "MLOGIC(M):  Beginning execution.",
            "MLOGIC(M):  Parameter N has value 1",
            "MLOGIC(M):  %LOCAL  V",
            "MLOGIC(M):  %LET (variable name is V)",
            "MLOGIC(M):  %IF condition &v = 1 is TRUE",
            "MLOGIC(M):  %DO loop beginning; index variable I; start value is 1; stop value is 1; by \
             value is 1.",
            "MLOGIC(M):  %DO loop index variable I is now 2; loop will not iterate again.",
            "MLOGIC(M):  Ending execution.",
        ]
    );
}

#[test]
fn loops_without_end_stop_where_a_session_is_limited() {
    for text in [
        "%macro m; %do %while(1); %end; %mend; %m",
        "%macro m; %do %while(1); %put x; %end; %mend; %m",
        "%macro m; %do %while(1); %nobody; %end; %mend; %m",
        "%macro m; %a: %goto a; %mend; %m",
        "%macro m; %do %while(1); data a; run; %end; %mend; %m",
        "%macro m; %do %while(1); %let x=&x.x; %end; %mend; %let x=; data a%m; run;",
        "%let x=%nrstr(%upcase(&x)); %put %upcase(&x);",
    ] {
        let found = lines(text, &mut MemoryHost::default());
        assert!(!found.is_empty(), "{text}");
        assert!(found.len() < 400_000, "{text}");
    }
}

#[test]
fn a_value_that_is_too_long_is_cut_with_an_error() {
    let text = format!("%let n=x;{} %put %length(&n);", "%let n=&n&n;".repeat(17));
    let found = lines(&text, &mut MemoryHost::default());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].contains("exceeds maximum length (65534)"),
        "{found:?}"
    );
    assert_eq!(found[2], "(put \"65534\")");
}

#[test]
fn all_variables_together_are_bounded() {
    let long = "x".repeat(60_000);
    let text = format!(
        "%let v={long}; %macro m; %do i=1 %to 2000; %global g&i; %let g&i=&v; %end; %mend; %m"
    );
    let found = lines(&text, &mut MemoryHost::default());
    assert!(
        found.iter().any(|line| line.contains("more than 64 MiB")),
        "{}",
        found.len()
    );
}

#[test]
fn include_inside_a_macro_comes_in_its_place() {
    let mut host = MemoryHost::default();
    host.files
        .insert("f.sas".to_owned(), "%put in &x;".to_owned());
    assert_eq!(
        lines(
            "%macro m(x); %put a; %include 'f.sas'; %put b; %mend; %m(1)",
            &mut host
        ),
        ["(put \"a\")", "(put \"in 1\")", "(put \"b\")"]
    );
}

#[test]
fn executed_text_comes_before_the_rest() {
    let mut session = Session::new("program.sas", "data a; data b; run;");
    let mut host = MemoryHost::default();
    assert!(session.next(&mut host).step.is_some());
    session.execute("data x; run; data y; run;");
    let mut steps = Vec::new();
    loop {
        let pulled = session.next(&mut host);
        steps.extend(pulled.step.as_ref().map(crate::print::step));
        if pulled.finished {
            break;
        }
    }
    assert_eq!(steps, ["(data [x])", "(data [y])", "(data [b])"]);
}

/// Variables that the programs of the suites get from outside, where their value matters.
const OUTSIDE: &[(&str, &str)] = &[
    ("perm_sets", "3"),
    ("rows", "100"),
    ("some", "100"),
    ("temp_files", "30"),
];

#[test]
fn the_macros_of_the_suites_run_without_a_finding() {
    let suites = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut programs = 0;
    for suite in std::fs::read_dir(suites).unwrap() {
        let Ok(files) = std::fs::read_dir(suite.unwrap().path().join("programs")) else {
            continue;
        };
        for file in files {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let mut host = MemoryHost::with(OUTSIDE);
            // All others are 1, also those that steps of the program would set.
            for part in text.split('&').skip(1) {
                let name: String = part
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if !name.is_empty() && !host.macros.exists(&name) {
                    host.macros.set(&name, "1").unwrap();
                }
            }
            for number in 1..=8 {
                host.macros.set(&format!("table{number}"), "t").unwrap();
                host.macros.set(&format!("nap{number}"), "1").unwrap();
            }
            // What steps would do is not there: findings about statements are of no concern.
            for line in lines(&text, &mut host) {
                let about_macros = line.contains('%') && line.starts_with("ERROR")
                    || line.contains("resolved")
                    || line.contains("macro");
                assert!(!about_macros, "{}: {line}", path.display());
            }
            programs += 1;
        }
    }
    assert!(programs > 50, "{programs}");
}

#[test]
fn a_comment_that_begins_with_a_star_and_a_slash_goes_on() {
    puts(
        "%macro m(a)/*/STORE SOURCE*/; %put x&a; %mend; %m(1)",
        &["x1"],
    );
}
