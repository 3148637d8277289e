//! PRX functions: regular expressions.

use super::table::{Entry, Gives, general};
use crate::expr::general::{Call, Given, Result};
use crate::expr::pattern::Pattern;
use crate::failure::Failure;
use sas7bdat::missing;
use std::sync::Arc;

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("PRXMATCH", "ac", Gives::Number, |call| {
        Result::Number(matched(call))
    }),
    general("PRXPARSE", "c", Gives::Number, |call| {
        let written = call.text(0).into_owned();
        let most = call.events.surroundings.memory;
        let parsed = call
            .events
            .surroundings
            .patterns
            .of_site(call.site, &written, most);
        Result::Number(number(call, parsed))
    }),
    general("PRXCHANGE", "anc", Gives::LengthOf(2), |call| {
        Result::Text(changed(call))
    }),
    general("PRXPOSN", "nnc", Gives::LengthOf(2), |call| {
        Result::Text(group(call))
    }),
    general("PRXPAREN", "n", Gives::Number, |call| {
        Result::Number(last_group(call))
    }),
];

/// The identifier, or the error that stops the step.
fn number(call: &mut Call<'_, '_>, parsed: std::result::Result<usize, String>) -> f64 {
    match parsed {
        Ok(id) => id as f64,
        Err(wrong) => {
            call.events.fail(Failure::world(error_text(&wrong)));
            missing::encode(0)
        }
    }
}

/// The sentence about an expression that cannot be compiled.
pub(in crate::expr) fn error_text(wrong: &str) -> String {
    format!("The regular expression passed to a PRX function cannot be compiled: {wrong}.")
}

/// An identifier as a value.
pub(in crate::expr) fn id_of(value: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates, and a missing value is 0, which is no identifier"
    )]
    let id = value as usize;
    id
}

/// The expression of the first argument, an identifier or a text.
fn pattern(call: &mut Call<'_, '_>) -> Option<(usize, Arc<Pattern>)> {
    let id = match call.given.first() {
        Some(Given::Text(text)) => {
            let most = call.events.surroundings.memory;
            let patterns = &mut call.events.surroundings.patterns;
            let parsed = patterns.of_site(call.site, text, most);
            id_of(number(call, parsed))
        }
        _ => id_of(call.number(0)),
    };
    let found = call.events.surroundings.patterns.get(id);
    if found.is_none() && call.events.failure.is_none() {
        call.invalid();
    }
    Some((id, found?))
}

fn matched(call: &mut Call<'_, '_>) -> f64 {
    let Some((id, pattern)) = pattern(call) else {
        return missing::encode(0);
    };
    let groups = pattern.find(&call.text(1), 0).unwrap_or_default();
    let place = groups.first().copied().flatten();
    call.events.surroundings.patterns.keep(id, groups);
    place.map_or(0.0, |(start, _)| (start + 1) as f64)
}

fn changed(call: &mut Call<'_, '_>) -> Vec<u8> {
    let text = call.text(2).into_owned();
    let Some((id, pattern)) = pattern(call) else {
        return text;
    };
    let times = call.number(1);
    let Some(times) = times_of(times) else {
        call.invalid();
        return text;
    };
    match pattern.replaced(&text, times) {
        Some((changed, groups, _)) => {
            call.events.surroundings.patterns.keep(id, groups);
            changed
        }
        None => {
            call.invalid();
            text
        }
    }
}

/// How often is replaced: -1 is without end. `None` if the number is not valid.
pub(in crate::expr) fn times_of(times: f64) -> Option<u64> {
    if is_endless(times) {
        return Some(u64::MAX);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates, the sign is checked"
    )]
    let count = times as u64;
    (times >= 0.0).then_some(count)
}

/// -1 stands for all matches, or for the end of the text.
pub(in crate::expr) fn is_endless(number: f64) -> bool {
    number.to_bits() == (-1.0_f64).to_bits()
}

fn group(call: &mut Call<'_, '_>) -> Vec<u8> {
    let Some((id, pattern)) = pattern(call) else {
        return Vec::new();
    };
    let number = call.number(1);
    #[expect(clippy::cast_precision_loss, reason = "groups are few")]
    let valid = number >= 0.0 && number <= pattern.groups() as f64;
    if !valid {
        call.invalid();
        return Vec::new();
    }
    let last = call.events.surroundings.patterns.last(id);
    let found = last.get(id_of(number)).copied().flatten();
    let text = call.text(2);
    found
        .and_then(|(start, end)| text.get(start..end.min(text.len())))
        .map(<[u8]>::to_vec)
        .unwrap_or_default()
}

fn last_group(call: &mut Call<'_, '_>) -> f64 {
    let Some((id, _)) = pattern(call) else {
        return missing::encode(0);
    };
    let last = call.events.surroundings.patterns.last(id);
    last.iter().rposition(Option::is_some).unwrap_or(0) as f64
}
