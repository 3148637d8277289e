//! From expression trees to steps over blocks.

use sas7bdat::Kind;

use super::{Condition, Op, Operand, Register, Registers, Vector};
use crate::expr::code::{Code, Step};
use crate::expr::evaluate::trimmed;
use crate::expr::function::table::Run;
use crate::expr::general::General;
use crate::expr::{Number, Relation, Slot, Text, Value};

/// Where the value of a variable is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// In the rows, here.
    Row(Slot),
    /// In a register.
    Register(Register),
}

/// Knows where variables are.
pub trait Places {
    /// Where the variable is that expressions find at `slot`; `None` if blocks cannot have it.
    fn place(&mut self, slot: &Slot, supply: &mut Supply) -> Option<Place>;
}

/// All variables are in the rows, at the slots that expressions name.
pub struct InRows;

impl Places for InRows {
    fn place(&mut self, slot: &Slot, _: &mut Supply) -> Option<Place> {
        Some(Place::Row(*slot))
    }
}

/// Registers to be had.
#[derive(Debug, Default)]
pub struct Supply(u16);

impl Supply {
    /// A register that nobody else has.
    pub fn take(&mut self) -> Option<Register> {
        let register = Register(self.0);
        self.0 = self.0.checked_add(1)?;
        Some(register)
    }

    /// All that were given out.
    pub fn registers(&self) -> Registers {
        Registers::new(self.0)
    }
}

/// Turns expressions into steps. What cannot be evaluated block by block gives `None`.
pub struct Compiler<P> {
    /// Where variables are.
    pub places: P,
    /// Registers not yet taken.
    pub supply: Supply,
    /// What was loaded already, for all rows that the steps to come look at.
    loaded: Vec<(Slot, Register)>,
}

impl<P: Places> Compiler<P> {
    /// Nothing is compiled yet.
    pub fn new(places: P) -> Self {
        Self {
            places,
            supply: Supply::default(),
            loaded: Vec::new(),
        }
    }

    /// How much is loaded now; see [`forget`](Self::forget).
    pub fn known(&self) -> usize {
        self.loaded.len()
    }

    /// Behind steps that only some rows went through: what was loaded in them is not there for others.
    pub fn forget(&mut self, known: usize) {
        self.loaded.truncate(known);
    }

    /// A value.
    pub fn vector(&mut self, number: &Number) -> Option<Vector> {
        let mut ops = Vec::new();
        let value = self.number(number, &mut ops)?;
        Some(Vector { ops, value })
    }

    /// A condition. Its parts are tried one after the other, each on the rows that met those before.
    pub fn condition(&mut self, number: &Number) -> Option<Condition> {
        let mut parts = Vec::new();
        self.parts(number, &mut parts)?;
        Some(Condition { parts })
    }

    fn parts(&mut self, number: &Number, parts: &mut Vec<Vector>) -> Option<()> {
        if let Number::And(left, right) = number {
            self.parts(left, parts)?;
            return self.parts(right, parts);
        }
        parts.push(self.vector(number)?);
        Some(())
    }

