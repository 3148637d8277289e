//! Two clients of a share of Samba.

use super::mount;
use super::probe::{probe, with_peer};
use super::run::what_moves_is_counted;
use super::systems::audit;

#[test]
#[ignore = "needs a lab: lab/test cifs"]
fn cifs_locks_exclude_between_clients_unless_they_stay_there() {
    mount("");
    let found = with_peer(&["--only", "locks"]);
    for suffix in ["", "_peer"] {
        found.is(&format!("locks_exclude{suffix}"), 1.0);
        found.is(&format!("locks_lost_updates{suffix}"), 0.0);
    }
    assert_eq!(found.code, Some(0));
    mount("nobrl");
    let found = with_peer(&["--only", "locks"]);
    found.is("locks_exclude_peer", 0.0);
    assert_eq!(found.code, Some(1), "locks that do not exclude are wrong");
}

#[test]
#[ignore = "needs a lab: lab/test cifs"]
fn cifs_keeps_a_file_while_its_handle_is_kept() {
    let kept = |options: &str| {
        mount(options);
        let found = probe(&super::dir(), &["--only", "retention"]);
        ["close", "read_lock", "write_lock"].map(|event| {
            let of = |what| found.known(&format!("retention_{event}_{what}_share"));
            (of("kept"), of("read_again"))
        })
    };
    // A handle that is closed stays with the client for a second, and with it what the server promised.
    for (kept, again) in kept("") {
        assert!(kept > 0.95 && again < 0.05, "{kept}, {again}");
    }
    for (kept, again) in kept("cache=none") {
        assert!(kept < 0.05 && again > 0.95, "{kept}, {again}");
    }
}

#[test]
#[ignore = "needs a lab: lab/test cifs"]
fn cifs_shows_changes_when_its_attributes_are_too_old() {
    mount("");
    let short = with_peer(&["--only", "visibility"]);
    mount("actimeo=30");
    let long = with_peer(&["--only", "visibility"]);
    let name = "visibility_append_stat_s";
    let (short, long) = (short.known(name), long.known(name));
    assert!(short < 5.0 && long > 2.0 * short, "{short}, {long}");
}

#[test]
#[ignore = "needs a lab: lab/test cifs"]
fn what_cifs_moves_is_counted() {
    mount("");
    what_moves_is_counted("cifs");
}

#[test]
#[ignore = "needs a lab: lab/test cifs"]
fn the_audit_reads_cifs() {
    mount("actimeo=30,rsize=1048576");
    let facts = audit();
    facts.mount_is("fstype", "cifs");
    facts.mount_is("source", "//127.0.0.1/share");
    facts.mount_is("vers", "3.1.1");
    facts.mount_is("cache", "strict");
    facts.mount_is("actimeo", 30);
    facts.mount_is("rsize", 1_048_576);
    facts.is("cifs[127.0.0.1].dialect", "3.1.1");
    facts.rule_is("CIFS-101", "pass");
    facts.rule_is("CIFS-102", "pass");
    mount("nobrl,cache=none");
    let facts = audit();
    facts.rule_is("CIFS-101", "fail");
    facts.rule_is("CIFS-102", "fail");
}
