//! Why a step stopped: lines for the log, in SAS's words, naming file, operation and cause.

use std::io;

use base::diag::{Diagnostic, Span};
use base::store::{Operation, StoreError};

/// A step that cannot go on. Its lines are printed after `ERROR:`, each an error of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What to print.
    pub lines: Vec<FailureLine>,
}

/// One error: with a place in the program, or about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureLine {
    /// Something in the program.
    Program(Diagnostic),
    /// Something outside the program.
    World(String),
    /// What belongs to the error before it: a line of the log as it is.
    Detail(String),
}

/// Result of running (part of) a step.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// An error about a file, a limit or the system.
    pub fn world(message: impl Into<String>) -> Self {
        Self {
            lines: vec![FailureLine::World(message.into())],
        }
    }

    /// An error at a place in the program.
    pub fn at(span: &Span, message: impl AsRef<str>) -> Self {
        Diagnostic::error(span, placed(span, message.as_ref())).into()
    }

    /// A file operation failed while working on data set `name` (`LIB.MEMBER`).
    pub fn store(name: &str, error: &StoreError) -> Self {
        Self::world(match error.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("Insufficient space in file {name}.DATA: {error}.")
            }
            _ if error.is_locked() => {
                format!("A lock is not available for {name}.DATA: {error}.")
            }
            io::ErrorKind::NotFound => format!("File {name}.DATA does not exist: {error}."),
            io::ErrorKind::PermissionDenied => {
                format!(
                    "User does not have appropriate authorization level for file {name}.DATA: {error}."
                )
            }
            _ => format!("I/O processing of {name}.DATA did not complete: {error}."),
        })
    }

    /// The format codec refused or failed on data set `name`, whose file is `path`.
    pub fn format(name: &str, path: &std::path::Path, error: sas7bdat::Error) -> Self {
        match error {
            sas7bdat::Error::Io { action, source, .. } => {
                let operation = if action == "read" {
                    Operation::Read
                } else {
                    Operation::Write
                };
                Self::store(name, &StoreError::from_io(source, operation, path))
            }
            error => Self::world(format!(
                "File {name}.DATA cannot be used: failed to {error}. The file is {}.",
                path.display()
            )),
        }
    }
}

/// The message with its place, as the language's own messages have it.
pub fn placed(span: &Span, message: &str) -> String {
    let message = message.strip_suffix('.').unwrap_or(message);
    format!(
        "{message} ({}, line {}, column {}).",
        span.source, span.line, span.column
    )
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            lines: vec![FailureLine::Program(diagnostic)],
        }
    }
}
