//! DATA steps and macros against what SAS documents of them.

mod harness;
mod records;
