//! Writing behind: a file whose writes are carried out by a thread of their own, in order, while the
//! step goes on making rows. What fails is reported by a later call, at the latest by the last one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use base::store::{LockKind, Result, StoreError, StoreFile};

/// Writes carried out before a thread is started: small files never pay for one.
const WRITES_BEFORE_THREAD: u32 = 8;

/// Writes that may wait: enough to ride out a slow one, little enough to cost no memory.
const WRITES_WAITING: usize = 8;

/// A file that writes behind.
pub(crate) struct Background {
    file: Arc<Box<dyn StoreFile>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writes: u32,
    writer: Option<Writer>,
}

/// What the thread is told.
enum Work {
    Write(u64, Vec<u8>),
    /// Answer once everything before is written.
    Answer,
}

struct Writer {
    /// Taken when the thread is to end.
    work: Option<SyncSender<Work>>,
    /// Buffers that come back to be filled again.
    buffers: Receiver<Vec<u8>>,
    /// Answers: everything so far is written, or why not.
    answers: Receiver<Result<()>>,
    failed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// `file`, writing behind.
    pub(crate) fn new(file: Box<dyn StoreFile>) -> Self {
        Self {
            file: Arc::new(file),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until everything is written.
    fn drain(&self) -> Result<()> {
        match &self.state().writer {
            Some(writer) => writer.drain(),
            None => Ok(()),
        }
    }
}

impl Writer {
    fn start(file: Arc<Box<dyn StoreFile>>) -> Self {
        let (work, jobs) = sync_channel(WRITES_WAITING);
        let (returned, buffers) = channel();
        let (answer, answers) = channel();
        let failed = Arc::new(AtomicBool::new(false));
        let flag = failed.clone();
        let thread = thread::spawn(move || {
            let mut failure: Option<StoreError> = None;
            for job in jobs {
                // Whoever gave the work may have gone; then nobody waits for what is sent back.
                match job {
                    Work::Answer => {
                        let _ = answer.send(failure.take().map_or(Ok(()), Err));
                    }
                    Work::Write(offset, bytes) => {
                        if failure.is_none() {
                            failure = file.write_at(offset, &bytes).err();
                            flag.fetch_or(failure.is_some(), Ordering::Relaxed);
                        }
                        let _ = returned.send(bytes);
                    }
                }
            }
        });
        Self {
            work: Some(work),
            buffers,
            answers,
            failed,
            thread: Some(thread),
        }
    }

    fn send(&self, work: Work) {
        let sender = self.work.as_ref().expect("it is taken only at the end");
        sender.send(work).expect("the thread ends only when told");
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            self.drain()?;
        }
        let mut buffer = self.buffers.try_recv().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        self.send(Work::Write(offset, buffer));
        Ok(())
    }

    fn drain(&self) -> Result<()> {
        self.send(Work::Answer);
        self.answers
            .recv()
            .expect("the thread answers every question")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the thread does not panic");
        }
    }
}

impl StoreFile for Background {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.drain()?;
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut state = self.state();
        if let Some(writer) = &state.writer {
            return writer.write(offset, bytes);
        }
        state.writes += 1;
        if state.writes > WRITES_BEFORE_THREAD {
            state.writer = Some(Writer::start(self.file.clone()));
        }
        self.file.write_at(offset, bytes)
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.drain()?;
        self.file.rewrite_at(offset, bytes)
    }

    fn size(&self) -> Result<u64> {
        self.drain()?;
        self.file.size()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.file.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.file.unlock()
    }

    fn sync(&self) -> Result<()> {
        self.drain()?;
        self.file.sync()
    }

    fn settle(&self) -> Result<bool> {
        self.drain()?;
        self.file.settle()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { file, state } = *self;
        let writer = state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .writer;
        let drained = writer.as_ref().map_or(Ok(()), Writer::drain);
        drop(writer);
        let file = Arc::into_inner(file).expect("the thread, its only other owner, has ended");
        drained.and(file.close())
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use base::store::faulty::{Fault, FaultyStore, Plan};
    use base::store::memory::MemoryStore;
    use base::store::{Channel, Creation, Operation, Store};

    use super::*;

    #[test]
    fn what_is_written_behind_arrives_in_order() {
        let store = MemoryStore::new();
        let file = store
            .create(Channel::Util, Path::new("/a"), Creation::New)
            .unwrap();
        let file = Background::new(file);
        for number in 0..200u64 {
            let byte = u8::try_from(number).unwrap();
            file.write_at(number * 4, &[byte; 4]).unwrap();
        }
        file.write_at(0, b"last").unwrap();
        let mut seen = [0; 8];
        file.read_at(0, &mut seen).unwrap();
        assert_eq!(&seen, b"last\x01\x01\x01\x01");
        assert_eq!(file.size().unwrap(), 800);
        Box::new(file).close().unwrap();
    }

    #[test]
    fn a_write_that_fails_behind_is_reported_and_ends_the_writing() {
        let fault = Fault::Fail(ErrorKind::StorageFull);
        let plan = Plan {
            operation: Some(Operation::Write),
            channel: None,
            nth: 20,
            fault,
        };
        let store = FaultyStore::new(MemoryStore::new(), plan);
        let file = store
            .create(Channel::Util, Path::new("/a"), Creation::New)
            .unwrap();
        let file = Background::new(file);
        let outcomes: Vec<_> = (0..1000)
            .map(|number| file.write_at(number, b"x").is_ok())
            .collect();
        let written = outcomes.iter().take_while(|ok| **ok).count();
        assert!((19..40).contains(&written), "{written} writes passed");
        let closed = Box::new(file).close();
        assert!(closed.is_err() || written < 1000);
    }
}
