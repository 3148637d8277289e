//! A factorial series: file systems, options and settings in every combination, each cell several times, in an
//! order that drift cannot be mistaken for an effect.
//!
//! Invariant: only devices that the plan names, that are in nobody's use and that were confirmed by name are
//! formatted ([`device`]); whatever is changed on the host is in the [`journal`] on disk before it is changed, and is
//! put back after each cell, after an error, a signal, and by the next process after a crash ([`undo`]).
//!
//! [`plan`] is the file as written, [`design`] makes cells and their order of it, [`possible`] says what this host
//! cannot do of them, [`series`](mod@series) carries them out, each by [`cell`].

pub mod cell;
pub mod design;
pub mod device;
pub mod filesystem;
pub mod image;
pub mod journal;
pub mod lvm;
pub mod plan;
pub mod possible;
pub mod series;
pub mod setting;
pub mod tool;
mod tuned;
pub mod undo;
mod validate;

/// How the folders are called in which a series has data, before its name.
pub(crate) const FOLDER: &str = "gristmill-matrix-";

#[cfg(test)]
mod tests;
