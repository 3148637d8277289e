//! LIBNAME and FILENAME.

use std::path::{Path, PathBuf};

use base::diag::Span;
use base::store::Channel;
use lang::ast::{Global, GlobalKind, Location, Setting};

use super::{STOPPED, Session};
use crate::failure::{Failure, placed};
use crate::library::{self, Library};
use crate::options;

impl Session {
    /// A LIBNAME statement.
    pub(super) fn libname(&mut self, global: &Global) {
        let GlobalKind::Libname {
            libref,
            locations,
            clear,
            engine,
            options,
        } = &global.kind
        else {
            return;
        };
        if let Some(engine) = engine.as_deref().filter(|name| !is_base_engine(name)) {
            let message = format!("The {engine} engine cannot be found; use V9 or BASE.");
            self.error_at(&global.span, message);
        } else if *clear {
            self.clear_library(libref, &global.span);
        } else {
            self.assign_library(libref, locations, options, &global.span);
        }
    }

    fn clear_library(&mut self, libref: &str, span: &Span) {
        let upper = libref.to_ascii_uppercase();
        if upper == "WORK" {
            let message = "Librefs WORK, SASHELP and SASUSER cannot be cleared.";
            self.error_at(span, message);
        } else if self.world.libraries.clear(libref) {
            self.world
                .note(&format!("Libref {upper} has been deassigned."));
        } else {
            let message = format!("Libref {upper} is not assigned.");
            self.world.log.warning(&placed(span, message.as_ref()));
        }
    }

    fn assign_library(
        &mut self,
        libref: &str,
        locations: &[Location],
        settings: &[Setting],
        span: &Span,
    ) {
        let library = self.library_of(libref, locations).and_then(|mut library| {
            library::check_libref(libref, &library.directory)?;
            for setting in settings {
                set_library_option(&mut library, setting)?;
            }
            Ok(library)
        });
        let library = match library {
            Ok(library) => library,
            Err(message) => return self.error_at(span, message),
        };
        for directory in library.directories() {
            match self.world.store.stat(library.read_channel(), directory) {
                Ok(Some(stat)) if stat.directory => {}
                Ok(_) => {
                    let (libref, path) = (&library.libref, directory.display());
                    let message = format!("Library {libref} does not exist: no directory {path}.");
                    return self.error_at(span, message);
                }
                Err(error) => return self.failed(&Failure::world(error.to_string()), STOPPED),
            }
        }
        self.world.note(&assigned(&library));
        self.world.libraries.assign(library);
    }

    /// The directories in the order in which they are searched, each once.
    fn library_of(&self, libref: &str, locations: &[Location]) -> Result<Library, String> {
        let mut directories: Vec<(PathBuf, bool)> = Vec::new();
        for location in locations {
            let found = match location {
                Location::Path(path) => vec![(PathBuf::from(path), false)],
                Location::Libref(name) => {
                    let Some(known) = self.world.libraries.get(name) else {
                        let name = name.to_ascii_uppercase();
                        return Err(format!("Libref {name} is not assigned."));
                    };
                    if known.work {
                        return Err(
                            "WORK cannot be part of a concatenation: not implemented yet."
                                .to_owned(),
                        );
                    }
                    let mut found = vec![(known.directory.clone(), known.read_only)];
                    found.extend(known.further.iter().cloned());
                    found
                }
            };
            for (path, read_only) in found {
                if !directories.iter().any(|(known, _)| *known == path) {
                    directories.push((path, read_only));
                }
            }
        }
        let mut directories = directories.into_iter();
        let (first, read_only) = directories.next().unwrap_or_default();
        let mut library = Library::permanent(libref, first);
        library.read_only = read_only;
        library.further = directories.collect();
        Ok(library)
    }

