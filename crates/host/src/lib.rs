//! Facts about the host. Parsers take bytes and never fail; `live` functions read the files.
//!
//! Start reading at [`cores`].

mod cgroup;
pub mod cores;
pub mod memory;
