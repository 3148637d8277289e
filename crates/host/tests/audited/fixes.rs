//! What is written for a host.

use std::collections::BTreeMap;

use host::audit::catalogue::Catalogue;
use host::audit::{Outcome, Site, fix, judge};
use host::facts::Root;
use host::facts::collect::{Given, collect};

use super::{audit, audit_as, write};

#[test]
fn several_connections_only_where_the_kernel_and_the_mount_can() {
    let on = |kernel: &str, sec: &str| {
        let mounts =
            format!("40 21 0:51 / /sas rw - nfs4 nas1:/sas rw,vers=4.1,hard,proto=tcp,sec={sec}\n");
        let stats = format!(
            "device nas1:/sas mounted on /sas with fstype nfs4 statvers=1.1\n\
             \topts:\trw,vers=4.1,hard,proto=tcp,sec={sec}\n\
             \txprt:\ttcp 703 0 1 0 12 31 31 0 31 0 2 1 0\n"
        );
        let audited = audit(&[
            ("proc/sys/kernel/osrelease", kernel),
            ("proc/self/mountinfo", &mounts),
            ("proc/self/mountstats", &stats),
            ("etc/fstab", "nas1:/sas /sas nfs4 hard 0 0\n"),
        ]);
        let written = audited.file("fstab.patch").contains("nconnect=8");
        (audited.result("NFS-102", Some("/sas")), written)
    };
    for known in [
        "5.3.18-22-default\n",
        "4.18.0-240.el8.x86_64\n",
        "6.1.0-30-amd64\n",
    ] {
        assert_eq!(on(known, "sys"), (Outcome::Fail, true), "{known}");
    }
    let not = (Outcome::NotApplicable, false);
    for unknown in [
        "3.10.0-1160.el7.x86_64\n",
        "4.18.0-193.el8.x86_64\n",
        "4.19.0-27-amd64\n",
        "4.12.14-122-default\n",
    ] {
        assert_eq!(on(unknown, "sys"), not, "{unknown}");
    }
    assert_eq!(on("5.14.0-70.el9.x86_64\n", "krb5p"), not);
}

#[test]
fn a_rule_of_multipath_writes_its_own_setting_alone() {
    let of_site = "devices {\n device {\n vendor \"PURE\"\n product \"FlashArray\"\n \
                   path_grouping_policy group_by_prio\n path_checker tur\n fast_io_fail_tmo 1\n \
                   dev_loss_tmo 10\n no_path_retry queue\n user_friendly_names no\n }\n}\n";
    let host = [
        ("sys/block/sda/device/vendor", "PURE    \n"),
        ("etc/multipath.conf", of_site),
    ];
    let audited = audit(&host);
    let device = Some("device PURE/FlashArray");
    assert_eq!(audited.result("MP-009", device), Outcome::Fail);
    assert_eq!(audited.result("MP-003", device), Outcome::Warn);
    let path = "etc/multipath/conf.d/gristmill.conf";
    assert_eq!(
        audited.file(path),
        "devices {\n  device {\n    vendor \"PURE\"\n    product \"FlashArray\"\n    \
         # MP-008: FlashArray: fail requests at once when no path is left (depends on this host: take the # \
         away if it is right here)\n    #no_path_retry 0\n    \
         # MP-009: FlashArray: leave a dead port after some seconds\n    fast_io_fail_tmo 10\n    \
         # MP-010: FlashArray: forget a dead port after at least 30 s\n    dev_loss_tmo 600\n  }\n}\n"
    );
    assert!(
        audited
            .file("README")
            .contains("MP-003 (device PURE/FlashArray)")
    );
    // Once it is installed nothing is left of it.
    let installed = audited
        .file(path)
        .replace("#no_path_retry", "no_path_retry");
    let [vendor, conf] = host;
    let again = audit(&[vendor, conf, (path, &installed)]);
    for id in ["MP-008", "MP-009", "MP-010"] {
        assert_eq!(again.result(id, device), Outcome::Pass, "{id}");
    }
    assert_eq!(again.file(path), "");
}

