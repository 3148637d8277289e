//! What a data set says about itself.

use crate::encoding::Encoding;
use crate::endian::Endian;
use crate::variable::{Compression, Layout, Variable};

/// An index that a data set says it has; it lies in a file beside the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexInfo {
    /// Name: that of the variable if there is only one.
    pub name: String,
    /// No two rows have the same key.
    pub unique: bool,
    /// 0-based columns of the key.
    pub columns: Vec<usize>,
}

/// Everything a data set says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    /// Name of the data set, in the file header.
    pub name: String,
    /// Label, empty for none.
    pub label: String,
    /// Data set type, such as `CORR`; mostly empty.
    pub data_type: String,
    /// The procedure that created it, such as `DATASTEP` or `SORT`.
    pub creator: String,
    /// Its variables, in order.
    pub variables: Vec<Variable>,
    /// Where the variables sit in a row.
    pub layout: Layout,
    /// Live rows.
    pub rows: u64,
    /// Rows marked as deleted, which still take space.
    pub deleted_rows: u64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes of the file header, before the first page.
    pub header_bytes: u32,
    /// Pages in the file.
    pub pages: u64,
    /// How rows are compressed.
    pub compression: Compression,
    /// Character encoding of texts.
    pub encoding: Encoding,
    /// Byte order.
    pub endian: Endian,
    /// 64 if longs have 8 bytes, else 32.
    pub word_bits: u8,
    /// Written on Windows, whose missing values have codes of their own.
    pub windows: bool,
    /// When it was created: seconds since 1960, local time.
    pub created: f64,
    /// When it was last changed.
    pub modified: f64,
    /// Seconds by which local time was ahead of UTC.
    pub utc_offset: f64,
    /// SAS release, such as `9.0401M7`.
    pub release: String,
    /// Host type, such as `Linux`.
    pub host: String,
    /// Version of the operating system.
    pub os_version: String,
    /// Maker of the operating system.
    pub os_maker: String,
    /// Name of the operating system or hardware, such as `x86_64`.
    pub os_name: String,
    /// Every page number is stored as its exclusive-or with this.
    pub page_mask: u32,
    /// Page of the first row (1-based), 0 if there is no row.
    pub first_data_page: u64,
    /// Page of the last row (1-based), 0 if not known.
    pub last_data_page: u64,
    /// Rows on a full page; 0 if rows are compressed.
    pub rows_per_page: u64,
    /// Rows that fit on the page that has descriptions too.
    pub mix_rows: u64,
    /// Blocks that the ROW subheader counts: descriptions, and rows if they are compressed.
    pub blocks: u64,
    /// Indexes it says it has.
    pub indexes: Vec<IndexInfo>,
}

impl Metadata {
    /// The 0-based column of a name, in whatever case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.variables
            .iter()
            .position(|variable| variable.name.eq_ignore_ascii_case(name))
    }
}
