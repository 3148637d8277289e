//! The macro processor: what `&` and `%` mean. It works on the characters that the scanner is about
//! to make into words, so that what a step does to macro variables is visible to the text after it.
//!
//! `reference` resolves `&name`; `body` reads a definition into pieces once, `run` lets it produce
//! text piece by piece; `statements`, `call` and `functions` are what `%name` can be; `collect`
//! gathers the text of their arguments; `mask` is macro quoting; `table` holds variables and macros,
//! `words` the names of the language itself.

pub(crate) mod body;
mod call;
mod collect;
pub(crate) mod eval;
mod functions;
pub(crate) mod mask;
mod reference;
pub(crate) mod run;
mod statements;
pub(crate) mod table;
pub(crate) mod words;
