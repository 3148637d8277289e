//! Writing behind: a file whose writes are carried out by a thread of their own, in order, while the
//! step goes on making rows. What fails is reported by a later call, at the latest by the last one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use base::store::{LockKind, Result, StoreError, StoreFile};

/// Writes carried out before a thread is started: small files never pay for one.
const WRITES_BEFORE_THREAD: u32 = 8;

/// Bytes that may wait: enough to ride out a slow write, little enough to cost no memory. Two writes
/// may wait however large they are, the one in progress among them.
const BYTES_WAITING: usize = 1 << 20;

/// See [`BYTES_WAITING`].
const WRITES_WAITING: usize = 2;

/// Threads that write behind at the same time, of all files of a step together.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    used: Arc<AtomicUsize>,
    most: usize,
}

impl Budget {
    /// At most `most` threads, of which `used` counts those at work.
    pub(crate) fn new(used: Arc<AtomicUsize>, most: usize) -> Self {
        Self { used, most }
    }

    /// Leave for one more thread, if there is any.
    fn take(&self) -> Option<Leave> {
        let more = |used| (used < self.most).then_some(used + 1);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Leave(self.used.clone()))
    }
}

/// Given back when the thread has ended.
struct Leave(Arc<AtomicUsize>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A file that writes behind.
pub(crate) struct Background {
    file: Arc<Box<dyn StoreFile>>,
    budget: Budget,
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
    work: Option<Sender<Work>>,
    /// What waits.
    queue: Arc<Queue>,
    /// Buffers that come back to be filled again.
    buffers: Receiver<Vec<u8>>,
    /// Answers: everything so far is written, or why not.
    answers: Receiver<Result<()>>,
    failed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Dropped last: the thread counts until it has ended.
    _leave: Leave,
}

/// Writes that wait, the one in progress included.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    less: Condvar,
}

#[derive(Default)]
struct Waiting {
    writes: usize,
    bytes: usize,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `bytes` more may wait.
    fn enter(&self, bytes: usize) {
        let full = |waiting: &mut Waiting| {
            waiting.writes >= WRITES_WAITING && waiting.bytes + bytes > BYTES_WAITING
        };
        let mut waiting = self
            .less
            .wait_while(self.waiting(), full)
            .unwrap_or_else(PoisonError::into_inner);
        waiting.writes += 1;
        waiting.bytes += bytes;
    }
}

/// A write in progress; however it ends, it no longer waits then.
struct InProgress<'a> {
    queue: &'a Queue,
    bytes: usize,
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting();
        waiting.writes -= 1;
        waiting.bytes -= self.bytes;
        self.queue.less.notify_one();
    }
}

impl Background {
    /// `file`, writing behind while `budget` has a thread for it.
    pub(crate) fn new(file: Box<dyn StoreFile>, budget: Budget) -> Self {
        Self {
            file: Arc::new(file),
            budget,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
    fn start(file: Arc<Box<dyn StoreFile>>, leave: Leave) -> Self {
        let (work, jobs) = channel();
        let (returned, buffers) = channel();
        let (answer, answers) = channel();
        let failed = Arc::new(AtomicBool::new(false));
        let flag = failed.clone();
        let queue = Arc::new(Queue::default());
        let waiting = queue.clone();
        let thread = thread::spawn(move || {
            let mut failure: Option<StoreError> = None;
            for job in jobs {
                // Whoever gave the work may have gone; then nobody waits for what is sent back.
                match job {
                    Work::Answer => {
                        let _ = answer.send(failure.take().map_or(Ok(()), Err));
                    }
                    Work::Write(offset, bytes) => {
                        let _write = InProgress {
                            queue: &waiting,
                            bytes: bytes.len(),
                        };
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
            queue,
            buffers,
            answers,
            failed,
            thread: Some(thread),
            _leave: leave,
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
        self.queue.enter(bytes.len());
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
    /// Who reads has written what there is to write: the thread ends and another file may have one.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        if let Some(writer) = self.state().writer.take() {
            writer.drain()?;
        }
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut state = self.state();
        if let Some(writer) = &state.writer {
            return writer.write(offset, bytes);
        }
        state.writes += 1;
        if state.writes > WRITES_BEFORE_THREAD {
            let leave = self.budget.take();
            state.writer = leave.map(|leave| Writer::start(self.file.clone(), leave));
        }
        self.file.write_at(offset, bytes)
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.drain()?;
        self.file.rewrite_at(offset, bytes)
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.drain()?;
        self.file.truncate(bytes)
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
        let Self { file, state, .. } = *self;
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

    fn budget(most: usize) -> Budget {
        Budget::new(Arc::default(), most)
    }

    fn memory_file(path: &str) -> Box<dyn StoreFile> {
        MemoryStore::new()
            .create(Channel::Util, Path::new(path), Creation::New)
            .unwrap()
    }

    #[test]
    fn no_more_threads_write_than_the_budget_has() {
        let budget = budget(1);
        let write = |file: &Background| {
            for number in 0..20 {
                file.write_at(number, b"x").unwrap();
            }
            file.state().writer.is_some()
        };
        let first = Background::new(memory_file("/a"), budget.clone());
        let second = Background::new(memory_file("/b"), budget.clone());
        assert!(write(&first) && !write(&second));
        first.read_at(0, &mut [0]).unwrap();
        assert!(first.state().writer.is_none() && write(&second));
        second.read_at(0, &mut [0]).unwrap();
        assert!(write(&first) && !write(&second));
        assert_eq!(second.size().unwrap(), 20);
        Box::new(first).close().unwrap();
        assert!(write(&second), "the thread is given back");
        Box::new(second).close().unwrap();
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_waits_is_bounded_by_bytes() {
        let queue = Queue::default();
        queue.enter(100 << 20);
        queue.enter(100 << 20);
        thread::scope(|scope| {
            let third = scope.spawn(|| queue.enter(1));
            thread::sleep(std::time::Duration::from_millis(20));
            assert!(!third.is_finished(), "two large writes wait already");
            let bytes = 100 << 20;
            drop(InProgress {
                queue: &queue,
                bytes,
            });
            third.join().unwrap();
        });
        let small = Queue::default();
        for _ in 0..BYTES_WAITING / 4096 {
            small.enter(4096);
        }
        assert_eq!(small.waiting().bytes, BYTES_WAITING);
    }

    #[test]
    fn what_is_written_behind_arrives_in_order() {
        let store = MemoryStore::new();
        let file = store
            .create(Channel::Util, Path::new("/a"), Creation::New)
            .unwrap();
        let file = Background::new(file, budget(1));
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
        let file = Background::new(file, budget(1));
        let block = vec![0; 65_536];
        let outcomes: Vec<_> = (0..1000)
            .map(|number| file.write_at(number, &block).is_ok())
            .collect();
        let written = outcomes.iter().take_while(|ok| **ok).count();
        assert!((19..40).contains(&written), "{written} writes passed");
        let closed = Box::new(file).close();
        assert!(closed.is_err() || written < 1000);
    }
}
