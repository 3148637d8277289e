//! The real file system: `pread` and `pwrite` through the page cache, or past it with `O_DIRECT`.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::store::{
    Access, Channel, Creation, FileStat, LockKind, Operation, Result, Store, StoreError, StoreFile,
};
use rustix::fs::{Advice, FlockOperation};

/// Offsets, lengths and addresses of direct transfers are multiples of this, bytes: the largest
/// logical block in use.
const DIRECT_ALIGNMENT: usize = 4096;

/// `f_type` of file systems that report failed writes when a file is closed (linux/magic.h, and
/// their own headers): NFS, SMB, CIFS, SMB2, Lustre, AFS, Ceph, GPFS, FUSE.
const NETWORK_FILE_SYSTEMS: [rustix::fs::FsWord; 9] = [
    0x6969,
    0x517B,
    0xFF53_4D42,
    0xFE53_4D42,
    0x0BD0_0BD0,
    0x5346_414F,
    0x00C3_6400,
    0x4750_4653,
    0x6573_5546,
];

/// How files are accessed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RealStore {
    /// Transfer aligned blocks with `O_DIRECT`, past the page cache.
    pub direct: bool,
    /// Tell the kernel that files are read sequentially (`POSIX_FADV_SEQUENTIAL`).
    pub advise_sequential: bool,
}

impl RealStore {
    fn finish(self, path: &Path, file: File, operation: Operation) -> Result<Box<dyn StoreFile>> {
        let fail = |error| StoreError::new(operation, path, error);
        if self.advise_sequential {
            rustix::fs::fadvise(&file, 0, None, Advice::Sequential)
                .map_err(|error| fail(error.into()))?;
        }
        let direct = if self.direct {
            Some(direct_handle(path, &file).map_err(fail)?)
        } else {
            None
        };
        Ok(Box::new(RealFile {
            path: path.to_owned(),
            file,
            direct,
        }))
    }
}

/// A second handle on the same file that bypasses the page cache, with the same access mode.
fn direct_handle(path: &Path, file: &File) -> io::Result<File> {
    let writable = rustix::fs::fcntl_getfl(file)?.contains(rustix::fs::OFlags::RDWR);
    OpenOptions::new()
        .read(true)
        .write(writable)
        .custom_flags(libc::O_DIRECT)
        .open(path)
}

/// Says what `ELOOP` means where links are not followed.
fn unfollowed(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ELOOP) {
        return io::Error::other("it is a symbolic link, which is not written through; remove it");
    }
    error
}

impl Store for RealStore {
    fn open(&self, _: Channel, path: &Path, access: Access) -> Result<Box<dyn StoreFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(access == Access::Update)
            .open(path)
            .map_err(|error| StoreError::new(Operation::Open, path, error))?;
        self.finish(path, file, Operation::Open)
    }

    fn create(&self, _: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>> {
        let mut options = OpenOptions::new();
        // What is made is never made through a link that somebody left in its place.
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW);
        match how {
            Creation::New => options.create_new(true),
            Creation::Replace => options.create(true).truncate(true),
        };
        let file = options
            .open(path)
            .map_err(|error| StoreError::new(Operation::Create, path, unfollowed(error)))?;
        self.finish(path, file, Operation::Create)
    }

    fn rename(&self, _: Channel, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(|error| StoreError::new(Operation::Rename, from, error))
    }

    fn remove(&self, _: Channel, path: &Path) -> Result<()> {
        fs::remove_file(path).map_err(|error| StoreError::new(Operation::Unlink, path, error))
    }

    fn stat(&self, _: Channel, path: &Path) -> Result<Option<FileStat>> {
        match fs::metadata(path) {
            Ok(found) => Ok(Some(FileStat {
                bytes: found.len(),
                directory: found.is_dir(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::new(Operation::Stat, path, error)),
        }
    }

    fn list(&self, _: Channel, directory: &Path) -> Result<Vec<String>> {
        let names = || -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in fs::read_dir(directory)? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.sort_unstable();
            Ok(names)
        };
        names().map_err(|error| StoreError::new(Operation::Directory, directory, error))
    }

    fn make_directory(&self, _: Channel, path: &Path) -> Result<()> {
        fs::create_dir(path).map_err(|error| StoreError::new(Operation::Directory, path, error))
    }

    fn remove_directory(&self, _: Channel, path: &Path) -> Result<()> {
        fs::remove_dir(path).map_err(|error| StoreError::new(Operation::Directory, path, error))
    }
}

struct RealFile {
    path: PathBuf,
    file: File,
    direct: Option<File>,
}

impl RealFile {
    fn check<T>(&self, operation: Operation, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| StoreError::new(operation, &self.path, error))
    }

    /// The handle that bypasses the cache, if this transfer is one it can take.
    fn direct_for(&self, offset: u64, length: usize) -> Option<&File> {
        let aligned = offset.is_multiple_of(DIRECT_ALIGNMENT as u64)
            && length.is_multiple_of(DIRECT_ALIGNMENT)
            && length > 0;
        self.direct.as_ref().filter(|_| aligned)
    }
}

