//! Comparisons of papers with themselves, and of runs with repeats.

use super::*;
use crate::node::{FileSystemRecord, NodeRecord};
use crate::reference;
use crate::run::JobResult;

fn paper(id: &str) -> Side {
    Side {
        label: format!("paper:{id}"),
        runs: vec![reference::find(id).unwrap()],
    }
}

fn run(name: &str, times: &[(&str, f64)]) -> Subject {
    let jobs: Vec<JobResult> = times
        .iter()
        .map(|(job, real_s)| JobResult {
            real_s: Some(*real_s),
            ..JobResult::unknown(job)
        })
        .collect();
    Subject {
        name: name.to_owned(),
        suite: "s".to_owned(),
        figures: Figures::of_jobs(&jobs),
        jobs,
        ..Subject::default()
    }
}

fn side(label: &str, runs: &[&[(&str, f64)]]) -> Side {
    Side {
        label: label.to_owned(),
        runs: runs.iter().map(|times| run(label, times)).collect(),
    }
}

fn find<'a>(rows: &'a [Compared], name: &str) -> &'a Compared {
    rows.iter().find(|row| row.name == name).unwrap()
}

#[test]
fn the_f810_takes_half_the_time_of_the_f800_as_its_paper_concludes() {
    let found = compare(&[
        paper("isilon-f800"),
        paper("isilon-f800-binary"),
        paper("isilon-f810"),
    ]);
    let sum = find(&found.aggregate, "Sum of real times");
    let ratios: Vec<f64> = sum
        .ratios
        .iter()
        .map(|ratio| ratio.unwrap().ratio)
        .collect();
    assert!((ratios[1] - 26_473.0 / 49_978.0).abs() < 1e-12);
    assert!((ratios[0] - 43_840.0 / 49_978.0).abs() < 1e-12);
    // 49:28 of 2:17:14.
    let bank2 = find(&found.jobs, "bank2_1").ratios[1].unwrap().ratio;
    assert!((bank2 - 2968.0 / 8234.0).abs() < 1e-12);
    assert_eq!(
        find(&found.jobs, "fscheck_a").ratios,
        [None, None],
        "whole seconds"
    );
    assert!(
        found.statements[0].contains("12.3 % less, noise not known"),
        "{:?}",
        found.statements
    );
    assert!(found.statements.last().unwrap().contains("measured once"));
}

#[test]
fn the_pure_array_is_as_good_as_the_spinning_one_as_its_paper_concludes() {
    let found = compare(&[paper("pure-spinning"), paper("pure-fa420")]);
    let real = find(&found.aggregate, "Sum of real times").ratios[0]
        .unwrap()
        .ratio;
    assert!((real - 1462.15 / 1482.10).abs() < 1e-12);
    assert!(
        found.statements[0].contains("1.3 % less, noise not known"),
        "{:?}",
        found.statements
    );
    assert!(found.jobs.is_empty());
}

#[test]
fn repeats_tell_noise_from_difference() {
    let base = side(
        "a",
        &[
            &[("x", 100.0), ("y", 50.0)],
            &[("x", 102.0), ("y", 55.0)],
            &[("x", 98.0), ("y", 45.0)],
        ],
    );
    let other = side(
        "b",
        &[
            &[("x", 80.0), ("y", 51.0)],
            &[("x", 81.0), ("y", 54.0)],
            &[("x", 79.0), ("y", 46.0)],
        ],
    );
    let found = compare(&[base, other]);
    assert_eq!(find(&found.jobs, "x").finding(1), Some(Finding::Less));
    assert_eq!(find(&found.jobs, "y").finding(1), Some(Finding::Noise));
    assert!(
        found.statements[0].contains("faster"),
        "{:?}",
        found.statements
    );
    assert!(
        found.statements[1]
            .starts_with("of 2 jobs 1 are faster and 0 slower on b beyond noise, 1 are within it")
    );
    assert_eq!(
        found
            .sides
            .iter()
            .map(|side| side.repeats)
            .collect::<Vec<_>>(),
        [3, 3]
    );
}

/// A run whose batches took so long, cold at first.
fn batches(label: &str, runs: &[&[f64]]) -> Side {
    let of = |seconds: &&[f64]| {
        let times: Vec<(&str, f64)> = seconds.iter().map(|real_s| ("x", *real_s)).collect();
        let mut run = run(label, &times);
        for (job, batch) in run.jobs.iter_mut().zip(1..) {
            (job.batch, job.exit) = (batch, Some(0));
        }
        run.figures.elapsed_s = Some(seconds.iter().sum());
        run.configuration
            .insert("cold".to_owned(), "true".to_owned());
        run
    };
    Side {
        label: label.to_owned(),
        runs: runs.iter().map(of).collect(),
    }
}

