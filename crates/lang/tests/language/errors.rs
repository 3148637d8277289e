//! Messages, which are user interface: their words and their places.

use crate::{MemoryHost, check, lines};

/// Checks the only message of a DATA step, without its severity.
#[track_caller]
fn one(body: &str, expect: &str) {
    check(
        &format!("data a;\n  {body}\nrun;"),
        &[&format!("ERROR: {expect}")],
    );
}

#[test]
fn statements_that_are_not_there_yet_are_named_with_their_place() {
    check(
        "data a;\n  set b;\n    modify c;\nrun;",
        &["ERROR: The MODIFY statement is not implemented yet (program.sas, line 3, column 5)."],
    );
    for statement in ["modify a b;", "lostcard 1;"] {
        let name = statement.split(' ').next().unwrap_or("").to_uppercase();
        one(
            statement,
            &format!(
                "The {name} statement is not implemented yet (program.sas, line 2, column 3)."
            ),
        );
    }
    check(
        "x 'ls';\nfilename f pipe 'a';",
        &[
            "ERROR: The X statement is not implemented yet (program.sas, line 1, column 1).",
            "ERROR: The device PIPE of the FILENAME statement is not implemented yet (program.sas, line 2, column 12).",
        ],
    );
    one(
        "output d1:;",
        "The list of data sets is not implemented yet (program.sas, line 2, column 12).",
    );
    one(
        "set d1-e5;",
        "d1-e5 is not a numbered list of data sets (program.sas, line 2, column 10).",
    );
}

#[test]
fn statements_that_nobody_knows_are_out_of_order() {
    one(
        "frobnicate x;",
        "180-322: Statement is not valid or it is used out of proper order: \
         FROBNICATE (program.sas, line 2, column 3).",
    );
    one(
        "leave;",
        "180-322: Statement is not valid or it is used out of proper order: LEAVE (program.sas, line 2, column 3).",
    );
    one(
        "if x then keep y;",
        "180-322: Statement is not valid or it is used out of proper order: KEEP (program.sas, line 2, column 13).",
    );
    one(
        "= 3;",
        "180-322: Statement is not valid or it is used out of proper order: = (program.sas, line 2, column 3).",
    );
    check(
        "set a;\n5;",
        &[
            "ERROR: 180-322: Statement is not valid or it is used out of proper order: \
             SET (program.sas, line 1, column 1).",
            "ERROR: 180-322: Statement is not valid or it is used out of proper order: \
             5 (program.sas, line 2, column 1).",
        ],
    );
}

#[test]
fn syntax_errors_name_what_was_expected_and_found() {
    for (body, expect) in [
        (
            "x = ;",
            "22-322: Syntax error, expecting an expression but found ';' (program.sas, line 2, column 7).",
        ),
        (
            "x = (1 + 2;",
            "22-322: Syntax error, expecting ')' but found ';' (program.sas, line 2, column 13).",
        ),
        (
            "x = 1 2;",
            "22-322: Syntax error, expecting ';' but found 2 (program.sas, line 2, column 9).",
        ),
        (
            "if x y then z=1;",
            "22-322: Syntax error, expecting THEN or ';' but found y (program.sas, line 2, column 8).",
        ),
        (
            "keep;",
            "22-322: Syntax error, expecting a variable but found ';' (program.sas, line 2, column 7).",
        ),
        (
            "keep x9-x1;",
            "x9-x1 is not a numbered list of variables (program.sas, line 2, column 11).",
        ),
        (
            "do i = 1 too 3; end;",
            "22-322: Syntax error, expecting ';' but found too (program.sas, line 2, column 12).",
        ),
        (
            "length x $ 0;",
            "352-185: The length of character variables is 1-32767, not 0 (program.sas, line 2, column 14).",
        ),
        (
            "length x 9;",
            "352-185: The length of numeric variables is 3-8, not 9 (program.sas, line 2, column 12).",
        ),
    ] {
        one(body, expect);
    }
}

#[test]
fn wrong_literals_and_structures_have_messages_of_their_own() {
    for (body, expect) in [
        (
            "x = '32jan2020'd;",
            "Invalid date constant '32jan2020'd (program.sas, line 2, column 7).",
        ),
        (
            "x = '25:61't;",
            "Invalid time constant '25:61't (program.sas, line 2, column 7).",
        ),
        (
            "x = a \\ b;",
            "22-322: Syntax error, expecting ';' but found '\\' (program.sas, line 2, column 9).",
        ),
        (
            "x = é;",
            "The character '\\u{e9}' is not valid here (program.sas, line 2, column 7).",
        ),
        (
            "end;",
            "161-185: No matching DO/SELECT statement for END (program.sas, line 2, column 3).",
        ),
        (
            "do; x=1;",
            "117-185: The DO or SELECT group that begins here has no END (program.sas, line 2, column 3).",
        ),
        (
            "else x=1;",
            "160-185: No matching IF-THEN clause for ELSE (program.sas, line 2, column 3).",
        ),
        (
            "retain 5;",
            "22-322: Syntax error, expecting a variable but found 5 (program.sas, line 2, column 10).",
        ),
        (
            "a23456789012345678901234567890123 = 1;",
            "The name a23456789012345678901234567890123 is longer than 32 characters (program.sas, line 2, column 3).",
        ),
    ] {
        one(body, expect);
    }
}

#[test]
fn each_wrong_statement_is_reported_and_the_next_step_is_read() {
    check(
        "data a; x = ; y = 1; z = ); run; data b; run;",
        &[
            "ERROR: 22-322: Syntax error, expecting an expression but found ';' (program.sas, line 1, column 13).",
            "ERROR: 22-322: Syntax error, expecting an expression but found ')' (program.sas, line 1, column 26).",
            "(data [b])",
        ],
    );
    one(
        "if ) then do; x = 1; end; else do; y = 1; end;",
        "22-322: Syntax error, expecting an expression but found ')' (program.sas, line 2, column 6).",
    );
}

#[test]
fn what_never_closes_is_reported_where_it_begins() {
    check(
        "data a;\n x = 'abc; run;",
        &[
            "ERROR: The quoted text that begins here is never closed (program.sas, line 2, column 6).",
        ],
    );
    check(
        "data a; /* run;",
        &["ERROR: The comment that begins here is never closed (program.sas, line 1, column 9)."],
    );
    check(
        "data a; x = 1",
        &[
            "ERROR: The statement that begins here is not ended by a semicolon (program.sas, line 1, column 9).",
        ],
    );
    check(
        "proc ;",
        &[
            "ERROR: The PROC statement needs the name of a procedure (program.sas, line 1, column 1).",
        ],
    );
}

#[test]
fn places_in_macro_text_are_where_the_reference_stands() {
    let mut host = MemoryHost::with(&[("E", "x = ;")]);
    assert_eq!(
        lines("data a;\n   &e run;", &mut host),
        [
            "ERROR: 22-322: Syntax error, expecting an expression but found ';' (program.sas, line 2, column 4).",
        ]
    );
}

#[test]
fn librefs_are_short_and_titles_few() {
    check(
        "libname toolonglib 'a';",
        &[
            "ERROR: toolonglib is not a valid libref: more than 8 characters (program.sas, line 1, column 9).",
        ],
    );
    check(
        "title11 'a';",
        &[
            "ERROR: 180-322: Statement is not valid or it is used out of proper order: \
             TITLE11 (program.sas, line 1, column 1).",
        ],
    );
}
