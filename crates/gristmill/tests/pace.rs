//! `--pace`: steps spend what a table says, by computing or by waiting.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use results::step::{END, StepRecord};

/// Far slower than an engine without optimization, so that the table decides.
const TABLE: &str = "
title = 'of a test'
date = '2026-11-21'
[kind.DATA]
s_per_step = 0.05
s_per_mb = 0.1
s_per_million_rows = 1.5
basis = 'made up'
[kind.SORT]
like = 'DATA'
s_per_mb = 0.2
threads = true
basis = 'made up'
[kind.OTHER]
like = 'DATA'
basis = 'made up'
";

/// 80,000 rows of 48 bytes, 3.84 MB.
const ROWS: f64 = 80_000.0;
const MB: f64 = ROWS * 48.0 / 1e6;

const PROGRAM: &str = "
data a; length t $ 24; do i = 80000 to 1 by -1; x = mod(i, 1000); y = 1; t = 'text'; output; end; run;
proc sort data=a out=out.b; by x; run;
proc means data=out.b noprint; var i y; output out=c mean=; run;
data d(compress=binary); set out.b; run;
data _null_; set d; run;
";

fn directory() -> tempfile::TempDir {
    // A store that costs nothing, where there is one.
    let shared_memory = Path::new("/dev/shm");
    let made = tempfile::tempdir_in(shared_memory).or_else(|_| tempfile::tempdir());
    made.unwrap()
}

