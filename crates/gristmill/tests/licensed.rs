//! `gristmill run --engine sas:PATH`, with a stand-in that takes SAS's command line, really runs the programs and
//! writes SAS's log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use results::run::{EventKind, RunDirectory, RunResult};
use results::step::StepRecord;
use tempfile::TempDir;

const SUITE: &str = r#"
name = "site"
title = "A suite of a site"

[options]
MEMSIZE = "512M"
SORTSIZE = "4M"
FILELOCKS = "FAIL"

[launch]
rule = "together"
spread_s = 0

[demonstration]
scale = 1

[[datasets]]
names = ["a"]
recipe = "pairs"
rows = 20000
seed = 5

[[jobs]]
name = "sort"
program = "sort.sas"
symbols = { in = "a", out = "sorted", where = "x < 0.5 and id ne .", at = "{output_directory}" }
checks = [
    { kind = "sorted", dataset = "sorted", by = ["x"], same_rows_as = "a" },
    { kind = "rows", dataset = "few", rows_of = "a", input_where = "x < 0.5" },
    { kind = "lines", file = "said.txt", count = "1" },
]
"#;

const RECIPE: &str = r#"
columns = [
    { name = "id", kind = "sequence", start = 1 },
    { name = "x", kind = "random" },
    { name = "c", kind = "character", length = 200, used = 20 },
]
"#;

const PROGRAM: &str = "
proc sort data=in.&in out=out.&out; by x; run;
data out.few; set in.&in; where &where; run;
data _null_; file \"&at/said.txt\"; put 'done'; run;
";

struct Site {
    directory: TempDir,
    sas: PathBuf,
}

impl Site {
    fn new(program: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("suite.toml", SUITE),
            ("programs/sort.sas", program),
            ("recipes/pairs.toml", RECIPE),
        ] {
            let path = directory.path().join("site").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let sas = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/sas");
        Self { directory, sas }
    }

    fn run(&self, more: &[&str]) -> Output {
        let engine = format!("sas:{}", self.sas.display());
        Command::new(env!("CARGO_BIN_EXE_gristmill"))
            .args(["run", "./site", "--engine", &engine])
            .args(more)
            .env("GRISTMILL_STAND_IN", env!("CARGO_BIN_EXE_gristmill"))
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn directory(&self) -> RunDirectory {
        let runs = self.directory.path().join("gristmill-bench/runs");
        let run = fs::read_dir(runs).unwrap().next().unwrap().unwrap();
        RunDirectory::open(&run.path())
    }

    fn result(&self) -> RunResult {
        self.directory()
            .result()
            .unwrap()
            .expect("the run is complete")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_suite_runs_under_sas_and_its_logs_become_records() {
    let site = Site::new(PROGRAM);
    let output = site.run(&[]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    let (directory, result) = (site.directory(), site.result());

    // The job's own folder has all that SAS was given.
    let own = directory.job("sort");
    let autoexec = fs::read_to_string(own.join("autoexec.sas")).unwrap();
    assert!(
        autoexec.contains("libname in '") && autoexec.contains("libname out '"),
        "{autoexec}"
    );
    assert!(
        autoexec.contains("%let where=x < 0.5 and id ne .;"),
        "{autoexec}"
    );
    assert!(own.join("job.lst").exists());

    // Its log became records, with what it has.
    let steps: Vec<StepRecord> = directory.steps("sort").unwrap().records;
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["SORT", "DATA", "DATA"]);
    assert_eq!(steps[0].observations_read, Some(20_000));
    assert_eq!(steps[0].outputs[0].name, "OUT.SORTED");
    assert!(
        steps
            .iter()
            .all(|step| step.channels.is_empty() && step.block_input.is_some())
    );
    let job = &result.jobs[0];
    assert_eq!(
        (job.exit, job.verified),
        (Some(0), Some(true)),
        "{:?}",
        job.findings
    );
    assert_eq!(
        (job.read_bytes, job.write_bytes, job.blocked_s),
        (None, None, None)
    );
    assert!(job.device_read_bytes.is_some() || !result.not_measured.is_empty());
    assert!(job.real_s > Some(0.0) && job.memory_bytes > Some(0));
    assert_eq!(result.aggregate.mb_per_s, None);
}

#[test]
fn what_ran_is_said_and_what_is_not_known() {
    let site = Site::new(PROGRAM);
    let output = site.run(&[]);
    let said = text(&output.stdout);
    let (directory, result) = (site.directory(), site.result());
    let engine = result.engine.unwrap();
    assert!(
        engine.starts_with("SAS 9.4 (TS1M7) on Linux 5.14.0 (LIN X64), by /"),
        "{engine}"
    );
    assert!(
        result.verdict.reason.contains("SAS 9.4 (TS1M7)"),
        "{}",
        result.verdict.reason
    );
    assert!(
        result
            .not_measured
            .iter()
            .any(|one| one.contains("bytes by channel"))
    );
    assert!(said.contains("licensed SAS"), "{said}");
    assert!(
        !result.verdict.reason.contains("read back from storage"),
        "{}",
        result.verdict.reason
    );
    let events = directory.events().unwrap();
    assert!(
        events
            .iter()
            .any(|event| event.event == EventKind::LogsRead)
    );
}

#[test]
fn an_error_in_the_log_and_a_wrong_output_are_found() {
    let site = Site::new("data out.&out; set in.nothing; run;");
    let output = site.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let result = site.result();
    assert_eq!(result.jobs[0].exit, Some(2));
    assert!(
        result.jobs[0].error.as_ref().unwrap().contains("NOTHING"),
        "{result:?}"
    );

    let site = Site::new(&PROGRAM.replace("out.few; set in.&in;", "out.few; set in.&in(obs=9);"));
    let output = site.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let found = site.result().jobs[0].findings.join(" ");
    assert!(found.contains("few.sas7bdat"), "{found}");
}

#[test]
fn what_sas_refuses_is_told() {
    let site = Site::new(PROGRAM);
    let output = site.run(&["--option", "MSGLEVEL=I"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let result = site.result();
    assert_eq!(result.jobs[0].exit, Some(6));
    let why = result.jobs[0].error.as_ref().unwrap();
    assert!(
        why.contains("Unrecognized SAS option name MSGLEVEL"),
        "{why}"
    );
    // There is no log, and that is said.
    assert!(
        result
            .not_measured
            .iter()
            .any(|one| one.contains("left no log")),
        "{result:?}"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_done() {
    let site = Site::new(PROGRAM);
    let output = site.run(&["--pace", "sas"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--pace"),
        "{}",
        text(&output.stderr)
    );
    let site = Site {
        sas: PathBuf::from("/nothing/sas"),
        ..site
    };
    let output = site.run(&[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("/nothing/sas"),
        "{}",
        text(&output.stderr)
    );
    let output = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["run", "--engine", "sas"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!site.directory.path().join("gristmill-bench").exists());
}
