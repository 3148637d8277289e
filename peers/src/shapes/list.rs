//! Which shapes there are.

use sas7bdat::{Compression, Encoding, Format, Variable, WriteOptions};

use super::values;
use super::{Rows, Shape};

const COMPRESSIONS: [(&str, Compression); 3] = [
    ("none", Compression::None),
    ("char", Compression::Char),
    ("binary", Compression::Binary),
];
const PAGES: [(&str, u32); 4] = [
    ("4k", 4096),
    ("64k", 65_536),
    ("1m", 1 << 20),
    ("8m", 8 << 20),
];
const HEADERS: [(&str, bool); 2] = [("page", true), ("8192", false)];
const ROWS: [(&str, Rows); 4] = [
    ("0", Rows::Count(0)),
    ("1", Rows::Count(1)),
    ("full", Rows::FirstPage(0)),
    ("full+1", Rows::FirstPage(1)),
];
const SECOND: [(&str, Rows); 2] = [
    ("second", Rows::TwoPages(0)),
    ("second+1", Rows::TwoPages(1)),
];

/// Shapes other than the matrix of options, each with every compression.
const EDGES: [&str; 19] = [
    "column-1",
    "column-1-char",
    "columns-2",
    "columns-1000",
    "columns-32767",
    "char-only",
    "non-ascii",
    "wlatin1",
    "lengths",
    "missing",
    "runs",
    "runs-strict",
    "zeros",
    "signature",
    "signature-text",
    "labels",
    "row-32k",
    "incompressible",
    "formats",
];

/// All names.
pub(crate) fn names() -> Vec<String> {
    let mut names = Vec::new();
    for (compression, _) in COMPRESSIONS {
        for (page, _) in PAGES {
            for (header, _) in HEADERS {
                let second = SECOND.iter().filter(|_| page == "4k" || page == "64k");
                for (rows, _) in ROWS.iter().chain(second) {
                    names.push(format!("{compression}/{page}/{header}/{rows}").replace('/', "-"));
                }
            }
        }
    }
    for edge in EDGES {
        names.extend(COMPRESSIONS.map(|(compression, _)| format!("{compression}-{edge}")));
    }
    names
}

/// The shape of a name.
pub(super) fn shape(name: &str) -> Option<Shape> {
    let (word, rest) = name.split_once('-')?;
    let compression = COMPRESSIONS.iter().find(|(known, _)| *known == word)?.1;
    let options = WriteOptions {
        name: "SHAPE".to_owned(),
        label: format!("Shape {rest}"),
        compression,
        created: 2e9,
        page_mask: 0x1234_5678,
        ..WriteOptions::default()
    };
    if EDGES.contains(&rest) {
        return Some(edge(rest, options));
    }
    let words: Vec<&str> = rest.splitn(3, '-').collect();
    let [page, header, rows] = words[..] else {
        return None;
    };
    Some(Shape {
        variables: mixed(),
        options: WriteOptions {
            page_bytes: PAGES.iter().find(|(known, _)| *known == page)?.1,
            aligned_header: HEADERS.iter().find(|(known, _)| *known == header)?.1,
            ..options
        },
        rows: ROWS
            .iter()
            .chain(&SECOND)
            .find(|(known, _)| *known == rows)?
            .1,
        fill: values::ordinary,
    })
}

fn number(name: impl Into<String>, length: u32) -> Variable {
    Variable {
        length,
        ..Variable::numeric(name)
    }
}

fn mixed() -> Vec<Variable> {
    let named = |name: &str, width, decimals| Format {
        name: name.to_owned(),
        width,
        decimals,
    };
    let mut variables = vec![
        Variable::numeric("id"),
        Variable::character("Town", 24),
        number("amount", 8),
        number("four", 4),
        Variable::character("remark", 200),
        number("three", 3),
    ];
    "Number of the row".clone_into(&mut variables[0].label);
    variables[1].format = named("$CHAR", 24, 0);
    variables[2].format = named("COMMA", 12, 2);
    "Betrag in €".clone_into(&mut variables[2].label);
    variables
}

fn many(count: u32) -> Vec<Variable> {
    (0..count)
        .map(|k| match k % 4 {
            1 => Variable::character(format!("c{k}"), 1 + k % 3),
            _ => number(format!("column_{k}"), 3 + k % 6),
        })
        .collect()
}

