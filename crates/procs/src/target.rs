//! What procedures share when they read their statements: DATA= and its default.

use base::diag::Span;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{DatasetRef, Expr};
use lang::cursor::Cursor;

/// The data set of DATA=, or the one made last.
pub(crate) fn input_or_last(
    data: Option<DatasetRef>,
    world: &World,
    span: &Span,
) -> Outcome<DatasetRef> {
    if let Some(data) = data {
        return Ok(data);
    }
    let Some((libref, member)) = &world.last_dataset else {
        let message = "There is no default input data set: name one with DATA=.";
        return Err(Failure::at(span, message));
    };
    Ok(DatasetRef {
        span: span.clone(),
        libref: Some(libref.clone()),
        member: member.clone(),
        options: Vec::new(),
    })
}

/// `= dataset` after an option's name.
pub(crate) fn dataset_value(cursor: &mut Cursor<'_>) -> Outcome<DatasetRef> {
    cursor.expect_symbol("=")?;
    Ok(cursor.dataset_ref()?)
}

/// A WHERE statement replaces an earlier one.
pub(crate) fn replace_where(known: &mut Option<Expr>, condition: Expr, world: &mut World) {
    if known.replace(condition).is_some() {
        world.note("WHERE clause has been replaced.");
    }
}

/// The error for an option or statement that a procedure does not have (yet).
pub(crate) fn unknown(cursor: &Cursor<'_>, procedure: &str, what: &str) -> Failure {
    let word = cursor.peek_word().unwrap_or("this").to_ascii_uppercase();
    cursor
        .fail(format!(
            "PROC {procedure}: the {what} {word} is not valid or not implemented yet."
        ))
        .into()
}
