//! BETWEEN: the smaller bound need not come first (SQL Procedure User's Guide, "BETWEEN Condition").

use lang::ast::{Comparison, Expr, ExprKind, UnaryOp};
use sas7bdat::missing;

use super::Number;
use super::compile::Compiler;
use super::evaluate::order_key;
use crate::failure::Outcome;

enum Constant<'a> {
    Number(f64),
    Text(&'a str),
}

/// The bounds, smaller one first, if that can be said before the rows are read.
pub(super) fn ordered<'a>(low: &'a Expr, high: &'a Expr) -> Option<(&'a Expr, &'a Expr)> {
    let turned = match (constant(low)?, constant(high)?) {
        (Constant::Number(low), Constant::Number(high)) => order_key(low) > order_key(high),
        (Constant::Text(low), Constant::Text(high)) => low > high,
        _ => return None,
    };
    Some(if turned { (high, low) } else { (low, high) })
}

fn constant(expr: &Expr) -> Option<Constant<'_>> {
    match &expr.kind {
        ExprKind::Number(value) => Some(Constant::Number(*value)),
        ExprKind::Missing(code) => Some(Constant::Number(missing::encode(*code))),
        ExprKind::Unary(UnaryOp::Minus, inner) => match inner.kind {
            ExprKind::Number(value) => Some(Constant::Number(-value)),
            _ => None,
        },
        // The order of other characters depends on the encoding of the data.
        ExprKind::Text(text) if text.bytes().all(|byte| (b' '..0x7F).contains(&byte)) => {
            Some(Constant::Text(text.trim_end_matches(' ')))
        }
        _ => None,
    }
}

impl Compiler<'_> {
    /// Whether `value` lies between the bounds, whichever of them is the smaller one.
    pub(super) fn between(&mut self, value: &Expr, low: &Expr, high: &Expr) -> Outcome<Number> {
        if let Some((low, high)) = ordered(low, high) {
            return self.within(value, low, high);
        }
        let (forth, back) = (
            self.within(value, low, high)?,
            self.within(value, high, low)?,
        );
        Ok(Number::Or(Box::new(forth), Box::new(back)))
    }

    fn within(&mut self, value: &Expr, low: &Expr, high: &Expr) -> Outcome<Number> {
        let above = self.compare(Comparison::GreaterOrEqual, false, value, low)?;
        let below = self.compare(Comparison::LessOrEqual, false, value, high)?;
        Ok(Number::And(Box::new(above), Box::new(below)))
    }
}
