//! From the operations of a step to stages over blocks, if the step is one that goes by blocks.

use std::collections::{HashMap, HashSet};

use sas7bdat::Kind;

use super::{BlockProgram, Stage, Way};
use crate::dataset::copy::RowCopy;
use crate::datastep::pdv::Pdv;
use crate::datastep::program::Operation;
use crate::datastep::run::Writing;
use crate::datastep::source::Source;
use crate::expr::block::{Compiler, Op, Place, Places, Register, Supply, Vector};
use crate::expr::evaluate::Events;
use crate::expr::{Number, Relation, Slot};

/// Where the step's variables are, by their place in the PDV.
struct Variables {
    /// In the rows that are read.
    read: HashMap<u32, Slot>,
    /// Registers of what operations change.
    changed: HashMap<u32, (Slot, Register)>,
    /// Sums to which no operation before has added.
    unmade: Vec<Register>,
    /// What expressions or data sets take from registers of `changed`.
    wanted: HashSet<Register>,
    /// Registers of what nothing changes.
    fixed: Vec<(Register, Slot)>,
    /// `_N_`, and its register once it is asked for.
    counter: (u32, Option<Register>),
}

impl Places for Variables {
    fn place(&mut self, slot: &Slot, supply: &mut Supply) -> Option<Place> {
        let offset = slot.offset;
        if let Some((_, register)) = self.changed.get(&offset) {
            // Before its turn, a sum has the value of the row before.
            let made = !self.unmade.contains(register);
            self.wanted.insert(*register);
            return made.then_some(Place::Register(*register));
        }
        if let Some(place) = self.read.get(&offset) {
            return Some(Place::Row(*place));
        }
        if slot.kind == Kind::Character {
            return None;
        }
        if offset == self.counter.0 {
            let register = match self.counter.1 {
                Some(register) => register,
                None => supply.take()?,
            };
            self.counter.1 = Some(register);
            return Some(Place::Register(register));
        }
        let known = self.fixed.iter().find(|(_, known)| known == slot);
        let register = match known {
            Some((register, _)) => *register,
            None => {
                let register = supply.take()?;
                self.fixed.push((register, *slot));
                register
            }
        };
        Some(Place::Register(register))
    }
}

/// A step being compiled.
struct Builder {
    compiler: Compiler<Variables>,
    /// Variables of the rows that operations change.
    loads: Vec<Op>,
    /// Variables that are missing at the top of the step.
    cleared: Vec<Register>,
    /// Rows were output. They are written at the end of the block, so nothing behind may change them.
    written: bool,
}

impl BlockProgram {
    /// `None` if the step does not go by blocks.
    pub(in crate::datastep) fn compile(
        operations: &[Operation],
        pdv: &Pdv,
        sources: &[Source],
        writers: &[Writing],
        implicit_output: bool,
        counter: &Slot,
    ) -> Option<Self> {
        let (begins, every) = after_the_first(operations, counter);
        let Some((Operation::Read(source), rest)) = every.split_first() else {
            return None;
        };
        if sources.len() > 1 && !begins {
            return None;
        }
        let read = sources
            .get(*source)?
            .places()?
            .map(|(from, to)| (to.offset, from));
        if writers.iter().any(|writer| writer.condition.is_some()) {
            return None;
        }
        let mut builder = Builder {
            compiler: Compiler::new(Variables {
                read: read.collect(),
                changed: HashMap::new(),
                unmade: Vec::new(),
                wanted: HashSet::new(),
                fixed: Vec::new(),
                counter: (counter.offset, None),
            }),
            loads: Vec::new(),
            cleared: Vec::new(),
            written: false,
        };
        builder.changes(rest, pdv)?;
        let mut stages = builder.stages(rest, false)?;
        if implicit_output {
            stages.push(Stage::Output((0..writers.len()).collect()));
        }
        let ways: Vec<Way> = writers
            .iter()
            .map(|writer| builder.way(&writer.pairs))
            .collect();
        let written = ways
            .iter()
            .flat_map(|way| &way.computed)
            .map(|(register, _)| *register);
        builder.compiler.places.wanted.extend(written);
        make_what_is_wanted(&mut stages, &builder.compiler.places.wanted);
        let Compiler { places, supply, .. } = builder.compiler;
        Some(Self {
            source: *source,
            begins,
            fixed: places.fixed,
            loads: builder.loads,
            cleared: builder.cleared,
            counter: places.counter.1,
            stages,
            ways,
            kept: places
                .changed
                .values()
                .map(|(slot, register)| (*register, *slot))
                .collect(),
            registers: supply.registers(),
            events: Events::default(),
            output: Vec::new(),
            row: 0,
            through: 0,
            in_vain: 0,
        })
    }
}

/// What every iteration does: whether the first one does more (`if _n_ = 1 then …;` at the top, mostly a
/// SET of a data set with one row), and the operations behind that.
fn after_the_first<'a>(operations: &'a [Operation], counter: &Slot) -> (bool, &'a [Operation]) {
    let variable = Box::new(Number::Variable(*counter));
    let one = Box::new(Number::Constant(1.0));
    let is_first = Number::Compare(Relation::Equal, variable, one).lowered();
    let begins = |operation: &&Operation| {
        matches!(operation, Operation::If(condition, _, otherwise)
            if *condition == is_first && otherwise.is_empty())
    };
    let count = operations.iter().take_while(begins).count();
    (count > 0, &operations[count..])
}

