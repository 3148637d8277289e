//! The published tables: what the papers print, what follows from their rows, and what they conclude.

mod expected;

use expected::{
    DISCREPANCIES, PURE_TABLE_2, PURE_TABLE_3, TABLE_1, TABLE_2, TABLE_3, TABLE_4, conclusions,
};
use results::reference::{discrepancies, documents, find};
use results::statistics::summarize;
use results::subject::Figures;
use results::thresholds::Thresholds;
use results::verdict;

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
        TABLE_4.map(|(rows, printed)| (rows - printed).abs() < 0.05),
        [false, false, true]
    );
    for column in &TABLE_1 {
        assert!(column.max_s > column.deviation_s, "{}", column.run);
    }
}

fn figures(name: &str) -> Figures {
    find(name).expect("a reference run").figures
}

#[test]
fn rows_come_to_the_sums_means_and_deviations_of_table_1() {
    for column in &TABLE_1 {
        let found = figures(column.run);
        near(found.real_sum_s.unwrap(), column.sum_s, 1e-9);
        near(
            found.real_mean_s.unwrap(),
            seconds(column.mean_printed),
            0.5,
        );
        near(found.real_max_s.unwrap(), column.max_s, 0.0);
        near(found.real_deviation_s.unwrap(), column.deviation_s, 0.005);
    }
}

#[test]
fn scenarios_are_those_of_table_2() {
    // The first one has rows, so that its mean is theirs and not the misprinted 13:12.
    near(figures("isilon-f810").real_mean_s.unwrap(), 802.21, 0.005);
    for (run, programs, nodes, mean, max, deviation, shared) in &TABLE_2[1..] {
        let subject = find(run).unwrap();
        assert_eq!(
            (subject.programs, subject.nodes),
            (Some(*programs), Some(*nodes))
        );
        near(subject.figures.real_mean_s.unwrap(), *mean, 0.0);
        near(subject.figures.real_max_s.unwrap(), *max, 0.0);
        near(subject.figures.real_deviation_s.unwrap(), *deviation, 0.0);
        assert_eq!(subject.figures.shared_mb_per_s, Some(*shared));
    }
}

#[test]
fn times_by_node_are_those_of_table_3() {
    for (run, count, min, max, mean, deviation) in TABLE_3 {
        let slowest = find(run).unwrap().slowest.unwrap();
        let times = summarize(&slowest.real_s).unwrap();
        assert_eq!(
            (times.count, times.min, times.max),
            (count, min * 60.0, max * 60.0)
        );
        near(times.mean / 60.0, mean, 1e-9);
        near(times.deviation / 60.0, deviation, 5e-5);
    }
}

#[test]
fn sizes_come_to_the_sums_of_table_4() {
    let isilon = documents()
        .iter()
        .find(|paper| paper.id == "isilon")
        .unwrap();
    let sizes = isilon.sizes.as_ref().unwrap();
    assert_eq!(sizes.rows.len(), 28);
    for (at, (rows, printed)) in TABLE_4.into_iter().enumerate() {
        let gigabytes = |bytes: f64| bytes / f64::from(1u32 << 30);
        let sum: f64 = sizes.files().map(|(_, bytes)| bytes[at].unwrap()).sum();
        near(gigabytes(sum), rows, 0.05);
        near(gigabytes(sizes.printed_totals()[at].unwrap()), printed, 0.0);
    }
}

#[test]
fn pure_storage_is_that_of_its_tables() {
    for (run, [real, memory, user, system]) in &PURE_TABLE_2[..2] {
        let found = figures(run);
        let of = |value: Option<f64>, unit: f64| value.unwrap() / unit;
        near(of(found.real_sum_s, 60.0), *real, 1e-9);
        near(of(found.memory_bytes, 1e9), *memory, 1e-9);
        near(of(found.user_s, 60.0), *user, 1e-9);
        near(of(found.system_s, 60.0), *system, 1e-9);
    }
    for (run, [mean, deviation, range, sums]) in PURE_TABLE_3 {
        let found = figures(run);
        assert_eq!(found.cpu_real_mean, Some(mean));
        assert_eq!(found.cpu_real_deviation, Some(deviation));
        assert_eq!(found.cpu_real_range, Some(range));
        near(found.cpu_real_of_sums.unwrap(), sums, 5e-5);
    }
}

