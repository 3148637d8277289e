//! LOGISTIC and HPLOGISTIC: against figures known for SAS's examples and figures of statsmodels.

use std::path::Path;
use std::sync::Arc;

use crate::harness::{clean, fails, rows, run_on, store, variables};
use crate::oracle::{csv, digits, oracles, put};

/// The listing with one blank between words.
fn words(listing: &str) -> String {
    listing.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A DATA step with the lines of a CSV file.
fn lines(path: &Path, name: &str, input: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let data: Vec<&str> = text.lines().skip(1).collect();
    format!(
        "data {name}; infile datalines dsd; input {input}; datalines;\n{}\n;\nrun;\n",
        data.join("\n")
    )
}

fn holds(listing: &str, parts: &[&str]) {
    let text = words(listing);
    for part in parts {
        assert!(text.contains(part), "{part}:\n{listing}");
    }
}

#[test]
fn effect_and_glm_codings_of_the_neuralgia_example() {
    let Some(oracles) = oracles() else { return };
    let path = oracles.join("data/neuralgia.csv");
    let data = lines(&path, "n", "Treatment $ Sex $ Age Duration Pain $");
    let (ran, _) = clean(&format!(
        "{data} proc logistic data=n; class Treatment Sex;
           model Pain = Treatment Sex Treatment*Sex Age Duration; run;"
    ));
    // statsmodels 0.15.0, logit("y ~ C(Treatment,Sum)*C(Sex,Sum)+Age+Duration").fit(); the Wald
    // chi-squares 11.9886 5.3105 0.1412 7.2744 0.0247 are computed from it, too.
    holds(
        &ran.listing,
        &[
            "Probability modeled is Pain='No'.",
            "Treatment A 1 0 B 0 1 P -1 -1 Sex F 1 M -1",
            "-2 Log L 81.503 48.596",
            "Treatment 2 11.9886 0.0025 Sex 1 5.3105 0.0212 Treatment*Sex 2 0.1412 0.9318 \
             Age 1 7.2744 0.0070 Duration 1 0.0247 0.8752",
            "Intercept 1 19.2236 7.1315",
            "Treatment A 1 0.8483 0.5502",
            "Treatment B 1 1.4949 0.6622",
            "Treatment*Sex A F 1 -0.2010 0.5568",
            "Treatment*Sex B F 1 0.0487 0.5563",
            "Duration 1 0.0052 0.0333",
        ],
    );
    assert!(
        ran.log
            .contains("NOTE: PROC LOGISTIC is modeling the probability that Pain='No'."),
        "{}",
        ran.log
    );
    let (glm, _) = clean(&format!(
        "{data} proc logistic data=n; class Treatment Sex / param=glm;
           model Pain = Treatment Sex Age; run;
         proc hplogistic data=n; class Treatment Sex; model Pain = Treatment Sex Age; run;"
    ));
    let (reference, _) = clean(&format!(
        "{data} proc logistic data=n; class Treatment Sex / param=ref;
           model Pain = Treatment Sex Age; run;"
    ));
    // The last level is the reference in both.
    for row in [
        "Treatment A 1 3.1790 1.0135",
        "Sex F 1 1.8235 0.7920",
        "Treatment 2 12.6928 0.0018",
    ] {
        holds(&glm.listing, &[row]);
        holds(&reference.listing, &[row]);
    }
    holds(
        &glm.listing,
        &[
            "Treatment P 0 0.0000 . . .",
            "Treatment A 3.1790 1.0135 Infty 3.14 0.0017",
        ],
    );
}

/// The digits that a text of 15 and a number share are at least `wanted`.
fn agree(found: f64, known: &serde_json::Value, wanted: f64) {
    let known: f64 = known.as_str().unwrap().parse().unwrap();
    assert!(digits(found, known) >= wanted, "{found} {known}");
}

#[test]
fn the_remission_example_ends_at_the_known_model() {
    let Some(oracles) = oracles() else { return };
    let text = std::fs::read_to_string(oracles.join("sasdoc_oracles.json")).unwrap();
    let known: serde_json::Value = serde_json::from_str(&text).unwrap();
    let known = &known["logistic_remission_final"]["computed"];
    let (names, data) = csv(&oracles.join("data/remission.csv"));
    let store = store();
    put(&store, "r", &names, &data);
    let program = "proc logistic data=d.r outest=d.e;
          model remiss(event='1') = cell smear infil li blast temp
            / selection=stepwise slentry=0.3 slstay=0.35;
          output out=d.p p=phat lower=lcl upper=ucl xbeta=xb; run;
        proc hplogistic data=d.r; model remiss(event='1') = cell li temp; id remiss;
          output out=d.h; run;";
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 0, "{}", ran.log);
    holds(
        &ran.listing,
        &[
            "1 li 1 1 7.9311 0.0049 2 temp 1 2 1.2591 0.2618 3 cell 1 3 1.4701 0.2253",
            "Intercept 1 67.6339 56.8875 1.4135 0.2345",
            "li 1 3.8671 1.7783 4.7290 0.0297",
            "-2 Log L 34.372 21.953",
            "Intercept 67.6339 56.8875 Infty 1.19 0.2345",
        ],
    );
    let names = variables(&store, "/data/e.sas7bdat");
    let row = rows(&store, "/data/e.sas7bdat")
        .remove(0)
        .replace("0 Converged", "0");
    let cells: Vec<&str> = row.split(' ').collect();
    for name in ["Intercept", "cell", "li", "temp"] {
        let place = names.iter().position(|one| one == name).unwrap();
        agree(cells[place].parse().unwrap(), &known["estimate"][name], 9.0);
    }
    let predicted = rows(&store, "/data/p.sas7bdat");
    let (first, high) = (&predicted[0], &rows(&store, "/data/h.sas7bdat")[0]);
    let numbers =
        |row: &str| -> Vec<f64> { row.split(' ').map(|one| one.parse().unwrap()).collect() };
    let first = numbers(first);
    assert!(
        (first[8] - numbers(high)[1]).abs() < 1e-9,
        "{first:?} {high}"
    );
    assert!((first[8] - 1.0 / (1.0 + (-first[11]).exp())).abs() < 1e-12);
    assert!(first[9] < first[8] && first[8] < first[10]);
}

