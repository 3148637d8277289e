//! Data recipes and the seeded generator.
//!
//! A recipe says what columns a data set has and how their values are drawn, so that row bytes,
//! compressibility and duplicates can be dialled. Values depend on the seed, the column and the row
//! number only: any row can be made alone, staging can run in parallel and be resumed, and every
//! file can be checked row by row later.
//!
//! Invariant: same recipe, same seed, same bytes, on every machine. No clock, no global state, no
//! floating-point function whose result could differ.
//!
//! The recipes of the published workloads are built in: [`named`].
//!
//! Start reading at [`Recipe`].

mod draw;
mod generate;
mod named;
mod parse;
mod text;
mod write;

pub use generate::Generator;
pub use named::{NAMES, named, text};
pub use parse::{Column, Error, Kind, Recipe};
pub use write::write_rows;
