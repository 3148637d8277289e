//! Macros in whole programs: what steps and the macro processor tell each other, and the log.

use crate::harness::{clean, put, rows, run, run_on, store};
use std::sync::Arc;

/// Lines of the log that `%put` wrote, by their mark.
fn marked(log: &str) -> Vec<&str> {
    log.lines()
        .filter_map(|line| line.strip_prefix("> "))
        .collect()
}

#[test]
fn a_macro_makes_data_sets() {
    let (_, store) = clean(
        "%macro make(n); %do i = 1 %to &n; data d.t&i; x = &i * 2; output; run; %end; %mend; \
         %make(3)",
    );
    assert_eq!(rows(&store, "/data/t3.sas7bdat"), ["6"]);
}

#[test]
fn sysfunc_calls_the_functions_of_the_engine() {
    let (ran, _) = clean(
        "options nosource; %put > %sysfunc(sum(1, 2, 3)) %sysfunc(upcase(a b)); \
         %put > %sysfunc(max(2, 10), z5.)%sysfunc(missing(.));",
    );
    assert_eq!(marked(&ran.log), ["6 A B", "000100"]);
    let ran = run_on(
        Arc::new(store()),
        "%put > %sysfunc(abs(x)); %put > %sysfunc(nosuch(1));",
    );
    assert!(
        ran.log.contains(
            "ERROR: An argument to function ABS referenced by the %SYSFUNC or %QSYSFUNC macro \
             function is not a number (test.sas, line 1, column 8)."
        ),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("ERROR: The function NOSUCH is unknown or not implemented yet (test.sas"),
        "{}",
        ran.log
    );
}

#[test]
fn automatic_variables_follow_the_session() {
    let (ran, _) = clean(
        "options nosource; %put > &sysdate &sysdate9 &sysday &systime &sysver &sysjobid; \
         data d.a; x = 1; run; %put > &syslast &syserr &syscc;",
    );
    assert_eq!(
        marked(&ran.log),
        ["01JAN60 01JAN1960 Friday 00:00 9.4 7755", "D.A 0 0"]
    );
    let ran = run_on(
        Arc::new(store()),
        "options nosource; data a; set nosuch; run; %put > &syserr; data b; run; %put > &syserr &syscc;",
    );
    assert_eq!(marked(&ran.log), ["1012", "0 1012"]);
}

#[test]
fn the_log_shows_generated_statements_between_the_lines() {
    let (ran, _) = clean(
        "options mprint symbolgen;\n%let n=1;\n%macro m;\ndata a; x = &n; run;\n%mend;\n%m\n%put end;",
    );
    let log = ran.log;
    let place = |text: &str| log.find(text).unwrap_or_else(|| panic!("{text} in {log}"));
    assert!(place("6          %m") < place("MPRINT(M):   data a;"));
    assert!(place("MPRINT(M):   data a;") < place("SYMBOLGEN:  Macro variable N resolves to 1"));
    assert!(place("SYMBOLGEN:  Macro") < place("MPRINT(M):   x = 1;"));
    assert!(place("MPRINT(M):   run;") < place("NOTE: The data set WORK.A has"));
    assert!(place("NOTE: The data set WORK.A has") < place("7          %put end;"));
}

#[test]
fn a_parameter_from_outside_is_a_global_variable() {
    let (ran, _) = clean("options nosource; %let sysparm=x; %put > &sysparm %symglobl(sysparm);");
    assert_eq!(marked(&ran.log), ["x 1"]);
}

