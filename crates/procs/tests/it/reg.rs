//! REG: against NIST's linear regression data sets, and a published listing.

#![expect(clippy::print_stdout, reason = "the digits are worth seeing")]

use std::sync::Arc;

use base::store::memory::MemoryStore;
use sas7bdat::Reader;

use crate::harness::{clean, rows, run_on, store, variables};
use crate::oracle::{csv, digits, oracles, put};

/// Numbers of the first row of D.E from Intercept on.
fn estimates(store: &MemoryStore) -> Vec<f64> {
    let bytes = store.get("/data/e.sas7bdat").unwrap();
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    let first = reader
        .metadata()
        .variables
        .iter()
        .position(|variable| variable.name == "_RMSE_")
        .unwrap();
    let columns = first..reader.metadata().variables.len();
    let row = reader.next_row().unwrap().unwrap().to_vec();
    columns
        .map(|column| reader.decode_numeric(column, &row))
        .collect()
}

/// What is not defined is missing, and zero has no sign.
#[test]
fn degenerate_models_show_missing_values() {
    let (ran, _) = clean(
        "data a; do x = 1 to 6; y = 5; z = 2 * x; w = mod(x, 2); output; end; run;
         proc reg data=a; model y = x; model w = x z; run; quit;
         proc glm data=a; model y = x / solution; run; quit;",
    );
    assert!(!ran.listing.contains("NaN"), "{}", ran.listing);
    assert!(!ran.listing.contains("-0.00000"), "{}", ran.listing);
    let words = |start: &str| -> Vec<String> {
        let line = ran
            .listing
            .lines()
            .find(|line| line.trim().starts_with(start));
        let words = line.unwrap_or_default().split_whitespace();
        words.map(str::to_owned).collect()
    };
    assert_eq!(words("z 0")[2..], ["0", "0.00000", ".", ".", "."]);
    assert_eq!(words("Root MSE").last().unwrap(), ".");
}

#[test]
fn nist_data_sets_come_out_to_the_certified_digits() {
    let Some(oracles) = oracles() else { return };
    let text = std::fs::read_to_string(oracles.join("nist_lls_exact.json")).unwrap();
    let known: serde_json::Value = serde_json::from_str(&text).unwrap();
    // Digits wanted: 9 for lower and average difficulty, 6 for higher.
    for (name, wanted) in [
        ("norris", 9.0),
        ("noint1", 9.0),
        ("noint2", 9.0),
        ("longley", 6.0),
        ("wampler1", 6.0),
        ("wampler2", 6.0),
    ] {
        let (mut names, mut rows) = csv(&oracles.join(format!("nist/{name}.csv")));
        let texts = |key: &str| -> Vec<f64> {
            let values = known[name][key].as_array().unwrap();
            values
                .iter()
                .map(|one| one.as_str().unwrap().parse().unwrap())
                .collect()
        };
        let beta = texts("beta");
        let noint = name.starts_with("noint");
        // Polynomials: the powers are regressors of their own.
        if names.len() == 2 {
            for power in 2..beta.len() {
                names.push(format!("x{power}"));
                for row in &mut rows {
                    row.push(row[1].powi(i32::try_from(power).unwrap()));
                }
            }
        }
        let store = store();
        put(&store, "a", &names, &rows);
        let program = format!(
            "proc reg data=d.a outest=d.e noprint; model {} = {}{}; run; quit;",
            names[0],
            names[1..].join(" "),
            if noint { " / noint" } else { "" }
        );
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 0, "{}", ran.log);
        let found = estimates(&store);
        // Intercept, dependent (-1), regressors: the order of the data set.
        let mut ours: Vec<f64> = if noint { vec![] } else { vec![found[1]] };
        ours.extend(&found[3..]);
        assert_eq!(ours.len(), beta.len());
        let least = ours
            .iter()
            .zip(&beta)
            .map(|(one, two)| digits(*one, *two))
            .fold(15.0, f64::min);
        let deviation: f64 = known[name]["residual_sd"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let spread = digits(found[0], deviation);
        println!("{name}: estimates {least:.1} digits, deviation {spread:.1}");
        assert!(least >= wanted, "{name}: {least}");
        if deviation > 0.0 {
            assert!(spread >= wanted, "{name}: {spread}");
        }
    }
}

