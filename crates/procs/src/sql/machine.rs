//! Compiled expressions of SQL over rows: the engine's expressions, and before them the steps that
//! put the values of CASE and of subqueries into places behind the row.

use std::collections::HashMap;
use std::rc::Rc;

use engine::dataset::copy::{store_number, store_text};
use engine::expr::compile::Site;
use engine::expr::evaluate::{Events, is_true, order_key};
use engine::expr::surroundings::Surroundings;
use engine::expr::{Number, Slot, Text, Value};
use engine::failure::Outcome;
use engine::hash_table::Table;
use engine::session::World;
use lang::ast::ExprKind;
use sas7bdat::{Kind, missing};

use super::scope::{Context, Outer};
use super::subquery;
use super::syntax::Query;

/// A compiled expression.
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) value: Value,
}

pub(super) enum Step {
    Case {
        target: Slot,
        arms: Vec<(Program, Program)>,
        otherwise: Option<Program>,
    },
    /// Whether a value is in a set.
    Member {
        target: Slot,
        value: Program,
        set: Rc<Set>,
    },
    /// A subquery that takes values from this row.
    Subquery(Box<Correlated>),
}

/// The values of a subquery behind IN.
pub(super) struct Set {
    pub(super) bytes: usize,
    pub(super) table: Table,
}

/// A subquery that runs again for other values of the row.
pub(super) struct Correlated {
    pub(super) target: Slot,
    pub(super) context: Rc<Context>,
    pub(super) query: Query,
    pub(super) wanted: Wanted,
    /// What it takes from the row, by the names it uses.
    pub(super) inputs: Vec<(Option<String>, String, Program)>,
    pub(super) around: Rc<Outer>,
    /// Results by the values taken.
    pub(super) known: HashMap<Vec<u8>, Vec<u8>>,
    pub(super) known_bytes: usize,
}

/// What is wanted of a subquery.
pub(super) enum Wanted {
    Scalar,
    Exists,
    Among(Program),
}

/// Results of correlated subqueries that are kept, bytes; then they are forgotten.
const KNOWN_MAX: usize = 1 << 20;

impl Program {
    /// The slot, if it is nothing but a variable.
    pub(super) fn slot(&self) -> Option<Slot> {
        if !self.steps.is_empty() {
            return None;
        }
        match self.value {
            Value::Number(Number::Variable(slot)) | Value::Text(Text::Variable(slot)) => Some(slot),
            _ => None,
        }
    }

    pub(super) const fn kind(&self) -> Kind {
        match self.value {
            Value::Number(_) => Kind::Numeric,
            Value::Text(_) => Kind::Character,
        }
    }

    /// Bytes of its values.
    pub(super) fn length(&self) -> u32 {
        match &self.value {
            Value::Number(_) => 8,
            Value::Text(text) => text.length().clamp(1, base::limits::CHARACTER_BYTES_MAX),
        }
    }
}

/// Evaluates the programs of one place over its rows.
pub(super) struct Machine {
    context: Rc<Context>,
    /// Bytes of the rows that come.
    base: usize,
    /// The row and the places behind it; empty if there are none.
    extended: Vec<u8>,
    events: Events,
    sites: Vec<Site>,
}

impl Machine {
    pub(super) fn new(
        context: &Rc<Context>,
        (base, total): (u32, u32),
        sites: Vec<Site>,
        surroundings: Surroundings,
    ) -> Self {
        let extended = if total > base {
            vec![0; total as usize]
        } else {
            Vec::new()
        };
        Self {
            context: context.clone(),
            base: base as usize,
            extended,
            events: Events {
                counts: vec![0; sites.len()],
                surroundings,
                ..Events::default()
            },
            sites,
        }
    }

    /// A new row: to be called before its programs are evaluated.
    #[inline]
    pub(super) fn begin(&mut self, row: &[u8]) {
        if !self.extended.is_empty() {
            self.extended[..self.base].copy_from_slice(&row[..self.base]);
        }
    }

    #[inline]
    pub(super) fn number(
        &mut self,
        program: &mut Program,
        row: &[u8],
        world: &mut World,
    ) -> Outcome<f64> {
        let value = if self.extended.is_empty() {
            number(&program.value, row, &mut self.events)
        } else {
            run(
                &mut program.steps,
                &mut self.extended,
                &mut self.events,
                world,
            )?;
            number(&program.value, &self.extended, &mut self.events)
        };
        if self.events.alarm {
            self.alarmed()?;
        }
        Ok(value)
    }

    pub(super) fn holds(
        &mut self,
        program: &mut Program,
        row: &[u8],
        world: &mut World,
    ) -> Outcome<bool> {
        Ok(is_true(self.number(program, row, world)?))
    }

    /// Puts the value into a slot of another row.
    #[inline]
    pub(super) fn store(
        &mut self,
        program: &mut Program,
        row: &[u8],
        world: &mut World,
        slot: &Slot,
        target: &mut [u8],
    ) -> Outcome<()> {
        if self.extended.is_empty() {
            store(&program.value, row, &mut self.events, slot, target);
        } else {
            run(
                &mut program.steps,
                &mut self.extended,
                &mut self.events,
                world,
            )?;
            store(
                &program.value,
                &self.extended,
                &mut self.events,
                slot,
                target,
            );
        }
        if self.events.alarm {
            self.alarmed()?;
        }
        Ok(())
    }

    /// Puts the value into bytes whose order is that of the values.
    #[inline]
    pub(super) fn encode(
        &mut self,
        program: &mut Program,
        row: &[u8],
        world: &mut World,
        target: &mut [u8],
    ) -> Outcome<()> {
        if self.extended.is_empty() {
            encode(&program.value, row, &mut self.events, target);
        } else {
            run(
                &mut program.steps,
                &mut self.extended,
                &mut self.events,
                world,
            )?;
            encode(&program.value, &self.extended, &mut self.events, target);
        }
        if self.events.alarm {
            self.alarmed()?;
        }
        Ok(())
    }

