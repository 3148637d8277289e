//! What a new data set is called and how it is laid out; what SAS and its readers allow.

use std::collections::HashSet;

use crate::encoding::Encoding;
use crate::error::Error;
use crate::header::SMALLEST_BYTES;
use crate::variable::{Compression, Format, Kind, Layout, Variable};

/// Pages of 16 MiB and more are refused by ReadStat or read as empty by Parso.
pub(super) const LARGEST_PAGE_BYTES: u32 = 16 * 1024 * 1024 - 1024;
/// Header of releases before 9.4 on 64-bit Unix.
pub(super) const OLD_HEADER_BYTES: u32 = 8192;
const MOST_VARIABLES: usize = 32_767;
const LONGEST_NAME: usize = 32;
const LONGEST_LABEL: usize = 256;
const LONGEST_CHARACTER: u32 = 32_767;

/// How a data set is written.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteOptions {
    /// Name of the data set, at most 32 bytes; stored in capitals as SAS does. SAS itself leaves it
    /// empty where a data set is named by its path.
    pub name: String,
    /// Label, at most 256 bytes.
    pub label: String,
    /// Bytes of a page (`BUFSIZE`): a multiple of 1024 below 16 MiB.
    pub page_bytes: u32,
    /// A header as large as a page (`ALIGNSASIOFILES`, SAS 9.4) or of 8192 bytes (SAS 9.3).
    pub aligned_header: bool,
    /// How rows are compressed.
    pub compression: Compression,
    /// Compressed data sets get the index of row numbers that SAS puts on page 2 (`POINTOBS=YES`). It
    /// is dropped at close where its one page overflows.
    pub row_index: bool,
    /// Time of creation: seconds since 1960, local time.
    pub created: f64,
    /// Seconds by which local time is ahead of UTC.
    pub utc_offset: f64,
    /// Every page number is stored as its exclusive-or with this; SAS takes a random number. The
    /// same options and rows give the same bytes.
    pub page_mask: u32,
    /// The procedure that creates the data set, such as `DATASTEP` or `SORT`, at most 8 bytes.
    pub creator: String,
    /// Stored rows exactly as SAS stores them, even where widespread readers misread them.
    pub strict: bool,
    /// Character encoding of names, labels and the texts in rows.
    pub encoding: Encoding,
    /// SAS release: the form `9.0401M7` is what readers expect.
    pub release: String,
    /// Host type.
    pub host: String,
    /// Version of the operating system.
    pub os_version: String,
    /// Name of the operating system or hardware.
    pub os_name: String,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            name: "DATA".to_owned(),
            label: String::new(),
            page_bytes: 65_536,
            aligned_header: true,
            compression: Compression::None,
            row_index: true,
            created: 0.0,
            utc_offset: 0.0,
            page_mask: 0,
            creator: "DATASTEP".to_owned(),
            strict: false,
            encoding: Encoding::UTF_8,
            release: "9.0401M7".to_owned(),
            host: "Linux".to_owned(),
            os_version: String::new(),
            os_name: "x86_64".to_owned(),
        }
    }
}

impl WriteOptions {
    /// Bytes of the file header.
    pub fn header_bytes(&self) -> u32 {
        if self.aligned_header {
            self.page_bytes
        } else {
            OLD_HEADER_BYTES
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let page = self.page_bytes;
        if !page.is_multiple_of(1024) || !(SMALLEST_BYTES..=LARGEST_PAGE_BYTES).contains(&page) {
            return Err(Error::option(
                "page_bytes",
                format!(
                    "{page} is not a multiple of 1024 from {SMALLEST_BYTES} to {LARGEST_PAGE_BYTES}"
                ),
            ));
        }
        let texts = [
            ("name", &self.name, LONGEST_NAME),
            ("label", &self.label, LONGEST_LABEL),
            ("creator", &self.creator, 8),
            ("release", &self.release, 8),
            ("host", &self.host, 16),
            ("os_version", &self.os_version, 16),
            ("os_name", &self.os_name, 16),
        ];
        for (option, text, longest) in texts {
            let bytes = self.encoding.encode(text)?.len();
            if bytes > longest {
                let detail = format!("it has {bytes} bytes, and {longest} fit");
                return Err(Error::option(option, detail));
            }
        }
        Ok(())
    }
}

/// So many names are compared one by one: that is less than hashing them.
const FEW_VARIABLES: usize = 32;

/// Refuses what SAS refuses.
pub(super) fn check_variables(variables: &[Variable], encoding: Encoding) -> Result<(), Error> {
    if variables.len() > MOST_VARIABLES {
        let detail = format!("there are {}, and {MOST_VARIABLES} fit", variables.len());
        return Err(Error::option("variables", detail));
    }
    let mut names = HashSet::new();
    for (number, variable) in variables.iter().enumerate() {
        let invalid = |detail: String| Error::InvalidVariable {
            name: variable.name.clone(),
            detail,
        };
        let allowed = match variable.kind {
            Kind::Numeric => 3..=8,
            Kind::Character => 1..=LONGEST_CHARACTER,
        };
        if !allowed.contains(&variable.length) {
            let (least, most) = (allowed.start(), allowed.end());
            let detail = format!("its length is {}, not {least} to {most}", variable.length);
            return Err(invalid(detail));
        }
        if variable.name.is_empty() {
            return Err(invalid("it has no name".to_owned()));
        }
        let texts = [
            ("name", &variable.name, LONGEST_NAME),
            ("label", &variable.label, LONGEST_LABEL),
            ("format", &variable.format.name, LONGEST_NAME),
            ("informat", &variable.informat.name, LONGEST_NAME),
        ];
        for (what, text, longest) in texts {
            let bytes = encoding.encode(text)?.len();
            if bytes > longest {
                return Err(invalid(format!(
                    "its {what} has {bytes} bytes, and {longest} fit"
                )));
            }
        }
        let known = if variables.len() <= FEW_VARIABLES {
            let before = variables.get(..number).unwrap_or_default();
            let is_same = |one: &Variable| one.name.eq_ignore_ascii_case(&variable.name);
            before.iter().any(is_same)
        } else {
            !names.insert(variable.name.to_ascii_uppercase())
        };
        if known {
            return Err(invalid("there is another one of this name".to_owned()));
        }
    }
    Ok(())
}

/// The layout of the rows, if a row fits on a page.
pub(super) fn check_layout(
    variables: &[Variable],
    options: &WriteOptions,
) -> Result<Layout, Error> {
    let layout = Layout::new(variables, options.compression);
    let row = u64::from(layout.row_bytes);
    // Page header, and the deleted-flag bit or two pointers.
    let beside = if options.compression == Compression::None {
        41
    } else {
        88
    };
    if row + beside > u64::from(options.page_bytes) {
        return Err(Error::RowTooLong {
            row_bytes: layout.row_bytes,
            page_bytes: options.page_bytes,
            needed_bytes: (row + beside).next_multiple_of(1024),
        });
    }
    Ok(layout)
}

/// Whether a format has anything to say.
pub(super) fn is_plain(format: &Format) -> bool {
    format.name.is_empty() && format.width == 0 && format.decimals == 0
}
