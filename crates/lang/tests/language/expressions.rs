//! Expressions: precedence, literals, and what only WHERE has.

use crate::{lines, only_step, print};
use lang::ast::{StatementKind, Step};

fn value(text: &str) -> String {
    let Step::Data(step) = only_step(&format!("data a; v = {text}; run;")) else {
        panic!("{text}")
    };
    match &step.statements[0].kind {
        StatementKind::Assign { value, .. } => print::expr(value),
        other => panic!("{other:?}"),
    }
}

fn condition(text: &str) -> String {
    let Step::Data(step) = only_step(&format!("data a; where {text}; run;")) else {
        panic!("{text}")
    };
    match &step.statements[0].kind {
        StatementKind::Where(value) => print::expr(&value.condition),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (text, expect) in table {
        assert_eq!(&value(text), expect, "{text}");
    }
}

#[test]
fn the_first_group_of_operators_goes_from_right_to_left() {
    check(&[
        ("-2**2", "(- (** 2 2))"),
        ("2**-1", "(** 2 (- 1))"),
        ("2**3**2", "(** 2 (** 3 2))"),
        ("a><b<>c", "(min a (max b c))"),
        ("a min b max c", "(min a (max b c))"),
        ("- -a", "(- (- a))"),
        ("+a", "(+ a)"),
        ("not x=1", "(= (not x) 1)"),
        ("^x", "(not x)"),
        ("~ x & y", "(and (not x) y)"),
    ]);
}

#[test]
fn the_other_groups_go_from_left_to_right_by_precedence() {
    check(&[
        ("a-b-c", "(- (- a b) c)"),
        ("a/b*c", "(* (/ a b) c)"),
        ("a+b*c", "(+ a (* b c))"),
        ("(a+b)*c", "(* (+ a b) c)"),
        ("a||b+c", "(|| a (+ b c))"),
        ("a!!b", "(|| a b)"),
        ("a||b=c", "(= (|| a b) c)"),
        ("a or b and c", "(or a (and b c))"),
        ("a|b & c", "(or a (and b c))"),
        ("x=1 or 2", "(or (= x 1) 2)"),
        ("a ! b && c", "(or a (and b c))"),
    ]);
}

#[test]
fn comparisons_have_many_spellings() {
    check(&[
        ("a eq b", "(= a b)"),
        ("a^=b", "(ne a b)"),
        ("a ~= b", "(ne a b)"),
        ("a ne b", "(ne a b)"),
        ("a<=b", "(<= a b)"),
        ("a=<b", "(<= a b)"),
        ("a ge b", "(>= a b)"),
        ("a=>b", "(>= a b)"),
        ("a=:'x'", "(=: a \"x\")"),
        ("a gt: b", "(>: a b)"),
        ("a in:('x' 'y')", "IN:(a \"x\" \"y\")"),
        ("a not in: ('x')", "(not IN:(a \"x\"))"),
        ("a in:(1)", "(in a 1)"),
    ]);
}

#[test]
fn a_chain_of_comparisons_is_an_and() {
    check(&[
        ("a<b<c", "(and (< a b) (< b c))"),
        ("a=b=c=d", "(and (and (= a b) (= b c)) (= c d))"),
        ("a<b in (1)", "(and (< a b) (in b 1))"),
        ("y=2", "(= y 2)"),
    ]);
}

#[test]
fn in_lists_take_constants_and_ranges() {
    check(&[
        ("x in (1, 2, 5:8)", "(in x 1 2 5:8)"),
        ("x in (1 2)", "(in x 1 2)"),
        ("x in (-3:-1, .a)", "(in x -3:-1 .A)"),
        ("x not in ('a')", "(notin x \"a\")"),
        ("x notin ('a')", "(notin x \"a\")"),
        ("x ^in ('a')", "(notin x \"a\")"),
        ("x in ()", "(in x)"),
        ("x in ('1jan1960'd)", "(in x 0)"),
    ]);
}

#[test]
fn literals_have_their_values() {
    check(&[
        ("1", "1"),
        ("1.", "1"),
        (".5", "0.5"),
        ("1e3", "1000"),
        ("1.5E-2", "0.015"),
        ("0ffx", "255"),
        ("10x", "16"),
        (".", "."),
        (".a", ".A"),
        ("._", "._"),
        ("'it''s'", "\"it's\""),
        ("\"say \"\"a\"\"\"", "\"say \\\"a\\\"\""),
        ("'4a6F'x", "\"Jo\""),
        ("'ff'x", "\"ÿ\""),
        ("'my var'n", "my var"),
    ]);
}

#[test]
fn dates_count_days_and_seconds_from_1960() {
    check(&[
        ("'01jan1960'd", "0"),
        ("'01JAN2020'd", "21915"),
        ("'31dec1959'D", "-1"),
        ("'29feb2000'd", "14669"),
        ("'1-jan-26'd", "-12418"),
        ("'1jan25'd", "23742"),
        ("'12:30't", "45000"),
        ("'12:30:15.5't", "45015.5"),
        ("'12:05 am't", "300"),
        ("'1:00pm't", "46800"),
        ("'01jan1960:00:01'dt", "60"),
        ("'02jan1960 01:00:00'dt", "90000"),
    ]);
}

#[test]
fn calls_elements_and_first_and_last_are_told_apart() {
    check(&[
        ("f()", "f()"),
        ("sum(of x1-x9 y, z)", "sum(of<x[1..9] y> z)"),
        ("sum(of a--b, of _numeric_)", "sum(of<a--b> of<_numeric_>)"),
        ("put(x, 8.2)", "put(x 8.2)"),
        ("put(x, date9.)||'a'", "(|| put(x date9.) \"a\")"),
        ("input(y, $8.)", "input(y $8.)"),
        ("a{i}", "a[i]"),
        ("a[i, j+1]", "a[i (+ j 1)]"),
        ("first.x", "first.x"),
        ("LAST.x", "LAST.x"),
    ]);
}

#[test]
fn where_has_operators_of_its_own() {
    for (text, expect) in [
        ("a <> b", "(ne a b)"),
        ("x between 1 and 2 and y", "(and (between x 1 2) y)"),
        ("x not between 1 and 2", "(notbetween x 1 2)"),
        (
            "x is missing or y is not null",
            "(or (missing x) (notmissing y))",
        ),
        ("a like 'x%'", "(like a \"x%\")"),
        ("a not like 'x_'", "(notlike a \"x_\")"),
        ("a contains 'b'", "(contains a \"b\")"),
        ("a ? 'b'", "(contains a \"b\")"),
        ("not a like 'b'", "(not (like a \"b\"))"),
        ("x in (1 2)", "(in x 1 2)"),
        ("a max b", "(max a b)"),
    ] {
        assert_eq!(condition(text), expect, "{text}");
    }
}

#[test]
fn long_chains_of_or_and_sums_stay_flat_and_deep_nesting_is_refused() {
    let mut host = crate::MemoryHost::default();
    let chain = vec!["x=1"; 5_000].join(" or ");
    assert_eq!(
        lines(&format!("data a; if {chain}; run;"), &mut host).len(),
        1
    );
    let sum = "1+a-".repeat(50_000);
    let found = lines(&format!("data a; v = {sum}1; run;"), &mut host);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("(data [a] (= v +("),
        "{}",
        &found[0][..200]
    );
    for deep in [
        "(".repeat(100_000),
        "-".repeat(100_000),
        "not ".repeat(100_000),
        "2**".repeat(100_000),
        "f(".repeat(100_000),
        "a[".repeat(100_000),
        "1*".repeat(100_000) + "1",
        "a<(".repeat(190),
        "(a<".repeat(190) + "a" + &"<a)".repeat(190),
    ] {
        let found = lines(&format!("data a; v = {deep}; run;"), &mut host);
        assert_eq!(found.len(), 1, "{found:?}");
        let known = ["nested more than 200 levels", "too large", "expecting"];
        assert!(
            known.iter().any(|text| found[0].contains(text)),
            "{found:?}"
        );
    }
}
