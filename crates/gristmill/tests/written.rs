//! What jobs wrote is read back and compared with it, whatever the suite's own checks look at.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use results::run::{EventKind, RunDirectory};
use tempfile::TempDir;

/// Six jobs that write and one that keeps the run going until the test has done its harm.
const SUITE: &str = r#"
name = "harmed"
title = "Outputs that only their number of rows is checked of"

[parameters.concurrency]
per_core = 1

[launch]
rule = "pool"

[demonstration]
scale = 1

[classes]
data = "construction of tables"

[[jobs]]
numbers = "1..6"
name = "write_{number}"
program = "write.sas"
class = "data"
symbols.out = "n{number}"
symbols.folder = "{output_directory}"

[[jobs.checks]]
kind = "rows"
dataset = "n{number}"
count = "5000"

[[jobs]]
name = "wait"
program = "wait.sas"
class = "data"
symbols.folder = "{output_directory}"
"#;

/// A data set that is made, renamed and appended to, with an index, and a text file.
const WRITE: &str = r#"
data out.made_&out; do i = 1 to 4000; x = i / 7; output; end; run;
data work.more; do i = 4001 to 5000; x = i / 7; output; end; run;
proc datasets lib=out nolist;
  change made_&out=&out;
  append base=&out data=work.more;
  modify &out;
  index create i;
quit;
data _null_;
  file "&folder/&out..txt";
  do i = 1 to 20000; put 'line' i; end;
run;
"#;

const WAIT: &str = r"
%macro wait;
  %do %until (%sysfunc(fileexist(&folder/go)));
    data _null_; rc = sleep(50, 0.001); run;
  %end;
%mend;
%wait
";

fn start(site: &TempDir) -> Child {
    let folder = site.path().join("harmed");
    for (name, text) in [
        ("suite.toml", SUITE),
        ("programs/write.sas", WRITE),
        ("programs/wait.sas", WAIT),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args([
            "run",
            "./harmed",
            "--no-ceiling",
            "--option",
            "BUFSIZE=4096",
        ])
        .current_dir(site.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The run, when all jobs but the one that waits have ended.
fn written(site: &TempDir, child: &mut Child) -> RunDirectory {
    let runs = site.path().join("gristmill-bench/runs");
    loop {
        assert_eq!(child.try_wait().unwrap(), None, "the run goes on");
        let newest = fs::read_dir(&runs).ok().and_then(|mut found| found.next());
        if let Some(run) = newest {
            let run = RunDirectory::open(&run.unwrap().path());
            let events = run.events().unwrap_or_default();
            let ended = events
                .iter()
                .filter(|event| event.event == EventKind::JobFinished);
            if ended.count() == 6 {
                return run;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where the outputs are.
fn outputs(site: &TempDir) -> std::path::PathBuf {
    let bench = site.path().join("gristmill-bench");
    let mut folders = vec![bench];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() == "n1.sas7bdat" {
                return folder;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    panic!("there are no outputs");
}

fn open(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

fn flip(path: &Path, at: u64) {
    let file = open(path);
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn harm_to_any_output_is_found_and_named() {
    let site = tempfile::tempdir().unwrap();
    let mut child = start(&site);
    let run = written(&site, &mut child);
    let folder = outputs(&site);
    let file = |name: &str| folder.join(name);
    // The first page behind the header has 4096 bytes, of which a change of a value is one.
    flip(&file("n2.sas7bdat"), 2 * 4096 + 100);
    let cut = open(&file("n3.sas7bdat"));
    cut.set_len(cut.metadata().unwrap().len() - 4096).unwrap();
    flip(&file("n4.sas7bndx"), 5000);
    flip(&file("n5.txt"), 70_000);
    fs::remove_file(file("n6.txt")).unwrap();
    fs::write(file("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));

    let result = run.result().unwrap().unwrap();
    let findings = |name: &str| {
        let job = result.jobs.iter().find(|job| job.name == name).unwrap();
        assert_eq!(job.verified, Some(job.findings.is_empty()), "{job:?}");
        job.findings.join("\n")
    };
    assert_eq!(findings("write_1"), "");
    for (job, wanted) in [
        ("write_2", "n2.sas7bdat: page 2"),
        ("write_3", "n3.sas7bdat: it has "),
        ("write_4", "n4.sas7bndx: bytes 1024 to 5119: "),
        ("write_5", "n5.txt: bytes 65529 to 131063: "),
        ("write_6", "n6.txt: it is gone"),
    ] {
        let said = findings(job);
        assert!(said.contains(wanted), "{job}: {said}");
    }
}
