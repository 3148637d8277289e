//! From parsed expressions to typed trees, with SAS's automatic conversions and their notes.

use std::sync::Arc;

use base::diag::{Diagnostic, Span};
use lang::ast::{
    Argument, BinaryOp, Comparison, Expr, ExprKind, IMPLICIT_INDEX, InItem, SUM_CHAIN, UnaryOp,
};
use sas7bdat::{Encoding, Kind, Variable, missing};

use super::array::{ArrayLayout, ElementRef};
use super::code::Code;
use super::function::{OfNumbers, OfText};
use super::{Arithmetic, Number, Slot, Text, Value};
use crate::failure::{Failure, Outcome};
use crate::format::user::Formats;

/// Where names in an expression come from.
pub trait Scope {
    /// The variable called `name` (any case). A DATA step makes unknown ones; WHERE refuses them.
    fn variable(&mut self, name: &str, span: &Span) -> Outcome<Slot>;

    /// The variables of an `OF` list.
    fn list(&mut self, list: &lang::ast::VariableList) -> Outcome<Vec<Slot>>;

    /// What is known of the variable at `slot`, where programs can ask for it.
    fn described(&self, slot: Slot) -> Option<Variable> {
        let _ = slot;
        None
    }

    /// The array called `name` (any case), if there is one.
    fn array(&self, name: &str) -> Option<Arc<ArrayLayout>> {
        let _ = name;
        None
    }
}

/// What a site counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// Arithmetic that met a missing value.
    Missing,
    /// Text that was no number.
    InvalidNumber,
    /// A division by zero.
    DivisionByZero,
    /// An argument that this function cannot take.
    InvalidArgument(&'static str),
}

/// Notes and counted places gathered while compiling one step.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    /// What each counter of [`super::evaluate::Events`] counts, and where.
    pub counted: Vec<(Site, Span)>,
    /// Places where numbers became text.
    pub to_text: Vec<Span>,
    /// Places where texts became numbers.
    pub to_number: Vec<Span>,
    /// The first text beyond ASCII that was taken before the encoding of the data was known.
    pub unencoded: Option<Span>,
    /// Some function reads macro variables.
    pub reads_macros: bool,
    /// Other findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Sites {
    /// A new counter for `span`.
    pub fn add(&mut self, site: Site, span: &Span) -> usize {
        self.counted.push((site, span.clone()));
        self.counted.len() - 1
    }
}

/// Width of a number that becomes text: BEST12.
const BEST_WIDTH: u32 = 12;

/// Compiles expressions of one step.
pub struct Compiler<'a> {
    /// Where names come from.
    pub scope: &'a mut dyn Scope,
    /// What is gathered.
    pub sites: &'a mut Sites,
    /// Encoding of the data that texts of the program meet, as far as it is known.
    pub encoding: Option<Encoding>,
    /// Formats made by PROC FORMAT, which say how long results of PUT are.
    pub formats: &'a Formats,
}

