//! Global statements: they act at once, also in the middle of a step.

use crate::ast::{Global, GlobalKind, Location, Token, TokenKind};
use crate::cursor::{Cursor, Parsed, word};
use crate::keywords::{GLOBAL_EVEN_IN_PROCEDURES, GLOBAL_NOT_YET, is_one_of};

/// Longest libref.
const LIBREF_CHARACTERS_MAX: usize = 8;

/// Highest number of TITLE and FOOTNOTE.
const TITLES_MAX: u8 = 10;

/// Where a statement stands: the same word can be global in one place and a variable in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Open,
    DataStep,
    Procedure,
}

/// The global statement that these tokens are; `None` if they are none.
pub(crate) fn global(tokens: &[Token], place: Place) -> Option<Parsed<Global>> {
    let first = tokens.first()?;
    let name = word(first)?.to_ascii_uppercase();
    let second = tokens.get(1).map(|token| &token.kind);
    let variable = match place {
        Place::Open => false,
        Place::DataStep => {
            matches!(
                second,
                Some(TokenKind::Symbol("=" | "+" | "{" | "[" | "(" | "." | ":"))
            )
        }
        Place::Procedure => matches!(second, Some(TokenKind::Symbol("="))),
    };
    if variable {
        return None;
    }
    let mut cursor = Cursor::new(tokens, &first.span);
    let kind = match name.as_str() {
        "OPTIONS" => {
            cursor.next();
            options(&mut cursor)
        }
        "LIBNAME" => {
            cursor.next();
            libname(&mut cursor)
        }
        "FILENAME" => {
            cursor.next();
            filename(&mut cursor)
        }
        "ENDSAS" => Ok(GlobalKind::EndSas),
        "ODS" | "GOPTIONS" => {
            cursor.next();
            appearance(&mut cursor, &name)
        }
        _ => match title_number(&name) {
            Some((footnote, number)) => {
                cursor.next();
                title(&mut cursor, footnote, number)
            }
            None => {
                let table = match place {
                    Place::Procedure => GLOBAL_EVEN_IN_PROCEDURES,
                    Place::Open | Place::DataStep => GLOBAL_NOT_YET,
                };
                if !is_one_of(&name, table) {
                    return None;
                }
                Err(cursor.not_yet(format!("{name} statement")))
            }
        },
    };
    Some(kind.map(|kind| Global {
        span: first.span.clone(),
        kind,
    }))
}

/// ODS and GOPTIONS say how output looks. What makes data sets of it is something else.
fn appearance(cursor: &mut Cursor<'_>, statement: &str) -> Parsed<GlobalKind> {
    if let Some(word) = cursor.peek_word() {
        let word = word.to_ascii_uppercase();
        if statement == "ODS" && matches!(word.as_str(), "OUTPUT" | "DOCUMENT" | "PACKAGE") {
            return Err(cursor.not_yet(format!("ODS {word} statement")));
        }
    }
    Ok(GlobalKind::Appearance(statement.to_owned()))
}

fn options(cursor: &mut Cursor<'_>) -> Parsed<GlobalKind> {
    let settings = cursor.settings()?;
    cursor.expect_end()?;
    Ok(GlobalKind::Options(settings))
}

fn libname(cursor: &mut Cursor<'_>) -> Parsed<GlobalKind> {
    let start = cursor.index();
    let (libref, _) = cursor.expect_name("a libref")?;
    if libref.len() > LIBREF_CHARACTERS_MAX && !libref.eq_ignore_ascii_case("_all_") {
        cursor.rewind(start);
        return Err(cursor.fail(format!(
            "{libref} is not a valid libref: more than 8 characters"
        )));
    }
    if cursor.eat_word("CLEAR") {
        cursor.expect_end()?;
        let options = Vec::new();
        return Ok(GlobalKind::Libname {
            libref,
            locations: Vec::new(),
            clear: true,
            engine: None,
            options,
        });
    }
    if cursor.at_word("LIST") {
        return Err(cursor.not_yet("LIST option of the LIBNAME statement"));
    }
    let engine = match cursor.peek_word() {
        Some(engine) => {
            cursor.next();
            Some(engine.to_owned())
        }
        None => None,
    };
    let locations = locations(cursor)?;
    let options = cursor.settings()?;
    cursor.expect_end()?;
    Ok(GlobalKind::Libname {
        libref,
        locations,
        clear: false,
        engine,
        options,
    })
}

