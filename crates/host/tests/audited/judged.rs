//! What is said of a host.

use host::audit::catalogue::Catalogue;
use host::audit::{Finding, Outcome, Site, judge};
use host::facts::Root;
use host::facts::collect::{Given, collect};

use super::{audit, audit_as, write};

#[test]
fn of_mounts_at_one_place_the_last_is_judged() {
    let options = "rw,vers=3,soft,proto=tcp,local_lock=none";
    let over = |line: &dyn Fn(&str, &str, &str) -> String| {
        line("/etc/auto.sas", "autofs", "rw,fd=6") + &line("nas1:/sas", "nfs", options)
    };
    for (path, table) in [
        (
            "proc/self/mountinfo",
            over(&|source, kind, options| {
                format!("40 21 0:51 / /sas rw - {kind} {source} {options}\n")
            }),
        ),
        (
            "proc/mounts",
            over(&|source, kind, options| format!("{source} /sas {kind} {options} 0 0\n")),
        ),
        (
            "mount",
            over(&|source, kind, options| format!("{source} on /sas type {kind} ({options})\n")),
        ),
        (
            "sos_commands/filesys/findmnt",
            over(&|source, kind, options| format!("|-/sas {source} {kind} {options}\n")),
        ),
    ] {
        let audited = audit(&[(path, &table)]);
        assert_eq!(
            audited.result("NFS-113", Some("/sas")),
            Outcome::Fail,
            "{path}"
        );
    }
}

#[test]
fn a_link_is_counted_at_one_level() {
    let sum = |interfaces: &[(&str, &str, &[&str])]| {
        let folder = tempfile::tempdir().unwrap();
        for (name, speed, lower) in interfaces {
            let at = format!("sys/class/net/{name}");
            write(folder.path(), &format!("{at}/operstate"), "up\n");
            write(folder.path(), &format!("{at}/speed"), speed);
            for lower in *lower {
                let link = folder.path().join(&at).join(format!("lower_{lower}"));
                std::os::unix::fs::symlink(format!("../{lower}"), link).unwrap();
            }
            if name.starts_with("bond") {
                write(
                    folder.path(),
                    &format!("{at}/bonding/mode"),
                    "active-backup 1\n",
                );
                write(
                    folder.path(),
                    &format!("{at}/bonding/slaves"),
                    &lower.join(" "),
                );
            }
        }
        let facts = collect(&Root::tree(folder.path()), &Given::default()).unwrap();
        facts.number("host", "link_mbps")
    };
    let two = [("eth0", "10000\n", &[][..]), ("eth1", "10000\n", &[])];
    assert_eq!(sum(&two), Some(20_000.0));
    let over = |name, speed, lower| sum(&[two[0], two[1], (name, speed, lower)]);
    assert_eq!(over("team0", "20000\n", &["eth0", "eth1"]), Some(20_000.0));
    assert_eq!(over("vlan100", "10000\n", &["eth0"]), Some(20_000.0));
    // One of the two carries what the bond does.
    assert_eq!(over("bond0", "10000\n", &["eth0", "eth1"]), Some(10_000.0));
    assert_eq!(
        sum(&[two[0], ("eth2", "4294967295\n", &[])]),
        Some(10_000.0)
    );
}

#[test]
fn a_capture_of_links_tells_their_levels() {
    let link = "2: eth0: <UP> mtu 1500 qdisc mq master team0 state UP mode DEFAULT\n\
                3: team0: <UP> mtu 1500 qdisc noqueue state UP mode DEFAULT\n\
                4: vlan7@team0: <UP> mtu 1500 qdisc noqueue state UP mode DEFAULT\n\
                5: veth1@if4: <UP> mtu 1500 qdisc noqueue state UP mode DEFAULT\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sos_commands/networking/ip_-s_-d_link", link);
    for name in ["eth0", "team0", "vlan7"] {
        let path = format!("sos_commands/networking/ethtool_{name}");
        let text = format!("Settings for {name}:\n\tSpeed: 10000Mb/s\n");
        write(folder.path(), &path, &text);
    }
    write(folder.path(), "etc/os-release", "ID=rhel\n");
    let facts = collect(&Root::tree(folder.path()), &Given::default()).unwrap();
    assert_eq!(facts.number("host", "link_mbps"), Some(10_000.0));
}

