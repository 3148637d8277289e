//! Which files are meant: those that are named, and all below folders.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::File;
use crate::exit::usage;

/// What there is to look at.
#[derive(Default)]
pub struct Found {
    /// Files, those of a folder by name.
    pub files: Vec<File>,
    /// What could not be looked at, and why.
    pub skipped: Vec<(PathBuf, String)>,
}

/// Finds the files, each once: one that is there under two names would be its own duplicate. What is named must be
/// there; what lies below a folder and cannot be read is left out and told.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    let mut known: HashMap<(u64, u64), PathBuf> = HashMap::new();
    for path in paths {
        let explain = || format!("failed to open {}", path.display());
        let about = fs::metadata(path).with_context(explain)?;
        if about.is_dir() {
            below(path, &mut known, &mut found);
            continue;
        }
        if !about.is_file() {
            bail!("{} is neither a file nor a folder", path.display());
        }
        let is_data_set = begins_as_data_set(path).with_context(explain)?;
        if let Some(before) = known.insert((about.dev(), about.ino()), path.clone()) {
            usage!(
                "{} and {} are the same file; name it once",
                before.display(),
                path.display()
            );
        }
        found.files.push(file(path.clone(), &about, is_data_set));
    }
    if found.files.is_empty() && found.skipped.is_empty() {
        bail!("there are no files below what was named");
    }
    Ok(found)
}

fn file(path: PathBuf, about: &Metadata, is_data_set: bool) -> File {
    File {
        path,
        bytes: about.len(),
        allocated_bytes: about.blocks() * 512,
        is_data_set,
    }
}

/// Files below a folder. Links are not followed, and a file with several names counts once.
fn below(folder: &Path, known: &mut HashMap<(u64, u64), PathBuf>, found: &mut Found) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut names = match names(&folder) {
            Ok(names) => names,
            Err(error) => {
                found.skipped.push((folder, error.to_string()));
                continue;
            }
        };
        names.sort();
        // Folders are taken from the end.
        let mut inner = Vec::new();
        for path in names {
            let looked = fs::symlink_metadata(&path).and_then(|about| {
                let is_data_set = about.is_file() && begins_as_data_set(&path)?;
                Ok((about, is_data_set))
            });
            match looked {
                Ok((about, _)) if about.is_dir() => inner.push(path),
                Ok((about, is_data_set)) if about.is_file() => {
                    let id = (about.dev(), about.ino());
                    if known.insert(id, path.clone()).is_none() {
                        found.files.push(file(path, &about, is_data_set));
                    }
                }
                Ok(_) => {}
                Err(error) => found.skipped.push((path, error.to_string())),
            }
        }
        inner.reverse();
        folders.extend(inner);
    }
}

fn names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect()
}

fn begins_as_data_set(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    fs::File::open(path)?.take(32).read_to_end(&mut beginning)?;
    Ok(sas7bdat::is_data_set(&beginning))
}
