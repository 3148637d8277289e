//! A store that keeps nothing: every write succeeds and is forgotten, every file is empty. It
//! measures what the engine costs without storage.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    Access, Channel, Creation, FileStat, LockKind, Operation, Result, Store, StoreError, StoreFile,
};

/// Accepts writes and stores nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullStore;

impl Store for NullStore {
    fn open(&self, _: Channel, path: &Path, _: Access) -> Result<Box<dyn StoreFile>> {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        Err(StoreError::new(Operation::Open, path, missing))
    }

    fn create(&self, _: Channel, path: &Path, _: Creation) -> Result<Box<dyn StoreFile>> {
        Ok(Box::new(NullFile {
            path: path.to_owned(),
            end: AtomicU64::new(0),
        }))
    }

    fn rename(&self, _: Channel, _: &Path, _: &Path) -> Result<()> {
        Ok(())
    }

    fn remove(&self, _: Channel, _: &Path) -> Result<()> {
        Ok(())
    }

    fn stat(&self, _: Channel, _: &Path) -> Result<Option<FileStat>> {
        Ok(None)
    }

    fn list(&self, _: Channel, _: &Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn make_directory(&self, _: Channel, _: &Path) -> Result<()> {
        Ok(())
    }

    fn remove_directory(&self, _: Channel, _: &Path) -> Result<()> {
        Ok(())
    }
}

struct NullFile {
    path: PathBuf,
    end: AtomicU64,
}

impl StoreFile for NullFile {
    fn read_at(&self, _: u64, _: &mut [u8]) -> Result<usize> {
        let lost = io::Error::new(io::ErrorKind::Unsupported, "the null store keeps nothing");
        Err(StoreError::new(Operation::Read, &self.path, lost))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.end
            .fetch_max(offset + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.end.fetch_min(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn size(&self) -> Result<u64> {
        Ok(self.end.load(Ordering::Relaxed))
    }

    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
