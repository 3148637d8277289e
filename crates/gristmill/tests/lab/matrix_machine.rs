//! Series on what a host of tests does not have: logical volumes, GFS2, exports, TuneD, threads of a core.
//! `lab/test matrix` starts them in a machine.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use results::matrix::record::{MatrixFolder, RunRecord, State};
use results::node::NodeRecord;
use results::run::RunDirectory;

use super::matrix::{Series, errors, said};

const DISKS: [&str; 4] = ["/dev/vda", "/dev/vdb", "/dev/vdc", "/dev/vdd"];

fn series(volume: &str, factors: &str) -> Series {
    Series::below("/tmp", volume, factors, 8.0)
}

/// Runs it, all of its cells once, each of which must come out.
fn ran(series: &Series, formatted: &[&str], cells: usize) -> Vec<RunRecord> {
    let mut arguments = vec!["plan.toml", "--folder", "series", "--repeats", "1"];
    arguments.extend(formatted.iter().flat_map(|device| ["--format", device]));
    let output = series.output(&arguments);
    let records = series.records();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(records.len(), cells);
    for record in &records {
        assert_eq!(record.state, State::Done, "{record:?}");
    }
    assert!(series.is_gone());
    records
}

/// What the run of a cell found itself of its node.
fn node(series: &Series, record: &RunRecord) -> NodeRecord {
    let run = MatrixFolder::open(&series.folder()).run(record.planned.number);
    let run = RunDirectory::open(&run.join(record.run.as_ref().unwrap()));
    run.node(&run.nodes().unwrap()[0]).unwrap().unwrap()
}

const STRIPES: &str = r#"
[[factors]]
name = "stripes"
kind = "lvm-stripes"
levels = [1, 4]

[[factors]]
name = "scheduler"
kind = "scheduler"
levels = ["bfq"]

[[factors]]
name = "completion"
kind = "rq-affinity"
levels = [2]
"#;

#[test]
#[ignore = "needs a lab: lab/test matrix"]
fn volumes_are_striped_over_as_many_disks_as_the_level_says() {
    let read = |disk: &str, name: &str| {
        fs::read_to_string(format!("/sys/block/{disk}/queue/{name}")).unwrap()
    };
    let queue = || ["scheduler", "rq_affinity"].map(|name| read("vda", name));
    let before = queue();
    let volume = format!("devices = {DISKS:?}\ntype = \"xfs\"");
    let series = series(&volume, STRIPES);
    for record in ran(&series, &DISKS, 2) {
        let disks = if record.planned.levels["stripes"] == "4" {
            &["vda", "vdb", "vdc", "vdd"][..]
        } else {
            &["vda"]
        };
        let behind = &node(&series, &record).file_systems["data"].devices;
        assert!(behind[0].starts_with("dm-"), "{behind:?}");
        assert_eq!(behind[1..], *disks);
        // Each disk has both settings.
        assert_eq!(record.settings.len(), 2 * disks.len());
        for setting in &record.settings {
            let wanted = if setting.what.ends_with("rq_affinity") {
                "2"
            } else {
                &record.planned.levels["scheduler"]
            };
            assert_eq!(
                (&*setting.read_back, setting.after.as_deref()),
                (wanted, Some(wanted))
            );
        }
    }
    assert_eq!(queue(), before);
    let volumes = said("pvs", &["--noheadings", "-o", "pv_name"]);
    assert_eq!(volumes.trim(), "", "no disk is left to LVM");
}

const FILE_SYSTEMS: &str = r#"
[[factors]]
name = "file system"
kind = "file-system"
levels = ["xfs", "gfs2"]

[[factors]]
name = "times of access"
kind = "mount"
levels = [{ name = "none", value = "noatime" }]
"#;

