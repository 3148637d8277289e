//! A DATA step: statements with their nesting. After an error reading goes on at the next
//! semicolon, so that one mistake gives one message.

use crate::ast::{
    DataStep, Expr, ExprKind, Loop, Select, Statement, StatementKind, Token, TokenKind,
};
use crate::cursor::{Cursor, Parsed};
use crate::finding;
use crate::loops::{self, Header};
use crate::statement::{Entry, Read};
use base::diag::{Diagnostic, Span};

/// Arms of one IF … ELSE IF … chain. Each is a level of the tree, but generated recodings are long,
/// so that the limit is above the one for other nesting.
const ELSE_CHAIN_MAX: usize = 500;

/// Reads a step from all its tokens, semicolons included. Errors in statements that hold one of the
/// `poisoned` tokens are left out: the scanner has reported there already.
pub(crate) fn data_step(
    tokens: &[Token],
    start: &Span,
    poisoned: &[usize],
) -> (DataStep, Vec<Diagnostic>) {
    let mut parser = Parser {
        tokens,
        cursor: Cursor::new(tokens, start),
        found: Vec::new(),
        loops: 0,
        selects: 0,
    };
    let outputs = match parser.data_statement() {
        Ok(outputs) => outputs,
        Err(diagnostic) => {
            parser.report(0, diagnostic);
            parser.skip();
            Vec::new()
        }
    };
    let statements = parser.body(None);
    let mut diagnostics = Vec::new();
    for (index, diagnostic) in parser.found {
        let range = statement_around(tokens, index);
        if !poisoned.iter().any(|place| range.contains(place)) {
            diagnostics.push(diagnostic);
        }
    }
    (
        DataStep {
            span: start.clone(),
            outputs,
            statements,
            data_lines: None,
        },
        diagnostics,
    )
}

fn statement_around(tokens: &[Token], index: usize) -> std::ops::RangeInclusive<usize> {
    let is_end = |token: &Token| matches!(token.kind, TokenKind::Symbol(";"));
    let before = tokens.get(..index).unwrap_or(tokens);
    let first = before.iter().rposition(is_end).map_or(0, |end| end + 1);
    let rest = tokens.get(index..).unwrap_or(&[]);
    let last = rest
        .iter()
        .position(is_end)
        .map_or(tokens.len(), |length| index + length);
    first..=last
}

pub(crate) struct Parser<'a> {
    tokens: &'a [Token],
    pub(crate) cursor: Cursor<'a>,
    /// With the index of the first token of the statement they are about.
    found: Vec<(usize, Diagnostic)>,
    pub(crate) loops: u32,
    pub(crate) selects: u32,
}

