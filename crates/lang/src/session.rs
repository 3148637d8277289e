//! The session: gathers statements up to a step's boundary and hands the step out.

use crate::ast::{Global, GlobalKind, ProcStatement, ProcStep, Step, Token, TokenKind};
use crate::cursor::{token_text, word};
use crate::finding;
use crate::global::{self, Place};
use crate::keywords::{RUN_GROUP_PROCEDURES, is_one_of};
use crate::macros::table::Macros;
use crate::scanner::{Event, Scanner};
use crate::source::SourceLine;
use crate::statement::{Entry, Read};
use crate::step;
use base::diag::{Diagnostic, Span};
use base::limits::{STEP_TEXT_BYTES_MAX, STEP_TOKENS_MAX};

/// What the engine provides.
pub trait Host {
    /// Macro variables and macros.
    fn macros(&self) -> &Macros;
    /// The same, to be changed.
    fn macros_mut(&mut self) -> &mut Macros;
    /// The text of a file, or why there is none.
    fn include(&mut self, path: &str) -> Result<String, String>;
    /// The text of the file that a fileref (upper case) stands for, with its path, or why there is
    /// none.
    fn include_fileref(&mut self, fileref: &str) -> Result<(String, String), String> {
        Err(format!("No logical assign for filename {fileref}"))
    }
    /// `%sysfunc(name(arguments), format)`: the value as text, or an error's sentence without a
    /// final period. The name is upper case.
    fn function(
        &mut self,
        name: &str,
        arguments: &[String],
        format: Option<&str>,
    ) -> Result<String, String> {
        let _ = (arguments, format);
        Err(format!(
            "The function {name} is unknown or not implemented yet"
        ))
    }
    /// What the log tells about macros.
    fn tracing(&self) -> Tracing {
        Tracing::default()
    }
}

/// System options that the macro processor heeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tracing {
    /// MPRINT: the statements that macros make.
    pub mprint: bool,
    /// MLOGIC: what macros do.
    pub mlogic: bool,
    /// SYMBOLGEN: what references resolve to.
    pub symbolgen: bool,
    /// MINOPERATOR: `IN` and `#` are operators of macro expressions.
    pub minoperator: bool,
}

/// A line of MPRINT, MLOGIC or SYMBOLGEN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// How many of the lines of this pull come before it.
    pub after: usize,
    /// The line.
    pub text: String,
}

/// What one pull gave. The order for the log: the lines, the diagnostics, the step.
#[derive(Debug, Clone, PartialEq)]
pub struct Pulled {
    /// What to execute; `None` if there was an error, or nothing.
    pub step: Option<Step>,
    /// What was found in the text read by this pull.
    pub diagnostics: Vec<Diagnostic>,
    /// Lines first touched by this pull.
    pub source: Vec<SourceLine>,
    /// What macros did, as far as options ask for it.
    pub traces: Vec<Trace>,
    /// True if there is no more text: a further pull gives nothing.
    pub finished: bool,
}

/// What resolving a text gave. The order for the log: the lines, the diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The text with its references and macro calls resolved.
    pub text: String,
    /// Lines of `%put` and traces.
    pub lines: Vec<String>,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves the references and macro calls of `text`: what steps ask for while they run.
pub fn resolve(text: &str, host: &mut dyn Host) -> Resolved {
    let scopes = host.macros().scopes();
    let mut scanner = Scanner::new("(resolved text)", "");
    scanner.scopes_outside = scopes;
    let place = scanner.source.place();
    let resolved = scanner.literal_text(text.to_owned(), &place, host);
    scanner.forget_scopes(host);
    Resolved {
        text: resolved,
        lines: scanner.take_log(),
        diagnostics: scanner.diagnostics,
    }
}

/// A program being read.
pub struct Session {
    scanner: Scanner,
    /// The statement being read, without its semicolon.
    statement: Vec<Token>,
    /// Whether the scanner found an error in it.
    poisoned: bool,
    /// The DATA or PROC that ended the step before it.
    pushed: Option<Token>,
    open: Option<Open>,
    diagnostics: Vec<Diagnostic>,
    /// How many traces come before the line that is written now.
    traces_before: Option<usize>,
    ended: bool,
}

