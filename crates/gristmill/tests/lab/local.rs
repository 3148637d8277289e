//! File systems on a drive of this host.

use std::fs;

use super::drive::counted;
use super::probe::probe;
use super::systems::audit;
use super::{dir, gristmill, mount, say};

#[test]
#[ignore = "needs a lab: lab/test ext4"]
fn atime_moves_with_strictatime_and_not_with_noatime() {
    let of = |options| {
        mount(options);
        probe(&dir(), &["--only", "atime"])
    };
    let (strict, none) = (of("strictatime"), of("noatime"));
    strict.is("atime_first_read_moves", 1.0);
    strict.is("atime_further_reads_move", 4.0);
    none.is("atime_first_read_moves", 0.0);
    none.is("atime_further_reads_move", 0.0);
}

#[test]
#[ignore = "needs a lab: lab/test ext4"]
fn a_local_file_system_keeps_what_was_locked() {
    mount("noatime");
    let found = probe(&dir(), &["--only", "retention,locks"]);
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
#[ignore = "needs a lab: lab/test ext4"]
fn short_memory_takes_the_page_cache() {
    mount("noatime");
    let found = probe(&dir(), &["--only", "retention", "--pressure"]);
    let before = found.known("retention_pressure_before_kept_share");
    let after = found.known("retention_pressure_kept_share");
    assert!(before > 0.9 && after < 0.7, "{before}, {after}");
    assert!(found.known("retention_pressure_read_again_share") > 0.3);
}

#[test]
#[ignore = "needs a lab: lab/test ext3, ext4, xfs, btrfs"]
fn the_audit_reads_a_drive() {
    let facts = |options: &str| {
        mount(options);
        audit()
    };
    let fstype = facts("noatime").value(&key("fstype")).clone();
    let known = ["ext3", "ext4", "xfs", "btrfs"];
    assert!(known.iter().any(|kind| fstype == *kind), "{fstype}");
    let (without, with) = (facts("noatime"), facts("relatime"));
    assert!(without.has_option("noatime") && with.has_option("relatime"));
    let block = without.value(&key("block")).as_str().unwrap();
    assert!(block.starts_with("loop"), "{block}");
    let ahead = if fstype == "btrfs" {
        // It reads ahead for itself, whatever the device does.
        let all = fs::read_dir("/sys/class/bdi")
            .unwrap()
            .map(|one| one.unwrap());
        let mut own = all.filter(|one| one.file_name().to_string_lossy().starts_with("btrfs-"));
        own.next().unwrap().path().join("read_ahead_kb")
    } else {
        format!("/sys/block/{block}/queue/read_ahead_kb").into()
    };
    let ahead = fs::read_to_string(ahead).unwrap();
    without.mount_is("read_ahead_kb", ahead.trim().parse::<u64>().unwrap());
}

fn key(name: &str) -> String {
    format!("mount[{}].{name}", dir().display())
}

/// Runs a program with a library on the drive.
fn exec(program: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.sas"), program).unwrap();
    let library = format!("big={}", dir().display());
    let arguments = ["exec", "job.sas", "--libname", &library];
    let output = gristmill(&arguments, folder.path());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
#[ignore = "needs a lab: lab/test ext3, ext4, xfs"]
fn deleting_a_large_data_set_reads_a_list_of_its_blocks_on_ext3_alone() {
    const MEGABYTES: u64 = 1 << 10;
    // What an indirect block of 4 KiB lists.
    const LISTED: u64 = 4 << 20;
    mount("noatime");
    let rows = MEGABYTES * 1024;
    exec(&format!(
        "data big.large(compress=no); length text $ 1016; do row = 1 to {rows}; output; end; run;"
    ));
    let bytes = fs::metadata(dir().join("large.sas7bdat")).unwrap().len();
    assert!(bytes >= MEGABYTES << 20, "{bytes}");
    // Nothing of the file is in memory, its blocks' numbers neither.
    mount("noatime");
    let (read_before, written_before) = counted(&dir());
    exec("proc datasets lib=big nolist; delete large; quit;");
    rustix::fs::syncfs(fs::File::open(dir()).unwrap()).unwrap();
    let (read, written) = counted(&dir());
    let (read, written) = (read - read_before, written - written_before);
    let fstype = audit().value(&key("fstype")).clone();
    say(&format!(
        "{fstype}: {read} bytes read and {written} written to delete a data set of {bytes}"
    ));
    let lists = bytes / LISTED * 4096;
    if fstype == "ext3" {
        assert!(read > lists && read < 2 * lists, "{read} of {lists}");
    } else {
        assert!(read < lists / 2, "{read} of {lists}");
    }
}
