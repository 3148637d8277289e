//! A file system in memory, for tests. Locks work as fcntl locks do: between processes, and dropped
//! when a process closes any of its handles on the file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{
    Access, Channel, Creation, FileStat, LockKind, Operation, Result, Store, StoreError, StoreFile,
};

/// Files and directories in memory. Cloning gives another handle on the same files.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    processes: Arc<AtomicU64>,
    process: u64,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Inode>>,
    directories: BTreeSet<PathBuf>,
}

#[derive(Debug, Default)]
struct Inode {
    bytes: Mutex<Vec<u8>>,
    /// By process.
    locks: Mutex<BTreeMap<u64, LockKind>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn missing() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

impl MemoryStore {
    /// An empty file system with the directory `/`.
    pub fn new() -> Self {
        let store = Self::default();
        locked(&store.state).directories.insert(PathBuf::from("/"));
        store
    }

    /// The same files as another process sees them: only locks tell the difference.
    #[must_use]
    pub fn another_process(&self) -> Self {
        Self {
            process: self.processes.fetch_add(1, Ordering::Relaxed) + 1,
            ..self.clone()
        }
    }

    /// Adds a directory and its parents.
    pub fn add_directory(&self, path: impl AsRef<Path>) {
        let mut state = locked(&self.state);
        for directory in path.as_ref().ancestors() {
            state.directories.insert(directory.to_owned());
        }
    }

    /// Puts a file in place, with its parent directories.
    pub fn put(&self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) {
        if let Some(parent) = path.as_ref().parent() {
            self.add_directory(parent);
        }
        let inode = Inode {
            bytes: Mutex::new(bytes.into()),
            locks: Mutex::default(),
        };
        locked(&self.state)
            .files
            .insert(path.as_ref().to_owned(), Arc::new(inode));
    }

    /// The bytes of a file, if it is there.
    pub fn get(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let inode = locked(&self.state).files.get(path.as_ref()).cloned()?;
        let bytes = locked(&inode.bytes).clone();
        Some(bytes)
    }

    /// Paths of all files, sorted.
    pub fn paths(&self) -> Vec<PathBuf> {
        locked(&self.state).files.keys().cloned().collect()
    }
}

impl Store for MemoryStore {
    fn open(&self, _: Channel, path: &Path, _: Access) -> Result<Box<dyn StoreFile>> {
        let inode = locked(&self.state).files.get(path).cloned();
        match inode {
            Some(inode) => Ok(MemoryFile::boxed(path, inode, self.process)),
            None => Err(StoreError::new(Operation::Open, path, missing())),
        }
    }

