//! Expressions over many rows at once: each operator goes over all rows of a block before the next
//! one does, so that what is to be done is decided once per block and not once per row. Values, and
//! what is counted, are those of [`Number::value`](super::Number::value) row by row; only the order in
//! which rows meet something unusual differs, so whoever has to tell of it goes row by row instead.

mod compile;
mod evaluate;

pub use compile::{Compiler, InRows, Place, Places, Supply};

use sas7bdat::Rows;

use super::evaluate::{Events, is_true};
use super::function::OfNumbers;
use super::general::General;
use super::{Arithmetic, Number, Relation, Slot};

/// Most rows of a block: few enough that the registers of an expression stay in a core's own cache.
pub const ROWS_MAX: usize = 256;

/// Which register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register(u16);

/// Registers: each holds a value of every row of a block. A step changes only those of active rows.
#[derive(Debug)]
pub struct Registers {
    /// Of `ROWS_MAX` values each; the one that is being written is taken out meanwhile.
    columns: Vec<Vec<f64>>,
}

impl Registers {
    /// So many.
    pub fn new(count: u16) -> Self {
        Self {
            columns: vec![vec![0.0; ROWS_MAX]; usize::from(count)],
        }
    }

    /// The values of a register.
    #[inline]
    pub fn column(&self, register: Register) -> &[f64; ROWS_MAX] {
        let column = self.columns[usize::from(register.0)].first_chunk();
        column.expect("no step reads the register that it writes")
    }

    /// The values of a register, to change them.
    #[inline]
    pub fn column_mut(&mut self, register: Register) -> &mut [f64; ROWS_MAX] {
        let column = self.columns[usize::from(register.0)].first_chunk_mut();
        column.expect("a register is taken out only while a step writes it")
    }

    /// The value of one row.
    #[inline]
    pub fn value(&self, operand: Operand, row: usize) -> f64 {
        match operand {
            Operand::Register(register) => self.column(register)[row],
            Operand::Constant(value) => value,
        }
    }
}

/// Rows of a block that are looked at, ascending.
#[derive(Debug, Clone)]
pub struct Active {
    rows: [u8; ROWS_MAX],
    count: usize,
}

impl Active {
    /// The first `count` rows.
    pub fn all(count: usize) -> Self {
        let mut rows = [0; ROWS_MAX];
        for (place, row) in rows.iter_mut().zip(0u8..=u8::MAX) {
            *place = row;
        }
        Self {
            rows,
            count: count.min(ROWS_MAX),
        }
    }

    /// These rows.
    pub fn of(picked: &[u8]) -> Self {
        let mut rows = [0; ROWS_MAX];
        let count = picked.len().min(ROWS_MAX);
        rows[..count].copy_from_slice(&picked[..count]);
        Self { rows, count }
    }

    /// The rows.
    #[inline]
    pub fn rows(&self) -> &[u8] {
        &self.rows[..self.count.min(ROWS_MAX)]
    }

    /// Counts rows from the one at `start` on: none is before it.
    pub fn shift(&mut self, start: usize) {
        let start = u8::try_from(start).unwrap_or(u8::MAX);
        for row in &mut self.rows[..self.count.min(ROWS_MAX)] {
            *row = row.saturating_sub(start);
        }
    }

    /// Keeps the first `count` rows.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// Keeps some rows.
    #[inline]
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.count.min(ROWS_MAX) {
            let row = self.rows[at];
            // Always written, which costs less than to foretell whether it is kept.
            self.rows[kept] = row;
            kept += usize::from(keep(usize::from(row)));
        }
        self.count = kept;
    }
}

/// Where an operator finds a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// In a register.
    Register(Register),
    /// The same for all rows.
    Constant(f64),
}

/// A step; the first register is where its result goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A numeric variable of the rows.
    Load(Register, Slot),
    /// Arithmetic; the site counts missing values.
    Arithmetic(Register, Arithmetic, Operand, Operand, u32),
    /// 1 or 0.
    Compare(Register, Relation, Operand, Operand),
    /// `-x`
    Negate(Register, Operand),
    /// 1 or 0.
    Not(Register, Operand),
    /// The larger, or the smaller, of two.
    Extreme(Register, bool, Operand, Operand),
    /// Whether a value lies in one of these ranges.
    In(Register, Operand, Vec<(f64, f64)>),
    /// The right side of `left and right`, or of `left or right`, of the rows that it decides.
    Decide {
        /// Where 1 or 0 goes.
        to: Register,
        /// True for AND.
        and: bool,
        /// The left side.
        left: Operand,
        /// What the right side takes.
        ops: Vec<Self>,
        /// The right side.
        right: Operand,
    },
    /// A function of numbers.
    Function(Register, OfNumbers, Vec<Operand>),
    /// A function of numbers of the table.
    General(Register, Box<General>, Vec<Operand>),
    /// Whether a text variable is one of these texts, which are as long as it is.
    IsText(Register, Slot, Vec<Vec<u8>>),
    /// Any other condition on texts.
    OfTexts(Register, Box<Number>),
    /// A value as it is.
    Copy(Register, Operand),
}

/// A numeric expression as steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// What is done, in this order.
    pub ops: Vec<Op>,
    /// Where the value is then.
    pub value: Operand,
}

/// A condition: all of its parts hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    parts: Vec<Vector>,
}

impl Condition {
    /// Keeps the rows that meet the condition.
    pub fn select(
        &self,
        rows: &Rows<'_>,
        active: &mut Active,
        registers: &mut Registers,
        events: &mut Events,
    ) {
        for part in &self.parts {
            registers.run(&part.ops, rows, active, events);
            match part.value {
                Operand::Register(register) => {
                    let column = registers.column(register);
                    active.retain(|row| is_true(column[row]));
                }
                Operand::Constant(value) if is_true(value) => {}
                Operand::Constant(_) => active.count = 0,
            }
        }
    }
}

impl Vector {
    /// Puts the value into a register.
    #[must_use]
    pub fn into_register(mut self, to: Register) -> Vec<Op> {
        let here = Operand::Register(to);
        match self.ops.last_mut() {
            // The last step makes the value for nobody else.
            Some(Op::Arithmetic(last, _, left, right, _))
                if self.value == Operand::Register(*last) && *left != here && *right != here =>
            {
                *last = to;
            }
            _ if self.value == here => {}
            _ => self.ops.push(Op::Copy(to, self.value)),
        }
        self.ops
    }
}

impl Active {
    /// Keeps the rows that are active in one of `others`.
    pub fn retain_those_of(&mut self, others: &[&Self]) {
        let mut kept = [false; ROWS_MAX];
        for row in others.iter().flat_map(|other| other.rows()) {
            kept[usize::from(*row)] = true;
        }
        self.retain(|row| kept[row]);
    }
}
