//! The word scanner: characters of the source stack to tokens, one at a time, with the macro
//! processor called wherever a word could change (`&` inside a word, `%` before one).

use crate::ast::{Token, TokenKind};
use crate::cursor::token_text;
use crate::finding;
use crate::keywords::{in_name, starts_name};
use crate::literal;
use crate::macros::mask::{unmask, unmasked};
use crate::session::{Host, Trace};
use crate::source::Source;
use base::diag::{Diagnostic, Severity, Span};
use std::collections::VecDeque;

/// How far the scanner looks ahead for `&&…` and hexadecimal digits: none that means anything is
/// longer, and without an end the look itself would take quadratic time.
const RUN_MAX: usize = 64;

/// Findings and lines about macros that are handed out in the middle of a step.
const FINDINGS_MAX: usize = 1_000;

/// What comes next in the text.
pub(crate) enum Event {
    /// A token of the program.
    Token(Token),
    /// A `%put` was passed: its text must be written before anything that follows.
    Put(Put),
    /// Much has been found, which should be written before more of it comes.
    Pause,
    /// The end of all text.
    End,
}

/// A line of `%put`.
pub(crate) struct Put {
    pub(crate) span: Span,
    pub(crate) text: String,
    /// How many traces come before it, of those not handed out.
    pub(crate) after: usize,
    /// How many findings do.
    pub(crate) found: usize,
}

pub(crate) struct Scanner {
    pub(crate) source: Source,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// How many of them were looked at.
    checked: usize,
    /// Found together with the token before it.
    queued: Option<Token>,
    /// The step is too large and is passed over: references stay as they are, findings are dropped.
    skipping: bool,
    /// `%put` texts that have not been handed out.
    pub(crate) puts: VecDeque<Put>,
    /// Lines of MPRINT and its kind.
    pub(crate) traces: Vec<Trace>,
    /// The statement that a macro makes, for MPRINT.
    statement: String,
    /// What macros may still do, if that is limited.
    pub(crate) operations_left: Option<u64>,
    /// They have done it.
    pub(crate) exhausted: bool,
    /// Texts within texts being collected.
    pub(crate) nesting: u32,
    /// Tables of macros that run outside of this text.
    pub(crate) scopes_outside: usize,
}

