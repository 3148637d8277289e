//! Whether programs can be read, and have the macro variables they use: each program is read with the
//! symbols of its first job, as a session would, without running a step.

use std::collections::{BTreeMap, BTreeSet};

use base::diag::{Diagnostic, Severity, Span};
use lang::ast::Step;
use lang::{Host, Macros, Scope, Session};

use super::{Mistake, Suite};
use crate::plan::PlannedJob;

/// Pulls of one program: a macro loop over values that are not known may be long.
const PULLS_MAX: usize = 1_000_000;
/// What macros may do in one program.
const MACRO_OPERATIONS_MAX: u64 = 20_000_000;
/// Rounds in which values that steps would set are found.
const ROUNDS_MAX: usize = 100;

/// What is wrong with the programs of jobs; `is_procedure` knows names in upper case.
pub fn check(
    suite: &Suite,
    jobs: &[PlannedJob],
    is_procedure: &dyn Fn(&str) -> bool,
) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut seen = BTreeSet::new();
    let folder = suite.file.trim_end_matches("suite.toml");
    for job in jobs {
        if !seen.insert(job.entry) {
            continue;
        }
        let Some(entry) = suite.text.jobs.get(job.entry) else {
            continue;
        };
        let file = format!("{folder}programs/{}", entry.program.get_ref());
        let found = Program { job, is_procedure }.check();
        mistakes.extend(found.into_iter().map(|(span, message)| Mistake {
            file: if span.source.as_ref() == job.name {
                file.clone()
            } else {
                format!("{file} {}", span.source)
            },
            line: span.line as usize,
            column: span.column as usize,
            message,
        }));
    }
    mistakes.dedup();
    mistakes
}

struct Program<'a> {
    job: &'a PlannedJob,
    is_procedure: &'a dyn Fn(&str) -> bool,
}

/// What one reading found.
#[derive(Default)]
struct Reading {
    /// Macro variables without a value, and where they were used first.
    unresolved: BTreeMap<String, Span>,
    errors: Vec<(Span, String)>,
    procedures: BTreeMap<String, Span>,
}

impl Program<'_> {
    fn check(&self) -> Vec<(Span, String)> {
        let set_by_steps = names_set_by_steps(&self.job.program);
        // Values that steps would set are not known; most programs go on with a number or with a word.
        let readings = ["1", "x"].map(|value| self.read_with(value, &set_by_steps));
        let [number, word] = &readings;
        let reading = if number.errors.len() <= word.errors.len() {
            number
        } else {
            word
        };
        let mut found = Vec::new();
        for (name, span) in &reading.unresolved {
            if !is_set_by_steps(name, &set_by_steps) {
                let message = format!(
                    "&{} is used and never given: add it to the symbols of the job",
                    name.to_ascii_lowercase()
                );
                found.push((span.clone(), message));
            }
        }
        // What is wrong on the line of such a variable comes of it.
        let not_given: Vec<Span> = found.iter().map(|(span, _)| span.clone()).collect();
        let comes_of_it = |span: &Span| {
            let mut same = not_given.iter();
            same.any(|one| (&one.source, one.line) == (&span.source, span.line))
        };
        let errors = reading.errors.iter();
        found.extend(errors.filter(|(span, _)| !comes_of_it(span)).cloned());
        for (name, span) in &reading.procedures {
            if !(self.is_procedure)(name) {
                found.push((span.clone(), format!("there is no procedure {name}")));
            }
        }
        found
    }

    /// Reads again and again, with a value for each name that steps would set.
    fn read_with(&self, value: &str, set_by_steps: &[String]) -> Reading {
        let mut known = BTreeMap::new();
        let locals = names_declared(&self.job.program, set_by_steps);
        for _ in 0..ROUNDS_MAX {
            let reading = self.read(&known, value, &locals);
            let unresolved = reading.unresolved.keys();
            let new: Vec<String> = unresolved
                .filter(|name| is_set_by_steps(name, set_by_steps))
                .cloned()
                .collect();
            if new.is_empty() {
                return reading;
            }
            known.extend(new.into_iter().map(|name| (name, value.to_owned())));
        }
        Reading::default()
    }

    fn read(&self, known: &BTreeMap<String, String>, value: &str, locals: &[String]) -> Reading {
        let mut host = Bare(Macros::new());
        let automatic = [
            "SYSJOBID",
            "SYSDATE",
            "SYSDATE9",
            "SYSTIME",
            "SYSDAY",
            "SYSUSERID",
        ];
        for name in automatic
            .iter()
            .chain(&["SYSLAST", "SYSSCP", "SYSVER", "SYSHOSTNAME"])
        {
            host.0.set_automatic(name, "1", false);
        }
        for (name, value) in self.job.symbols.iter().chain(known) {
            // A name that cannot be set was reported with the suite.
            let _ = host.0.set(name, value);
        }
        let mut session = Session::new(&self.job.name, &self.job.program);
        session.limit_macro_operations(MACRO_OPERATIONS_MAX);
        let mut reading = Reading::default();
        for _ in 0..PULLS_MAX {
            let pulled = session.next(&mut host);
            for diagnostic in pulled.diagnostics {
                reading.take(diagnostic);
            }
            for name in locals {
                if host.0.get(name).is_some_and(|value| value.is_empty()) {
                    // A name that was declared can be set.
                    let _ = host.0.symput(name, value, Scope::Nearest);
                }
            }
            if let Some(Step::Proc(step)) = pulled.step {
                let name = step.name.to_ascii_uppercase();
                reading.procedures.entry(name).or_insert(step.span);
            }
            if pulled.finished {
                break;
            }
        }
        reading
    }
}

