//! What every room of Gristmill shares: units, seeded random streams, diagnostics with source
//! positions, row hashes, and the two traits through which the engine sees the world: [`store::Store`]
//! (files) and [`meter::Meter`] (clock and resource usage).
//!
//! Invariant: nothing here reads the clock, the environment or a real file. Those come in as
//! arguments, so that every run replays from a seed and every failure can be staged in a test.
//!
//! Start reading at [`store`].

pub mod diag;
pub mod limits;
pub mod meter;
pub mod random;
pub mod rowhash;
pub mod store;
pub mod units;
