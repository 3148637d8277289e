//! PROC FORMAT: VALUE.

use base::diag::Span;
use engine::failure::Outcome;
use engine::format::user::{Range, UserFormat};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStep, Token, TokenKind};
use lang::cursor::{Cursor, Parsed};
use sas7bdat::missing;

use crate::target::unknown;

/// Differences that numbers may have from the end of a range where FUZZ= does not say.
const FUZZ: f64 = 1e-12;

/// Longest label, characters (SAS 9.4).
const LABEL_MAX: usize = 32_767;

/// PROC FORMAT.
pub(crate) struct Formats;

impl Procedure for Formats {
    fn name(&self) -> &'static str {
        "FORMAT"
    }

    fn support(&self) -> Support {
        Support {
            yes: "VALUE of numbers and texts: lists, ranges with LOW, HIGH, `<`, OTHER; DEFAULT=, \
                  FUZZ=; in WORK",
            no: "INVALUE, PICTURE, CNTLIN=, CNTLOUT=, FMTLIB, MULTILABEL, permanent libraries",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        // Formats are the session's own and cost nothing; steps that follow name them.
        self.run(step, world)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let mut cursor = Cursor::new(&step.options, &step.span);
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "LIB" | "LIBRARY" => {
                    let span = cursor.span();
                    let libref = cursor.setting()?.value.unwrap_or_default();
                    if !libref.eq_ignore_ascii_case("WORK") {
                        return Err(not_work(&span, &libref).into());
                    }
                }
                _ => return Err(unknown(&cursor, "FORMAT", "option")),
            }
        }
        cursor.expect_end()?;
        for statement in &step.statements {
            let mut cursor = Cursor::new(&statement.tokens, &statement.span);
            if !cursor.eat_word("VALUE") {
                return Err(unknown(&cursor, "FORMAT", "statement"));
            }
            let (name, format) = value(&mut cursor)?;
            let shown = name.clone();
            let formats = std::sync::Arc::make_mut(&mut world.formats);
            let already = formats.insert(name, format).is_some();
            if already {
                world.note(&format!(
                    "Format {shown} is already on the library WORK.FORMATS."
                ));
            }
            world.note(&format!("Format {shown} has been output."));
        }
        Ok(())
    }
}

fn not_work(span: &Span, libref: &str) -> base::diag::Diagnostic {
    Cursor::new(&[], span).not_yet(format!("permanent format library {libref}"))
}

/// A bound of a range.
enum Bound {
    Low,
    High,
    Other,
    Number(f64),
    Text(String),
}

/// From behind VALUE: the name and its ranges.
fn value(cursor: &mut Cursor<'_>) -> Parsed<(String, UserFormat)> {
    let text = cursor.eat_symbol("$");
    let (name, _) = cursor.expect_name("the name of a format")?;
    if name.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(cursor.fail(format!(
            "The name of a format cannot end with a digit: {name}"
        )));
    }
    let name = format!(
        "{}{}",
        if text { "$" } else { "" },
        name.to_ascii_uppercase()
    );
    let mut format = UserFormat {
        fuzz: FUZZ,
        ..UserFormat::default()
    };
    options(cursor, &mut format)?;
    let mut widest = 1;
    while !cursor.is_at_end() {
        let width = range(cursor, text, &mut format)?;
        widest = widest.max(width);
    }
    if format.width == 0 {
        format.width = u16::try_from(widest).unwrap_or(u16::MAX);
    }
    sort(&mut format);
    check_overlaps(cursor, &format)?;
    Ok((name, format))
}

/// `(default=10 fuzz=0)`
fn options(cursor: &mut Cursor<'_>, format: &mut UserFormat) -> Parsed<()> {
    if !cursor.eat_symbol("(") {
        return Ok(());
    }
    while !cursor.eat_symbol(")") {
        let (name, _) = cursor.expect_name("an option of VALUE")?;
        cursor.expect_symbol("=")?;
        let number = cursor.expect_number()?;
        match name.to_ascii_uppercase().as_str() {
            "DEFAULT" if (1.0..=32_767.0).contains(&number) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the range is checked in the guard"
                )]
                let width = number as u16;
                format.width = width;
            }
            "FUZZ" if number >= 0.0 => format.fuzz = number,
            other => return Err(cursor.not_yet(format!("option {other} of VALUE"))),
        }
    }
    Ok(())
}

