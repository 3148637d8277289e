//! Slurm as the launcher: phases are job steps of an allocation, so that Slurm starts the processes, waits for
//! them, notices nodes that fail and keeps the accounts.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::io::process;

use super::clocks::{self, Clock};
use super::lead::Launcher;

/// How often it is looked whether a command has ended or is to be stopped.
const PAUSE: Duration = Duration::from_millis(50);

/// How often it is asked whether only failed nodes are waited for.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// How long a command that was told to end may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The node that this process runs on, as Slurm calls it.
pub fn this_node() -> Option<String> {
    std::env::var("SLURMD_NODENAME").ok()
}

/// Whether this process runs in an allocation.
pub fn is_allocated() -> bool {
    std::env::var_os("SLURM_JOB_ID").is_some()
}

/// Names of the allocation's nodes, in Slurm's order.
pub fn nodes() -> io::Result<Vec<String>> {
    let list = std::env::var("SLURM_JOB_NODELIST")
        .map_err(|_| io::Error::other("SLURM_JOB_NODELIST is not set: this is no Slurm job"))?;
    let mut command = Command::new("scontrol");
    let output = command.args(["show", "hostnames", &list]).output();
    let output = output.map_err(|error| not_started("scontrol", &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if names.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(io::Error::other(format!(
            "scontrol named no nodes of {list}: {said}"
        )));
    }
    Ok(names)
}

fn not_started(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("failed to start {what}: {error}"))
}

/// An allocation.
#[derive(Debug)]
pub struct Allocation {
    program: PathBuf,
    /// Whether Slurm binds processes to processors.
    binds: bool,
}

impl Allocation {
    /// The one in which this process runs; the program must be at the same place on every node.
    pub fn new(program: PathBuf) -> Self {
        let mut command = Command::new("scontrol");
        let output = command.args(["show", "config"]).output();
        let binds = output.is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            let mut lines = text.lines();
            let plugin = lines.find(|line| line.starts_with("TaskPlugin "));
            plugin.is_some_and(|line| line.contains("affinity") || line.contains("cgroup"))
        });
        Self { program, binds }
    }

    /// The command that runs on each of these nodes what it is given, and its arguments.
    pub fn words(&self, nodes: &[&str]) -> Vec<String> {
        let count = nodes.len();
        let mut words = vec![
            "srun".to_owned(),
            format!("--nodes={count}"),
            format!("--ntasks={count}"),
            "--ntasks-per-node=1".to_owned(),
            format!("--nodelist={}", nodes.join(",")),
            // Nothing else of the job is in the way, also not a step that waits for a node that failed.
            "--overlap".to_owned(),
            // One node that fails does not end the others.
            "--no-kill".to_owned(),
            "--kill-on-bad-exit=0".to_owned(),
            "--wait=0".to_owned(),
            "--job-name=gristmill".to_owned(),
        ];
        // Jobs may use all processors.
        words.extend(self.binds.then(|| "--cpu-bind=none".to_owned()));
        words
    }

    /// Runs this program on these nodes; its arguments are to follow.
    fn step(&self, nodes: &[&str], options: &[String]) -> Command {
        let words = self.words(nodes);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(options).arg(&self.program);
        process::die_with_parent(&mut command);
        command
    }

    /// Runs this program on all of these nodes, those of the allocation in its order, and waits; what each prints
    /// is in a file of the folder. Programs that failed are not told from others here.
    pub fn outputs(
        &self,
        nodes: &[String],
        arguments: &[OsString],
        folder: &Path,
        stop: &AtomicBool,
    ) -> io::Result<Vec<PathBuf>> {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let output = format!("--output={}%n", pattern(&folder.join("node"))?);
        let mut command = self.step(&names, &[output]);
        command.args(arguments);
        let child = command.stdin(Stdio::null()).spawn();
        let mut child = child.map_err(|error| not_started("srun", &error))?;
        wait(&mut child, &|| false, stop)?;
        Ok((0..nodes.len())
            .map(|at| folder.join(format!("node{at}")))
            .collect())
    }
}

