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

/// `first + 1 - 1 + 1 …` of so many terms behind the first.
fn long_sum(first: &str, terms: usize) -> String {
    let rest: Vec<&str> = (0..terms).map(|at| [" + one", " - 1"][at % 2]).collect();
    format!("{first}{}", rest.concat())
}

#[test]
fn sums_are_as_long_as_one_likes() {
    for terms in [99, 100, 101, 199, 201, 20_001] {
        let program = format!(
            "data a; one = 1; x = {}; if {} = 6 then y = 1; z = -({}) * 2; c = 'a' || put({}, 3.); \
             put '>' x y z c; run; data _null_; set a; where {} = 3; put '>' y; run;",
            long_sum("5", terms),
            long_sum("5", terms),
            long_sum("abs(one)", terms),
            long_sum("one", terms),
            long_sum("1 + one", terms),
        );
        let expected = if terms % 2 == 1 {
            ["6 1 -4 a  2", "1"]
        } else {
            ["5 . -2 a  1", ""]
        };
        let expected: Vec<&str> = expected
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(put(&program), expected, "{terms}");
    }
}

#[test]
fn long_sums_are_taken_from_left_to_right() {
    let zeros = " + 0".repeat(150);
    let program = format!(
        "data _null_; big = 1e16; small = 1; m = .; x = 0{zeros} + big + small - big{zeros} + 3; \
         y = 0{zeros} + m - 1; z = 0{zeros} - (1 + small) * 2 - small / 4; put '>' x y z; run;"
    );
    assert_eq!(put(&program), ["3 . -4.25"]);
    let (log, _) = run(&program);
    assert!(log.contains("Missing values were generated"), "{log}");
}

#[test]
fn long_sums_of_rows_are_those_of_each_row() {
    let program = format!(
        "data a; do one = 1 to 3, .; output; end; run; data b; set a; v = {}; run; \
         data _null_; set b; put '>' v; run;",
        long_sum("one", 201),
    );
    assert_eq!(put(&program), ["2", "104", "206", "."]);
}
