//! A disk that fills during a run: WORK, outputs, or the file system of everything. File systems are mounted
//! for that, which needs root: without it these tests say so and pass.

#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use results::run::{EventKind, JobResult, RunDirectory, RunResult};
use tempfile::TempDir;

/// A small job ends while or after a large one fills the disk. `SLEEP` is in milliseconds.
const SUITE: &str = r#"
name = "filling"
title = "A job that fills a disk"

[launch]
rule = "together"
spread_s = 0

[demonstration]
scale = 1

[[jobs]]
name = "small"
program = "small.sas"
symbols = { out = "small" }
checks = [{ kind = "rows", dataset = "small", count = "10" }]

[[jobs]]
name = "large"
program = "large.sas"
symbols = { lib = "LIB" }
"#;

const SMALL: &str = "data a; do i = 1 to 10; output; end; run;
  data _null_; rc = sleep(SLEEP, 0.001); run;
  data OUT.small; set a; run;";

const LARGE: &str = "data &lib..big; length c $ 200; do i = 1 to 1000000; output; end; run;";

/// A file system of its own for a test.
struct Mounted(PathBuf);

impl Mounted {
    /// `None`, with a reason, where none can be mounted.
    fn new(at: &Path, arguments: &[&str]) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount").args(arguments).arg(at).output();
        if mounted.as_ref().is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("skipped: no file system could be mounted: {mounted:?}");
        None
    }

    fn tmpfs(at: &Path) -> Option<Self> {
        Self::new(at, &["-t", "tmpfs", "-o", "size=16m", "tmpfs"])
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

struct Site {
    directory: TempDir,
}

impl Site {
    fn new(library: &str, sleep_ms: u32, small_in: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("filling");
        fs::create_dir_all(folder.join("programs")).unwrap();
        fs::write(folder.join("suite.toml"), SUITE.replace("LIB", library)).unwrap();
        let small = SMALL.replace("SLEEP", &sleep_ms.to_string());
        fs::write(
            folder.join("programs/small.sas"),
            small.replace("OUT", small_in),
        )
        .unwrap();
        fs::write(folder.join("programs/large.sas"), LARGE).unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn start(&self, more: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_gristmill"))
            .args([&["run", "./filling"], more].concat())
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs, and returns the exit code and what was said with single blanks.
    fn run(&self, more: &[&str]) -> (Option<i32>, String) {
        said(self.start(more))
    }
}

fn said(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    (output.status.code(), words.join(" "))
}

fn run_below(runs: &Path) -> RunDirectory {
    let mut entries = fs::read_dir(runs).unwrap();
    RunDirectory::open(&entries.next().expect("there is a run").unwrap().path())
}

fn result(run: &RunDirectory) -> RunResult {
    run.result().unwrap().expect("the run is complete")
}

fn job<'a>(result: &'a RunResult, name: &str) -> &'a JobResult {
    result.jobs.iter().find(|job| job.name == name).unwrap()
}

/// Names of what is in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lost+found").collect()
}

#[test]
fn the_run_goes_on_when_work_or_outputs_are_full() {
    for (library, flag, channel) in [("work", "--work", "work"), ("out", "--output", "output")] {
        let site = Site::new(library, 1500, "out");
        let small = site.path("small");
        let Some(_mounted) = Mounted::tmpfs(&small) else {
            return;
        };
        fs::write(small.join("theirs"), [7; 4096]).unwrap();
        let (code, said) = site.run(&[flag, "small"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("Verdict: fail: job large ended with errors"),
            "{said}"
        );
        let result = result(&run_below(&site.path("gristmill-bench/runs")));
        assert_eq!(job(&result, "small").verified, Some(true), "{said}");
        let large = job(&result, "large");
        let error = large.error.as_deref().unwrap_or_default();
        assert!(
            error.starts_with("ERROR: Insufficient space in file"),
            "{error}"
        );
        let failed = &large.failed_operations;
        let refused = |one: &results::run::FailedOperation| {
            (one.channel.as_str(), one.error.as_str()) == (channel, "ENOSPC")
        };
        assert!(
            !failed.is_empty() && failed.iter().all(refused),
            "{failed:?}"
        );
        assert!(
            said.contains(&format!("large {channel} write ENOSPC")),
            "{said}"
        );
        // Nothing of ours is left, and what is somebody else's stays.
        assert_eq!(names(&small), ["theirs"]);
    }
}

/// The run directory itself has no room from the launch on, until a job has ended: its end is not lost. The
/// other one ends seconds later, with room for the results.
#[test]
fn a_run_whose_own_directory_is_full_keeps_its_events() {
    let site = Site::new("work", 5000, "work");
    let image = site.path("disk.img");
    File::create(&image).unwrap().set_len(48 << 20).unwrap();
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(&image)
        .output();
    if !made.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no ext4 could be made: {made:?}");
        return;
    }
    let small = site.path("small");
    let image = image.display().to_string();
    let Some(_mounted) = Mounted::new(&small, &["-o", "loop", &image]) else {
        return;
    };
    let child = site.start(&["--data", "small/b"]);
    let runs = small.join("b/runs");
    let count = |kind: EventKind| {
        let events = run_below(&runs).events().unwrap_or_default();
        events.iter().filter(|event| event.event == kind).count()
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    let there = || fs::read_dir(&runs).is_ok_and(|mut entries| entries.next().is_some());
    while !(there() && count(EventKind::JobLaunched) == 2) {
        assert!(
            Instant::now() < deadline,
            "no job was launched within a minute"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    fill(&small.join("b/theirs"), || {
        count(EventKind::JobFinished) > 0 || Instant::now() > deadline
    });
    let (code, said) = said(child);
    assert_eq!(code, Some(1), "{said}");
    let run = run_below(&runs);
    let result = result(&run);
    let ended: Vec<Option<i32>> = result.jobs.iter().map(|job| job.exit).collect();
    assert!(ended.iter().all(Option::is_some), "{said}");
    assert!(!run.path().join("reserve").exists());
}

/// Takes every byte, also those that become free, until it is enough.
fn fill(path: &Path, is_enough: impl Fn() -> bool) {
    let mut file = File::create(path).unwrap();
    while !is_enough() {
        for bytes in [1 << 20, 4096, 64, 1] {
            while file.write(&vec![1; bytes]).is_ok() {}
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(file);
    fs::remove_file(path).unwrap();
}
