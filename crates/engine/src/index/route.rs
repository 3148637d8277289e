//! Rows in the order of an index: from the keys of its leaves to their places.

use std::sync::Arc;

use base::store::{Access, Store};
use sas7bdat::btree::{IndexEntry, IndexReader, RowId, Span, Walk};
use sas7bdat::{Metadata, Reader};

use super::build::encode;
use super::is_of;
use crate::dataset::files::FileSource;
use crate::failure::{Failure, Outcome};
use crate::library::Member;

/// Seconds by which an index file may be older than the last change of its data set: SAS makes it
/// a moment before it completes the data set.
const OLDER_SECONDS: f64 = 2.0;

/// The index file of a data set.
pub(crate) struct IndexFile {
    reader: IndexReader<FileSource>,
    member: Member,
}

/// A way to rows by one index.
pub(crate) struct Route {
    file: IndexFile,
    entry: IndexEntry,
    spans: std::vec::IntoIter<Span>,
    walk: Option<Walk>,
    found: Vec<(Vec<u8>, RowId)>,
    next: usize,
    /// A row and the key that it has.
    row: Vec<u8>,
    actual: Vec<u8>,
}

/// Why going through a tree ended early.
enum Stop {
    Reading(sas7bdat::Error),
    Taking(Failure),
}

impl From<sas7bdat::Error> for Stop {
    fn from(error: sas7bdat::Error) -> Self {
        Self::Reading(error)
    }
}

impl IndexFile {
    /// Opens the index file of `member`, which must be the one that its data set describes.
    pub(crate) fn open(
        store: &Arc<dyn Store>,
        buffers: u64,
        member: &Member,
        metadata: &Metadata,
    ) -> Outcome<Self> {
        let (name, path) = (member.full_name(), member.index_path());
        let file = store
            .open(member.library.read_channel(), &path, Access::Read)
            .map_err(|error| {
                Failure::world(format!(
                    "The index file of {name}.DATA cannot be opened: {error}. Make its indexes again \
                     with PROC DATASETS, or delete them there."
                ))
            })?;
        let buffers = usize::try_from(buffers).unwrap_or(usize::MAX);
        let reader = IndexReader::open(FileSource(file), buffers)
            .map_err(|error| Failure::format(&name, &path, error))?;
        let file = Self {
            reader,
            member: member.clone(),
        };
        let described = file.reader.directory().entries.len() == metadata.indexes.len()
            && metadata
                .indexes
                .iter()
                .all(|info| file.entry(info).is_some());
        if !described || file.reader.created() + OLDER_SECONDS < metadata.modified {
            return Err(file.mismatch());
        }
        Ok(file)
    }

    /// Closes it unused.
    pub(crate) fn close(self) -> Outcome<()> {
        let FileSource(file) = self.reader.into_source();
        file.close()
            .map_err(|error| Failure::store(&self.member.full_name(), &error))
    }

    /// What the file says of an index.
    pub(crate) fn entry(&self, info: &sas7bdat::IndexInfo) -> Option<&IndexEntry> {
        self.reader
            .directory()
            .entries
            .iter()
            .find(|entry| is_of(entry, info))
    }

    fn mismatch(&self) -> Failure {
        Failure::world(format!(
            "The index file {} does not match {}.DATA: it was made for other rows. Make the indexes \
             again with PROC DATASETS.",
            self.member.index_path().display(),
            self.member.full_name()
        ))
    }

    fn failure(&self, error: sas7bdat::Error) -> Failure {
        Failure::format(&self.member.full_name(), &self.member.index_path(), error)
    }

    /// Goes through all keys of `entry` and their rows, in order, as long as `take` says true; false if
    /// it did not, or the tree contradicts itself.
    pub(crate) fn each(
        &mut self,
        entry: &IndexEntry,
        mut take: impl FnMut(&[u8], RowId) -> Outcome<bool>,
    ) -> Outcome<bool> {
        let through = self
            .reader
            .each(entry, |key, row| take(key, row).map_err(Stop::Taking));
        match through {
            Ok(whole) => Ok(whole),
            Err(Stop::Taking(failure)) => Err(failure),
            Err(Stop::Reading(error @ sas7bdat::Error::Io { .. })) => Err(self.failure(error)),
            Err(Stop::Reading(_)) => Ok(false),
        }
    }

    /// Rows by `entry` whose keys lie in `spans`.
    pub(crate) fn route(self, entry: IndexEntry, spans: Vec<Span>) -> Route {
        Route {
            file: self,
            entry,
            spans: spans.into_iter(),
            walk: None,
            found: Vec::new(),
            next: 0,
            row: Vec::new(),
            actual: Vec::new(),
        }
    }
}

impl Route {
    /// Goes to other keys.
    pub(crate) fn restart(&mut self, span: Span) {
        self.spans = vec![span].into_iter();
        self.walk = None;
        self.found.clear();
        self.next = 0;
    }

    /// The next row, in the file's layout.
    pub(crate) fn next_row<'r>(
        &mut self,
        reader: &'r mut Reader<FileSource>,
    ) -> Outcome<Option<&'r [u8]>> {
        while self.next == self.found.len() {
            if !self.advance()? {
                return Ok(None);
            }
        }
        let (key, place) = &self.found[self.next];
        self.next += 1;
        let member = &self.file.member;
        let failure = |error| Failure::format(&member.full_name(), &member.path(), error);
        let Some(row) = reader.row_at(*place).map_err(failure)? else {
            return Err(self.file.mismatch());
        };
        row.clone_into(&mut self.row);
        self.actual.clear();
        encode(reader, &self.entry.parts, &self.row, &mut self.actual);
        if self.actual != *key {
            return Err(self.file.mismatch());
        }
        // The page is still there.
        reader.row_at(*place).map_err(failure)
    }

    /// The number, from 1, of the row that [`next_row`](Self::next_row) gave last.
    pub(crate) fn number(&self, reader: &mut Reader<FileSource>) -> Outcome<u64> {
        let last = self.next.checked_sub(1).and_then(|at| self.found.get(at));
        let Some((_, place)) = last else {
            return Ok(0);
        };
        let member = &self.file.member;
        let found = reader.number_of(*place);
        found
            .map_err(|error| Failure::format(&member.full_name(), &member.path(), error))?
            .ok_or_else(|| self.file.mismatch())
    }

    /// Reads the next leaf; false at the end.
    fn advance(&mut self) -> Outcome<bool> {
        self.found.clear();
        self.next = 0;
        loop {
            if let Some(walk) = &mut self.walk {
                let read = self
                    .file
                    .reader
                    .next_leaf(&self.entry, walk, &mut self.found);
                match read {
                    Ok(true) => return Ok(true),
                    Ok(false) => self.walk = None,
                    Err(error) => return Err(self.file.failure(error)),
                }
            }
            let Some(span) = self.spans.next() else {
                return Ok(false);
            };
            let walk = self.file.reader.walk(&self.entry, span);
            self.walk = Some(walk.map_err(|error| self.file.failure(error))?);
        }
    }

    /// Closes the index file.
    pub(crate) fn close(self) -> Outcome<()> {
        self.file.close()
    }
}
