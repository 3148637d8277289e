//! Functions in whole programs.

use crate::harness::{clean, fails, rows, run_on, store};
use std::sync::Arc;

/// The value of an expression in a DATA step, numbers as they are, texts between bars.
#[track_caller]
fn value(expression: &str, expect: &str) {
    let (_, store) = clean(&format!("data d.a; v = {expression}; run;"));
    assert_eq!(rows(&store, "/data/a.sas7bdat"), [expect], "{expression}");
}

/// Name, type and length of the variable that an expression makes.
#[track_caller]
fn length(expression: &str, expect: u32) {
    let (_, store) = clean(&format!("data d.a; v = {expression}; run;"));
    let bytes = store.get("/data/a.sas7bdat").unwrap();
    let reader = sas7bdat::Reader::open(bytes.as_slice()).unwrap();
    assert_eq!(
        reader.metadata().variables[0].length,
        expect,
        "{expression}"
    );
}

#[test]
fn searches_take_modifiers_and_a_place_to_start() {
    for (expression, expect) in [
        ("anydigit('a1b2', 3)", "4"),
        ("anydigit('a1b2', -3)", "2"),
        ("anydigit('a1b2', -9)", "4"),
        ("anydigit('a1b2', 0)", "0"),
        ("anydigit('a1b2', 5)", "0"),
        ("anydigit('a1b2', .)", "0"),
        ("notalpha('a1b2', 3)", "4"),
        ("notdigit('a1b2', -4)", "3"),
        ("countc('aAbB1', 'ab')", "2"),
        ("countc('aAbB1', 'ab', 'i')", "4"),
        ("countc('aAbB1', 'ab', 'iv')", "1"),
        ("countc('aAbB1', 'ab', 'ik')", "1"),
        ("countc('aAbB1', '', 'du')", "3"),
        ("countc('a b  ', 'a ')", "4"),
        ("countc('a b  ', 'a ', 't')", "1"),
        ("findc('abcABC', 'C', 'i')", "3"),
        ("findc('abcabc', 'b', 3)", "5"),
        ("findc('abcabc', 'b', -4)", "2"),
        ("findc('abcabc', 'b', 'b')", "5"),
        ("findc('abcabc', 'b', 'b', 4)", "2"),
        ("findc('abcabc', 'b', 4, 'b')", "2"),
        ("findc('abcabc', 'ab', 'k')", "3"),
        ("findc('abcabc', 'ab', 'v', 4)", "6"),
        ("findc('ab12', '', 'd')", "3"),
        ("findc('abc', 'x')", "0"),
        ("quote('it''s')", "\"it's\""),
        ("quote('it''s', \"'\")", "'it''s'"),
        ("quote('a\"b')", "\"a\"\"b\""),
        ("translate('abcd', 'xy', 'ab', 'Z', 'd')", "xycZ"),
        ("translate('abc', 'x', 'abc')", "x"),
        ("'|' || putn(3.14159, 'f', 8, 2)", "|    3.14"),
        ("putn(3, 'z.', 5)", "00003"),
        ("'|' || putn(3.14159, 'f8.3')", "|   3.142"),
        ("putc('abc', '$char', 2)", "ab"),
        ("inputn('31415', 'f', 5, 2)", "314.15"),
        ("inputn('12345', 'f', 2)", "12"),
        ("inputc('abc', '$', 2)", "ab"),
    ] {
        value(expression, expect);
    }
    fails(
        "data a; v = findc('a', 'b', 'z'); run;",
        "The modifiers 'z' of FINDC are invalid",
    );
    fails(
        "data a; v = translate('a', 'b', 'c', 'd'); run;",
        "The function TRANSLATE takes pairs of texts",
    );
}

