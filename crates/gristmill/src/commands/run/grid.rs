//! `gristmill run` on several nodes: those of an allocation of Slurm, submitted for numbers of nodes one after the
//! other, or those of another launcher.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::units::Bytes;
use bench::grid::files::{self, Processes};
use bench::grid::lead::{self, Grid, Launcher};
use bench::grid::rank;
use bench::grid::slurm::{self, Allocation, Submission};
use bench::plan::{self, Plan};
use bench::run::{Config, Directories, Outcome, Watcher};
use bench::suite::Suite;
use bench::suite::text::Distribution;
use results::run::{EventKind, RunDirectory};

use super::{Rung, host_facts, host_name, request, stop_on_signals};
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::ui;

/// How long the end of a run's output is waited for, seconds.
const PATIENCE_S: u32 = 60;

/// Flags that are for the submission, each with a value.
const OF_SUBMISSION: [&str; 4] = ["--nodes", "--partition", "--account", "--slurm-option"];

/// The nodes on which this process is to run a suite.
pub struct Allocated {
    nodes: Vec<String>,
    spread: bool,
    launcher: Box<dyn Launcher>,
}

/// What this process does of a run on several nodes.
pub enum Place {
    /// There are no others.
    Alone,
    /// It leads.
    Leads(Allocated),
    /// It did what it was told.
    Followed(Exit),
}

/// This process's place among others, if it has any.
pub fn place(
    args: &RunArgs,
    suite: &Suite,
    directories: &Directories,
    stop: &AtomicBool,
) -> Result<Place> {
    let spread = suite.text.distribution == Distribution::Spread;
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    if let Some(name) = &args.grid.launched {
        return launched((args, name), spread, (directories, program), stop);
    }
    if !args.grid.slurm {
        return Ok(Place::Alone);
    }
    if !slurm::is_allocated() {
        bail!(
            "--slurm: this is no Slurm job; say on how many nodes to run (--nodes 1,2,4), or run it within an \
             allocation (salloc)"
        );
    }
    let nodes = slurm::nodes().context("failed to find the nodes of the allocation")?;
    if slurm::this_node().as_ref() != nodes.first() {
        bail!(
            "--slurm: this is not the first node of the allocation, {}, of which the plan is made; run the command \
             there: srun --overlap --nodes=1 --ntasks=1 --nodelist={} --pty …",
            nodes[0],
            nodes[0]
        );
    }
    Ok(Place::Leads(Allocated {
        nodes,
        spread,
        launcher: Box::new(Allocation::new(program)),
    }))
}

/// The place of a process that another launcher started.
fn launched(
    (args, name): (&RunArgs, &str),
    spread: bool,
    (directories, program): (&Directories, PathBuf),
    stop: &AtomicBool,
) -> Result<Place> {
    let found = rank::find(|name| std::env::var(name).ok())
        .context("--launched: no launcher's variable says which of the processes this is")?;
    let size = args.grid.processes.or(found.size).with_context(|| {
        format!(
            "--launched: {} does not say how many processes there are; give --processes N",
            found.launcher
        )
    })?;
    let given = Some(name)
        .filter(|name| !name.is_empty())
        .map(str::to_owned);
    let start = given.or(found.start).with_context(|| {
        format!(
            "--launched: {} gives this start no name; give one, such as --launched=monday",
            found.launcher
        )
    })?;
    let folder = files::folder(&directories.runs, &start);
    let host = host_name();
    if found.rank == 0 {
        let processes = Processes::gather(folder, size, (program, &host), stop)
            .context("failed to meet the other processes")?;
        return Ok(Place::Leads(Allocated {
            nodes: processes.nodes.clone(),
            spread,
            launcher: Box::new(processes),
        }));
    }
    let stopped = files::follow(folder, (found.rank, size), (&program, &host), stop)
        .context("failed to follow the first process")?;
    Ok(Place::Followed(if stopped {
        Exit::Interrupted
    } else {
        Exit::Good
    }))
}

impl Allocated {
    /// What all nodes do together. Each is taken to be like this one.
    pub fn planned(
        &self,
        args: &RunArgs,
        suite: &Suite,
        directories: &Directories,
    ) -> Result<Plan> {
        let mut host = host_facts(args.cores, suite.text.name.get_ref(), directories)?;
        for space in host.free.iter_mut().filter(|space| space.shared.is_none()) {
            // Each node has as much of its own, and what all put there together is counted.
            space.free = Bytes(space.free.0.saturating_mul(self.nodes.len() as u64));
        }
        let nodes = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let mut request = request(args, &Rung::Same);
        if !self.spread {
            request.lanes = nodes;
        }
        let mut plan = plan::plan(suite, &request, &host).context("failed to plan the run")?;
        plan.on_nodes(nodes, self.spread);
        Ok(plan)
    }