fn exec(directory: &Path, more: &[&str]) -> Command {
    fs::write(directory.join("p.sas"), PROGRAM).unwrap();
    fs::write(directory.join("pace.toml"), TABLE).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    command
        .args(["exec", "p.sas", "--libname", "out=.", "--work", "."])
        .args(["--log", "p.log", "--steps", "s.jsonl"])
        .args(more)
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

fn done(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

fn steps(directory: &Path) -> Vec<StepRecord> {
    let lines = fs::read_to_string(directory.join("s.jsonl")).unwrap();
    let read = |line| serde_json::from_str::<StepRecord>(line).unwrap();
    // What follows the last step has no pace.
    let steps = lines.lines().map(read);
    steps.filter(|step| step.kind != END).collect()
}

/// What the table says of a step that reads and writes so many times the rows.
fn owed(step: &StepRecord, times: f64) -> f64 {
    let s_per_mb = if step.name == "SORT" { 0.2 } else { 0.1 };
    0.05 + times * (s_per_mb * MB + 1.5 * ROWS / 1e6)
}

#[test]
fn a_paced_jobs_rate_is_that_of_its_table() {
    let directory = directory();
    let paced = ["--pace", "sas", "--pace-table", "pace.toml"];
    let options = ["--option", "cpucount=2", "--option", "msglevel=i"];
    let more = [paced.as_slice(), options.as_slice()].concat();
    done(&exec(directory.path(), &more).output().unwrap());
    let steps = steps(directory.path());
    // How often the rows are read or written; compressed ones cost what they are without.
    let times = [1.0, 2.0, 1.0, 2.0, 1.0];
    assert_eq!(steps.len(), times.len());
    for (step, times) in steps.iter().zip(times) {
        let (table, used) = (owed(step, times), step.user_s + step.system_s);
        assert!(
            (used / table - 1.0).abs() < 0.03,
            "{}: {used} s of CPU time, {table} by the table",
            step.name
        );
        assert!((step.pace_cpu_s.unwrap() - used).abs() < 1e-9);
        // One thread, but two where SAS sorts.
        let threads = if step.name == "SORT" { 2.0 } else { 1.0 };
        assert!(step.real_s > table / threads * 0.97, "{step:?}");
        assert!(step.pace_s.unwrap() < step.real_s);
        let fixed_s = step.pace_fixed_s.unwrap();
        assert!(fixed_s > 0.0 && fixed_s < table / threads, "{step:?}");
    }
    let log = fs::read_to_string(directory.path().join("p.log")).unwrap();
    assert!(log.contains("NOTE: Pace of SORT: "), "{log}");
}

#[test]
fn a_factor_and_waiting() {
    let directory = directory();
    let more = [
        "--pace",
        "0.5",
        "--pace-by",
        "sleep",
        "--pace-table",
        "pace.toml",
        "--option",
        "cpucount=2",
    ];
    done(&exec(directory.path(), &more).output().unwrap());
    let steps = steps(directory.path());
    for (step, times) in steps.iter().zip([1.0, 2.0, 1.0, 2.0, 1.0]) {
        let table = owed(step, times) * 0.5;
        let stands_for = step.pace_cpu_s.unwrap();
        // Waits are never too short; on a busy host they are too long.
        assert!(stands_for > table * 0.97, "{stands_for} for {table}");
        assert!(step.user_s + step.system_s < stands_for);
        let threads = if step.name == "SORT" { 2.0 } else { 1.0 };
        assert!(step.real_s > step.pace_s.unwrap());
        assert!(step.real_s > table / threads * 0.97);
        assert_eq!(step.sleep_s, Some(0.0));
    }
}

#[test]
fn without_a_pace_nothing_is_said_of_one() {
    let directory = directory();
    done(&exec(directory.path(), &[]).output().unwrap());
    for step in steps(directory.path()) {
        assert_eq!((step.pace_s, step.pace_cpu_s), (None, None));
    }
    let log = fs::read_to_string(directory.path().join("p.log")).unwrap();
    assert!(!log.contains("Pace"), "{log}");
}

/// 64 jobs that wait take less than a fifth of two cores.
#[test]
fn few_cores_stand_in_for_many() {
    let directory = directory();
    let program = "data a; do i = 1 to 1e5; output; end; run; data b; set a; run;";
    // Two steps of 3 s and 6 s.
    let table = TABLE.replace("s_per_mb = 0.1", "s_per_mb = 3.65");
    fs::write(directory.path().join("slow.toml"), table).unwrap();
    let mut jobs = Vec::new();
    for job in 0..64 {
        let own = directory.path().join(format!("job{job}"));
        fs::create_dir(&own).unwrap();
        let more = [
            "--pace",
            "sas",
            "--pace-by",
            "sleep",
            "--pace-table",
            "../slow.toml",
        ];
        let mut command = exec(&own, &more);
        fs::write(own.join("p.sas"), program).unwrap();
        jobs.push((own, command.spawn().unwrap()));
    }
    let (mut used, mut stands_for) = (0.0, 0.0);
    for (own, job) in jobs {
        let finished = loop {
            if let Some(finished) = io::process::try_wait(job.id()).unwrap() {
                break finished;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(finished.exit, Some(0));
        // With what it takes to start and to end.
        used += (finished.user + finished.system).as_secs_f64();
        stands_for += steps(&own)
            .iter()
            .map(|step| step.pace_cpu_s.unwrap())
            .sum::<f64>();
    }
    // By the jobs' CPU time: how long it took depends on who else uses the host. The figure is that of
    // `cargo xtask bench pace`; here it is of a build without optimisation.
    let of_two_cores = used / (stands_for / 64.0) / 2.0;
    assert!(
        of_two_cores < 0.5,
        "{used:.2} s of CPU time for {stands_for:.1}: {of_two_cores:.3} of two cores"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = directory();
    let refused = |more: &[&str], code: i32, said: &str| {
        let output = exec(directory.path(), more).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(said), "{text}");
    };
    refused(&["--pace", "fast"], 3, "needs none, sas, or a factor");
    refused(&["--pace", "0"], 3, "above 0");
    refused(&["--pace", "sas", "--pace-by", "nap"], 3, "busy");
    refused(&["--pace-table", "none.toml"], 3, "none.toml");
    let wrong = format!("{TABLE}\n[kind.SQL]\nbasis = ''\n");
    fs::write(directory.path().join("wrong.toml"), wrong).unwrap();
    refused(&["--pace-table", "wrong.toml"], 3, "kind SQL");
}