impl Launcher for Allocation {
    fn start(
        &self,
        nodes: &[&str],
        arguments: &[String],
        unfinished: &dyn Fn() -> Vec<String>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let mut command = self.step(nodes, &[]);
        command.arg("agent").args(arguments);
        let child = command.stdin(Stdio::null()).spawn();
        let mut child = child.map_err(|error| not_started("srun", &error))?;
        // srun waits for the tasks of a node that has failed as well, for as long as it takes.
        let only_failed = || {
            let open = unfinished();
            !open.is_empty() && open.iter().all(|node| is_down(node))
        };
        // Its exit code is the worst of all tasks': which nodes did their part is in their events.
        wait(&mut child, &only_failed, stop).map(|_| ())
    }

    fn answers(&self, node: &str) -> bool {
        let mut command = Command::new("srun");
        command.args(["--nodes=1", "--ntasks=1", "--overlap", "--no-kill"]);
        command.args(["--nodelist", node]);
        let child = command.arg("true").stdin(Stdio::null()).spawn();
        let Ok(mut child) = child else { return false };
        let asked = Instant::now();
        let is_late = || asked.elapsed() > PATIENCE;
        matches!(
            wait(&mut child, &is_late, &AtomicBool::new(false)),
            Ok(Some(0))
        )
    }

    fn clocks(&self, nodes: &[String], arguments: &[String]) -> io::Result<Vec<Option<Clock>>> {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let mut command = self.step(&names, &[]);
        command.arg("agent").args(arguments);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| not_started("srun", &error))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((questions, answers)) = pipes else {
            return Err(io::Error::other("srun has no input and output"));
        };
        let clocks = clocks::ask(nodes.len(), questions, BufReader::new(answers));
        // The end of the questions ends the answers, but not of nodes that never began.
        let asked = Instant::now();
        let is_late = || asked.elapsed() > PATIENCE;
        wait(&mut child, &is_late, &AtomicBool::new(false))?;
        clocks
    }
}

/// Whether Slurm has given a node up.
fn is_down(node: &str) -> bool {
    let mut command = Command::new("sinfo");
    command.args(["--noheader", "--Node", "--format=%T", "--nodes", node]);
    // Who cannot be asked says nothing.
    command.output().is_ok_and(|output| {
        let state = String::from_utf8_lossy(&output.stdout);
        let gone = ["down", "drained", "fail", "reboot"];
        gone.iter().any(|word| state.trim_start().starts_with(word))
    })
}

/// Waits for a command; `stop` ends it, and so does `is_over`, which is asked now and then.
fn wait(
    child: &mut Child,
    is_over: &dyn Fn() -> bool,
    stop: &AtomicBool,
) -> io::Result<Option<i32>> {
    let mut told = Duration::ZERO;
    let mut asked = Instant::now();
    let mut over = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if asked.elapsed() >= ASK_EVERY {
            over |= is_over();
            asked = Instant::now();
        }
        if over || stop.load(Ordering::Relaxed) {
            if told.is_zero() {
                process::terminate(child.id(), false);
            }
            told += PAUSE;
            if told > PATIENCE {
                child.kill()?;
            }
        }
        thread::sleep(PAUSE);
    }
}

/// A job to submit: a run on so many nodes.
#[derive(Debug, Clone)]
pub struct Submission {
    /// How many.
    pub nodes: u32,
    /// Further options of sbatch, as they are.
    pub options: Vec<String>,
    /// What the first node of the allocation runs.
    pub command: Vec<OsString>,
    /// Where its output and messages go; the folder must be there.
    pub output: PathBuf,
    /// The same for its messages.
    pub messages: PathBuf,
}

/// A submitted job that is waited for.
#[derive(Debug)]
pub struct Submitted {
    child: Child,
    /// Slurm's number of the job.
    pub id: String,
}

