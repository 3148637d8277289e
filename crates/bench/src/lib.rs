//! Suite → plan (pure) → stage → launch → verify.
//!
//! Invariant: writes only below directories it was given, in folders it made and marked
//! ([`marker`]); removes only what is marked. A run directory is readable at every moment.
//!
//! Start reading at [`run`].

pub mod audit;
pub mod ceiling;
pub mod clean;
pub mod grid;
pub mod launch;
pub mod marker;
pub mod matrix;
pub mod orphans;
pub mod plan;
pub mod run;
pub mod sampler;
pub mod sas;
pub mod stage;
pub mod suite;
pub mod verify;
