//! INFILE and INPUT, FILE and PUT, DATALINES and FILENAME.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::memory::MemoryStore;
use base::store::{Channel, Creation, Operation, Store};

use crate::harness::{Ran, clean, put, rows, run_on, store};

/// A store with a text file `/data/in.txt`.
fn with_text(text: &str) -> MemoryStore {
    let store = store();
    let path = Path::new("/data/in.txt");
    let file = store.create(Channel::Output, path, Creation::New).unwrap();
    file.write_at(0, text.as_bytes()).unwrap();
    file.close().unwrap();
    store
}

/// Reads `text` with `infile '/data/in.txt' <options>;` and `statements` into D.OUT.
#[track_caller]
fn read(text: &str, options: &str, statements: &str, expected: &[&str]) -> Ran {
    let store = with_text(text);
    let program = format!("data d.out; infile '/data/in.txt' {options}; {statements} run;");
    let ran = run_on(Arc::new(store.clone()), &program);
    assert_eq!(ran.exit, 0, "{}", ran.log);
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        expected,
        "{options} {statements}"
    );
    ran
}

/// What `statements` write to `file '/data/out.txt' <options>;`.
fn written(setup: &str, options: &str, statements: &str) -> String {
    let program = format!("{setup} data _null_; file '/data/out.txt' {options}; {statements} run;");
    let (_, store) = clean(&program);
    String::from_utf8(store.get("/data/out.txt").unwrap()).unwrap()
}

/// `0,text`, `1,text` … in lines.
fn lines(count: u32) -> String {
    let mut text = String::new();
    for number in 0..count {
        writeln!(text, "{number},text").unwrap();
    }
    text
}

fn says(log: &str, text: &str) {
    assert!(log.contains(text), "{text}\n--- in ---\n{log}");
}

#[test]
fn list_input_reads_values_between_blanks() {
    let ran = read(
        "1 ab 2\n  3   cdefghijk 4\n",
        "",
        "input x c $ y;",
        &["1 ab 2", "3 cdefghij 4"],
    );
    says(
        &ran.log,
        "NOTE: The infile '/data/in.txt' is:\n      Filename=/data/in.txt,",
    );
    says(
        &ran.log,
        "NOTE: 2 records were read from the infile '/data/in.txt'.\n      The minimum record length \
         was 6.\n      The maximum record length was 17.",
    );
}

#[test]
fn dsd_reads_comma_separated_values() {
    let text = "id,name\n1,\"a, b\"\n2,\n3,\"say \"\"hi\"\"\"\n4,'q'\n";
    read(
        text,
        "dlm=',' dsd firstobs=2 truncover",
        "length name $ 12; input id name;",
        &["a, b 1", " 2", "say \"hi\" 3", "q 4"],
    );
    read("1,,3\n,2,\n", "dsd", "input a b c;", &["1 . 3", ". 2 ."]);
    read("1,,3\n", "dlm=','", "input a b;", &["1 3"]);
    read("1|2;3\n", "dlm='|;'", "input a b c;", &["1 2 3"]);
}

#[test]
fn lines_that_are_too_short_are_continued_or_filled_with_missing() {
    let ran = read("1 2\n3\n4 5 6\n", "", "input a b c;", &["1 2 3", "4 5 6"]);
    says(
        &ran.log,
        "NOTE: SAS went to a new line when INPUT statement reached past the end of a line.",
    );
    read("1 2\n3\n", "missover", "input a b c;", &["1 2 .", "3 . ."]);
    read("1 2\n3\n", "truncover", "input a b c;", &["1 2 .", "3 . ."]);
    read(
        "abc\nab\n",
        "truncover",
        "input c $3. d $1.;",
        &["abc ", "ab "],
    );
    read(
        "abcd\nab\n",
        "missover",
        "input c $3. d $1.;",
        &["abc d", " "],
    );
    let ran = read("1 2\n3\n", "", "input a b;", &["1 2"]);
    says(&ran.log, "NOTE: LOST CARD.");
    let store = with_text("1\n");
    let program = "data a; infile '/data/in.txt' stopover; input x y; run;";
    let ran = run_on(Arc::new(store), program);
    says(
        &ran.log,
        "INPUT statement exceeded record length. INFILE option STOPOVER specified.",
    );
}