    #[cold]
    fn alarmed(&mut self) -> Outcome<()> {
        self.events.alarm = false;
        for (site, _) in self.events.raised.drain(..) {
            if let Some(Site::InvalidArgument(function)) = self.sites.get(site) {
                self.context.invalid.borrow_mut().insert(function);
            }
        }
        self.events.failure.take().map_or(Ok(()), Err)
    }
}

#[inline]
fn number(value: &Value, row: &[u8], events: &mut Events) -> f64 {
    match value {
        Value::Number(Number::Variable(slot)) => slot.number(row),
        Value::Number(number) => number.value(row, events),
        Value::Text(_) => missing::encode(0),
    }
}

#[inline]
fn store(value: &Value, row: &[u8], events: &mut Events, slot: &Slot, target: &mut [u8]) {
    match value {
        Value::Number(number) => store_number(slot, target, number.value(row, events)),
        Value::Text(text) => store_text(slot, target, &text.value(row, events)),
    }
}

#[inline]
fn encode(value: &Value, row: &[u8], events: &mut Events, target: &mut [u8]) {
    match value {
        Value::Number(_) => {
            let key = order_key(number(value, row, events));
            target.copy_from_slice(&key.to_be_bytes());
        }
        Value::Text(text) => {
            let text = text.value(row, events);
            let used = text.len().min(target.len());
            target[..used].copy_from_slice(&text[..used]);
            target[used..].fill(b' ');
        }
    }
}

/// Fills the places behind the row that a program needs.
fn run(steps: &mut [Step], row: &mut [u8], events: &mut Events, world: &mut World) -> Outcome<()> {
    for step in steps {
        match step {
            Step::Case {
                target,
                arms,
                otherwise,
            } => case(target, arms, otherwise.as_mut(), row, events, world)?,
            Step::Member { target, value, set } => {
                run(&mut value.steps, row, events, world)?;
                let mut key = vec![0; set.bytes];
                let found =
                    within(&value.value, row, events, &mut key) && set.table.find(&key).is_some();
                store_number(target, row, f64::from(u8::from(found)));
            }
            Step::Subquery(subquery) => correlated(subquery, row, events, world)?,
        }
    }
    Ok(())
}

/// Encodes a value; false if it is longer than the texts it is compared with.
fn within(value: &Value, row: &[u8], events: &mut Events, key: &mut [u8]) -> bool {
    if let Value::Text(text) = value {
        let text = text.value(row, events);
        let text = engine::expr::evaluate::trimmed(&text);
        if text.len() > key.len() {
            return false;
        }
        key[..text.len()].copy_from_slice(text);
        key[text.len()..].fill(b' ');
        return true;
    }
    encode(value, row, events, key);
    true
}

fn case(
    target: &Slot,
    arms: &mut [(Program, Program)],
    otherwise: Option<&mut Program>,
    row: &mut [u8],
    events: &mut Events,
    world: &mut World,
) -> Outcome<()> {
    let mut chosen = otherwise;
    for (when, then) in arms {
        run(&mut when.steps, row, events, world)?;
        if is_true(number(&when.value, row, events)) {
            chosen = Some(then);
            break;
        }
    }
    match chosen {
        Some(program) => {
            run(&mut program.steps, row, events, world)?;
            match &program.value {
                Value::Number(_) => {
                    let value = number(&program.value, row, events);
                    store_number(target, row, value);
                }
                Value::Text(text) => {
                    let value = text.value(row, events).into_owned();
                    store_text(target, row, &value);
                }
            }
        }
        None => match target.kind {
            Kind::Numeric => store_number(target, row, missing::encode(0)),
            Kind::Character => store_text(target, row, b""),
        },
    }
    Ok(())
}

fn correlated(
    subquery: &mut Correlated,
    row: &mut [u8],
    events: &mut Events,
    world: &mut World,
) -> Outcome<()> {
    let mut key = Vec::new();
    let mut values = Vec::new();
    for (table, name, program) in &mut subquery.inputs {
        run(&mut program.steps, row, events, world)?;
        let literal = match &program.value {
            Value::Number(_) => {
                let value = number(&program.value, row, events);
                key.extend_from_slice(&order_key(value).to_be_bytes());
                missing::code(value).map_or(ExprKind::Number(value), ExprKind::Missing)
            }
            Value::Text(text) => {
                let text = text.value(row, events);
                key.extend_from_slice(&text);
                let encoding = subquery.context.encoding();
                ExprKind::Text(encoding.decode(&text).into_owned())
            }
        };
        values.push((table.clone(), name.clone(), literal));
    }
    let mut compared = Vec::new();
    if let Wanted::Among(value) = &mut subquery.wanted {
        run(&mut value.steps, row, events, world)?;
        compared.resize(value.length() as usize, 0);
        encode(&value.value, row, events, &mut compared);
        key.extend_from_slice(&compared);
    }
    let target = subquery.target;
    let place = target.offset as usize..(target.offset + target.length) as usize;
    if let Some(known) = subquery.known.get(&key) {
        row[place].copy_from_slice(known);
        return Ok(());
    }
    let outer = Outer::Given {
        values,
        around: subquery.around.clone(),
    };
    subquery::run_for_row(subquery, &Rc::new(outer), &compared, row, world)?;
    if subquery.known_bytes > KNOWN_MAX {
        subquery.known.clear();
        subquery.known_bytes = 0;
    }
    subquery.known_bytes += key.len() + target.length as usize + 96;
    subquery.known.insert(key, row[place].to_vec());
    Ok(())
}
