//! PUT, INPUT and their kind: values by formats and informats.

use super::table::{Entry, Gives, general};
use crate::expr::general::{Call, Given, Result};
use crate::format::{self, informat};
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
];

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
    let text = call.text(0).into_owned();
    let width = usize::from(format.width);
    let text = if width > 0 && text.len() > width {
        &text[..width]
    } else {
        &text
    };
    match informat::read(text, format) {
        Some(value) => value,
        None => {
            call.invalid();
            missing::encode(0)
        }
    }
}

fn named(call: &Call<'_, '_>) -> Option<Format> {
    let name = String::from_utf8_lossy(&call.text(1)).trim().to_owned();
    format::parse(&name)
}
