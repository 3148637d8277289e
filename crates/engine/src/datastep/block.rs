//! Steps whose rows do not depend on each other, but for sums, a block of rows at a time: SET of one
//! data set, then numeric assignments, sums, conditions and output; before SET the first iteration may do
//! what it will. A block in which anything else
//! happens (an error, a branch that does something else) leaves no trace; its rows are taken one by
//! one instead.

mod compile;

use sas7bdat::{Rows, missing};

use super::run::Writing;
use crate::dataset::copy::{RowCopy, store_number};
use crate::expr::Slot;
use crate::expr::block::{Active, Condition, Op, Operand, ROWS_MAX, Register, Registers};
use crate::expr::evaluate::{Events, is_true};
use crate::failure::Outcome;

/// Fewer rows than these are not worth a block.
const ROWS_LEAST: usize = 8;
/// How many blocks more may leave no trace than go through before no others are tried.
const IN_VAIN_MAX: u64 = 16;

/// The operations of a step, for all rows of a block at once.
pub(super) struct BlockProgram {
    /// The source that gives the rows.
    pub(super) source: usize,
    /// The first iteration does more than the others, which the blocks leave out.
    pub(super) begins: bool,
    /// Variables that no row holds: from the PDV.
    fixed: Vec<(Register, Slot)>,
    /// Variables of the rows that operations change.
    loads: Vec<Op>,
    /// Variables that are missing at the top of the step.
    cleared: Vec<Register>,
    /// `_N_`
    counter: Option<Register>,
    stages: Vec<Stage>,
    /// By data set to be made.
    ways: Vec<Way>,
    /// What goes into the PDV in the end: as after the last row.
    kept: Vec<(Register, Slot)>,
    registers: Registers,
    events: Events,
    /// Rows that were output, and to which data set.
    output: Vec<(u8, usize)>,
    /// The row that was written last.
    row: u8,
    /// Blocks that went through, and that left no trace.
    through: u64,
    in_vain: u64,
}

/// What is done with the active rows.
enum Stage {
    /// Evaluates.
    Compute(Vec<Op>),
    /// `x + value;` from what the PDV has on. Unless the sums of all rows are wanted, only the last one
    /// is made.
    Sum {
        register: Register,
        slot: Slot,
        value: Operand,
        all: bool,
    },
    /// `if …;`
    Subset(Condition),
    /// `if … then … else …`; its operations evaluate the condition.
    If {
        ops: Vec<Op>,
        condition: Operand,
        then: Vec<Self>,
        otherwise: Vec<Self>,
    },
    /// Rows go no further.
    Delete,
    /// Writes to these data sets.
    Output(Vec<usize>),
    /// No block goes through in which a row comes here.
    OneByOne,
}

/// The way of variables into the rows of a data set that is made.
struct Way {
    /// From the rows.
    read: RowCopy,
    /// From the PDV.
    fixed: RowCopy,
    computed: Vec<(Register, Slot)>,
}

/// A block at work.
struct Block<'a> {
    rows: &'a Rows<'a>,
    /// The PDV before the block.
    pdv: &'a [u8],
    registers: &'a mut Registers,
    events: &'a mut Events,
    output: &'a mut Vec<(u8, usize)>,
}

impl BlockProgram {
    /// Whether to try a block of so many rows.
    pub(super) const fn pays(&self, rows: usize) -> bool {
        rows >= ROWS_LEAST && self.in_vain <= self.through + IN_VAIN_MAX
    }

    /// Runs all operations for the active rows, the first of which is the iteration `iteration`; false
    /// if the block left no trace. What it counted is added to `counts`, by site.
    pub(super) fn run(
        &mut self,
        rows: &Rows<'_>,
        active: &Active,
        pdv: &[u8],
        writers: &mut [Writing],
        counts: &mut [u64],
        iteration: u64,
    ) -> Outcome<bool> {
        self.output.clear();
        self.events.alarm = false;
        self.events.raised.clear();
        self.events.counts.clear();
        self.events.counts.resize(counts.len(), 0);
        self.begin(rows, active, pdv, iteration);
        let mut block = Block {
            rows,
            pdv,
            registers: &mut self.registers,
            events: &mut self.events,
            output: &mut self.output,
        };
        if !block.stages(&self.stages, &mut active.clone()) {
            self.in_vain += 1;
            return Ok(false);
        }
        self.through += 1;
        self.write(rows, pdv, writers)?;
        for (count, more) in counts.iter_mut().zip(&self.events.counts) {
            *count += more;
        }
        Ok(true)
    }

