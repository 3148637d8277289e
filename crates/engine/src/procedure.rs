//! What a procedure is to the engine.

use lang::ast::ProcStep;

use crate::failure::Outcome;
use crate::session::World;

/// What of a procedure there is, in the words of COMPAT.md.
#[derive(Debug, Clone, Copy)]
pub struct Support {
    /// Statements and options that there are, and what differs.
    pub yes: &'static str,
    /// What is refused by name.
    pub no: &'static str,
}

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

    /// Parses the step's statements and runs them.
    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()>;
}