/// One disk with a scheduler of old, mounted twice, on a host with or without TuneD.
fn two_mounts(tuned: bool) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let table =
        "30 21 8:0 /a /adata rw - xfs /dev/sda rw\n31 21 8:0 /b /sas rw - xfs /dev/sda rw\n";
    write(folder.path(), "proc/self/mountinfo", table);
    write(folder.path(), "sys/block/sda/dev", "8:0\n");
    write(
        folder.path(),
        "sys/block/sda/queue/scheduler",
        "none mq-deadline [bfq]\n",
    );
    write(folder.path(), "proc/sys/net/ipv4/tcp_timestamps", "0\n");
    if tuned {
        write(
            folder.path(),
            "etc/tuned/active_profile",
            "throughput-performance\n",
        );
    }
    let facts = collect(&Root::tree(folder.path()), &Given::default()).unwrap();
    let mut findings = judge(
        &Catalogue::built_in().unwrap(),
        &facts,
        &Site {
            host_roles: vec!["gpfs-nsd".to_owned()],
            ..Site::default()
        },
    );
    for finding in &mut findings {
        match (finding.id.as_str(), finding.subject.as_deref()) {
            ("BLK-002", Some("/adata")) | ("NET-016", None) => finding.result = Outcome::Warn,
            ("BLK-002", Some("/sas")) | ("TUN-107", None) => finding.result = Outcome::Fail,
            _ => finding.result = Outcome::Pass,
        }
    }
    fix::files(&facts, &findings, &Root::tree(folder.path()))
}

#[test]
fn what_is_sure_is_not_swallowed_by_advice_and_every_rule_is_named() {
    let plain = two_mounts(false);
    assert_eq!(
        plain["etc/udev/rules.d/99-gristmill.rules"],
        "# BLK-002: Use the deadline scheduler, or none, below SAS data\n\
         ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"sda\", ATTR{queue/scheduler}=\"mq-deadline\"\n"
    );
    assert_eq!(
        plain["etc/sysctl.d/90-gristmill.conf"],
        "# NET-016: Do not turn TCP timestamps off, as a paper says\n\
         # TUN-107: GPFS servers: TCP timestamps on\nnet.ipv4.tcp_timestamps = 1\n"
    );
    let tuned = two_mounts(true);
    let profile = &tuned["etc/tuned/gristmill-sas/tuned.conf"];
    assert!(
        profile.ends_with("[disk]\n# BLK-002\nelevator=mq-deadline\n"),
        "{profile}"
    );
}

#[test]
fn a_mount_without_a_line_of_fstab_is_mended_by_hand() {
    let mounts = "40 21 0:51 / /sas rw - nfs nas1:/sas rw,vers=3,soft,proto=tcp,local_lock=none\n";
    let mounted = ("proc/self/mountinfo", mounts);
    for files in [
        &[mounted][..],
        &[mounted, ("etc/fstab", "/dev/sda1 / xfs defaults 0 0\n")],
    ] {
        let audited = audit(files);
        assert_eq!(audited.result("NFS-113", Some("/sas")), Outcome::Fail);
        let readme = audited.file("README");
        assert!(
            readme.contains("NFS-113 (/sas): ") && readme.contains("take out soft"),
            "{readme}"
        );
    }
    let escaped = mounts.replace("/sas rw -", "/sas\\040data rw -");
    let audited = audit(&[
        ("proc/self/mountinfo", &escaped),
        ("etc/fstab", "nas1:/sas /sas\\040data nfs soft 0 0\n"),
    ]);
    let patch = audited.file("fstab.patch");
    assert!(
        patch.contains("+nas1:/sas /sas\\040data nfs hard 0 0"),
        "{patch}"
    );
}

#[test]
fn an_adapter_that_a_file_throttles_is_mended() {
    let throttled = "options lpfc lpfc_hba_queue_depth=128\n";
    let lpfc = |depth: &'static str| {
        [
            ("proc/modules", "lpfc 1 0 - Live 0x0\n"),
            ("etc/modprobe.d/lpfc.conf", throttled),
            ("sys/module/lpfc/parameters/lpfc_hba_queue_depth", depth),
        ]
    };
    let audited = audit(&lpfc("128\n"));
    assert_eq!(audited.result("HBA-002", Some("lpfc")), Outcome::Fail);
    // Files of modprobe.d are read in the order of their names, and the last word counts.
    let path = "etc/modprobe.d/zz-gristmill-lpfc.conf";
    let installed = audited.file(path);
    assert!(
        installed.contains("\noptions lpfc lpfc_hba_queue_depth=8192"),
        "{installed}"
    );
    let after = audit(&[&lpfc("8192\n")[..], &[(path, installed)]].concat());
    assert_eq!(after.result("HBA-002", Some("lpfc")), Outcome::Pass);
}

