//! CALL routines that set variables, dates by week and year, and what functions say of arguments
//! that they cannot take.

use std::sync::Arc;

use crate::harness::{clean, fails, rows, run_on, store};

/// Runs `data d.out; <body> run;` and compares the rows of D.OUT.
#[track_caller]
fn gives(body: &str, expected: &[&str]) {
    let (_, store) = clean(&format!("data d.out; {body} run;"));
    assert_eq!(rows(&store, "/data/out.sas7bdat"), expected, "{body}");
}

#[test]
fn arguments_that_are_not_valid_are_told_with_their_values() {
    let (ran, store) = clean("data d.out; x = -1; y = log(x);\nz = sqrt(x - 3); run;");
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["-1 . ."]);
    for text in [
        "NOTE: Invalid argument to function LOG(-1) at line 1 column 25.",
        "NOTE: Invalid argument to function SQRT(-4) at line 2 column 5.",
        "x=-1 y=. z=. _ERROR_=1 _N_=1",
        "NOTE: Mathematical operations could not be performed",
    ] {
        assert!(ran.log.contains(text), "{text}\n--- in ---\n{}", ran.log);
    }
    let (ran, _) = clean("data d.out; x = .; y = log(x); z = log(0.5); run;");
    assert!(!ran.log.contains("Invalid argument"), "{}", ran.log);
}

#[test]
fn elements_of_arrays_are_set_by_call_missing() {
    let (ran, store) = clean(
        "data d.out; array a{2} a1 a2; array c{2} $ 3 c1 c2; call missing(a{1}, c{2}); \
         b = a1; d = c2; run;",
    );
    assert!(!ran.log.contains("uninitialized"), "{}", ran.log);
    assert_eq!(rows(&store, "/data/out.sas7bdat").len(), 1);
}

#[test]
fn values_are_sorted_in_place() {
    gives(
        "x = 3; y = .; z = -1; w = .a; call sortn(x, y, z, w);",
        &[". .A -1 3"],
    );
    gives("array v{4} (9 2 7 2); call sortn(of v{*});", &["2 2 7 9"]);
    gives(
        "array c{3} $ 4 ('pear' 'fig' ' '); call sortc(of c1-c3);",
        &[" fig pear"],
    );
    fails(
        "data a; x = 1; call sortc(x);",
        "CALL SORTC needs character variables",
    );
    fails(
        "data a; length c $ 2 d $ 3; c = 'a'; d = 'b'; call sortc(c, d);",
        "CALL SORTC needs variables of one length",
    );
    fails("data a; call sortn(1 + 1);", "CALL SORTN needs variables");
}

#[test]
fn call_ranuni_keeps_a_stream_in_its_seed() {
    // The stream of seed 45 is the published one of RANUNI.
    let (_, store) = clean(
        "data d.out; seed = 45; other = 45; retain n 0; do i = 1 to 5; call ranuni(seed, x);
           call rannor(other, y); x = round(x, .00001); z = rannor(45); n = n + (y ne z); output;
         end; keep x n; run;",
    );
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        [
            "0 0.32332",
            "0 0.65399",
            "0 0.99209",
            "0 0.67294",
            "0 0.47212"
        ]
    );
    fails(
        "data a; x = 0; call ranuni(7, x);",
        "CALL RANUNI needs variables",
    );
}

#[test]
fn weeks_begin_on_sundays_mondays_or_by_iso() {
    for (date, weeks) in [
        ("01jan2006", "1 1 52 0"),
        ("31dec2008", "52 52 1 52"),
        ("03jan2010", "1 1 53 0"),
        ("02jan2010", "0 0 53 0"),
    ] {
        let body = format!(
            "d = '{date}'d; a = week(d); u = week(d, 'u'); v = week(d, 'V'); w = week(d, 'w'); \
             drop d;"
        );
        gives(&body, &[weeks]);
    }
}

#[test]
fn years_between_dates_go_by_their_basis() {
    // The example of SAS's documentation.
    gives(
        "s = '16oct1998'd; e = '16feb2010'd; a = round(yrdif(s, e, '30/360'), 1e-9);
         b = round(yrdif(s, e, 'act/act'), 1e-9); c = round(yrdif(s, e, 'ACT/360'), 1e-9);
         d = round(yrdif(s, e, 'act/365'), 1e-9); drop s e;",
        &["11.333333333 11.336986301 11.502777778 11.345205479"],
    );
    fails(
        "data a; x = yrdif(1, 2, 'age'); run;",
        "basis AGE of YRDIF is not implemented yet",
    );
}