#[test]
fn columns_formats_and_pointers_find_values() {
    read(
        "abc 12 345\n",
        "",
        "input c $ 1-3 x 5-6 y 8-10 .1;",
        &["abc 12 34.5"],
    );
    read(
        "12345678\n",
        "",
        "input x 2. y 3.1 +1 c $2.;",
        &["12 34.5 78"],
    );
    read("  ab  7\n", "", "input @3 c $2. @7 x;", &["ab 7"]);
    read("  ab\n", "", "input a $4. @1 b $char4.;", &["ab   ab"]);
    read("key=5 other=7\n", "", "input @'other=' x;", &["7"]);
    read("1\n2\n3\n4\n", "", "input a / b;", &["1 2", "3 4"]);
    read(
        "$1,234 13SEP2017\n",
        "",
        "input x : comma9. d : date9.;",
        &["1234 21075"],
    );
    read(
        "new york  ny\n",
        "",
        "input c & $12. s $;",
        &["new york ny"],
    );
    read("1 2 3\n", "truncover", "input (a b c) (2.);", &["1 2 3"]);
    read(
        "1 2 3\n",
        "",
        "array v{3}; do i = 1 to 3; input v{i} @; end; drop i;",
        &["1 2 3"],
    );
    read(".a . ._\n", "", "input x y z;", &[".A . ._"]);
}

#[test]
fn lines_are_held_in_an_iteration_and_across() {
    read(
        "1 5\n2 6\n",
        "",
        "input k @; if k = 2 then input v;",
        &["1 .", "2 6"],
    );
    read("1 2 3\n4\n", "", "input x @@;", &["1", "2", "3", "4"]);
}

#[test]
fn options_choose_records() {
    read(
        "a\nb\nc\nd\n",
        "firstobs=2 obs=3",
        "input c $;",
        &["b", "c"],
    );
    read(
        "a\r\nb\r\n",
        "end=last",
        "input c $; l = last;",
        &["a 0", "b 1"],
    );
    read("a\nb", "", "input c $;", &["a", "b"]);
    let ran = read(
        "abcdef\nab\n",
        "lrecl=4 truncover",
        "input c $6.;",
        &["abcd", "ab"],
    );
    says(&ran.log, "NOTE: One or more lines were truncated.");
    read("", "", "input x;", &[]);
}

#[test]
fn records_longer_than_a_block_are_whole() {
    let long = "x".repeat(200_000);
    let ran = read(
        &format!("{long} 1\nab 2\n"),
        "lrecl=300000",
        "input c $ n;",
        &["xxxxxxxx 1", "ab 2"],
    );
    says(&ran.log, "The maximum record length was 200002.");
}

#[test]
fn data_lines_are_read_with_and_without_infile() {
    for infile in ["", "infile datalines;", "infile cards missover;"] {
        let program = format!("data d.out; {infile} input x c $;\ndatalines;\n1 a\n2 b\n;\nrun;");
        let (ran, store) = clean(&program);
        assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1 a", "2 b"]);
        assert!(!ran.log.contains("The infile"), "{}", ran.log);
    }
    let (_, store) =
        clean("data d.out; infile datalines dsd; input x c $;\ncards4;\n1,a;b\n2,c\n;;;;\nrun;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1 a;b", "2 c"]);
    let ran = run_on(Arc::new(store), "data a; input x; run;");
    says(&ran.log, "No DATALINES or INFILE statement");
}

