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
    /// Other readers of SAS7BDAT beside ours: install, check
    Peers {
        /// What to do with them
        #[command(subcommand)]
        action: PeersAction,
    },
    /// Speed, beside the peers
    Bench {
        /// What is measured
        #[command(subcommand)]
        subject: Subject,
    },
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

#[derive(Subcommand)]
enum PeersAction {
    /// Install them, from their registries, below target/peers
    Install,
    /// Compare what they read with what we read; see peers/README.md for the arguments
    Check {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Subcommand)]
enum Subject {
    /// Reading, decoding, writing and compressing data sets; see peers/README.md for the arguments
    Format {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// External sort, start-up and row hashes; see peers/README.md for the arguments
    Sort {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// DATA steps, procedures and queries; see peers/README.md for the arguments
    Engine {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Jobs of demand-calibration beside their file calls (root); see peers/README.md for the arguments
    Calibration {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Raw throughput beside fio; see peers/README.md for the arguments
    Iotest {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Paced jobs beside their table, and many on few cores; see peers/README.md for the arguments
    Pace {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Finding duplicate blocks; see peers/README.md for the arguments
    Squeeze {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Reading SAS logs; see peers/README.md for the arguments
    Logs {
        /// Handed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// What the peers' program starts, beside itself.
const MEASURED: [&[&str]; 3] = [
    &["--package", "gristmill"],
    &["--package", "gristmill-results", "--example", "read_logs"],
    &["--package", "gristmill-lang", "--example", "speed"],
];

/// The peers' program is built for speed, and not part of this one, so that this one builds fast.
fn peers(verb: &str, arguments: &[String]) -> Result<()> {
    let build = ["cargo", "run", "--quiet", "--release"];
    let package = ["--package", "gristmill-peers", "--", verb];
    let arguments = arguments.iter().map(String::as_str);
    let command: Vec<&str> = build.into_iter().chain(package).chain(arguments).collect();
    process::run(&command)
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Ci => ci::run_checks(),
        Task::Tidy => tidy::run(),
        Task::Peers { action } => match action {
            PeersAction::Install => peers("install", &[]),
            PeersAction::Check { arguments } => peers("check", &arguments),
        },
        Task::Bench { subject } => {
            let (name, mut arguments) = match subject {
                Subject::Format { arguments } => ("format", arguments),
                Subject::Sort { arguments } => ("sort", arguments),
                Subject::Engine { arguments } => ("engine", arguments),
                Subject::Calibration { arguments } => ("calibration", arguments),
                Subject::Pace { arguments } => ("pace", arguments),
                Subject::Iotest { arguments } => ("iotest", arguments),
                Subject::Squeeze { arguments } => ("squeeze", arguments),
                Subject::Logs { arguments } => ("logs", arguments),
            };
            for package in MEASURED {
                process::run(&[&["cargo", "build", "--quiet", "--release"], package].concat())?;
            }
            arguments.insert(0, name.to_owned());
            peers("bench", &arguments)
        }
        Task::Fuzz { seconds, seed } => fuzz::run(seconds, seed),
    }
}