#[test]
fn summary_must_print_or_write() {
    fails(
        "data a; x = 1; run; proc summary data=a; var x; run;",
        "ERROR: Neither the PRINT option nor a valid output statement has been given",
    );
    let (ran, _) = clean("data a; x = 1; run; proc summary data=a print; var x; run;");
    assert!(
        ran.listing.contains("The SUMMARY Procedure"),
        "{}",
        ran.listing
    );
}

#[test]
fn options_are_shown_in_the_log() {
    let (ran, _) = clean("options bufsize=64k nofullstimer obs=max; proc options; run;");
    for line in [
        "\n BUFSIZE=65536     ",
        "\n NOFULLSTIMER      ",
        "\n OBS=9223372036854775807",
    ] {
        assert!(ran.log.contains(line), "{line}\n--- in ---\n{}", ran.log);
    }
    let (ran, _) = clean("proc options option=(compress threads) short; run;");
    assert!(ran.log.contains("\nCOMPRESS=NO THREADS\n"), "{}", ran.log);
    let (ran, _) = clean("options memsize=256m; proc options option=memsize value; run;");
    let text = "\nOption Value Information For SAS Option MEMSIZE\n    Value: 268435456\n";
    assert!(ran.log.contains(text), "{}", ran.log);
    fails(
        "proc options option=nosuch; run;",
        "Option NOSUCH is not recognized",
    );
    fails(
        "proc options group=memory; run;",
        "the option GROUP is not valid or not implemented yet",
    );
}

#[test]
fn every_option_shown_can_be_set() {
    let options = engine::options::Options::new(2);
    let names: Vec<&str> = options.shown().iter().map(|one| one.name).collect();
    assert_eq!(names, engine::options::NAMES);
    for one in options.shown() {
        let setting = one.setting();
        let (name, value) = match setting.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (setting.as_str(), None),
        };
        let mut same = options.clone();
        same.set(name, value).unwrap();
        assert_eq!(same.shown(), options.shown(), "{setting}");
    }
}

#[test]
fn arrays_without_dimensions_go_by_their_index() {
    gives(
        "array a x y z; x = 1; y = 2; z = 3; do over a; a = a * 10; end; n = dim(a); m = a{2};",
        &["10 20 30 3 20"],
    );
    gives(
        "array c $ 4 p q; array v x y; do over c; c = 'ab'; v + _i_; end; t = sum(of v{*});",
        &["ab ab 1 2 3"],
    );
    gives(
        "array v x y; do _i_ = 1 to 2; if v = . then v = 7; end; do i = 1 to 2; v{i} = v{i} + i; end;
         drop i;",
        &["8 9"],
    );
    fails(
        "data a; array v x y; put v;",
        "Illegal reference to the array v",
    );
    fails(
        "data a; array v{2} x y; v = 1;",
        "Illegal reference to the array v",
    );
    fails(
        "data a; array v{2} x y; do over v; v = 1; end;",
        "Illegal reference to the array v",
    );
    fails(
        "data a; array v x y; _i_ = 3; x = v;",
        "Array subscript out of range",
    );
}

#[test]
fn abort_ends_the_step_and_leaves_the_old_data_set() {
    let store = store();
    let program = "data d.out; x = 1; run;
        data d.out; do x = 5 to 7; output; if x = 6 then\nabort; end; run;
        data d.more; x = 1; run;";
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 2, "{}", ran.log);
    for text in [
        "ERROR: Execution terminated by an ABORT statement at line 3 column 1.",
        "x=6 _ERROR_=1 _N_=1",
        "The data set D.OUT was not replaced because this step was stopped.",
    ] {
        assert!(ran.log.contains(text), "{text}\n--- in ---\n{}", ran.log);
    }
    assert_eq!(rows(&store, "/data/out.sas7bdat"), ["1"]);
    assert!(store.get("/data/more.sas7bdat").is_none());
    fails(
        "data a; abort cancel; run;",
        "The CANCEL option of the ABORT statement is not implemented yet",
    );
}

