//! The file that marks a folder as made by Gristmill. What lacks it is never removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use engine::session::MARKER;

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
}

impl Holds {
    /// The word in the marker and in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Output => "output",
            Self::Run => "run",
            Self::Work => "work",
        }
    }
}

/// Makes `directory` (and its parents) and marks it; one that is there must be marked or empty.
pub fn make(directory: &Path, holds: Holds) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    if read(directory).is_some() {
        return Ok(());
    }
    if fs::read_dir(directory)?.next().is_some() {
        let message = format!(
            "{} holds files that Gristmill did not make",
            directory.display()
        );
        return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, message));
    }
    fs::write(directory.join(MARKER), format!("{}\n", holds.name()))
}

/// What a folder holds; `None` if it is not marked.
pub fn read(directory: &Path) -> Option<Holds> {
    let text = fs::read_to_string(directory.join(MARKER)).ok()?;
    Some(match text.trim() {
        "data" => Holds::Data,
        "output" => Holds::Output,
        "run" => Holds::Run,
        // A session marks its WORK and utility directories with an empty file.
        _ => Holds::Work,
    })
}

/// Files below a folder with their lengths, links not followed.
pub fn files(directory: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else {
                found.push((entry.path(), entry.metadata()?.len()));
            }
        }
    }
    found.sort();
    Ok(found)
}
