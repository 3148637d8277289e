//! The DATA step: compiled to a tree of operations over one flat program data vector ([`pdv`]), then
//! run row by row ([`run`]).

mod compile;
mod pdv;
mod run;
mod target;

use lang::ast::DataStep;

use crate::failure::Outcome;
use crate::session::World;

/// Compiles and runs a DATA step. When it stops because of an error, no data set is replaced.
pub fn run(step: &DataStep, world: &mut World) -> Outcome<()> {
    let program = compile::compile(step, world)?;
    run::run(program, world)
}
