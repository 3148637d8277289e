//! After an error the steps that follow are read but not run: what is wrong with them is told, what is
//! right says nothing and leaves nothing behind.

use std::sync::Arc;

use crate::harness::{Ran, run_on, store};

/// Each procedure with statements that are right and one that is wrong, and what the log says of it.
const PROGRAMS: [(&str, &str, &str, &str); 17] = [
    (
        "APPEND",
        "base=d.b data=d.a;",
        "base=d.b nonsense;",
        "NONSENSE",
    ),
    (
        "CONTENTS",
        "data=d.a varnum;",
        "data=d.a nonsense;",
        "NONSENSE",
    ),
    (
        "COPY",
        "in=d out=work; select a;",
        "in=d out=work; choose a;",
        "CHOOSE",
    ),
    (
        "DATASETS",
        "lib=d nolist; modify a; label x = 'l'; index create x; delete a; change a = b; quit;",
        "lib=d nolist; modify a; label x 'l'; quit;",
        "expecting '='",
    ),
    ("DELETE", "data=d.a;", "library=d;", "LIBRARY"),
    (
        "FORMAT",
        "; value f 1 = 'one';",
        "; value f 1 'one';",
        "expecting '='",
    ),
    (
        "FREQ",
        "data=d.a; tables x / out=d.b;",
        "data=d.a; tables x / nonsense;",
        "NONSENSE",
    ),
    (
        "GLM",
        "data=d.a; class x; model x = x / solution; quit;",
        "data=d.a; model x = x / nonsense; quit;",
        "NONSENSE",
    ),
    (
        "LOGISTIC",
        "data=d.a; model x(event='1') = x;",
        "data=d.a; class x;",
        "needs a MODEL statement",
    ),
    (
        "HPLOGISTIC",
        "data=d.a; model x = x;",
        "data=d.a; model x = x / nonsense;",
        "NONSENSE",
    ),
    (
        "MEANS",
        "data=d.a; var x; output out=d.b mean=;",
        "data=d.a; variable x;",
        "VARIABLE",
    ),
    (
        "SUMMARY",
        "data=d.a; output out=d.b;",
        "data=d.a;",
        "Neither the PRINT option",
    ),
    (
        "OPTIONS",
        "option=memsize;",
        "option=memsize; var x;",
        "VAR",
    ),
    (
        "PRINT",
        "data=d.a; var x;",
        "data=d.a; where x >;",
        "22-322",
    ),
    (
        "REG",
        "data=d.a; model x = x; quit;",
        "data=d.a; model x = x / nonsense; quit;",
        "NONSENSE",
    ),
    (
        "SORT",
        "data=d.a out=d.b; by x;",
        "data=d.a;",
        "No BY statement used",
    ),
    (
        "SQL",
        "; create table d.b as select x from d.a; drop table d.a; quit;",
        "; select x frm d.a; quit;",
        "22-322",
    ),
];

fn after_an_error(statements: &str) -> (Ran, Vec<std::path::PathBuf>) {
    let store = store();
    let program = format!(
        "data d.a; x = 1; run;
         proc nonsense; run;
         {statements} run;"
    );
    let ran = run_on(Arc::new(store.clone()), &program);
    let mut left = store.paths();
    left.retain(|path| path.starts_with("/data"));
    (ran, left)
}

fn errors(ran: &Ran) -> usize {
    ran.log
        .lines()
        .filter(|line| line.starts_with("ERROR"))
        .count()
}

#[test]
fn statements_of_every_procedure_are_read_after_an_error() {
    let all: Vec<_> = procs::all().iter().map(|one| one.name()).collect();
    assert!(
        all.iter()
            .all(|name| PROGRAMS.iter().any(|one| one.0 == *name)),
        "{all:?}"
    );
    for (name, right, wrong, text) in PROGRAMS {
        let (ran, left) = after_an_error(&format!("proc {name} {right}"));
        assert_eq!(errors(&ran), 1, "{name}: {}", ran.log);
        assert_eq!(
            left,
            [std::path::PathBuf::from("/data/a.sas7bdat")],
            "{name}"
        );
        assert_eq!(ran.listing, "", "{name}");
        let stopped = ran.log.matches("stopped processing this step").count();
        assert_eq!(stopped, 1, "{name}: {}", ran.log);
        let (ran, left) = after_an_error(&format!("proc {name} {wrong}"));
        assert_eq!(errors(&ran), 2, "{name}: {}", ran.log);
        let second = ran
            .log
            .lines()
            .filter(|line| line.starts_with("ERROR"))
            .nth(1);
        assert!(
            second.is_some_and(|line| line.contains(text)),
            "{name}: {}",
            ran.log
        );
        assert_eq!(left.len(), 1, "{name}");
    }
}

#[test]
fn formats_are_made_all_the_same_since_later_steps_name_them() {
    let (ran, _) = after_an_error(
        "proc format; value f 1 = 'one'; run;
         data d.b; set d.a; y = put(x, f.);",
    );
    assert_eq!(errors(&ran), 1, "{}", ran.log);
}