    /// Carries it out.
    pub fn run(
        &self,
        config: &mut Config,
        stop: &AtomicBool,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, bench::run::Error> {
        // Each node reaches what this one reaches on tmpfs.
        if let Some(rate) = config
            .ceiling
            .as_mut()
            .and_then(|one| one.mb_per_s.as_mut())
        {
            *rate *= self.nodes.len() as f64;
        }
        let grid = Grid {
            nodes: self.nodes.clone(),
            spread: self.spread,
            launcher: &*self.launcher,
        };
        lead::run(config, &grid, stop, watcher)
    }
}

/// Submits a run for each number of nodes, and says what they show together.
pub fn submit(args: &RunArgs, suite: &Suite, directories: &Directories) -> Result<Exit> {
    let stop = stop_on_signals()?;
    let mut exit = Exit::Good;
    let mut runs = Vec::new();
    for nodes in &args.grid.nodes {
        let name = format!(
            "slurm-{}-{}-{nodes}",
            suite.text.name.get_ref(),
            std::process::id()
        );
        let (output, messages) = slurm::output_paths(&directories.runs, &name);
        let submission = Submission {
            nodes: *nodes,
            options: options(args),
            command: command()?,
            output,
            messages,
        };
        let (code, done) = carried_out(&submission, &stop)
            .with_context(|| format!("failed to run on {nodes} nodes"))?;
        if stop.load(Ordering::Relaxed) {
            return Ok(Exit::Interrupted);
        }
        // Without a result the code is Slurm's and not the run's: of a node that failed, a time limit.
        match code.and_then(Exit::of_code) {
            Some(own) if !done.is_empty() => {
                exit = exit.and(own);
                for run in done {
                    runs.extend(is_whole(&run)?.then_some(run));
                }
            }
            _ => {
                ui::say(&format!(
                    "ERROR: the run on {nodes} nodes has no result; see {} and Slurm's account of the job",
                    submission.messages.display()
                ));
                exit = exit.and(Exit::CouldNotRun);
            }
        }
    }
    if runs.len() > 1 && !args.json {
        let text = crate::commands::compare::growth(&runs)?;
        ui::data(text.trim_end());
    }
    Ok(exit)
}

/// Submits a run and passes on what it says. Returns its exit code and those run directories that have a result:
/// several with `--repeat`.
fn carried_out(submission: &Submission, stop: &AtomicBool) -> Result<(Option<i32>, Vec<PathBuf>)> {
    let submitted = submission.submit()?;
    ui::say(&format!(
        "{} nodes: Slurm job {}",
        submission.nodes, submitted.id
    ));
    let mut shown = Shown::new(&submission.output);
    let mut told = Shown::new(&submission.messages);
    let code = submitted.wait(stop, || {
        told.forward(&mut std::io::stderr())?;
        shown.forward(&mut std::io::stdout())
    })?;
    // What was written last may not be seen at once on a file system that nodes share.
    for _ in 0..PATIENCE_S {
        shown.look_again(&mut std::io::stdout())?;
        told.look_again(&mut std::io::stderr())?;
        if !run_directories(&told.text).is_empty() || stop.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
    let mut done = run_directories(&told.text);
    done.retain(|run| run.join("result.json").exists());
    Ok((code, done))
}

/// Whether all nodes of a run did their part: only then it says something of so many.
fn is_whole(run: &Path) -> Result<bool> {
    let events = RunDirectory::open(run).events()?;
    let mut lost = events
        .iter()
        .filter(|event| event.event == EventKind::NodeLost);
    let is_whole = lost.next().is_none();
    if !is_whole {
        ui::say(&format!(
            "{}: a node was lost; the run is left out of the tables of growth",
            run.display()
        ));
    }
    Ok(is_whole)
}

/// Options of sbatch.
fn options(args: &RunArgs) -> Vec<String> {
    let named = [
        ("--partition", &args.grid.partition),
        ("--account", &args.grid.account),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    named
        .chain(args.grid.slurm_option.iter().cloned())
        .collect()
}

/// This command without what is for the submission.
fn command() -> Result<Vec<OsString>> {
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let mut words = vec![program.into_os_string()];
    words.extend(without_submission(std::env::args_os().skip(1)));
    Ok(words)
}

fn without_submission(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut is_value = false;
    for word in given {
        let text = word.to_string_lossy();
        if is_value {
            is_value = false;
        } else if OF_SUBMISSION.contains(&&*text) {
            is_value = true;
        } else if !OF_SUBMISSION
            .iter()
            .any(|flag| text.starts_with(&format!("{flag}=")))
        {
            words.push(word);
        }
    }
    words
}

/// A file that grows, and what of it was passed on.
struct Shown {
    path: PathBuf,
    file: Option<File>,
    seen: u64,
    text: String,
}

impl Shown {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            seen: 0,
            text: String::new(),
        }
    }

    /// Opens the file anew, so that a network file system asks its server what is in it.
    fn look_again(&mut self, to: &mut dyn Write) -> std::io::Result<()> {
        let beside = self.path.with_extension("look");
        File::create(&beside)?;
        std::fs::remove_file(&beside)?;
        self.file = None;
        self.forward(to)
    }

    fn forward(&mut self, to: &mut dyn Write) -> std::io::Result<()> {
        if self.file.is_none() {
            // It is there when the job begins.
            self.file = File::open(&self.path).ok();
            if let Some(file) = &mut self.file {
                file.seek(SeekFrom::Start(self.seen))?;
            }
        }
        if let Some(file) = &mut self.file {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            to.write_all(&bytes)?;
            to.flush()?;
            self.seen += bytes.len() as u64;
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok(())
    }
}

/// Where the runs are, as they say themselves.
fn run_directories(messages: &str) -> Vec<PathBuf> {
    let lines = messages.lines();
    let paths = lines.filter_map(|line| line.strip_prefix("Run directory: "));
    paths.map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_runs_the_command_without_what_is_for_the_submission() {
        let words = [
            "run",
            "--slurm",
            "--nodes",
            "1,2",
            "--partition=a",
            "--slurm-option",
            "--time=1:00",
            "multiuser",
            "--scale=1",
        ];
        let left = without_submission(words.map(OsString::from).into_iter());
        assert_eq!(left, ["run", "--slurm", "multiuser", "--scale=1"]);
    }

    #[test]
    fn every_run_directory_counts() {
        let said = "Run directory: /a b\nReport: /a b/report.html\nRun directory: /c\n";
        assert_eq!(run_directories(said), ["/a b", "/c"].map(PathBuf::from));
        assert!(run_directories("ERROR").is_empty());
    }
}
