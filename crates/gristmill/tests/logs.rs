//! `gristmill logs`: our own logs read back, exit codes, errors, the forms of output, two sets side by side.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use results::step::{END, StepRecord};
use serde_json::Value;

fn gristmill(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PROGRAM: &str = "data a b(keep=i); do i = 2000 to 1 by -1; x = i * 2; output; end; run;
proc sort data=a out=out.c; by i; run;
data d; set b(obs=5); run;
proc append base=b data=d; run;
proc means data=out.c noprint; var x; output out=m mean=; run;
proc sql; create table t as select i, count(*) as n from a group by i; quit;
data _null_; set b end=last; if last then put 'done'; run;
data bad; set nothing; run;
";

/// A figure as a log prints it: times in hundredths of a second, memory in hundredths of a KiB.
fn close(printed: &Value, measured: f64, half: f64) -> bool {
    let printed = printed.as_f64().expect("a figure");
    (printed - measured).abs() <= half * 1.001
}

#[test]
fn a_log_of_a_language_that_is_not_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let log = "NOTE: SAS (r) Proprietary Software 9.4 (TS1M7 DBCS3170)\n\nNOTE: SASの初期化処理:\n      \
               処理時間           0.03 秒\n";
    fs::write(directory.path().join("a.log"), log).unwrap();
    let found = gristmill(&["logs", "a.log"], directory.path());
    let told = text(&found.stdout);
    let unread = "1 log with accounting lines in a language that is not read (line 3 of a.log): ";
    assert!(told.contains(unread) && !told.contains("died"), "{told}");
    assert!(told.contains("not read"), "{told}");
    assert_eq!(found.status.code(), Some(4));
}

#[test]
fn our_own_log_is_read_back_to_the_figures_of_its_steps() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.sas"), PROGRAM).unwrap();
    let words = "exec p.sas --libname out=. --work . --log p.log --print p.lst --steps s.jsonl --option fullstimer";
    let done = gristmill(&words.split(' ').collect::<Vec<_>>(), directory.path());
    assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
    let lines = fs::read_to_string(directory.path().join("s.jsonl")).unwrap();
    let records: Vec<StepRecord> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|record: &StepRecord| record.kind != END)
        .collect();
    let read = gristmill(&["logs", "p.log", "--json"], directory.path());
    assert_eq!(read.status.code(), Some(1), "{}", text(&read.stderr));
    let found: Value = serde_json::from_slice(&read.stdout).unwrap();
    let log = &found["logs"][0];
    assert_eq!(log["complete"], true);
    // It names its platform, as SAS does, and itself, as it must.
    assert_eq!(log["block_bytes"], 512);
    let version = log["version"].as_str().unwrap();
    assert!(
        version.starts_with("Gristmill ") && !version.contains("SAS"),
        "{version}"
    );
    assert!(log["platform"].as_str().unwrap().contains("(LIN "), "{log}");
    let steps = log["steps"].as_array().unwrap();
    assert_eq!(steps.len(), records.len());
    for (step, record) in steps.iter().zip(&records) {
        let place = format!("{} {}", record.step, record.name);
        assert_eq!(step["step"], record.step, "{place}");
        assert_eq!(step["kind"], *record.kind, "{place}");
        assert_eq!(step["name"], *record.name, "{place}");
        assert_eq!(step["complete"], true, "{place}");
        for (key, measured) in [
            ("real_s", record.real_s),
            ("user_s", record.user_s),
            ("system_s", record.system_s),
        ] {
            assert!(close(&step[key], measured, 0.005), "{place}: {key}: {step}");
        }
        let memory = record.memory_bytes.unwrap() as f64;
        assert!(close(&step["memory_bytes"], memory, 5.5), "{place}: {step}");
        for (key, measured) in [
            ("step_count", Some(record.step)),
            ("page_faults", record.page_faults),
            ("page_reclaims", record.page_reclaims),
            ("voluntary_switches", record.voluntary_switches),
            ("involuntary_switches", record.involuntary_switches),
            ("block_input", record.block_input),
            ("block_output", record.block_output),
            ("warnings", Some(record.warnings)),
            ("errors", Some(record.errors)),
        ] {
            assert_eq!(step[key].as_u64(), measured, "{place}: {key}");
        }
        // Queries do not say in the log what they read.
        if record.name != "SQL" {
            let rows = step["observations_read"].as_u64().unwrap_or(0);
            assert_eq!(Some(rows), record.observations_read, "{place}: {step}");
        }
        if record.errors == 0 {
            let rows = step["observations_written"].as_u64().unwrap_or(0);
            assert_eq!(Some(rows), record.observations_written, "{place}: {step}");
            let names = |value: &Value| value["name"].as_str().unwrap().to_owned();
            let outputs = step["outputs"].as_array().into_iter().flatten();
            let expected: Vec<&str> = record.outputs.iter().map(|one| &*one.name).collect();
            assert_eq!(outputs.map(names).collect::<Vec<_>>(), expected, "{place}");
        }
    }
}

