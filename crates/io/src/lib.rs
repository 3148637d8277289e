//! The measured I/O layer: a real file system behind [`base::store::Store`] ([`real`]), accounting
//! per channel and operation ([`account`]), its counters as others see them while a job runs
//! ([`live`]), what is left in permanent files ([`written`]), the page cache ([`cache`]), and processes:
//! clock, usage, children ([`process`]).
//!
//! Invariant: a call is timed from just before the system call to just after it; what the layer adds
//! around it stays below 1 % of a cached 128 KiB read (measured by `cargo xtask bench io`).
//!
//! Start reading at [`account`].

pub mod account;
pub mod cache;
mod cachestat;
pub mod errno;
pub mod latencies;
pub mod live;
mod mincore;
pub mod process;
pub mod real;
mod ticks;
pub mod written;
