//! Automation: `cargo xtask ci` is what CI runs after the tests, and what anyone can run.

#![expect(
    clippy::print_stderr,
    reason = "automation talks to whoever started it"
)]

mod ci;
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
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Ci => ci::run_checks(),
        Task::Tidy => tidy::run(),
    }
}