    fn number(&mut self, number: &Number, ops: &mut Vec<Op>) -> Option<Operand> {
        match number {
            Number::Constant(value) => Some(Operand::Constant(*value)),
            Number::Variable(slot) => self.variable(slot, ops),
            Number::Code(code) => self.code(code, ops),
            Number::Negate(operand) => {
                let operand = self.number(operand, ops)?;
                self.push(ops, |to| Op::Negate(to, operand))
            }
            Number::Not(operand) => {
                let operand = self.number(operand, ops)?;
                self.push(ops, |to| Op::Not(to, operand))
            }
            Number::Arithmetic(operator, left, right, site) => {
                let site = u32::try_from(*site).ok()?;
                let (left, right) = (self.number(left, ops)?, self.number(right, ops)?);
                self.push(ops, |to| Op::Arithmetic(to, *operator, left, right, site))
            }
            Number::Compare(relation, left, right) => {
                let (left, right) = (self.number(left, ops)?, self.number(right, ops)?);
                self.push(ops, |to| Op::Compare(to, *relation, left, right))
            }
            Number::Extreme {
                larger,
                left,
                right,
            } => {
                let (left, right) = (self.number(left, ops)?, self.number(right, ops)?);
                self.push(ops, |to| Op::Extreme(to, *larger, left, right))
            }
            Number::And(left, right) => self.decide(true, left, right, ops),
            Number::Or(left, right) => self.decide(false, left, right, ops),
            Number::In(operand, ranges) => {
                let operand = self.number(operand, ops)?;
                self.push(ops, |to| Op::In(to, operand, ranges.clone()))
            }
            Number::Call(function, arguments) => {
                let arguments = self.numbers(arguments.iter(), ops)?;
                self.push(ops, |to| Op::Function(to, *function, arguments))
            }
            Number::General(call) => self.general(call, ops),
            Number::CompareText { .. }
            | Number::InText(..)
            | Number::Like { .. }
            | Number::Blank(_) => {
                let condition = self.of_texts(number)?;
                match one_of(&condition) {
                    Some((slot, texts)) => self.push(ops, |to| Op::IsText(to, slot, texts)),
                    None => self.push(ops, |to| Op::OfTexts(to, Box::new(condition))),
                }
            }
            Number::Element(_) | Number::FromText(..) => None,
        }
    }

