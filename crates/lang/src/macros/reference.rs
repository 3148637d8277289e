//! Macro variable references: `&name`, `&name.`, `&&a&b` in passes from left to right.

use super::mask::{has_masked, unmasked};
use crate::finding;
use crate::keywords::{in_name, starts_name};
use crate::scanner::Scanner;
use crate::session::Host;
use base::diag::{Diagnostic, Span};
use base::limits::MACRO_DEPTH_MAX;

/// Characters that one reference may turn into, counting every intermediate text: variables that
/// hold references to each other can grow without bound long before the depth limit is reached.
const EXPANSION_BYTES_MAX: usize = 1 << 20;

impl Scanner {
    /// Resolves every reference in `text`, macro quoting kept.
    pub(crate) fn resolve(&mut self, text: &str, at: &Span, host: &dyn Host) -> String {
        let mut resolver = Resolver {
            host,
            at,
            diagnostics: &mut self.diagnostics,
            symbolgen: host.tracing().symbolgen,
            lines: Vec::new(),
            left: EXPANSION_BYTES_MAX,
            unresolved: Vec::new(),
            over: false,
        };
        let result = resolver.resolve(text, 0);
        let (lines, over) = (resolver.lines, resolver.over);
        for line in lines {
            self.trace(line);
        }
        if over {
            let text = "Macro variables refer to each other without end, or to too much text";
            self.diagnostics.push(finding::error(at, text));
            return String::new();
        }
        result
    }
}

struct Resolver<'a> {
    host: &'a dyn Host,
    at: &'a Span,
    diagnostics: &'a mut Vec<Diagnostic>,
    symbolgen: bool,
    lines: Vec<String>,
    left: usize,
    unresolved: Vec<String>,
    over: bool,
}

impl Resolver<'_> {
    fn resolve(&mut self, text: &str, depth: u32) -> String {
        let mut text = text.to_owned();
        for _ in 0..MACRO_DEPTH_MAX {
            if !text.contains('&') {
                return text;
            }
            let (next, again) = self.pass(&text, depth);
            text = next;
            if !again || self.over {
                return text;
            }
        }
        self.over = true;
        text
    }

    /// One pass from left to right; true if `&&` was halved and the result must be read again.
    fn pass(&mut self, text: &str, depth: u32) -> (String, bool) {
        let mut out = String::new();
        let mut again = false;
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            if character != '&' {
                out.push(character);
                continue;
            }
            let mut ampersands = 1_usize;
            while rest.next_if_eq(&'&').is_some() {
                ampersands += 1;
            }
            let mut name = String::new();
            if rest.peek().is_some_and(|c| starts_name(*c)) {
                while let Some(next) = rest.next_if(|c| in_name(*c)) {
                    name.push(next);
                }
            }
            if name.is_empty() {
                out.extend(std::iter::repeat_n('&', ampersands));
                continue;
            }
            if ampersands > 1 {
                again = true;
                if self.symbolgen {
                    self.lines.push("SYMBOLGEN:  && resolves to &.".to_owned());
                }
            }
            out.extend(std::iter::repeat_n('&', ampersands / 2));
            if ampersands.is_multiple_of(2) {
                out.push_str(&name);
            } else if let Some(value) = self.value(&name, depth) {
                out.push_str(&value);
                rest.next_if_eq(&'.');
            } else {
                out.push('&');
                out.push_str(&name);
            }
            if self.over {
                break;
            }
        }
        self.spend(out.len());
        (out, again)
    }

    fn value(&mut self, name: &str, depth: u32) -> Option<String> {
        let host = self.host;
        let name = name.to_ascii_uppercase();
        let Some(value) = host.macros().quoted(&name) else {
            if !self.unresolved.contains(&name) {
                let message = format!("Apparent symbolic reference {name} not resolved.");
                self.diagnostics.push(Diagnostic::warning(self.at, message));
                self.unresolved.push(name);
            }
            return None;
        };
        if self.symbolgen {
            self.lines.push(format!(
                "SYMBOLGEN:  Macro variable {name} resolves to {}",
                unmasked(value)
            ));
            if has_masked(value) {
                self.lines.push(
                    "SYMBOLGEN:  Some characters in the above value which were subject to macro \
                     quoting have been unquoted for printing."
                        .to_owned(),
                );
            }
        }
        self.spend(value.len() + 1);
        if depth >= MACRO_DEPTH_MAX {
            self.over = true;
        }
        if self.over {
            Some(String::new())
        } else if value.contains('&') {
            Some(self.resolve(value, depth + 1))
        } else {
            Some(value.to_owned())
        }
    }

    fn spend(&mut self, bytes: usize) {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.over = true,
        }
    }
}
