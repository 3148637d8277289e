//! Any launcher that starts one process on each node and tells it which of how many it is (mpirun, LSF, PBS,
//! Kubernetes): the first process leads, the others find their orders as files in a folder that all share.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::io::process;
use serde::{Deserialize, Serialize};

use super::clocks::Clock;
use super::lead::Launcher;

/// How often it is looked for files at first, and whether a process has ended.
const PAUSE: Duration = Duration::from_millis(100);

/// How often it is looked for files that take long: looking must not be what is measured.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// How long the first process waits for the others to be there.
const PATIENCE: Duration = Duration::from_mins(5);

/// What the processes of some nodes are to do.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    ranks: Vec<usize>,
    /// Arguments of `gristmill agent`; none: that was all.
    arguments: Option<Vec<String>>,
}

/// A folder through which the processes of one start meet.
#[derive(Debug)]
struct Meeting {
    folder: PathBuf,
}

impl Meeting {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Puts a file there, whole from the moment at which it is seen.
    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let beside = self.path(&format!("{name}.new"));
        fs::write(&beside, text)?;
        fs::rename(beside, self.path(name))
    }

    /// Refuses a folder in which processes of an earlier start were told something.
    fn refuse_old(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            if entry?.file_name().to_string_lossy().starts_with("order.") {
                return Err(io::Error::other(format!(
                    "{} is of an earlier start: remove it, or give this start a name of its own (--launched=NAME)",
                    self.folder.display()
                )));
            }
        }
        Ok(())
    }

    /// Waits for a file; `None` if `stop` says so.
    fn wait_for(&self, name: &str, rank: usize, stop: &AtomicBool) -> io::Result<Option<String>> {
        let mut pause = PAUSE;
        loop {
            if let Some(text) = self.get(name, rank)? {
                return Ok(Some(text));
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// What a file holds, if it is there.
    fn get(&self, name: &str, rank: usize) -> io::Result<Option<String>> {
        read_shared(&self.folder, name, rank)
    }
}

/// What a file of a folder holds that several nodes see, if it is there. A client of a network file system that has
/// just changed the folder asks its server what is in it; each rank does so under a name of its own.
pub fn read_shared(folder: &Path, name: &str, rank: usize) -> io::Result<Option<String>> {
    let own = folder.join(format!("look.{rank}"));
    fs::write(&own, "")?;
    fs::remove_file(&own)?;
    match fs::read_to_string(folder.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The first of the processes, which leads.
#[derive(Debug)]
pub struct Processes {
    meeting: Meeting,
    program: PathBuf,
    /// Names of the nodes, by rank.
    pub nodes: Vec<String>,
    orders: std::sync::atomic::AtomicUsize,
}

impl Meeting {
    /// Hosts of all processes, once they are there.
    fn hosts(&self, size: usize, host: &str, stop: &AtomicBool) -> io::Result<Vec<String>> {
        let began = Instant::now();
        let mut hosts = vec![host.to_owned()];
        while hosts.len() < size {
            match self.get(&format!("here.{}", hosts.len()), 0)? {
                Some(host) => hosts.push(host),
                None if stop.load(Ordering::Relaxed) => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                None if began.elapsed() > PATIENCE => {
                    return Err(io::Error::other(format!(
                        "process {} of {size} is not there after {} s: do all see {}?",
                        hosts.len(),
                        PATIENCE.as_secs(),
                        self.folder.display()
                    )));
                }
                None => thread::sleep(PAUSE),
            }
        }
        Ok(hosts)
    }
}

/// Where the processes of a start meet, below the folder of run directories.
pub fn folder(runs: &Path, start: &str) -> PathBuf {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let name: String = start
        .chars()
        .map(|letter| if plain(letter) { letter } else { '-' })
        .collect();
    runs.join(format!("launch-{name}"))
}

impl Processes {
    /// Waits until all processes are there.
    pub fn gather(
        folder: PathBuf,
        size: usize,
        (program, host): (PathBuf, &str),
        stop: &AtomicBool,
    ) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let meeting = Meeting { folder };
        meeting.refuse_old()?;
        let hosts = meeting.hosts(size, host, stop);
        let processes = Self {
            meeting,
            program,
            nodes: named(hosts.as_ref().map_or(&[], Vec::as_slice)),
            orders: 1.into(),
        };
        // Dropped, it tells those that are there that this is all.
        hosts.map(|_| processes)
    }

    fn order(&self, order: &Order) -> io::Result<usize> {
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        let text = serde_json::to_string(order).map_err(io::Error::other)?;
        self.meeting.put(&format!("order.{number}"), &text)?;
        Ok(number)
    }
}

/// Names of nodes, each once: hosts with more than one process are numbered.
fn named(hosts: &[String]) -> Vec<String> {
    let all = hosts.iter().enumerate();
    all.map(|(rank, host)| {
        let several = hosts.iter().filter(|other| *other == host).count() > 1;
        if several {
            format!("{host}-{}", rank + 1)
        } else {
            host.clone()
        }
    })
    .collect()
}

impl Launcher for Processes {
    fn start(
        &self,
        nodes: &[&str],
        arguments: &[String],
        _unfinished: &dyn Fn() -> Vec<String>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let is_asked = |rank: &usize| nodes.contains(&&*self.nodes[*rank]);
        let ranks: Vec<usize> = (0..self.nodes.len()).filter(is_asked).collect();
        let number = self.order(&Order {
            ranks: ranks.clone(),
            arguments: Some(arguments.to_vec()),
        })?;
        if ranks.contains(&0) {
            carry_out(&self.program, 0, arguments, stop)?;
        }
        for rank in ranks.iter().filter(|rank| **rank > 0) {
            let name = format!("done.{number}.{rank}");
            if self.meeting.wait_for(&name, 0, stop)?.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Who did not begin has failed.
    fn answers(&self, _node: &str) -> bool {
        false
    }

    fn clocks(&self, _nodes: &[String], _arguments: &[String]) -> io::Result<Vec<Option<Clock>>> {
        Err(io::Error::other(
            "only Slurm's steps have an input and output to ask them through",
        ))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Those that are told nothing end with their launcher.
        let (ranks, arguments) = (Vec::new(), None);
        let _ = self.order(&Order { ranks, arguments });
        // The last of the others removes the folder; alone, nobody else does.
        if self.nodes.len() == 1 {
            let _ = fs::remove_dir_all(&self.meeting.folder);
        }
    }
}

/// Another process: does what it is told until that is all. True if it was stopped.
pub fn follow(
    folder: PathBuf,
    (rank, size): (usize, usize),
    (program, host): (&Path, &str),
    stop: &AtomicBool,
) -> io::Result<bool> {
    fs::create_dir_all(&folder)?;
    let meeting = Meeting { folder };
    meeting.refuse_old()?;
    meeting.put(&format!("here.{rank}"), host)?;
    for number in 1.. {
        let Some(text) = meeting.wait_for(&format!("order.{number}"), rank, stop)? else {
            return Ok(true);
        };
        let order: Order = serde_json::from_str(&text).map_err(io::Error::other)?;
        let Some(arguments) = order.arguments else {
            break;
        };
        if order.ranks.contains(&rank) {
            // How it ended is in the events of the node. The first process waits for this whatever happened.
            let outcome = carry_out(program, rank, &arguments, stop);
            meeting.put(&format!("done.{number}.{rank}"), "")?;
            outcome?;
        }
    }
    leave(&meeting, (rank, size))?;
    Ok(false)
}

/// How long it is tried to remove the folder.
const LEAVING_MAX: Duration = Duration::from_secs(10);

/// The last one to leave removes the folder. Several may take themselves for the last: what one of them no longer finds
/// another has removed.
fn leave(meeting: &Meeting, (rank, size): (usize, usize)) -> io::Result<()> {
    meeting.put(&format!("left.{rank}"), "")?;
    for other in 1..size {
        match meeting.get(&format!("left.{other}"), rank) {
            Ok(Some(_)) => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(()),
        }
    }
    let began = Instant::now();
    loop {
        match fs::remove_dir_all(&meeting.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // Another looks into it at this moment; a client of NFS may keep a name longer.
            Err(error)
                if error.kind() == io::ErrorKind::DirectoryNotEmpty
                    && began.elapsed() < LEAVING_MAX =>
            {
                thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

/// Runs this node's part of a phase.
fn carry_out(
    program: &Path,
    rank: usize,
    arguments: &[String],
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut command = Command::new(program);
    command
        .arg("agent")
        .args(arguments)
        .args(["--rank", &rank.to_string()])
        .stdin(Stdio::null());
    process::die_with_parent(&mut command);
    let mut child: Child = command.spawn()?;
    let mut told = false;
    while child.try_wait()?.is_none() {
        if stop.load(Ordering::Relaxed) && !told {
            process::terminate(child.id(), false);
            told = true;
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_names_of_their_own() {
        let hosts = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(named(&hosts), ["a-1", "b", "a-3"]);
    }

    #[test]
    fn folders_have_plain_names() {
        let folder = folder(Path::new("/runs"), "prterun-host-1@2/..");
        assert_eq!(folder, Path::new("/runs/launch-prterun-host-1-2---"));
    }

    #[test]
    fn any_of_those_who_leave_at_once_may_be_the_last() {
        for round in 0..300 {
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("launch");
            fs::create_dir(&folder).unwrap();
            let meeting = Meeting { folder };
            thread::scope(|scope| {
                for rank in 1..5 {
                    let meeting = &meeting;
                    scope.spawn(move || leave(meeting, (rank, 5)).unwrap());
                }
            });
            assert!(!meeting.folder.exists(), "round {round}");
        }
    }

    #[test]
    fn processes_meet_do_what_they_are_told_and_leave_nothing() {
        let runs = tempfile::tempdir().unwrap();
        let folder = folder(runs.path(), "x");
        let never = AtomicBool::new(false);
        // Instead of this program one that takes any arguments.
        let program = Path::new("/bin/true");
        thread::scope(|scope| {
            for rank in 1..3 {
                let (folder, never) = (folder.clone(), &never);
                scope.spawn(move || {
                    let host = format!("host{rank}");
                    let stopped = follow(folder, (rank, 3), (program, &host), never);
                    assert!(!stopped.unwrap());
                });
            }
            let first = (program.to_owned(), "host0");
            let processes = Processes::gather(folder.clone(), 3, first, &never).unwrap();
            assert_eq!(processes.nodes, ["host0", "host1", "host2"]);
            let arguments = ["--phase".to_owned(), "cold".to_owned()];
            let nothing = || Vec::new();
            for nodes in [&["host0", "host1", "host2"][..], &["host2"][..]] {
                processes
                    .start(nodes, &arguments, &nothing, &never)
                    .unwrap();
            }
        });
        assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0);
    }
}
