//! A SAS session: pulls steps from the language, runs them one after the other, accounts for each.

mod assign;
mod automatic;
mod host;
mod lock;
mod world;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Severity, Span};
use base::meter::Meter;
use base::random::Stream;
use base::store::Store;
use lang::ast::{Global, GlobalKind, ProcStep, Setting, Step};
use lang::{Macros, SourceLine, Trace};

use crate::accounting::{Account, RowHashes, StepKind, StepSummary, StepUsage};
use crate::dataset::locks::Locks;
use crate::datastep;
use crate::expr::pattern::Patterns;
use crate::failure::{Failure, Outcome, placed};
use crate::library::{Libraries, Library};
use crate::listing::Listing;
use crate::log::{Counts, Log, Timing};
use crate::options::Options;
use crate::pace::{self, Pace, PaceUse};
use crate::procedure::Procedure;

pub use world::{MARKER, Symbols, Temporaries, World};

/// Reads the text of a %INCLUDE file, or says why it cannot.
pub type Include = Box<dyn Fn(&Path) -> Result<String, String> + Send>;

/// Told of every finished step.
pub type Observer = Box<dyn FnMut(&StepSummary) + Send>;

/// What a session is made from.
pub struct Setup {
    /// Files.
    pub store: Arc<dyn Store>,
    /// Clock and usage.
    pub meter: Arc<dyn Meter>,
    /// The pace that steps are to have.
    pub pace: Option<pace::Request>,
    /// Where the log goes.
    pub log: Box<dyn std::io::Write + Send>,
    /// NOTEs at the begin of the log: what wrote it, and on which platform, where SAS says the same.
    pub header: Vec<String>,
    /// Where procedure output goes.
    pub listing: Box<dyn std::io::Write + Send>,
    /// The procedures there are.
    pub procedures: Vec<Box<dyn Procedure>>,
    /// Options at start.
    pub options: Options,
    /// Libraries at start, WORK not among them.
    pub libraries: Libraries,
    /// Macro variables at start, by upper-case name.
    pub symbols: Symbols,
    /// Directory below which the session makes its WORK directory.
    pub work: PathBuf,
    /// Directory below which the session makes its utility directory.
    pub util: PathBuf,
    /// Host name, for the names of WORK and utility directories.
    pub host: String,
    /// Process id, for the same.
    pub process_id: u32,
    /// Seed of page masks and directory serials.
    pub seed: u64,
    /// Of which data sets row hashes are computed.
    pub row_hashes: RowHashes,
    /// Flush every finished permanent data set to stable storage.
    pub sync_outputs: bool,
    /// Temporary files and directories in existence, shared with whoever handles signals.
    pub temporaries: Arc<Temporaries>,
    /// Reads the text of a %INCLUDE file.
    pub include: Include,
    /// Told of every finished step.
    pub observer: Observer,
}

/// How a session ended.
#[derive(Debug)]
pub struct Ended {
    /// What its log counts.
    pub counts: Counts,
    /// What ABORT ABEND or ABORT RETURN gives back.
    pub aborted: Option<u8>,
    /// Why the log could not be written, if it could not: the first failure.
    pub log_failure: Option<io::Error>,
    /// The same of the listing.
    pub listing_failure: Option<io::Error>,
}

impl Ended {
    /// 0 clean, 1 warnings, 2 errors, or what an ABORT statement says.
    pub const fn exit_code(&self) -> u8 {
        if let Some(code) = self.aborted {
            return code;
        }
        match self.counts {
            Counts { errors: 1.., .. } => 2,
            Counts { warnings: 1.., .. } => 1,
            _ => 0,
        }
    }
}

/// Runs one program and cleans up after it.
///
/// Errors only when WORK or the utility directory cannot be made; whatever goes wrong in the
/// program is in the log.
pub fn run(setup: Setup, name: &str, text: &str) -> Outcome<Ended> {
    let mut session = Session::start(setup)?;
    session.initialized();
    session.steps(name, text);
    Ok(session.finish())
}

/// The note on a step that failed.
const STOPPED: &str = "The SAS System stopped processing this step because of errors.";

struct Session {
    world: World,
    procedures: Vec<Box<dyn Procedure>>,
    include: Include,
    observer: Observer,
    steps: u64,
    memory_peak_bytes: u64,
    ended: bool,
    group: Option<OpenStep>,
    /// An error was met: the steps that follow are only compiled.
    syntax_check: bool,
}

