//! PROC SQL. Expected values are worked by hand from the few rows of the tables made here, or follow
//! from the DATA step doing the same.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::harness::{clean, rows, run_on, store, variables};

const TABLES: &str = "
data class; length name $8 sex $1; input name sex age height; datalines;
Alfred M 14 69
Alice F 13 56.5
Barbara F 13 65.3
Henry M 14 63.5
James M 12 57.3
Jane F 12 59.8
;
data dept; length sex $2 what $8; input sex what; datalines;
M Men
X Other
;
data nums; input k v; datalines;
1 10
. 20
2 30
1 40
. 50
.A 60
;
";

/// The rows of the data set OUT in D that a query makes.
fn made(query: &str) -> Vec<String> {
    let (_, store) = clean(&format!(
        "{TABLES} proc sql; create table d.out as {query}; quit;"
    ));
    rows(&store, "/data/out.sas7bdat")
}

/// What the log of statements says.
fn logged(statements: &str) -> String {
    let program = format!("{TABLES} proc sql; {statements} quit;");
    run_on(std::sync::Arc::new(store()), &program).log
}

#[test]
fn columns_are_chosen_calculated_and_named() {
    let query = "select name, age * 2 as twice, calculated twice + 1 as more, c.sex
        from class as c where calculated twice > 26 and not age = 12 order by name desc";
    assert_eq!(made(query), ["Henry 28 29 M", "Alfred 28 29 M"]);
    let query = "select * from class(keep=name age where=(age = 12))";
    assert_eq!(made(query), ["James 12", "Jane 12"]);
    let query = "select sum(age, height, .) as s, max(1, 2) as m from class where name = 'Alice'";
    assert_eq!(made(query), ["69.5 2"]);
}

#[test]
fn attributes_of_columns_come_along_and_can_be_given() {
    let program = format!(
        "{TABLES} data d.b; set class; format height 6.2; label age='Years'; run;
        proc sql; create table d.out as select height, age, age+1 as next label='Next' format=z4.,
        name as who length=3, count(*) from d.b; quit; proc contents data=d.out varnum; run;"
    );
    let (ran, store) = clean(&program);
    assert_eq!(
        variables(&store, "/data/out.sas7bdat"),
        ["height", "age", "next", "who", "_TEMA001"]
    );
    assert_eq!(rows(&store, "/data/out.sas7bdat")[0], "69 14 15 Alf 6");
    for text in ["6.2", "Years", "Next", "Z4."] {
        assert!(ran.listing.contains(text), "{text}: {}", ran.listing);
    }
}

#[test]
fn truncated_comparisons_are_those_of_sql_alone() {
    let program = format!("{TABLES} data a; set class; where name eqt 'Ja'; run;");
    assert_eq!(run_on(std::sync::Arc::new(store()), &program).exit, 2);
    // The words are names elsewhere.
    let named = made("select name as eqt from class where name = 'Jane'");
    assert_eq!(named, ["Jane"]);
}

#[test]
fn predicates() {
    for (condition, expected) in [
        ("age between 13 and 14 and sex = 'F'", "Alice Barbara"),
        ("age between 14 and 13 and sex = 'F'", "Alice Barbara"),
        ("age not between 14 and 13 and sex = 'F'", "Jane"),
        ("age between height/0 and 12", "James Jane"),
        ("name like 'J%'", "James Jane"),
        ("name eqt 'Ja'", "James Jane"),
        ("'Ja' EQT name and name net 'Jam'", "Jane"),
        (
            "upper(name) eqt 'JAN' or lower(substr(name, 1, 2)) = 'he'",
            "Henry Jane",
        ),
        ("name gtt 'Hen'", "James Jane"),
        ("name get 'Hen' and name ltt 'Jan'", "Henry James"),
        ("name let 'Al'", "Alfred Alice"),
        (
            "name contains 'ar' or age not between 12 and 13 and sex='F'",
            "Barbara",
        ),
        ("name in ('Jane', 'Henry')", "Henry Jane"),
        (
            "name not in ('Jane', 'Henry') and sex ne 'F'",
            "Alfred James",
        ),
        ("height is missing or name is null", ""),
        ("not (age = 14 or sex = 'F')", "James"),
        (
            "age in (select age from class where sex = 'M' and age > 12)",
            "Alfred Henry",
        ),
        (
            "age not in (select age from class where age > 12)",
            "James Jane",
        ),
        (
            "exists (select * from dept as d where d.sex = class.sex)",
            "Alfred Henry James",
        ),
        (
            "not exists (select 1 from dept d where d.sex = class.sex) and age=12",
            "Jane",
        ),
        (
            "height = (select max(height) from class as o where o.sex = class.sex)",
            "Alfred Barbara",
        ),
        (
            "height > (select avg(height) from class)",
            "Alfred Barbara Henry",
        ),
        ("'M ' = sex and upcase(name) < 'B'", "Alfred"),
    ] {
        let names = made(&format!(
            "select name from class where {condition} order by name"
        ));
        assert_eq!(names.join(" "), expected, "{condition}");
    }
}

