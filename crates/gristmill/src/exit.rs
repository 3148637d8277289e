//! Exit codes, the only place where they are given numbers.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use bench::{plan, suite};

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: good.
    Good,
    /// 1: the answer is no: verdict failed, findings, verification failed.
    No,
    /// 2: usage: the arguments cannot be meant. The argument parser gives it too.
    Usage,
    /// 3: could not run.
    CouldNotRun,
    /// 4: no answer: the run cannot prove it either way.
    NoAnswer,
    /// 130: interrupted.
    Interrupted,
    /// `exec` only, SAS's own: 0 clean, 1 warnings, 2 errors.
    Sas(u8),
}

impl Exit {
    /// The exit of a command that ended with this code; `None` for codes that a run does not end with.
    pub const fn of_code(code: i32) -> Option<Self> {
        Some(match code {
            0 => Self::Good,
            1 => Self::No,
            2 => Self::Usage,
            3 => Self::CouldNotRun,
            4 => Self::NoAnswer,
            130 => Self::Interrupted,
            _ => return None,
        })
    }

    /// That of a verb that ended with an error.
    pub fn of_error(error: &anyhow::Error) -> Self {
        let is_usage = |cause: &(dyn Error + 'static)| {
            cause.is::<Usage>()
                || matches!(cause.downcast_ref(), Some(plan::Error::Usage(_)))
                || matches!(cause.downcast_ref(), Some(suite::Error::Unknown { .. }))
        };
        if error.chain().any(is_usage) {
            Self::Usage
        } else {
            Self::CouldNotRun
        }
    }

    /// The worse of two answers: usage, then could not run, then no, then no answer, then good.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Usage, _) | (_, Self::Usage) => Self::Usage,
            (Self::CouldNotRun, _) | (_, Self::CouldNotRun) => Self::CouldNotRun,
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::NoAnswer, _) | (_, Self::NoAnswer) => Self::NoAnswer,
            _ => other,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Good => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::CouldNotRun => 3,
            Exit::NoAnswer => 4,
            Exit::Interrupted => 130,
            Exit::Sas(code) => code,
        })
    }
}

/// Prints what the argument parser has to say, a mistake or help. With `exec`, where 2 tells of errors in the program,
/// a mistake is 3.
pub fn of_parser(said: &clap::Error) -> Exit {
    // Nobody is left to be told.
    let _ = said.print();
    let is_exec = std::env::args_os()
        .nth(1)
        .is_some_and(|verb| verb == "exec");
    match said.exit_code() {
        0 => Exit::Good,
        _ if is_exec => Exit::CouldNotRun,
        _ => Exit::Usage,
    }
}

/// Arguments that cannot be meant: they contradict each other, or what they name is not one of those there are.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// Ends a verb with a [`Usage`] of these words.
macro_rules! usage {
    ($($words:tt)*) => {
        return Err($crate::exit::Usage(format!($($words)*)).into())
    };
}
pub(crate) use usage;
