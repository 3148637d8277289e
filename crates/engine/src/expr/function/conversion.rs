//! PUT, INPUT and their kind: values by formats and informats.

use super::table::{Entry, Gives, general};
use crate::expr::general::{Call, Given, Result};
use crate::format;
use crate::format::informat::{self, Informat};
use lang::ast::FormatModifier;
use sas7bdat::{Format, missing};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("PUT", "a", Gives::Format, |call| {
        let none = Format::default();
        Result::Text(put(call, call.format.unwrap_or(&none)))
    }),
    general("PUTN", "nc?nn", Gives::Length(200), put_by_name),
    general("PUTC", "cc?n", Gives::Length(200), put_by_name),
    general("INPUT", "c", Gives::Number, |call| {
        let format = call.format.cloned().unwrap_or_default();
        Result::Number(input(call, &format))
    }),
    general("INPUTN", "cc?nn", Gives::Number, |call| match named(call) {
        Some(format) => Result::Number(input(call, &format)),
        None => Result::Number(call.invalid()),
    }),
    general("INPUTC", "cc?n", Gives::SameLength, |call| {
        match named(call) {
            Some(format) => Result::Text(input_as_text(call, &format)),
            None => {
                call.invalid();
                Result::Text(Vec::new())
            }
        }
    }),
];

/// INPUT with an informat for numbers and for texts, and both with `??`.
static INPUTS: [Entry; 4] = [
    general("INPUT", "c", Gives::Number, |call| {
        let format = call.format.cloned().unwrap_or_default();
        Result::Number(input(call, &format))
    }),
    general("INPUT", "c", Gives::Informat, |call| {
        let format = call.format.cloned().unwrap_or_default();
        Result::Text(input_as_text(call, &format))
    }),
    general("INPUT ??", "c", Gives::Number, |call| {
        let format = call.format.cloned().unwrap_or_default();
        let found = number_read(call, &format);
        Result::Number(found.unwrap_or_else(|| missing::encode(0)))
    }),
    general("INPUT ??", "c", Gives::Informat, |call| {
        let format = call.format.cloned().unwrap_or_default();
        Result::Text(text_read(call, &format).0)
    }),
];

/// INPUT with an informat for texts or numbers, which says that data are invalid or does not.
pub(in crate::expr) fn input_of(text: bool, silent: bool) -> &'static Entry {
    &INPUTS[usize::from(text) + 2 * usize::from(silent)]
}

/// What PUT does with `-L`, `-R` and `-C`.
static ALIGNMENTS: [Entry; 3] = [
    general("PUT -L", "c", Gives::SameLength, |call| {
        Result::Text(aligned(&call.text(0), FormatModifier::Left))
    }),
    general("PUT -R", "c", Gives::SameLength, |call| {
        Result::Text(aligned(&call.text(0), FormatModifier::Right))
    }),
    general("PUT -C", "c", Gives::SameLength, |call| {
        Result::Text(aligned(&call.text(0), FormatModifier::Center))
    }),
];

/// What does a modifier of PUT, if there is one.
pub(in crate::expr) fn alignment(modifier: FormatModifier) -> Option<&'static Entry> {
    match modifier {
        FormatModifier::Left => Some(&ALIGNMENTS[0]),
        FormatModifier::Right => Some(&ALIGNMENTS[1]),
        FormatModifier::Center => Some(&ALIGNMENTS[2]),
        FormatModifier::None | FormatModifier::Silent => None,
    }
}

/// A text in its width as a modifier of PUT says.
pub(crate) fn aligned(text: &[u8], modifier: FormatModifier) -> Vec<u8> {
    let bare = text.trim_ascii();
    let free = text.len() - bare.len();
    let before = match modifier {
        FormatModifier::Left => 0,
        FormatModifier::Right => free,
        FormatModifier::Center => free / 2,
        FormatModifier::None | FormatModifier::Silent => return text.to_vec(),
    };
    let mut aligned = vec![b' '; before];
    aligned.extend_from_slice(bare);
    aligned.resize(text.len(), b' ');
    aligned
}

fn put(call: &Call<'_, '_>, format: &Format) -> Vec<u8> {
    let formats = &call.events.surroundings.formats;
    match call.given.first() {
        Some(Given::Text(text)) => format::text_with(text, format, formats),
        Some(Given::Number(value)) => {
            let shown = format::number_with(*value, format, formats);
            shown
                .unwrap_or_else(|| format::best(*value, 12))
                .into_bytes()
        }
        None => Vec::new(),
    }
}

fn put_by_name(call: &mut Call<'_, '_>) -> Result {
    match named(call) {
        Some(format) => Result::Text(put(call, &format)),
        None => {
            call.invalid();
            Result::Text(Vec::new())
        }
    }
}

fn input(call: &mut Call<'_, '_>, format: &Format) -> f64 {
    match number_read(call, format) {
        Some(value) => value,
        None => {
            call.invalid();
            missing::encode(0)
        }
    }
}

fn number_read(call: &Call<'_, '_>, format: &Format) -> Option<f64> {
    let text = given_text(call, format);
    informat::read(&text, format, &call.events.surroundings.formats)
}

fn input_as_text(call: &mut Call<'_, '_>, format: &Format) -> Vec<u8> {
    let (text, valid) = text_read(call, format);
    if !valid {
        call.invalid();
    }
    text
}

/// The text in its width, and whether it is valid.
fn text_read(call: &Call<'_, '_>, format: &Format) -> (Vec<u8>, bool) {
    let text = given_text(call, format);
    let formats = call.events.surroundings.formats.clone();
    let name = format.name.to_ascii_uppercase();
    let found = Informat::find(&name, 0, &formats).filter(|(informat, _)| informat.is_text());
    let width = match (format.width, &found) {
        (0, Some((Informat::User(user), _))) => usize::from(user.width),
        (0, _) => text.len(),
        (width, _) => usize::from(width),
    };
    let read = found.and_then(|(informat, _)| Some(informat.text(&text, &formats)?.into_owned()));
    let valid = read.is_some();
    let mut text = read.unwrap_or_default();
    text.resize(width, b' ');
    (text, valid)
}

/// The argument, as much of it as the informat reads.
fn given_text(call: &Call<'_, '_>, format: &Format) -> Vec<u8> {
    let mut text = call.text(0).into_owned();
    if format.width > 0 {
        text.truncate(usize::from(format.width));
    }
    text
}

/// The format whose name is an argument; those behind it are its width and decimals.
fn named(call: &Call<'_, '_>) -> Option<Format> {
    let mut name = String::from_utf8_lossy(&call.text(1)).trim().to_owned();
    // With a width of its own the name may stand without a dot.
    if call.count() > 2 && !name.contains('.') {
        name.push('.');
    }
    let mut format = format::parse(&name)?;
    if call.count() > 2 {
        format.width = part(call.number(2))?;
    }
    if call.count() > 3 {
        format.decimals = part(call.number(3))?;
    }
    Some(format)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked in the same line"
)]
fn part<T: TryFrom<u32>>(value: f64) -> Option<T> {
    let whole = (0.0..1e9).contains(&value).then_some(value as u32)?;
    T::try_from(whole).ok()
}
