//! A run of a suite whose permanent data are on the file system of a lab.

use std::fs;
use std::path::Path;
use std::process::Output;

use results::run::{RunDirectory, RunResult};
use results::sample::Sample;
use tempfile::TempDir;

use super::gristmill;

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
