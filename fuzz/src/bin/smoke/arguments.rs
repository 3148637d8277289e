//! The command line.

use std::path::PathBuf;

/// What to do.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    /// Seconds per target.
    pub(crate) seconds: f64,
    /// Decides every input.
    pub(crate) seed: u64,
    /// Run only this input.
    pub(crate) iteration: Option<u64>,
    /// Run only these targets, all if empty.
    pub(crate) targets: Vec<String>,
    /// Run only the input in this file.
    pub(crate) input: Option<PathBuf>,
    /// Go on after a panic, reporting each place once.
    pub(crate) keep_going: bool,
    /// Only write the seeds to this folder, as a corpus for libFuzzer.
    pub(crate) write_seeds: Option<PathBuf>,
    /// This is the process that runs a target; here it notes where it is.
    pub(crate) worker: Option<PathBuf>,
}

pub(crate) const USAGE: &str = "\
Usage: smoke [--seconds N] [--seed N] [--target NAME]... [--keep-going]
       smoke --target NAME --seed N --iteration N
       smoke --target NAME --input FILE
       smoke --write-seeds FOLDER";

impl Arguments {
    /// Reads the command line; what is wrong with it is the error.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            seconds: 5.0,
            seed: 1,
            iteration: None,
            targets: Vec::new(),
            input: None,
            keep_going: false,
            write_seeds: None,
            worker: None,
        };
        while let Some(word) = words.next() {
            if word == "--keep-going" {
                parsed.keep_going = true;
                continue;
            }
            let value = words
                .next()
                .ok_or(format!("{word} is not known or needs a value"))?;
            let wrong = || format!("{word} {value}: that is not a number");
            match word.as_str() {
                "--seconds" => parsed.seconds = value.parse().map_err(|_| wrong())?,
                "--seed" => parsed.seed = value.parse().map_err(|_| wrong())?,
                "--iteration" => parsed.iteration = Some(value.parse().map_err(|_| wrong())?),
                "--target" => parsed.targets.push(value),
                "--input" => parsed.input = Some(value.into()),
                "--write-seeds" => parsed.write_seeds = Some(value.into()),
                "--worker" => parsed.worker = Some(value.into()),
                _ => return Err(format!("{word} is not known")),
            }
        }
        if let Some(name) = parsed.targets.iter().find(|name| !is_target(name)) {
            let names = fuzz::TARGETS.map(|target| target.name).join(", ");
            return Err(format!("there is no target {name}; there are {names}"));
        }
        if (parsed.iteration.is_some() || parsed.input.is_some()) && parsed.targets.len() != 1 {
            return Err("--iteration and --input need one --target".to_owned());
        }
        Ok(parsed)
    }

    /// The targets to run.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &'static fuzz::Target> + '_ {
        let wanted = |name: &str| self.targets.is_empty() || self.targets.iter().any(|n| n == name);
        fuzz::TARGETS
            .iter()
            .filter(move |target| wanted(target.name))
    }
}

fn is_target(name: &str) -> bool {
    fuzz::TARGETS.iter().any(|target| target.name == name)
}
