//! Reading a list of tokens with good errors: what the step parser and every procedure use for
//! their own statements.

use crate::ast::{FormatModifier, FormatRef, Setting, Token, TokenKind};
use crate::finding;
use crate::keywords::NAME_CHARACTERS_MAX;
use crate::literal;
use base::diag::{Diagnostic, Span};
use base::limits::NESTING_MAX;
use std::sync::Arc;

/// What reading gives: the thing, or the error to report.
pub type Parsed<T> = Result<T, Diagnostic>;

/// A place in a list of tokens. As an iterator it takes tokens one by one.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    tokens: &'a [Token],
    index: usize,
    end: Span,
    pub(crate) in_where: bool,
    /// The expression being parsed is one of SQL.
    pub(crate) in_sql: bool,
    pub(crate) depth: u32,
}

impl<'a> Iterator for Cursor<'a> {
    type Item = &'a Token;

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.index)?;
        self.index += 1;
        Some(token)
    }
}

impl<'a> Cursor<'a> {
    /// A cursor at the first of `tokens`. `start` is where their statement starts: errors name it
    /// if there are no tokens at all.
    pub fn new(tokens: &'a [Token], start: &Span) -> Self {
        let end = tokens
            .last()
            .map_or_else(|| start.clone(), |token| after(&token.span));
        Self {
            tokens,
            index: 0,
            end,
            in_where: false,
            in_sql: false,
            depth: 0,
        }
    }

