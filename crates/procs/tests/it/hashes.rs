//! Hash objects and iterators.

use std::sync::Arc;

use crate::harness::{clean, fails, put, rows, run_on, store};

const PRICES: &str = "data p; length item $ 6; input item price; datalines;
pear 2
apple 1
plum 3
apple 9
;
";

/// Runs `data d.out; length item $ 6 price rc 8; <body> run;` after making P.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let (_, store) = clean(&format!(
        "{PRICES} data d.out; length item $ 6 price rc 8; {body} run;"
    ));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), expected, "{body}");
}

const DECLARED: &str = "declare hash h(dataset: 'work.p', ordered: 'a'); h.definekey('item'); \
                        h.definedata('item', 'price'); h.definedone();";

#[test]
fn find_loads_data_and_tells_whether_it_did() {
    check(
        &format!("{DECLARED} item = 'apple'; rc = h.find(); found = (rc = 0); drop rc;"),
        &["apple 1 1"],
    );
    check(
        &format!("{DECLARED} item = 'kiwi'; if h.find() ne 0 then price = -1; drop rc;"),
        &["kiwi -1"],
    );
    check(
        &format!("{DECLARED} rc = h.find(key: 'plum');"),
        &["plum 3 0"],
    );
    check(
        &format!("{DECLARED} rc = h.check(key: 'plum'); n = h.num_items;"),
        &[" . 0 3"],
    );
}

#[test]
fn duplicates_of_a_data_set_stay_out_replace_or_fail() {
    let declared = |option: &str| {
        format!(
            "declare hash h(dataset: 'work.p' {option}); h.definekey('item'); \
             h.definedata('price'); h.definedone(); rc = h.find(key: 'apple'); drop rc item;"
        )
    };
    check(&declared(""), &["1"]);
    check(&declared(", duplicate: 'replace'"), &["9"]);
    let program = format!(
        "{PRICES} data d.out; length item $ 6 price rc 8; {} run;",
        declared(", duplicate: 'error'")
    );
    let ran = run_on(Arc::new(store()), &program);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.log
            .contains("Duplicate key found when loading data set WORK.P"),
        "{}",
        ran.log
    );
}

#[test]
fn items_are_added_replaced_and_removed() {
    check(
        &format!(
            "{DECLARED} item = 'kiwi'; price = 4; rc = h.add(); a = rc ne 0; rc = h.add(); b = rc ne 0; \
             price = 5; rc = h.replace(); price = .; rc = h.find(); c = price; \
             rc = h.remove(); rc = h.check(); d = rc ne 0; n = h.num_items; \
             h.clear(); m = h.num_items; keep a b c d n m;"
        ),
        &["0 1 5 1 3 0"],
    );
    check(
        &format!(
            "{DECLARED} rc = h.ref(key: 'kiwi'); rc = h.ref(key: 'kiwi'); n = h.num_items; keep n;"
        ),
        &["4"],
    );
    check(
        &format!(
            "{DECLARED} rc = h.add(key: 'fig', data: 'fig', data: 8); rc = h.find(key: 'fig');"
        ),
        &["fig 8 0"],
    );
}

#[test]
fn iterators_go_through_items_in_order() {
    check(
        &format!(
            "{DECLARED} declare hiter i('h'); rc = i.first(); do while (rc = 0); output; rc = i.next(); end; \
             rc = i.last(); output; rc = i.prev(); output;"
        ),
        &["apple 1 0", "pear 2 0", "plum 3 0", "plum 3 0", "pear 2 0"],
    );
}

#[test]
fn conditions_of_loops_call_methods_every_time() {
    check(
        &format!("{DECLARED} declare hiter i('h'); do while (i.next() = 0); output; end;"),
        &["apple 1 .", "pear 2 .", "plum 3 ."],
    );
}

#[test]
fn multidata_keeps_items_of_a_key() {
    check(
        "declare hash h(dataset: 'work.p', multidata: 'y'); h.definekey('item'); \
         h.definedata('price'); h.definedone(); n = h.num_items; rc = h.find(key: 'apple'); \
         do while (rc = 0); output; rc = h.find_next(); end; drop item;",
        &["1 0 4", "9 0 4"],
    );
}

#[test]
fn output_writes_data_in_order() {
    let (ran, store) = clean(&format!(
        "{PRICES} data _null_; length item $ 6 price 8; declare hash h(dataset: 'p', ordered: 'd'); \
         h.definekey('item'); h.definedata('price', 'item'); h.definedone(); h.output(dataset: 'd.out'); run;"
    ));
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        ["3 plum", "2 pear", "1 apple"]
    );
    assert!(
        ran.log
            .contains("The data set D.OUT has 3 observations and 2 variables."),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("There were 4 observations read from the data set WORK.P."),
        "{}",
        ran.log
    );
}

