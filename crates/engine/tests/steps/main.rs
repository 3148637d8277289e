//! DATA steps and macros against what SAS documents of them.

mod formats;
mod harness;
mod hashes;
mod macros;
mod names;
mod operators;
mod records;