/// NIST's Wampler3 to Wampler5: a polynomial with coefficients 1 for x = 0 to 20, and differences from
/// it that are orthogonal to all powers up to 5, so that the certified estimates are 1.
#[test]
fn polynomials_with_large_differences_come_out_to_the_certified_digits() {
    let half = [
        759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048,
    ];
    let differences: Vec<i32> = half
        .into_iter()
        .chain(half.into_iter().rev().skip(1))
        .collect();
    let names: Vec<String> = ["y", "x1", "x2", "x3", "x4", "x5"]
        .map(str::to_owned)
        .to_vec();
    for (name, scale, deviation, wanted) in [
        ("wampler3", 1.0, 2_360.145_023_792_68, 9.0),
        ("wampler4", 100.0, 236_014.502_379_268, 9.0),
        ("wampler5", 10_000.0, 23_601_450.237_926_8, 9.0),
    ] {
        let row = |(x, difference): (usize, &i32)| {
            let x = f64::from(u8::try_from(x).unwrap());
            let powers: Vec<f64> = (1..=5).map(|power| x.powi(power)).collect();
            let y = 1.0 + powers.iter().sum::<f64>() + scale * f64::from(*difference);
            [vec![y], powers].concat()
        };
        let data: Vec<Vec<f64>> = differences.iter().enumerate().map(row).collect();
        let store = store();
        put(&store, "a", &names, &data);
        let program = "proc reg data=d.a outest=d.e noprint; model y = x1-x5; run; quit;";
        let ran = run_on(Arc::new(store.clone()), program);
        assert_eq!(ran.exit, 0, "{}", ran.log);
        let found = estimates(&store);
        let parameters = std::iter::once(&found[1]).chain(&found[3..]);
        let least = parameters.map(|one| digits(*one, 1.0)).fold(15.0, f64::min);
        let spread = digits(found[0], deviation);
        println!("{name}: estimates {least:.1} digits, deviation {spread:.1}");
        assert!(least >= wanted && spread >= 9.0, "{name}: {least} {spread}");
    }
}

#[test]
fn the_fitness_example_prints_the_published_figures() {
    let Some(oracles) = oracles() else { return };
    let (names, rows) = csv(&oracles.join("data/fitness.csv"));
    let store = store();
    put(&store, "fitness", &names, &rows);
    let program = "proc reg data=d.fitness;
        model Oxygen=Age Weight RunTime RunPulse RestPulse MaxPulse; run; quit;";
    let ran = run_on(Arc::new(store), program);
    assert_eq!(ran.exit, 0, "{}", ran.log);
    let words: Vec<&str> = ran.listing.split_whitespace().collect();
    let text = words.join(" ");
    for part in [
        "Number of Observations Used 31",
        "Model 6 722.54361 120.42393 22.43 <.0001",
        "Error 24 128.83794 5.36825",
        "Corrected Total 30 851.38154",
        "Root MSE 2.31695 R-Square 0.8487",
        "Dependent Mean 47.37581 Adj R-Sq 0.8108",
        "Coeff Var 4.89057",
        "Intercept 1 102.93448 12.40326 8.30 <.0001",
        "RunTime 1 -2.62865 0.38456 -6.84 <.0001",
    ] {
        assert!(text.contains(part), "{part}:\n{}", ran.listing);
    }
}

const LINE: &str = "data d.a; do g = 1 to 2; do i = 1 to 10; x = i; z = i * i;
    y = 1 + g * x; if i = 10 then y = .; output; end; end; run;";