/// Reads until `buffer` is full or the file ends.
fn read_full(file: &File, mut offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset) {
            Ok(0) => break,
            Ok(count) => {
                done += count;
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

thread_local! {
    /// Where direct transfers of unaligned buffers are staged; grows to the largest block used.
    static STAGING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `transfer` on `length` bytes of aligned staging memory.
fn staged<T>(length: usize, transfer: impl FnOnce(&mut [u8]) -> io::Result<T>) -> io::Result<T> {
    STAGING.with_borrow_mut(|staging| {
        if staging.len() < length + DIRECT_ALIGNMENT {
            staging.resize(length + DIRECT_ALIGNMENT, 0);
        }
        let start = staging.as_ptr().align_offset(DIRECT_ALIGNMENT);
        transfer(&mut staging[start..start + length])
    })
}

impl StoreFile for RealFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let result = match self.direct_for(offset, buffer.len()) {
            None => read_full(&self.file, offset, buffer),
            Some(direct) => staged(buffer.len(), |aligned| {
                let count = read_full(direct, offset, aligned)?;
                buffer[..count].copy_from_slice(&aligned[..count]);
                Ok(count)
            }),
        };
        self.check(Operation::Read, result)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let result = match self.direct_for(offset, bytes.len()) {
            None => self.file.write_all_at(bytes, offset),
            Some(direct) => staged(bytes.len(), |aligned| {
                aligned.copy_from_slice(bytes);
                direct.write_all_at(aligned, offset)
            }),
        };
        self.check(Operation::Write, result)
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.check(Operation::Truncate, self.file.set_len(bytes))
    }

    fn size(&self) -> Result<u64> {
        self.check(
            Operation::Stat,
            self.file.metadata().map(|found| found.len()),
        )
    }

    /// POSIX record locks (`F_SETLK`) as SAS takes them: held by the process, and dropped when any
    /// of its handles on the file is closed.
    fn lock(&self, kind: LockKind) -> Result<()> {
        let operation = match kind {
            LockKind::Shared => FlockOperation::NonBlockingLockShared,
            LockKind::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        let result = rustix::fs::fcntl_lock(&self.file, operation).map_err(|error| match error {
            rustix::io::Errno::ACCESS => io::ErrorKind::WouldBlock.into(),
            other => io::Error::from(other),
        });
        self.check(Operation::Lock, result)
    }

    fn unlock(&self) -> Result<()> {
        let result = rustix::fs::fcntl_lock(&self.file, FlockOperation::NonBlockingUnlock);
        self.check(Operation::Unlock, result.map_err(io::Error::from))
    }

    fn sync(&self) -> Result<()> {
        self.check(Operation::Fsync, self.file.sync_all())
    }

    fn settle(&self) -> Result<bool> {
        let found = rustix::fs::fstatfs(&self.file).map_err(io::Error::from);
        let found = self.check(Operation::Fsync, found)?;
        if NETWORK_FILE_SYSTEMS.contains(&found.f_type) {
            return self.check(Operation::Fsync, self.file.sync_data().map(|()| true));
        }
        Ok(false)
    }

    /// `std` ignores what `close` answers; a network file system reports lost writes there, so the
    /// descriptor is closed by hand.
    fn close(self: Box<Self>) -> Result<()> {
        let Self { path, file, direct } = *self;
        drop(direct);
        crate::process::close(file).map_err(|e| StoreError::new(Operation::Close, &path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(store: RealStore, length: usize) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let file = store.create(Channel::Work, &path, Creation::New).unwrap();
        let bytes: Vec<u8> = (0..=250u8).cycle().take(length).collect();
        file.write_at(0, &bytes[..length / 2]).unwrap();
        file.write_at(length as u64 / 2, &bytes[length / 2..])
            .unwrap();
        file.close().unwrap();
        let file = store.open(Channel::Work, &path, Access::Read).unwrap();
        assert_eq!(file.size().unwrap(), length as u64);
        let mut read = vec![0; length + 10];
        assert_eq!(file.read_at(0, &mut read).unwrap(), length);
        assert_eq!(&read[..length], &bytes[..]);
    }

    #[test]
    fn bytes_come_back_buffered_and_direct() {
        for direct in [false, true] {
            let store = RealStore {
                direct,
                advise_sequential: true,
            };
            round_trip(store, 8192 * 3);
            round_trip(store, 8192 + 17);
            round_trip(store, 0);
        }
    }

    #[test]
    fn a_missing_file_is_no_error_to_stat_but_one_to_open() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none");
        let store = RealStore::default();
        assert_eq!(store.stat(Channel::Input, &path).unwrap(), None);
        let error = store
            .open(Channel::Input, &path, Access::Read)
            .err()
            .unwrap();
        assert!(error.to_string().contains("open of"), "{error}");
    }

    #[test]
    fn a_symbolic_link_is_not_written_through() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (
            directory.path().join("kept"),
            directory.path().join("a.lck"),
        );
        fs::write(&target, "precious").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for how in [Creation::New, Creation::Replace] {
            let made = RealStore::default().create(Channel::Output, &link, how);
            assert!(made.is_err());
        }
        let made = RealStore::default().create(Channel::Output, &link, Creation::Replace);
        let error = made.err().unwrap().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    }

    #[test]
    fn locks_of_one_process_never_refuse_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let store = RealStore::default();
        let first = store.create(Channel::Output, &path, Creation::New).unwrap();
        let second = store.open(Channel::Output, &path, Access::Update).unwrap();
        first.lock(LockKind::Exclusive).unwrap();
        second.lock(LockKind::Exclusive).unwrap();
        second.unlock().unwrap();
    }
}
