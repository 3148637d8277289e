//! Macro functions.

use super::collect::{Quoting, Until};
use super::eval::{self, Manner};
use super::mask::{has_masked, is_masked, masked, unmasked};
use super::run::trimmed;
use super::words::Function;
use crate::finding;
use crate::keywords::is_one_of;
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::Span;

/// What separates words for %SCAN where nothing is said.
const SCAN_DELIMITERS: &str = " .<(+&!$*);^-/,%|";

/// What a function gave, and how the text is to be read.
enum Given {
    /// As it is.
    Text(String),
    /// Special characters become quoted.
    Quoted(String),
    /// Quoting is undone and everything acts again.
    Live(String),
}

impl Scanner {
    /// Calls a macro function whose name has just been taken and puts its value in its place.
    pub(crate) fn call_function(&mut self, name: &str, at: &Span, host: &mut dyn Host) {
        if let Some(given) = self.function_value(name, at, host) {
            let (text, live) = match given {
                Given::Text(text) => (text, false),
                Given::Quoted(text) => (masked(&unmasked(&text), true, true), false),
                Given::Live(text) => {
                    let live = has_masked(&text);
                    (unmasked(&text).into_owned(), live)
                }
            };
            self.source.push_expansion(at.clone(), text, live);
        }
    }

    fn function_value(&mut self, name: &str, at: &Span, host: &mut dyn Host) -> Option<Given> {
        if name == "SYSMEXECDEPTH" {
            let depth = self.source.activations().filter(|one| one.scoped).count();
            return Some(Given::Text(depth.to_string()));
        }
        if self.source.ahead_past_blanks() != Some('(') {
            let text = format!("The macro function %{name} needs an argument in parentheses");
            self.diagnostics.push(finding::error(at, text));
            return None;
        }
        while self.source.bump().is_some_and(|c| c != '(') {}
        if let Some(quoting) = quoting(name) {
            return self.collect_quoting(quoting, host).map(Given::Text);
        }
        match name {
            "SYSFUNC" | "QSYSFUNC" => return self.sysfunc(name == "QSYSFUNC", at, host),
            "UNQUOTE" => {
                let text = self.collect(Until::Closing, false, host)?.text;
                return Some(Given::Live(text));
            }
            "SUPERQ" => {
                let text = self.collect(Until::Closing, false, host)?.text;
                return Some(self.superq(&text, at, host));
            }
            _ => {}
        }
        let arguments = self.function_arguments(name, at, host)?;
        let mut call = Call {
            name,
            arguments: &arguments,
        };
        match call.value(self, at, host) {
            Ok(given) => Some(given),
            Err(text) => {
                self.diagnostics.push(finding::error(at, text));
                None
            }
        }
    }

    fn function_arguments(
        &mut self,
        name: &str,
        at: &Span,
        host: &mut dyn Host,
    ) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        // Everything up to the parenthesis is one argument: commas are text.
        let single = is_one_of(
            name,
            &["UPCASE", "QUPCASE", "LOWCASE", "QLOWCASE", "LENGTH", "EVAL"],
        );
        let until = if single {
            Until::Closing
        } else {
            Until::Argument
        };
        loop {
            let collected = self.collect(until, false, host)?;
            arguments.push(trimmed(&collected.text).to_owned());
            match collected.end {
                Some(',') => {}
                Some(_) => return Some(arguments),
                None => {
                    let text = format!("The macro function %{name} lacks a closing parenthesis");
                    self.diagnostics.push(finding::error(at, text));
                    return None;
                }
            }
        }
    }

    fn superq(&mut self, text: &str, at: &Span, host: &dyn Host) -> Given {
        let name = unmasked(text.trim()).to_ascii_uppercase();
        match host.macros().quoted(&name) {
            Some(value) => Given::Quoted(value.to_owned()),
            None => {
                let text = format!("Apparent symbolic reference {name} not resolved.");
                self.diagnostics
                    .push(base::diag::Diagnostic::warning(at, text));
                Given::Text(String::new())
            }
        }
    }

    /// `%sysfunc(name(arguments)[, format])`
    fn sysfunc(&mut self, quoted: bool, at: &Span, host: &mut dyn Host) -> Option<Given> {
        let mut name = String::new();
        loop {
            match self.peek_quoted(host) {
                Some('(') => break,
                Some(character) if !matches!(character, ')' | ';' | ',') => {
                    name.extend(self.source.bump());
                }
                _ => {
                    let text =
                        "%SYSFUNC needs the name of a function and its arguments in parentheses";
                    self.diagnostics.push(finding::error(at, text));
                    return None;
                }
            }
        }
        self.source.bump();
        let name = name.trim().to_ascii_uppercase();
        let arguments = self.function_arguments("SYSFUNC", at, host)?;
        let arguments: Vec<String> = match arguments.as_slice() {
            [only] if only.is_empty() => Vec::new(),
            all => all.iter().map(|text| unmasked(text).into_owned()).collect(),
        };
        let rest = self.collect(Until::Closing, false, host)?;
        if rest.end.is_none() {
            let text = "The macro function %SYSFUNC lacks a closing parenthesis";
            self.diagnostics.push(finding::error(at, text));
            return None;
        }
        let format = rest
            .text
            .trim()
            .strip_prefix(',')
            .map(|text| unmasked(text.trim()).into_owned());
        match host.function(&name, &arguments, format.as_deref()) {
            Ok(text) if quoted => Some(Given::Quoted(text)),
            Ok(text) => Some(Given::Text(text)),
            Err(text) => {
                self.diagnostics.push(finding::error(at, text));
                None
            }
        }
    }
}

