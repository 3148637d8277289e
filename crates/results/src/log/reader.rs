//! A log from its first line to its last, in one pass.
//!
//! SAS prints what a step used after everything else that it has to say of it. So NOTEs, warnings and errors are
//! gathered until the next accounting, whose step they belong to; those of LIBNAME statements before a step are
//! counted with it. An accounting ends with the first line that is none of its own: page headers and
//! single empty lines may stand within.

use std::io::{self, Read};

use super::action::{self, Beside};
use super::block::{self, Label, following};
use super::figures::{bytes, seconds};
use super::line::{
    Kind, clean, decoded, ends_in_colon, indentation, is_figure, is_page_header, message,
};
use super::lines::Lines;
use super::notes::{self, Said};
use super::{Block, LogDataset, LogStep, Message, Resources, Severity, Summary, block_bytes};

/// Data sets that are listed for a step; of more only the rows are counted.
const DATASETS_MAX: usize = 10_000;

/// Errors, and as many warnings, whose texts are kept.
const MESSAGES_MAX: u64 = 200;

/// Lines and bytes of a message that are kept.
const MESSAGE_LINES_MAX: usize = 4;
const MESSAGE_BYTES_MAX: usize = 1000;

/// Without a sign of SAS in so many bytes a file is no log.
const SILENT_BYTES_MAX: u64 = 16 << 20;

/// SAS breaks lines at 256 columns at the latest: longer ones have lost their line ends.
const COLUMNS_MAX: usize = 300;

/// Reads a log and hands on each step. `None`: nothing in it was written by SAS.
pub fn read(input: impl Read, on_step: &mut dyn FnMut(LogStep)) -> io::Result<Option<Summary>> {
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(on_step);
    let mut number = 0;
    let mut silent = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        reader.line(line, number);
        silent += line.len() as u64 + 1;
        if !reader.sas && silent > SILENT_BYTES_MAX {
            return Ok(None);
        }
    }
    let sas = reader.sas;
    let mut summary = reader.finish();
    (summary.bytes, summary.lines) = (lines.bytes, number);
    Ok(sas.then_some(summary))
}

/// What SAS calls itself, in all languages.
const VERSION: &[u8] = b"SAS (r) Proprietary Software ";

/// What an accounting is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Data,
    Procedure,
    Initialization,
    Session,
    /// A statement of PROC SQL with its option STIMER.
    Statement,
    /// An action of Cloud Analytic Services, which is no step.
    Action,
}

/// An accounting that is being read.
struct Open {
    of: Of,
    name: String,
    line: u64,
    indentation: usize,
    used: Resources,
    /// What only actions have.
    beside: Beside,
    last: Option<Label>,
    /// Empty lines since its last line.
    empty: u32,
}

/// A message whose text may go on.
struct Pending {
    kind: Kind,
    line: u64,
    text: Vec<u8>,
    lines: usize,
}

struct Reader<'a> {
    on_step: &'a mut dyn FnMut(LogStep),
    about: Summary,
    /// Something was there that only SAS writes.
    sas: bool,
    sessions: Sessions,
    /// Blocks of this log go on to block counts.
    counts_blocks: bool,
    /// No line follows.
    at_end: bool,
    /// Nothing but empty lines followed the last page header.
    page_began: bool,
    /// An accounting was read.
    accounted: bool,
    /// Line of what may be the heading of one in another language, if it was the last line.
    heading: Option<u64>,
    /// What was gathered for the step whose accounting comes next.
    next: LogStep,
    /// Observations that PROC APPEND said it added.
    added: Option<u64>,
    /// What statements of a query used whose PROC SQL has not ended yet.
    statements: Resources,
    steps: u64,
    open: Option<Open>,
    pending: Option<Pending>,
}

impl<'a> Reader<'a> {
    fn new(on_step: &'a mut dyn FnMut(LogStep)) -> Self {
        Self {
            on_step,
            about: Summary::default(),
            sas: false,
            sessions: Sessions::default(),
            counts_blocks: false,
            at_end: false,
            page_began: false,
            accounted: false,
            heading: None,
            next: LogStep::default(),
            added: None,
            statements: Resources::default(),
            steps: 0,
            open: None,
            pending: None,
        }
    }