/// `1, 3 - 5, low -< 0 = 'label'`; the width of the label.
fn range(cursor: &mut Cursor<'_>, text: bool, format: &mut UserFormat) -> Parsed<usize> {
    let mut ranges = Vec::new();
    loop {
        let low = bound(cursor, text)?;
        let mut above = false;
        let mut below = false;
        let mut high = None;
        if cursor.eat_symbol("<") {
            above = true;
            cursor.expect_symbol("-")?;
            below = cursor.eat_symbol("<");
            high = Some(bound(cursor, text)?);
        } else if cursor.eat_symbol("-") {
            below = cursor.eat_symbol("<");
            high = Some(bound(cursor, text)?);
        }
        ranges.push((low, above, high, below));
        if !cursor.eat_symbol(",") {
            break;
        }
    }
    cursor.expect_symbol("=")?;
    let label = match cursor.next().map(|token| &token.kind) {
        Some(TokenKind::Text(label, _) | TokenKind::Word(label) | TokenKind::Number(_, label)) => {
            label.clone()
        }
        _ => return Err(cursor.expected("a label in quotes")),
    };
    let label: String = label.chars().take(LABEL_MAX).collect();
    for (low, above, high, below) in ranges {
        add(cursor, format, (low, above, high, below), &label)?;
    }
    Ok(label.chars().count())
}

type Bounds = (Bound, bool, Option<Bound>, bool);

fn add(cursor: &Cursor<'_>, format: &mut UserFormat, bounds: Bounds, label: &str) -> Parsed<()> {
    let label = label.to_owned();
    match bounds {
        (Bound::Other, _, None, _) => format.other = Some(label),
        (Bound::Number(only), _, None, _) => format.numbers.push(Range {
            low: Some(only),
            above: false,
            high: Some(only),
            below: false,
            label,
        }),
        (Bound::Text(only), _, None, _) => format.texts.push(Range {
            low: Some(only.clone().into_bytes()),
            above: false,
            high: Some(only.into_bytes()),
            below: false,
            label,
        }),
        (
            low @ (Bound::Low | Bound::Text(_)),
            above,
            Some(high @ (Bound::High | Bound::Text(_))),
            below,
        ) if matches!(low, Bound::Text(_)) || matches!(high, Bound::Text(_)) => {
            let bytes = |bound| match bound {
                Bound::Text(text) => Some(text.into_bytes()),
                _ => None,
            };
            let (low, high) = (bytes(low), bytes(high));
            format.texts.push(Range {
                low,
                above,
                high,
                below,
                label,
            });
        }
        (
            low @ (Bound::Low | Bound::Number(_)),
            above,
            Some(high @ (Bound::High | Bound::Number(_))),
            below,
        ) => {
            let number = |bound| match bound {
                Bound::Number(value) => Some(value),
                _ => None,
            };
            let (low, high) = (number(low), number(high));
            if low.zip(high).is_some_and(|(low, high)| low > high) {
                return Err(cursor.fail("The start of a range is greater than its end"));
            }
            format.numbers.push(Range {
                low,
                above,
                high,
                below,
                label,
            });
        }
        _ => return Err(cursor.fail("These are not the ends of a range")),
    }
    Ok(())
}

fn bound(cursor: &mut Cursor<'_>, text: bool) -> Parsed<Bound> {
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
            kind: TokenKind::Text(value, _) | TokenKind::Word(value) | TokenKind::Number(_, value),
            ..
        }) if text => {
            cursor.next();
            Ok(Bound::Text(value.clone()))
        }
        _ if text => Err(cursor.expected("a text, LOW, HIGH or OTHER")),
        _ => cursor.expect_number().map(Bound::Number),
    }
}

fn sort(format: &mut UserFormat) {
    let key = |range: &Range<f64>| range.low.unwrap_or(f64::NEG_INFINITY);
    format.numbers.sort_by(|a, b| key(a).total_cmp(&key(b)));
    format.texts.sort_by(|a, b| a.low.cmp(&b.low));
}

/// Ranges of numbers must not overlap; where two meet, the first one has the value.
fn check_overlaps(cursor: &Cursor<'_>, format: &UserFormat) -> Parsed<()> {
    for pair in format.numbers.windows(2) {
        let [first, second] = pair else { continue };
        let end = first.high.unwrap_or(f64::INFINITY);
        let start = second.low.unwrap_or(f64::NEG_INFINITY);
        let same = first.low == second.low && first.high == second.high;
        if !end.is_nan() && (start < end || (same && !start.is_nan())) {
            return Err(cursor.fail("These ranges of the format overlap or repeat"));
        }
    }
    Ok(())
}