impl Compiler<'_> {
    /// Compiles an expression of either type.
    pub fn value(&mut self, expr: &Expr) -> Outcome<Value> {
        let span = &expr.span;
        Ok(match &expr.kind {
            ExprKind::Text(text) => Value::Text(Text::Constant(self.encoded(text, span)?)),
            ExprKind::Variable(name) if self.is_implicit(name) => {
                let element = self.element(name, &[implicit_index(span)], span)?;
                Self::element_value(element)
            }
            ExprKind::Variable(name) => {
                let slot = self.scope.variable(name, span)?;
                match slot.kind {
                    Kind::Numeric => Value::Number(Number::Variable(slot)),
                    Kind::Character => Value::Text(Text::Variable(slot)),
                }
            }
            ExprKind::Binary(BinaryOp::Concatenate, left, right) => {
                let left = self.text(left)?;
                Value::Text(Text::Concatenate(
                    Box::new(left),
                    Box::new(self.text(right)?),
                ))
            }
            ExprKind::Element(name, subscripts) => {
                let element = self.element(name, subscripts, span)?;
                Self::element_value(element)
            }
            ExprKind::Call(name, arguments) => match self.scope.array(name) {
                Some(_) => {
                    let subscripts = arguments.iter().map(|argument| match argument {
                        Argument::Value(expr) => Ok(expr.clone()),
                        _ => Err(Failure::at(span, "An array takes numbers as subscripts.")),
                    });
                    let subscripts = subscripts.collect::<Outcome<Vec<_>>>()?;
                    Self::element_value(self.element(name, &subscripts, span)?)
                }
                None => self.call(name, arguments, span)?,
            },
            _ => Value::Number(self.plain_number(expr)?),
        })
    }

    /// Compiles an expression that must be a number, converting text with a note.
    pub fn number(&mut self, expr: &Expr) -> Outcome<Number> {
        let value = self.value(expr)?;
        Ok(self.to_number(value, &expr.span))
    }

    /// Compiles an expression that must be text, converting numbers with a note.
    pub fn text(&mut self, expr: &Expr) -> Outcome<Text> {
        let value = self.value(expr)?;
        Ok(self.to_text(value, &expr.span))
    }

    /// Converts a compiled value to a number.
    pub fn to_number(&mut self, value: Value, span: &Span) -> Number {
        match value {
            Value::Number(number) => number,
            Value::Text(text) => {
                self.sites.to_number.push(span.clone());
                Number::FromText(text, self.sites.add(Site::InvalidNumber, span))
            }
        }
    }

    /// Converts a compiled value to text.
    pub fn to_text(&mut self, value: Value, span: &Span) -> Text {
        match value {
            Value::Text(text) => text,
            Value::Number(number) => {
                self.sites.to_text.push(span.clone());
                Text::FromNumber(Box::new(number), BEST_WIDTH)
            }
        }
    }

    /// Converts a compiled value to the text that is assigned to a variable of `length` bytes: a
    /// number gets BEST with that width, so that no digit is cut off.
    pub fn to_text_of(&mut self, value: Value, length: u32, span: &Span) -> Text {
        match self.to_text(value, span) {
            Text::FromNumber(number, width) => Text::FromNumber(number, width.min(length)),
            text => text,
        }
    }

    /// A text of the program in the encoding of the data.
    pub(super) fn encoded(&mut self, text: &str, span: &Span) -> Outcome<Vec<u8>> {
        let Some(encoding) = self.encoding else {
            if !text.is_ascii() {
                self.sites.unencoded.get_or_insert_with(|| span.clone());
            }
            return Ok(text.as_bytes().to_vec());
        };
        let encoded = encoding.encode(text).map_err(|_| {
            let message = format!(
                "The encoding {} of the data set lacks characters of this text.",
                encoding.name
            );
            Failure::at(span, message)
        })?;
        Ok(encoded.into_owned())
    }

    /// `name{subscripts}`
    pub fn element(&mut self, name: &str, subscripts: &[Expr], span: &Span) -> Outcome<ElementRef> {
        let Some(array) = self.scope.array(name) else {
            let message = format!("Undeclared array referenced: {name}.");
            return Err(Failure::at(span, message));
        };
        if array.bounds.len() != subscripts.len() {
            let (few, name) = (subscripts.len() < array.bounds.len(), &array.name);
            let what = if few { "Too few" } else { "Too many" };
            let message = format!("{what} array subscripts specified for array {name}.");
            return Err(Failure::at(span, message));
        }
        let subscripts = subscripts.iter().map(|expr| self.number(expr));
        let subscripts = subscripts.collect::<Outcome<Vec<_>>>()?;
        Ok(ElementRef::new(array, subscripts, span.clone()))
    }

    /// Whether a name alone stands for an element of an array.
    fn is_implicit(&self, name: &str) -> bool {
        self.scope.array(name).is_some_and(|array| array.implicit)
    }

    fn element_value(element: ElementRef) -> Value {
        match element.array().kind {
            Kind::Numeric => Value::Number(Number::Element(Box::new(element))),
            Kind::Character => Value::Text(Text::Element(Box::new(element))),
        }
    }

    /// DIM, HBOUND and LBOUND, which are known when the step is compiled.
    fn bound(&mut self, name: &str, arguments: &[Argument]) -> Option<Number> {
        let upper = name.to_ascii_uppercase();
        let base = upper.trim_end_matches(|c: char| c.is_ascii_digit());
        if !["DIM", "HBOUND", "LBOUND"].contains(&base) {
            return None;
        }
        let constant = |expr: &Expr| match expr.kind {
            ExprKind::Number(value) => Some(value),
            _ => None,
        };
        let (array, number) = match arguments {
            [Argument::Value(array)] => (array, upper[base.len()..].parse().unwrap_or(1.0)),
            [Argument::Value(array), Argument::Value(number)] => (array, constant(number)?),
            _ => return None,
        };
        let ExprKind::Variable(array) = &array.kind else {
            return None;
        };
        let array = self.scope.array(array)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates"
        )]
        let number = number as usize;
        let extent = array.extent(number)?;
        let (low, high) = array.bounds[number - 1];
        let value = match base {
            "DIM" => extent,
            "HBOUND" => high,
            _ => low,
        };
        Some(Number::Constant(value as f64))
    }

    fn boxed(&mut self, expr: &Expr) -> Outcome<Box<Number>> {
        self.number(expr).map(Box::new)
    }

    fn plain_number(&mut self, expr: &Expr) -> Outcome<Number> {
        let span = &expr.span;
        Ok(match &expr.kind {
            ExprKind::Number(value) => Number::Constant(*value),
            ExprKind::Missing(code) => Number::Constant(missing::encode(*code)),
            ExprKind::Unary(UnaryOp::Plus, operand) => self.number(operand)?,
            ExprKind::Unary(UnaryOp::Minus, operand) => Number::Negate(self.boxed(operand)?),
            ExprKind::Unary(UnaryOp::Not, operand) => Number::Not(self.boxed(operand)?),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, span)?,
            ExprKind::In {
                value,
                items,
                negated,
            } => {
                let found = self.membership(value, items)?;
                negate_if(*negated, found)
            }
            ExprKind::Between {
                value,
                low,
                high,
                negated,
            } => {
                let between = self.between(value, low, high)?;
                negate_if(*negated, between)
            }
            ExprKind::IsMissing(value, negated) => {
                let value = self.value(value)?;
                negate_if(*negated, is_missing(value))
            }
            ExprKind::Like {
                value,
                pattern,
                contains,
                negated,
            } => {
                let value = self.text(value)?;
                let pattern = self.encoded(pattern, span)?;
                negate_if(
                    *negated,
                    Number::Like {
                        value,
                        pattern,
                        contains: *contains,
                    },
                )
            }
            ExprKind::Method { object, method, .. } => {
                let message = format!(
                    "{object} is not an object that was declared before, so that {object}.{method} \
                     means nothing here."
                );
                return Err(Failure::at(span, message));
            }
            ExprKind::Text(_)
            | ExprKind::Variable(_)
            | ExprKind::Call(..)
            | ExprKind::Element(..) => {
                unreachable!("handled by `value`")
            }
        })
    }

    fn binary(
        &mut self,
        operator: BinaryOp,
        left: &Expr,
        right: &Expr,
        span: &Span,
    ) -> Outcome<Number> {
        let arithmetic = match operator {
            BinaryOp::Compare(relation, prefix) => {
                return self.compare(relation, prefix, left, right);
            }
            BinaryOp::And => return Ok(Number::And(self.boxed(left)?, self.boxed(right)?)),
            BinaryOp::Or => return Ok(Number::Or(self.boxed(left)?, self.boxed(right)?)),
            BinaryOp::Min | BinaryOp::Max => {
                let larger = operator == BinaryOp::Max;
                let (left, right) = (self.boxed(left)?, self.boxed(right)?);
                return Ok(Number::Extreme {
                    larger,
                    left,
                    right,
                });
            }
            BinaryOp::Add => Arithmetic::Add,
            BinaryOp::Subtract => Arithmetic::Subtract,
            BinaryOp::Multiply => Arithmetic::Multiply,
            BinaryOp::Divide => Arithmetic::Divide,
            BinaryOp::Power => Arithmetic::Power,
            BinaryOp::Concatenate => unreachable!("handled by `value`"),
        };
        let (left, right) = (self.boxed(left)?, self.boxed(right)?);
        let site = self.sites.add(Site::Missing, span);
        if arithmetic == Arithmetic::Divide {
            // The site behind counts divisions by zero.
            self.sites.add(Site::DivisionByZero, span);
        }
        Ok(Number::Arithmetic(arithmetic, left, right, site))
    }

    /// `left = right`, as SELECT compares.
    pub fn equal(&mut self, left: &Expr, right: &Expr) -> Outcome<Number> {
        self.compare(Comparison::Equal, false, left, right)
    }

    pub(super) fn compare(
        &mut self,
        relation: Comparison,
        prefix: bool,
        left: &Expr,
        right: &Expr,
    ) -> Outcome<Number> {
        let (left_value, right_value) = (self.value(left)?, self.value(right)?);
        Ok(match (left_value, right_value) {
            (Value::Text(left), Value::Text(right)) => Number::CompareText {
                relation,
                left,
                right,
                prefix,
            },
            (left_value, right_value) => Number::Compare(
                relation,
                Box::new(self.to_number(left_value, &left.span)),
                Box::new(self.to_number(right_value, &right.span)),
            ),
        })
    }

    fn membership(&mut self, value: &Expr, items: &[InItem]) -> Outcome<Number> {
        match self.value(value)? {
            Value::Text(text) => {
                let texts = items.iter().map(|item| match item {
                    InItem::Value(Expr {
                        kind: ExprKind::Text(text),
                        span,
                    }) => self.encoded(text, span),
                    _ => Err(Failure::at(&value.span, "IN needs a list of texts here.")),
                });
                Ok(Number::InText(text, texts.collect::<Outcome<_>>()?))
            }
            Value::Number(number) => {
                let ranges = items.iter().map(|item| in_range(item, &value.span));
                Ok(Number::In(
                    Box::new(number),
                    ranges.collect::<Outcome<_>>()?,
                ))
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Argument], span: &Span) -> Outcome<Value> {
        if name == SUM_CHAIN {
            return self.sum_chain(arguments, span);
        }
        if let Some(bound) = self.bound(name, arguments) {
            return Ok(Value::Number(bound));
        }
        if let Some(value) = self.attribute(name, arguments, span)? {
            return Ok(value);
        }
        if let Some(function) = OfText::find(name) {
            let [Argument::Value(argument)] = arguments else {
                let message = format!("The function {name} takes one argument.");
                return Err(Failure::at(span, message));
            };
            return Ok(Value::Text(Text::Call(
                function,
                Box::new(self.text(argument)?),
            )));
        }
        let Some((function, least, most)) = OfNumbers::find(name) else {
            return self.general(name, arguments, span);
        };
        if let (OfNumbers::Missing, [Argument::Value(argument)]) = (function, arguments) {
            return Ok(Value::Number(is_missing(self.value(argument)?)));
        }
        let mut numbers = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(expr) => numbers.push(self.number(expr)?),
                Argument::Format(format) => {
                    let message = format!("The function {name} takes no format here.");
                    return Err(Failure::at(&format.span, message));
                }
                Argument::Omitted(span) => return Err(not_omitted(name, span)),
                Argument::Of(lists) => {
                    for list in lists {
                        for slot in self.scope.list(list)? {
                            numbers.push(self.of_list_item(slot, span));
                        }
                    }
                }
            }
        }
        if !(least..=most).contains(&numbers.len()) {
            let message = format!(
                "The function {name} does not take {} arguments.",
                numbers.len()
            );
            return Err(Failure::at(span, message));
        }
        Ok(Value::Number(Number::Call(function, numbers)))
    }

    /// A sum of many terms, as steps: nothing here is as deep as it is long.
    fn sum_chain(&mut self, arguments: &[Argument], span: &Span) -> Outcome<Value> {
        let (mut first, mut terms) = (None, Vec::with_capacity(arguments.len()));
        for argument in arguments {
            let Argument::Value(term) = argument else {
                return Err(not_omitted(SUM_CHAIN, span));
            };
            let term = self.number(term)?;
            if first.is_none() {
                first = Some(term);
            } else {
                terms.push((term, self.sites.add(Site::Missing, span)));
            }
        }
        let first = first.unwrap_or(Number::Constant(0.0));
        Ok(Value::Number(Number::Code(Box::new(Code::sum(
            first, terms,
        )))))
    }

    fn of_list_item(&mut self, slot: Slot, span: &Span) -> Number {
        match slot.kind {
            Kind::Numeric => Number::Variable(slot),
            Kind::Character => self.to_number(Value::Text(Text::Variable(slot)), span),
        }
    }
}

