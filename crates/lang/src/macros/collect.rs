//! Text of macro statements and of arguments, references and calls in it resolved.

use super::mask::{mask, masked, unmask};
use crate::finding;
use crate::keywords::{in_name, starts_name};
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::Span;
use base::limits::STEP_TEXT_BYTES_MAX;

/// Texts within texts that are collected at the same time: each takes some of the stack.
const NESTING_MAX: u32 = 60;

/// Longest text that is collected: far more than a macro variable holds.
const COLLECTED_BYTES_MAX: usize = 4 << 20;

/// Where a text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// At a semicolon.
    Semicolon,
    /// At a comma or the parenthesis that closes the one just taken.
    Argument,
    /// At the parenthesis that closes the one just taken.
    Closing,
    /// At the end of what is read apart.
    End,
    /// The same, and quotes and comments mean nothing: the inside of a literal.
    Literal,
}

pub(crate) struct Collected {
    /// Macro quoting kept.
    pub(crate) text: String,
    /// What ended it; `None` for the end of the text.
    pub(crate) end: Option<char>,
}

/// What %STR and its kind do with the characters of their argument.
#[derive(Clone, Copy)]
pub(crate) struct Quoting {
    /// References and calls are resolved.
    pub(crate) resolves: bool,
    /// `%'` and its kind are single characters.
    pub(crate) marks: bool,
    /// Quotes protect parentheses.
    pub(crate) quotes: bool,
    /// `&` and `%` are quoted in the result.
    pub(crate) triggers: bool,
    /// Quotes and parentheses are quoted in the result.
    pub(crate) paired: bool,
}

impl Scanner {
    /// Everything that is read apart.
    pub(crate) fn collect_all(&mut self, host: &mut dyn Host) -> Option<Collected> {
        self.collect(Until::End, false, host)
    }

    /// Text up to its end, which is taken. With `named`, `&=name` becomes `NAME=value`. `None` after
    /// an error, which has been reported.
    pub(crate) fn collect(
        &mut self,
        until: Until,
        named: bool,
        host: &mut dyn Host,
    ) -> Option<Collected> {
        self.deeper()?;
        let collected = self.collect_inner(until, named, host);
        self.nesting -= 1;
        self.source.stop_collecting();
        collected
    }

    fn deeper(&mut self) -> Option<()> {
        if self.nesting >= NESTING_MAX {
            let place = self.source.place();
            let text =
                format!("Macro calls are nested more than {NESTING_MAX} levels deep in one text");
            self.diagnostics.push(finding::error(&place, text));
            return None;
        }
        self.nesting += 1;
        self.source.start_collecting();
        Some(())
    }

    fn collect_inner(
        &mut self,
        until: Until,
        named: bool,
        host: &mut dyn Host,
    ) -> Option<Collected> {
        let start = self.source.place();
        let (mut text, mut depth, mut double, mut read) = (String::new(), 0_u32, false, 0_usize);
        let literal = until == Until::Literal;
        let counts = matches!(until, Until::Argument | Until::Closing);
        loop {
            let Some(character) = self.peek_quoted(host) else {
                if double {
                    return self.unclosed(&start);
                }
                return Some(Collected { text, end: None });
            };
            read += 1;
            if text.len() > COLLECTED_BYTES_MAX || read > STEP_TEXT_BYTES_MAX || self.exhausted {
                let message = "The text that begins here is too long once its macros have run";
                self.diagnostics.push(finding::error(&start, message));
                return None;
            }
            match character {
                '%' if self.percent(host) => continue,
                '&' if named && self.named_reference(&mut text, host) => continue,
                _ if literal => {}
                '\'' if !double => {
                    self.copy_single(&mut text)?;
                    continue;
                }
                '"' => double = !double,
                _ if double => {}
                '/' if self.source.ahead_quoted(1) == Some('*') => {
                    self.skip_comment(host);
                    continue;
                }
                ';' if until == Until::Semicolon => return Some(self.ended(text)),
                '(' if counts => depth += 1,
                ')' if counts && depth == 0 => return Some(self.ended(text)),
                ')' if counts => depth -= 1,
                ',' if until == Until::Argument && depth == 0 => return Some(self.ended(text)),
                _ => {}
            }
            text.extend(self.source.bump_quoted());
            self.source.take_plain(&mut text);
        }
    }

