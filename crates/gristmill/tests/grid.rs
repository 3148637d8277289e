//! Runs on several nodes of a real Slurm, and by mpirun: `lab/slurm.sh run 4 cargo test -p gristmill --test grid --
//! --ignored --test-threads=1`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use results::run::{Event, EventKind, RunDirectory, RunResult};
use tempfile::TempDir;

/// A folder in which runs are made.
struct Site {
    directory: TempDir,
}

impl Site {
    fn new() -> Self {
        assert!(
            std::env::var_os("SLURM_LAB_FOLDER").is_some(),
            "there is no Slurm: lab/slurm.sh run 4 …"
        );
        Self {
            directory: tempfile::tempdir_in("/var/tmp").unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Run directories of a suite, the oldest first.
    fn runs(&self, suite: &str) -> Vec<RunDirectory> {
        let folder = self.path("gristmill-bench/runs");
        let Ok(entries) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_run = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with(suite) && path.join("run.json").exists()
        };
        let mut paths: Vec<PathBuf> = paths.filter(is_run).collect();
        paths.sort();
        paths.iter().map(|path| RunDirectory::open(path)).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn result(run: &RunDirectory) -> RunResult {
    run.result().unwrap().expect("the run is complete")
}

/// Jobs of each node.
fn by_node(result: &RunResult) -> BTreeMap<&str, usize> {
    let mut jobs = BTreeMap::new();
    for job in &result.jobs {
        *jobs.entry(job.node.as_str()).or_default() += 1;
    }
    jobs
}

fn of_kind(events: &[Event], kind: EventKind) -> Vec<&Event> {
    events.iter().filter(|event| event.event == kind).collect()
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4"]
fn each_node_has_a_batch_and_the_tables_grow_with_them() {
    let site = Site::new();
    let output = site.output(&[
        "run",
        "large-sorts",
        "--slurm",
        "--nodes",
        "1,2,4",
        "--scale",
        "0.000002",
        "--jobs",
        "2",
        "--warm",
        "--no-ceiling",
    ]);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    // So little was moved that nothing is shown.
    assert_eq!(output.status.code(), Some(4), "{said}");
    let runs = site.runs("large-sorts");
    assert_eq!(runs.len(), 3, "{said}");
    for (run, nodes) in runs.iter().zip([1, 2, 4]) {
        let result = result(run);
        let plan = run.plan().unwrap();
        let names: Vec<String> = (1..=nodes).map(|node| format!("node{node}")).collect();
        assert_eq!(plan.nodes, names);
        // They are one machine, which has no more processors for that.
        assert_eq!(plan.cores, runs[0].plan().unwrap().cores);
        let jobs = by_node(&result);
        assert_eq!(jobs.len(), nodes, "{jobs:?}");
        for job in &result.jobs {
            assert_eq!((job.exit, job.verified), (Some(0), Some(true)), "{job:?}");
        }
        let shown: Vec<&str> = result.nodes.iter().map(|node| &*node.node).collect();
        assert_eq!(shown, if nodes > 1 { names.clone() } else { Vec::new() });
        assert!(
            result
                .nodes
                .iter()
                .all(|node| node.done == 2 && node.mb_per_s.is_some())
        );
        let events = run.events().unwrap();
        let started = of_kind(&events, EventKind::BatchStarted);
        assert_eq!(started.len(), nodes);
        assert!(started.iter().all(|event| event.late_s.is_some()));
        // All nodes are one machine with one clock.
        for name in &names {
            let node = run.node(name).unwrap().unwrap();
            let (offset, uncertainty) = (node.clock_offset_s, node.clock_uncertainty_s);
            let (offset, uncertainty) = offset.zip(uncertainty).expect("clocks were compared");
            assert!(
                offset.abs() <= uncertainty + 0.001,
                "{offset} {uncertainty}"
            );
            let first = name == "node1";
            assert_eq!(node.same_host_as.is_none(), first, "{node:?}");
        }
    }
    let left = fs::read_dir(site.path("gristmill-bench")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let outputs: Vec<String> = left.filter(|name| name.contains("output")).collect();
    assert_eq!(outputs, [""; 0]);
    let table = said.rfind("Run times as nodes are added").unwrap();
    let rows: Vec<&str> = said[table..].lines().skip(2).take(3).collect();
    for (row, wanted) in rows.iter().zip(["2      1", "4      2", "8      4"]) {
        assert!(row.contains(wanted), "{wanted}: {row}");
    }
}

#[test]
#[ignore = "needs mpirun (Debian: openmpi-bin), and a machine of several cores"]
fn a_process_that_mpirun_binds_to_a_core_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let output = Command::new("mpirun")
        .args(["--allow-run-as-root", "-np", "1", "--bind-to", "core"])
        .arg(env!("CARGO_BIN_EXE_gristmill"))
        .args(["iotest", ".", "--launched", "--size=4M", "--seconds=1"])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .expect("mpirun can be started");
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("is bound to 1 of the"), "{said}");
    assert!(said.contains("mpirun --bind-to none"), "{said}");
}

#[test]
#[ignore = "needs mpirun (Debian: openmpi-bin)"]
fn processes_that_mpirun_starts_find_each_other() {
    let site = Site::new();
    let mut command = Command::new("mpirun");
    command
        .args(["--allow-run-as-root", "--oversubscribe", "-np", "3"])
        .args(["--bind-to", "none"])
        .arg(env!("CARGO_BIN_EXE_gristmill"))
        .args(["run", "large-sorts", "--launched", "--scale", "0.000002"])
        .args(["--jobs", "2", "--warm", "--no-ceiling"])
        .current_dir(site.directory.path())
        .stdin(Stdio::null());
    let output = command.output().expect("mpirun can be started");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let runs = site.runs("large-sorts");
    assert_eq!(runs.len(), 1, "{said}");
    let result = result(&runs[0]);
    assert_eq!(by_node(&result).values().collect::<Vec<_>>(), [&2; 3]);
    for job in &result.jobs {
        assert_eq!((job.exit, job.verified), (Some(0), Some(true)), "{job:?}");
    }
    let clocks = "the clocks of the nodes were not compared";
    let told = result.not_measured.iter().any(|text| text.contains(clocks));
    assert!(told, "{:?}", result.not_measured);
    // The folder in which they met is gone.
    let mut names = fs::read_dir(site.path("gristmill-bench/runs")).unwrap();
    assert!(names.all(|entry| {
        !entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("launch-")
    }));
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4"]
fn one_set_of_jobs_is_spread_over_nodes_that_share_inputs_and_outputs() {
    let site = Site::new();
    let output = site.output(&[
        "run",
        "demand-calibration",
        "--slurm",
        "--nodes",
        "4",
        "--scale",
        "0.0002",
        "--models",
        "8",
        "--parameter",
        "temp_files=40",
        "--parameter",
        "perm_sets=4",
        "--no-ceiling",
    ]);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let runs = site.runs("demand-calibration");
    assert_eq!(runs.len(), 1, "{said}");
    let result = result(&runs[0]);
    let jobs = by_node(&result);
    assert_eq!(jobs.values().collect::<Vec<_>>(), [&2; 4], "{said}");
    for job in &result.jobs {
        assert_eq!((job.exit, job.verified), (Some(0), Some(true)), "{job:?}");
    }
}

/// A suite of one job, in a folder of its own.
fn write_suite(site: &Site, name: &str, program: &str) {
    let suite = format!(
        r#"
name = "{name}"
title = "One job"

[launch]
rule = "pool"

[parameters.concurrency]
per_core = 1

[demonstration]
scale = 1

[classes]
data = "construction of tables"

[[jobs]]
name = "one"
program = "one.sas"
class = "data"

[[jobs.checks]]
kind = "rows"
dataset = "made"
count = "10"
"#
    );
    let folder = site.path(name);
    fs::create_dir_all(folder.join("programs")).unwrap();
    fs::write(folder.join("suite.toml"), suite).unwrap();
    let program = format!("{program}\ndata out.made; do i = 1 to 10; output; end; run;\n");
    fs::write(folder.join("programs/one.sas"), program).unwrap();
}

/// A program that waits as long as a file is there, or until it is.
fn waiting(word: &str, file: &Path) -> String {
    format!(
        "%macro wait;\n  %do %{word} (%sysfunc(fileexist({})));\n    data _null_; rc = sleep(50, 0.001); run;\n  \
         %end;\n%mend;\n%wait\n",
        file.display()
    )
}

/// What each node has for itself, at the same path on all of them.
fn local() -> PathBuf {
    let local = PathBuf::from(std::env::var_os("SLURM_LAB_FOLDER").unwrap()).join("local");
    assert!(
        local.exists(),
        "nodes have file systems of their own only as root"
    );
    local
}

/// Runs a command of the shell on a node.
fn on_node(node: &str, command: &str) {
    let mut srun = Command::new("srun");
    srun.args([
        "--nodes=1",
        "--ntasks=1",
        "--nodelist",
        node,
        "sh",
        "-c",
        command,
    ]);
    assert!(srun.status().unwrap().success(), "{node}: {command}");
}

/// Waits until jobs run on so many nodes.
fn wait_for_jobs(site: &Site, nodes: usize) {
    loop {
        if let Some(run) = site.runs("waiting").last() {
            let events = run.events().unwrap_or_default();
            if of_kind(&events, EventKind::JobLaunched).len() == nodes {
                return;
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn lab(what: &str, node: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/slurm.sh");
    let folder = std::env::var("SLURM_LAB_FOLDER").unwrap();
    let mut command = Command::new("bash");
    let status = command.arg(script).args([what, &folder, node]).status();
    assert!(status.unwrap().success(), "{what} {node}");
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4"]
fn a_node_that_dies_is_told_and_the_others_go_on() {
    let site = Site::new();
    write_suite(&site, "waiting", &waiting("until", &site.path("go")));
    let run = site
        .command(&["run", "./waiting", "--slurm", "--nodes", "3,2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_jobs(&site, 3);
    lab("kill", "node3");
    fs::write(site.path("go"), "").unwrap();
    let output = run.wait_with_output().unwrap();
    lab("wake", "node3");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    // What the others show is kept, but says nothing of three nodes.
    assert_eq!(output.status.code(), Some(4), "{said}");
    let runs = site.runs("waiting");
    // The series goes on without the node.
    assert_eq!(runs.len(), 2, "{said}");
    let next = result(&runs[1]);
    assert!(next.jobs.len() == 2 && next.jobs.iter().all(|job| job.verified == Some(true)));
    let run = &runs[0];
    let events = run.events().unwrap();
    let lost = of_kind(&events, EventKind::NodeLost);
    assert_eq!(lost.len(), 1, "{said}");
    assert!(
        lost[0]
            .detail
            .as_ref()
            .unwrap()
            .starts_with("node3 did not")
    );
    let result = result(run);
    for job in &result.jobs {
        let wanted = if job.node == "node3" {
            (None, None)
        } else {
            (Some(0), Some(true))
        };
        assert_eq!((job.exit, job.verified), wanted, "{job:?}\n{said}");
    }
    let told = "node3 did not end the phase launch";
    assert!(said.contains(told), "{said}");
    the_series_goes_on(&site);
}

/// What was done is kept; what was not is run, and more.
fn the_series_goes_on(site: &Site) {
    let again = site.output(&[
        "run",
        "./waiting",
        "--slurm",
        "--nodes",
        "1,2,3",
        "--resume",
    ]);
    let said = format!("{}{}", text(&again.stdout), text(&again.stderr));
    let nodes = |run: &RunDirectory| run.plan().unwrap().nodes.len();
    let made: Vec<usize> = site.runs("waiting").iter().map(nodes).collect();
    assert_eq!(made, [3, 2, 1, 3], "{said}");
    assert!(said.contains("2 nodes: kept from before"), "{said}");
    let table = said.rfind("Growth with the nodes").expect(&said);
    assert!(said[table..].contains("run times"), "{said}");
    // Runs on more nodes are held against the one on the fewest before.
    let last = site.runs("waiting").pop().unwrap();
    let base = last.plan().unwrap().series.unwrap().base.unwrap();
    assert_eq!(base.nodes, 1);
    let verdict = last.result().unwrap().expect("it is complete").verdict;
    let growth = verdict
        .requirements
        .iter()
        .find(|one| one.id == "growth")
        .unwrap();
    assert!(growth.value.is_some(), "{growth:?}");
    assert!(last.path().join("../").read_dir().unwrap().any(|entry| {
        let folder = entry.unwrap();
        folder.file_name().to_string_lossy().starts_with("series-")
            && folder.path().join("growth.html").exists()
    }));
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4"]
fn only_a_series_of_the_same_command_is_gone_on_with() {
    let site = Site::new();
    write_suite(&site, "waiting", "");
    let output = site.output(&["run", "./waiting", "--slurm", "--nodes", "1", "--resume"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no series of this command"), "{said}");
}

/// A run of a suite of one job on three nodes, on the second of which something was done before; its result and
/// what was said.
fn with_second_spoiled(site: &Site, spoil: &str, more: &[&str]) -> (Output, RunResult, String) {
    on_node("node2", spoil);
    let arguments = ["run", "./spoiled", "--slurm", "--nodes", "3"];
    let output = site.output(&[&arguments, more].concat());
    on_node(
        "node2",
        &format!("rm -rf {0}/fill {0}/work {0}/hang", local().display()),
    );
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let runs = site.runs("spoiled");
    assert_eq!(runs.len(), 1, "{said}");
    (output, result(&runs[0]), said)
}

/// That the other nodes' jobs ended well, and what became of the second's.
fn only_the_second_failed(result: &RunResult, said: &str) -> results::run::JobResult {
    let (second, others): (Vec<_>, Vec<_>) =
        result.jobs.iter().partition(|job| job.node == "node2");
    assert_eq!((second.len(), others.len()), (1, 2), "{said}");
    for job in others {
        assert_eq!(
            (job.exit, job.verified),
            (Some(0), Some(true)),
            "{job:?}\n{said}"
        );
    }
    let done: Vec<u32> = result.nodes.iter().map(|node| node.done).collect();
    assert_eq!(done, [1, 0, 1], "{said}");
    second[0].clone()
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4, as root"]
fn a_full_work_of_one_node_is_told_and_the_others_go_on() {
    let site = Site::new();
    // 16 MB of WORK.
    write_suite(
        &site,
        "spoiled",
        "data big; do i = 1 to 2000000; output; end; run;",
    );
    let work = local().join("work").display().to_string();
    let fill = format!(
        "dd if=/dev/zero of={}/fill bs=1M count=58 status=none",
        local().display()
    );
    let (output, result, said) = with_second_spoiled(&site, &fill, &["--work", &work]);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let job = only_the_second_failed(&result, &said);
    let error = job.error.expect("the log's first ERROR");
    assert!(error.contains("No space left"), "{error}");
    assert!(said.contains("No space left"), "{said}");
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4, as root"]
fn a_job_that_hangs_on_one_node_is_ended_and_told() {
    let site = Site::new();
    let hang = local().join("hang");
    write_suite(&site, "spoiled", &waiting("while", &hang));
    let touch = format!("touch {}", hang.display());
    let (output, result, said) = with_second_spoiled(&site, &touch, &["--wall-limit", "15s"]);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let job = only_the_second_failed(&result, &said);
    assert!(
        job.error.is_some_and(|error| error.contains("wall limit")),
        "{said}"
    );
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4"]
fn all_nodes_load_the_same_directory_at_the_same_time() {
    let site = Site::new();
    let arguments = [
        "iotest",
        ".",
        "--slurm",
        "--nodes",
        "3",
        "--seconds",
        "1",
        "--size",
        "8m",
        "--streams",
        "2",
        "--json",
    ];
    let output = site.output(&arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let table = &found["table"];
    assert_eq!(
        table["hosts"],
        serde_json::json!(["node1", "node2", "node3"])
    );
    let off = table["clocks_within_s"].as_f64();
    assert!(off.is_some_and(|off| off < 5.0), "{off:?}: {said}");
    for (phase, factor) in [("write", 1), ("read", 1), ("mixed", 0), ("copy", 2)] {
        let phases = table["phases"].as_array().unwrap();
        let of = phases.iter().find(|one| one["phase"] == phase).unwrap();
        let places = of["places"].as_array().unwrap();
        assert_eq!(places.len(), 3, "{phase}");
        for place in places {
            let streams = place["streams"].as_array().unwrap();
            let bytes = |stream: &serde_json::Value| {
                let of = |name: &str| stream[name].as_u64().unwrap();
                assert_eq!(of("wrong_blocks"), 0);
                of("read_bytes") + of("written_bytes")
            };
            let moved: u64 = streams.iter().map(bytes).sum();
            if factor > 0 {
                assert_eq!(moved, factor * 2 * (8 << 20), "{phase} {place}");
            }
        }
    }
    // Nothing is left there.
    assert_eq!(fs::read_dir(site.directory.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4"]
fn audits_of_nodes_are_compared() {
    let site = Site::new();
    let output = site.output(&["audit", "--slurm", "--nodes", "2", "--json"]);
    let said = text(&output.stderr);
    assert!(said.contains("Audited: node1, node2"), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // They are one machine, of which one release and kernel runs.
    let rules = found["rules"].as_array().unwrap();
    let kernel = rules.iter().find(|rule| rule["id"] == "OPS-005").unwrap();
    assert_eq!(kernel["result"], "pass", "{kernel}");
}

#[test]
#[ignore = "needs a Slurm of four nodes: lab/slurm.sh run 4, as root, with bindfs"]
fn two_nodes_probe_what_they_share() {
    let shared = local().join("shared");
    let directory = shared.display().to_string();
    let site = Site::new();
    // Only the nodes see it.
    let mut command = Command::new("salloc");
    command
        .args([
            "--nodes=2",
            "--ntasks-per-node=1",
            "--nodelist=node1,node2",
            "srun",
            "--overlap",
        ])
        .args(["--nodes=1", "--ntasks=1", "--nodelist=node1"])
        .arg(env!("CARGO_BIN_EXE_gristmill"))
        .args([
            "probe",
            &directory,
            "--slurm",
            "--only",
            "locks,visibility",
            "--seconds",
            "1",
            "--json",
        ])
        .current_dir(site.directory.path());
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("The other client is node2"), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    let all = found["experiments"].as_array().unwrap();
    let measured = |experiment: &str, name: &str| {
        let of = all.iter().find(|one| one["id"] == experiment).unwrap();
        let of = of["measurements"].as_array().unwrap();
        of.iter()
            .find(|one| one["name"] == name)
            .map(|one| one["value"].clone())
    };
    // Each node has a FUSE mount of its own, whose locks do not reach the other: two jobs may destroy a data set.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(
        measured("locks", "locks_exclude_peer"),
        Some(0.0.into()),
        "{found}"
    );
    assert!(
        measured("visibility", "visibility_create_stat_s").is_some(),
        "{found}"
    );
}

/// Each node reads a data set of its own with PROC MEANS.
const READER: &str = r#"
name = "reader"
title = "One job a node that reads a data set"

[launch]
rule = "together"
spread_s = 0.0

[demonstration]
scale = 1

[classes]
data = "one pass"

[channels]
input = { on = "shared" }

[[datasets]]
names = ["in1"]
recipe = "large-sorts"
rows = 300000

[[jobs]]
name = "means"
program = "one.sas"
class = "data"
symbols = { in = "in1" }

[[jobs.checks]]
kind = "rows"
dataset = "made"
count = "1"
"#;

/// A drive that gives so many MB/s in each direction, for as long as this is kept.
struct Drive(PathBuf);

impl Drive {
    fn make(at: PathBuf, mb_per_s: u32) -> Self {
        let place = at.display().to_string();
        let up = ["up", &place, "ext4", "4G", &mb_per_s.to_string()];
        assert!(Self::command(&up).status().unwrap().success());
        Self(at)
    }

    fn command(arguments: &[&str]) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/drive.sh");
        let mut command = Command::new("bash");
        command.arg(script).args(arguments);
        command
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        let down = ["down", &self.0.display().to_string()];
        // Not a second panic, whatever became of the test.
        let _ = Self::command(&down).status();
    }
}

#[test]
#[ignore = "needs a Slurm of twelve nodes and some minutes: lab/slurm.sh run 12, as root"]
fn the_knee_is_where_the_nodes_ask_for_more_than_the_drive_gives() {
    const DRIVE_MB_PER_S: u32 = 40;
    // A twelfth of what SAS does with PROC MEANS, so that eight nodes ask for what the drive gives.
    const NODES_FED: f64 = 8.0;
    let site = Site::new();
    write_suite(&site, "reader", "");
    fs::write(site.path("reader/suite.toml"), READER).unwrap();
    let program = "proc means data=in.&in noprint; output out=out.made n=n; run;\n";
    fs::write(site.path("reader/programs/one.sas"), program).unwrap();
    let table = format!(
        "title = \"{} MB/s\"\ndate = \"2026-11\"\n[source.own]\ntext = \"made for a test\"\n[kind.OTHER]\n\
         s_per_mb = {}\nbasis = \"made for a test\"\nsources = [\"own\"]\n",
        f64::from(DRIVE_MB_PER_S) / NODES_FED,
        NODES_FED / f64::from(DRIVE_MB_PER_S),
    );
    fs::write(site.path("pace.toml"), table).unwrap();
    let place = local().with_file_name("drive");
    let drive = Drive::make(place.clone(), DRIVE_MB_PER_S);
    let data = place.display().to_string();
    let output = site.output(&[
        "run",
        "./reader",
        "--slurm",
        "--nodes",
        "1,4,8,10,12",
        "--scale",
        "1",
        "--no-ceiling",
        "--data",
        &data,
        "--output",
        "out",
        "--work",
        "work",
        "--runs",
        "gristmill-bench/runs",
        "--pace",
        "1",
        "--pace-by",
        "sleep",
        "--pace-table",
        "pace.toml",
    ]);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let runs: Vec<PathBuf> = site
        .runs("reader")
        .iter()
        .map(|run| run.path().to_owned())
        .collect();
    assert_eq!(runs.len(), 5, "{said}");
    let words: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    let mut compared = site.command(&["compare"]);
    let compared = compared.args(&words).arg("--json").output().unwrap();
    drop(drive);
    let found: serde_json::Value = serde_json::from_slice(&compared.stdout).expect(&said);
    let growth = &found["growth"];
    let shown = &said[said.rfind("Growth with the nodes").unwrap()..];
    std::io::Write::write_all(&mut std::io::stderr(), shown.as_bytes()).unwrap();
    // Run times stay flat as long as the drive gives what is asked for, and the knee is there.
    assert_eq!(growth["holds_to"], 8, "{growth}");
    let knee = growth["knee"]["nodes"].as_f64().expect("a knee");
    assert!((knee / NODES_FED - 1.0).abs() <= 0.1, "{knee}: {growth}");
    assert_eq!(growth["knee"]["at_least"], false, "{growth}");
}
