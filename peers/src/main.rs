//! Compares our SAS7BDAT reader and writer with other programs ("peers"), for content and for speed.
//!
//! Started by `cargo xtask peers` and `cargo xtask bench format`; `README.md` beside it tells how.
//! Every peer runs as a process of its own and dumps what it reads as text ([`dump`]), which
//! [`compare`] compares line by line; [`known`] holds the differences that have a reason.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool that talks to whoever started it"
)]
#![allow(clippy::disallowed_methods, reason = "measures time and files")]

mod bench;
mod check;
mod compare;
mod dump;
mod install;
mod known;
mod manifest;
mod peer;
mod places;
mod shapes;
mod squeeze;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "peers", about = "Other readers of SAS7BDAT, beside ours")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install the peers, from their registries, below target/peers
    Install,
    /// Read every file of the corpus, and files that we write, with ours and the peers
    Check {
        /// Only the corpus
        #[arg(long, conflicts_with = "written")]
        corpus: bool,
        /// Only what we write
        #[arg(long)]
        written: bool,
        /// Only files whose name contains this
        #[arg(long, default_value = "")]
        only: String,
        /// Leave the written files here
        #[arg(long)]
        keep: Option<PathBuf>,
    },
    /// Speed, beside the peers
    Bench(bench::Options),
    /// One measured piece of work of ours
    #[command(hide = true)]
    Work(bench::ours::Work),
    /// Dump one data set as text
    Dump { file: PathBuf },
    /// Write one shape, and a dump of what was put into it
    #[command(hide = true)]
    Shape {
        name: String,
        file: PathBuf,
        dump: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the trace of calls, which says nothing about a data set.
            eprintln!("peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Install => install::run(),
        Task::Check {
            corpus,
            written,
            only,
            keep,
        } => check::run(!written, !corpus, &only, keep.as_deref()),
        Task::Bench(options) => bench::run(&options),
        Task::Work(work) => bench::ours::run(&work),
        Task::Dump { file } => dump::print(&file),
        Task::Shape { name, file, dump } => shapes::write(&name, &file, &dump),
    }
}