impl Reading {
    fn take(&mut self, diagnostic: Diagnostic) {
        let Some(span) = diagnostic.span else {
            return;
        };
        if diagnostic.severity == Severity::Error {
            self.errors.push((span, diagnostic.message));
            return;
        }
        let name = diagnostic
            .message
            .strip_prefix("Apparent symbolic reference ")
            .and_then(|rest| rest.strip_suffix(" not resolved."));
        if let Some(name) = name {
            self.unresolved.entry(name.to_owned()).or_insert(span);
        }
    }
}

/// Knows macro variables and nothing of files and functions.
struct Bare(Macros);

impl Host for Bare {
    fn macros(&self) -> &Macros {
        &self.0
    }

    fn macros_mut(&mut self) -> &mut Macros {
        &mut self.0
    }

    fn include(&mut self, _: &str) -> Result<String, String> {
        Ok(String::new())
    }

    fn function(&mut self, _: &str, _: &[String], _: Option<&str>) -> Result<String, String> {
        Ok("1".to_owned())
    }
}

/// Names, or the beginnings of names, that the program's steps give to macro variables: the first text
/// of CALL SYMPUT and SYMPUTX, and the names behind INTO.
fn names_set_by_steps(program: &str) -> Vec<String> {
    let upper = program.to_ascii_uppercase();
    let mut names = Vec::new();
    for call in upper.split("SYMPUT").skip(1) {
        let statement = call.split(';').next().unwrap_or_default();
        let mut quoted = statement.split(['\'', '"']);
        names.extend(quoted.nth(1).map(str::to_owned));
    }
    for part in upper.split("INTO").skip(1) {
        let list = part.split(';').next().unwrap_or_default();
        let list = list.split(" FROM ").next().unwrap_or_default();
        for name in list.split(':').skip(1) {
            let name = name.trim_start();
            let end = name.find(|one: char| !one.is_ascii_alphanumeric() && one != '_');
            names.push(name[..end.unwrap_or(name.len())].to_owned());
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Names that the program declares and its steps set.
fn names_declared(program: &str, set_by_steps: &[String]) -> Vec<String> {
    let upper = program.to_ascii_uppercase();
    let declarations = ["%LOCAL ", "%GLOBAL "]
        .into_iter()
        .flat_map(|word| upper.split(word).skip(1));
    let names = declarations.flat_map(|rest| {
        let list = rest.split(';').next().unwrap_or_default();
        list.split_whitespace()
    });
    names
        .filter(|name| is_set_by_steps(name, set_by_steps))
        .map(str::to_owned)
        .collect()
}

fn is_set_by_steps(name: &str, names: &[String]) -> bool {
    names.iter().any(|start| {
        let rest = name.strip_prefix(start.as_str());
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::expand::{Choice, expand};
    use crate::suite::validate::parameters;
    use crate::suite::{builtin, names};
    use base::units::Bytes;

    fn jobs(suite: &Suite) -> Vec<PlannedJob> {
        let choice = Choice {
            scale: 0.001,
            time_scale: 0.01,
            parameters: parameters(&suite.text, 2, true),
            memory: Bytes::gib(16),
            seed: 1,
            mix: BTreeMap::new(),
            variant: None,
        };
        expand(suite, &choice).jobs
    }

    #[test]
    fn programs_of_the_builtin_suites_are_read_with_their_symbols() {
        for name in names() {
            let suite = builtin(name).unwrap();
            let found = check(&suite, &jobs(&suite), &|_| true);
            assert!(found.is_empty(), "{}", crate::suite::lines(&found));
        }
    }

    #[test]
    fn what_is_not_given_and_what_cannot_be_read_is_shown() {
        for (program, part) in [
            (
                "data a;\n  x = &nosuch;\nrun;",
                "sort.sas:2:7: &nosuch is used and never given",
            ),
            ("data a;\n  x = (1;\nrun;", "sort.sas:2:"),
            (
                "proc sort data=in.&in out=out.&out; by k1; run;\nproc nosuch; run;",
                "sort.sas:2:1: there is no procedure NOSUCH",
            ),
        ] {
            let mut suite = builtin("large-sorts").unwrap();
            suite
                .programs
                .insert("sort.sas".to_owned(), program.to_owned());
            let found = check(&suite, &jobs(&suite), &|name| name == "SORT");
            let found = crate::suite::lines(&found);
            assert!(found.contains(part), "{found}");
        }
        let program = "data _null_; call symputx(cats('n', 1), 2); run; %let a = &n1; proc sql; select 1 \
                       into :total from in.&in; quit; %put &total;";
        let mut suite = builtin("large-sorts").unwrap();
        suite
            .programs
            .insert("sort.sas".to_owned(), program.to_owned());
        assert_eq!(check(&suite, &jobs(&suite), &|_| true), []);
    }
}