    fn finish(mut self) -> Summary {
        self.settle();
        self.at_end = true;
        self.close();
        if self.accounted {
            self.about.unread_line = None;
        }
        let unread = self.about.unread_line.is_some();
        self.about.complete = self.sessions.complete().filter(|_| !unread);
        self.about.sessions = self.sessions.several();
        if self.about.sessions.is_some() {
            self.about.session = None;
        }
        self.about.block_bytes = self.about.platform.as_deref().and_then(block_bytes);
        self.about
    }

    fn line(&mut self, raw: &[u8], number: u64) {
        let text = clean(raw);
        if text.len() > COLUMNS_MAX && message(&text).is_some() {
            for part in parts(&text) {
                self.text(part.trim_ascii(), 0, number);
            }
            return;
        }
        self.text(&text, indentation(raw), number);
    }

    fn text(&mut self, text: &[u8], indentation: usize, number: u64) {
        if text.is_empty() {
            self.empty_line();
            return;
        }
        self.page_began = is_page_header(text);
        if self.page_began {
            self.sas |= contains(text, b"SAS");
            return;
        }
        if self.goes_on(text, indentation) {
            return;
        }
        if !self.accounted && self.about.unread_line.is_none() {
            self.looks_for_unread(text, indentation, number);
        }
        match message(text) {
            Some((kind, rest)) => self.message(kind, text, rest, indentation, number),
            None => self.continued(text, indentation),
        }
    }

    /// An accounting has the same shape in all languages: a message that ends in a colon, then figures below it. The
    /// version is named in English.
    fn looks_for_unread(&mut self, text: &[u8], indentation: usize, number: u64) {
        let heading = self.heading.take();
        if indentation == 0 {
            self.heading = Some(number).filter(|_| ends_in_colon(text));
            let at = text.windows(2).position(|two| two == b": ");
            let told = at.map_or(&[][..], |at| text[at..][1..].trim_ascii_start());
            if told.starts_with(VERSION) && message(text).is_none() {
                self.session(told);
            }
        } else if is_figure(text) && self.sessions.begun {
            self.about.unread_line = heading;
        }
    }

    /// Ends a message, and with others an accounting, unless a page begins with it.
    fn empty_line(&mut self) {
        if self.page_began {
            return;
        }
        self.settle();
        if let Some(open) = &mut self.open {
            open.empty += 1;
            if open.empty > 2 {
                self.close();
            }
        }
    }

    /// Whether it is a line of the open accounting, which is closed if it is not.
    fn goes_on(&mut self, text: &[u8], indentation: usize) -> bool {
        let Some(open) = &mut self.open else {
            return false;
        };
        // Each line of an action's accounting is a NOTE.
        if open.of == Of::Action
            && let Some((Kind::Note, rest)) = message(text)
            && action::take(rest, &mut open.used, &mut open.beside)
        {
            open.empty = 0;
            return true;
        }
        if let Some(label) = block::take(text, &mut open.used) {
            open.last = Some(label);
            open.empty = 0;
            return true;
        }
        // A line that is not known yet, as later versions may print them, stands where the others stand.
        let within = indentation > open.indentation && open.empty == 0 && open.last.is_some();
        if within && text.last().is_some_and(u8::is_ascii_digit) {
            return true;
        }
        self.close();
        false
    }

    fn message(&mut self, kind: Kind, text: &[u8], rest: &[u8], indentation: usize, number: u64) {
        self.settle();
        match kind {
            Kind::Note => {
                if self.accounting(rest, indentation, number) {
                    return;
                }
                self.about.notes += 1;
                self.next.notes += 1;
                self.session(rest);
            }
            // It tells where errors are, and is none.
            Kind::Error if rest.starts_with(b"Errors printed on page") => return,
            Kind::Error => {
                self.about.errors += 1;
                self.next.errors += 1;
            }
            Kind::Warning => {
                self.about.warnings += 1;
                self.next.warnings += 1;
            }
        }
        // Errors are kept with their numbers.
        let kept = if kind == Kind::Note { rest } else { text };
        if kind == Kind::Note && !self.data(kept) {
            return;
        }
        self.pending = Some(Pending {
            kind,
            line: number,
            text: kept[..kept.len().min(MESSAGE_BYTES_MAX)].to_vec(),
            lines: 1,
        });
    }

