//! How `gristmill run` launches: limits, batches, repeats, ladders and marks, with a suite of a site.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use results::run::{Event, EventKind, RunDirectory, RunResult};
use tempfile::TempDir;

/// Jobs that wait, and leave a data set of a row; the first one appends to one of its own as well.
const SUITE: &str = r#"
name = "waiting"
title = "Jobs that wait"

[parameters.jobs]
value = 2

[launch]
rule = "together"
spread_s = 0

[demonstration]
scale = 1

[[jobs]]
numbers = "1..jobs"
name = "wait_{number}"
program = "wait.sas"
symbols = { number = "{number}", out = "w{number}" }

[[jobs.checks]]
kind = "rows"
dataset = "w{number}"
count = "1"
"#;

const PROGRAM: &str = "data once; x = 1; run; proc append base=out.&out data=once; run;
  data _null_; rc = sleep(WAIT * &number, 0.001); run;";

struct Site {
    directory: TempDir,
}

impl Site {
    /// Job n waits for n times so many milliseconds.
    fn new(wait_ms: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("waiting");
        fs::create_dir_all(folder.join("programs")).unwrap();
        fs::write(folder.join("suite.toml"), SUITE).unwrap();
        let program = PROGRAM.replace("WAIT", &wait_ms.to_string());
        fs::write(folder.join("programs/wait.sas"), program).unwrap();
        Self { directory }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, more: &[&str]) -> Output {
        let arguments = [&["run", "./waiting"], more].concat();
        self.command(&arguments).output().unwrap()
    }

    /// Run directories in the order in which they were made.
    fn runs(&self) -> Vec<RunDirectory> {
        let entries = fs::read_dir(self.directory.path().join("gristmill-bench/runs"));
        let mut runs: Vec<RunDirectory> = entries
            .into_iter()
            .flatten()
            .map(|entry| RunDirectory::open(&entry.unwrap().path()))
            .collect();
        let index = |run: &RunDirectory| run.plan().unwrap().series.map(|series| series.index);
        runs.sort_by_key(index);
        runs
    }

