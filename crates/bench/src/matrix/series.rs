//! A series in its folder: what is left to do is done, in the planned order.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base::units::{Bytes, parse_size};
use results::matrix::record::{MatrixFolder, MatrixPlan, PlannedRun, RunRecord, State};

use super::cell::{Ended, Workshop};
use super::design::Cell;
use super::device;
use super::journal::Journal;
use super::plan::Matrix;
use super::possible::{Answer, Host};
use super::setting::Kernel;
use super::undo::{self, Restored};
use crate::marker::{self, Holds, InUse};

/// How long the run of a killed series may take to stop, seconds.
const STOPS_WITHIN_S: u32 = 60;

/// Series on one host wait for nobody: only one at a time may change its settings.
const ONE_AT_A_TIME: &str = "gristmill-matrix";

/// Everything a series needs.
#[derive(Debug)]
pub struct Config<'a> {
    /// The plan as it was read.
    pub matrix: &'a Matrix,
    /// What was or is recorded of it.
    pub plan: MatrixPlan,
    /// Its cells.
    pub cells: &'a [Cell],
    /// Its folder.
    pub folder: MatrixFolder,
    /// Files that hold file systems are made below this directory.
    pub images: PathBuf,
    /// Devices that were confirmed by name.
    pub format: Vec<String>,
    /// The program that runs suites: this one.
    pub program: PathBuf,
    /// Settings.
    pub kernel: Kernel,
}

/// How a series ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Runs with figures, those of earlier starts included.
    pub done: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that this host cannot do.
    pub not_possible: usize,
    /// It was asked to stop.
    pub interrupted: bool,
}

/// A series that could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("failed to {action}")]
    Io {
        /// What was being done.
        action: String,
        /// Why not.
        source: io::Error,
    },
    /// A record could not be read or written.
    #[error(transparent)]
    Results(#[from] results::run::Error),
    /// The folder holds something else.
    #[error("{} holds another series: {what}; give this one another --folder, or remove that one", path.display())]
    Another {
        /// The folder.
        path: PathBuf,
        /// In what they differ.
        what: String,
    },
    /// Something must not be done.
    #[error("{0}")]
    Refused(String),
    /// The host is not as it was.
    #[error("{}", .0.join("\n"))]
    NotRestored(Vec<String>),
}

fn failed(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let action = action.into();
    |source| Error::Io { action, source }
}

impl Config<'_> {
    /// The file of a volume.
    pub(super) fn image(&self, volume: &str) -> PathBuf {
        self.images
            .join(format!("gristmill-{}-{volume}.img", self.plan.name))
    }

    /// Devices that the plan names.
    pub fn devices(&self) -> Vec<String> {
        let volumes = self.matrix.text.volumes.values();
        let named =
            volumes.flat_map(|volume| volume.device.iter().chain(volume.devices.iter().flatten()));
        named.map(|device| device.get_ref().clone()).collect()
    }
}

/// Carries out what is left of a series, telling what happens.
pub fn run(
    config: &Config<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&str),
) -> Result<Outcome, Error> {
    let folder = &config.folder;
    let changes_host = config.cells.iter().any(|cell| !cell.settings.is_empty());
    let _in_use = take(folder.path())?;
    let _alone = if changes_host { Some(alone()?) } else { None };
    let mut journal = recover(folder.path(), stop, tell)?;
    // What is refused leaves no plan behind that another one would be held against.
    check_devices(config)?;
    room_for_images(config)?;
    same_series(config)?;
    let scratch = folder.path().join("trial");
    fs::create_dir_all(&scratch).map_err(failed(format!("make {}", scratch.display())))?;
    let mut host = Host::new(&config.matrix.text, config.kernel.clone(), Some(&scratch));
    let answers: Vec<Answer> = config.cells.iter().map(|cell| host.cell(cell)).collect();
    let _ = fs::remove_dir_all(&scratch);
    let mut outcome = Outcome::default();
    for planned in &config.plan.runs {
        if stop.load(Ordering::Relaxed) {
            outcome.interrupted = true;
            return Ok(outcome);
        }
        let there = folder.record(planned.number)?;
        if there.is_some_and(|record| record.state == State::Done) {
            outcome.done += 1;
            continue;
        }
        let place = config
            .cells
            .iter()
            .position(|cell| cell.levels == planned.levels);
        let place =
            place.ok_or_else(|| Error::Refused(format!("run {} has no cell", planned.number)))?;
        let heading = heading(config, planned);
        if let Answer::No(why) = &answers[place] {
            tell(&format!("{heading}: not possible here: {why}"));
            let record = record(planned, State::NotPossible, Some(why.clone()));
            folder.write_record(&record)?;
            outcome.not_possible += 1;
            continue;
        }
        tell(&heading);
        match one(
            config,
            &mut journal,
            (planned, &config.cells[place]),
            stop,
            tell,
        )? {
            None => {
                outcome.interrupted = true;
                return Ok(outcome);
            }
            Some(State::Done) => outcome.done += 1,
            Some(_) => outcome.failed += 1,
        }
    }
    remove_images(config);
    Ok(outcome)
}