#[test]
fn a_summary_by_hash_is_that_of_by_groups() {
    let setup = "data sale; do i = 1 to 500; k = i * 7919 - int(i * 7919 / 37) * 37; v = i; output; end; run;";
    let hash = "data _null_; length k n s 8; declare hash t(ordered: 'a'); t.definekey('k'); \
        t.definedata('k', 'n', 's'); t.definedone(); do until (last); set sale end=last; \
        if t.find() ne 0 then do; n = 0; s = 0; end; n = n + 1; s = s + v; t.replace(); end; \
        t.output(dataset: 'd.h'); stop; run;";
    let hash = hash.replace("length k n s 8;", "length n s 8; if 0 then set sale;");
    let by = "proc sort data=sale; by k; run; data d.b; set sale; by k; if first.k then do; n = 0; s = 0; end; \
        n + 1; s + v; if last.k; keep k n s; run;";
    // INT is not there yet everywhere: the remainder is taken by a loop.
    let setup = setup.replace(
        "k = i * 7919 - int(i * 7919 / 37) * 37;",
        "k + 11; if k > 36 then k + (-37);",
    );
    let (_, store) = clean(&format!("{setup} {hash} {by}"));
    let by_groups: Vec<String> = rows(&store, "/data/b.sas7bdat");
    let by_hash: Vec<String> = rows(&store, "/data/h.sas7bdat");
    assert_eq!(by_hash.len(), 37);
    assert_eq!(by_hash, by_groups);
}

#[test]
fn a_hash_object_stays_within_memsize() {
    let program = "options memsize=34m; data _null_; length k v 8; declare hash h(); h.definekey('k'); \
        h.definedata('v'); h.definedone(); do k = 1 to 5000000; v = k; rc = h.add(); end; run;";
    let ran = run_on(Arc::new(store()), program);
    assert_eq!(ran.exit, 2, "{}", ran.log);
    assert!(ran.log.contains("ERROR: Hash object added "), "{}", ran.log);
    assert!(
        ran.log.contains("items when memory failure occurred."),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("FATAL: Insufficient memory to execute DATA step program."),
        "{}",
        ran.log
    );
}

#[test]
fn wrong_objects_are_errors() {
    for (body, text) in [
        (
            "rc = h.find();",
            "h is not an object that was declared before",
        ),
        (
            "declare hash h(); h.definekey('x'); h.definedone();",
            "Undeclared key symbol x for hash object h",
        ),
        (
            "x = 1; declare hash h(); h.definekey('x');",
            "needs DEFINEKEY and DEFINEDONE",
        ),
        ("declare hiter i('h');", "h is not a hash object"),
        (
            "x = 1; declare hash h(bad: 'x'); h.definekey('x'); h.definedone();",
            "BAD: is unknown",
        ),
        (
            "x = 1; declare hash h(); h.definekey('x'); h.definedone(); h.nosuch();",
            "h.NOSUCH is unknown",
        ),
        ("declare hash h;", "_NEW_ is not implemented yet"),
        (
            "x = 1; if x = 2 then do; declare hash h(); h.definekey('x'); h.definedone(); end; rc = h.find();",
            "Uninitialized object h",
        ),
    ] {
        let ran = run_on(Arc::new(store()), &format!("data a; {body} run;"));
        assert_eq!(ran.exit, 2, "{body}");
        assert!(ran.log.contains(text), "{text}\n{}", ran.log);
    }
}

const NUMBERED: &str = "length k v 8; declare hash h(); h.definekey('k'); h.definedata('v'); \
     h.definedone(); k = 1; v = 10; h.add(); k = 2;";

#[test]
fn a_failing_method_without_a_return_code_stops_the_step() {
    for (call, text) in [
        ("k = 1; h.add();", "ERROR: Duplicate key"),
        ("h.find();", "ERROR: Key not found"),
        ("h.find(key: 3);", "ERROR: Key not found"),
        ("h.check();", "ERROR: Key not found"),
        ("h.remove();", "ERROR: Key not found"),
        ("if v = 10 then h.remove();", "ERROR: Key not found"),
    ] {
        fails(&format!("data a; {NUMBERED} {call} run;"), text);
    }
}

#[test]
fn a_method_whose_return_code_is_taken_says_nothing() {
    for (call, expected) in [
        ("rc = h.find(); x = rc ne 0;", "x=1"),
        ("k = 1; x = h.add() ne 0;", "x=1"),
        ("if h.check() then x = 2;", "x=2"),
        ("h.replace(); h.ref(); h.find(); x = v;", "x=10"),
        (
            "k = 1; h.find(); h.check(); h.remove(); x = h.num_items;",
            "x=0",
        ),
    ] {
        let program = format!("data _null_; {NUMBERED} {call} put '>' x=; run;");
        assert_eq!(put(&program), [expected], "{call}");
    }
}

#[test]
fn has_next_gives_its_answer_to_a_variable() {
    let program = "data _null_; length k v 8; declare hash h(multidata: 'y'); h.definekey('k'); \
         h.definedata('v'); h.definedone(); k = 1; do v = 10, 20, 30; h.add(); end; \
         rc = h.find(); put '>' v=; rc = h.has_next(result: more); \
         do while (more ne 0); rc = h.find_next(); put '>' v=; h.has_next(Result: more); end; \
         k = 2; r = h.find() ne 0; rc = h.has_next(result: more); put '>' more= rc=; run;";
    assert_eq!(put(program), ["v=10", "v=20", "v=30", "more=0 rc=0"]);
    for call in [
        "h.has_next()",
        "h.has_next(result: 5)",
        "h.has_next(other: m)",
    ] {
        let program = format!("data a; {NUMBERED} rc = {call}; run;");
        fails(&program, "HAS_NEXT takes RESULT: and a numeric variable");
    }
    let text = format!("data a; {NUMBERED} length c $ 4; rc = h.has_next(result: c); run;");
    fails(&text, "HAS_NEXT takes RESULT: and a numeric variable");
}
