//! Analyses whose figures were worked out elsewhere.

use std::collections::BTreeMap;

use super::read::{Observation, Series};
use super::*;
use crate::statistics::ratio::Ratio;

/// Seconds of two file systems with and without huge pages in three blocks.
const SECONDS: [(&str, &str, [f64; 3]); 4] = [
    ("ext4", "never", [100.0, 104.0, 102.0]),
    ("ext4", "always", [110.0, 118.0, 112.0]),
    ("xfs", "never", [90.0, 95.0, 91.0]),
    ("xfs", "always", [93.0, 97.0, 98.0]),
];

fn factors() -> Vec<Factor> {
    let factor = |name: &str, levels: [&str; 2]| Factor {
        name: name.to_owned(),
        levels: levels.map(str::to_owned).into(),
    };
    vec![
        factor("file system", ["ext4", "xfs"]),
        factor("thp", ["never", "always"]),
    ]
}

fn observation(file_system: &str, thp: &str, block: usize, seconds: f64) -> Observation {
    let levels = [("file system", file_system), ("thp", thp)];
    Observation {
        run: format!("{file_system}-{thp}-{block}"),
        levels: levels
            .map(|(name, level)| (name.to_owned(), level.to_owned()))
            .into(),
        block: Some(block.to_string()),
        wall_s: Some(seconds),
        system_s: None,
        user_s: None,
        elapsed_s: None,
    }
}

fn series(keep: impl Fn(&str, &str, usize) -> bool) -> Series {
    let mut runs = Vec::new();
    for (file_system, thp, seconds) in SECONDS {
        for (block, seconds) in (1..).zip(seconds) {
            if keep(file_system, thp, block) {
                runs.push(observation(file_system, thp, block, seconds));
            }
        }
    }
    Series {
        factors: factors(),
        runs,
        ..Series::default()
    }
}

fn near(found: Option<Ratio>, wanted: [f64; 3]) {
    let found = found.expect("there is a ratio");
    let (low, high) = found.interval.expect("there is an interval");
    for (found, wanted) in [found.ratio, low, high].into_iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-6, "{found} instead of {wanted}");
    }
}

/// Worked out from the means of levels, cells and blocks (the analysis of variance of a complete design in blocks,
/// t of 6 degrees of freedom 2.446912), and the same by statsmodels 0.15.0: `ols('y ~ 0 + C(cell) + C(block, Sum)')`
/// with `t_test` of the contrasts; the full model `C(fs, Sum) * C(thp, Sum) + C(block)` has the same effects.
#[test]
fn effects_of_a_complete_series_are_those_of_the_analysis_of_variance() {
    let found = analyse(series(|_, _, _| true));
    let [wall] = &found.responses[..] else {
        panic!("nobody has system times: {:?}", found.responses);
    };
    assert_eq!((wall.freedom, wall.runs, wall.by_blocks), (6, 12, true));
    assert!((wall.deviation.unwrap() - 0.014_808_812_78).abs() < 1e-9);
    near(
        wall.effects[0].ratio,
        [0.874_098_43, 0.856_001_57, 0.892_577_88],
    );
    near(
        wall.effects[1].ratio,
        [1.076_602_56, 1.054_313_16, 1.099_363_19],
    );
    near(
        Some(wall.interactions[0].ratio),
        [0.939_444_98, 0.900_948_13, 0.979_586_77],
    );
    near(
        Some(wall.blocks[0].ratio),
        [1.052_744_87, 1.026_113_43, 1.080_067_50],
    );
    near(
        Some(wall.blocks[1].ratio),
        [1.025_632_75, 0.999_687_16, 1.052_251_72],
    );
}

/// By statsmodels 0.15.0 as above, without two of the runs.
#[test]
fn lost_runs_leave_effects_that_blocks_do_not_bend() {
    let lost = [("xfs", "always", 2), ("ext4", "never", 3)];
    let found = analyse(series(|file_system, thp, block| {
        !lost.contains(&(file_system, thp, block))
    }));
    let wall = &found.responses[0];
    assert_eq!((wall.freedom, wall.runs), (4, 10));
    near(
        wall.effects[0].ratio,
        [0.879_570_22, 0.855_788_80, 0.904_012_50],
    );
    near(
        wall.effects[1].ratio,
        [1.083_342_01, 1.054_051_10, 1.113_446_89],
    );
    near(
        Some(wall.interactions[0].ratio),
        [0.947_436_53, 0.898_948_31, 0.998_540_14],
    );
}