#[test]
fn characters_words_digests_and_bits() {
    for (expression, expect) in [
        ("char('abc', 2)", "b"),
        ("'|' || char('abc', 4) || '|'", "| |"),
        ("first('abc')", "a"),
        ("findw('she sells sea shells', 'sea')", "11"),
        ("findw('she sells, sea', 'sells')", "5"),
        ("findw('she sells sea shells', 'she', ' ', 'e')", "1"),
        ("findw('she sells sea shells', 'SEA', ' ', 'ie')", "3"),
        ("findw('a b a b', 'a', 2)", "5"),
        ("findw('a b a b', 'b', ' ', 'b')", "7"),
        ("findw('a b a b', 'b', ' ', -5)", "3"),
        ("findw('seashore', 'sea')", "0"),
        ("findw('a,b', ',b,', ',', 'r')", "3"),
        ("complev('kitten', 'sitting')", "3"),
        ("complev('abc  ', 'ABC')", "3"),
        ("complev('abc  ', 'ABC', 'i')", "0"),
        ("complev('kitten', 'sitting', 2)", "2"),
        (
            "put(md5('abc'), $hex32.)",
            "900150983CD24FB0D6963F7D28E17F72",
        ),
        ("band(12, 10)", "8"),
        ("bor(12, 10)", "14"),
        ("bxor(12, 10)", "6"),
        ("bnot(0)", "4294967295"),
        ("juldate('31dec1999'd)", "99365"),
        ("juldate('01jan1900'd)", "1900001"),
        ("put(datejul(99365), date9.)", "31DEC1999"),
        ("put(datejul(2000060), date9.)", "29FEB2000"),
        ("datdif('16oct1998'd, '16feb2010'd, '30/360')", "4080"),
        ("datdif('16oct1998'd, '16feb2010'd, 'act/act')", "4141"),
    ] {
        value(expression, expect);
    }
}

#[test]
fn what_is_known_of_variables_can_be_asked() {
    let made =
        "data d.a; length v w x y $ 12; array n{0:1} First Second; array c{2} $ 3; first = 1;
        i = 1; v = vname(n{i}); w = vname(n{0}); x = vtype(c{i}) || vtype(i);
        y = vname(FIRST) || vname(i); keep v w x y; run;";
    let (_, store) = clean(made);
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["Second First CN Firsti"]);
    fails(
        "data a; x = vname(1 + 2); run;",
        "VNAME needs a variable or an element",
    );
    fails(
        "data a; array t{2} _temporary_ (1 2); x = vname(t{1}); run;",
        "VNAME needs elements that have names",
    );
}

#[test]
fn functions_of_texts() {
    for (expression, expect) in [
        ("substr('abcdef', 2, 3)", "bcd"),
        ("substr('abcdef', 5)", "ef"),
        ("substrn('abc', 0, 2)", "a"),
        ("scan('a b.c', 2)", "b"),
        ("scan('a,b;c', -1, ',;')", "c"),
        ("countw('a b  c')", "3"),
        ("cats(' a ', 1, 'b')", "a1b"),
        ("catx('-', 'a', ' ', 2)", "a-2"),
        ("catx(' ', 'a', 'b')", "a b"),
        ("catx(' - ', 'a', 'b')", "a - b"),
        ("cat('a ', 'b')", "a b"),
        ("catt('a ', ' b')", "a b"),
        ("index('abcabc', 'ca')", "3"),
        ("find('abcABC', 'B', 'i', 3)", "5"),
        ("find('abcabc', 'b', 3)", "5"),
        ("indexw('one two', 'two')", "5"),
        ("indexc('abc', 'xc')", "3"),
        ("verify('123x', '0123456789')", "4"),
        ("compress('a b-c', ' -')", "abc"),
        ("compress('a1b2', '', 'd')", "ab"),
        ("compress('a1b2', '', 'kd')", "12"),
        ("compress('a1 b2', , 'kd')", "12"),
        ("compress('a_1-b', , 'n')", "-"),
        ("compress('a1b2', , 'KA')", "ab"),
        ("compress('a b-c', '-', 's')", "abc"),
        ("compress('xAyBz', 'ab', 'i')", "xyz"),
        ("scan('a,,b', 2, ',')", "b"),
        ("scan('a,,b', 2, ',', 'm') || '|'", "|"),
        ("scan('a,,b', -1, ',', 'm')", "b"),
        ("scan('ab 12 cd 34', 2, , 'kd')", "34"),
        ("scan('a1b2c', 2, , 'd')", "b"),
        ("scan('a b c', 1, ' ', 'b')", "c"),
        ("scan('a; b ;c', 2, ';', 'r') || '|'", "b|"),
        ("countw('a,,b', ',', 'm')", "3"),
        ("countw('12 34x', , 'kd')", "2"),
        ("compbl('a   b')", "a b"),
        ("propcase('JOHN o-neil')", "John O-Neil"),
        ("left('  a') || '|'", "a  |"),
        ("reverse('abc')", "cba"),
        ("repeat('ab', 2)", "ababab"),
        ("tranwrd('a cat', 'cat', 'dog')", "a dog"),
        ("translate('abc', 'xy', 'ab')", "xyc"),
        ("length('abc  ')", "3"),
        ("length(' ')", "1"),
        ("lengthn(' ')", "0"),
        ("anydigit('ab1')", "3"),
        ("count('banana', 'an')", "2"),
        ("whichc('b', 'a', 'b ')", "2"),
        ("coalescec(' ', 'x')", "x"),
        ("ifc(1 > 2, 'yes', 'no')", "no"),
        ("rank('A')", "65"),
        ("byte(65)", "A"),
    ] {
        value(expression, expect);
    }
}

