//! Functions of texts. They work on bytes, as SAS's do; case and classes are those of ASCII.

use super::table::{Entry, Gives, general};
use crate::expr::evaluate::{compare_prefix, trimmed};
use crate::expr::general::{Call, Given, Result};

/// What separates words for SCAN and COUNTW where nothing is said.
pub(super) const DELIMITERS: &[u8] = b" .<(+&!$*);^-/,%|";

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("SUBSTR", "cn?n", Gives::SameLength, |call| {
        text(substring(call, true))
    }),
    general("SUBSTRN", "cn?n", Gives::SameLength, |call| {
        text(substring(call, false))
    }),
    general("LENGTH", "c", Gives::Number, |call| {
        number(trimmed(&call.text(0)).len().max(1))
    }),
    general("LENGTHN", "c", Gives::Number, |call| {
        number(trimmed(&call.text(0)).len())
    }),
    general("LENGTHC", "c", Gives::Number, |call| {
        number(call.text(0).len())
    }),
    general("TRIMN", "c", Gives::SameLength, |call| {
        text(trimmed(&call.text(0)).to_vec())
    }),
    general("LEFT", "c", Gives::SameLength, |call| {
        text(left(&call.text(0)))
    }),
    general("RIGHT", "c", Gives::SameLength, |call| {
        let value = call.text(0);
        let kept = trimmed(&value);
        let mut out = vec![b' '; value.len() - kept.len()];
        out.extend_from_slice(kept);
        text(out)
    }),
    general("COMPRESS", "c?cc", Gives::SameLength, compress),
    general("COMPBL", "c", Gives::SameLength, |call| {
        let mut out = call.text(0).into_owned();
        out.dedup_by(|a, b| *a == b' ' && *b == b' ');
        text(out)
    }),
    general("PROPCASE", "c?c", Gives::SameLength, |call| {
        let own = call.text(1);
        let delimiters: &[u8] = if own.is_empty() { b" /-(.\t" } else { &own };
        let mut start = true;
        let value = call.text(0);
        let recased = value.iter().map(|byte| {
            let upper = std::mem::replace(&mut start, delimiters.contains(byte));
            if upper {
                byte.to_ascii_uppercase()
            } else {
                byte.to_ascii_lowercase()
            }
        });
        text(recased.collect())
    }),
    general("REVERSE", "c", Gives::SameLength, |call| {
        text(call.text(0).iter().rev().copied().collect())
    }),
    general("REPEAT", "cn", Gives::Length(200), |call| {
        let count = whole(call.number(1)).unwrap_or(0).clamp(0, 32_767);
        let value = call.text(0);
        let times = usize::try_from(count).unwrap_or(0) + 1;
        let most = (32_767 / value.len().max(1)).max(1);
        text(value.repeat(times.min(most)))
    }),
    general("INDEX", "cc", Gives::Number, |call| {
        position(find(&call.text(0), &call.text(1), 0))
    }),
    general("INDEXC", "cc*", Gives::Number, |call| {
        let value = call.text(0);
        let wanted = |byte: &u8| (1..call.count()).any(|index| call.text(index).contains(byte));
        position(value.iter().position(wanted))
    }),
    general("INDEXW", "cc?c", Gives::Number, |call| {
        let (value, word, own) = (call.text(0), call.text(1), call.text(2));
        let delimiters: &[u8] = if call.count() > 2 { &own } else { b" " };
        let word = trimmed(&word);
        let mut from = 0;
        while let Some(at) = find(&value, word, from) {
            let before = at == 0 || delimiters.contains(&value[at - 1]);
            let after = value
                .get(at + word.len())
                .is_none_or(|byte| delimiters.contains(byte));
            if before && after && !word.is_empty() {
                return position(Some(at));
            }
            from = at + 1;
        }
        position(None)
    }),
    general("FIND", "cc?aa", Gives::Number, find_function),
    general("VERIFY", "cc*", Gives::Number, |call| {
        let allowed = |byte: &u8| (1..call.count()).any(|index| call.text(index).contains(byte));
        position(call.text(0).iter().position(|byte| !allowed(byte)))
    }),
    general("COUNT", "cc?c", Gives::Number, |call| {
        let fold = call.text(2).to_ascii_uppercase().contains(&b'I');
        let (value, wanted) = (folded(&call.text(0), fold), folded(&call.text(1), fold));
        let (mut from, mut count) = (0, 0_usize);
        while let Some(at) = find(&value, &wanted, from).filter(|_| !wanted.is_empty()) {
            (from, count) = (at + wanted.len(), count + 1);
        }
        number(count)
    }),
    general("SCAN", "cn?cc", Gives::SameLength, scan),
    general("COUNTW", "c?cc", Gives::Number, |call| {
        let words = words(call, "COUNTW", 1);
        number(words.len())
    }),
    general("CAT", "a*", Gives::Length(200), |call| {
        text(join(call, 0, <[u8]>::to_vec, b""))
    }),
    general("CATT", "a*", Gives::Length(200), |call| {
        text(join(call, 0, |value| trimmed(value).to_vec(), b""))
    }),
    general("CATS", "a*", Gives::Length(200), |call| {
        text(join(call, 0, |v| stripped(v).to_vec(), b""))
    }),
    general("CATX", "ca*", Gives::Length(200), |call| {
        let separator = call.text(0).into_owned();
        let mut parts = (1..call.count()).map(|index| stripped(&shown(call, index)).to_vec());
        let mut out = Vec::new();
        for part in parts.by_ref().filter(|part| !part.is_empty()) {
            if !out.is_empty() {
                out.extend_from_slice(&separator);
            }
            out.extend_from_slice(&part);
        }
        text(out)
    }),
    general("TRANSLATE", "ccc*", Gives::SameLength, translate),
    general("TRANWRD", "ccc", Gives::Length(200), |call| {
        let by = call.text(2);
        let by = trimmed(&by);
        text(replace(call, if by.is_empty() { b" " } else { by }))
    }),
    general("TRANSTRN", "ccc", Gives::Length(200), |call| {
        let by = call.text(2).into_owned();
        text(replace(call, &by))
    }),
    general("RANK", "c", Gives::Number, |call| {
        number(call.text(0).first().map_or(32, |byte| usize::from(*byte)))
    }),
    general("BYTE", "n", Gives::Length(1), |call| {
        let code = whole(call.number(0)).and_then(|code| u8::try_from(code).ok());
        text(vec![code.unwrap_or(b' ')])
    }),
    general("QUOTE", "c?c", Gives::Length(200), |call| {
        // Another character than a quotation mark says nothing.
        let mark = match trimmed(&call.text(1)) {
            b"'" => b'\'',
            _ => b'"',
        };
        let value = call.text(0);
        let mut out = vec![mark];
        for byte in trimmed(&value) {
            out.push(*byte);
            if *byte == mark {
                out.push(mark);
            }
        }
        out.push(mark);
        text(out)
    }),
];

