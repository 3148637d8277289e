//! Macros that run: one node after the other, as far as the reader of the text needs.

use super::body::{Block, Definition, Keyword, Node, Piece, Reader};
use super::eval;
use super::mask::{is_masked, unmasked};
use crate::finding;
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::{Diagnostic, Span};
use base::limits::MACRO_DEPTH_MAX;
use std::sync::Arc;

/// Blocks open in one macro, loops included: jumps cannot make more than nesting allows.
const LEVELS_MAX: usize = 1_000;

/// Lines that a macro may write while no text comes from it.
const LINES_MAX: usize = 10_000;

/// A macro in the middle of its work.
pub(crate) struct Activation {
    pub(crate) definition: Arc<Definition>,
    /// Where it was called.
    pub(crate) at: Span,
    levels: Vec<Level>,
    /// It has variables of its own; `%if` in open code has not.
    pub(crate) scoped: bool,
    /// Some text has come from it: blanks before that are layout.
    started: bool,
}

#[derive(Clone)]
struct Level {
    block: Block,
    index: usize,
    ends: Ends,
}

/// What happens at the end of a block.
#[derive(Clone)]
enum Ends {
    Group,
    Count { name: String, stop: i64, by: i64 },
    While(Piece),
    Until(Piece),
}

/// What comes next.
enum Next {
    Node(Node),
    Again(Ends),
    Done,
}

/// Why a macro stops; the error has been reported.
pub(crate) struct Stopped;

impl Activation {
    pub(crate) fn new(definition: Arc<Definition>, at: Span, scoped: bool) -> Self {
        let level = Level {
            block: Arc::clone(&definition.body),
            index: 0,
            ends: Ends::Group,
        };
        Self {
            definition,
            at,
            levels: vec![level],
            scoped,
            started: false,
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.definition.name
    }

    fn next(&mut self) -> Next {
        loop {
            let Some(level) = self.levels.last_mut() else {
                return Next::Done;
            };
            if let Some(node) = level.block.get(level.index) {
                level.index += 1;
                return Next::Node(node.clone());
            }
            match &level.ends {
                Ends::Group => {
                    self.levels.pop();
                }
                ends => return Next::Again(ends.clone()),
            }
        }
    }

    fn open(&mut self, block: &Block, ends: Ends) {
        let block = Arc::clone(block);
        self.levels.push(Level {
            block,
            index: 0,
            ends,
        });
    }

    /// Goes to a label of an open block; false if there is none.
    fn jump(&mut self, wanted: &str) -> bool {
        let is_wanted = |node: &Node| matches!(node, Node::Label(name) if &**name == wanted);
        for depth in (0..self.levels.len()).rev() {
            let Some(level) = self.levels.get_mut(depth) else {
                continue;
            };
            if let Some(index) = level.block.iter().position(is_wanted) {
                level.index = index + 1;
                self.levels.truncate(depth + 1);
                return true;
            }
        }
        false
    }
}

impl Scanner {
    /// Lets macros run until there is a next character or all that is at hand is used up.
    pub(crate) fn fill(&mut self, host: &mut dyn Host) {
        while self.puts.len() < LINES_MAX && self.run_macro(host) {}
        if self.puts.len() >= LINES_MAX {
            let place = self.source.place();
            let text =
                format!("A macro wrote {LINES_MAX} lines in the middle of a word and was stopped");
            self.diagnostics.push(finding::error(&place, text));
            self.stop_macro(host);
        }
    }

    /// One node of the macro that the next character waits for; false if none does.
    pub(crate) fn run_macro(&mut self, host: &mut dyn Host) -> bool {
        let Some(activation) = self.source.waiting_activation() else {
            return false;
        };
        let next = activation.next();
        if !self.count_operation() {
            return false;
        }
        let done = match next {
            Next::Done => {
                self.finish_macro(host);
                Ok(())
            }
            Next::Again(ends) => self.again(&ends, host),
            Next::Node(node) => self.node(node, host),
        };
        if done.is_err() {
            self.stop_macro(host);
        }
        true
    }

