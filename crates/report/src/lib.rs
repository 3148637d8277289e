//! Run directories to tables and pages that people read. Needs neither engine nor host.
//!
//! Start reading at [`terminal`] for text, at [`page`] for HTML.

pub mod audit;
pub mod matrix;
pub mod measured;
pub mod page;
pub mod series;
pub mod table;
pub mod terminal;
pub mod verdict;
pub mod views;
