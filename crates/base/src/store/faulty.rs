//! A store that fails on purpose, for tests: the Nth operation of a kind (or of any kind) fails,
//! writes half of its bytes first, or is delayed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{
    Access, Channel, Creation, FileStat, LockKind, Operation, Result, Store, StoreError, StoreFile,
};

/// What happens at the chosen call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this kind of error, and so does every later matching call.
    Fail(io::ErrorKind),
    /// A write stores the first half of its bytes, then fails as a full disk does.
    ShortWrite,
    /// It is held up, then succeeds.
    Delay(Duration),
}

/// When and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Only calls of this operation count; `None` counts all.
    pub operation: Option<Operation>,
    /// Only calls on this channel count; `None` counts all.
    pub channel: Option<Channel>,
    /// The call that meets the fault, from 1.
    pub nth: u64,
    /// The fault.
    pub fault: Fault,
}

/// Wraps a store and makes it fail by [`Plan`].
pub struct FaultyStore<S> {
    inner: S,
    state: Arc<State>,
}

struct State {
    plan: Plan,
    calls: AtomicU64,
}

impl<S: Store> FaultyStore<S> {
    /// `inner`, failing by `plan`.
    pub fn new(inner: S, plan: Plan) -> Self {
        Self {
            inner,
            state: Arc::new(State {
                plan,
                calls: AtomicU64::new(0),
            }),
        }
    }

    /// Matching calls seen so far: a loop over `nth` stops when this stays below `nth`.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::Relaxed)
    }
}

enum Verdict {
    Pass,
    Half,
}

impl State {
    fn meet(&self, channel: Channel, operation: Operation, path: &Path) -> Result<Verdict> {
        let plan = &self.plan;
        let counts = plan.operation.is_none_or(|wanted| wanted == operation)
            && plan.channel.is_none_or(|wanted| wanted == channel);
        if !counts {
            return Ok(Verdict::Pass);
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        match plan.fault {
            Fault::Fail(kind) if call >= plan.nth => {
                Err(StoreError::new(operation, path, io::Error::from(kind)))
            }
            Fault::ShortWrite if call >= plan.nth && operation == Operation::Write => {
                Ok(Verdict::Half)
            }
            Fault::Delay(time) if call == plan.nth => {
                std::thread::sleep(time);
                Ok(Verdict::Pass)
            }
            _ => Ok(Verdict::Pass),
        }
    }
}

impl<S: Store> Store for FaultyStore<S> {
    fn open(&self, channel: Channel, path: &Path, access: Access) -> Result<Box<dyn StoreFile>> {
        self.state.meet(channel, Operation::Open, path)?;
        let inner = self.inner.open(channel, path, access)?;
        Ok(FaultyFile::boxed(inner, path, channel, &self.state))
    }

    fn create(&self, channel: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>> {
        self.state.meet(channel, Operation::Create, path)?;
        let inner = self.inner.create(channel, path, how)?;
        Ok(FaultyFile::boxed(inner, path, channel, &self.state))
    }

    fn rename(&self, channel: Channel, from: &Path, to: &Path) -> Result<()> {
        self.state.meet(channel, Operation::Rename, from)?;
        self.inner.rename(channel, from, to)
    }

    fn remove(&self, channel: Channel, path: &Path) -> Result<()> {
        self.state.meet(channel, Operation::Unlink, path)?;
        self.inner.remove(channel, path)
    }

    fn stat(&self, channel: Channel, path: &Path) -> Result<Option<FileStat>> {
        self.state.meet(channel, Operation::Stat, path)?;
        self.inner.stat(channel, path)
    }

    fn list(&self, channel: Channel, directory: &Path) -> Result<Vec<String>> {
        self.state.meet(channel, Operation::Directory, directory)?;
        self.inner.list(channel, directory)
    }

    fn make_directory(&self, channel: Channel, path: &Path) -> Result<()> {
        self.state.meet(channel, Operation::Directory, path)?;
        self.inner.make_directory(channel, path)
    }

    fn remove_directory(&self, channel: Channel, path: &Path) -> Result<()> {
        self.state.meet(channel, Operation::Directory, path)?;
        self.inner.remove_directory(channel, path)
    }
}

struct FaultyFile {
    inner: Box<dyn StoreFile>,
    path: PathBuf,
    channel: Channel,
    state: Arc<State>,
}

impl FaultyFile {
    fn boxed(
        inner: Box<dyn StoreFile>,
        path: &Path,
        channel: Channel,
        state: &Arc<State>,
    ) -> Box<dyn StoreFile> {
        Box::new(Self {
            inner,
            path: path.to_owned(),
            channel,
            state: state.clone(),
        })
    }

    fn meet(&self, operation: Operation) -> Result<Verdict> {
        self.state.meet(self.channel, operation, &self.path)
    }
}

impl StoreFile for FaultyFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.meet(Operation::Read)?;
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        match self.meet(Operation::Write)? {
            Verdict::Pass => self.inner.write_at(offset, bytes),
            Verdict::Half => {
                self.inner.write_at(offset, &bytes[..bytes.len() / 2])?;
                let full = io::Error::from(io::ErrorKind::StorageFull);
                Err(StoreError::new(Operation::Write, &self.path, full))
            }
        }
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.meet(Operation::HeaderRewrite)?;
        self.inner.rewrite_at(offset, bytes)
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.meet(Operation::Truncate)?;
        self.inner.truncate(bytes)
    }

    fn size(&self) -> Result<u64> {
        self.meet(Operation::Stat)?;
        self.inner.size()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.meet(Operation::Lock)?;
        self.inner.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.meet(Operation::Unlock)?;
        self.inner.unlock()
    }

    fn sync(&self) -> Result<()> {
        self.meet(Operation::Fsync)?;
        self.inner.sync()
    }

    fn settle(&self) -> Result<bool> {
        self.meet(Operation::Fsync)?;
        self.inner.settle()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.meet(Operation::Close)?;
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::MemoryStore;
    use super::*;

    fn faulty(operation: Operation, nth: u64, fault: Fault) -> FaultyStore<MemoryStore> {
        let plan = Plan {
            operation: Some(operation),
            channel: None,
            nth,
            fault,
        };
        FaultyStore::new(MemoryStore::new(), plan)
    }

    #[test]
    fn the_nth_write_fails_and_the_ones_before_do_not() {
        let store = faulty(Operation::Write, 2, Fault::Fail(io::ErrorKind::StorageFull));
        let file = store
            .create(Channel::Util, Path::new("/a"), Creation::New)
            .unwrap();
        file.write_at(0, b"ab").unwrap();
        let error = file.write_at(2, b"cd").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(store.calls(), 2);
    }

    #[test]
    fn a_short_write_leaves_half_of_the_bytes() {
        let store = faulty(Operation::Write, 1, Fault::ShortWrite);
        let file = store
            .create(Channel::Util, Path::new("/a"), Creation::New)
            .unwrap();
        file.write_at(0, b"abcd").unwrap_err();
        assert_eq!(store.inner.get("/a").unwrap(), b"ab");
    }

    #[test]
    fn errors_survive_the_way_through_io_error() {
        let error = StoreError::new(
            Operation::Read,
            Path::new("/a"),
            io::Error::from(io::ErrorKind::TimedOut),
        );
        let through = StoreError::from_io(error.into(), Operation::Open, Path::new("/b"));
        assert_eq!(
            (through.operation, through.path.as_path()),
            (Operation::Read, Path::new("/a"))
        );
    }
}