    fn create(&self, _: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>> {
        let mut state = locked(&self.state);
        let fail = |kind| {
            Err(StoreError::new(
                Operation::Create,
                path,
                io::Error::from(kind),
            ))
        };
        if !path
            .parent()
            .is_some_and(|parent| state.directories.contains(parent))
        {
            return fail(io::ErrorKind::NotFound);
        }
        if how == Creation::New && state.files.contains_key(path) {
            return fail(io::ErrorKind::AlreadyExists);
        }
        let inode = state.files.entry(path.to_owned()).or_default().clone();
        locked(&inode.bytes).clear();
        Ok(MemoryFile::boxed(path, inode, self.process))
    }

    fn rename(&self, _: Channel, from: &Path, to: &Path) -> Result<()> {
        let mut state = locked(&self.state);
        match state.files.remove(from) {
            Some(inode) => {
                state.files.insert(to.to_owned(), inode);
                Ok(())
            }
            None => Err(StoreError::new(Operation::Rename, from, missing())),
        }
    }

    fn remove(&self, _: Channel, path: &Path) -> Result<()> {
        match locked(&self.state).files.remove(path) {
            Some(_) => Ok(()),
            None => Err(StoreError::new(Operation::Unlink, path, missing())),
        }
    }

    fn stat(&self, _: Channel, path: &Path) -> Result<Option<FileStat>> {
        let state = locked(&self.state);
        if let Some(inode) = state.files.get(path) {
            let bytes = locked(&inode.bytes).len() as u64;
            return Ok(Some(FileStat {
                bytes,
                directory: false,
            }));
        }
        Ok(state.directories.contains(path).then_some(FileStat {
            bytes: 0,
            directory: true,
        }))
    }

    fn list(&self, _: Channel, directory: &Path) -> Result<Vec<String>> {
        let state = locked(&self.state);
        if !state.directories.contains(directory) {
            return Err(StoreError::new(Operation::Directory, directory, missing()));
        }
        let inside = |path: &&PathBuf| path.parent() == Some(directory);
        let mut names: Vec<String> = state
            .files
            .keys()
            .filter(inside)
            .chain(state.directories.iter().filter(inside))
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    fn make_directory(&self, _: Channel, path: &Path) -> Result<()> {
        if locked(&self.state).directories.insert(path.to_owned()) {
            return Ok(());
        }
        let there = io::Error::from(io::ErrorKind::AlreadyExists);
        Err(StoreError::new(Operation::Directory, path, there))
    }

    fn remove_directory(&self, _: Channel, path: &Path) -> Result<()> {
        let mut state = locked(&self.state);
        let fail = |kind| {
            Err(StoreError::new(
                Operation::Directory,
                path,
                io::Error::from(kind),
            ))
        };
        if state
            .files
            .keys()
            .chain(&state.directories)
            .any(|p| p.parent() == Some(path))
        {
            return fail(io::ErrorKind::DirectoryNotEmpty);
        }
        if state.directories.remove(path) {
            Ok(())
        } else {
            fail(io::ErrorKind::NotFound)
        }
    }
}

struct MemoryFile {
    path: PathBuf,
    inode: Arc<Inode>,
    process: u64,
}

impl MemoryFile {
    fn boxed(path: &Path, inode: Arc<Inode>, process: u64) -> Box<dyn StoreFile> {
        Box::new(Self {
            path: path.to_owned(),
            inode,
            process,
        })
    }

    fn release(&self) {
        locked(&self.inode.locks).remove(&self.process);
    }
}

fn position(offset: u64) -> usize {
    usize::try_from(offset).expect("files in memory are smaller than the address space")
}

impl StoreFile for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let bytes = locked(&self.inode.bytes);
        let rest = bytes.get(position(offset)..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, new: &[u8]) -> Result<()> {
        let mut bytes = locked(&self.inode.bytes);
        let start = position(offset);
        let end = start + new.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[start..end].copy_from_slice(new);
        Ok(())
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        locked(&self.inode.bytes).truncate(position(bytes));
        Ok(())
    }

    fn size(&self) -> Result<u64> {
        Ok(locked(&self.inode.bytes).len() as u64)
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        let mut locks = locked(&self.inode.locks);
        let excludes = |(process, held): (&u64, &LockKind)| {
            let exclusive = kind == LockKind::Exclusive || *held == LockKind::Exclusive;
            *process != self.process && exclusive
        };
        if locks.iter().any(excludes) {
            let refused = io::Error::from(io::ErrorKind::WouldBlock);
            return Err(StoreError::new(Operation::Lock, &self.path, refused));
        }
        locks.insert(self.process, kind);
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        self.release();
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> MemoryStore {
        let store = MemoryStore::new();
        store.add_directory("/d");
        store
    }

    #[test]
    fn what_is_written_is_read() {
        let store = store();
        let path = Path::new("/d/a");
        let file = store.create(Channel::Work, path, Creation::New).unwrap();
        file.write_at(3, b"xyz").unwrap();
        let mut buffer = [9; 8];
        assert_eq!(file.read_at(1, &mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"\0\0xyz");
        assert_eq!(store.get(path).unwrap().len(), 6);
    }

    #[test]
    fn an_exclusive_lock_keeps_others_out_until_closed() {
        let store = store();
        store.put("/d/a", *b"");
        let open = |store: &MemoryStore| {
            store
                .open(Channel::Input, Path::new("/d/a"), Access::Read)
                .unwrap()
        };
        let (first, second) = (open(&store), open(&store.another_process()));
        first.lock(LockKind::Exclusive).unwrap();
        assert!(second.lock(LockKind::Shared).unwrap_err().is_locked());
        first.close().unwrap();
        second.lock(LockKind::Shared).unwrap();
        let third = open(&store);
        third.lock(LockKind::Shared).unwrap();
        assert!(second.lock(LockKind::Exclusive).unwrap_err().is_locked());
        // A handle of the same process takes the lock along when it goes.
        drop(open(&store));
        second.lock(LockKind::Exclusive).unwrap();
    }

    #[test]
    fn a_directory_must_exist_to_create_and_be_empty_to_go() {
        let store = store();
        assert!(
            store
                .create(Channel::Work, Path::new("/no/a"), Creation::New)
                .is_err()
        );
        store.put("/d/a", *b"");
        assert!(
            store
                .remove_directory(Channel::Work, Path::new("/d"))
                .is_err()
        );
        store.remove(Channel::Work, Path::new("/d/a")).unwrap();
        store
            .remove_directory(Channel::Work, Path::new("/d"))
            .unwrap();
    }
}
