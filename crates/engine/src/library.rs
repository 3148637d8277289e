//! Librefs: which directory a name stands for, and which channel its bytes go to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::diag::Span;
use base::store::{Channel, Store};
use lang::ast::DatasetRef;
use sas7bdat::Compression;

use crate::failure::{Failure, Outcome};
use crate::options::FileLocks;

/// Longest libref, characters.
const LIBREF_MAX: usize = 8;

/// Longest member name, characters.
const MEMBER_MAX: usize = 32;

/// A directory of data sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Upper case.
    pub libref: String,
    /// Where its members are, and where new ones go.
    pub directory: PathBuf,
    /// Directories that are searched after that one, and whether they are only to be read.
    pub further: Vec<(PathBuf, bool)>,
    /// True for WORK, whose members are never locked.
    pub work: bool,
    /// FILELOCKS= of the LIBNAME statement, if given.
    pub filelocks: Option<FileLocks>,
    /// COMPRESS= of the LIBNAME statement, if given.
    pub compress: Option<Compression>,
    /// BUFSIZE= of the LIBNAME statement, if given, bytes.
    pub bufsize: Option<u64>,
    /// OFFSET= of the LIBNAME statement, if given: pages of new data sets begin at multiples of it,
    /// bytes.
    pub offset: Option<u64>,
    /// ACCESS=READONLY.
    pub read_only: bool,
}

impl Library {
    /// A permanent library with nothing but its directory set.
    pub fn permanent(libref: &str, directory: PathBuf) -> Self {
        Self {
            libref: libref.to_ascii_uppercase(),
            directory,
            further: Vec::new(),
            work: false,
            filelocks: None,
            compress: None,
            bufsize: None,
            offset: None,
            read_only: false,
        }
    }

    /// Names of its data sets, in lower case and in order.
    pub fn members(&self, store: &dyn Store) -> Outcome<Vec<String>> {
        let mut names = BTreeSet::new();
        for directory in self.directories() {
            let listed = store.list(self.write_channel(), directory);
            let listed =
                listed.map_err(|error| Failure::store(&format!("{}.*", self.libref), &error))?;
            let found = listed
                .iter()
                .filter_map(|name| name.strip_suffix(".sas7bdat"));
            names.extend(found.map(str::to_owned));
        }
        Ok(names.into_iter().collect())
    }

    /// All its directories, in the order in which they are searched.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let further = self.further.iter().map(|(path, _)| path.as_path());
        std::iter::once(self.directory.as_path()).chain(further)
    }

    /// Channel of a member that is only read.
    pub const fn read_channel(&self) -> Channel {
        if self.work {
            Channel::Work
        } else {
            Channel::Input
        }
    }

    /// Channel of a member that is made or changed.
    pub const fn write_channel(&self) -> Channel {
        if self.work {
            Channel::Work
        } else {
            Channel::Output
        }
    }

    /// The file of data set `member`: lower case, as SAS on UNIX names it.
    pub fn path(&self, member: &str) -> PathBuf {
        self.directory
            .join(format!("{}.sas7bdat", member.to_ascii_lowercase()))
    }
}

/// A data set resolved to its library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its library.
    pub library: Library,
    /// Upper case.
    pub name: String,
}

impl Member {
    /// `LIB.MEMBER`, upper case.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.library.libref, self.name)
    }

    /// The member in the directory that has it: the first of its library, or one that is searched
    /// later. One that is nowhere belongs to the first.
    pub fn located(mut self, store: &dyn Store) -> Outcome<Self> {
        if self.library.further.is_empty() || self.is_there(store)? {
            return Ok(self);
        }
        let first = self.clone();
        for (directory, read_only) in &first.library.further {
            self.library.directory.clone_from(directory);
            if self.is_there(store)? {
                self.library.read_only |= read_only;
                return Ok(self);
            }
        }
        Ok(first)
    }

    /// Whether there is such a data set.
    pub(crate) fn is_there(&self, store: &dyn Store) -> Outcome<bool> {
        let found = store.stat(self.library.read_channel(), &self.path());
        found
            .map(|stat| stat.is_some())
            .map_err(|error| Failure::store(&self.full_name(), &error))
    }

    /// Its file.
    pub fn path(&self) -> PathBuf {
        self.library.path(&self.name)
    }

    /// The file of its indexes, if it has any.
    pub fn index_path(&self) -> PathBuf {
        self.path().with_extension("sas7bndx")
    }

    /// The file it is written as until it is complete.
    pub fn lock_path(&self) -> PathBuf {
        let mut path = self.path().into_os_string();
        path.push(".lck");
        path.into()
    }
}

/// The librefs of a session.
#[derive(Debug, Clone, Default)]
pub struct Libraries {
    by_ref: BTreeMap<String, Library>,
}

impl Libraries {
    /// Assigns a libref, replacing an earlier assignment.
    pub fn assign(&mut self, library: Library) {
        self.by_ref.insert(library.libref.clone(), library);
    }

    /// Clears a libref; false if it was not assigned.
    pub fn clear(&mut self, libref: &str) -> bool {
        self.by_ref.remove(&libref.to_ascii_uppercase()).is_some()
    }

    /// Looks a libref up.
    pub fn get(&self, libref: &str) -> Option<&Library> {
        self.by_ref.get(&libref.to_ascii_uppercase())
    }

    /// The library and name that a data set reference stands for.
    pub fn resolve(&self, dataset: &DatasetRef) -> Outcome<Member> {
        let libref = dataset.libref.as_deref().unwrap_or("WORK");
        self.member(libref, &dataset.member, &dataset.span)
    }

    /// The library and name for `libref.member`.
    pub fn member(&self, libref: &str, member: &str, span: &Span) -> Outcome<Member> {
        let Some(library) = self.get(libref) else {
            let libref = libref.to_ascii_uppercase();
            return Err(Failure::at(
                span,
                format!("Libref {libref} is not assigned; assign it with a LIBNAME statement."),
            ));
        };
        if !valid_name(member, MEMBER_MAX) {
            return Err(Failure::at(
                span,
                format!("{member} is not a valid data set name."),
            ));
        }
        Ok(Member {
            library: library.clone(),
            name: member.to_ascii_uppercase(),
        })
    }
}

/// Checks a libref as LIBNAME does.
pub fn check_libref(libref: &str, directory: &Path) -> Result<(), String> {
    if !valid_name(libref, LIBREF_MAX) {
        return Err(format!(
            "{libref} is not a valid SAS name of at most {LIBREF_MAX} characters."
        ));
    }
    if libref.eq_ignore_ascii_case("WORK") {
        return Err(
            "WORK is the session's own library and cannot be assigned; choose another libref."
                .to_owned(),
        );
    }
    if directory.as_os_str().is_empty() {
        return Err(format!(
            "LIBNAME {libref} needs the path of a directory in quotation marks."
        ));
    }
    Ok(())
}

fn valid_name(name: &str, longest: usize) -> bool {
    let mut bytes = name.bytes();
    let start = bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    start && name.len() <= longest && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_files_are_lower_case() {
        assert!(valid_name("a_1", 8) && valid_name("_x", 8));
        assert!(!valid_name("1a", 8) && !valid_name("", 8) && !valid_name("toolongname", 8));
        assert!(!valid_name("../x", 32));
        let library = Library::permanent("in", "/data".into());
        let member = Member {
            library,
            name: "S1".into(),
        };
        assert_eq!(member.path(), Path::new("/data/s1.sas7bdat"));
        assert_eq!(member.lock_path(), Path::new("/data/s1.sas7bdat.lck"));
        assert_eq!(member.full_name(), "IN.S1");
    }
}
