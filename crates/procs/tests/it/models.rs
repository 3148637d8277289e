//! The DATA step against models: whatever the data, a merge, an interleaving and a copy give what a
//! few lines of straightforward code give.

use std::fmt::Write as _;
use std::sync::Arc;

use base::random::Stream;

use crate::harness::{clean, rows, run_on, store};

/// Rows of a data set with a key and a value, sorted by key.
type Keyed = Vec<(u64, u64)>;

/// A data set of up to `rows` rows with keys below `keys`; `tag` is added to its values.
fn keyed(stream: Stream, rows: u64, keys: u64, tag: u64) -> Keyed {
    let count = stream.word(0) % (rows + 1);
    let mut data: Keyed = (1..=count)
        .map(|row| (stream.word(row) % keys, tag + row))
        .collect();
    data.sort_by_key(|(key, _)| *key);
    data
}

/// A step that makes `name` with variables `k` and `value`.
fn step(name: &str, value: &str, data: &Keyed) -> String {
    let mut lines = String::new();
    for (key, number) in data {
        writeln!(lines, "{key} {number}").unwrap();
    }
    format!("data {name}; input k {value}; datalines;\n{lines};\n")
}

fn out(program: &str) -> Vec<String> {
    let (_, store) = clean(program);
    rows(&store, "/data/out.sas7bdat")
}

