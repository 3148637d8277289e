//! A fuzzer for the stable compiler: changes seeds at random for some seconds per target.
//!
//! Each target runs in a process of its own, so that what ends a process (a stack that overflows,
//! memory that is refused) is reported like any failure: with the seed and the iteration that make
//! the input again, and the input in `fuzz/artifacts/`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "says what it found"
)]

mod allocator;
mod arguments;
mod artifacts;
mod worker;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use arguments::{Arguments, USAGE};
use fuzz::{Mutator, Seeds, Target};

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let result = if let Some(folder) = &arguments.write_seeds {
        write_seeds(&arguments, folder).map(|()| true)
    } else if let Some(progress) = arguments.worker.clone() {
        return worker::run(arguments, &progress);
    } else {
        run_all(&arguments)
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("smoke: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Where seeds are: in the repository and in the corpus that the environment names.
fn seeds() -> Seeds {
    Seeds {
        root: Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
        corpus: env::var_os("GRISTMILL_CORPUS").map(PathBuf::from),
    }
}

/// Runs the targets one after the other, each in a process; false if one failed.
fn run_all(arguments: &Arguments) -> io::Result<bool> {
    fs::create_dir_all(artifacts::folder())?;
    let mut good = true;
    for target in arguments.chosen() {
        good &= run_one(arguments, target)?;
    }
    Ok(good)
}

fn run_one(arguments: &Arguments, target: &Target) -> io::Result<bool> {
    let progress = artifacts::folder().join(format!(".{}-{}", target.name, std::process::id()));
    let mut words = vec!["--target".to_owned(), target.name.to_owned()];
    let mut given = env::args().skip(1);
    while let Some(word) = given.next() {
        // This process has one target.
        if word == "--target" {
            given.next();
        } else {
            words.push(word);
        }
    }
    let status = Command::new(env::current_exe()?)
        .args(words)
        .arg("--worker")
        .arg(&progress)
        .status()?;
    let iteration = artifacts::noted(&progress);
    // It is not there if the process could not even begin.
    let _ = fs::remove_file(&progress);
    if status.code().is_none() {
        // The process could not report it itself.
        let input = match (&arguments.input, iteration) {
            (Some(path), _) => fs::read(path)?,
            (None, Some(iteration)) => {
                Mutator::new(target, &seeds(), arguments.seed).input(iteration)
            }
            (None, None) => Vec::new(),
        };
        let what = format!("the process ended with {status}");
        artifacts::report(target, arguments, iteration, &input, &what);
    }
    Ok(status.success())
}

fn write_seeds(arguments: &Arguments, folder: &Path) -> io::Result<()> {
    for target in arguments.chosen() {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        let mutator = Mutator::new(target, &seeds(), arguments.seed);
        for (number, seed) in mutator.seeds().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), seed)?;
        }
        println!("{:16} {} seeds", target.name, mutator.seeds().len());
    }
    Ok(())
}
