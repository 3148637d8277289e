//! Compiling DECLARE and method calls.

use base::diag::Span;
use lang::ast::{DatasetRef, Expr, ExprKind, MethodArgument};
use sas7bdat::Kind;

use super::{Duplicates, Given, Method, MethodCall, Named, Object, ObjectKind, Shape};
use crate::datastep::compile::Builder;
use crate::datastep::program::Operation;
use crate::expr::Value;
use crate::failure::{Failure, Outcome};

impl Builder<'_> {
    /// DECLARE HASH or HITER.
    pub(in crate::datastep) fn declare_object(
        &mut self,
        iterator: bool,
        name: &str,
        arguments: Option<&[MethodArgument]>,
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        let Some(arguments) = arguments else {
            let message = format!(
                "DECLARE of {name} needs its arguments in parentheses; _NEW_ is not implemented yet."
            );
            return Err(Failure::at(span, message));
        };
        if self.object(name).is_some() || self.pdv.find(name).is_some() {
            let message = format!("The name {name} is used already.");
            return Err(Failure::at(span, message));
        }
        let kind = if iterator {
            let [argument] = arguments else {
                let message = "DECLARE HITER takes the name of a hash object in quotes.";
                return Err(Failure::at(span, message));
            };
            let hash = text(&argument.value)?;
            match self.object(hash) {
                Some(index) if matches!(self.objects[index].kind, ObjectKind::Hash(_)) => {
                    ObjectKind::Iterator(index)
                }
                _ => {
                    let message = format!("{hash} is not a hash object that was declared before.");
                    return Err(Failure::at(&argument.value.span, message));
                }
            }
        } else {
            ObjectKind::Hash(Box::new(shape(arguments, span)?))
        };
        self.objects.push(Object {
            name: name.to_owned(),
            span: span.clone(),
            kind,
        });
        let call = MethodCall {
            object: self.objects.len() - 1,
            method: Method::Declare,
            span: span.clone(),
            alone: true,
        };
        let slot = self.pdv.automatic(" declare", span)?;
        out.push(Operation::Method(Box::new(call), slot));
        Ok(())
    }

    fn object(&self, name: &str) -> Option<usize> {
        let is = |object: &Object| object.name.eq_ignore_ascii_case(name);
        self.objects.iter().position(is)
    }

    /// A call of a method, or an attribute.
    pub(in crate::datastep) fn method(
        &mut self,
        object: &str,
        method: &str,
        arguments: Option<&[MethodArgument]>,
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<MethodCall> {
        let Some(index) = self.object(object) else {
            let message = format!("{object} is not an object that was declared before.");
            return Err(Failure::at(span, message));
        };
        let name = method.to_ascii_uppercase();
        let method = self.method_called(index, &name, arguments, out)?;
        let Some(method) = method else {
            let message = if name == "HAS_NEXT" {
                "HAS_NEXT takes RESULT: and a numeric variable for its answer.".to_owned()
            } else {
                format!(
                    "The method or attribute {object}.{name} is unknown or not implemented yet."
                )
            };
            return Err(Failure::at(span, message));
        };
        Ok(MethodCall {
            object: index,
            method,
            span: span.clone(),
            alone: false,
        })
    }

    /// DEFINEKEY and DEFINEDATA.
    pub(super) fn define(
        &mut self,
        index: usize,
        key: bool,
        arguments: &[MethodArgument],
    ) -> Outcome<Option<Method>> {
        let names = named(arguments)?;
        let shape = self.shape(index);
        let list = if key {
            &mut shape.keys
        } else {
            &mut shape.data
        };
        list.extend(names);
        Ok(Some(Method::Nothing))
    }

    /// DEFINEDONE.
    pub(super) fn define_done(&mut self, index: usize) -> Method {
        self.shape(index).done = true;
        Method::DefineDone
    }

    /// OUTPUT with its DATASET:.
    pub(super) fn output_method(
        &mut self,
        arguments: &[MethodArgument],
        out: &mut Vec<Operation>,
    ) -> Outcome<Option<Method>> {
        let [argument] = arguments else {
            return Ok(None);
        };
        if !is_tag(argument, "dataset") {
            return Ok(None);
        }
        let value = self.value(&argument.value, out)?;
        let name = self.compiler().to_text(value, &argument.value.span);
        Ok(Some(Method::Output(name)))
    }

    /// `HAS_NEXT` with its RESULT:, a variable; `None` if there is none.
    pub(super) fn has_next(&mut self, arguments: &[MethodArgument]) -> Option<Method> {
        let [argument] = arguments else {
            return None;
        };
        let ExprKind::Variable(name) = &argument.value.kind else {
            return None;
        };
        let place = self.pdv.numeric(name);
        let variable = &mut self.pdv.variables[place];
        variable.assigned = true;
        let good = is_tag(argument, "result") && variable.slot.kind == Kind::Numeric;
        good.then_some(Method::HasNext(variable.slot))
    }

    fn shape(&mut self, index: usize) -> &mut Shape {
        match &mut self.objects[index].kind {
            ObjectKind::Hash(shape) => shape,
            ObjectKind::Iterator(_) => unreachable!("only hash objects have these methods"),
        }
    }

    /// Values given as `key:` and `data:`.
    pub(super) fn given(
        &mut self,
        arguments: &[MethodArgument],
        out: &mut Vec<Operation>,
    ) -> Outcome<(Vec<Given>, Vec<Given>)> {
        let (mut keys, mut data) = (Vec::new(), Vec::new());
        for argument in arguments {
            let value = match self.value(&argument.value, out)? {
                Value::Number(number) => Given::Number(number),
                Value::Text(text) => Given::Text(text),
            };
            if is_tag(argument, "key") {
                keys.push(value);
            } else if is_tag(argument, "data") {
                data.push(value);
            } else {
                let message = "This argument needs the tag KEY: or DATA:.";
                return Err(Failure::at(&argument.value.span, message));
            }
        }
        Ok((keys, data))
    }

    /// Finds the places of key and data variables, now that all are known.
    pub(in crate::datastep) fn finish_objects(&mut self) -> Outcome<()> {
        for object in &mut self.objects {
            let ObjectKind::Hash(shape) = &mut object.kind else {
                continue;
            };
            if !shape.done || shape.keys.is_empty() {
                let message = format!(
                    "The hash object {} needs DEFINEKEY and DEFINEDONE.",
                    object.name
                );
                return Err(Failure::at(&object.span, message));
            }
            if shape.data.is_empty() {
                // Without DEFINEDATA the keys are the data.
                shape.data = shape.keys.iter().map(Named::again).collect();
            }
            for (what, named) in [("key", &mut shape.keys), ("data", &mut shape.data)] {
                for one in named {
                    let index = self.pdv.find(&one.name);
                    let Some(index) = index else {
                        let (name, hash) = (&one.name, &object.name);
                        let message =
                            format!("Undeclared {what} symbol {name} for hash object {hash}.");
                        return Err(Failure::at(&one.span, message));
                    };
                    one.slot = Some(self.pdv.variables[index].slot);
                }
            }
        }
        Ok(())
    }
}

