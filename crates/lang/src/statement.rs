//! The statements of a DATA step by name: what reads each, and what there is of it.

use crate::array;
use crate::ast::SessionEnd;
use crate::ast::{Expr, ExprKind, Statement, StatementKind};
use crate::cursor::Parsed;
use crate::declare;
use crate::finding;
use crate::step::{Parser, Structure};
use crate::support::{Support, Word};
use base::diag::Span;

/// Reads a statement from behind its name, up to its semicolon; the place is that of its name.
type Simple = fn(&mut Parser<'_>, &Span) -> Parsed<StatementKind>;

/// How a statement is read.
pub(crate) enum Read {
    /// It has statements inside.
    Structure(Structure),
    /// It is part of one that has statements inside.
    Part,
    /// It stands alone.
    Simple(Simple),
    /// Raw lines follow it.
    Lines,
    /// Known and refused; `true` if raw lines follow it.
    Refused(bool),
}

/// A statement of a DATA step.
pub(crate) struct Entry {
    /// Upper case.
    pub(crate) name: &'static str,
    pub(crate) read: Read,
    support: Support,
}

const NOTHING: Support = Support::all("");

const fn simple(name: &'static str, read: Simple, support: Support) -> Entry {
    Entry {
        name,
        read: Read::Simple(read),
        support,
    }
}

const fn structure(name: &'static str, structure: Structure, support: Support) -> Entry {
    Entry {
        name,
        read: Read::Structure(structure),
        support,
    }
}

const fn part(name: &'static str) -> Entry {
    Entry {
        name,
        read: Read::Part,
        support: NOTHING,
    }
}

const fn lines(name: &'static str) -> Entry {
    Entry {
        name,
        read: Read::Lines,
        support: NOTHING,
    }
}

const fn refused(name: &'static str) -> Entry {
    Entry {
        name,
        read: Read::Refused(false),
        support: NOTHING,
    }
}

const fn refused_lines(name: &'static str) -> Entry {
    Entry {
        read: Read::Refused(true),
        ..refused(name)
    }
}

const PUT_ITEMS: &str = "list, named (`x=`), column, formatted, grouped lists, texts, `@n` `+n` `/` \
                         `@` `@@`, `_ALL_`, `_INFILE_`";

static STATEMENTS: &[Entry] = &[
    structure(
        "IF",
        Structure::If,
        Support::all("IF/THEN/ELSE, subsetting IF"),
    ),
    structure(
        "DO",
        Structure::Do,
        Support::all("all forms, over numbers and texts; DO OVER"),
    ),
    structure("SELECT", Structure::Select, Support::all("")),
    structure("ELSE", Structure::Else, NOTHING),
    part("END"),
    part("WHEN"),
    part("OTHERWISE"),
    simple(
        "SET",
        |parser, span| {
            let (datasets, options) = parser.sources(span)?;
            Ok(StatementKind::Set { datasets, options })
        },
        Support::part(
            "several data sets, one after the other or interleaved with BY; lists (`d1-d3`, `d:`); \
             several SET; POINT=, KEY= with UNIQUE and `_IORC_`, NOBS=, END=, INDSNAME=; `if 0 then set`",
            "OPEN=",
        ),
    ),
    simple(
        "MERGE",
        |parser, span| {
            let (datasets, options) = parser.sources(span)?;
            Ok(StatementKind::Merge { datasets, options })
        },
        Support::all("with BY and row by row; END="),
    ),
    simple(
        "UPDATE",
        |parser, span| {
            let (datasets, options) = parser.sources(span)?;
            Ok(StatementKind::Update { datasets, options })
        },
        Support::all("UPDATEMODE=, END= (`._` and a text of one underscore become missing)"),
    ),
    simple(
        "BY",
        |parser, _| Ok(StatementKind::By(parser.cursor.by_list()?)),
        Support::part("DESCENDING, NOTSORTED, FIRST. and LAST.", "GROUPFORMAT"),
    ),
    simple(
        "WHERE",
        |parser, _| Ok(StatementKind::Where(parser.cursor.restriction()?)),
        Support::part(
            "WHERE ALSO, WHERE SAME AND; BETWEEN with bounds in any order, as in SQL",
            "WHERE CLEAR",
        ),
    ),
    simple(
        "OUTPUT",
        |parser, _| {
            let mut datasets = Vec::new();
            while !parser.cursor.is_at_end() {
                datasets.push(parser.cursor.dataset_ref()?);
            }
            Ok(StatementKind::Output(datasets))
        },
        Support::all(""),
    ),
    simple("DELETE", |_, _| Ok(StatementKind::Delete), NOTHING),
    simple("STOP", |_, _| Ok(StatementKind::Stop), NOTHING),
    simple("LIST", |_, _| Ok(StatementKind::List), NOTHING),
    simple(
        "ABORT",
        |parser, _| {
            let word = parser.cursor.peek_word().unwrap_or_default();
            let ends = match word.to_ascii_uppercase().as_str() {
                "" if parser.cursor.is_at_end() => None,
                "ABEND" => Some(SessionEnd::Abend),
                "RETURN" => Some(SessionEnd::Return),
                "" => return Err(parser.cursor.not_yet("code of the ABORT statement")),
                other => {
                    let what = format!("{other} option of the ABORT statement");
                    return Err(parser.cursor.not_yet(what));
                }
            };
            if ends.is_none() {
                return Ok(StatementKind::Abort(None));
            }
            parser.cursor.next();
            let code = if parser.cursor.is_at_end() {
                None
            } else {
                let code = parser.cursor.expect_count()?;
                let code = u8::try_from(code);
                Some(code.map_err(|_| parser.cursor.fail("A return code is at most 255"))?)
            };
            Ok(StatementKind::Abort(ends.map(|ends| (ends, code))))
        },
        Support::part(
            "alone, ABEND and RETURN with a code",
            "CANCEL, a code alone, FILE, NOLIST",
        ),
    ),
    simple("RETURN", |_, _| Ok(StatementKind::Return), NOTHING),
    simple("LEAVE", |parser, span| parser.leave(span), NOTHING),
    simple("CONTINUE", |parser, span| parser.go_on(span), NOTHING),
    simple(
        "GOTO",
        |parser, _| Ok(StatementKind::GoTo(parser.cursor.expect_name("a label")?.0)),
        Support::part("labels outside of DO groups", "labels inside of them"),
    ),
    simple(
        "GO",
        |parser, _| {
            parser.cursor.expect_word("TO")?;
            Ok(StatementKind::GoTo(parser.cursor.expect_name("a label")?.0))
        },
        Support::part("GO TO, as GOTO", "labels inside of DO groups"),
    ),
    simple(
        "LINK",
        |parser, _| Ok(StatementKind::Link(parser.cursor.expect_name("a label")?.0)),
        Support::part("labels outside of DO groups", "labels inside of them"),
    ),
    simple(
        "CALL",
        |parser, _| parser.call(),
        Support::part("the CALL routines below", "other routines"),
    ),
    simple(
        "ARRAY",
        |parser, _| array::array(&mut parser.cursor),
        Support::part(
            "without dimensions, implied names, lists, `{*}`, bounds, several dimensions, \
             `_TEMPORARY_`, character, initial values; DIM, HBOUND, LBOUND; `of a{*}`",
            "arrays of arrays, `in array`",
        ),
    ),
    simple(
        "ATTRIB",
        |parser, _| array::attrib(&mut parser.cursor),
        Support::part("LENGTH=, FORMAT=, INFORMAT=, LABEL=", "TRANSCODE="),
    ),
    simple(
        "DECLARE",
        |parser, _| array::declare_object(&mut parser.cursor),
        OBJECTS,
    ),
    simple(
        "DCL",
        |parser, _| array::declare_object(&mut parser.cursor),
        OBJECTS,
    ),
    simple(
        "INFILE",
        |parser, _| Ok(StatementKind::Infile(parser.cursor.text_file()?)),
        Support::part(
            "a path, fileref or DATALINES: DLM= and DLMSTR= (texts or variables), DSD, FIRSTOBS=, OBS=, \
             TRUNCOVER, MISSOVER, FLOWOVER, STOPOVER, LRECL=, N=, END=, EXPANDTABS; the record as `_INFILE_`, \
             also to be assigned",
            "PAD without TRUNCOVER, ENCODING=, FILEVAR=, `_INFILE_=`, several files at once",
        ),
    ),
    simple(
        "INPUT",
        |parser, _| Ok(StatementKind::Input(parser.cursor.text_items(true)?)),
        Support::part(
            "list (`:` `&` `~` `?` `??`), column, formatted, named (`x=`), grouped lists, `@n` `@'text'` \
             `+n` `#n` `/` `@` `@@`",
            "named input in a group, `#n` with a variable",
        ),
    ),
    simple(
        "FILE",
        |parser, _| Ok(StatementKind::File(parser.cursor.text_file()?)),
        Support::part(
            "a path, fileref or LOG: DLM=, DLMSTR=, DSD, LRECL=, MOD",
            "PRINT, PAD, DLM= of a variable, ENCODING=, FILEVAR=, `_FILE_`",
        ),
    ),
    simple(
        "PUT",
        |parser, _| {
            let items = parser.cursor.text_items(false)?;
            Ok(StatementKind::Put { items, log: false })
        },
        Support::part(PUT_ITEMS, "`#n`"),
    ),
    simple(
        "PUTLOG",
        |parser, _| {
            let items = parser.cursor.text_items(false)?;
            Ok(StatementKind::Put { items, log: true })
        },
        Support::part("as PUT", "`#n`"),
    ),
    simple(
        "ERROR",
        error,
        Support::part("as PUTLOG; sets `_ERROR_`", "`#n`"),
    ),
    simple(
        "KEEP",
        |parser, _| Ok(StatementKind::Keep(parser.cursor.variable_list()?)),
        LISTS,
    ),
    simple(
        "DROP",
        |parser, _| Ok(StatementKind::Drop(parser.cursor.variable_list()?)),
        LISTS,
    ),
    simple(
        "RENAME",
        |parser, _| Ok(StatementKind::Rename(parser.cursor.renames()?)),
        NOTHING,
    ),
    simple(
        "RETAIN",
        |parser, _| Ok(StatementKind::Retain(declare::retain(&mut parser.cursor)?)),
        Support::all("with initial values"),
    ),
    simple(
        "LENGTH",
        |parser, _| Ok(StatementKind::Length(declare::length(&mut parser.cursor)?)),
        LISTS,
    ),
    simple(
        "FORMAT",
        |parser, _| Ok(StatementKind::Format(parser.cursor.formats()?)),
        LISTS,
    ),
    simple(
        "INFORMAT",
        |parser, _| Ok(StatementKind::Informat(parser.cursor.formats()?)),
        LISTS,
    ),
    simple(
        "LABEL",
        |parser, _| Ok(StatementKind::Label(parser.cursor.labels()?)),
        NOTHING,
    ),
    lines("DATALINES"),
    lines("CARDS"),
    lines("LINES"),
    lines("DATALINES4"),
    lines("CARDS4"),
    lines("LINES4"),
    refused_lines("PARMCARDS"),
    refused_lines("PARMCARDS4"),
    refused("DESCRIBE"),
    refused("DISPLAY"),
    refused("EXECUTE"),
    refused("LOSTCARD"),
    refused("METHOD"),
    refused("MODIFY"),
    refused("REDIRECT"),
    refused("REMOVE"),
    refused("REPLACE"),
    refused("WINDOW"),
];

const LISTS: Support = Support::all("variable lists of every kind");

const OBJECTS: Support = Support::part(
    "HASH with DATASET:, ORDERED:, MULTIDATA:, DUPLICATE:, HASHEXP: (of no effect); HITER. Items, their \
     keys and links stay within MEMSIZE",
    "`_NEW_`, ALL:, SUMINC:, KEYSUM:, data set options in names, other objects",
);

impl Entry {
    /// The statement called `name`, any case.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        STATEMENTS
            .iter()
            .find(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    /// Whether raw lines follow a statement of this name.
    pub(crate) fn has_lines(name: &str) -> bool {
        let read = Self::find(name).map(|entry| &entry.read);
        matches!(read, Some(Read::Lines | Read::Refused(true)))
    }

    /// The error of a known statement that is not there.
    pub(crate) fn not_yet(&self, span: &Span) -> base::diag::Diagnostic {
        finding::not_yet(span, format!("{} statement", self.name))
    }
}

/// From behind ERROR: what PUTLOG does, and `_ERROR_ = 1`.
fn error(parser: &mut Parser<'_>, span: &Span) -> Parsed<StatementKind> {
    let items = parser.cursor.text_items(false)?;
    let at = |kind| Statement {
        span: span.clone(),
        kind,
    };
    let raised = at(StatementKind::Assign {
        target: "_ERROR_".to_owned(),
        value: Expr {
            span: span.clone(),
            kind: ExprKind::Number(1.0),
        },
    });
    if items.is_empty() {
        return Ok(StatementKind::Block(vec![raised]));
    }
    let told = at(StatementKind::Put { items, log: true });
    Ok(StatementKind::Block(vec![told, raised]))
}

/// The statements of a DATA step, for COMPAT.md.
pub fn step_statements() -> impl Iterator<Item = Word> {
    let whole = STATEMENTS
        .iter()
        .filter(|entry| !matches!(entry.read, Read::Part));
    whole.map(|entry| Word {
        name: entry.name,
        support: (!matches!(entry.read, Read::Refused(_))).then_some(entry.support),
    })
}