/// `'path'`, or `('path' libref …)`.
fn locations(cursor: &mut Cursor<'_>) -> Parsed<Vec<Location>> {
    if !cursor.eat_symbol("(") {
        return Ok(vec![Location::Path(cursor.expect_text()?)]);
    }
    let mut locations = Vec::new();
    while locations.is_empty() || !cursor.at_symbol(")") {
        cursor.eat_symbol(",");
        locations.push(if cursor.peek_word().is_some() {
            Location::Libref(cursor.expect_name("a libref")?.0)
        } else {
            Location::Path(cursor.expect_text()?)
        });
    }
    cursor.expect_symbol(")")?;
    Ok(locations)
}

/// `FILENAME fileref [device] 'path' options;`: devices are DISK and TEMP.
fn filename(cursor: &mut Cursor<'_>) -> Parsed<GlobalKind> {
    let (fileref, _) = cursor.expect_name("a fileref")?;
    if fileref.len() > LIBREF_CHARACTERS_MAX {
        return Err(cursor.fail(format!(
            "{fileref} is not a valid fileref: more than 8 characters"
        )));
    }
    if cursor.eat_word("CLEAR") {
        cursor.expect_end()?;
        return Ok(GlobalKind::Filename {
            fileref,
            path: None,
            temporary: false,
            clear: true,
            options: Vec::new(),
        });
    }
    if cursor.at_word("LIST") {
        return Err(cursor.not_yet("LIST option of the FILENAME statement"));
    }
    let temporary = cursor.eat_word("TEMP");
    if !temporary && cursor.peek_word().is_some() && !cursor.eat_word("DISK") {
        let device = cursor.peek_word().unwrap_or_default().to_ascii_uppercase();
        return Err(cursor.not_yet(format!("device {device} of the FILENAME statement")));
    }
    if cursor.at_symbol("(") {
        return Err(cursor.not_yet("concatenation of files"));
    }
    let path = if temporary {
        None
    } else {
        Some(cursor.expect_text()?)
    };
    let options = cursor.file_options()?;
    cursor.expect_end()?;
    Ok(GlobalKind::Filename {
        fileref,
        path,
        temporary,
        clear: false,
        options,
    })
}

/// `TITLE3` is number 3; `None` if the word is no such statement.
fn title_number(name: &str) -> Option<(bool, u8)> {
    let (footnote, digits) = match name.strip_prefix("TITLE") {
        Some(digits) => (false, digits),
        None => (true, name.strip_prefix("FOOTNOTE")?),
    };
    let number = if digits.is_empty() {
        1
    } else {
        digits.parse().ok()?
    };
    (1..=TITLES_MAX)
        .contains(&number)
        .then_some((footnote, number))
}

fn title(cursor: &mut Cursor<'_>, footnote: bool, number: u8) -> Parsed<GlobalKind> {
    if cursor.is_done() {
        return Ok(GlobalKind::Title {
            footnote,
            number,
            text: None,
        });
    }
    if cursor.peek_word().is_some() && cursor.is_symbol_at(1, "=") {
        return Err(cursor.not_yet("graphics option of a title"));
    }
    let mut text = String::new();
    if matches!(
        cursor.peek().map(|token| &token.kind),
        Some(TokenKind::Text(..))
    ) {
        while !cursor.is_done() {
            text.push_str(&cursor.expect_text()?);
        }
    } else {
        text = cursor.rest_text();
    }
    Ok(GlobalKind::Title {
        footnote,
        number,
        text: Some(text),
    })
}
