//! Functions of the engine called by macros.

use crate::harness::{put, run};

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
