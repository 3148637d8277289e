//! GFS2, of one node and of two that share a disk.

/// One node: `lock_nolock`.
mod gfs2 {
    use crate::probe::probe;
    use crate::systems::audit;
    use crate::{dir, mount};

    #[test]
    #[ignore = "needs a lab: lab/test gfs2"]
    fn one_node_keeps_what_was_locked() {
        mount("noatime");
        let found = probe(&dir(), &["--only", "retention,locks,atime"]);
        for event in ["close", "read_lock", "write_lock", "other_process_lock"] {
            found.is(&format!("retention_{event}_kept_share"), 1.0);
            found.is(&format!("retention_{event}_read_again_share"), 0.0);
        }
        found.is("locks_exclude", 1.0);
        found.is("locks_lost_updates", 0.0);
        found.is("atime_first_read_moves", 0.0);
        assert_eq!(found.code, Some(0));
    }

    #[test]
    #[ignore = "needs a lab: lab/test gfs2"]
    fn the_audit_reads_it() {
        mount("noatime");
        let facts = audit();
        facts.mount_is("fstype", "gfs2");
        facts.mount_is("source", "/dev/vda");
        facts.mount_is("block", "vda");
        assert!(facts.has_option("noatime") && facts.has_option("localflocks"));
    }
}

/// Two nodes: `lock_dlm`.
mod gfs2_dlm {
    use crate::probe::{Found, probe};
    use crate::systems::audit;
    use crate::{dir, named};

    fn with_node(only: &str) -> Found {
        let by = named("GRISTMILL_LAB_ON_PEER").display().to_string();
        probe(&dir(), &["--only", only, "--peer-by", &by])
    }

    #[test]
    #[ignore = "needs a lab: lab/test gfs2-dlm"]
    fn locks_exclude_between_nodes() {
        let found = with_node("locks");
        for suffix in ["", "_peer"] {
            found.is(&format!("locks_exclude{suffix}"), 1.0);
            found.is(&format!("locks_lost_updates{suffix}"), 0.0);
        }
        assert_eq!(found.code, Some(0));
    }

    #[test]
    #[ignore = "needs a lab: lab/test gfs2-dlm"]
    fn nodes_see_each_other_s_changes_at_once() {
        let found = with_node("visibility");
        for name in [
            "create_stat",
            "append_stat",
            "replace_stat",
            "delete_stat",
            "chmod_stat",
            "rewrite_open",
            "rewrite_kept",
            "rewrite_locked",
            "replace_open",
        ] {
            let seen = found.known(&format!("visibility_{name}_s"));
            // A look takes long where machines are emulated; what clients keep for a time they keep for 3 s and more.
            assert!(seen < 2.0, "{name}: {seen}");
        }
        assert_eq!(found.code, Some(0));
    }

    #[test]
    #[ignore = "needs a lab: lab/test gfs2-dlm"]
    fn a_file_stays_in_memory_when_another_node_reads_or_locks_it() {
        let found = with_node("retention");
        for event in ["close", "read_lock", "write_lock", "peer_open", "peer_lock"] {
            let again = found.known(&format!("retention_{event}_read_again_share"));
            assert!(again < 0.05, "{event}: {again}");
        }
    }

    #[test]
    #[ignore = "needs a lab: lab/test gfs2-dlm"]
    fn no_byte_is_wrong_that_two_nodes_write_in_turn() {
        let found = with_node("corruption");
        for name in ["wrong_bytes", "wrong_turn_bytes_peer", "wrong_turns_peer"] {
            found.is(&format!("corruption_{name}"), 0.0);
        }
        assert_eq!(found.code, Some(0));
    }

    #[test]
    #[ignore = "needs a lab: lab/test gfs2-dlm"]
    fn the_audit_reads_the_cluster() {
        let facts = audit();
        facts.mount_is("fstype", "gfs2");
        assert!(facts.has_option("noatime"));
        // The one of the papers' three tables that this kernel has; the others are not there, and not 0.
        facts.is("dlm.rsbtbl_size", 4096);
        for table in ["dlm.lkbtbl_size", "dlm.dirtbl_size"] {
            assert!(facts.value(table).is_null(), "{table}");
        }
        facts.is("dlm[shared].members", 2);
        facts.is("cluster.nodes", 2);
        facts.is("cluster.name", "lab");
        facts.is("gfs2[lab:shared].withdraw", 0);
        facts.rule_is("GFS2-001", "pass");
        facts.rule_is("GFS2-002", "not_applicable");
        facts.rule_is("GFS2-003", "fail");
        facts.rule_is("GFS2-004", "not_applicable");
        facts.rule_is("GFS2-101", "pass");
    }
}
