//! The events of a run, kept through a full disk: a file of some size stands in the run directory and makes
//! room when there is none, and what cannot be written yet is written later, in order.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::random::Stream;
use results::run::{Error, Event, RunDirectory};

/// What stands ready: events, the result and the page of a run of hundreds of jobs.
const RESERVE_BYTES: u64 = 2 << 20;

/// Writes events.
pub(crate) struct Journal {
    directory: RunDirectory,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What could not be written yet.
    waiting: Vec<Event>,
    /// The file that makes room; gone once it was needed.
    reserve: Option<PathBuf>,
}

impl Journal {
    /// For a run directory, or one of several nodes of it, with the file that makes room.
    pub(crate) fn open(directory: &RunDirectory, node: Option<&str>) -> io::Result<Self> {
        let name = node.map_or_else(|| "reserve".to_owned(), |node| format!("reserve.{node}"));
        let path = directory.path().join(name);
        // No file system can store this in less than its length.
        let random = Stream::new(RESERVE_BYTES);
        let bytes: Vec<u8> = (0..RESERVE_BYTES / 8)
            .flat_map(|index| random.word(index).to_le_bytes())
            .collect();
        let mut file = fs::File::create(&path)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        Ok(Self {
            directory: directory.clone(),
            state: Mutex::new(State {
                waiting: Vec::new(),
                reserve: Some(path),
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an event, or keeps it while there is no room.
    pub(crate) fn add(&self, event: &Event) -> Result<(), Error> {
        let mut state = self.state();
        state.waiting.push(event.clone());
        self.write(&mut state)
    }

    /// Tries again to write what waits; true if nothing does.
    pub(crate) fn retry(&self) -> Result<bool, Error> {
        let mut state = self.state();
        if !state.waiting.is_empty() {
            self.write(&mut state)?;
        }
        Ok(state.waiting.is_empty())
    }

    fn write(&self, state: &mut State) -> Result<(), Error> {
        while let Some(event) = state.waiting.first() {
            match self.directory.add_event(event) {
                Ok(()) => _ = state.waiting.remove(0),
                Err(error) if !is_full(&error) => return Err(error),
                Err(_) => match state.reserve.take() {
                    // What was not removed makes no room, and the event waits.
                    Some(path) => _ = fs::remove_file(path),
                    None => return Ok(()),
                },
            }
        }
        Ok(())
    }

    /// The run is over: there is room for its result.
    pub(crate) fn release(&self) {
        if let Some(path) = self.state().reserve.take() {
            // It is of no use any more; one that stays does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether a file could not be written since its file system, or its owner's part of it, is full.
fn is_full(error: &Error) -> bool {
    let Error::Io { source, .. } = error else {
        return false;
    };
    matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
