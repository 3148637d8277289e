//! A run directory packed for sending: one `.tar.gz`, if wanted without names of hosts, users and paths.

mod names;
mod replace;
mod words;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

pub use replace::Replacements;

use crate::run::{Error, RunDirectory};

/// What was packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// Files.
    pub files: usize,
    /// What was replaced, by what, and how often.
    pub replaced: Vec<(String, String, usize)>,
    /// Files left out because names in them could not be replaced: what is no text, and pages if a name is also a
    /// word of theirs.
    pub left_out: Vec<PathBuf>,
}

/// Packs a run directory into `file`; with replacements all files must be texts.
pub fn pack(
    directory: &RunDirectory,
    file: &Path,
    replacements: Option<&Replacements>,
) -> Result<Packed, Error> {
    let failed = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::Io {
            action,
            path,
            source,
        }
    };
    let root = directory.path();
    let name = directory.plan()?.run;
    let mut packed = Packed::default();
    let mut counts = replacements.map(Replacements::counts).unwrap_or_default();
    // A bundle made within the run directory is not part of the run.
    let mut all = files(root).map_err(failed("read", root))?;
    all.retain(|path| std::path::absolute(path).ok() != std::path::absolute(file).ok());
    // Elsewhere there is nothing to compare the hashes of outputs with, and they are long.
    all.retain(|path| path.file_name().is_none_or(|name| name != "written.jsonl"));
    let out = File::create(file).map_err(failed("create", file))?;
    let mut archive = tar::Builder::new(GzEncoder::new(out, Compression::default()));
    for path in all {
        let mut bytes = fs::read(&path).map_err(failed("read", &path))?;
        let inside = path.strip_prefix(root).unwrap_or(&path);
        let mut target = format!("{name}/{}", inside.display());
        if let Some(replacements) = replacements {
            let Some(without) = replacements.file(inside, bytes, &mut counts) else {
                packed.left_out.push(inside.to_owned());
                continue;
            };
            bytes = without;
            let folder = replacements.apply(&name, &mut counts);
            target = format!("{folder}/{}", replacements.place(inside, &mut counts));
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive
            .append_data(&mut header, &target, &*bytes)
            .map_err(failed("write", file))?;
        packed.files += 1;
    }
    let encoder = archive.into_inner().map_err(failed("write", file))?;
    let out = encoder.finish().map_err(failed("write", file))?;
    out.sync_all().map_err(failed("write", file))?;
    packed.replaced = replacements.map_or_else(Vec::new, |one| one.told(&counts));
    Ok(packed)
}

/// All files below a directory, in order; links are not followed.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found.extend(files(&entry.path())?);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