/// A step in progress: where its accounting started.
struct OpenStep {
    account: Account,
    before: Counts,
}

impl Session {
    fn start(setup: Setup) -> Outcome<Self> {
        let serials = Stream::new(setup.seed);
        let host = (setup.host, setup.process_id);
        let meter = setup.meter.clone();
        let pace = setup
            .pace
            .map(|request| Arc::new(Pace::new(request, meter)));
        let mut world = World {
            store: setup.store,
            pace,
            meter: setup.meter,
            log: Log::new(setup.log),
            listing: Listing::new(setup.listing),
            options: setup.options,
            libraries: setup.libraries,
            macros: Macros::new(),
            formats: Arc::default(),
            executed: Vec::new(),
            filerefs: BTreeMap::new(),
            temporary_files: 0,
            util_directory: PathBuf::new(),
            util_files: 0,
            row_hashes: setup.row_hashes,
            sync_outputs: setup.sync_outputs,
            temporaries: setup.temporaries,
            serials,
            serial: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            sort: None,
            indexed: std::collections::BTreeSet::new(),
            writers: Arc::default(),
            locks: Locks::default(),
            aborted: None,
            aftermath: Vec::new(),
            last_dataset: None,
            patterns: Patterns::default(),
        };
        for line in &setup.header {
            world.log.line(&format!("NOTE: {line}"));
        }
        if !setup.header.is_empty() {
            world.log.line("");
        }
        automatic::define(&mut world, host.1);
        for (name, value) in &setup.symbols {
            automatic::define_from_outside(&mut world, name, value);
        }
        if let Err(failure) = make_directories(&mut world, &setup.work, &setup.util, &host) {
            world.temporaries.remove_all(world.store.as_ref());
            return Err(failure);
        }
        Ok(Self {
            world,
            procedures: setup.procedures,
            include: setup.include,
            observer: setup.observer,
            steps: 0,
            memory_peak_bytes: 0,
            ended: false,
            group: None,
            syntax_check: false,
        })
    }

    fn timing(&self) -> Timing {
        let options = &self.world.options;
        match (options.fullstimer, options.stimer) {
            (true, _) => Timing::Fullstimer,
            (false, true) => Timing::Stimer,
            (false, false) => Timing::None,
        }
    }

    /// The block for the time before the first statement.
    fn initialized(&mut self) {
        let timing = self.timing();
        let account = Account::from_process_start();
        let usage = account.settle(self.world.meter.as_ref(), self.steps, 0);
        if timing != Timing::None {
            self.world
                .log
                .timing("SAS initialization used:", &usage, timing);
        }
    }

    fn steps(&mut self, name: &str, text: &str) {
        let mut language = lang::Session::new(name, text);
        while !self.ended {
            let pulled = {
                let mut host = host::Host {
                    world: &mut self.world,
                    include: self.include.as_ref(),
                };
                language.next(&mut host)
            };
            let before = self.world.log.counts();
            self.echo(&pulled.source, &pulled.traces);
            for diagnostic in &pulled.diagnostics {
                self.diagnostic(diagnostic);
            }
            let wrong = |one: &Diagnostic| one.severity == Severity::Error;
            if pulled.diagnostics.iter().any(wrong) {
                self.met_error();
            }
            if self.ended {
                break;
            }
            if let Some(step) = &pulled.step {
                self.step(step, before);
            }
            let executed = std::mem::take(&mut self.world.executed);
            if !executed.is_empty() {
                self.execute(&executed, &mut language);
            } else if pulled.finished {
                break;
            }
        }
    }

    /// Lines of the program and what macros did between them.
    fn echo(&mut self, lines: &[SourceLine], traces: &[Trace]) {
        let mut traces = traces.iter().peekable();
        for (index, line) in lines.iter().enumerate() {
            while let Some(trace) = traces.next_if(|trace| trace.after <= index) {
                self.world.log.line(&trace.text);
            }
            if self.world.options.source {
                self.world.log.source(line.number, &line.text);
            }
        }
        for trace in traces {
            self.world.log.line(&trace.text);
        }
    }

    /// What CALL EXECUTE asked for comes next.
    fn execute(&mut self, texts: &[String], language: &mut lang::Session) {
        self.world.note("CALL EXECUTE generated line.");
        if self.world.options.source {
            for (index, text) in texts.iter().enumerate() {
                self.world.log.line(&format!("{:<10}+ {text}", index + 1));
            }
        }
        language.execute(&texts.join("\n"));
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        if diagnostic.severity != Severity::Note || self.world.options.notes {
            self.world.log.diagnostic(diagnostic);
        }
    }

