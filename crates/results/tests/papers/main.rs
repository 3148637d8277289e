//! The published tables: what the papers print, what follows from their rows, and what they conclude.

mod expected;

use expected::{PURE_TABLE_2, PURE_TABLE_3, TABLE_1, TABLE_2, TABLE_3, TABLE_4, conclusions};
use results::statistics::summarize;

/// Seconds of `h:mm:ss` or `mm:ss`.
fn seconds(text: &str) -> f64 {
    text.split(':').fold(0.0, |sum, part| {
        sum * 60.0 + part.parse::<f64>().expect("digits")
    })
}

fn near(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found} is not {wanted}");
}

#[test]
fn expectations_agree_with_themselves() {
    for column in &TABLE_1 {
        near(seconds(column.sum_printed), column.sum_s, 0.0);
        near(seconds(column.mean_printed), column.sum_s / 33.0, 0.5);
    }
    assert!(TABLE_2.iter().all(|row| row.1 == 33 * u64::from(row.2)));
    let [spinning, pure, delta] = PURE_TABLE_2.map(|row| row.1);
    for at in 0..4 {
        near(pure[at] - spinning[at], delta[at], 1e-9);
    }
    for (minutes, ratios) in [spinning, pure].iter().zip(PURE_TABLE_3) {
        near((minutes[2] + minutes[3]) / minutes[0], ratios.1[3], 5e-5);
    }
}

#[test]
fn the_ten_times_of_twelve_nodes() {
    let times = [49.0, 47.0, 45.0, 49.0, 46.0, 44.0, 50.0, 48.0, 50.0, 49.0];
    let summary = summarize(&times).expect("there are some");
    let (_, count, min, max, mean, deviation) = TABLE_3[6];
    assert_eq!((summary.count, summary.min, summary.max), (count, min, max));
    near(summary.mean, mean, 1e-9);
    near(summary.deviation, deviation, 5e-5);
}

#[test]
fn conclusions_follow_from_the_figures() {
    let [none, binary, hardware] = TABLE_1.map(|column| column.sum_s);
    near(hardware / none, conclusions::F810_OF_F800[0], 5e-6);
    near(hardware / binary, conclusions::F810_OF_F800[1], 5e-6);
    near(TABLE_2[4].3 / TABLE_2[0].3, conclusions::SCALES.0, 5e-6);
    near(TABLE_3[6].3 / TABLE_3[6].2, conclusions::SCALES.1, 5e-6);
    near(9000.0 / 144.0, conclusions::DD_PER_CORE, 0.0);
    let [spinning, pure, _] = PURE_TABLE_2.map(|row| row.1[0]);
    near(pure / spinning, conclusions::PURE_ELAPSED_RATIO, 5e-6);
    for (run, ratios) in PURE_TABLE_3 {
        assert_eq!(conclusions::KEEPS_UP.contains(&run), ratios[0] >= 1.0);
    }
    // Two of the three totals of Table 4 are not those of its rows.
    assert_eq!(
        TABLE_4.map(|(rows, printed)| rows.round() == printed),
        [false, false, true]
    );
    for column in &TABLE_1 {
        assert!(column.max_s > column.deviation_s, "{}", column.run);
    }
}