    /// The next token.
    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.index)
    }

    /// The token `count` places further: 0 is [`Self::peek`].
    pub fn peek_at(&self, count: usize) -> Option<&'a Token> {
        self.tokens.get(self.index.saturating_add(count))
    }

    /// How many tokens have been taken.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Goes back (or on) to where [`Self::index`] was taken.
    pub fn rewind(&mut self, index: usize) {
        self.index = index.min(self.tokens.len());
    }

    /// Whether every token is taken.
    pub fn is_done(&self) -> bool {
        self.peek().is_none()
    }

    /// Whether the statement ends here: no token left, or a semicolon.
    pub fn is_at_end(&self) -> bool {
        self.is_done() || self.at_symbol(";")
    }

    /// Where the next token stands, or where the last one ended.
    pub fn span(&self) -> Span {
        self.peek()
            .map_or_else(|| self.end.clone(), |token| token.span.clone())
    }

    /// The next token if it is a word, as written.
    pub fn peek_word(&self) -> Option<&'a str> {
        self.peek().and_then(word)
    }

    /// Whether the next token is this word, ignoring case.
    pub fn at_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    /// Whether the token `count` places further is this word, ignoring case.
    pub fn is_word_at(&self, count: usize, word: &str) -> bool {
        self.peek_at(count)
            .is_some_and(|t| matches!(&t.kind, TokenKind::Word(w) if w.eq_ignore_ascii_case(word)))
    }

    /// Whether the next token is this symbol.
    pub fn at_symbol(&self, symbol: &str) -> bool {
        self.is_symbol_at(0, symbol)
    }

    /// Whether the token `count` places further is this symbol.
    pub fn is_symbol_at(&self, count: usize, symbol: &str) -> bool {
        self.peek_at(count)
            .is_some_and(|t| matches!(t.kind, TokenKind::Symbol(s) if s == symbol))
    }

    /// Takes the next token if it is this word.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.index += usize::from(found);
        found
    }

    /// Takes the next token if it is this symbol.
    pub fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.at_symbol(symbol);
        self.index += usize::from(found);
        found
    }

    /// Takes this word or fails.
    pub fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        let span = self.span();
        if self.eat_word(word) {
            Ok(span)
        } else {
            Err(self.expected(word))
        }
    }

    /// Takes this symbol or fails.
    pub fn expect_symbol(&mut self, symbol: &str) -> Parsed<Span> {
        let span = self.span();
        if self.eat_symbol(symbol) {
            Ok(span)
        } else {
            Err(self.expected(&format!("'{symbol}'")))
        }
    }

    /// Takes a name, `'…'n` included; `what` it names goes into the error: `"a variable"`.
    pub fn expect_name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Word(name)) => {
                if name.len() > NAME_CHARACTERS_MAX {
                    return Err(self.fail(format!("The name {name} is longer than 32 characters")));
                }
                self.index += 1;
                Ok((name.clone(), span))
            }
            Some(TokenKind::Name(name)) => {
                self.index += 1;
                Ok((name.clone(), span))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes a quoted text.
    pub fn expect_text(&mut self) -> Parsed<String> {
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Text(text, _)) => {
                self.index += 1;
                Ok(text.clone())
            }
            _ => Err(self.expected("a quoted text")),
        }
    }

    /// Takes a number, with a minus sign if there is one.
    pub fn expect_number(&mut self) -> Parsed<f64> {
        let start = self.index;
        let negative = self.eat_symbol("-");
        match self.next().map(|token| &token.kind) {
            Some(TokenKind::Number(value, _)) => Ok(if negative { -value } else { *value }),
            _ => {
                self.index = start;
                Err(self.expected("a number"))
            }
        }
    }

    /// Takes a number without fraction that is not negative.
    pub fn expect_count(&mut self) -> Parsed<u64> {
        let start = self.index;
        let value = self.expect_number()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "range and fraction are checked in the same line"
        )]
        if value.fract() == 0.0 && (0.0..=9e15).contains(&value) {
            return Ok(value as u64);
        }
        self.index = start;
        Err(self.expected("a whole number"))
    }

    /// Fails unless the statement ends here.
    pub fn expect_end(&self) -> Parsed<()> {
        if self.is_at_end() {
            Ok(())
        } else {
            Err(self.expected("';'"))
        }
    }

    /// A format or informat: `best12.2`, `$8.`, `8.2`. Takes nothing if there is none.
    pub fn format_ref(&mut self) -> Option<FormatRef> {
        let token = self.peek()?;
        let format = match &token.kind {
            TokenKind::Format(format) => format.clone(),
            TokenKind::Number(_, text) => literal::number_as_format(text, &token.span)?,
            _ => return None,
        };
        self.index += 1;
        Some(format)
    }

    /// `-L`, `-R` or `-C` behind a format of PUT.
    pub(crate) fn alignment(&mut self, format: &mut FormatRef) {
        let close = self.peek_at(1).is_some_and(|token| !token.spaced);
        let letters = [
            ("L", FormatModifier::Left),
            ("R", FormatModifier::Right),
            ("C", FormatModifier::Center),
        ];
        let found = letters
            .iter()
            .find(|(letter, _)| self.is_word_at(1, letter));
        if let Some((_, modifier)) = found
            && self.at_symbol("-")
            && close
        {
            self.index += 2;
            format.modifier = *modifier;
        }
    }

    /// `name` or `name=value`.
    pub fn setting(&mut self) -> Parsed<Setting> {
        let (name, span) = self.expect_name("an option")?;
        let value = if self.eat_symbol("=") {
            Some(self.value_text()?)
        } else {
            None
        };
        Ok(Setting { name, value, span })
    }

    /// Settings up to the end or a `/`.
    pub fn settings(&mut self) -> Parsed<Vec<Setting>> {
        let mut settings = Vec::new();
        while !self.is_at_end() && !self.at_symbol("/") {
            settings.push(self.setting()?);
        }
        Ok(settings)
    }

    /// The text of an option's value: one quoted text without its quotes, what stands between
    /// parentheses, or everything up to the next blank that cannot be missed (`128k`, `a.b`).
    pub fn value_text(&mut self) -> Parsed<String> {
        if self.eat_symbol("(") {
            let text = self.parenthesised_text()?;
            self.expect_symbol(")")?;
            return Ok(text);
        }
        let mut text = String::new();
        if self.eat_symbol("-") {
            text.push('-');
        }
        match self.peek().map(|token| &token.kind) {
            None | Some(TokenKind::Symbol(_)) => return Err(self.expected("a value")),
            Some(TokenKind::Text(quoted, _)) => {
                self.index += 1;
                return Ok(quoted.clone());
            }
            Some(_) => {}
        }
        let first = self.index;
        while let Some(token) = self.peek() {
            let glued = self.index == first || !token.spaced;
            let part = match &token.kind {
                TokenKind::Symbol(symbol) => *symbol == ".",
                TokenKind::Text(..) => false,
                _ => true,
            };
            if !glued || !part {
                break;
            }
            text.push_str(&token_text(token));
            self.index += 1;
        }
        Ok(text)
    }

    /// The text up to the parenthesis that closes the one just taken.
    pub(crate) fn parenthesised_text(&mut self) -> Parsed<String> {
        let mut depth = 0_u32;
        let first = self.index;
        while let Some(token) = self.peek() {
            match token.kind {
                TokenKind::Symbol("(") => depth = depth.saturating_add(1),
                TokenKind::Symbol(")") if depth == 0 => {
                    return Ok(text_of(self.tokens.get(first..self.index).unwrap_or(&[])));
                }
                TokenKind::Symbol(")") => depth -= 1,
                TokenKind::Symbol(";") => break,
                _ => {}
            }
            self.index += 1;
        }
        Err(self.expected("')'"))
    }

    /// The text of all remaining tokens, blanks as written (several as one).
    pub fn rest_text(&mut self) -> String {
        let text = text_of(self.tokens.get(self.index..).unwrap_or(&[]));
        self.index = self.tokens.len();
        text
    }

    /// An error at the present place. The sentence has no final period: the place follows it.
    pub fn fail(&self, message: impl AsRef<str>) -> Diagnostic {
        finding::error(&self.span(), message)
    }

    /// An error at the present place: `what` stands there but is not implemented yet.
    pub fn not_yet(&self, what: impl AsRef<str>) -> Diagnostic {
        finding::not_yet(&self.span(), what)
    }

    /// An error at the present place: something else was expected. The number is SAS's own.
    pub fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Some(Token {
                kind: TokenKind::Symbol(symbol),
                ..
            }) => format!("'{symbol}'"),
            Some(token) => token_text(token),
            None => "the end of the statement".to_owned(),
        };
        self.fail(format!(
            "22-322: Syntax error, expecting {what} but found {found}"
        ))
    }

    /// Goes one level deeper or fails: the depth of what foreign text makes the parser do, and with
    /// it the stack, is bounded.
    pub(crate) fn enter(&mut self) -> Parsed<()> {
        if self.depth >= NESTING_MAX {
            return Err(self.too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(crate) fn too_deep(&self) -> Diagnostic {
        self.fail(format!(
            "The program is nested more than {NESTING_MAX} levels deep"
        ))
    }
}

/// The word a token is, as written.
pub(crate) fn word(token: &Token) -> Option<&str> {
    match &token.kind {
        TokenKind::Word(word) => Some(word),
        _ => None,
    }
}

/// A token as it could be written; quoted texts with their quotes.
pub fn token_text(token: &Token) -> String {
    match &token.kind {
        TokenKind::Word(text) | TokenKind::Number(_, text) => text.clone(),
        TokenKind::Missing(0) => ".".to_owned(),
        TokenKind::Missing(code) => format!(".{}", char::from(*code)),
        TokenKind::Text(text, true) => format!("\"{}\"", text.replace('"', "\"\"")),
        TokenKind::Text(text, false) => format!("'{}'", text.replace('\'', "''")),
        TokenKind::Name(text) => format!("'{}'n", text.replace('\'', "''")),
        TokenKind::Format(format) => format_text(format),
        TokenKind::Symbol(symbol) => (*symbol).to_owned(),
    }
}

/// A format as it could be written: `BEST12.2`, `$8.`.
pub fn format_text(format: &FormatRef) -> String {
    let width = if format.width == 0 {
        String::new()
    } else {
        format.width.to_string()
    };
    let decimals = if format.decimals == 0 {
        String::new()
    } else {
        format.decimals.to_string()
    };
    let (before, after) = match format.modifier {
        FormatModifier::None => ("", ""),
        FormatModifier::Left => ("", "-L"),
        FormatModifier::Right => ("", "-R"),
        FormatModifier::Center => ("", "-C"),
        FormatModifier::Silent => ("?? ", ""),
    };
    format!("{before}{}{width}.{decimals}{after}", format.name)
}

/// Tokens as text, blanks as written (several as one).
pub fn text_of(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.spaced && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token_text(token));
    }
    text
}

fn after(span: &Span) -> Span {
    Span {
        source: Arc::clone(&span.source),
        line: span.line,
        column: span.column.saturating_add(span.length),
        length: 1,
    }
}