    /// An error outside steps: nothing was being processed that could stop.
    fn error_at(&mut self, span: &Span, message: impl AsRef<str>) {
        self.world.log.error(&placed(span, message.as_ref()));
    }

    fn step(&mut self, step: &Step, before: Counts) {
        match step {
            Step::Global(global) => self.global(global),
            Step::Data(data) => {
                let open = self.open_step("DATA", before);
                let outcome = if self.syntax_check {
                    datastep::check(data, &mut self.world).map(|()| false)
                } else {
                    datastep::run(data, &mut self.world).map(|()| true)
                };
                self.report(outcome);
                self.close_step(&open, "DATA", StepKind::Data);
            }
            Step::Proc(step) => self.procedure(step, before),
        }
    }

    fn procedure(&mut self, step: &ProcStep, before: Counts) {
        let name = step.name.to_ascii_uppercase();
        let known = self.procedures.iter().position(|p| p.name() == name);
        let Some(index) = known else {
            let there: Vec<_> = self.procedures.iter().map(|p| p.name()).collect();
            let message = format!(
                "Procedure {name} not found or not implemented yet; there are {}.",
                there.join(", ")
            );
            self.error_at(&step.span, message);
            self.met_error();
            return;
        };
        // A procedure with run groups is one step: its account stays open until QUIT.
        let open = self.group.take();
        let open = open.unwrap_or_else(|| self.open_step(&name, before));
        let procedure = &self.procedures[index];
        let stopped = if step.ended {
            STOPPED
        } else {
            procedure.stopped_note()
        };
        if self.syntax_check {
            let outcome = procedure.check(step, &mut self.world);
            // What is fine so far is told of when the step ends.
            self.report_with(outcome.map(|()| !step.ended), stopped);
        } else {
            let outcome = procedure.run(step, &mut self.world);
            self.report_with(outcome.map(|()| true), stopped);
        }
        if step.ended {
            self.close_step(&open, &name, StepKind::Procedure);
        } else {
            self.group = Some(open);
        }
    }

    fn open_step(&mut self, name: &str, before: Counts) -> OpenStep {
        self.steps += 1;
        if self.world.options.source {
            self.world.log.step_begins();
        }
        let account = Account::open(self.world.meter.as_ref());
        // What is only compiled costs SAS next to nothing.
        if let Some(pace) = self.world.pace.as_ref().filter(|_| !self.syntax_check) {
            let options = &self.world.options;
            let threads = if options.threads { options.cpucount } else { 1 };
            pace.begin(name, threads as usize);
        }
        OpenStep { account, before }
    }

    /// The step ends: what it still owes is spent.
    fn end_pace(&mut self) -> Option<PaceUse> {
        let paced = self.world.pace.as_ref()?.end()?;
        if self.world.options.informative {
            self.world.note(&paced.to_string());
        }
        Some(paced)
    }

    /// Tells why a step failed, or that it was not run (`false`) because of an earlier error.
    fn report(&mut self, outcome: Outcome<bool>) {
        self.report_with(outcome, STOPPED);
    }

    fn report_with(&mut self, outcome: Outcome<bool>, stopped: &str) {
        let failed = outcome.is_err();
        match outcome {
            Ok(true) => {}
            Ok(false) => self.world.note(stopped),
            Err(failure) => self.failed(&failure, stopped),
        }
        self.ended |= self.world.aborted.is_some();
        for text in std::mem::take(&mut self.world.aftermath) {
            self.world.log.warning(&text);
        }
        if failed && !self.ended {
            self.met_error();
        }
    }

    /// Tells the log and the observer what a finished step used.
    fn close_step(&mut self, open: &OpenStep, name: &str, kind: StepKind) {
        let pace = self.end_pace();
        let meter = self.world.meter.clone();
        let usage = open
            .account
            .settle(meter.as_ref(), self.steps, self.memory_peak_bytes);
        self.memory_peak_bytes = usage.os_memory_bytes;
        let timing = self.timing();
        let statement = match kind {
            StepKind::Data => "DATA statement",
            StepKind::Procedure | StepKind::End => &format!("PROCEDURE {name}"),
        };
        if timing != Timing::None {
            let title = format!("{statement} used (Total process time):");
            self.world.log.timing(&title, &usage, timing);
        }
        self.world.log.flush();
        let said = self.world.log.counts().since(open.before);
        automatic::step_ended(&mut self.world, said);
        self.observed((self.steps, kind), name, (usage, pace), said);
    }

