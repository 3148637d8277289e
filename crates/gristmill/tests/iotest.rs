//! `gristmill iotest`, on a file system that can tell what it keeps in the page cache.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn place() -> TempDir {
    // The usual temporary directory may be a tmpfs, which has nothing but cache.
    tempfile::tempdir_in("/var/tmp").unwrap()
}

fn command(places: &[&TempDir], more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    let places = places.iter().map(|place| place.path());
    command
        .arg("iotest")
        .args(places)
        .args(more)
        .stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn all_directories_are_loaded_and_left_as_they_were() {
    let (one, other) = (place(), place());
    let more = ["--streams", "2", "--size", "4M", "--cores", "4", "--json"];
    let found = json(&command(&[&one, &other], &more).output().unwrap());
    let phases = found["table"]["phases"].as_array().unwrap();
    let names: Vec<&str> = phases
        .iter()
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["write", "read", "mixed", "copy"]);
    for phase in phases {
        let places = phase["places"].as_array().unwrap();
        for (place, directory) in places.iter().zip([&one, &other]) {
            assert_eq!(place["directory"], directory.path().display().to_string());
            assert_eq!(place["streams"].as_array().unwrap().len(), 2);
        }
        // Both lie on one device, whose counters stand beside all streams.
        let devices = phase["devices"].as_array().unwrap();
        assert!(devices.len() <= 1, "{devices:?}");
    }
    let value = |name: &str| {
        let all = found["measurements"].as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name);
        one.unwrap_or_else(|| panic!("{name}"))["value"]
            .as_f64()
            .unwrap()
    };
    assert!((value("read_mb_per_s") / 4.0 - value("read_mb_per_s_per_core")).abs() < 1e-9);
    assert!((value("read_cores_at_75") - (value("read_mb_per_s") / 75.0).floor()).abs() < 1e-9);
    assert!(value("wrong_blocks") < 0.5);
    assert!(is_empty(one.path()) && is_empty(other.path()));
}

#[test]
fn people_read_rates_and_what_they_feed() {
    let place = place();
    let more = [
        "--size",
        "4M",
        "--data",
        "sas",
        "--node-cores",
        "1",
        "--phases",
        "write,read",
    ];
    let output = command(&[&place], &more).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [
        "128 KiB an operation, sas data",
        "slowest",
        "cores at 60 MB/s",
        " nodes)",
        "% in the page cache at the start",
        "Every 4 KiB that was read said that it belongs there.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let more = ["--size", "4M", "--phases", "write,read", "--sas-style"];
    let said = text(&command(&[&place], &more).output().unwrap().stdout);
    assert!(said.contains("read throughput rate:") && said.contains("write throughput rate:"));
    assert!(
        said.contains("megabytes/second per physical core"),
        "{said}"
    );
}

#[test]
fn a_signal_ends_it_and_its_files() {
    let place = place();
    let mut child = command(&[&place], &["--seconds", "60", "--size", "1G"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while is_empty(place.path()) {
        assert!(begin.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    io::process::terminate(child.id(), false);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty(place.path()));
}

#[test]
fn where_nothing_tells_what_is_cached_small_files_give_no_answer() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let more = ["--size", "4M", "--phases", "write,read"];
    let output = command(&[&memory], &more).output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("NOT SHOWN") && said.contains("4.19 MB"),
        "{said}"
    );
    assert!(is_empty(memory.path()));
}

#[test]
fn what_cannot_be_is_refused() {
    let place = place();
    let refused = |more: &[&str], code: i32, said: &str| {
        let output = command(&[&place], more).output().unwrap();
        let text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(said), "{text}");
    };
    refused(&["--phases", "read"], 2, "--phases begins with write");
    refused(&["--block", "1000"], 2, "needs a multiple of 4k");
    refused(&["/nowhere"], 3, "/nowhere is not a directory");
    assert!(is_empty(place.path()));
}

#[test]
fn a_directory_that_other_nodes_cannot_be_told_is_refused() {
    let place = place();
    let directory = place.path().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&directory).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .arg("iotest")
        .arg(&directory)
        .args(["--launched=a", "--processes=1", "--size=4M", "--seconds=1"])
        .env("OMPI_COMM_WORLD_RANK", "0")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("is not UTF-8") && said.contains("rename it"),
        "{said}"
    );
    assert!(is_empty(&directory));
}
