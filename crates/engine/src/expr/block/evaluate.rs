//! Carrying out the steps of an expression over the rows of a block.

use sas7bdat::{Rows, missing};

use super::{Active, Op, Operand, ROWS_MAX, Register, Registers};
use crate::expr::code::{compare, operate};
use crate::expr::evaluate::{Events, is_true, order_key};
use crate::expr::function::table::Run;
use crate::expr::general::General;
use crate::expr::{Arithmetic, Relation, Slot};

/// Most arguments of a function whose values need no memory of their own.
const ARGUMENTS_FEW: usize = 8;

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

impl Registers {
    /// Carries out `ops` for the active rows.
    pub fn run(&mut self, ops: &[Op], rows: &Rows<'_>, active: &Active, events: &mut Events) {
        for op in ops {
            self.carry_out(op, rows, active, events);
        }
    }

    fn carry_out(&mut self, op: &Op, rows: &Rows<'_>, active: &Active, events: &mut Events) {
        match op {
            Op::Load(to, slot) => self.load(*to, slot, rows, active),
            Op::Arithmetic(to, operator, left, right, site) => {
                self.arithmetic(*to, *operator, (*left, *right), *site, active, events);
            }
            Op::Compare(to, relation, left, right) => {
                self.compare(*to, *relation, (*left, *right), active);
            }
            Op::Negate(to, operand) => self.make(*to, active, |all, row| {
                let value = all.value(*operand, row);
                if value.is_nan() {
                    missing::encode(0)
                } else {
                    -value
                }
            }),
            Op::Not(to, operand) => self.make(*to, active, |all, row| {
                truth(!is_true(all.value(*operand, row)))
            }),
            Op::Extreme(to, larger, left, right) => self.make(*to, active, |all, row| {
                let (left, right) = (all.value(*left, row), all.value(*right, row));
                if (order_key(left) > order_key(right)) == *larger {
                    left
                } else {
                    right
                }
            }),
            Op::In(to, operand, ranges) => self.make(*to, active, |all, row| {
                let key = order_key(all.value(*operand, row));
                let within =
                    |(low, high): &(f64, f64)| (order_key(*low)..=order_key(*high)).contains(&key);
                truth(ranges.iter().any(within))
            }),
            Op::Decide {
                to,
                and,
                left,
                ops,
                right,
            } => {
                let mut undecided = active.clone();
                undecided.retain(|row| is_true(self.value(*left, row)) == *and);
                self.run(ops, rows, &undecided, events);
                self.make(*to, active, |_, _| truth(!*and));
                self.make(*to, &undecided, |all, row| {
                    truth(is_true(all.value(*right, row)))
                });
            }
            Op::Function(to, function, arguments) => self.make(*to, active, |all, row| {
                function.of(arguments.iter().map(|one| all.value(*one, row)))
            }),
            Op::General(to, call, arguments) => {
                self.general(*to, call, arguments, active, events);
            }
            Op::IsText(to, slot, texts) => self.is_text(*to, slot, texts, rows, active),
            Op::OfTexts(to, condition) => self.make(*to, active, |_, row| {
                condition.value(row_of(rows, row), events)
            }),
            Op::Copy(to, operand) => {
                self.make(*to, active, |all, row| all.value(*operand, row));
            }
        }
    }

    /// Writes a register that `of` does not read.
    #[inline]
    fn make(&mut self, to: Register, active: &Active, mut of: impl FnMut(&Self, usize) -> f64) {
        let mut column = std::mem::take(&mut self.columns[usize::from(to.0)]);
        let made: &mut [f64; ROWS_MAX] = column.first_chunk_mut().expect("as long as all are");
        for row in active.rows() {
            made[usize::from(*row)] = of(self, usize::from(*row));
        }
        self.columns[usize::from(to.0)] = column;
    }

    /// `make` of two operands, whose kinds are looked at once.
    #[inline]
    fn binary(
        &mut self,
        to: Register,
        operands: (Operand, Operand),
        active: &Active,
        mut of: impl FnMut(f64, f64) -> f64,
    ) {
        match operands {
            (Operand::Register(left), Operand::Register(right)) => {
                self.make(to, active, |all, row| {
                    of(all.column(left)[row], all.column(right)[row])
                });
            }
            (Operand::Register(left), Operand::Constant(right)) => {
                self.make(to, active, |all, row| of(all.column(left)[row], right));
            }
            (Operand::Constant(left), Operand::Register(right)) => {
                self.make(to, active, |all, row| of(left, all.column(right)[row]));
            }
            (Operand::Constant(left), Operand::Constant(right)) => {
                self.make(to, active, |_, _| of(left, right));
            }
        }
    }