#[test]
fn arguments_are_left_out_where_that_means_something() {
    for (program, text) in [
        (
            "x = substr('abc', , 2);",
            "The function substr cannot do without this argument",
        ),
        (
            "x = max(1, , 2);",
            "The function max cannot do without this argument",
        ),
        ("x = compress('a', );", "an argument"),
        (
            "x = scan('a b', 1, ' ', 'q');",
            "The modifiers 'q' of SCAN are invalid or not implemented yet",
        ),
        (
            "x = compress('a b', ' ', 'z');",
            "The modifiers 'z' of COMPRESS are invalid",
        ),
    ] {
        fails(&format!("data _null_; {program} run;"), text);
    }
    let (ran, _) = clean(
        "options nosource; %put > %sysfunc(compress(a1b2,,kd)) %sysfunc(tranwrd(abc,b,)) %sysfunc(scan(a1b,2,,d));",
    );
    assert!(ran.log.contains("> 12 a c b"), "{}", ran.log);
}

#[test]
fn results_have_the_lengths_of_sas() {
    length("substr('abcdef', 2, 1)", 6);
    length("upcase('abc')", 3);
    length("cats('a', 'b')", 200);
    length("scan('a b', 1)", 3);
    length("tranwrd('a', 'a', 'b')", 200);
    length("put(1, z5.)", 5);
    length("put('abc', $char2.)", 2);
    length("ifc(1, 'a', 'b')", 200);
}

#[test]
fn functions_of_numbers() {
    for (expression, expect) in [
        ("mod(10, 3)", "1"),
        ("ceil(2.1) + floor(-2.1) + int(2.9)", "2"),
        ("round(1.005, 0.01)", "1.01"),
        ("std(1, 2, 3)", "1"),
        ("uss(1, 2) + css(1, 3)", "7"),
        ("median(3, 1, ., 2)", "2"),
        ("largest(1, 3, 9, 2)", "9"),
        ("ifn(., 1, 2, 3)", "3"),
        ("coalesce(., 4)", "4"),
        ("choosen(2, 5, 6)", "6"),
        ("whichn(6, 5, 6)", "2"),
        ("cmiss(., 'a', ' ')", "2"),
        ("constant('pi') > 3.14159", "1"),
        ("probnorm(0)", "0.5"),
        ("cdf('normal', 0)", "0.5"),
        ("sign(-3)", "-1"),
        ("log10(1000)", "3"),
        ("mdy(9, 13, 2017)", "21075"),
        (
            "year(21075) + month(21075) + day(21075) + weekday(21075)",
            "2043",
        ),
        ("qtr(21075)", "3"),
        ("intnx('month', '13sep2017'd, 1)", "21093"),
        ("intck('week', '13sep2017'd, '20sep2017'd)", "1"),
        ("intck('month', '31jan2020'd, '01feb2020'd)", "1"),
        ("intck('month', '31jan2020'd, '01feb2020'd, 'c')", "0"),
        ("datepart(86401) + timepart(86401)", "2"),
        ("hms(1, 1, 1)", "3661"),
        ("hour(3661) + minute(3661) + second(3661)", "3"),
    ] {
        value(expression, expect);
    }
    let (_, store) = clean("data d.a; x1=1; x2=.; x3=3; m = max(of x1-x3); s = std(of x:); run;");
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        [format!("1 . 3 3 {}", 2.0_f64.sqrt())]
    );
}