/// The step being read.
struct Open {
    span: Span,
    failed: bool,
    kind: OpenKind,
}

enum OpenKind {
    Data {
        tokens: Vec<Token>,
        poisoned: Vec<usize>,
        data_lines: Option<Vec<String>>,
    },
    Proc {
        name: String,
        options: Vec<Token>,
        statements: Vec<ProcStatement>,
        group: u32,
    },
}

impl Session {
    /// A session about to read `text`; `name` is how diagnostics call it.
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            scanner: Scanner::new(name, text),
            statement: Vec::new(),
            poisoned: false,
            pushed: None,
            open: None,
            diagnostics: Vec::new(),
            traces_before: None,
            ended: false,
        }
    }

    /// Ends with an error when macros have done so much, for programs of strangers: a macro may loop
    /// without end.
    pub fn limit_macro_operations(&mut self, count: u64) {
        self.scanner.operations_left = Some(count);
    }

    /// Text that comes before all that is left of the program, as CALL EXECUTE asks for. To be
    /// called between pulls that gave a step.
    pub fn execute(&mut self, text: &str) {
        if let Some(token) = self.pushed.take() {
            let word = format!("{} ", token_text(&token));
            self.scanner.source.push_expansion(token.span, word, false);
        }
        let at = self.scanner.source.place();
        self.scanner
            .source
            .push_expansion(at, format!("{text} "), true);
    }

    /// Reads up to the next step boundary, global statement or `%put`, not a character further.
    pub fn next(&mut self, host: &mut dyn Host) -> Pulled {
        while !self.ended {
            let token = match self.token(host) {
                Event::Token(token) => token,
                Event::Put(put) => {
                    self.traces_before = Some(put.after);
                    return self.global(Global {
                        span: put.span,
                        kind: GlobalKind::Put(put.text),
                    });
                }
                Event::Pause => return self.pulled(None),
                Event::End => return self.end_of_text(),
            };
            if self.is_boundary(&token) {
                self.pushed = Some(token);
                let step = self.close();
                return self.pulled(step);
            }
            if !matches!(token.kind, TokenKind::Symbol(";")) {
                // Two tokens tell whether a step that is too large ends.
                if !self.scanner.is_skipping() || self.statement.len() < 2 {
                    self.statement.push(token);
                }
                continue;
            }
            if let Some(pulled) = self.statement_end(token) {
                return pulled;
            }
            self.start_step();
        }
        self.pulled(None)
    }

    fn token(&mut self, host: &mut dyn Host) -> Event {
        if let Some(token) = self.pushed.take() {
            return Event::Token(token);
        }
        let mut starting = self.statement.is_empty();
        let mut event = self.scanner.next(host, starting);
        if self.scanner.source.is_over_budget() {
            self.give_up();
            starting = self.statement.is_empty();
            event = self.scanner.next(host, starting);
        }
        self.scanner.forget_scopes(host);
        if self.scanner.has_failed() {
            // What went wrong before a statement's first token does not spoil the statement.
            let quoted = |token: &Token| matches!(token.kind, TokenKind::Text(..));
            self.poisoned |= !starting || matches!(&event, Event::Token(token) if quoted(token));
            self.fail();
        }
        let put = match &event {
            Event::Put(put) => Some(put),
            _ => None,
        };
        self.diagnostics.extend(self.scanner.take_diagnostics(put));
        event
    }

    /// The step, or a statement outside of one, is too large: forgets it and goes on at its end.
    fn give_up(&mut self) {
        self.open_too_large();
        let what = match self.open.as_ref().map(|open| &open.kind) {
            None => "statement".to_owned(),
            Some(OpenKind::Data { .. }) => "DATA step".to_owned(),
            Some(OpenKind::Proc { name, .. }) => {
                format!("procedure {}", name.to_ascii_uppercase())
            }
        };
        let open = self.open.as_ref().map(|open| &open.span);
        let first = self.statement.first().map(|token| &token.span);
        let place = self.scanner.source.place();
        let text = format!(
            "The {what} that begins here has more than {STEP_TOKENS_MAX} words or {} MiB of text, \
             counted after macro variables are replaced",
            STEP_TEXT_BYTES_MAX >> 20
        );
        let error = finding::error(open.or(first).unwrap_or(&place), text);
        self.scanner.diagnostics = Vec::new();
        self.scanner.skip_step();
        self.statement.truncate(2);
        self.statement.shrink_to_fit();
        self.poisoned = true;
        match self.open.as_mut().map(|open| &mut open.kind) {
            None => {}
            Some(OpenKind::Data {
                tokens, poisoned, ..
            }) => {
                (*tokens, *poisoned) = (Vec::new(), Vec::new());
            }
            Some(OpenKind::Proc { statements, .. }) => *statements = Vec::new(),
        }
        self.report(error);
    }

    /// Opens the step if it is its first statement that is too large.
    fn open_too_large(&mut self) {
        let [first, rest @ ..] = self.statement.as_slice() else {
            return;
        };
        let kind = match word(first).filter(|_| self.open.is_none()) {
            Some(word) if word.eq_ignore_ascii_case("DATA") => OpenKind::Data {
                tokens: Vec::new(),
                poisoned: Vec::new(),
                data_lines: None,
            },
            Some(found) if found.eq_ignore_ascii_case("PROC") => OpenKind::Proc {
                name: rest.first().and_then(word).unwrap_or("").to_owned(),
                options: Vec::new(),
                statements: Vec::new(),
                group: 0,
            },
            _ => return,
        };
        let span = first.span.clone();
        let failed = true;
        self.open = Some(Open { span, failed, kind });
    }

    /// Counts anew if nothing is kept from before.
    fn start_step(&mut self) {
        if self.open.is_none() && self.statement.is_empty() {
            self.scanner.start_step();
        }
    }

    fn fail(&mut self) {
        if let Some(open) = &mut self.open {
            open.failed = true;
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.fail();
        self.diagnostics.push(diagnostic);
    }

    /// Whether this token, at the start of a statement, ends the open step.
    fn is_boundary(&self, token: &Token) -> bool {
        self.open.is_some()
            && self.statement.is_empty()
            && word(token).is_some_and(|word| is_one_of(word, &["DATA", "PROC", "ENDSAS"]))
            && !self.scanner.is_followed_by('=')
    }

    fn pulled(&mut self, step: Option<Step>) -> Pulled {
        self.start_step();
        Pulled {
            step,
            diagnostics: std::mem::take(&mut self.diagnostics),
            source: self.scanner.source.take_lines(),
            traces: self.scanner.take_traces(self.traces_before.take()),
            finished: self.ended,
        }
    }

    fn global(&mut self, global: Global) -> Pulled {
        if global.kind == GlobalKind::EndSas {
            self.scanner.source.abandon();
            self.ended = true;
        }
        self.pulled(Some(Step::Global(global)))
    }

    /// Deals with a complete statement; `None` if reading goes on.
    fn statement_end(&mut self, semicolon: Token) -> Option<Pulled> {
        let tokens = std::mem::take(&mut self.statement);
        let poisoned = std::mem::take(&mut self.poisoned);
        let keyword = tokens
            .first()
            .and_then(word)
            .unwrap_or("")
            .to_ascii_uppercase();
        let place = match self.open.as_ref().map(|open| &open.kind) {
            None => Place::Open,
            Some(OpenKind::Data { .. }) => Place::DataStep,
            Some(OpenKind::Proc { .. }) => Place::Procedure,
        };
        let cancelled = tokens
            .get(1)
            .and_then(word)
            .is_some_and(|w| w.eq_ignore_ascii_case("CANCEL"));
        let ends = matches!(keyword.as_str(), "RUN" | "QUIT") && (tokens.len() == 1 || cancelled);
        if self.scanner.is_skipping() {
            return self.skipped_statement(&tokens, &keyword, ends);
        }
        if let Some(parsed) = global::global(&tokens, place) {
            return Some(match parsed {
                Ok(global) if !poisoned => self.global(global),
                Ok(_) => self.pulled(None),
                Err(diagnostic) => {
                    if !poisoned {
                        self.report(diagnostic);
                    }
                    self.pulled(None)
                }
            });
        }
        if place == Place::Open {
            return self.open_code(tokens, semicolon, &keyword, poisoned);
        }
        if ends && cancelled {
            return Some(self.cancel(place));
        }
        match place {
            Place::DataStep => self.data_statement(tokens, semicolon, poisoned, ends),
            Place::Procedure | Place::Open => self.proc_statement(tokens, &keyword, ends),
        }
    }

    /// A statement of a step that is too large, of which the first tokens are left.
    fn skipped_statement(&mut self, tokens: &[Token], keyword: &str, ends: bool) -> Option<Pulled> {
        let ends = match self.open.as_ref().map(|open| &open.kind) {
            None => true,
            Some(OpenKind::Data { .. }) if tokens.len() == 1 && Entry::has_lines(keyword) => {
                self.take_data_lines(keyword);
                true
            }
            Some(OpenKind::Data { .. }) => ends,
            Some(OpenKind::Proc { name, .. }) => {
                ends && (keyword == "QUIT" || !is_one_of(name, RUN_GROUP_PROCEDURES))
            }
        };
        ends.then(|| {
            self.open = None;
            self.pulled(None)
        })
    }

    /// Data lines are not counted: they come from a file as they are.
    fn take_data_lines(&mut self, keyword: &str) -> Vec<String> {
        self.scanner.source.lift_budget();
        let end = if keyword.ends_with('4') { ";;;;" } else { ";" };
        self.scanner.take_data_lines(end)
    }

    fn open_code(
        &mut self,
        mut tokens: Vec<Token>,
        semicolon: Token,
        keyword: &str,
        poisoned: bool,
    ) -> Option<Pulled> {
        let span = tokens.first()?.span.clone();
        let assigns = matches!(tokens.get(1).map(|t| &t.kind), Some(TokenKind::Symbol("=")));
        match keyword {
            "DATA" if !assigns => {
                tokens.push(semicolon);
                let poisoned_at = if poisoned { vec![0] } else { Vec::new() };
                let kind = OpenKind::Data {
                    tokens,
                    poisoned: poisoned_at,
                    data_lines: None,
                };
                self.open = Some(Open {
                    span,
                    failed: poisoned,
                    kind,
                });
                None
            }
            "PROC" if !assigns => {
                let name = tokens.get(1).and_then(word).map(str::to_owned);
                if name.is_none() && !poisoned {
                    let text = "The PROC statement needs the name of a procedure";
                    self.report(finding::error(&span, text));
                }
                let failed = poisoned || name.is_none();
                let options = tokens.split_off(tokens.len().min(2));
                let name = name.unwrap_or_default();
                let kind = OpenKind::Proc {
                    name,
                    options,
                    statements: Vec::new(),
                    group: 0,
                };
                self.open = Some(Open { span, failed, kind });
                None
            }
            "RUN" | "QUIT" | "COMMENT" => None,
            _ => {
                if !poisoned {
                    let found = tokens
                        .first()
                        .map(crate::cursor::token_text)
                        .unwrap_or_default();
                    let found = found.to_ascii_uppercase();
                    self.report(finding::out_of_order(&span, &found));
                }
                Some(self.pulled(None))
            }
        }
    }

    fn data_statement(
        &mut self,
        statement: Vec<Token>,
        semicolon: Token,
        is_poisoned: bool,
        ends: bool,
    ) -> Option<Pulled> {
        if ends {
            let step = self.close();
            return Some(self.pulled(step));
        }
        if let [only] = statement.as_slice()
            && let Some(name) = word(only).filter(|name| Entry::has_lines(name))
        {
            let name = name.to_ascii_uppercase();
            if !self.scanner.source.in_file() {
                let text = format!("A macro cannot make the data lines of {name}");
                self.report(finding::error(&only.span, text));
                return None;
            }
            if let Some(entry) =
                Entry::find(&name).filter(|one| matches!(one.read, Read::Refused(_)))
            {
                self.report(entry.not_yet(&only.span));
            }
            let lines = self.take_data_lines(&name);
            if let Some(Open {
                kind: OpenKind::Data { data_lines, .. },
                ..
            }) = &mut self.open
            {
                *data_lines = Some(lines);
            }
            let step = self.close();
            return Some(self.pulled(step));
        }
        if let Some(Open {
            kind: OpenKind::Data {
                tokens, poisoned, ..
            },
            ..
        }) = &mut self.open
        {
            if is_poisoned {
                poisoned.push(tokens.len());
            }
            tokens.extend(statement);
            tokens.push(semicolon);
        }
        None
    }

    fn proc_statement(&mut self, tokens: Vec<Token>, keyword: &str, ends: bool) -> Option<Pulled> {
        let Some(Open {
            kind: OpenKind::Proc {
                name, statements, ..
            },
            ..
        }) = &mut self.open
        else {
            return None;
        };
        let sql = name.eq_ignore_ascii_case("SQL");
        let stays = keyword == "RUN" && is_one_of(name, RUN_GROUP_PROCEDURES);
        if ends && !stays {
            let step = self.close();
            return Some(self.pulled(step));
        }
        if ends {
            // SQL acts at every statement and has nothing left to do at RUN.
            return if sql { None } else { self.run_group() };
        }
        let span = tokens.first()?.span.clone();
        statements.push(ProcStatement { span, tokens });
        if sql { self.run_group() } else { None }
    }

    /// What a procedure has got so far, which it works on while it stays.
    fn run_group(&mut self) -> Option<Pulled> {
        let Some(open) = &mut self.open else {
            return None;
        };
        let OpenKind::Proc {
            name,
            options,
            statements,
            group,
        } = &mut open.kind
        else {
            return None;
        };
        let step = ProcStep {
            span: open.span.clone(),
            name: name.clone(),
            options: options.clone(),
            statements: std::mem::take(statements),
            group: *group,
            ended: false,
        };
        *group = group.saturating_add(1);
        self.scanner.start_step();
        let step = (!open.failed).then_some(Step::Proc(step));
        Some(self.pulled(step))
    }

    /// `RUN CANCEL;`
    fn cancel(&mut self, place: Place) -> Pulled {
        if let Some(open) = self.open.take() {
            let message = match place {
                Place::DataStep => "DATA step not executed at user's request.",
                Place::Procedure | Place::Open => {
                    "The procedure was not executed at the user's request."
                }
            };
            self.diagnostics
                .push(Diagnostic::warning(&open.span, message));
        }
        self.pulled(None)
    }

    /// Ends the open step; `None` if it had errors.
    fn close(&mut self) -> Option<Step> {
        let open = self.open.take()?;
        if self.scanner.is_skipping() {
            return None;
        }
        match open.kind {
            OpenKind::Data {
                tokens,
                poisoned,
                data_lines,
            } => {
                let (mut step, found) = step::data_step(&tokens, &open.span, &poisoned);
                step.data_lines = data_lines;
                let good = !open.failed && found.is_empty();
                self.diagnostics.extend(found);
                good.then_some(Step::Data(step))
            }
            OpenKind::Proc {
                name,
                options,
                statements,
                group,
            } => {
                let span = open.span;
                let step = ProcStep {
                    span,
                    name,
                    options,
                    statements,
                    group,
                    ended: true,
                };
                (!open.failed).then_some(Step::Proc(step))
            }
        }
    }

    fn end_of_text(&mut self) -> Pulled {
        self.ended = true;
        let tokens = std::mem::take(&mut self.statement);
        if let Some(first) = tokens.first() {
            if !self.poisoned {
                let text = "The statement that begins here is not ended by a semicolon";
                self.report(finding::error(&first.span, text));
            }
            self.fail();
        }
        let step = self.close();
        self.pulled(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Budget;

    #[derive(Default)]
    struct Symbols(Macros);

    impl Host for Symbols {
        fn macros(&self) -> &Macros {
            &self.0
        }

        fn macros_mut(&mut self) -> &mut Macros {
            &mut self.0
        }

        fn include(&mut self, _: &str) -> Result<String, String> {
            Ok("y ".repeat(100))
        }
    }

    /// Messages and kinds of steps where a step may have 1000 words and 10,000 bytes; `&n` is `n`.
    fn small(n: &str, text: &str) -> Vec<String> {
        let mut session = Session::new("p.sas", text);
        session.scanner.source.limit = Budget {
            bytes: 10_000,
            tokens: 1_000,
        };
        session.scanner.source.start_budget();
        let mut host = Symbols::default();
        assert_eq!(host.0.set("N", n), Ok(()));
        let mut found = Vec::new();
        loop {
            let pulled = session.next(&mut host);
            found.extend(pulled.diagnostics.into_iter().map(|one| one.message));
            found.extend(pulled.step.map(|step| match step {
                Step::Data(step) => format!("DATA, {} statements", step.statements.len()),
                Step::Proc(step) => format!("PROC {}", step.name),
                Step::Global(global) => format!("{:?}", global.kind),
            }));
            if pulled.finished {
                return found;
            }
        }
    }

    fn too_large(what: &str) -> String {
        format!(
            "The {what} that begins here has more than 1000000 words or 64 MiB of text, \
             counted after macro variables are replaced (p.sas, line 1, column 1)."
        )
    }

    #[test]
    fn a_step_that_is_too_large_gives_one_message_and_the_next_one_is_read() {
        let n = "x ".repeat(100);
        let many = "&n ".repeat(20);
        let files = "%include 'f';".repeat(20);
        for (step, what) in [
            (
                format!("data a; array q {many}; title 'b'; run;"),
                "DATA step",
            ),
            (format!("data a; array q {files}; x = 1; run;"), "DATA step"),
            (
                format!("data a; {many}; datalines;\nx\n; run;\n"),
                "DATA step",
            ),
            (
                format!("data a; {many}; datalines;\nproc x\n;\n"),
                "DATA step",
            ),
            (format!("data {many}; set b; run;"), "DATA step"),
            (format!("data a; x = {many}; run cancel;"), "DATA step"),
            (format!("data a; x = {many}; y = 'run;'; "), "DATA step"),
            (format!("proc sort {many}; by x; run;"), "procedure SORT"),
            (format!("proc sort; by {many}; run;"), "procedure SORT"),
            (
                format!("proc sql; select {many}; run; drop b; quit;"),
                "procedure SQL",
            ),
            (format!("title {many};"), "statement"),
        ] {
            let found = small(&n, &format!("{step}\ndata b; x = 1; run;"));
            assert_eq!(
                found,
                [too_large(what), "DATA, 1 statements".to_owned()],
                "{step}"
            );
        }
    }

    #[test]
    fn a_word_or_literal_that_is_too_long_makes_its_step_too_large() {
        let n = "x".repeat(1_000);
        for text in [
            "&n".repeat(20),
            "\"&n\" ".repeat(20),
            format!("\"{}\"", "&n".repeat(20)),
        ] {
            let found = small(&n, &format!("data a; x = {text}; run; data b; run;"));
            let next = "DATA, 0 statements".to_owned();
            assert_eq!(found, [too_large("DATA step"), next], "{text}");
        }
    }

    #[test]
    fn findings_count_as_words() {
        for piece in ["é ", "%x "] {
            let many = "&n ".repeat(20);
            let found = small(
                &piece.repeat(40),
                &format!("data a; x = {many}; run; data b; run;"),
            );
            assert!(found.contains(&too_large("DATA step")), "{piece} {found:?}");
            assert!(found.len() <= 1_000, "{piece}: {}", found.len());
            assert_eq!(found.last().map(String::as_str), Some("DATA, 0 statements"));
        }
    }

    #[test]
    fn every_step_statement_and_query_is_counted_on_its_own() {
        let n = "x ".repeat(100);
        for piece in [
            "data a; x = 1; run;",
            "%put &n;",
            "title 'a';",
            "run;",
            "options a=1;",
        ] {
            let found = small(&n, &piece.repeat(600));
            assert!(!found.contains(&too_large("statement")), "{piece}");
        }
        let found = small(&n, &format!("proc sql; {}", "select &n; ".repeat(30)));
        assert_eq!(found.len(), 31, "{found:?}");
        let found = small(
            &n,
            &format!("data a; {} run;", "%put now; drop &n; ".repeat(30)),
        );
        assert!(
            found.contains(&too_large("DATA step")),
            "a %put starts no new count"
        );
    }
}