    fn begin(&mut self, rows: &Rows<'_>, active: &Active, pdv: &[u8], iteration: u64) {
        let registers = &mut self.registers;
        for (register, slot) in &self.fixed {
            registers.column_mut(*register).fill(slot.number(pdv));
        }
        for register in &self.cleared {
            registers.column_mut(*register).fill(missing::encode(0));
        }
        if let Some(register) = self.counter {
            let column = registers.column_mut(register);
            for (row, number) in active.rows().iter().zip(iteration..) {
                column[usize::from(*row)] = number as f64;
            }
        }
        registers.run(&self.loads, rows, active, &mut self.events);
    }

    /// Writes the rows that were output, in their order.
    fn write(&mut self, rows: &Rows<'_>, pdv: &[u8], writers: &mut [Writing]) -> Outcome<()> {
        self.output.sort_by_key(|(row, _)| *row);
        for (row, target) in &self.output {
            self.row = *row;
            let (row, way) = (usize::from(*row), &self.ways[*target]);
            let start = row * rows.row_bytes;
            let read = rows.bytes.get(start..start + rows.row_bytes);
            writers[*target].output.write_row_with(|written| {
                way.read.apply(read.unwrap_or(&[]), written);
                way.fixed.apply(pdv, written);
                for (register, slot) in &way.computed {
                    store_number(slot, written, self.registers.column(*register)[row]);
                }
            })?;
        }
        Ok(())
    }

    /// The row that was written last.
    pub(super) const fn row(&self) -> u8 {
        self.row
    }

    /// Makes the PDV, which has the variables of the last row, what it is after that row.
    pub(super) fn keep(&self, last: u8, pdv: &mut [u8]) {
        for (register, slot) in &self.kept {
            store_number(
                slot,
                pdv,
                self.registers.column(*register)[usize::from(last)],
            );
        }
    }
}

impl Block<'_> {
    /// False if the rows are to be taken one by one.
    fn stages(&mut self, stages: &[Stage], active: &mut Active) -> bool {
        for stage in stages {
            if active.rows().is_empty() {
                break;
            }
            if !self.stage(stage, active) || self.events.alarm {
                return false;
            }
        }
        true
    }

    fn stage(&mut self, stage: &Stage, active: &mut Active) -> bool {
        match stage {
            Stage::Compute(ops) => self.registers.run(ops, self.rows, active, self.events),
            Stage::Sum {
                register,
                slot,
                value,
                all: true,
            } => self.sums(*register, slot, *value, active),
            Stage::Sum {
                register,
                slot,
                value,
                all: false,
            } => {
                let mut sum = slot.number(self.pdv);
                for row in active.rows() {
                    sum = plain(sum) + plain(self.registers.value(*value, usize::from(*row)));
                }
                self.registers.column_mut(*register).fill(sum);
            }
            Stage::Subset(condition) => {
                condition.select(self.rows, active, self.registers, self.events);
            }
            Stage::If {
                ops,
                condition,
                then,
                otherwise,
            } => {
                self.registers.run(ops, self.rows, active, self.events);
                if self.events.alarm {
                    return false;
                }
                let (mut those, mut others) = (active.clone(), active.clone());
                those.retain(|row| is_true(self.registers.value(*condition, row)));
                others.retain(|row| !is_true(self.registers.value(*condition, row)));
                if !self.stages(then, &mut those) || !self.stages(otherwise, &mut others) {
                    return false;
                }
                active.retain_those_of(&[&those, &others]);
            }
            Stage::Delete => active.truncate(0),
            Stage::Output(targets) => {
                for row in active.rows() {
                    self.output
                        .extend(targets.iter().map(|target| (*row, *target)));
                }
            }
            Stage::OneByOne => return false,
        }
        true
    }

    /// Row after row, since what is added to is rounded each time. Rows in between that are not
    /// active see the sum as it is then.
    fn sums(&mut self, register: Register, slot: &Slot, value: Operand, active: &Active) {
        let mut sum = slot.number(self.pdv);
        let (mut sums, mut at) = ([0.0; ROWS_MAX], 0);
        for row in active.rows() {
            let row = usize::from(*row);
            sums[at..row].fill(sum);
            sum = plain(sum) + plain(self.registers.value(value, row));
            sums[row] = sum;
            at = row + 1;
        }
        sums[at..].fill(sum);
        *self.registers.column_mut(register) = sums;
    }
}

/// What a value adds to a sum.
#[inline]
fn plain(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}
