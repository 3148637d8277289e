//! The scanner, seen through the tokens that a procedure gets.

use crate::{MemoryHost, only_step, pulls};
use lang::ast::{Step, Token, TokenKind};

pub(crate) fn tokens(text: &str) -> Vec<Token> {
    match only_step(&format!("proc p; {text}; run;")) {
        Step::Proc(mut step) => step.statements.remove(0).tokens,
        other => panic!("{other:?}"),
    }
}

fn kinds(text: &str) -> String {
    let print = |token: &Token| match &token.kind {
        TokenKind::Word(word) => format!("w:{word}"),
        TokenKind::Number(value, _) => format!("n:{value}"),
        TokenKind::Missing(code) => format!("m:{code}"),
        TokenKind::Text(text, double) => format!("{}:{text}", if *double { "T" } else { "t" }),
        TokenKind::Name(name) => format!("N:{name}"),
        TokenKind::Format(f) => format!("f:{}/{}/{}", f.name, f.width, f.decimals),
        TokenKind::Symbol(symbol) => (*symbol).to_owned(),
    };
    tokens(text).iter().map(print).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_numbers_formats_and_periods_are_told_apart() {
    for (text, expect) in [
        ("a.b", "w:a . w:b"),
        ("best12.2", "f:best/12/2"),
        ("date9.", "f:date/9/0"),
        ("y best.", "w:y f:best/0/0"),
        ("8.2", "n:8.2"),
        ("$8.", "f:$/8/0"),
        ("$char20.", "f:$char/20/0"),
        ("e8601dt19.3", "f:e8601dt/19/3"),
        ("a $ 8", "w:a $ n:8"),
        ("a $8", "w:a $ n:8"),
        ("t1.*", "w:t1 . *"),
        ("a.'b c'n", "w:a . N:b c"),
        ("x=.", "w:x = m:0"),
        ("x=.z", "w:x = m:90"),
        ("x=._", "w:x = m:95"),
        ("1to 5", "n:1 w:to n:5"),
        ("x1-x9", "w:x1 - w:x9"),
        ("a--b", "w:a - - w:b"),
        ("0ffx 1e3 1e", "n:255 n:1000 n:1 w:e"),
        ("a<=b**2||c", "w:a <= w:b ** n:2 || w:c"),
        ("'a' \"b\"", "t:a T:b"),
        ("5:8", "n:5 : n:8"),
    ] {
        assert_eq!(kinds(text), expect, "{text}");
    }
}

#[test]
fn tokens_know_their_place_and_the_blank_before_them() {
    let text = "proc p;\n  var /* c */ abc\n'x'd1;\nrun;";
    let pulled = pulls(text, &mut MemoryHost::default());
    let Some(Step::Proc(step)) = &pulled[0].step else {
        panic!("{pulled:?}")
    };
    let places: Vec<(u32, u32, u32, bool)> = step.statements[0]
        .tokens
        .iter()
        .map(|t| (t.span.line, t.span.column, t.span.length, t.spaced))
        .collect();
    assert_eq!(
        places,
        [
            (2, 3, 3, true),
            (2, 15, 3, true),
            (3, 1, 3, true),
            (3, 4, 2, false)
        ]
    );
    assert_eq!(step.statements[0].span.to_string(), "program.sas:2:3");
}