#[test]
fn by_groups_outest_and_output() {
    let (ran, store) = clean(&format!(
        "{LINE} proc reg data=d.a outest=d.e noprint; by g; model y = x;
           output out=d.p(drop=z) p=fit r=rest; run; quit;"
    ));
    assert_eq!(
        variables(&store, "/data/e.sas7bdat"),
        [
            "g",
            "_MODEL_",
            "_TYPE_",
            "_DEPVAR_",
            "_RMSE_",
            "Intercept",
            "y",
            "x"
        ]
    );
    let lines = rows(&store, "/data/e.sas7bdat");
    let numbers = |line: &str| -> Vec<f64> {
        line.split(' ')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    for (line, slope) in lines.iter().zip([1.0, 2.0]) {
        let found = numbers(line);
        assert!(
            (found[2] - 1.0).abs() < 1e-12 && (found[4] - slope).abs() < 1e-12,
            "{line}"
        );
    }
    let predicted = rows(&store, "/data/p.sas7bdat");
    assert_eq!(predicted.len(), 20);
    let last = numbers(&predicted[19].replace(" .", ""));
    assert!(
        (last[3] - 21.0).abs() < 1e-12,
        "predicted where only y is missing: {}",
        predicted[19]
    );
    assert!(
        predicted[19].ends_with(" ."),
        "no residual there: {}",
        predicted[19]
    );
    assert!(ran.listing.is_empty(), "NOPRINT: {}", ran.listing);
}

#[test]
fn what_depends_on_other_regressors_is_told() {
    let (ran, _) = clean(&format!(
        "{LINE} data d.b; set d.a; w = 2 * x - z; run;
         proc reg data=d.b; where g = 1; model y = x z w / vif ss1 clb; run; quit;"
    ));
    assert!(
        ran.listing.contains("Model is not full rank"),
        "{}",
        ran.listing
    );
    assert!(ran.listing.contains("w 0"), "{}", ran.listing);
}

#[test]
fn weights_and_frequencies_count_as_rows() {
    let (_, store) = clean(&format!(
        "{LINE} data d.b; set d.a; do k = 1 to g; output; end; run;
         proc reg data=d.b outest=d.e noprint; model y = x z; run; quit;
         proc reg data=d.a outest=d.f noprint; freq g; model y = x z; run; quit;"
    ));
    let (one, other) = (
        rows(&store, "/data/e.sas7bdat"),
        rows(&store, "/data/f.sas7bdat"),
    );
    let numbers = |line: &str| -> Vec<f64> {
        line.split(' ')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    for (left, right) in numbers(&one[0]).iter().zip(numbers(&other[0])) {
        assert!(
            (left - right).abs() < 1e-9 * left.abs().max(1.0),
            "{one:?} {other:?}"
        );
    }
}

#[test]
fn a_step_without_a_model_is_refused() {
    let ran = run_on(
        Arc::new(store()),
        &format!("{LINE} proc reg data=d.a; by g; run; quit;"),
    );
    assert_eq!(ran.exit, 2);
    assert!(ran.log.contains("needs a MODEL statement"), "{}", ran.log);
}

#[test]
fn selections_of_the_fitness_example_take_the_published_steps() {
    let Some(oracles) = oracles() else { return };
    let (names, data) = csv(&oracles.join("data/fitness.csv"));
    let store = store();
    put(&store, "fitness", &names, &data);
    let listing = |options: &str| {
        let program = format!(
            "proc reg data=d.fitness outest=d.e;
             model Oxygen=Age Weight RunTime RunPulse RestPulse MaxPulse / selection={options};
             run; quit;"
        );
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 0, "{}", ran.log);
        ran.listing.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // SAS/STAT User's Guide, PROC REG, "Aerobic Fitness Prediction".
    let forward = listing("forward");
    let steps = "1 RunTime 1 0.7434 0.7434 13.6988 84.01 <.0001 2 Age 2 0.0209 0.7642 12.3894 2.48 0.1267 \
        3 RunPulse 3 0.0468 0.8111 6.9596 6.70 0.0154 4 MaxPulse 4 0.0257 0.8368 4.8800 4.10 0.0533 \
        5 Weight 5 0.0112 0.8480 5.1063 1.84 0.1871";
    assert!(forward.contains(steps), "{forward}");
    let stepwise = listing("stepwise");
    assert!(
        stepwise.contains("4 MaxPulse 4 0.0257") && !stepwise.contains("5 Weight"),
        "{stepwise}"
    );
    let backward = listing("backward");
    let steps = "1 RestPulse 5 0.0007 0.8480 5.1063 0.11 0.7473 2 Weight 4 0.0112 0.8368 4.8800 1.84 0.1871";
    assert!(backward.contains(steps), "{backward}");
    let row = rows(&store, "/data/e.sas7bdat").remove(0);
    assert_eq!(
        row.split(' ').filter(|cell| *cell == ".").count(),
        2,
        "what is out is missing: {row}"
    );
}

#[test]
fn statistics_of_observations_agree_with_statsmodels() {
    let (_, store) = clean(
        "data d.g; do i = 1 to 200; a = mod(i, 3); b = mod(mod(i * i, 7), 4);
           x = mod(i * 13, 29) / 7; w = mod(i * 17, 23) / 5;
           y = a + 2 * b + 0.5 * a * b + 0.7 * x - 0.3 * w + 0.2 * x * a + mod(i * 31, 37) / 6; output;
           end; run;
         proc reg data=d.g noprint; model y = x w; output out=d.p(keep=p--di) p=p stdp=s lclm=lm uclm=um
           lcl=l ucl=u h=h student=st rstudent=rs cookd=c press=pr dffits=di; run; quit;
         proc glm data=d.g noprint; model y = x w; output out=d.q(keep=p--di) p=p stdp=s lclm=lm
           uclm=um lcl=l ucl=u h=h student=st rstudent=rs cookd=c press=pr dffits=di; run; quit;",
    );
    // statsmodels 0.15.0, ols("y~x+w").fit().get_prediction() and get_influence(), first row.
    let known = [
        6.916_685,
        0.302_436,
        6.320_257,
        7.513_113,
        0.615_183,
        13.218_187,
        0.009_039_33,
        0.758_354_78,
        0.757_534_11,
        0.001_748_65,
        2.423_315_23,
        0.072_350_61,
    ];
    for path in ["/data/p.sas7bdat", "/data/q.sas7bdat"] {
        let row = rows(&store, path).remove(0);
        let found: Vec<f64> = row.split(' ').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(found.len(), known.len());
        for (found, known) in found.iter().zip(known) {
            assert!((found - known).abs() < 1e-6, "{path}: {found} {known}");
        }
    }
}

#[test]
fn a_model_without_a_valid_row_is_an_error_and_other_groups_go_on() {
    let store = store();
    let ran = run_on(
        std::sync::Arc::new(store.clone()),
        "data a;
           do g = 1 to 2; do x = 1 to 5; y = 2 * x + 1; z = ifn(g = 1, ., x * x); output; end; end;
         run;
         proc reg data=a outest=d.est; by g; model y = z; output out=d.out p=p; run; quit;
         proc reg data=a; where g = 1; model y = z; run; quit;",
    );
    assert_eq!(ran.exit, 2, "{}", ran.log);
    assert_eq!(
        ran.log
            .matches("ERROR: No valid observations are found.")
            .count(),
        2,
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("NOTE: The above message was for the following BY group:"),
        "{}",
        ran.log
    );
    assert_eq!(rows(&store, "/data/est.sas7bdat").len(), 1);
    let out = rows(&store, "/data/out.sas7bdat");
    assert_eq!(out.len(), 10);
    assert!(out[0].ends_with(" ."), "{}", out[0]);
    let ran = run_on(
        std::sync::Arc::new(store.clone()),
        "data a; x = 1; y = 2; z = .; run; proc reg data=a; model x = z y; run; quit;",
    );
    assert!(
        ran.log.contains("ERROR: No valid observations are found."),
        "{}",
        ran.log
    );
}

/// 20,000 rows of some runs, with missing values, weights, and a column that is close to depending on
/// another one in some rows only.
const MANY: &str = "data d.a(compress=no) d.c(compress=yes);
    do i = 1 to 20000;
      a = mod(i * 7919, 1009) / 100; b = 1e6 + mod(i * 104729, 997) / 99; c = i / 7;
      t = a + (1 + (i > 10000) * 1e-7) * mod(i * 31, 37); u = mod(i * 31, 37);
      w = 1 + mod(i, 4); f = mod(i, 3);
      if mod(i, 101) = 0 then b = .;
      y = 3 + a - 2 * b + c / 10 + mod(i * 613, 641) / 100; output; end;
    run;";

#[test]
fn results_depend_neither_on_threads_nor_on_how_rows_are_stored() {
    for (model, more) in [
        ("y = a b c", ""),
        ("y = a b c u t", ""),
        ("y = a b c / noint", "weight w; freq f;"),
        ("y = a b", "where a > 3;"),
    ] {
        let fit = |data: &str, threads: u32| {
            let (_, store) = clean(&format!(
                "{MANY} options cpucount={threads}; proc reg data=d.{data} outest=d.e noprint;
                 {more} model {model}; run; quit;"
            ));
            estimates(&store)
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        let one = fit("a", 1);
        for (data, threads) in [("a", 2), ("c", 1), ("c", 3)] {
            assert_eq!(one, fit(data, threads), "{model} of {data} on {threads}");
        }
    }
}

/// A response without residuals has the coefficients it was made of; what is far from zero and what
/// rises with the rows loses no digits.
#[test]
fn many_rows_lose_no_digits() {
    let (_, store) = clean(
        "data a; do i = 1 to 20000; a = mod(i * 7919, 1009); b = 1000000 + mod(i * 104729, 997);
           y = 3 + 2 * a - b + i / 4; z = y + mod(i, 2) - 0.5; output; end; run;
         proc reg data=a outest=d.e noprint; model y = a b i; run; quit;",
    );
    let found = estimates(&store);
    for (found, known, error) in [
        (found[1], 3.0, 1e-6),
        (found[2], -1.0, 1e-15),
        (found[3], 2.0, 1e-9),
        (found[4], -1.0, 1e-9),
        (found[5], 0.25, 1e-9),
    ] {
        assert!((found - known).abs() <= error, "{found} {known}");
    }
}

#[test]
fn a_file_that_breaks_off_stops_all_threads() {
    let (_, store) = clean(MANY);
    let bytes = store.get("/data/a.sas7bdat").unwrap();
    for share in [2, 3, 50] {
        let mut damaged = bytes.clone();
        // A page whose rows do not fit it.
        let page = 65536 + (damaged.len() - 65536) / 65536 / share * 65536;
        damaged[page + 32..page + 40].fill(0xff);
        store.put("/data/a.sas7bdat", damaged);
        for proc in [
            "reg data=d.a; model y = a b",
            "hplogistic data=d.a; model f = a b",
        ] {
            let program = format!("options cpucount=3; proc {proc}; run; quit;");
            let ran = run_on(Arc::new(store.clone()), &program);
            assert!(ran.log.contains("ERROR: "), "{}", ran.log);
        }
    }
}