/// What a rule says of the mount /sas of NFS with these options.
fn of_nfs(id: &str, options: &str) -> Outcome {
    let table =
        format!("40 21 0:51 / /sas rw - nfs nas1:/sas rw,vers=3,hard,proto=tcp,{options}\n");
    audit(&[("proc/self/mountinfo", &table)]).result(id, Some("/sas"))
}

#[test]
fn a_rule_looks_at_all_that_its_title_names() {
    let both = |rsize: u32, wsize: u32| of_nfs("NFS-108", &format!("rsize={rsize},wsize={wsize}"));
    assert_eq!(both(65_536, 65_536), Outcome::Pass);
    assert_eq!(both(65_536, 8192), Outcome::Fail);
    assert_eq!(both(8192, 65_536), Outcome::Fail);
    for (option, result) in [("131072", Outcome::Pass), ("64k", Outcome::Fail)] {
        let config = format!("-BUFSIZE {option}\n-UBUFSIZE {option}\n");
        let host = audit(&[("opt/sas/SASHome/SASFoundation/9.4/sasv9_local.cfg", &config)]);
        assert_eq!(host.result("SAS-002", None), result, "{option}");
        assert_eq!(host.result("SAS-003", None), result, "{option}");
    }
    let after = |expire: &str, interval: &str| {
        let mounts = "40 21 0:51 / /sas rw - nfs nas1:/sas rw,vers=3\n";
        let host = audit(&[
            ("proc/self/mountinfo", mounts),
            ("proc/sys/vm/dirty_expire_centisecs", expire),
            ("proc/sys/vm/dirty_writeback_centisecs", interval),
        ]);
        host.result("VM-103", None)
    };
    assert_eq!(after("200\n", "100\n"), Outcome::Pass);
    assert_eq!(after("300\n", "500\n"), Outcome::Warn);
    assert_eq!(after("3000\n", "100\n"), Outcome::Warn);
}

#[test]
fn new_files_of_other_nodes_need_directories_that_are_asked_for() {
    let role = |options: &str| {
        let folder = tempfile::tempdir().unwrap();
        let table = format!("40 21 0:51 / /sas rw - nfs nas1:/sas rw,vers=3,{options}\n");
        write(folder.path(), "proc/self/mountinfo", &table);
        let given = Given {
            paths: vec![("sasdata-shared-write".to_owned(), "/sas".to_owned())],
            ..Given::default()
        };
        let facts = collect(&Root::tree(folder.path()), &given).unwrap();
        let findings = judge(&Catalogue::built_in().unwrap(), &facts, &Site::default());
        findings
            .iter()
            .find(|one| one.id == "NFS-001")
            .unwrap()
            .result
    };
    assert_eq!(
        role("acregmin=0,acregmax=0,acdirmin=0,acdirmax=0"),
        Outcome::Pass
    );
    assert_eq!(
        role("acregmin=0,acregmax=0,acdirmin=30,acdirmax=60"),
        Outcome::Fail
    );
    assert_eq!(
        role("acregmin=3,acregmax=60,acdirmin=0,acdirmax=0"),
        Outcome::Fail
    );
}

#[test]
fn huge_pages_of_every_size_count() {
    let of = |pages: u64, hugetlb_kb: &str| {
        let text = format!(
            "MemTotal: 263000000 kB\nHugePages_Total: {pages}\nHugepagesize: 2048 kB\n{hugetlb_kb}"
        );
        audit(&[("proc/meminfo", &text)]).result("VM-108", None)
    };
    assert_eq!(of(0, "Hugetlb: 0 kB\n"), Outcome::Pass);
    // 64 pages of 1 GiB.
    assert_eq!(of(0, "Hugetlb: 67108864 kB\n"), Outcome::Fail);
    // Before Linux 4.17 there is no such line.
    assert_eq!(of(32_768, ""), Outcome::Fail);
}

#[test]
fn what_no_command_told_is_not_known_to_be_off() {
    let mounts = (
        "proc/self/mountinfo",
        "40 21 0:51 / /sas rw - gpfs sasfs rw\n",
    );
    let told =
        |config: &str| audit(&[mounts, ("var/mmfs/gen/mmfs.cfg", config)]).result("GPFS-107", None);
    assert_eq!(audit(&[mounts]).result("GPFS-107", None), Outcome::Unknown);
    assert_eq!(told("clusterName a\n"), Outcome::Pass);
    assert_eq!(told("clusterName a\ntrace all 9\n"), Outcome::Fail);
}

