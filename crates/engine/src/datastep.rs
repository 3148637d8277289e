//! The DATA step: compiled (`compile`) to a tree of operations (`program`) over one flat program data
//! vector (`pdv`), then run row by row (`run`) or, where rows do not depend on each other, by blocks of
//! them (`block`). Rows come from data sets (`source`) or text files (`text`).

mod blank;
mod block;
mod compile;
mod declare;
mod dump;
mod hash;
mod pdv;
mod program;
mod run;
mod source;
mod target;
mod text;

pub use self::hash::hash_methods;

use lang::ast::DataStep;

use crate::failure::Outcome;
use crate::session::World;

/// Compiles and runs a DATA step. When it stops because of an error, no data set is replaced.
pub fn run(step: &DataStep, world: &mut World) -> Outcome<()> {
    let step = target::numbered(step, world)?;
    let program = compile::compile(&step, world)?;
    run::run(program, world)
}

/// Compiles a DATA step without running it, as after an error earlier in the program.
pub fn check(step: &DataStep, world: &mut World) -> Outcome<()> {
    let step = target::numbered(step, world)?;
    compile::compile(&step, world).map(|_| ())
}
