//! Choices, queues, constants, waiting.

use super::character::whole;
use super::numeric;
use super::table::{Entry, Gives, general};
use crate::expr::evaluate::{is_true, trimmed};
use crate::expr::general::{Call, Given, Result};
use sas7bdat::missing;
use std::collections::VecDeque;
use std::time::Duration;

/// The functions. LAG and DIF are found by their first letters, see [`queue`].
pub(super) const TABLE: &[Entry] = &[
    general("IFN", "nnn?n", Gives::Number, |call| {
        Result::Number(call.number(choice(call)))
    }),
    general("IFC", "ncc?c", Gives::Length(200), |call| {
        Result::Text(call.text(choice(call)).into_owned())
    }),
    general("CHOOSEN", "nn*", Gives::Number, |call| match chosen(call) {
        Some(index) => Result::Number(call.number(index)),
        None => Result::Number(call.invalid()),
    }),
    general("CHOOSEC", "nc*", Gives::Length(200), |call| {
        match chosen(call) {
            Some(index) => Result::Text(call.text(index).into_owned()),
            None => {
                call.invalid();
                Result::Text(Vec::new())
            }
        }
    }),
    general("WHICHN", "nn*", Gives::Number, |call| {
        let wanted = call.number(0);
        let found =
            (1..call.count()).find(|index| call.number(*index).to_bits() == wanted.to_bits());
        Result::Number(found.unwrap_or(0) as f64)
    }),
    general("WHICHC", "cc*", Gives::Number, |call| {
        let wanted = call.text(0);
        let same = |index: &usize| trimmed(&call.text(*index)) == trimmed(&wanted);
        Result::Number((1..call.count()).find(same).unwrap_or(0) as f64)
    }),
    general("COALESCEC", "c*", Gives::Length(200), first_text),
    // COALESCE of SQL, for texts.
    general("COALESCE C", "c*", Gives::Longest, first_text),
    general("CONSTANT", "c?n", Gives::Number, |call| {
        let name = String::from_utf8_lossy(&call.text(0))
            .trim()
            .to_ascii_uppercase();
        match numeric::constant(&name) {
            Some(value) => Result::Number(value),
            None => Result::Number(call.invalid()),
        }
    }),
    general("SLEEP", "n?n", Gives::Number, |call| {
        let unit = if call.count() > 1 {
            call.number(1)
        } else {
            1.0
        };
        let seconds = call.number(0) * unit;
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) => {
                call.events.surroundings.sleep(time);
                Result::Number(call.number(0))
            }
            Err(_) => Result::Number(call.invalid()),
        }
    }),
    general("SYMGET", "c", Gives::Length(200), |call| {
        let name = String::from_utf8_lossy(&call.text(0)).trim().to_owned();
        let value = call
            .events
            .surroundings
            .macros
            .as_ref()
            .and_then(|macros| macros.get(&name));
        if value.is_none() {
            call.invalid();
        }
        Result::Text(value.unwrap_or_default().into_bytes())
    }),
    general("SYMEXIST", "c", Gives::Number, |call| {
        let name = String::from_utf8_lossy(&call.text(0)).trim().to_owned();
        let macros = call.events.surroundings.macros.as_ref();
        Result::Number(f64::from(u8::from(
            macros.is_some_and(|macros| macros.exists(&name)),
        )))
    }),
];

/// The first argument that is not blank.
fn first_text(call: &mut Call<'_, '_>) -> Result {
    let texts = (0..call.count()).map(|index| call.text(index));
    let found = texts.into_iter().find(|text| !trimmed(text).is_empty());
    Result::Text(found.map_or_else(Vec::new, std::borrow::Cow::into_owned))
}

/// The argument that IFN and IFC choose.
fn choice(call: &Call<'_, '_>) -> usize {
    let condition = call.number(0);
    if condition.is_nan() && call.count() > 3 {
        3
    } else if is_true(condition) {
        1
    } else {
        2
    }
}

fn chosen(call: &Call<'_, '_>) -> Option<usize> {
    let count = call.count();
    let index = match whole(call.number(0))? {
        0 => return None,
        index @ 1.. => usize::try_from(index).ok()?,
        back => count.checked_sub(usize::try_from(back.unsigned_abs()).ok()?)?,
    };
    (1..count).contains(&index).then_some(index)
}

/// What a LAG or DIF remembers: its own values, one for each time it was carried out.
pub type Queue = VecDeque<Given<'static>>;

/// Longest LAG of SAS.
const LAG_MAX: usize = 100;

macro_rules! lags {
    ($($number:literal)*) => {
        /// LAG, LAG1 … and DIF, DIF1 … for numbers, LAG for texts.
        static QUEUES: &[[Entry; 3]] = &[$([
            general(concat!("LAG", $number), "n", Gives::Number, |call| lag(call, $number)),
            general(concat!("LAG", $number), "c", Gives::SameLength, |call| lag(call, $number)),
            general(concat!("DIF", $number), "n", Gives::Number, |call| dif(call, $number)),
        ]),*];
    };
}

lags!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34
    35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66
    67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98
    99 100);

/// LAG or DIF, a number behind it or not, of a number or a text.
pub(crate) fn queue(name: &str, text: bool) -> Option<&'static Entry> {
    let upper = name.to_ascii_uppercase();
    let (is_lag, digits) = match (upper.strip_prefix("LAG"), upper.strip_prefix("DIF")) {
        (Some(digits), _) => (true, digits),
        (None, Some(digits)) => (false, digits),
        (None, None) => return None,
    };
    let number = if digits.is_empty() {
        1
    } else {
        digits.parse().ok()?
    };
    let entries = QUEUES.get(usize::checked_sub(number, 1)?.min(LAG_MAX))?;
    Some(
        &entries[match (is_lag, text) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        }],
    )
}

/// The value of `count` executions ago; the present one is remembered.
fn lag(call: &mut Call<'_, '_>, count: usize) -> Result {
    let (now, length) = match call.given.first() {
        Some(Given::Text(text)) => (Given::Text(text.to_vec().into()), text.len()),
        _ => (Given::Number(call.number(0)), 0),
    };
    let is_text = matches!(now, Given::Text(_));
    let queue = call
        .events
        .surroundings
        .queues
        .entry(call.site)
        .or_default();
    queue.push_back(now);
    let past = if queue.len() > count {
        queue.pop_front()
    } else {
        None
    };
    match past {
        Some(Given::Number(value)) => Result::Number(value),
        Some(Given::Text(text)) => Result::Text(text.into_owned()),
        None if is_text => Result::Text(vec![b' '; length]),
        None => Result::Number(missing::encode(0)),
    }
}

fn dif(call: &mut Call<'_, '_>, count: usize) -> Result {
    let now = call.number(0);
    let Result::Number(past) = lag(call, count) else {
        return Result::Number(missing::encode(0));
    };
    if now.is_nan() || past.is_nan() {
        return Result::Number(missing::encode(0));
    }
    Result::Number(now - past)
}