#[test]
fn limits_are_those_of_the_programs_that_rules_speak_of() {
    let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                  Max open files            1024                 4096                 files     \n";
    let host = audit(&[
        ("proc/70/cmdline", "/usr/libexec/qemu-kvm\0"),
        ("proc/70/limits", limits),
        ("proc/71/cmdline", "/usr/sbin/slurmd\0-D\0"),
        ("proc/71/limits", limits),
        ("proc/72/cmdline", "/opt/sas/sasexe/sas\0"),
        ("proc/72/limits", limits),
    ]);
    for (rule, of_qemu, of_slurmd, of_sas) in [
        ("LIM-001", None, None, Some(Outcome::Fail)),
        ("LIM-005", None, Some(Outcome::Fail), None),
    ] {
        let result = |process: &str| {
            let of_process =
                |one: &&Finding| one.id == rule && one.subject.as_deref() == Some(process);
            let found = host.findings.iter().find(of_process);
            let found = found.map(|one| one.result);
            found.filter(|result| *result != Outcome::NotApplicable)
        };
        let results = (result("70"), result("71"), result("72"));
        assert_eq!(results, (of_qemu, of_slurmd, of_sas), "{rule}");
    }
}

#[test]
fn tasks_of_a_user_are_a_share_of_what_the_host_can_have() {
    let slice = |folder: &str, name: &str| format!("{folder}/systemd/system/user-.slice.d/{name}");
    let of = |files: &[(String, &str)]| {
        let kernel = [
            ("proc/sys/kernel/pid_max", "4194304\n"),
            ("proc/sys/kernel/threads-max", "2061234\n"),
        ];
        let files = files.iter().map(|(path, text)| (path.as_str(), *text));
        let host = audit(&files.chain(kernel).collect::<Vec<_>>());
        host.result("LIM-006", Some("user-.slice"))
    };
    let defaults = slice("usr/lib", "10-defaults.conf");
    let share = "[Slice]\nTasksMax=33%\n";
    assert_eq!(of(&[(defaults.clone(), share)]), Outcome::Pass);
    assert_eq!(
        of(&[(defaults.clone(), "[Slice]\nTasksMax=3%\n")]),
        Outcome::Fail
    );
    assert_eq!(
        of(&[(defaults.clone(), "[Slice]\nTasksMax=10000\n")]),
        Outcome::Fail
    );
    // Base names are the order, and of the same name that below /etc counts.
    let site = (slice("etc", "10-site.conf"), "[Slice]\nTasksMax=1000\n");
    assert_eq!(
        of(&[(defaults.clone(), share), site.clone()]),
        Outcome::Fail
    );
    let late = slice("usr/lib", "20-late.conf");
    assert_eq!(of(&[(late, share), site]), Outcome::Pass);
    let same = (slice("etc", "10-defaults.conf"), "[Slice]\nTasksMax=1000\n");
    assert_eq!(of(&[(defaults.clone(), share), same]), Outcome::Fail);
    let unknown = audit(&[(&defaults, share)]);
    assert_eq!(
        unknown.result("LIM-006", Some("user-.slice")),
        Outcome::Unknown
    );
}

/// What is said of a mount that is not what a line of fstab says.
fn drift(fstab: &str, mounted: &str) -> Outcome {
    let table = format!("40 21 0:51 / /sas rw - {mounted} rw\n");
    let fstab = format!("{fstab}\n");
    let host = audit(&[("proc/self/mountinfo", &table), ("etc/fstab", &fstab)]);
    host.result("BLK-112", Some("/sas"))
}