#[test]
fn invalid_data_are_missing_noted_and_dumped() {
    let ran = read("1\nabc\n3\n", "", "input x;", &["1", ".", "3"]);
    says(&ran.log, "NOTE: Invalid data for x in line 2 1-3.");
    says(&ran.log, "2         abc");
    says(&ran.log, "x=. _ERROR_=1 _N_=2");
    let ran = read("abc\n", "", "input x ??;", &["."]);
    assert!(
        !ran.log.contains("Invalid data") && !ran.log.contains("_ERROR_=1"),
        "{}",
        ran.log
    );
}

#[test]
fn put_writes_lists_columns_and_formats() {
    for (statements, expected) in [
        ("x = 5; c = 'ab'; put x c;", "5 ab\n"),
        ("x = 5; c = 'ab'; put x= c=;", "x=5 c=ab\n"),
        ("x = 5; put 'x is ' x '!';", "x is 5 !\n"),
        ("x = 5; put 'x is ' x +(-1) '!';", "x is 5!\n"),
        ("x = 1234.5; put x comma10.2 '|';", "  1,234.50|\n"),
        ("x = 7; y = 8; put @3 x 2. @10 y z4.;", "   7     0008\n"),
        ("c = 'ab'; x = 7; put c 3-6 x 8-10;", "  ab     7\n"),
        ("put 'a' / 'b'; put;", "a\nb\n\n"),
        ("put 'a' @; put 'b'; put 'c';", "ab\nc\n"),
        ("do i = 1 to 3; put i @@; end;", "1 2 3\n"),
        ("put 3*'-=';", "-=-=-=\n"),
        ("a = 1; b = 2; put (a b) (3. +1);", "  1   2\n"),
        ("a = 1; b = 2; put (a b) (=);", "a=1 b=2\n"),
        ("array v{2} (3 4); put v{2} v{*};", "4 3 4\n"),
        ("x = .; c = ' '; put x c '.';", ".   .\n"),
        ("c = 'abc'; put c $2. c 5. '|';", "ababc  |\n"),
        ("x = 5; format x z3.; put x;", "005\n"),
    ] {
        assert_eq!(written("", "", statements), expected, "{statements}");
    }
}

#[test]
fn put_separates_values_by_dlm_and_quotes_them_with_dsd() {
    let values = "x = 1; c = 'a,b'; d = 'say \"hi\"'; y = .; put x c d y;";
    assert_eq!(
        written("", "dsd", values),
        "1,\"a,b\",\"say \"\"hi\"\"\",.\n"
    );
    assert_eq!(written("", "dlm='|'", "x = 1; y = 2; put x y;"), "1|2\n");
}

#[test]
fn lines_wrap_at_lrecl() {
    assert_eq!(
        written(
            "",
            "lrecl=8",
            "do i = 100 to 400 by 100; put i @; end; put;"
        ),
        "100 200\n300 400\n"
    );
    assert_eq!(
        written("", "lrecl=4", "put 'abcdefghij' @; put 'k';"),
        "abcd\nefgh\nijk\n"
    );
    let ran = run_on(
        Arc::new(store()),
        "data a; put 32767*'a text that is far, far too long to be put'; run;",
    );
    says(&ran.log, "A text of PUT has at most 1048576 bytes");
    let ran = run_on(
        Arc::new(store()),
        "data a; put 300*'a text that is not'; run;",
    );
    assert_eq!(ran.exit, 0, "{}", ran.log);
}

#[test]
fn put_writes_to_the_log_and_putlog_always() {
    let (ran, store) = clean(
        "data _null_; file '/data/out.txt'; put 'file'; putlog 'log ' _n_; file log; put 'too'; run;",
    );
    assert_eq!(store.get("/data/out.txt").unwrap(), b"file\n");
    says(&ran.log, "\nlog 1\n");
    says(&ran.log, "\ntoo\n");
    says(
        &ran.log,
        "NOTE: 1 record was written to the file '/data/out.txt'.\n      The minimum record length was 4.",
    );
    let (ran, _) = clean("data a; x = 1; c = 'k'; put _all_; run;");
    says(&ran.log, "\nx=1 c=k _ERROR_=0 _N_=1\n");
}

