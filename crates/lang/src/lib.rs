//! The SAS language as an incremental session: the engine pulls one step at a time.
//!
//! Invariant: never fails and never touches a file; source text, macro symbols and %include come in
//! through a trait, and what is wrong with a program comes out as diagnostics beside the steps.

pub mod ast;
