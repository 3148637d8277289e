//! The macro processor's statements. They act when the scanner passes them, also in the middle of
//! another statement.

use crate::finding;
use crate::keywords::{
    MACRO_FUNCTIONS_NOT_YET, MACRO_STATEMENTS_NOT_YET, NAME_CHARACTERS_MAX, in_name, is_one_of,
    starts_name,
};
use crate::scanner::Scanner;
use crate::session::Host;
use crate::symbols;
use base::diag::Span;
use base::limits::MACRO_DEPTH_MAX;

/// What became of a `%`.
pub(crate) enum Percent {
    /// A statement or comment, dealt with.
    Passed,
    /// A `%put` and its text.
    Put(Span, String),
    /// Only a percent sign, not yet taken.
    Sign,
}

impl Scanner {
    /// Acts on the `%` at the present place.
    pub(crate) fn percent(&mut self, host: &mut dyn Host) -> Percent {
        let start = self.source.place();
        if self.source.ahead(1) == Some('*') {
            self.skip_to_semicolon();
            return Percent::Passed;
        }
        if !self.source.ahead(1).is_some_and(starts_name) {
            return Percent::Sign;
        }
        let mut length = 1;
        let mut name = String::new();
        while let Some(character) = self.source.ahead(length).filter(|c| in_name(*c))
            && length <= NAME_CHARACTERS_MAX
        {
            name.push(character.to_ascii_uppercase());
            length += 1;
        }
        if !matches!(name.as_str(), "LET" | "PUT" | "INCLUDE" | "INC" | "GLOBAL")
            && !is_one_of(&name, MACRO_STATEMENTS_NOT_YET)
            && !is_one_of(&name, MACRO_FUNCTIONS_NOT_YET)
        {
            self.diagnostics.push(symbols::invocation(&name, &start));
            return Percent::Sign;
        }
        for _ in 0..length {
            self.source.bump();
        }
        let span = self.source.stretch(start);
        match name.as_str() {
            "LET" => self.assign(&span, host),
            "PUT" => return self.put(span, host),
            "GLOBAL" => self.declare_global(&span, host),
            "INCLUDE" | "INC" => self.include(&span, host),
            _ => self.refuse(&name, &span),
        }
        Percent::Passed
    }

    /// Reports what is not there yet and skips it, so that it does not give a second error.
    fn refuse(&mut self, name: &str, span: &Span) {
        self.diagnostics.push(symbols::invocation(name, span));
        match name {
            "MACRO" => self.skip_definition(),
            // What follows these is ordinary text again, or a statement of its own.
            "THEN" | "ELSE" | "TO" | "BY" => {}
            _ if is_one_of(name, MACRO_FUNCTIONS_NOT_YET) => self.skip_parentheses(),
            _ => {
                self.statement_text();
            }
        }
    }

    /// Skips the text of a macro up to its `%mend`.
    fn skip_definition(&mut self) {
        let mut depth = 1_u32;
        let mut word = String::new();
        while let Some(character) = self.source.peek() {
            if character == '/' && self.source.ahead(1) == Some('*') {
                self.skip_comment();
                word.clear();
                continue;
            }
            self.source.bump();
            if character == '%' {
                "%".clone_into(&mut word);
                continue;
            }
            if in_name(character) && !word.is_empty() && word.len() <= NAME_CHARACTERS_MAX {
                word.push(character.to_ascii_uppercase());
            } else {
                word.clear();
            }
            if self.source.peek().is_some_and(in_name) {
                continue;
            }
            match word.as_str() {
                "%MACRO" => depth = depth.saturating_add(1),
                "%MEND" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return self.skip_to_semicolon();
            }
        }
    }

    fn skip_parentheses(&mut self) {
        if self.source.peek() != Some('(') {
            return;
        }
        let mut depth = 0_u32;
        while let Some(character) = self.source.peek() {
            match character {
                '\'' | '"' => {
                    self.quoted_text(character);
                    continue;
                }
                '(' => depth = depth.saturating_add(1),
                ')' => depth -= 1,
                // A forgotten parenthesis must not swallow the program.
                ';' => return,
                _ => {}
            }
            self.source.bump();
            if depth == 0 {
                return;
            }
        }
    }

    /// The raw text up to the semicolon, which is taken but not returned. Comments are left out;
    /// a semicolon in quotes is text.
    fn statement_text(&mut self) -> String {
        let mut text = String::new();
        while let Some(character) = self.source.peek() {
            match character {
                ';' => {
                    self.source.bump();
                    break;
                }
                '\'' | '"' => {
                    let inner = self.quoted_text(character).unwrap_or_default();
                    text.push(character);
                    for inside in inner.chars() {
                        text.push(inside);
                        if inside == character {
                            text.push(inside);
                        }
                    }
                    text.push(character);
                }
                '/' if self.source.ahead(1) == Some('*') => self.skip_comment(),
                _ => text.extend(self.source.bump()),
            }
        }
        text
    }

