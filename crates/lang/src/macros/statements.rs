//! The macro processor's statements. They act when the scanner passes them, also in the middle of
//! another statement.

use super::body::{Definition, Fault, Keyword, Reader};
use super::collect::Until;
use super::mask::unmasked;
use super::run::{Activation, Stopped, trimmed};
use super::words::Function;
use crate::finding;
use crate::keywords::{NAME_CHARACTERS_MAX, in_name, is_one_of, starts_name};
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::{Diagnostic, Severity, Span};
use base::limits::MACRO_DEPTH_MAX;
use std::sync::Arc;

impl Scanner {
    /// Acts on the `%` at the present place; false if it is only a percent sign, not yet taken.
    pub(crate) fn percent(&mut self, host: &mut dyn Host) -> bool {
        if self.source.ahead_quoted(1) == Some('*') {
            self.skip_to_semicolon(host);
            return true;
        }
        if self.call_here(host) {
            return true;
        }
        let start = self.source.place();
        let Some(name) = self.percent_name() else {
            return false;
        };
        let Some(keyword) = Keyword::find(&name) else {
            let invocation = if Function::find(&name).is_some() {
                finding::not_yet(&start, format!("%{name} function"))
            } else {
                let text = format!("Apparent invocation of macro {name} not resolved.");
                Diagnostic::warning(&start, text)
            };
            self.diagnostics.push(invocation);
            return false;
        };
        let span = self.take_name(&name, start);
        match keyword {
            Keyword::Other("MACRO") => self.definition_here(&span, host),
            Keyword::Other("IF") => self.open_condition(&span, host),
            Keyword::Include => {
                if let Some(text) = self.statement_text(host) {
                    self.include_text(&span, &text, host);
                }
            }
            keyword => self.simple_statement(keyword, &span, host),
        }
        true
    }

    /// The name after the `%` at the present place, in upper case.
    fn percent_name(&self) -> Option<String> {
        let mut length = 1;
        let mut name = String::new();
        while let Some(character) = self.source.ahead_quoted(length).filter(|c| in_name(*c))
            && length <= NAME_CHARACTERS_MAX
        {
            name.push(character.to_ascii_uppercase());
            length += 1;
        }
        name.starts_with(starts_name).then_some(name)
    }

    fn take_name(&mut self, name: &str, start: Span) -> Span {
        for _ in 0..=name.len() {
            self.source.bump();
        }
        self.source.stretch(start)
    }

    /// Calls the macro or macro function at the present `%`; false if there is none.
    pub(crate) fn call_here(&mut self, host: &mut dyn Host) -> bool {
        if self.is_skipping() || !self.count_operation() {
            return false;
        }
        let mut name = self.percent_name();
        let known = |name: &String, host: &dyn Host| {
            Keyword::find(name).is_some()
                || Function::is_known(name)
                || host.macros().definition(name).is_some()
        };
        // `%&name` and `%prefix&name` are names once the reference is resolved.
        let length = name.as_ref().map_or(0, String::len);
        if self.source.ahead_quoted(length + 1) == Some('&')
            && self
                .source
                .ahead_quoted(length + 2)
                .is_some_and(starts_name)
            && name.as_ref().is_none_or(|name| !known(name, host))
            && self.source.is_live()
        {
            let at = self.source.place();
            let prefix: String = (0..=length)
                .filter_map(|_| self.source.bump_quoted())
                .collect();
            self.expand(host);
            self.source.push_expansion(at, prefix, false);
            name = self.percent_name();
        }
        let Some(name) = name else {
            return false;
        };
        let start = self.source.place();
        if let Some(definition) = host.macros().definition(&name).map(Arc::clone) {
            let span = self.take_name(&name, start);
            self.invoke(&definition, span, host);
            return true;
        }
        if Function::is_known(&name) {
            let span = self.take_name(&name, start);
            self.call_function(&name, &span, host);
            return true;
        }
        false
    }

    /// Defines the macro whose `%macro` has just been taken.
    fn definition_here(&mut self, span: &Span, host: &mut dyn Host) {
        let Some((text, file, piece)) = self.source.definable() else {
            let message = "A macro cannot be defined by the value of a macro variable";
            self.diagnostics.push(finding::error(span, message));
            return;
        };
        let mut reader = Reader::new(&text, piece);
        let result = reader.definition(&text, &file);
        let end = reader.offset;
        self.source.bump_to(end);
        self.define(result, &file, host);
    }

    pub(crate) fn define(
        &mut self,
        result: Result<Definition, Fault>,
        file: &Arc<str>,
        host: &mut dyn Host,
    ) {
        match result {
            Ok(definition) => host.macros_mut().define(Arc::new(definition)),
            Err(fault) => self.report_fault(&fault, file),
        }
    }

