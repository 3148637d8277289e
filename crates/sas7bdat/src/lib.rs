//! The SAS7BDAT file format: reads every variant, writes as SAS 9.4 on Linux writes.
//!
//! Invariant: no paths, no `std::fs`; bytes come and go through [`Source`] and [`Sink`].
//! Invariant: whatever a file contains, reading it ends with rows or a clear [`Error`]; memory stays
//! within a few pages and what the descriptions of the variables take.
//! Invariant: a page is read with one call and written with one call, in ascending order.
//!
//! Start reading at [`Reader`] (`reader.rs`, with `header.rs`, `page.rs`, `subheader.rs` and
//! `collector.rs` below it) and at [`Writer`] (`writer.rs`). The format itself is described in
//! `docs/format/sas7bdat.md`.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic
    )
)]

mod amend;
mod batch;
pub mod btree;
mod buffer;
pub mod check;
mod collector;
mod encoding;
mod endian;
mod error;
mod header;
mod metadata;
pub mod missing;
mod page;
pub mod rdc;
mod reader;
pub mod rle;
mod source;
mod stored;
mod subheader;
mod variable;
mod writer;

pub use amend::amend;
pub use batch::{Batch, Column, Texts, trim_blanks};
pub use encoding::Encoding;
pub use endian::Endian;
pub use error::Error;
pub use header::is_data_set;
pub use metadata::{IndexInfo, Metadata};
pub use reader::{Misplaced, Reader, Rows, TakenRows};
pub use source::{Seekable, Sink, Source};
pub use variable::{Compression, Format, Kind, Layout, Variable};
pub use writer::{WriteOptions, Writer, Written};