#[test]
fn symput_is_visible_after_its_step_and_where_the_macro_is() {
    let (ran, _) = clean(
        "options nosource; %macro m; data _null_; do i = 1 to 3; call symputx(cats('v', i), i * 2); \
         end; call symput('pad', 5); run; %do i = 1 %to 3; %put > &&v&i; %end; %put > [&pad]; %mend; \
         %m %put > %symexist(v1);",
    );
    // A macro without variables of its own leaves new ones to the global table; the index I of the
    // loop comes only after the step.
    assert_eq!(marked(&ran.log), ["2", "4", "6", "[           5]", "1"]);
    let (ran, _) = clean(
        "options nosource; %macro m(p); data _null_; call symputx('l', 1); call symputx('g', 2, 'G'); \
         run; %mend; %m(1) %put > %symexist(l)%symexist(g);",
    );
    assert_eq!(marked(&ran.log), ["01"]);
    let ran = run_on(
        Arc::new(store()),
        "data _null_; call symputx('1x', 1); run;",
    );
    assert!(
        ran.log
            .contains("Symbolic variable name 1X must begin with a letter"),
        "{}",
        ran.log
    );
}

#[test]
fn execute_queues_text_and_macros_act_at_once() {
    let (ran, store) = clean(
        "%macro make(n); data d.t&n; x = &n; run; %mend; \
         data _null_; do i = 1 to 2; call execute('%make(' || put(i, 1.) || ')'); end; \
         call execute('%let seen = yes;'); run; \
         %put > &seen; data d.after; set d.t2; run;",
    );
    assert_eq!(rows(&store, "/data/after.sas7bdat"), ["2"]);
    assert_eq!(marked(&ran.log), ["yes"]);
    assert!(
        ran.log.contains("NOTE: CALL EXECUTE generated line."),
        "{}",
        ran.log
    );
    assert!(
        ran.log.contains("1         + data d.t1; x = 1; run;"),
        "{}",
        ran.log
    );
}

#[test]
fn routines_work_on_variables_and_streams() {
    let (_, store) = clean(
        "data d.a; call streaminit(6); do i = 1 to 2; u = round(rand('uniform'), .00001); output; \
         end; call missing(u); output; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        ["1 0.66097", "2 0.48044", "3 ."]
    );
    let (_, store) = clean(
        "data d.a; call streaminit(6); do i = 1 to 3; u = round(rand('normal'), .00001); output; \
         end; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        ["1 2.1068", "2 -0.25604", "3 0.28692"]
    );
    let ran = run_on(
        Arc::new(crate::harness::store()),
        "data _null_; call nosuch(1); run;",
    );
    assert!(
        ran.log.contains("The CALL routine NOSUCH is unknown"),
        "{}",
        ran.log
    );
}

