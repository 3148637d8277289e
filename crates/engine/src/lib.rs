//! Executes the steps of a SAS program: libraries, data sets, DATA step, external sort, log and
//! accounting.
//!
//! Invariant: files are reached only through a [`base::store::Store`], clock and usage only through
//! a [`base::meter::Meter`]. The engine knows procedures only by the [`procedure::Procedure`] trait.
//!
//! Start reading at [`session`]: it pulls steps from the language and runs them one by one.

pub mod accounting;
pub mod dataset;
pub mod datastep;
pub mod datetime;
pub mod expr;
pub mod failure;
pub mod format;
pub mod hash_table;
pub mod index;
pub mod library;
pub mod listing;
pub mod log;
pub mod options;
pub mod pace;
pub mod procedure;
pub mod session;
pub mod sort;
