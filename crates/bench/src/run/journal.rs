//! The events of a run, written by a thread of their own: a launcher that waited for the file system under test would
//! start jobs late and take their ends late. They are kept through a full disk: a file of some size stands in the run
//! directory and makes room when there is none, and what cannot be written yet is written later, in order.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::random::Stream;
use results::run::{Error, Event, RunDirectory};

/// What stands ready: events, the result and the page of a run of hundreds of jobs.
const RESERVE_BYTES: u64 = 2 << 20;

/// How long after a full disk it is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Writes events.
pub(crate) struct Journal {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    directory: RunDirectory,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What is not written yet.
    waiting: VecDeque<Event>,
    /// The file that makes room; gone once it was needed.
    reserve: Option<PathBuf>,
    /// Somebody waits until all is written or cannot be.
    flush: bool,
    /// How often there was no room since somebody waits.
    full: u32,
    /// Why nothing is written any more: the error, until it is told, and what it said.
    failed: Option<Error>,
    broken: Option<String>,
    /// No more events come.
    closed: bool,
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
        let shared = Arc::new(Shared {
            directory: directory.clone(),
            state: Mutex::new(State {
                reserve: Some(path),
                ..State::default()
            }),
            changed: Condvar::new(),
        });
        let writer = thread::Builder::new().name("events".to_owned());
        let writing = shared.clone();
        Ok(Self {
            shared,
            writer: Some(writer.spawn(move || writing.write())?),
        })
    }

    /// Hands an event over; it is written as soon as there is room.
    pub(crate) fn add(&self, event: &Event) -> Result<(), Error> {
        let mut state = self.shared.state();
        state.waiting.push_back(event.clone());
        self.shared.changed.notify_all();
        state.told()
    }

    /// Whether events are written, as far as there is room.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.shared.state().told()
    }

    /// Waits until all events are written; false if there is no room for them.
    pub(crate) fn flush(&self) -> Result<bool, Error> {
        let mut state = self.shared.state();
        (state.flush, state.full) = (true, 0);
        self.shared.changed.notify_all();
        // Room may have been made while it was tried.
        while !state.waiting.is_empty() && state.full < 2 && state.broken.is_none() {
            state = self.shared.wait(state);
        }
        state.flush = false;
        state.told()?;
        Ok(state.waiting.is_empty())
    }

    /// Events for which there is no room yet.
    pub(crate) fn waiting(&self) -> Vec<Event> {
        self.shared.state().waiting.iter().cloned().collect()
    }

    /// The run is over: there is room for its result.
    pub(crate) fn release(&self) {
        if let Some(path) = self.shared.state().reserve.take() {
            // It is of no use any more; one that stays does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

impl State {
    fn told(&mut self) -> Result<(), Error> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.broken.as_ref().map_or(Ok(()), |text| {
            Err(Error::Io {
                action: "write",
                path: PathBuf::from("events.jsonl"),
                source: io::Error::other(text.clone()),
            })
        })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, AGAIN);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Writes what comes, until no more does.
    fn write(&self) {
        let mut state = self.state();
        loop {
            let Some(event) = state.waiting.front().cloned() else {
                if state.closed {
                    return;
                }
                state = self.wait(state);
                continue;
            };
            let closing = state.closed;
            drop(state);
            let written = self.directory.add_event(&event);
            state = self.state();
            match written {
                Ok(()) => _ = state.waiting.pop_front(),
                Err(error) if !is_full(&error) => {
                    let cause = std::error::Error::source(&error);
                    let text = cause.map_or(error.to_string(), ToString::to_string);
                    state.broken = Some(text);
                    state.failed = Some(error);
                    self.changed.notify_all();
                    return;
                }
                Err(_) => match state.reserve.take() {
                    // What was not removed makes no room, and the event waits.
                    Some(path) => _ = fs::remove_file(path),
                    // Room may have been made since it was tried.
                    None if closing => return,
                    None => {
                        state.full += 1;
                        self.changed.notify_all();
                        if !state.flush || state.full > 1 {
                            state = self.wait(state);
                        }
                    }
                },
            }
            if state.flush {
                self.changed.notify_all();
            }
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.release();
        self.shared.state().closed = true;
        self.shared.changed.notify_all();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use results::run::{EventKind, Time};

    fn event(number: u32) -> Event {
        let time = Time {
            unix_s: 0.0,
            at_s: f64::from(number),
        };
        Event::new(time, EventKind::Mark).with_detail(number.to_string())
    }

    #[test]
    fn events_are_written_in_order_and_all_when_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let directory = RunDirectory::open(folder.path());
        let journal = Journal::open(&directory, None).unwrap();
        for number in 0..100 {
            journal.add(&event(number)).unwrap();
        }
        assert!(journal.flush().unwrap());
        assert_eq!(directory.events().unwrap().len(), 100);
        (100..200).for_each(|number| journal.add(&event(number)).unwrap());
        drop(journal);
        let written = directory.events().unwrap();
        let texts: Vec<_> = written.into_iter().filter_map(|one| one.detail).collect();
        let expected: Vec<String> = (0..200).map(|number| number.to_string()).collect();
        assert_eq!(texts, expected);
        assert!(!folder.path().join("reserve").exists());
    }

    #[test]
    fn what_cannot_be_written_is_an_error_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&RunDirectory::open(folder.path()), None).unwrap();
        fs::create_dir(folder.path().join("events.jsonl")).unwrap();
        let _ = journal.add(&event(1));
        assert!(journal.flush().is_err());
        assert!(journal.add(&event(2)).is_err() && journal.flush().is_err());
    }
}