#[test]
fn filerefs_name_paths_and_options() {
    let (ran, store) = clean(
        "filename out '/data/o.txt' lrecl=100; data _null_; file out; put 'a b'; run;
         data d.out; infile out; input c $ d $; put _infile_; run; filename out clear;",
    );
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["a b"]);
    says(&ran.log, "1 record was read from the infile OUT.");
    says(&ran.log, "\na b\n");
    let ran = run_on(Arc::new(store), "data a; infile nowhere; input x; run;");
    says(&ran.log, "No logical assign for filename NOWHERE");
}

#[test]
fn mod_adds_to_a_file() {
    let (_, store) = clean(
        "data _null_; file '/data/o.txt'; put 'a'; run; data _null_; file '/data/o.txt' mod; put 'b'; run;",
    );
    assert_eq!(store.get("/data/o.txt").unwrap(), b"a\nb\n");
}

#[test]
fn what_is_not_there_is_an_error() {
    for (program, text) in [
        (
            "infile '/data/none.txt'; input x;",
            "Physical file does not exist, /data/none.txt.",
        ),
        (
            "infile '/data/in.txt' encoding='x'; input x;",
            "The option ENCODING of INFILE",
        ),
        (
            "file '/data/o.txt' print; put 'a';",
            "The option PRINT of FILE",
        ),
        ("file print; put 'a';", "FILE PRINT is not implemented yet"),
        (
            "infile '/data/in.txt'; input x nosuch9.;",
            "The informat NOSUCH was not found",
        ),
        ("x = 1; put x nosuch9.;", "The format NOSUCH was not found"),
        (
            "infile '/data/in.txt'; input (x y)(=);",
            "Named input (x=) in a group is not implemented yet",
        ),
        (
            "infile '/data/in.txt'; y = 2; input #y x;",
            "The line pointer # with a variable is not implemented yet",
        ),
        (
            "x = 1; put #2 x;",
            "The line pointer # is not implemented yet",
        ),
        ("list;", "LIST needs an INFILE and INPUT statement"),
        (
            "infile '/data/in.txt' dlm=nosuch; input x;",
            "names nosuch, which is no character variable",
        ),
    ] {
        let ran = run_on(
            Arc::new(with_text("1\n")),
            &format!("data a; {program} run;"),
        );
        assert_eq!(ran.exit, 2, "{program}");
        says(&ran.log, text);
    }
}

/// Every call of `operation` on the text file fails in turn: the step fails, is told so, and no
/// data set comes of it.
#[test]
fn a_failing_call_on_a_text_file_fails_the_step() {
    let make = lines(20_000);
    for (program, operation, channel) in [
        (
            "data d.out; infile '/data/in.txt' dsd; input x c $; run;",
            Operation::Read,
            Channel::Input,
        ),
        (
            "data d.out; infile '/data/in.txt' dsd; input x c $; run;",
            Operation::Open,
            Channel::Input,
        ),
        (
            "data _null_; file '/data/o.txt'; do i = 1 to 20000; put i; end; run;",
            Operation::Write,
            Channel::Output,
        ),
        (
            "data _null_; file '/data/o.txt'; put 'a'; run;",
            Operation::Create,
            Channel::Output,
        ),
        (
            "data _null_; file '/data/o.txt'; put 'a'; run;",
            Operation::Close,
            Channel::Output,
        ),
    ] {
        let mut failed = 0;
        for nth in 1.. {
            let plan = Plan {
                operation: Some(operation),
                channel: Some(channel),
                nth,
                fault: Fault::Fail(ErrorKind::StorageFull),
            };
            let faulty = Arc::new(FaultyStore::new(with_text(&make), plan));
            let ran = run_on(faulty.clone(), program);
            if faulty.calls() < nth {
                assert_eq!(ran.exit, 0, "{}", ran.log);
                break;
            }
            failed += 1;
            assert_eq!(ran.exit, 2, "{operation} {nth}: {}", ran.log);
            says(&ran.log, "ERROR: ");
            assert!(!ran.log.contains("D.OUT has"), "{}", ran.log);
        }
        assert!(failed > 0, "{operation} was never called");
    }
}

