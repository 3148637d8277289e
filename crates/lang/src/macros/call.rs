//! Calls of macros: arguments to parameters.

use super::body::{Definition, Piece};
use super::collect::Until;
use super::run::trimmed;
use crate::finding;
use crate::keywords::{in_name, starts_name};
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::{Diagnostic, Span};
use std::sync::Arc;

/// An argument: `name=value` or a value.
struct Given {
    name: Option<String>,
    value: String,
    /// As it is written, for SYSPBUFF.
    written: String,
}

/// What a parameter is to hold.
enum Value {
    /// This text.
    Known(String),
    /// A default that calls something.
    Evaluated(Piece),
    /// Nothing, as its default is about itself.
    Own(String),
}

impl Scanner {
    /// Calls a macro whose name has just been taken.
    pub(crate) fn invoke(&mut self, definition: &Arc<Definition>, at: Span, host: &mut dyn Host) {
        let takes = !definition.parameters.is_empty() || definition.parmbuff;
        let mut given = Vec::new();
        if takes && self.source.ahead_past_blanks() == Some('(') {
            while self.source.peek().is_some_and(char::is_whitespace) {
                self.source.bump();
            }
            self.source.bump();
            let Some(found) = self.arguments(&at, definition, host) else {
                return;
            };
            given = found;
        }
        let parmbuff = definition.parmbuff.then(|| parmbuff(&given));
        let Some(values) = self.given(definition, given, &at) else {
            self.forget_scopes(host);
            return;
        };
        host.macros_mut().open_scope(&definition.name);
        let buffer = parmbuff.map(|text| ("SYSPBUFF".to_owned(), Value::Known(text)));
        if !self.bind(values.iter().chain(&buffer), &at, host) {
            self.forget_scopes(host);
            return;
        }
        if self.push_macro(Arc::clone(definition), at, host) {
            self.begin(definition, &values, host);
        }
    }