/// Puts back what a killed series left; for `matrix restore`.
pub fn restore(folder: &Path, stop: &AtomicBool, tell: &mut dyn FnMut(&str)) -> Result<(), Error> {
    if marker::read(folder) != Some(Holds::Matrix) {
        return Err(Error::Refused(format!(
            "{} is not the folder of a series",
            folder.display()
        )));
    }
    let _in_use = take(folder)?;
    let _alone = alone()?;
    recover(folder, stop, tell).map(|_| ())
}

fn heading(config: &Config<'_>, planned: &PlannedRun) -> String {
    let levels = config.plan.factors.iter().map(|factor| {
        let level = planned.levels.get(&factor.name).map_or("", String::as_str);
        format!("{} {level}", factor.name)
    });
    let levels: Vec<String> = levels.collect();
    format!(
        "run {} of {}, block {}: {}",
        planned.number,
        config.plan.runs.len(),
        planned.block,
        levels.join(", ")
    )
}

fn record(planned: &PlannedRun, state: State, reason: Option<String>) -> RunRecord {
    let now = crate::run::now();
    RunRecord {
        schema: results::SCHEMA.to_owned(),
        planned: planned.clone(),
        state,
        reason,
        run: None,
        began_unix_s: now,
        ended_unix_s: now,
        commands: Vec::new(),
        mounts: Vec::new(),
        settings: Vec::new(),
        notes: Vec::new(),
    }
}

/// Runs a cell and puts everything back; `None` if it was interrupted.
fn one(
    config: &Config<'_>,
    journal: &mut Journal,
    (planned, cell): (&PlannedRun, &Cell),
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<State>, Error> {
    let folder = config.folder.run(planned.number);
    fs::create_dir_all(&folder).map_err(failed(format!("make {}", folder.display())))?;
    let mut record = record(planned, State::Failed, None);
    let ended = Workshop::new(config, (journal, &mut record), stop).carry_out(cell);
    let restored = undo::all(journal);
    let state = match ended {
        Ok(Ended::Interrupted) => None,
        Ok(Ended::Well(run)) => {
            record.state = State::Done;
            record.run = Some(run);
            Some(State::Done)
        }
        // What was asked to stop fails in many ways.
        Err(_) if stop.load(Ordering::Relaxed) => None,
        Err(why) => {
            tell(&format!("  failed: {why}"));
            record.reason = Some(why);
            Some(State::Failed)
        }
    };
    record.notes.extend(restored.left.iter().cloned());
    record.ended_unix_s = crate::run::now();
    if state.is_some() {
        config.folder.write_record(&record)?;
    }
    for left in &restored.left {
        tell(&format!("  {left}"));
    }
    all_back(restored)?;
    Ok(state)
}

fn all_back(restored: Restored) -> Result<(), Error> {
    if restored.failed.is_empty() {
        return Ok(());
    }
    Err(Error::NotRestored(restored.failed))
}

/// Makes the folder ours.
fn take(folder: &Path) -> Result<InUse, Error> {
    if let Some(holds) = marker::read(folder).filter(|holds| *holds != Holds::Matrix) {
        return Err(Error::Refused(format!(
            "{} holds what Gristmill calls {}: give the series another --folder",
            folder.display(),
            holds.name()
        )));
    }
    marker::make(folder, Holds::Matrix)
        .map_err(failed(format!("take {} into use", folder.display())))
}

/// A name that one process of the host can have at a time; the kernel takes it away when the process ends.
fn alone() -> Result<UnixListener, Error> {
    let bound = SocketAddr::from_abstract_name(ONE_AT_A_TIME)
        .and_then(|name| UnixListener::bind_addr(&name));
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Error::Refused(
            "another series changes settings of this host right now: wait until it has ended"
                .to_owned(),
        ),
        _ => Error::Io {
            action: "make sure that no other series is on its way".to_owned(),
            source: error,
        },
    })
}

