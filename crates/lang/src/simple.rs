//! Statements of a DATA step that have no statements inside, and the DATA statement itself.

use crate::ast::{DatasetRef, ExprKind, Place, Setting, Statement, StatementKind, TokenKind};
use crate::cursor::Parsed;
use crate::finding;
use crate::keywords::is_one_of;
use crate::statement::{Entry, Read};
use crate::step::Parser;
use base::diag::Span;

impl Parser<'_> {
    /// `DATA a b(options);`
    pub(crate) fn data_statement(&mut self) -> Parsed<Vec<DatasetRef>> {
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

    pub(crate) fn simple_statement(&mut self, span: Span) -> Option<Box<Statement>> {
        let index = self.cursor.index();
        let parsed = self.simple_kind(&span);
        let kind = self.recover(index, parsed)??;
        Some(Box::new(Statement { span, kind }))
    }

    fn simple_kind(&mut self, span: &Span) -> Parsed<Option<StatementKind>> {
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
        if self.cursor.is_symbol_at(1, ":") {
            let (name, _) = self.cursor.expect_name("a label")?;
            self.cursor.next();
            return Ok(Some(StatementKind::Mark(name)));
        }
        self.cursor.next();
        if keyword == "COMMENT" {
            self.skip();
            return Ok(None);
        }
        let kind = self.keyword_statement(&keyword, span)?;
        self.close()?;
        Ok(Some(kind))
    }

    /// From behind CALL.
    pub(crate) fn call(&mut self) -> Parsed<StatementKind> {
        let span = self.cursor.span();
        match self.cursor.expression()?.kind {
            ExprKind::Call(name, arguments) => Ok(StatementKind::Call(name, arguments)),
            ExprKind::Variable(name) => Ok(StatementKind::Call(name, Vec::new())),
            _ => Err(finding::error(
                &span,
                "22-322: Syntax error, expecting the name of a CALL routine",
            )),
        }
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
            "." => self.method_statement().map(Some),
            "{" | "[" => self.store().map(Some),
            "(" if self.is_stored_after_parentheses() => self.store().map(Some),
            _ => Ok(None),
        }
    }

    fn method_statement(&mut self) -> Parsed<StatementKind> {
        let call = self.cursor.expression()?;
        if matches!(
            call.kind,
            ExprKind::Method {
                arguments: Some(_),
                ..
            }
        ) {
            Ok(StatementKind::Method(call))
        } else {
            Err(self.cursor.expected("a call of a method"))
        }
    }

    /// `a{i} = value;`, `a(i) + value;`, `substr(c, 1, 2) = value;`
    fn store(&mut self) -> Parsed<StatementKind> {
        let (name, _) = self.cursor.expect_name("a variable")?;
        let place = if name.eq_ignore_ascii_case("substr") && self.cursor.at_symbol("(") {
            self.substr()?
        } else {
            Place::Element {
                array: name,
                subscripts: self.cursor.subscripts()?,
            }
        };
        let element = matches!(place, Place::Element { .. });
        let sum = element && self.cursor.eat_symbol("+");
        if !sum {
            self.cursor.expect_symbol("=")?;
        }
        let value = self.cursor.expression()?;
        Ok(StatementKind::Store {
            place: Box::new(place),
            sum,
            value,
        })
    }

    /// From behind SUBSTR.
    fn substr(&mut self) -> Parsed<Place> {
        let mut arguments = self.cursor.subscripts()?.into_iter();
        match (
            arguments.next(),
            arguments.next(),
            arguments.next(),
            arguments.next(),
        ) {
            (Some(of), Some(start), length, None) => Ok(Place::Substr {
                of: Box::new(of),
                start: Box::new(start),
                length: length.map(Box::new),
            }),
            _ => Err(self.cursor.expected("SUBSTR with two or three arguments")),
        }
    }

    fn is_stored_after_parentheses(&self) -> bool {
        let mut ahead = self.cursor.clone();
        ahead.next();
        ahead.eat_symbol("(")
            && ahead.parenthesised_text().is_ok()
            && ahead.eat_symbol(")")
            && (ahead.at_symbol("=") || ahead.at_symbol("+"))
            && !["IF", "PUT", "PUTLOG", "INPUT", "SELECT", "WHEN"]
                .iter()
                .any(|word| self.cursor.at_word(word))
    }

    fn keyword_statement(&mut self, keyword: &str, span: &Span) -> Parsed<StatementKind> {
        match Entry::find(keyword) {
            Some(entry) => match entry.read {
                Read::Simple(read) => read(self, span),
                Read::Refused(_) => Err(entry.not_yet(span)),
                Read::Structure(_) | Read::Part | Read::Lines => {
                    Err(finding::out_of_order(span, keyword))
                }
            },
            None => Err(finding::out_of_order(span, keyword)),
        }
    }

    /// From behind LEAVE, which needs something to leave.
    pub(crate) fn leave(&self, span: &Span) -> Parsed<StatementKind> {
        if self.loops + self.selects == 0 {
            return Err(finding::out_of_order(span, "LEAVE"));
        }
        Ok(StatementKind::Leave)
    }

    /// From behind CONTINUE.
    pub(crate) fn go_on(&self, span: &Span) -> Parsed<StatementKind> {
        if self.loops == 0 {
            return Err(finding::out_of_order(span, "CONTINUE"));
        }
        Ok(StatementKind::Continue)
    }

    /// `SET a b(options) END=last NOBS=n;`
    pub(crate) fn sources(&mut self, span: &Span) -> Parsed<(Vec<DatasetRef>, Vec<Setting>)> {
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
                datasets.extend(cursor.dataset_list()?);
            }
        }
        if datasets.is_empty() {
            datasets.push(named("_LAST_", span.clone()));
        }
        Ok((datasets, options))
    }
}

fn named(member: &str, span: Span) -> DatasetRef {
    DatasetRef {
        span,
        libref: None,
        member: member.to_owned(),
        options: Vec::new(),
    }
}
