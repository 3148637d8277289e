//! What verbs on several nodes have in common: the nodes that Slurm gives, the submission of a command and what
//! it says; the processes that another launcher starts.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use bench::grid::files::{self, Processes};
use bench::grid::rank;
use bench::grid::slurm::{self, Allocation, Submission};

use super::exec::host_name;
use crate::cli::{NodesArgs, SubmissionArgs};
use crate::exit::Exit;
use crate::ui;

/// Flags that are for the submission, each with a value.
const OF_SUBMISSION: [&str; 4] = ["--nodes", "--partition", "--account", "--slurm-option"];

/// The nodes of the allocation in which this process runs, on the first of them, and what starts processes there.
pub fn allocation() -> Result<(Vec<String>, Allocation)> {
    if !slurm::is_allocated() {
        bail!(
            "--slurm: this is no Slurm job; say on how many nodes to run (--nodes), or run it within an allocation \
             (salloc)"
        );
    }
    let nodes = slurm::nodes().context("failed to find the nodes of the allocation")?;
    if slurm::this_node().as_ref() != nodes.first() {
        bail!(
            "--slurm: this is not the first node of the allocation, {}, which leads; run the command there: srun \
             --overlap --nodes=1 --ntasks=1 --nodelist={} --pty …",
            nodes[0],
            nodes[0]
        );
    }
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    Ok((nodes, Allocation::new(program)))
}

/// What this process is among those that a launcher started.
pub enum Met {
    /// The first, with the others.
    Leads(Processes),
    /// Another, which did what it was told.
    Followed(Exit),
}

/// A process that its launcher bound to a part of its node would judge the node by that; who means it says how many
/// `cores` to count.
pub fn refuse_bound(cores: Option<u32>) -> Result<()> {
    if let (None, Some((mask, allowed))) = (cores, host::cores::bound()) {
        bail!(
            "--launched: this process is bound to {mask} of the {allowed} cores that it may have on {}: start one on \
             each node without binding (mpirun --bind-to none, srun --cpu-bind=none), or say with --cores N how many \
             are meant",
            host_name()
        );
    }
    Ok(())
}

/// Meets the other processes of a start of this command, below a folder that all see.
pub fn meet(
    (name, processes): (&str, Option<usize>),
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Met> {
    let found = rank::find(|name| std::env::var(name).ok())
        .context("--launched: no launcher's variable says which of the processes this is")?;
    let size = processes.or(found.size).with_context(|| {
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
    let folder = files::folder(folder, &start);
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let host = host_name();
    if found.rank == 0 {
        let processes = Processes::gather(folder, size, (program, &host), stop)
            .context("failed to meet the other processes")?;
        return Ok(Met::Leads(processes));
    }
    let stopped = files::follow(folder, (found.rank, size), (&program, &host), stop)
        .context("failed to follow the first process")?;
    Ok(Met::Followed(if stopped {
        Exit::Interrupted
    } else {
        Exit::Good
    }))
}

/// Submits this very command to run on several nodes, passes on what it says, and returns how it ended. What it
/// says goes through files in a folder that those nodes see.
pub fn submit(args: &NodesArgs, nodes: u32, folder: &Path, stop: &AtomicBool) -> Result<Exit> {
    let folder = std::path::absolute(folder)
        .with_context(|| format!("failed to find {}", folder.display()))?;
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let mut command = vec![program.into_os_string()];
    command.extend(without_submission(std::env::args_os().skip(1)));
    let of = |ending: &str| folder.join(format!("gristmill-slurm-{}.{ending}", std::process::id()));
    let submission = Submission {
        nodes,
        options: options(&args.submission),
        command,
        output: of("out"),
        messages: of("err"),
    };
    let submitted = submission.submit().context("failed to submit to Slurm")?;
    ui::say(&format!("{nodes} nodes: Slurm job {}", submitted.id));
    let mut shown = Shown::new(&submission.output);
    let mut told = Shown::new(&submission.messages);
    let code = submitted.wait(stop, || {
        told.forward(&mut ui::Passed::Talk)?;
        shown.forward(&mut ui::Passed::Output)
    })?;
    shown.look_again(&mut ui::Passed::Output)?;
    told.look_again(&mut ui::Passed::Talk)?;
    for file in [&submission.output, &submission.messages] {
        // A job that never began has none.
        let _ = fs::remove_file(file);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    code.and_then(Exit::of_code)
        .context("Slurm ended the job before it had an answer: see Slurm's account of it")
}

/// Options of sbatch.
pub fn options(args: &SubmissionArgs) -> Vec<String> {
    let named = [
        ("--partition", &args.partition),
        ("--account", &args.account),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    named.chain(args.slurm_option.iter().cloned()).collect()
}

/// Words of a command without what is for the submission.
pub fn without_submission(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut is_value = false;
    for word in given {
        let text = word.to_string_lossy();
        if is_value {
            is_value = false;
        } else if OF_SUBMISSION.contains(&&*text) {
            is_value = true;
        } else if text == "--resume" {
            // It has no value.
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
pub struct Shown {
    path: PathBuf,
    file: Option<File>,
    seen: u64,
    /// All of it so far.
    pub text: String,
}

impl Shown {
    /// Nothing of it yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            seen: 0,
            text: String::new(),
        }
    }

    /// Opens the file anew, so that a network file system asks its server what is in it.
    pub fn look_again(&mut self, to: &mut dyn Write) -> std::io::Result<()> {
        let beside = self.path.with_extension("look");
        File::create(&beside)?;
        std::fs::remove_file(&beside)?;
        self.file = None;
        self.forward(to)
    }

    /// Passes on what is new.
    pub fn forward(&mut self, to: &mut dyn Write) -> std::io::Result<()> {
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
            "--resume",
            "--partition=a",
            "--slurm-option",
            "--time=1:00",
            "multiuser",
            "--scale=1",
        ];
        let left = without_submission(words.map(OsString::from).into_iter());
        assert_eq!(left, ["run", "--slurm", "multiuser", "--scale=1"]);
    }
}