    fn load(&mut self, to: Register, slot: &Slot, rows: &Rows<'_>, active: &Active) {
        let (bytes, row_bytes) = (rows.bytes, rows.row_bytes);
        if !slot.is_plain() {
            self.make(to, active, |_, row| slot.number(row_of(rows, row)));
            return;
        }
        // What lies before the variable in the first row is left out for good.
        let bytes = bytes.get(slot.offset as usize..).unwrap_or(&[]);
        self.make(to, active, |_, row| {
            let value = bytes.get(row * row_bytes..).and_then(<[u8]>::first_chunk);
            value.map_or(0.0, |value| f64::from_le_bytes(*value))
        });
    }

    fn is_text(
        &mut self,
        to: Register,
        slot: &Slot,
        texts: &[Vec<u8>],
        rows: &Rows<'_>,
        active: &Active,
    ) {
        if slot.length > 8 {
            self.make(to, active, |_, row| {
                let text = slot.bytes(row_of(rows, row));
                truth(texts.iter().any(|one| one == text))
            });
            return;
        }
        // Eight bytes are read where there are as many, and those behind the text blanked out.
        let mask = u64::MAX >> (64 - 8 * slot.length.max(1));
        let word = |text: &[u8]| {
            let mut all = [0; 8];
            all[..text.len()].copy_from_slice(text);
            u64::from_le_bytes(all)
        };
        let words: Vec<u64> = texts.iter().map(|text| word(text)).collect();
        let bytes = rows.bytes.get(slot.offset as usize..).unwrap_or(&[]);
        let value = |row: usize| {
            let here = bytes.get(row * rows.row_bytes..).unwrap_or(&[]);
            match here.first_chunk() {
                Some(all) => u64::from_le_bytes(*all) & mask,
                None => word(&here[..here.len().min(slot.length as usize)]),
            }
        };
        match words.as_slice() {
            [one] => self.make(to, active, |_, row| truth(value(row) == *one)),
            words => self.make(to, active, |_, row| truth(words.contains(&value(row)))),
        }
    }

    fn arithmetic(
        &mut self,
        to: Register,
        operator: Arithmetic,
        operands: (Operand, Operand),
        site: u32,
        active: &Active,
        events: &mut Events,
    ) {
        // One loop for each operator, chosen here.
        macro_rules! of {
            ($operator:ident) => {
                self.binary(to, operands, active, |left, right| {
                    operate(Arithmetic::$operator, left, right, site, events)
                })
            };
        }
        match operator {
            Arithmetic::Add => of!(Add),
            Arithmetic::Subtract => of!(Subtract),
            Arithmetic::Multiply => of!(Multiply),
            Arithmetic::Divide => of!(Divide),
            Arithmetic::Power => of!(Power),
        }
    }

    fn compare(
        &mut self,
        to: Register,
        relation: Relation,
        operands: (Operand, Operand),
        active: &Active,
    ) {
        macro_rules! of {
            ($relation:ident) => {
                self.binary(to, operands, active, |left, right| {
                    compare(Relation::$relation, left, right)
                })
            };
        }
        match relation {
            Relation::Equal => of!(Equal),
            Relation::NotEqual => of!(NotEqual),
            Relation::Less => of!(Less),
            Relation::LessOrEqual => of!(LessOrEqual),
            Relation::Greater => of!(Greater),
            Relation::GreaterOrEqual => of!(GreaterOrEqual),
        }
    }

    fn general(
        &mut self,
        to: Register,
        call: &General,
        arguments: &[Operand],
        active: &Active,
        events: &mut Events,
    ) {
        let Run::Numbers(run) = &call.entry.run else {
            unreachable!("only functions of numbers are compiled to this step");
        };
        let mut few = [0.0; ARGUMENTS_FEW];
        let mut many = vec![0.0; arguments.len()];
        let values = if arguments.len() <= few.len() {
            &mut few[..arguments.len()]
        } else {
            &mut many[..]
        };
        self.make(to, active, |all, row| {
            for (value, argument) in values.iter_mut().zip(arguments) {
                *value = all.value(*argument, row);
            }
            call.of(*run, values, events)
        });
    }
}

fn row_of<'a>(rows: &Rows<'a>, row: usize) -> &'a [u8] {
    let start = row * rows.row_bytes;
    rows.bytes.get(start..start + rows.row_bytes).unwrap_or(&[])
}