impl Submission {
    /// Submits it.
    pub fn submit(&self) -> io::Result<Submitted> {
        let script = self.script()?;
        let mut command = Command::new("sbatch");
        command
            .args([
                "--wait".to_owned(),
                "--parsable".to_owned(),
                format!("--nodes={}", self.nodes),
                "--ntasks-per-node=1".to_owned(),
                "--exclusive".to_owned(),
                // All memory, as all processors.
                "--mem=0".to_owned(),
                "--no-kill".to_owned(),
                "--no-requeue".to_owned(),
                "--job-name=gristmill".to_owned(),
                format!("--output={}", pattern(&self.output)?),
                format!("--error={}", pattern(&self.messages)?),
            ])
            .args(&self.options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // An interrupt at the terminal is for this process, which cancels the job.
            .process_group(0);
        let child = command.spawn();
        let mut child = child.map_err(|error| not_started("sbatch", &error))?;
        if let Some(mut input) = child.stdin.take() {
            io::Write::write_all(&mut input, script.as_bytes())?;
        }
        let mut id = String::new();
        if let Some(output) = child.stdout.take() {
            io::BufRead::read_line(&mut BufReader::new(output), &mut id)?;
        }
        // With several clusters the name follows.
        let id = id.trim().split(';').next().unwrap_or_default().to_owned();
        if id.is_empty() {
            child.wait()?;
            return Err(io::Error::other("sbatch did not take the job"));
        }
        Ok(Submitted { child, id })
    }

    fn script(&self) -> io::Result<String> {
        let words: Vec<String> = self
            .command
            .iter()
            .map(|word| Ok(quoted(as_text(word)?)))
            .collect::<io::Result<_>>()?;
        Ok(format!("#!/bin/sh\nexec {}\n", words.join(" ")))
    }
}

/// A word of a command for other nodes, who get it as text; the error is one of other bytes.
pub fn as_text(word: &OsStr) -> io::Result<&str> {
    word.to_str().ok_or_else(|| {
        let said = format!(
            "{} is not UTF-8, and other nodes would get another word: rename it, or give a link to it",
            word.display()
        );
        io::Error::new(io::ErrorKind::InvalidInput, said)
    })
}

/// A path where sbatch looks for patterns.
fn pattern(path: &Path) -> io::Result<String> {
    Ok(as_text(path.as_os_str())?.replace('%', "%%"))
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Submitted {
    /// Waits for the job's end and calls `meanwhile` now and then; `stop` cancels it. Returns its exit code;
    /// `None` if it was ended otherwise.
    pub fn wait(
        mut self,
        stop: &AtomicBool,
        mut meanwhile: impl FnMut() -> io::Result<()>,
    ) -> io::Result<Option<i32>> {
        let mut cancelled = false;
        loop {
            if stop.load(Ordering::Relaxed) && !cancelled {
                cancelled = true;
                cancel(&self.id)?;
            }
            let ended = self.child.try_wait()?;
            meanwhile()?;
            if let Some(status) = ended {
                return Ok(status.code());
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Whether Slurm still has a job that waits or runs.
pub fn is_queued(id: &str) -> io::Result<bool> {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--format=%T", "--jobs", id]);
    let output = command
        .output()
        .map_err(|error| not_started("squeue", &error))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // Of jobs that ended a while ago it knows nothing any more.
    if !output.status.success() && !said.contains("Invalid job id") {
        return Err(io::Error::other(format!("squeue: {}", said.trim())));
    }
    let states = String::from_utf8_lossy(&output.stdout);
    let gone = [
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
    ];
    Ok(states
        .split_whitespace()
        .any(|state| !gone.contains(&state)))
}

/// Takes a job that waits out of the queue, and asks the processes of one that runs to end, as an interrupt does.
fn cancel(id: &str) -> io::Result<()> {
    for how in [&["--state=PENDING"][..], &["--batch", "--signal=TERM"]] {
        let mut command = Command::new("scancel");
        let status = command.args(how).arg(id).stderr(Stdio::null()).status();
        status.map_err(|error| not_started("scancel", &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn commands_reach_the_shell_as_they_are() {
        let submission = Submission {
            nodes: 2,
            options: Vec::new(),
            command: ["/opt/grist mill", "run", "it's"]
                .map(OsString::from)
                .into(),
            output: "o".into(),
            messages: "e".into(),
        };
        assert_eq!(
            submission.script().unwrap(),
            "#!/bin/sh\nexec '/opt/grist mill' 'run' 'it'\\''s'\n"
        );
        let bytes = OsStr::from_bytes(b"/data/caf\xe9");
        let refused = Submission {
            command: vec!["run".into(), bytes.to_owned()],
            ..submission
        };
        let said = refused.script().unwrap_err().to_string();
        assert!(said.contains("/data/caf\u{fffd} is not UTF-8"), "{said}");
    }
}