    fn resolved(&mut self, text: &str, span: &Span, host: &dyn Host) -> String {
        let text = symbols::resolve(text, true, span, host, &mut self.diagnostics);
        symbols::report_invocations(&text, true, span, &mut self.diagnostics);
        text
    }

    /// `%let name = value;`
    fn assign(&mut self, span: &Span, host: &mut dyn Host) {
        let text = self.statement_text();
        let Some((name, value)) = text.split_once('=') else {
            let message = "The %LET statement needs an equal sign after the name";
            self.diagnostics.push(finding::error(span, message));
            return;
        };
        let name = self.resolved(name, span, host).trim().to_ascii_uppercase();
        if !self.check_name(&name, span) {
            return;
        }
        let errors = self.errors();
        let value = self.resolved(value, span, host);
        if self.errors() == errors && !self.source.is_over_budget() {
            host.set_symbol(&name, value.trim());
        }
    }

    fn errors(&self) -> usize {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == base::diag::Severity::Error)
            .count()
    }

    fn check_name(&mut self, name: &str, span: &Span) -> bool {
        let valid = name.starts_with(starts_name) && name.chars().all(in_name);
        if !valid {
            let message = format!(
                "Symbolic variable name {name} must begin with a letter or underscore and hold only \
                 letters, digits and underscores"
            );
            self.diagnostics.push(finding::error(span, message));
        } else if name.len() > NAME_CHARACTERS_MAX {
            let message = format!("Symbolic variable name {name} is longer than 32 characters");
            self.diagnostics.push(finding::error(span, message));
        }
        valid && name.len() <= NAME_CHARACTERS_MAX
    }

    /// `%global names;` makes empty variables of those that do not exist.
    fn declare_global(&mut self, span: &Span, host: &mut dyn Host) {
        let text = self.statement_text();
        for name in self
            .resolved(&text, span, host)
            .to_ascii_uppercase()
            .split_whitespace()
        {
            if self.check_name(name, span) && host.symbol(name).is_none() {
                host.set_symbol(name, "");
            }
        }
    }

    /// `%put text;` with `&=name` written as `NAME=value`.
    fn put(&mut self, span: Span, host: &dyn Host) -> Percent {
        let raw = self.statement_text();
        let mut text = String::new();
        let mut parts = raw.split("&=");
        text.push_str(parts.next().unwrap_or(""));
        for part in parts {
            let length = part.chars().take_while(|c| in_name(*c)).count();
            match part.split_at_checked(length) {
                Some((name, rest)) if name.starts_with(starts_name) => {
                    let upper = name.to_ascii_uppercase();
                    text.extend([upper.as_str(), "=&", name, "."]);
                    text.push_str(rest);
                }
                _ => {
                    text.push_str("&=");
                    text.push_str(part);
                }
            }
        }
        let text = self.resolved(&text, &span, host).trim().to_owned();
        if is_one_of(
            &text,
            &["_ALL_", "_USER_", "_GLOBAL_", "_LOCAL_", "_AUTOMATIC_"],
        ) {
            let what = format!("{} list of the %PUT statement", text.to_ascii_uppercase());
            self.diagnostics.push(finding::not_yet(&span, what));
            return Percent::Passed;
        }
        Percent::Put(span, text)
    }

    /// `%include 'path' …;`
    fn include(&mut self, span: &Span, host: &mut dyn Host) {
        let text = self.statement_text();
        if self.is_skipping() || self.source.is_over_budget() {
            return;
        }
        let text = self.resolved(&text, span, host);
        let mut paths = Vec::new();
        let mut rest = text.trim();
        while let Some(quote) = rest.chars().next() {
            if quote == '/' {
                break;
            }
            let path = Some(rest).filter(|_| matches!(quote, '\'' | '"'));
            let path = path
                .and_then(|r| r.strip_prefix(quote))
                .and_then(|r| r.split_once(quote));
            let Some((path, after)) = path else {
                self.diagnostics
                    .push(finding::not_yet(span, "%INCLUDE of a fileref"));
                return;
            };
            paths.push(path.to_owned());
            rest = after.trim_start();
        }
        if paths.is_empty() {
            let message = "The %INCLUDE statement needs a path in quotes";
            self.diagnostics.push(finding::error(span, message));
        }
        // The last one pushed is the first one read.
        for path in paths.iter().rev() {
            if self.source.include_depth() >= MACRO_DEPTH_MAX as usize {
                let message = format!("Files include each other more than {MACRO_DEPTH_MAX} deep");
                self.diagnostics.push(finding::error(span, message));
                self.source.abandon_includes();
                return;
            }
            match host.include(path) {
                Ok(text) => self.source.push_file(path, &text),
                Err(why) => {
                    let message = format!("Cannot %INCLUDE {path}: {why}");
                    self.diagnostics.push(finding::error(span, message));
                }
            }
        }
    }
}
