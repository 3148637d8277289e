//! FORMAT and ATTRIB of a DATA step name formats that are there.

use crate::harness::{fails, put, run};

#[test]
fn unknown_formats_of_a_data_step_are_errors() {
    for (program, text) in [
        (
            "data a; x = 1; format x nosuch5.; run;",
            "The format NOSUCH of variable x was not found",
        ),
        (
            "data a; d = 1; format d yymmp7.; run;",
            "The format YYMMP of variable d was not found",
        ),
        (
            "data a; attrib x format=nosuch5.; x = 1; run;",
            "The format NOSUCH of variable x was not found",
        ),
        (
            "data a; format c nosuch5.; c = 'x'; run;",
            "The format $NOSUCH of variable c was not found",
        ),
        (
            "data a; format c $nosuch5.; run;",
            "The format $NOSUCH of variable c was not found",
        ),
        (
            "data a; x = 1; format x $char5.; run;",
            "the character format $CHAR with the numeric variable x",
        ),
    ] {
        fails(program, text);
    }
}

#[test]
fn nofmterr_makes_unknown_formats_notes() {
    let program = "options nofmterr; data a; x = 1; format x nosuch5.; run; \
         options fmterr; data _null_; set a; put '>' x; run;";
    assert_eq!(put(program), ["1"]);
    let (log, _) = run(program);
    assert!(
        log.contains("NOTE: The format NOSUCH of variable x was not found"),
        "{log}"
    );
    fails(
        "options nofmterr; options fmterr; data a; x = 1; format x nosuch5.; run;",
        "The format NOSUCH",
    );
}

#[test]
fn known_formats_are_taken_for_either_type() {
    let program = "data a; format n 8.2 c 4. d date9. e $quote8.; n = 1; c = 'ab'; d = 0; e = 'x'; \
         format _numeric_ best6.; run; data _null_; set a; format n; put '>' n c d e; run;";
    assert_eq!(put(program), ["1 ab 0 \"x\""]);
}