#[test]
fn with_one_repeat_there_is_no_interval_and_nothing_is_claimed() {
    let found = analyse(series(|_, _, block| block == 1));
    let wall = &found.responses[0];
    assert_eq!((wall.freedom, wall.deviation), (0, None));
    let ratios = wall.effects.iter().filter_map(|effect| effect.ratio);
    assert!(
        ratios.clone().count() == 2 && ratios.into_iter().all(|ratio| ratio.interval.is_none())
    );
    let text = wall.ranking.join("\n");
    assert!(text.contains("measured once"), "{text}");
    assert!(!text.contains(" to "), "no interval: {text}");
}

/// A cell without counterpart shifts no effect: levels are compared where nothing else differs.
#[test]
fn a_cell_that_cannot_be_leaves_the_others_comparable() {
    let found = analyse(series(|file_system, thp, _| {
        (file_system, thp) != ("xfs", "always")
    }));
    let wall = &found.responses[0];
    let ratio = wall.effects[0].ratio.unwrap().ratio;
    let mean = |at: usize| {
        SECONDS[at]
            .2
            .iter()
            .map(|seconds| seconds.ln())
            .sum::<f64>()
            / 3.0
    };
    assert!((ratio.ln() - (mean(2) - mean(0))).abs() < 1e-12, "{ratio}");
    assert_eq!(wall.effects[0].pairs, 1);
    assert!(wall.interactions.is_empty());
}

#[test]
fn drift_between_blocks_is_no_effect_and_no_noise() {
    let mut drifting = series(|_, _, _| true);
    for run in &mut drifting.runs {
        let block: i32 = run.block.as_ref().unwrap().parse().unwrap();
        run.wall_s = run.wall_s.map(|seconds| seconds * 3f64.powi(block));
    }
    let (with, without) = (analyse(drifting), analyse(series(|_, _, _| true)));
    let (with, without) = (&with.responses[0], &without.responses[0]);
    for (with, without) in with.effects.iter().zip(&without.effects) {
        let wanted = without.ratio.unwrap();
        let (low, high) = wanted.interval.unwrap();
        near(with.ratio, [wanted.ratio, low, high]);
    }
}

#[test]
fn runs_of_other_places_are_compared_by_their_labels() {
    let alone = |host: &str, seconds: f64| Observation {
        levels: BTreeMap::from([("host".to_owned(), host.to_owned())]),
        run: format!("{host}-{seconds}"),
        wall_s: Some(seconds),
        ..Observation::default()
    };
    let found = analyse(Series {
        factors: vec![Factor {
            name: "host".to_owned(),
            levels: vec!["rhel5".to_owned(), "rhel6".to_owned()],
        }],
        runs: vec![
            alone("rhel5", 100.0),
            alone("rhel5", 102.0),
            alone("rhel6", 50.0),
            alone("rhel6", 51.0),
        ],
        ..Series::default()
    });
    let wall = &found.responses[0];
    assert_eq!((wall.freedom, wall.by_blocks), (2, false));
    assert!(
        wall.ranking[0].starts_with("Host: rhel5 took 2.0 times (1.9 to 2.1) as long as rhel6"),
        "{:?}",
        wall.ranking
    );
}

/// Every run of the first level failed, as where a host does not have it.
#[test]
fn a_first_level_that_is_lost_leaves_the_others_comparable() {
    let mut lost = series(|_, _, _| true);
    lost.factors[0].levels.insert(0, "gfs2".to_owned());
    let (with, without) = (analyse(lost), analyse(series(|_, _, _| true)));
    let (with, without) = (&with.responses[0], &without.responses[0]);
    let effect = with.effects.iter().find(|one| one.level == "xfs").unwrap();
    assert_eq!((&*effect.against, effect.pairs), ("ext4", 2));
    assert_eq!(effect.ratio, without.effects[0].ratio);
    assert_eq!(with.interactions, without.interactions);
    insta::assert_snapshot!(with.ranking.join("\n"));
}

/// One that was measured where no other was is no base either.
#[test]
fn a_first_level_without_a_pair_leaves_the_others_comparable() {
    let mut alone = series(|_, _, _| true);
    alone.factors[0].levels.insert(0, "gfs2".to_owned());
    alone.factors[1].levels.push("madvise".to_owned());
    alone.runs.push(observation("gfs2", "madvise", 1, 80.0));
    let found = analyse(alone);
    insta::assert_snapshot!(found.responses[0].ranking.join("\n"));
    let tables = tables::all(&found);
    let table = tables.iter().find(|table| table.id == "matrix-effects");
    let texts = table.unwrap().rows.iter().map(|row| {
        let cells = row.cells[..4].iter().map(|cell| format!("{cell:?}"));
        cells.collect::<Vec<_>>().join(" ")
    });
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"));
}
