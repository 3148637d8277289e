//! DATA steps that go by blocks of rows do what they do row by row: the same programs run both ways,
//! written by hand and at random.

use std::io::ErrorKind;
use std::sync::Arc;

use base::random::Stream;
use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::memory::MemoryStore;
use base::store::{Channel, Operation, Store};

use crate::harness::{clean, run_on, store};

/// A data set of many pages with numbers of several lengths, texts and missing values of all kinds.
const DATA: &str = "
    data d.in(bufsize=8192);
      length s 4 t 3 c $ 6 d $ 1;
      array x{4} x1-x4;
      do i = 1 to 1500;
        do j = 1 to 4;
          x{j} = mod(i * (7 + j), 23) - 9 + j / 8;
          if mod(i * j, 11) = 3 then x{j} = .;
          if mod(i + j, 97) = 5 then x{j} = .b;
        end;
        s = mod(i, 9) - 4; t = i; if mod(i, 50) = 0 then s = .;
        c = substr('abcdefgh', mod(i, 5) + 1, mod(i, 3) + 1);
        d = substr('pqr ', mod(i, 4) + 1, 1);
        output;
      end;
      drop j;
    run;
";

/// What a loop at the end, which never goes by blocks, makes of a body.
const LOOP: &str = "do while (0); end;";

/// What is left of a way to run a body: exit code, log, files.
type Left = (u8, Vec<String>, [Option<Vec<u8>>; 2]);

/// Runs a body in a step that makes D.A and D.B.
fn run(data: &[u8], options: &str, body: &str, tail: &str) -> Left {
    let store = store();
    store.put("/data/in.sas7bdat", data);
    let set = format!("set d.in{options};");
    run_over(&store, Arc::new(store.clone()), &set, body, tail)
}

/// The same through another store.
fn run_over(
    store: &MemoryStore,
    through: Arc<dyn Store>,
    set: &str,
    body: &str,
    tail: &str,
) -> Left {
    let program = format!(
        "options nosource cpucount=1; data d.a d.b(keep=i x1 n: t:);\n{set}\n{body}\n{tail} run;"
    );
    let ran = run_on(through, &program);
    let told = ran.log.lines().map(str::to_owned).collect();
    let made = ["/data/a.sas7bdat", "/data/b.sas7bdat"].map(|path| store.get(path));
    (ran.exit, told, made)
}

/// Runs a body as it is and so that it goes row by row.
fn compare(data: &[u8], options: &str, body: &str) -> Left {
    let (blocks, rows) = (run(data, options, body, ""), run(data, options, body, LOOP));
    assert_eq!(blocks.1, rows.1, "{options} {body}");
    assert_eq!(blocks.0, rows.0, "{options} {body}");
    assert!(blocks.2 == rows.2, "other bytes: {options} {body}");
    blocks
}

fn data() -> Vec<u8> {
    let (_, store) = clean(DATA);
    store.get("/data/in.sas7bdat").unwrap()
}

#[test]
fn steps_by_blocks_give_the_bytes_and_the_log_of_steps_row_by_row() {
    let data = data();
    for body in [
        "n1 = x1 * x2 + s;",
        "if x1 > 0; n1 = x1; if c = 'b' then n2 = 1; else n2 = t;",
        "n1 + x1; if s > 0 then n2 + 1; n3 = n1 + n2;",
        "x1 = x1 + 1; n1 = x1 * 2; x1 = x1 + 1;",
        "if x1 = .b then delete; n1 = max(x1, x2, s); n2 = missing(x3);",
        "if s < 0 then output d.a; else output d.b;",
        "n1 = _n_; if x2 in (1, 2, 3:6) or c in ('a', 'bc') then output d.b;",
        "select (s); when (1) n1 = x1; when (2, 3) n1 = x2; otherwise n1 = -x3; end;",
        "n1 = sqrt(x1 + 9); n2 = int(x2); n3 = round(x3, 0.5);",
        // Errors: dumps of rows in the middle of a block, and the notes behind them.
        "n1 = 1 / (i - 700); n2 = n1 + 1;",
        "n1 = sqrt(s); n2 + n1;",
        "if i = 400 then put 'here ' i= x1=; n1 = i;",
        "n1 = i; if i > 900 then stop;",
        "if x1 and x2 / (x1 - 3) > 0 then n1 = 1; else n1 = 2;",
        "t1 = lag(x1); n1 = x1;",
        "if d = 'p' then c = 'zz'; n1 = i;",
        "output d.a; n1 = 1 / s; output d.b;",
        "length t1 $ 3; if i = 1000 then t1 = 'yes'; n1 = i;",
        "retain n1 5; n2 = n1 + i; if i = 300 then n1 = 7;",
        "where c like 'a%' and d is not missing; if c =: 'ab'; n1 = -s;",
        "if last then n1 = n2; n2 + i; if _error_ then n3 = 1;",
    ] {
        let (exit, ..) = compare(&data, "", body);
        assert!(exit <= 1, "{body}");
        compare(&data, "(where=(x1 > -3 and c ne 'b')) end=last", body);
        compare(&data, "(firstobs=20 obs=700)", body);
    }
}