    /// A FILENAME statement.
    pub(super) fn filename(&mut self, kind: &GlobalKind) {
        let GlobalKind::Filename {
            fileref,
            path,
            temporary,
            options,
            ..
        } = kind
        else {
            return;
        };
        let upper = fileref.to_ascii_uppercase();
        let path = match path {
            Some(path) => Some(PathBuf::from(path)),
            None if *temporary => self.temporary_file(),
            None => None,
        };
        match path {
            Some(path) => {
                let old = self.world.filerefs.insert(upper, (path, options.clone()));
                self.forget(old.map(|(path, _)| path));
            }
            None if upper == "_ALL_" => {
                let all = std::mem::take(&mut self.world.filerefs);
                self.forget(all.into_values().map(|(path, _)| path));
            }
            None => match self.world.filerefs.remove(&upper) {
                Some((path, _)) => self.forget(Some(path)),
                None => {
                    let text = format!("No logical assign for filename {upper}.");
                    self.world.log.warning(&text);
                }
            },
        }
    }

    /// The path of a new file in WORK.
    fn temporary_file(&mut self) -> Option<PathBuf> {
        self.world.temporary_files += 1;
        let name = format!("{TEMPORARY}{:05}", self.world.temporary_files);
        let work = self.world.libraries.get("WORK")?;
        Some(work.directory.join(name))
    }

    /// Removes those files that FILENAME TEMP made.
    fn forget(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let Some(work) = self.world.libraries.get("WORK") else {
            return;
        };
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let temporary = path.parent() == Some(&work.directory) && name.starts_with(TEMPORARY);
            let shared = |(other, _): &(PathBuf, _)| *other == path;
            if temporary && !self.world.filerefs.values().any(shared) {
                // It may never have been written; the end of the session removes what is left.
                let _ = self.world.store.remove(Channel::Work, &path);
            }
        }
    }
}

/// What the files of FILENAME TEMP are called before their number.
const TEMPORARY: &str = "#LN";

/// The note on a libref.
fn assigned(library: &Library) -> String {
    let libref = &library.libref;
    let head = format!("Libref {libref} was successfully assigned as follows: ");
    let physical = |path: &Path| path.display().to_string();
    if library.further.is_empty() {
        let path = physical(&library.directory);
        return format!("{head}\nEngine:        V9 \nPhysical Name: {path}");
    }
    let mut lines = vec![format!(
        "{head}\nLevels:           {}",
        library.further.len() + 1
    )];
    for (level, path) in (1..).zip(library.directories()) {
        let path = physical(path);
        lines.push(format!(
            "Engine({level}):        V9 \nPhysical Name({level}): {path}"
        ));
    }
    lines.join("\n")
}

fn is_base_engine(name: &str) -> bool {
    ["V9", "BASE"]
        .iter()
        .any(|base| base.eq_ignore_ascii_case(name))
}

fn set_library_option(library: &mut Library, setting: &Setting) -> Result<(), String> {
    let value = setting.value.as_deref().unwrap_or_default();
    match setting.name.to_ascii_uppercase().as_str() {
        "FILELOCKS" => library.filelocks = Some(options::filelocks(value)?),
        "COMPRESS" => library.compress = Some(options::compression(value)?),
        "BUFSIZE" => library.bufsize = Some(page_size("BUFSIZE", value)?),
        "OFFSET" => {
            let offset = page_size("OFFSET", value)?;
            if !offset.is_multiple_of(1024) || offset == 0 {
                return Err(format!("OFFSET={value} is not a multiple of 1024."));
            }
            library.offset = Some(offset);
        }
        "ACCESS" if value.eq_ignore_ascii_case("readonly") => library.read_only = true,
        name => {
            return Err(format!(
                "LIBNAME option {name} is not recognized or not implemented yet."
            ));
        }
    }
    Ok(())
}

/// A size up to that of the largest page.
fn page_size(option: &str, value: &str) -> Result<u64, String> {
    let size = base::units::parse_size(value).map(|bytes| bytes.0);
    let limit = base::limits::PAGE_BYTES_MAX;
    size.filter(|size| *size <= limit).ok_or_else(|| {
        format!("{option}={value} is not valid; give a size up to {limit}, such as 128k.")
    })
}
