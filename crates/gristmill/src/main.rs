//! The binary: arguments in, exit code out. Everything else lives in the libraries.

mod cli;
mod commands;
mod exit;
mod paths;
mod signals;
mod sizes;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return exit::of_parser(&said).into(),
    };
    if let Err(error) = signals::survive_file_limits() {
        ui::say(&format!("failed to handle signals: {error}"));
        return Exit::CouldNotRun.into();
    }
    let outcome = match cli.verb {
        Verb::Run(args) => commands::run::run(&args),
        Verb::Suites(args) => commands::suites::run(&args),
        Verb::Exec(args) => commands::exec::run(&args),
        Verb::Report(args) => commands::report::run(&args),
        Verb::Logs(args) => commands::logs::run(&args),
        Verb::Compare(args) => commands::compare::run(&args),
        Verb::Completions { shell } => commands::manual::completions(shell),
        Verb::Man => commands::manual::man(),
        Verb::Stage(args) => commands::stage::run(&args),
        Verb::Mark(args) => commands::mark::run(&args),
        Verb::Agent(args) => commands::agent::run(&args),
        Verb::Matrix(args) => commands::matrix::run(&args),
        Verb::Iotest(args) => commands::iotest::run(&args),
        Verb::Probe(args) => commands::probe::run(&args),
        Verb::ProbePeer(args) => commands::probe::peer(&args),
        Verb::Audit(args) => commands::audit::run(&args),
        Verb::Clean(args) => commands::clean::run(&args),
        Verb::Data(args) => commands::data::run(&args),
    };
    match outcome {
        // Whoever reads a part of an answer takes it for the whole.
        Ok(_) if !ui::all_printed() => Exit::CouldNotRun.into(),
        Ok(exit) => exit.into(),
        Err(error) => {
            ui::error(&error);
            Exit::of_error(&error).into()
        }
    }
}