#[test]
fn a_scheduler_is_one_that_the_device_offers() {
    let on = |schedulers: &str, tuned: bool| {
        let mut files = vec![
            (
                "proc/self/mountinfo",
                "30 21 8:0 / /sas rw - xfs /dev/sda rw\n",
            ),
            ("sys/block/sda/dev", "8:0\n"),
            ("sys/block/sda/queue/scheduler", schedulers),
        ];
        if tuned {
            files.push(("etc/tuned/active_profile", "throughput-performance\n"));
        }
        let audited = audit(&files);
        assert_eq!(audited.result("BLK-002", Some("/sas")), Outcome::Fail);
        [
            "etc/tuned/gristmill-sas/tuned.conf",
            "etc/udev/rules.d/99-gristmill.rules",
        ]
        .map(|path| audited.file(path))
        .concat()
    };
    assert!(on("noop deadline [cfq]\n", true).contains("\nelevator=deadline\n"));
    assert!(on("noop deadline [cfq]\n", false).contains("scheduler}=\"deadline\""));
    assert!(on("mq-deadline kyber [bfq] none\n", true).contains("\nelevator=mq-deadline\n"));
    assert!(on("[bfq] none\n", false).contains("scheduler}=\"none\""));
    assert_eq!(on("[cfq]\n", true), "");
}

#[test]
fn a_limit_is_never_lowered() {
    let sas = [
        (
            "proc/77/cmdline",
            "/opt/sas/SASHome/SASFoundation/9.4/sasexe/sas\0",
        ),
        (
            "proc/77/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max processes             4096                 524288               processes \n\
             Max open files            1024                 524288               files     \n",
        ),
    ];
    let path = "etc/security/limits.d/90-gristmill-sas.conf";
    let audited = audit(&sas);
    assert_eq!(audited.result("LIM-001", Some("77")), Outcome::Fail);
    let written = audited.file(path);
    assert!(
        written.contains("\n@sas soft nofile 150000\n@sas hard nofile 524288\n"),
        "{written}"
    );
    let site = "@sas - nofile 1048576\n* hard nproc unlimited\n";
    let audited = audit(&[&sas[..], &[("etc/security/limits.d/50-sas.conf", site)]].concat());
    let written = audited.file(path);
    assert!(
        written.contains("\n@sas soft nofile 1048576\n@sas hard nofile 1048576\n"),
        "{written}"
    );
    assert!(
        written.contains("\n@sas soft nproc 65536\n@sas hard nproc unlimited\n"),
        "{written}"
    );
}

#[test]
fn huge_pages_stay_on_where_a_host_is_of_guests() {
    let of = |role: &str, argument: &str| {
        audit_as(
            role,
            &[],
            &[
                (
                    "sys/kernel/mm/transparent_hugepage/enabled",
                    "[always] madvise never\n",
                ),
                ("sys/block/sda/device/vendor", "PURE    \n"),
                ("proc/cmdline", argument),
                ("etc/tuned/active_profile", "site\n"),
                (
                    "etc/tuned/site/tuned.conf",
                    "[vm]\ntransparent_hugepages=always\n",
                ),
            ],
        )
    };
    let host = of("kvm-host", "ro\n");
    for id in ["THP-001", "THP-002", "THP-004"] {
        assert_eq!(host.result(id, None), Outcome::NotApplicable, "{id}");
    }
    assert_eq!(host.result("THP-003", None), Outcome::Pass);
    // Two that set it differently are told of, whoever is right.
    let host = of("kvm-host", "ro transparent_hugepage=never\n");
    assert_eq!(host.result("THP-005", None), Outcome::Fail);
    let never = |host: &super::Audited| {
        let mut files = host.files.iter().filter(|(path, _)| *path != "README");
        files.any(|(_, text)| text.contains("transparent_hugepages=never"))
    };
    assert!(!never(&host), "{:?}", host.files);
    let host = of("compute", "ro transparent_hugepage=never\n");
    assert_eq!(host.result("THP-002", None), Outcome::Fail);
    assert!(never(&host));
}

