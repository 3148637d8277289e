//! Series on real file systems, devices and settings of the host: `lab/matrix.sh` starts them, as root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use results::matrix::record::{MatrixFolder, RunRecord, State};
use serde_json::Value;
use tempfile::TempDir;

const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const DIRTY: [&str; 2] = ["/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio"];

const FACTORS: &str = r#"
[[factors]]
name = "file system"
kind = "file-system"
levels = ["ext4", "xfs"]

[[factors]]
name = "read-ahead"
kind = "read-ahead"
levels = ["128k", "4M"]
"#;

/// A series in a folder of its own.
pub(crate) struct Series {
    place: TempDir,
}

impl Series {
    fn new(volume: &str, factors: &str, megabytes: f64) -> Self {
        Self::below("/var/tmp", volume, factors, megabytes)
    }

    pub(crate) fn below(folder: &str, volume: &str, factors: &str, megabytes: f64) -> Self {
        let place = tempfile::tempdir_in(folder).unwrap();
        let memory = host::memory::live().unwrap() as f64;
        let scale = megabytes * 1e6 / (1.05 * memory);
        let plan = format!(
            "name = \"lab\"\ntitle = \"A series of the lab\"\nsuite = \"large-sorts\"\nscale = {scale}\nrepeats = 2\n\
             seed = 1\narguments = [\"--jobs\", \"2\", \"--cores\", \"2\"]\n\n[volumes.disk]\n{volume}\n{factors}"
        );
        fs::write(place.path().join("plan.toml"), plan).unwrap();
        Self { place }
    }

