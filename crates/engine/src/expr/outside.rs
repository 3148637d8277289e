//! Functions called from outside of steps: `%sysfunc`.

use std::sync::Arc;

use base::diag::Span;
use lang::ast::{Argument, Expr, ExprKind, VariableList};
use sas7bdat::Format;

use super::compile::{Compiler, Scope, Sites};
use super::evaluate::Events;
use super::{Slot, Value};
use crate::failure::{Failure, FailureLine, Outcome};
use crate::format;
use crate::session::World;

/// Without a step there are no variables.
struct Nothing;

impl Scope for Nothing {
    fn variable(&mut self, name: &str, span: &Span) -> Outcome<Slot> {
        Err(Failure::at(
            span,
            format!("There is no variable {name} here."),
        ))
    }

    fn list(&mut self, _: &VariableList) -> Outcome<Vec<Slot>> {
        Ok(Vec::new())
    }
}

/// Calls a function with arguments as text: the value as text, by `format` if there is one, without
/// the blanks around it.
///
/// Errors are sentences without a final period.
pub fn call(
    _world: &World,
    name: &str,
    arguments: &[String],
    format: Option<&str>,
) -> Result<String, String> {
    let span = Span {
        source: Arc::from("%SYSFUNC"),
        line: 1,
        column: 1,
        length: 1,
    };
    let text = |text: &String| {
        let kind = ExprKind::Text(text.clone());
        let span = span.clone();
        Argument::Value(Expr { kind, span })
    };
    let arguments = arguments.iter().map(text).collect();
    let expr = Expr {
        kind: ExprKind::Call(name.to_owned(), arguments),
        span: span.clone(),
    };
    let mut sites = Sites::default();
    let mut compiler = Compiler {
        scope: &mut Nothing,
        sites: &mut sites,
        encoding: None,
    };
    let value = compiler
        .value(&expr)
        .map_err(|failure| sentence(&failure, name))?;
    let mut events = Events::default();
    events.counts.resize(sites.counted.len(), 0);
    let shown = match value {
        Value::Number(number) => {
            let value = number.value(&[], &mut events);
            match format {
                None => format::best(value, 12),
                Some(name) => {
                    let format = parse_format(name)?;
                    format::number(value, &format).ok_or_else(|| {
                        format!("The format {name} is unknown or not implemented yet")
                    })?
                }
            }
        }
        Value::Text(text) => {
            if let Some(format) = format.filter(|format| !format.starts_with('$')) {
                return Err(format!(
                    "The format {format} is numeric, and {name} gives text"
                ));
            }
            String::from_utf8_lossy(&text.value(&[], &mut events)).into_owned()
        }
    };
    if events.counts.iter().any(|count| *count > 0) {
        return Err(format!(
            "An argument to function {name} referenced by the %SYSFUNC or %QSYSFUNC macro function \
             is not a number"
        ));
    }
    Ok(shown.trim().to_owned())
}

fn sentence(failure: &Failure, name: &str) -> String {
    let first = failure.lines.first().map(|line| match line {
        FailureLine::Program(diagnostic) => diagnostic.message.as_str(),
        FailureLine::World(text) => text.as_str(),
    });
    // The place is the one of the macro call, which the caller adds.
    let text = first.unwrap_or("The function cannot be called");
    let text = text.split(" (%SYSFUNC, line").next().unwrap_or(text);
    let text = text.trim_end_matches('.');
    if text.contains(name) {
        text.to_owned()
    } else {
        format!("{text} (function {name})")
    }
}

/// `best12.2`, `$8.` as text.
fn parse_format(text: &str) -> Result<Format, String> {
    let wrong = || format!("{text} is not the name of a format");
    let (head, decimals) = text.split_once('.').ok_or_else(wrong)?;
    let name = head.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = |digits: &str| match digits {
        "" => Ok(0),
        digits => digits.parse().map_err(|_| wrong()),
    };
    Ok(Format {
        name: name.to_ascii_uppercase(),
        width: number(&head[name.len()..])?,
        decimals: number(decimals)?,
    })
}