    fn result(&self) -> RunResult {
        self.runs()[0]
            .result()
            .unwrap()
            .expect("the run is complete")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How many run at once: when the last one started, none had ended.
fn all_at_once(result: &RunResult) -> bool {
    let launched = result.jobs.iter().filter_map(|job| job.launched_s);
    let ended = result
        .jobs
        .iter()
        .filter_map(|job| Some(job.launched_s? + job.real_s?));
    launched.fold(0.0, f64::max) < ended.fold(f64::MAX, f64::min)
}

#[test]
fn more_jobs_than_files_may_be_open_run_at_once() {
    let site = Site::new(0);
    let program = site.directory.path().join("waiting/programs/wait.sas");
    let text = fs::read_to_string(&program)
        .unwrap()
        .replace("0 * &number", "4000");
    fs::write(program, text).unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 150 && exec \"$0\" run ./waiting --jobs 160",
        ])
        .arg(env!("CARGO_BIN_EXE_gristmill"))
        .current_dir(site.directory.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let result = site.result();
    assert!(result.jobs.iter().all(|job| job.verified == Some(true)));
    assert!(all_at_once(&result));
}

/// `cargo test -p gristmill --test launch -- --ignored --nocapture`
#[test]
#[ignore = "takes half a minute and a gigabyte of memory"]
#[expect(clippy::print_stderr, reason = "it measures")]
fn a_thousand_processes_run_at_once() {
    let site = Site::new(0);
    let program = site.directory.path().join("waiting/programs/wait.sas");
    let text = fs::read_to_string(&program)
        .unwrap()
        .replace("0 * &number", "12000");
    fs::write(program, text).unwrap();
    let output = site.run(&["--jobs", "1000"]);
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let result = site.result();
    assert_eq!(result.jobs.len(), 1000);
    assert!(result.jobs.iter().all(|job| job.verified == Some(true)));
    assert!(all_at_once(&result), "they wait too short for this machine");
    let all = &result.aggregate;
    eprintln!(
        "1,000 processes: the last was {:.2} s late, launcher and sampler took {:.2} s of CPU time ({:.1} % of a \
         core)",
        all.late_max_s.unwrap(),
        all.launcher_cpu_s.unwrap(),
        100.0 * all.launcher_cpu_share.unwrap()
    );
}

fn text_of(output: &Output) -> String {
    text(&[&output.stdout[..], &output.stderr].concat())
}

#[test]
fn a_job_beyond_its_limit_is_ended_and_the_others_go_on() {
    let site = Site::new(0);
    let program = site.directory.path().join("waiting/programs/wait.sas");
    let text_of_it = fs::read_to_string(&program).unwrap();
    // The first job does not wait, the others far beyond the limit: a busy host changes nothing.
    let waiting = text_of_it.replace("0 * &number", "60000 * (&number - 1)");
    fs::write(program, waiting).unwrap();
    let output = site.run(&["--wall-limit", "4s", "--jobs", "3"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let result = site.result();
    let ended: Vec<Option<i32>> = result.jobs.iter().map(|job| job.exit).collect();
    assert_eq!(ended[0], Some(0));
    for job in &result.jobs[1..] {
        let error = job.error.as_deref().unwrap_or_default();
        assert_eq!(error, "ended after its wall limit of 4 s", "{}", job.name);
        assert_eq!(job.verified, Some(false), "{}", job.name);
        assert!((4.0..30.0).contains(&job.real_s.unwrap()));
    }
    assert_eq!(result.verdict.result, "fail");
    assert!(result.aggregate.late_max_s.is_some());
}

#[test]
fn the_first_error_of_a_failed_job_is_told() {
    let site = Site::new(1);
    let program = site.directory.path().join("waiting/programs/wait.sas");
    fs::write(program, "data out.&out; set in.nothing; run;").unwrap();
    site.run(&[]);
    let error = site.result().jobs[0].error.clone().unwrap();
    assert!(
        error.starts_with("ERROR: File IN.NOTHING.DATA does not exist"),
        "{error}"
    );
}

#[test]
fn batches_start_anew_until_the_time_is_over_each_with_outputs_of_its_own() {
    let site = Site::new(200);
    let output = site.run(&["--duration", "1s"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let result = site.result();
    let batches = result.jobs.iter().map(|job| job.batch).max().unwrap();
    assert!((2..=4).contains(&batches), "{batches}");
    assert_eq!(result.jobs.len(), 2 * batches as usize);
    // An appended row would be the second one if batches shared their outputs.
    assert!(result.jobs.iter().all(|job| job.verified == Some(true)));
    each_batch_is_flushed_before_its_outputs_are_removed(&site, &result);
    let drift = result.drift.as_ref().unwrap();
    assert_eq!((drift.part.as_str(), drift.batches), ("tenth", [1, 1]));
    let names: Vec<&str> = drift.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["wait_1", "wait_2"]);
    assert!(drift.mb_per_s.contains_key("all"), "{drift:?}");
    let said = text(&output.stdout);
    assert!(said.contains("First and last tenth"), "{said}");
    assert!(
        result
            .verdict
            .reason
            .contains("in the last tenth jobs took"),
        "{said}"
    );
    let left = fs::read_dir(site.directory.path().join("gristmill-bench")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.contains("output")));
}

/// What was removed unwritten would count as moved, and its removal as time of jobs.
fn each_batch_is_flushed_before_its_outputs_are_removed(site: &Site, result: &RunResult) {
    let events = site.runs()[0].events().unwrap();
    let borders =
        |event: &&Event| matches!(event.event, EventKind::BatchStarted | EventKind::Flushed);
    let borders: Vec<&Event> = events.iter().filter(borders).collect();
    let batches = result.jobs.iter().map(|job| job.batch).max().unwrap();
    assert_eq!(borders.len(), 2 * batches as usize);
    let (mut flushed_s, mut ran_s) = (0.0, 0.0);
    for pair in borders.chunks(2) {
        let kinds = (pair[0].event, pair[1].event);
        assert_eq!(kinds, (EventKind::BatchStarted, EventKind::Flushed));
        let flush_s = pair[1].real_s.unwrap();
        flushed_s += flush_s;
        ran_s += pair[1].at_s - flush_s - pair[0].at_s;
    }
    assert!((result.aggregate.flush_s.unwrap() - flushed_s).abs() < 1e-6);
    let elapsed_s = result.aggregate.elapsed_s.unwrap();
    assert!((0.4..ran_s).contains(&elapsed_s), "{elapsed_s} {ran_s}");
}

#[test]
fn repeats_are_runs_of_their_own_and_their_spread_is_told() {
    let site = Site::new(10);
    let output = site.run(&["--repeat", "3"]);
    let said = text(&output.stdout);
    assert!(said.contains("3 equal runs"), "{said}");
    let runs = site.runs();
    let series: Vec<_> = runs
        .iter()
        .map(|run| run.plan().unwrap().series.unwrap())
        .collect();
    assert_eq!(series.len(), 3);
    let first = runs[0].plan().unwrap().run;
    assert!(
        series
            .iter()
            .all(|one| one.name == first && one.of == 3 && one.kind == "repeat")
    );
    // In the papers' forms each run is itself, and a difference of two of them is none of the sides.
    let [one, two, three] = &runs[..] else {
        panic!("{} runs", runs.len());
    };
    let side = |run: &RunDirectory| run.path().display().to_string();
    let joined = format!("{},{}", side(one), side(two));
    let compare = ["compare", &joined, &side(three), "--json"];
    let compared = site.command(&compare).output().unwrap();
    let compared: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    let tables = compared["tables"].as_array().unwrap();
    let aggregate = tables.iter().find(|table| table["id"] == "aggregate");
    let rows = aggregate.unwrap()["rows"].as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["cells"][0].as_str().unwrap())
        .collect();
    let whole = |run: &RunDirectory| run.plan().unwrap().run;
    assert_eq!(names, [whole(one), whole(two), whole(three)]);
}

#[test]
fn a_ladder_raises_the_load() {
    let site = Site::new(10);
    let output = site.run(&["--ladder", "1,3"]);
    let said = text(&output.stdout);
    assert!(said.contains("Knee"), "{said}");
    let jobs: Vec<usize> = site
        .runs()
        .iter()
        .map(|run| run.plan().unwrap().jobs.len())
        .collect();
    assert_eq!(jobs, [1, 3]);
    let refused = site.run(&["--ladder", "1,3,1"]);
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(told.contains("--ladder names the load 1 twice"), "{told}");
    assert_eq!(site.runs().len(), 2);
}

#[test]
fn what_was_not_verified_shows_nothing() {
    let site = Site::new(1);
    let output = site.run(&["--verify", "off"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
    assert!(site.result().jobs.iter().all(|job| job.verified.is_none()));
    let site = Site::new(1);
    site.run(&["--verify", "sample"]);
    let verified: Vec<_> = site.result().jobs.iter().map(|job| job.verified).collect();
    assert_eq!(verified, [Some(true), None]);
}

#[test]
fn a_mark_lands_on_the_timeline_of_the_run_that_is_on_its_way() {
    let site = Site::new(1500);
    let nobody = site
        .command(&["mark", "too early", "--runs", "."])
        .output()
        .unwrap();
    assert!(text(&nobody.stderr).contains("no run is on its way"));
    let mut run = site
        .command(&["run", "./waiting"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let output = site
            .command(&["mark", "controller A failed over"])
            .output()
            .unwrap();
        if output.status.success() {
            break;
        }
        assert!(Instant::now() < deadline, "{}", text(&output.stderr));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(run.wait().unwrap().success());
    let events = site.runs()[0].events().unwrap();
    let mark = events
        .iter()
        .find(|event| event.event == EventKind::Mark)
        .unwrap();
    assert_eq!(mark.detail.as_deref(), Some("controller A failed over"));
    let finished = events.last().unwrap();
    assert!(mark.at_s >= 0.0 && mark.at_s < finished.at_s);
    let folder: PathBuf = site.runs()[0].path().to_owned();
    let folder = folder.display().to_string();
    let late = site
        .command(&["mark", "too late", "--run", &folder])
        .output()
        .unwrap();
    assert!(text(&late.stderr).contains("is over"));
}

/// A pace table that decides what a step takes: 0.4 s each.
const PACE: &str = "
title = 'of a test'
date = '2026-11-21'
[kind.DATA]
s_per_step = 0.4
s_per_mb = 0
s_per_million_rows = 0
basis = 'made up'
[kind.OTHER]
like = 'DATA'
basis = 'made up'
";

#[test]
fn a_paced_suite_spends_what_the_table_says_by_waiting() {
    let site = Site::new(0);
    let program = site.directory.path().join("waiting/programs/wait.sas");
    fs::write(
        program,
        "data out.&out; x = 1; run; data _null_; set out.&out; run;",
    )
    .unwrap();
    fs::write(site.directory.path().join("pace.toml"), PACE).unwrap();
    let paced = ["--pace", "sas", "--pace-by", "sleep"];
    let dry = text(&site.run(&[&paced[..], &["--dry-run"]].concat()).stdout);
    assert!(
        dry.contains("paced: 1 times the CPU time that the table of "),
        "{dry}"
    );
    assert!(dry.contains("by waiting"), "{dry}");
    let dry = text(&site.run(&["--dry-run"]).stdout);
    assert!(dry.contains("not paced"), "{dry}");

    let table = ["--pace-table", "pace.toml", "--jobs", "3"];
    let output = site.run(&[&paced[..], &table].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let said = text(&output.stdout);
    assert!(said.contains("paced: sas, by waiting"), "{said}");
    let run = &site.runs()[0];
    let pacing = run.plan().unwrap().pacing.unwrap();
    assert_eq!((pacing.by.as_str(), pacing.factor), ("sleep", 1.0));
    let result = site.result();
    for job in &result.jobs {
        assert_eq!(job.verified, Some(true));
        // Two steps of 0.4 s, which stand for user CPU time of the job.
        let stood_in = job.stood_in_s.unwrap();
        assert!((0.6..2.0).contains(&stood_in), "{stood_in}");
        assert!(job.real_s.unwrap() >= stood_in && job.user_s.unwrap() >= stood_in);
    }
    // Otherwise the same, without a pace.
    site.run(&[]);
    let unpaced = site
        .runs()
        .into_iter()
        .find(|run| run.plan().unwrap().pace.is_none());
    let unpaced = unpaced.unwrap().result().unwrap().unwrap();
    assert!(unpaced.jobs.iter().all(|job| job.stood_in_s.is_none()));
}

/// A suite with users, of which more and fewer are launched than it has.
const USERS: &str = r#"
name = "waiting"
title = "Users"

[launch]
rule = "offsets"

[personas]
clerk = "writes a row"
boss = "reads it"

[mix]
symbol = "who"
interval_s = 1

[demonstration]
scale = 1
time_scale = 0.1

[[jobs]]
program = "wait.sas"
persona = "clerk"
launches = [
    { name = "clerk_1", at_s = 0, symbols = { who = "c1" } },
    { name = "clerk_2", at_s = 1, symbols = { who = "c2" } },
]
checks = [{ kind = "rows", dataset = "w_{who}", count = "1" }]

[[jobs]]
name = "boss"
at_s = 0
program = "wait.sas"
persona = "boss"
symbols = { who = "b" }
checks = [{ kind = "rows", dataset = "w_{who}", count = "1" }]
"#;

#[test]
fn other_users_run_and_each_has_outputs_of_its_own() {
    let site = Site::new(0);
    let folder = site.directory.path().join("waiting");
    fs::write(folder.join("suite.toml"), USERS).unwrap();
    let program = "data once; x = 1; run; proc append base=out.w_&who data=once; run;";
    fs::write(folder.join("programs/wait.sas"), program).unwrap();
    let twice = site.run(&["--mix", "clerk=5,clerk=1"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(text_of(&twice).contains("--mix: clerk is given twice"));
    let output = site.run(&["--mix", "clerk=5,boss=0"]);
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let result = site.result();
    let mut names: Vec<&str> = result.jobs.iter().map(|job| &*job.name).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["clerk_1", "clerk_1u2", "clerk_1u3", "clerk_2", "clerk_2u2"]
    );
    // A second appended row would be found.
    assert!(
        result.jobs.iter().all(|job| job.verified == Some(true)),
        "{result:?}"
    );
    let third = result
        .jobs
        .iter()
        .find(|job| job.name == "clerk_1u3")
        .unwrap();
    assert!(third.launched_s.unwrap() >= 0.19, "{third:?}");
    let said = text(&output.stdout);
    assert!(
        said.contains("boss 0 instead of 1, clerk 5 instead of 2"),
        "{said}"
    );
}
