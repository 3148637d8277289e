//! A striped volume as commands show it: `lsblk` gives it the name of its map, the kernel another one.

use std::fs;
use std::path::Path;

use host::audit::catalogue::Catalogue;
use host::audit::{Outcome, Site, judge};
use host::facts::collect::{Given, collect};
use host::facts::{Root, Value};

/// Two disks, as Linux 6.1 and util-linux 2.38 show them; of eight in the machine where it was seen.
const FILES: [(&str, &str); 11] = [
    (
        "proc/self/mountinfo",
        "40 21 254:0 / /sas rw,noatime - xfs /dev/mapper/lab-striped rw,sunit=128,swidth=256\n",
    ),
    ("sys/block/dm-0/dev", "254:0\n"),
    ("sys/block/dm-0/dm/name", "lab-striped\n"),
    ("sys/block/dm-0/queue/scheduler", "none\n"),
    ("sys/block/dm-0/queue/read_ahead_kb", "1024\n"),
    ("sys/block/dm-0/slaves/vda", ""),
    ("sys/block/dm-0/slaves/vdb", ""),
    ("sys/block/vda/dev", "253:0\n"),
    ("sys/block/vda/queue/scheduler", "[none] mq-deadline\n"),
    ("sys/block/vdb/dev", "253:16\n"),
    ("sys/block/vdb/queue/scheduler", "[none] mq-deadline\n"),
];

const COMMANDS: [(&str, &str); 5] = [
    (
        "lsblk-t",
        "NAME          ALIGNMENT MIN-IO OPT-IO PHY-SEC LOG-SEC ROTA SCHED RQ-SIZE   RA WSAME\n\
         vda                   0    512      0     512     512    1 none      256  128    0B\n\
         `-lab-striped         0  65536 131072     512     512    1           128 1024    0B\n\
         vdb                   0    512      0     512     512    1 none      256  128    0B\n\
         `-lab-striped         0  65536 131072     512     512    1           128 1024    0B\n",
    ),
    (
        "lsblk",
        "NAME          MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS\n\
         vda           253:0    0  512M  0 disk \n\
         `-lab-striped 254:0    0    1G  0 lvm  /sas\n\
         vdb           253:16   0  512M  0 disk \n\
         `-lab-striped 254:0    0    1G  0 lvm  /sas\n",
    ),
    (
        "lvs",
        "  LVM2_LV_NAME='striped'|LVM2_VG_NAME='lab'|LVM2_SEGTYPE='striped'|LVM2_STRIPES='2'|\
         LVM2_STRIPE_SIZE='65536B'|LVM2_DEVICES='/dev/vda(0),/dev/vdb(0)'\n",
    ),
    (
        "pvs",
        "  LVM2_PV_NAME='/dev/vda'|LVM2_VG_NAME='lab'\n  LVM2_PV_NAME='/dev/vdb'|LVM2_VG_NAME='lab'\n",
    ),
    (
        "dmsetup",
        "lab-striped: 0 2080768 striped 2 128 253:0 2048 253:16 2048\n",
    ),
];

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_volume_has_the_attributes_that_the_kernel_tells_under_its_other_name() {
    let (node, said) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, text) in FILES {
        write(node.path(), name, text);
    }
    for (name, text) in COMMANDS {
        write(said.path(), name, text);
    }
    let given = Given {
        also: COMMANDS
            .map(|(name, _)| (name.to_owned(), said.path().join(name)))
            .into(),
        paths: vec![("sasdata".to_owned(), "/sas".to_owned())],
        ..Given::default()
    };
    let facts = collect(&Root::tree(node.path()), &given).unwrap();
    let is = |name: &str, wanted: Value| {
        assert_eq!(facts.of("mount", "/sas", name), Some(&wanted), "{name}");
    };
    is("block", "dm-0".into());
    is("scheduler", "none".into());
    is("read_ahead_kb", Value::Number(1024));
    is("stripes", Value::Number(2));
    is("stripe_bytes", Value::Number(65_536));
    is("pv_count", Value::Number(2));
    is("disks", Value::list(["vda", "vdb"]));
    // What stands in the column of the scheduler where a volume has none is not one.
    assert_eq!(facts.of("block", "lab-striped", "scheduler"), None);
    let of_volume = |name| facts.of("block", "lab-striped", name);
    assert_eq!(of_volume("nr_requests"), Some(&Value::Number(128)));
    assert_eq!(of_volume("read_ahead_kb"), Some(&Value::Number(1024)));
    let findings = judge(&Catalogue::built_in().unwrap(), &facts, &Site::default());
    for rule in ["LVM-001", "LVM-002", "BLK-002"] {
        let mut of_rule = findings.iter().filter(|finding| finding.id == rule);
        let found = of_rule.find(|finding| finding.subject.as_deref() == Some("/sas"));
        assert_eq!(
            found.map(|finding| finding.result),
            Some(Outcome::Pass),
            "{rule}"
        );
    }
}
