//! FREQ.

use std::sync::Arc;

use crate::harness::{clean, rows, run_on, store, variables};

/// Eleven rows with `a` and `b`, one of them without `a`.
const MAKE: &str = "data d.a; length a $1;
    do i = 1 to 12;
      a = 'x'; if i > 5 then a = 'y'; if i = 12 then a = ' ';
      b = 1; if i > 3 then b = 2; if i > 8 then b = 1;
      w = i; s = 1; if i > 6 then s = 2; output;
    end; run;";

fn lines(listing: &str) -> Vec<&str> {
    listing
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn one_way_tables_have_cumulated_figures() {
    let (ran, _) = clean(&format!("{MAKE} proc freq data=d.a; tables a; run;"));
    assert_eq!(
        lines(&ran.listing)[1..],
        [
            "The FREQ Procedure",
            "Cumulative    Cumulative",
            "a    Frequency    Percent     Frequency       Percent",
            "-----------------------------------------------------",
            "x            5      45.45             5         45.45",
            "y            6      54.55            11        100.00",
            "Frequency Missing = 1",
        ]
    );
}

#[test]
fn two_way_tables_are_crossed() {
    let (ran, _) = clean(&format!("{MAKE} proc freq data=d.a; tables a*b; run;"));
    assert_eq!(
        lines(&ran.listing)[2..],
        [
            "Table of a by b",
            "a         b",
            "Frequency|",
            "Percent  |",
            "Row Pct  |",
            "Col Pct  |1       |2       |  Total",
            "---------+--------+--------+",
            "x        |       3|       2|        5",
            "|   27.27|   18.18|    45.45",
            "|   60.00|   40.00|",
            "|   50.00|   40.00|",
            "---------+--------+--------+",
            "y        |       3|       3|        6",
            "|   27.27|   27.27|    54.55",
            "|   50.00|   50.00|",
            "|   50.00|   60.00|",
            "---------+--------+--------+",
            "Total            6        5        11",
            "54.55    45.45    100.00",
            "Frequency Missing = 1",
        ]
    );
}

#[test]
fn out_has_counts_and_percentages() {
    let (_, store) = clean(&format!(
        "{MAKE} proc freq data=d.a noprint; tables b*a / out=d.c outpct; weight w; run;
         proc freq data=d.a noprint; tables a / out=d.m missing; run;"
    ));
    assert_eq!(
        variables(&store, "/data/c.sas7bdat"),
        ["b", "a", "COUNT", "PERCENT", "PCT_ROW", "PCT_COL"]
    );
    // Weights: b=1: x 1+2+3, y 9+10+11; b=2: x 4+5, y 6+7+8. All 66.
    let wanted = [
        [1.0, 6.0, 6.0 / 66.0, 6.0 / 36.0, 6.0 / 15.0],
        [1.0, 30.0, 30.0 / 66.0, 30.0 / 36.0, 30.0 / 51.0],
        [2.0, 9.0, 9.0 / 66.0, 9.0 / 30.0, 9.0 / 15.0],
        [2.0, 21.0, 21.0 / 66.0, 21.0 / 30.0, 21.0 / 51.0],
    ];
    let found = rows(&store, "/data/c.sas7bdat");
    let (left_out, found): (Vec<&String>, Vec<&String>) =
        found.iter().partition(|row| row.starts_with("1  "));
    assert_eq!(left_out, ["1  12 . . ."]);
    assert_eq!(found.len(), 4);
    for (row, wanted) in found.into_iter().zip(wanted) {
        let found: Vec<f64> = row
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let percents = wanted[2..].iter().map(|one| 100.0 * one);
        let wanted: Vec<f64> = wanted[..2].iter().copied().chain(percents).collect();
        let close = found
            .iter()
            .zip(&wanted)
            .all(|(one, two)| (one - two).abs() < 1e-10);
        assert!(close && found.len() == 5, "{row}: {wanted:?}");
    }
    let counts: Vec<String> = rows(&store, "/data/m.sas7bdat");
    assert!(counts[0].starts_with(" 1 8.33"), "{counts:?}");
    assert!(counts[1].starts_with("x 5 41.6"), "{counts:?}");
}

#[test]
fn chi_square_is_printed_with_its_probability() {
    let (ran, _) = clean(&format!(
        "{MAKE} proc freq data=d.a; tables a*b / chisq norow nocol nopercent; weight w; run;"
    ));
    let words = ran.listing.split_whitespace().collect::<Vec<_>>().join(" ");
    // By hand; the probability is that of a normal deviate beyond 1.2870 on either side.
    let value = 144.0f64.powi(2) * 66.0 / (15.0 * 51.0 * 36.0 * 30.0);
    assert!(
        words.contains(&format!("Chi-Square 1 {value:.4} 0.1981")),
        "{words}"
    );
    assert!(words.contains("Phi Coefficient -0.1584"), "{words}");
    assert!(words.contains("Sample Size = 66"), "{words}");
}

/// A test of a treatment, a published example: 4.5000, 4.4629, 2.5313 and 4.2500; Fisher's test 0.9961, 0.0573,
/// 0.0533 and 0.1070.
#[test]
fn tables_of_two_by_two_have_all_tests() {
    let (ran, _) = clean(
        "data a; input treat $ outcome $ count @@; datalines;
a-test f 10 a-test u 2 control f 2 control u 4
;
         proc freq data=a; weight count; tables treat*outcome / chisq norow nocol nopercent;
           tables treat / chisq nocum; run;",
    );
    let all = lines(&ran.listing);
    let from = all
        .iter()
        .position(|line| line.starts_with("Statistics for"));
    let found: Vec<String> = all[from.unwrap()..]
        .iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        found,
        [
            "Statistics for the table",
            "Statistic DF Value Prob",
            "--------------------------------------------------------",
            "Chi-Square 1 4.5000 0.0339",
            "Likelihood Ratio Chi-Square 1 4.4629 0.0346",
            "Continuity Adj. Chi-Square 1 2.5313 0.1116",
            "Mantel-Haenszel Chi-Square 1 4.2500 0.0393",
            "Phi Coefficient 0.5000",
            "Contingency Coefficient 0.4472",
            "Cramer's V 0.5000",
            "WARNING: 75% of the cells have expected counts less",
            "than 5. Chi-Square may not be a valid test.",
            "Fisher's Exact Test",
            "------------------------------------",
            "Cell (1,1) Frequency (F) 10",
            "Left-sided Pr <= F 0.9961",
            "Right-sided Pr >= F 0.0573",
            "Table Probability (P) 0.0533",
            "Two-sided Pr <= P 0.1070",
            "Sample Size = 18",
            "treat Frequency Percent",
            "-------------------------------",
            "a-test 12 66.67",
            "control 6 33.33",
            "Chi-Square Test",
            "for Equal Proportions",
            "---------------------",
            "Chi-Square 2.0000",
            "DF 1",
            "Pr > ChiSq 0.1573",
            "Sample Size = 18",
        ]
    );
}

