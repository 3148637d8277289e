//! MEANS and SUMMARY.

use std::collections::BTreeMap;
use std::sync::Arc;

use sas7bdat::Reader;

use crate::harness::{clean, fails, rows, run_on, store, variables};

/// Twelve rows: `g` is a, b or blank, `k` 1 or 2, `x` 1 to 12 with two missing, `w` 1, 2, 3 in turn.
const MAKE: &str = "data d.a; length g $1;
    do i = 1 to 12;
      g = 'a'; if i > 5 then g = 'b'; if i = 12 then g = ' ';
      k = 1; if i > 3 then k = 2; if i > 8 then k = 1;
      x = i; if i = 4 then x = .; if i = 9 then x = .b;
      w = 1; if i = 2 or i = 5 or i = 8 or i = 11 then w = 2; if i = 3 or i = 6 or i = 9 then w = 3;
      output;
    end; run;";

fn lines(listing: &str) -> Vec<&str> {
    listing
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_usual_statistics_are_printed() {
    let (ran, _) = clean(&format!("{MAKE} proc means data=d.a; var x w; run;"));
    assert_eq!(
        lines(&ran.listing)[1..],
        [
            "The MEANS Procedure",
            "Variable     N         Mean      Std Dev      Minimum       Maximum",
            "-------------------------------------------------------------------",
            "x           10    6.5000000    3.8078866    1.0000000    12.0000000",
            "w           12    1.8333333    0.8348471    1.0000000     3.0000000",
            "-------------------------------------------------------------------",
        ]
    );
}

#[test]
fn summary_without_variables_counts_observations() {
    let (ran, store) = clean(&format!(
        "{MAKE} proc summary data=d.a print; class g; output out=d.o; run;
         proc summary data=d.a; by k notsorted; freq w; output out=d.by(drop=_type_); run;
         proc summary data=d.a print; run;"
    ));
    assert_eq!(
        variables(&store, "/data/o.sas7bdat"),
        ["g", "_TYPE_", "_FREQ_"]
    );
    assert_eq!(
        rows(&store, "/data/o.sas7bdat"),
        [" 0 11", "a 1 5", "b 1 6"]
    );
    assert_eq!(rows(&store, "/data/by.sas7bdat"), ["1 6", "2 9", "1 7"]);
    let counted = [
        "N", "g    Obs", "--------", "a      5", "b      6", "--------",
    ];
    assert_eq!(lines(&ran.listing)[2..8], counted, "{}", ran.listing);
    assert_eq!(lines(&ran.listing)[10..], ["N", "Obs", "---", "12", "---"]);
}

/// MEANS does so where there are no numbers.
#[test]
fn means_of_texts_counts_observations() {
    let (ran, store) = clean(&format!(
        "{MAKE} proc means data=d.a(keep=g); class g; output out=d.o; run;"
    ));
    assert_eq!(
        rows(&store, "/data/o.sas7bdat"),
        [" 0 11", "a 1 5", "b 1 6"]
    );
    let counted = [
        "N", "g    Obs", "--------", "a      5", "b      6", "--------",
    ];
    assert_eq!(lines(&ran.listing)[2..], counted, "{}", ran.listing);
}

#[test]
fn statistics_of_summary_need_variables() {
    for (options, output) in [("", "n=n"), ("", "mean(x)=m"), ("mean", "")] {
        let program =
            format!("{MAKE} proc summary data=d.a {options}; class g; output out=o {output}; run;");
        let message =
            "ERROR: PROC SUMMARY without a VAR statement only counts observations: name the";
        fails(&program, message);
    }
}

#[test]
fn one_variable_with_classes_is_printed_with_its_name_above() {
    let program = format!("{MAKE} proc means data=d.a n sum maxdec=1; class g; var x; run;");
    let (ran, _) = clean(&program);
    assert_eq!(
        lines(&ran.listing)[1..],
        [
            "The MEANS Procedure",
            "Analysis Variable : x",
            "N",
            "g    Obs    N     Sum",
            "---------------------",
            "a      5    4    11.0",
            "b      6    5    42.0",
            "---------------------",
        ]
    );
}

#[test]
fn output_has_all_types_in_order_without_rows_of_missing_classes() {
    let (_, store) = clean(&format!(
        "{MAKE} proc means data=d.a noprint; class g k; var x; output out=d.m sum=s n(x)=n; run;"
    ));
    assert_eq!(
        variables(&store, "/data/m.sas7bdat"),
        ["g", "k", "_TYPE_", "_FREQ_", "s", "n"]
    );
    assert_eq!(
        rows(&store, "/data/m.sas7bdat"),
        [
            " . 0 11 53 9",
            " 1 1 6 27 5",
            " 2 1 5 26 4",
            "a . 2 5 11 4",
            "b . 2 6 42 5",
            "a 1 3 3 6 3",
            "a 2 3 2 5 1",
            "b 1 3 3 21 2",
            "b 2 3 3 21 3",
        ]
    );
}

#[test]
fn missing_makes_missing_class_values_a_level() {
    let (_, store) = clean(&format!(
        "{MAKE} proc summary data=d.a nway missing; class g; var x; output out=d.m sum=; run;"
    ));
    assert_eq!(
        rows(&store, "/data/m.sas7bdat"),
        [" 1 1 12", "a 1 5 11", "b 1 6 42"]
    );
}

#[test]
fn types_and_ways_choose_types_and_descending_turns_the_order() {
    let (_, store) = clean(&format!(
        "{MAKE} proc summary data=d.a; class g / descending; class k; var x; types () g*k;
           output out=d.t n=; run;
         proc summary data=d.a chartype; class g k; var x; ways 1; output out=d.w n=; run;"
    ));
    assert_eq!(
        rows(&store, "/data/t.sas7bdat"),
        [
            " . 0 11 9",
            "b 1 3 3 2",
            "b 2 3 3 3",
            "a 1 3 3 3",
            "a 2 3 2 1"
        ]
    );
    assert_eq!(
        rows(&store, "/data/w.sas7bdat"),
        [" 1 01 6 5", " 2 01 5 4", "a . 10 5 4", "b . 10 6 5"]
    );
}

#[test]
fn output_without_statistics_has_five_rows() {
    let (_, store) = clean(&format!(
        "{MAKE} proc means data=d.a noprint; var x w; output out=d.m; run;"
    ));
    let rows = rows(&store, "/data/m.sas7bdat");
    assert_eq!(
        rows[..4],
        [
            "0 12 N 10 12",
            "0 12 MIN 1 1",
            "0 12 MAX 12 3",
            "0 12 MEAN 6.5 1.8333333333333333"
        ]
    );
    assert!(rows[4].starts_with("0 12 STD 3.80788"), "{}", rows[4]);
}

#[test]
fn names_are_made_by_autoname_or_given() {
    let (_, store) = clean(&format!(
        "{MAKE} proc means data=d.a noprint; var x w;
           output out=d.a1(drop=_type_ _freq_) mean= std= p50= nmiss= / autoname;
           output out=d.a2(keep=m1 m2 rename=(m1=first)) mean=m1-m2 max(w)=big; run;"
    ));
    assert_eq!(
        variables(&store, "/data/a1.sas7bdat"),
        [
            "x_Mean", "w_Mean", "x_StdDev", "w_StdDev", "x_P50", "w_P50", "x_NMiss", "w_NMiss"
        ]
    );
    assert_eq!(variables(&store, "/data/a2.sas7bdat"), ["first", "m2"]);
}

#[test]
fn two_statistics_of_one_name_are_refused() {
    let ran = run_on(
        Arc::new(store()),
        &format!("{MAKE} proc means data=d.a noprint; var x; output out=d.m mean= sum=; run;"),
    );
    assert_eq!(ran.exit, 2);
    assert!(ran.log.contains("Variable x already exists"), "{}", ran.log);
}

#[test]
fn weights_and_frequencies() {
    let (_, store) = clean(&format!(
        "{MAKE} proc means data=d.a noprint; var x; weight w;
           output out=d.w n=n mean=m sumwgt=s var=v; run;
         proc means data=d.a noprint; var x; freq w; output out=d.f n=n mean=m var=v median=p; run;"
    ));
    // x and w: 1/1 2/2 3/3 5/2 6/3 7/1 8/2 10/1 11/2 12/1: weights 18, sum 109, squares 857.
    let css = 857.0 - 109.0 * 109.0 / 18.0;
    for (file, expected) in [
        (
            "/data/w.sas7bdat",
            [0.0, 12.0, 10.0, 109.0 / 18.0, 18.0, css / 9.0],
        ),
        (
            "/data/f.sas7bdat",
            [0.0, 22.0, 18.0, 109.0 / 18.0, css / 17.0, 6.0],
        ),
    ] {
        let row = rows(&store, file).remove(0);
        let found = row.split(' ').map(|cell| cell.parse::<f64>().unwrap());
        for (found, expected) in found.zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-14 * expected,
                "{file}: {row}"
            );
        }
    }
}

