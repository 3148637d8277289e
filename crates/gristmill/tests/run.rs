//! `gristmill run`, `report` and `clean` as a user meets them: the built program, real files, real
//! processes, real signals.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use results::run::{EventKind, RunDirectory};
use results::sample::ChannelSample;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A directory to run in, on the usual temporary file system.
struct Bench {
    directory: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
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

    /// Starts a run of `megabytes` per job in the background.
    fn start(&self, megabytes: f64) -> Child {
        let scale = scale(megabytes);
        self.command(&[
            "run",
            "large-sorts",
            "--jobs",
            "2",
            "--scale",
            &scale,
            "--warm",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
    }

    fn run(&self, more: &[&str]) -> Output {
        let scale = scale(4.0);
        let mut arguments = vec!["run", "large-sorts", "--jobs", "2", "--scale", &scale];
        arguments.extend(more);
        self.output(&arguments)
    }

    /// The newest run directory.
    fn run_directory(&self) -> RunDirectory {
        self.newest_run().expect("there is a run")
    }

    fn newest_run(&self) -> Option<RunDirectory> {
        let entries = fs::read_dir(self.path("gristmill-bench/runs")).ok()?;
        let newest = entries.map(|entry| entry.unwrap().path()).max()?;
        Some(RunDirectory::open(&newest))
    }

    /// Waits until a job has been launched.
    fn wait_for_launch(&self) -> Vec<u32> {
        let deadline = Instant::now() + Duration::from_mins(1);
        while Instant::now() < deadline {
            if let Some(run) = self.newest_run() {
                let events = run.events().unwrap_or_default();
                let launched: Vec<u32> =
                    events.iter().filter_map(|event| event.process_id).collect();
                if !launched.is_empty() {
                    return launched;
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no job was launched within a minute");
    }
}

/// The scale at which a file has about this many megabytes on this host.
fn scale(megabytes: f64) -> String {
    let memory = host::memory::live().unwrap() as f64;
    format!("{}", megabytes * 1e6 / (1.05 * memory))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Waits until none of the processes is left.
fn wait_for_end(processes: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while processes.iter().any(|process| is_running(*process)) {
        assert!(Instant::now() < deadline, "jobs are still running");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Running, and not a zombie that its adoptive parent has not collected.
fn is_running(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim()
            .starts_with('Z')
    })
}

fn session_directories(bench: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.join("gristmill-bench")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("SAS_")
        })
        .collect()
}

#[test]
fn a_run_stages_sorts_verifies_and_reports() {
    let bench = Bench::new();
    let output = bench.run(&[]);
    let table = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(4),
        "{table}{}",
        text(&output.stderr)
    );
    assert!(table.contains("Verdict: inconclusive"), "{table}");
    assert!(table.contains("SORTSIZE reduced"), "{table}");
    let run = bench.run_directory();
    let result = run.result().unwrap().expect("the run is complete");
    assert_eq!(result.jobs.len(), 2);
    for job in &result.jobs {
        assert_eq!((job.exit, job.verified), (Some(0), Some(true)));
        assert!(
            job.sort_runs > 1,
            "a sort that fits in memory shows nothing"
        );
    }
    let moved = result.aggregate.moved_per_sorted.unwrap();
    assert!((3.9..4.5).contains(&moved), "{moved}");
    assert!(session_directories(bench.directory.path()).is_empty());

    // The node was audited, with what it found of the directories of the run.
    let [audit] = &run.audits().unwrap()[..] else {
        panic!("one node");
    };
    assert_eq!(audit.node, run.plan().unwrap().node);
    assert!(audit.not_read.is_empty(), "{:?}", audit.not_read);
    let mut of_work = audit
        .findings
        .iter()
        .filter_map(|one| one.directories.as_ref());
    assert!(of_work.any(|all| all.contains(&"work".to_owned())));
    assert!(table.contains(&format!("Audit of {} before the run", audit.node)));
    let to_look_at = audit.to_look_at().findings.len();
    assert_eq!(result.audits[0].findings.len(), to_look_at);

    // A second run keeps the staged files; its report is the same as the one printed.
    let output = bench.run(&["--json"]);
    let result: results::run::RunResult = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result, bench.run_directory().result().unwrap().unwrap());
    let events = bench.run_directory().events().unwrap();
    let staged = events
        .iter()
        .find(|event| event.event == EventKind::StageFinished)
        .unwrap();
    assert!(
        staged.detail.as_ref().unwrap().contains("2 kept"),
        "{staged:?}"
    );
}

#[test]
fn caches_are_emptied_by_a_command_of_the_users() {
    let bench = Bench::new();
    let output = bench.run(&["--no-ceiling", "--empty-caches", "exit 3"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("empty the caches by `exit 3`") && said.contains("exit status: 3"),
        "{said}"
    );
    let output = bench.run(&["--no-ceiling", "--empty-caches", "echo said; touch emptied"]);
    assert!(bench.path("emptied").exists(), "{}", text(&output.stderr));
    assert!(!text(&output.stdout).contains("said\n"));
    let events = bench.run_directory().events().unwrap();
    let evicted = events
        .iter()
        .find(|event| event.event == EventKind::Evicted)
        .unwrap();
    assert_eq!(evicted.caches_dropped, Some(true));
    let detail = evicted.detail.as_ref().unwrap();
    assert!(detail.contains("by `echo said; touch emptied`"), "{detail}");
    assert!(text(&output.stdout).contains("emptied by `echo said"));
}

#[test]
fn samples_add_up_to_what_the_jobs_say() {
    let bench = Bench::new();
    let series = "load=cat /proc/loadavg; sleep 60";
    let more = ["--warm", "--observe", series, "--observe", "none=exit 1"];
    let output = bench.run(&more);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let run = bench.run_directory();
    let result = run.result().unwrap().unwrap();
    let [node] = &run.nodes().unwrap()[..] else {
        panic!("one node");
    };
    let samples = run.samples(node).unwrap();
    for (name, channel) in &result.channels {
        let sum = |of: fn(&ChannelSample) -> u64| -> u64 {
            let sampled = samples
                .iter()
                .filter_map(|sample| sample.channels.get(name));
            sampled.map(of).sum()
        };
        let seen = (sum(|one| one.read_bytes), sum(|one| one.write_bytes));
        assert_eq!(seen, (channel.read_bytes, channel.write_bytes), "{name}");
    }
    let cpu = samples.iter().filter_map(|sample| sample.cpu.as_ref());
    let of_jobs: f64 = cpu.filter_map(|cpu| cpu.jobs_s).sum();
    let all = result.aggregate.user_s + result.aggregate.system_s;
    assert!((of_jobs - all).abs() < 0.05, "{of_jobs} of {all}");
    // A kernel that does not count says 0.
    let counted =
        fs::read_to_string("/proc/self/schedstat").is_ok_and(|text| !text.starts_with("0 "));
    for job in &result.jobs {
        let of_thread = job.thread_cpu_s.zip(job.cpu_wait_s);
        assert_eq!(of_thread.is_some(), counted);
        let (cpu_s, wait_s) = of_thread.unwrap_or_default();
        assert!(cpu_s + wait_s < job.real_s.unwrap() + 0.05, "{job:?}");
    }
    assert!(
        samples
            .iter()
            .any(|sample| sample.observed.contains_key("load"))
    );
    assert!(run.node(node).unwrap().is_some());
    assert!(result.aggregate.launcher_cpu_s.is_some());
    let kinds: Vec<&str> = result.disturbance.iter().map(|one| &*one.kind).collect();
    assert!(kinds.contains(&"foreign_cpu") && kinds.contains(&"clock_drift"));
    let silent = "the observed series none never had a value".to_owned();
    assert!(result.not_measured.contains(&silent), "{result:?}");
    let path = run.path().display().to_string();
    for (view, heading) in [("vmstat", "dirty"), ("iostat", ""), ("channels", "p99")] {
        let shown = bench.output(&["report", "--view", view, &path]);
        assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
        assert!(text(&shown.stdout).contains(heading), "{view}");
    }
}

#[test]
fn elapsed_time_covers_every_job() {
    let bench = Bench::new();
    bench.run(&["--warm"]);
    let result = bench.run_directory().result().unwrap().unwrap();
    let longest = result
        .jobs
        .iter()
        .filter_map(|job| job.real_s)
        .fold(0.0, f64::max);
    let elapsed = result.aggregate.elapsed_s.unwrap();
    assert!(elapsed >= longest, "{elapsed} s for a job of {longest} s");
}

#[test]
fn what_was_staged_alone_is_there_for_the_run() {
    let bench = Bench::new();
    let scale = scale(4.0);
    let arguments = [
        "stage",
        "large-sorts",
        "--parameter",
        "jobs=2",
        "--scale",
        &scale,
    ];
    let staged = bench.output(&arguments);
    assert_eq!(staged.status.code(), Some(0), "{}", text(&staged.stderr));
    assert!(bench.newest_run().is_none(), "nothing ran");
    bench.run(&["--no-ceiling"]);
    let events = bench.run_directory().events().unwrap();
    let staged = events
        .iter()
        .find(|event| event.event == EventKind::StageFinished)
        .unwrap();
    let detail = staged.detail.as_deref().unwrap();
    assert!(
        detail.starts_with("0 files made") && detail.ends_with("2 kept"),
        "{detail}"
    );
}

#[test]
fn two_runs_do_not_share_a_stage() {
    let bench = Bench::new();
    let mut first = bench.start(120.0);
    bench.wait_for_launch();
    let second = bench.run(&[]);
    assert_eq!(second.status.code(), Some(3));
    assert!(
        text(&second.stderr).contains("is in use by another run"),
        "{}",
        text(&second.stderr)
    );
    let listed = bench.output(&["clean", "--yes"]);
    assert!(
        text(&listed.stdout).contains("in use, stays"),
        "{}",
        text(&listed.stdout)
    );
    assert!(
        bench
            .path("gristmill-bench/gristmill-large-sorts/s1.sas7bdat")
            .exists()
    );
    signal(&first, Signal::INT);
    first.wait().unwrap();
}

#[test]
fn a_lost_record_of_steps_is_not_zero_bytes() {
    let bench = Bench::new();
    bench.run(&["--warm"]);
    let run = bench.run_directory();
    let written = fs::read_to_string(run.path().join("report.html")).unwrap();
    assert!(written.starts_with("<!doctype html>") && written.contains("sort_2"));
    fs::remove_file(run.path().join("result.json")).unwrap();
    fs::write(run.job("sort_2").join("steps.jsonl"), "").unwrap();
    let (place, page) = (run.path().display().to_string(), bench.path("page.html"));
    let shown = bench.output(&["report", "--json", "--html", page.to_str().unwrap(), &place]);
    let rewritten = fs::read_to_string(&page).unwrap();
    assert!(rewritten.contains("not measured: a job left no record of its steps"));
    let result: results::run::RunResult = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(result.jobs[1].read_bytes, None);
    assert_eq!(result.aggregate.mb_per_s, None);
    assert_eq!(result.verdict.result, "inconclusive");
}

#[test]
fn compressed_outputs_are_verified_too() {
    let bench = Bench::new();
    let output = bench.run(&["--option", "compress=char", "--warm"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
    let result = bench.run_directory().result().unwrap().unwrap();
    assert!(
        result.jobs.iter().all(|job| job.verified == Some(true)),
        "{result:?}"
    );
}

#[test]
fn sorts_in_place_are_verified_and_the_extremes_are_named() {
    let bench = Bench::new();
    let output = bench.run(&["--variant", "in-place", "--warm", "--no-ceiling"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let result = bench.run_directory().result().unwrap().unwrap();
    let verified = result.jobs.iter().all(|job| job.verified == Some(true));
    assert!(verified, "{result:?}");
    for job in &result.jobs {
        assert!(job.sort_s.unwrap() < job.real_s.unwrap());
    }
    // Four times the rows for a sort that spills; the copy before it is none.
    let moved = result.aggregate.moved_per_sorted.unwrap();
    assert!((3.8..4.5).contains(&moved), "{moved}");
    assert!(
        said.contains("Fastest sort, sort_") && said.contains("Slowest sort, sort_"),
        "{said}"
    );
    assert!(said.contains("work + util"), "{said}");
}

#[test]
fn a_flipped_byte_on_disk_is_found_and_named() {
    let bench = Bench::new();
    assert_eq!(bench.run(&[]).status.code(), Some(4));
    let path = bench.path("gristmill-bench/gristmill-large-sorts/s2.sas7bdat");
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    // Well inside a page, so that it is a byte of a row.
    let middle = file.metadata().unwrap().len() / 2 + 50_000;
    let mut byte = [0];
    file.read_at(&mut byte, middle).unwrap();
    file.write_at(&[byte[0] ^ 0x10], middle).unwrap();

    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    assert!(table.contains("Verdict: fail: job sort_2"), "{table}");
    // Long lines are wrapped.
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("s2.sas7bdat: row ") && words.contains("differs from what was staged"));
    let result = bench.run_directory().result().unwrap().unwrap();
    assert_eq!(result.jobs[0].verified, Some(true));
    assert_eq!(result.jobs[1].verified, Some(false));
}

#[test]
fn a_killed_launcher_leaves_a_readable_run_and_nothing_running() {
    let bench = Bench::new();
    let mut child = bench.start(120.0);
    let jobs = bench.wait_for_launch();
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    wait_for_end(&jobs);
    assert!(
        session_directories(bench.directory.path()).is_empty(),
        "jobs clean up when orphaned"
    );
    let run = bench.run_directory();
    assert_eq!(run.result().unwrap(), None);
    let output = bench.output(&["report", &run.path().display().to_string()]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(
        table.contains("did not finish") && table.contains("Verdict: inconclusive"),
        "{table}"
    );
}

#[test]
fn an_interrupted_run_ends_its_jobs_and_exits_130() {
    let bench = Bench::new();
    let mut child = bench.start(120.0);
    let jobs = bench.wait_for_launch();
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(jobs.iter().all(|job| !is_running(*job)));
    let events = bench.run_directory().events().unwrap();
    assert!(
        events
            .iter()
            .any(|event| event.event == EventKind::Interrupted)
    );
    let shown = bench.output(&[
        "report",
        &bench.run_directory().path().display().to_string(),
    ]);
    assert!(text(&shown.stdout).contains("Verdict: inconclusive: the run was interrupted"));
    assert!(session_directories(bench.directory.path()).is_empty());
}

#[test]
fn a_run_interrupted_on_tmpfs_does_not_begin() {
    let bench = Bench::new();
    let scale = scale(120.0);
    let arguments = ["run", "large-sorts", "--jobs", "2", "--scale", &scale];
    let mut command = bench.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let on_tmpfs = |line: &str| line.contains("2 of 2 jobs on tmpfs first");
    assert!(said.any(|line| on_tmpfs(&line.unwrap())));
    signal(&child, Signal::INT);
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(bench.newest_run().is_none(), "{rest:?}");
    let staged = bench.path("gristmill-bench/gristmill-large-sorts");
    assert!(!staged.exists(), "{rest:?}");
}

#[test]
fn what_killed_jobs_left_is_removed_by_the_next_run() {
    let bench = Bench::new();
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let host = host.split('.').next().unwrap();
    // No process has this id: it is above the kernel's largest.
    let orphan = bench.path(&format!("gristmill-bench/SAS_work00017FFFFFFF_{host}"));
    let theirs = bench.path(&format!("gristmill-bench/SAS_work00027FFFFFFF_{host}"));
    for directory in [&orphan, &theirs] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join("left.sas7bdat"), [0; 1000]).unwrap();
    }
    fs::write(orphan.join(".gristmill"), "").unwrap();
    bench.run(&[]);
    assert!(!orphan.exists(), "marked, and its process is gone");
    assert!(theirs.exists(), "not marked: somebody else's");
    let events = bench.run_directory().events().unwrap();
    assert!(
        events
            .iter()
            .any(|event| event.event == EventKind::OrphanRemoved)
    );
}

#[test]
fn steps_that_are_missing_in_the_record_of_a_job_are_told() {
    let bench = Bench::new();
    bench.run(&["--no-ceiling"]);
    let run = bench.run_directory();
    let beyond = || {
        let result = results::assemble::assemble(&run).unwrap();
        let cut = |one: &&results::run::Disturbance| one.kind == "records";
        let told: Vec<String> = result
            .disturbance
            .iter()
            .filter(cut)
            .map(|one| one.statement.clone())
            .collect();
        told.join("; ")
    };
    assert_eq!(beyond(), "");
    let path = run.job("sort_1").join("steps.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let without_end = whole.lines().next().unwrap().to_owned() + "\n";
    fs::write(&path, &without_end).unwrap();
    assert!(beyond().contains("sort_1 ends before the end of the session"));
    fs::write(&path, without_end + "{\"step\": 2, {\n").unwrap();
    assert!(beyond().contains("sort_1 ends at line 2: "), "{}", beyond());
    let path = run.path().display().to_string();
    let output = bench.output(&["report", &path]);
    assert_eq!(output.status.code(), Some(4), "inconclusive");
}

#[test]
fn what_a_killed_run_left_in_memory_is_removed_by_the_next_one() {
    let room = |name: &str| {
        let name = format!("/dev/shm/gristmill-ceiling-{name}{}", std::process::id());
        let room = PathBuf::from(name);
        fs::create_dir_all(room.join("work")).unwrap();
        fs::write(room.join("work/left"), [0; 1000]).unwrap();
        room
    };
    let (ours, theirs) = (room("a"), room("b"));
    fs::write(ours.join(".gristmill"), "made by gristmill: test\n").unwrap();
    Bench::new().run(&[]);
    let left = (ours.exists(), theirs.exists());
    fs::remove_dir_all(theirs).unwrap();
    assert_eq!(left, (false, true), "what is not marked is somebody else's");
}

#[test]
fn clean_lists_first_and_removes_only_what_is_marked() {
    let bench = Bench::new();
    bench.run(&[]);
    let precious = bench.path("gristmill-bench/precious.txt");
    fs::write(&precious, "x").unwrap();
    let listed = bench.output(&["clean"]);
    assert!(text(&listed.stdout).contains("gristmill-large-sorts"));
    assert!(text(&listed.stderr).contains("--yes removes it"));
    assert!(bench.path("gristmill-bench/gristmill-large-sorts").exists());
    bench.output(&["clean", "--yes"]);
    assert!(!bench.path("gristmill-bench/gristmill-large-sorts").exists());
    assert_eq!(
        fs::read_dir(bench.path("gristmill-bench/runs"))
            .unwrap()
            .count(),
        0
    );
    assert!(precious.exists());
}

#[test]
fn clean_leaves_what_is_mounted_in_a_folder_and_goes_on() {
    let bench = Bench::new();
    for name in ["first", "second"] {
        let folder = bench.path(&format!("gristmill-bench/{name}"));
        fs::create_dir_all(folder.join("mnt")).unwrap();
        fs::write(folder.join(".gristmill"), "made by gristmill: data\n").unwrap();
    }
    let precious = bench.path("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("x"), "x").unwrap();
    let script = format!(
        "mount --bind precious gristmill-bench/first/mnt && exec {} clean --yes",
        env!("CARGO_BIN_EXE_gristmill")
    );
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .current_dir(bench.directory.path())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("first/mnt is mounted in it"), "{said}");
    assert!(precious.join("x").exists());
    assert!(bench.path("gristmill-bench/first/.gristmill").exists());
    assert!(!bench.path("gristmill-bench/second").exists());
}

#[test]
fn a_dry_run_shows_the_plan_and_makes_nothing() {
    let bench = Bench::new();
    let output = bench.output(&[
        "run",
        "large-sorts",
        "--dry-run",
        "--scale",
        "auto",
        "--jobs",
        "3",
    ]);
    let plan = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        plan.contains("Suite large-sorts") && plan.contains("job sort_3"),
        "{plan}"
    );
    let timed = ["run", "--dry-run", "--wall-limit", "2h", "--duration", "1d"];
    let plan = text(&bench.output(&timed).stdout);
    assert!(plan.contains("each job is ended after 7200 s"), "{plan}");
    assert!(
        plan.contains("batches follow each other for 86400 s"),
        "{plan}"
    );
    let twenty = ["run", "demand-calibration", "--dry-run", "--models", "20"];
    let plan = text(&bench.output(&twenty).stdout);
    let jobs: Vec<&str> = plan.lines().filter(|line| line.contains(" job ")).collect();
    assert_eq!(jobs.len(), 1, "{plan}");
    assert!(
        jobs[0].contains("model_1 to model_20, 20 jobs  at 0.00 s"),
        "{plan}"
    );
    let ladder = [&twenty[..], &["--json", "--ladder", "1,2"]].concat();
    let plans = text(&bench.output(&ladder).stdout);
    let plans: Vec<serde_json::Value> = plans
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(plans.len(), 2);
    let jobs = plans[0]["jobs"].as_array().unwrap();
    assert_eq!((jobs.len(), &jobs[19]["name"]), (20, &"model_20".into()));
    let data = &plans[0]["directories"][0];
    let staged = plans[0]["datasets"].as_array().unwrap().iter();
    let staged: u64 = staged.map(|set| set["bytes"].as_u64().unwrap()).sum();
    assert_eq!(
        (&data["name"], &data["bytes"]),
        (&"data".into(), &staged.into())
    );
    assert_eq!(fs::read_dir(bench.directory.path()).unwrap().count(), 0);
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let bench = Bench::new();
    fs::write(bench.directory.path().join("p.sas"), "run;").unwrap();
    for (arguments, code, part) in [
        (
            vec!["run", "nosuch"],
            2,
            "there is no suite nosuch; there are: demand-calibration, large-sorts",
        ),
        (
            vec!["run", "--scale", "much"],
            2,
            "needs a number, such as 0.1, or auto",
        ),
        (
            vec!["run", "--scale", "500"],
            3,
            "use a smaller --scale or another directory",
        ),
        (
            vec!["run", "large-sorts", "--jobs", "0"],
            2,
            "1 to 10000 are allowed",
        ),
        (vec!["exec", "p.sas", "--foo"], 3, "unexpected argument"),
        (vec!["run", "--duration", "8"], 2, "with its unit"),
        (
            vec!["exec", "none.sas"],
            3,
            "failed to read the program none.sas",
        ),
        (
            vec!["run", "--option", "BUFSIZE=64K", "--option", "bufsize=8K"],
            2,
            "--option: bufsize is given twice",
        ),
        (
            vec!["exec", "p.sas", "--libname", "a=.", "--libname", "A=."],
            3,
            "--libname A: it is given twice",
        ),
        (vec!["iotest", ".", "./"], 2, "are the same; name it once"),
        (vec!["report", "nowhere"], 3, "failed to report on nowhere"),
        (vec!["clean", "nowhere"], 3, "failed to look below nowhere"),
    ] {
        let output = bench.output(&arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn inputs_that_were_damaged_are_found_though_jobs_read_them_in_part_or_as_text() {
    let bench = Bench::new();
    let parameters = ["models=1", "temp_files=20", "perm_sets=20"].map(|one| ["--parameter", one]);
    let calibration = |verb: &str| {
        let flags = ["demand-calibration", "--scale", "0.0005", "--data", "d"];
        let more = if verb == "run" {
            &["--warm", "--no-ceiling"][..]
        } else {
            &[]
        };
        bench.output(&[&[verb][..], &flags, &parameters.concat(), more].concat())
    };
    let text = [
        "run",
        "mixed-8core",
        "--scale",
        "0.0005",
        "--time-scale",
        "0",
        "--data",
        "t",
        "--warm",
        "--no-ceiling",
    ];
    assert_eq!(calibration("stage").status.code(), Some(0));
    assert_ne!(bench.output(&text).status.code(), Some(1));
    // The model reads its rows by an index; the second page of data is another model's.
    let sales = bench.path("d/gristmill-demand-calibration/sales.sas7bdat");
    flip(&sales, fs::metadata(&sales).unwrap().len() - 200_000);
    let lines = bench.path("t/gristmill-mixed-8core/trade_8g.csv");
    flip(&lines, fs::metadata(&lines).unwrap().len() / 2);
    let ran = calibration("run");
    assert_eq!(
        ran.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        told.contains("sales.sas7bdat: its rows are not those staged"),
        "{told}"
    );
    assert!(
        told.contains("differs from what was staged, first in "),
        "{told}"
    );
    let ran = bench.output(&text);
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(told.contains("trade_8g.csv: line "), "{told}");
}

#[test]
fn a_damaged_index_is_found_and_what_is_damaged_or_missing_is_staged_anew() {
    let bench = Bench::new();
    let parameters = ["models=1", "temp_files=20", "perm_sets=20"].map(|one| ["--parameter", one]);
    let calibration = || {
        let flags = [
            "run",
            "demand-calibration",
            "--scale",
            "0.002",
            "--data",
            "d",
        ];
        let more = ["--warm", "--no-ceiling"];
        let output = bench.output(&[&flags[..], &parameters.concat(), &more].concat());
        (output.status.code(), text(&output.stdout))
    };
    let (code, told) = calibration();
    assert_ne!(code, Some(1), "{told}");
    let index = bench.path("d/gristmill-demand-calibration/sales.sas7bndx");
    let intact = fs::read(&index).unwrap();
    // In the middle of the leaves: the job finds fewer rows, or others.
    flip(&index, intact.len() as u64 / 2);
    let (code, told) = calibration();
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("sales.sas7bndx: its bytes are not those staged"),
        "{told}"
    );
    assert!(told.contains("the next run stages it anew"), "{told}");
    let (code, told) = calibration();
    assert_ne!(code, Some(1), "{told}");
    assert_eq!(fs::read(&index).unwrap().len(), intact.len());
    fs::remove_file(&index).unwrap();
    let (code, told) = calibration();
    assert_ne!(code, Some(1), "{told}");
}

/// Changes a byte to another one.
fn flip(path: &Path, at: u64) {
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn directories_that_would_not_do_are_refused_before_anything_is_made() {
    let bench = Bench::new();
    let staged = [
        "stage",
        "large-sorts",
        "--parameter",
        "jobs=1",
        "--scale",
        "0.00002",
        "--data",
        "d",
    ];
    assert_eq!(bench.output(&staged).status.code(), Some(0));
    let refused = |flags: &[&str], why: &str| {
        let common = [
            "run",
            "large-sorts",
            "--jobs",
            "1",
            "--scale",
            "0.00002",
            "--no-ceiling",
        ];
        let output = bench.output(&[&common[..], flags].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(3) && said.contains(why),
            "{said}"
        );
    };
    refused(
        &["--data", "d/gristmill-large-sorts"],
        "`gristmill clean` removes as a whole",
    );
    refused(&["--data", "d", "--output", "/proc/1"], "/proc/1");
}

#[test]
fn nobody_has_to_listen() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["run", "large-sorts", "--scale", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

/// The answer stands, whoever reads of it; one that could not be written is none.
#[test]
fn what_is_printed_decides_nothing_but_is_not_lost_in_silence() {
    let bench = Bench::new();
    let check = |stdout: Stdio| {
        let mut child = bench
            .command(&["suites", "sizes", "multiuser", "--scale", "0.00001"])
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    // So few rows compress otherwise than the published ones.
    assert_eq!(check(Stdio::null()).0, Some(1));
    assert_eq!(check(Stdio::piped()).0, Some(1));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, said) = check(full.into());
    assert_eq!(code, Some(3));
    assert!(said.contains("failed to write standard output"), "{said}");
    assert_eq!(said.matches("standard output").count(), 1, "{said}");
}

#[test]
fn a_dry_run_submits_nothing() {
    let bench = Bench::new();
    for other in ["--dry-run", "--duration=1h", "--ladder=1,2", "--launched=x"] {
        let output = bench.output(&["run", "large-sorts", "--nodes", "1,2", other]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{other}: {said}");
        assert!(said.contains("cannot be used with"), "{other}: {said}");
    }
}

#[test]
fn files_of_a_ladder_are_as_large_on_every_rung() {
    let bench = Bench::new();
    let planned = |flags: &[&str]| {
        let output = bench.output(&[&["run", "large-sorts", "--dry-run"], flags].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let scales = text.lines().filter(|line| line.starts_with("Suite "));
        let scale = |line: &str| line.split_whitespace().nth(4).unwrap().to_owned();
        scales.map(scale).collect::<Vec<_>>()
    };
    let rungs = planned(&["--ladder", "1,2,4"]);
    assert_eq!(rungs.len(), 3);
    assert!(rungs.iter().all(|scale| *scale == rungs[0]), "{rungs:?}");
    assert_eq!(planned(&["--jobs", "4"]), rungs[..1]);
}
