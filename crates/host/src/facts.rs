//! Facts about a host, from files and commands: what runs, what is persisted, what wins at the next
//! boot, and where each was found. `docs/design/audit.md` explains the names.
//!
//! Start reading at [`sources`], the table of everything that is read, then [`collect`].

pub mod boot;
pub mod capture;
pub mod collect;
pub mod commands;
pub mod derive;
pub mod fact;
pub mod key;
pub mod parse;
pub mod root;
pub mod sources;
pub mod value;

pub use fact::{Fact, Facts, Seen};
pub use key::Key;
pub use root::Root;
pub use value::Value;
