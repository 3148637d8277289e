//! Programs run in memory: what they leave behind, what the log says, what a failing file system does
//! to them.

mod attributes;
mod datastep;
mod faults;
mod freq;
mod harness;
mod hashes;
mod log;
mod means;
mod models;
mod procedures;
mod reg;
mod semantics;
mod sorting;
mod textfiles;