/// Values of another implementation of the distributions.
#[test]
fn probabilities_take_noncentralities() {
    for (expression, expect) in [
        ("cdf('t', 1, 5, 2)", 0.158_135_643_6),
        ("cdf('chisq', 3, 2, 4)", 0.290_254_619_8),
        ("cdf('f', 2, 3, 4, 5)", 0.376_144_810_6),
        ("quantile('t', .9, 5, 2)", 4.301_284_511_3),
        ("pdf('chisq', 3, 2, 4)", 0.108_091_481_7),
        ("probt(1, 5, 2)", 0.158_135_643_6),
        ("sdf('weibull', 2, 1)", 0.135_335_283_2),
        ("cdf('beta', 4, 2, 1, 3, 5)", 0.25),
    ] {
        let (_, store) = clean(&format!("data d.a; v = {expression}; run;"));
        let row = rows(&store, "/data/a.sas7bdat").remove(0);
        let found: f64 = row.parse().unwrap();
        assert!(
            (found - expect).abs() < 1e-10 * expect.max(1.0),
            "{expression}: {found}"
        );
    }
}

#[test]
fn distributions_that_are_unknown_or_take_other_parameters_stop_the_step() {
    for (program, text) in [
        (
            "x = cdf('normalmix', 1, 2);",
            "The distribution 'NORMALMIX' of CDF is unknown or not implemented yet. There are NORMAL",
        ),
        (
            "x = rand('hyper', 1, 2, 3);",
            "The distribution 'HYPER' of RAND is unknown",
        ),
        (
            "x = cdf('normal', 1, 0, 1, 7);",
            "The distribution NORMAL of CDF takes 0 to 2 parameters, not 3",
        ),
        (
            "x = pdf('t', 1);",
            "The distribution T of PDF takes 1 to 2 parameters, not 0",
        ),
        (
            "x = rand('table');",
            "The distribution TABLE of RAND takes 1 or more parameters, not 0",
        ),
        (
            "n = 'xyz'; x = quantile(n, .5);",
            "The distribution 'XYZ' of QUANTILE is unknown",
        ),
        (
            "n = 'tri'; x = rand(n);",
            "The distribution 'TRI' of RAND is unknown",
        ),
        (
            "x = intnx('fortnight', 0, 1);",
            "The interval 'fortnight' of INTNX is unknown or not implemented yet. There are SECOND",
        ),
        (
            "x = intck('weekday8w', 0, 1);",
            "The interval 'weekday8w' of INTCK is unknown",
        ),
        (
            "n = 'lustrum'; x = intck(n, 0, 1);",
            "The interval 'lustrum' of INTCK is unknown",
        ),
    ] {
        fails(&format!("data _null_; {program} run;"), text);
    }
}

#[test]
fn conditions_that_cannot_be_evaluated_stop_the_step() {
    let make = "data d.a; n = 'lustrum'; do i = 1 to 3; output; end; run;";
    for program in [
        "data d.b; set d.a; where intck(n, 0, 1) < 1; run;",
        "data d.b; set d.a(where=(intck(n, 0, 1) < 1)); run;",
        "data d.b(where=(intck(n, 0, 1) < 1)); set d.a; run;",
        "proc sort data=d.a out=d.b; where intck(n, 0, 1) < 1; by i; run;",
        "proc means data=d.a noprint; where intck(n, 0, 1) < 1; output out=d.b n=n; run;",
        "proc sql; create table d.b as select intck(n, 0, 1) as x from d.a; quit;",
    ] {
        let store = store();
        let ran = run_on(Arc::new(store.clone()), &format!("{make} {program}"));
        assert_eq!(ran.exit, 2, "{program}: {}", ran.log);
        let text = "The interval 'lustrum' of INTCK is unknown";
        assert!(ran.log.contains(text), "{program}: {}", ran.log);
        assert!(store.get("/data/b.sas7bdat").is_none(), "{program}");
    }
}