    /// What a NOTE says of data. True: it goes on in the next line.
    fn data(&mut self, text: &[u8]) -> bool {
        match notes::data(text) {
            Some(Said::Unfinished) => return true,
            Some(Said::Added(rows)) => self.added = Some(rows),
            Some(Said::Read(dataset)) => {
                add(&mut self.next.observations_read, &dataset);
                list(&mut self.next.inputs, dataset);
            }
            Some(Said::Written(dataset)) => {
                add(&mut self.next.observations_written, &dataset);
                list(&mut self.next.outputs, dataset);
            }
            None => return false,
        }
        self.sas = true;
        false
    }

    /// A line that is none of SAS's own kinds: more of a message, or something else.
    fn continued(&mut self, text: &[u8], indentation: usize) {
        let Some(mut pending) = self.pending.take() else {
            return;
        };
        let whole = pending.text.ends_with(b".") && indentation < 4;
        let source = indentation < 2 && text.first().is_some_and(u8::is_ascii_digit);
        // The number of variables of a broken NOTE begins with a digit as source does.
        let source = source && (pending.kind != Kind::Note || is_source(text));
        if whole || source || pending.lines >= MESSAGE_LINES_MAX {
            self.keep(&pending);
            return;
        }
        let room = MESSAGE_BYTES_MAX.saturating_sub(pending.text.len() + 1);
        pending.text.push(b' ');
        pending
            .text
            .extend_from_slice(&text[..text.len().min(room)]);
        pending.lines += 1;
        if pending.kind == Kind::Note && !self.data(&pending.text) {
            return;
        }
        self.pending = Some(pending);
    }