#[test]
#[ignore = "needs a lab: lab/test matrix"]
fn gfs2_is_made_for_one_node() {
    let series = series(&format!("device = {:?}", DISKS[0]), FILE_SYSTEMS);
    for record in ran(&series, &DISKS[..1], 2) {
        let found = &record.mounts[0];
        assert_eq!(found.kind, record.planned.levels["file system"]);
        let kept = found.options.iter().any(|option| option == "noatime");
        assert!(kept, "{:?}", found.options);
        assert_eq!(node(&series, &record).file_systems["data"].kind, found.kind);
    }
}

const EXPORT: &str = "source = \"127.0.0.1:/\"\ntype = \"nfs4\"\nmount = \"vers=4.2,rsize=65536\"";

const CLIENT: &str = r#"
[[factors]]
name = "client"
kind = "mount"
levels = [{ name = "default", value = "" }, { name = "tuned", value = "actimeo=0,nconnect=4" }]
"#;

#[test]
#[ignore = "needs a lab: lab/test matrix"]
fn an_export_is_mounted_as_the_levels_say() {
    let series = series(EXPORT, CLIENT);
    for record in ran(&series, &[], 2) {
        let found = &record.mounts[0];
        let has = |wanted: &str| found.options.iter().any(|option| option == wanted);
        assert!(has("rsize=65536"), "{:?}", found.options);
        let is_tuned = record.planned.levels["client"] == "tuned";
        assert_eq!(has("acregmin=0"), is_tuned);
        assert_eq!(has("nconnect=4"), is_tuned);
        assert!(
            record.notes.is_empty(),
            "all can be read back: {:?}",
            record.notes
        );
        let node = node(&series, &record);
        assert!(node.file_systems["data"].counts_itself);
    }
    let left: Vec<_> = fs::read_dir("/tmp/lab/served").unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

const PROFILES: &str = r#"
[[factors]]
name = "profile"
kind = "tuned"
levels = ["balanced", "throughput-performance"]
"#;

#[test]
#[ignore = "needs a lab: lab/test matrix"]
fn profiles_of_tuned_are_in_force_while_a_cell_runs() {
    let setting = || fs::read_to_string("/proc/sys/vm/dirty_ratio").unwrap();
    let active = || said("tuned-adm", &["active"]);
    let series = series("directory = \"/tmp\"", PROFILES);
    said("tuned-adm", &["profile", "balanced"]);
    let before = (setting(), active());
    assert_ne!(before.0.trim(), "40", "what throughput-performance sets");
    let mut seen = BTreeSet::new();
    let records = thread::scope(|scope| {
        let run = scope.spawn(|| ran(&series, &[], 2));
        while !run.is_finished() {
            seen.insert(setting().trim().to_owned());
            thread::sleep(Duration::from_millis(100));
        }
        run.join().unwrap()
    });
    assert!(seen.contains("40"), "{seen:?}");
    for record in records {
        let [profile] = &record.settings[..] else {
            panic!("{record:?}");
        };
        let wanted = &record.planned.levels["profile"];
        assert_eq!(profile.read_back, *wanted);
        assert_eq!(profile.after.as_ref(), Some(wanted));
    }
    assert_eq!((setting(), active()), before);
}

const THREADS: &str = r#"
[[factors]]
name = "threads"
kind = "smt"
levels = ["on", "off"]
"#;

#[test]
#[ignore = "needs a lab: lab/test matrix"]
fn threads_of_a_core_are_switched_off_for_a_cell() {
    let control = || fs::read_to_string("/sys/devices/system/cpu/smt/control").unwrap();
    assert_eq!(control().trim(), "on");
    let series = series("directory = \"/tmp\"", THREADS);
    for record in ran(&series, &[], 2) {
        let wanted = &record.planned.levels["threads"];
        assert_eq!(record.settings[0].read_back, *wanted);
        let processors = if wanted == "on" { 2 } else { 1 };
        assert_eq!(node(&series, &record).processors, Some(processors));
    }
    assert_eq!(control().trim(), "on");
}
