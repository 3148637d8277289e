//! The file that marks a folder as made by Gristmill, and is locked while the folder is in use. What
//! lacks it is never removed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

pub use engine::session::MARKER;

use crate::matrix;
use crate::orphans::session_of;

/// The file is not open for what is asked.
const EBADF: i32 = 9;

/// What a marked folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// Staged input data.
    Data,
    /// Outputs of a run.
    Output,
    /// A run directory.
    Run,
    /// WORK or utility files of a session.
    Work,
    /// Files of a test of throughput.
    Test,
    /// A factorial series.
    Matrix,
}

impl Holds {
    /// The word in the marker and in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Output => "output",
            Self::Run => "run",
            Self::Work => "work",
            Self::Test => "test",
            Self::Matrix => "matrix",
        }
    }

    fn signature(self) -> String {
        format!("made by gristmill: {}\n", self.name())
    }
}

/// A folder in use: nobody else takes or removes it while this lives.
#[derive(Debug)]
pub struct InUse {
    _locked: File,
}

/// Makes `directory` (and its parents), marks it and takes it into use. One that is there must be
/// marked or empty, and not in use.
pub fn make(directory: &Path, holds: Holds) -> io::Result<InUse> {
    fs::create_dir_all(directory)?;
    if read(directory).is_none() {
        if fs::read_dir(directory)?.next().is_some() {
            if is_in_use(directory) {
                return Err(in_use(directory));
            }
            let message = format!(
                "{} holds files that Gristmill did not make",
                directory.display()
            );
            return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, message));
        }
        fs::write(directory.join(MARKER), holds.signature())?;
    }
    hold(directory)
}

/// Takes a marked folder into use.
pub fn hold(directory: &Path) -> io::Result<InUse> {
    let file = OpenOptions::new()
        .write(true)
        .open(directory.join(MARKER))?;
    match file.try_lock() {
        Ok(()) => Ok(InUse { _locked: file }),
        Err(refused) if is_held(&refused) => Err(in_use(directory)),
        Err(refused) => Err(told(directory, refused.into())),
    }
}

/// An error of a file system that has no locks says nothing of them by itself: "Function not implemented".
fn told(directory: &Path, error: io::Error) -> io::Error {
    let code = ::io::errno::name(::io::errno::code_of(&error));
    if !["ENOLCK", "ENOSYS", "EOPNOTSUPP"].contains(&&*code) {
        return error;
    }
    let message = format!(
        "{} cannot be taken into use: its file system gives no locks (flock: {error}); mount it with them (Lustre: -o \
         flock; NFS 3: a running lock manager)",
        directory.display()
    );
    io::Error::new(error.kind(), message)
}

/// What a folder holds; `None` if it is not marked as ours. A session marks its WORK and utility
/// directories, which have names of their own, with an empty file.
pub fn read(directory: &Path) -> Option<Holds> {
    let path = directory.join(MARKER);
    if !fs::symlink_metadata(&path).ok()?.is_file() {
        return None;
    }
    let Ok(text) = fs::read_to_string(path) else {
        // CIFS lets nobody read what another client has locked. Tests have names of their own, and theirs are read by
        // those who take part; of other folders it is enough to know that they are in use.
        let is_test = is_named_as_test(directory) && is_in_use(directory);
        return is_test.then_some(Holds::Test);
    };
    let known = [
        Holds::Data,
        Holds::Output,
        Holds::Run,
        Holds::Test,
        Holds::Matrix,
    ];
    if let Some(holds) = known.into_iter().find(|holds| text == holds.signature()) {
        return Some(holds);
    }
    let name = directory.file_name()?.to_string_lossy();
    (text.is_empty() && session_of(&name).is_some()).then_some(Holds::Work)
}

/// The folder of ours in which a directory lies, or is, and which is removed as a whole: nothing else is to be made
/// there. Those of a series are made for its runs.
pub fn around(directory: &Path) -> Option<&Path> {
    let of_series = |folder: &Path| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(matrix::FOLDER)
    };
    let is_ours = |folder: &&Path| {
        read(folder).is_some_and(|holds| holds != Holds::Matrix && !of_series(folder))
    };
    directory.ancestors().find(is_ours)
}

/// Whether somebody else has the lock: CIFS says so in the words of a permission.
fn is_held(refused: &TryLockError) -> bool {
    match refused {
        TryLockError::WouldBlock => true,
        TryLockError::Error(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

fn in_use(directory: &Path) -> io::Error {
    let message = format!("{} is in use by another run", directory.display());
    io::Error::new(io::ErrorKind::ResourceBusy, message)
}

fn is_named_as_test(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    ["gristmill-probe-", "gristmill-iotest-"]
        .iter()
        .any(|begin| name.starts_with(begin))
}

/// True if a run holds the folder right now, or may: of another user's that nobody else may open it is not known.
pub fn is_in_use(directory: &Path) -> bool {
    let marker = directory.join(MARKER);
    let opened = OpenOptions::new().write(true).open(&marker);
    let opened = match opened {
        // A lock can be tried on a file that may only be read, too.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(&marker),
        other => other,
    };
    match opened {
        Ok(file) => file.try_lock().is_err_and(|refused| {
            // NFS locks nothing that is open for reading alone: of another's folder it is not known.
            let is_unknown = |error: &io::Error| error.raw_os_error() == Some(EBADF);
            is_held(&refused) || matches!(&refused, TryLockError::Error(error) if is_unknown(error))
        }),
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

/// Files below a folder with their lengths, links not followed. What vanishes meanwhile is passed
/// over: jobs come and go.
pub fn files(directory: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let Some(entries) = unless_gone(fs::read_dir(&directory))? else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            let Some(metadata) = unless_gone(entry.metadata())? else {
                continue;
            };
            if metadata.is_dir() {
                waiting.push(entry.path());
            } else {
                found.push((entry.path(), metadata.len()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `None` for something that is not there any more.
pub(crate) fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_of_somebody_else_is_none_of_ours() {
        let root = tempfile::tempdir().unwrap();
        for text in ["theme=dark\n", "", "data\n"] {
            fs::write(root.path().join(MARKER), text).unwrap();
            assert_eq!(read(root.path()), None, "{text:?}");
        }
        let session = root.path().join("SAS_work00010000001E4B_here");
        fs::create_dir(&session).unwrap();
        fs::write(session.join(MARKER), "").unwrap();
        assert_eq!(read(&session), Some(Holds::Work));
    }

    #[test]
    fn a_file_system_without_locks_is_told() {
        let said = |code| told(Path::new("/d"), io::Error::from_raw_os_error(code)).to_string();
        assert!(
            said(38).starts_with("/d cannot be taken into use: its file system gives no locks")
        );
        assert!(!said(5).contains("locks"));
    }

    #[test]
    fn a_lock_that_is_refused_as_on_cifs_is_held() {
        let denied = io::Error::from_raw_os_error(13);
        assert!(is_held(&TryLockError::Error(denied)));
        assert!(is_held(&TryLockError::WouldBlock));
        let unsupported = io::Error::from_raw_os_error(95);
        assert!(!is_held(&TryLockError::Error(unsupported)));
    }

    #[test]
    fn a_folder_in_use_is_not_taken_twice() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("d");
        let held = make(&path, Holds::Data).unwrap();
        assert!(is_in_use(&path));
        assert!(
            make(&path, Holds::Data)
                .unwrap_err()
                .to_string()
                .contains("another run")
        );
        drop(held);
        assert!(!is_in_use(&path));
        make(&path, Holds::Data).unwrap();
    }
}