/// By the definition for weights: a quantile is where the weights up to it pass its share of them all.
#[test]
fn weights_weigh_quantiles_and_leave_some_statistics_undefined() {
    let (ran, store) = clean(
        "data d.x; input x w k @@; datalines;
1 1 2 2 1 1 3 1 1 4 1 1 100 10 1
;
         proc means data=d.x noprint; var x; weight w;
           output out=d.w median=m q1=a q3=b qrange=r p1=f skewness=s kurtosis=u mode=o max=t; run;
         proc means data=d.x noprint; var x; weight w; freq k; output out=d.k q1=a p25=b median=m; run;
         data d.half; set d.x; w = w / 20; run;
         proc means data=d.half noprint; where x < 5; var x; weight w; output out=d.h median=m; run;
         proc means data=d.x mode median skewness; var x; weight w; run;",
    );
    assert_eq!(
        rows(&store, "/data/w.sas7bdat"),
        ["0 5 100 4 100 96 1 . . . 100"]
    );
    // The first row twice: 3.75 of 15 is within the fourth row.
    assert_eq!(rows(&store, "/data/k.sas7bdat"), ["0 6 3 3 100"]);
    assert_eq!(rows(&store, "/data/h.sas7bdat"), ["0 4 2.5"]);
    let line = ran.listing.lines().find(|line| line.contains("100"));
    let cells: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert_eq!(cells, [".", "100.0000000", "."], "{}", ran.listing);
}