    /// Tells the observer.
    fn observed(
        &mut self,
        (step, kind): (u64, StepKind),
        name: &str,
        (usage, pace): (StepUsage, Option<PaceUse>),
        said: Counts,
    ) {
        (self.observer)(&StepSummary {
            step,
            kind,
            name: name.to_owned(),
            usage,
            pace,
            inputs: std::mem::take(&mut self.world.inputs),
            outputs: std::mem::take(&mut self.world.outputs),
            sort: self.world.sort.take(),
            notes: said.notes,
            warnings: said.warnings,
            errors: said.errors,
        });
    }

    /// After an error in a batch program the steps that follow are checked but not run; with
    /// ERRORABEND nothing follows.
    fn met_error(&mut self) {
        if self.abend() {
            return;
        }
        if self.world.options.syntaxcheck && !self.syntax_check {
            self.syntax_check = true;
            self.world.note(
                "SAS set option OBS=0 and will continue to check statements. \nThis might cause \
                 NOTE: No observations in data set.",
            );
        }
    }

    /// Ends the session after an error if ERRORABEND says so.
    fn abend(&mut self) -> bool {
        if self.world.options.errorabend {
            self.world
                .log
                .error("SAS ended due to errors.\nYou specified: OPTIONS ERRORABEND;.");
            self.ended = true;
        }
        self.ended
    }

    fn failed(&mut self, failure: &Failure, stopped: &str) {
        self.world.log.tell(failure);
        self.world.note(stopped);
    }

    fn global(&mut self, global: &Global) {
        match &global.kind {
            GlobalKind::Options(settings) => {
                for setting in settings {
                    self.option(setting);
                }
            }
            GlobalKind::Libname { .. } => self.libname(global),
            GlobalKind::Title {
                footnote,
                number,
                text,
            } => {
                self.world
                    .listing
                    .set_title(*footnote, *number, text.clone());
            }
            GlobalKind::Filename { .. } => self.filename(&global.kind),
            GlobalKind::Lock {
                dataset,
                action,
                quiet,
            } => self.lock(dataset, *action, *quiet),
            GlobalKind::EndSas => self.ended = true,
            GlobalKind::Appearance(statement) => self.world.note(&format!(
                "The {statement} statement has no effect: procedure output is plain text."
            )),
            GlobalKind::Put(text) => self.world.log.line(text),
        }
    }

    fn option(&mut self, setting: &Setting) {
        if let Err(message) = self
            .world
            .options
            .set(&setting.name, setting.value.as_deref())
        {
            self.error_at(&setting.span, message);
        }
        self.world
            .listing
            .set_line_size(self.world.options.linesize);
    }

    fn finish(mut self) -> Ended {
        let meter = self.world.meter.clone();
        let (account, before) = (Account::open(meter.as_ref()), self.world.log.counts());
        self.world.temporaries.remove_all(self.world.store.as_ref());
        let step = self.steps + 1;
        let usage = account.settle(meter.as_ref(), step, self.memory_peak_bytes);
        let said = self.world.log.counts().since(before);
        self.observed((step, StepKind::End), "END OF SESSION", (usage, None), said);
        let timing = self.timing();
        let account = Account::from_process_start();
        let usage = account.settle(meter.as_ref(), self.steps, self.memory_peak_bytes);
        if timing != Timing::None {
            self.world
                .log
                .timing("The SAS System used:", &usage, timing);
        }
        let counts = self.world.log.counts();
        self.world.listing.flush();
        self.world.log.flush();
        Ended {
            counts,
            aborted: self.world.aborted,
            log_failure: self.world.log.failure(),
            listing_failure: self.world.listing.failure(),
        }
    }
}

/// Makes the session's WORK and utility directories and assigns WORK.
fn make_directories(
    world: &mut World,
    work: &Path,
    util: &Path,
    (host, process_id): &(String, u32),
) -> Outcome<()> {
    let work = world.make_work_directory(work, host, *process_id)?;
    world.libraries.assign(Library {
        work: true,
        ..Library::permanent("WORK", work)
    });
    world.make_util_directory(util, host, *process_id)
}
