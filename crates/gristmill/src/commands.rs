//! One file per verb.

pub mod exec;
mod record;
