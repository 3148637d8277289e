//! Which blocks of a page are rows.

use crate::endian::Fields;
use crate::page::{COMPRESSED, PageHeader, Pointer};
use crate::subheader::{Location, RowFields, Signature};
use crate::variable::Compression;

/// Tells stored rows from subheaders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowRule {
    pub(crate) row: Option<RowFields>,
    pub(crate) compression: Compression,
}

impl RowRule {
    /// Whether a block is a stored row. Rows that were left uncompressed carry no mark of their own,
    /// and may begin like a signature: the location of the first row decides, where there is one.
    pub(crate) fn is_row(
        self,
        header: PageHeader,
        block: Fields<'_>,
        pointer: Pointer,
        at: Location,
    ) -> bool {
        if pointer.flags & COMPRESSED != 0 {
            return true;
        }
        let Some(row) = self.row else { return false };
        if self.compression == Compression::None || header.is_amended() {
            return false;
        }
        if row.rows > 0 && row.first_row.page > 0 && row.first_row <= row.last_row {
            return at >= row.first_row;
        }
        pointer.length == row.row_bytes && Signature::of(block).is_none()
    }
}
