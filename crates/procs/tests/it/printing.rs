//! PROC PRINT and PROC CONTENTS.

use crate::harness::clean;

/// The lines that print something.
fn printed(program: &str) -> Vec<String> {
    let (ran, _) = clean(program);
    let lines = ran.listing.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

const MADE: &str =
    "data a; do r = 1 to 2; do x = 1 to 2; y = x * r; n = cat('n', x); output; end; end; run;";

#[test]
fn by_id_and_sum_print_groups_and_totals() {
    let lines = printed(&format!(
        "{MADE} proc print data=a; by r; id n; var x; sum y; run;"
    ));
    assert_eq!(lines[0], "The SAS System");
    assert!(
        lines[1].contains("- r=1 -") && lines[1].len() == 80,
        "{}",
        lines[1]
    );
    assert_eq!(
        lines[2..7],
        ["n   x  y", "n1  1  1", "n2  2  2", "-      -", "r      3"]
    );
    assert!(lines[7].contains("- r=2 -"));
    assert_eq!(
        lines[8..],
        [
            "n   x  y", "n1  1  2", "n2  2  4", "-      -", "r      6", "=", "9"
        ]
    );
}

#[test]
fn n_counts_by_groups_and_with_sum_all_rows() {
    let counts = |program: &str| -> Vec<String> {
        let lines = printed(&format!("{MADE} {program}"));
        let told = lines.into_iter().filter(|line| line.contains("N = "));
        told.collect()
    };
    assert_eq!(counts("proc print data=a(obs=3) n; run;"), ["N = 3"]);
    assert_eq!(counts("proc print data=a(obs=3) n; sum y; run;"), ["N = 3"]);
    assert_eq!(
        counts("proc print data=a(obs=3) n; by r; run;"),
        ["N = 2", "N = 1"]
    );
    assert_eq!(
        counts("proc print data=a(obs=3) n; by r; sum y; run;"),
        ["N = 2", "N = 1", "Total N = 3"]
    );
    let lines = printed(&format!(
        "{MADE} proc print data=a n noobs; by r; var x; sum y; run;"
    ));
    assert_eq!(lines[2..8], ["x  y", "1  1", "2  2", "-", "3", "N = 2"]);
    assert_eq!(
        lines[9..],
        [
            "x  y",
            "1  2",
            "2  4",
            "-",
            "6",
            "=",
            "9",
            "N = 2",
            "Total N = 4"
        ]
    );
}

/// What stands in the first column of the lines that begin with a number.
fn observations(program: &str) -> Vec<u64> {
    let lines = printed(program);
    let first = lines
        .iter()
        .filter_map(|line| line.split_whitespace().next());
    first.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn observations_are_numbered_as_in_the_data_set() {
    let where_ = |how: &str| observations(&format!("{MADE} proc print data=a{how} run;"));
    assert_eq!(where_("; where x = 2;"), [2, 4]);
    assert_eq!(where_("(firstobs=3);"), [3, 4]);
    assert_eq!(where_("(firstobs=2 where=(x=2));"), [4]);
    assert_eq!(where_("; by r; where x = 1; var y;"), [1, 3]);
    assert_eq!(where_("; where y > 1 and x = 2; var n;"), [2, 4]);
}

/// With an index rows come in its order.
#[test]
fn observations_that_an_index_finds_have_their_numbers() {
    for options in ["", "compress=char", "compress=binary"] {
        let made = format!(
            "options bufsize=4k msglevel=i; data d.a({options} index=(k)); length t $40;
             do i = 1 to 2000; k = mod(i * 7, 500); t = repeat('x', mod(i, 30)); output; end; run;"
        );
        let found = observations(&format!(
            "{made} proc print data=d.a; where k = 21; var t; run;"
        ));
        assert_eq!(found, [3, 503, 1003, 1503], "{options}");
        let found = observations(&format!(
            "{made} proc print data=d.a; where k in (7, 14); by k; var t; run;"
        ));
        let wanted = [1, 501, 1001, 1501, 2, 502, 1002, 1502];
        assert_eq!(found, wanted, "{options}");
    }
}

#[test]
fn sums_of_groups_are_those_of_several_rows_and_of_outer_variables() {
    let made = "data a; input a b y; datalines;
        1 1 10
        1 1 20
        1 2 5
        2 1 7
        3 1 1
        3 2 2
        ; run;";
    let lines = printed(&format!("{made} proc print data=a; by a b; sum y; run;"));
    let told = |line: &&String| !line.contains("- a=") && !line.starts_with("Obs");
    let lines: Vec<&str> = lines[1..].iter().filter(told).map(|line| &**line).collect();
    assert_eq!(
        lines,
        [
            "1  10", "2  20", "-  --", "b  30", "3   5", "-  --", "a  35", "4  7", "5  1", "6   2",
            "-   -", "a   3", "==", "45"
        ]
    );
}

#[test]
fn id_stands_in_front_instead_of_the_row_number() {
    let lines = printed(&format!("{MADE} proc print data=a(obs=1); id n; run;"));
    assert_eq!(lines[1..], ["n   r  x  y", "n1  1  1  1"]);
}

#[test]
fn contents_lists_the_data_sets_of_a_library() {
    let lines = printed(&format!(
        "{MADE} data b; set a; run; proc contents data=work._all_ nods; run;"
    ));
    assert_eq!(
        lines[lines.len() - 2..],
        [
            "1  A                                 DATA",
            "2  B                                 DATA"
        ]
    );
}
