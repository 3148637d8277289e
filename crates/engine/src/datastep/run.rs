//! Running a compiled step.

mod flow;

use base::diag::Span;
use sas7bdat::{Encoding, Kind};

use super::blank::Blank;
use super::block::BlockProgram;
use super::dump::Dump;
use super::hash::Objects;
use super::program::{Operation, Program};
use super::source::Source;
use super::target::Target;
use super::text::{Infile, LogLine, OutFile};
use crate::dataset::copy::{RowCopy, store_number};
use crate::dataset::output::Output;
use crate::expr::compile::{Site, Sites};
use crate::expr::evaluate::{Detail, Events, is_true};
use crate::expr::{Number, Slot};
use crate::failure::{FailureLine, Outcome};
use crate::session::World;

/// What happens after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
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
    /// On at a label.
    Jump(usize),
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

/// A step at work.
pub(super) struct Running<'a> {
    pub(super) world: &'a mut World,
    pub(super) row: Vec<u8>,
    pub(super) events: Events,
    sources: Vec<Source>,
    pub(super) infiles: Vec<Infile>,
    /// What INPUT reads.
    pub(super) infile: usize,
    /// `_INFILE_`, if the step mentions it.
    pub(super) record: Option<Slot>,
    /// LIST: the record goes to the log when the iteration ends.
    pub(super) listed: bool,
    pub(super) files: Vec<OutFile>,
    /// Where PUT writes; `None` is the log.
    pub(super) file: Option<usize>,
    pub(super) log_line: LogLine,
    pub(super) objects: Objects,
    writers: Vec<Writing>,
    /// The step by blocks, if it is one for that.
    blocks: Option<BlockProgram>,
    error: Slot,
    sites: Sites,
    pub(super) dump: Dump,
    /// Encoding of the texts of the step.
    pub(super) encoding: Option<Encoding>,
    /// Dumps of the PDV so far.
    dumps: u64,
    /// Something was read in this iteration.
    pub(super) read: bool,
    /// Depth of LINK.
    links: u32,
    marks: Vec<usize>,
}

/// A data set being made.
pub(super) struct Writing {
    pub(super) output: Output,
    /// Where variables lie in the PDV and in its rows.
    pub(super) pairs: Vec<(Slot, Slot)>,
    copy: RowCopy,
    /// WHERE=, with counters of its own.
    pub(super) condition: Option<(Number, Events)>,
}

/// Runs a step to its end; on failure the data sets it was to make stay as they were.
pub(super) fn run(program: Program, world: &mut World) -> Outcome<()> {
    for diagnostic in &program.sites.diagnostics {
        world.log.diagnostic(diagnostic);
    }
    let blank = program.pdv.blank();
    let reset: Vec<Slot> = program
        .pdv
        .variables
        .iter()
        .filter(|v| !v.kept_over)
        .map(|v| v.slot)
        .collect();
    let reset = Blank::new(&reset, &blank);
    let mut row = program.pdv.row();
    let mut sources = program.sources;
    for source in &mut sources {
        source.start(&mut row, &blank);
    }
    let mut running = Running {
        row,
        events: Events {
            counts: vec![0; program.sites.counted.len()],
            surroundings: world.surroundings(program.sites.reads_macros),
            ..Events::default()
        },
        sources,
        infiles: program.infiles,
        infile: 0,
        record: program.pdv.infile_slot(),
        listed: false,
        files: program.files,
        file: None,
        log_line: LogLine::default(),
        objects: Objects::new(program.objects),
        writers: Vec::new(),
        blocks: None,
        error: program.error,
        sites: program.sites,
        encoding: program.pdv.encoding(),
        dump: Dump::new(program.pdv, world.formats.clone()),
        dumps: 0,
        read: false,
        links: 0,
        marks: program.marks,
        world,
    };
    let outcome = running.open(program.targets).and_then(|()| {
        running.blocks = BlockProgram::compile(
            &program.operations,
            &running.dump.pdv,
            &running.sources,
            &running.writers,
            program.implicit_output,
            &program.counter,
        );
        running.iterate(
            &program.operations,
            &reset,
            program.implicit_output,
            program.counter,
        )
    });
    running.end(outcome)
}