/// Means and shares of many draws; the bounds are more than five standard errors away.
#[test]
fn random_numbers_have_their_distributions() {
    for (call, test, low, high) in [
        ("'table', .2, .5", "x = 2", 0.47, 0.53),
        ("'table', .2, .5", "x = 3", 0.27, 0.33),
        ("'weibull', 2, 3", "x < 3", 0.60, 0.664),
        ("'geometric', .25", "x = 1", 0.22, 0.28),
        ("'geometric', .25", "x = 2", 0.16, 0.215),
        ("'triangle', .25", "x < .5", 0.635, 0.70),
        ("'t', 5", "x < 1.4759", 0.88, 0.92),
        ("'f', 3, 7", "x < 3.0741", 0.88, 0.92),
        ("'erlang', 2", "x < 1.6783", 0.47, 0.53),
        ("'cauchy', 1, 2", "x < 3", 0.72, 0.78),
    ] {
        let (_, store) = clean(&format!(
            "data d.a; call streaminit(5); do i = 1 to 8000; x = rand({call}); s + ({test}); end;
             m = s / 8000; keep m; run;"
        ));
        let share: f64 = rows(&store, "/data/a.sas7bdat")[0].parse().unwrap();
        assert!((low..high).contains(&share), "{call}: {test}: {share}");
    }
}

#[test]
fn weekends_belong_to_the_weekday_before_them() {
    for (expression, expect) in [
        ("intck('weekday', '03jan2020'd, '05jan2020'd)", "0"),
        ("intck('weekday', '04jan2020'd, '05jan2020'd)", "0"),
        ("intck('weekday', '05jan2020'd, '06jan2020'd)", "1"),
        ("intck('weekday', '01jan2020'd, '31jan2020'd)", "22"),
        (
            "put(intnx('weekday', '05jan2020'd, 0), date9.)",
            "03JAN2020",
        ),
        (
            "put(intnx('weekday', '05jan2020'd, 1), date9.)",
            "06JAN2020",
        ),
        (
            "put(intnx('weekday', '03jan2020'd, 0, 'e'), date9.)",
            "05JAN2020",
        ),
        (
            "put(intnx('weekday17w', '05jan2020'd, 0), date9.)",
            "03JAN2020",
        ),
        ("intck('weekday1w', '03jan2020'd, '05jan2020'd)", "1"),
        (
            "put(intnx('weekday67w', '04jan2020'd, 0), date9.)",
            "02JAN2020",
        ),
        (
            "put(intnx('weekday3.2', '07jan1960'd, 0), date9.)",
            "07JAN1960",
        ),
        (
            "put(intnx('weekday3.2', '06jan1960'd, 0), date9.)",
            "04JAN1960",
        ),
        (
            "intck('dtweekday', '03jan2020:09:00'dt, '05jan2020:09:00'dt)",
            "0",
        ),
    ] {
        value(expression, expect);
    }
}

/// From "Beginning Dates and Datetimes of Intervals" of SAS's documentation, and its tables of examples.
#[test]
fn intervals_of_several_units_are_counted_from_1960() {
    for (interval, from, expect) in [
        ("week2", "01jan1960", "27DEC1959"),
        ("week2", "15jan2020", "05JAN2020"),
        ("week6.13", "10jan1960", "08JAN1960"),
        ("year3", "01jan1960", "01JAN1960"),
        ("year2.7", "15jan2020", "01JUL2018"),
        ("year2.19", "15jan2020", "01JUL2019"),
        ("year4.11", "15jan2020", "01NOV2016"),
        ("month13", "01jan1960", "01JAN1960"),
        ("month13", "15mar1961", "01FEB1961"),
        ("month2.2", "15jan2020", "01DEC2019"),
        ("semimonth2.2", "15jan2020", "16DEC2019"),
        ("tenday", "31jan2020", "21JAN2020"),
        ("tenday", "10jan2020", "01JAN2020"),
        ("tenday4.2", "11jan1960", "11JAN1960"),
    ] {
        value(
            &format!("put(intnx('{interval}', '{from}'d, 0), date9.)"),
            expect,
        );
    }
    value("intnx('day50', '01oct1998'd, 1)", "14200");
    value("intnx('hour8.7', '05:00't, 0) / 3600", "-2");
}

