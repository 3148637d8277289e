//! Small experiments on what a file system does with what analytics ask of it: what it keeps in memory, what
//! locks cost and whether they hold, when other clients see changes, what small files, growing files and flushes
//! cost. Each is a row of [`ALL`] with its own file.
//!
//! Everything happens in one folder that was made for it, and each experiment removes what it made. Figures that
//! depend on time are measured several times and given with their range; those that cannot be measured are
//! absent and say why.

mod agent;
mod atime;
mod corruption;
mod direct;
mod extend;
mod fairness;
mod figures;
mod fsync;
mod ground;
mod locks;
mod metadata;
mod pages;
mod physical;
mod readahead;
mod retention;
mod stream;
mod visibility;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

pub use agent::serve;
pub use figures::{Absent, Report};
pub use ground::beside;

use ::io::errno;
use ground::Ground;

/// An experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line, and before the names of its figures.
    pub id: &'static str,
    /// A line.
    pub title: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What papers say.
    pub papers: &'static [Said],
    /// What it needs beside the directory; empty: nothing.
    pub needs: &'static str,
    run: fn(&Ground<'_>, &mut Report) -> Result<(), Error>,
}

/// What a paper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Said {
    /// Which, and when it came out.
    pub paper: &'static str,
    /// In short.
    pub says: &'static str,
}

/// A signal from a terminal reaches all processes within less.
const SIGNALLED: Duration = Duration::from_millis(100);

/// All, in their order.
pub const ALL: [&Experiment; 12] = [
    &retention::EXPERIMENT,
    &locks::EXPERIMENT,
    &visibility::EXPERIMENT,
    &metadata::EXPERIMENT,
    &extend::EXPERIMENT,
    &atime::EXPERIMENT,
    &pages::EXPERIMENT,
    &readahead::EXPERIMENT,
    &fairness::EXPERIMENT,
    &direct::EXPERIMENT,
    &fsync::EXPERIMENT,
    &corruption::EXPERIMENT,
];

/// Papers by their names.
mod papers {
    pub(super) const SURVEY: &str = "SAS, A Survey of Shared File Systems (484-2013)";
    pub(super) const RED_HAT: &str = "Red Hat, Optimizing RHEL for SAS 9.2 (2011)";
    pub(super) const PURE: &str = "SAS on Pure Storage FA-420 (2014)";
    pub(super) const ISILON: &str = "Dell, Isilon F810 with SAS (2020)";
}

/// The same directory through another mount, or on another host.
#[derive(Debug, Clone)]
pub struct Peer {
    /// What was named.
    pub directory: PathBuf,
    /// The folder of the experiments as it is called there.
    pub folder: PathBuf,
    /// On another host: the command that runs there what it is given, and its arguments. Empty: on this one.
    pub by: Vec<String>,
}

impl Peer {
    /// What starts a process there, from what starts one here.
    fn command(&self, launch: Launch<'_>) -> Command {
        let here = launch(&self.folder);
        let [by, words @ ..] = &self.by[..] else {
            return here;
        };
        let mut command = Command::new(by);
        command.args(words).arg(here.get_program());
        command.args(here.get_args());
        command
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the experiments, made for them, and empty but for its marker.
    pub folder: PathBuf,
    /// A text that no other folder has.
    pub token: String,
    /// Another client.
    pub peer: Option<Peer>,
    /// Which experiments, in the order of [`ALL`].
    pub only: Vec<&'static Experiment>,
    /// Few operations, with pauses between them.
    pub gentle: bool,
    /// Bytes a second that data are moved with at the most.
    pub pace: Option<u64>,
    /// Whether a group of processes may be made whose memory is limited.
    pub pressure: bool,
    /// Processes at the same time, at the most.
    pub processes: u32,
    /// Bytes of a file.
    pub bytes: u64,
    /// About the time of an experiment.
    pub time: Duration,
}

impl Options {
    /// Bytes that experiments have on the disk at the same time, at the most.
    pub fn space_needed(&self) -> u64 {
        /// Small files of each process, with what the file system adds to them.
        const SMALL_FILES: u64 = 16 << 20;
        /// Least bytes of each of several files.
        const EACH_LEAST: u64 = 4 << 20;
        let each = EACH_LEAST * u64::from(self.processes) * 2;
        let large = (2 * self.bytes).max(each);
        large.max(SMALL_FILES * u64::from(self.processes)) + (4 << 20)
    }
}

/// How a process that takes part is started; it must end up in [`serve`] with the folder that is named.
pub type Launch<'a> = &'a dyn Fn(&Path) -> Command;

/// What keeps experiments from being carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// `write`, `read`, …
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A process that takes part was refused something.
    #[error("a process that takes part was refused: {text} ({})", errno::name(*code))]
    Refused {
        /// The operating system's code.
        code: i32,
        /// Its text.
        text: String,
    },
    /// A process that takes part is lost.
    #[error("a process that takes part {0}")]
    Agent(String),
    /// What was to come from storage may come from memory.
    #[error("{0}")]
    NotCold(String),
    /// A process on another host ended before it did anything.
    #[error(
        "the process on the other host ended before it answered: {by} must run this program there, at the same \
         path, and {} must be the same directory there; see what it said above", directory.display()
    )]
    OtherHost {
        /// What was to start it.
        by: String,
        /// The directory as it is called there.
        directory: PathBuf,
    },
    /// The peer is something else.
    #[error("{} is not the same directory: what was made in the other is not there", .0.display())]
    OtherDirectory(PathBuf),
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
}

/// All that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// How reads of devices or servers are counted, or why they are not.
    pub physical_reads: String,
    /// By experiment.
    pub experiments: Vec<Report>,
}

impl Outcome {
    /// Whether something is wrong.
    pub fn is_wrong(&self) -> bool {
        self.experiments.iter().any(|one| !one.wrong.is_empty())
    }

    /// Whether there is no figure at all.
    pub fn is_empty(&self) -> bool {
        self.experiments
            .iter()
            .all(|one| one.measurements.is_empty())
    }
}

/// Carries experiments out; `progress` hears of each before it begins.
pub fn probe(
    options: &Options,
    launch: Launch<'_>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Experiment),
) -> Result<Outcome, Error> {
    let mut ground = Ground::new(options, launch, stop)?;
    let mut outcome = Outcome {
        physical_reads: ground.side.basis(),
        experiments: Vec::new(),
    };
    for experiment in &options.only {
        ground.check()?;
        progress(experiment);
        let (mut report, begin) = (Report::of(experiment), Instant::now());
        let done = ground
            .enter(experiment.id)
            .and_then(|()| (experiment.run)(&ground, &mut report));
        let left = ground.leave();
        match done.and(left) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(other) => {
                if matches!(other, Error::Agent(_)) {
                    // The signal that ended a process that takes part may be on its way to this one.
                    thread::sleep(SIGNALLED);
                }
                ground.check()?;
                report.absent("", format!("ended early: {other}"));
            }
            Ok(()) => {}
        }
        report.elapsed_s = begin.elapsed().as_secs_f64();
        outcome.experiments.push(report);
    }
    Ok(outcome)
}

fn failed(action: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
