//! Reading ahead: a file that is read block after block is read on by a thread of its own while the
//! step works on the block before. Every block is read once, in order, as without it.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use base::store::{LockKind, Result, StoreFile};

use super::background::{Budget, Leave};

/// Blocks read one after the other before a thread is started: small files and first rows never
/// cause more to be read than is asked for.
const BLOCKS_BEFORE_THREAD: u32 = 8;

/// Blocks that wait to be taken: enough to ride out a slow read, little enough to cost no memory.
const BLOCKS_WAITING: usize = 2;

/// A file that is read ahead.
pub(crate) struct Ahead {
    file: Arc<Box<dyn StoreFile>>,
    budget: Budget,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where a sequential reader goes on, and how long its blocks are.
    next: u64,
    length: usize,
    in_order: u32,
    reader: Option<Reader>,
}

struct Reader {
    /// Taken when the thread is to end.
    blocks: Option<Receiver<Result<Vec<u8>>>>,
    /// Buffers that go back to be filled again.
    buffers: Sender<Vec<u8>>,
    thread: Option<JoinHandle<()>>,
    /// Dropped last: the thread counts until it has ended.
    _leave: Leave,
}

impl Ahead {
    /// `file`, read ahead where `budget` leaves a thread for it.
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

    /// Starts a thread that reads whole blocks from `state.next` on, if there is one and leave.
    fn start(&self, state: &mut State) -> Result<()> {
        let (from, length) = (state.next, state.length);
        let blocks = (self.file.size()?.saturating_sub(from)) / length as u64;
        if blocks > 0 {
            let leave = self.budget.take();
            state.reader =
                leave.map(|leave| Reader::start(self.file.clone(), from, length, blocks, leave));
        }
        Ok(())
    }
}

impl Reader {
    fn start(
        file: Arc<Box<dyn StoreFile>>,
        from: u64,
        length: usize,
        blocks: u64,
        leave: Leave,
    ) -> Self {
        let (filled, taken) = sync_channel(BLOCKS_WAITING);
        let (buffers, returned) = channel();
        let thread = thread::spawn(move || {
            for block in 0..blocks {
                let offset = from + block * length as u64;
                if !read_block(file.as_ref().as_ref(), offset, length, &returned, &filled) {
                    break;
                }
            }
        });
        Self {
            blocks: Some(taken),
            buffers,
            thread: Some(thread),
            _leave: leave,
        }
    }

    /// The next block; `None` when there is no more.
    fn next(&self) -> Option<Result<Vec<u8>>> {
        self.blocks.as_ref()?.recv().ok()
    }
}

/// Reads a block and hands it over; false when nobody wants more, or nothing more can be had.
fn read_block(
    file: &dyn StoreFile,
    offset: u64,
    length: usize,
    returned: &Receiver<Vec<u8>>,
    filled: &SyncSender<Result<Vec<u8>>>,
) -> bool {
    let mut buffer = returned.try_recv().unwrap_or_default();
    buffer.resize(length, 0);
    let read = file.read_at(offset, &mut buffer);
    let whole = read.as_ref().is_ok_and(|count| *count == length);
    let block = read.map(|count| {
        buffer.truncate(count);
        buffer
    });
    filled.send(block).is_ok() && whole
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.blocks.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the thread does not panic");
        }
    }
}

impl StoreFile for Ahead {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut state = self.state();
        let goes_on = offset == state.next && buffer.len() == state.length;
        if goes_on && let Some(reader) = &state.reader {
            if let Some(block) = reader.next() {
                let block = block?;
                buffer[..block.len()].copy_from_slice(&block);
                let count = block.len();
                // It may have ended; then nobody wants the buffer.
                let _ = reader.buffers.send(block);
                state.next += count as u64;
                return Ok(count);
            }
            state.reader = None;
        }
        let count = self.file.read_at(offset, buffer)?;
        if goes_on {
            state.in_order += 1;
        } else {
            state.reader = None;
            state.in_order = 0;
            state.length = buffer.len();
        }
        state.next = offset + count as u64;
        // Once is enough: what is left behind the last whole block is not worth another thread.
        if state.in_order == BLOCKS_BEFORE_THREAD && state.length > 0 && count == state.length {
            self.start(&mut state)?;
        }
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.state().reader = None;
        self.file.write_at(offset, bytes)
    }

    fn size(&self) -> Result<u64> {
        self.file.size()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.file.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.file.unlock()
    }

    fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    fn settle(&self) -> Result<bool> {
        self.file.settle()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { file, state, .. } = *self;
        drop(state);
        Arc::into_inner(file)
            .expect("the thread, its only other owner, has ended")
            .close()
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;
    use std::sync::atomic::AtomicUsize;

    use base::store::faulty::{Fault, FaultyStore, Plan};
    use base::store::memory::MemoryStore;
    use base::store::{Access, Channel, Operation, Store};

    use super::*;

    const BLOCK: usize = 16;

    fn bytes() -> Vec<u8> {
        (0..=255u8).cycle().take(BLOCK * 40 + 5).collect()
    }

    fn ahead(store: &dyn Store) -> Ahead {
        let file = store
            .open(Channel::Input, Path::new("/a"), Access::Read)
            .unwrap();
        Ahead::new(file, Budget::new(Arc::new(AtomicUsize::new(0)), 1))
    }

    fn read_through(file: &Ahead) -> (Vec<u8>, bool) {
        let (mut seen, mut buffer) = (Vec::new(), [0; BLOCK]);
        loop {
            match file.read_at(seen.len() as u64, &mut buffer) {
                Ok(0) => return (seen, true),
                Ok(count) => seen.extend_from_slice(&buffer[..count]),
                Err(_) => return (seen, false),
            }
        }
    }

    #[test]
    fn every_block_is_read_once_and_in_order() {
        let inner = MemoryStore::new();
        inner.put("/a", bytes());
        let fault = Fault::Fail(ErrorKind::Other);
        let plan = Plan {
            operation: Some(Operation::Read),
            channel: None,
            nth: u64::MAX,
            fault,
        };
        let store = FaultyStore::new(inner, plan);
        let file = ahead(&store);
        assert_eq!(read_through(&file), (bytes(), true));
        // Forty whole blocks, the rest, and the end.
        assert_eq!(store.calls(), 42);
        Box::new(file).close().unwrap();
    }

    #[test]
    fn reading_elsewhere_gives_what_is_there() {
        let store = MemoryStore::new();
        store.put("/a", bytes());
        let file = ahead(&store);
        let mut buffer = [0; BLOCK];
        for block in 0..20u64 {
            file.read_at(block * BLOCK as u64, &mut buffer).unwrap();
        }
        file.read_at(3, &mut buffer).unwrap();
        assert_eq!(buffer, bytes()[3..3 + BLOCK]);
        assert_eq!(read_through(&file), (bytes(), true));
    }

    #[test]
    fn a_read_that_fails_ahead_fails_where_it_belongs() {
        let inner = MemoryStore::new();
        inner.put("/a", bytes());
        let fault = Fault::Fail(ErrorKind::Other);
        let plan = Plan {
            operation: Some(Operation::Read),
            channel: None,
            nth: 21,
            fault,
        };
        let store = FaultyStore::new(inner, plan);
        let (seen, complete) = read_through(&ahead(&store));
        assert!(!complete);
        assert_eq!(seen, bytes()[..BLOCK * 20]);
    }
}
