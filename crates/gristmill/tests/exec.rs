//! `gristmill exec` with real files: options, steps as JSON, a file system that fills up, signals.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use results::step::{END, StepRecord};
use rustix::process::{Pid, Signal, kill_process};

fn gristmill(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_step_gives_one_json_line_with_its_channels() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("p.sas"),
        "data a; do i = &n to 1 by -1; c = 'text'; output; end; run;
         proc sort data=a out=out.b sortsize=1m; by i; run;",
    )
    .unwrap();
    let output = gristmill(
        &[
            "exec",
            "p.sas",
            "--libname",
            "out=.",
            "--work",
            ".",
            "--set",
            "n=50000",
            "--steps",
            "s.jsonl",
            "--row-hashes",
            "--option",
            "ubufsize=64k",
        ],
        directory.path(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = fs::read_to_string(directory.path().join("s.jsonl")).unwrap();
    let steps: Vec<StepRecord> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(steps.len(), 3);
    assert_eq!(
        (steps[0].kind.as_str(), steps[0].name.as_str()),
        ("data", "DATA")
    );
    assert_eq!(steps[0].observations_written, Some(50_000));
    let sort = &steps[1];
    assert_eq!((sort.kind.as_str(), sort.name.as_str()), ("proc", "SORT"));
    let moved = |channel: &str| {
        let channel = &sort.channels[channel];
        (channel.read_bytes, channel.write_bytes)
    };
    let rows_bytes = 50_000 * 16;
    assert_eq!(moved("util"), (rows_bytes, rows_bytes));
    assert_eq!(moved("output").0, 0);
    assert!(sort.channels["work"].operations["read"].latency_p50_us > 0.0);
    assert!(sort.sort.as_ref().unwrap().runs > 1);
    assert!(sort.real_s > 0.0 && sort.memory_bytes > Some(0));
    assert_eq!(steps[0].outputs[0].row_hash, sort.outputs[0].row_hash);
}

#[test]
fn sleeping_locks_files_and_failures_are_recorded_apart() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("p.sas"),
        "data out.a; do i = 1 to 50000; output; end; run;
         data _null_; call sleep(30); x = sleep(0.02); run;
         data b; set out.a; run;
         proc append base=out.a data=b; run;
         proc delete data=out.a; run;",
    )
    .unwrap();
    let arguments = "exec p.sas --libname out=. --work . --steps s.jsonl";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = gristmill(&arguments, directory.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = fs::read_to_string(directory.path().join("s.jsonl")).unwrap();
    let steps: Vec<StepRecord> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [made, slept, copied, appended, deleted, _] = &steps[..] else {
        panic!("{} steps", steps.len());
    };
    let files = |step: &StepRecord| {
        let files = step.channels["output"].files.clone().unwrap();
        [files.created, files.extended, files.renamed, files.removed]
    };
    assert_eq!(files(made), [1, 0, 1, 0]);
    assert_eq!(files(appended), [0, 1, 0, 0]);
    assert_eq!(files(deleted), [0, 0, 0, 1]);
    let locks = copied.channels["input"].locks.clone().unwrap();
    assert_eq!((locks.count, locks.refused), (1, 0));
    let sleeps: Vec<f64> = steps.iter().filter_map(|step| step.sleep_s).collect();
    assert!((0.05..slept.real_s).contains(&sleeps[1]), "{sleeps:?}");
    assert!(sleeps[0].abs() < 1e-9 && sleeps[2].abs() < 1e-9);
    let channel = &copied.channels["input"];
    let reads: u64 = channel.latency_us.iter().map(|class| class.1).sum();
    assert_eq!(reads, channel.operations["read"].count);
    assert!(channel.blocked_s.unwrap() >= channel.read_s);
}

