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
    assert_eq!(lines[2..7], ["n   x  y", "n1  1  1", "n2  2  2", "-", "3"]);
    assert!(lines[7].contains("- r=2 -"));
    assert_eq!(
        lines[8..],
        ["n   x  y", "n1  1  2", "n2  2  4", "-", "6", "=", "9"]
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