    fn report_fault(&mut self, fault: &Fault, file: &Arc<str>) {
        let place = Span {
            source: Arc::clone(file),
            line: fault.line,
            column: fault.column,
            length: 1,
        };
        self.diagnostics.push(finding::error(&place, &fault.text));
    }

    /// `%if` outside of macros, its keyword taken: it runs like a macro without a name.
    fn open_condition(&mut self, span: &Span, host: &mut dyn Host) {
        let Some((text, file, piece)) = self.source.definable() else {
            let message = "%IF cannot come from the value of a macro variable";
            self.diagnostics.push(finding::error(span, message));
            return;
        };
        let mut reader = Reader::new(&text, piece);
        match reader.open_condition() {
            Ok(body) => {
                let end = reader.offset;
                self.source.bump_to(end);
                let definition = Definition {
                    name: "OPEN CODE".into(),
                    parameters: Vec::new(),
                    parmbuff: false,
                    minoperator: None,
                    text,
                    file,
                    body,
                };
                let activation = Activation::new(Arc::new(definition), span.clone(), false);
                self.source.push_activation(activation);
            }
            Err(fault) => {
                self.report_fault(&fault, &file);
                // The condition at least is not text for the compiler.
                self.skip_to_semicolon(host);
            }
        }
    }

    /// A statement whose keyword has been taken, and which ends at its semicolon.
    pub(crate) fn simple_statement(&mut self, keyword: Keyword, span: &Span, host: &mut dyn Host) {
        match keyword {
            Keyword::Let => self.assign(span, host),
            Keyword::Put => self.put(span, host),
            Keyword::Global => self.declare(span, false, host),
            Keyword::Local => self.declare(span, true, host),
            Keyword::Symdel => self.symdel(span, host),
            Keyword::Sysmacdelete => self.sysmacdelete(span, host),
            Keyword::Other(name) => self.misplaced(name, span, host),
            Keyword::Goto => self.misplaced("GOTO", span, host),
            Keyword::Return => self.misplaced("RETURN", span, host),
            Keyword::Include => self.misplaced("INCLUDE", span, host),
        }
    }

    fn misplaced(&mut self, name: &str, span: &Span, host: &mut dyn Host) {
        match name {
            // What follows these is ordinary text again, or a statement of its own.
            "THEN" | "ELSE" | "TO" | "BY" => {}
            _ => {
                self.statement_text(host);
            }
        }
        let text = match name {
            "THEN" | "ELSE" => format!("There is no matching %IF statement for the %{name}"),
            "MEND" => "There is no matching %MACRO statement for the %MEND".to_owned(),
            "DO" | "END" | "TO" | "BY" | "WHILE" | "UNTIL" | "GOTO" | "RETURN" => {
                format!("The %{name} statement is not valid in open code")
            }
            _ => format!("The %{name} statement is not implemented yet"),
        };
        self.diagnostics.push(finding::error(span, text));
    }

    /// The resolved text up to the semicolon, which is taken; `None` after an error.
    fn statement_text(&mut self, host: &mut dyn Host) -> Option<String> {
        self.collect(Until::Semicolon, false, host)
            .map(|one| one.text)
    }

    fn errors(&self) -> usize {
        let all = self.diagnostics.iter();
        all.filter(|one| one.severity == Severity::Error).count()
    }

    /// `%let name = value;`
    fn assign(&mut self, span: &Span, host: &mut dyn Host) {
        let errors = self.errors();
        let Some(text) = self.statement_text(host) else {
            return;
        };
        let Some((name, value)) = text.split_once('=') else {
            let message = "The %LET statement needs an equal sign after the name";
            self.diagnostics.push(finding::error(span, message));
            return;
        };
        if self.errors() > errors || self.source.is_over_budget() {
            return;
        }
        let name = unmasked(trimmed(name)).into_owned();
        self.mlogic(host, || {
            format!("%LET (variable name is {})", name.to_ascii_uppercase())
        });
        let _ = self.set_symbol(&name, trimmed(value), span, host);
    }

    /// Gives a variable its value as %LET does.
    pub(crate) fn set_symbol(
        &mut self,
        name: &str,
        value: &str,
        span: &Span,
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        host.macros_mut().set(name, value).map_err(|text| {
            self.diagnostics.push(finding::error(span, text));
            Stopped
        })
    }

    /// `%global names;` and `%local names;` make empty variables of those that do not exist.
    fn declare(&mut self, span: &Span, local: bool, host: &mut dyn Host) {
        let Some(text) = self.statement_text(host) else {
            return;
        };
        let text = unmasked(&text).into_owned();
        let word = if local { "LOCAL" } else { "GLOBAL" };
        self.mlogic(host, || {
            format!("%{word}  {}", text.trim().to_ascii_uppercase())
        });
        if local && host.macros().scopes() == 0 {
            let message = "The %LOCAL statement is not valid in open code";
            self.diagnostics.push(finding::error(span, message));
            return;
        }
        if text.trim_start().starts_with('/') {
            let message = format!("options of the %{word} statement");
            self.diagnostics.push(finding::not_yet(span, message));
            return;
        }
        for name in text.split_whitespace() {
            let macros = host.macros_mut();
            let result = if local {
                macros.declare_local(name)
            } else {
                macros.declare_global(name)
            };
            if let Err(text) = result {
                self.diagnostics.push(finding::error(span, text));
            }
        }
    }