/// A step of a log, with STIMER.
fn step(name: &str, output: &str, real_s: f64) -> String {
    format!(
        "NOTE: There were 10 observations read from the data set PERM.IN.\n\
         NOTE: The data set {output} has 10 observations and 2 variables.\n\
         NOTE: PROCEDURE {name} used (Total process time):\n      real time           {real_s:.2} seconds\n      \
         cpu time            0.50 seconds\n      \n\n"
    )
}

#[test]
fn exit_codes_tell_good_logs_from_bad_ones() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    let good = step("SORT", "WORK.A", 2.0);
    write("good.log", &good);
    write("bad.log", &format!("{good}ERROR: Out of memory.\n"));
    write(
        "cut.log",
        &format!("NOTE: SAS (r) Proprietary Software 9.4 (TS1M7)\n{good}"),
    );
    write("notes.txt", "NOTE: buy milk\n");
    fs::create_dir(directory.path().join("empty")).unwrap();
    let code = |arguments: &[&str]| gristmill(arguments, directory.path()).status.code();
    assert_eq!(code(&["logs", "good.log"]), Some(0));
    assert_eq!(code(&["logs", "bad.log"]), Some(1));
    assert_eq!(code(&["logs", "cut.log"]), Some(1));
    assert_eq!(code(&["logs"]), Some(2));
    for (path, message) in [
        ("notes.txt", "notes.txt is not a SAS log"),
        ("empty", "no SAS log in empty: 0 files looked at"),
        ("missing.log", "failed to read missing.log"),
    ] {
        let output = gristmill(&["logs", path], directory.path());
        assert_eq!(output.status.code(), Some(3), "{path}");
        assert!(
            text(&output.stderr).contains(message),
            "{}",
            text(&output.stderr)
        );
    }
    // Each is counted once, however it is named.
    std::os::unix::fs::symlink("good.log", directory.path().join("latest.log")).unwrap();
    let all = gristmill(&["logs", "good.log", ".", "./"], directory.path());
    assert_eq!(all.status.code(), Some(1));
    let shown = text(&all.stdout);
    assert!(shown.contains("3 logs, 3 steps"), "{shown}");
    assert!(shown.contains("left out as no SAS logs: 1 file"), "{shown}");
    assert!(shown.contains("ERROR: Out of memory."), "{shown}");
}

#[test]
fn every_table_is_a_csv_file_and_all_of_them_a_page() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("a.log"),
        step("SORT", "WORK.<A>", 2.0),
    )
    .unwrap();
    let done = gristmill(
        &["logs", "a.log", "--csv", "./out", "--html", "out.html"],
        directory.path(),
    );
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let steps = fs::read_to_string(directory.path().join("out/log-steps.csv")).unwrap();
    let mut lines = steps.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("\"Log, line\",Step,Name,real [s],CPU [s],CPU/real,memory [bytes]")
    );
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("a.log:3,1,SORT,2,0.5,0.25,,10,10,"),
        "{steps}"
    );
    let page = fs::read_to_string(directory.path().join("out.html")).unwrap();
    assert!(page.contains("1 log, 1 step") && page.contains("WORK.&lt;A&gt;"));
    let one = gristmill(
        &["logs", "a.log", "--csv", "log-procedures"],
        directory.path(),
    );
    assert!(
        text(&one.stdout).contains("SORT,1,2,100,2,0.5,0.25"),
        "{}",
        text(&one.stdout)
    );
}

#[test]
fn two_folders_are_compared_job_by_job_and_step_by_step() {
    let directory = tempfile::tempdir().unwrap();
    for (folder, factor) in [("old", 1.0), ("new", 0.5)] {
        fs::create_dir(directory.path().join(folder)).unwrap();
        let log = step("SORT", "WORK.A", 8.0 * factor) + &step("MEANS", "WORK.M", 2.0);
        fs::write(directory.path().join(folder).join("load.log"), log).unwrap();
    }
    let done = gristmill(&["logs", "--compare", "old", "new"], directory.path());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let shown = text(&done.stdout);
    assert!(
        shown.contains(
            "after against before: sum of real times x 0.600: 40.0 % less, noise not known"
        ),
        "{shown}"
    );
    let json = gristmill(
        &["logs", "--compare", "old", "new", "--json"],
        directory.path(),
    );
    let found: Value = serde_json::from_slice(&json.stdout).unwrap();
    let tables = found["tables"].as_array().unwrap();
    let steps = tables
        .iter()
        .find(|table| table["id"] == "compare-steps")
        .unwrap();
    assert_eq!(steps["rows"][0]["cells"][2], "SORT");
    assert_eq!(steps["rows"][0]["cells"][7], 0.5);
    fs::rename(
        directory.path().join("new/load.log"),
        directory.path().join("new/other.log"),
    )
    .unwrap();
    fs::write(
        directory.path().join("new/more.log"),
        step("SORT", "WORK.A", 1.0),
    )
    .unwrap();
    let nothing = gristmill(&["logs", "--compare", "old", "new"], directory.path());
    assert_eq!(nothing.status.code(), Some(3));
    assert!(text(&nothing.stderr).contains("no log of old has the same name as one of new"));
}
