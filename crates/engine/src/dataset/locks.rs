//! Data sets that LOCK statements keep from other sessions.
//!
//! A lock belongs to the process and is gone when it closes any of its handles on the file. So while
//! a data set is locked no handle on it is closed: those that steps give back wait here to be opened
//! again, and end with the lock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::store::{Access, Channel, LockKind, Result, Store, StoreFile};

/// The data sets that are locked, by the path of their files.
#[derive(Default)]
pub(crate) struct Locks {
    held: BTreeMap<PathBuf, Held>,
}

/// How a data set is locked.
enum Held {
    /// By name alone: one of WORK, or without file locks.
    Name,
    /// By a lock of its file.
    File(Arc<Handles>),
}

/// Handles on a locked file that nobody uses now.
#[derive(Default)]
struct Handles {
    idle: Mutex<Vec<Handle>>,
}

struct Handle {
    channel: Channel,
    access: Access,
    file: Box<dyn StoreFile>,
}

impl Locks {
    /// Whether the session holds a lock on the data set in `path`.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.held.contains_key(path)
    }

    /// Locks a data set by name alone.
    pub(crate) fn add_name(&mut self, path: PathBuf) {
        self.held.insert(path, Held::Name);
    }

    /// Locks a data set by its file, which is open for change and locked.
    pub(crate) fn add_file(&mut self, path: PathBuf, channel: Channel, file: Box<dyn StoreFile>) {
        let handles = Handles::default();
        handles.idle().push(Handle {
            channel,
            access: Access::Update,
            file,
        });
        self.held.insert(path, Held::File(Arc::new(handles)));
    }

    /// A new file has come in the place of the one in `path`: the lock goes over to it. Closes it
    /// where there is none.
    pub(crate) fn replaced(
        &mut self,
        path: PathBuf,
        channel: Channel,
        file: Box<dyn StoreFile>,
    ) -> Result<()> {
        if let Some(Held::File(_)) = self.held.get(&path) {
            self.add_file(path, channel, file);
            return Ok(());
        }
        file.close()
    }

    /// Gives a lock up; false if there is none.
    pub(crate) fn release(&mut self, path: &Path) -> bool {
        self.held.remove(path).is_some()
    }

    /// Opens the file of a data set.
    pub(crate) fn open(
        &self,
        store: &dyn Store,
        channel: Channel,
        path: &Path,
        access: Access,
    ) -> Result<Box<dyn StoreFile>> {
        let Some(Held::File(handles)) = self.held.get(path) else {
            return store.open(channel, path, access);
        };
        let known = handles.take(channel, access);
        let file = match known {
            Some(file) => file,
            None => store.open(channel, path, access)?,
        };
        Ok(Box::new(Kept {
            file: Some(file),
            channel,
            access,
            handles: handles.clone(),
        }))
    }
}

impl Handles {
    fn idle(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, channel: Channel, access: Access) -> Option<Box<dyn StoreFile>> {
        let mut idle = self.idle();
        let fits = |one: &Handle| one.channel == channel && one.access == access;
        let index = idle.iter().position(fits)?;
        Some(idle.swap_remove(index).file)
    }
}

/// A handle on a locked file. It goes back when it is closed.
struct Kept {
    /// Taken when it goes back.
    file: Option<Box<dyn StoreFile>>,
    channel: Channel,
    access: Access,
    handles: Arc<Handles>,
}

impl Kept {
    fn file(&self) -> &dyn StoreFile {
        let file = self.file.as_deref();
        file.expect("it goes back only when this is dropped")
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            self.handles.idle().push(Handle {
                channel: self.channel,
                access: self.access,
                file,
            });
        }
    }
}

impl StoreFile for Kept {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.file().read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file().write_at(offset, bytes)
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file().rewrite_at(offset, bytes)
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.file().truncate(bytes)
    }

    fn size(&self) -> Result<u64> {
        self.file().size()
    }

    /// The session has the lock that keeps everybody else out.
    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.file().sync()
    }

    fn settle(&self) -> Result<bool> {
        self.file().settle()
    }

    fn close(self: Box<Self>) -> Result<()> {
        if self.access == Access::Update {
            self.settle()?;
        }
        Ok(())
    }
}
