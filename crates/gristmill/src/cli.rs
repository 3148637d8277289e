//! The whole surface of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::sizes;

const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("GRISTMILL_COMMIT"),
    ", ",
    env!("GRISTMILL_TARGET"),
    ")"
);

const EXIT_CODES: &str = "Exit codes: 0 good; 1 the answer is no; 2 usage; 3 could not run; \
4 no answer; 130 interrupted. `exec` speaks SAS: 0 clean, 1 warnings, 2 errors, 3 could not run.";

/// Finds out whether storage can keep analytics cores fed.
#[derive(Debug, Parser)]
#[command(name = "gristmill", version = VERSION, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run one SAS-language program in the built-in engine
    Exec(ExecArgs),
}

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    /// The program
    pub program: PathBuf,
    /// Assign a libref before the program starts
    #[arg(long, value_name = "LIBREF=DIR", value_parser = sizes::libname)]
    pub libname: Vec<(String, PathBuf)>,
    /// Make the WORK directory below this one [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Make the utility directory below this one [default: that of --work]
    #[arg(long, value_name = "DIR")]
    pub util: Option<PathBuf>,
    /// Set a macro variable
    #[arg(long, value_name = "MACROVAR=VALUE", value_parser = sizes::name_value)]
    pub set: Vec<(String, Option<String>)>,
    /// Set a SAS system option, such as SORTSIZE=768M or FULLSTIMER
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = sizes::name_value)]
    pub option: Vec<(String, Option<String>)>,
    /// Write the log here [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write procedure output here [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub print: Option<PathBuf>,
    /// Write one JSON line per step with everything measured
    #[arg(long, value_name = "FILE")]
    pub steps: Option<PathBuf>,
    /// Hash the rows of every data set read and written (recorded by --steps)
    #[arg(long)]
    pub row_hashes: bool,
    /// Flush every finished permanent data set to stable storage
    #[arg(long)]
    pub fsync: bool,
    /// Transfer aligned blocks past the page cache (O_DIRECT)
    #[arg(long)]
    pub direct: bool,
    /// Tell the kernel that files are read sequentially
    #[arg(long)]
    pub advise_sequential: bool,
}
