//! What steps work on: files, options, libraries, log and listing, and the record of the step in
//! progress.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::meter::Meter;
use base::random::Stream;
use base::store::{self, Access, Channel, Creation, Store, StoreFile};

use lang::ast::{DatasetRef, FileOption};
use lang::{Macros, Scope};

use crate::accounting::{DatasetUse, RowHashes, SortSummary};
use crate::dataset::background::{Background, Budget};
use crate::dataset::locks::Locks;
use crate::expr::pattern::Patterns;
use crate::expr::surroundings::Surroundings;
use crate::failure::{Failure, Outcome};
use crate::format::user::Formats;
use crate::library::{Libraries, Member};
use crate::listing::Listing;
use crate::log::Log;
use crate::options::Options;
use crate::pace::{Pace, Toll, TolledFile};

/// Macro variables at start by name.
pub type Symbols = BTreeMap<String, String>;

/// File that marks a WORK or utility directory as made by Gristmill: what lacks it is never removed.
pub const MARKER: &str = ".gristmill";

/// The surroundings of a step.
pub struct World {
    /// Files.
    pub store: Arc<dyn Store>,
    /// Clock and usage.
    pub meter: Arc<dyn Meter>,
    /// Keeps the pace that steps are to have.
    pub(crate) pace: Option<Arc<Pace>>,
    /// The log.
    pub log: Log,
    /// Procedure output.
    pub listing: Listing,
    /// System options.
    pub options: Options,
    /// Librefs.
    pub libraries: Libraries,
    /// Macro variables and macros.
    pub macros: Macros,
    /// Formats made by PROC FORMAT.
    pub formats: Arc<Formats>,
    /// Texts that CALL EXECUTE queued for the end of the step in progress.
    pub executed: Vec<String>,
    /// Text files by upper-case fileref, with the options of their FILENAME statements.
    pub filerefs: BTreeMap<String, (PathBuf, Vec<FileOption>)>,
    /// Files of FILENAME TEMP made so far.
    pub temporary_files: u64,
    /// The session's utility directory.
    pub util_directory: PathBuf,
    /// Utility files made so far.
    pub util_files: u64,
    /// Of which data sets row hashes are computed.
    pub row_hashes: RowHashes,
    /// Flush finished permanent data sets.
    pub sync_outputs: bool,
    /// Temporary files and directories in existence.
    pub temporaries: Arc<Temporaries>,
    /// Source of page masks and serial numbers.
    pub serials: Stream,
    /// Serial numbers drawn.
    pub serial: u64,
    /// Regular expressions that %SYSFUNC(PRXPARSE()) made.
    pub(crate) patterns: Patterns,
    /// Data sets read by the step in progress.
    pub inputs: Vec<DatasetUse>,
    /// Data sets written by the step in progress.
    pub outputs: Vec<DatasetUse>,
    /// What the step in progress sorted.
    pub sort: Option<SortSummary>,
    /// Data sets of WORK that have an index file.
    pub(crate) indexed: BTreeSet<PathBuf>,
    /// Threads that write behind now.
    pub(crate) writers: Arc<AtomicUsize>,
    /// Data sets that LOCK statements hold.
    pub(crate) locks: Locks,
    /// The exit code with which ABORT ends the session after the step in progress.
    pub(crate) aborted: Option<u8>,
    /// Warnings that follow the errors that stopped the step in progress.
    pub aftermath: Vec<String>,
    /// `LIB.MEMBER` made last: the default of DATA=.
    pub last_dataset: Option<(String, String)>,
}

impl World {
    /// A NOTE, unless NONOTES is in force.
    pub fn note(&mut self, text: &str) {
        if self.options.notes {
            self.log.note(text);
        }
    }

    /// The data set that is meant, in the directory of its library that has it.
    pub fn found(&self, dataset: &DatasetRef) -> Outcome<Member> {
        self.libraries
            .resolve(dataset)?
            .located(self.store.as_ref())
    }

    /// Opens the file of a data set.
    pub(crate) fn open_data(
        &self,
        channel: Channel,
        path: &Path,
        access: Access,
    ) -> store::Result<Box<dyn StoreFile>> {
        let store = self.store.as_ref();
        self.locks.open(store, channel, path, access)
    }

