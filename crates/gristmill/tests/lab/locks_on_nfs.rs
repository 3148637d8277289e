//! What locks cost a calibration on NFS.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use results::run::RunDirectory;

use super::{ask_lab, clean, dir, gristmill, say};

/// Calls of the server while jobs ran, by kind.
fn calls(run: &Path, mount: &str) -> BTreeMap<String, u64> {
    let directory = RunDirectory::open(run);
    let result = directory.result().unwrap().unwrap();
    assert!(result.jobs.iter().all(|job| job.verified == Some(true)));
    let mut sum = BTreeMap::new();
    for node in directory.nodes().unwrap() {
        for sample in directory.samples(&node).unwrap() {
            if sample.running == 0 {
                continue;
            }
            for (name, count) in &sample.mounts[mount].calls {
                *sum.entry(name.clone()).or_default() += count;
            }
        }
    }
    sum
}

/// The runs of a folder with their value of FILELOCKS.
fn runs(folder: &Path) -> BTreeMap<String, std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let runs = paths.filter(|path| path.join("run.json").exists());
    let named = runs.map(|path| {
        let plan = RunDirectory::open(&path).plan().unwrap();
        let options: BTreeMap<String, String> = plan.options.clone().into_iter().collect();
        (options["FILELOCKS"].clone(), path)
    });
    named.collect()
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn without_locks_a_calibration_asks_the_server_less() {
    ask_lab(&["mount", ""], &[("DELEGATIONS", "0")]);
    let place = tempfile::tempdir().unwrap();
    let own = place.path().display().to_string();
    let data = dir().display().to_string();
    let arguments = [
        "run",
        "demand-calibration",
        "--models",
        "4",
        "--concurrency",
        "1",
        "--parameter",
        "temp_files=20",
        "--parameter",
        "perm_sets=20",
        "--scale",
        "0.001",
        "--compare-option",
        "FILELOCKS=FAIL,NONE",
        "--repeat",
        "1",
        "--no-ceiling",
        "--data",
        &data,
        "--work",
        &own,
        "--util",
        &own,
        "--runs",
        &own,
    ];
    let output = gristmill(&arguments, place.path());
    let said = String::from_utf8_lossy(&output.stderr);
    say(&said);
    clean(&dir());
    // 4: too little data for a verdict.
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 4)), "{code:?}: {said}");
    let runs = runs(place.path());
    let [fail_s, none_s] = ["FAIL", "NONE"].map(|value| {
        let result = RunDirectory::open(&runs[value]).result().unwrap().unwrap();
        result
            .jobs
            .iter()
            .map(|job| job.real_s.unwrap())
            .sum::<f64>()
    });
    say(&format!("FAIL takes {:.2} times as long", fail_s / none_s));
    // Which is slower, and nothing about how much: the machine is emulated.
    assert!(fail_s > none_s, "{fail_s} s with locks, {none_s} s without");
    let [fail, none] = ["FAIL", "NONE"].map(|value| calls(&runs[value], &data));
    say(&format!("FAIL: {fail:?}\nNONE: {none:?}"));
    let of = |calls: &BTreeMap<String, u64>, name: &str| calls.get(name).copied().unwrap_or(0);
    // Under FAIL each permanent file is locked: 20 that are written and the inputs, by each model.
    assert_eq!(of(&none, "LOCK"), 0);
    assert!(of(&fail, "LOCK") > 100, "{}", of(&fail, "LOCK"));
    // What was locked is fetched anew, by each of the models; without locks the first one's pages serve all.
    let reads = (of(&fail, "READ"), of(&none, "READ"));
    assert!(reads.0 > 2 * reads.1, "{reads:?} reads with and without");
}
