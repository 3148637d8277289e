//! Functions called from outside of steps: `%sysfunc`.

mod session;

use std::sync::Arc;

use base::diag::Span;
use lang::ast::{Argument, Expr, ExprKind, VariableList};

use super::compile::{Compiler, Scope, Sites};
use super::evaluate::Events;
use super::function::table::Entry;
use super::function::{self, OfNumbers};
use super::{Slot, Value};
use crate::failure::{Failure, FailureLine, Outcome};
use crate::format;
use crate::format::user::Formats;
use crate::session::World;

pub use self::session::names;

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
    world: &mut World,
    name: &str,
    arguments: &[String],
    format: Option<&str>,
) -> Result<String, String> {
    if let Some(answer) = session::call(world, name, arguments) {
        return match format {
            None => answer,
            Some(_) => Err(format!(
                "A format for the function {name} is not implemented yet"
            )),
        };
    }
    let span = Span {
        source: Arc::from("%SYSFUNC"),
        line: 1,
        column: 1,
        length: 1,
    };
    let patterns = keeps_patterns(name, arguments);
    let arguments = arguments.iter().enumerate();
    let arguments = arguments
        .map(|(index, text)| argument(name, index, text, &span))
        .collect();
    let expr = Expr {
        kind: ExprKind::Call(name.to_owned(), arguments),
        span: span.clone(),
    };
    let mut sites = Sites::default();
    let mut compiler = Compiler {
        scope: &mut Nothing,
        sites: &mut sites,
        encoding: None,
        formats: &world.formats.clone(),
    };
    let value = compiler
        .value(&expr)
        .map_err(|failure| sentence(&failure, name))?;
    let mut events = Events {
        counts: vec![0; sites.counted.len()],
        surroundings: world.surroundings(sites.reads_macros),
        ..Events::default()
    };
    if patterns {
        events.surroundings.patterns = std::mem::take(&mut world.patterns);
    }
    let shown = shown(&value, name, format, &mut events, &world.formats);
    if patterns {
        world.patterns = std::mem::take(&mut events.surroundings.patterns);
    }
    let shown = shown?;
    if let Some(failure) = &events.failure {
        return Err(sentence(failure, name));
    }
    if events.counts.iter().any(|count| *count > 0) {
        return Err(format!(
            "An argument to function {name} referenced by the %SYSFUNC or %QSYSFUNC macro function \
             is not a number"
        ));
    }
    Ok(shown.trim().to_owned())
}

/// The value as text, by `format` if there is one.
fn shown(
    value: &Value,
    name: &str,
    format: Option<&str>,
    events: &mut Events,
    formats: &Formats,
) -> Result<String, String> {
    match value {
        Value::Number(number) => {
            let value = number.value(&[], events);
            let Some(format) = format else {
                return Ok(format::best(value, 12));
            };
            let unknown = || format!("The format {format} is unknown or not implemented yet");
            let format = format::parse(format).ok_or_else(unknown)?;
            format::number_with(value, &format, formats).ok_or_else(unknown)
        }
        Value::Text(text) => match format.filter(|format| !format.starts_with('$')) {
            Some(format) => Err(format!(
                "The format {format} is numeric, and {name} gives text"
            )),
            None => Ok(String::from_utf8_lossy(&text.value(&[], events)).into_owned()),
        },
    }
}

/// Regular expressions of PRXPARSE and of its identifiers stay in the session; those that a function is
/// given as texts do not.
fn keeps_patterns(name: &str, arguments: &[String]) -> bool {
    let name = name.to_ascii_uppercase();
    let is_number = |text: &String| format::read_number(text.as_bytes()).is_some();
    name == "PRXPARSE" || name.starts_with("PRX") && arguments.first().is_some_and(is_number)
}

/// An argument as text; one that says nothing is left out where that means something.
fn argument(name: &str, index: usize, text: &str, span: &Span) -> Argument {
    let span = span.clone();
    if text.is_empty() && function::may_omit(name, index) {
        return Argument::Omitted(span);
    }
    let kind = match number(name, index, text) {
        Some(value) => ExprKind::Number(value),
        None => ExprKind::Text(text.to_owned()),
    };
    Argument::Value(Expr { kind, span })
}

/// The number that an argument means to a function that does something else with a text.
fn number(name: &str, index: usize, text: &str) -> Option<f64> {
    let upper = name.to_ascii_uppercase();
    let either = match upper.as_str() {
        "FIND" => index >= 2,
        "PRXPARSE" => false,
        upper => index == 0 && upper.starts_with("PRX"),
    };
    let numeric = match Entry::find(name) {
        Some(entry) => entry.kind(index) == b'n',
        // MISSING takes texts too.
        None => OfNumbers::find(name).is_some_and(|(function, ..)| function != OfNumbers::Missing),
    };
    let value = match format::read_number(text.as_bytes()) {
        Some(value) if either => value,
        None if numeric => lang::evaluate(text)?,
        _ => return None,
    };
    (!value.is_nan()).then_some(value)
}

fn sentence(failure: &Failure, name: &str) -> String {
    let first = failure.lines.first().map(|line| match line {
        FailureLine::Program(diagnostic) => diagnostic.message.as_str(),
        FailureLine::World(text) | FailureLine::Detail(text) => text.as_str(),
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