/// MERGE of `x` and `y` by their keys, as lines `k x y in_x in_y first last`.
fn merged(x: &Keyed, y: &Keyed) -> Vec<String> {
    let mut keys: Vec<u64> = x.iter().chain(y).map(|(key, _)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut lines = Vec::new();
    for key in keys {
        let of = |data: &Keyed| -> Vec<u64> {
            let group = data.iter().filter(|(one, _)| *one == key);
            group.map(|(_, value)| *value).collect()
        };
        let (left, right) = (of(x), of(y));
        let count = left.len().max(right.len());
        // A side that has no more rows keeps its last one; one that has none is missing.
        let shown = |group: &[u64], row: usize| match group.get(row).or(group.last()) {
            Some(value) => value.to_string(),
            None => ".".to_owned(),
        };
        for row in 0..count {
            lines.push(format!(
                "{key} {} {} {} {} {} {}",
                shown(&left, row),
                shown(&right, row),
                u8::from(!left.is_empty()),
                u8::from(!right.is_empty()),
                u8::from(row == 0),
                u8::from(row + 1 == count)
            ));
        }
    }
    lines
}

#[test]
fn merges_are_those_of_the_model() {
    for seed in 0..60 {
        let stream = Stream::new(seed);
        let keys = 1 + stream.word(u64::MAX) % 12;
        let x = keyed(Stream::new(seed * 2 + 1_000), 30, keys, 100);
        let y = keyed(Stream::new(seed * 2 + 1_001), 30, keys, 500);
        let program = format!(
            "{}{}data d.out; merge x(in=inx) y(in=iny); by k; a = inx; b = iny; f = first.k; \
             l = last.k; run;",
            step("x", "x", &x),
            step("y", "y", &y)
        );
        assert_eq!(out(&program), merged(&x, &y), "seed {seed}");
    }
}

#[test]
fn interleaving_is_a_stable_sort_of_the_concatenation() {
    for seed in 0..40 {
        let parts: Vec<Keyed> = (0..3)
            .map(|part| keyed(Stream::new(seed * 3 + part), 25, 7, part * 100))
            .collect();
        let mut all: Keyed = parts.concat();
        all.sort_by_key(|(key, _)| *key);
        let expected: Vec<String> = all.iter().map(|(key, v)| format!("{key} {v}")).collect();
        let makes: String = parts
            .iter()
            .zip(["a", "b", "c"])
            .map(|(part, name)| step(name, "v", part))
            .collect();
        let interleaved = out(&format!("{makes} data d.out; set a b c; by k; run;"));
        assert_eq!(interleaved, expected, "seed {seed}");
        let sorted = out(&format!(
            "{makes} data all; set a b c; run; proc sort data=all out=d.out; by k; run;"
        ));
        assert_eq!(sorted, expected, "seed {seed}");
    }
}

/// Pieces of texts that delimiters and quotes make hard to read again.
const PIECES: [&str; 8] = ["a", ",", "\"", " b", "'", "|", "x", "."];

#[test]
fn what_put_writes_input_reads_again() {
    for seed in 0..20 {
        let stream = Stream::new(seed);
        let mut lines = String::new();
        for row in 0..=(stream.word(0) % 40) {
            let word = stream.word(row + 1);
            let piece = |at: u64| PIECES[usize::try_from(word >> (at * 4) & 7).unwrap()];
            let text: String = (0..word % 9).map(piece).collect();
            writeln!(lines, "x{text}").unwrap();
        }
        for options in ["dsd", "dsd dlm='|'", "dsd dlm=';'"] {
            let program = format!(
                "data d.a; length n 8 c $ 40; infile datalines truncover; input c $char40.; \
                 n = _n_ / 8; datalines4;\n{lines};;;;\nrun;
                 data _null_; set d.a; file '/data/o.txt' {options}; put n c; run;
                 data d.out; infile '/data/o.txt' {options} truncover; length n 8 c $ 40; \
                 input n c; run;"
            );
            let (_, store) = clean(&program);
            let read = rows(&store, "/data/out.sas7bdat");
            assert_eq!(
                read,
                rows(&store, "/data/a.sas7bdat"),
                "seed {seed} {options}"
            );
        }
    }
}

/// Statements that end by themselves, whatever stands around them.
const STATEMENTS: [&str; 58] = [
    "set a;",
    "set a b end=e;",
    "set a(in=ia where=(x > 1)) b(keep=k);",
    "merge a b(in=ib);",
    "merge a(rename=(x=z)) b end=e2;",
    "by k;",
    "by descending k;",
    "by k x notsorted;",
    "if 0 then set b nobs=n;",
    "p = 2; set a point=p;",
    "x = x + 1;",
    "x = 1 / (x - 1);",
    "c = 'abc' || x;",
    "y = c + 1;",
    "c = ' ';",
    "n + x;",
    "if first.k then f = 1;",
    "if last.k;",
    "if x > 2 then delete; else output;",
    "output;",
    "output d.two;",
    "return;",
    "stop;",
    "array q{3};",
    "array q{0:1,2} $ 4 _temporary_ ('a' 'b');",
    "array r{*} x y k;",
    "array s{*} _numeric_;",
    "q{x} = 5;",
    "r{1} = sum(of r{*});",
    "t = q{2};",
    "do i = 1 to 3 by 1 while (x < 9); n + i; end;",
    "do w = 'a', 'bcd'; c = w; end;",
    "do until (1); leave; end;",
    "select (k); when (1, 2) y = 1; otherwise y = 2; end;",
    "select; when (x = 1) y = 1; end;",
    "substr(c, 2, 1) = 'z';",
    "substr(c, x) = 'z';",
    "retain; ",
    "retain x 5 c 'ab';",
    "length c $ 2 y 3;",
    "format x 8.2 c $3. k z4.;",
    "attrib y length=4 label='why';",
    "keep x k;",
    "drop x:;",
    "rename x=xx;",
    "where k > 1;",
    "input x c $ @;",
    "input @3 k 2. / c $char3.;",
    "infile datalines dsd missover;",
    "put x= c $2. @5 k 3. / _all_;",
    "put (x k)(4. +1) @; put 'held';",
    "file '/data/o.txt' dlm=',' dsd lrecl=9; put x c k;",
    "link sub; goto done; sub: n + 1; return; done: ;",
    "declare hash h(ordered: 'd', multidata: 'y'); h.definekey('k'); h.definedata('x', 'k'); h.definedone();",
    "rc = h.find(); if h.add() ne 0 then h.replace();",
    "declare hiter it('h'); do while (it.next() = 0); n + 1; end;",
    "h.remove(); h.output(dataset: 'work.h'); m = h.num_items;",
    "declare hash g(dataset: 'a'); g.definekey('k'); g.definedone();",
];

#[test]
fn random_programs_end_with_a_log_and_without_a_panic() {
    let mut clean_ends = 0;
    for seed in 0..1_500 {
        let stream = Stream::new(seed);
        let count = 1 + stream.word(0) % 7;
        let mut body = String::new();
        for at in 1..=count {
            let pick = stream.word(at) % STATEMENTS.len() as u64;
            body.push_str(STATEMENTS[usize::try_from(pick).unwrap()]);
        }
        // POINT= alone never ends.
        if body.contains("point=") {
            body.push_str("stop;");
        }
        let program = format!(
            "options nosource errors=2; data a; do k = 1, 1, 2, 4; x + 1; c = 'abcd'; output; end; run;
             data b; do k = 1 to 3; y = k; output; end; run;
             data d.out d.two; {body}\ndatalines;\n1,2 ab\n3 4\n5\n;\nrun;"
        );
        let ran = run_on(Arc::new(store()), &program);
        assert!(ran.exit <= 2, "{body}\n{}", ran.log);
        assert_eq!(
            ran.exit == 2,
            ran.log.contains("\nERROR"),
            "{body}\n{}",
            ran.log
        );
        clean_ends += u32::from(ran.exit == 0);
    }
    assert!(clean_ends > 150, "{clean_ends}");
}
