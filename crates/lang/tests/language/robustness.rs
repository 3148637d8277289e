//! Any text at all ends, without a panic and with bounded stack.

use crate::{MemoryHost, lines, pulls};
use base::random::Stream;

const PROGRAM: &str = "options obs=max; libname in '/d' filelocks=none; title \"&t\";\n\
    %let n=3; %let v&n = a/*c*/b; %put &=n &&v&n; %include 'i.sas'; %global g;\n\
    data out.b(keep=x y1-y3 where=(x<>1 and y like 'a%') rename=(a=b c1-c2=d1-d2)) c;\n\
      set in.a(obs=10) b end=last nobs=n; by descending k notsorted; retain t 0 u (1);\n\
      length s $ 8 z 4; format d date9. v $char8. w 8.2; label x='it''s';\n\
      if first.k and not last.k then do; t + x**-2; y = put(x, best12.2)||'a'; end;\n\
      else if x in (1, 2:5, .a) then delete; else output c;\n\
      do i = 1 to 10 by 2, 15 while(x<'01jan2020'd); a{i} = 0ffx; leave; end;\n\
      select (x); when (1) y = a<b<c; otherwise; end; * comment;\n\
    run;\n\
    proc sort data=a.b(keep=x where=(y>1)) out=c nodupkey; by descending k1 k2; run;\n\
    proc sql; select a.x, count(*) as n from a; quit; %macro m; x %mend; %if 1 %then x;\n\
    data d; input x; datalines;\n1 2 3\n;\nproc datasets; delete a; run; endsas;";

fn host() -> MemoryHost {
    let mut host = MemoryHost::with(&[("T", "text"), ("A", "&b"), ("B", "&&a"), ("N", "2")]);
    host.files.insert(
        "i.sas".to_owned(),
        "%put in; %include 'i.sas'; x".to_owned(),
    );
    host
}

/// Pieces that mean something to the scanner, so that random texts get past its first branch.
const PIECES: &[&str] = &[
    "data ",
    "proc ",
    "run;",
    "quit;",
    ";",
    "set ",
    "if ",
    "then ",
    "else ",
    "do ",
    "end;",
    "do;",
    "x",
    "y1",
    "-",
    "--",
    "=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "'",
    "\"",
    "''",
    "/*",
    "*/",
    "*",
    "%*",
    "&",
    "&&",
    "&t",
    "&a",
    "&b.",
    ".",
    "..",
    ".a",
    "1",
    "1.",
    "0fx",
    "1e",
    "1e9",
    "e",
    "$",
    "$8.",
    "best12.2",
    "%let ",
    "%put ",
    "%include 'i.sas';",
    "%macro ",
    "%mend",
    "%macro m(x, y=1);",
    "%macro n;",
    "%mend;",
    "%m(a, y=b)",
    "%m",
    "%n ",
    "%if ",
    "%then ",
    "%else ",
    "%do;",
    "%end;",
    "%do i=1 %to 3;",
    "%do %while(&i < 3);",
    "%do %until(1);",
    "%let i=%eval(&i+1);",
    "%goto a;",
    "%a:",
    "%return;",
    "%local i;",
    "%str(",
    "%nrstr(",
    "%bquote(",
    "%superq(t)",
    "%unquote(",
    "%scan(a b,2)",
    "%substr(",
    "%sysevalf(1.5+",
    "%sysfunc(raw(",
    "%qupcase(",
    "&i",
    "&&t&i",
    "%eval(",
    "%sysfunc(",
    "%do ",
    "in ",
    "(1,2:3)",
    "of ",
    "put(",
    "not ",
    "and ",
    "or ",
    "**",
    "<>",
    "||",
    "=:",
    ":",
    "'1jan2020'd",
    "'x'x",
    "'n'n",
    "\n",
    "\r\n",
    " ",
    "\u{0}",
    "é",
    "\u{feff}",
    "datalines;\n",
    "cards4;\n",
    ";;;;",
    "select ",
    "when(",
    "otherwise ",
    "retain ",
    "length ",
    "format ",
    "keep ",
    "rename ",
    "where ",
    "between ",
    "like ",
    "is missing ",
    "by ",
    "sql;",
    "datasets;",
    "endsas;",
    "title ",
    "options ",
    "libname ",
    "run cancel;",
    "_all_",
    "/",
    ",",
    "?",
    "@",
    "#",
    "|",
    "!",
];