fn quoting(name: &str) -> Option<Quoting> {
    let literal = matches!(name, "STR" | "NRSTR");
    let (resolves, triggers) = match name {
        "STR" | "BQUOTE" | "QUOTE" => (true, false),
        "NRSTR" => (false, true),
        "NRBQUOTE" | "NRQUOTE" => (true, true),
        _ => return None,
    };
    Some(Quoting {
        resolves,
        marks: literal || matches!(name, "QUOTE" | "NRQUOTE"),
        quotes: !matches!(name, "BQUOTE" | "NRBQUOTE"),
        triggers,
        paired: !literal,
    })
}

/// A call with its arguments, quoting kept.
struct Call<'a> {
    name: &'a str,
    arguments: &'a [String],
}

impl Call<'_> {
    fn text(&self, index: usize) -> &str {
        self.arguments.get(index).map_or("", String::as_str)
    }

    fn plain(&self, index: usize) -> String {
        unmasked(self.text(index)).into_owned()
    }

    /// The value, or an error's sentence.
    fn value(
        &mut self,
        scanner: &mut Scanner,
        at: &Span,
        host: &mut dyn Host,
    ) -> Result<Given, String> {
        let known = Function::find(self.name);
        let (least, most) = known.map_or((0, usize::MAX), |one| one.arguments);
        if self.arguments.len() < least {
            return Err(format!(
                "Macro function %{} has too few arguments",
                self.name
            ));
        }
        if self.arguments.len() > most {
            return Err(format!(
                "Macro function %{} has too many arguments",
                self.name
            ));
        }
        match self.name {
            "EVAL" | "SYSEVALF" => self.expression(scanner, host),
            "SYMEXIST" | "SYMLOCAL" | "SYMGLOBL" | "SYSMACEXIST" | "SYSMACEXEC" => Ok(Given::Text(
                u8::from(self.exists(scanner, host)).to_string(),
            )),
            "SYSMEXECNAME" => {
                let index = self.number(0, scanner, host)?;
                let macros: Vec<_> = scanner
                    .source
                    .activations()
                    .filter(|one| one.scoped)
                    .collect();
                let place = usize::try_from(index)
                    .ok()
                    .and_then(|index| macros.len().checked_sub(index));
                let name = place
                    .and_then(|place| macros.get(place))
                    .map(|one| one.name().to_string());
                Ok(Given::Text(if index == 0 {
                    "OPEN CODE".to_owned()
                } else {
                    name.unwrap_or_default()
                }))
            }
            "SUBSTR" | "QSUBSTR" => self.substring(scanner, at, host),
            "SCAN" | "QSCAN" => self.scan(scanner, host),
            _ => self.character(),
        }
    }

    /// The text with quoting as functions whose name starts with Q leave it.
    fn given(&self, text: String) -> Given {
        if self.name.starts_with('Q') {
            Given::Quoted(text)
        } else {
            Given::Live(text)
        }
    }

    fn character(&self) -> Result<Given, String> {
        let text = self.text(0);
        Ok(match self.name {
            "UPCASE" | "QUPCASE" => {
                let upper = text.chars().map(|c| recase(c, true)).collect();
                self.given(upper)
            }
            "LOWCASE" | "QLOWCASE" => {
                let lower = text.chars().map(|c| recase(c, false)).collect();
                self.given(lower)
            }
            "TRIM" | "QTRIM" => self.given(self.plain(0).trim_end().to_owned()),
            "LEFT" | "QLEFT" => self.given(self.plain(0).trim_start().to_owned()),
            "CMPRES" | "QCMPRES" => {
                let plain = self.plain(0);
                let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
                self.given(words.join(" "))
            }
            "LENGTH" => Given::Text(text.chars().count().to_string()),
            "INDEX" => {
                let (text, wanted) = (self.plain(0), self.plain(1));
                let at = text
                    .split_once(wanted.as_str())
                    .filter(|_| !wanted.is_empty());
                Given::Text(
                    at.map_or(0, |(before, _)| before.chars().count() + 1)
                        .to_string(),
                )
            }
            "VERIFY" => {
                let (text, allowed) = (self.plain(0), self.plain(1));
                let at = text.chars().position(|c| !allowed.contains(c));
                Given::Text(at.map_or(0, |at| at + 1).to_string())
            }
            "DATATYP" => {
                let number = self
                    .plain(0)
                    .trim()
                    .parse::<f64>()
                    .is_ok_and(f64::is_finite);
                Given::Text(if number { "NUMERIC" } else { "CHAR" }.to_owned())
            }
            name => return Err(format!("The macro function %{name} is not implemented yet")),
        })
    }

    fn expression(&self, scanner: &Scanner, host: &dyn Host) -> Result<Given, String> {
        let manner = Manner {
            floating: self.name == "SYSEVALF",
            membership: scanner.membership(host),
        };
        let text = self.text(0);
        let value = eval::evaluate(text, manner).map_err(|error| error.text(&unmasked(text)))?;
        let conversion = self.plain(1).to_ascii_uppercase();
        if conversion.is_empty() {
            return Ok(Given::Text(value));
        }
        let number: f64 = value.parse().unwrap_or(f64::NAN);
        if number.is_nan() && conversion != "BOOLEAN" {
            return Ok(Given::Text(value));
        }
        // Differences that come from arithmetic alone do not carry over a whole number.
        let near = number.round();
        let fuzzed = if (number - near).abs() < 1e-12 {
            near
        } else {
            number
        };
        Ok(Given::Text(match conversion.as_str() {
            "BOOLEAN" => u8::from(!number.is_nan() && number != 0.0).to_string(),
            "CEIL" => eval::show(fuzzed.ceil()),
            "FLOOR" => eval::show(fuzzed.floor()),
            "INTEGER" => eval::show(fuzzed.trunc()),
            other => {
                return Err(format!(
                    "The conversion type {other} of %SYSEVALF is not known"
                ));
            }
        }))
    }

    fn exists(&self, scanner: &Scanner, host: &dyn Host) -> bool {
        let name = self.plain(0).trim().to_ascii_uppercase();
        let macros = host.macros();
        match self.name {
            "SYMEXIST" => macros.exists(&name),
            "SYMLOCAL" => macros.is_local(&name),
            "SYMGLOBL" => macros.is_global(&name),
            "SYSMACEXIST" => macros.definition(&name).is_some(),
            _ => scanner
                .source
                .activations()
                .any(|one| one.scoped && **one.name() == *name),
        }
    }

    fn number(&self, index: usize, scanner: &Scanner, host: &dyn Host) -> Result<i64, String> {
        let text = self.text(index);
        eval::integer(text, scanner.membership(host)).map_err(|error| error.text(&unmasked(text)))
    }

    fn substring(
        &self,
        scanner: &mut Scanner,
        at: &Span,
        host: &dyn Host,
    ) -> Result<Given, String> {
        let text = self.text(0);
        let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        let start = self.number(1, scanner, host)?;
        let rest = count.saturating_sub(start).saturating_add(1);
        let length = match self.arguments.len() {
            ..=2 => rest,
            _ => self.number(2, scanner, host)?,
        };
        let wrong = if !(1..=count).contains(&start) {
            Some(2)
        } else if !(0..=rest).contains(&length) {
            Some(3)
        } else {
            None
        };
        if let Some(argument) = wrong {
            let text = format!(
                "Argument {argument} to macro function %{} is out of range.",
                self.name
            );
            scanner
                .diagnostics
                .push(base::diag::Diagnostic::warning(at, text));
        }
        if wrong == Some(2) {
            return Ok(Given::Text(String::new()));
        }
        let skip = usize::try_from(start - 1).unwrap_or(0);
        let take = usize::try_from(length.clamp(0, rest)).unwrap_or(0);
        Ok(self.given(text.chars().skip(skip).take(take).collect()))
    }

    fn scan(&self, scanner: &Scanner, host: &dyn Host) -> Result<Given, String> {
        let index = self.number(1, scanner, host)?;
        let own = self.plain(2);
        let delimiters = if self.arguments.len() > 2 {
            own.as_str()
        } else {
            SCAN_DELIMITERS
        };
        if self.arguments.len() > 3 && !self.plain(3).is_empty() {
            return Err(format!(
                "The modifiers of %{} are not implemented yet",
                self.name
            ));
        }
        let text = self.text(0);
        let is_delimiter = |c: char| {
            delimiters.contains(c) && !is_masked(c) || {
                is_masked(c) && delimiters.contains(super::mask::unmask(c))
            }
        };
        let words: Vec<&str> = text
            .split(is_delimiter)
            .filter(|word| !word.is_empty())
            .collect();
        let place = match index {
            1.. => usize::try_from(index - 1).ok(),
            ..0 => usize::try_from(index.unsigned_abs())
                .ok()
                .and_then(|back| words.len().checked_sub(back)),
            0 => None,
        };
        let word = place
            .and_then(|place| words.get(place))
            .copied()
            .unwrap_or("");
        Ok(self.given(word.to_owned()))
    }
}

fn recase(character: char, upper: bool) -> char {
    if upper {
        character.to_ascii_uppercase()
    } else {
        character.to_ascii_lowercase()
    }
}
