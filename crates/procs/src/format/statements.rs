//! The statements VALUE, PICTURE and INVALUE.

use engine::failure::{Failure, Outcome};
use engine::format::user::{Datatype, Label, Picture, Ranges, Reads};
use engine::format::{is_text_format, number_with};
use engine::session::World;
use lang::ast::{FormatRef, Token, TokenKind};
use lang::cursor::{Cursor, Parsed};
use sas7bdat::{Format, missing};

use super::made::{Bound, Budget, Made, Options, Reach, add, as_text, checked};

/// Longest label, characters (SAS 9.4).
const LABEL_MAX: usize = 32_767;

/// The statements.
#[derive(Clone, Copy, PartialEq)]
enum Statement {
    Value,
    Picture,
    Invalue,
}

impl Statement {
    const fn name(self) -> &'static str {
        match self {
            Self::Value => "VALUE",
            Self::Picture => "PICTURE",
            Self::Invalue => "INVALUE",
        }
    }
}

/// The name, `true` if it is of texts, and the options.
fn head(cursor: &mut Cursor<'_>, statement: Statement) -> Parsed<(String, bool, Options)> {
    let text = statement != Statement::Picture && cursor.eat_symbol("$");
    let what = match statement {
        Statement::Invalue => "informat",
        _ => "format",
    };
    let (name, _) = cursor.expect_name(&format!("the name of a {what}"))?;
    if name.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(cursor.fail(format!(
            "The name of a {what} cannot end with a digit: {name}"
        )));
    }
    let sign = if text { "$" } else { "" };
    let name = format!("{sign}{}", name.to_ascii_uppercase());
    Ok((name, text, options(cursor, statement)?))
}

/// `(default=10 fuzz=0)`
fn options(cursor: &mut Cursor<'_>, statement: Statement) -> Parsed<Options> {
    let mut options = Options::default();
    if !cursor.eat_symbol("(") {
        return Ok(options);
    }
    while !cursor.eat_symbol(")") {
        let (name, _) = cursor.expect_name("an option")?;
        let name = name.to_ascii_uppercase();
        match (name.as_str(), statement) {
            ("DEFAULT", _) => options.default = Some(width(cursor, &name)?),
            ("MIN", _) => options.min = Some(width(cursor, &name)?),
            ("MAX", _) => options.max = Some(width(cursor, &name)?),
            ("FUZZ", _) => {
                cursor.expect_symbol("=")?;
                options.fuzz = Some(cursor.expect_number()?.max(0.0));
            }
            ("ROUND", Statement::Picture) => options.round = true,
            ("UPCASE", Statement::Invalue) => options.upcase = true,
            ("JUST", Statement::Invalue) => options.just = true,
            _ => {
                let what = format!("option {name} of {}", statement.name());
                return Err(cursor.not_yet(what));
            }
        }
    }
    Ok(options)
}

fn width(cursor: &mut Cursor<'_>, name: &str) -> Parsed<u16> {
    cursor.expect_symbol("=")?;
    let count = cursor.expect_count()?;
    u16::try_from(count)
        .ok()
        .filter(|width| (1..=32_767).contains(width))
        .ok_or_else(|| cursor.fail(format!("{name}= takes a number from 1 to 32767")))
}

/// VALUE.
pub(super) fn value(
    cursor: &mut Cursor<'_>,
    world: &World,
    budget: &mut Budget,
) -> Outcome<(String, Made)> {
    let (name, text, options) = head(cursor, Statement::Value)?;
    let mut ranges = options.ranges(text);
    while !cursor.is_at_end() {
        let reaches = reaches(cursor, |cursor| bound(cursor, text, text))?;
        let label = match bracketed(cursor)? {
            Some(format) => format_label(&format, text, world)?,
            None => Label::Text(literal(cursor)?.into()),
        };
        for reach in reaches {
            let reach = if text { as_text(reach) } else { reach };
            add(&mut ranges, reach, label.clone()).map_err(|wrong| cursor.fail(wrong))?;
            budget.take(ranges.last_bytes(Label::bytes))?;
        }
    }
    let format = options.format(ranges, false, &world.formats);
    let format = format.map_err(|wrong| cursor.fail(wrong))?;
    Ok((name, Made::Format(format)))
}

