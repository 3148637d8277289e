//! A run of a suite whose permanent data are on the file system of a lab.

use std::fs;
use std::path::Path;
use std::process::Output;

use results::run::{RunDirectory, RunResult};
use results::sample::{ChannelSample, MountSample, Sample};
use tempfile::TempDir;

use super::{clean, dir, gristmill};

const JOBS: &str = "2";
const MEGABYTES: f64 = 60.0;

/// Runs sorts with permanent data on a mounted directory, the rest in another place.
pub(super) struct Run {
    place: TempDir,
    pub(super) output: Output,
    pub(super) directory: RunDirectory,
}

pub(super) fn run(mounted: &Path, everything: bool) -> Run {
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
    clean(mounted);
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
    pub(super) fn result(&self) -> RunResult {
        self.directory.result().unwrap().unwrap()
    }

    pub(super) fn samples(&self) -> Vec<Sample> {
        let [node] = &self.directory.nodes().unwrap()[..] else {
            panic!("one node");
        };
        self.directory.samples(node).unwrap()
    }

    pub(super) fn record(&self) -> results::node::NodeRecord {
        let [node] = &self.directory.nodes().unwrap()[..] else {
            panic!("one node");
        };
        self.directory.node(node).unwrap().unwrap()
    }

    pub(super) fn view(&self, name: &str) -> String {
        let path = self.directory.path().display().to_string();
        let shown = gristmill(&["report", "--view", name, &path], self.place.path());
        assert_eq!(shown.status.code(), Some(0));
        String::from_utf8(shown.stdout).unwrap()
    }
}

/// Asserts of a run with permanent data on a mount from a server that what it moved is in the samples, once.
pub(super) fn what_moves_is_counted(kind: &str) {
    let folder = dir();
    let run = run(&folder, false);
    let result = run.result();
    assert!(result.jobs.iter().all(|job| job.verified == Some(true)));
    let samples = run.samples();
    let name = folder.display().to_string();
    let mounts: Vec<&MountSample> = samples
        .iter()
        .filter_map(|one| one.mounts.get(&name))
        .collect();
    assert!(mounts.iter().all(|mount| mount.kind.starts_with(kind)));
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
    // Bytes of a call at the most.
    let call = if kind == "cifs" { 4 << 20 } else { 1 << 20 };
    assert!(sum(|mount| mount.operations) >= (read + written) / call);
    // The view shows them: one line for each sample and mount.
    let view = run.view("iostat");
    let lines = view.lines().filter(|line| line.contains(&name)).count();
    assert!(lines > 0 && lines <= mounts.len() + 1, "{view}");
    let record = run.record();
    let counted = |directory: &str| record.file_systems[directory].counts_itself;
    assert!(counted("data") && counted("output") && !counted("work"));
}
