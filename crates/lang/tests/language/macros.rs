//! Macro variables and the statements of the macro processor.

use crate::{MemoryHost, check, lines};

#[track_caller]
fn check_with(symbols: &[(&str, &str)], text: &str, expect: &[&str]) {
    assert_eq!(
        lines(text, &mut MemoryHost::with(symbols)),
        expect,
        "{text}"
    );
}

#[test]
fn references_resolve_in_text_and_in_double_quotes_only() {
    let symbols = &[("X", "1"), ("LIB", "work"), ("T", "abc")];
    check_with(symbols, "data a&x; run;", &["(data [a1])"]);
    check_with(symbols, "data &lib..&t; run;", &["(data [work.abc])"]);
    check_with(symbols, "data &t.x; run;", &["(data [abcx])"]);
    check_with(symbols, "data &t&x; run;", &["(data [abc1])"]);
    check_with(
        symbols,
        "title \"&t.-&X\"; title '&t';",
        &["(title 1 \"abc-1\")", "(title 1 \"&t\")"],
    );
    check_with(
        symbols,
        "data a; y = 1&x; z = '&x'; run;",
        &["(data [a] (= y 11) (= z \"&x\"))"],
    );
    check_with(
        &[("D", "01jan1960")],
        "data a; x=\"&d\"d; run;",
        &["(data [a] (= x 0))"],
    );
    check_with(
        &[("W", "12"), ("F", "best8.")],
        "data a; format x best&w.. y &f; run;",
        &["(data [a] (format x:best12. y:best8.))"],
    );
    check_with(
        &[("S", "x=1; y=2;")],
        "data a; &s run;",
        &["(data [a] (= x 1) (= y 2))"],
    );
}

#[test]
fn double_ampersands_resolve_in_passes_from_left_to_right() {
    let symbols = &[("A1", "x"), ("I", "1"), ("X", "deep"), ("P", "i")];
    check_with(symbols, "%put &&a&i;", &["(put \"x\")"]);
    check_with(symbols, "%put &&&a1;", &["(put \"deep\")"]);
    check_with(symbols, "%put &&&&&a1;", &["(put \"deep\")"]);
    check_with(symbols, "%put a&&a&i...b;", &["(put \"ax.b\")"]);
    check_with(symbols, "%put &&&p & && a&;", &["(put \"1 & && a&\")"]);
    check_with(symbols, "data &&a&i...&&a&i; run;", &["(data [x.x])"]);
}

#[test]
fn a_reference_that_is_not_resolved_stays_with_a_warning() {
    check(
        "%put a &b..c;",
        &[
            "WARNING: Apparent symbolic reference B not resolved.",
            "(put \"a &b..c\")",
        ],
    );
    check(
        "data a; x = y&z; run;",
        &[
            "WARNING: Apparent symbolic reference Z not resolved.",
            "(data [a] (= x (and y z)))",
        ],
    );
    check(
        "title \"&x &x\";",
        &[
            "WARNING: Apparent symbolic reference X not resolved.",
            "WARNING: Apparent symbolic reference X not resolved.",
            "(title 1 \"&x &x\")",
        ],
    );
}

#[test]
fn let_trims_blanks_and_acts_where_it_stands() {
    check("%let a =  b c  ; %put <&a>;", &["(put \"<b c>\")"]);
    check("%let a=; %put <&a>;", &["(put \"<>\")"]);
    check(
        "%let a=1; %let b=&a.2; %let a=9; %put &b;",
        &["(put \"12\")"],
    );
    check("%let n=2; %let v&n=x; %put &v2;", &["(put \"x\")"]);
    check("%let a='x;y'; %put &a '&a';", &["(put \"'x;y' '&a'\")"]);
    check("%let a=1 /* not; this */; %put &a|;", &["(put \"1|\")"]);
    check("data a; x = %let v=5; &v; run;", &["(data [a] (= x 5))"]);
    check("%global g; %put [&g];", &["(put \"[]\")"]);
}

#[test]
fn put_comes_at_its_place_even_inside_a_statement() {
    check(
        "data a; x = %put now; 1; %put then; run;",
        &["(put \"now\")", "(put \"then\")", "(data [a] (= x 1))"],
    );
    check_with(&[("A", "1")], "%put &=a;", &["(put \"A=1\")"]);
}

#[test]
fn references_without_end_are_cut_off() {
    let error = "ERROR: Macro variables refer to each other without end, or to too much text \
                 (program.sas, line 1, column 6).";
    check_with(
        &[("A", "&a")],
        "data &a; run;",
        &[
            error,
            // The statement is left without a data set, so that it would read as DATA with none.
        ],
    );
    check_with(&[("A", "&b"), ("B", "&a")], "data &a; run;", &[error]);
    check_with(&[("A", "&a &a")], "data &a; run;", &[error]);
    let chain: Vec<(String, String)> = (0..60)
        .map(|n| (format!("A{n}"), format!("&a{}. &a{}.", n + 1, n + 1)))
        .chain([("A60".to_owned(), "x".to_owned())])
        .collect();
    let chain: Vec<(&str, &str)> = chain
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    check_with(&chain, "data &a0; run;", &[error]);
}

#[test]
fn what_is_no_macro_statement_or_function_says_so_once() {
    check(
        "%abort; %put [&a];",
        &[
            "ERROR: The %ABORT statement is not implemented yet (program.sas, line 1, column 1).",
            "WARNING: Apparent symbolic reference A not resolved.",
            "(put \"[&a]\")",
        ],
    );
    check(
        "%nobody(1);",
        &[
            "WARNING: Apparent invocation of macro NOBODY not resolved.",
            "ERROR: 180-322: Statement is not valid or it is used out of proper order: % \
         (program.sas, line 1, column 1).",
        ],
    );
    check(
        "%let a=%sysget(HOME);",
        &["ERROR: The %SYSGET function is not implemented yet (program.sas, line 1, column 8)."],
    );
}

#[test]
fn include_reads_files_and_stops_endless_ones() {
    let mut host = MemoryHost::with(&[("P", "x")]);
    host.files.insert(
        "x.sas".to_owned(),
        "data x; run; %put done".to_owned() + ";",
    );
    host.files
        .insert("y.sas".to_owned(), "data y; run;".to_owned());
    assert_eq!(
        lines("%include \"&p..sas\" 'y.sas'; data z; run;", &mut host),
        ["(data [x])", "(put \"done\")", "(data [y])", "(data [z])",]
    );
    host.files.insert(
        "me.sas".to_owned(),
        "%include 'me.sas' 'me.sas';\n%include 'me.sas';".to_owned(),
    );
    assert_eq!(
        lines("%include 'me.sas'; data z; run;", &mut host),
        [
            "ERROR: Files include each other more than 200 deep (me.sas, line 1, column 1).",
            "(data [z])",
        ]
    );
    assert_eq!(
        lines("%inc 'no.sas';", &mut host),
        ["ERROR: Cannot %INCLUDE no.sas: there is no such file (program.sas, line 1, column 1).",]
    );
}
