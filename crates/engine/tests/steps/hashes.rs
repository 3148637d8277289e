//! Methods of hash objects whose result nobody takes.

use crate::harness::{fails, put};

const DECLARED: &str = "length k v 8; declare hash h(); h.definekey('k'); h.definedata('v'); \
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
        fails(&format!("data a; {DECLARED} {call} run;"), text);
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
        let program = format!("data _null_; {DECLARED} {call} put '>' x=; run;");
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
        let program = format!("data a; {DECLARED} rc = {call}; run;");
        fails(&program, "HAS_NEXT takes RESULT: and a numeric variable");
    }
    let text = format!("data a; {DECLARED} length c $ 4; rc = h.has_next(result: c); run;");
    fails(&text, "HAS_NEXT takes RESULT: and a numeric variable");
}
