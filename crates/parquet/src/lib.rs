//! SAS7BDAT to Parquet and back.
//!
//! A crate of its own because the `parquet` library takes longer to compile than the rest.
//!
//! Invariant: memory stays within one row group, whatever the size of the files.
//!
//! Start reading at [`write()`] and [`Table`].

mod error;
mod kind;
mod read;
mod write;

pub use error::Error;
pub use read::Table;
pub use write::{Lost, write};
