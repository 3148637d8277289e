//! Two FUSE mounts of a volume of GlusterFS.

use super::probe::{probe, with_peer};
use super::systems::audit;
use super::{dir, mount};

#[test]
#[ignore = "needs a lab: lab/test gluster"]
fn glusterfs_locks_exclude_and_mounts_read_old_data_under_them_by_default() {
    mount("");
    let found = with_peer(&["--only", "locks"]);
    found.is("locks_exclude_peer", 1.0);
    found.is("locks_lost_updates", 0.0);
    assert!(found.known("locks_lost_updates_peer") > 0.0);
    assert_eq!(found.code, Some(1), "updates that are lost are wrong");
    // Neither the kernel's cache nor those of the client.
    let caches = ["quick-read", "io-cache", "stat-prefetch"];
    let off = caches.map(|cache| format!("performance.{cache}=off"));
    mount(&format!("{},direct-io-mode=enable", off.join(",")));
    let found = with_peer(&["--only", "locks"]);
    found.is("locks_exclude_peer", 1.0);
    found.is("locks_lost_updates_peer", 0.0);
    assert_eq!(found.code, Some(0));
}

#[test]
#[ignore = "needs a lab: lab/test gluster"]
fn what_glusterfs_keeps_is_seen_and_what_it_fetches_is_absent() {
    mount("");
    let found = probe(&dir(), &["--only", "retention"]);
    for event in ["close", "read_lock", "write_lock", "other_process_lock"] {
        found.is(&format!("retention_{event}_kept_share"), 1.0);
    }
    let absent = found.absent();
    let name = "retention_close_read_again_share";
    let why = absent.iter().find(|(absent, _)| *absent == name);
    assert!(
        why.is_some_and(|(_, why)| why.contains("fuse.glusterfs")),
        "{absent:?}"
    );
}

#[test]
#[ignore = "needs a lab: lab/test gluster"]
fn the_audit_reads_glusterfs() {
    mount("");
    let facts = audit();
    facts.mount_is("fstype", "fuse.glusterfs");
    facts.mount_is("source", "10.99.0.1:/lab");
    facts.is("gluster[lab].type", "Distribute");
    facts.is("gluster[lab].bricks", 2);
}
