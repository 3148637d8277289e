//! Programs run in memory: what they leave behind, what the log says, what a failing file system does
//! to them.

mod attributes;
mod blocks;
mod bygroups;
mod combining;
mod compat;
mod datastep;
mod faults;
mod formats;
mod freq;
mod functions;
mod glm;
mod harness;
mod hashes;
mod indexes;
mod locks;
mod log;
mod logistic;
mod macros;
mod means;
mod members;
mod models;
mod oracle;
mod outputs;
mod printing;
mod procedures;
mod reads;
mod reg;
mod routines;
mod semantics;
mod sorting;
mod sql;
mod syntaxcheck;
mod textfiles;
