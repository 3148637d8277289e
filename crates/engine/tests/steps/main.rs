//! DATA steps and macros against what SAS documents of them.

mod formats;
mod harness;
mod macros;
mod records;
