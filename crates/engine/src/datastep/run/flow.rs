//! Operations one by one: assignments, branches, loops, jumps.

use base::diag::Span;
use lang::ast::SessionEnd;
use sas7bdat::Kind;

use super::{Flow, Running};
use crate::dataset::copy::{store_number, store_text};
use crate::datastep::program::{Loop, Operation, Range, Start, Substr, Test, TextPlace};
use crate::datastep::source::Read;
use crate::expr::evaluate::{Detail, is_true, order_key};
use crate::expr::{Number, Slot, Text};
use crate::failure::{Failure, Outcome};

/// LINK inside of LINK, as deep as in SAS.
const LINKS_MAX: u32 = 10;

/// Exit codes of ABORT ABEND and ABORT RETURN that name none, as on UNIX.
const ABEND: u8 = 5;
const RETURN: u8 = 4;

impl Running<'_> {
    /// ABORT: the step stops, and the session with it if `end` says so.
    #[cold]
    fn abort(&mut self, span: &Span, end: Option<(SessionEnd, Option<u8>)>) -> Failure {
        self.raise_error();
        let (option, code) = match end {
            None => ("", None),
            Some((SessionEnd::Abend, code)) => (
                ", it specified the ABEND option",
                Some(code.unwrap_or(ABEND)),
            ),
            Some((SessionEnd::Return, code)) => (
                ", it specified the RETURN option",
                Some(code.unwrap_or(RETURN)),
            ),
        };
        self.world.aborted = code;
        let (line, column) = (span.line, span.column);
        Failure::world(format!(
            "Execution terminated by an ABORT statement at line {line} column {column}{option}."
        ))
    }

    /// Runs the step's operations from the one at `start` on, following jumps.
    pub(super) fn from(&mut self, operations: &[Operation], start: usize) -> Outcome<Flow> {
        let mut start = start;
        loop {
            let flow = self.block(&operations[start..], operations)?;
            match flow {
                Flow::Jump(mark) => start = self.marks[mark],
                other => return Ok(other),
            }
        }
    }

    fn link(&mut self, operations: &[Operation], mark: usize) -> Outcome<Flow> {
        if self.links >= LINKS_MAX {
            let message = format!("LINK statements are nested more than {LINKS_MAX} deep.");
            return Err(Failure::world(message));
        }
        self.links += 1;
        let flow = self.from(operations, self.marks[mark]);
        self.links -= 1;
        Ok(match flow? {
            Flow::On | Flow::Bottom => Flow::On,
            other => other,
        })
    }

    fn block(&mut self, block: &[Operation], all: &[Operation]) -> Outcome<Flow> {
        for operation in block {
            let flow = self.operation(operation, all)?;
            if self.events.alarm {
                self.attend()?;
            }
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn operation(&mut self, operation: &Operation, all: &[Operation]) -> Outcome<Flow> {
        match operation {
            Operation::Number(slot, number) => {
                let value = number.value(&self.row, &mut self.events);
                store_number(slot, &mut self.row, value);
            }
            Operation::If(condition, then, otherwise) => {
                let holds = is_true(condition.value(&self.row, &mut self.events));
                return self.block(if holds { then } else { otherwise }, all);
            }
            Operation::Subset(condition) => {
                if !is_true(condition.value(&self.row, &mut self.events)) {
                    return Ok(Flow::Top);
                }
            }
            Operation::Read(index) => return self.read_source(*index),
            Operation::Text(slot, text) => match text {
                Text::Constant(bytes) => store_text(slot, &mut self.row, bytes),
                text => {
                    let value = text.value(&self.row, &mut self.events).into_owned();
                    store_text(slot, &mut self.row, &value);
                }
            },
            Operation::Sum(slot, number) => self.add_to(slot, number),
            Operation::NumberElement(element, number) => {
                let value = number.value(&self.row, &mut self.events);
                if let Some(slot) = element.slot(&self.row, &mut self.events) {
                    store_number(&slot, &mut self.row, value);
                }
            }
            Operation::TextElement(element, text) => {
                let value = text.value(&self.row, &mut self.events).into_owned();
                if let Some(slot) = element.slot(&self.row, &mut self.events) {
                    store_text(&slot, &mut self.row, &value);
                }
            }
            Operation::SumElement(element, number) => {
                if let Some(slot) = element.slot(&self.row, &mut self.events) {
                    self.add_to(&slot, number);
                }
            }
            Operation::Output(targets) => {
                for target in targets {
                    self.write(*target)?;
                }
            }
            Operation::Select(cases, otherwise) => {
                for (condition, body) in cases {
                    if is_true(condition.value(&self.row, &mut self.events)) {
                        return self.block(body, all);
                    }
                }
                return self.block(otherwise, all);
            }
            Operation::Loop(looping) => return self.do_loop(looping, all),
            Operation::Link(mark) => return self.link(all, *mark),
            Operation::Leave => return Ok(Flow::Leave),
            Operation::Continue => return Ok(Flow::Continue),
            Operation::Delete => return Ok(Flow::Top),
            Operation::Return => return Ok(Flow::Bottom),
            Operation::Stop => return Ok(Flow::Stop),
            Operation::GoTo(mark) => return Ok(Flow::Jump(*mark)),
            other => return self.rare(other),
        }
        Ok(Flow::On)
    }

    /// Operations whose own work is long.
    fn rare(&mut self, operation: &Operation) -> Outcome<Flow> {
        match operation {
            Operation::Call(routine) => routine.run(&mut self.row, &mut self.events),
            Operation::Substr(substr) => self.substr(substr),
            Operation::Unsatisfied(span) => {
                let message = "Unsatisfied WHEN clause and no OTHERWISE clause.";
                return Err(Failure::at(span, message));
            }
            Operation::Abort(span, end) => return Err(self.abort(span, *end)),
            Operation::List => self.listed = true,
            Operation::Infile(index) => {
                self.take_record();
                self.infile = *index;
                self.show_record();
            }
            Operation::File(index) => self.file = *index,
            Operation::Input(list) => return self.input(list),
            Operation::Put(list, to_log) => self.put(list, *to_log)?,
            Operation::Method(call, slot) => {
                let result = self.method(call)?;
                self.store(slot, result);
            }
            _ => unreachable!("`operation` runs all others"),
        }
        Ok(Flow::On)
    }

    #[inline]
    fn read_source(&mut self, index: usize) -> Outcome<Flow> {
        self.read = true;
        match self.sources[index].read(&mut self.row)? {
            Read::Row => {}
            Read::End => return Ok(Flow::Stop),
            Read::NoSuchRow => {
                let slot = self.error;
                self.store(&slot, 1.0);
            }
        }
        Ok(Flow::On)
    }

    fn add_to(&mut self, slot: &Slot, number: &Number) {
        let value = number.value(&self.row, &mut self.events);
        let so_far = slot.number(&self.row);
        let plain = |x: f64| if x.is_nan() { 0.0 } else { x };
        store_number(slot, &mut self.row, plain(so_far) + plain(value));
    }

    fn substr(&mut self, substr: &Substr) {
        let value = substr.value.value(&self.row, &mut self.events).into_owned();
        let start = substr.start.value(&self.row, &mut self.events);
        let slot = match &substr.of {
            TextPlace::Variable(slot) => *slot,
            TextPlace::Element(element) => match element.slot(&self.row, &mut self.events) {
                Some(slot) => slot,
                None => return,
            },
        };
        let whole = f64::from(slot.length);
        let rest = whole - start + 1.0;
        let length = match &substr.length {
            Some(length) => length.value(&self.row, &mut self.events),
            None => rest,
        };
        let starts = start >= 1.0 && start <= whole;
        if !(starts && length >= 0.0 && length <= rest) {
            let which = if starts { "third" } else { "second" };
            self.events
                .raise_with(substr.site, || Detail::Argument(which));
            return;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "both lie inside of the variable"
        )]
        let part = Slot {
            kind: Kind::Character,
            offset: slot.offset + start as u32 - 1,
            length: length as u32,
            big_endian: false,
        };
        store_text(&part, &mut self.row, &value);
    }

    fn do_loop(&mut self, looping: &Loop, all: &[Operation]) -> Outcome<Flow> {
        for range in &looping.ranges {
            match self.range(looping, range, all)? {
                Flow::On => {}
                Flow::Leave => return Ok(Flow::On),
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    /// Runs the body over one range. The index ends at the first value past the limit.
    fn range(&mut self, looping: &Loop, range: &Range, all: &[Operation]) -> Outcome<Flow> {
        let limits = self.start(looping, range)?;
        loop {
            let at = looping.index.filter(|_| range.counts.is_some());
            let at = at.map(|slot| slot.number(&self.row));
            let past = match (at, limits.stop) {
                (Some(at), Some(stop)) if limits.step < 0.0 => order_key(at) < order_key(stop),
                (Some(at), Some(stop)) => order_key(at) > order_key(stop),
                _ => false,
            };
            if past || !self.holds(range.while_.as_ref(), true, all)? {
                return Ok(Flow::On);
            }
            match self.block(&looping.body, all)? {
                Flow::On | Flow::Continue => {}
                other => return Ok(other),
            }
            if self.holds(range.until.as_ref(), false, all)? {
                return Ok(Flow::On);
            }
            // `DO i = 5;` runs once; `DO i = 5 WHILE(…)` too.
            match looping.index {
                Some(_) if range.counts.is_none() => return Ok(Flow::On),
                Some(slot) => {
                    let next = slot.number(&self.row) + limits.step;
                    store_number(&slot, &mut self.row, next);
                }
                None => {}
            }
        }
    }

    /// Takes the bounds of a range and gives the index its first value.
    fn start(&mut self, looping: &Loop, range: &Range) -> Outcome<Limits> {
        let stop = self.number(range.stop.as_ref());
        let step = self.number(range.step.as_ref()).unwrap_or(1.0);
        match (&range.start, looping.index) {
            (Some(Start::Number(number)), Some(slot)) => {
                let start = number.value(&self.row, &mut self.events);
                let missing = start.is_nan() || stop.is_some_and(f64::is_nan);
                // Without TO a zero is as good as any: WHILE or UNTIL ends the loop.
                let stuck = step.is_nan() || (step == 0.0 && stop.is_some());
                if let (Some(span), true) = (&range.counts, missing || stuck) {
                    let message = "Invalid DO loop control information, either the INITIAL or TO \
                                   expression is missing or the BY expression is missing, zero, \
                                   or invalid.";
                    return Err(Failure::at(span, message));
                }
                store_number(&slot, &mut self.row, start);
            }
            (Some(Start::Text(text)), Some(slot)) => {
                let value = text.value(&self.row, &mut self.events).into_owned();
                store_text(&slot, &mut self.row, &value);
            }
            _ => {}
        }
        Ok(Limits { stop, step })
    }

    fn number(&mut self, number: Option<&Number>) -> Option<f64> {
        number.map(|number| number.value(&self.row, &mut self.events))
    }

    /// Whether a condition holds; `without` it if there is none.
    fn holds(&mut self, test: Option<&Test>, without: bool, all: &[Operation]) -> Outcome<bool> {
        let Some(test) = test else {
            return Ok(without);
        };
        if !test.before.is_empty() {
            self.block(&test.before, all)?;
        }
        Ok(is_true(test.condition.value(&self.row, &mut self.events)))
    }
}

/// Bounds of a range, taken once.
struct Limits {
    stop: Option<f64>,
    step: f64,
}
