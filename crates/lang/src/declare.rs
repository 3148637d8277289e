//! DATA step statements that describe variables: RETAIN and LENGTH, whose lists are their own.

use crate::ast::{Expr, TokenKind, VariableKind, VariableList};
use crate::cursor::{Cursor, Parsed};
use base::limits::CHARACTER_BYTES_MAX;

/// `list [initial] …` or `list (initials) …`: a value belongs to every variable since the last one.
pub(crate) fn retain(cursor: &mut Cursor<'_>) -> Parsed<Vec<(VariableList, Option<Expr>)>> {
    let mut items: Vec<(VariableList, Option<Expr>)> = Vec::new();
    let mut first = 0;
    while !cursor.is_at_end() {
        if cursor.peek_word().is_some() || is_name(cursor) {
            items.push((cursor.variable_item()?, None));
            continue;
        }
        let waiting = items.get_mut(first..).unwrap_or_default();
        if waiting.is_empty() {
            return Err(cursor.expected("a variable"));
        }
        if cursor.eat_symbol("(") {
            initials(cursor, waiting)?;
        } else {
            let value = cursor.constant()?;
            for (_, initial) in waiting {
                *initial = Some(value.clone());
            }
        }
        first = items.len();
    }
    Ok(items)
}

fn initials(cursor: &mut Cursor<'_>, waiting: &mut [(VariableList, Option<Expr>)]) -> Parsed<()> {
    let mut waiting = waiting.iter_mut();
    while !cursor.eat_symbol(")") {
        match waiting.next() {
            Some((VariableList::Name(..), initial)) => *initial = Some(cursor.constant()?),
            Some(_) => return Err(cursor.not_yet("list of initial values for a list of variables")),
            None => return Err(cursor.fail("There are more initial values than variables")),
        }
        cursor.eat_symbol(",");
    }
    Ok(())
}

/// `list [$] n …`
pub(crate) fn length(cursor: &mut Cursor<'_>) -> Parsed<Vec<(VariableList, VariableKind, u32)>> {
    let mut lengths = Vec::new();
    while !cursor.is_at_end() {
        if cursor.at_word("DEFAULT") && cursor.is_symbol_at(1, "=") {
            return Err(cursor.not_yet("DEFAULT= option of the LENGTH statement"));
        }
        let list = cursor.variable_list()?;
        let dollar = cursor.eat_symbol("$");
        let (kind, bytes) = one_length(cursor, dollar)?;
        lengths.extend(list.into_iter().map(|item| (item, kind, bytes)));
    }
    if lengths.is_empty() {
        Err(cursor.expected("a variable"))
    } else {
        Ok(lengths)
    }
}

pub(crate) fn one_length(cursor: &mut Cursor<'_>, dollar: bool) -> Parsed<(VariableKind, u32)> {
    let start = cursor.index();
    let (kind, bytes) = match cursor.peek().map(|token| &token.kind) {
        Some(TokenKind::Format(format)) if format.name == "$" && format.decimals == 0 => {
            let bytes = u32::from(format.width);
            cursor.next();
            (VariableKind::Character, u64::from(bytes))
        }
        _ => {
            let kind = if dollar {
                VariableKind::Character
            } else {
                VariableKind::Numeric
            };
            (kind, cursor.expect_count()?)
        }
    };
    let (low, high) = match kind {
        VariableKind::Character => (1, CHARACTER_BYTES_MAX),
        VariableKind::Numeric => (3, 8),
    };
    match u32::try_from(bytes) {
        Ok(bytes) if (low..=high).contains(&bytes) => Ok((kind, bytes)),
        _ => {
            cursor.rewind(start);
            let what = if kind == VariableKind::Numeric {
                "numeric"
            } else {
                "character"
            };
            Err(cursor.fail(format!(
                "352-185: The length of {what} variables is {low}-{high}, not {bytes}"
            )))
        }
    }
}

fn is_name(cursor: &Cursor<'_>) -> bool {
    matches!(
        cursor.peek().map(|token| &token.kind),
        Some(TokenKind::Name(_))
    )
}