#[test]
fn regular_expressions_match_and_take_apart() {
    // The examples of the documentation of PRXMATCH, PRXPOSN and PRXPAREN.
    let (_, store) = clean(
        r"data d.a; p = prxmatch('/world/', 'Hello world!'); n = prxmatch('/moon/', 'Hello world!');
            id = prxparse('/(\d\d):(\d\d)(am|pm)/'); where = prxmatch(id, 'The time is 09:56am.');
            length hour $4; hour = prxposn(id, 1, 'The time is 09:56am.');
            part = prxposn(id, 3, 'The time is 09:56am.'); drop id; run;
          data d.b; re = prxparse('/(magazine)|(book)|(newspaper)/');
            length text $22; do text = 'find book here    ', 'find a magazine here', 'find newspaper   ';
              if prxmatch(re, text) then paren = prxparen(re); output; end; drop re; run;
          data d.c; set d.b(where=(prxmatch('/^find [ab]/', text))); run;
          proc sql; create table d.s as select text from d.b where prxmatch('/paper\s*$/', text); quit;",
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["7 0 13 09 am"]);
    assert_eq!(
        rows(&store, "/data/b.sas7bdat"),
        [
            "find book here 2",
            "find a magazine here 1",
            "find newspaper 3"
        ]
    );
    assert_eq!(
        rows(&store, "/data/c.sas7bdat"),
        ["find book here 2", "find a magazine here 1"]
    );
    assert_eq!(rows(&store, "/data/s.sas7bdat"), ["find newspaper"]);
}

#[test]
fn regular_expressions_change_texts() {
    // The example of the documentation of PRXCHANGE, and of CALL PRXNEXT.
    let (_, store) = clean(
        r"data d.a; length name $32; do name = 'Jones, Fred', 'Kavich, Kate';
            name = prxchange('s/(\w+), (\w+)/$2 $1/', -1, name);
            output; end; run;
          data d.n; text = 'The woods have a bat, cat, and a rat!'; id = prxparse('/[crb]at/');
            start = 1; stop = length(text); call prxnext(id, start, stop, text, position, length);
            do while (position > 0); found = substr(text, position, length); output;
              call prxnext(id, start, stop, text, position, length); end; keep found position length;
            run;
          data d.c; length new $5; id = prxparse('s/cat/elephant/'); old = 'a cat, a cat';
            call prxchange(id, -1, old, new, size, cut, changes); same = old; length other $20;
            other = old; call prxchange(id, 1, other); call prxsubstr(id, old, at, len);
            call prxposn(id, 0, p); call prxfree(id); run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        ["Fred Jones", "Kate Kavich"]
    );
    assert_eq!(
        rows(&store, "/data/n.sas7bdat"),
        ["18 3 bat", "23 3 cat", "34 3 rat"]
    );
    assert_eq!(
        rows(&store, "/data/c.sas7bdat"),
        ["a ele . a cat, a cat 5 1 2 a cat, a cat a elephant, a cat 3 3 3"]
    );
}

#[test]
fn regular_expressions_that_cannot_be_are_errors() {
    for (statement, error) in [
        (
            "x = prxparse('/a(?=b)/');",
            "lookaround is not implemented (test.sas, line 1",
        ),
        (
            r"x = prxmatch('/(a)\1/', 'aa');",
            "back references are not implemented",
        ),
        (
            "c = '/a'; x = prxmatch(c, 'a');",
            "its closing delimiter is missing",
        ),
        (
            "call prxsubstr(id, 'a', 5);",
            "CALL PRXSUBSTR needs variables",
        ),
    ] {
        let ran = run_on(
            Arc::new(store()),
            &format!("data d.a; id = 1; {statement} run;"),
        );
        assert_eq!(ran.exit, 2, "{statement}");
        assert!(ran.log.contains(error), "{statement} {}", ran.log);
    }
    let (ran, _) = clean("data d.a; x = prxmatch(7, 'a'); y = prxchange('/a/', 1, 'a'); run;");
    assert!(
        ran.log.contains("Invalid argument to function PRXMATCH"),
        "{}",
        ran.log
    );
    let ran = run_on(
        Arc::new(store()),
        "options memsize=66m; data d.a; do i = 1 to 1000; x = prxparse(cats('/', i, '/')); end; run;",
    );
    assert!(
        ran.log.contains("there is not enough memory"),
        "{}",
        ran.log
    );
}

#[test]
fn items_are_put_behind_what_a_variable_holds() {
    let program = "data d.a; length s t x $ 8; s = ' a'; t = ' a'; a1 = 1; a2 = .; b = ' q ';
        call cats(s, b, 2, 'c'); call catt(t, b, 2); call catx(', ', x, b, ' ', 'z'); call catx('-', x, of a1-a2);
        keep s t x; run;";
    let (_, store) = clean(program);
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["aq2c  a q2 q, z-1-."]);
    let program = "data d.a; length s $ 3; s = 'ab'; call cats(s, 'cd'); e = _error_; run;";
    let store = self::store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["abc 1"]);
    let said = "WARNING: In a call to the CATS routine, the result takes 4 characters and the variable has 3";
    assert!(ran.log.contains(said), "{}", ran.log);
    fails(
        "data a; x = 1; call cats(x, 'a'); run;",
        "CALL CATS needs a character variable for its result",
    );
}
