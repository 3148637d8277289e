//! A synthetic node with the faults of published deployments: the audit sees them, says the same of
//! a capture, and what it writes mends them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use host::audit::catalogue::Catalogue;
use host::audit::overrides::Overrides;
use host::audit::{Finding, Outcome, Site, fix, judge};
use host::facts::collect::{Given, collect};
use host::facts::{Facts, Key, Root, Value, capture};

const FILES: [(&str, &str); 38] = [
    (
        "etc/os-release",
        "ID=\"rhel\"\nVERSION_ID=\"8.6\"\nPRETTY_NAME=\"RHEL 8.6\"\n",
    ),
    ("proc/sys/kernel/osrelease", "4.18.0-372.9.1.el8.x86_64\n"),
    (
        "proc/cpuinfo",
        "processor : 0\nvendor_id : GenuineIntel\nphysical id : 0\ncore id : 0\nflags : fpu\n\n\
                      processor : 1\nphysical id : 0\ncore id : 1\nflags : fpu\n",
    ),
    (
        "proc/meminfo",
        "MemTotal: 263000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    ),
    ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
    (
        "proc/self/mountinfo",
        "21 1 253:0 / / rw,relatime - xfs /dev/mapper/rhel-root rw\n\
        30 21 253:2 / /sasdata2 rw,noatime - xfs /dev/mapper/vg_sas-lv_data rw\n\
        40 21 0:51 / /sas rw,relatime - nfs nas1:/sas rw,vers=3,rsize=1048576,wsize=1048576,\
        hard,nolock,proto=tcp,local_lock=all\n\
        41 21 0:52 / /home2 rw,relatime - nfs nas1:/home rw,vers=3,rsize=32768,\
        wsize=32768,soft,proto=tcp,local_lock=none\n",
    ),
    (
        "proc/self/mountstats",
        "device nas1:/sas mounted on /sas with fstype nfs statvers=1.1\n\
        \topts:\trw,vers=3,rsize=1048576,wsize=1048576,acregmin=3,acregmax=60,\
        acdirmin=30,acdirmax=60,hard,nolock,proto=tcp,local_lock=all\n\
        \txprt:\ttcp 703 0 1 0 12 31 31 0 31 0 2 1 0\n",
    ),
    ("sys/class/bdi/0:51/read_ahead_kb", "128\n"),
    ("sys/class/bdi/0:52/read_ahead_kb", "15360\n"),
    (
        "etc/fstab",
        "/dev/mapper/rhel-root / xfs defaults 0 0\n\
        /dev/mapper/vg_sas-lv_work /saswork xfs defaults,noatime,_netdev,nofail,discard,barrier=0 0 0\n\
        /dev/mapper/vg_sas-lv_data /sasdata2 xfs defaults,noatime 0 0\n\
        nas1:/sas /sas nfs vers=3,hard,nolock 0 0\n",
    ),
    (
        "opt/sas/SASHome/SASFoundation/9.4/sasv9_local.cfg",
        "-WORK /saswork\n-MEMSIZE 8G\n-SORTSIZE 8G\n-BUFSIZE 4k\n",
    ),
    ("etc/tuned/active_profile", "sas-performance\n"),
    (
        "etc/tuned/sas-performance/tuned.conf",
        "[main]\ninclude=throughput-performance\n[vm]\ntransparent_huge_pages=never\n\
        [sysctl]\nvm.dirty_ratio=30\nvm.swappiness=30\n",
    ),
    (
        "usr/lib/tuned/throughput-performance/tuned.conf",
        "[main]\nsummary=a\n[vm]\ndirty_bytes=40%\n",
    ),
    ("installed-rpms", "tuned-2.22.1-1.el8.noarch   Mon\n"),
    (
        "etc/sysctl.conf",
        "vm.swappiness=0\nsunrpc.tcp_slot_table_entries=128\nnet.ipv4.tcp_timestamps=0\n",
    ),
    ("proc/sys/vm/swappiness", "0\n"),
    ("proc/sys/vm/dirty_ratio", "40\n"),
    ("proc/sys/vm/dirty_bytes", "0\n"),
    ("proc/sys/vm/max_map_count", "65530\n"),
    ("proc/sys/net/ipv4/tcp_timestamps", "0\n"),
    ("proc/sys/sunrpc/tcp_slot_table_entries", "2\n"),
    ("proc/sys/kernel/sem", "32000\t1024000000\t500\t32000\n"),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    ),
    (
        "etc/security/limits.conf",
        "@sas soft nproc 650000\n@sas hard nproc 500000\n",
    ),
    (
        "etc/modprobe.d/qla2xxx.conf",
        "Options qla2xxx ql2xmaxdeth=128\n",
    ),
    ("proc/modules", "lpfc 1 0 - Live 0x0\n"),
    ("sys/module/lpfc/parameters/lpfc_hba_queue_depth", "128\n"),
    (
        "etc/cron.d/caches",
        "0 3 * * * root echo 3 > /proc/sys/vm/drop_caches\n",
    ),
    (
        "usr/lib/tmpfiles.d/tmp.conf",
        "q /tmp 1777 root root 10d\nq /saswork 1777 root root 30d\n",
    ),
    ("sys/block/dm-2/dm/name", "vg_sas-lv_data\n"),
    ("sys/block/dm-2/dev", "253:2\n"),
    ("sys/block/dm-2/queue/read_ahead_kb", "128\n"),
    ("sys/block/dm-2/slaves/sda", ""),
    ("sys/block/sda/queue/scheduler", "[mq-deadline] none\n"),
    ("sys/block/sda/queue/read_ahead_kb", "4096\n"),
    ("sys/block/sda/dev", "8:0\n"),
    (
        "etc/udev/rules.d/99-pure.rules",
        "ACTION==\"add\", KERNEL==\"sd*\", ATTR{queue/scheduler}=\"noop\"\n",
    ),
];