impl Running<'_> {
    fn open(&mut self, targets: Vec<Target>) -> Outcome<()> {
        for infile in &self.infiles {
            infile.introduce(self.world);
        }
        for file in &mut self.files {
            file.open(self.world)?;
        }
        for target in targets {
            let Target {
                member,
                variables,
                slots,
                plan,
                condition,
            } = target;
            let output = Output::create(self.world, member, &variables, plan)?;
            let pairs: Vec<(Slot, Slot)> = slots
                .iter()
                .zip(&variables)
                .zip(&output.layout().offsets)
                .map(|((from, variable), offset)| {
                    let to = Slot {
                        kind: variable.kind,
                        offset: *offset,
                        length: variable.length,
                        big_endian: false,
                    };
                    (*from, to)
                })
                .collect();
            self.writers.push(Writing {
                copy: RowCopy::new(&pairs),
                pairs,
                output,
                condition: condition.map(|condition| {
                    let events = Events {
                        surroundings: self.world.surroundings(false),
                        ..Events::default()
                    };
                    (condition, events)
                }),
            });
        }
        Ok(())
    }

    fn iterate(
        &mut self,
        operations: &[Operation],
        reset: &Blank,
        implicit_output: bool,
        counter: Slot,
    ) -> Outcome<Ended> {
        let reads = self.sources.iter().any(Source::ends) || !self.infiles.is_empty();
        let points = self.sources.iter().any(|source| !source.ends());
        let mut iteration = 0u64;
        let mut one_by_one = 0;
        loop {
            if one_by_one == 0 && self.blocks.is_some() {
                let (done, left) = self.by_blocks(reset, &counter, iteration)?;
                iteration += done;
                one_by_one = left;
            }
            one_by_one = one_by_one.saturating_sub(1);
            iteration += 1;
            store_number(&counter, &mut self.row, iteration as f64);
            store_number(&self.error, &mut self.row, 0.0);
            reset.apply(&mut self.row);
            self.read = false;
            let flow = self.from(operations, 0)?;
            let complete = !self.sources.iter().any(Source::is_pending);
            if flow != Flow::Top && flow != Flow::Stop && implicit_output && complete {
                self.output_all()?;
            }
            if is_true(self.error.number(&self.row)) {
                self.dump();
            }
            if flow == Flow::Stop || !(reads || points) {
                return Ok(Ended::Regularly);
            }
            self.end_iteration()?;
            if !self.read {
                return Ok(Ended::Looping);
            }
        }
    }

    /// Takes as many rows as it can by blocks. Gives how many those are, and how many are better taken
    /// one by one now.
    fn by_blocks(
        &mut self,
        reset: &Blank,
        counter: &Slot,
        iteration: u64,
    ) -> Outcome<(u64, usize)> {
        let Some(blocks) = &mut self.blocks else {
            return Ok((0, 0));
        };
        if blocks.begins && iteration == 0 {
            return Ok((0, 1));
        }
        let mut done = 0;
        loop {
            let next = iteration + done + 1;
            store_number(counter, &mut self.row, next as f64);
            store_number(&self.error, &mut self.row, 0.0);
            reset.apply(&mut self.row);
            let source = &mut self.sources[blocks.source];
            let Some((rows, active)) = source.ready()? else {
                return Ok((done, 1));
            };
            let count = active.rows().len();
            let last = active.rows().last().copied();
            let (Some(last), true) = (last, blocks.pays(count)) else {
                return Ok((done, count));
            };
            let counts = &mut self.events.counts;
            match blocks.run(&rows, &active, &self.row, &mut self.writers, counts, next) {
                Ok(true) => {}
                Ok(false) => return Ok((done, count)),
                Err(failure) => {
                    // The log shows the row that could not be written.
                    let row = blocks.row();
                    let before = active.rows().iter().take_while(|one| **one < row).count();
                    source.take(before + 1, &mut self.row)?;
                    blocks.keep(row, &mut self.row);
                    store_number(counter, &mut self.row, (next + before as u64) as f64);
                    return Err(failure);
                }
            }
            source.take(count, &mut self.row)?;
            blocks.keep(last, &mut self.row);
            done += count as u64;
        }
    }

    /// Lines held by a trailing @ are let go.
    fn end_iteration(&mut self) -> Outcome<()> {
        if std::mem::take(&mut self.listed) {
            self.list_record();
        }
        for infile in &mut self.infiles {
            infile.release();
        }
        for file in &mut self.files {
            file.release()?;
        }
        self.log_line.release(self.world);
        Ok(())
    }

    /// What evaluation wants attended to: an error that stops the step, or ones that do not.
    #[cold]
    pub(super) fn attend(&mut self) -> Outcome<()> {
        self.events.alarm = false;
        for (site, detail) in std::mem::take(&mut self.events.raised) {
            let (kind, Span { line, column, .. }) = &self.sites.counted[site];
            store_number(&self.error, &mut self.row, 1.0);
            if self.dumps >= self.world.options.errors {
                continue;
            }
            let text = match (kind, detail) {
                (Site::DivisionByZero, _) => "Division by zero detected".to_owned(),
                (Site::InvalidNumber, Detail::Text(slot, value)) => {
                    let name = slot.and_then(|slot| self.dump.name_at(slot));
                    let name = name.map_or_else(String::new, |name| format!("{name}="));
                    format!("Invalid numeric data, {name}'{value}' ,")
                }
                (Site::InvalidNumber, _) => "Invalid numeric data".to_owned(),
                (Site::InvalidArgument(function), Detail::Argument(which)) => {
                    format!("Invalid {which} argument to function {function}")
                }
                (Site::InvalidArgument(function), Detail::Arguments(arguments)) => {
                    format!("Invalid argument to function {function}{arguments}")
                }
                (Site::InvalidArgument(routine), Detail::TooLong(needed, room)) => {
                    self.world.log.warning(&format!(
                        "In a call to the {routine} routine, the result takes {needed} characters \
                         and the variable has {room}: it was truncated (line {line} column {column})."
                    ));
                    continue;
                }
                (Site::InvalidArgument(function), _) => {
                    format!("Invalid argument to function {function}")
                }
                (Site::Missing, _) => continue,
            };
            let text = format!("{text} at line {line} column {column}.");
            self.world.note(&text);
        }
        self.events.failure.take().map_or(Ok(()), Err)
    }

    /// `_ERROR_ = 1`
    pub(super) fn raise_error(&mut self) {
        let slot = self.error;
        self.store(&slot, 1.0);
    }

    /// As many errors were told as ERRORS= allows.
    pub(super) fn is_quiet(&self) -> bool {
        self.dumps >= self.world.options.errors
    }

    /// The PDV after an iteration with an error.
    fn dump(&mut self) {
        self.dumps += 1;
        let limit = self.world.options.errors;
        if self.dumps > limit {
            return;
        }
        for line in self.dump_lines() {
            self.world.log.line(&line);
        }
        if self.dumps == limit {
            self.world.log.warning(
                "Limit set by ERRORS= option reached.  Further errors of this type will not be \
                 printed.",
            );
        }
    }

    fn dump_lines(&self) -> Vec<String> {
        let width = self.world.options.linesize as usize;
        self.dump.lines(&self.row, width)
    }

    fn output_all(&mut self) -> Outcome<()> {
        for index in 0..self.writers.len() {
            self.write(index)?;
        }
        Ok(())
    }

    #[inline]
    fn write(&mut self, index: usize) -> Outcome<()> {
        let writing = &mut self.writers[index];
        if let Some((condition, events)) = &mut writing.condition {
            let meets = is_true(condition.value(&self.row, events));
            if let Some(failure) = events.failure.take() {
                return Err(failure);
            }
            if !meets {
                return Ok(());
            }
        }
        let Writing { output, copy, .. } = writing;
        output.write_row_with(|row| copy.apply(&self.row, row))
    }

    /// Tells what happened and closes all files.
    fn end(mut self, outcome: Outcome<Ended>) -> Outcome<()> {
        let flushed = self.end_iteration();
        self.log_line.finish(self.world);
        let requests = std::mem::take(&mut self.events.surroundings.requests);
        requests.settle(self.world);
        match outcome.and_then(|ended| flushed.map(|()| ended)) {
            Ok(Ended::Looping) => self.world.note("DATA STEP stopped due to looping."),
            Ok(Ended::Regularly) => {}
            Err(mut failure) => {
                let lines = self.dump_lines();
                failure
                    .lines
                    .extend(lines.into_iter().map(FailureLine::Detail));
                for writing in self.writers {
                    writing.output.discard(self.world);
                }
                for file in self.files {
                    // What was written so far stays; the error before this one is the one to tell.
                    let _ = file.finish(self.world);
                }
                return Err(failure);
            }
        }
        tell_conversions(self.world, &self.sites);
        for infile in self.infiles {
            infile.finish(self.world)?;
        }
        for file in self.files {
            file.finish(self.world)?;
        }
        tell_events(self.world, &self.sites, &self.events);
        for source in self.sources {
            source.finish(self.world)?;
        }
        for writing in self.writers {
            writing.output.finish(self.world)?;
        }
        Ok(())
    }

    /// The kind of a slot decides how a constant is stored.
    pub(super) fn store(&mut self, slot: &Slot, value: f64) {
        debug_assert_eq!(slot.kind, Kind::Numeric);
        store_number(slot, &mut self.row, value);
    }
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
            let places: Vec<_> = spans
                .iter()
                .map(|span| format!("{}:{}", span.line, span.column))
                .collect();
            world.note(&format!(
                "{what} values at the places given by: (Line):(Column).\n{}",
                places.join("   ")
            ));
        }
    }
}

fn tell_events(world: &mut World, sites: &Sites, events: &Events) {
    let times = "Each place is given by: (Number of times) at (Line):(Column).";
    for (wanted, text) in [
        (
            Site::Missing,
            "Missing values were generated as a result of performing an operation on missing \
             values.",
        ),
        (
            Site::DivisionByZero,
            "Mathematical operations could not be performed at the following places. The results \
             of the operations have been set to missing values.",
        ),
    ] {
        // Invalid arguments share the note of divisions by zero, but for parts of a text.
        let told = |site: Site| match site {
            Site::InvalidArgument("SUBSTR" | "CATS" | "CATT" | "CATX") => false,
            Site::InvalidArgument(_) => wanted == Site::DivisionByZero,
            other => wanted == other,
        };
        let met: Vec<String> = sites
            .counted
            .iter()
            .zip(&events.counts)
            .filter(|((site, _), count)| told(*site) && **count > 0)
            .map(|((_, span), count)| format!("{count} at {}:{}", span.line, span.column))
            .collect();
        if !met.is_empty() {
            world.note(&format!("{text}\n{times}\n{}", met.join("   ")));
        }
    }
}