#[test]
fn frequencies_of_the_ingots_example() {
    let Some(oracles) = oracles() else { return };
    let (names, data) = csv(&oracles.join("data/ingots.csv"));
    let store = store();
    put(&store, "i", &names, &data);
    let program = "data j; set d.i; y = 1; f = r; output; y = 0; f = n - r; output; run;
        proc logistic data=j; freq f; model y(event='1') = Heat Soak; run;";
    let ran = run_on(Arc::new(store), program);
    assert_eq!(ran.exit, 0, "{}", ran.log);
    // Computed figures beside the corpus: -5.55916646 1.11969470, 0.08203080 0.02373448, 95.34561326.
    holds(
        &ran.listing,
        &[
            "Number of Observations Used 387",
            "AIC 108.988 101.346",
            "-2 Log L 106.988 95.346",
            "Intercept 1 -5.5592 1.1197 24.6502 <.0001",
            "Heat 1 0.0820 0.0237 11.9452 0.0005",
            "Soak 1 0.0568 0.3312 0.0294 0.8639",
        ],
    );
}

const ORDINAL: &str = "data d.k; do i = 1 to 300; a = mod(i, 3); x = mod(i * 7, 11) / 3;
    z = mod(i * 5, 13); s = x - 0.2 * z + a / 2 + mod(i * 37, 17) / 4; y = 1 + (s > 1) + (s > 3);
    output; end; run;";