#[test]
fn text_files_are_read_and_written_in_blocks_of_their_channel() {
    let make = lines(50_000);
    let plan = |channel| Plan {
        operation: Some(Operation::Read),
        channel: Some(channel),
        nth: u64::MAX,
        fault: Fault::Fail(ErrorKind::Other),
    };
    let bytes = make.len() as u64;
    let store = with_text(&make);
    let faulty = Arc::new(FaultyStore::new(store, plan(Channel::Input)));
    let ran = run_on(
        faulty.clone(),
        "data _null_; infile '/data/in.txt' dsd; input x c $; run;",
    );
    assert_eq!(ran.exit, 0, "{}", ran.log);
    assert_eq!(faulty.calls(), bytes.div_ceil(64 << 10) + 1);
}

#[test]
fn a_card_is_lost_only_where_a_row_had_begun() {
    let (ran, store) = clean("data d.a; input x @@; datalines;\n1 2\n3\n;\nrun;");
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1", "2", "3"]);
    assert!(!ran.log.contains("LOST CARD"), "{}", ran.log);
    assert!(
        ran.log.contains("NOTE: SAS went to a new line"),
        "{}",
        ran.log
    );
    let (ran, _) = clean("data d.a; input x y @@; datalines;\n1 2\n3\n;\nrun;");
    assert!(ran.log.contains("NOTE: LOST CARD."), "{}", ran.log);
}

#[test]
fn tabs_lead_to_every_eighth_column() {
    let store = with_text("1\t2\n12345678\t3\n");
    let read = |options: &str| {
        let program = format!(
            "data d.a; infile '/data/in.txt' truncover {options}; input @9 x 8. @17 y 8.; run;"
        );
        let ran = run_on(Arc::new(store.clone()), &program);
        (rows(&store, "/data/a.sas7bdat"), ran.log)
    };
    let (expanded, log) = read("expandtabs");
    assert_eq!(expanded, ["2 .", ". 3"], "{log}");
    // Without it the second line has a tab, which is passed over, and `3` from column 9 on.
    let (plain, log) = read("noexpandtabs");
    assert_eq!(plain, [". .", "3 ."], "{log}");
}

