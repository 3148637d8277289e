//! Running a compiled step.

use sas7bdat::{Kind, missing};

use super::compile::{Loop, Operation, Program, Range, Set};
use super::target::Target;
use crate::dataset::copy::{RowCopy, store_number, store_text};
use crate::dataset::output::Output;
use crate::expr::compile::{Site, Sites};
use crate::expr::evaluate::{Events, is_true, order_key};
use crate::expr::{Number, Slot};
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// What happens after an operation.
enum Flow {
    /// The next one.
    On,
    /// Top of the step, no output.
    Top,
    /// Top of the step after the implicit output.
    Bottom,
    /// Out of the innermost loop.
    Leave,
    /// On with the innermost loop's next turn.
    Continue,
    /// The end.
    Stop,
}

/// How the iterations of a step ended.
enum Ended {
    /// At the end of the input, by STOP, or after the one iteration of a step that reads nothing.
    Regularly,
    /// An iteration read nothing though the step has a SET: the next ones would not either.
    Looping,
}

struct Running {
    row: Vec<u8>,
    events: Events,
    sets: Vec<Cursor>,
    writers: Vec<Writing>,
    /// A SET was executed in this iteration.
    read: bool,
}

/// Where a SET statement stands.
struct Cursor {
    set: Set,
    current: usize,
    /// END=: the row after the current one, read ahead.
    ahead: Option<(usize, Vec<u8>)>,
    primed: bool,
}

struct Writing {
    output: Output,
    copy: RowCopy,
    buffer: Vec<u8>,
}

/// Runs a step to its end; on failure the data sets it was to make stay as they were.
pub(super) fn run(program: Program, world: &mut World) -> Outcome<()> {
    let Program {
        pdv,
        operations,
        sets,
        targets,
        sites,
        implicit_output,
        counter,
    } = program;
    for diagnostic in &sites.diagnostics {
        world.log.diagnostic(diagnostic);
    }
    let reset: Vec<Slot> = pdv
        .variables
        .iter()
        .filter(|v| !v.kept_over)
        .map(|v| v.slot)
        .collect();
    let mut running = Running {
        row: pdv.row(),
        events: Events {
            counts: vec![0; sites.counted.len()],
            surroundings: world.surroundings(sites.reads_macros),
        },
        sets: sets
            .into_iter()
            .map(|set| Cursor {
                set,
                current: 0,
                ahead: None,
                primed: false,
            })
            .collect(),
        writers: Vec::new(),
        read: false,
    };
    for variable in pdv
        .variables
        .iter()
        .filter(|v| v.automatic || is_accumulator(&operations, v.slot))
    {
        store_number(&variable.slot, &mut running.row, 0.0);
    }
    let outcome = open_targets(targets, world, &mut running.writers)
        .and_then(|()| iterate(&mut running, &operations, &reset, implicit_output, counter));
    let requests = std::mem::take(&mut running.events.surroundings.requests);
    requests.settle(world);
    match outcome {
        Ok(Ended::Looping) => world.note("DATA STEP stopped due to looping."),
        Ok(Ended::Regularly) => {}
        Err(failure) => {
            for writing in running.writers {
                writing.output.discard(world);
            }
            return Err(failure);
        }
    }
    tell_conversions(world, &sites);
    tell_events(world, &sites, &running.events);
    for cursor in running.sets {
        for (input, _) in cursor.set.inputs {
            input.finish(world)?;
        }
    }
    for writing in running.writers {
        writing.output.finish(world)?;
    }
    Ok(())
}

fn is_accumulator(operations: &[Operation], slot: Slot) -> bool {
    operations.iter().any(|operation| match operation {
        Operation::Sum(target, _) => *target == slot,
        Operation::If(_, then, otherwise) => {
            is_accumulator(then, slot) || is_accumulator(otherwise, slot)
        }
        Operation::Loop(looping) => is_accumulator(&looping.body, slot),
        _ => false,
    })
}

fn open_targets(
    targets: Vec<Target>,
    world: &mut World,
    writers: &mut Vec<Writing>,
) -> Outcome<()> {
    for target in targets {
        let output = Output::create(world, target.member, &target.variables, target.plan)?;
        let layout = output.layout();
        let places = target
            .variables
            .iter()
            .zip(&layout.offsets)
            .map(|(variable, offset)| Slot {
                kind: variable.kind,
                offset: *offset,
                length: variable.length,
                big_endian: false,
            });
        let pairs: Vec<(Slot, Slot)> = target.slots.iter().copied().zip(places).collect();
        let buffer = vec![0; layout.row_bytes as usize];
        writers.push(Writing {
            output,
            copy: RowCopy::new(&pairs),
            buffer,
        });
    }
    Ok(())
}