#[test]
fn ordinal_responses_have_equal_slopes() {
    let (ran, store) = clean(&format!(
        "{ORDINAL} proc logistic data=d.k; class a / param=ref ref=first; model y = a x z;
           output out=d.p p=p; run;"
    ));
    // statsmodels 0.15.0, OrderedModel(y, [a=1, a=2, x, z], distr='logit').fit(method='newton'), whose
    // slopes have the other sign: 0.620756 1.261139 1.171153 -0.256941, cuts -1.454131 and
    // -1.454131 + exp(0.905853) = 1.019914, -2 log L 455.929875.
    holds(
        &ran.listing,
        &[
            "Intercept 1 1 -1.4541",
            "Intercept 2 1 1.0199",
            "a 1 1 -0.6208",
            "a 2 1 -1.2611",
            "x 1 -1.1712",
            "z 1 0.2569",
            "455.930",
            "Score Test for the Proportional Odds Assumption Chi-Square DF Pr > ChiSq",
        ],
    );
    assert_eq!(
        rows(&store, "/data/p.sas7bdat").len(),
        600,
        "a row for every cut"
    );
}

#[test]
fn results_depend_neither_on_threads_nor_on_memory() {
    let make = "data d.a; do i = 1 to 200000; a = mod(i, 5); x = mod(i * 7919, 1009) / 100;
        z = mod(i * 104729, 997) / 99; y = (x - z + a + mod(i * 31, 37) / 4 > 6); output; end; run;";
    // Rows take 6.4 MB, which do not stay in memory with MEMSIZE=64M.
    let model = "class a; model y(event='1') = a x z; output out=d.p pred=p;";
    let listing = |options: &str| {
        let (ran, store) = clean(&format!(
            "{make} options {options}; proc hplogistic data=d.a; {model} run;"
        ));
        (
            words(&ran.listing),
            store.get("/data/p.sas7bdat").is_some(),
            rows(&store, "/data/p.sas7bdat"),
        )
    };
    let one = listing("cpucount=1");
    let two = listing("cpucount=2");
    assert_eq!(one.2, two.2);
    assert_eq!(one.0.replace("Threads 1", "Threads 2"), two.0);
    let small = listing("cpucount=2 memsize=64m ubufsize=64k");
    assert_eq!(two, small);
}

/// Levels that are first met in later runs of rows, and in another order than that of their values;
/// a format that shows several values alike; rows with missing values.
#[test]
fn levels_are_those_of_all_rows_whoever_finds_them() {
    let make = "proc format; value half low-4 = 'low' 5-high = 'high'; run;
        data d.a; length c $ 12; do i = 1 to 20000;
          c = put(20 - int(i / 1600), z4.); n = mod(i + int(i / 3600), 10); m = mod(i, 7);
          if mod(i, 17) = 0 then m = .; if mod(i, 23) = 0 then c = ' ';
          f = mod(i, 3); w = 1 + mod(i, 5) / 4; x = mod(i * 7919, 1009) / 100;
          y = (x + n + mod(i * 31, 37) / 4 > 12); output; end; run;";
    for more in ["", "weight w; freq f;", "where x < 8;"] {
        let fit = |threads: u32| {
            let (ran, store) = clean(&format!(
                "{make} options cpucount={threads}; proc hplogistic data=d.a; {more} format n half.;
                 class c n m; model y = c n m x n*x; output out=d.p pred=p xbeta=b; run;"
            ));
            let listing = words(&ran.listing);
            let listing = listing.replace(&format!("Threads {threads}"), "Threads");
            (listing, rows(&store, "/data/p.sas7bdat"))
        };
        let one = fit(1);
        assert!(one.0.contains("n 2 high low"), "{}", one.0);
        for threads in [2, 5] {
            assert_eq!(one, fit(threads), "{more} on {threads}");
        }
    }
}