    /// The message before is at its end.
    fn settle(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.keep(&pending);
        }
    }

    fn keep(&mut self, pending: &Pending) {
        let (kind, count) = match pending.kind {
            Kind::Note => return,
            Kind::Warning => (Severity::Warning, self.about.warnings),
            Kind::Error => (Severity::Error, self.about.errors),
        };
        if count > MESSAGES_MAX {
            return;
        }
        self.about.messages.push(Message {
            line: pending.line,
            kind,
            text: decoded(&pending.text),
        });
    }

    /// What the header of a session says.
    fn session(&mut self, text: &[u8]) {
        /// Our own engine says that it is not SAS.
        const OURS: &[u8] = b"Gristmill ";
        if let Some(version) = text.strip_prefix(VERSION) {
            self.sas = true;
            self.sessions.begin();
            let version = version.strip_prefix(b"Release ").unwrap_or(version);
            let version = version.strip_prefix(b"Version ").unwrap_or(version);
            let words = decoded(version);
            let words: Vec<&str> = words.split_whitespace().collect();
            self.about.version.get_or_insert(words.join(" "));
        } else if let Some(version) = text.strip_prefix(OURS) {
            self.sas = true;
            self.sessions.begin();
            let version = decoded(version);
            let version = version.split([' ', ',']).next().unwrap_or_default();
            self.about
                .version
                .get_or_insert(format!("Gristmill {version}"));
        } else if let Some(platform) = text.strip_prefix(b"This session is executing on the ") {
            (self.sas, self.sessions.begun) = (true, true);
            let platform = decoded(platform);
            let platform = platform.trim_end().trim_end_matches('.').trim_end();
            let platform = platform.strip_suffix("platform").unwrap_or(platform);
            self.about
                .platform
                .get_or_insert(platform.trim().to_owned());
        } else if text.starts_with(b"Remote ") {
            self.sessions.remote = true;
        } else if text.starts_with(b"Libref ") || text.starts_with(b"Fileref ") {
            self.sas = true;
        }
    }

    /// Whether a NOTE begins an accounting.
    fn accounting(&mut self, text: &[u8], indentation: usize, number: u64) -> bool {
        let Some((of, name, rest)) = heading(text) else {
            return false;
        };
        let mut open = Open {
            of,
            name: decoded(name),
            line: number,
            indentation,
            used: Resources::default(),
            beside: Beside::default(),
            last: None,
            empty: 0,
        };
        // SAS on z/OS and early ones say it in one sentence.
        let one_line = sentence(rest, &mut open.used);
        if !one_line && !rest.ends_with(b":") && !rest.starts_with(b"(") {
            return false;
        }
        (self.sas, self.accounted) = (true, true);
        self.open = Some(open);
        if one_line {
            self.close();
        }
        true
    }

    /// The open accounting is at its end.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut used = open.used;
        if used.cpu_s.is_none() {
            used.cpu_s = used.user_s.zip(used.system_s).map(|(user, system)| {
                // As many decimals as were printed, and no more.
                ((user + system) * 1e9).round() / 1e9
            });
        }
        self.counts_blocks |= used.block_output.is_some();
        let complete = match open.last {
            // Said in one sentence.
            None => used != Resources::default(),
            // Others before it went on to block counts, and the file did not.
            Some(_) if self.at_end && self.counts_blocks && used.user_s.is_some() => {
                used.block_output.is_some()
            }
            Some(last) => may_be_last(last),
        };
        let block = Block {
            line: open.line,
            used,
        };
        match open.of {
            Of::Data => self.step("data", open.name, complete, block),
            Of::Procedure => self.step("proc", open.name, complete, block),
            Of::Initialization => {
                self.sessions.begun = true;
                self.about.initialization.get_or_insert(block);
                self.gather_anew();
            }
            Of::Session => {
                self.about.session = Some(block);
                self.sessions.end();
                self.gather_anew();
            }
            Of::Statement => self.statements.add(&block.used),
            Of::Action => action::add(
                &mut self.about.actions,
                &open.name,
                &block.used,
                &open.beside,
            ),
        }
    }

    fn step(&mut self, kind: &str, name: String, complete: bool, block: Block) {
        self.steps += 1;
        let statements = std::mem::take(&mut self.statements);
        let mut used = block.used;
        // Where the procedure's accounting is of all of it, its statements are in it already.
        if name == "SQL" && used.real_s < statements.real_s {
            used.add(&statements);
        }
        let added = self.added.filter(|_| name == "APPEND");
        let gathered = self.gather_anew();
        let mut step = LogStep {
            step: self.steps,
            line: block.line,
            kind: kind.to_owned(),
            name,
            complete,
            used,
            ..gathered
        };
        // The NOTE after it names all observations that the data set has then.
        if let (Some(added), [output]) = (added, &mut step.outputs[..]) {
            output.observations = Some(added);
            step.observations_written = Some(added);
        }
        (self.on_step)(step);
    }

    fn gather_anew(&mut self) -> LogStep {
        self.added = None;
        std::mem::take(&mut self.next)
    }
}

/// The sessions of a log: one, or several that were appended to one file.
#[derive(Debug, Default)]
struct Sessions {
    /// The begin of one was.
    begun: bool,
    /// One has begun and not ended.
    open: bool,
    /// One began before the one before it had ended.
    cut: bool,
    /// SAS/CONNECT: sessions of other hosts begin and end within.
    remote: bool,
    ended: u64,
}

impl Sessions {
    fn begin(&mut self) {
        self.cut |= self.open && !self.remote;
        (self.begun, self.open) = (true, true);
    }

    fn end(&mut self) {
        self.open = false;
        self.ended += 1;
    }

    fn complete(&self) -> Option<bool> {
        let ended = self.ended > 0 && (self.remote || !(self.open || self.cut));
        (self.begun || self.ended > 0).then_some(ended)
    }

    /// How many ended, if they are several.
    fn several(&self) -> Option<u64> {
        (self.ended > 1 && !self.remote).then_some(self.ended)
    }
}

/// Whether a platform's accountings end with such a line.
const fn may_be_last(label: Label) -> bool {
    matches!(
        label,
        Label::Cpu
            | Label::Memory
            | Label::OsMemory
            | Label::TotalMemory
            | Label::Timestamp
            | Label::StepCount
            | Label::BlockOutput
            | Label::Excp
            | Label::Other
    )
}

