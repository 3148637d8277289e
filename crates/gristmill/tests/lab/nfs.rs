//! Two clients of an NFS server.

use std::fs;

use super::probe::{probe, with_peer};
use super::run::what_moves_is_counted;
use super::systems::audit;
use super::{ask_lab, dir, mount};

/// Mounts with delegations switched off at the server.
fn mount_undelegated(options: &str) {
    ask_lab(&["mount", options], &[("DELEGATIONS", "0")]);
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
#[ignore = "needs a lab: lab/test nfs4.2"]
fn nfs_shows_names_and_attributes_late_by_default() {
    mount("");
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
#[ignore = "needs a lab: lab/test nfs4.2"]
fn nfs_shows_changes_at_once_without_attribute_cache() {
    mount("actimeo=0,lookupcache=none");
    let found = with_peer(&["--only", "visibility"]);
    for name in AT_ONCE.iter().chain(&ATTRIBUTES) {
        // The shortest time that attributes are kept for by default is 3 s.
        let seen = found.known(name);
        assert!(seen < 2.0, "{name} {seen}");
    }
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn nfs_locks_exclude_between_clients() {
    for options in ["vers=4.2", "vers=3"] {
        mount(options);
        let found = with_peer(&["--only", "locks"]);
        for suffix in ["", "_peer"] {
            found.is(&format!("locks_exclude{suffix}"), 1.0);
            found.is(&format!("locks_lost_updates{suffix}"), 0.0);
        }
        assert_eq!(found.code, Some(0), "{options}");
    }
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn nfs_forgets_a_file_that_was_locked() {
    for options in ["vers=4.2", "vers=3,nolock"] {
        mount_undelegated(options);
        let found = probe(&dir(), &["--only", "retention"]);
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
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn a_delegation_keeps_a_file_that_was_locked() {
    mount("");
    let found = probe(&dir(), &["--only", "retention"]);
    for event in ["close", "read_lock"] {
        let name = format!("retention_{event}_read_again_share");
        let again = found.known(&name);
        assert!(again < 0.05, "{name} {again}");
    }
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn nfs_locks_that_stay_with_the_client_do_not_exclude_and_that_is_wrong() {
    mount_undelegated("vers=3,nolock");
    let found = with_peer(&["--only", "locks"]);
    found.is("locks_exclude", 1.0);
    found.is("locks_exclude_peer", 0.0);
    assert_eq!(found.code, Some(1), "locks that do not exclude are wrong");
    let wrong = found.json["experiments"][0]["wrong"].as_array().unwrap();
    assert!(wrong[0].as_str().unwrap().contains("LOCKS DO NOT EXCLUDE"));
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn two_mounts_of_one_client_of_nfs_4_are_not_taken_for_two_hosts() {
    ask_lab(&["mount", "nosharecache"], &[("SECOND", "here")]);
    let found = with_peer(&["--only", "locks,visibility"]);
    let absent = found.absent();
    for name in ["locks_exclude_peer", "visibility"] {
        let told = absent.iter().find(|(absent, _)| *absent == name);
        assert!(told.is_some_and(|(_, why)| why.contains("both mounts are one")));
    }
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn all_experiments_run_between_two_clients() {
    mount("");
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

/// A memory group of version 2 for this process, with the controller handed down to those below it.
fn enter_memory_group() {
    let group = "/sys/fs/cgroup/lab/tests";
    if !fs::exists(group).unwrap() {
        super::shell("mount -t cgroup2 none /sys/fs/cgroup");
        fs::create_dir_all(group).unwrap();
        for parent in ["/sys/fs/cgroup", "/sys/fs/cgroup/lab"] {
            fs::write(format!("{parent}/cgroup.subtree_control"), "+memory").unwrap();
        }
    }
    let own = std::process::id().to_string();
    fs::write(format!("{group}/cgroup.procs"), own).unwrap();
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn short_memory_takes_the_page_cache() {
    mount_undelegated("");
    enter_memory_group();
    let found = probe(&dir(), &["--only", "retention", "--pressure"]);
    let before = found.known("retention_pressure_before_kept_share");
    let after = found.known("retention_pressure_kept_share");
    assert!(before > 0.9 && after < 0.7, "{before}, {after}");
    assert!(found.known("retention_pressure_read_again_share") > 0.3);
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn times_of_access_at_the_server_make_clients_of_nfs_4_read_again() {
    // XFS counts a new time of access as a change, and clients of NFS 4 go by the count of changes.
    for (server, options, wanted) in [
        ("strictatime", "vers=4.2", 1.0),
        ("noatime", "vers=4.2", 0.0),
        ("strictatime", "vers=3,nolock", 0.0),
    ] {
        ask_lab(&["serve-xfs", server], &[]);
        mount_undelegated(options);
        let found = probe(&dir(), &["--only", "retention"]);
        for event in ["close", "other_file_lock"] {
            let again = found.known(&format!("retention_{event}_read_again_share"));
            assert!(
                (again - wanted).abs() < 0.05,
                "{server} at the server, {options}: {again} read again after {event}"
            );
        }
    }
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn what_nfs_moves_is_counted() {
    mount("");
    what_moves_is_counted("nfs");
}

#[test]
#[ignore = "needs a lab: lab/test nfs4.2"]
fn the_audit_reads_nfs() {
    mount("rsize=262144,actimeo=7");
    let facts = audit();
    facts.mount_is("fstype", "nfs4");
    facts.mount_is("source", "127.0.0.1:/");
    facts.mount_is("vers", "4.2");
    facts.mount_is("rsize", 262_144);
    facts.mount_is("local_lock", "none");
    for name in ["acregmin", "acregmax", "acdirmin", "acdirmax"] {
        facts.mount_is(name, 7);
    }
    mount("vers=3,nolock,noac");
    let facts = audit();
    facts.mount_is("fstype", "nfs");
    facts.mount_is("vers", 3);
    facts.mount_is("local_lock", "all");
    assert!(facts.has_option("nolock"));
}
