//! ARRAY, ATTRIB and DECLARE statements.

use crate::ast::{
    ArrayDeclaration, Attributes, Expr, StatementKind, TokenKind, VariableKind, VariableList,
};
use crate::cursor::{Cursor, Parsed};
use crate::declare;
use base::limits::VARIABLES_MAX;

/// Elements that an array may have, temporary ones too; the size of the program data vector sets
/// the limit in practice.
const ELEMENTS_MAX: i64 = 1 << 22;

/// From behind ARRAY: `name{dimensions} [$] [length] [elements] [(initial values)]`.
pub(crate) fn array(cursor: &mut Cursor<'_>) -> Parsed<StatementKind> {
    let (name, _) = cursor.expect_name("an array")?;
    let implicit =
        !cursor.is_at_end() && !["{", "[", "("].iter().any(|open| cursor.at_symbol(open));
    let dimensions = if implicit {
        Vec::new()
    } else {
        dimensions(cursor)?
    };
    let mut kind = cursor.eat_symbol("$").then_some(VariableKind::Character);
    let mut length = None;
    let at_length = match cursor.peek().map(|token| &token.kind) {
        Some(TokenKind::Number(..)) => true,
        Some(TokenKind::Format(format)) => format.name == "$",
        _ => false,
    };
    if at_length {
        let (found, bytes) = declare::one_length(cursor, kind.is_some())?;
        if found == VariableKind::Character {
            kind = Some(found);
        }
        length = Some(bytes);
    }
    let temporary = cursor.eat_word("_TEMPORARY_");
    let mut elements = Vec::new();
    while !temporary
        && matches!(
            cursor.peek().map(|token| &token.kind),
            Some(TokenKind::Word(_) | TokenKind::Name(_))
        )
    {
        let item = cursor.variable_item()?;
        if matches!(item, VariableList::Array(..)) {
            return Err(cursor.not_yet("array as an element of an array"));
        }
        elements.push(item);
    }
    let initial = if cursor.eat_symbol("(") {
        initial_values(cursor)?
    } else {
        Vec::new()
    };
    Ok(StatementKind::Array(Box::new(ArrayDeclaration {
        name,
        dimensions,
        implicit,
        kind,
        length,
        temporary,
        elements,
        initial,
    })))
}

/// `{*}`, `{3}`, `{2,0:4}`, in any brackets; without brackets as `{*}`.
fn dimensions(cursor: &mut Cursor<'_>) -> Parsed<Vec<(i64, i64)>> {
    let close = match cursor.peek().map(|token| &token.kind) {
        Some(TokenKind::Symbol("{")) => "}",
        Some(TokenKind::Symbol("[")) => "]",
        Some(TokenKind::Symbol("(")) => ")",
        _ => return Err(cursor.expected("the dimensions of the array, such as {3} or {*}")),
    };
    cursor.next();
    if cursor.eat_symbol("*") {
        cursor.expect_symbol(close)?;
        return Ok(Vec::new());
    }
    let mut dimensions = Vec::new();
    let mut elements = 1_i64;
    loop {
        let first = bound(cursor)?;
        let (low, high) = if cursor.eat_symbol(":") {
            (first, bound(cursor)?)
        } else {
            (1, first)
        };
        let count = high.saturating_sub(low).saturating_add(1);
        elements = elements.saturating_mul(count.max(0));
        if count < 1 || elements > ELEMENTS_MAX {
            return Err(cursor.fail(format!(
                "An array needs at least one element and at most {ELEMENTS_MAX} in each dimension \
                 and in all"
            )));
        }
        dimensions.push((low, high));
        if !cursor.eat_symbol(",") {
            break;
        }
    }
    cursor.expect_symbol(close)?;
    Ok(dimensions)
}

fn bound(cursor: &mut Cursor<'_>) -> Parsed<i64> {
    let value = cursor.expect_number()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "range and fraction are checked"
    )]
    if value.fract() == 0.0 && value.abs() <= 1e9 {
        Ok(value as i64)
    } else {
        Err(cursor.fail("The bounds of an array must be whole numbers"))
    }
}

/// From behind `(`: `1 2 3*0 2*(1 2))`.
fn initial_values(cursor: &mut Cursor<'_>) -> Parsed<Vec<Expr>> {
    let mut values = Vec::new();
    cursor.enter()?;
    while !cursor.eat_symbol(")") {
        let repeated = cursor.is_symbol_at(1, "*");
        let times = if repeated {
            let times = cursor.expect_count()?;
            cursor.next();
            times
        } else {
            1
        };
        let part = if cursor.eat_symbol("(") {
            initial_values(cursor)?
        } else {
            vec![cursor.constant()?]
        };
        let total = (part.len() as u64).saturating_mul(times);
        if total.saturating_add(values.len() as u64) > u64::from(VARIABLES_MAX) * 128 {
            return Err(cursor.fail("There are too many initial values"));
        }
        for _ in 0..times {
            values.extend_from_slice(&part);
        }
        cursor.eat_symbol(",");
    }
    cursor.leave();
    Ok(values)
}

/// From behind ATTRIB: `list LENGTH=$8 FORMAT=date9. LABEL='text' …`.
pub(crate) fn attrib(cursor: &mut Cursor<'_>) -> Parsed<StatementKind> {
    let mut all = Vec::new();
    while !cursor.is_at_end() {
        let mut attributes = Attributes {
            variables: cursor.variable_list()?,
            length: None,
            format: None,
            informat: None,
            label: None,
        };
        while cursor.is_symbol_at(1, "=") {
            let (name, _) = cursor.expect_name("an attribute")?;
            cursor.next();
            match name.to_ascii_uppercase().as_str() {
                "LENGTH" => {
                    let dollar = cursor.eat_symbol("$");
                    attributes.length = Some(declare::one_length(cursor, dollar)?);
                }
                "FORMAT" => attributes.format = Some(expect_format(cursor)?),
                "INFORMAT" => attributes.informat = Some(expect_format(cursor)?),
                "LABEL" => attributes.label = Some(cursor.expect_text()?),
                other => return Err(cursor.not_yet(format!("{other}= attribute"))),
            }
        }
        all.push(attributes);
    }
    if all.is_empty() {
        return Err(cursor.expected("a variable"));
    }
    Ok(StatementKind::Attrib(all))
}

fn expect_format(cursor: &mut Cursor<'_>) -> Parsed<crate::ast::FormatRef> {
    cursor
        .format_ref()
        .ok_or_else(|| cursor.expected("a format such as BEST12."))
}

/// From behind DECLARE: `HASH name(arguments)`.
pub(crate) fn declare_object(cursor: &mut Cursor<'_>) -> Parsed<StatementKind> {
    let iterator = if cursor.eat_word("HASH") {
        false
    } else if cursor.eat_word("HITER") {
        true
    } else {
        let found = cursor.peek_word().unwrap_or_default().to_ascii_uppercase();
        return Err(cursor.not_yet(format!("object {found} of DECLARE")));
    };
    let (name, _) = cursor.expect_name("the name of the object")?;
    let arguments = if cursor.at_symbol("(") {
        Some(cursor.declared_arguments()?)
    } else {
        None
    };
    Ok(StatementKind::Declare {
        iterator,
        name,
        arguments,
    })
}
