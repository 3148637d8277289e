//! CALL routines of a DATA step: what they do to variables at once, and what they ask of the session
//! for the time after the step.

mod joining;
mod pattern;

use std::collections::BTreeMap;

use base::diag::Span;
use lang::Scope as Table;
use lang::ast::Argument;
use sas7bdat::{Kind, missing};

use super::compile::{Compiler, Site};
use super::evaluate::{Events, order_key, trimmed};
use super::function::random::Congruential;
use super::{Number, Slot, Text, Value};
use crate::dataset::copy::{store_number, store_text};
use crate::failure::{Failure, Outcome};
use crate::format;
use crate::session::World;

/// Most that macro variables of CALL SYMPUT, and texts of CALL EXECUTE, may take in one step, whatever
/// the memory.
const REQUESTED_BYTES_MAX: usize = 64 << 20;

/// Of an entry beside its texts.
const ENTRY_BYTES: usize = 128;

/// A compiled CALL statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Routine {
    does: Does,
    pub(super) arguments: Vec<Value>,
    pub(super) site: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Symput,
    Symputx,
    Cats,
    Catt,
    Catx,
    Execute,
    Streaminit,
    Missing,
    Sleep,
    Sortn,
    Sortc,
    Ranuni,
    Rannor,
    Prxchange,
    Prxfree,
    Prxnext,
    Prxposn,
    Prxsubstr,
}

/// Variables that a routine sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sets {
    Nothing,
    Any,
    Only(Kind),
    /// The arguments at these places.
    At(&'static [usize]),
}

/// The CALL routines: least and most arguments.
static ROUTINES: &[(&str, Does, usize, usize)] = &[
    ("CATS", Does::Cats, 1, usize::MAX),
    ("CATT", Does::Catt, 1, usize::MAX),
    ("CATX", Does::Catx, 2, usize::MAX),
    ("EXECUTE", Does::Execute, 1, 1),
    ("MISSING", Does::Missing, 1, usize::MAX),
    ("PRXCHANGE", Does::Prxchange, 3, 7),
    ("PRXFREE", Does::Prxfree, 1, 1),
    ("PRXNEXT", Does::Prxnext, 6, 6),
    ("PRXPOSN", Does::Prxposn, 3, 4),
    ("PRXSUBSTR", Does::Prxsubstr, 3, 4),
    ("RANNOR", Does::Rannor, 2, 2),
    ("RANUNI", Does::Ranuni, 2, 2),
    ("SLEEP", Does::Sleep, 1, 2),
    ("SORTC", Does::Sortc, 1, usize::MAX),
    ("SORTN", Does::Sortn, 1, usize::MAX),
    ("STREAMINIT", Does::Streaminit, 1, 1),
    ("SYMPUT", Does::Symput, 2, 2),
    ("SYMPUTX", Does::Symputx, 2, 3),
];

/// Names of all CALL routines.
pub fn routines() -> impl Iterator<Item = &'static str> {
    ROUTINES.iter().map(|(name, ..)| *name)
}

impl Does {
    fn name(self) -> &'static str {
        let found = ROUTINES.iter().find(|(_, does, ..)| *does == self);
        found.map_or("", |(name, ..)| name)
    }

    /// The routine, and how many arguments it takes.
    fn find(upper: &str) -> Option<(Self, usize, usize)> {
        let (_, does, least, most) = ROUTINES.iter().find(|(name, ..)| *name == upper)?;
        Some((*does, *least, *most))
    }

    /// Of which kind the variables are that it sets.
    const fn sets(self, count: usize) -> Sets {
        match self {
            Self::Prxchange if count == 3 => Sets::At(&[2]),
            Self::Prxchange => Sets::At(&[3, 4, 5, 6]),
            Self::Prxfree | Self::Cats | Self::Catt => Sets::At(&[0]),
            Self::Catx => Sets::At(&[1]),
            Self::Prxnext => Sets::At(&[1, 4, 5]),
            Self::Prxposn | Self::Prxsubstr => Sets::At(&[2, 3]),
            Self::Missing => Sets::Any,
            Self::Sortn | Self::Ranuni | Self::Rannor => Sets::Only(Kind::Numeric),
            Self::Sortc => Sets::Only(Kind::Character),
            _ => Sets::Nothing,
        }
    }

    /// Whether it is about a regular expression.
    const fn is_pattern(self) -> bool {
        matches!(
            self,
            Self::Prxchange | Self::Prxfree | Self::Prxnext | Self::Prxposn | Self::Prxsubstr
        )
    }

    /// Whether it puts items together.
    const fn joins(self) -> bool {
        matches!(self, Self::Cats | Self::Catt | Self::Catx)
    }

    /// Whether it takes `of x1-x9`.
    const fn takes_lists(self) -> bool {
        self.joins() || matches!(self, Self::Missing | Self::Sortn | Self::Sortc)
    }
}

