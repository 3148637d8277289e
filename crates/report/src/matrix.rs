//! A factorial series as text.

use results::matrix::{Analysis, tables};

use crate::table::{self, add, wrapped};

/// What a series shows: in words, then tables.
pub fn text(title: &str, analysis: &Analysis) -> String {
    let mut out = format!("{title}\n");
    let mut list = |title: &str, texts: &[String], numbered: bool| {
        if texts.is_empty() {
            return;
        }
        add(&mut out, &format!("\n{title}"));
        for (number, text) in (1..).zip(texts) {
            let mark = if numbered {
                format!("{number:>2}. ")
            } else {
                "  - ".to_owned()
            };
            for (at, line) in wrapped(text, 92).into_iter().enumerate() {
                let mark = if at == 0 { &mark } else { "    " };
                add(&mut out, &format!("{mark}{line}"));
            }
        }
    };
    for all in &analysis.responses {
        list(&capital(all.response.title()), &all.ranking, true);
    }
    if analysis.responses.is_empty() {
        list(
            "Nothing can be compared",
            &["fewer than two cells have figures".to_owned()],
            false,
        );
    }
    list("To be taken with care", &analysis.notes, false);
    for table in tables::all(analysis) {
        out.push('\n');
        out.push_str(&table::text(&table));
    }
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