impl Named {
    fn again(&self) -> Self {
        Self {
            name: self.name.clone(),
            span: self.span.clone(),
            slot: None,
        }
    }
}

/// Names of DEFINEKEY and DEFINEDATA: texts, or `all: 'yes'`.
fn named(arguments: &[MethodArgument]) -> Outcome<Vec<Named>> {
    let mut named = Vec::new();
    for argument in arguments {
        let span = &argument.value.span;
        if is_tag(argument, "all") {
            let message = "ALL: is not implemented yet; name the variables.";
            return Err(Failure::at(span, message));
        }
        named.push(Named {
            name: text(&argument.value)?.trim().to_owned(),
            span: span.clone(),
            slot: None,
        });
    }
    Ok(named)
}

fn is_tag(argument: &MethodArgument, tag: &str) -> bool {
    argument
        .tag
        .as_ref()
        .is_some_and(|one| one.eq_ignore_ascii_case(tag))
}

/// The text of an argument that must be known now.
fn text(value: &Expr) -> Outcome<&str> {
    match &value.kind {
        ExprKind::Text(text) => Ok(text),
        _ => {
            let message = "This argument must be a text in quotes.";
            Err(Failure::at(&value.span, message))
        }
    }
}

fn shape(arguments: &[MethodArgument], span: &Span) -> Outcome<Shape> {
    let mut shape = Shape::default();
    for argument in arguments {
        let tag = argument.tag.as_deref().unwrap_or("").to_ascii_uppercase();
        let invalid = |what: &str| Err(Failure::at(&argument.value.span, what));
        match tag.as_str() {
            "HASHEXP" => match argument.value.kind {
                ExprKind::Number(bits) if (0.0..=20.0).contains(&bits) => {}
                _ => return invalid("HASHEXP: takes a number from 0 to 20."),
            },
            "DATASET" => {
                let name = text(&argument.value)?;
                shape.dataset = Some(dataset(name, &argument.value.span)?);
            }
            "ORDERED" => match text(&argument.value)?.to_ascii_uppercase().as_str() {
                "A" | "ASCENDING" | "Y" | "YES" => shape.ordered = Some(false),
                "D" | "DESCENDING" => shape.ordered = Some(true),
                "N" | "NO" => shape.ordered = None,
                _ => return invalid("ORDERED: takes ASCENDING, DESCENDING, YES or NO."),
            },
            "MULTIDATA" => match text(&argument.value)?.to_ascii_uppercase().as_str() {
                "Y" | "YES" => shape.multidata = true,
                "N" | "NO" => shape.multidata = false,
                _ => return invalid("MULTIDATA: takes YES or NO."),
            },
            "DUPLICATE" => match text(&argument.value)?.to_ascii_uppercase().as_str() {
                "R" | "REPLACE" => shape.duplicates = Duplicates::Replace,
                "E" | "ERROR" => shape.duplicates = Duplicates::Error,
                _ => return invalid("DUPLICATE: takes REPLACE or ERROR."),
            },
            "" => {
                return Err(Failure::at(
                    span,
                    "The arguments of DECLARE HASH have tags.",
                ));
            }
            other => {
                return invalid(&format!("{other}: is unknown or not implemented yet."));
            }
        }
    }
    Ok(shape)
}

/// `lib.member` of a text; data set options in it are not read.
pub(super) fn dataset(name: &str, span: &Span) -> Outcome<DatasetRef> {
    let name = name.trim();
    if name.contains('(') {
        let message = "Data set options of a hash object are not implemented yet.";
        return Err(Failure::at(span, message));
    }
    let (libref, member) = match name.split_once('.') {
        Some((libref, member)) => (Some(libref.to_owned()), member.to_owned()),
        None => (None, name.to_owned()),
    };
    Ok(DatasetRef {
        span: span.clone(),
        libref,
        member,
        options: Vec::new(),
    })
}

/// Bytes of a key or data variable in an item.
pub(super) const fn room(slot: &crate::expr::Slot) -> usize {
    match slot.kind {
        Kind::Numeric => 8,
        Kind::Character => slot.length as usize,
    }
}
