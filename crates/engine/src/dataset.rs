//! Data sets as steps use them: options applied on the way in ([`input`]) and out ([`output`]),
//! rows moved between layouts ([`copy`]), rows worked on by several threads ([`runs`]).

pub(crate) mod background;
pub mod change;
pub mod copy;
pub mod extend;
pub mod files;
pub mod hash;
pub mod input;
pub(crate) mod locks;
pub mod options;
pub mod output;
pub mod restriction;
pub mod runs;
mod selection;