#[test]
fn sysfunc_asks_about_the_session() {
    let (ran, _) = clean(
        "options nosource; data d.here; x = 1; run; data here2; x = 1; run; filename f '/data/here.sas7bdat';
         filename g '/data/none.txt';
         %put > %sysfunc(exist(d.here)) %sysfunc(exist(d.none)) %sysfunc(exist(nolib.a)) %sysfunc(exist(here2));
         %put > %sysfunc(exist(d.here, view)) %sysfunc(fileexist(/data/here.sas7bdat)) %sysfunc(fileexist(/no));
         %put > %sysfunc(fexist(f)) %sysfunc(fexist(g)) %sysfunc(fexist(h));
         %put > %sysfunc(pathname(d)) %sysfunc(pathname(F)) [%sysfunc(pathname(none))];
         %put > %sysfunc(getoption(linesize)) %sysfunc(getoption(source)) %sysfunc(getoption(obs, keyword));",
    );
    for text in [
        "\n> 1 0 0 1",
        "\n> 0 1 0",
        "\n> 1 0 0\n",
        "\n> /data /data/here.sas7bdat []",
        "\n> 132 NOSOURCE OBS=",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
    let ran = run_on(
        Arc::new(store()),
        "%put %sysfunc(getoption(nosuch)); %put %sysfunc(exist(a, catalog)); %put %sysfunc(exist());",
    );
    for text in [
        "The option NOSUCH is unknown",
        "The member type catalog is not implemented yet",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn sysfunc_hands_numbers_to_functions_that_take_either() {
    let program = "%put >%sysfunc(find(abcabc, b, 3)) %sysfunc(find(abcABC, B, i, 3)) \
         %sysfunc(find(abcabc, b, -6)) %sysfunc(find(aBc, b, i)) %sysfunc(find(a1, 1))\
         %sysfunc(cats(1.50, 02));";
    assert_eq!(put(program), ["5 5 5 2 21.5002"]);
}

#[test]
fn call_execute_logs_what_macros_put() {
    let program = "%macro say(n); %if &n > 1 %then %put >many &n; %else %put >one; %mend; \
         data _null_; do n = 1 to 2; call execute(cats('%say(', n, ')')); end; \
         call execute('%let x = 3; %put >set &=x;'); run; %put >after;";
    assert_eq!(put(program), ["one", "many 2", "set X=3", "after"]);
    let program = "%macro say; %put >first; %if 1 %then %put >second; %mend; options mlogic; \
         data _null_; call execute('%say'); run;";
    let (log, _) = run(program);
    let places = [
        ">first",
        "MLOGIC(SAY):  %IF",
        ">second",
        "MLOGIC(SAY):  Ending",
    ];
    let places = places.map(|text| log.rfind(text).unwrap_or_else(|| panic!("{text}\n{log}")));
    assert!(places.is_sorted(), "{log}");
}

#[test]
fn sysfunc_evaluates_numeric_arguments_as_sysevalf_does() {
    let program = "%put >%sysfunc(putn(\"15mar2020\"d, date9.)) %sysfunc(year('15mar2020'd + 365)) \
         %sysfunc(intnx(month, \"15mar2020\"d, 1 + 1), yymmddn8.) %sysfunc(sum(1 + 2, 3 * 4)) \
         %sysfunc(abs(-(2 + 3))) %sysfunc(hour('10:30't)) %sysfunc(length(1 + 2)) %sysfunc(sum(., 1e2));";
    assert_eq!(put(program), ["15MAR2020 2021 20200501 15 5 10 5 100"]);
    for wrong in ["abs(x)", "sum(1, 2 +)", "year('99mar2020'd)"] {
        let (log, _) = run(&format!("%put %sysfunc({wrong});"));
        assert!(log.contains("is not a number"), "{wrong}\n{log}");
    }
}

#[test]
fn regular_expressions_of_sysfunc_live_as_long_as_the_session() {
    let program = "%let id = %sysfunc(prxparse(/b(.)/)); %let other = %sysfunc(prxparse(s/a/x/)); \
         data _null_; run; \
         %put >&id &other %sysfunc(prxmatch(&id, aabc)) %sysfunc(prxposn(&id, 1, aabc)) \
         %sysfunc(prxparen(&id)) %sysfunc(prxchange(&other, -1, banana)) \
         %sysfunc(prxmatch(/n/, banana));";
    assert_eq!(put(program), ["1 2 3 c 1 bxnxnx 3"]);
    let (log, _) = run("%put %sysfunc(prxmatch(7, abc));");
    assert!(log.contains("ERROR"), "{log}");
}

#[test]
fn warnings_of_macros_come_in_the_order_of_what_they_run() {
    let ran = run_on(
        Arc::new(store()),
        "options nosource;
         %macro m; %put first; %put [&nosuch]; %put then; %let x = &other; %put last; %mend;
         %m
         data a; x = %m 1; run;
         %let y = [%m];
         %put = &y;",
    );
    let once = [
        "first",
        "WARNING: Apparent symbolic reference NOSUCH not resolved.",
        "[&nosuch]",
        "then",
        "WARNING: Apparent symbolic reference OTHER not resolved.",
        "last",
    ];
    let told = |line: &&str| once.contains(line);
    let told: Vec<&str> = ran.log.lines().filter(told).collect();
    assert_eq!(told, [once, once, once].concat(), "{}", ran.log);
    let (ran, _) =
        clean("options nosource mlogic; %macro m; %put one; %let x = 1; %put two; %mend; %m run;");
    let places = ["%PUT one", "\none\n", "%LET", "%PUT two", "\ntwo\n"];
    let places: Vec<_> = places.iter().map(|text| ran.log.find(text)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{}", ran.log);
}