impl Parser<'_> {
    pub(crate) fn report(&mut self, index: usize, diagnostic: Diagnostic) {
        self.found.push((index, diagnostic));
    }

    /// Goes past the next semicolon.
    pub(crate) fn skip(&mut self) {
        while self
            .cursor
            .next()
            .is_some_and(|t| !matches!(t.kind, TokenKind::Symbol(";")))
        {}
    }

    pub(crate) fn close(&mut self) -> Parsed<()> {
        self.cursor.expect_end()?;
        self.cursor.next();
        Ok(())
    }

    /// Statements up to the END of a group that begins at `group`, or to the end of the step.
    fn body(&mut self, group: Option<&Span>) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            let index = self.cursor.index();
            if self.cursor.is_done() {
                if let Some(span) = group {
                    let text = "117-185: The DO or SELECT group that begins here has no END";
                    self.report(index.saturating_sub(1), finding::error(span, text));
                }
                return statements;
            }
            if self.cursor.at_word("END") && self.cursor.is_symbol_at(1, ";") {
                let span = self.cursor.span();
                self.skip();
                if group.is_some() {
                    return statements;
                }
                let text = "161-185: No matching DO/SELECT statement for END";
                self.report(index, finding::error(&span, text));
                continue;
            }
            statements.extend(self.statement().map(|statement| *statement));
        }
    }

    /// One statement with its semicolon; `None` for a comment, or after an error. Boxed, so that the
    /// frames of the functions that call each other here stay small.
    fn statement(&mut self) -> Option<Box<Statement>> {
        let (span, index) = (self.cursor.span(), self.cursor.index());
        if let Err(diagnostic) = self.cursor.enter() {
            self.report(index, diagnostic);
            // The rest cannot be read without the structure that is given up here.
            self.cursor.rewind(usize::MAX);
            return None;
        }
        let statement = match self.structure() {
            Some(Structure::If) => self.if_chain(span),
            Some(Structure::Do) => Some(Box::new(self.do_group(span))),
            Some(Structure::Select) => Some(Box::new(self.select(span))),
            Some(Structure::Else) => self.stray_else(),
            None => self.simple_statement(span),
        };
        self.cursor.leave();
        statement
    }

    /// Reports the error in a statement and goes to the next one.
    pub(crate) fn recover<T>(&mut self, index: usize, parsed: Parsed<T>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.report(index, diagnostic);
                self.skip();
                None
            }
        }
    }

    /// Whether a statement begins here that has statements inside.
    fn structure(&self) -> Option<Structure> {
        if self.cursor.is_symbol_at(1, "=") || self.cursor.is_symbol_at(1, "+") {
            return None;
        }
        match Entry::find(self.cursor.peek_word()?)?.read {
            Read::Structure(structure) => Some(structure),
            _ => None,
        }
    }

    /// All arms of a chain, in a loop, since chains are longer than nests are deep.
    fn if_chain(&mut self, span: Span) -> Option<Box<Statement>> {
        let mut arms: Vec<Arm> = Vec::new();
        let mut start = span;
        let last = loop {
            let index = self.cursor.index();
            self.cursor.next();
            let parsed = self.condition();
            let condition = self.recover(index, parsed)?;
            if !self.cursor.eat_word("THEN") {
                self.skip();
                break Some(subsetting(start, condition));
            }
            let then = self.dependent();
            arms.push(Arm {
                span: start,
                condition,
                then,
            });
            if !self.cursor.at_word("ELSE") || self.cursor.is_symbol_at(1, "=") {
                break None;
            }
            if arms.len() >= ELSE_CHAIN_MAX {
                let text = format!("The IF statement has more than {ELSE_CHAIN_MAX} ELSE IF");
                let diagnostic = self.cursor.fail(text);
                self.report(self.cursor.index(), diagnostic);
                self.cursor.rewind(usize::MAX);
                return None;
            }
            self.cursor.next();
            start = self.cursor.span();
            if !self.cursor.at_word("IF") || self.structure().is_none() {
                break Some(self.dependent());
            }
        };
        let chain = |rest, arm: Arm| Some(arm.before(rest));
        arms.into_iter().rev().fold(last, chain)
    }

    /// A condition up to THEN. After an error in it reading goes on at THEN, so that a DO behind it
    /// still opens its group.
    fn condition(&mut self) -> Parsed<Expr> {
        let (span, index) = (self.cursor.span(), self.cursor.index());
        let condition = self.cursor.expression().and_then(|condition| {
            if self.cursor.at_word("THEN") || self.cursor.at_symbol(";") {
                Ok(condition)
            } else {
                Err(self.cursor.expected("THEN or ';'"))
            }
        });
        let Err(diagnostic) = condition else {
            return condition;
        };
        while !self.cursor.is_at_end() && !self.cursor.at_word("THEN") {
            self.cursor.next();
        }
        if self.cursor.is_at_end() {
            return Err(diagnostic);
        }
        self.report(index, diagnostic);
        Ok(Expr {
            span,
            kind: ExprKind::Missing(0),
        })
    }

    /// The statement after THEN or ELSE, which must be one that is executed.
    fn dependent(&mut self) -> Box<Statement> {
        let (span, index) = (self.cursor.span(), self.cursor.index());
        let statement = self.statement();
        if statement
            .as_ref()
            .is_some_and(|statement| is_declaration(&statement.kind))
        {
            let word = self
                .tokens
                .get(index)
                .map(crate::cursor::token_text)
                .unwrap_or_default();
            self.report(
                index,
                finding::out_of_order(&span, &word.to_ascii_uppercase()),
            );
        }
        statement.unwrap_or_else(|| {
            Box::new(Statement {
                span,
                kind: StatementKind::Empty,
            })
        })
    }

    fn do_group(&mut self, span: Span) -> Statement {
        let header = self.do_header();
        let kind = match header {
            None => StatementKind::Block(self.body(Some(&span))),
            Some(mut group) => {
                self.loops += 1;
                group.body = self.body(Some(&span));
                self.loops -= 1;
                StatementKind::Loop(group)
            }
        };
        Statement { span, kind }
    }

    /// DO with its semicolon; `None` for a group that is no loop.
    fn do_header(&mut self) -> Option<Box<Loop>> {
        let index = self.cursor.index();
        self.cursor.next();
        let header = loops::header(&mut self.cursor).unwrap_or_else(|diagnostic| {
            self.report(index, diagnostic);
            Some(Header::default())
        });
        self.skip();
        let Header {
            index,
            while_,
            until,
        } = header?;
        Some(Box::new(Loop {
            index,
            while_,
            until,
            body: Vec::new(),
        }))
    }

    fn select(&mut self, span: Span) -> Statement {
        let index = self.cursor.index();
        self.cursor.next();
        let parsed = self.select_value();
        let mut select = Select {
            value: self.recover(index, parsed).flatten(),
            whens: Vec::new(),
            otherwise: None,
        };
        self.selects += 1;
        self.select_body(&span, &mut select);
        self.selects -= 1;
        Statement {
            span,
            kind: StatementKind::Select(Box::new(select)),
        }
    }

    /// From behind SELECT up to its semicolon.
    fn select_value(&mut self) -> Parsed<Option<Expr>> {
        let value = if self.cursor.eat_symbol("(") {
            let value = self.cursor.expression()?;
            self.cursor.expect_symbol(")")?;
            Some(value)
        } else {
            None
        };
        self.close()?;
        Ok(value)
    }

    /// WHEN and OTHERWISE up to END.
    fn select_body(&mut self, span: &Span, select: &mut Select) {
        loop {
            let (index, place) = (self.cursor.index(), self.cursor.span());
            if self.cursor.is_done() {
                let text = "117-185: The DO or SELECT group that begins here has no END";
                self.report(index.saturating_sub(1), finding::error(span, text));
                return;
            }
            if self.cursor.at_word("END") && self.cursor.is_symbol_at(1, ";") {
                self.skip();
                return;
            }
            if self.cursor.eat_symbol(";") {
                continue;
            }
            if self.cursor.eat_word("WHEN") {
                let parsed = self.when_values();
                let values = self.recover(index, parsed);
                if let Some(values) = values {
                    select.whens.push((values, *self.dependent()));
                }
            } else if self.cursor.eat_word("OTHERWISE") {
                let statement = *self.dependent();
                if select.otherwise.replace(statement).is_some() {
                    let text = "A SELECT group has more than one OTHERWISE";
                    self.report(index, finding::error(&place, text));
                }
            } else {
                let text =
                    "22-322: Syntax error, expecting WHEN, OTHERWISE or END in a SELECT group";
                self.report(index, finding::error(&place, text));
                self.statement();
            }
        }
    }

    /// `(value, value)`
    fn when_values(&mut self) -> Parsed<Vec<Expr>> {
        self.cursor.expect_symbol("(")?;
        let mut values = Vec::new();
        loop {
            values.push(self.cursor.expression()?);
            if !self.cursor.eat_symbol(",") {
                break;
            }
        }
        self.cursor.expect_symbol(")")?;
        Ok(values)
    }

    fn stray_else(&mut self) -> Option<Box<Statement>> {
        let text = "160-185: No matching IF-THEN clause for ELSE";
        self.report(self.cursor.index(), self.cursor.fail(text));
        self.cursor.next();
        self.statement()
    }
}

/// Statements that have statements inside.
#[derive(Clone, Copy)]
pub(crate) enum Structure {
    If,
    Do,
    Select,
    Else,
}

/// `IF condition THEN then`
struct Arm {
    span: Span,
    condition: Expr,
    then: Box<Statement>,
}

impl Arm {
    fn before(self, otherwise: Option<Box<Statement>>) -> Box<Statement> {
        let kind = StatementKind::If {
            condition: self.condition,
            then: self.then,
            otherwise,
        };
        Box::new(Statement {
            span: self.span,
            kind,
        })
    }
}

fn subsetting(span: Span, condition: Expr) -> Box<Statement> {
    Box::new(Statement {
        span,
        kind: StatementKind::SubsettingIf(condition),
    })
}

fn is_declaration(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Where(_)
            | StatementKind::Keep(_)
            | StatementKind::Drop(_)
            | StatementKind::Rename(_)
            | StatementKind::Retain(_)
            | StatementKind::Length(_)
            | StatementKind::Format(_)
            | StatementKind::Informat(_)
            | StatementKind::Label(_)
            | StatementKind::By(_)
            | StatementKind::Array(_)
            | StatementKind::Attrib(_)
    )
}
