//! Rows read with where they lie, so that what is wrong is named by file, page and row.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sas7bdat::{Error, Metadata, Misplaced, Reader};

/// A file being read row by row.
pub(super) struct Located {
    path: PathBuf,
    reader: Reader<FileSource>,
    rows: u64,
    page: u64,
}

impl Located {
    /// Opens a file. One that was cut short is refused by the page and row at which it ends.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let source = FileSource {
            file,
            claimed: None,
        };
        let reader = Reader::open(source).map_err(|error| {
            let place = match error {
                Error::Truncated { expected, actual } => end_of(path, expected, actual),
                _ => None,
            };
            let place = place.map_or_else(String::new, |place| format!("; {place}"));
            format!("{}: failed to {error}{place}", path.display())
        })?;
        Ok(Self {
            path: path.to_owned(),
            reader,
            rows: 0,
            page: 0,
        })
    }

    pub(super) fn metadata(&self) -> &Metadata {
        self.reader.metadata()
    }

    /// Goes to the next row; false behind the last one. A page that is not the one that was written
    /// there is an error, whatever its rows are.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        match self.reader.next_row() {
            Err(error) => Err(self.failure(&error)),
            Ok(None) => Ok(false),
            Ok(Some(_)) => {
                self.rows += 1;
                let page = self.reader.page();
                if page != self.page {
                    self.page = page;
                    if let Some(misplaced) = self.reader.misplaced() {
                        let said = said(&misplaced, self.rows);
                        return Err(format!("{}: {said}", self.path.display()));
                    }
                }
                Ok(true)
            }
        }
    }

    /// The row.
    #[inline]
    pub(super) fn row(&self) -> &[u8] {
        self.reader.last_row()
    }

    /// The row's number and its page.
    pub(super) fn place(&self) -> String {
        format!("row {} on page {}", self.rows, self.page)
    }

    pub(super) const fn number(&self) -> u64 {
        self.rows
    }

    /// What went wrong with the rows that come next, and where.
    fn failure(&self, error: &Error) -> String {
        let file = self.path.display();
        let damage = damaged_page(&self.path).unwrap_or_else(|| {
            format!("row {} is the first that could not be read", self.rows + 1)
        });
        format!("{file}: failed to {error}; {damage}")
    }
}

/// The page and the row at which a file ends that was cut short.
fn end_of(path: &Path, expected: u64, actual: u64) -> Option<String> {
    let reader = open_as(path, Some(expected))?;
    let metadata = reader.metadata();
    let (header, page_bytes) = (metadata.header_bytes, u64::from(metadata.page_bytes));
    let pages = metadata.pages;
    let page = actual.saturating_sub(u64::from(header)) / page_bytes + 1;
    let row = rows_before(reader, page) + 1;
    Some(format!(
        "page {page} of {pages} is not whole, row {row} is the first that is lost"
    ))
}

/// The first page that is not the one that was written there.
fn damaged_page(path: &Path) -> Option<String> {
    let misplaced = open_as(path, None)?.into_first_misplaced().ok()??;
    let row = rows_before(open_as(path, None)?, misplaced.page) + 1;
    Some(said(&misplaced, row))
}

fn said(misplaced: &Misplaced, row: u64) -> String {
    let page = misplaced.page;
    if misplaced.blank {
        return format!("page {page} holds nothing but zeros, row {row} is the first that is lost");
    }
    format!(
        "page {page} says that it is page {}: it is not the one that was written there, row {row} is the \
         first that is lost",
        misplaced.carries
    )
}

/// The page of a data set in which a byte lies, with its first row; `None` if the file cannot tell.
pub(super) fn place(path: &Path, byte: u64) -> Option<String> {
    let reader = open_as(path, None)?;
    let metadata = reader.metadata();
    let Some(behind) = byte.checked_sub(u64::from(metadata.header_bytes)) else {
        return Some("the header".to_owned());
    };
    let page = behind / u64::from(metadata.page_bytes) + 1;
    let row = rows_before(reader, page) + 1;
    Some(format!("page {page}, whose first row is {row}"))
}

/// How many rows lie on the pages before.
fn rows_before(mut reader: Reader<FileSource>, page: u64) -> u64 {
    let mut rows = 0;
    // What cannot be read is behind them.
    while let Ok(Some(_)) = reader.next_row() {
        if reader.page() >= page {
            break;
        }
        rows += 1;
    }
    rows
}

fn open_as(path: &Path, claimed: Option<u64>) -> Option<Reader<FileSource>> {
    let file = File::open(path).ok()?;
    Reader::open(FileSource { file, claimed }).ok()
}

/// A file, or one that is said to be longer and holds zeros where it is not.
struct FileSource {
    file: File,
    claimed: Option<u64>,
}

impl sas7bdat::Source for FileSource {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            match self.file.read_at(&mut buffer[done..], at) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.claimed.is_some_and(|end| offset < end) {
            buffer[done..].fill(0);
            done = buffer.len();
        }
        Ok(done)
    }

    fn size(&mut self) -> io::Result<u64> {
        let actual = self.file.metadata()?.len();
        Ok(self.claimed.map_or(actual, |claimed| claimed.max(actual)))
    }
}