#[test]
fn put_and_input_convert() {
    value("put(21075, date9.)", "13SEP2017");
    value("put(3.14159, 4.2)", "3.14");
    value("input('1,234', comma8.)", "1234");
    value("input('13sep2017', date9.)", "21075");
    value("putn(7, 'z3.')", "007");
    value("inputn('12', '8.')", "12");
}

#[test]
fn lags_remember_each_at_its_place() {
    let (_, store) = clean(
        "data d.a; do i = 1 to 4; a = lag(i); b = lag2(i); c = dif(i); if i > 2 then e = lag(i); \
         output; end; run;",
    );
    assert_eq!(
        rows(&store, "/data/a.sas7bdat"),
        ["1 . . . .", "2 1 . 1 .", "3 2 1 1 .", "4 3 2 1 3"]
    );
}

#[test]
fn ranuni_and_rannor_share_one_stream_by_the_first_seed() {
    let (_, store) =
        clean("data d.a; x = round(ranuni(45), .00001); y = round(uniform(99), .00001); run;");
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["0.32332 0.65399"]);
    let (_, store) = clean("data d.a; x = round(rannor(45), .00001); run;");
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["-0.85252"]);
}

#[test]
fn wrong_arguments_are_told() {
    let ran = run_on(
        Arc::new(store()),
        "data _null_; x = log10(0); y = mod(1, 0); run;",
    );
    assert_eq!(ran.exit, 0, "{}", ran.log);
    assert!(
        ran.log.contains(
            "NOTE: Mathematical operations could not be performed at the following places. The \
             results of the operations have been set to missing values."
        ),
        "{}",
        ran.log
    );
    assert!(ran.log.contains("1 at 1:18   1 at 1:32"), "{}", ran.log);
    let ran = run_on(Arc::new(store()), "data _null_; x = mod(., 2); run;");
    assert!(
        ran.log.contains("Missing values were generated"),
        "{}",
        ran.log
    );
    for (expression, error) in [
        ("mod(1)", "The function mod does not take 1 arguments"),
        (
            "nosuch(1)",
            "The function nosuch is unknown or not implemented yet",
        ),
        ("put(1)", "The function put needs a format"),
    ] {
        let ran = run_on(
            Arc::new(store()),
            &format!("data _null_; x = {expression}; run;"),
        );
        assert!(ran.log.contains(error), "{}", ran.log);
    }
}

#[test]
fn symget_and_sysfunc_see_macro_variables_and_formats() {
    let (ran, _) = clean(
        "options nosource; %let v=abc; data d.a; x = symget('v'); run; \
         %put > %sysfunc(intnx(month, 0, 1), date9.) %sysfunc(putn(5, z3.)) %sysfunc(mod(7, 4));",
    );
    assert!(ran.log.contains("> 01FEB1960 005 3"), "{}", ran.log);
}

#[test]
fn invalid_arguments_are_errors_of_their_rows() {
    let (ran, store) = clean("data d.a; do x = 1, 0; y = log2(x); e = _error_; output; end; run;");
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1 0 0", "0 . 1"]);
    for text in [
        "NOTE: Invalid argument to function LOG2(0) at line 1 column 28.",
        "y=. e=1 _ERROR_=1 _N_=1",
        "NOTE: Mathematical operations could not be performed at the following places.",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn call_missing_clears_variables_elements_and_lists() {
    let (_, store) = clean(
        "data d.a; array v{3} a b c; a = 1; b = 2; c = 3; t = 'x'; i = 2; call missing(v{i}, t); output; \
         call missing(of v{*}); output; drop i; run;",
    );
    assert_eq!(rows(&store, "/data/a.sas7bdat"), ["1 . 3 ", ". . . "]);
}
