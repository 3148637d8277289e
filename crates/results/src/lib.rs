//! The durable contract: the files of a run directory and the records in them. Only these types
//! cross a process, file or version border.
//!
//! Invariant: keys carry their unit and keep their meaning; unknown keys are tolerated when read;
//! [`SCHEMA`] changes when the meaning of a key does. A figure that was not measured is absent.
//!
//! Start reading at [`run`].

pub mod assemble;
pub mod audit;
pub mod bundle;
pub mod compare;
pub mod growth;
pub mod log;
pub mod matrix;
pub mod measurement;
pub mod node;
pub mod peak;
pub mod reference;
pub mod run;
pub mod sample;
pub mod series;
pub mod statistics;
pub mod step;
pub mod subject;
pub mod table;
pub mod tables;
pub mod thresholds;
pub mod verdict;
pub mod written;

/// Version of everything written here, `major.minor`: a new minor only adds keys.
pub const SCHEMA: &str = "1.1";
