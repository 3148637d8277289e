//! One file per verb.

pub mod agent;
pub mod audit;
pub mod clean;
pub mod compare;
pub mod data;
pub mod exec;
pub mod iotest;
pub mod logs;
pub mod manual;
pub mod mark;
pub mod matrix;
mod memory;
mod nodes;
mod pace;
pub mod probe;
mod record;
pub mod report;
mod room;
pub mod run;
pub mod stage;
pub mod suites;
mod view;
