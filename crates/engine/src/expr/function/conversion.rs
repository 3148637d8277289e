//! PUT, INPUT and their kind: values by formats and informats.

use super::table::{Entry, Gives, general};
use crate::expr::general::{Call, Given, Result};
use crate::format;
use crate::format::informat::{self, Informat};
use sas7bdat::{Format, missing};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("PUT", "a", Gives::Format, |call| {
        let format = call.format.cloned().unwrap_or_default();
        Result::Text(put(call, &format))
    }),
    general("PUTN", "nc", Gives::Length(200), put_by_name),
    general("PUTC", "cc", Gives::Length(200), put_by_name),
    general("INPUT", "c", Gives::Number, |call| {
        let format = call.format.cloned().unwrap_or_default();
        Result::Number(input(call, &format))
    }),
    general("INPUTN", "cc", Gives::Number, |call| match named(call) {
        Some(format) => Result::Number(input(call, &format)),
        None => Result::Number(call.invalid()),
    }),
    general("INPUTC", "cc", Gives::SameLength, |call| {
        match named(call) {
            Some(format) => Result::Text(input_as_text(call, &format)),
            None => {
                call.invalid();
                Result::Text(Vec::new())
            }
        }
    }),
];

/// INPUT with an informat for texts.
static OF_TEXT: Entry = general("INPUT", "c", Gives::Informat, |call| {
    let format = call.format.cloned().unwrap_or_default();
    Result::Text(input_as_text(call, &format))
});

/// INPUT with an informat for texts.
pub(in crate::expr) fn input_text() -> &'static Entry {
    &OF_TEXT
}

fn put(call: &mut Call<'_, '_>, format: &Format) -> Vec<u8> {
    let formats = call.events.surroundings.formats.clone();
    match call.given.first() {
        Some(Given::Text(text)) => format::text_with(text, format, &formats),
        Some(Given::Number(value)) => {
            let shown = format::number_with(*value, format, &formats);
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
    let text = given_text(call, format);
    let formats = call.events.surroundings.formats.clone();
    match informat::read(&text, format, &formats) {
        Some(value) => value,
        None => {
            call.invalid();
            missing::encode(0)
        }
    }
}

fn input_as_text(call: &mut Call<'_, '_>, format: &Format) -> Vec<u8> {
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
    let mut read = read.unwrap_or_else(|| {
        call.invalid();
        Vec::new()
    });
    read.resize(width, b' ');
    read
}

/// The argument, as much of it as the informat reads.
fn given_text(call: &Call<'_, '_>, format: &Format) -> Vec<u8> {
    let mut text = call.text(0).into_owned();
    if format.width > 0 {
        text.truncate(usize::from(format.width));
    }
    text
}

fn named(call: &Call<'_, '_>) -> Option<Format> {
    let name = String::from_utf8_lossy(&call.text(1)).trim().to_owned();
    format::parse(&name)
}