    /// `%symdel names [/ nowarn];`
    fn symdel(&mut self, span: &Span, host: &mut dyn Host) {
        let Some(text) = self.statement_text(host) else {
            return;
        };
        let text = unmasked(&text).to_ascii_uppercase();
        let (names, options) = text.split_once('/').unwrap_or((&text, ""));
        let quiet = is_one_of(options.trim(), &["NOWARN"]);
        for name in names.split_whitespace() {
            if !host.macros_mut().delete(name) && !quiet {
                let text =
                    format!("Attempt to delete macro variable {name} failed. Variable not found.");
                self.diagnostics.push(Diagnostic::warning(span, text));
            }
        }
    }

    /// `%sysmacdelete name [/ nowarn];`
    fn sysmacdelete(&mut self, span: &Span, host: &mut dyn Host) {
        let Some(text) = self.statement_text(host) else {
            return;
        };
        let text = unmasked(&text).to_ascii_uppercase();
        let (name, options) = text.split_once('/').unwrap_or((&text, ""));
        let (name, quiet) = (name.trim(), is_one_of(options.trim(), &["NOWARN"]));
        if !host.macros_mut().undefine(name) && !quiet {
            let text =
                format!("Attempt to delete macro definition for {name} failed. Macro not found.");
            self.diagnostics.push(Diagnostic::warning(span, text));
        }
    }

    /// `%put text;` with `&=name` written as `NAME=value`.
    fn put(&mut self, span: &Span, host: &mut dyn Host) {
        let Some(collected) = self.collect(Until::Semicolon, true, host) else {
            return;
        };
        let text = unmasked(&collected.text).trim().to_owned();
        self.mlogic(host, || format!("%PUT {text}"));
        match host.macros().list(&text) {
            None => self.put_line(span, text),
            Some(listed) => {
                for (table, name, value) in listed {
                    let line = format!("{table} {name} {value}");
                    self.put_line(span, line);
                }
            }
        }
    }

    /// What follows `%include`: `'path' fileref …`
    pub(crate) fn include_text(&mut self, span: &Span, text: &str, host: &mut dyn Host) {
        if self.is_skipping() || self.source.is_over_budget() {
            return;
        }
        let text = unmasked(text).into_owned();
        let files = match included(&text) {
            Ok(files) => files,
            Err(message) => {
                self.diagnostics.push(finding::error(span, message));
                return;
            }
        };
        // The last one pushed is the first one read.
        for file in files.iter().rev() {
            if self.source.include_depth() >= MACRO_DEPTH_MAX as usize {
                let message = format!("Files include each other more than {MACRO_DEPTH_MAX} deep");
                self.diagnostics.push(finding::error(span, message));
                self.source.abandon_includes();
                self.forget_scopes(host);
                return;
            }
            let read = match file {
                Included::Path(path) => host.include(path).map(|text| ((*path).to_owned(), text)),
                Included::Fileref(name) => host.include_fileref(&name.to_ascii_uppercase()),
            };
            match read {
                Ok((path, text)) => self.source.push_file(&path, &text),
                Err(why) => {
                    let (Included::Path(name) | Included::Fileref(name)) = file;
                    let message = format!("Cannot %INCLUDE {name}: {why}");
                    self.diagnostics.push(finding::error(span, message));
                }
            }
        }
    }
}

/// What %INCLUDE names.
enum Included<'a> {
    Path(&'a str),
    Fileref(&'a str),
}

/// The files in `'path' fileref … [/ options]`.
fn included(text: &str) -> Result<Vec<Included<'_>>, String> {
    let mut files = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next().filter(|first| *first != '/') {
        if matches!(first, '\'' | '"') {
            let quoted = rest
                .strip_prefix(first)
                .and_then(|rest| rest.split_once(first));
            let Some((path, after)) = quoted else {
                return Err("The path of %INCLUDE has no closing quote".to_owned());
            };
            files.push(Included::Path(path));
            rest = after.trim_start();
        } else {
            let end = rest.find(|one: char| !in_name(one)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if !starts_name(first) {
                return Err(format!(
                    "%INCLUDE needs a path in quotes or a fileref, not {rest}"
                ));
            }
            if after.starts_with('(') {
                return Err("%INCLUDE of a member of a directory is not implemented yet".to_owned());
            }
            files.push(Included::Fileref(name));
            rest = after.trim_start();
        }
    }
    if files.is_empty() {
        return Err("The %INCLUDE statement needs a path in quotes or a fileref".to_owned());
    }
    Ok(files)
}