impl Builder {
    /// Gives what operations change its registers.
    fn changes(&mut self, operations: &[Operation], pdv: &Pdv) -> Option<()> {
        for operation in operations {
            match operation {
                Operation::Number(slot, _) => self.change(slot, false, pdv)?,
                Operation::Sum(slot, _) => self.change(slot, true, pdv)?,
                Operation::If(_, then, otherwise) => {
                    self.changes(then, pdv)?;
                    self.changes(otherwise, pdv)?;
                }
                Operation::Select(cases, otherwise) => {
                    for (_, body) in cases {
                        self.changes(body, pdv)?;
                    }
                    self.changes(otherwise, pdv)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn change(&mut self, slot: &Slot, sum: bool, pdv: &Pdv) -> Option<()> {
        let Compiler { places, supply, .. } = &mut self.compiler;
        let known = places.changed.get(&slot.offset).map(|(_, known)| *known);
        if let Some(register) = known {
            // Two operations that add to a sum would take turns row by row.
            return (!sum && !places.unmade.contains(&register)).then_some(());
        }
        let variable = pdv.variables.iter().find(|one| one.slot == *slot)?;
        let register = supply.take()?;
        match places.read.get(&slot.offset) {
            Some(place) if !sum => self.loads.push(Op::Load(register, *place)),
            None if sum && variable.kept_over => {
                places.unmade.push(register);
                // What it is where no row of the block is added.
                places.fixed.push((register, *slot));
            }
            None if !sum && !variable.kept_over => self.cleared.push(register),
            _ => return None,
        }
        places.changed.insert(slot.offset, (*slot, register));
        Some(())
    }

    /// In a branch, what does not go by blocks is left to rows.
    fn stages(&mut self, operations: &[Operation], branch: bool) -> Option<Vec<Stage>> {
        let mut stages = Vec::new();
        for operation in operations {
            match self.stage(operation, &mut stages) {
                Some(()) => {}
                None if branch => stages.push(Stage::OneByOne),
                None => return None,
            }
        }
        Some(stages)
    }

    fn stage(&mut self, operation: &Operation, stages: &mut Vec<Stage>) -> Option<()> {
        match operation {
            Operation::Number(..) | Operation::Sum(..) if self.written => return None,
            Operation::Number(slot, number) => {
                let vector = self.compiler.vector(number)?;
                let (_, register) = *self.compiler.places.changed.get(&slot.offset)?;
                stages.push(Stage::Compute(vector.into_register(register)));
            }
            Operation::Sum(slot, number) => {
                let Vector { ops, value } = self.compiler.vector(number)?;
                stages.push(Stage::Compute(ops));
                let places = &mut self.compiler.places;
                let (_, register) = *places.changed.get(&slot.offset)?;
                stages.push(Stage::Sum {
                    register,
                    slot: *slot,
                    value,
                    all: true,
                });
                places.unmade.retain(|unmade| *unmade != register);
            }
            Operation::Subset(condition) => {
                let condition = self.compiler.condition(condition)?;
                stages.push(Stage::Subset(condition));
            }
            Operation::If(condition, then, otherwise) => {
                let one = self.branch(condition, then, |inner| inner.stages(otherwise, true))?;
                stages.push(one);
            }
            Operation::Select(cases, otherwise) => stages.extend(self.select(cases, otherwise)?),
            Operation::Delete => stages.push(Stage::Delete),
            Operation::Output(targets) => {
                self.written = true;
                stages.push(Stage::Output(targets.clone()));
            }
            _ => return None,
        }
        Some(())
    }

    fn branch(
        &mut self,
        condition: &Number,
        then: &[Operation],
        otherwise: impl FnOnce(&mut Self) -> Option<Vec<Stage>>,
    ) -> Option<Stage> {
        let Vector { ops, value } = self.compiler.vector(condition)?;
        let known = self.compiler.known();
        let then = self.stages(then, true)?;
        self.compiler.forget(known);
        let otherwise = otherwise(self)?;
        self.compiler.forget(known);
        Some(Stage::If {
            ops,
            condition: value,
            then,
            otherwise,
        })
    }

    fn select(
        &mut self,
        cases: &[(Number, Vec<Operation>)],
        otherwise: &[Operation],
    ) -> Option<Vec<Stage>> {
        let Some(((condition, body), more)) = cases.split_first() else {
            return self.stages(otherwise, true);
        };
        let one = self.branch(condition, body, |inner| inner.select(more, otherwise))?;
        Some(vec![one])
    }

    /// The way from the PDV's variables into the rows of a data set.
    fn way(&self, pairs: &[(Slot, Slot)]) -> Way {
        let places = &self.compiler.places;
        let (mut read, mut fixed, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for (from, to) in pairs {
            if let Some((_, register)) = places.changed.get(&from.offset) {
                computed.push((*register, *to));
            } else if let Some(place) = places.read.get(&from.offset) {
                read.push((*place, *to));
            } else {
                fixed.push((*from, *to));
            }
        }
        Way {
            read: RowCopy::new(&read),
            fixed: RowCopy::new(&fixed),
            computed,
        }
    }
}

/// Of sums that nothing takes, only the last is made.
fn make_what_is_wanted(stages: &mut [Stage], wanted: &HashSet<Register>) {
    for stage in stages {
        match stage {
            Stage::Sum { register, all, .. } => *all = wanted.contains(register),
            Stage::If {
                then, otherwise, ..
            } => {
                make_what_is_wanted(then, wanted);
                make_what_is_wanted(otherwise, wanted);
            }
            _ => {}
        }
    }
}