impl Scanner {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self {
            source: Source::new(name, text),
            diagnostics: Vec::new(),
            checked: 0,
            queued: None,
            skipping: false,
            puts: VecDeque::new(),
            traces: Vec::new(),
            statement: String::new(),
            operations_left: None,
            exhausted: false,
            nesting: 0,
            scopes_outside: 0,
        }
    }

    /// A line about macros for the log.
    pub(crate) fn trace(&mut self, text: String) {
        let after = self.source.lines_taken();
        self.traces.push(Trace { after, text });
    }

    /// A line of `%put`.
    pub(crate) fn put_line(&mut self, span: &Span, text: String) {
        self.puts.push_back(Put {
            span: span.clone(),
            text,
            after: self.traces.len(),
            found: self.diagnostics.len(),
        });
    }

    /// Whether an error was found since the last look.
    pub(crate) fn has_failed(&mut self) -> bool {
        let new = self.diagnostics.get(self.checked..).unwrap_or_default();
        let failed = new.iter().any(|one| one.severity == Severity::Error);
        self.checked = self.diagnostics.len();
        failed
    }

    /// What was found before `put`, which is written now, or before the first line that waits.
    pub(crate) fn take_diagnostics(&mut self, put: Option<&Put>) -> Vec<Diagnostic> {
        let all = self.diagnostics.len();
        let put = put.or(self.puts.front());
        let count = put.map_or(all, |put| put.found.min(all));
        for put in &mut self.puts {
            put.found = put.found.saturating_sub(count);
        }
        self.checked = self.checked.saturating_sub(count);
        self.diagnostics.drain(..count).collect()
    }

    /// The first `count` traces; those left come before all that is read from now on.
    pub(crate) fn take_traces(&mut self, count: Option<usize>) -> Vec<Trace> {
        let all = self.traces.len();
        let count = count.or(self.puts.front().map(|put| put.after));
        let count = count.map_or(all, |count| count.min(all));
        for put in &mut self.puts {
            put.after = put.after.saturating_sub(count);
        }
        let taken = self.traces.drain(..count).collect();
        for trace in &mut self.traces {
            trace.after = 0;
        }
        taken
    }

    /// All lines for the log that have not been handed out, in order.
    pub(crate) fn take_log(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut puts = std::mem::take(&mut self.puts).into_iter().peekable();
        for (index, trace) in std::mem::take(&mut self.traces).into_iter().enumerate() {
            while let Some(put) = puts.next_if(|put| put.after <= index) {
                lines.push(put.text);
            }
            lines.push(trace.text);
        }
        lines.extend(puts.map(|put| put.text));
        lines
    }

    /// Hands out a token; MPRINT shows those that macros make.
    fn emit(&mut self, token: Token, host: &dyn Host) -> Event {
        if host.tracing().mprint && !self.skipping {
            self.mprint(&token);
        }
        Event::Token(token)
    }

    fn mprint(&mut self, token: &Token) {
        let Some(name) = self
            .source
            .activations()
            .find(|one| one.scoped)
            .map(|one| one.name().to_string())
        else {
            self.statement.clear();
            return;
        };
        if token.spaced && !self.statement.is_empty() {
            self.statement.push(' ');
        }
        self.statement.push_str(&token_text(token));
        if matches!(token.kind, TokenKind::Symbol(";")) {
            let statement = std::mem::take(&mut self.statement);
            self.trace(format!("MPRINT({name}):   {statement}"));
        }
    }

    /// Passes over the rest of a step that is too large.
    pub(crate) fn skip_step(&mut self) {
        self.skipping = true;
        self.queued = None;
        self.source.lift_budget();
        self.source.abandon_expansions();
    }

    /// A new step begins.
    pub(crate) fn start_step(&mut self) {
        self.skipping = false;
        self.source.start_budget();
    }

    pub(crate) fn is_skipping(&self) -> bool {
        self.skipping
    }

    /// Counts a token or macro statement and what was found in it.
    fn count(&mut self, findings_before: usize) {
        if self.skipping {
            self.diagnostics.clear();
        }
        let findings = self.diagnostics.len().saturating_sub(findings_before);
        self.source.spend(0, findings.saturating_add(1));
    }

    /// The next event. `*` starts a comment only where a statement may start.
    pub(crate) fn next(&mut self, host: &mut dyn Host, statement_start: bool) -> Event {
        if let Some(token) = self.queued.take() {
            return self.emit(token, host);
        }
        let mut spaced = false;
        loop {
            if let Some(put) = self.puts.pop_front() {
                return Event::Put(put);
            }
            if self.diagnostics.len() + self.traces.len() > FINDINGS_MAX && !self.skipping {
                return Event::Pause;
            }
            // One node at a time: what it writes comes before what the next one does.
            if self.run_macro(host) {
                continue;
            }
            let findings = self.diagnostics.len();
            let Some(character) = self.peek(host) else {
                if self.puts.is_empty() {
                    return Event::End;
                }
                continue;
            };
            let event = match character {
                _ if character.is_whitespace() => {
                    self.source.bump();
                    None
                }
                '/' if self.source.ahead(1) == Some('*') => {
                    self.skip_comment(host);
                    None
                }
                '*' if statement_start => {
                    self.skip_to_semicolon(host);
                    None
                }
                '%' if self.source.peek_quoted() == Some('%') => {
                    let sign = !self.percent(host);
                    let token = sign.then(|| {
                        let span = self.source.place();
                        self.source.bump();
                        (TokenKind::Symbol("%"), span)
                    });
                    self.count(findings);
                    token
                }
                _ => {
                    let token = self.token(character, host);
                    self.count(findings);
                    if token.is_none() {
                        continue;
                    }
                    token
                }
            };
            if let Some((kind, span)) = event {
                return self.emit(Token { kind, span, spaced }, host);
            }
            spaced = true;
        }
    }

    /// Whether the next character past blanks is `wanted`; nothing is expanded or consumed, since
    /// the answer decides whether the step before this word ends here.
    pub(crate) fn is_followed_by(&self, wanted: char) -> bool {
        self.source.ahead_past_blanks() == Some(wanted)
    }

    /// The next character after macro references and calls at this very place are resolved.
    pub(crate) fn peek(&mut self, host: &mut dyn Host) -> Option<char> {
        self.peek_quoted(host).map(unmask)
    }

    /// The same as the macro processor sees it.
    pub(crate) fn peek_quoted(&mut self, host: &mut dyn Host) -> Option<char> {
        loop {
            let character = self.source.peek_quoted();
            let resolved = match character {
                None => {
                    self.fill(host);
                    return match self.source.peek_quoted() {
                        None => None,
                        Some(_) => self.peek_quoted(host),
                    };
                }
                Some('&') if !self.skipping && self.source.is_live() => self.expand(host),
                Some('%') => self.call_here(host),
                _ => false,
            };
            if !resolved {
                return character;
            }
        }
    }

    /// Replaces the reference at the present place by its text; false if `&` is just `&`.
    pub(crate) fn expand(&mut self, host: &dyn Host) -> bool {
        let ampersands = self.source.run_length('&', RUN_MAX);
        if !self.source.ahead(ampersands).is_some_and(starts_name) {
            return false;
        }
        let start = self.source.place();
        let mut text = String::new();
        while let Some(character) = self.source.peek_quoted() {
            let first_name = ampersands == 1;
            let inside = if text.is_empty() || (!first_name && character == '&') {
                true
            } else {
                in_name(character) || (!first_name && character == '.')
            };
            if !inside {
                break;
            }
            text.push(character);
            self.source.bump();
        }
        if ampersands == 1 && self.source.peek_quoted() == Some('.') {
            text.push('.');
            self.source.bump();
        }
        let span = self.source.stretch(start);
        let resolved = self.resolve(&text, &span, host);
        self.source.push_expansion(span, resolved, false);
        true
    }

    /// The next character as it stands, macros run for it.
    fn bump(&mut self, host: &mut dyn Host) -> Option<char> {
        self.source.bump().or_else(|| {
            self.fill(host);
            self.source.bump()
        })
    }

    /// Skips `/* … */`.
    pub(crate) fn skip_comment(&mut self, host: &mut dyn Host) {
        let start = self.source.place();
        self.source.bump();
        self.source.bump();
        loop {
            match self.bump(host) {
                Some('*') if self.source.peek() == Some('/') => {
                    self.source.bump();
                    return;
                }
                Some(_) => {}
                None => {
                    let text = "The comment that begins here is never closed";
                    self.diagnostics.push(finding::error(&start, text));
                    return;
                }
            }
        }
    }

    /// Skips up to and with the next semicolon: the rest of a comment statement.
    pub(crate) fn skip_to_semicolon(&mut self, host: &mut dyn Host) {
        while !matches!(self.bump(host), None | Some(';')) {}
    }

    /// Takes raw data lines: all after this one up to one that holds `end`, which is read on as
    /// program text.
    pub(crate) fn take_data_lines(&mut self, end: &str) -> Vec<String> {
        self.source.take_rest_of_line();
        let mut lines = Vec::new();
        while let Some(line) = self.source.take_data_line(end) {
            lines.push(line);
        }
        lines
    }

    fn token(&mut self, first: char, host: &mut dyn Host) -> Option<(TokenKind, Span)> {
        let start = self.source.place();
        let mut kind = match first {
            '\'' | '"' => self.quoted(first, &start, host),
            '$' => self.dollar(host),
            '.' => self.dot(host),
            c if c.is_ascii_digit() => self.number(String::new(), host),
            c if starts_name(c) => self.word(&start, host),
            _ => return self.symbol(start),
        };
        let span = self.source.stretch(start);
        if let TokenKind::Format(format) = &mut kind {
            format.span = span.clone();
        }
        Some((kind, span))
    }

    fn name_text(&mut self, host: &mut dyn Host) -> String {
        let mut text = String::new();
        while let Some(character) = self.peek(host).filter(|c| in_name(*c)) {
            text.push(character);
            self.source.bump();
        }
        text
    }

    fn digits(&mut self, host: &mut dyn Host) -> String {
        let mut text = String::new();
        while let Some(character) = self.peek(host).filter(char::is_ascii_digit) {
            text.push(character);
            self.source.bump();
        }
        text
    }

    /// A name, or a format if a period and no further name follow: `best12.2`, `date9.`.
    fn word(&mut self, start: &Span, host: &mut dyn Host) -> TokenKind {
        let text = self.name_text(host);
        if self.peek(host) != Some('.') {
            return TokenKind::Word(text);
        }
        let dot = self.source.place();
        self.source.bump();
        match self.peek(host) {
            Some(c) if starts_name(c) || matches!(c, '*' | '\'' | '"') => {
                self.queued = Some(Token {
                    kind: TokenKind::Symbol("."),
                    span: dot,
                    spaced: false,
                });
                TokenKind::Word(text)
            }
            _ => {
                let decimals = self.digits(host);
                TokenKind::Format(literal::format(&text, &decimals, start))
            }
        }
    }

    /// `$`, or a character format: `$8.`, `$char20.`.
    fn dollar(&mut self, host: &mut dyn Host) -> TokenKind {
        let start = self.source.place();
        self.source.bump();
        if !self.peek(host).is_some_and(in_name) {
            if self.source.peek() == Some('.') && !self.source.ahead(1).is_some_and(in_name) {
                self.source.bump();
                return TokenKind::Format(literal::format("$", "", &start));
            }
            return TokenKind::Symbol("$");
        }
        let place = self.source.place();
        let text = self.name_text(host);
        if self.peek(host) == Some('.') {
            self.source.bump();
            let decimals = self.digits(host);
            return TokenKind::Format(literal::format(&format!("${text}"), &decimals, &start));
        }
        let span = self.source.stretch(place);
        let kind = match text.parse::<f64>() {
            Ok(value) if text.bytes().all(|b| b.is_ascii_digit()) => TokenKind::Number(value, text),
            _ => TokenKind::Word(text),
        };
        self.queued = Some(Token {
            kind,
            span,
            spaced: false,
        });
        TokenKind::Symbol("$")
    }

    /// `.5`, `.`, `._`, `.a`.
    fn dot(&mut self, host: &mut dyn Host) -> TokenKind {
        self.source.bump();
        match self.peek(host) {
            Some(c) if c.is_ascii_digit() => self.number(".".to_owned(), host),
            Some(c) if starts_name(c) && !self.source.ahead(1).is_some_and(in_name) => {
                self.source.bump();
                TokenKind::Missing(u8::try_from(c.to_ascii_uppercase()).unwrap_or(0))
            }
            _ => TokenKind::Missing(0),
        }
    }

    /// A number; `text` holds a leading period if there was one.
    fn number(&mut self, mut text: String, host: &mut dyn Host) -> TokenKind {
        if text.is_empty()
            && let Some(number) = self.hexadecimal()
        {
            return number;
        }
        text.push_str(&self.digits(host));
        if !text.contains('.') && self.peek(host) == Some('.') {
            self.source.bump();
            text.push('.');
            text.push_str(&self.digits(host));
        }
        if matches!(self.peek(host), Some('e' | 'E' | 'd' | 'D')) {
            let sign = usize::from(matches!(self.source.ahead(1), Some('+' | '-')));
            if self
                .source
                .ahead(1 + sign)
                .is_some_and(|c| c.is_ascii_digit())
            {
                self.source.bump();
                text.push('e');
                if sign == 1 {
                    text.extend(self.source.bump());
                }
                text.push_str(&self.digits(host));
            }
        }
        // "1." and ".5" are numbers to Rust as well; an exponent out of range becomes infinity.
        TokenKind::Number(text.parse().unwrap_or(0.0), text)
    }

    /// `0ffx`: a digit first, `x` last.
    fn hexadecimal(&mut self) -> Option<TokenKind> {
        let mut length = 0;
        let mut value = 0.0_f64;
        while let Some(digit) = self.source.ahead(length).and_then(|c| c.to_digit(16))
            && length < RUN_MAX
        {
            value = value * 16.0 + f64::from(digit);
            length += 1;
        }
        let ends = matches!(self.source.ahead(length), Some('x' | 'X'))
            && !self.source.ahead(length + 1).is_some_and(in_name);
        if !ends {
            return None;
        }
        let text: String = (0..=length).filter_map(|_| self.source.bump()).collect();
        Some(TokenKind::Number(value, text))
    }

    /// A quoted literal with its suffix.
    fn quoted(&mut self, quote: char, start: &Span, host: &mut dyn Host) -> TokenKind {
        let Some(raw) = self.quoted_text(quote, host) else {
            return TokenKind::Text(String::new(), true);
        };
        let span = self.source.stretch(start.clone());
        let length = raw.len();
        let text = if quote == '"' && !self.skipping {
            let text = self.literal_text(raw, &span, host);
            self.source.spend(text.len().saturating_sub(length), 0);
            text
        } else {
            unmasked(&raw).into_owned()
        };
        let suffix: String = (0..3)
            .map_while(|n| self.source.ahead(n))
            .take_while(|c| in_name(*c))
            .collect();
        match literal::with_suffix(&text, &suffix, quote) {
            None => TokenKind::Text(text, quote == '"'),
            Some(kind) => {
                for _ in 0..suffix.chars().count() {
                    self.source.bump();
                }
                kind.unwrap_or_else(|what| {
                    self.diagnostics.push(finding::error(start, what));
                    TokenKind::Missing(0)
                })
            }
        }
    }

    /// The text between quotes, doubled ones undone, macro quoting kept; `None`, reported, if they
    /// never close.
    fn quoted_text(&mut self, quote: char, host: &mut dyn Host) -> Option<String> {
        let start = self.source.place();
        self.source.bump();
        let mut text = String::new();
        loop {
            let Some(character) = self.source.bump_quoted() else {
                self.fill(host);
                if self.source.peek_quoted().is_none() {
                    break;
                }
                continue;
            };
            if character == quote {
                if self.source.peek_quoted() != Some(quote) {
                    return Some(text);
                }
                self.source.bump();
            }
            text.push(character);
        }
        let message = "The quoted text that begins here is never closed";
        self.diagnostics.push(finding::error(&start, message));
        None
    }

    fn symbol(&mut self, start: Span) -> Option<(TokenKind, Span)> {
        let first = self.source.bump()?;
        let second = self.source.peek();
        for pair in literal::PAIRS {
            if pair.chars().eq([Some(first), second].into_iter().flatten()) {
                self.source.bump();
                return Some((TokenKind::Symbol(pair), self.source.stretch(start)));
            }
        }
        for single in literal::SINGLES {
            if single.chars().eq([first]) {
                return Some((TokenKind::Symbol(single), start));
            }
        }
        // A binary file would give one message per character; a run of them gives one.
        while self
            .source
            .peek()
            .is_some_and(|c| !c.is_ascii() || c.is_ascii_control())
        {
            if self.source.peek().is_some_and(char::is_whitespace) {
                break;
            }
            self.source.bump();
        }
        let text = format!(
            "The character '{}' is not valid here",
            first.escape_default()
        );
        self.diagnostics.push(finding::error(&start, text));
        None
    }
}
