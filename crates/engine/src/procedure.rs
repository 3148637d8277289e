//! What a procedure is to the engine.

pub use lang::Support;
use lang::ast::ProcStep;

use crate::failure::Outcome;
use crate::session::World;

/// A procedure. Implementations live in the `procs` room, one file each.
pub trait Procedure: Send {
    /// Upper-case name, as after PROC.
    fn name(&self) -> &'static str;

    /// The note on a statement that failed, where the procedure goes on to the next one.
    fn stopped_note(&self) -> &'static str {
        "The SAS System stopped processing this step because of errors."
    }

    /// What COMPAT.md says of it.
    fn support(&self) -> Support;

    /// Reads the step's statements and tells what is wrong with them, without a look at data: as after
    /// an error earlier in the program.
    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()>;

    /// Reads the step's statements and runs them.
    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()>;
}
