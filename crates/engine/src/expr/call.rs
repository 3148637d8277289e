//! Calls of functions of the tables, compiled: arguments converted to the types they need.

use base::diag::Span;
use lang::ast::{Argument, FormatRef};
use sas7bdat::{Format, Kind};

use super::compile::{Compiler, Site};
use super::function::table::{Entry, Gives};
use super::function::{random, special};
use super::general::General;
use super::{Number, Text, Value};
use crate::failure::{Failure, Outcome};

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
        let (mut values, format) = self.given(arguments, span)?;
        let first_is_text = matches!(values.first(), Some((Value::Text(_), _)));
        let found = Entry::find(name).or_else(|| special::queue(name, first_is_text));
        let Some(mut entry) = found else {
            let message = format!("The function {name} is unknown or not implemented yet.");
            return Err(Failure::at(span, message));
        };
        if let ("RAND", [(Value::Text(Text::Constant(distribution)), _)]) =
            (entry.name, &values[..])
            && let Some(plain) = random::plain(distribution)
        {
            entry = plain;
            values.clear();
        }
        let wrong = wrong_arguments(entry, name, values.len(), format);
        if let Some(message) = wrong {
            return Err(Failure::at(span, message));
        }
        let format = format.map(|reference| Format {
            name: reference.name.to_ascii_uppercase(),
            width: reference.width,
            decimals: reference.decimals,
        });
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
        let length = General::length_of(entry, &arguments, format.as_ref());
        let call = Box::new(General {
            entry,
            arguments,
            format,
            site,
            length,
        });
        Ok(match entry.gives {
            Gives::Number => Value::Number(Number::General(call)),
            _ => Value::Text(Text::General(call)),
        })
    }

    fn given<'a>(&mut self, arguments: &'a [Argument], span: &'a Span) -> Outcome<Given<'a>> {
        let (mut values, mut format) = (Vec::new(), None);
        for argument in arguments {
            match argument {
                Argument::Value(expr) => values.push((self.value(expr)?, &expr.span)),
                Argument::Format(reference) => format = Some(reference),
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
        ("INPUT", Some(format)) if format.name.starts_with('$') => {
            Some("INPUT with a character informat is not implemented yet.".to_owned())
        }
        ("PUT" | "INPUT", Some(_)) | (_, None) => None,
        _ => Some(format!("The function {name} takes no format here.")),
    }
}
