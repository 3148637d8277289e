//! The headers of DO statements.

use crate::ast::{Argument, Expr, ExprKind, IMPLICIT_INDEX, LoopRange};
use crate::cursor::{Cursor, Parsed};

/// What stands between DO and its semicolon, unless nothing does.
#[derive(Default)]
pub(crate) struct Header {
    pub(crate) index: Option<(String, Vec<LoopRange>)>,
    pub(crate) while_: Option<Expr>,
    pub(crate) until: Option<Expr>,
}

/// Reads a header up to its semicolon, which stays; `None` for `DO;`.
pub(crate) fn header(cursor: &mut Cursor<'_>) -> Parsed<Option<Header>> {
    if cursor.is_at_end() {
        return Ok(None);
    }
    if cursor.at_word("OVER") && !cursor.is_symbol_at(1, "=") {
        return over(cursor).map(Some);
    }
    let (while_, until) = conditions(cursor)?;
    if while_.is_some() || until.is_some() {
        cursor.expect_end()?;
        return Ok(Some(Header {
            index: None,
            while_,
            until,
        }));
    }
    let (name, _) = cursor.expect_name("an index variable")?;
    cursor.expect_symbol("=")?;
    let mut ranges = vec![range(cursor)?];
    while cursor.eat_symbol(",") {
        ranges.push(range(cursor)?);
    }
    cursor.expect_end()?;
    Ok(Some(Header {
        index: Some((name, ranges)),
        while_: None,
        until: None,
    }))
}

/// `OVER array`: `_I_` goes through the elements.
fn over(cursor: &mut Cursor<'_>) -> Parsed<Header> {
    let span = cursor.span();
    cursor.next();
    let (name, place) = cursor.expect_name("an array")?;
    cursor.expect_end()?;
    let at = |kind| Expr {
        span: place.clone(),
        kind,
    };
    let array = Argument::Value(at(ExprKind::Variable(name)));
    let range = LoopRange {
        start: Expr {
            span,
            kind: ExprKind::Number(1.0),
        },
        stop: Some(at(ExprKind::Call("DIM".to_owned(), vec![array]))),
        step: None,
        while_: None,
        until: None,
    };
    Ok(Header {
        index: Some((IMPLICIT_INDEX.to_owned(), vec![range])),
        while_: None,
        until: None,
    })
}

fn conditions(cursor: &mut Cursor<'_>) -> Parsed<(Option<Expr>, Option<Expr>)> {
    let (mut while_, mut until) = (None, None);
    while cursor.is_symbol_at(1, "(") {
        let slot = if while_.is_none() && cursor.eat_word("WHILE") {
            &mut while_
        } else if until.is_none() && cursor.eat_word("UNTIL") {
            &mut until
        } else {
            break;
        };
        cursor.expect_symbol("(")?;
        *slot = Some(cursor.expression()?);
        cursor.expect_symbol(")")?;
    }
    Ok((while_, until))
}

/// `start [TO stop] [BY step] [WHILE(e)] [UNTIL(e)]`; TO and BY in either order.
fn range(cursor: &mut Cursor<'_>) -> Parsed<LoopRange> {
    let start = cursor.expression()?;
    let (mut to, mut by) = (None, None);
    loop {
        if to.is_none() && cursor.eat_word("TO") {
            to = Some(cursor.expression()?);
        } else if by.is_none() && cursor.eat_word("BY") {
            by = Some(cursor.expression()?);
        } else {
            break;
        }
    }
    let (while_, until) = conditions(cursor)?;
    Ok(LoopRange {
        start,
        stop: to,
        step: by,
        while_,
        until,
    })
}