#[test]
fn discrepancies_are_named_with_both_figures() {
    let found: Vec<(String, String, String)> = discrepancies()
        .into_iter()
        .map(|one| {
            (
                format!("{}, {}: {}", one.document, one.place, one.what),
                one.printed,
                one.found,
            )
        })
        .collect();
    let found: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|(what, printed, found)| (&**what, &**printed, &**found))
        .collect();
    assert_eq!(found, DISCREPANCIES);
}

/// The result of a requirement of a reference run.
fn judged(run: &str, id: &str) -> (Option<f64>, String) {
    let verdict = verdict::of_reference(&find(run).unwrap(), &Thresholds::published());
    let found = verdict
        .requirements
        .iter()
        .find(|one| one.id == id)
        .unwrap();
    (found.value, found.result.clone())
}

#[test]
fn pure_storage_keeps_up_as_the_paper_concludes() {
    for run in conclusions::KEEPS_UP {
        let verdict = verdict::of_reference(&find(run).unwrap(), &Thresholds::published());
        assert_eq!(verdict.result, "pass", "{run}: {}", verdict.reason);
        assert_eq!(verdict.feeding.unwrap().result, "pass");
        assert_eq!(verdict.capability.unwrap().result, "not_shown");
    }
}

#[test]
fn isilon_scales_as_the_paper_concludes() {
    let (growth, result) = judged("isilon-f810-12", "growth");
    near(growth.unwrap(), conclusions::SCALES.0, 5e-6);
    assert_eq!(result, "pass");
    let (spread, result) = judged("isilon-f810-12", "spread");
    near(spread.unwrap(), conclusions::SCALES.1, 5e-6);
    assert_eq!(result, "pass");
    for (run, ..) in &TABLE_2[1..] {
        assert_eq!(judged(run, "growth").1, "pass", "{run}");
    }
    for (run, ..) in TABLE_3.iter().filter(|row| row.1 > 1) {
        assert_eq!(judged(run, "spread").1, "pass", "{run}");
    }
    // The mixed load asked for 45 MB/s per core on 12 nodes: that is no measure of what storage can do.
    let verdict = verdict::of_reference(&find("isilon-f810-12").unwrap(), &Thresholds::published());
    assert_eq!(verdict.capability.unwrap().result, "not_shown");
    // It prints no CPU times, so that nothing is claimed of feeding as a whole.
    assert_eq!(verdict.result, "not_shown");
}

#[test]
fn isilon_sustains_60_but_not_75_per_core_as_its_dd_test_concludes() {
    let (value, result) = judged("isilon-f810-dd", "shared-per-core");
    assert_eq!((value, &*result), (Some(conclusions::DD_PER_CORE), "pass"));
    assert_eq!(judged("isilon-f810-dd", "shared-per-core-wanted").1, "fail");
    assert_eq!(
        judged("isilon-f810-dd", "throughput-per-core").1,
        "not_shown"
    );
    assert_eq!(judged("isilon-f810-dd", "cpu-real").1, "not_shown");
}

#[test]
fn the_reference_page_has_every_threshold() {
    let page =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/thresholds.md");
    let page = std::fs::read_to_string(page).unwrap();
    for one in Thresholds::published().requirements {
        let (limit, relation) = one.limit();
        let limit = limit.map_or("-".to_owned(), |limit| {
            format!("{} {limit} {}", relation.replace('_', " "), one.unit)
        });
        let row = format!(
            "| {} | {limit} | {} ({}) |",
            one.level.name(),
            one.source,
            one.date
        );
        assert!(
            page.contains(&format!("`{}`", one.id)) && page.contains(&row),
            "{row}"
        );
    }
}