/// What CALL routines ask of the session.
#[derive(Debug, Clone)]
pub struct Requests {
    /// Macro variables by upper-case name: the last value and its table.
    symbols: BTreeMap<String, (String, Table)>,
    symbol_bytes: usize,
    executed: Vec<String>,
    executed_bytes: usize,
    /// What macro variables may take, and what texts may, bytes.
    most: usize,
    lost_symbols: bool,
    lost_texts: bool,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            symbols: BTreeMap::new(),
            symbol_bytes: 0,
            executed: Vec::new(),
            executed_bytes: 0,
            most: REQUESTED_BYTES_MAX,
            lost_symbols: false,
            lost_texts: false,
        }
    }
}

impl Compiler<'_> {
    /// `CALL name(arguments);`
    pub fn routine(&mut self, name: &str, arguments: &[Argument], span: &Span) -> Outcome<Routine> {
        let upper = name.to_ascii_uppercase();
        let Some((does, least, most)) = Does::find(&upper) else {
            let message = format!("The CALL routine {upper} is unknown or not implemented yet.");
            return Err(Failure::at(span, message));
        };
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(expr) => {
                    let value = self.value(expr)?;
                    let text = matches!(does, Does::Symput | Does::Execute)
                        || (does == Does::Symputx && values.len() != 1);
                    let number = matches!(does, Does::Streaminit | Does::Sleep)
                        || (values.is_empty() && does.is_pattern());
                    values.push(match value {
                        value if text => Value::Text(self.to_text(value, &expr.span)),
                        value if number => Value::Number(self.to_number(value, &expr.span)),
                        value => value,
                    });
                }
                Argument::Of(lists) if does.takes_lists() => {
                    for list in lists {
                        let slots = self.scope.list(list)?.into_iter();
                        values.extend(slots.map(|slot| match slot.kind {
                            Kind::Numeric => Value::Number(Number::Variable(slot)),
                            Kind::Character => Value::Text(Text::Variable(slot)),
                        }));
                    }
                }
                _ => {
                    let message = format!("The CALL routine {name} does not take this argument.");
                    return Err(Failure::at(span, message));
                }
            }
        }
        if !(least..=most).contains(&values.len()) {
            let count = values.len();
            let message = format!("The CALL routine {name} does not take {count} arguments.");
            return Err(Failure::at(span, message));
        }
        check_variables(does, &values, span)?;
        self.sites.add(Site::Missing, span);
        let site = self.sites.add(Site::InvalidArgument(does.name()), span);
        Ok(Routine {
            does,
            arguments: values,
            site,
        })
    }
}

/// Whether the arguments are variables or elements of the kind that is set, texts of one length.
fn check_variables(does: Does, values: &[Value], span: &Span) -> Outcome<()> {
    let (name, sets) = (does.name(), does.sets(values.len()));
    let set = |(index, _): &(usize, &Value)| sets.has(*index);
    let mut those = values.iter().enumerate().filter(set);
    if !those.all(|(_, value)| is_variable(value)) {
        let message = format!("CALL {name} needs variables as its arguments.");
        return Err(Failure::at(span, message));
    }
    let is_number =
        |(index, value): (usize, &Value)| sets.has(index) && matches!(value, Value::Number(_));
    if does.joins() && values.iter().enumerate().any(is_number) {
        let message = format!("CALL {name} needs a character variable for its result.");
        return Err(Failure::at(span, message));
    }
    let Sets::Only(kind) = sets else {
        return Ok(());
    };
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    if values
        .iter()
        .any(|value| is_text(value) != (kind == Kind::Character))
    {
        let wanted = if kind == Kind::Character {
            "character"
        } else {
            "numeric"
        };
        let message = format!("CALL {name} needs {wanted} variables.");
        return Err(Failure::at(span, message));
    }
    let lengths: std::collections::BTreeSet<u32> = values
        .iter()
        .filter_map(|value| match value {
            Value::Text(text) => Some(text.length()),
            Value::Number(_) => None,
        })
        .collect();
    if lengths.len() > 1 {
        let message = format!("CALL {name} needs variables of one length.");
        return Err(Failure::at(span, message));
    }
    Ok(())
}