    /// Counts towards the limit of the session, if it has one; false once it is reached.
    pub(crate) fn count_operation(&mut self) -> bool {
        if let Some(left) = &mut self.operations_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                let place = self.source.place();
                let text = "The macros of this session do more than they are allowed to";
                self.diagnostics.push(finding::error(&place, text));
                self.source.abandon();
                self.operations_left = None;
                self.exhausted = true;
                return false;
            }
        }
        !self.exhausted
    }

    fn finish_macro(&mut self, host: &mut dyn Host) {
        self.mlogic(host, || "Ending execution.".to_owned());
        self.source.end_activation();
        self.forget_scopes(host);
    }

    /// An error ends the innermost macro.
    pub(crate) fn stop_macro(&mut self, host: &mut dyn Host) {
        if let Some(activation) = self.source.activation().filter(|one| one.scoped) {
            let text = format!("The macro {} will stop executing.", activation.name());
            let place = self.source.place();
            self.diagnostics.push(Diagnostic::error(&place, text));
        }
        self.finish_macro(host);
    }

    /// Variables of macros that run no more go away.
    pub(crate) fn forget_scopes(&mut self, host: &mut dyn Host) {
        let macros = host.macros_mut();
        if macros.scopes() > self.scopes_outside {
            let own = self.source.activations().filter(|one| one.scoped).count();
            let count = self.scopes_outside + own;
            if macros.scopes() > count {
                macros.truncate_scopes(count);
            }
        }
    }

    fn definition(&self) -> Option<Arc<Definition>> {
        self.source
            .activation()
            .map(|one| Arc::clone(&one.definition))
    }

    fn raw(&self, piece: Piece) -> String {
        let text = self
            .source
            .activation()
            .map(|one| Arc::clone(&one.definition.text));
        let text = text
            .as_deref()
            .and_then(|text| text.get(piece.start..piece.end));
        let words: Vec<&str> = text.unwrap_or("").split_whitespace().collect();
        words.join(" ")
    }

    /// Opens a block of the macro that is waiting.
    fn open_block(&mut self, block: &Block, ends: Ends) {
        if let Some(activation) = self.source.waiting_activation()
            && activation.levels.len() < LEVELS_MAX
        {
            activation.open(block, ends);
        }
    }

    fn close_block(&mut self) {
        if let Some(activation) = self.source.waiting_activation() {
            activation.levels.pop();
        }
    }

    fn restart_block(&mut self) {
        if let Some(level) = self
            .source
            .waiting_activation()
            .and_then(|one| one.levels.last_mut())
        {
            level.index = 0;
        }
    }

    fn node(&mut self, node: Node, host: &mut dyn Host) -> Result<(), Stopped> {
        match node {
            Node::Text(piece) => self.macro_text(piece),
            Node::If {
                condition,
                then,
                otherwise,
            } => {
                let truth = self.condition(condition, host)? != 0;
                self.mlogic_of(condition, host, |text| {
                    let truth = if truth { "TRUE" } else { "FALSE" };
                    format!("%IF condition {text} is {truth}")
                });
                if truth {
                    self.open_block(&then, Ends::Group);
                } else if let Some(otherwise) = otherwise {
                    self.open_block(&otherwise, Ends::Group);
                }
            }
            Node::Group(block) => self.open_block(&block, Ends::Group),
            Node::Count {
                variable,
                start,
                stop,
                by,
                body,
            } => return self.start_count(variable, [Some(start), Some(stop), by], &body, host),
            Node::While(condition, body) => {
                let truth = self.condition(condition, host)? != 0;
                self.mlogic_of(condition, host, |text| {
                    let truth = if truth { "TRUE" } else { "FALSE" };
                    format!("%DO %WHILE({text}) loop beginning; condition is {truth}.")
                });
                if truth {
                    self.open_block(&body, Ends::While(condition));
                }
            }
            Node::Until(condition, body) => {
                self.mlogic_of(condition, host, |text| {
                    format!("%DO %UNTIL({text}) loop beginning.")
                });
                self.open_block(&body, Ends::Until(condition));
            }
            Node::Statement(keyword, piece) => return self.macro_statement(keyword, piece, host),
            Node::Define(piece) => self.nested_definition(piece, host),
            Node::Label(_) => {}
        }
        Ok(())
    }

    fn macro_text(&mut self, mut piece: Piece) {
        let Some(activation) = self.source.waiting_activation() else {
            return;
        };
        let definition = Arc::clone(&activation.definition);
        if !activation.started {
            let text = definition.text.get(piece.start..piece.end).unwrap_or("");
            for character in text.chars().take_while(|c| c.is_whitespace()) {
                piece.start += character.len_utf8();
                piece.column = piece.column.saturating_add(1);
                if character == '\n' {
                    (piece.line, piece.column) = (piece.line.saturating_add(1), 1);
                }
            }
            activation.started = piece.start < piece.end;
        }
        self.source.push_body(&definition, piece);
    }

    fn macro_statement(
        &mut self,
        keyword: Keyword,
        piece: Piece,
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        let Some(definition) = self.definition() else {
            return Ok(());
        };
        let at = Span {
            source: Arc::clone(&definition.file),
            line: piece.line,
            column: piece.column,
            length: 1,
        };
        match keyword {
            Keyword::Return => {
                if let Some(activation) = self.source.waiting_activation() {
                    activation.levels.clear();
                }
                Ok(())
            }
            Keyword::Goto => {
                let label = self.piece(piece, host)?;
                let label = unmasked(label.trim()).to_ascii_uppercase();
                let label = label.strip_prefix('%').unwrap_or(&label);
                self.mlogic(host, || {
                    format!("%GOTO {label} (label resolves to {label})")
                });
                let found = self
                    .source
                    .waiting_activation()
                    .is_some_and(|one| one.jump(label));
                if found {
                    return Ok(());
                }
                let text =
                    format!("The label {label} of %GOTO is not in an open block of the macro");
                self.diagnostics.push(finding::error(&at, text));
                Err(Stopped)
            }
            Keyword::Include => {
                // The files come after this node: what is read apart would end with it.
                let text = self.piece(piece, host)?;
                self.include_text(&at, &text, host);
                Ok(())
            }
            _ => {
                let mark = self.source.read_apart();
                self.source.push_body(&definition, piece);
                self.simple_statement(keyword, &at, host);
                self.source.leave_apart(mark);
                self.forget_scopes(host);
                Ok(())
            }
        }
    }

    /// The value of a part of the running macro, quoting kept.
    fn piece(&mut self, piece: Piece, host: &mut dyn Host) -> Result<String, Stopped> {
        let definition = self.definition().ok_or(Stopped)?;
        self.piece_of(&definition, piece, host)
    }

    /// The value of a part of a macro's text, quoting kept.
    pub(crate) fn piece_of(
        &mut self,
        definition: &Definition,
        piece: Piece,
        host: &mut dyn Host,
    ) -> Result<String, Stopped> {
        // Most pieces are numbers and names: nothing to resolve.
        let text = definition.text.get(piece.start..piece.end).unwrap_or("");
        if !text.contains(['&', '%', '\'', '"', '/']) {
            return Ok(text.to_owned());
        }
        let mark = self.source.read_apart();
        self.source.push_body(definition, piece);
        let collected = self.collect_all(host);
        self.source.leave_apart(mark);
        self.forget_scopes(host);
        collected.map(|collected| collected.text).ok_or(Stopped)
    }

    fn condition(&mut self, piece: Piece, host: &mut dyn Host) -> Result<i64, Stopped> {
        let text = self.piece(piece, host)?;
        let membership = self.membership(host);
        eval::integer(&text, membership).map_err(|error| {
            let raw = self.raw(piece);
            let place = self.piece_place(piece);
            self.diagnostics
                .push(finding::error(&place, error.text(&raw)));
            Stopped
        })
    }

    fn piece_place(&self, piece: Piece) -> Span {
        let mut place = self.source.place();
        if let Some(activation) = self.source.activation() {
            place.source = Arc::clone(&activation.definition.file);
            (place.line, place.column, place.length) = (piece.line, piece.column, 1);
        }
        place
    }

    /// Whether `IN` and `#` are operators here.
    pub(crate) fn membership(&self, host: &dyn Host) -> bool {
        let own = self
            .source
            .activation()
            .and_then(|one| one.definition.minoperator);
        own.unwrap_or_else(|| host.tracing().minoperator)
    }

    fn start_count(
        &mut self,
        variable: Piece,
        bounds: [Option<Piece>; 3],
        body: &Block,
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        let name = self.piece(variable, host)?.trim().to_ascii_uppercase();
        let mut values = [0, 0, 1];
        for (value, piece) in values.iter_mut().zip(bounds) {
            if let Some(piece) = piece {
                *value = self.condition(piece, host)?;
            }
        }
        let [start, stop, by] = values;
        let at = self.piece_place(variable);
        self.set_symbol(&name, &start.to_string(), &at, host)?;
        self.mlogic(host, || {
            format!(
                "%DO loop beginning; index variable {name}; start value is {start}; stop value is \
                 {stop}; by value is {by}."
            )
        });
        if goes_on(start, stop, by) {
            self.open_block(body, Ends::Count { name, stop, by });
        }
        Ok(())
    }

    /// A loop at its end: around again, or on.
    fn again(&mut self, ends: &Ends, host: &mut dyn Host) -> Result<(), Stopped> {
        let repeats = match ends {
            Ends::Group => false,
            Ends::Count { name, stop, by } => {
                let place = self.source.place();
                let value = host.macros().quoted(name).unwrap_or("").to_owned();
                let next = eval::integer(&value, false)
                    .ok()
                    .and_then(|value| value.checked_add(*by));
                let Some(next) = next else {
                    let text =
                        format!("The index variable {name} of the %DO loop is no number: {value}");
                    self.diagnostics.push(finding::error(&place, text));
                    return Err(Stopped);
                };
                self.set_symbol(name, &next.to_string(), &place, host)?;
                let repeats = goes_on(next, *stop, *by);
                self.mlogic(host, || {
                    let not = if repeats { "" } else { "not " };
                    format!(
                        "%DO loop index variable {name} is now {next}; loop will {not}iterate again."
                    )
                });
                repeats
            }
            Ends::While(condition) | Ends::Until(condition) => {
                let truth = self.condition(*condition, host)? != 0;
                let is_while = matches!(ends, Ends::While(_));
                let repeats = truth == is_while;
                self.mlogic_of(*condition, host, |text| {
                    let word = if is_while { "WHILE" } else { "UNTIL" };
                    let truth = if truth { "TRUE" } else { "FALSE" };
                    let not = if repeats { "" } else { "not " };
                    format!(
                        "%DO %{word}({text}) condition is {truth}; loop will {not}iterate again."
                    )
                });
                repeats
            }
        };
        if repeats {
            self.restart_block();
        } else {
            self.close_block();
        }
        Ok(())
    }

    fn nested_definition(&mut self, piece: Piece, host: &mut dyn Host) {
        let Some(outer) = self.definition() else {
            return;
        };
        let mut reader = Reader::new(&outer.text, piece);
        let result = reader.definition(&outer.text, &outer.file);
        self.define(result, &outer.file, host);
    }

    /// Calls `definition`: its parameters have their values in the table opened for it.
    pub(crate) fn push_macro(
        &mut self,
        definition: Arc<Definition>,
        at: Span,
        host: &mut dyn Host,
    ) -> bool {
        let scoped = self.source.activations().filter(|one| one.scoped).count();
        if scoped > MACRO_DEPTH_MAX as usize {
            let text = format!(
                "Macros call each other more than {MACRO_DEPTH_MAX} deep; {} is not called",
                definition.name
            );
            self.diagnostics.push(finding::error(&at, text));
            self.forget_scopes(host);
            return false;
        }
        self.source
            .push_activation(Activation::new(definition, at, true));
        self.mlogic(host, || "Beginning execution.".to_owned());
        true
    }

    /// A line of MLOGIC about the innermost macro.
    pub(crate) fn mlogic(&mut self, host: &dyn Host, text: impl FnOnce() -> String) {
        if !host.tracing().mlogic {
            return;
        }
        if let Some(activation) = self.source.activation().filter(|one| one.scoped) {
            let line = format!("MLOGIC({}):  {}", activation.name(), text());
            self.trace(line);
        }
    }

    fn mlogic_of(&mut self, piece: Piece, host: &dyn Host, text: impl FnOnce(&str) -> String) {
        if host.tracing().mlogic {
            let raw = self.raw(piece);
            self.mlogic(host, || text(&raw));
        }
    }
}

const fn goes_on(value: i64, stop: i64, by: i64) -> bool {
    if by < 0 { value >= stop } else { value <= stop }
}

/// Without blanks at its ends, quoted ones kept.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() && !is_masked(c))
}