/// Three equal batches on each side say nothing of how much two runs differ.
#[test]
fn batches_of_a_run_are_one_measurement() {
    let one = |label: &str, real_s: f64| batches(label, &[&[90.0, real_s, real_s, real_s]]);
    let found = compare(&[one("a", 50.0), one("b", 52.0)]);
    let repeats: Vec<usize> = found.sides.iter().map(|side| side.repeats).collect();
    assert_eq!(repeats, [1, 1]);
    let job = find(&found.jobs, "x");
    assert_eq!(job.values, [Some(50.0), Some(52.0)], "the first began cold");
    assert_eq!(job.finding(1), Some(Finding::Unknown));
    insta::assert_snapshot!(told(&found));
    // Several runs of several batches are repeats.
    let several = |label: &str, real_s: f64| {
        let first = [90.0, real_s - 1.0, real_s - 1.0];
        batches(
            label,
            &[&first, &[90.0, real_s, real_s], &[95.0, real_s + 1.0]],
        )
    };
    let found = compare(&[several("a", 50.0), several("b", 80.0)]);
    assert_eq!(find(&found.jobs, "x").finding(1), Some(Finding::More));
    // A cold start beside warm batches.
    insta::assert_snapshot!(told(&compare(&[
        batches("cold", &[&[90.0]]),
        one("warm", 50.0)
    ])));
}

/// A batch that was cut short, or in which a job failed, is left out; if no later one is whole, the first counts.
#[test]
fn batches_that_were_cut_short_are_left_out() {
    let mut cut = batches("a", &[&[90.0, 50.0, 1.0]]);
    cut.runs[0].jobs[2].exit = Some(2);
    let mut first = batches("b", &[&[90.0, 1.0]]);
    first.runs[0].jobs[1].exit = None;
    let found = compare(&[cut, first]);
    assert_eq!(find(&found.jobs, "x").values, [Some(50.0), Some(90.0)]);
}

/// The same job at the same pace on other storage is no repeat.
#[test]
fn kernels_and_file_systems_are_of_the_configuration() {
    let on = |kernel: &str, kind: &str, options: &[&str], others: &str| {
        let system = FileSystemRecord {
            mount_point: "/sas".to_owned(),
            kind: kind.to_owned(),
            source: "/dev/sda1".to_owned(),
            devices: vec!["sda".to_owned()],
            options: options.iter().map(|one| (*one).to_owned()).collect(),
            ..FileSystemRecord::default()
        };
        let node = NodeRecord {
            kernel: kernel.to_owned(),
            file_systems: [("data".to_owned(), system)].into(),
            ..NodeRecord::default()
        };
        let other = NodeRecord {
            kernel: others.to_owned(),
            ..node.clone()
        };
        run("r", &[("x", 10.0)]).on_nodes(&[node, other])
    };
    let of = |label: &str, runs: &[&Subject]| Side {
        label: label.to_owned(),
        runs: runs.iter().map(|run| (*run).clone()).collect(),
    };
    let base = on("6.1", "xfs", &["rw", "noatime"], "6.1");
    let same = compare(&[of("a", &[&base]), of("b", &[&base])]);
    assert!(same.differences[0].contains("of the same configuration"));
    let other = on("6.12", "xfs", &["rw"], "6.12");
    let mixed = on("6.1", "ext4", &["rw", "noatime"], "5.14");
    let found = compare(&[
        of("a", &[&base, &mixed]),
        of("b", &[&other]),
        of("c", &[&mixed]),
    ]);
    insta::assert_snapshot!(found.differences.join("\n"));
}

#[test]
fn different_jobs_are_said_and_summed_in_common_only() {
    let found = compare(&[
        side("a", &[&[("x", 10.0), ("y", 90.0)]]),
        side("b", &[&[("x", 5.0)]]),
    ]);
    let common = find(&found.aggregate, "Sum of real times, 1 job in common");
    assert!((common.ratios[0].unwrap().ratio - 0.5).abs() < 1e-12);
    assert!(
        found
            .differences
            .iter()
            .any(|text| text.contains("different jobs"))
    );
    assert_eq!(find(&found.jobs, "y").values, [Some(90.0), None]);
}