    pub(crate) fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
        command
            .arg("matrix")
            .args(more)
            .current_dir(self.place.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn output(&self, more: &[&str]) -> Output {
        self.command(more).output().unwrap()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path().join("series")
    }

    pub(crate) fn records(&self) -> Vec<RunRecord> {
        let folder = MatrixFolder::open(&self.folder());
        let plan = folder.plan().unwrap().expect("there is a plan");
        let records = plan
            .runs
            .iter()
            .filter_map(|run| folder.record(run.number).unwrap());
        records.collect()
    }

    /// Nothing of the series is mounted or has a loop device.
    pub(crate) fn is_gone(&self) -> bool {
        let place = self.place.path().display().to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let loops = said("losetup", &["--noheadings", "--output", "BACK-FILE"]);
        !mounts.contains(&place) && !loops.contains(&place)
    }
}

pub(crate) fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Settings of the host that the tests change.
fn settings() -> Vec<String> {
    let read = |path: &str| fs::read_to_string(path).unwrap();
    [THP, DIRTY[0], DIRTY[1]].map(read).into()
}

/// The run of a cell has begun: its file system is mounted.
fn has_run(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| entry.path().join("run.json").exists())
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs root and loop devices: lab/matrix.sh"]
fn a_matrix_of_file_systems_and_read_ahead_is_run_as_planned_and_leaves_nothing() {
    let series = Series::new("image = \"400M\"", FACTORS, 8.0);
    let before = settings();
    let output = series.output(&["plan.toml", "--folder", "series", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let records = series.records();
    assert_eq!(records.len(), 8);
    for record in &records {
        assert_eq!(record.state, State::Done, "{record:?}");
        assert_eq!(record.mounts[0].kind, record.planned.levels["file system"]);
        let [setting] = &record.settings[..] else {
            panic!("{record:?}");
        };
        let wanted = if record.planned.levels["read-ahead"] == "4M" {
            "4096"
        } else {
            "128"
        };
        assert_eq!(
            (&*setting.read_back, setting.after.as_deref()),
            (wanted, Some(wanted))
        );
        // What was set is what the run's own look at the node found.
        let run = MatrixFolder::open(&series.folder()).run(record.planned.number);
        let run = results::run::RunDirectory::open(&run.join(record.run.as_ref().unwrap()));
        let node = run.node(&run.nodes().unwrap()[0]).unwrap().unwrap();
        assert_eq!(node.file_systems["data"].kind, record.mounts[0].kind);
    }
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    for response in found["responses"].as_array().unwrap() {
        // 8 runs, 4 cells, 2 blocks.
        assert_eq!(response["freedom"], 3, "{response}");
        assert_eq!(response["effects"].as_array().unwrap().len(), 2);
        assert_eq!(response["interactions"].as_array().unwrap().len(), 1);
    }
    assert!(series.is_gone());
    assert_eq!(settings(), before);
    assert!(!series.folder().join("images").exists());
}

const SETTINGS: &str = r#"
[[factors]]
name = "huge pages"
kind = "thp"
levels = ["never", "always"]

[[factors]]
name = "dirty"
kind = "sysctl"
setting = "vm.dirty_bytes"
levels = [268435456]
"#;

#[test]
#[ignore = "needs root and loop devices: lab/matrix.sh"]
fn what_a_killed_series_changed_is_put_back() {
    let factors = format!("{FACTORS}{SETTINGS}");
    let series = Series::new("image = \"400M\"", &factors, 30.0);
    let before = settings();
    let only = [
        "--only",
        "file system=ext4",
        "--only",
        "read-ahead=4M",
        "--repeats",
        "1",
    ];
    let arguments = [&["plan.toml", "--folder", "series"], &only[..]].concat();
    let mut child = series
        .command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let run = MatrixFolder::open(&series.folder()).run(1);
    wait_for("the run of a cell began", || has_run(&run));
    assert_ne!(settings(), before, "settings are changed while it runs");
    assert!(!series.is_gone());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(settings(), before, "nobody was left to put anything back");
    let folder = series.folder();
    let cleaned = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["clean", "--yes"])
        .arg(&folder)
        .output()
        .unwrap();
    assert!(cleaned.status.success());
    assert!(
        folder.join("journal.jsonl").exists(),
        "the folder knows what is to be put back: it stays"
    );
    let restored = series.output(&["restore", "series"]);
    assert_eq!(restored.status.code(), Some(0), "{}", errors(&restored));
    assert_eq!(settings(), before);
    assert!(series.is_gone());
    // Killed again, and continued by the command itself.
    let mut child = series
        .command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("a setting is changed", || settings() != before);
    child.kill().unwrap();
    child.wait().unwrap();
    let output = series.output(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(
        errors(&output).contains("put back: "),
        "{}",
        errors(&output)
    );
    assert_eq!(settings(), before);
    assert!(series.is_gone() && series.records().len() == 2);
}

const ODD: &str = r#"
[[factors]]
name = "file system"
kind = "file-system"
levels = ["xfs"]

[[factors]]
name = "barriers"
kind = "mount"
levels = [{ name = "on", value = "" }, { name = "off", value = "nobarrier" }]

[[factors]]
name = "read-ahead"
kind = "read-ahead"
levels = ["128k", "5k"]
"#;

/// The kernel keeps whole pages of read-ahead, and XFS has no barriers to turn off.
#[test]
#[ignore = "needs root and loop devices: lab/matrix.sh"]
fn a_setting_that_reads_back_otherwise_fails_its_cell_and_what_cannot_be_is_said() {
    let device = Device::new();
    let name = device.name.as_str();
    let series = Series::new(&format!("device = \"{name}\""), ODD, 8.0);
    let read_ahead = name.replace("/dev/", "/sys/block/") + "/queue/read_ahead_kb";
    let before = fs::read_to_string(&read_ahead).unwrap();
    let output = series.output(&[
        "plan.toml",
        "--folder",
        "series",
        "--repeats",
        "1",
        "--format",
        name,
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    for record in series.records() {
        let levels = (
            &*record.planned.levels["barriers"],
            &*record.planned.levels["read-ahead"],
        );
        let why = record.reason.unwrap_or_default();
        match levels {
            ("on", "128k") => assert_eq!(record.state, State::Done, "{why}"),
            ("on", _) => {
                assert_eq!(record.state, State::Failed);
                assert!(
                    why.contains("reads back as 4, although it was set to 5"),
                    "{why}"
                );
            }
            _ => {
                assert_eq!(record.state, State::NotPossible);
                assert!(why.contains("refuses the mount option nobarrier"), "{why}");
            }
        }
    }
    assert_eq!(
        fs::read_to_string(&read_ahead).unwrap(),
        before,
        "what it became is put back, too"
    );
    assert!(series.is_gone());
}

/// A loop device with a file of its own, which a series does not know.
struct Device {
    name: String,
    place: TempDir,
}

impl Device {
    fn new() -> Self {
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        let file = place.path().join("disk");
        fs::File::create(&file).unwrap().set_len(400 << 20).unwrap();
        let name = said(
            "losetup",
            &["--find", "--show", &file.display().to_string()],
        );
        Self {
            name: name.trim().to_owned(),
            place,
        }
    }

    fn mount_point(&self) -> PathBuf {
        let point = self.place.path().join("mounted");
        fs::create_dir_all(&point).unwrap();
        point
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.mount_point()).output();
        let _ = Command::new("losetup")
            .args(["--detach", &self.name])
            .output();
    }
}

/// First bytes of a file.
fn head(path: &Path) -> Vec<u8> {
    let all = fs::read(path).unwrap();
    all[..(1 << 20).min(all.len())].to_vec()
}

#[test]
#[ignore = "needs root and loop devices: lab/matrix.sh"]
fn only_a_device_that_is_named_confirmed_and_in_nobodys_use_is_formatted() {
    let device = Device::new();
    let name = device.name.as_str();
    let volume = format!("device = \"{name}\"");
    let series = Series::new(&volume, FACTORS, 8.0);
    let refused = |more: &[&str], wanted: &str| {
        let before = head(&device.place.path().join("disk"));
        let output = series.output(&[&["plan.toml", "--folder", "series"], more].concat());
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(wanted), "{said}");
        let after = head(&device.place.path().join("disk"));
        assert!(before == after, "the device was written to: {wanted}");
    };
    refused(&[], &format!("add --format {name}"));
    refused(&["--format", "/dev/null"], "would be lost");
    said("mkfs.ext4", &["-q", name]);
    let point = device.mount_point().display().to_string();
    said("mount", &[name, &point]);
    refused(&["--format", name], "is mounted at");
    said("umount", &[&point]);
    said("mkswap", &[name]);
    refused(&["--format", name], "is swap space");
    said("wipefs", &["--all", "--quiet", name]);
    // A mount that only others see.
    said("mkfs.ext4", &["-q", name]);
    let mut holder = Command::new("unshare")
        .args([
            "--mount",
            "sh",
            "-c",
            "mount \"$0\" \"$1\" && echo up && exec sleep 600",
            name,
            &point,
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 3];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut line).unwrap();
    refused(&["--format", name], "in use");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let one = [
        "--only",
        "read-ahead=128k",
        "--repeats",
        "1",
        "--format",
        name,
    ];
    let output = series.output(&[&["plan.toml", "--folder", "series"], &one[..]].concat());
    // The folder of a series holds that of its first start, which got no further than its plan.
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(series.records().len(), 2);
    assert!(series.is_gone());
}

/// Behaves as TuneD's tool does, with two profiles that change a sysctl.
const TUNED: &str = r#"#!/bin/sh
state=$(dirname "$0")/profile
case "$1" in
    list) printf 'Available profiles:\n- balanced   - General\n- lab        - Of the lab\n' ;;
    active)
        [ -s "$state" ] || { echo 'No current active profile.'; exit 1; }
        echo "Current active profile: $(cat "$state")" ;;
    profile)
        echo "$2" >"$state"
        case $2 in lab) echo 11 ;; *) echo 77 ;; esac >/proc/sys/vm/swappiness ;;
    off) : >"$state" ;;