impl Sets {
    /// Whether the argument at `index` is set.
    fn has(self, index: usize) -> bool {
        match self {
            Self::Nothing => false,
            Self::Any | Self::Only(_) => true,
            Self::At(places) => places.contains(&index),
        }
    }
}

fn is_variable(value: &Value) -> bool {
    target(value).is_some()
        || matches!(
            value,
            Value::Number(Number::Element(_)) | Value::Text(Text::Element(_))
        )
}

fn target(value: &Value) -> Option<Slot> {
    match value {
        Value::Number(Number::Variable(slot)) | Value::Text(Text::Variable(slot)) => Some(*slot),
        _ => None,
    }
}

impl Routine {
    /// The variables that it sets: they are not uninitialised.
    pub fn targets(&self) -> Vec<Slot> {
        let sets = self.does.sets(self.arguments.len());
        let those = self.arguments.iter().enumerate();
        let those = those.filter(|(index, _)| sets.has(*index));
        those.filter_map(|(_, value)| target(value)).collect()
    }

    /// The arrays of which it sets elements.
    pub fn arrays(&self) -> impl Iterator<Item = &str> {
        let sets = self.does.sets(self.arguments.len());
        let those = self.arguments.iter().enumerate();
        those.filter_map(move |(index, value)| match value {
            Value::Number(Number::Element(element)) | Value::Text(Text::Element(element)) => {
                sets.has(index).then(|| element.array().name.as_str())
            }
            _ => None,
        })
    }

    /// Where the arguments lie now.
    fn slots(&self, row: &[u8], events: &mut Events) -> Vec<Slot> {
        (0..self.arguments.len())
            .filter_map(|index| self.slot(index, row, events))
            .collect()
    }

    /// Where an argument lies now, if it is a variable or element.
    pub(super) fn slot(&self, index: usize, row: &[u8], events: &mut Events) -> Option<Slot> {
        match self.arguments.get(index)? {
            Value::Number(Number::Element(element)) | Value::Text(Text::Element(element)) => {
                element.slot(row, events)
            }
            other => target(other),
        }
    }

    /// CALL SORTN and SORTC: missing values and blanks come first.
    fn sort(&self, row: &mut [u8], events: &mut Events) {
        let slots = self.slots(row, events);
        if self.does == Does::Sortc {
            let mut texts: Vec<Vec<u8>> =
                slots.iter().map(|slot| slot.bytes(row).to_vec()).collect();
            texts.sort_unstable();
            for (slot, text) in slots.iter().zip(texts) {
                store_text(slot, row, &text);
            }
            return;
        }
        let mut numbers: Vec<f64> = slots.iter().map(|slot| slot.number(row)).collect();
        numbers.sort_by_key(|number| order_key(*number));
        for (slot, number) in slots.iter().zip(numbers) {
            store_number(slot, row, number);
        }
    }

    /// CALL RANUNI and RANNOR: the seed is a variable that remembers the stream.
    fn draw(&self, row: &mut [u8], events: &mut Events) {
        let [seed, value] = self.slots(row, events)[..] else {
            return;
        };
        let mut stream = Congruential::seeded(seed.number(row), events.surroundings.entropy());
        let drawn = if self.does == Does::Ranuni {
            stream.uniform()
        } else {
            stream.normal()
        };
        store_number(&seed, row, stream.seed());
        store_number(&value, row, drawn);
    }

    /// Carries it out over `row`.
    pub fn run(&self, row: &mut [u8], events: &mut Events) {
        match self.does {
            Does::Symput | Does::Symputx => self.symput(row, events),
            Does::Execute => {
                let text = self.text(0, row, events);
                events
                    .surroundings
                    .requests
                    .execute(text.trim_end().to_owned());
            }
            Does::Streaminit => {
                let seed = self.number(0, row, events);
                // Asking for it costs as much as many random numbers, and programs call this in every
                // iteration.
                let is_taken = seed > 0.0 || events.surroundings.random.is_seeded();
                let other = if is_taken {
                    0
                } else {
                    events.surroundings.entropy()
                };
                events.surroundings.random.initialise(seed, other);
            }
            Does::Missing => {
                for slot in self.slots(row, events) {
                    clear(slot, row);
                }
            }
            Does::Sortn | Does::Sortc => self.sort(row, events),
            Does::Ranuni | Does::Rannor => self.draw(row, events),
            Does::Cats | Does::Catt | Does::Catx => self.join(row, events),
            Does::Prxchange => self.prxchange(row, events),
            Does::Prxfree => self.prxfree(row, events),
            Does::Prxnext => self.prxnext(row, events),
            Does::Prxposn => self.prxposn(row, events),
            Does::Prxsubstr => self.prxsubstr(row, events),
            Does::Sleep => {
                let unit = match self.arguments.len() {
                    1 => 0.001,
                    _ => self.number(1, row, events),
                };
                let seconds = self.number(0, row, events) * unit;
                match std::time::Duration::try_from_secs_f64(seconds) {
                    Ok(time) => events.surroundings.sleep(time),
                    Err(_) => events.raise(self.site),
                }
            }
        }
    }

