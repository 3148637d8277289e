//! COMPAT.md says what there is: its lists come from the tables that the parser, the engine and the
//! procedures read by. `GRISTMILL_UPDATE=1 cargo test -p gristmill-procs compat` writes them anew.

use std::path::Path;

use engine::dataset::options::dataset_options;
use engine::datastep::hash_methods;
use engine::expr::routine::routines;
use engine::expr::{function, outside};
use engine::format::informat;
use engine::options::{NAMES, Options};
use lang::{Support, Word};

/// Longest line of a list.
const WIDTH: usize = 110;

/// Names in lines of [`WIDTH`].
fn lines(names: &[&str]) -> String {
    let (mut text, mut used) = (String::new(), 0);
    for name in names {
        if used > 0 && used + 1 + name.len() > WIDTH {
            text.push('\n');
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(name);
        used += name.len();
    }
    text
}

/// A row of a table: done, or in part.
fn row(name: &str, support: Support) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let state = if support.no.is_empty() {
        "done"
    } else {
        "partly"
    };
    let (yes, no) = (cell(support.yes), cell(support.no));
    format!("| {name} | {state} | {yes} | {no} |")
}

/// What there is of `words`: those of which there is something to say in a table, the others by name.
fn words(kind: &str, words: impl Iterator<Item = Word>) -> String {
    let (mut rows, mut done, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for Word { name, support } in words {
        match support {
            Some(Support { yes: "", no: "" }) => done.push(name),
            Some(support) => rows.push(row(name, support)),
            None => refused.push(name),
        }
    }
    let mut parts = Vec::new();
    if !rows.is_empty() {
        let head = format!("| {kind} | state | what there is | refused |\n|---|---|---|---|");
        parts.push(format!("{head}\n{}", rows.join("\n")));
    }
    if !done.is_empty() {
        parts.push(format!("Done, nothing to add:\n{}", lines(&done)));
    }
    if !refused.is_empty() {
        parts.push(format!("Known and refused by name:\n{}", lines(&refused)));
    }
    parts.join("\n\n")
}

fn procedures() -> String {
    let all = procs::all();
    let word = all.iter().map(|procedure| Word {
        name: procedure.name(),
        support: Some(procedure.support()),
    });
    words("procedure", word)
}

/// Names of formats or informats: that of `w.d` is empty.
fn format_names(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names
        .map(|name| if name.is_empty() { "w.d" } else { name })
        .collect();
    lines(&names)
}

/// All sections that come from registries.
fn sections() -> Vec<(&'static str, String)> {
    vec![
        ("global", words("statement", lang::global_statements())),
        ("statements", words("statement", lang::step_statements())),
        ("methods", words("method", hash_methods())),
        ("dataset options", words("option", dataset_options())),
        (
            "macro statements",
            words("statement", lang::macro_statements()),
        ),
        (
            "macro functions",
            words("function", lang::macro_functions()),
        ),
        ("formats", format_names(engine::format::names())),
        ("informats", format_names(informat::names())),
        ("routines", lines(&routines().collect::<Vec<_>>())),
        ("procedures", procedures()),
        ("functions", lines(&function::names())),
        (
            "session functions",
            lines(&outside::names().collect::<Vec<_>>()),
        ),
        ("options", lines(&NAMES)),
    ]
}

/// `text` with what stands between the marks of `section` replaced.
fn with_section(text: &str, section: &str, content: &str) -> String {
    let (begin, end) = (
        format!("<!-- {section}: from the registry -->"),
        format!("<!-- end of {section} -->"),
    );
    let (before, rest) = text.split_once(&begin).expect("the section begins");
    let (_, after) = rest.split_once(&end).expect("the section ends");
    format!("{before}{begin}\n\n{content}\n\n{end}{after}")
}

#[test]
fn the_document_is_that_of_the_registries() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPAT.md");
    let known = std::fs::read_to_string(&path).unwrap();
    let mut text = known.clone();
    for (section, content) in sections() {
        text = with_section(&text, section, &content);
    }
    if std::env::var_os("GRISTMILL_UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(
        text == known,
        "COMPAT.md is not what the registries say: GRISTMILL_UPDATE=1 cargo test -p gristmill-procs compat"
    );
}

