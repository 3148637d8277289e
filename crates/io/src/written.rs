//! What a process leaves in permanent files, block by block, so that it can be compared later with what
//! is read back from storage.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use base::rowhash::hash_bytes;
use base::store::{Access, Channel, Creation, FileStat, LockKind, Result, Store, StoreFile};

/// Blocks of a file that are kept before they are told: 200 kB of memory for each open file.
const KEPT: usize = 8192;

/// Bytes of a file that were written by one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Where it begins, bytes.
    pub offset: u64,
    /// Its length, bytes.
    pub bytes: u32,
    /// XXH3-64 of what was written.
    pub hash: u64,
}

/// What became of a permanent file. Told in order, they say what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<'a> {
    /// It was made, or emptied.
    Created,
    /// These blocks were written, in this order; each replaces what was in its place.
    Written(&'a [Block]),
    /// It ends here now, bytes.
    Truncated(u64),
    /// It has another name now, and replaces what had it.
    Renamed(&'a Path),
    /// It is gone.
    Removed,
}

/// Told of every change, with the file it happened to.
pub type Observer = dyn Fn(&Path, &Change<'_>) + Send + Sync;

/// A store that tells what becomes of the files of [`Channel::Output`].
pub struct WitnessedStore<S> {
    inner: S,
    witness: Arc<Witness>,
}

struct Witness {
    observer: Box<Observer>,
    /// Files open for writing by name.
    open: Mutex<HashMap<PathBuf, Weak<Mutex<Pending>>>>,
}

/// An open file's name, and what was written to it but not told yet.
struct Pending {
    path: PathBuf,
    blocks: Vec<Block>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Witness {
    fn tell(&self, pending: &mut Pending) {
        if !pending.blocks.is_empty() {
            (self.observer)(&pending.path, &Change::Written(&pending.blocks));
            pending.blocks.clear();
        }
    }

    fn watch(self: &Arc<Self>, path: &Path, inner: Box<dyn StoreFile>) -> Box<dyn StoreFile> {
        let pending = Arc::new(Mutex::new(Pending {
            path: path.to_owned(),
            blocks: Vec::new(),
        }));
        locked(&self.open).insert(path.to_owned(), Arc::downgrade(&pending));
        Box::new(WitnessedFile {
            inner: Some(inner),
            pending,
            witness: self.clone(),
        })
    }

    fn renamed(&self, from: &Path, to: &Path) {
        let mut open = locked(&self.open);
        let moved = open.remove(from).and_then(|file| file.upgrade());
        if let Some(file) = &moved {
            let mut pending = locked(file);
            self.tell(&mut pending);
            to.clone_into(&mut pending.path);
        }
        (self.observer)(from, &Change::Renamed(to));
        match moved {
            Some(file) => open.insert(to.to_owned(), Arc::downgrade(&file)),
            None => open.remove(to),
        };
    }
}

impl<S: Store> WitnessedStore<S> {
    /// `inner`, whose permanent files `observer` is told of.
    pub fn new(inner: S, observer: Box<Observer>) -> Self {
        let witness = Witness {
            observer,
            open: Mutex::default(),
        };
        Self {
            inner,
            witness: Arc::new(witness),
        }
    }
}

impl<S: Store> Store for WitnessedStore<S> {
    fn open(&self, channel: Channel, path: &Path, access: Access) -> Result<Box<dyn StoreFile>> {
        let file = self.inner.open(channel, path, access)?;
        if channel == Channel::Output && access == Access::Update {
            return Ok(self.witness.watch(path, file));
        }
        Ok(file)
    }

    fn create(&self, channel: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>> {
        let file = self.inner.create(channel, path, how)?;
        if channel == Channel::Output {
            (self.witness.observer)(path, &Change::Created);
            return Ok(self.witness.watch(path, file));
        }
        Ok(file)
    }

    fn rename(&self, channel: Channel, from: &Path, to: &Path) -> Result<()> {
        self.inner.rename(channel, from, to)?;
        if channel == Channel::Output {
            self.witness.renamed(from, to);
        }
        Ok(())
    }

    fn remove(&self, channel: Channel, path: &Path) -> Result<()> {
        self.inner.remove(channel, path)?;
        if channel == Channel::Output {
            (self.witness.observer)(path, &Change::Removed);
        }
        Ok(())
    }

    fn stat(&self, channel: Channel, path: &Path) -> Result<Option<FileStat>> {
        self.inner.stat(channel, path)
    }

    fn list(&self, channel: Channel, directory: &Path) -> Result<Vec<String>> {
        self.inner.list(channel, directory)
    }

    fn make_directory(&self, channel: Channel, path: &Path) -> Result<()> {
        self.inner.make_directory(channel, path)
    }

    fn remove_directory(&self, channel: Channel, path: &Path) -> Result<()> {
        self.inner.remove_directory(channel, path)
    }
}

struct WitnessedFile {
    /// Gone only while it is closed.
    inner: Option<Box<dyn StoreFile>>,
    pending: Arc<Mutex<Pending>>,
    witness: Arc<Witness>,
}

impl WitnessedFile {
    fn inner(&self) -> &dyn StoreFile {
        self.inner
            .as_deref()
            .expect("it is there until it is closed")
    }

    fn wrote(&self, offset: u64, bytes: &[u8]) {
        let mut pending = locked(&self.pending);
        pending.blocks.push(Block {
            offset,
            bytes: u32::try_from(bytes.len()).expect("a write is shorter than 4 GiB"),
            hash: hash_bytes(bytes),
        });
        if pending.blocks.len() >= KEPT {
            self.witness.tell(&mut pending);
        }
    }

    fn tell(&self) {
        self.witness.tell(&mut locked(&self.pending));
    }
}

impl StoreFile for WitnessedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.inner().read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.inner().write_at(offset, bytes)?;
        self.wrote(offset, bytes);
        Ok(())
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.inner().rewrite_at(offset, bytes)?;
        self.wrote(offset, bytes);
        Ok(())
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.inner().truncate(bytes)?;
        let mut pending = locked(&self.pending);
        self.witness.tell(&mut pending);
        (self.witness.observer)(&pending.path, &Change::Truncated(bytes));
        Ok(())
    }

    fn size(&self) -> Result<u64> {
        self.inner().size()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.inner().lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.tell();
        self.inner().unlock()
    }

    fn sync(&self) -> Result<()> {
        self.inner().sync()
    }

    fn settle(&self) -> Result<bool> {
        self.inner().settle()
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        // Closing drops the lock: whoever takes it then tells of later changes.
        self.tell();
        self.inner.take().map_or(Ok(()), StoreFile::close)
    }
}

impl Drop for WitnessedFile {
    fn drop(&mut self) {
        self.tell();
        let path = locked(&self.pending).path.clone();
        let mut open = locked(&self.witness.open);
        let own = Arc::downgrade(&self.pending);
        if open.get(&path).is_some_and(|other| other.ptr_eq(&own)) {
            open.remove(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::store::memory::MemoryStore;

    /// What a store tells while `work` is done in it.
    fn told(work: impl Fn(&dyn Store)) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let observer = move |path: &Path, change: &Change<'_>| {
            let text = match change {
                Change::Written(blocks) => {
                    let places = blocks.iter().map(|one| (one.offset, one.bytes));
                    format!("Written({:?})", places.collect::<Vec<_>>())
                }
                other => format!("{other:?}"),
            };
            kept.lock()
                .unwrap()
                .push(format!("{} {text}", path.display()));
        };
        work(&WitnessedStore::new(MemoryStore::new(), Box::new(observer)));
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn what_becomes_of_permanent_files_is_told_in_order() {
        let lines = told(|store| {
            let (part, whole) = (Path::new("/a.lck"), Path::new("/a"));
            let file = store.create(Channel::Output, part, Creation::New).unwrap();
            file.write_at(0, &[1; 10]).unwrap();
            file.write_at(10, &[2; 20]).unwrap();
            file.rewrite_at(0, &[3; 10]).unwrap();
            store.rename(Channel::Output, part, whole).unwrap();
            // Whoever writes on writes to the file under its new name.
            file.write_at(30, &[2; 5]).unwrap();
            file.truncate(32).unwrap();
            file.close().unwrap();
            let file = store.open(Channel::Output, whole, Access::Update).unwrap();
            file.write_at(32, &[4]).unwrap();
            drop(file);
            store.remove(Channel::Output, whole).unwrap();
        });
        let wanted = [
            "/a.lck Created",
            "/a.lck Written([(0, 10), (10, 20), (0, 10)])",
            "/a.lck Renamed(\"/a\")",
            "/a Written([(30, 5)])",
            "/a Truncated(32)",
            "/a Written([(32, 1)])",
            "/a Removed",
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn temporary_files_and_reads_are_nobodys_business() {
        let lines = told(|store| {
            let path = Path::new("/w");
            let file = store.create(Channel::Work, path, Creation::New).unwrap();
            file.write_at(0, &[1; 10]).unwrap();
            file.close().unwrap();
            let file = store.open(Channel::Input, path, Access::Read).unwrap();
            file.read_at(0, &mut [0; 10]).unwrap();
        });
        assert_eq!(lines, [""; 0]);
    }

    #[test]
    fn long_files_are_told_while_they_grow() {
        let lines = told(|store| {
            let path = Path::new("/long");
            let file = store.create(Channel::Output, path, Creation::New).unwrap();
            for page in 0..=KEPT as u64 {
                file.write_at(page, &[0]).unwrap();
            }
        });
        assert_eq!(lines.len(), 3);
        assert!(lines[2].ends_with("Written([(8192, 1)])"), "{}", lines[2]);
    }
}