/// Waits for what a killed series started, then puts back what it changed.
fn recover(folder: &Path, stop: &AtomicBool, tell: &mut dyn FnMut(&str)) -> Result<Journal, Error> {
    let mut journal = Journal::open(folder)
        .map_err(failed(format!("open the journal of {}", folder.display())))?;
    for waited in 0.. {
        let Some(run) = run_in_use(folder).map_err(failed("look for runs on their way"))? else {
            break;
        };
        if waited == STOPS_WITHIN_S || stop.load(Ordering::Relaxed) {
            return Err(Error::Refused(format!(
                "the run {} that an earlier start left is still on its way: end it first",
                run.display()
            )));
        }
        thread::sleep(Duration::from_secs(1));
    }
    if !journal.pending().is_empty() {
        tell("an earlier start of this series was cut short: putting back what it changed");
    }
    let restored = undo::all(&mut journal);
    for done in restored
        .done
        .iter()
        .map(|what| format!("  put back: {what}"))
        .chain(restored.left.iter().cloned())
    {
        tell(&done);
    }
    all_back(restored)?;
    Ok(journal)
}

/// A run directory below the folder that is in use.
fn run_in_use(folder: &Path) -> io::Result<Option<PathBuf>> {
    let entries = |path: &Path| -> io::Result<Vec<PathBuf>> {
        let entries = marker::unless_gone(fs::read_dir(path))?;
        entries
            .into_iter()
            .flatten()
            .map(|entry| Ok(entry?.path()))
            .collect()
    };
    for run in entries(&folder.join("runs"))? {
        for directory in entries(&run)?.into_iter().filter(|path| path.is_dir()) {
            if marker::is_in_use(&directory) {
                return Ok(Some(directory));
            }
        }
    }
    Ok(None)
}

/// A folder is that of one series: the same cells in the same order.
fn same_series(config: &Config<'_>) -> Result<(), Error> {
    let folder = &config.folder;
    let Some(there) = folder.plan()? else {
        folder.write_plan(&config.plan)?;
        return Ok(());
    };
    let new = &config.plan;
    let differs = [
        ("its factors", there.factors != new.factors),
        (
            "its design",
            there.design != new.design || there.seed != new.seed,
        ),
        ("its volumes", there.volumes != new.volumes),
        ("what is run", there.arguments != new.arguments),
        ("its labels", there.labels != new.labels),
    ];
    // More repeats continue a series.
    let shorter = there.runs.len().min(new.runs.len());
    let order = ("its runs", there.runs[..shorter] != new.runs[..shorter]);
    if let Some((what, _)) = differs
        .into_iter()
        .chain([order])
        .find(|(_, differs)| *differs)
    {
        return Err(Error::Another {
            path: folder.path().to_owned(),
            what: format!("{what} are other ones"),
        });
    }
    if new.runs.len() > there.runs.len() {
        folder.write_plan(new)?;
    }
    Ok(())
}

fn check_devices(config: &Config<'_>) -> Result<(), Error> {
    let named = config.devices();
    device::confirmed(&named, &config.format).map_err(Error::Refused)?;
    let refused: Vec<String> = named
        .iter()
        .filter_map(|name| device::check(name).err())
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(refused.join("\n")))
}

/// Files that hold file systems must have room before the first of them is written.
fn room_for_images(config: &Config<'_>) -> Result<(), Error> {
    let mut wanted: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, volume) in &config.matrix.text.volumes {
        let bytes = volume
            .image
            .as_ref()
            .and_then(|size| parse_size(size.get_ref()));
        let Some(bytes) = bytes else { continue };
        let there = fs::metadata(config.image(name.get_ref())).map_or(0, |there| there.len());
        wanted.insert(name.get_ref(), bytes.0.saturating_sub(there));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let images = &config.images;
    fs::create_dir_all(images).map_err(failed(format!("make {}", images.display())))?;
    let there = rustix::fs::statvfs(images.as_path());
    let there = there.map_err(|error| {
        failed(format!("find the free space of {}", images.display()))(error.into())
    })?;
    let (wanted, free) = (wanted.values().sum(), there.f_bavail * there.f_frsize);
    if wanted > free {
        return Err(Error::Refused(format!(
            "the files of the volumes need {} more in {}, which has {} free: give another --images, or smaller ones",
            Bytes(wanted),
            images.display(),
            Bytes(free)
        )));
    }
    Ok(())
}

/// Everything is put back by now; files that stay would only take room.
fn remove_images(config: &Config<'_>) {
    for name in config.matrix.text.volumes.keys() {
        let _ = fs::remove_file(config.image(name.get_ref()));
    }
    let _ = fs::remove_dir(&config.images);
}
