//! The session: gathers statements up to a step's boundary and hands the step out.

use crate::ast::{Global, GlobalKind, ProcStatement, ProcStep, Step, Token, TokenKind};
use crate::cursor::word;
use crate::finding;
use crate::global::{self, Place};
use crate::keywords::{DATA_LINES, RUN_GROUP_PROCEDURES, is_one_of};
use crate::scanner::{Event, Scanner};
use crate::source::SourceLine;
use crate::step;
use base::diag::{Diagnostic, Severity, Span};

/// What the engine provides.
pub trait Host {
    /// The value of a macro variable by its upper-case name.
    fn symbol(&self, name: &str) -> Option<String>;
    /// `%let` in open code; the name is upper case.
    fn set_symbol(&mut self, name: &str, value: &str);
    /// The text of a file, or why there is none.
    fn include(&mut self, path: &str) -> Result<String, String>;
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
    /// True if there is no more text: a further pull gives nothing.
    pub finished: bool,
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
            ended: false,
        }
    }

    /// Reads up to the next step boundary, global statement or `%put`, not a character further.
    pub fn next(&mut self, host: &mut dyn Host) -> Pulled {
        while !self.ended {
            let token = match self.token(host) {
                Event::Token(token) => token,
                Event::Put(span, text) => {
                    return self.global(Global {
                        span,
                        kind: GlobalKind::Put(text),
                    });
                }
                Event::End => return self.end_of_text(),
            };
            if self.is_boundary(&token) {
                self.pushed = Some(token);
                let step = self.close();
                return self.pulled(step);
            }
            if !matches!(token.kind, TokenKind::Symbol(";")) {
                self.statement.push(token);
                continue;
            }
            if let Some(pulled) = self.statement_end(token) {
                return pulled;
            }
        }
        self.pulled(None)
    }

    fn token(&mut self, host: &mut dyn Host) -> Event {
        if let Some(token) = self.pushed.take() {
            return Event::Token(token);
        }
        let starting = self.statement.is_empty();
        let event = self.scanner.next(host, starting);
        let found = std::mem::take(&mut self.scanner.diagnostics);
        if found
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
        {
            // What went wrong before a statement's first token does not spoil the statement.
            let quoted = |token: &Token| matches!(token.kind, TokenKind::Text(..));
            self.poisoned |= !starting || matches!(&event, Event::Token(token) if quoted(token));
            self.fail();
        }
        self.diagnostics.extend(found);
        event
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
        Pulled {
            step,
            diagnostics: std::mem::take(&mut self.diagnostics),
            source: self.scanner.source.take_lines(),
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
        let cancelled = tokens
            .get(1)
            .and_then(word)
            .is_some_and(|w| w.eq_ignore_ascii_case("CANCEL"));
        let ends = matches!(keyword.as_str(), "RUN" | "QUIT") && (tokens.len() == 1 || cancelled);
        if ends && cancelled {
            return Some(self.cancel(place));
        }
        match place {
            Place::DataStep => self.data_statement(tokens, semicolon, poisoned, ends),
            Place::Procedure | Place::Open => self.proc_statement(tokens, &keyword, ends),
        }
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
            && let Some(name) = word(only).filter(|name| is_one_of(name, DATA_LINES))
        {
            let name = name.to_ascii_uppercase();
            self.report(finding::not_yet(&only.span, format!("{name} statement")));
            self.scanner
                .skip_data_lines(if name.ends_with('4') { ";;;;" } else { ";" });
            let step = self.close();
            return Some(self.pulled(step));
        }
        if let Some(Open {
            kind: OpenKind::Data { tokens, poisoned },
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
        match open.kind {
            OpenKind::Data { tokens, poisoned } => {
                let (step, found) = step::data_step(&tokens, &open.span, &poisoned);
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
