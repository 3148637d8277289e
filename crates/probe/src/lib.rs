//! Small experiments on storage and on what lies on it.
//!
//! [`squeeze`]: how much storage that compresses and deduplicates would save on given files.

pub mod squeeze;
