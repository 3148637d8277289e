//! Wording of errors: every one names its place, so that a log line alone is enough to find it.

use base::diag::{Diagnostic, Span};

/// An error whose sentence ends with the place. `text` has no final period.
pub(crate) fn error(span: &Span, text: impl AsRef<str>) -> Diagnostic {
    let message = format!(
        "{} ({}, line {}, column {}).",
        text.as_ref(),
        span.source,
        span.line,
        span.column
    );
    Diagnostic::error(span, message)
}

/// `what` belongs to the language but not yet to this implementation of it.
pub(crate) fn not_yet(span: &Span, what: impl AsRef<str>) -> Diagnostic {
    error(
        span,
        format!("The {} is not implemented yet", what.as_ref()),
    )
}

/// A statement that the language does not have, or not here. The number is SAS's own.
pub(crate) fn out_of_order(span: &Span, word: &str) -> Diagnostic {
    error(
        span,
        format!("180-322: Statement is not valid or it is used out of proper order: {word}"),
    )
}