pub(super) fn text(value: Vec<u8>) -> Result {
    Result::Text(value)
}

pub(super) fn number(value: usize) -> Result {
    Result::Number(value as f64)
}

/// A place from 0 as one from 1; 0 if there is none.
pub(super) fn position(place: Option<usize>) -> Result {
    number(place.map_or(0, |place| place + 1))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked in the same line"
)]
pub(in crate::expr) fn whole(value: f64) -> Option<i64> {
    (value.abs() < 1e15).then_some(value as i64)
}

fn trim_start(value: &[u8]) -> &[u8] {
    let start = value
        .iter()
        .position(|byte| *byte != b' ')
        .unwrap_or(value.len());
    &value[start..]
}

fn stripped(value: &[u8]) -> &[u8] {
    trim_start(trimmed(value))
}

fn left(value: &[u8]) -> Vec<u8> {
    let mut out = trim_start(value).to_vec();
    out.resize(value.len(), b' ');
    out
}

pub(super) fn folded(value: &[u8], fold: bool) -> Vec<u8> {
    if fold {
        value.to_ascii_lowercase()
    } else {
        value.to_vec()
    }
}

fn find(value: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = value.get(from..)?;
    if wanted.is_empty() {
        return None;
    }
    rest.windows(wanted.len())
        .position(|window| window == wanted)
        .map(|at| at + from)
}

/// The argument as the functions that join see it: numbers without blanks.
fn shown(call: &Call<'_, '_>, index: usize) -> Vec<u8> {
    match call.given.get(index) {
        Some(Given::Number(value)) => crate::format::best(*value, 12).trim().as_bytes().to_vec(),
        Some(Given::Text(value)) => value.to_vec(),
        None => Vec::new(),
    }
}

