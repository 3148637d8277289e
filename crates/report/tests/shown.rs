//! What people read: reports of an old run directory, of papers, of comparisons.

use std::path::Path;

use results::assemble::{assemble, samples};
use results::audit::{AuditFinding, NodeAudit};
use results::compare::{Side, compare};
use results::reference::{documents, find};
use results::run::{Limit, RunDirectory};
use results::thresholds::{Measure, Thresholds};
use results::verdict::{Evidence, Measured, judge, of_reference};
use results::{sample, tables};

/// A run directory written by the first version with this schema, before nodes were sampled.
fn old_run() -> RunDirectory {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    RunDirectory::open(&runs.join("large-sorts-schema-1.0"))
}

fn paper(id: &str) -> Side {
    let run = find(id).unwrap();
    Side {
        label: run.name.clone(),
        runs: vec![run],
    }
}

fn compared(sides: &[Side]) -> String {
    let comparison = compare(sides);
    report::terminal::comparison(&comparison, &comparison.tables())
}

#[test]
fn a_run_directory_of_an_earlier_version_stays_readable() {
    let directory = old_run();
    let then = directory.result().unwrap().expect("it is complete");
    assert_eq!(then.verdict.result, "inconclusive");
    assert_eq!(then.verdict.requirements[0].threshold, Some(100.0));
    let (plan, result) = (directory.plan().unwrap(), assemble(&directory).unwrap());
    assert_eq!(result.jobs.len(), then.jobs.len());
    assert_eq!(result.aggregate.mb_per_s, then.aggregate.mb_per_s);
    let samples = samples(&directory).unwrap();
    insta::assert_snapshot!(report::terminal::run(&plan, &result, &samples));
    // What it said then can still be shown as it was.
    insta::assert_snapshot!(report::verdict::text(&then.verdict));
}

#[test]
fn a_demonstration_says_so_and_no_more() {
    let evidence = Evidence {
        demonstration: true,
        ..Evidence::default()
    };
    let verdict = judge(&evidence, &Thresholds::published());
    assert_eq!(
        report::verdict::text(&verdict),
        "Verdict: not shown: demonstration: no verdict\n"
    );
}

#[test]
fn papers_are_shown_in_their_own_forms() {
    for document in documents() {
        insta::assert_snapshot!(
            format!("paper_{}", document.id),
            report::terminal::paper(document)
        );
    }
}

#[test]
fn verdicts_on_reference_runs() {
    let text = |id: &str| {
        let verdict = of_reference(&find(id).unwrap(), &Thresholds::published());
        report::verdict::text(&verdict)
    };
    insta::assert_snapshot!("verdict_pure", text("pure-fa420"));
    insta::assert_snapshot!("verdict_isilon_12_nodes", text("isilon-f810-12"));
    insta::assert_snapshot!("verdict_isilon_dd", text("isilon-f810-dd"));
}

#[test]
fn a_failed_verdict_names_what_limited_and_what_relieves_it() {
    let link = Limit {
        kind: "link".to_owned(),
        name: "bond0 of n1".to_owned(),
        evidence: "97 % of the link's speed used on average".to_owned(),
        relief: "faster or more links (bonding, nconnect), or more nodes".to_owned(),
        node: Some("n1".to_owned()),
        scarce: vec!["network".to_owned()],
        rules: vec![AuditFinding {
            id: "NET-001".to_owned(),
            subject: Some("bond0".to_owned()),
            result: "fail".to_owned(),
            severity: "medium".to_owned(),
            title: "Jumbo frames on the way to the array".to_owned(),
            expected: "at least 9000".to_owned(),
            running: Some("1500".to_owned()),
            ..AuditFinding::default()
        }],
        ..Limit::default()
    };
    let evidence = Evidence {
        saturating: true,
        measures: [
            (Measure::TotalPerCore, Measured::of(112.0)),
            (Measure::SharedPerCore, Measured::of(44.0)),
            (Measure::WorkOverShared, Measured::of(1.54)),
            (Measure::JobsFailed, Measured::of(0.0)),
            (Measure::JobsNotVerified, Measured::of(0.0)),
            (Measure::CpuReal, Measured::of(0.61)),
        ]
        .into(),
        limited_by: Some(link),
        ..Evidence::default()
    };
    let verdict = judge(&evidence, &Thresholds::published());
    insta::assert_snapshot!(report::verdict::text(&verdict));
}

