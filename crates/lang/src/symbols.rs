//! Macro variable references: `&name`, `&name.`, `&&a&b` in passes from left to right.

use crate::finding;
use crate::keywords::{
    MACRO_FUNCTIONS_NOT_YET, MACRO_STATEMENTS_NOT_YET, in_name, is_one_of, starts_name,
};
use crate::session::Host;
use base::diag::{Diagnostic, Span};
use base::limits::MACRO_DEPTH_MAX;

/// Characters that one reference may turn into, counting every intermediate text: variables that
/// hold references to each other can grow without bound long before the depth limit is reached.
const EXPANSION_BYTES_MAX: usize = 1 << 20;

/// Resolves every reference in `text`. With `quotes`, text inside single quotes stays as it is.
pub(crate) fn resolve(
    text: &str,
    quotes: bool,
    at: &Span,
    host: &dyn Host,
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    let mut resolver = Resolver {
        host,
        at,
        diagnostics,
        quotes,
        left: EXPANSION_BYTES_MAX,
        unresolved: Vec::new(),
        over: false,
    };
    let result = resolver.resolve(text, 0);
    if resolver.over {
        let text = "Macro variables refer to each other without end, or to too much text";
        diagnostics.push(finding::error(at, text));
        return String::new();
    }
    result
}

/// Reports `%name` left in `text`: functions that are not there yet, macros that nobody defined.
pub(crate) fn report_invocations(
    text: &str,
    quotes: bool,
    at: &Span,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut rest = text.chars().peekable();
    let mut single = false;
    let mut double = false;
    while let Some(character) = rest.next() {
        match character {
            '\'' if quotes && !double => single = !single,
            '"' if quotes && !single => double = !double,
            '%' if !single => {
                let mut name = String::new();
                while let Some(next) = rest.next_if(|c| in_name(*c)) {
                    name.push(next);
                }
                if name.starts_with(starts_name) {
                    diagnostics.push(invocation(&name.to_ascii_uppercase(), at));
                }
            }
            _ => {}
        }
    }
}

/// What to say about `%name`, which is neither a statement nor a macro here.
pub(crate) fn invocation(name: &str, at: &Span) -> Diagnostic {
    if is_one_of(name, MACRO_FUNCTIONS_NOT_YET) {
        finding::not_yet(at, format!("%{name} function"))
    } else if is_one_of(name, MACRO_STATEMENTS_NOT_YET) {
        finding::not_yet(at, format!("%{name} statement"))
    } else {
        Diagnostic::warning(
            at,
            format!("Apparent invocation of macro {name} not resolved."),
        )
    }
}

struct Resolver<'a> {
    host: &'a dyn Host,
    at: &'a Span,
    diagnostics: &'a mut Vec<Diagnostic>,
    quotes: bool,
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
        let (mut single, mut double) = (false, false);
        while let Some(character) = rest.next() {
            match character {
                '\'' if self.quotes && !double => single = !single,
                '"' if self.quotes && !single => double = !double,
                _ => {}
            }
            if character != '&' || single {
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
            again |= ampersands > 1;
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
        let name = name.to_ascii_uppercase();
        let Some(value) = self.host.symbol(&name) else {
            if !self.unresolved.contains(&name) {
                let message = format!("Apparent symbolic reference {name} not resolved.");
                self.diagnostics.push(Diagnostic::warning(self.at, message));
                self.unresolved.push(name);
            }
            return None;
        };
        self.spend(value.len() + 1);
        if depth >= MACRO_DEPTH_MAX {
            self.over = true;
        }
        if self.over {
            Some(String::new())
        } else {
            Some(self.resolve(&value, depth + 1))
        }
    }

    fn spend(&mut self, bytes: usize) {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.over = true,
        }
    }
}