#[test]
fn what_was_mended_before_stays_mended() {
    let path = "etc/sysctl.d/90-gristmill.conf";
    let host = |maps: &str, timestamps: &str, installed: &str| {
        let files = [
            ("proc/sys/vm/max_map_count", maps),
            ("proc/sys/net/ipv4/tcp_timestamps", timestamps),
            (path, installed),
        ];
        audit(&files).file(path).to_owned()
    };
    let maps = host("65530\n", "1\n", "");
    assert!(maps.ends_with("\nvm.max_map_count = 262144\n"), "{maps}");
    assert_eq!(host("262144\n", "1\n", &maps), "");
    let site = format!("{maps}# of the site\nvm.overcommit_ratio = 77\n");
    let both = host("262144\n", "0\n", &site);
    assert_eq!(
        both.strip_prefix(&site),
        Some(
            "# NET-016: Do not turn TCP timestamps off, as a paper says\nnet.ipv4.tcp_timestamps = 1\n"
        )
    );
    // What is not in effect is written as before, once.
    assert_eq!(
        host("65530\n", "0\n", &both)
            .matches("max_map_count")
            .count(),
        1
    );
}

#[test]
fn a_profile_keeps_what_it_was_installed_for() {
    let path = "etc/tuned/gristmill-sas/tuned.conf";
    let host = |pages: &str, scheduler: &str, active: &str, installed: &str| {
        let files = [
            (
                "proc/self/mountinfo",
                "30 21 8:0 / /sas rw - xfs /dev/sda rw\n",
            ),
            ("sys/block/sda/dev", "8:0\n"),
            ("sys/block/sda/device/vendor", "PURE    \n"),
            ("sys/block/sda/queue/scheduler", scheduler),
            ("sys/kernel/mm/transparent_hugepage/enabled", pages),
            ("etc/tuned/active_profile", active),
            (path, installed),
        ];
        audit(&files).file(path).to_owned()
    };
    let (on, off) = ("[always] madvise never\n", "always madvise [never]\n");
    let (wrong, right) = ("none mq-deadline [bfq]\n", "[none] mq-deadline bfq\n");
    let pages = host(on, right, "virtual-guest\n", "");
    assert!(
        pages.ends_with(
            "\ninclude=throughput-performance\n\n[vm]\n# THP-002\ntransparent_hugepages=never\n"
        ),
        "{pages}"
    );
    let both = host(
        off,
        wrong,
        "gristmill-sas\n",
        &pages.replace("include=", "include=site "),
    );
    assert!(
        both.contains("\ninclude=site throughput-performance\n")
            && both.contains("[disk]\n# BLK-002\nelevator=mq-deadline\n")
            && both.ends_with("\n[vm]\n# THP-002\ntransparent_hugepages=never\n"),
        "{both}"
    );
}

#[test]
fn devices_of_multipath_keep_what_they_have() {
    let path = "etc/multipath/conf.d/gristmill.conf";
    let installed = "devices {\n  device {\n    vendor \"PURE\"\n    product \"FlashArray\"\n    \
                     # MP-009: at once\n    fast_io_fail_tmo 1\n    # of the site\n    \
                     path_selector \"service-time 0\"\n  }\n  device {\n    vendor \"OTHER\"\n    \
                     dev_loss_tmo 5\n  }\n}\n";
    let of_site = "devices {\n device {\n vendor \"PURE\"\n product \"FlashArray\"\n no_path_retry 0\n \
                   dev_loss_tmo 600\n }\n}\n";
    let audited = audit(&[
        ("sys/block/sda/device/vendor", "PURE    \n"),
        ("etc/multipath.conf", of_site),
        (path, installed),
    ]);
    let written = audited.file(path);
    assert!(
        written.contains("vendor \"OTHER\"\n    dev_loss_tmo 5\n"),
        "{written}"
    );
    assert!(
        written.contains("    # of the site\n    path_selector \"service-time 0\"\n"),
        "{written}"
    );
    assert!(!written.contains("fast_io_fail_tmo 1\n"), "{written}");
    assert!(written.contains("    fast_io_fail_tmo 10\n"), "{written}");
}
