//! `gristmill probe` on file systems that differ: `lab/probe.sh` mounts them, and starts these tests. They look at
//! counts, orders and bounds; how long things take on machines that are emulated says nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Experiments and how they ended.
struct Found {
    json: Value,
    code: Option<i32>,
}

fn mounted(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    folder.unwrap_or_else(|| panic!("{variable} names no mounted directory; start this from lab/"))
}

/// The program: that of the tests, or another one, such as a release build.
fn program() -> PathBuf {
    let named = std::env::var_os("GRISTMILL_LAB_PROGRAM").map(PathBuf::from);
    let named = named.filter(|path| !path.as_os_str().is_empty());
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_gristmill").into())
}

fn probe(directory: &Path, more: &[&str]) -> Found {
    let output = Command::new(program())
        .arg("probe")
        .arg(directory)
        .args([
            "--json",
            "--processes",
            "2",
            "--size",
            "4M",
            "--seconds",
            "3",
        ])
        .args(more)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let left: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("gristmill-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    #[expect(clippy::print_stdout, reason = "the log of a lab keeps what was found")]
    {
        println!("{json:#}");
    }
    let code = output.status.code();
    Found { json, code }
}

fn with_peer(more: &[&str]) -> Found {
    let peer = mounted("GRISTMILL_LAB_B").display().to_string();
    let more: Vec<&str> = ["--peer", &peer].iter().chain(more).copied().collect();
    probe(&mounted("GRISTMILL_LAB_A"), &more)
}

impl Found {
    fn value(&self, name: &str) -> Option<f64> {
        let mut all = self.json["measurements"].as_array().unwrap().iter();
        all.find(|one| one["name"] == name)?["value"].as_f64()
    }

    fn known(&self, name: &str) -> f64 {
        self.value(name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn is(&self, name: &str, wanted: f64) {
        let value = self.known(name);
        assert!((value - wanted).abs() < 1e-9, "{name} is {value}");
    }

    fn absent(&self) -> Vec<(&str, &str)> {
        let experiments = self.json["experiments"].as_array().unwrap();
        let absent = experiments
            .iter()
            .flat_map(|one| one["absent"].as_array().unwrap());
        absent
            .map(|one| (one["name"].as_str().unwrap(), one["why"].as_str().unwrap()))
            .collect()
    }
}

#[test]
#[ignore = "needs mounts: lab/probe.sh atime"]
fn atime_moves_with_strictatime_and_not_with_noatime() {
    let of = |variable| probe(&mounted(variable), &["--only", "atime"]);
    let (strict, none) = (of("GRISTMILL_LAB_A"), of("GRISTMILL_LAB_B"));
    strict.is("atime_first_read_moves", 1.0);
    strict.is("atime_further_reads_move", 4.0);
    none.is("atime_first_read_moves", 0.0);
    none.is("atime_further_reads_move", 0.0);
}

#[test]
#[ignore = "needs mounts: lab/probe.sh atime"]
fn a_local_file_system_keeps_what_was_locked() {
    let found = probe(&mounted("GRISTMILL_LAB_A"), &["--only", "retention,locks"]);
    for event in [
        "close",
        "read_lock",
        "write_lock",
        "chmod",
        "utimes",
        "other_process_lock",
    ] {
        found.is(&format!("retention_{event}_kept_share"), 1.0);
        found.is(&format!("retention_{event}_read_again_share"), 0.0);
    }
    found.is("locks_exclude", 1.0);
    found.is("locks_lost_updates", 0.0);
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs mounts: lab/probe.sh fuse, lab/probe.sh nfs"]
fn local_locks_do_not_exclude_and_that_is_wrong() {
    let found = with_peer(&["--only", "locks"]);
    found.is("locks_exclude", 1.0);
    found.is("locks_exclude_peer", 0.0);
    assert_eq!(found.code, Some(1), "locks that do not exclude are wrong");
    let wrong = found.json["experiments"][0]["wrong"].as_array().unwrap();
    assert!(wrong[0].as_str().unwrap().contains("LOCKS DO NOT EXCLUDE"));
}

#[test]
#[ignore = "needs mounts: lab/probe.sh fuse"]
fn what_fuse_hides_is_absent() {
    let found = probe(&mounted("GRISTMILL_LAB_A"), &["--only", "retention,pages"]);
    let absent = found.absent();
    for name in ["retention_close_read_again_share", "pages_read_mb_per_s"] {
        assert!(
            absent.iter().any(|(absent, _)| *absent == name),
            "{name}: {absent:?}"
        );
        assert_eq!(found.value(name), None);
    }
    // Its own pages are shown all the same.
    assert!(found.value("retention_close_kept_share").is_some());
    assert!(
        absent.iter().any(|(_, why)| why.contains("fuse")),
        "{absent:?}"
    );
}

#[test]
#[ignore = "needs a memory group: lab/probe.sh pressure"]
fn short_memory_takes_the_page_cache() {
    let found = probe(
        &mounted("GRISTMILL_LAB_A"),
        &["--only", "retention", "--pressure"],
    );
    let before = found.known("retention_pressure_before_kept_share");
    let after = found.known("retention_pressure_kept_share");
    assert!(before > 0.9 && after < 0.7, "{before}, {after}");
    assert!(found.known("retention_pressure_read_again_share") > 0.3);
}

/// Looks that no client answers from memory: opening anew, and a lock.
const AT_ONCE: [&str; 3] = [
    "visibility_rewrite_open_s",
    "visibility_rewrite_locked_s",
    "visibility_replace_open_s",
];

/// Looks at names and attributes.
const ATTRIBUTES: [&str; 6] = [
    "visibility_create_stat_s",
    "visibility_append_stat_s",
    "visibility_replace_stat_s",
    "visibility_delete_stat_s",
    "visibility_chmod_stat_s",
    "visibility_rewrite_kept_s",
];

#[test]
#[ignore = "needs two mounts of NFS: lab/probe.sh nfs"]
fn nfs_shows_names_and_attributes_late_by_default() {
    let found = with_peer(&["--only", "visibility"]);
    // A new file by its name waits for the attributes of its folder, 30 s by default.
    let created = found.known("visibility_create_stat_s");
    assert!(created > 10.0, "{created}");
    for name in AT_ONCE {
        let opened = found.known(name);
        assert!(opened < created / 3.0, "{name} {opened}");
    }
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs two mounts of NFS: lab/probe.sh nfs"]
fn nfs_shows_changes_at_once_without_attribute_cache() {
    let found = with_peer(&["--only", "visibility"]);
    for name in AT_ONCE.iter().chain(&ATTRIBUTES) {
        // The shortest time that attributes are kept for by default is 3 s.
        let seen = found.known(name);
        assert!(seen < 2.0, "{name} {seen}");
    }
}

#[test]
#[ignore = "needs two mounts of NFS: lab/probe.sh nfs"]
fn nfs_locks_exclude_between_clients() {
    let found = with_peer(&["--only", "locks"]);
    for suffix in ["", "_peer"] {
        found.is(&format!("locks_exclude{suffix}"), 1.0);
        found.is(&format!("locks_lost_updates{suffix}"), 0.0);
    }
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs a mount of NFS: lab/probe.sh nfs"]
fn nfs_forgets_a_file_that_was_locked() {
    let found = probe(&mounted("GRISTMILL_LAB_A"), &["--only", "retention"]);
    for (event, wanted) in [
        ("close", 0.0),
        ("other_file_lock", 0.0),
        ("read_lock", 1.0),
        ("write_lock", 1.0),
    ] {
        let name = format!("retention_{event}_read_again_share");
        let again = found.known(&name);
        assert!((again - wanted).abs() < 0.05, "{name} {again}");
    }
}

#[test]
#[ignore = "needs a mount of NFS: lab/probe.sh nfs"]
fn a_delegation_keeps_a_file_that_was_locked() {
    let found = probe(&mounted("GRISTMILL_LAB_A"), &["--only", "retention"]);
    for event in ["close", "read_lock"] {
        let name = format!("retention_{event}_read_again_share");
        let again = found.known(&name);
        assert!(again < 0.05, "{name} {again}");
    }
}

#[test]
#[ignore = "needs two mounts of NFS: lab/probe.sh nfs"]
fn two_mounts_of_one_client_of_nfs_4_are_not_taken_for_two_hosts() {
    let found = with_peer(&["--only", "locks,visibility"]);
    let absent = found.absent();
    for name in ["locks_exclude_peer", "visibility"] {
        let told = absent.iter().find(|(absent, _)| *absent == name);
        assert!(told.is_some_and(|(_, why)| why.contains("both mounts are one")));
    }
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs two mounts of NFS: lab/probe.sh nfs"]
fn all_experiments_run_between_two_clients() {
    let found = with_peer(&[]);
    assert_eq!(found.code, Some(0));
    for (name, why) in found.absent() {
        // None ended early for an error; what NFS and a machine without a group have not, says so.
        assert!(!why.contains("ended early"), "{name}: {why}");
    }
    for name in [
        "retention_peer_open_read_again_share",
        "locks_exclude_peer",
        "visibility_create_stat_s",
        "metadata_create_per_s_1p",
        "extend_append_mb_per_s",
        "atime_first_read_moves",
        "pages_read_128k_aligned_mb_per_s",
        "readahead_kernel_mb_per_s_1",
        "fairness_read_slow_over_fast",
        "direct_accepted",
        "fsync_append_fsync_us",
    ] {
        found.known(name);
    }
    for name in ["wrong_bytes", "wrong_turn_bytes_peer", "wrong_turns_peer"] {
        found.is(&format!("corruption_{name}"), 0.0);
    }
}

#[test]
#[ignore = "needs a device: lab/probe.sh corruption"]
fn sound_storage_returns_what_was_written() {
    let found = probe(&mounted("GRISTMILL_LAB_A"), &["--only", "corruption"]);
    found.is("corruption_wrong_bytes", 0.0);
    found.is("corruption_wrong_operated_cold_bytes", 0.0);
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs a device that returns wrong bytes: lab/probe.sh corruption"]
fn wrong_bytes_are_found() {
    let found = probe(&mounted("GRISTMILL_LAB_A"), &["--only", "corruption"]);
    assert!(found.known("corruption_wrong_bytes") > 0.0);
    assert_eq!(found.code, Some(1), "wrong data are wrong");
}