#[test]
fn by_groups_are_independent_and_must_be_sorted() {
    let (ran, store) = clean(&format!(
        "{MAKE} proc sort data=d.a out=d.s; by k; run;
         proc means data=d.s max; by k; class g; var x; output out=d.m max=; run;"
    ));
    assert_eq!(
        rows(&store, "/data/m.sas7bdat"),
        [
            "1  0 6 11",
            "1 a 1 3 3",
            "1 b 1 3 11",
            "2  0 5 8",
            "2 a 1 2 5",
            "2 b 1 3 8"
        ]
    );
    assert!(
        ran.listing.contains("---------- k=2 ----------"),
        "{}",
        ran.listing
    );
    let ran = run_on(Arc::new(store), "proc means data=d.a; by k; var x; run;");
    assert_eq!(ran.exit, 2);
    let message = "Data set D.A is not sorted in ascending sequence. The current BY group has k=2 and \
                   the next BY group has k=1.";
    assert!(ran.log.contains(message), "{}", ran.log);
}

#[test]
fn classes_group_by_formatted_values_and_keep_the_lowest() {
    let (_, store) = clean(
        "data d.a; do i = 1 to 20; x = i / 5; format x 4.; output; end; run;
         proc means data=d.a nway noprint; class x; var i; output out=d.m n=n; run;",
    );
    assert_eq!(
        rows(&store, "/data/m.sas7bdat"),
        [
            "0.2 1 2 2",
            "0.6 1 5 5",
            "1.6 1 5 5",
            "2.6 1 5 5",
            "3.6 1 3 3"
        ]
    );
}

#[test]
fn no_rows_give_the_whole_or_no_class_level() {
    let (_, store) = clean(&format!(
        "{MAKE} proc means data=d.a noprint; where x > 99; var x; output out=d.n n=n sum=s; run;
         proc means data=d.a noprint nway; where x > 99; class g; var x; output out=d.c n=n; run;"
    ));
    assert_eq!(rows(&store, "/data/n.sas7bdat"), ["0 0 0 ."]);
    assert_eq!(rows(&store, "/data/c.sas7bdat"), [""; 0]);
}