#[test]
fn programs_cut_at_every_byte_end() {
    for end in 0..=PROGRAM.len() {
        if PROGRAM.is_char_boundary(end) {
            pulls(&PROGRAM[..end], &mut host());
            pulls(&PROGRAM[end..], &mut host());
        }
    }
}

#[test]
fn random_pieces_end() {
    let stream = Stream::new(1);
    for case in 0..3_000 {
        let stream = stream.child(case);
        let count = stream.below(0, 60);
        let text: String = (1..=count)
            .map(|n| PIECES[usize::try_from(stream.below(n, PIECES.len() as u64)).unwrap_or(0)])
            .collect();
        pulls(&text, &mut host());
    }
}

#[test]
fn random_bytes_end() {
    let stream = Stream::new(2);
    for case in 0..2_000 {
        let stream = stream.child(case);
        let bytes: Vec<u8> = (1..=stream.below(0, 80))
            .map(|n| stream.word(n).to_le_bytes()[0])
            .collect();
        pulls(&String::from_utf8_lossy(&bytes), &mut host());
    }
}

#[test]
fn mutated_programs_end() {
    let stream = Stream::new(3);
    for case in 0..1_000 {
        let stream = stream.child(case);
        let mut text: Vec<char> = PROGRAM.chars().collect();
        for change in 0..=stream.below(0, 6) {
            let draw = stream.child(change);
            let place = usize::try_from(draw.below(1, text.len() as u64)).unwrap_or(0);
            let piece = PIECES[usize::try_from(draw.below(2, PIECES.len() as u64)).unwrap_or(0)];
            match draw.below(3, 3) {
                0 => drop(text.splice(place..place, piece.chars())),
                1 => drop(text.remove(place)),
                _ => {
                    let end = text.len().min(place + 20);
                    drop(text.drain(place..end));
                }
            }
        }
        pulls(&text.iter().collect::<String>(), &mut host());
    }
}

#[test]
fn runs_of_anything_end_quickly() {
    // The file includes itself two hundred deep: one time is enough.
    for piece in PIECES.iter().filter(|piece| !piece.starts_with("%include")) {
        for prefix in [
            "",
            "data a; ",
            "data a; x = ",
            "proc p; ",
            "%put ",
            "data a; do; if x then ",
        ] {
            let text = format!("{prefix}{}", piece.repeat(2_000 / piece.len()));
            pulls(&text, &mut host());
        }
    }
}

#[test]
fn deep_groups_are_refused_once() {
    for piece in [
        "do; ",
        "if x then ",
        "else ",
        "do i=1 to 2; ",
        "if x then do; ",
        "select; ",
        "otherwise ",
    ] {
        let text = format!("data a; {} run;", piece.repeat(50_000));
        let found: usize = pulls(&text, &mut host())
            .iter()
            .map(|p| p.diagnostics.len())
            .sum();
        assert!(found > 0, "{piece}");
    }
}

/// `%let n=x y;` doubled so many times.
fn doubled(times: usize) -> String {
    format!("%let n=x y;\n{}", "%let n=&n &n;\n".repeat(times))
}

const TOO_LARGE: &str = "has more than 1000000 words or 64 MiB of text, \
                         counted after macro variables are replaced (program.sas, line";

#[test]
fn a_step_that_macro_variables_make_too_large_gives_one_message_and_the_next_is_read() {
    let many = "&n ".repeat(100);
    let text = format!(
        "{}  data a; array q {many}; proc sort data=c; run;",
        doubled(13)
    );
    let found = lines(&text, &mut MemoryHost::default());
    let error = format!("ERROR: The DATA step that begins here {TOO_LARGE} 15, column 3).");
    assert_eq!(found[0], error);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("(proc sort"), "{found:?}");
}

#[test]
fn what_many_steps_have_together_is_not_too_large() {
    let step = format!("data a; keep {}; run;\n", "&n ".repeat(10));
    let text = format!("{}{}", doubled(13), step.repeat(5));
    let found = lines(&text, &mut MemoryHost::default());
    assert!(!found.iter().any(|line| line.contains(TOO_LARGE)));
    assert_eq!(found.len(), 5);
}