/// PICTURE.
pub(super) fn picture(cursor: &mut Cursor<'_>, budget: &mut Budget) -> Outcome<(String, Made)> {
    let (name, _, options) = head(cursor, Statement::Picture)?;
    let mut ranges: Ranges<Label> = options.ranges(false);
    while !cursor.is_at_end() {
        let reaches = reaches(cursor, |cursor| bound(cursor, false, false))?;
        let mut picture = Picture::new(&literal(cursor)?);
        picture_options(cursor, &mut picture)?;
        let label = checked(picture).map_err(|wrong| cursor.fail(wrong))?;
        for reach in reaches {
            add(&mut ranges, reach, label.clone()).map_err(|wrong| cursor.fail(wrong))?;
            budget.take(ranges.last_bytes(Label::bytes))?;
        }
    }
    let format = options.format(ranges, true, &engine::format::user::Formats::default());
    let format = format.map_err(|wrong| cursor.fail(wrong))?;
    Ok((name, Made::Format(format)))
}

/// `(prefix='$' mult=100 noedit)`
fn picture_options(cursor: &mut Cursor<'_>, picture: &mut Picture) -> Parsed<()> {
    if !cursor.eat_symbol("(") {
        return Ok(());
    }
    while !cursor.eat_symbol(")") {
        let (name, _) = cursor.expect_name("an option of a picture")?;
        let name = name.to_ascii_uppercase();
        if name == "NOEDIT" {
            picture.noedit = true;
            continue;
        }
        cursor.expect_symbol("=")?;
        match name.as_str() {
            "PREFIX" => picture.prefix = cursor.expect_text()?.into(),
            "FILL" => picture.fill = one_character(cursor, &name)?,
            "DECSEP" => picture.decimal = Some(one_character(cursor, &name)?),
            "DIG3SEP" => picture.thousands = Some(one_character(cursor, &name)?),
            "MULT" | "MULTIPLIER" => picture.multiplier = Some(cursor.expect_number()?),
            "DATATYPE" => {
                let (value, _) = cursor.expect_name("DATE, TIME or DATETIME")?;
                picture.datatype = Some(datatype(&value).ok_or_else(|| {
                    cursor.not_yet(format!(
                        "DATATYPE={} of PICTURE",
                        value.to_ascii_uppercase()
                    ))
                })?);
            }
            "LANGUAGE" => {
                let (value, _) = cursor.expect_name("a language")?;
                if !value.eq_ignore_ascii_case("english") {
                    return Err(cursor.not_yet(format!("LANGUAGE={value} of PICTURE")));
                }
            }
            _ => return Err(cursor.not_yet(format!("option {name} of PICTURE"))),
        }
    }
    Ok(())
}

/// DATATYPE= by its name.
pub(super) fn datatype(name: &str) -> Option<Datatype> {
    [Datatype::Date, Datatype::Time, Datatype::Datetime]
        .into_iter()
        .find(|one| one.name().eq_ignore_ascii_case(name))
}

fn one_character(cursor: &mut Cursor<'_>, name: &str) -> Parsed<char> {
    let text = cursor.expect_text()?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(cursor.fail(format!("{name}= takes one character in quotes"))),
    }
}

/// INVALUE.
pub(super) fn invalue(
    cursor: &mut Cursor<'_>,
    world: &World,
    budget: &mut Budget,
) -> Outcome<(String, Made)> {
    let (name, text, options) = head(cursor, Statement::Invalue)?;
    let mut ranges = options.ranges(text);
    while !cursor.is_at_end() {
        let reaches = reaches(cursor, |cursor| bound(cursor, text, true))?;
        let reads = reads(cursor, text, world)?;
        for reach in reaches {
            let reach = if text { as_text(reach) } else { reach };
            add(&mut ranges, reach, reads.clone()).map_err(|wrong| cursor.fail(wrong))?;
            let bytes = ranges.last_bytes(|reads| match reads {
                Reads::Text(text) => text.len(),
                _ => 0,
            });
            budget.take(bytes)?;
        }
    }
    let informat = options.informat(ranges, text);
    let informat = informat.map_err(|wrong| cursor.fail(wrong))?;
    Ok((name, Made::Informat(informat)))
}

/// What stands to the right of `=` in INVALUE.
fn reads(cursor: &mut Cursor<'_>, text: bool, world: &World) -> Outcome<Reads> {
    if let Some(format) = bracketed(cursor)? {
        return Ok(Reads::Informat(Box::new(known_informat(
            &format, text, world,
        )?)));
    }
    for (word, reads) in [("_SAME_", Reads::Same), ("_ERROR_", Reads::Error)] {
        if cursor.eat_word(word) {
            return Ok(reads);
        }
    }
    if text {
        return Ok(Reads::Text(literal(cursor)?.into()));
    }
    match cursor.peek().map(|token| &token.kind) {
        Some(TokenKind::Missing(code)) => {
            cursor.next();
            Ok(Reads::Number(missing::encode(*code)))
        }
        Some(TokenKind::Text(text, _)) => {
            let value = engine::format::read_number(text.as_bytes());
            let value = value.ok_or_else(|| cursor.fail(format!("'{text}' is not a number")))?;
            cursor.next();
            Ok(Reads::Number(value))
        }
        _ => Ok(Reads::Number(cursor.expect_number()?)),
    }
}

