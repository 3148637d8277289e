//! Run directories to tables that people read. Needs neither engine nor host.
//!
//! Start reading at [`terminal`].

pub mod measured;
pub mod series;
pub mod table;
pub mod terminal;
pub mod verdict;
pub mod views;