#[test]
fn a_type_of_fstab_may_be_a_helper_of_another_name() {
    for (fstab, mounted) in [
        ("/data/sas /sas none bind 0 0", "xfs /dev/sda1"),
        ("/data/sas /sas none defaults,rbind 0 0", "xfs /dev/sda1"),
        (
            "gl1:/sas /sas glusterfs defaults 0 0",
            "fuse.glusterfs gl1:/sas",
        ),
        ("fs-1:/ /sas efs tls 0 0", "nfs4 127.0.0.1:/"),
        ("nas1:/sas /sas nfs defaults 0 0", "nfs4 nas1:/sas"),
        ("/dev/sdb1 /sas ntfs-3g defaults 0 0", "fuseblk /dev/sdb1"),
        ("a@b:/sas /sas sshfs defaults 0 0", "fuse.sshfs a@b:/sas"),
        ("sshfs#b:/sas /sas fuse defaults 0 0", "fuse.sshfs b:/sas"),
        (
            "none /sas fuse.ceph defaults 0 0",
            "fuse.ceph-fuse ceph-fuse",
        ),
        ("https://b/ /sas davfs defaults 0 0", "fuse https://b/"),
        (
            "beegfs_nodev /sas beegfs_nodev cfgFile=/a 0 0",
            "beegfs beegfs_nodev",
        ),
    ] {
        assert_eq!(drift(fstab, mounted), Outcome::Pass, "{fstab}");
    }
    for (fstab, mounted) in [
        ("/dev/sda1 /sas ext4 defaults 0 0", "xfs /dev/sda1"),
        ("/dev/sda1 /sas xfs defaults 0 0", "fuse.sshfs b:/sas"),
        ("/dev/sda1 /sas xfs defaults 0 0", "fuseblk /dev/sda1"),
        (
            "gl1:/sas /sas glusterfs defaults 0 0",
            "fuse.sshfs gl1:/sas",
        ),
        ("/data/sas /sas none bind,ro 0 0", "xfs /dev/sda1"),
        ("nas1:/sas /sas nfs defaults 0 0", "autofs /etc/auto.sas"),
    ] {
        assert_eq!(drift(fstab, mounted), Outcome::Fail, "{fstab}");
    }
    // Nothing is mounted until somebody looks.
    let line = "nas1:/sas /sas nfs noauto,x-systemd.automount,soft 0 0";
    assert_eq!(drift(line, "autofs systemd-1"), Outcome::Unknown);
}

#[test]
fn one_file_system_at_two_places_is_one() {
    let paths = [("saswork", "/work"), ("sasdata", "/sas")];
    let of = |path: &str, table: &str| {
        let host = audit_as("compute", &paths, &[(path, table)]);
        // Of rules that say the same one stands for all.
        let results = ["FS-012", "FS-013", "WRK-006"].map(|id| host.result(id, None));
        let fails = results.contains(&Outcome::Fail);
        if fails { Outcome::Fail } else { results[0] }
    };
    let of_numbers = |work: &str, data: &str| {
        let table = format!("40 21 {work} rw\n41 21 {data} rw\n");
        of("proc/self/mountinfo", &table)
    };
    for (work, data, result) in [
        (
            "8:1 /w /work rw - xfs /dev/sda1",
            "8:1 /d /sas rw - xfs /dev/sda1",
            Outcome::Fail,
        ),
        (
            "8:1 / /work rw - xfs /dev/sda1",
            "8:2 / /sas rw - xfs /dev/sda2",
            Outcome::Pass,
        ),
        (
            "0:40 /w /work rw - btrfs /dev/sda1",
            "0:41 /d /sas rw - btrfs /dev/sda1",
            Outcome::Fail,
        ),
        (
            "0:40 / /work rw - zfs pool/work",
            "0:41 / /sas rw - zfs pool/sas",
            Outcome::Pass,
        ),
        (
            "0:40 / /work rw - nfs4 nas:/w",
            "0:41 / /sas rw - nfs4 nas:/d",
            Outcome::Pass,
        ),
        (
            "0:40 / /work rw - nfs4 nas:/a",
            "0:40 / /sas rw - nfs4 nas:/a/b",
            Outcome::Fail,
        ),
        (
            "0:40 / /work rw - tmpfs tmpfs",
            "0:41 / /sas rw - tmpfs tmpfs",
            Outcome::Pass,
        ),
    ] {
        assert_eq!(of_numbers(work, data), result, "{work} {data}");
    }
    // Without numbers sources tell.
    let of_sources = |work: &str, data: &str| {
        let table = format!("{work} /work xfs rw 0 0\n{data} /sas xfs rw 0 0\n");
        of("proc/mounts", &table)
    };
    assert_eq!(of_sources("/dev/sda1", "/dev/sda1"), Outcome::Fail);
    assert_eq!(of_sources("/dev/sda1", "/dev/sda2"), Outcome::Pass);
}

