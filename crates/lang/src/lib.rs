//! The SAS language as an incremental session: the engine pulls one step at a time.
//!
//! Text flows as in SAS: a stack of sources, a word scanner, a macro processor that acts on `&` and
//! `%`, a tokeniser, a step compiler. Nothing is read ahead of a step boundary, so what a step does
//! to macro variables is visible to the text after it.
//!
//! Invariant: never fails and never touches a file; source text, macro symbols and %include come in
//! through a trait, and what is wrong with a program comes out as diagnostics beside the steps.
//!
//! Start reading at [`Session`]; procedures read their own statements with [`cursor::Cursor`].

#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unreachable
)]

pub mod ast;
pub mod cursor;

mod array;
mod declare;
mod expression;
mod finding;
mod global;
mod keywords;
mod lists;
mod literal;
mod loops;
mod macros;
mod membership;
mod scanner;
mod session;
mod simple;
mod source;
mod statement;
mod step;
mod support;
mod textio;

pub use self::global::global_statements;
pub use self::macros::eval::number_of as evaluate;
pub use self::macros::table::{Macros, Scope};
pub use self::macros::words::{macro_functions, macro_statements};
pub use self::session::{Host, Pulled, Resolved, Session, Trace, Tracing, resolve};
pub use self::source::SourceLine;
pub use self::statement::step_statements;
pub use self::support::{Support, Word};
