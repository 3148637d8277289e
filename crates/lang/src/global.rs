//! Global statements: they act at once, also in the middle of a step.

use crate::ast::{Global, GlobalKind, Location, LockAction, Token, TokenKind};
use crate::cursor::{Cursor, Parsed, word};
use crate::finding;
use crate::support::{Support, Word};

/// Longest libref.
const LIBREF_CHARACTERS_MAX: usize = 8;

/// Highest number of TITLE and FOOTNOTE.
const TITLES_MAX: u8 = 10;

/// Highest number of AXIS, LEGEND and the like.
const GRAPHICS_MAX: u8 = 255;

/// Where a statement stands: the same word can be global in one place and a variable in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Open,
    DataStep,
    Procedure,
}

/// Reads a statement from behind its name; the number is that of TITLE2.
type Read = fn(&mut Cursor<'_>, u8) -> Parsed<GlobalKind>;

/// A global statement.
struct Entry {
    name: &'static str,
    /// Highest number behind its name, 0 if there is none.
    numbers: u8,
    kind: Kind,
}

enum Kind {
    /// Read everywhere.
    Read(Read, Support),
    /// Known and refused. Procedures may have a statement of their own of this name.
    Refused,
    /// Known and refused, in procedures too.
    RefusedEverywhere,
}

const fn read(name: &'static str, read: Read, support: Support) -> Entry {
    Entry {
        name,
        numbers: 0,
        kind: Kind::Read(read, support),
    }
}

/// A statement that says how output, the log or windows look.
const fn looks(name: &'static str, kind: Read) -> Entry {
    read(name, kind, Support::all("noted: it has no effect"))
}

const fn refused(name: &'static str) -> Entry {
    Entry {
        name,
        numbers: 0,
        kind: Kind::Refused,
    }
}

const fn refused_everywhere(name: &'static str) -> Entry {
    Entry {
        kind: Kind::RefusedEverywhere,
        ..refused(name)
    }
}

const fn numbered(numbers: u8, entry: Entry) -> Entry {
    Entry { numbers, ..entry }
}

/// The global statements.
static STATEMENTS: &[Entry] = &[
    read("ENDSAS", |_, _| Ok(GlobalKind::EndSas), Support::all("")),
    read(
        "FILENAME",
        |cursor, _| filename(cursor),
        Support::part(
            "a path, DISK, TEMP (a file in WORK), options of INFILE and FILE, CLEAR",
            "other devices, several files, LIST",
        ),
    ),
    numbered(
        TITLES_MAX,
        read(
            "FOOTNOTE",
            |cursor, number| title(cursor, true, number),
            TITLES,
        ),
    ),
    looks("GOPTIONS", |_, _| Ok(appearance("GOPTIONS"))),
    read(
        "LIBNAME",
        |cursor, _| libname(cursor),
        Support::part(
            "engines V9 and BASE; several directories and librefs (searched in order; new data sets \
             go to the first, others are changed where they are); FILELOCKS=, COMPRESS=, BUFSIZE=, \
             OFFSET= (pages begin at multiples of it), ACCESS=READONLY; CLEAR",
            "LIST, WORK in a concatenation, other engines and options",
        ),
    ),
    read(
        "LOCK",
        |cursor, _| lock(cursor),
        Support::part(
            "a data set; CLEAR, LIST, QUERY, SHOW, NOMSG; SYSLCKRC",
            "libraries, other member types",
        ),
    ),
    read(
        "ODS",
        |cursor, _| ods(cursor),
        Support::part("noted: it has no effect", "ODS OUTPUT, DOCUMENT, PACKAGE"),
    ),
    read(
        "OPTIONS",
        |cursor, _| options(cursor),
        Support::part("the system options below", "others"),
    ),
    numbered(
        TITLES_MAX,
        read(
            "TITLE",
            |cursor, number| title(cursor, false, number),
            TITLES,
        ),
    ),
    numbered(GRAPHICS_MAX, looks("AXIS", |_, _| Ok(appearance("AXIS")))),
    refused("CATNAME"),
    refused("CHECKPOINT"),
    looks("DM", |_, _| Ok(appearance("DM"))),
    refused("ENDRSUBMIT"),
    refused("KILLTASK"),
    numbered(
        GRAPHICS_MAX,
        looks("LEGEND", |_, _| Ok(appearance("LEGEND"))),
    ),
    refused("LISTTASK"),
    refused("MISSING"),
    looks("PAGE", |_, _| Ok(appearance("PAGE"))),
    numbered(
        GRAPHICS_MAX,
        looks("PATTERN", |_, _| Ok(appearance("PATTERN"))),
    ),
    refused("RDISPLAY"),
    refused("RESETLINE"),
    refused("RGET"),
    refused("RSUBMIT"),
    refused("SASFILE"),
    refused("SIGNOFF"),
    refused("SIGNON"),
    looks("SKIP", |_, _| Ok(appearance("SKIP"))),
    numbered(
        GRAPHICS_MAX,
        looks("SYMBOL", |_, _| Ok(appearance("SYMBOL"))),
    ),
    refused_everywhere("SYSTASK"),
    refused_everywhere("WAITFOR"),
    refused_everywhere("X"),
];

/// TITLE and FOOTNOTE.
const TITLES: Support = Support::part(
    "texts, with numbers 1 to 10; COLOR=, HEIGHT=, JUSTIFY= and their kind (of no effect on plain text)",
    "options that draw",
);

/// Options of titles that say how they look, with their short names.
const LOOKS: [&str; 17] = [
    "ANGLE", "BCOLOR", "BLANK", "BOLD", "BSPACE", "C", "COLOR", "F", "FONT", "H", "HEIGHT",
    "ITALIC", "J", "JUSTIFY", "LS", "LSPACE", "ROTATE",
];

/// The global statements, for COMPAT.md.
pub fn global_statements() -> impl Iterator<Item = Word> {
    STATEMENTS.iter().map(|entry| Word {
        name: entry.name,
        support: match &entry.kind {
            Kind::Read(_, support) => Some(*support),
            Kind::Refused | Kind::RefusedEverywhere => None,
        },
    })
}

impl Entry {
    /// The number behind the name in `word`, upper case; `None` if it is another statement.
    fn number(&self, word: &str) -> Option<u8> {
        let digits = word.strip_prefix(self.name)?;
        if digits.is_empty() {
            return Some(1);
        }
        let number = digits.parse().ok()?;
        (1..=self.numbers).contains(&number).then_some(number)
    }
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
    let found = |entry: &'static Entry| Some((entry, entry.number(&name)?));
    let (entry, number) = STATEMENTS.iter().find_map(found)?;
    let mut cursor = Cursor::new(tokens, &first.span);
    let kind = match entry.kind {
        Kind::Read(read, _) => {
            cursor.next();
            read(&mut cursor, number)
        }
        Kind::Refused if place == Place::Procedure => return None,
        Kind::Refused | Kind::RefusedEverywhere => {
            Err(cursor.not_yet(format!("{} statement", entry.name)))
        }
    };
    Some(kind.map(|kind| Global {
        span: first.span.clone(),
        kind,
    }))
}

/// ODS, GOPTIONS and their kind say how output looks.
fn appearance(statement: &str) -> GlobalKind {
    GlobalKind::Appearance(statement.to_owned())
}

/// What makes data sets of output is something else than how it looks.
fn ods(cursor: &Cursor<'_>) -> Parsed<GlobalKind> {
    if let Some(word) = cursor.peek_word() {
        let word = word.to_ascii_uppercase();
        if matches!(word.as_str(), "OUTPUT" | "DOCUMENT" | "PACKAGE") {
            return Err(cursor.not_yet(format!("ODS {word} statement")));
        }
    }
    Ok(appearance("ODS"))
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

/// `LOCK libref.member[.DATA] [CLEAR | LIST | QUERY | SHOW] [NOMSG];`
fn lock(cursor: &mut Cursor<'_>) -> Parsed<GlobalKind> {
    let dataset = cursor.dataset_name()?;
    if dataset.libref.is_none() {
        return Err(finding::not_yet(
            &dataset.span,
            "LOCK statement for a library",
        ));
    }
    if cursor.eat_symbol(".") && !cursor.eat_word("DATA") {
        return Err(cursor.not_yet("LOCK statement for this member type"));
    }
    let (mut action, mut quiet) = (LockAction::Lock, false);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "CLEAR" => action = LockAction::Clear,
            "LIST" | "QUERY" | "SHOW" => action = LockAction::List,
            "NOMSG" => quiet = true,
            _ => return Err(cursor.expected("CLEAR, LIST, QUERY, SHOW, NOMSG or ';'")),
        }
        cursor.next();
    }
    cursor.expect_end()?;
    Ok(GlobalKind::Lock {
        dataset,
        action,
        quiet,
    })
}

