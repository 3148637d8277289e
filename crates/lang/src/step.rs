//! A DATA step: statements with their nesting. After an error reading goes on at the next
//! semicolon, so that one mistake gives one message.

use crate::ast::{
    DataStep, DatasetRef, Expr, ExprKind, Loop, Setting, Statement, StatementKind, Token, TokenKind,
};
use crate::cursor::{Cursor, Parsed};
use crate::declare;
use crate::finding;
use crate::keywords::{STEP_NOT_YET, is_one_of};
use crate::loops::{self, Header};
use base::diag::{Diagnostic, Span};

/// Arms of one IF … ELSE IF … chain. Each is a level of the tree, but generated recodings are long,
/// so that the limit is above the one for other nesting.
const ELSE_CHAIN_MAX: usize = 1_000;

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

struct Parser<'a> {
    tokens: &'a [Token],
    cursor: Cursor<'a>,
    /// With the index of the first token of the statement they are about.
    found: Vec<(usize, Diagnostic)>,
    loops: u32,
    selects: u32,
}

impl Parser<'_> {
    fn report(&mut self, index: usize, diagnostic: Diagnostic) {
        self.found.push((index, diagnostic));
    }

    /// Goes past the next semicolon.
    fn skip(&mut self) {
        while self
            .cursor
            .next()
            .is_some_and(|t| !matches!(t.kind, TokenKind::Symbol(";")))
        {}
    }

    fn close(&mut self) -> Parsed<()> {
        self.cursor.expect_end()?;
        self.cursor.next();
        Ok(())
    }

    /// `DATA a b(options);`
    fn data_statement(&mut self) -> Parsed<Vec<DatasetRef>> {
        let (_, span) = self.cursor.expect_name("DATA")?;
        let mut outputs = Vec::new();
        let mut null = false;
        while !self.cursor.is_at_end() {
            if self.cursor.at_symbol("/") {
                return Err(self
                    .cursor
                    .not_yet("option of the DATA statement after '/'"));
            }
            let output = self.cursor.dataset_ref()?;
            if output.libref.is_none() && output.member.eq_ignore_ascii_case("_null_") {
                null = true;
            } else {
                outputs.push(output);
            }
        }
        if outputs.is_empty() && !null {
            outputs.push(named("_DATA_", span));
        }
        self.close()?;
        Ok(outputs)
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
            statements.extend(self.statement());
        }
    }

    /// One statement with its semicolon; `None` for a comment, or after an error.
    fn statement(&mut self) -> Option<Statement> {
        let (span, index) = (self.cursor.span(), self.cursor.index());
        if let Err(diagnostic) = self.cursor.enter() {
            self.report(index, diagnostic);
            // The rest cannot be read without the structure that is given up here.
            self.cursor.rewind(usize::MAX);
            return None;
        }
        let kind = self.statement_kind(&span);
        self.cursor.leave();
        match kind {
            Ok(kind) => Some(Statement { span, kind: kind? }),
            Err(diagnostic) => {
                self.report(index, diagnostic);
                self.skip();
                None
            }
        }
    }

    fn statement_kind(&mut self, span: &Span) -> Parsed<Option<StatementKind>> {
        if self.cursor.eat_symbol(";") {
            return Ok(Some(StatementKind::Empty));
        }
        if let Some(kind) = self.variable_statement()? {
            self.close()?;
            return Ok(Some(kind));
        }
        let Some(word) = self.cursor.peek_word() else {
            let found = self
                .cursor
                .peek()
                .map(crate::cursor::token_text)
                .unwrap_or_default();
            return Err(finding::out_of_order(span, &found));
        };
        let keyword = word.to_ascii_uppercase();
        self.cursor.next();
        match keyword.as_str() {
            "IF" => return self.if_chain(span.clone()).map(Some),
            "DO" => return Ok(Some(self.do_group(span))),
            "SELECT" => return Ok(Some(self.select(span))),
            "WHEN" | "OTHERWISE" if self.selects > 0 => return self.when(&keyword),
            "ELSE" => {
                let text = "160-185: No matching IF-THEN clause for ELSE";
                self.report(self.cursor.index(), finding::error(span, text));
                return Ok(self.statement().map(|statement| statement.kind));
            }
            "COMMENT" => {
                self.skip();
                return Ok(None);
            }
            _ => {}
        }
        let kind = self.keyword_statement(&keyword, span)?;
        self.close()?;
        Ok(Some(kind))
    }

    /// Assignments and sums, whatever their variable is called; and what is like them.
    fn variable_statement(&mut self) -> Parsed<Option<StatementKind>> {
        let name = match self.cursor.peek().map(|token| &token.kind) {
            Some(TokenKind::Word(name) | TokenKind::Name(name)) => name.as_str(),
            _ => return Ok(None),
        };
        let symbol = match self.cursor.peek_at(1).map(|token| &token.kind) {
            Some(TokenKind::Symbol(symbol)) => *symbol,
            _ => return Ok(None),
        };
        match symbol {
            "=" => {
                let (target, _) = self.cursor.expect_name("a variable")?;
                self.cursor.next();
                Ok(Some(StatementKind::Assign {
                    target,
                    value: self.cursor.expression()?,
                }))
            }
            // `put +3 x` moves a pointer.
            "+" if !is_one_of(name, &["PUT", "PUTLOG", "INPUT"]) => {
                let (target, _) = self.cursor.expect_name("a variable")?;
                self.cursor.next();
                Ok(Some(StatementKind::Sum {
                    target,
                    value: self.cursor.expression()?,
                }))
            }
            ":" => Err(self.cursor.not_yet("statement label")),
            "." => Err(self.cursor.not_yet("call of a method")),
            "{" | "[" => Err(self.cursor.not_yet("assignment to an array element")),
            "(" if self.is_assigned_after_parentheses() => {
                let what = format!("assignment to {}(…)", name.to_ascii_uppercase());
                Err(self.cursor.not_yet(what))
            }
            _ => Ok(None),
        }
    }

    fn is_assigned_after_parentheses(&self) -> bool {
        let mut ahead = self.cursor.clone();
        ahead.next();
        ahead.eat_symbol("(")
            && ahead.parenthesised_text().is_ok()
            && ahead.eat_symbol(")")
            && ahead.at_symbol("=")
            && !self.cursor.at_word("IF")
    }

    fn keyword_statement(&mut self, keyword: &str, span: &Span) -> Parsed<StatementKind> {
        let cursor = &mut self.cursor;
        Ok(match keyword {
            "SET" => self.set(span)?,
            "WHERE" => {
                if cursor.at_word("ALSO") || cursor.at_word("SAME") {
                    return Err(cursor.not_yet("WHERE ALSO statement"));
                }
                StatementKind::Where(cursor.where_expression()?)
            }
            "KEEP" => StatementKind::Keep(cursor.variable_list()?),
            "DROP" => StatementKind::Drop(cursor.variable_list()?),
            "RENAME" => StatementKind::Rename(cursor.renames()?),
            "RETAIN" => StatementKind::Retain(declare::retain(cursor)?),
            "LENGTH" => StatementKind::Length(declare::length(cursor)?),
            "FORMAT" => StatementKind::Format(cursor.formats()?),
            "INFORMAT" => StatementKind::Informat(cursor.formats()?),
            "LABEL" => StatementKind::Label(cursor.labels()?),
            "BY" => StatementKind::By(cursor.by_list()?),
            "OUTPUT" => {
                let mut datasets = Vec::new();
                while !cursor.is_at_end() {
                    datasets.push(cursor.dataset_ref()?);
                }
                StatementKind::Output(datasets)
            }
            "DELETE" => StatementKind::Delete,
            "STOP" => StatementKind::Stop,
            "RETURN" => StatementKind::Return,
            "LEAVE" if self.loops > 0 || self.selects > 0 => StatementKind::Leave,
            "CONTINUE" if self.loops > 0 => StatementKind::Continue,
            _ if is_one_of(keyword, STEP_NOT_YET) => {
                return Err(finding::not_yet(span, format!("{keyword} statement")));
            }
            _ => return Err(finding::out_of_order(span, keyword)),
        })
    }

    /// `SET a b(options) END=last NOBS=n;`
    fn set(&mut self, span: &Span) -> Parsed<StatementKind> {
        let cursor = &mut self.cursor;
        let (mut datasets, mut options) = (Vec::new(), Vec::new());
        while !cursor.is_at_end() {
            if cursor.eat_symbol("/") {
                let (name, span) = cursor.expect_name("UNIQUE")?;
                options.push(Setting {
                    name,
                    value: None,
                    span,
                });
            } else if cursor.is_symbol_at(1, "=") {
                options.push(cursor.setting()?);
            } else {
                datasets.push(cursor.dataset_ref()?);
            }
        }
        if datasets.is_empty() {
            datasets.push(named("_LAST_", span.clone()));
        }
        Ok(StatementKind::Set { datasets, options })
    }

    /// From behind IF: all arms of a chain, in a loop, since chains are longer than nests are deep.
    fn if_chain(&mut self, mut span: Span) -> Parsed<StatementKind> {
        let mut arms: Vec<(Span, Expr, Statement)> = Vec::new();
        let last = loop {
            let condition = self.condition()?;
            if !self.cursor.eat_word("THEN") {
                self.close()?;
                break Some(Statement {
                    span,
                    kind: StatementKind::SubsettingIf(condition),
                });
            }
            let then = self.dependent();
            arms.push((span, condition, then));
            if !self.cursor.at_word("ELSE") || self.cursor.is_symbol_at(1, "=") {
                break None;
            }
            if arms.len() >= ELSE_CHAIN_MAX {
                let text = format!("The IF statement has more than {ELSE_CHAIN_MAX} ELSE IF");
                return Err(self.cursor.fail(text));
            }
            self.cursor.next();
            span = self.cursor.span();
            if self.cursor.is_symbol_at(1, "=") || !self.cursor.eat_word("IF") {
                break Some(self.dependent());
            }
        };
        let mut rest = last;
        for (span, condition, then) in arms.into_iter().rev() {
            let otherwise = rest.map(Box::new);
            let kind = StatementKind::If {
                condition,
                then: Box::new(then),
                otherwise,
            };
            rest = Some(Statement { span, kind });
        }
        Ok(rest.map_or(StatementKind::Empty, |statement| statement.kind))
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
    fn dependent(&mut self) -> Statement {
        let (span, index) = (self.cursor.span(), self.cursor.index());
        let statement = self.statement();
        if let Some(statement) = &statement
            && is_declaration(&statement.kind)
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
        statement.unwrap_or(Statement {
            span,
            kind: StatementKind::Empty,
        })
    }

    fn do_group(&mut self, span: &Span) -> StatementKind {
        let index = self.cursor.index();
        let header = loops::header(&mut self.cursor).unwrap_or_else(|diagnostic| {
            self.report(index, diagnostic);
            Some(Header::default())
        });
        self.skip();
        let Some(Header {
            index,
            while_,
            until,
        }) = header
        else {
            return StatementKind::Block(self.body(Some(span)));
        };
        self.loops += 1;
        let body = self.body(Some(span));
        self.loops -= 1;
        StatementKind::Loop(Box::new(Loop {
            index,
            while_,
            until,
            body,
        }))
    }

    /// Not there yet, but read, so that its END is not taken for another's.
    fn select(&mut self, span: &Span) -> StatementKind {
        self.report(
            self.cursor.index(),
            finding::not_yet(span, "SELECT statement"),
        );
        self.skip();
        self.selects += 1;
        let body = self.body(Some(span));
        self.selects -= 1;
        StatementKind::Block(body)
    }

    fn when(&mut self, keyword: &str) -> Parsed<Option<StatementKind>> {
        if keyword == "WHEN" {
            self.cursor.expect_symbol("(")?;
            self.cursor.parenthesised_text()?;
            self.cursor.expect_symbol(")")?;
        }
        Ok(Some(self.dependent().kind))
    }
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
    )
}

fn named(member: &str, span: Span) -> DatasetRef {
    DatasetRef {
        span,
        libref: None,
        member: member.to_owned(),
        options: Vec::new(),
    }
}
