//! Files as the engine sees them. The real stores live in the `io` room; the [`memory`], [`null`]
//! and [`faulty`] stores here serve tests and benchmarks and behave the same.
//!
//! Every call says which [`Channel`] it belongs to, so that an accounting store can tell permanent
//! data from WORK and utility files without knowing what a library is.

pub mod faulty;
pub mod memory;
pub mod null;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where a byte goes. `Input` and `Output` split permanent data: a permanent file opened for
/// reading counts as input, one that is created or changed counts as output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// Permanent data read.
    Input,
    /// Permanent data made or changed.
    Output,
    /// The WORK library.
    Work,
    /// Utility files.
    Util,
}

impl Channel {
    /// All channels in the order they are printed.
    pub const ALL: [Self; 4] = [Self::Input, Self::Output, Self::Work, Self::Util];

    /// The name used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Work => "work",
            Self::Util => "util",
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was asked of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Open an existing file.
    Open,
    /// Create a file.
    Create,
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Take an fcntl lock.
    Lock,
    /// Drop an fcntl lock.
    Unlock,
    /// Write the header page again when a data set is closed.
    HeaderRewrite,
    /// Rename a file.
    Rename,
    /// Remove a file.
    Unlink,
    /// Shorten a file.
    Truncate,
    /// Flush a file to stable storage.
    Fsync,
    /// Look at a file's existence or size.
    Stat,
    /// Close a file (network file systems report write errors here).
    Close,
    /// Make, list or remove a directory.
    Directory,
}

impl Operation {
    /// All operations in the order they are printed.
    pub const ALL: [Self; 14] = [
        Self::Open,
        Self::Create,
        Self::Read,
        Self::Write,
        Self::Lock,
        Self::Unlock,
        Self::HeaderRewrite,
        Self::Rename,
        Self::Unlink,
        Self::Truncate,
        Self::Fsync,
        Self::Stat,
        Self::Close,
        Self::Directory,
    ];

    /// The name used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Create => "create",
            Self::Read => "read",
            Self::Write => "write",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::HeaderRewrite => "header_rewrite",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Truncate => "truncate",
            Self::Fsync => "fsync",
            Self::Stat => "stat",
            Self::Close => "close",
            Self::Directory => "directory",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file operation that failed: which, on what, why.
#[derive(Debug, thiserror::Error)]
#[error("{operation} of {} failed: {source}", path.display())]
pub struct StoreError {
    /// What was asked.
    pub operation: Operation,
    /// Of which file.
    pub path: PathBuf,
    /// The operating system's answer.
    pub source: io::Error,
}

impl StoreError {
    /// The failure of `operation` on `path`.
    pub fn new(operation: Operation, path: &Path, source: io::Error) -> Self {
        Self {
            operation,
            path: path.to_owned(),
            source,
        }
    }

    /// True when a lock was refused because another process holds it.
    pub fn is_locked(&self) -> bool {
        self.operation == Operation::Lock && self.source.kind() == io::ErrorKind::WouldBlock
    }
}

/// So that a codec that speaks `io::Error` can carry a store's error through; see
/// [`StoreError::from_io`].
impl From<StoreError> for io::Error {
    fn from(error: StoreError) -> Self {
        Self::new(error.source.kind(), error)
    }
}

impl StoreError {
    /// Recovers the store's error from an `io::Error` made by `From<StoreError>`; any other
    /// `io::Error` becomes a failure of `operation` on `path`.
    pub fn from_io(error: io::Error, operation: Operation, path: &Path) -> Self {
        match error.downcast::<Self>() {
            Ok(inner) => inner,
            Err(other) => Self::new(operation, path, other),
        }
    }
}

/// Result of a file operation.
pub type Result<T> = std::result::Result<T, StoreError>;

/// How an existing file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write in place.
    Update,
}

/// How a file is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// Fails if the file is there.
    New,
    /// Empties a file that is there.
    Replace,
}

/// An fcntl lock over a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// Other readers may hold it too.
    Shared,
    /// Nobody else may hold it.
    Exclusive,
}

/// What is known of a file without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// Length, bytes.
    pub bytes: u64,
    /// True for a directory.
    pub directory: bool,
}

/// A file system.
pub trait Store: Send + Sync {
    /// Opens an existing file.
    fn open(&self, channel: Channel, path: &Path, access: Access) -> Result<Box<dyn StoreFile>>;

    /// Creates a file, open for reading and writing.
    fn create(&self, channel: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>>;

    /// Renames a file, replacing one that is there.
    fn rename(&self, channel: Channel, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file.
    fn remove(&self, channel: Channel, path: &Path) -> Result<()>;

    /// What is at `path`; `None` if nothing is.
    fn stat(&self, channel: Channel, path: &Path) -> Result<Option<FileStat>>;

    /// Names in a directory, sorted.
    fn list(&self, channel: Channel, directory: &Path) -> Result<Vec<String>>;

    /// Makes a directory; fails if it is there.
    fn make_directory(&self, channel: Channel, path: &Path) -> Result<()>;

    /// Removes a directory that is empty.
    fn remove_directory(&self, channel: Channel, path: &Path) -> Result<()>;
}

/// An open file. Offsets are absolute: there is no file position, so threads may share a file.
pub trait StoreFile: Send + Sync {
    /// Reads at `offset` until `buffer` is full or the file ends; returns the bytes read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Writes all of `bytes` at `offset` again when a data set is closed; accounted apart.
    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.write_at(offset, bytes)
    }

    /// Cuts the file off behind `bytes` bytes.
    fn truncate(&self, bytes: u64) -> Result<()>;

    /// Length now, bytes.
    fn size(&self) -> Result<u64>;

    /// Takes a lock or fails at once; [`StoreError::is_locked`] tells a refusal from a failure.
    fn lock(&self, kind: LockKind) -> Result<()>;

    /// Drops the lock.
    fn unlock(&self) -> Result<()>;

    /// Flushes data and metadata to stable storage.
    fn sync(&self) -> Result<()>;

    /// Makes sure that closing cannot fail any more: a network file system sends its delayed writes
    /// (and reports a full disk) now, which counts as an fsync. Elsewhere it does nothing and
    /// returns false.
    fn settle(&self) -> Result<bool> {
        Ok(false)
    }

    /// Closes the file and reports what only then becomes known.
    fn close(self: Box<Self>) -> Result<()>;
}
