//! One file per verb.

pub mod clean;
pub mod data;
pub mod exec;
pub mod manual;
mod record;
pub mod report;
pub mod run;
pub mod suites;
mod view;
