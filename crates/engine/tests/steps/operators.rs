//! Operators.

use crate::harness::{fails, put, run};

#[test]
fn in_with_a_colon_compares_over_the_shorter_length() {
    let program = "data a; input c $ @@; x = c in: ('ab', 'z'); y = c not in: ('ab', 'z'); \
         z = lag(c) in: ('ab', 'z'); w = c in ('ab'); put '>' c x y z w; datalines;
ab abc a zq b
;
data _null_; set a; where c in: ('ab') or c notin:('a', 'zq'); put '>' c; run;
data _null_; x = 3; y = x in: (1, 3); put '>' y; run;";
    let expected = [
        "ab 1 0 0 1",
        "abc 1 0 1 0",
        "a 0 1 1 0",
        "zq 1 0 0 0",
        "b 0 1 1 0",
    ];
    let expected = [&expected[..], &["ab", "abc", "b", "1"]].concat();
    assert_eq!(put(program), expected);
    fails(
        "data a; x = 1; y = x in: ('a'); run;",
        "IN needs a list of numbers here",
    );
}

#[test]
fn the_note_on_where_keeps_the_colon() {
    let program =
        "data a; c = 'abc'; run; data b; set a; where c in: ('ab', 'z') and c not in:('q'); run;";
    let (log, _) = run(program);
    let said = "WHERE (c in: ('ab', 'z')) and (c not in: ('q'));";
    assert!(log.contains(said), "{log}");
}