esac
"#;

const PROFILES: &str = r#"
[[factors]]
name = "profile"
kind = "tuned"
levels = ["lab", "balanced", "none-such"]
"#;

/// The real TuneD would change more of this host than a test may.
#[test]
#[ignore = "needs root: lab/matrix.sh"]
fn profiles_are_set_and_what_somebody_had_set_otherwise_comes_back() {
    const SWAPPINESS: &str = "/proc/sys/vm/swappiness";
    let stub = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = stub.path().join("tuned-adm");
    fs::write(&program, TUNED).unwrap();
    said("chmod", &["755", &program.display().to_string()]);
    fs::write(stub.path().join("profile"), "").unwrap();
    let before = fs::read_to_string(SWAPPINESS).unwrap();
    let volume = format!("directory = \"{}\"", data.path().display());
    let series = Series::new(&volume, PROFILES, 8.0);
    let path = format!(
        "{}:{}",
        stub.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = series.command(&["plan.toml", "--folder", "series", "--repeats", "1"]);
    let output = command.env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let records = series.records();
    assert_eq!(records.len(), 3);
    for record in records {
        match &*record.planned.levels["profile"] {
            "none-such" => assert_eq!(
                record.reason.as_deref(),
                Some("TuneD has no profile none-such")
            ),
            profile => {
                assert_eq!(record.state, State::Done, "{record:?}");
                assert_eq!(record.settings[0].read_back, profile);
            }
        }
    }
    let active = fs::read_to_string(stub.path().join("profile")).unwrap();
    assert_eq!(active, "", "no profile was active");
    assert_eq!(
        fs::read_to_string(SWAPPINESS).unwrap(),
        before,
        "a profile had changed it"
    );
}

const MOUNTED: &str = r#"
[[factors]]
name = "size"
kind = "mount"
levels = ["size=300m", "size=1g"]
"#;

/// tmpfs stands for an export: it is mounted and never formatted, and what the run left there goes.
#[test]
#[ignore = "needs root: lab/matrix.sh"]
fn what_is_mounted_and_not_made_is_left_as_it_was() {
    let series = Series::new("source = \"none\"\ntype = \"tmpfs\"", MOUNTED, 8.0);
    let output = series.output(&["plan.toml", "--folder", "series", "--repeats", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    for record in series.records() {
        assert_eq!(
            (record.state, &*record.mounts[0].kind),
            (State::Done, "tmpfs")
        );
        let wanted = if record.planned.levels["size"] == "size=1g" {
            "size=1048576k"
        } else {
            "size=307200k"
        };
        assert!(
            record.mounts[0]
                .options
                .iter()
                .any(|option| option == wanted),
            "{record:?}"
        );
    }
    assert!(series.is_gone());
}

/// Others make a mount namespace in every moment of a series: as a container's or a service's start does.
#[test]
#[ignore = "needs root and loop devices: lab/matrix.sh"]
fn namespaces_of_others_keep_no_device_in_use() {
    let device = Device::new();
    let volume = format!("device = \"{}\"", device.name);
    let series = Series::new(&volume, FACTORS, 8.0);
    let only = [
        "--only",
        "read-ahead=128k",
        "--repeats",
        "1",
        "--format",
        &device.name,
    ];
    let mut child = series
        .command(&[&["plan.toml", "--folder", "series"], &only[..]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut others = Vec::new();
    let mut first = None;
    while child.try_wait().unwrap().is_none() {
        if has_run(&MatrixFolder::open(&series.folder()).run(1)) && first.is_none() {
            first = Some(others.len());
        }
        let other = Command::new("unshare")
            .args(["--mount", "sleep", "600"])
            .spawn();
        others.push(other.unwrap());
        std::thread::sleep(Duration::from_millis(500));
    }
    let code = child.wait().unwrap().code();
    for mut other in others.drain(..) {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    assert_eq!(code, Some(0), "{:?}", series.records());
    assert!(
        first.is_some(),
        "nobody made a namespace while something was mounted"
    );
    assert_eq!(series.records().len(), 2);
}