    fn symput(&self, row: &[u8], events: &mut Events) {
        let name = self.text(0, row, events).trim().to_owned();
        let (value, table) = if self.does == Does::Symput {
            (self.text(1, row, events), Table::Nearest)
        } else {
            let value = self.text(1, row, events).trim().to_owned();
            let table = match self.arguments.len() {
                2 => Table::Nearest,
                _ => match self.text(2, row, events).trim_start().chars().next() {
                    Some('g' | 'G') => Table::Global,
                    Some('l' | 'L') => Table::Local,
                    _ => Table::Nearest,
                },
            };
            (value, table)
        };
        if let Some(macros) = &mut events.surroundings.macros {
            // SYMGET of the same step sees it; what is wrong is told at the end.
            let _ = macros.symput(&name, &value, table);
        }
        let requests = &mut events.surroundings.requests;
        requests.symput(name.to_ascii_uppercase(), value, table);
    }

    pub(super) fn number(&self, index: usize, row: &[u8], events: &mut Events) -> f64 {
        match self.arguments.get(index) {
            Some(Value::Number(number)) => number.value(row, events),
            _ => missing::encode(0),
        }
    }

    fn text(&self, index: usize, row: &[u8], events: &mut Events) -> String {
        match self.arguments.get(index) {
            Some(Value::Text(text)) => {
                let value = text.value(row, events);
                let kept = if self.does == Does::Symput {
                    &value[..]
                } else {
                    trimmed(&value)
                };
                String::from_utf8_lossy(kept).into_owned()
            }
            Some(Value::Number(number)) => {
                let value = number.value(row, events);
                format::best(value, 32).trim().to_owned()
            }
            None => String::new(),
        }
    }
}

fn clear(slot: Slot, row: &mut [u8]) {
    let place = slot.offset as usize..(slot.offset + slot.length) as usize;
    let Some(bytes) = row.get_mut(place) else {
        return;
    };
    match slot.kind {
        Kind::Character => bytes.fill(b' '),
        Kind::Numeric => {
            let missing = missing::encode(0).to_le_bytes();
            let skipped = missing.len() - bytes.len();
            bytes.copy_from_slice(&missing[skipped..]);
        }
    }
}

impl Requests {
    /// Takes at most so much memory, a part of it for what comes of the texts.
    pub fn limit(&mut self, memory: u64) {
        let most = usize::try_from(memory / 4).unwrap_or(usize::MAX);
        self.most = most.min(REQUESTED_BYTES_MAX);
    }

    fn symput(&mut self, name: String, value: String, table: Table) {
        let known = self.symbols.get(&name);
        let before = known.map_or(0, |(value, _)| ENTRY_BYTES + name.len() + value.len());
        let after = self.symbol_bytes - before + ENTRY_BYTES + name.len() + value.len();
        if after > self.most {
            self.lost_symbols = true;
            return;
        }
        self.symbol_bytes = after;
        self.symbols.insert(name, (value, table));
    }

    fn execute(&mut self, text: String) {
        let after = self.executed_bytes + ENTRY_BYTES + text.len();
        if after > self.most {
            self.lost_texts = true;
        } else {
            self.executed_bytes = after;
            self.executed.push(text);
        }
    }

    /// Carries out what was asked for; at the end of the step.
    pub fn settle(self, world: &mut World) {
        for (name, (value, table)) in self.symbols {
            if let Err(text) = world.symput(&name, &value, table) {
                world.log.error(&format!("{text}."));
            }
        }
        let lost = [
            (
                self.lost_symbols,
                "macro variables of CALL SYMPUT",
                "assigned",
            ),
            (self.lost_texts, "texts of CALL EXECUTE", "executed"),
        ];
        for (_, what, done) in lost.into_iter().filter(|(lost, ..)| *lost) {
            world.log.error(&format!(
                "The {what} of this step take more than {} KiB; those beyond are not {done}. Raise \
                 MEMSIZE=.",
                self.most >> 10
            ));
        }
        for text in self.executed {
            world.call_execute(&text);
        }
    }
}
