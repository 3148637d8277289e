//! The targets, by what they feed.

pub(crate) mod codec;
pub(crate) mod data_set;
pub(crate) mod index;
pub(crate) mod log;
pub(crate) mod program;
pub(crate) mod text;