#[test]
fn an_audit_says_what_is_to_be_looked_at() {
    let finding = |id: &str, result: &str, subject: Option<&str>, directories: Option<&[&str]>| {
        AuditFinding {
            id: id.to_owned(),
            result: result.to_owned(),
            severity: "high".to_owned(),
            title: format!("What {id} asks for"),
            subject: subject.map(str::to_owned),
            directories: directories.map(|all| all.iter().map(|one| (*one).to_owned()).collect()),
            running: Some("128".to_owned()),
            expected: "at least 15360".to_owned(),
            ..AuditFinding::default()
        }
    };
    let mut audit = NodeAudit {
        node: "n1".to_owned(),
        took_s: 0.42,
        not_read: vec!["lctl".to_owned()],
        counts: [("fail".to_owned(), 17), ("pass".to_owned(), 40)].into(),
        findings: vec![
            finding("NFS-101", "fail", Some("/sas"), Some(&["data", "output"])),
            finding("NFS-101", "fail", Some("/home"), Some(&[])),
            finding("VM-105", "conflict", None, None),
        ],
        ..NodeAudit::default()
    };
    let more =
        (0..14).map(|number| finding(&format!("NET-{number:03}"), "warn", Some("eth0"), None));
    audit.findings.extend(more);
    insta::assert_snapshot!(report::audit::text(&[audit.clone()]));
    audit.findings.clear();
    audit.not_read.clear();
    insta::assert_snapshot!(report::audit::text(&[audit]));
}

#[test]
fn comparisons() {
    insta::assert_snapshot!(
        "compare_isilon",
        compared(&[
            paper("isilon-f800"),
            paper("isilon-f800-binary"),
            paper("isilon-f810")
        ])
    );
    insta::assert_snapshot!(
        "compare_pure",
        compared(&[paper("pure-spinning"), paper("pure-fa420")])
    );
    insta::assert_snapshot!(
        "compare_isilon_storages_and_nodes",
        compared(&[
            paper("isilon-f800"),
            paper("isilon-f810"),
            paper("isilon-f810-12")
        ])
    );
}

/// A run of milliseconds beside hours.
#[test]
fn each_side_has_times_in_its_own_unit() {
    let directory = old_run();
    let (mut plan, result) = (directory.plan().unwrap(), assemble(&directory).unwrap());
    "multiuser".clone_into(&mut plan.suite);
    let run = Side {
        label: "run".to_owned(),
        runs: vec![results::subject::Subject::of_run(&plan, &result)],
    };
    let text = compared(&[run, paper("isilon-f810")]);
    let jobs = text.lines().skip_while(|line| !line.starts_with("By job"));
    insta::assert_snapshot!(jobs.take(5).collect::<Vec<_>>().join("\n"));
}

#[test]
fn repeats_have_intervals() {
    let directory = old_run();
    let (plan, result) = (directory.plan().unwrap(), assemble(&directory).unwrap());
    let run = |factor: f64| {
        let mut result = result.clone();
        for job in &mut result.jobs {
            job.real_s = job.real_s.map(|real_s| real_s * factor);
        }
        results::subject::Subject::of_run(&plan, &result)
    };
    let side = |label: &str, factors: [f64; 3]| Side {
        label: label.to_owned(),
        runs: factors.map(run).to_vec(),
    };
    insta::assert_snapshot!(compared(&[
        side("before", [1000.0, 1010.0, 990.0]),
        side("after", [800.0, 805.0, 790.0])
    ]));
}