#[test]
fn what_only_the_first_iteration_does_before_set_is_done_once() {
    let data = data();
    let run = |set: &str, body: &str, tail: &str| {
        let store = store();
        store.put("/data/in.sas7bdat", data.clone());
        run_over(&store, Arc::new(store.clone()), set, body, tail)
    };
    let few = "d.in(obs=1 rename=(x1=p x2=q i=r) keep=x1 x2 i)";
    for set in [
        &format!("if _n_ = 1 then set {few}; set d.in;"),
        &format!(
            "if _n_ = 1 then do; set {few}; k = 7; retain m 3; m = 4; x3 = -1; end; set d.in;"
        ),
        &format!("if _n_ = 1 then set {few}; if _n_ = 1 then n1 = 5; set d.in(where=(s > 0));"),
        "if _n_ = 1 then set d.in(obs=1 keep=x1 x2 rename=(x2=p)); set d.in;",
        "retain p 2; if _n_ = 1 then p = 9; set d.in end=last;",
        &format!("if _n_ = 1 then set {few}; else m = 3; set d.in;"),
        &format!("if _n_ = 2 then set {few}; set d.in;"),
        &format!(
            "if _n_ = 1 then set {few}; set d.in; if _n_ = 20 then set d.in(firstobs=3 obs=3);"
        ),
        "if _n_ = 1 then set d.in(obs=0 rename=(x1=p)); set d.in;",
    ] {
        for body in [
            "n2 = x1 * p + q; if x2 > 0;",
            "t1 = sum(p, x3); n2 + x1; k2 = k; if mod(i, 3) = 0 then output d.b; else output;",
        ] {
            assert_eq!(run(set, body, ""), run(set, body, LOOP), "{set} {body}");
        }
    }
}

/// The log shows the row that did not go to the disk, or the one behind which no other came.
#[test]
fn a_disk_that_fails_within_a_block_leaves_the_log_of_a_step_row_by_row() {
    let data = data();
    for (operation, channel) in [
        (Operation::Write, Channel::Output),
        (Operation::Read, Channel::Input),
    ] {
        for nth in 1..25 {
            let plan = Plan {
                operation: Some(operation),
                channel: Some(channel),
                nth,
                fault: Fault::Fail(ErrorKind::StorageFull),
            };
            let run = |tail| {
                let store = store();
                store.put("/data/in.sas7bdat", data.clone());
                let faulty = Arc::new(FaultyStore::new(store.clone(), plan));
                let body = "n1 + x1; if x2 > -5; n2 = n1 * _n_;";
                run_over(&store, faulty, "set d.in;", body, tail)
            };
            assert_eq!(run(""), run(LOOP), "{operation} {nth}");
        }
    }
}

/// Draws parts of programs.
struct Draw {
    stream: Stream,
    at: u64,
}

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.at += 1;
        usize::try_from(self.stream.word(self.at) % bound as u64).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self
                .one(&[
                    "x1", "x2", "x3", "s", "t", "i", "n1", "n2", "m1", "2", "0.5", ".", "_n_",
                ])
                .to_owned();
        }
        let (left, right) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(9) {
            0 => format!("({left} / {right})"),
            1 => format!("-{left}"),
            2 => format!("abs({left})"),
            3 => format!("sum({left}, {right})"),
            4 => format!("({left} >< {right})"),
            5 => format!("floor({left})"),
            6 => format!("({left} ** 2)"),
            _ => format!("({left} {} {right})", self.one(&["+", "-", "*"])),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.below(2) == 0 {
            let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
            return match self.below(3) {
                0 => format!("not ({left})"),
                1 => format!("({left} and {right})"),
                _ => format!("({left} or {right})"),
            };
        }
        match self.below(5) {
            0 => format!("{} in (1, 2, 4:7)", self.number(1)),
            1 => self
                .one(&["c = 'a'", "d > 'p'", "c in ('a', 'bcd')", "c =: 'b'"])
                .to_owned(),
            _ => {
                let relation = self.one(&["<", "<=", "=", "ne", ">", ">="]);
                format!("{} {relation} {}", self.number(2), self.number(1))
            }
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 | 1 => format!("n{} = {};", self.below(2) + 1, self.number(3)),
            2 => format!("x{} = {};", self.below(2) + 1, self.number(2)),
            3 => format!("m{} + {};", self.below(2) + 1, self.number(2)),
            4 => self
                .one(&["output d.a;", "output d.b;", "delete;", "n3 = 1;"])
                .to_owned(),
            5 => format!("if {};", self.condition(2)),
            6 => format!(
                "if {} then {}",
                self.condition(2),
                self.statement(depth - 1)
            ),
            _ => format!(
                "if {} then {} else {}",
                self.condition(2),
                self.statement(depth - 1),
                self.statement(depth - 1)
            ),
        }
    }
}

#[test]
fn random_steps_give_the_same_by_blocks_and_row_by_row() {
    let data = data();
    let mut draw = Draw {
        stream: Stream::new(20),
        at: 0,
    };
    for _ in 0..400 {
        let statements: Vec<String> = (0..=draw.below(5)).map(|_| draw.statement(2)).collect();
        let options = draw.one(&["", "", " end=last", "(where=(x2 > 0 or d = 'q'))"]);
        compare(&data, options, &statements.join(" "));
    }
}