    fn ended(&mut self, text: String) -> Collected {
        let end = self.source.bump_quoted();
        Collected { text, end }
    }

    fn unclosed<T>(&mut self, start: &Span) -> Option<T> {
        let message = "The quoted text that begins here is never closed";
        self.diagnostics.push(finding::error(start, message));
        None
    }

    /// Copies `'text'` as it stands.
    fn copy_single(&mut self, text: &mut String) -> Option<()> {
        let start = self.source.place();
        text.extend(self.source.bump_quoted());
        loop {
            let Some(character) = self.source.bump_quoted() else {
                return self.unclosed(&start);
            };
            text.push(character);
            if character == '\'' {
                return Some(());
            }
        }
    }

    /// `&=name` of a %PUT statement.
    fn named_reference(&mut self, text: &mut String, host: &dyn Host) -> bool {
        if self.source.ahead_quoted(1) != Some('=')
            || !self.source.ahead_quoted(2).is_some_and(starts_name)
        {
            return false;
        }
        let at = self.source.place();
        self.source.bump();
        self.source.bump();
        let mut name = String::new();
        while let Some(character) = self.source.peek_quoted().filter(|c| in_name(*c)) {
            name.push(character);
            self.source.bump();
        }
        if self.source.peek_quoted() == Some('.') {
            self.source.bump();
        }
        let upper = name.to_ascii_uppercase();
        let value = self.resolve(&format!("&{name}"), &at, host);
        text.extend([upper.as_str(), "=", &value]);
        true
    }

    /// The argument of a quoting function, quoted; its opening parenthesis has been taken.
    pub(crate) fn collect_quoting(
        &mut self,
        quoting: Quoting,
        host: &mut dyn Host,
    ) -> Option<String> {
        self.deeper()?;
        let text = self.quoting_inner(quoting, host);
        self.nesting -= 1;
        self.source.stop_collecting();
        text.map(|text| masked(&text, quoting.triggers, quoting.paired))
    }

    fn quoting_inner(&mut self, quoting: Quoting, host: &mut dyn Host) -> Option<String> {
        let start = self.source.place();
        let (mut text, mut depth, mut double) = (String::new(), 0_u32, false);
        loop {
            let marked = quoting.marks
                && self.source.peek_quoted() == Some('%')
                && matches!(
                    self.source.ahead_quoted(1),
                    Some('\'' | '"' | '(' | ')' | '%')
                );
            if marked {
                self.source.bump();
                text.extend(self.source.bump_quoted().map(mask));
                continue;
            }
            let character = if quoting.resolves {
                self.peek_quoted(host)
            } else {
                self.fill(host);
                self.source.peek_quoted()
            };
            let Some(character) = character.filter(|_| text.len() <= COLLECTED_BYTES_MAX) else {
                let message = "The argument of the macro function that begins here is never closed";
                self.diagnostics.push(finding::error(&start, message));
                return None;
            };
            match character {
                '%' if quoting.resolves && self.percent(host) => continue,
                '\'' if quoting.quotes && !double => {
                    self.copy_single(&mut text)?;
                    continue;
                }
                '"' if quoting.quotes => double = !double,
                _ if double => {}
                '(' => depth += 1,
                ')' if depth == 0 => {
                    self.source.bump();
                    return Some(text);
                }
                ')' => depth -= 1,
                _ => {}
            }
            text.extend(self.source.bump_quoted());
        }
    }

    /// The inside of a literal in double quotes, resolved, macro quoting undone.
    pub(crate) fn literal_text(&mut self, raw: String, at: &Span, host: &mut dyn Host) -> String {
        if !raw.contains(['&', '%']) {
            return raw.chars().map(unmask).collect();
        }
        let mark = self.source.read_apart();
        self.source.push_expansion(at.clone(), raw, true);
        let collected = self.collect(Until::Literal, false, host);
        self.source.leave_apart(mark);
        self.forget_scopes(host);
        collected.map_or_else(String::new, |one| one.text.chars().map(unmask).collect())
    }
}