/// The listing of the documentation: 9 of 32 are 28.125 percent.
#[test]
fn halves_of_the_last_digit_are_rounded_up() {
    let (ran, _) = clean(
        "data pain; input dose adverse $ count @@; datalines;
0 No 26 0 Yes 6 1 No 26 1 Yes 7 2 No 23 2 Yes 9 3 No 18 3 Yes 14 4 No 9 4 Yes 23
;
         proc freq data=pain; weight count; tables dose*adverse / nocol nopercent; run;",
    );
    let shares: Vec<&str> = lines(&ran.listing)
        .into_iter()
        .filter(|line| line.contains('.'))
        .collect();
    assert_eq!(
        shares,
        [
            "|   81.25|   18.75|",
            "|   78.79|   21.21|",
            "|   71.88|   28.13|",
            "|   56.25|   43.75|",
            "|   28.13|   71.88|"
        ]
    );
}

#[test]
fn negative_weights_leave_counts_alone() {
    let (ran, store) = clean(&format!(
        "{MAKE} data d.n; set d.a; if i = 2 then w = -20; run;
         proc freq data=d.n; weight w; tables a; tables a*b / chisq out=d.c outpct;
           output out=d.t pchi; run;"
    ));
    assert_eq!(
        lines(&ran.listing)[1..],
        [
            "The FREQ Procedure",
            "Cumulative",
            "a    Frequency     Frequency",
            "----------------------------",
            "x           -7            -7",
            "y           51            44",
            "Frequency Missing = 12",
            "Table of a by b",
            "a         b",
            "Frequency|1       |2       |  Total",
            "---------+--------+--------+",
            "x        |     -16|       9|       -7",
            "---------+--------+--------+",
            "y        |      30|      21|       51",
            "---------+--------+--------+",
            "Total           14       30        44",
            "Frequency Missing = 12",
        ]
    );
    assert_eq!(
        rows(&store, "/data/c.sas7bdat")[..2],
        [" 1 12 . . .", "x 1 -16 . . ."]
    );
    assert!(store.get("/data/t.sas7bdat").is_none());
    for text in [
        "NOTE: Percentages and statistics are not computed for a*b, since some weights are negative.",
        "NOTE: The data set of the OUTPUT statement is not created.",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn lists_and_strata() {
    let (ran, _) = clean(&format!(
        "{MAKE} proc freq data=d.a; tables s*a*b; tables (s b)*a / list nocum; run;"
    ));
    for part in [
        "Table 1 of a by b",
        "Controlling for s=1",
        "Table 2 of a by b",
    ] {
        assert!(ran.listing.contains(part), "{part}: {}", ran.listing);
    }
    assert!(
        lines(&ran.listing).contains(&"s    a    Frequency    Percent"),
        "{}",
        ran.listing
    );
}

#[test]
fn by_groups_come_one_by_one() {
    let (ran, store) = clean(&format!(
        "{MAKE} proc freq data=d.a; by s; tables a / out=d.o; run;"
    ));
    assert_eq!(
        variables(&store, "/data/o.sas7bdat"),
        ["s", "a", "COUNT", "PERCENT"]
    );
    let found = rows(&store, "/data/o.sas7bdat");
    assert!(
        found[0].starts_with("1 x 5 83.3") && found[1].starts_with("1 y 1 16.6"),
        "{found:?}"
    );
    assert_eq!(found[2..], ["2  1 .", "2 y 5 100"]);
    assert!(ran.listing.contains("---------- s=2 ----------"));
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    for (program, message) in [
        ("proc freq data=d.a; tables a / fisher; run;", "FISHER"),
        ("proc freq data=d.a; tables q; run;", "Variable q not found"),
        (
            "proc freq data=d.a; tables a*b / list chisq; run;",
            "Lists show no statistics",
        ),
        (
            "proc freq data=d.a; weight a; tables b; run;",
            "does not match type",
        ),
    ] {
        let ran = run_on(Arc::new(store()), &format!("{MAKE} {program}"));
        assert_eq!(ran.exit, 2, "{program}");
        assert!(ran.log.contains(message), "{message}: {}", ran.log);
    }
}

#[test]
fn small_expected_counts_are_cautioned_against() {
    let listing = |rows: &str, tables: &str| {
        let program = format!(
            "data a; input a b w @@; datalines;\n{rows}\n;
             proc freq data=a; weight w; tables {tables} / chisq; run;"
        );
        clean(&program).0.listing
    };
    // One cell of four: 25 %; one of six: 17 %.
    let quarter = listing("1 1 30 1 2 10 2 1 10 2 2 1", "a*b");
    let said = "WARNING: 25% of the cells have expected counts less";
    assert!(quarter.contains(said), "{quarter}");
    let sixth = listing("1 1 30 1 2 10 1 3 30 2 1 10 2 2 1 2 3 20", "a*b");
    assert!(!sixth.contains("WARNING"), "{sixth}");
    let few = listing("1 1 4 2 1 5", "a");
    let said = "WARNING: The table cells have expected counts less\n";
    assert!(few.contains(said), "{few}");
    assert!(few.contains("than 5. Chi-Square may not be a valid test."));
    let enough = listing("1 1 4 2 1 6", "a");
    assert!(!enough.contains("WARNING"), "{enough}");
}

/// Eye and hair colours of children, the published example: chi-square 20.9248 with 8 degrees of
/// freedom, likelihood ratio 25.9733, phi 0.1657.
#[test]
fn output_keeps_the_statistics_of_the_last_table() {
    let (_, store) = clean(
        "data color; input eyes $ hair $ count @@; datalines;
blue fair 69 blue red 28 blue medium 68 blue dark 51 blue black 6
green fair 69 green red 38 green medium 55 green dark 37 green black 0
brown fair 90 brown red 47 brown medium 94 brown dark 94 brown black 16
;
         proc freq data=color noprint; weight count; tables eyes; tables eyes*hair / chisq;
           output out=d.tests n pchi lrchi phi;
         run;
         data d.tests; set d.tests; _pchi_ = round(_pchi_, 1e-4); p_pchi = round(p_pchi, 1e-4);
           _lrchi_ = round(_lrchi_, 1e-4); p_lrchi = round(p_lrchi, 1e-4); _phi_ = round(_phi_, 1e-4);
         run;",
    );
    assert_eq!(
        rows(&store, "/data/tests.sas7bdat"),
        ["762 20.9248 8 0.0073 25.9733 8 0.0011 0.1657"]
    );
}

/// Rows with a missing value count in OUT=, without percentages, and nowhere else.
#[test]
fn out_has_rows_of_missing_values() {
    let made = "data d.a; length b $1; do a = 1, 2, ., 2, 1, .a; do i = 1 to 2;
          b = 'x'; if i = 2 and a ne 1 then b = ' '; w = 1; output; end; end; run;";
    let out = |step: &str| {
        let (ran, store) = clean(&format!("{made} {step}"));
        (rows(&store, "/data/o.sas7bdat"), ran.listing)
    };
    let (one, listing) = out("proc freq data=d.a; tables a / out=d.o; run;");
    assert_eq!(one, [". 2 .", ".A 2 .", "1 4 50", "2 4 50"]);
    assert!(listing.contains("Frequency Missing = 4"), "{listing}");
    let (text, _) = out("proc freq data=d.a noprint; tables b / out=d.o; run;");
    assert_eq!(text, [" 4 .", "x 8 100"]);
    let (two, _) = out("proc freq data=d.a noprint; tables a*b / out=d.o outpct; weight w; run;");
    assert_eq!(
        two,
        [
            ".  1 . . .",
            ". x 1 . . .",
            ".A  1 . . .",
            ".A x 1 . . .",
            "1 x 4 66.66666666666667 100 66.66666666666667",
            "2  2 . . .",
            "2 x 2 33.333333333333336 100 33.333333333333336",
        ]
    );
    let (three, _) = out("proc freq data=d.a noprint; tables b*w*a / out=d.o; run;");
    assert_eq!(three.len(), 7);
    assert_eq!(three[6], "x 1 2 2 33.333333333333336");
    let (missing, _) = out("proc freq data=d.a noprint; tables b / out=d.o missing; run;");
    assert_eq!(missing, [" 4 33.333333333333336", "x 8 66.66666666666667"]);
    let (by, _) = out("proc freq data=d.a noprint; by w; tables a / out=d.o; where a < 1; run;");
    assert_eq!(by, ["1 . 2 .", "1 .A 2 ."]);
}

/// The lowest value stands for a level, in rows of missing values too.
#[test]
fn rows_of_missing_values_are_grouped_by_formats() {
    let (_, store) = clean(
        "proc format; value all 1-5 = 'low' 6-9 = 'high' other = 'none'; run;
         data a; do a = 3, 7; do b = ., 1; output; end; end; a = 2; b = 4; output; a = .; output; run;
         proc freq data=a noprint; tables a*b / out=d.o; format a b all.; run;",
    );
    assert_eq!(
        rows(&store, "/data/o.sas7bdat"),
        [
            ". 1 1 .",
            "2 . 1 .",
            "2 1 2 66.66666666666667",
            "7 . 1 .",
            "7 1 1 33.333333333333336"
        ]
    );
}