fn iterate(
    running: &mut Running,
    operations: &[Operation],
    reset: &[Slot],
    implicit_output: bool,
    counter: Slot,
) -> Outcome<Ended> {
    let reads = !running.sets.is_empty();
    for cursor in &running.sets {
        if let Some((slot, rows)) = &cursor.set.nobs {
            store_number(slot, &mut running.row, *rows as f64);
        }
    }
    let mut iteration = 0u64;
    loop {
        iteration += 1;
        store_number(&counter, &mut running.row, iteration as f64);
        set_missing(reset, &mut running.row);
        running.read = false;
        match running.block(operations)? {
            Flow::Stop => return Ok(Ended::Regularly),
            Flow::Top => {}
            Flow::On | Flow::Bottom | Flow::Leave | Flow::Continue => {
                if implicit_output {
                    running.output_all()?;
                }
            }
        }
        if !reads {
            return Ok(Ended::Regularly);
        }
        if !running.read {
            return Ok(Ended::Looping);
        }
    }
}

fn set_missing(slots: &[Slot], row: &mut [u8]) {
    for slot in slots {
        match slot.kind {
            Kind::Numeric => store_number(slot, row, missing::encode(0)),
            Kind::Character => store_text(slot, row, b""),
        }
    }
}

impl Running {
    fn block(&mut self, operations: &[Operation]) -> Outcome<Flow> {
        for operation in operations {
            match self.operation(operation)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn operation(&mut self, operation: &Operation) -> Outcome<Flow> {
        match operation {
            Operation::Set(index) => {
                self.read = true;
                if !self.sets[*index].next_row(&mut self.row)? {
                    return Ok(Flow::Stop);
                }
            }
            Operation::Number(slot, number) => {
                let value = number.value(&self.row, &mut self.events);
                store_number(slot, &mut self.row, value);
            }
            Operation::Text(slot, text) => {
                let value = text.value(&self.row, &mut self.events).into_owned();
                store_text(slot, &mut self.row, &value);
            }
            Operation::Call(routine) => routine.run(&mut self.row, &mut self.events),
            Operation::Sum(slot, number) => {
                let value = number.value(&self.row, &mut self.events);
                let so_far = slot.number(&self.row);
                let plain = |x: f64| if x.is_nan() { 0.0 } else { x };
                store_number(slot, &mut self.row, plain(so_far) + plain(value));
            }
            Operation::If(condition, then, otherwise) => {
                let holds = is_true(condition.value(&self.row, &mut self.events));
                return self.block(if holds { then } else { otherwise });
            }
            Operation::Subset(condition) => {
                if !is_true(condition.value(&self.row, &mut self.events)) {
                    return Ok(Flow::Top);
                }
            }
            Operation::Output(targets) => {
                for target in targets {
                    write(&mut self.writers[*target], &self.row)?;
                }
            }
            Operation::Loop(looping) => return self.do_loop(looping),
            Operation::Leave => return Ok(Flow::Leave),
            Operation::Continue => return Ok(Flow::Continue),
            Operation::Delete => return Ok(Flow::Top),
            Operation::Return => return Ok(Flow::Bottom),
            Operation::Stop => return Ok(Flow::Stop),
        }
        Ok(Flow::On)
    }

    fn do_loop(&mut self, looping: &Loop) -> Outcome<Flow> {
        for range in &looping.ranges {
            match self.range(looping, range)? {
                Flow::On => {}
                Flow::Leave => return Ok(Flow::On),
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    /// Runs the body over one range. The index ends at the first value past the limit.
    fn range(&mut self, looping: &Loop, range: &Range) -> Outcome<Flow> {
        let start = self.number(range.start.as_ref());
        let stop = self.number(range.stop.as_ref());
        let step = self.number(range.step.as_ref()).unwrap_or(1.0);
        if let Some(span) = &range.counts {
            let missing = |value: Option<f64>| value.is_some_and(f64::is_nan);
            if missing(start) || missing(stop) || step.is_nan() || step == 0.0 {
                let message = "Invalid DO loop control information, either the INITIAL or TO \
                               expression is missing or the BY expression is missing, zero, or \
                               invalid.";
                return Err(Failure::at(span, message));
            }
        }
        if let (Some(slot), Some(start)) = (looping.index, start) {
            store_number(&slot, &mut self.row, start);
        }
        loop {
            let at = looping.index.map(|slot| slot.number(&self.row));
            let past = match (at, stop) {
                (Some(at), Some(stop)) if step < 0.0 => order_key(at) < order_key(stop),
                (Some(at), Some(stop)) => order_key(at) > order_key(stop),
                _ => false,
            };
            if past
                || range
                    .while_
                    .as_ref()
                    .is_some_and(|condition| !self.holds(condition))
            {
                return Ok(Flow::On);
            }
            match self.block(&looping.body)? {
                Flow::On | Flow::Continue => {}
                other => return Ok(other),
            }
            if range
                .until
                .as_ref()
                .is_some_and(|condition| self.holds(condition))
            {
                return Ok(Flow::On);
            }
            // `DO i = 5;` runs once; `DO i = 5 WHILE(…)` too.
            match looping.index {
                Some(_) if range.counts.is_none() => return Ok(Flow::On),
                Some(slot) => {
                    let next = slot.number(&self.row) + step;
                    store_number(&slot, &mut self.row, next);
                }
                None => {}
            }
        }
    }

    fn number(&mut self, number: Option<&Number>) -> Option<f64> {
        number.map(|number| number.value(&self.row, &mut self.events))
    }

    fn holds(&mut self, condition: &Number) -> bool {
        is_true(condition.value(&self.row, &mut self.events))
    }

    fn output_all(&mut self) -> Outcome<()> {
        self.writers
            .iter_mut()
            .try_for_each(|writing| write(writing, &self.row))
    }
}

#[inline]
fn write(writing: &mut Writing, row: &[u8]) -> Outcome<()> {
    writing.copy.apply(row, &mut writing.buffer);
    writing.output.write_row(&writing.buffer)
}

impl Cursor {
    /// Loads the next row into the PDV; false when all data sets are exhausted.
    fn next_row(&mut self, pdv: &mut [u8]) -> Outcome<bool> {
        let Some(end) = self.set.end else {
            return self.load(pdv);
        };
        // END= needs to know whether another row follows: one row is read ahead.
        if !self.primed {
            self.primed = true;
            self.ahead = self.read_ahead()?;
        }
        let Some((index, row)) = self.ahead.take() else {
            return Ok(false);
        };
        self.enter(index, pdv);
        self.set.inputs[index].1.apply(&row, pdv);
        self.ahead = self.read_ahead()?;
        let last = self.ahead.is_none();
        store_number(&end, pdv, f64::from(u8::from(last)));
        Ok(true)
    }

    fn read_ahead(&mut self) -> Outcome<Option<(usize, Vec<u8>)>> {
        let from = self
            .ahead
            .as_ref()
            .map_or(self.current, |(index, _)| *index);
        for index in from..self.set.inputs.len() {
            if let Some(row) = self.set.inputs[index].0.next_row()? {
                return Ok(Some((index, row.to_vec())));
            }
        }
        Ok(None)
    }

    fn load(&mut self, pdv: &mut [u8]) -> Outcome<bool> {
        while self.current < self.set.inputs.len() {
            let (input, copy) = &mut self.set.inputs[self.current];
            if let Some(row) = input.next_row()? {
                copy.apply(row, pdv);
                return Ok(true);
            }
            let next = self.current + 1;
            self.enter(next, pdv);
        }
        Ok(false)
    }

    /// Moving on to another data set makes the variables of the one before missing.
    fn enter(&mut self, index: usize, pdv: &mut [u8]) {
        if index != self.current {
            self.current = index;
            set_missing(&self.set.slots, pdv);
        }
    }
}

fn places(spans: &[base::diag::Span]) -> String {
    let places: Vec<_> = spans
        .iter()
        .map(|span| format!("{}:{}", span.line, span.column))
        .collect();
    places.join("   ")
}

fn tell_conversions(world: &mut World, sites: &Sites) {
    for (spans, what) in [
        (
            &sites.to_number,
            "Character values have been converted to numeric",
        ),
        (
            &sites.to_text,
            "Numeric values have been converted to character",
        ),
    ] {
        if !spans.is_empty() {
            world.note(&format!(
                "{what} values at the places given by: (Line):(Column).\n{}",
                places(spans)
            ));
        }
    }
}

fn tell_events(world: &mut World, sites: &Sites, events: &Events) {
    for (wanted, text) in [
        (
            Site::Missing,
            "Missing values were generated as a result of performing an operation on missing \
             values.\nEach place is given by: (Number of times) at (Line):(Column).",
        ),
        (
            Site::InvalidNumber,
            "Invalid numeric data, values set to missing.\nEach place is given by: (Number of \
             times) at (Line):(Column).",
        ),
        (
            Site::InvalidArgument,
            "Mathematical operations could not be performed at the following places. The results \
             of the operations have been set to missing values.\nEach place is given by: (Number of \
             times) at (Line):(Column).",
        ),
    ] {
        let met: Vec<String> = sites
            .counted
            .iter()
            .zip(&events.counts)
            .filter(|((site, _), count)| *site == wanted && **count > 0)
            .map(|((_, span), count)| format!("{count} at {}:{}", span.line, span.column))
            .collect();
        if !met.is_empty() {
            world.note(&format!("{text}\n{}", met.join("   ")));
        }
    }
}