/// A run in the form of the Isilon paper's Table 2: of what jobs were served, what storage moved.
#[test]
fn throughput_of_a_run_stands_beside_the_paper_s() {
    let directory = old_run();
    let (plan, mut result) = (directory.plan().unwrap(), assemble(&directory).unwrap());
    result.sustained_peak = Some(results::run::SustainedPeak {
        window_s: 60.0,
        mb_per_s: Some(1000.0),
        settled_mb_per_s: Some(800.0),
        shared_mb_per_s: Some(600.0),
        work_mb_per_s: Some(400.0),
        ..results::run::SustainedPeak::default()
    });
    let run = results::subject::Subject::of_run(&plan, &result);
    result.sustained_peak.as_mut().unwrap().settled_mb_per_s = None;
    let unsampled = results::subject::Subject::of_run(&plan, &result);
    let paper = results::reference::find("isilon-f810").unwrap();
    let table = results::tables::scalability(&[paper, run, unsampled]).unwrap();
    insta::assert_snapshot!(report::table::text(&table));
}

#[test]
fn throughput_over_time_by_channel() {
    let channel = |megabytes: u64| sample::ChannelSample {
        write_bytes: megabytes * 1_000_000,
        ..sample::ChannelSample::default()
    };
    let one = |second: u32| sample::Sample {
        at_s: f64::from(second) + 1.0,
        interval_s: 1.0,
        running: 4,
        channels: [
            ("output".to_owned(), channel(u64::from(second) * 10)),
            ("util".to_owned(), channel(100)),
        ]
        .into(),
        ..sample::Sample::default()
    };
    let nodes = [("n1".to_owned(), (0..6).map(one).collect::<Vec<_>>())];
    let all = tables::throughput(&nodes).unwrap();
    let condensed = tables::throughput_rows(&nodes, 3).unwrap();
    let texts = [
        report::table::text(&all),
        report::table::text(&condensed),
        report::table::csv(&all),
    ];
    insta::assert_snapshot!(texts.join("\n").replace('\r', ""));
}

/// A series of three factors: one that counts, one that counts for system time alone, one that does not; a level that
/// the host does not have, and a run that failed.
fn series() -> results::matrix::Analysis {
    use results::matrix::read::{LeftOut, Observation, Series};
    let factor = |name: &str, levels: &[&str]| results::matrix::Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
    };
    let factors = vec![
        factor("file system", &["xfs", "ext4", "gfs2"]),
        factor("huge pages", &["never", "always"]),
        factor("read-ahead", &["128k", "4M"]),
    ];
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    let noise = base::random::Stream::new(7);
    for file_system in &factors[0].levels {
        for (pages, read_ahead) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let names = [
                file_system,
                &factors[1].levels[pages],
                &factors[2].levels[read_ahead],
            ];
            let levels = factors.iter().zip(names);
            let levels = levels.map(|(factor, level)| (factor.name.clone(), level.clone()));
            let levels: std::collections::BTreeMap<String, String> = levels.collect();
            if file_system == "gfs2" {
                left_out.push(LeftOut {
                    levels,
                    runs: 3,
                    how: "not-possible",
                    why: "gfs2: the kernel has no gfs2".to_owned(),
                });
                continue;
            }
            let of_file_system = if file_system == "ext4" { 1.12 } else { 1.0 };
            let of_both = if file_system == "ext4" && pages == 1 {
                1.2
            } else {
                1.0
            };
            for block in 1..=3 {
                let noise = 1.0 + 0.03 * noise.unit(runs.len() as u64) + 0.02 * f64::from(block);
                let pages = if pages == 1 { 2.5 } else { 1.0 };
                runs.push(Observation {
                    run: format!("run {}", runs.len() + 1),
                    levels: levels.clone(),
                    block: Some(block.to_string()),
                    wall_s: Some(800.0 * of_file_system * of_both * noise),
                    system_s: Some(90.0 * pages * noise),
                    user_s: Some(400.0 * noise),
                    elapsed_s: Some(120.0 * noise),
                });
            }
        }
    }
    results::matrix::analyse(Series {
        factors,
        runs,
        left_out,
        notes: vec!["all runs: demonstration scale: most data stay in memory".to_owned()],
    })
}

#[test]
fn a_series_says_what_makes_a_difference_and_what_was_not_shown() {
    insta::assert_snapshot!(
        "series",
        report::matrix::text("File systems and huge pages", &series())
    );
    let page = report::page::matrix("File systems and huge pages", &series());
    assert!(page.contains("File system: ext4 took") && !page.contains("{{"));
    if let Some(file) = std::env::var_os("GRISTMILL_SHOW_SERIES") {
        std::fs::write(file, page).unwrap();
    }
}
