//! Small experiments on storage and on what lies on it.
//!
//! [`iotest`]: what storage moves when many streams write, read and copy large files. [`squeeze`]: how much
//! storage that compresses and deduplicates would save on given files.

pub mod iotest;
pub mod squeeze;
