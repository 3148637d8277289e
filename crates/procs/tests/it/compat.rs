//! COMPAT.md says what there is: its lists come from the registries of functions, options and
//! procedures. `GRISTMILL_UPDATE=1 cargo test -p gristmill-procs compat` writes them anew.

use std::path::Path;

use engine::expr::function;
use engine::options::{NAMES, Options};

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

fn procedures() -> String {
    let mut rows = vec![
        "| procedure | yes | not yet (refused) |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for procedure in procs::all() {
        let support = procedure.support();
        let cell = |text: &str| text.replace('|', "\\|");
        rows.push(format!(
            "| {} | {} | {} |",
            procedure.name(),
            cell(support.yes),
            cell(support.no)
        ));
    }
    rows.join("\n")
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
    for (section, content) in [
        ("procedures", procedures()),
        ("functions", lines(&function::names())),
        ("options", lines(&NAMES)),
    ] {
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
