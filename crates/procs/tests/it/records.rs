//! `_INFILE_`: the present record as a variable.

use crate::harness::{fails, put, run};

#[test]
fn infile_is_the_present_record_and_no_variable_of_the_data_set() {
    let program = "data kept; input; if index(_infile_, 'skip') then delete; \
         length first $ 8; first = scan(_infile_, 1, ','); n = length(_infile_); datalines;
one,1
skip,2
three,33
;
data _null_; set kept; put '>' (_all_) (=); run;";
    assert_eq!(put(program), ["first=one n=5", "first=three n=8"]);
    let (log, _) = run(program);
    assert!(log.contains("has 2 observations and 2 variables"), "{log}");
    assert!(!log.contains("_infile_ is uninit"), "{log}");
}

#[test]
fn a_text_given_to_infile_is_what_held_input_reads() {
    let program = "data _null_; input @; _infile_ = compress(_infile_, '$'); \
         input a b; put '>' a b; put '>' _infile_; datalines;
$1 $2
3 $4
;";
    assert_eq!(put(program), ["1 2", "1 2", "3 4", "3 4"]);
    let program =
        "data _null_; input @; substr(_infile_, 1, 1) = '9'; input a; put '>' a; datalines;
12
;";
    assert_eq!(put(program), ["92"]);
}

#[test]
fn infile_follows_lines_that_input_goes_on_to() {
    let program =
        "data _null_; input a / b; put '>' _infile_; x = _infile_ =: '2'; put '>' x=; datalines;
1
2
3
4
;";
    assert_eq!(put(program), ["2", "x=1", "4", "x=0"]);
}

#[test]
fn infile_is_of_the_file_read_last() {
    let program = "filename one temp; filename two temp; \
         data _null_; file one; put 'a1' / 'a2'; file two; put 'b1' / 'b2'; run; \
         data _null_; infile one; input; length x y $ 4; x = _infile_; infile two; input; y = _infile_; \
         put '>' x y; run;";
    assert_eq!(put(program), ["a1 b1", "a2 b2"]);
}

#[test]
fn infile_is_shown_by_its_name() {
    let program = "data _null_; input; x = length(_infile_); put '>' _all_; datalines;
ab c
;";
    assert_eq!(put(program), ["x=4 _INFILE_=ab c _ERROR_=0 _N_=1"]);
}

#[test]
fn what_infile_and_file_cannot_do_is_refused_by_name() {
    for (program, text) in [
        (
            "data a; x = length(_infile_); run;",
            "_INFILE_ needs an INFILE or INPUT statement before it",
        ),
        ("data a; _infile_ = 'x'; run;", "_INFILE_ needs an INFILE"),
        ("data a; x = _file_; run;", "_FILE_ is not implemented yet"),
        (
            "data a; _file_ = 'x'; run;",
            "_FILE_ is not implemented yet",
        ),
        (
            "data a; length _infile_ $ 8; run;",
            "_INFILE_ is an automatic variable",
        ),
        ("data a; _infile_ + 1; run;", "_INFILE_"),
    ] {
        fails(program, text);
    }
}

#[test]
fn ranges_of_variables_pass_over_infile() {
    let program = "data a; input x; y = length(_infile_); array t{*} x--y; n = dim(t); put '>' n (x--y) (=); \
         datalines;
5
;";
    assert_eq!(put(program), ["2 x=5 y=1"]);
}
