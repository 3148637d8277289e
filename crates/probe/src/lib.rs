//! Small experiments on storage and on what lies on it.
//!
//! [`probe`](mod@probe): what a file system does with locks, caches, small files and other clients. [`iotest`]: what
//! storage moves when many streams write, read and copy large files. [`squeeze`]: how much storage that compresses
//! and deduplicates would save on given files.

pub mod iotest;
pub mod probe;
pub mod squeeze;
