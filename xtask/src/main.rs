//! Automation: `cargo xtask ci` is what CI runs after the tests, and what anyone can run.

#![expect(
    clippy::print_stderr,
    reason = "automation talks to whoever started it"
)]

mod ci;
mod fuzz;
mod process;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Format, lints, documentation and tidiness of the tree
    Ci,
    /// Tidiness of the tree alone: line lengths, file sizes, words that must not be there
    Tidy,
    /// Fuzz targets, each for some seconds; what fails is kept in `fuzz/artifacts`
    Fuzz {
        /// Seconds per target
        #[arg(long, default_value_t = 5)]
        seconds: u32,
        /// Decides every input: another one tries others
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Ci => ci::run_checks(),
        Task::Tidy => tidy::run(),
        Task::Fuzz { seconds, seed } => fuzz::run(seconds, seed),
    }
}
