//! Calls of macros: arguments to parameters.

use super::body::Definition;
use super::collect::Until;
use super::run::trimmed;
use crate::finding;
use crate::keywords::{in_name, starts_name};
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::Span;
use std::sync::Arc;

/// An argument: `name=value` or a value.
struct Given {
    name: Option<String>,
    value: String,
    /// As it is written, for SYSPBUFF.
    written: String,
}

impl Scanner {
    /// Calls a macro whose name has just been taken.
    pub(crate) fn invoke(&mut self, definition: Arc<Definition>, at: Span, host: &mut dyn Host) {
        let takes = !definition.parameters.is_empty() || definition.parmbuff;
        let mut given = Vec::new();
        if takes && self.source.ahead_past_blanks() == Some('(') {
            while self.source.peek().is_some_and(char::is_whitespace) {
                self.source.bump();
            }
            self.source.bump();
            let Some(found) = self.arguments(&at, &definition, host) else {
                return;
            };
            given = found;
        }
        let parmbuff = definition.parmbuff.then(|| parmbuff(&given));
        match self.bind(&definition, given, &at, host) {
            Some(values) => {
                host.macros_mut().open_scope(&definition.name);
                let mut failed = false;
                let buffer = parmbuff.map(|text| ("SYSPBUFF".to_owned(), text));
                for (name, value) in values.iter().chain(&buffer) {
                    if let Err(text) = host.macros_mut().bind(name, value) {
                        self.diagnostics.push(finding::error(&at, text));
                        failed = true;
                    }
                }
                if failed {
                    self.forget_scopes(host);
                    return;
                }
                self.push_macro(definition, at, host);
                for (name, value) in &values {
                    let shown = super::mask::unmasked(value);
                    self.mlogic(host, || format!("Parameter {name} has value {shown}"));
                }
            }
            None => self.forget_scopes(host),
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
    fn bind(
        &mut self,
        definition: &Definition,
        given: Vec<Given>,
        at: &Span,
        host: &mut dyn Host,
    ) -> Option<Vec<(String, String)>> {
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
        let mut bound = Vec::with_capacity(values.len());
        for (parameter, value) in definition.parameters.iter().zip(values) {
            let value = match (value, parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => {
                    let text = self.piece_of(definition, default, host).ok()?;
                    trimmed(&text).to_owned()
                }
                (None, None) => String::new(),
            };
            bound.push((parameter.name.clone(), value));
        }
        Some(bound)
    }

    fn refuse_call<T>(&mut self, at: &Span, text: String) -> Option<T> {
        self.diagnostics.push(finding::error(at, text));
        None
    }
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