#[test]
fn every_option_of_the_list_is_one() {
    for name in NAMES {
        let mut options = Options::new(1);
        let switched = options.set(name, None);
        let valued = ["1", "80", "128k", "64M", "I", "NONE", "NO"]
            .iter()
            .any(|value| options.set(name, Some(value)).is_ok());
        assert!(switched.is_ok() || valued, "{name}");
    }
}

#[test]
fn every_function_of_the_list_is_one() {
    let unknown = |name: &str| {
        let program = format!("data a; x = {name}(); run;");
        let store = std::sync::Arc::new(crate::harness::store());
        let log = crate::harness::run_on(store, &program).log;
        log.contains("is unknown")
    };
    assert!(unknown("nosuch"));
    for name in function::names() {
        assert!(!unknown(name), "{name}");
    }
}

/// Runs `program`; the log.
fn log(program: &str) -> String {
    let store = std::sync::Arc::new(crate::harness::store());
    crate::harness::run_on(store, program).log
}

#[test]
fn every_statement_that_is_refused_is_refused_by_name() {
    let refused = |words: &mut dyn Iterator<Item = Word>| -> Vec<&'static str> {
        words
            .filter(|word| word.support.is_none())
            .map(|word| word.name)
            .collect()
    };
    for name in refused(&mut lang::global_statements()) {
        let log = log(&format!("{name} a;"));
        let text = format!("The {name} statement is not implemented yet");
        assert!(log.contains(&text), "{log}");
    }
    for name in refused(&mut lang::step_statements()) {
        let log = log(&format!("data a; x = 1;\n{name}\n;\nrun;"));
        let text = format!("The {name} statement is not implemented yet");
        assert!(log.contains(&text), "{log}");
    }
    for name in refused(&mut lang::macro_statements()) {
        let log = log(&format!("%{name} a;"));
        let text = format!("The %{name} statement is not implemented yet");
        assert!(log.contains(&text), "{log}");
    }
    for name in refused(&mut lang::macro_functions()) {
        let log = log(&format!("%put %{name}(a);"));
        let text = format!("The %{name} function is not implemented yet");
        assert!(log.contains(&text), "{log}");
    }
    for name in refused(&mut dataset_options()) {
        let log = log(&format!("data a({name}=1); x = 1; run;"));
        let text = format!("The data set option {name}= is not implemented yet");
        assert!(log.contains(&text), "{log}");
    }
    for name in refused(&mut hash_methods()) {
        let log = log(&format!(
            "data _null_; declare hash h(); h.definekey('k'); h.definedone(); rc = h.{name}(); run;"
        ));
        assert!(log.contains("not implemented yet"), "{name}: {log}");
    }
}

#[test]
fn every_macro_function_of_the_list_is_one() {
    for word in lang::macro_functions().filter(|word| word.support.is_some()) {
        let log = log(&format!("%put %{}(1, 1);", word.name));
        assert!(!log.contains("not implemented"), "{log}");
        assert!(!log.contains("Apparent invocation"), "{log}");
    }
}

#[test]
fn every_format_of_the_list_prints_and_every_informat_reads() {
    for name in engine::format::names().filter(|name| !name.starts_with('$')) {
        let format = sas7bdat::Format {
            name: name.to_owned(),
            width: 0,
            decimals: 0,
        };
        for value in [0.0, 1.5, -3e9, 1e300, f64::NAN] {
            assert!(engine::format::number(value, &format).is_some(), "{name}");
        }
    }
    let formats = engine::format::user::Formats::default();
    for name in informat::names() {
        let found = informat::Informat::find(name, 0, &formats);
        assert!(found.is_some(), "{name}");
    }
}