fn join(
    call: &Call<'_, '_>,
    first: usize,
    part: fn(&[u8]) -> Vec<u8>,
    separator: &[u8],
) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = (first..call.count())
        .map(|index| part(&shown(call, index)))
        .collect();
    parts.join(separator)
}

fn substring(call: &mut Call<'_, '_>, strict: bool) -> Vec<u8> {
    let length = call.text(0).len();
    let all = i64::try_from(length).unwrap_or(i64::MAX);
    let start = whole(call.number(1)).unwrap_or(0);
    let rest = all.saturating_sub(start).saturating_add(1);
    let wanted = if call.count() > 2 {
        whole(call.number(2)).unwrap_or(0)
    } else {
        rest
    };
    if strict {
        let starts = (1..=all).contains(&start);
        if !starts {
            call.invalid_argument("second");
        } else if call.count() > 2 && !(1..=rest).contains(&wanted) {
            call.invalid_argument("third");
        }
        if !starts {
            return if start > all {
                vec![b' ']
            } else {
                call.text(0).into_owned()
            };
        }
    }
    let end = start.saturating_add(if strict && wanted < 1 { rest } else { wanted });
    let from = usize::try_from(start.max(1) - 1).unwrap_or(0).min(length);
    let to = usize::try_from(end.max(1) - 1).unwrap_or(0).min(length);
    call.text(0).get(from..to).unwrap_or_default().to_vec()
}

/// A list of characters with the modifiers that add to it, turn it around or say how it is used.
pub(super) struct Characters {
    listed: [bool; 256],
    modifiers: Vec<u8>,
}

/// Modifiers that only add characters, of COMPRESS, SCAN and COUNTW.
const ADDING: &[u8] = b"acdfghlnpsuwx";

impl Characters {
    /// `own` and what the letters of `modifiers` add, of which `known` are those that add nothing; `None` if there is
    /// another one.
    pub(super) fn new(own: &[u8], modifiers: &[u8], known: &[u8]) -> Option<Self> {
        let mut modifiers = modifiers.to_ascii_lowercase();
        modifiers.retain(|letter| *letter != b' ');
        let all = |letter: &u8| ADDING.contains(letter) || known.contains(letter);
        if !modifiers.iter().all(all) {
            return None;
        }
        let has = |letter: u8| modifiers.contains(&letter);
        let own = if has(b't') { trimmed(own) } else { own };
        let byte_in = |byte: u8| own.contains(&byte);
        let listed = std::array::from_fn(|index| {
            let byte = u8::try_from(index).unwrap_or_default();
            let either =
                || byte_in(byte.to_ascii_lowercase()) || byte_in(byte.to_ascii_uppercase());
            let added = modifiers.iter().any(|letter| adds(*letter, byte));
            (byte_in(byte) || added || (has(b'i') && either())) != has(b'k')
        });
        Some(Self { listed, modifiers })
    }

    pub(super) fn has(&self, letter: u8) -> bool {
        self.modifiers.contains(&letter)
    }

    pub(super) fn lists(&self, byte: u8) -> bool {
        self.listed[usize::from(byte)]
    }
}

