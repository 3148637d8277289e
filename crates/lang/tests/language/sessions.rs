//! Boundaries of steps, and what is visible when.

use lang::Session;

use crate::{MemoryHost, check, lines, pulls};

#[test]
fn a_step_ends_at_run_at_the_next_step_and_at_the_end() {
    check(
        "data a; x=1; run; data b;",
        &["(data [a] (= x 1))", "(data [b])"],
    );
    check(
        "data a; data b; proc print; data c;",
        &["(data [a])", "(data [b])", "(proc print <>)", "(data [c])"],
    );
    check("run; quit; ;", &[]);
    check("", &[]);
    check(
        "data a; x=1; run cancel; data b; run;",
        &[
            "WARNING: DATA step not executed at user's request.",
            "(data [b])",
        ],
    );
}

#[test]
fn a_procedure_gets_its_statements_as_tokens() {
    check(
        "proc sort data=a.b(keep=x where=(y>1)) out=c nodupkey; by descending k1 k2; ; run;",
        &["(proc sort <data=a.b(keep=x where=(y>1)) out=c nodupkey> <by descending k1 k2>)"],
    );
}

#[test]
fn procedures_with_run_groups_come_group_by_group() {
    check(
        "proc datasets lib=a; delete b; run; delete c; run; quit;",
        &[
            "(proc datasets <lib=a> <delete b> group 0)",
            "(proc datasets <lib=a> <delete c> group 1)",
            "(proc datasets <lib=a>)",
        ],
    );
    check(
        "proc sql; select 1 from a; run; drop table b; quit;",
        &[
            "(proc sql <> <select 1 from a> group 0)",
            "(proc sql <> <drop table b> group 1)",
            "(proc sql <>)",
        ],
    );
    check("proc sort; by x; run; quit;", &["(proc sort <> <by x>)"]);
}

#[test]
fn what_a_step_sets_is_visible_to_the_text_after_it() {
    let mut session = Session::new("program.sas", "data a; x=1; run; data &name; run;");
    let mut host = MemoryHost::default();
    assert!(session.next(&mut host).step.is_some());
    host.macros.set("NAME", "late").unwrap();
    let pulled = session.next(&mut host);
    assert_eq!(
        pulled.step.as_ref().map(crate::print::step).as_deref(),
        Some("(data [late])")
    );
    // Without RUN the word DATA is the boundary.
    let mut session = Session::new("program.sas", "data a; x=1; data &name; run;");
    let mut host = MemoryHost::default();
    assert!(session.next(&mut host).diagnostics.is_empty());
    host.macros.set("NAME", "late").unwrap();
    assert!(session.next(&mut host).diagnostics.is_empty());
}

#[test]
fn each_line_is_echoed_once_by_the_pull_that_touches_it_first() {
    let text = "data a;\n  x=1;\r\nrun;\n\n* note;\ndata b; run; data c;\nrun;\n";
    let pulled = pulls(text, &mut MemoryHost::default());
    let echoed: Vec<Vec<(u32, &str)>> = pulled
        .iter()
        .map(|p| {
            p.source
                .iter()
                .map(|line| (line.number, line.text.as_str()))
                .collect()
        })
        .collect();
    assert_eq!(
        echoed,
        [
            vec![(1, "data a;"), (2, "  x=1;"), (3, "run;")],
            vec![(4, ""), (5, "* note;"), (6, "data b; run; data c;")],
            vec![(7, "run;")],
            vec![],
        ]
    );
    assert!(pulled.last().is_some_and(|p| p.finished));
}

#[test]
fn included_lines_are_numbered_on_and_marked() {
    let mut host = MemoryHost::default();
    host.files
        .insert("b.sas".to_owned(), "data b;\nrun;".to_owned());
    let pulled = pulls("%include 'b.sas';\ndata a; run;", &mut host);
    let echoed: Vec<(u32, u32, bool)> = pulled
        .iter()
        .flat_map(|p| {
            p.source
                .iter()
                .map(|line| (line.number, line.line, line.included))
        })
        .collect();
    assert_eq!(
        echoed,
        [(1, 1, false), (2, 1, true), (3, 2, true), (4, 2, false)]
    );
    let steps: Vec<String> = pulled
        .iter()
        .filter_map(|p| p.step.as_ref())
        .map(crate::print::step)
        .collect();
    assert_eq!(steps, ["(data [b])", "(data [a])"]);
}

#[test]
fn a_finished_session_gives_nothing_more() {
    let mut session = Session::new("program.sas", "data a;");
    let mut host = MemoryHost::default();
    assert!(session.next(&mut host).finished);
    let again = session.next(&mut host);
    assert!(again.finished && again.step.is_none() && again.source.is_empty());
}

#[test]
fn comments_stand_anywhere_and_star_comments_where_a_statement_starts() {
    check(
        "/* a; b */ data/**/a; * x = 1; y = 2 * /* ; */ 3; %* z; run;",
        &["(data [a] (= y (* 2 3)))"],
    );
    check("* don't; data a; run;", &["(data [a])"]);
}

#[test]
fn data_lines_are_taken_as_they_are_and_not_echoed() {
    let text = "data a; input x; datalines;\ndata lies\n1 ' 2\n;\ndata b; run;";
    let found = lines(text, &mut MemoryHost::default());
    let expected = [
        "(data [a] (input x) [\"data lies\", \"1 ' 2\"])",
        "(data [b])",
    ];
    assert_eq!(found, expected);
    let text = "data a; cards4;\n1;2\n;;;;\ndata b; run;";
    let found = lines(text, &mut MemoryHost::default());
    assert_eq!(found, ["(data [a] [\"1;2\"])", "(data [b])"]);

    let mut session = Session::new("p.sas", "data a;\ncards;\n1\n2\n;\nrun;\n");
    let mut echoed = Vec::new();
    loop {
        let pulled = session.next(&mut MemoryHost::default());
        echoed.extend(
            pulled
                .source
                .iter()
                .map(|line| (line.number, line.text.clone())),
        );
        if pulled.finished {
            break;
        }
    }
    let line = |number, text: &str| (number, text.to_owned());
    assert_eq!(
        echoed,
        [
            line(1, "data a;"),
            line(2, "cards;"),
            line(5, ";"),
            line(6, "run;")
        ]
    );
}