    /// What functions know while a step runs; with `macros` also the macro variables.
    pub fn surroundings(&self, macros: bool) -> Surroundings {
        let mut surroundings = Surroundings::new(self.meter.clone(), self.formats.clone());
        let memory = self.options.procedure_memory();
        surroundings.requests.limit(memory);
        surroundings.memory = memory / 4;
        surroundings.macros = macros.then(|| Box::new(self.macros.clone()));
        surroundings
    }

    /// CALL SYMPUT: visible to the text after the step.
    ///
    /// Errors are sentences in SAS's words, without a final period.
    pub fn symput(&mut self, name: &str, value: &str, scope: Scope) -> Result<(), String> {
        self.macros.symput(name, value, scope)
    }

    /// SYMGET: the value of a macro variable while a step runs.
    pub fn symget(&self, name: &str) -> Option<String> {
        self.macros.get(name.trim())
    }

    /// CALL EXECUTE: macro elements act now and log what they write, what is left comes after the step.
    pub fn call_execute(&mut self, text: &str) {
        let mut host = super::host::Host::without_files(self);
        let resolved = lang::resolve(text, &mut host);
        for line in &resolved.lines {
            self.log.line(line);
        }
        for diagnostic in &resolved.diagnostics {
            self.log.diagnostic(diagnostic);
        }
        if !resolved.text.trim().is_empty() {
            self.executed.push(resolved.text);
        }
    }

    /// A number that has not been drawn in this session.
    pub fn draw(&mut self) -> u32 {
        self.serial += 1;
        u32::try_from(self.serials.word(self.serial) >> 32).expect("32 bits are left")
    }

    /// Threads a step may use; at a pace no more than SAS would.
    pub fn threads(&self) -> usize {
        let threads = if self.options.threads {
            self.options.cpucount as usize
        } else {
            1
        };
        let pace = self.pace.as_ref();
        pace.map_or(threads, |pace| pace.threads(threads))
    }

    /// `file` of a data set, whose rows are paid for where steps have a pace.
    pub(crate) fn tolled(
        &self,
        file: Box<dyn StoreFile>,
    ) -> (Box<dyn StoreFile>, Option<Arc<Toll>>) {
        let Some(pace) = &self.pace else {
            return (file, None);
        };
        let (file, toll) = TolledFile::rows(file, pace.clone());
        (Box::new(file), Some(toll))
    }

    /// The same of a text file, whose bytes are.
    pub(crate) fn tolled_text(&self, file: Box<dyn StoreFile>) -> Box<dyn StoreFile> {
        match &self.pace {
            None => file,
            Some(pace) => Box::new(TolledFile::text(file, pace.clone())),
        }
    }

    /// `file`, written by a thread of its own where the step may use one more.
    pub(crate) fn writing_behind(&self, file: Box<dyn StoreFile>) -> Box<dyn StoreFile> {
        if self.threads() > 1 {
            let budget = Budget::new(self.writers.clone(), self.threads() - 1);
            Box::new(Background::new(file, budget))
        } else {
            file
        }
    }

    /// Makes `SAS_work<serial><pid>_<host>` below `parent` and returns its path.
    pub(super) fn make_work_directory(
        &mut self,
        parent: &Path,
        host: &str,
        process_id: u32,
    ) -> Outcome<PathBuf> {
        self.make_session_directory(Channel::Work, parent, "SAS_work", host, process_id)
    }

    /// Makes `SAS_util<serial><pid>_<host>` below `parent`.
    pub(super) fn make_util_directory(
        &mut self,
        parent: &Path,
        host: &str,
        process_id: u32,
    ) -> Outcome<()> {
        self.util_directory =
            self.make_session_directory(Channel::Util, parent, "SAS_util", host, process_id)?;
        Ok(())
    }