#[test]
fn case_in_both_forms() {
    let query =
        "select name, case when age < 13 then 'young' when age = 13 then 'mid' else 'oldest' end
        as a, case sex when 'M' then 1 when 'X' then 2 end as b from class order by name";
    assert_eq!(
        made(query),
        [
            "Alfred oldest 1",
            "Alice mid .",
            "Barbara mid .",
            "Henry oldest 1",
            "James young 1",
            "Jane young ."
        ]
    );
}

#[test]
fn groups_come_in_order_with_their_summaries() {
    let query = "select sex, count(*) as n, mean(height) as m, sum(age) as s, min(name) as first,
        count(distinct age) as ages, range(height) as r from class group by sex";
    assert_eq!(
        made(query),
        [
            "F 3 60.53333333333333 38 Alice 2 8.799999999999997",
            "M 3 63.26666666666667 40 Alfred 2 11.700000000000003"
        ]
    );
    let query = "select k, count(*) as n, sum(v) as s, nmiss(k) as m from nums group by k";
    assert_eq!(
        made(query),
        [". 2 70 2", ".A 1 60 1", "1 2 50 0", "2 1 30 0"]
    );
    let query = "select substr(name, 1, 1) as letter, count(*) as n from class group by letter
        having n > 1";
    assert_eq!(made(query), ["A 2", "J 2"]);
    let query =
        "select age - 10 as a, sex, count(*) as n from class group by 1, 2 order by n desc, 1, 2";
    assert_eq!(made(query), ["3 F 2", "4 M 2", "2 F 1", "2 M 1"]);
    assert_eq!(
        made("select count(*) as n, sum(v) as s from nums where v > 100"),
        ["0 ."]
    );
    assert!(made("select k, count(*) as n from nums where v > 100 group by k").is_empty());
}

#[test]
fn summaries_are_merged_back_to_the_rows() {
    let query = "select name, age, mean(age) as m from class group by sex having age > mean(age)
        order by name";
    assert_eq!(
        made(query),
        [
            "Alfred 14 13.333333333333334",
            "Alice 13 12.666666666666666",
            "Barbara 13 12.666666666666666",
            "Henry 14 13.333333333333334"
        ]
    );
    let log = logged("create table a as select name, height / max(height) as part from class;");
    assert!(
        log.contains(
            "NOTE: The query requires remerging summary statistics back with the original data."
        ),
        "{log}"
    );
    assert!(
        log.contains("NOTE: Table WORK.A created, with 6 rows and 2 columns."),
        "{log}"
    );
    let none =
        logged("create table a as select sex, height / sum(height) as p from class where age>99;");
    assert!(none.contains("WORK.A created, with 0 rows"), "{none}");
}

