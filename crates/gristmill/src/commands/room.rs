//! A folder that a test makes for itself, and that goes when the test does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench::marker::{self, Holds};

use crate::ui;

/// What another process has open, which is ending, keeps a folder for a moment.
const REMOVALS: u32 = 20;

/// Time between them.
const BETWEEN_REMOVALS: Duration = Duration::from_millis(100);

/// A marked folder below a directory that was named.
pub(super) struct Room {
    /// What was named.
    pub(super) directory: PathBuf,
    /// The folder.
    pub(super) folder: PathBuf,
    in_use: Option<marker::InUse>,
}

impl Room {
    /// Makes one for a verb.
    pub(super) fn make(directory: &Path, verb: &str) -> Result<Self> {
        if !directory.is_dir() {
            bail!("{} is not a directory", directory.display());
        }
        let folder = directory.join(format!("gristmill-{verb}-{}", process::id()));
        let was_there = fs::symlink_metadata(&folder).is_ok();
        let in_use = marker::make(&folder, Holds::Test);
        if in_use.is_err() && !was_there {
            // A full disk may have room for the folder and none for what its marker says.
            let _ = fs::remove_dir_all(&folder);
        }
        let in_use = in_use.with_context(|| format!("failed to make {}", folder.display()))?;
        Ok(Self {
            directory: directory.to_owned(),
            folder,
            in_use: Some(in_use),
        })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // NFS and FUSE keep a file that is removed while it is open under another name, and its folder with it: the
        // marker is closed first.
        self.in_use = None;
        let mut removed = fs::remove_dir_all(&self.folder);
        for _ in 0..REMOVALS {
            let Err(error) = &removed else { return };
            if error.kind() == io::ErrorKind::NotFound {
                return;
            }
            thread::sleep(BETWEEN_REMOVALS);
            removed = fs::remove_dir_all(&self.folder);
        }
        if let Err(error) = removed {
            let path = self.folder.display();
            ui::say(&format!(
                "{path} could not be removed ({error}): gristmill clean removes it"
            ));
        }
    }
}
