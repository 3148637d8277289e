//! `gristmill probe`, on whatever file system `/var/tmp` is on.

#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn place() -> TempDir {
    // The usual temporary directory may be a tmpfs, which has nothing but cache.
    tempfile::tempdir_in("/var/tmp").unwrap()
}

fn command(place: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    command
        .arg("probe")
        .arg(place)
        .args(more)
        .stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Experiments, as small as they get.
fn run(place: &Path, more: &[&str]) -> Output {
    let quick = ["--size", "1M", "--seconds", "1", "--processes", "2"];
    let more: Vec<&str> = quick.iter().chain(more).copied().collect();
    command(place, &more).output().unwrap()
}

fn json(place: &Path, more: &[&str]) -> Value {
    let more: Vec<&str> = ["--json"].iter().chain(more).copied().collect();
    let output = run(place, &more);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A figure by its name.
fn value(found: &Value, name: &str) -> f64 {
    let all = found["measurements"].as_array().unwrap();
    let one = all.iter().find(|one| one["name"] == name);
    let one = one.unwrap_or_else(|| panic!("no {name}: {found:#}"));
    one["value"].as_f64().unwrap()
}

fn is(found: &Value, name: &str, wanted: f64) {
    let value = value(found, name);
    assert!((value - wanted).abs() < 1e-9, "{name} is {value}");
}

/// Why a figure is not there.
fn why_absent(found: &Value, name: &str) -> String {
    let experiments = found["experiments"].as_array().unwrap();
    let mut absent = experiments
        .iter()
        .flat_map(|one| one["absent"].as_array().unwrap());
    let one = absent.find(|one| one["name"] == name);
    let one = one.unwrap_or_else(|| panic!("{name} is not absent: {found:#}"));
    one["why"].as_str().unwrap().to_owned()
}

fn names(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn locks_of_processes_exclude_and_lose_no_update() {
    let place = place();
    let found = json(place.path(), &["--only", "locks"]);
    is(&found, "locks_exclude", 1.0);
    is(&found, "locks_lost_updates", 0.0);
    for name in ["locks_pair_us", "locks_pairs_per_s", "locks_hand_over_us"] {
        assert!(value(&found, name) > 0.0, "{name}");
    }
    assert!(why_absent(&found, "locks_exclude_peer").contains("--peer"));
    assert!(names(place.path()).is_empty());
}

#[test]
fn the_same_mount_is_no_second_client() {
    let place = place();
    let peer = place.path().display().to_string();
    let found = json(place.path(), &["--only", "locks", "--peer", &peer]);
    assert!(why_absent(&found, "locks_exclude_peer").contains("the same mount"));
    let other = self::place();
    let output = run(
        place.path(),
        &[
            "--only",
            "locks",
            "--peer",
            &other.path().display().to_string(),
        ],
    );
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(said.contains("is not the same directory"), "{said}");
    assert!(names(place.path()).is_empty() && names(other.path()).is_empty());
}

#[test]
fn a_process_of_another_host_is_started_by_a_command() {
    let place = place();
    // The same host, as the process finds out by itself: it takes part, and there is no other client.
    let found = json(place.path(), &["--only", "locks", "--peer-by", "env A=B"]);
    assert!(why_absent(&found, "locks_exclude_peer").contains("the same mount"));
    let output = run(place.path(), &["--only", "locks", "--peer-by", "false"]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(said.contains("false must run this program there"), "{said}");
    let blank = place.path().join("a folder");
    fs::create_dir(&blank).unwrap();
    let output = run(&blank, &["--only", "locks", "--peer-by", "env"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("without blanks"));
    assert!(names(&blank).is_empty());
}

#[test]
fn where_nothing_can_be_measured_there_is_no_answer() {
    let place = place();
    let output = run(place.path(), &["--only", "visibility"]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stdout);
    assert!(
        said.contains("not measured") && said.contains("--peer DIR2"),
        "{said}"
    );
}

#[test]
fn people_read_why_and_in_the_end_what_it_comes_to() {
    let place = place();
    let output = run(place.path(), &["--only", "locks,visibility,corruption"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in ["shows", "why", "papers", "484-2013", "exclude", "yes"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (_, short) = said.split_once("In short").unwrap();
    assert!(
        short.contains("locks exclude between two processes"),
        "{said}"
    );
    assert!(
        short.contains("visibility not measured: needs --peer"),
        "{said}"
    );
    assert!(short.contains("every byte that was read"), "{said}");
}

#[test]
fn every_experiment_says_what_it_shows_and_why() {
    let output = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["probe", "--list", "--json"])
        .output()
        .unwrap();
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    for one in all.as_array().unwrap() {
        for key in ["id", "title", "shows", "why"] {
            assert!(!one[key].as_str().unwrap().is_empty(), "{one}");
        }
        assert!(!one["papers"].as_array().unwrap().is_empty(), "{one}");
    }
}

#[test]
fn what_others_put_there_stays() {
    let place = place();
    fs::write(place.path().join("precious"), "mine").unwrap();
    fs::create_dir(place.path().join("gristmill-probe-1")).unwrap();
    fs::write(place.path().join("gristmill-probe-1/kept"), "mine").unwrap();
    let output = run(place.path(), &["--only", "fsync"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut left = names(place.path());
    left.sort();
    let wanted = ["gristmill-probe-1", "precious"].map(|name| place.path().join(name));
    assert_eq!(left, wanted);
    assert_eq!(fs::read_to_string(&left[1]).unwrap(), "mine");
    assert_eq!(fs::read_to_string(left[0].join("kept")).unwrap(), "mine");
}

#[test]
fn a_signal_in_the_middle_leaves_nothing() {
    // A terminal sends it to all processes of a group.
    for (signal, group) in [("INT", ""), ("TERM", ""), ("INT", "-")] {
        let place = place();
        let mut child = command(
            place.path(),
            &["--seconds", "60", "--only", "locks,metadata"],
        )
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        let begin = Instant::now();
        // The marker, and the folder of an experiment that is on its way.
        while names(place.path())
            .first()
            .is_none_or(|folder| names(folder).len() < 2)
        {
            assert!(begin.elapsed() < Duration::from_mins(1));
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill")
            .args(["-s", signal, "--", &format!("{group}{}", child.id())])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert!(names(place.path()).is_empty(), "{signal}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let place = place();
    let refused = |more: &[&str], code: i32, said: &str| {
        let output = command(place.path(), more).output().unwrap();
        let text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(said), "{text}");
    };
    refused(&["--only", "nothing"], 2, "there are");
    refused(&["--size", "1k"], 2, "from 1M to 1T");
    refused(&["--size", "1T"], 3, "--size makes files smaller");
    refused(&["--peer", "/nowhere"], 3, "/nowhere is not a directory");
    assert!(names(place.path()).is_empty());
    let output = command(Path::new("/nowhere"), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let output = command(Path::new("/proc/self/fd"), &[]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("failed to make /proc/self/fd/"), "{said}");
}

#[test]
fn a_process_that_takes_part_serves_only_folders_made_for_it() {
    let place = place();
    let output = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .arg("probe-peer")
        .arg(place.path().join("not/there"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("is not the folder of an experiment"));
}

#[test]
fn a_file_is_kept_in_memory_until_it_is_evicted() {
    let place = place();
    let found = json(place.path(), &["--only", "retention"]);
    // Whatever the file system is, a lock on another file and an open by another process forget nothing.
    for name in [
        "close",
        "other_file_lock",
        "other_process_open",
        "read_lock",
        "chmod",
    ] {
        let kept = value(&found, &format!("retention_{name}_kept_share"));
        assert!((0.0..=1.0).contains(&kept), "{name}: {kept}");
    }
    assert!(why_absent(&found, "retention_pressure_kept_share").contains("--pressure"));
    assert!(why_absent(&found, "retention_peer_lock_read_again_share").contains("--peer"));
    assert!(names(place.path()).is_empty());
}

#[test]
fn files_in_memory_have_no_cache_to_be_kept_in() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let only = ["--json", "--only", "retention"];
    let output = run(memory.path(), &only);
    // Nothing could be measured.
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(why_absent(&found, "retention").contains("keeps files in memory"));
    let found = json(memory.path(), &["--only", "pages"]);
    assert!(why_absent(&found, "pages_read_mb_per_s").contains("cannot be seen"));
    assert!(value(&found, "pages_write_128k_aligned_mb_per_s") > 0.0);
    assert!(names(memory.path()).is_empty());
}

#[test]
fn processes_count_small_files_and_leave_none() {
    let place = place();
    let found = json(
        place.path(),
        &["--only", "metadata,visibility,extend,atime"],
    );
    for operation in ["create", "stat", "open", "list", "rename", "unlink"] {
        for processes in [1, 2] {
            let name = format!("metadata_{operation}_per_s_{processes}p");
            assert!(value(&found, &name) > 0.0, "{name}");
        }
    }
    assert!(value(&found, "extend_append_mb_per_s") > 0.0);
    let further = value(&found, "atime_further_reads_move");
    assert!((0.0..=4.0).contains(&further));
    assert!(why_absent(&found, "visibility").contains("--peer"));
    assert!(names(place.path()).is_empty());
}

#[test]
fn streams_direct_transfers_and_checks_of_data_have_figures() {
    let place = place();
    let found = json(
        place.path(),
        &["--only", "readahead,fairness,direct,fsync,corruption"],
    );
    for name in [
        "corruption_wrong_bytes",
        "corruption_wrong_operated_bytes",
        "corruption_wrong_operated_cold_bytes",
        "corruption_wrong_turn_bytes",
        "corruption_wrong_turns",
    ] {
        is(&found, name, 0.0);
    }
    let even = value(&found, "fairness_write_slow_over_fast");
    assert!(even > 0.0 && even <= 1.0, "{even}");
    assert!(value(&found, "fsync_append_fsync_us") > 0.0);
    // Not every file system has these; but each says one or the other.
    let told = |name: &str| {
        let all = found["measurements"].as_array().unwrap();
        all.iter().any(|one| one["name"] == name)
    };
    assert!(told("readahead_kernel_mb_per_s_2") || !why_absent(&found, "readahead").is_empty());
    assert!(told("direct_accepted"));
    assert!(why_absent(&found, "corruption_wrong_turn_bytes_peer").contains("--peer"));
    assert!(names(place.path()).is_empty());
}

#[test]
fn who_is_gentle_does_little_and_still_finds_something() {
    let place = place();
    let more = ["--gentle", "--only", "locks,metadata,fsync", "--json"];
    let output = command(place.path(), &more).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    is(&found, "locks_exclude", 1.0);
    assert!(value(&found, "metadata_create_per_s_1p") > 0.0);
    assert!(names(place.path()).is_empty());
}

/// A file system of its own for a test.
struct Mounted(PathBuf);

impl Mounted {
    /// `None`, with a reason, where none can be mounted.
    fn new(at: &Path, options: &str) -> Option<Self> {
        let mut command = Command::new("mount");
        command
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(at);
        let mounted = command.output();
        if mounted.as_ref().is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("skipped: no file system could be mounted: {mounted:?}");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_is_told_and_left_as_it_was() {
    let place = place();
    let Some(mounted) = Mounted::new(place.path(), "size=24m") else {
        return;
    };
    let output = command(&mounted.0, &[]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("--size makes files smaller"), "{said}");
    assert!(names(&mounted.0).is_empty());
    // Something else fills it in the middle: there is room for the folder, and soon for nothing more.
    let mut child = command(&mounted.0, &["--size", "4M", "--processes", "1", "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while names(&mounted.0).is_empty() {
        assert!(begin.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(1));
    }
    let filling = mounted.0.join("theirs");
    let mut file = fs::File::create(&filling).unwrap();
    while std::io::Write::write_all(&mut file, &[1; 4096]).is_ok() {}
    // Some may have been measured all the same; nothing is wrong for want of space.
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 3 | 4)), "{code:?}");
    assert_eq!(names(&mounted.0), [filling]);
}

#[test]
fn a_directory_that_may_only_be_read_is_refused() {
    let place = place();
    let Some(mounted) = Mounted::new(place.path(), "ro,size=1m") else {
        return;
    };
    let output = command(&mounted.0, &[]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("Read-only file system"), "{said}");
    assert!(names(&mounted.0).is_empty());
}