#[test]
fn error_writes_to_the_log_and_sets_the_variable() {
    let (ran, store) = clean(
        "data d.a; file '/data/o.txt';
         do x = 1 to 2; if x = 2 then error 'Not so: ' x=; e = _error_; output; end; run;
         data _null_; error; if _error_ then put 'raised'; run;",
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1 0", "2 1"]);
    for line in [
        "\nNot so: x=2\n",
        "\nx=3 e=1 _ERROR_=1 _N_=1\n",
        "\nraised\n",
    ] {
        assert!(ran.log.contains(line), "{line}: {}", ran.log);
    }
}

#[test]
fn line_pointers_move_among_the_lines_of_a_group() {
    let (ran, store) = clean(
        "data d.a; input #2 c $ #1 a b / d $; datalines;
1 2
x later
3 4
y last
;
data d.b; input a #3 c; datalines;
1
2
3
4
5
6
7
;
data d.n; infile datalines n=2; input x; datalines;
1
2
3
4
;
run;",
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["x 1 2 x", "y 3 4 y"]);
    assert_eq!(rows(&store, "/data/b.sas7bdat"), ["1 3", "4 6"]);
    assert_eq!(rows(&store, "/data/n.sas7bdat"), ["1", "3"]);
    assert!(ran.log.contains("NOTE: LOST CARD."), "{}", ran.log);
}

#[test]
fn named_input_takes_values_by_their_names() {
    // The examples of the documentation of named input.
    let (ran, store) = clean(
        "data d.a; input id name $20. gender=$ age=; datalines;
4798 COLIN               gender=m age=23
2653 MICHELE             age=46 gender=f
;
data d.b; informat header $30. name $15.; input header= name=; datalines;
header= age=60 AND UP name=PHILIP
;
data d.c; length other $4; input x= when=date9.; datalines;
when=13SEP2017 other=abcd /
x=2 / x=3
x=1 nosuch=7
;
run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        ["4798 COLIN m 23", "2653 MICHELE f 46"]
    );
    assert_eq!(rows(&store, "/data/b.sas7bdat"), ["age=60 AND UP PHILIP"]);
    assert_eq!(rows(&store, "/data/c.sas7bdat"), ["abcd 1 21075"]);
    assert!(
        ran.log.contains("NOTE: NOSUCH is not defined."),
        "{}",
        ran.log
    );
    let wrong = run_on(
        Arc::new(store),
        "data a; input x= y; datalines;\nx=1\n;\nrun;",
    );
    assert!(wrong.log.contains("After named input"), "{}", wrong.log);
}

#[test]
fn formats_align_in_their_width() {
    let (ran, store) = clean(
        "data d.a; x = 7; t = put(x, 5.-l) || '|'; output; t = put(x, 5.-C) || '|'; output;
           t = put('a', $5.-R) || '|'; output; run;
         data _null_; x = 7; c = 'b'; put x 5.-l '|' c $3.-r '|' x z4.-c '|'; run;
         data d.b; x = input('zz', ?? 8.); c = input('ab', ?? $2.); run;",
    );
    let found = rows(&store, "/data/a.sas7bdat");
    assert_eq!(found, ["7 7    |", "7   7  |", "7     a|"]);
    assert!(ran.log.contains("\n7    |  b|0007|"), "{}", ran.log);
    assert_eq!(rows(&store, "/data/b.sas7bdat"), [". ab"]);
    assert!(!ran.log.contains("Invalid argument"), "{}", ran.log);
}

#[test]
fn delimiters_may_be_texts_or_variables() {
    let (ran, store) = clean(
        "data d.a; infile datalines dlmstr='~~'; input a $ b c $; datalines;
x~y~~12~~z
q~~~~7~~w
;
data d.b; infile datalines dlmstr='::' dsd missover; input a $ b $ c; datalines;
x::::3
y::two
;
data d.c; length mark $1; retain mark ','; infile datalines dlm=mark; input a b;
  mark = ifc(mark = ',', '/', ','); datalines;
1,2
3/4
5,6
;
data _null_; infile datalines; input a; if a = 2 then list; datalines;
1
2 two
;
run;",
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["x~y 12 z", "q 7 w"]);
    assert_eq!(rows(&store, "/data/b.sas7bdat"), ["x  3", "y two ."]);
    let third: Vec<String> = rows(&store, "/data/c.sas7bdat");
    assert_eq!(third, ["/ 1 2", ", 3 4", "/ 5 6"]);
    assert!(ran.log.contains("\n2         2 two"), "{}", ran.log);
    assert!(!ran.log.contains("\n1         1"), "{}", ran.log);
}

#[test]
fn elements_are_put_with_their_own_names_and_formats() {
    let lines = put(
        "data _null_; array b{3} (1 2 3); array t{2} _temporary_ (7 8); array s{0:1, 2} $ 2 _temporary_;
         d1 = 0; c = 'x'; format d1 date9.; array d{2} d1 d2; d2 = 4; s{1, 1} = 'q';
         do i = 3, 1; put '>' b{i}=; end;
         i = 2; put '>' t{i}= s{1, 1}= d{1} d{2} d{1}= d{1} 3. ; run;",
    );
    assert_eq!(
        lines,
        [
            "b3=3",
            "b1=1",
            "t[2]=8 s[1,1]=q 01JAN1960 4 d1=01JAN1960   0"
        ]
    );
}