    fn numbers<'n>(
        &mut self,
        numbers: impl Iterator<Item = &'n Number>,
        ops: &mut Vec<Op>,
    ) -> Option<Vec<Operand>> {
        numbers.map(|number| self.number(number, ops)).collect()
    }

    fn push(&mut self, ops: &mut Vec<Op>, op: impl FnOnce(Register) -> Op) -> Option<Operand> {
        let to = self.supply.take()?;
        ops.push(op(to));
        Some(Operand::Register(to))
    }

    fn variable(&mut self, slot: &Slot, ops: &mut Vec<Op>) -> Option<Operand> {
        let slot = match self.places.place(slot, &mut self.supply)? {
            Place::Register(register) => return Some(Operand::Register(register)),
            Place::Row(slot) if slot.kind == Kind::Numeric => slot,
            Place::Row(_) => return None,
        };
        if let Some((_, register)) = self.loaded.iter().find(|(known, _)| *known == slot) {
            return Some(Operand::Register(*register));
        }
        let to = self.supply.take()?;
        ops.push(Op::Load(to, slot));
        self.loaded.push((slot, to));
        Some(Operand::Register(to))
    }

    /// The right side is evaluated for the rows that the left side leaves undecided, as row by row.
    fn decide(
        &mut self,
        and: bool,
        left: &Number,
        right: &Number,
        ops: &mut Vec<Op>,
    ) -> Option<Operand> {
        let left = self.number(left, ops)?;
        let known = self.known();
        let right = self.vector(right)?;
        self.forget(known);
        self.push(ops, |to| Op::Decide {
            to,
            and,
            left,
            ops: right.ops,
            right: right.value,
        })
    }

    /// Other functions than those of numbers alone may remember something from row to row.
    fn general(&mut self, call: &General, ops: &mut Vec<Op>) -> Option<Operand> {
        if !matches!(call.entry.run, Run::Numbers(_)) {
            return None;
        }
        let mut arguments = Vec::new();
        for argument in &call.arguments {
            let Value::Number(number) = argument else {
                return None;
            };
            arguments.push(self.number(number, ops)?);
        }
        self.push(ops, |to| Op::General(to, Box::new(call.clone()), arguments))
    }

    /// Follows the steps of code with operands in the place of its accumulator and its stack.
    fn code(&mut self, code: &Code, ops: &mut Vec<Op>) -> Option<Operand> {
        let mut stack: Vec<Operand> = Vec::new();
        for step in &code.steps {
            let made = match *step {
                Step::Load(offset) => self.variable(&plain(offset), ops)?,
                Step::Constant(value) => Operand::Constant(value),
                Step::Other(index) => self.number(code.others.get(index as usize)?, ops)?,
                Step::Operate(operator, site) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    self.push(ops, |to| Op::Arithmetic(to, operator, left, right, site))?
                }
                Step::OperateLoad(operator, site, offset) => {
                    let left = stack.pop()?;
                    let right = self.variable(&plain(offset), ops)?;
                    self.push(ops, |to| Op::Arithmetic(to, operator, left, right, site))?
                }
                Step::OperateConstant(operator, site, value) => {
                    let (left, right) = (stack.pop()?, Operand::Constant(value));
                    self.push(ops, |to| Op::Arithmetic(to, operator, left, right, site))?
                }
                Step::Negate => {
                    let operand = stack.pop()?;
                    self.push(ops, |to| Op::Negate(to, operand))?
                }
                Step::Compare(relation) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    self.push(ops, |to| Op::Compare(to, relation, left, right))?
                }
                Step::CompareConstant(relation, value) => {
                    let (left, right) = (stack.pop()?, Operand::Constant(value));
                    self.push(ops, |to| Op::Compare(to, relation, left, right))?
                }
            };
            stack.push(made);
        }
        stack.pop()
    }

    /// A condition on texts that lie in the rows.
    fn of_texts(&mut self, number: &Number) -> Option<Number> {
        Some(match number {
            Number::CompareText {
                relation,
                left,
                right,
                prefix,
            } => Number::CompareText {
                relation: *relation,
                left: self.text(left)?,
                right: self.text(right)?,
                prefix: *prefix,
            },
            Number::InText(value, items) => Number::InText(self.text(value)?, items.clone()),
            Number::Like {
                value,
                pattern,
                contains,
            } => Number::Like {
                value: self.text(value)?,
                pattern: pattern.clone(),
                contains: *contains,
            },
            Number::Blank(value) => Number::Blank(self.text(value)?),
            _ => return None,
        })
    }

    fn text(&mut self, text: &Text) -> Option<Text> {
        match text {
            Text::Constant(bytes) => Some(Text::Constant(bytes.clone())),
            Text::Variable(slot) => match self.places.place(slot, &mut self.supply)? {
                // A text of another length may compare otherwise.
                Place::Row(place) if place.length == slot.length && place.kind == slot.kind => {
                    Some(Text::Variable(place))
                }
                _ => None,
            },
            Text::Call(function, argument) => {
                Some(Text::Call(*function, Box::new(self.text(argument)?)))
            }
            _ => None,
        }
    }
}

/// The variable and the texts of a condition that it is one of them. Each is made as long as the
/// variable; one that is longer cannot be its value.
fn one_of(condition: &Number) -> Option<(Slot, Vec<Vec<u8>>)> {
    let (slot, texts) = match condition {
        Number::CompareText {
            relation: Relation::Equal,
            left: Text::Variable(slot),
            right: Text::Constant(text),
            prefix: false,
        } => (slot, vec![text.as_slice()]),
        Number::InText(Text::Variable(slot), texts) => {
            (slot, texts.iter().map(Vec::as_slice).collect())
        }
        _ => return None,
    };
    let padded = texts.into_iter().map(trimmed).map(|text| {
        let mut padded = text.to_vec();
        padded.resize((slot.length as usize).max(text.len()), b' ');
        padded
    });
    let fits = |text: &Vec<u8>| text.len() == slot.length as usize;
    Some((*slot, padded.filter(fits).collect()))
}

/// A number as it lies in memory.
const fn plain(offset: u32) -> Slot {
    Slot {
        kind: Kind::Numeric,
        offset,
        length: 8,
        big_endian: false,
    }
}
