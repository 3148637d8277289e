//! Indexes of data sets: defined ([`definition`]), made ([`build`]), chosen for a condition
//! (`choose`) and followed to rows (`route`).

pub mod build;
pub(crate) mod choose;
pub mod definition;
pub(crate) mod route;

use sas7bdat::IndexInfo;
use sas7bdat::btree::{IndexEntry, KeyPart};

/// Whether `entry` of an index file is the index that the data set describes.
fn is_of(entry: &IndexEntry, info: &IndexInfo) -> bool {
    let column = |part: &KeyPart| usize::from(part.column).wrapping_sub(1);
    entry.unique == info.unique
        && entry
            .parts
            .iter()
            .map(column)
            .eq(info.columns.iter().copied())
}
