//! `gristmill matrix` as a user meets it, as far as that needs no root: directories, SAS options, labels. File
//! systems and settings of the host are tested by `lab/matrix.sh`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use results::matrix::record::{MatrixFolder, RunRecord, State};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A directory to run in, with a plan.
struct Bench {
    directory: TempDir,
}

impl Bench {
    /// A series of two values of an option and two suites' scales on a directory.
    fn new(megabytes: f64) -> Self {
        let bench = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        let data = bench.path("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("precious.txt"), "nobody's but mine").unwrap();
        let memory = host::memory::live().unwrap() as f64;
        let scale = megabytes * 1e6 / (1.05 * memory);
        let plan = format!(
            r#"name = "locks"
title = "Locks and pages"
suite = "large-sorts"
scale = {scale}
repeats = 2
seed = 3
arguments = ["--jobs", "2", "--warm", "--cores", "2"]

[volumes.all]
directory = "{}"

[[factors]]
name = "locks"
kind = "sas-option"
setting = "FILELOCKS"
levels = ["FAIL", "NONE"]

[[factors]]
name = "pages"
kind = "sas-option"
setting = "BUFSIZE"
levels = ["64k", "128k"]
"#,
            data.display()
        );
        fs::write(bench.path("plan.toml"), plan).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    fn folder(&self) -> MatrixFolder {
        MatrixFolder::open(&self.path("gristmill-bench/matrix-locks"))
    }

    fn records(&self) -> Vec<RunRecord> {
        let folder = self.folder();
        let plan = folder.plan().unwrap().expect("there is a plan");
        let records = plan
            .runs
            .iter()
            .filter_map(|run| folder.record(run.number).unwrap());
        records.collect()
    }

    /// What is in the user's directory.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("data")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_series_runs_each_cell_in_each_block_and_more_repeats_continue_it() {
    let bench = Bench::new(2.0);
    let found = bench.json(&["matrix", "plan.toml", "--repeats", "1", "--json"]);
    assert_eq!(found["runs"].as_array().unwrap().len(), 4);
    assert_eq!(
        found["responses"][0]["freedom"], 0,
        "one block has no noise"
    );
    let first = bench.records();
    assert!(first.iter().all(|record| record.state == State::Done));
    let found = bench.json(&["matrix", "plan.toml", "--json"]);
    assert_eq!(found["runs"].as_array().unwrap().len(), 8);
    let wall = &found["responses"][0];
    assert_eq!(
        (wall["response"].as_str(), wall["freedom"].as_u64()),
        (Some("wall_sum"), Some(3))
    );
    assert!(
        wall["effects"][0]["ratio"]["interval"][0].is_f64(),
        "{wall}"
    );
    let all = bench.records();
    assert_eq!(all[..4], first, "what is done stays");
    assert_eq!(bench.left(), ["precious.txt"]);
    // The first run of each cell is as the plan says it.
    for record in &all {
        let run = bench
            .folder()
            .run(record.planned.number)
            .join(record.run.as_ref().unwrap());
        let plan = results::run::RunDirectory::open(&run).plan().unwrap();
        assert_eq!(plan.labels, record.planned.levels);
        assert_eq!(plan.options["FILELOCKS"], record.planned.levels["locks"]);
        assert_eq!(
            plan.options["BUFSIZE"].to_lowercase(),
            record.planned.levels["pages"]
        );
    }
    let page = fs::read_to_string(bench.folder().path().join("report.html")).unwrap();
    assert!(page.contains("Locks and pages") && page.contains("class=\"wall\""));
    let again = bench.output(&["matrix", "plan.toml", "--repeats", "1"]);
    assert_eq!(again.status.code(), Some(0));
    let csv = bench.output(&[
        "matrix",
        "report",
        "gristmill-bench/matrix-locks",
        "--csv",
        "matrix-cells",
    ]);
    assert_eq!(
        text(&csv.stdout).lines().count(),
        5,
        "{}",
        text(&csv.stdout)
    );
}

#[test]
fn another_series_does_not_go_into_the_same_folder() {
    let bench = Bench::new(2.0);
    let only = [
        "matrix",
        "plan.toml",
        "--repeats",
        "1",
        "--only",
        "pages=64k",
    ];
    assert_eq!(bench.output(&only).status.code(), Some(0));
    let other = bench.output(&["matrix", "plan.toml", "--repeats", "1"]);
    assert_eq!(other.status.code(), Some(3));
    let said = text(&other.stderr);
    assert!(
        said.contains("holds another series: its factors are other ones"),
        "{said}"
    );
    let foreign = bench.output(&["matrix", "plan.toml", "--folder", "data"]);
    assert_eq!(foreign.status.code(), Some(3));
    assert_eq!(bench.left(), ["precious.txt"]);
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn has_run(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| entry.path().join("run.json").exists())
}

#[test]
fn an_interrupted_series_goes_on_where_it_was() {
    let bench = Bench::new(30.0);
    let arguments = [
        "matrix",
        "plan.toml",
        "--repeats",
        "1",
        "--only",
        "pages=64k",
    ];
    let mut child = bench
        .command(&arguments)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let folder = bench.folder();
    wait_for("a run began", || has_run(&folder.run(1)));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(bench.records(), [], "the run that was cut short is none");
    assert_eq!(bench.left(), ["precious.txt"]);
    let output = bench.output(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(bench.records().len(), 2);
    assert_eq!(bench.left(), ["precious.txt"]);
}

#[test]
fn a_run_that_fails_is_said_and_the_series_goes_on() {
    let bench = Bench::new(2.0);
    let plan = fs::read_to_string(bench.path("plan.toml")).unwrap();
    let plan = plan.replace(
        "\"--cores\", \"2\"",
        "\"--cores\", \"2\", \"--wall-limit\", \"0.001s\"",
    );
    fs::write(bench.path("plan.toml"), plan).unwrap();
    let output = bench.output(&[
        "matrix",
        "plan.toml",
        "--repeats",
        "1",
        "--only",
        "pages=64k",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let records = bench.records();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record.state == State::Failed));
    let why = records[0].reason.as_ref().unwrap();
    assert!(why.contains("job sort_"), "{why}");
    assert_eq!(bench.left(), ["precious.txt"]);
    assert!(
        text(&output.stdout).contains("Nothing can be compared"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn runs_of_other_places_are_compared_by_their_labels() {
    let bench = Bench::new(2.0);
    let plan = fs::read_to_string(bench.path("plan.toml")).unwrap();
    let scale = plan
        .lines()
        .find_map(|line| line.strip_prefix("scale = "))
        .unwrap();
    let mut runs = Vec::new();
    for (label, runs_in) in [("host=a,array=f800", "one"), ("host=b,array=f800", "two")] {
        for _ in 0..2 {
            let output = bench.output(&[
                "run",
                "large-sorts",
                "--jobs",
                "2",
                "--scale",
                scale,
                "--warm",
                "--no-ceiling",
                "--runs",
                runs_in,
                "--label",
                label,
            ]);
            let said = text(&output.stderr);
            let run = said
                .lines()
                .find_map(|line| line.strip_prefix("Run directory: "));
            runs.push(run.unwrap_or_else(|| panic!("{said}")).to_owned());
        }
    }
    let mut arguments = vec!["matrix", "report", "--json"];
    arguments.extend(runs.iter().map(String::as_str));
    let found = bench.json(&arguments);
    let factors = found["factors"].as_array().unwrap();
    assert_eq!(factors.len(), 1, "one array is no factor: {factors:?}");
    assert_eq!(factors[0]["levels"], serde_json::json!(["a", "b"]));
    assert_eq!(found["responses"][0]["freedom"], 2);
}

/// What differs between hosts is cut away: what each can do, and its settings.
fn anywhere(dry_run: &str) -> String {
    let mut out = String::new();
    let mut skip = false;
    for line in dry_run.lines() {
        let is_heading = !line.starts_with(' ');
        let is_reason = line.trim_start().starts_with('[');
        skip = is_reason || (skip && !is_heading);
        if skip || line.contains(" now; ") || line.trim_start().starts_with("folder ") {
            continue;
        }
        let marks = ["  not possible here", "  not known yet"];
        let end = marks.iter().filter_map(|mark| line.find(mark)).min();
        out.push_str(&line[..end.unwrap_or(line.len())]);
        out.push('\n');
    }
    out
}

#[test]
fn the_papers_matrix_is_shown_before_anything_is_done() {
    let bench = Bench::new(2.0);
    let output = bench.output(&["matrix", "mixed-8core", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_snapshot!("papers_matrix", anywhere(&text(&output.stdout)));
    assert!(
        !bench.path("gristmill-bench").exists(),
        "a dry run makes nothing"
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let bench = Bench::new(2.0);
    let plan = fs::read_to_string(bench.path("plan.toml")).unwrap();
    fs::write(
        bench.path("wrong.toml"),
        plan.replace("levels = [\"FAIL\"", "levels = [\"PERHAPS\""),
    )
    .unwrap();
    let device = plan.replace(
        &format!("directory = \"{}\"", bench.path("data").display()),
        "device = \"/dev/null\"\ntype = \"xfs\"",
    );
    fs::write(bench.path("device.toml"), device).unwrap();
    let misspelt = plan.replace("\"--cores\", \"2\"", "\"--croes\", \"2\"");
    fs::write(bench.path("misspelt.toml"), misspelt).unwrap();
    // What lives beside a directory is not changed unasked.
    let read_ahead = "[[factors]]\nname = \"ra\"\nkind = \"read-ahead\"\nlevels = [\"128k\"]\n";
    fs::write(bench.path("unasked.toml"), plan + "\n" + read_ahead).unwrap();
    let mut errors = String::new();
    for arguments in [
        &["matrix", "wrong.toml"][..],
        &["matrix", "none.toml"],
        &["matrix", "misspelt.toml", "--dry-run"],
        &["matrix", "unasked.toml"],
        &["matrix", "device.toml"],
        &[
            "matrix",
            "device.toml",
            "--format",
            "/dev/null",
            "--format",
            "/dev/zero",
        ],
        &["matrix", "plan.toml", "--label", "locks=FAIL"],
        &["matrix", "report", "data"],
        &["matrix", "restore", "data"],
    ] {
        let output = bench.output(arguments);
        let is_usage = arguments.contains(&"--label") || arguments.contains(&"misspelt.toml");
        let expected = if is_usage { 2 } else { 3 };
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}");
        let said = text(&output.stderr);
        errors.extend(["$ gristmill ", &arguments.join(" "), "\n", &said, "\n"]);
    }
    assert_snapshot!(
        "matrix_errors",
        errors.replace(&bench.directory.path().display().to_string(), "DIR")
    );
}
