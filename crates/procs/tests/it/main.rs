//! Programs run in memory: what they leave behind, what the log says, what a failing file system does
//! to them.

mod datastep;
mod faults;
mod harness;
mod procedures;
mod sorting;