/// `height=2`, `bold`: plain text has no looks.
fn title_option(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let word = cursor.peek_word().unwrap_or_default().to_ascii_uppercase();
    if !LOOKS.contains(&word.as_str()) {
        return Err(cursor.not_yet(format!("option {word} of a title")));
    }
    let bare = matches!(word.as_str(), "BOLD" | "ITALIC");
    if bare && !cursor.is_symbol_at(1, "=") {
        cursor.next();
        return Ok(());
    }
    let setting = cursor.setting()?;
    if setting.value.is_none() {
        return Err(cursor.expected("'='"));
    }
    // `height=10pt`, `height=2 cm`
    if matches!(word.as_str(), "H" | "HEIGHT" | "LS" | "LSPACE") {
        for unit in ["PT", "CM", "IN", "PCT", "CELLS"] {
            cursor.eat_word(unit);
        }
    }
    Ok(())
}

fn title(cursor: &mut Cursor<'_>, footnote: bool, number: u8) -> Parsed<GlobalKind> {
    if cursor.is_done() {
        return Ok(GlobalKind::Title {
            footnote,
            number,
            text: None,
        });
    }
    let mut text = String::new();
    let quoted = matches!(
        cursor.peek().map(|token| &token.kind),
        Some(TokenKind::Text(..))
    );
    if quoted || (cursor.peek_word().is_some() && cursor.is_symbol_at(1, "=")) {
        while !cursor.is_done() {
            match cursor.peek_word() {
                Some(_) => title_option(cursor)?,
                None => text.push_str(&cursor.expect_text()?),
            }
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
