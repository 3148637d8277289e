//! The audit: facts of a host against rules that were published. `docs/design/audit.md` explains
//! what becomes of a rule.
//!
//! Start reading at [`rule`], then [`mod@judge`].

mod applies;
pub mod bundle;
pub mod catalogue;
mod checks;
mod compare;
pub mod finding;
pub mod fix;
pub mod fleet;
pub mod judge;
pub mod overrides;
mod precedence;
pub mod rule;

pub use finding::{Finding, Outcome};
pub use judge::{Site, judge};
pub use rule::{Rule, Severity};