fn node() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        write(folder.path(), path, text);
    }
    folder
}

fn write(base: &Path, path: &str, text: &str) {
    let path = base.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn site() -> Site {
    Site {
        host_roles: vec!["compute".to_owned()],
        today: "2026-11-21".to_owned(),
        ..Site::default()
    }
}

fn given() -> Given {
    let path = |role: &str, path: &str| (role.to_owned(), path.to_owned());
    Given {
        paths: vec![path("sasdata", "/sas"), path("sasdata", "/sasdata2")],
        ..Given::default()
    }
}

fn audit(base: &Path, site: &Site) -> (Facts, Vec<Finding>) {
    let facts = collect(&Root::tree(base), &given()).unwrap();
    let findings = judge(&Catalogue::built_in().unwrap(), &facts, site);
    (facts, findings)
}

/// Results of a rule by its subjects.
fn results(findings: &[Finding], id: &str) -> Vec<(Option<String>, Outcome)> {
    let of = findings.iter().filter(|finding| finding.id == id);
    of.map(|finding| (finding.subject.clone(), finding.result))
        .collect()
}

fn one(findings: &[Finding], id: &str, subject: Option<&str>) -> Outcome {
    let all = results(findings, id);
    let found = all.iter().find(|(of, _)| of.as_deref() == subject);
    found
        .unwrap_or_else(|| panic!("{id} {subject:?}: {all:?}"))
        .1
}

#[test]
fn faults_of_published_deployments_are_seen() {
    let node = node();
    let (facts, findings) = audit(node.path(), &site());
    let is = |id: &str, subject: Option<&str>, result: Outcome| {
        let found = one(&findings, id, subject);
        assert_eq!(found, result, "{id} {subject:?}");
    };
    // Correctness.
    is("NFS-112", Some("/sas"), Outcome::Fail);
    is("NFS-113", Some("/sas"), Outcome::Pass);
    is("BLK-110", Some("/saswork"), Outcome::Fail);
    is("BLK-110", Some("/sasdata2"), Outcome::Pass);
    is("BLK-111", Some("saswork /saswork"), Outcome::Fail);
    is("BLK-112", Some("/saswork"), Outcome::Fail);
    is("VM-105", None, Outcome::Fail);
    is("VM-006", None, Outcome::NotApplicable);
    is("NET-016", None, Outcome::Fail);
    is("HBA-002", Some("lpfc"), Outcome::Fail);
    // What is not taken as it is written.
    is("TUN-102", None, Outcome::Fail);
    is("TUN-103", None, Outcome::Fail);
    is("TUN-104", None, Outcome::Fail);
    is("TUN-108", None, Outcome::Fail);
    is("LIM-004", None, Outcome::Fail);
    is("BLK-113", None, Outcome::Fail);
    is("BLK-114", None, Outcome::Fail);
    is("NFS-110", None, Outcome::Fail);
    // Speed.
    is("NFS-101", Some("/sas"), Outcome::Fail);
    is("NFS-102", Some("/sas"), Outcome::Fail);
    is("BLK-117", Some("/sasdata2"), Outcome::Fail);
    is("RA-001", Some("/sasdata2"), Outcome::NotApplicable);
    is("THP-001", None, Outcome::Fail);
    is("VM-111", None, Outcome::Fail);
    is("OPS-003", Some("saswork /saswork"), Outcome::Fail);
    is("SAS-008", None, Outcome::Fail);
    is("SAS-002", None, Outcome::Fail);
    is("LIM-007", None, Outcome::Pass);
    // Only people, or only others.
    is("STO-003", None, Outcome::Unknown);
    is("LUS-008", None, Outcome::NotApplicable);
    is("MP-006", None, Outcome::NotApplicable);
    let boot = facts.get(&Key::plain("sysctl", "vm.swappiness")).unwrap();
    assert_eq!(boot.boot.as_ref().unwrap().from, "/etc/sysctl.conf:1");
    assert_eq!(facts.plain("host", "cores"), Some(&Value::Number(2)));
}

#[test]
fn a_mount_that_nobody_named_is_only_presumed() {
    let node = node();
    fs::remove_dir_all(node.path().join("opt")).unwrap();
    let facts = collect(&Root::tree(node.path()), &Given::default()).unwrap();
    let findings = judge(&Catalogue::built_in().unwrap(), &facts, &site());
    // Locks are worth a failure nevertheless, read-ahead is not.
    assert_eq!(one(&findings, "NFS-112", Some("/sas")), Outcome::Fail);
    assert_eq!(one(&findings, "NFS-101", Some("/sas")), Outcome::Warn);
    assert_eq!(one(&findings, "NFS-113", Some("/home2")), Outcome::Fail);
}

#[test]
fn a_capture_says_what_its_host_says() {
    let node = node();
    let (facts, findings) = audit(node.path(), &site());
    let mut archive = Vec::new();
    let files = capture::write(&Root::tree(node.path()), &facts, "capture", &mut archive).unwrap();
    assert!(files > 30, "{files}");
    let again = tempfile::tempdir().unwrap();
    tar::Archive::new(archive.as_slice())
        .unpack(again.path())
        .unwrap();
    let (captured, findings_again) = audit(again.path(), &site());
    let running = |facts: &Facts| -> BTreeMap<String, String> {
        let all = facts.iter().filter_map(|(key, fact)| {
            let seen = fact.running.as_ref()?;
            Some((key.to_string(), seen.value.to_string()))
        });
        all.collect()
    };
    assert_eq!(running(&captured), running(&facts));
    let short = |findings: &[Finding]| -> Vec<(String, Option<String>, Outcome)> {
        let all = findings.iter();
        all.map(|one| (one.id.clone(), one.subject.clone(), one.result))
            .collect()
    };
    assert_eq!(short(&findings_again), short(&findings));
}

#[test]
fn an_override_waives_until_its_end() {
    let node = node();
    let text = |expires: &str| {
        format!(
            "[[override]]\nrule = \"HBA-002\"\nreason = \"shared adapter\"\n\
             owner = \"storage\"\nexpires = \"{expires}\"\n\
             [[override]]\nrule = \"VM-106\"\nvalue = 65000\n\
             reason = \"measured\"\nowner = \"os\"\nexpires = \"2027-01-01\"\n"
        )
    };
    let of = |expires: &str| {
        let mut site = site();
        site.overrides = Overrides::parse(&text(expires), |_| true).unwrap();
        audit(node.path(), &site).1
    };
    assert_eq!(
        one(&of("2026-11-21"), "HBA-002", Some("lpfc")),
        Outcome::Waived
    );
    assert_eq!(
        one(&of("2026-11-20"), "HBA-002", Some("lpfc")),
        Outcome::Fail
    );
    assert_eq!(one(&of("2026-11-20"), "VM-106", None), Outcome::Pass);
}

#[test]
fn what_is_written_mends_what_failed() {
    let node = node();
    let (facts, findings) = audit(node.path(), &site());
    let files = fix::files(&facts, &findings, &Root::tree(node.path()));
    let sysctl = &files["etc/sysctl.d/90-gristmill.conf"];
    assert!(
        sysctl.contains("# VM-106: ") && sysctl.contains("vm.max_map_count = 262144"),
        "{sysctl}"
    );
    let patch = &files["fstab.patch"];
    assert!(
        patch.contains("+nas1:/sas /sas nfs vers=3,hard,nconnect=8 0 0"),
        "{patch}"
    );
    assert!(
        patch.contains("xfs defaults,noatime,_netdev,nofail,discard 0 0"),
        "{patch}"
    );
    // The installed TuneD is older than /etc/tuned/profiles.
    let profile = &files["etc/tuned/gristmill-sas/tuned.conf"];
    assert!(profile.contains("include=sas-performance"), "{profile}");
    assert!(profile.contains("transparent_hugepages=never"), "{profile}");
    assert!(files["README"].contains("Nothing has been installed"));
    // A person installs it, and the kernel takes it.
    write(node.path(), "etc/sysctl.d/90-gristmill.conf", sysctl);
    for line in sysctl.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.split_once('=').unwrap();
        let path = format!("proc/sys/{}", name.trim().replace('.', "/"));
        write(node.path(), &path, value.trim());
    }
    fs::write(node.path().join("etc/sysctl.conf"), "").unwrap();
    let (_, after) = audit(node.path(), &site());
    for id in ["VM-006", "VM-105", "VM-106", "NET-016"] {
        assert_eq!(one(&after, id, None), Outcome::Pass, "{id}");
    }
}
