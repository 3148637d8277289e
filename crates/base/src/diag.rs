//! Findings about a user's text (program, recipe, suite): severity, message, position. They are
//! values, never `Err`: a program with errors is a normal input.

use std::fmt;
use std::sync::Arc;

/// A place in a source text. Lines and columns count from 1; columns count characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Name of the source: a file path as the user gave it, or `(macro NAME)`.
    pub source: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Length in characters, at least 1.
    pub length: u32,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.column)
    }
}

/// How bad a diagnostic is, in SAS's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// `NOTE:`
    Note,
    /// `WARNING:` the program goes on; exit code 1.
    Warning,
    /// `ERROR:` the step does not run; exit code 2.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "NOTE",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        })
    }
}

/// One finding about a source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// What happened and what to do, a sentence.
    pub message: String,
    /// Where, if it has a place.
    pub span: Option<Span>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: &Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span.clone()),
        }
    }

    /// A warning at a place.
    pub fn warning(span: &Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            message: message.into(),
            span: Some(span.clone()),
        }
    }

    /// A note at a place.
    pub fn note(span: &Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            message: message.into(),
            span: Some(span.clone()),
        }
    }
}
