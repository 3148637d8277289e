//! Macros in whole programs: what steps and the macro processor tell each other, and the log.

use crate::harness::{clean, rows, run_on, store};
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