#[test]
fn read_ahead_of_btrfs_is_its_own() {
    let of = |kind: &str, own: &[&str]| {
        let number = if kind == "btrfs" { "0:40" } else { "8:0" };
        let table = format!("40 21 {number} / /sas rw - {kind} /dev/sda rw\n");
        let own = own.iter().enumerate();
        let own: Vec<(String, &str)> = own
            .map(|(at, kb)| (format!("sys/class/bdi/btrfs-{at}/read_ahead_kb"), *kb))
            .collect();
        let mut files = vec![
            ("proc/self/mountinfo", table.as_str()),
            ("sys/block/sda/dev", "8:0\n"),
            ("sys/block/sda/queue/read_ahead_kb", "128\n"),
        ];
        files.extend(own.iter().map(|(path, kb)| (path.as_str(), *kb)));
        audit(&files).result("RA-001", Some("/sas"))
    };
    assert_eq!(of("xfs", &["4096\n"]), Outcome::Fail);
    assert_eq!(of("btrfs", &["4096\n"]), Outcome::Pass);
    assert_eq!(of("btrfs", &["4096\n", "4096\n"]), Outcome::Pass);
    assert_eq!(of("btrfs", &["128\n"]), Outcome::Fail);
    // Nothing tells which is this one's.
    assert_eq!(of("btrfs", &["128\n", "4096\n"]), Outcome::Unknown);
    assert_eq!(of("btrfs", &[]), Outcome::Unknown);
}

#[test]
fn a_bond_is_judged_by_its_hash_where_it_uses_one() {
    let of = |mode: &str, hash: &str| {
        audit(&[
            (
                "proc/self/mountinfo",
                "40 21 0:51 / /sas rw - nfs nas1:/sas rw,vers=3\n",
            ),
            ("sys/class/net/bond0/bonding/mode", mode),
            ("sys/class/net/bond0/bonding/xmit_hash_policy", hash),
        ])
        .result("NFS-115", Some("bond0"))
    };
    assert_eq!(of("802.3ad 4\n", "layer3+4 1\n"), Outcome::Pass);
    assert_eq!(of("802.3ad 4\n", "layer2 0\n"), Outcome::Fail);
    assert_eq!(of("balance-xor 2\n", "layer2+3 2\n"), Outcome::Fail);
    // By the VLAN and the address of the sender one host has one link.
    assert_eq!(of("balance-xor 2\n", "vlan+srcmac 5\n"), Outcome::Fail);
    assert_eq!(of("balance-tlb 5\n", "layer2 0\n"), Outcome::Fail);
    assert_eq!(
        of("active-backup 1\n", "layer2 0\n"),
        Outcome::NotApplicable
    );
    assert_eq!(of("balance-rr 0\n", "layer2 0\n"), Outcome::NotApplicable);
}

