//! Calls of functions of the tables, compiled: arguments converted to the types they need.

use base::diag::Span;
use lang::ast::{Argument, FormatModifier, FormatRef, IN_PREFIX};
use sas7bdat::{Format, Kind};

use super::compile::{Compiler, Site, not_omitted};
use super::function::table::{Entry, Gives};
use super::function::{self, character, conversion, pattern, random, special};
use super::general::General;
use super::pattern::Pattern;
use super::{Number, Text, Value};
use crate::failure::{Failure, Outcome};
use crate::format::informat::Informat;
use crate::format::{is_text_format, number_with};

/// Values with their places, and a format if there is one.
type Given<'a> = (Vec<(Value, &'a Span)>, Option<&'a FormatRef>);

impl Compiler<'_> {
    /// A function of the tables.
    pub(super) fn general(
        &mut self,
        name: &str,
        arguments: &[Argument],
        span: &Span,
    ) -> Outcome<Value> {
        let (mut values, format) = self.given(name, arguments, span)?;
        let first_is_text = matches!(values.first(), Some((Value::Text(_), _)));
        if name == IN_PREFIX && !first_is_text {
            return Err(Failure::at(span, "IN needs a list of numbers here."));
        }
        let found = match name {
            IN_PREFIX => Some(&character::IN_PREFIX),
            _ => Entry::find(name).or_else(|| special::queue(name, first_is_text)),
        };
        let Some(mut entry) = found else {
            let message = format!("The function {name} is unknown or not implemented yet.");
            return Err(Failure::at(span, message));
        };
        check_constant(entry, &values)?;
        if let ("RAND", [(Value::Text(Text::Constant(distribution)), _)]) =
            (entry.name, &values[..])
            && let Some(plain) = random::plain(distribution)
        {
            entry = plain;
            values.clear();
        }
        if let ("INPUT", Some(format)) = (entry.name, format) {
            entry = conversion::input_of(
                format.name.starts_with('$'),
                format.modifier == FormatModifier::Silent,
            );
        }
        let wrong = wrong_arguments(entry, name, values.len(), format);
        if let Some(message) = wrong {
            return Err(Failure::at(span, message));
        }
        let of_text = matches!(values.first(), Some((Value::Text(_), _)));
        let modifier = format.map_or(FormatModifier::None, |format| format.modifier);
        let format = match format {
            Some(reference) => Some(self.known_format(entry, reference, of_text)?),
            None => None,
        };
        let values = values.into_iter().enumerate();
        let arguments: Vec<Value> = values
            .map(|(index, (value, span))| match entry.kind(index) {
                b'n' => Value::Number(self.to_number(value, span)),
                b'c' => Value::Text(self.to_text(value, span)),
                _ => value,
            })
            .collect();
        let site = self.sites.add(Site::Missing, span);
        self.sites.add(Site::InvalidArgument(entry.name), span);
        self.sites.reads_macros |= matches!(entry.name, "SYMGET" | "SYMEXIST");
        let length = General::length_of(entry, &arguments, format.as_ref(), self.formats);
        let call = Box::new(General {
            entry,
            arguments,
            format,
            site,
            length,
        });
        if entry.gives == Gives::Number {
            return Ok(Value::Number(Number::General(call)));
        }
        let text = Value::Text(Text::General(call));
        let Some(entry) = conversion::alignment(modifier) else {
            return Ok(text);
        };
        Ok(Value::Text(Text::General(Box::new(General {
            entry,
            arguments: vec![text],
            format: None,
            site,
            length,
        }))))
    }

    /// The format of PUT, or the informat of INPUT, which must be there.
    fn known_format(&self, entry: &Entry, reference: &FormatRef, of_text: bool) -> Outcome<Format> {
        let mut format = Format {
            name: reference.name.to_ascii_uppercase(),
            width: reference.width,
            decimals: reference.decimals,
        };
        let puts = entry.name == "PUT";
        if puts && of_text && !format.name.starts_with('$') {
            format.name.insert(0, '$');
        }
        let known = match (puts, of_text) {
            (true, true) => is_text_format(&format.name, self.formats),
            (true, false) => number_with(0.0, &format, self.formats).is_some(),
            (false, _) => Informat::find(&format.name, 0, self.formats).is_some(),
        };
        if known {
            return Ok(format);
        }
        let what = if puts { "format" } else { "informat" };
        let message = format!(
            "The {what} {} was not found or could not be loaded, or is not implemented yet.",
            format.name
        );
        Err(Failure::at(&reference.span, message))
    }

    fn given<'a>(
        &mut self,
        name: &str,
        arguments: &'a [Argument],
        span: &'a Span,
    ) -> Outcome<Given<'a>> {
        let (mut values, mut format) = (Vec::new(), None);
        for argument in arguments {
            match argument {
                Argument::Value(expr) => values.push((self.value(expr)?, &expr.span)),
                Argument::Format(reference) => format = Some(reference),
                Argument::Omitted(span) if function::may_omit(name, values.len()) => {
                    values.push((Value::Text(Text::Constant(Vec::new())), span));
                }
                Argument::Omitted(span) => return Err(not_omitted(name, span)),
                Argument::Of(lists) => {
                    for list in lists {
                        let slots = self.scope.list(list)?.into_iter();
                        values.extend(slots.map(|slot| match slot.kind {
                            Kind::Numeric => (Value::Number(Number::Variable(slot)), span),
                            Kind::Character => (Value::Text(Text::Variable(slot)), span),
                        }));
                    }
                }
            }
        }
        Ok((values, format))
    }
}

/// Refuses what the first argument, written out, names or means where the function does not know it.
fn check_constant(entry: &Entry, values: &[(Value, &Span)]) -> Outcome<()> {
    let Some((Value::Text(Text::Constant(written)), span)) = values.first() else {
        return Ok(());
    };
    if entry.name.starts_with("PRX") {
        let written = String::from_utf8_lossy(written);
        let compiled = Pattern::new(written.trim());
        compiled.map_err(|wrong| Failure::at(span, pattern::error_text(&wrong)))?;
    }
    match function::refusal(entry.name, written, values.len()) {
        Some(message) => Err(Failure::at(span, message)),
        None => Ok(()),
    }
}

fn wrong_arguments(
    entry: &Entry,
    name: &str,
    count: usize,
    format: Option<&FormatRef>,
) -> Option<String> {
    let (least, most) = entry.arity();
    if !(least..=most).contains(&count) {
        return Some(format!(
            "The function {name} does not take {count} arguments."
        ));
    }
    match (entry.name, format) {
        ("PUT", None) => Some(format!(
            "The function {name} needs a format as its second argument."
        )),
        ("INPUT", None) => Some(format!(
            "The function {name} needs an informat as its second argument."
        )),
        ("PUT" | "INPUT" | "INPUT ??", Some(_)) | (_, None) => None,
        _ => Some(format!("The function {name} takes no format here.")),
    }
}