    fn make_session_directory(
        &mut self,
        channel: Channel,
        parent: &Path,
        prefix: &str,
        host: &str,
        process_id: u32,
    ) -> Outcome<PathBuf> {
        let serial = self.draw() & 0xFFFF;
        let path = parent.join(format!("{prefix}{serial:04X}{process_id:08X}_{host}"));
        let world = |error: base::store::StoreError| {
            Failure::world(format!(
                "The {} directory cannot be made: {error}. Name a directory that exists and can be \
                 written.",
                if channel == Channel::Work {
                    "WORK"
                } else {
                    "utility"
                }
            ))
        };
        self.temporaries
            .make_directory(channel, &path, &*self.store)
            .map_err(world)?;
        let marker = path.join(MARKER);
        let file = self
            .store
            .create(channel, &marker, Creation::New)
            .map_err(world)?;
        file.close().map_err(world)?;
        Ok(path)
    }
}

/// Directories and unfinished files of a session. They are removed at its end; a signal handler
/// that holds the same list removes them when the session is cut short.
///
/// What is made is listed, and what is finished forgotten, under one lock: there is no moment at
/// which a signal finds something made and not listed, or another's file listed as ours.
#[derive(Debug, Default)]
pub struct Temporaries {
    state: Mutex<Paths>,
}

#[derive(Debug, Default)]
struct Paths {
    files: Vec<(Channel, PathBuf)>,
    directories: Vec<(Channel, PathBuf)>,
}

impl Temporaries {
    fn paths(&self) -> MutexGuard<'_, Paths> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a directory that is to be removed with all files in it.
    fn make_directory(
        &self,
        channel: Channel,
        path: &Path,
        store: &dyn Store,
    ) -> store::Result<()> {
        let mut paths = self.paths();
        store.make_directory(channel, path)?;
        paths.directories.push((channel, path.to_owned()));
        Ok(())
    }

    /// Creates a file that is to be removed unless it is finished first.
    pub(crate) fn create_file(
        &self,
        channel: Channel,
        path: &Path,
        creation: Creation,
        store: &dyn Store,
    ) -> store::Result<Box<dyn StoreFile>> {
        let mut paths = self.paths();
        let file = store.create(channel, path, creation)?;
        paths.files.push((channel, path.to_owned()));
        Ok(file)
    }

    /// Finishes a file by `work`: it gets another name or is removed. If `work`
    /// fails it is still to be removed.
    pub(crate) fn finish_file<T, E>(
        &self,
        path: &Path,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut paths = self.paths();
        let done = work()?;
        paths.files.retain(|(_, file)| file != path);
        Ok(done)
    }

    /// A file turned out to be another's.
    pub(crate) fn forget_file(&self, path: &Path) {
        self.paths().files.retain(|(_, file)| file != path);
    }

    /// Removes everything that is left; what cannot be removed is left for `gristmill clean`.
    pub(crate) fn remove_all(&self, store: &dyn Store) {
        remove(&mut self.paths(), store);
    }

    /// Removes everything, and lets the session make nothing more: whoever tries waits for the
    /// process to end. For a signal handler.
    pub fn remove_all_for_good(&self, store: &dyn Store) {
        let mut paths = self.paths();
        remove(&mut paths, store);
        std::mem::forget(paths);
    }
}

fn remove(paths: &mut Paths, store: &dyn Store) {
    for (channel, file) in paths.files.drain(..) {
        let _ = store.remove(channel, &file);
    }
    for (channel, directory) in paths.directories.drain(..) {
        remove_directory(channel, &directory, store);
    }
}

/// Another thread may still be making files in it, so one look is not enough. Files that cannot be
/// removed (on NFS those still open) leave the marker too: `gristmill clean` can go on.
fn remove_directory(channel: Channel, directory: &Path, store: &dyn Store) {
    let mut in_vain = 0;
    while in_vain < 2 {
        let names = store.list(channel, directory).unwrap_or_default();
        let (markers, others): (Vec<_>, Vec<_>) = names.iter().partition(|name| *name == MARKER);
        let remove = |name: &&String| store.remove(channel, &directory.join(name)).is_ok();
        let mut removed = others.iter().filter(|name| remove(name)).count();
        if removed == others.len() {
            removed += markers.iter().filter(|name| remove(name)).count();
            match store.remove_directory(channel, directory) {
                Err(error) if error.source.kind() == ErrorKind::DirectoryNotEmpty => {}
                _ => return,
            }
        }
        in_vain += u32::from(removed == 0);
    }
}
