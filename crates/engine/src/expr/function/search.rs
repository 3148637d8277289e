//! Functions that look for characters of a class or a list, from a place on, forwards or backwards.

use super::character::{Characters, number, position, refuse_modifiers, whole};
use super::table::{Entry, Gives, general};
use crate::expr::evaluate::trimmed;
use crate::expr::general::{Call, Given, Result};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("ANYDIGIT", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_digit)
    }),
    general("ANYALPHA", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_alphabetic)
    }),
    general("ANYALNUM", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_alphanumeric)
    }),
    general("ANYSPACE", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_whitespace)
    }),
    general("ANYPUNCT", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_punctuation)
    }),
    general("ANYUPPER", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_uppercase)
    }),
    general("ANYLOWER", "c?n", Gives::Number, |call| {
        of_class(call, u8::is_ascii_lowercase)
    }),
    general("NOTDIGIT", "c?n", Gives::Number, |call| {
        of_class(call, |byte| !byte.is_ascii_digit())
    }),
    general("NOTALPHA", "c?n", Gives::Number, |call| {
        of_class(call, |byte| !byte.is_ascii_alphabetic())
    }),
    general("NOTALNUM", "c?n", Gives::Number, |call| {
        of_class(call, |byte| !byte.is_ascii_alphanumeric())
    }),
    general("FINDC", "cc?aa", Gives::Number, findc),
    general("COUNTC", "cc?c", Gives::Number, |call| {
        let (own, modifiers) = (call.text(1), call.text(2));
        let Some((characters, turned)) = listed(&own, &modifiers, b"ikotv") else {
            let modifiers = modifiers.into_owned();
            refuse_modifiers(call, "COUNTC", &modifiers);
            return number(0);
        };
        let value = call.text(0);
        let value = if characters.has(b't') {
            trimmed(&value)
        } else {
            &value
        };
        let is = |byte: &&u8| characters.lists(**byte) != turned;
        number(value.iter().filter(is).count())
    }),
];

/// The list of characters, and whether V looks for all others; K, which does so too, is in the list.
fn listed(own: &[u8], modifiers: &[u8], known: &[u8]) -> Option<(Characters, bool)> {
    let characters = Characters::new(own, modifiers, known)?;
    let turned = characters.has(b'v') && !characters.has(b'k');
    Some((characters, turned))
}

fn of_class(call: &Call<'_, '_>, is: impl Fn(&u8) -> bool) -> Result {
    let start = match call.count() {
        1 => 1,
        _ => whole(call.number(1)).unwrap_or(0),
    };
    position(from(&call.text(0), start, is))
}

/// The first character that is wanted from place `start` on, to the left where that is negative;
/// nothing is found from place 0.
fn from(value: &[u8], start: i64, is: impl Fn(&u8) -> bool) -> Option<usize> {
    let place = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    if start < 0 {
        return value[..place.min(value.len())].iter().rposition(is);
    }
    let before = place.checked_sub(1)?;
    let found = value.get(before..)?.iter().position(is)?;
    Some(before + found)
}

/// Modifiers and the place to start may come in any order.
fn findc(call: &mut Call<'_, '_>) -> Result {
    let (mut modifiers, mut start) = (Vec::new(), None);
    for given in call.given.iter().skip(2) {
        match given {
            Given::Number(value) => start = Some(whole(*value).unwrap_or(0)),
            Given::Text(letters) => modifiers.extend_from_slice(letters),
        }
    }
    let Some((characters, turned)) = listed(&call.text(1), &modifiers, b"bikotv") else {
        refuse_modifiers(call, "FINDC", &modifiers);
        return number(0);
    };
    let value = call.text(0);
    let value = if characters.has(b't') {
        trimmed(&value)
    } else {
        &value
    };
    let end = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let start = match (characters.has(b'b'), start) {
        (true, start) => -start.map_or(end, i64::saturating_abs),
        (false, start) => start.unwrap_or(1),
    };
    position(from(value, start, |byte| characters.lists(*byte) != turned))
}