    /// Parameters get their values; false, reported, if one cannot.
    fn bind<'a>(
        &mut self,
        values: impl Iterator<Item = &'a (String, Value)>,
        at: &Span,
        host: &mut dyn Host,
    ) -> bool {
        let mut bound = true;
        for (name, value) in values {
            let value = match value {
                Value::Known(value) => value,
                Value::Own(default) => {
                    let text = format!(
                        "The text expression {default} contains a recursive reference to the \
                         macro variable {name}. The macro variable will be assigned the null value."
                    );
                    self.diagnostics.push(Diagnostic::warning(at, text));
                    ""
                }
                Value::Evaluated(_) => "",
            };
            if let Err(text) = host.macros_mut().bind(name, value) {
                self.diagnostics.push(finding::error(at, text));
                bound = false;
            }
        }
        bound
    }

    /// The macro that has just been entered: defaults that call something are evaluated, where the
    /// other parameters are known.
    fn begin(&mut self, definition: &Definition, values: &[(String, Value)], host: &mut dyn Host) {
        for (name, value) in values {
            let Value::Evaluated(default) = value else {
                continue;
            };
            let Ok(text) = self.piece_of(definition, *default, host) else {
                return self.stop_macro(host);
            };
            if let Err(text) = host.macros_mut().bind(name, trimmed(&text)) {
                let place = self.source.place();
                self.diagnostics.push(finding::error(&place, text));
                return self.stop_macro(host);
            }
        }
        if host.tracing().mlogic {
            for (name, _) in values {
                let shown = host.macros().get(name).unwrap_or_default();
                self.mlogic(host, || format!("Parameter {name} has value {shown}"));
            }
        }
    }

    fn arguments(
        &mut self,
        at: &Span,
        definition: &Definition,
        host: &mut dyn Host,
    ) -> Option<Vec<Given>> {
        let mut given = Vec::new();
        loop {
            let collected = self.collect(Until::Argument, false, host)?;
            given.push(argument(&collected.text));
            match collected.end {
                Some(',') => {}
                Some(_) => break,
                None => {
                    let text = format!(
                        "The call of macro {} that begins here lacks a closing parenthesis",
                        definition.name
                    );
                    self.diagnostics.push(finding::error(at, text));
                    return None;
                }
            }
        }
        Some(given)
    }

    /// Values of all parameters in their order; `None` after an error.
    fn given(
        &mut self,
        definition: &Definition,
        given: Vec<Given>,
        at: &Span,
    ) -> Option<Vec<(String, Value)>> {
        let mut values: Vec<Option<String>> = vec![None; definition.parameters.len()];
        let nothing =
            matches!(given.as_slice(), [only] if only.name.is_none() && only.value.is_empty());
        let positional = definition
            .parameters
            .iter()
            .filter(|one| one.default.is_none())
            .count();
        let (mut count, mut keywords) = (0, false);
        for one in given {
            if nothing {
                break;
            }
            let index = match &one.name {
                Some(name) => {
                    keywords = true;
                    definition
                        .parameters
                        .iter()
                        .position(|known| known.name == *name)
                }
                None if keywords => {
                    let text = "All positional parameters must precede keyword parameters";
                    return self.refuse_call(at, text.to_owned());
                }
                None => {
                    count += 1;
                    Some(count - 1)
                }
            };
            let Some(index) = index else {
                if definition.parmbuff {
                    continue;
                }
                let name = one.name.unwrap_or_default();
                let text = format!("The keyword parameter {name} was not defined with the macro");
                return self.refuse_call(at, text);
            };
            if one.name.is_none() && index >= positional {
                if definition.parmbuff {
                    continue;
                }
                let text = "More positional parameters found than defined";
                return self.refuse_call(at, text.to_owned());
            }
            if let Some(value) = values.get_mut(index) {
                *value = Some(one.value);
            }
        }
        let parameters = definition.parameters.iter().zip(values);
        let bound = parameters.map(|(parameter, value)| {
            let value = match (value, parameter.default) {
                (Some(value), _) => Value::Known(value),
                (None, Some(default)) => value_of(definition, &parameter.name, default),
                (None, None) => Value::Known(String::new()),
            };
            (parameter.name.clone(), value)
        });
        Some(bound.collect())
    }

    fn refuse_call<T>(&mut self, at: &Span, text: String) -> Option<T> {
        self.diagnostics.push(finding::error(at, text));
        None
    }
}

/// What stands for a parameter that a call leaves out. References in defaults are resolved where the
/// parameter is used, so that they mean the macro's own variables.
fn value_of(definition: &Definition, name: &str, default: Piece) -> Value {
    let text = definition.text.get(default.start..default.end);
    let text = text.unwrap_or("");
    if text.contains(['%', '\'', '"']) || text.contains("/*") {
        return Value::Evaluated(default);
    }
    let text = trimmed(text).to_owned();
    if refers_to(&text, name) {
        Value::Own(text)
    } else {
        Value::Known(text)
    }
}

fn refers_to(text: &str, name: &str) -> bool {
    text.split('&').skip(1).any(|rest| {
        let found = rest.split(|one| !in_name(one)).next();
        found.is_some_and(|found| found.eq_ignore_ascii_case(name))
    })
}

fn argument(text: &str) -> Given {
    if let Some((name, value)) = text.split_once('=') {
        let name = name.trim();
        if name.starts_with(starts_name) && name.chars().all(in_name) {
            return Given {
                name: Some(name.to_ascii_uppercase()),
                value: trimmed(value).to_owned(),
                written: text.to_owned(),
            };
        }
    }
    Given {
        name: None,
        value: trimmed(text).to_owned(),
        written: text.to_owned(),
    }
}

fn parmbuff(given: &[Given]) -> String {
    if given.is_empty() {
        return String::new();
    }
    let all = given.iter().map(|one| one.written.as_str());
    format!("({})", all.collect::<Vec<_>>().join(","))
}