#[test]
fn separation_is_told() {
    let ran = run_on(
        Arc::new(store()),
        "data a; do x = 1 to 20; y = x > 10; z = mod(x, 3); output; end; run;
         proc logistic data=a; model y = x z; run;
         data b; set a; if x = 10 then do; output; y = 1; end; output; run;
         proc logistic data=b; model y = x; run;",
    );
    assert!(
        ran.log
            .contains("WARNING: There is a complete separation of data points."),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("WARNING: There is possibly a quasi-complete separation of data points."),
        "{}",
        ran.log
    );
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let make = "data a; do x = 1 to 20; y = mod(x, 2); t = 'a'; output; end; run;";
    for (program, word) in [
        (
            "proc logistic data=a; model y = x / link=probit; run;",
            "LINK=",
        ),
        (
            "proc logistic data=a; model y = x; oddsratio x; run;",
            "ODDSRATIO",
        ),
        (
            "proc logistic data=a; model y = t; run;",
            "specified in the CLASS statement",
        ),
        (
            "proc logistic data=a; output out=b predprobs=i; model y = x; run;",
            "PREDPROBS",
        ),
        (
            "proc hplogistic data=a; model y = x; partition fraction(test=0.3); run;",
            "PARTITION",
        ),
        (
            "proc glm data=a; class t; model y = t; means t / tukey; run;",
            "MEANS",
        ),
        (
            "proc glm data=a; class t; model y = t; random t; run;",
            "RANDOM",
        ),
        (
            "proc logistic data=a; where x < 0; model y = x; run;",
            "No valid observations",
        ),
    ] {
        let ran = run_on(Arc::new(store()), &format!("{make} {program}"));
        assert_eq!(ran.exit, 2, "{program}: {}", ran.log);
        assert!(ran.log.contains(word), "{program}: {}", ran.log);
    }
}

/// One group has one response, one has no valid row, one lacks the event: the others are fitted.
#[test]
fn a_group_that_cannot_be_fitted_leaves_the_others_alone() {
    let made = "data a; do g = 1 to 5; do i = 1 to 30; x = mod(i * i, 11); c = 'no ';
        if mod(i * 7, 5) < 2 then c = 'yes'; if g = 2 then c = 'yes'; if g = 3 then x = .;
        if g = 4 and c = 'yes' then c = 'may'; output; end; end; run;";
    let store = store();
    let ran = run_on(
        Arc::new(store.clone()),
        &format!(
            "{made} proc logistic data=a outest=d.e; by g; model c(event='yes') = x; output out=d.o p=p; run;"
        ),
    );
    assert_eq!(ran.exit, 2, "{}", ran.log);
    for (error, group) in [
        (
            "All observations have the same response. No statistics are computed.",
            "g=2",
        ),
        (
            "No valid observations due to at least one missing value.",
            "g=3",
        ),
        ("The EVENT= value yes is not a response", "g=4"),
    ] {
        let at = ran.log.find(&format!("ERROR: {error}")).expect(error);
        let note = "NOTE: The above message was for the following BY group:";
        let told = ran.log[at..].split_once(note).expect(note).1;
        assert!(told.trim().starts_with(group), "{}", ran.log);
    }
    let estimated: Vec<String> = rows(&store, "/data/e.sas7bdat");
    let groups: Vec<&str> = estimated.iter().filter_map(|row| row.get(..1)).collect();
    assert_eq!(groups, ["1", "5"]);
    let predicted = rows(&store, "/data/o.sas7bdat");
    assert_eq!(predicted.len(), 150);
    for row in predicted {
        let fitted = row.starts_with('1') || row.starts_with('5');
        assert_eq!(!row.ends_with(" ."), fitted, "{row}");
    }
    // Without BY there is nothing to go on with.
    fails(
        &format!("{made} proc logistic data=a; where g = 2; model c(event='yes') = x; run;"),
        "ERROR: All observations have the same response. No statistics are computed.",
    );
}

#[test]
fn estimates_of_groups_with_other_responses_are_refused() {
    fails(
        "data a; do g = 1 to 2; do i = 1 to 40; y = mod(i * 7, 1 + g); x = mod(i * i, 11); output; end; end; run;
         proc logistic data=a outest=e noprint; by g; model y = x; run;",
        "OUTEST= of BY groups with different responses is not implemented yet",
    );
}
