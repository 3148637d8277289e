//! Real file systems that must be mounted first, and a machine that may be spoiled: `lab/fuse.sh`, `lab/nfs.sh`,
//! `lab/drive.sh`, `lab/matrix.sh` and `lab/audit.sh` make them, and start these tests.

#[path = "lab/audit.rs"]
mod audit;
#[path = "lab/drive.rs"]
mod drive;
#[path = "lab/matrix.rs"]
mod matrix;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use results::run::{RunDirectory, RunResult};
use results::sample::{ChannelSample, MountSample, Sample};
use tempfile::TempDir;

const JOBS: &str = "2";
const MEGABYTES: f64 = 60.0;

/// Runs sorts with permanent data on a mounted directory, the rest in another place.
struct Run {
    place: TempDir,
    output: Output,
    directory: RunDirectory,
}

fn mounted(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    folder.unwrap_or_else(|| panic!("{variable} names no mounted directory; start this from lab/"))
}

fn gristmill(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn run(mounted: &Path, everything: bool) -> Run {
    let place = tempfile::tempdir().unwrap();
    let memory = host::memory::live().unwrap() as f64;
    let scale = format!("{}", MEGABYTES * 1e6 / (1.05 * memory));
    let data = mounted.display().to_string();
    let own = place.path().display().to_string();
    let scratch = if everything { &data } else { &own };
    let mut arguments = vec!["run", "large-sorts", "--jobs", JOBS, "--scale", &scale];
    arguments.extend(["--data", &data, "--work", scratch, "--util", scratch]);
    arguments.extend(["--runs", &own]);
    let output = gristmill(&arguments, place.path());
    let said = String::from_utf8_lossy(&output.stderr);
    // 4: too little data for a verdict.
    assert_eq!(output.status.code(), Some(4), "{said}");
    let entries = fs::read_dir(place.path()).unwrap();
    let runs = entries.map(|entry| entry.unwrap().path());
    let mut runs = runs.filter(|path| path.join("run.json").exists());
    let directory = RunDirectory::open(&runs.next().expect("there is a run"));
    Run {
        place,
        output,
        directory,
    }
}

impl Run {
    fn result(&self) -> RunResult {
        self.directory.result().unwrap().unwrap()
    }

    fn samples(&self) -> Vec<Sample> {
        let [node] = &self.directory.nodes().unwrap()[..] else {
            panic!("one node");
        };
        self.directory.samples(node).unwrap()
    }

    fn record(&self) -> results::node::NodeRecord {
        let [node] = &self.directory.nodes().unwrap()[..] else {
            panic!("one node");
        };
        self.directory.node(node).unwrap().unwrap()
    }

    fn view(&self, name: &str) -> String {
        let path = self.directory.path().display().to_string();
        let shown = gristmill(&["report", "--view", name, &path], self.place.path());
        assert_eq!(shown.status.code(), Some(0));
        String::from_utf8(shown.stdout).unwrap()
    }
}

#[test]
#[ignore = "needs a FUSE file system: lab/fuse.sh"]
fn what_fuse_hides_is_not_measured_and_never_0() {
    let folder = mounted("GRISTMILL_LAB_FUSE");
    let run = run(&folder, true);
    let result = run.result();
    assert_eq!(result.aggregate.physical_read_share, None);
    assert_eq!(result.aggregate.physical_read_basis, None);
    let record = run.record();
    for (name, file_system) in &record.file_systems {
        assert!(file_system.kind.starts_with("fuse"), "{name}");
        assert_eq!(Path::new(&file_system.mount_point), folder, "{name}");
        assert!(file_system.hidden.is_some() && file_system.devices.is_empty());
        let what = format!(
            "physical reads and writes of {name} at {}",
            folder.display()
        );
        let told = |texts: &[String]| texts.iter().any(|text| text.starts_with(&what));
        assert!(
            told(&record.not_measured) && told(&result.not_measured),
            "{what}"
        );
    }
    assert_eq!(record.file_systems.len(), 4);
    assert!(run.samples().iter().all(|sample| sample.mounts.is_empty()));
    let table = String::from_utf8_lossy(&run.output.stdout);
    let line = table
        .lines()
        .find(|line| line.starts_with("Read from devices"));
    let value = line.and_then(|line| line.split_whitespace().nth(6));
    assert_eq!(value, Some("-"), "{table}");
}

#[test]
#[ignore = "needs a mount of NFS: lab/nfs.sh"]
fn what_nfs_moves_is_counted() {
    let folder = mounted("GRISTMILL_LAB_NFS");
    let run = run(&folder, false);
    let result = run.result();
    assert!(result.jobs.iter().all(|job| job.verified == Some(true)));
    let samples = run.samples();
    let name = folder.display().to_string();
    let mounts: Vec<&MountSample> = samples
        .iter()
        .filter_map(|one| one.mounts.get(&name))
        .collect();
    assert!(mounts.iter().all(|mount| mount.kind.starts_with("nfs")));
    let sum = |of: fn(&MountSample) -> u64| mounts.iter().map(|mount| of(mount)).sum::<u64>();
    let (read, written) = (
        sum(|mount| mount.read_bytes),
        sum(|mount| mount.write_bytes),
    );
    let served = |channel: &str, of: fn(&ChannelSample) -> u64| -> u64 {
        let sampled = samples
            .iter()
            .filter_map(|sample| sample.channels.get(channel));
        sampled.map(of).sum()
    };
    let plan = run.directory.plan().unwrap();
    let staged: u64 = plan.sizes.iter().filter_map(|one| one.plain_bytes).sum();
    // A cold start reads every input once, and what is written, staging included, goes to the server once,
    // at the latest when files are closed.
    let wanted = (
        served("input", |channel| channel.read_bytes),
        staged + served("output", |channel| channel.write_bytes),
    );
    assert!(
        wanted.0 > 2 * 50_000_000 && wanted.1 > 4 * 50_000_000,
        "{wanted:?}"
    );
    let near = |found: u64, wanted: u64| found.abs_diff(wanted) * 100 <= 3 * wanted;
    assert!(near(read, wanted.0), "{read} bytes read of {}", wanted.0);
    assert!(
        near(written, wanted.1),
        "{written} bytes written of {}",
        wanted.1
    );
    assert!(sum(|mount| mount.operations) > (read + written) / 1_048_576);
    // The view shows them: one line for each sample and mount.
    let view = run.view("iostat");
    let lines = view.lines().filter(|line| line.contains(&name)).count();
    assert!(lines > 0 && lines <= mounts.len() + 1, "{view}");
    let record = run.record();
    let counted = |directory: &str| record.file_systems[directory].counts_itself;
    assert!(counted("data") && counted("output") && !counted("work"));
}
