//! Calls of functions that are looked up in the table: arguments evaluated, result as text or number.

use std::borrow::Cow;
use std::fmt;

use sas7bdat::{Format, missing};

use super::Value;
use super::evaluate::{Detail, Events};
use super::function::table::{Entry, Gives, Run};
use crate::failure::Failure;
use crate::format::user::Formats;

/// A call in a compiled expression.
#[derive(Clone, PartialEq)]
pub struct General {
    /// What is called.
    pub entry: &'static Entry,
    /// Its arguments.
    pub arguments: Vec<Value>,
    /// Format or informat of PUT and INPUT.
    pub format: Option<Format>,
    /// Counts missing arguments; the next site counts invalid ones.
    pub site: usize,
    /// Longest text that it gives.
    pub length: u32,
}

impl fmt::Debug for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?})", self.entry.name, self.arguments)
    }
}

/// The value of an argument.
#[derive(Debug, Clone)]
pub enum Given<'a> {
    /// A number.
    Number(f64),
    /// A text with its blanks.
    Text(Cow<'a, [u8]>),
}

/// What a function has at hand.
pub struct Call<'a, 'b> {
    /// Values of the arguments.
    pub given: &'a [Given<'a>],
    /// Format or informat.
    pub format: Option<&'a Format>,
    /// Counters and what functions remember.
    pub events: &'b mut Events,
    /// This place in the program.
    pub site: usize,
}

impl Call<'_, '_> {
    /// The argument as a number; missing if there is none.
    pub fn number(&self, index: usize) -> f64 {
        match self.given.get(index) {
            Some(Given::Number(value)) => *value,
            Some(Given::Text(text)) => {
                crate::format::read_number(text).unwrap_or_else(|| missing::encode(0))
            }
            None => missing::encode(0),
        }
    }

    /// The argument as text; empty if there is none.
    pub fn text(&self, index: usize) -> Cow<'_, [u8]> {
        match self.given.get(index) {
            Some(Given::Text(text)) => Cow::Borrowed(text.as_ref()),
            Some(Given::Number(value)) => {
                Cow::Owned(crate::format::best(*value, 12).trim().as_bytes().to_vec())
            }
            None => Cow::Borrowed(b""),
        }
    }

    /// How many arguments there are.
    pub fn count(&self) -> usize {
        self.given.len()
    }

    /// Stops the step and gives a missing value.
    pub fn refuse(&mut self, message: String) -> f64 {
        self.events.fail(Failure::world(message));
        missing::encode(0)
    }

    /// Counts an argument that the function cannot take and gives a missing value.
    pub fn invalid(&mut self) -> f64 {
        self.events.raise(self.site + 1);
        missing::encode(0)
    }

    /// The same, and which argument it is: `second`.
    pub fn invalid_argument(&mut self, which: &'static str) {
        self.events
            .raise_with(self.site + 1, || Detail::Argument(which));
    }
}

/// What a function gave.
pub enum Result {
    /// A number.
    Number(f64),
    /// A text.
    Text(Vec<u8>),
}

impl General {
    /// The value as a number.
    pub fn number(&self, row: &[u8], events: &mut Events) -> f64 {
        let value = match &self.entry.run {
            Run::Numbers(run) => return self.plain(*run, row, events),
            Run::General(run) => self.run(*run, row, events),
        };
        match value {
            Result::Number(value) if value.is_infinite() => missing::encode(0),
            Result::Number(value) => value,
            Result::Text(_) => missing::encode(0),
        }
    }

    /// The value as text.
    pub fn text(&self, row: &[u8], events: &mut Events) -> Vec<u8> {
        match &self.entry.run {
            Run::General(run) => match self.run(*run, row, events) {
                Result::Text(text) => text,
                Result::Number(_) => Vec::new(),
            },
            Run::Numbers(_) => Vec::new(),
        }
    }

    fn plain(&self, run: fn(&[f64]) -> Option<f64>, row: &[u8], events: &mut Events) -> f64 {
        let mut few = [0.0; 8];
        let many: Vec<f64>;
        let values = if self.arguments.len() <= few.len() {
            for (place, argument) in few.iter_mut().zip(&self.arguments) {
                *place = number_of(argument, row, events);
            }
            &few[..self.arguments.len()]
        } else {
            let all = self.arguments.iter();
            many = all.map(|one| number_of(one, row, events)).collect();
            &many
        };
        self.of(run, values, events)
    }

    /// The value of a function of numbers alone.
    pub(super) fn of(
        &self,
        run: fn(&[f64]) -> Option<f64>,
        values: &[f64],
        events: &mut Events,
    ) -> f64 {
        let skips = self.entry.skips_missing;
        if !skips && values.iter().any(|value| value.is_nan()) {
            events.count(self.site);
            return missing::encode(0);
        }
        match run(values).filter(|value| value.is_finite()) {
            Some(value) => value,
            None if skips => missing::encode(0),
            None => {
                events.raise_for(self.site + 1, values);
                missing::encode(0)
            }
        }
    }

    fn run(&self, run: fn(&mut Call<'_, '_>) -> Result, row: &[u8], events: &mut Events) -> Result {
        let given: Vec<Given<'_>> = self
            .arguments
            .iter()
            .map(|argument| match argument {
                Value::Number(number) => Given::Number(number.value(row, events)),
                Value::Text(text) => Given::Text(text.value(row, events)),
            })
            .collect();
        run(&mut Call {
            given: &given,
            format: self.format.as_ref(),
            events,
            site: self.site,
        })
    }

    /// Longest text of a call of `entry` with these arguments, bytes.
    pub fn length_of(
        entry: &Entry,
        arguments: &[Value],
        format: Option<&Format>,
        formats: &Formats,
    ) -> u32 {
        let first = || arguments.iter().find_map(text_length).unwrap_or(12);
        match entry.gives {
            Gives::Number => 8,
            Gives::SameLength => first(),
            Gives::LengthOf(index) => arguments.get(index).and_then(text_length).unwrap_or(200),
            Gives::Longest => arguments.iter().filter_map(text_length).max().unwrap_or(1),
            Gives::Length(length) => length,
            Gives::Format => {
                let width = |format: &Format| match format.width {
                    0 => u32::from(crate::format::default_width(format, formats)),
                    width => u32::from(width),
                };
                format.map_or(12, width)
            }
            Gives::Informat => {
                let width = |format: &Format| match format.width {
                    0 => formats
                        .informat(&format.name)
                        .map_or(0, |user| u32::from(user.width)),
                    width => u32::from(width),
                };
                match format.map_or(0, width) {
                    0 => first(),
                    width => width,
                }
            }
        }
    }
}

fn text_length(value: &Value) -> Option<u32> {
    match value {
        Value::Text(text) => Some(text.length()),
        Value::Number(_) => None,
    }
}

fn number_of(value: &Value, row: &[u8], events: &mut Events) -> f64 {
    match value {
        Value::Number(number) => number.value(row, events),
        Value::Text(_) => missing::encode(0),
    }
}