#[test]
fn joins_of_every_kind() {
    for (join, expected) in [
        ("class c inner join dept d on c.sex = d.sex",
         vec!["Alfred Men M", "Henry Men M", "James Men M"]),
        ("class c left join dept d on c.sex = d.sex and c.age > 12",
         vec!["Alfred Men M", "Alice  ", "Barbara  ", "Henry Men M", "James  ", "Jane  "]),
        ("class c right join dept d on c.sex = d.sex",
         vec![" Other X", "Alfred Men M", "Henry Men M", "James Men M"]),
        ("class c full join dept d on c.sex = d.sex and age = 14",
         vec![" Other X", "Alfred Men M", "Alice  ", "Barbara  ", "Henry Men M", "James  ", "Jane  "]),
        ("class c, dept d where c.sex = d.sex and d.what = 'Men' and age < 14", vec!["James Men M"]),
        ("class c cross join dept d where age = 12",
         vec!["James Men M", "James Other X", "Jane Men M", "Jane Other X"]),
        ("class c left join (select sex, what from dept where what = 'Men') as d on c.sex = d.sex
          where d.what is missing", vec!["Alice  ", "Barbara  ", "Jane  "]),
    ] {
        let query = format!("select c.name, d.what, d.sex from {join} order by 1, 2");
        assert_eq!(made(&query), expected, "{join}");
    }
    // Missing values equal each other, but .A is another one.
    let query =
        "select a.v, b.v as w from nums a inner join nums b on a.k = b.k and a.v < b.v order by 1";
    assert_eq!(made(query), ["10 40", "20 50"]);
    let query = "select a.name, b.name as older from class a, class b, dept d
        where a.age < b.age and a.sex = d.sex and b.sex = a.sex order by a.name, older";
    assert_eq!(made(query), ["James Alfred", "James Henry"]);
}

#[test]
fn set_operators() {
    for (query, expected) in [
        (
            "select sex from class union select sex from dept",
            vec!["F", "M", "X"],
        ),
        (
            "select age from class where sex='M' union all select age from class where age=13",
            vec!["14", "14", "12", "13", "13"],
        ),
        (
            "select sex from class except select sex from dept",
            vec!["F"],
        ),
        (
            "select age from class except all select age from class where sex='F'",
            vec!["12", "14", "14"],
        ),
        (
            "select sex from class intersect select sex from dept",
            vec!["M"],
        ),
        (
            "select age from class intersect all select age from class where sex='F' order by 1 desc",
            vec!["13", "13", "12"],
        ),
        (
            "select name, age from class(obs=1) outer union corr select what as name from dept",
            vec!["Alfred 14", "Men .", "Other ."],
        ),
        (
            "select distinct sex, age from class order by age desc, sex",
            vec!["M 14", "F 13", "F 12", "M 12"],
        ),
    ] {
        assert_eq!(made(query), expected, "{query}");
    }
}

#[test]
fn macro_variables_are_made() {
    let (ran, _) = clean(&format!(
        "{TABLES} proc sql noprint;
        select count(*), sum(age) into :n, :s trimmed from class; %put <&n> <&s> <&sqlobs>;
        select name, age into :name1-:name9, :ages separated by '|' from class where sex='F';
        %put <&name1> <&name3> <&ages> <&sqlobs>;
        select name into :all separated by ', ' from class where age > 99; %put <&sqlobs>;
        select mean(height) format=8.3 into :m from class; %put <&m>;
        quit;"
    ));
    for text in [
        "<       6> <78> <1>",
        "<Alice> <Jane> <13|13|12> <3>",
        "<0>",
        "<  61.900>",
        "NOTE: No rows were selected.",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
    assert!(ran.listing.is_empty(), "{}", ran.listing);
}

#[test]
fn results_are_listed() {
    let (ran, _) = clean(&format!(
        "options ls=64; {TABLES} proc sql; select name label='Who is it', age, height format=6.1
        from class where age = 12; quit;"
    ));
    let expected = "
                         The SAS System

                  Who is it       age  height
                  ---------------------------
                  James            12    57.3
                  Jane             12    59.8
";
    assert!(
        ran.listing.contains(expected.trim_matches('\n')),
        "{}",
        ran.listing
    );
}

#[test]
fn tables_are_made_filled_changed_and_dropped() {
    let (ran, store) = clean(&format!(
        "{TABLES} proc sql;
        create table t (a num format=date9., b char(5) label='B', c int);
        insert into t values (1, 'one', .) values (2, 'longer', 3);
        insert into t (c, a) select age, height from class where age = 12;
        insert into t set b = 'set', c = 7;
        update t set c = c + 1, b = upcase(b) where a < 10;
        delete from t where a > 59;
        delete from t where a > 99;
        create table d.t as select * from t;
        create table d.u like t;
        drop table nums;
        quit;"
    ));
    assert_eq!(
        rows(&store, "/data/t.sas7bdat"),
        ["1 ONE .", "2 LONGE 4", "57.3  12", ". SET 8"]
    );
    assert!(rows(&store, "/data/u.sas7bdat").is_empty());
    for text in [
        "NOTE: Table WORK.T created, with 0 rows and 3 columns.",
        "NOTE: 2 rows were inserted into WORK.T.",
        "NOTE: 1 row was inserted into WORK.T.",
        "NOTE: 3 rows were updated in WORK.T.",
        "NOTE: 1 row was deleted from WORK.T.",
        "NOTE: No rows were deleted from WORK.T.",
        "NOTE: Table WORK.NUMS has been dropped.",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
}

#[test]
fn indexes_are_made_kept_and_dropped() {
    let (ran, _) = clean(&format!(
        "{TABLES} proc sql; create index age on class(age);
        create index both on class (sex, age);
        insert into class values ('Zoe', 'F', 16, 70); delete from class where age = 12;
        update class set age = age + 1 where age = 13; quit;
        data d.x; set class; where age = 14; run; data d.y; set class; where age = 16; run;
        proc sql; drop index both, age from class; quit;"
    ));
    for text in [
        "NOTE: Simple index age has been defined.",
        "NOTE: Composite index both has been defined.",
        "NOTE: Index age has been dropped.",
        "NOTE: The data set D.X has 4 observations",
        "NOTE: The data set D.Y has 1 observations",
        "NOTE: Index both has been dropped.",
    ] {
        assert!(ran.log.contains(text), "{text}: {}", ran.log);
    }
    let log = logged("drop index age from class;");
    assert!(
        log.contains("Index age does not exist on file WORK.CLASS"),
        "{log}"
    );
}

#[test]
fn errors_name_what_is_wrong_and_stop_what_follows() {
    for (statement, text) in [
        (
            "select nosuch from class;",
            "were not found in the contributing tables: nosuch",
        ),
        (
            "select a.name from class as c;",
            "Unresolved reference to table/correlation name a",
        ),
        (
            "select c.nosuch from class c;",
            "Column nosuch could not be found in the table/view",
        ),
        (
            "select sex from class, dept;",
            "Ambiguous reference, column sex is in more than one table",
        ),
        (
            "select age + name from class;",
            "Expression using addition (+) requires numeric types",
        ),
        (
            "select name from class where age = '12';",
            "Expression using equals (=) has components that are of different data types",
        ),
        (
            "select name from class where sum(age) > 1;",
            "Summary functions are restricted to the SELECT and HAVING clauses only",
        ),
        (
            "select sum(name) from class;",
            "The SUM summary function requires a numeric argument",
        ),
        (
            "select name from class where age = (select age from class);",
            "Subquery evaluated to more than one row",
        ),
        (
            "create index a on class(age);",
            "The index name for a single column must be the column name age",
        ),
        ("create view v as select * from class;", "CREATE VIEW"),
        ("select * from dictionary.tables;", "DICTIONARY.TABLES"),
        ("select name from class natural join dept;", "NATURAL JOIN"),
        (
            "select name from nosuch;",
            "File WORK.NOSUCH.DATA does not exist",
        ),
        ("select name, from class;", "Syntax error"),
        ("frobnicate class;", "Syntax error"),
        (
            "select name from class group by 9;",
            "not in the range of SELECT columns",
        ),
    ] {
        let log = logged(&format!(
            "{statement} create table after as select * from class;"
        ));
        assert!(log.contains(text), "{statement}: {log}");
        assert!(
            log.contains("PROC SQL set option NOEXEC"),
            "{statement}: {log}"
        );
        assert!(!log.contains("WORK.AFTER created"), "{statement}: {log}");
    }
    let log = run_on(std::sync::Arc::new(store()), "proc sql _method; quit;").log;
    assert!(log.contains("_METHOD"), "{log}");
}

#[test]
fn limits_of_rows_are_kept() {
    let log = run_on(
        std::sync::Arc::new(store()),
        &format!(
            "{TABLES} proc sql inobs=3 outobs=2; create table a as select * from class; quit;"
        ),
    )
    .log;
    assert!(log.contains("Table WORK.A created, with 2 rows"), "{log}");
    assert!(
        log.contains("terminated early due to OUTOBS=2 option"),
        "{log}"
    );
}

#[test]
fn queries_stand_inside_of_each_other() {
    for (query, expected) in [
        (
            "select count(*) as n from (select distinct sex, age from class)",
            vec!["4"],
        ),
        // The innermost query takes a value from the outermost.
        (
            "select d.sex from dept d where exists (select * from class c where c.age in
             (select age from class x where x.sex = d.sex and x.height > 65))",
            vec!["M"],
        ),
        (
            "select name, (select what from dept d where d.sex = c.sex) as w from class c
             where age = 12",
            vec!["James Men", "Jane "],
        ),
        (
            "select a.sex, a.n, b.m from (select sex, count(*) as n from class group by sex) a
             left join (select sex, max(height) as m from class where age = 14 group by sex) b
             on a.sex = b.sex",
            vec!["F 3 .", "M 3 69"],
        ),
        (
            "select sex, count(*) as n from class where age > (select min(age) from class)
             group by sex having count(*) > (select count(*) from dept) - 1",
            vec!["F 2", "M 2"],
        ),
    ] {
        assert_eq!(made(query), expected, "{query}");
    }
}

#[test]
fn global_statements_and_macros_stand_between_statements() {
    let (ran, _) = clean(&format!(
        "{TABLES} %macro each; %local n; proc sql noprint; select count(*) into :n trimmed from class;
        %do i = 1 %to 2; create table t&i as select * from class where age = 11 + &i; %end;
        options nonotes; create table quiet as select * from dept; options notes;
        title 'In between'; quit; %mend;
        proc sql; title 'Next'; select count(distinct sex) as c from class where sex ne 'M';
        run; select 1 as one from dept(obs=1); quit;"
    ));
    assert!(ran.listing.contains("Next"), "{}", ran.listing);
    let (ran, store) = clean(&format!(
        "{TABLES} %macro each; proc sql noprint; %do i = 1 %to 2;
        create table d.t&i as select name from class where age = 11 + &i; %put rows &sqlobs; %end;
        quit; %mend; %each"
    ));
    assert!(ran.log.contains("rows 2"), "{}", ran.log);
    assert_eq!(rows(&store, "/data/t1.sas7bdat"), ["James", "Jane"]);
    assert_eq!(rows(&store, "/data/t2.sas7bdat"), ["Alice", "Barbara"]);
}

#[test]
fn one_step_is_told_at_quit() {
    let (ran, _) = clean(&format!(
        "{TABLES} options stimer; proc sql; create table a as select * from class; create table b as
        select * from a; quit; data _null_; run;"
    ));
    assert_eq!(
        ran.log.matches("PROCEDURE SQL used").count(),
        1,
        "{}",
        ran.log
    );
    assert!(
        !ran.log.contains("observations read from the data set"),
        "{}",
        ran.log
    );
    let step = ran.steps.iter().find(|step| step.name == "SQL").unwrap();
    assert_eq!((step.inputs.len(), step.outputs.len()), (2, 2));
    assert_eq!(step.inputs[0].observations, 6);
}

#[test]
fn texts_of_different_lengths_meet() {
    let tables = "data a; length k $3; input k $ x; datalines;\nab 1\nabc 2\n;
        data b; length k $8; input k $ y; datalines;\nab 10\nabcd 20\nabc 30\n;";
    let query = "proc sql; create table d.out as select a.k, x, y from a, b where a.k = b.k
        union all select k, ., y from b where k in (select k from a) order by 2, 3;";
    let (_, store) = clean(&format!("{tables} {query}"));
    let expected = ["ab . 10", "abc . 30", "ab 1 10", "abc 2 30"];
    assert_eq!(rows(&store, "/data/out.sas7bdat"), expected);
}

#[test]
fn what_does_not_fit_stops_with_the_memory_error() {
    let log = run_on(
        std::sync::Arc::new(store()),
        "options memsize=66m; data a; do i = 1 to 200000; output; end; run;
        proc sql; create table b as select count(*) as n from a x, a y where x.i < y.i; quit;",
    )
    .log;
    assert!(log.contains("because of insufficient memory"), "{log}");
    assert!(!log.contains("WORK.B created"), "{log}");
}

#[test]
fn warnings_and_notes_of_sas() {
    let log = logged("create table a as select * from class c, dept d where c.sex = d.sex;");
    assert!(
        log.contains("WARNING: Variable sex already exists on file WORK.A."),
        "{log}"
    );
    let log = logged("create table a as select name from class, dept;");
    assert!(
        log.contains("Cartesian product joins that can not be optimized."),
        "{log}"
    );
    let log = logged("create table a as select age from class group by age;");
    assert!(
        log.contains("GROUP BY clause has been transformed into an ORDER BY clause"),
        "{log}"
    );
    let log = logged("create table class as select * from class where age = 12;");
    assert!(
        log.contains("recursively references the target table"),
        "{log}"
    );
    assert!(
        log.contains("Table WORK.CLASS created, with 2 rows"),
        "{log}"
    );
}

/// A table made from keys (`None` is missing) and the number of each row.
fn data_step(name: &str, value: &str, keys: &[Option<u8>]) -> String {
    let mut text = format!("data {name}; input k {value}; datalines;\n");
    for (number, key) in keys.iter().enumerate() {
        let key = key.map_or(".".to_owned(), |key| key.to_string());
        let _ = writeln!(text, "{key} {number}");
    }
    text + ";\n"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Nested loops in the test, a table in memory, a sort-merge join in little memory and (where keys
    /// of the right side come once) the MERGE statement and the hash object agree.
    #[test]
    fn joins_agree(
        left in prop::collection::vec(prop::option::of(0u8..12), 0..40),
        right in prop::collection::vec(prop::option::of(0u8..12), 0..30),
        kind in 0usize..4,
    ) {
        let tables = data_step("l", "v", &left) + &data_step("r", "w", &right);
        let word = ["inner", "left", "right", "full"][kind];
        let query = format!(
            "proc sql; create table d.out as select coalesce(l.k, r.k) as k, v, w from l {word} join r
             on l.k = r.k order by v, w; quit;"
        );
        let mut expected = Vec::new();
        for (v, a) in left.iter().enumerate() {
            let matches: Vec<usize> = (0..right.len()).filter(|w| right[*w] == *a).collect();
            if matches.is_empty() && (kind == 1 || kind == 3) {
                expected.push((Some(v), None, *a));
            }
            expected.extend(matches.into_iter().map(|w| (Some(v), Some(w), *a)));
        }
        for (w, b) in right.iter().enumerate() {
            if kind >= 2 && !left.contains(b) {
                expected.push((None, Some(w), *b));
            }
        }
        expected.sort();
        let number = |value: Option<usize>| value.map_or(".".to_owned(), |value| value.to_string());
        let expected: Vec<String> = expected
            .into_iter()
            .map(|(v, w, k)| format!("{} {} {}", number(k.map(usize::from)), number(v), number(w)))
            .collect();
        for options in ["", "options memsize=1m sortsize=1m;"] {
            let (_, store) = clean(&format!("{options} {tables} {query}"));
            prop_assert_eq!(&rows(&store, "/data/out.sas7bdat"), &expected, "{} {}", word, options);
        }
    }
}

/// More rows than fit: SQL in little memory, in much, MERGE of sorted data sets and the hash object.
#[test]
fn sort_merge_sql_and_hash_joins_agree_beyond_memory() {
    let program = |options: &str| {
        format!(
        "{options}
        data l; do i = 1 to 60000; k = mod(i * 7919, 60013); c = put(i, z12.); output; end; run;
        data r; do i = 1 to 50000; k = mod(i * 104729, 60013); t = repeat('x', 9) || put(i, z12.);
        output; end; drop i; run;
        proc sql; create table d.sql as select l.i, l.k, l.c, r.t from l left join r on l.k = r.k
          order by i;
        create table d.grouped as select mod(k, 30011) as g, count(*) as n, sum(i) as s, max(c) as m,
          count(distinct c) as d from l group by g;
        quit;"
    )
    };
    let (_, large) = clean(&program(""));
    let sql = rows(&large, "/data/sql.sas7bdat");
    assert_eq!(sql.len(), 60_000);
    let grouped = rows(&large, "/data/grouped.sas7bdat");
    assert_eq!(grouped.len(), 30_011);
    let mut groups = std::collections::BTreeMap::<u64, (u64, u64, u64)>::new();
    for i in 1..=60_000u64 {
        let (n, sum, most) = groups.entry(i * 7919 % 60_013 % 30_011).or_default();
        (*n, *sum, *most) = (*n + 1, *sum + i, i.max(*most));
    }
    let expected: Vec<String> = groups
        .iter()
        .map(|(g, (n, sum, most))| format!("{g} {n} {sum} {most:012} {n}"))
        .collect();
    assert!(grouped == expected);
    // With 70 MiB a part of the groups is kept in a table, with 66 MiB none.
    for memory in ["66m", "70m"] {
        let options = format!("options memsize={memory} sortsize=1m;");
        let (ran, small) = clean(&program(&options));
        assert!(sql == rows(&small, "/data/sql.sas7bdat"), "{memory}");
        assert!(
            grouped == rows(&small, "/data/grouped.sas7bdat"),
            "{memory}"
        );
        let sorts = ran.steps.iter().filter_map(|step| step.sort);
        assert!(sorts.map(|sort| sort.runs).max() > Some(1), "{memory}");
    }

    let (_, other) = clean(
        &(program("").split("proc sql;").next().unwrap().to_owned()
            + "
        proc sort data=l; by k; run; proc sort data=r; by k; run;
        data m; merge l(in=a) r; by k; if a; run; proc sort data=m out=d.merged; by i; run;
        data d.hash; length t $22; if _n_ = 1 then do; declare hash h(dataset: 'r');
          h.definekey('k'); h.definedata('t'); h.definedone(); end;
        set l; if h.find() ne 0 then t = ' '; run;
        proc sort data=d.hash; by i; run;"),
    );
    let values = |path: &str| {
        let names = variables(&other, path);
        let place = |name: &str| names.iter().position(|one| one == name).unwrap();
        let order = [place("i"), place("k"), place("c"), place("t")];
        let all = rows(&other, path);
        all.iter()
            .map(|row| {
                let cells: Vec<&str> = row.split(' ').collect();
                order.map(|at| *cells.get(at).unwrap_or(&"")).join(" ")
            })
            .collect::<Vec<String>>()
    };
    let hash = values("/data/hash.sas7bdat");
    assert!(sql == values("/data/merged.sas7bdat"));
    assert!(sql == hash, "{:?} {:?}", &sql[..3], &hash[..3]);
}

#[test]
fn deep_nesting_takes_neither_the_stack_nor_for_ever() {
    for (open, close, levels) in [
        ("age in (select age from class where ", ")", 12),
        ("(", ")", 45),
        ("not (", ")", 20),
        ("(", ")", 500),
        ("age in (select age from class where ", ")", 200),
        ("case when age = 1 then 1 else ", " end", 15),
        ("case when age = 1 then 1 else ", " end", 300),
        (
            "exists (select * from class c where c.age = class.age and ",
            ")",
            4,
        ),
    ] {
        let condition = format!("{}1{}", open.repeat(levels), close.repeat(levels));
        let log = logged(&format!(
            "create table a as select name from class where {condition};"
        ));
        let said = ["WORK.A created, with 6 rows", "nested more than", "ERROR"];
        assert!(said.iter().any(|text| log.contains(text)), "{log}");
        if levels < 100 {
            assert!(!log.contains("nested more than"), "{open} {levels}: {log}");
        }
    }
    let views = format!("{}class{}", "(select * from ".repeat(14), ")".repeat(14));
    let log = logged(&format!("create table a as select name from {views};"));
    assert!(log.contains("WORK.A created, with 6 rows"), "{log}");
}

/// Statements and pieces of them, from which random ones are put together.
const PIECES: &[&str] = &[
    "select",
    "*",
    "name",
    "c.age",
    "sex",
    "as",
    "x",
    "from",
    "class",
    "class c",
    "dept d",
    "where",
    "group by",
    "order by",
    "having",
    "1",
    "2",
    "'M'",
    "=",
    "<",
    "and",
    "or",
    "not",
    "in",
    "(",
    ")",
    ",",
    "(select sex from dept)",
    "(1, 2)",
    "exists",
    "count(*)",
    "count(distinct age)",
    "sum(age)",
    "max(name)",
    "sum(",
    "case",
    "when",
    "then",
    "else",
    "end",
    "calculated x",
    "between",
    "eqt",
    "like 'A%'",
    "is missing",
    "union",
    "except all",
    "intersect",
    "outer union corr",
    "left join",
    "full join",
    "inner join",
    "on",
    "into :m",
    "into :a1-:a3",
    "separated by ','",
    "label='L'",
    "format=8.2",
    "create table t as",
    "insert into dept",
    "values",
    "delete from dept",
    "update dept set",
    "drop table",
    "desc",
    "+",
    "||",
    "substr(name, 1, 2)",
    "c.*",
    "distinct",
    "coalesce(age, 1)",
    ".",
    "name name",
];

/// Frames in which random pieces come far.
const FRAMES: &[(&str, &str)] = &[
    ("", ""),
    ("select ", " from class c"),
    ("select name, age from class c where ", ""),
    (
        "select sex, count(*) as n from class c group by ",
        " having n > 0",
    ),
    (
        "select c.name, d.what from class c left join dept d on ",
        " order by 1",
    ),
    (
        "create table t as select ",
        " as x, max(age) as y from class group by sex",
    ),
    (
        "select name from class c where age in (select ",
        " from class)",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Whatever stands there, it ends with a log.
    #[test]
    fn random_statements_end(
        frame in 0usize..FRAMES.len(),
        pieces in prop::collection::vec(0usize..PIECES.len(), 0..10),
    ) {
        let words: Vec<&str> = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let (head, tail) = FRAMES[frame];
        let log = logged(&format!("{head}{}{tail};", words.join(" ")));
        prop_assert!(log.contains("proc sql;"), "{}", log);
    }
}

#[test]
fn coalesce_of_texts_is_as_long_as_the_longest() {
    let (_, store) = clean(
        "data l; length k $3 v 8; k = 'abc'; v = 1; output; k = ' '; v = 2; output; run;
         data r; length k $7; k = 'longer'; v = 2; output; k = 'other'; v = 3; output; run;
         proc sql; create table d.out as
           select coalesce(l.k, r.k) as k, coalesce(l.k, 'x') as three, coalescec(l.k, r.k) as c
           from l full join r on l.v = r.v order by k; quit;",
    );
    assert_eq!(
        rows(&store, "/data/out.sas7bdat"),
        ["abc abc abc", "longer x longer", "other x other"]
    );
    let bytes = store.get("/data/out.sas7bdat").unwrap();
    let reader = sas7bdat::Reader::open(bytes.as_slice()).unwrap();
    let lengths = reader.metadata().variables.iter().map(|one| one.length);
    assert_eq!(lengths.collect::<Vec<_>>(), [7, 3, 200]);
}