/// What an accounting is of, its name, and what follows `used`.
fn heading(text: &[u8]) -> Option<(Of, &[u8], &[u8])> {
    let bare = text.strip_prefix(b"The ").unwrap_or(text);
    for (words, of, name) in HEADINGS {
        if let Some(rest) = following(bare, words.as_bytes()) {
            return Some((of, name.as_bytes(), rest.trim_ascii()));
        }
    }
    for (word, used) in [("PROCEDURE ", &b"used"[..]), ("PROZEDUR ", b"")] {
        let Some(rest) = following(bare, word.as_bytes()) else {
            continue;
        };
        let end = rest.iter().position(u8::is_ascii_whitespace)?;
        let (name, rest) = rest.split_at(end);
        let rest = rest.trim_ascii();
        return Some((Of::Procedure, name, rest.strip_prefix(used)?.trim_ascii()));
    }
    let rest = text.strip_prefix(b"Action '")?;
    let end = rest.iter().position(|byte| *byte == b'\'')?;
    let used = following(&rest[end + 1..], b" used")?;
    Some((Of::Action, &rest[..end], used.trim_ascii()))
}

/// Headings that name no procedure. The German ones follow descriptions: they begin so and end in a colon.
const HEADINGS: [(&str, Of, &str); 10] = [
    ("DATA statement used", Of::Data, "DATA"),
    ("SQL Statement used", Of::Statement, ""),
    ("SAS initialization used", Of::Initialization, ""),
    ("initialization phase used", Of::Initialization, ""),
    ("SAS System used", Of::Session, ""),
    ("SAS session used", Of::Session, ""),
    ("DATA-Anweisung", Of::Data, "DATA"),
    ("DATA Anweisung", Of::Data, "DATA"),
    ("SAS-Initialisierung", Of::Initialization, ""),
    ("Das SAS System", Of::Session, ""),
];

/// `0.19 CPU seconds.`, `0.01 CPU seconds and 15021K.`, `0.05 seconds.`
fn sentence(text: &[u8], used: &mut Resources) -> bool {
    let Some(time) = seconds(text) else {
        return false;
    };
    let mut words = text.split(u8::is_ascii_whitespace).skip(1);
    let unit = words.next().unwrap_or_default();
    if unit == b"CPU" {
        used.cpu_s = Some(time);
    } else if unit.starts_with(b"seconds") {
        used.real_s = Some(time);
    } else {
        return false;
    }
    used.memory_bytes = words.find_map(bytes);
    true
}

/// The lines that a line was that lost its line ends: each message and each line of an accounting.
fn parts(text: &[u8]) -> Vec<&[u8]> {
    const MESSAGES: [&[u8]; 3] = [b"NOTE: ", b"WARNING: ", b"ERROR: "];
    const LABELS: [&[u8]; 10] = [
        b"real time ",
        b"cpu time ",
        b"user cpu time ",
        b"system cpu time ",
        b"memory ",
        b"OS Memory ",
        b"Timestamp ",
        b"Step Count ",
        b"Page ",
        b"Block ",
    ];
    let mut starts = vec![0];
    for at in 1..text.len() {
        let rest = &text[at..];
        let begins = |words: &[&[u8]]| words.iter().any(|word| rest.starts_with(word));
        let label = text[..at].ends_with(b"      ") && begins(&LABELS);
        if label || begins(&MESSAGES) {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let ranges = starts.iter().zip(ends);
    ranges.map(|(start, end)| &text[*start..end]).collect()
}

/// A number, then the columns up to the source.
fn is_source(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text[digits..].starts_with(b"  ") || text.len() == digits
}

fn add(sum: &mut Option<u64>, dataset: &LogDataset) {
    if let (Some(rows), false) = (dataset.observations, dataset.file) {
        *sum = Some(sum.unwrap_or_default().saturating_add(rows));
    }
}

fn list(datasets: &mut Vec<LogDataset>, dataset: LogDataset) {
    if datasets.len() < DATASETS_MAX {
        datasets.push(dataset);
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}