/// The error on an argument that is left out between commas.
pub(super) fn not_omitted(name: &str, span: &Span) -> Failure {
    let message = format!("The function {name} cannot do without this argument.");
    Failure::at(span, message)
}

/// The subscript of an array that has none.
pub fn implicit_index(span: &Span) -> Expr {
    Expr {
        span: span.clone(),
        kind: ExprKind::Variable(IMPLICIT_INDEX.to_owned()),
    }
}

fn negate_if(negated: bool, number: Number) -> Number {
    if negated {
        Number::Not(Box::new(number))
    } else {
        number
    }
}

fn is_missing(value: Value) -> Number {
    match value {
        Value::Number(number) => Number::Call(OfNumbers::Missing, vec![number]),
        Value::Text(text) => Number::Blank(text),
    }
}

fn in_range(item: &InItem, span: &Span) -> Outcome<(f64, f64)> {
    let constant = |kind: &ExprKind| match kind {
        ExprKind::Number(value) => Some(*value),
        ExprKind::Missing(code) => Some(missing::encode(*code)),
        _ => None,
    };
    match item {
        InItem::Range(low, high) => Ok((*low as f64, *high as f64)),
        InItem::Value(Expr {
            kind: ExprKind::Unary(UnaryOp::Minus, inner),
            ..
        }) => {
            let value = constant(&inner.kind).map(|value| (-value, -value));
            value.ok_or_else(|| Failure::at(span, "IN needs a list of numbers here."))
        }
        InItem::Value(expr) => constant(&expr.kind)
            .map(|value| (value, value))
            .ok_or_else(|| Failure::at(span, "IN needs a list of numbers here.")),
    }
}