fn known_informat(reference: &FormatRef, text: bool, world: &World) -> Outcome<Format> {
    let format = plain(reference);
    let found = engine::format::informat::Informat::find(&format.name, 0, &world.formats);
    match found {
        Some((informat, _)) if informat.is_text() == text => Ok(format),
        _ => Err(not_found("informat", &format.name, reference)),
    }
}

fn format_label(reference: &FormatRef, text: bool, world: &World) -> Outcome<Label> {
    let mut format = plain(reference);
    if text && !format.name.starts_with('$') {
        format.name.insert(0, '$');
    }
    let known = if text {
        is_text_format(&format.name, &world.formats)
    } else {
        number_with(0.0, &format, &world.formats).is_some()
    };
    if known {
        Ok(Label::Format(Box::new(format)))
    } else {
        Err(not_found("format", &format.name, reference))
    }
}

fn plain(reference: &FormatRef) -> Format {
    Format {
        name: reference.name.to_ascii_uppercase(),
        width: reference.width,
        decimals: reference.decimals,
    }
}

fn not_found(what: &str, name: &str, reference: &FormatRef) -> Failure {
    let message = format!(
        "The {what} {name} was not found or could not be loaded, or is not implemented yet."
    );
    Failure::at(&reference.span, message)
}

/// `[date9.]` or `(|date9.|)`
fn bracketed(cursor: &mut Cursor<'_>) -> Parsed<Option<FormatRef>> {
    let close: &[&str] = if cursor.eat_symbol("[") {
        &["]"]
    } else if cursor.at_symbol("(") && cursor.is_symbol_at(1, "|") {
        cursor.next();
        cursor.next();
        &["|", ")"]
    } else {
        return Ok(None);
    };
    let format = cursor.format_ref();
    let format = format.ok_or_else(|| cursor.expected("a format"))?;
    for symbol in close {
        cursor.expect_symbol(symbol)?;
    }
    Ok(Some(format))
}

/// `1, 3 - 5, low -< 0 =`
fn reaches<'a>(
    cursor: &mut Cursor<'a>,
    bound: impl Fn(&mut Cursor<'a>) -> Parsed<Bound>,
) -> Parsed<Vec<Reach>> {
    let mut reaches = Vec::new();
    loop {
        let mut reach = Reach {
            low: bound(cursor)?,
            above: false,
            high: None,
            below: false,
        };
        if cursor.eat_symbol("<") {
            reach.above = true;
            cursor.expect_symbol("-")?;
        }
        if reach.above || cursor.eat_symbol("-") {
            reach.below = cursor.eat_symbol("<");
            reach.high = Some(bound(cursor)?);
        }
        reaches.push(reach);
        if !cursor.eat_symbol(",") {
            break;
        }
    }
    cursor.expect_symbol("=")?;
    Ok(reaches)
}

/// A label, picture or text to the right of `=`.
fn literal(cursor: &mut Cursor<'_>) -> Parsed<String> {
    match cursor.next().map(|token| &token.kind) {
        Some(TokenKind::Text(label, _) | TokenKind::Word(label) | TokenKind::Number(_, label)) => {
            Ok(label.chars().take(LABEL_MAX).collect())
        }
        _ => Err(cursor.expected("a label in quotes")),
    }
}

/// An end of a range: of texts (`text`), or of numbers; those of INVALUE may be in quotes too.
fn bound(cursor: &mut Cursor<'_>, text: bool, quoted: bool) -> Parsed<Bound> {
    let word = cursor.peek_word().map(str::to_ascii_uppercase);
    let named = match word.as_deref() {
        Some("LOW") => Some(Bound::Low),
        Some("HIGH") => Some(Bound::High),
        Some("OTHER") => Some(Bound::Other),
        _ => None,
    };
    if let Some(named) = named {
        cursor.next();
        return Ok(named);
    }
    match cursor.peek() {
        Some(Token {
            kind: TokenKind::Missing(code),
            ..
        }) if !text => {
            cursor.next();
            Ok(Bound::Number(missing::encode(*code)))
        }
        Some(Token {
            kind: TokenKind::Text(value, _),
            ..
        }) if quoted => {
            cursor.next();
            Ok(Bound::Text(value.as_bytes().into()))
        }
        Some(Token {
            kind: TokenKind::Word(value) | TokenKind::Number(_, value),
            ..
        }) if text => {
            cursor.next();
            Ok(Bound::Text(value.as_bytes().into()))
        }
        _ if text => Err(cursor.expected("a text, LOW, HIGH or OTHER")),
        _ => cursor.expect_number().map(Bound::Number),
    }
}