#[test]
fn what_the_end_of_a_session_removes_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("p.sas"),
        "%macro many; %do i = 1 %to 30; data t&i; x = &i; run; %end; %mend; %many",
    )
    .unwrap();
    let arguments = ["exec", "p.sas", "--work", ".", "--steps", "s.jsonl"];
    let output = gristmill(&arguments, directory.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = fs::read_to_string(directory.path().join("s.jsonl")).unwrap();
    let end: StepRecord = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((end.kind.as_str(), end.step), (END, 31));
    let work = &end.channels["work"];
    // And what marks the directory.
    assert_eq!(work.files.as_ref().unwrap().removed, 31);
    assert!(work.operations["unlink"].count >= 30);
    let blocked_s = work.blocked_s.unwrap();
    assert!(blocked_s > 0.0 && blocked_s <= end.real_s, "{end:?}");
}

#[test]
fn an_empty_program_ends_cleanly_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.sas"), "").unwrap();
    let output = gristmill(&["exec", "p.sas", "--work", "."], directory.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("NOTE: The SAS System used:"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn direct_transfers_give_the_same_data_set() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::write(
        directory.path().join("p.sas"),
        "data out.&name; do i = 1 to 40000; output; end; run; proc sort data=out.&name; by descending i; run;",
    )
    .unwrap();
    let mut hashes = Vec::new();
    for (name, more) in [("a", None), ("b", Some("--direct"))] {
        let set = format!("name={name}");
        let mut arguments = vec![
            "exec",
            "p.sas",
            "--libname",
            "out=.",
            "--work",
            ".",
            "--set",
            &set,
            "--steps",
            "s.jsonl",
            "--row-hashes",
        ];
        arguments.extend(more);
        let output = gristmill(&arguments, directory.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let lines = fs::read_to_string(directory.path().join("s.jsonl")).unwrap();
        let sort: StepRecord = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
        hashes.push(sort.outputs[0].row_hash.clone());
    }
    assert!(hashes[0].is_some() && hashes[0] == hashes[1]);
}

/// A tmpfs of 3 MiB, unmounted when dropped.
struct SmallDisk {
    directory: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` where this process may not mount.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        mounted.then_some(Self { directory })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.directory.path()).status();
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_full_disk_stops_the_step_and_keeps_the_old_data_set() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let disk = disk.directory.path();
    let libname = format!("out={}", disk.display());
    let run = |program: &str| {
        fs::write(directory.path().join("p.sas"), program).unwrap();
        gristmill(
            &["exec", "p.sas", "--libname", &libname, "--work", "."],
            directory.path(),
        )
    };
    assert_eq!(
        run("data out.a; do i = 1 to 10; output; end; run;")
            .status
            .code(),
        Some(0)
    );
    let before = fs::read(disk.join("a.sas7bdat")).unwrap();
    let output = run("data out.a; do i = 1 to 1000000; output; end; run;");
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(
        log.contains("ERROR: Insufficient space in file OUT.A.DATA: write of "),
        "{log}"
    );
    assert!(log.contains("No space left on device"), "{log}");
    assert_eq!(fs::read(disk.join("a.sas7bdat")).unwrap(), before);
    assert_eq!(
        fs::read_dir(disk).unwrap().count(),
        1,
        "the unfinished file is removed"
    );
}

#[test]
fn a_lock_of_another_process_is_respected() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.sas"), "data out.a; x = 1; run;").unwrap();
    let arguments = ["exec", "p.sas", "--libname", "out=.", "--work", "."];
    assert_eq!(
        gristmill(&arguments, directory.path()).status.code(),
        Some(0)
    );
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(directory.path().join("a.sas7bdat"))
        .unwrap();
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let output = gristmill(&arguments, directory.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("ERROR: A lock is not available for OUT.A.DATA"));
    let none = [&arguments[..], &["--option", "filelocks=none"]].concat();
    assert_eq!(gristmill(&none, directory.path()).status.code(), Some(0));
}

#[test]
fn a_record_that_cannot_be_written_is_no_success() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("p.sas"),
        "data a; x = 1; run; proc print; run;",
    )
    .unwrap();
    for (flag, part) in [
        ("--steps", "ERROR: failed to write /dev/full"),
        ("--log", "ERROR: failed to write the log"),
        ("--print", "ERROR: failed to write the listing"),
    ] {
        let arguments = ["exec", "p.sas", "--work", ".", flag, "/dev/full"];
        let output = gristmill(&arguments, directory.path());
        assert_eq!(
            output.status.code(),
            Some(3),
            "{flag}: {}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains(part),
            "{flag}: {}",
            text(&output.stderr)
        );
    }
}

#[test]
fn outputs_go_neither_over_the_program_nor_over_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let program = "data a; x = 1; run;";
    fs::write(directory.path().join("p.sas"), program).unwrap();
    std::os::unix::fs::symlink("p.sas", directory.path().join("link")).unwrap();
    for (flags, part) in [
        (vec!["--log", "./p.sas"], "it is p.sas"),
        (vec!["--steps", "link"], "it is p.sas"),
        (vec!["--print", "x", "--log", "./x"], "it is ./x"),
    ] {
        let arguments = [&["exec", "p.sas", "--work", "."][..], &flags].concat();
        let output = gristmill(&arguments, directory.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(part), "{said}");
        assert!(!directory.path().join("x").exists());
    }
    let kept = fs::read_to_string(directory.path().join("p.sas")).unwrap();
    assert_eq!(kept, program);
    let both = [
        "exec",
        "p.sas",
        "--work",
        ".",
        "--print",
        "/dev/null",
        "--log",
        "/dev/null",
    ];
    assert_eq!(gristmill(&both, directory.path()).status.code(), Some(0));
}

#[test]
fn a_limit_of_file_sizes_is_an_error_of_the_step() {
    let directory = tempfile::tempdir().unwrap();
    let program = "data out.a; do i = 1 to 1e6; output; end; run;";
    fs::write(directory.path().join("p.sas"), program).unwrap();
    // In blocks of 512 or 1,024 bytes: 1 or 2 MB.
    let script = format!(
        "ulimit -f 2000; exec {} exec p.sas --libname out=. --work .",
        env!("CARGO_BIN_EXE_gristmill")
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(
        log.contains("ERROR: ") && log.contains("File too large"),
        "{log}"
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_vanished_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let program = "libname gone 'nowhere'; data gone.a; x = 1; run;";
    fs::write(directory.path().join("p.sas"), program).unwrap();
    let output = gristmill(&["exec", "p.sas", "--work", "."], directory.path());
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        log.contains("ERROR: Library GONE does not exist: no directory nowhere"),
        "{log}"
    );
    let output = gristmill(&["exec", "p.sas", "--work", "absent"], directory.path());
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("Name a directory that exists and can be written"));
}

#[test]
fn a_terminated_program_removes_its_work_and_unfinished_files() {
    let directory = tempfile::tempdir().unwrap();
    let program = "data out.a; do i = 1 to 1000000000; output; end; run;";
    fs::write(directory.path().join("p.sas"), program).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["exec", "p.sas", "--libname", "out=.", "--work", "."])
        .current_dir(directory.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let unfinished = directory.path().join("a.sas7bdat.lck");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !unfinished.exists() {
        assert!(Instant::now() < deadline, "the step did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let left: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["p.sas"]);
}

/// From before the first directory is made until a few dozen data sets are there.
#[test]
fn a_signal_at_any_moment_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("p.sas");
    fs::write(
        &program,
        "%macro many;
           %do i = 1 %to 100000; data a&i out.b; x = &i; run; %end;
         %mend;
         %many",
    )
    .unwrap();
    for moment in 0..60 {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        let mut child = Command::new(env!("CARGO_BIN_EXE_gristmill"))
            .arg("exec")
            .arg(&program)
            .args(["--libname", &format!("out={}", path.display())])
            .args(["--work".as_ref(), path.as_os_str()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(500 * moment));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        child.wait().unwrap();
        let left: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name != "b.sas7bdat")
            .collect();
        assert!(left.is_empty(), "after {} us: {left:?}", 500 * moment);
    }
}
