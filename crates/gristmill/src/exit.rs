//! Exit codes, the only place where they are given numbers.

use std::process::ExitCode;

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: good.
    Good,
    /// 1: the answer is no: verdict failed, findings, verification failed.
    No,
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
            3 => Self::CouldNotRun,
            4 => Self::NoAnswer,
            130 => Self::Interrupted,
            _ => return None,
        })
    }

    /// The worse of two answers: could not run, then no, then no answer, then good.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
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
            // 2 (usage) is given by the argument parser.
            Exit::CouldNotRun => 3,
            Exit::NoAnswer => 4,
            Exit::Interrupted => 130,
            Exit::Sas(code) => code,
        })
    }
}
