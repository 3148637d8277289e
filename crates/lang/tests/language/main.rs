//! The language seen from outside: text in, steps and diagnostics out.

mod cursors;
mod errors;
mod expressions;
mod macro_language;
mod macros;
mod print;
mod print_text;
mod robustness;
mod sessions;
mod statements;
mod textio;
mod tokens;

use lang::ast::Step;
use lang::{Host, Macros, Pulled, Session, Tracing};
use std::collections::BTreeMap;

/// Symbols and files in memory.
#[derive(Default)]
pub(crate) struct MemoryHost {
    pub(crate) macros: Macros,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) tracing: Tracing,
}

impl MemoryHost {
    pub(crate) fn with(symbols: &[(&str, &str)]) -> Self {
        let mut host = Self::default();
        for (name, value) in symbols {
            host.macros.set(name, value).unwrap();
        }
        host
    }
}

impl Host for MemoryHost {
    fn macros(&self) -> &Macros {
        &self.macros
    }

    fn macros_mut(&mut self) -> &mut Macros {
        &mut self.macros
    }

    fn include(&mut self, path: &str) -> Result<String, String> {
        self.files
            .get(path)
            .cloned()
            .ok_or_else(|| "there is no such file".to_owned())
    }

    fn function(
        &mut self,
        name: &str,
        arguments: &[String],
        format: Option<&str>,
    ) -> Result<String, String> {
        match name {
            "SHOW" => Ok(format!(
                "<{}|{}>",
                arguments.join("|"),
                format.unwrap_or("")
            )),
            "RAW" => Ok(arguments.concat()),
            "MOD" => match arguments {
                [value, divisor] => {
                    let number = |text: &str| text.trim().parse::<i64>().unwrap_or(1);
                    Ok((number(value) % number(divisor)).to_string())
                }
                _ => Err("MOD takes two arguments".to_owned()),
            },
            _ => Err(format!("The function {name} is unknown")),
        }
    }

    fn tracing(&self) -> Tracing {
        self.tracing
    }
}

/// Every pull of a program, the last one finished.
pub(crate) fn pulls(text: &str, host: &mut MemoryHost) -> Vec<Pulled> {
    let mut session = Session::new("program.sas", text);
    session.limit_macro_operations(20_000);
    let mut pulls = Vec::new();
    loop {
        let pulled = session.next(host);
        let finished = pulled.finished;
        pulls.push(pulled);
        assert!(
            pulls.len() <= text.len() + 100_000,
            "the session does not end"
        );
        if finished {
            return pulls;
        }
    }
}

/// All steps and all diagnostics of a program, each as a line.
pub(crate) fn lines(text: &str, host: &mut MemoryHost) -> Vec<String> {
    let mut lines = Vec::new();
    for pulled in pulls(text, host) {
        lines.extend(pulled.traces.into_iter().map(|trace| trace.text));
        lines.extend(
            pulled
                .diagnostics
                .iter()
                .map(|d| format!("{}: {}", d.severity, d.message)),
        );
        lines.extend(pulled.step.as_ref().map(print::step));
    }
    lines
}

/// The only step of a program without findings.
pub(crate) fn only_step(text: &str) -> Step {
    let mut host = MemoryHost::default();
    let mut steps = Vec::new();
    for pulled in pulls(text, &mut host) {
        assert!(
            pulled.diagnostics.is_empty(),
            "{text}: {:?}",
            pulled.diagnostics
        );
        steps.extend(pulled.step);
    }
    assert_eq!(steps.len(), 1, "{text}");
    steps.remove(0)
}

/// Checks the lines of a program.
#[track_caller]
pub(crate) fn check(text: &str, expect: &[&str]) {
    assert_eq!(lines(text, &mut MemoryHost::default()), expect, "{text}");
}