/// Jobs of two suites may have one name.
#[test]
fn figures_of_two_suites_have_no_ratio() {
    let of = |label: &str, suite: &str, real_s: f64| {
        let mut side = side(label, &[&[("sort_1", real_s), (suite, 50.0)]]);
        side.runs[0].suite = suite.to_owned();
        side
    };
    let sides = [
        of("a", "multiuser", 2.0),
        of("b", "large-sorts", 11_000.0),
        of("c", "multiuser", 3.0),
    ];
    let found = compare(&sides[..2]);
    let rows = found.aggregate.iter().chain(&found.jobs);
    assert!(rows.flat_map(|row| &row.ratios).all(Option::is_none));
    insta::assert_snapshot!(told(&found));
    // The others compare as ever.
    let found = compare(&sides);
    let ratios = &find(&found.jobs, "sort_1").ratios;
    assert!(ratios[0].is_none() && ratios[1].is_some());
    assert!(find(&found.aggregate, "Sum of real times").ratios[1].is_some());
    assert!(
        !found
            .aggregate
            .iter()
            .any(|row| row.name.contains("in common"))
    );
    // A paper says of which suite its runs are.
    let mut measured = of("run", "multiuser", 2.0);
    measured.runs[0].jobs[0].name = "bank2_1".to_owned();
    let found = compare(&[paper("isilon-f810"), measured]);
    assert!(find(&found.jobs, "bank2_1").ratios[0].is_some());
    assert!(find(&found.aggregate, "Mean real time").ratios[0].is_some());
}

#[test]
fn one_job_is_spoken_of_as_one() {
    let of = |factor: f64, repeats: usize| {
        let times = [10.0, 10.1, 9.9].map(|real_s| [("x", real_s * factor)]);
        let runs: Vec<&[(&str, f64)]> = times.iter().take(repeats).map(|one| &one[..]).collect();
        side("s", &runs)
    };
    let said = |factor: f64, repeats: usize| {
        let found = compare(&[of(1.0, repeats), of(factor, repeats)]);
        found.statements[1].clone()
    };
    insta::assert_snapshot!(
        [
            said(0.5, 1),
            said(1.0, 1),
            said(0.5, 3),
            said(2.0, 3),
            said(1.0, 3)
        ]
        .join("\n")
    );
}

#[test]
fn jobs_that_failed_are_not_fast() {
    let whole = run("a", &[("j1", 600.0), ("j2", 600.0)]);
    let mut broken = run("b", &[("j1", 600.0), ("j2", 1.0)]);
    broken.jobs[1].exit = Some(2);
    let of = |run: Subject| Side {
        label: run.name.clone(),
        runs: vec![run],
    };
    let found = compare(&[of(whole), of(broken)]);
    assert_eq!(find(&found.jobs, "j2").values, [Some(600.0), None]);
    let common = find(&found.aggregate, "Sum of real times, 1 job in common");
    assert!((common.ratios[0].unwrap().ratio - 1.0).abs() < 1e-12);
}

fn told(comparison: &Comparison) -> String {
    let rows = comparison.aggregate.iter().map(|row| {
        let ratios = row.ratios.iter().map(|ratio| {
            let ratio = ratio.map(|ratio| format!("{:.2} {:?}", ratio.ratio, ratio.finding()));
            ratio.unwrap_or_else(|| "-".to_owned())
        });
        format!("{}: {}", row.name, ratios.collect::<Vec<_>>().join(", "))
    });
    let tables = comparison.tables().into_iter();
    let mut of_all = tables.filter(|table| table.id == "compare-aggregate");
    let notes = of_all.next().map_or_else(Vec::new, |table| table.notes);
    let said = comparison.statements.iter().chain(&comparison.differences);
    let said = said.chain(notes.first()).map(|text| format!("- {text}"));
    rows.chain(said).collect::<Vec<_>>().join("\n")
}

/// Twice the jobs take twice the time of all of them, which is neither better nor worse.
#[test]
fn sums_over_other_jobs_are_not_compared() {
    let on = |nodes: u32, real_s: f64| {
        let run = |factor: f64| {
            let names = ["x", "y", "x.2", "y.2"];
            let times: Vec<(&str, f64)> = names
                .into_iter()
                .take(nodes as usize * 2)
                .map(|name| (name, real_s * factor))
                .collect();
            let mut run = run("r", &times);
            run.nodes = Some(nodes);
            for job in &mut run.jobs {
                (job.user_s, job.system_s) = (Some(10.0 * factor), Some(2.0 * factor));
            }
            run.figures = Figures::of_jobs(&run.jobs);
            run
        };
        Side {
            label: format!("{nodes} nodes"),
            runs: [0.99, 1.0, 1.01].map(run).to_vec(),
        }
    };
    insta::assert_snapshot!(told(&compare(&[on(1, 100.0), on(2, 50.0)])));
    // The same of references, of which only the mean is printed.
    insta::assert_snapshot!(told(&compare(&[
        paper("isilon-f810"),
        paper("isilon-f810-12")
    ])));
    // Some did not finish.
    let mut cut = side("cut", &[&[("x", 100.0), ("y", 50.0)]]);
    cut.runs[0].jobs[1].real_s = None;
    cut.runs[0].figures = Figures::of_jobs(&cut.runs[0].jobs);
    let whole = side("whole", &[&[("x", 100.0), ("y", 50.0)]]);
    insta::assert_snapshot!(told(&compare(&[whole, cut])));
}
