//! What can go wrong, named by what went wrong and where.

use std::io;

/// Every failure of reading or writing a SAS7BDAT file.
///
/// Messages complete the phrase "failed to …" and carry the position, so that a caller only has to
/// add the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source or sink reported an input/output error.
    #[error("{action} {bytes} bytes at offset {offset}: {source}")]
    Io {
        /// `"read"` or `"write"`.
        action: &'static str,
        /// Offset from the start of the file.
        offset: u64,
        /// Bytes asked for.
        bytes: u64,
        /// The error of the source or sink, unchanged.
        #[source]
        source: io::Error,
    },
    /// The file does not begin as a SAS7BDAT data set does.
    #[error("recognise the file as a SAS7BDAT data set: {reason}")]
    NotADataSet {
        /// Which sign was missing.
        reason: &'static str,
    },
    /// The file is shorter than its header promises; copy it again or recreate it.
    #[error(
        "read the whole data set: the header promises {expected} bytes and there are {actual}; \
         the file was cut short, copy or create it again"
    )]
    Truncated {
        /// Header plus pages, by the header.
        expected: u64,
        /// What is there.
        actual: u64,
    },
    /// The header contradicts itself or what this library can hold.
    #[error("use the file header: {detail} (at offset {offset})")]
    CorruptHeader {
        /// Offset of the field from the start of the file.
        offset: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// A page contradicts itself.
    #[error("use page {page}: {detail} (at byte {offset} of the page)")]
    CorruptPage {
        /// 1-based page number.
        page: u64,
        /// Offset from the start of the page.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// A stored row does not decompress to the length of a row.
    #[error("decompress row {row} on page {page}: {detail}")]
    CorruptRow {
        /// 1-based page number.
        page: u64,
        /// 0-based number among the live rows.
        row: u64,
        /// What is wrong.
        detail: &'static str,
    },
    /// The pages hold fewer rows than the metadata promise.
    #[error(
        "find all rows: the metadata promise {expected} and the pages hold {actual}; \
         the file is damaged, create it again"
    )]
    MissingRows {
        /// Live rows promised.
        expected: u64,
        /// Live rows found.
        actual: u64,
    },
    /// The descriptions of the variables are incomplete or contradict each other.
    #[error("read the descriptions of the variables: {detail}")]
    CorruptMetadata {
        /// What is wrong.
        detail: String,
    },
    /// A row number beyond the end was asked for.
    #[error("go to row {row} of a data set of {rows} rows")]
    RowOutOfRange {
        /// 0-based row asked for.
        row: u64,
        /// Live rows.
        rows: u64,
    },
    /// A column number beyond the end was asked for.
    #[error("use column {column} of a data set of {columns} columns")]
    ColumnOutOfRange {
        /// 0-based column asked for.
        column: usize,
        /// Columns there are.
        columns: usize,
    },
    /// A variable cannot be written; the detail says what SAS allows.
    #[error("write variable {name}: {detail}")]
    InvalidVariable {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        detail: String,
    },
    /// An option of the writer has a value that the format or its readers do not allow.
    #[error("use {option}: {detail}")]
    InvalidOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong and what is allowed.
        detail: String,
    },
    /// Rows cannot be added to this data set in place.
    #[error("add rows to the data set: {detail}")]
    NotExtensible {
        /// What is in the way.
        detail: &'static str,
    },
    /// A row is too long for the page size.
    #[error(
        "fit a row of {row_bytes} bytes on a page of {page_bytes}: the page size must be at least \
         {needed_bytes}"
    )]
    RowTooLong {
        /// Bytes of a row.
        row_bytes: u32,
        /// Page size asked for.
        page_bytes: u32,
        /// Smallest multiple of 1024 that holds one row.
        needed_bytes: u64,
    },
    /// Bytes handed to the writer are not whole rows.
    #[error("write {actual} bytes as rows of {row_bytes} bytes")]
    NotWholeRows {
        /// Bytes of a row.
        row_bytes: u32,
        /// Bytes handed over.
        actual: usize,
    },
    /// A text has characters that the file's encoding lacks.
    #[error("write {text:?} in {encoding}: it has characters that the encoding lacks")]
    Unencodable {
        /// The text.
        text: String,
        /// Name of the encoding.
        encoding: &'static str,
    },
}

impl Error {
    pub(crate) fn page(page: u64, offset: usize, detail: impl Into<String>) -> Self {
        Self::CorruptPage {
            page,
            offset: offset as u64,
            detail: detail.into(),
        }
    }

    pub(crate) fn header(offset: u64, detail: impl Into<String>) -> Self {
        Self::CorruptHeader {
            offset,
            detail: detail.into(),
        }
    }

    pub(crate) fn metadata(detail: impl Into<String>) -> Self {
        Self::CorruptMetadata {
            detail: detail.into(),
        }
    }

    pub(crate) fn option(option: &'static str, detail: impl Into<String>) -> Self {
        Self::InvalidOption {
            option,
            detail: detail.into(),
        }
    }
}
