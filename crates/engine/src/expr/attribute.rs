//! VNAME and VTYPE: what is known of a variable, or of the one that an element is.

use base::diag::Span;
use lang::ast::{Argument, BinaryOp, Expr, ExprKind};
use sas7bdat::{Kind, Variable};

use super::compile::{Compiler, Site};
use super::function::table::{Entry, Gives, general};
use super::general::{General, Result};
use super::{Number, Slot, Text, Value};
use crate::failure::{Failure, Outcome};

/// The element of this number, from 0, of texts side by side that have this many bytes each.
static PICKED: Entry = general("VNAME of", "ncn", Gives::LengthOf(1), |call| {
    let index = |place: usize| super::function::whole(call.number(place));
    let found = index(0).zip(index(2)).and_then(|(number, width)| {
        let width = usize::try_from(width).ok()?;
        let from = usize::try_from(number).ok()?.checked_mul(width)?;
        Some(call.text(1).get(from..from + width)?.to_vec())
    });
    if found.is_none() {
        call.invalid();
    }
    Result::Text(found.unwrap_or_default())
});

fn shown(function: &str, variable: &Variable) -> String {
    match function {
        "VTYPE" if variable.kind == Kind::Numeric => "N".to_owned(),
        "VTYPE" => "C".to_owned(),
        _ => variable.name.clone(),
    }
}

impl Compiler<'_> {
    /// A call of one of these functions; `None` for others.
    pub(super) fn attribute(
        &mut self,
        name: &str,
        arguments: &[Argument],
        span: &Span,
    ) -> Outcome<Option<Value>> {
        let function = name.to_ascii_uppercase();
        if !matches!(&*function, "VNAME" | "VTYPE") {
            return Ok(None);
        }
        let needs =
            format!("The function {function} needs a variable or an element of a DATA step.");
        let [Argument::Value(expr)] = arguments else {
            return Err(Failure::at(span, needs));
        };
        let (array, subscripts) = match &expr.kind {
            ExprKind::Variable(name) if self.scope.array(name).is_none() => {
                let slot = self.scope.variable(name, &expr.span)?;
                let Some(variable) = self.scope.described(slot) else {
                    return Err(Failure::at(span, needs));
                };
                let text = self.encoded(&shown(&function, &variable), span)?;
                return Ok(Some(Value::Text(Text::Constant(text))));
            }
            ExprKind::Element(array, subscripts) => (array, subscripts.clone()),
            ExprKind::Call(array, arguments) => {
                let one = |argument: &Argument| match argument {
                    Argument::Value(expr) => Some(expr.clone()),
                    _ => None,
                };
                (array, arguments.iter().filter_map(one).collect())
            }
            _ => return Err(Failure::at(span, needs)),
        };
        let Some(layout) = self.scope.array(array) else {
            return Err(Failure::at(span, needs));
        };
        if layout.bounds.len() != 1 {
            let message = format!(
                "The function {function} of an element of several dimensions is not implemented yet."
            );
            return Err(Failure::at(span, message));
        }
        let [subscript] = &subscripts[..] else {
            return Err(Failure::at(span, needs));
        };
        let number = self.number(&above(subscript, layout.bounds[0].0))?;
        self.picked(&function, number, &layout.slots, span)
            .map(Some)
    }

    fn picked(
        &mut self,
        function: &str,
        number: Number,
        slots: &[Slot],
        span: &Span,
    ) -> Outcome<Value> {
        let mut texts = Vec::with_capacity(slots.len());
        for slot in slots {
            let Some(variable) = self.scope.described(*slot) else {
                let message = format!("{function} needs elements that have names.");
                return Err(Failure::at(span, message));
            };
            texts.push(self.encoded(&shown(function, &variable), span)?);
        }
        let width = texts.iter().map(Vec::len).max().unwrap_or(1);
        for text in &mut texts {
            text.resize(width, b' ');
        }
        let site = self.sites.add(Site::Missing, span);
        self.sites.add(Site::InvalidArgument("VNAME"), span);
        Ok(Value::Text(Text::General(Box::new(General {
            entry: &PICKED,
            arguments: vec![
                Value::Number(number),
                Value::Text(Text::Constant(texts.concat())),
                Value::Number(Number::Constant(width as f64)),
            ],
            format: None,
            site,
            length: u32::try_from(width).unwrap_or(u32::MAX),
        }))))
    }
}

/// How far a subscript is above the lowest one.
fn above(subscript: &Expr, low: i64) -> Expr {
    let span = subscript.span.clone();
    let low = Expr {
        kind: ExprKind::Number(low as f64),
        span: span.clone(),
    };
    let (left, right) = (Box::new(subscript.clone()), Box::new(low));
    Expr {
        kind: ExprKind::Binary(BinaryOp::Subtract, left, right),
        span,
    }
}