#[test]
fn a_map_is_of_the_vendor_of_its_paths() {
    let of = |uuid: &str, vendor: &str, id: &str| {
        let table = "40 21 253:3 / /sas rw - xfs /dev/mapper/mpatha rw\n";
        let queue = |device: &str, name: &str| format!("sys/block/{device}/queue/{name}");
        let mut files = vec![
            ("proc/self/mountinfo".to_owned(), table),
            ("sys/block/dm-3/dev".to_owned(), "253:3\n"),
            ("sys/block/dm-3/dm/name".to_owned(), "mpatha\n"),
            ("sys/block/dm-3/dm/uuid".to_owned(), uuid),
            (queue("dm-3", "scheduler"), "none [mq-deadline]\n"),
            (queue("dm-3", "max_sectors_kb"), "512\n"),
            (queue("dm-3", "add_random"), "1\n"),
        ];
        for path in ["sda", "sdb"] {
            files.push((format!("sys/block/{path}/device/vendor"), vendor));
            files.push((format!("sys/block/dm-3/slaves/{path}/dev"), "8:0\n"));
            files.push((queue(path, "scheduler"), "[none] mq-deadline\n"));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        audit(&files).result(id, Some("dm-3"))
    };
    for id in ["BLK-001", "BLK-105", "BLK-004"] {
        assert_eq!(
            of("mpath-3624a937\n", "PURE    \n", id),
            Outcome::Fail,
            "{id}"
        );
        let other = of("mpath-3600\n", "OTHER   \n", id);
        assert_eq!(other, Outcome::NotApplicable, "{id}");
        // What is set for paths and maps is not asked of what is made of them.
        let volume = of("LVM-a\n", "PURE    \n", id);
        assert_ne!(volume, Outcome::Fail, "{id}");
    }
}

#[test]
fn a_partition_is_known_by_its_number_where_no_command_told() {
    let host = audit(&[
        (
            "proc/self/mountinfo",
            "40 21 8:2 / /sas rw - xfs /dev/disk/by-id/a rw\n",
        ),
        ("sys/block/sda/dev", "8:0\n"),
        ("sys/block/sda/sda2/dev", "8:2\n"),
        ("sys/block/sda/queue/scheduler", "none [mq-deadline]\n"),
        ("sys/block/sda/queue/read_ahead_kb", "128\n"),
    ]);
    assert_eq!(host.result("RA-001", Some("/sas")), Outcome::Fail);
}

#[test]
fn a_profile_keeps_processors_from_sleeping_deeply() {
    let states = [
        ("POLL", "0\n"),
        ("C1", "2\n"),
        ("C1E", "10\n"),
        ("C6", "133\n"),
    ];
    let of = |latency: &str, daemon: &str| {
        let at = |number: usize, name: &str| {
            format!("sys/devices/system/cpu/cpu0/cpuidle/state{number}/{name}")
        };
        let mut files = vec![
            (
                "proc/cpuinfo".to_owned(),
                "processor : 0\nvendor_id : GenuineIntel\nflags : fpu\n",
            ),
            ("sys/class/dmi/id/sys_vendor".to_owned(), "Dell Inc.\n"),
            ("etc/tuned/active_profile".to_owned(), "site\n"),
            (
                "etc/tuned/site/tuned.conf".to_owned(),
                "[main]\ninclude=own\n",
            ),
            ("etc/tuned/own/tuned.conf".to_owned(), latency),
            ("sos_commands/tuned/tuned-adm_active".to_owned(), daemon),
        ];
        for (number, (name, latency)) in states.into_iter().enumerate() {
            files.push((at(number, "name"), name));
            files.push((at(number, "latency"), latency));
            files.push((at(number, "disable"), "0\n"));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        audit(&files).result("CPU-003", None)
    };
    let runs = "Current active profile: site\n";
    assert_eq!(of("", runs), Outcome::Warn);
    let asks = |latency: &str| of(&format!("[cpu]\nforce_latency={latency}\n"), runs);
    for shallow in [
        "cstate.id_no_zero:1|3",
        "1",
        "0",
        "cstate.name:C1E",
        "cstate.name:C9|10",
    ] {
        assert_eq!(asks(shallow), Outcome::Pass, "{shallow}");
    }
    for deep in ["133", "cstate.id:3", "none", "cstate.id_no_zero:0|200"] {
        assert_eq!(asks(deep), Outcome::Warn, "{deep}");
    }
    assert_eq!(asks("${latency}"), Outcome::Unknown);
    let stopped = "It seems that tuned daemon is not running, preset profile is not activated.\n";
    assert_eq!(of("[cpu]\nforce_latency=1\n", stopped), Outcome::Warn);
}

#[test]
fn what_is_mounted_on_demand_is_not_known_before() {
    let of = |tables: &str| {
        let host = audit(&[("proc/self/mountinfo", tables)]);
        let subject = "sasdata /sas".to_owned();
        let mut found = host.findings.into_iter();
        let found = found.find(|one| one.id == "BLK-111" && one.subject.as_ref() == Some(&subject));
        let found = found.unwrap();
        (found.result, found.evidence.join(" "))
    };
    let root = "20 1 8:1 / / rw - xfs /dev/sda1 rw\n";
    let waits = format!("{root}40 20 0:50 / /sas rw - autofs systemd-1 rw,fd=6\n");
    let (result, said) = of(&waits);
    assert_eq!(result, Outcome::Unknown);
    assert!(
        said.contains("mounted on demand; look at it first"),
        "{said}"
    );
    let mounted = format!("{waits}41 40 0:51 / /sas rw - nfs nas1:/sas rw,vers=3\n");
    assert_eq!(of(&mounted).0, Outcome::Pass);
    assert_eq!(of(root).0, Outcome::Fail);
}

#[test]
fn a_share_of_dirty_memory_is_not_judged_where_bytes_are_in_force() {
    let of = |id: &str, bytes: &str, ratio: &str| {
        let host = audit(&[
            (
                "proc/self/mountinfo",
                "40 21 8:0 / /sas rw - gfs2 /dev/sda rw\n",
            ),
            ("proc/sys/vm/dirty_bytes", bytes),
            ("proc/sys/vm/dirty_ratio", ratio),
        ]);
        let offered = host
            .file("etc/sysctl.d/90-gristmill.conf")
            .contains("dirty_ratio");
        (host.result(id, None), offered)
    };
    for id in ["VM-001", "VM-002"] {
        let bytes = of(id, "4294967296\n", "0\n");
        assert_eq!(bytes, (Outcome::NotApplicable, false), "{id}");
    }
    assert!(of("VM-002", "0\n", "10\n").1);
    assert_eq!(of("VM-002", "0\n", "40\n"), (Outcome::Pass, false));
}