#[test]
fn values_for_quantiles_that_do_not_fit_into_memory_stop_the_step() {
    let ran = run_on(
        Arc::new(store()),
        "options memsize=65m sumsize=1m; data d.a; do i = 1 to 50000; x = i; output; end; run;
         proc means data=d.a noprint nway; class i; var x; output out=d.m median=; run;",
    );
    assert_eq!(ran.exit, 2);
    assert!(ran.log.contains("insufficient memory"), "{}", ran.log);
}

#[test]
fn many_classes_agree_with_a_plain_count() {
    let (_, store) = clean(
        "data d.a; a = 0; b = 0; do i = 1 to 30000; a = a + 977; do while (a >= 1310); a = a - 1310; end;
           b = b + 19; if b >= 61 then b = b - 61; x = i / 7; output; end; run;
         proc summary data=d.a; class a b; var x; output out=d.m n=n sum=s mean=m std=sd; run;",
    );
    let bytes = store.get("/data/a.sas7bdat").unwrap();
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    let mut plain: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
    while let Some(row) = reader.next_row().unwrap().map(<[u8]>::to_vec) {
        let value = |column| reader.decode_numeric(column, &row);
        let key = (value(0).to_bits(), value(1).to_bits());
        plain.entry(key).or_default().push(value(3));
    }
    let bytes = store.get("/data/m.sas7bdat").unwrap();
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    let mut nway = 0;
    let mut whole = 0.0;
    while let Some(row) = reader.next_row().unwrap().map(<[u8]>::to_vec) {
        let value = |column| reader.decode_numeric(column, &row);
        if value(2) < 1.0 {
            whole = value(5);
        }
        if value(2) < 3.0 {
            continue;
        }
        nway += 1;
        let values = &plain[&(value(0).to_bits(), value(1).to_bits())];
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let css: f64 = values.iter().map(|one| (one - mean).powi(2)).sum();
        assert_eq!((value(3), value(4)), (n, n));
        assert!((value(6) - mean).abs() < 1e-9 * mean);
        if values.len() > 1 {
            assert!((value(7) - (css / (n - 1.0)).sqrt()).abs() < 1e-9 * mean);
        }
    }
    assert_eq!(nway, plain.len());
    assert!((whole - 30_000.0 * 30_001.0 / 14.0).abs() < 1e-4);
}

#[test]
fn groups_beyond_memory_go_to_a_utility_file_and_come_out_the_same() {
    let program = |options: &str| {
        format!(
            "data a;
               do i = 1 to 60000;
                 k = mod(i * 7919, 20000); g = mod(i, 3); x = i / 7; w = 1 + mod(i, 4);
                 if mod(i, 50) = 0 then x = .;
                 output;
               end;
             run;
             options {options};
             proc means data=a noprint; class k g; weight w; var x i; types () g k k*g;
               output out=d.out n=n1 n2 nmiss=m1 m2 sum=s1 s2 mean=a1 a2 std=d1 d2 min=l1 l2 max=h1 h2;
             run;"
        )
    };
    let (_, store) = clean(&program("sumsize=0"));
    let expected = rows(&store, "/data/out.sas7bdat");
    assert_eq!(expected.len(), 1 + 3 + 20_000 + 60_000);
    let (_, spilled) = clean(&program("sumsize=1m sortsize=1m"));
    let found = rows(&spilled, "/data/out.sas7bdat");
    assert_eq!(found.len(), expected.len());
    let close = |left: &str, right: &str| match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => (left - right).abs() <= 1e-11 * right.abs().max(1.0),
        _ => left == right,
    };
    for (left, right) in found.iter().zip(&expected) {
        let same = left
            .split(' ')
            .zip(right.split(' '))
            .all(|(left, right)| close(left, right));
        assert!(same, "{left}\n{right}");
    }
}

#[test]
fn options_of_output_that_are_not_there_are_refused_as_such() {
    for option in [
        "idgroup(max(x) out(i)=top)",
        "maxid(x(i))=top",
        "minid(x(i))=low",
        "/ autolabel",
        "/ ways",
        "/ levels",
        "/ inherit",
    ] {
        let word = option
            .trim_start_matches("/ ")
            .split('(')
            .next()
            .unwrap_or_default();
        fails(
            &format!("{MAKE} proc means data=d.a noprint; var x; output out=o n=n {option}; run;"),
            &format!(
                "ERROR: PROC MEANS: the option of OUTPUT {} is not valid or not implemented yet",
                word.to_ascii_uppercase()
            ),
        );
    }
}
