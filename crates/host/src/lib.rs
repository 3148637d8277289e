//! Facts about the host, and what its kernel counts. Parsers take texts and never fail; `live`
//! functions read the files.
//!
//! Start reading at [`cores`] for what a run asks of a host, at [`processors`] for what is counted,
//! at [`facts`] for what the audit knows.

pub mod audit;
pub mod block_devices;
mod cgroup;
pub mod cifs;
pub mod cores;
pub mod facts;
mod fields;
pub mod file_systems;
pub mod memory;
pub mod network;
pub mod nfs;
pub mod pressure;
pub mod processors;
pub mod served;