/// Whether a modifier adds this character to the list.
fn adds(letter: u8, byte: u8) -> bool {
    match letter {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'f' => byte.is_ascii_alphabetic() || byte == b'_',
        b'g' => byte.is_ascii_graphic(),
        b'h' => byte == b'\t',
        b'l' => byte.is_ascii_lowercase(),
        b'n' => byte.is_ascii_alphanumeric() || byte == b'_',
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_graphic() || byte == b' ',
        b'x' => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

/// What stops the step at a modifier that is none.
pub(super) fn refuse_modifiers(call: &mut Call<'_, '_>, function: &str, modifiers: &[u8]) {
    let modifiers = String::from_utf8_lossy(modifiers).trim().to_owned();
    call.refuse(format!(
        "The modifiers '{modifiers}' of {function} are invalid or not implemented yet."
    ));
}

fn compress(call: &mut Call<'_, '_>) -> Result {
    let own = match call.count() {
        1 => vec![b' '],
        _ => call.text(1).into_owned(),
    };
    let modifiers = call.text(2).into_owned();
    let Some(characters) = Characters::new(&own, &modifiers, b"ikot") else {
        refuse_modifiers(call, "COMPRESS", &modifiers);
        return text(Vec::new());
    };
    let value = call.text(0);
    let value = if characters.has(b't') {
        trimmed(&value)
    } else {
        &value
    };
    let kept = value.iter().copied();
    text(kept.filter(|byte| !characters.lists(*byte)).collect())
}

/// The operator IN: of texts.
pub(in crate::expr) static IN_PREFIX: Entry =
    general(lang::ast::IN_PREFIX, "c*", Gives::Number, |call| {
        let value = call.text(0);
        let mut items = (1..call.count()).map(|index| call.text(index));
        number(usize::from(
            items.any(|item| compare_prefix(&value, &item).is_eq()),
        ))
    });

fn find_function(call: &mut Call<'_, '_>) -> Result {
    let (mut fold, mut strip, mut start) = (false, false, 1);
    for index in 2..call.count() {
        match &call.given[index] {
            Given::Number(value) => start = whole(*value).unwrap_or(1),
            Given::Text(modifiers) => {
                let modifiers = modifiers.to_ascii_lowercase();
                fold = modifiers.contains(&b'i');
                strip = modifiers.contains(&b't');
            }
        }
    }
    let (value, wanted) = (folded(&call.text(0), fold), folded(&call.text(1), fold));
    let wanted = if strip { trimmed(&wanted) } else { &wanted };
    if start < 0 {
        let end = usize::try_from(start.unsigned_abs())
            .unwrap_or(0)
            .min(value.len());
        let last = (0..end).rev().find(|at| value[*at..].starts_with(wanted));
        return position(last.filter(|_| !wanted.is_empty()));
    }
    let from = usize::try_from(start - 1).ok();
    position(from.and_then(|from| find(&value, wanted, from)))
}

fn scan(call: &mut Call<'_, '_>) -> Result {
    let modifiers = call.text(3).to_ascii_lowercase();
    let mut words = words(call, "SCAN", 2);
    let place = whole(call.number(1)).unwrap_or(0);
    if place < 0 || modifiers.contains(&b'b') {
        words.reverse();
    }
    let index = usize::try_from(place.unsigned_abs()).unwrap_or(0);
    let word = index.checked_sub(1).and_then(|index| words.get(index));
    let word = word.map_or(&[][..], Vec::as_slice);
    let bare = modifiers.contains(&b'r');
    text(if bare { stripped(word) } else { word }.to_vec())
}

/// The words of the first argument; the delimiters are the argument at `list`, modifiers the one behind it.
fn words(call: &mut Call<'_, '_>, function: &str, list: usize) -> Vec<Vec<u8>> {
    let own = match call.count() {
        count if count > list => call.text(list).into_owned(),
        _ => DELIMITERS.to_vec(),
    };
    let modifiers = call.text(list + 1).into_owned();
    let Some(delimiters) = Characters::new(&own, &modifiers, b"bikmort") else {
        refuse_modifiers(call, function, &modifiers);
        return Vec::new();
    };
    let (every, value) = (delimiters.has(b'm'), call.text(0));
    // Trailing blanks are words of no length where these count.
    let value = if every && !delimiters.has(b't') {
        &value
    } else {
        trimmed(&value)
    };
    value
        .split(|byte| delimiters.lists(*byte))
        .filter(|word| every || !word.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Pairs of what comes and what goes; where a character goes twice, the last one counts.
fn translate(call: &mut Call<'_, '_>) -> Result {
    if call.count().is_multiple_of(2) {
        call.refuse("The function TRANSLATE takes pairs of texts behind the first one.".to_owned());
        return text(Vec::new());
    }
    let mut map: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap_or_default());
    for pair in (1..call.count()).step_by(2) {
        let (to, from) = (call.text(pair), call.text(pair + 1));
        for (place, byte) in from.iter().enumerate() {
            map[usize::from(*byte)] = to.get(place).copied().unwrap_or(b' ');
        }
    }
    let value = call.text(0);
    text(value.iter().map(|byte| map[usize::from(*byte)]).collect())
}

fn replace(call: &Call<'_, '_>, by: &[u8]) -> Vec<u8> {
    let (value, wanted) = (call.text(0), call.text(1));
    let wanted = trimmed(&wanted);
    let (mut out, mut from) = (Vec::new(), 0);
    while let Some(at) = find(&value, wanted, from) {
        out.extend_from_slice(&value[from..at]);
        out.extend_from_slice(by);
        from = at + wanted.len();
        if out.len() > 32_767 {
            break;
        }
    }
    out.extend_from_slice(&value[from..]);
    out
}