fn edge(name: &str, options: WriteOptions) -> Shape {
    let big = |bytes| WriteOptions {
        page_bytes: bytes,
        ..options.clone()
    };
    let shape = |variables, options, rows, fill| Shape {
        variables,
        options,
        rows: Rows::Count(rows),
        fill,
    };
    let one = |variable| vec![variable];
    match name {
        "column-1" => shape(one(Variable::numeric("x")), options, 3000, values::ordinary),
        "column-1-char" => shape(
            one(Variable::character("c", 1)),
            options,
            3000,
            values::ordinary,
        ),
        "columns-2" => shape(mixed()[..2].to_vec(), options, 3000, values::ordinary),
        "columns-1000" => shape(many(1000), big(16_384), 50, values::ordinary),
        "columns-32767" => shape(many(32_767), big(1 << 18), 5, values::ordinary),
        "char-only" => shape(texts(), options, 2000, values::ordinary),
        "non-ascii" => shape(non_ascii(), options, 500, values::ordinary),
        "wlatin1" => shape(german(), latin(options), 50, values::incompressible),
        "lengths" => shape(lengths(), options, 2000, values::incompressible),
        "missing" => shape(lengths(), options, 56, values::all_missing),
        "runs" | "runs-strict" => {
            let variables = vec![Variable::numeric("id"), Variable::character("text", 9000)];
            let strict = name == "runs-strict";
            shape(
                variables,
                WriteOptions { strict, ..options },
                320,
                values::runs,
            )
        }
        "zeros" => {
            let variables = (0..1200).map(|k| Variable::numeric(format!("n{k}")));
            shape(variables.collect(), options, 80, values::zeros)
        }
        "signature" => {
            let variables = vec![Variable::numeric("id"), Variable::character("text", 800)];
            shape(variables, options, 500, values::signatures)
        }
        "signature-text" => {
            let variables = one(Variable::character("text", 808));
            shape(variables, latin(options), 500, values::text_signatures)
        }
        "labels" => shape(labelled(), options, 20, values::ordinary),
        "row-32k" => shape(long(), big(1 << 17), 40, values::incompressible),
        "formats" => shape(formatted(), options, 20, values::ordinary),
        _ => shape(mixed(), options, 2000, values::incompressible),
    }
}

fn latin(options: WriteOptions) -> WriteOptions {
    WriteOptions {
        encoding: Encoding::WLATIN1,
        ..options
    }
}

fn german() -> Vec<Variable> {
    vec![
        Variable::numeric("zähler"),
        Variable::character("größe", 20),
    ]
}

fn lengths() -> Vec<Variable> {
    (3..=8)
        .map(|length| number(format!("n{length}"), length))
        .collect()
}

fn texts() -> Vec<Variable> {
    (1..=7)
        .map(|k| Variable::character(format!("text{k}"), 7 * k))
        .collect()
}

fn long() -> Vec<Variable> {
    let mut variables = vec![Variable::numeric("id")];
    variables.extend((0..3).map(|k| Variable::character(format!("long{k}"), 32_767)));
    variables
}

fn non_ascii() -> Vec<Variable> {
    let mut variables = vec![
        Variable::numeric("Größe"),
        Variable::character("名前", 60),
        Variable::character("città", 12),
    ];
    for variable in &mut variables {
        variable.label = format!("{} – Überschrift ¼ ☃", variable.name);
    }
    variables
}

/// More than 32 KB of labels, names as long as they can be.
fn labelled() -> Vec<Variable> {
    let mut variables: Vec<Variable> = (0..300)
        .map(|k| Variable::numeric(format!("a_name_as_long_as_they_can_be{k:03}")))
        .collect();
    for (k, variable) in (0u32..).zip(&mut variables) {
        variable.label = format!("{k:03}-{}", "label ".repeat(42));
    }
    variables
}

/// Formats with and without name, width and decimals.
fn formatted() -> Vec<Variable> {
    let kinds: [(&str, u16, u16); 9] = [
        ("", 0, 0),
        ("", 8, 2),
        ("BEST", 12, 0),
        ("DATE", 9, 0),
        ("DATETIME", 25, 6),
        ("TIME", 0, 0),
        ("COMMA", 32, 31),
        ("E8601DA", 10, 0),
        ("A_FORMAT_OF_THIRTY_TWO_BYTES_ABC", 5, 1),
    ];
    let with = |(k, (name, width, decimals)): (usize, (&str, u16, u16))| {
        let format = Format {
            name: name.to_owned(),
            width,
            decimals,
        };
        Variable {
            informat: format.clone(),
            format,
            ..Variable::numeric(format!("f{k}"))
        }
    };
    let mut variables: Vec<Variable> = kinds.into_iter().enumerate().map(with).collect();
    let text = Format {
        name: "$UPCASE".to_owned(),
        width: 7,
        decimals: 0,
    };
    variables.push(Variable {
        format: text,
        ..Variable::character("text", 10)
    });
    variables
}
