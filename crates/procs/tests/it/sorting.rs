//! PROC SORT against a plain sort of the same rows.

use std::sync::Arc;

use proptest::prelude::*;

use crate::harness::{clean, rows, run_on, store};

#[test]
fn numbers_and_texts_sort_as_sas_sorts_them() {
    let make = "data a; length c $3;
        do x = 3, ., 1, .z, -1, ._, 2, 1; n + 1; c = 'b'; if n > 4 then c = 'a'; output; end; run;";
    for (by, expected) in [
        (
            "x",
            vec!["._ 6", ". 2", ".Z 4", "-1 5", "1 3", "1 8", "2 7", "3 1"],
        ),
        (
            "descending x",
            vec!["3 1", "2 7", "1 3", "1 8", "-1 5", ".Z 4", ". 2", "._ 6"],
        ),
        (
            "c x",
            vec!["._ 6", "-1 5", "1 8", "2 7", ". 2", ".Z 4", "1 3", "3 1"],
        ),
        (
            "descending c n",
            vec!["3 1", ". 2", "1 3", ".Z 4", "-1 5", "._ 6", "2 7", "1 8"],
        ),
    ] {
        let program = format!("{make} proc sort data=a out=d.s(drop=c); by {by}; run;");
        let (_, store) = clean(&program);
        assert_eq!(rows(&store, "/data/s.sas7bdat"), expected, "{by}");
    }
}

#[test]
fn nodupkey_keeps_the_first_of_every_key() {
    let program = "data a; do x = 2, 1, 2, 1, 3; n + 1; output; end; run;
        proc sort data=a out=d.s nodupkey; by x; run;";
    let (ran, store) = clean(program);
    assert_eq!(rows(&store, "/data/s.sas7bdat"), ["1 2", "2 1", "3 5"]);
    assert!(
        ran.log
            .contains("2 observations with duplicate key values were deleted.")
    );
}

#[test]
fn options_of_both_data_sets_apply() {
    let program = "data a; do x = 5 to 1 by -1; y = -x; output; end; run;
        proc sort data=a(where=(x ne 3)) out=d.s(keep=y rename=(y=z)); by x; run;";
    let (_, store) = clean(program);
    assert_eq!(rows(&store, "/data/s.sas7bdat"), ["-1", "-2", "-4", "-5"]);
}

#[test]
fn sorting_a_part_in_place_is_refused() {
    let program = "data d.a; x = 1; run; proc sort data=d.a(where=(x > 1)); by x; run;";
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 2);
    assert!(ran.log.contains("would lose the rest"), "{}", ran.log);
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1"]);
}

#[test]
fn sorting_in_place_under_obs_or_firstobs_is_refused() {
    let make = "data d.a; do x = 3 to 1 by -1; output; end; run;";
    for sort in [
        "options obs=2; proc sort data=d.a; by x; run;",
        "options firstobs=2; proc sort data=d.a force; by x; run;",
        "options obs=2; proc sort data=d.a out=d.a; by x; run;",
    ] {
        let store = store();
        let ran = run_on(Arc::new(store.clone()), &format!("{make} {sort}"));
        assert_eq!(ran.exit, 2, "{sort}");
        assert!(ran.log.contains("would lose the rest"), "{}", ran.log);
        assert_eq!(rows(&store, "/data/a.sas7bdat"), ["3", "2", "1"], "{sort}");
    }
}

#[test]
fn an_unknown_name_in_the_options_of_out_is_a_warning() {
    for option in ["drop=nosuch", "keep=x nosuch", "rename=(nosuch=b)"] {
        let store = store();
        let program = format!("data a; x = 1; run; proc sort data=a out=d.s({option}); by x; run;");
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 1, "{option}");
        let said = "WARNING: The variable nosuch in the DROP, KEEP, or RENAME list";
        assert!(ran.log.contains(said), "{}", ran.log);
        assert_eq!(rows(&store, "/data/s.sas7bdat"), ["1"], "{option}");
    }
}

/// 30,000 rows of 40 bytes in 1 MiB of memory: spills; with blocks of 1 MiB the runs cannot be
/// merged at once, so a second utility file comes in.
#[test]
fn sorts_that_spill_and_merge_twice_agree_with_sorts_in_memory() {
    let make = "data a; do i = 1 to 30000; k = i * 7919; k = k - 30011 * 7; x = k / 17;
        do j = 1 to 3; k = k - (k > 15000) * 12345; end; c = 'abcdefghij'; output; end; run;";
    let sort = |options: &str, out: &str| {
        format!("{options} proc sort data=a out=d.{out}; by k descending i; run;")
    };
    let program = format!(
        "{make} {} {} {}",
        sort("", "memory"),
        sort("options sortsize=1m;", "once"),
        sort("options sortsize=1m ubufsize=1m;", "twice")
    );
    let (ran, store) = clean(&program);
    let sorted = |name: &str| rows(&store, format!("/data/{name}.sas7bdat"));
    assert_eq!(sorted("memory").len(), 30_000);
    assert!(sorted("memory") == sorted("once") && sorted("once") == sorted("twice"));
    let sorts: Vec<_> = ran.steps.iter().filter_map(|step| step.sort).collect();
    assert_eq!((sorts[0].runs, sorts[0].merges), (0, 0));
    assert!(sorts[1].runs > 1 && sorts[1].merges == 1, "{sorts:?}");
    assert!(sorts[2].runs > 2 && sorts[2].merges > 1, "{sorts:?}");
    let hashes: Vec<_> = ran.steps[1..]
        .iter()
        .map(|step| step.outputs[0].rows)
        .collect();
    assert!(
        hashes[0] == hashes[1] && hashes[1] == hashes[2],
        "the same multiset of rows"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_come_out_in_order_and_complete(
        values in prop::collection::vec((-20i32..20, 0u8..4), 0..200),
    ) {
        let lines: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(n, (x, c))| format!("x = {x}; c = '{}'; n = {n}; output;", "abcd".repeat(usize::from(*c))))
            .collect();
        let program = format!(
            "data a; length c $12 x n 8; {} if 0 then output; run;
             proc sort data=a out=d.s; by c descending x; run;",
            lines.join(" ")
        );
        let (_, store) = clean(&program);
        let mut expected: Vec<(String, i32, usize)> = values
            .iter()
            .enumerate()
            .map(|(n, (x, c))| ("abcd".repeat(usize::from(*c)).chars().take(12).collect(), -*x, n))
            .collect();
        expected.sort();
        let expected: Vec<String> =
            expected.iter().map(|(c, x, n)| format!("{c} {} {n}", -x)).collect();
        prop_assert_eq!(rows(&store, "/data/s.sas7bdat"), expected);
    }
}
